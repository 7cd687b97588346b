// Statistics of tensors from the tables of a dump, and of a global tensor from those of its local tensors.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "dump/elements/host_tensor.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "stats/dialect.h"
#include "stats/tensor_numbers.h"

namespace msdump {

// merged_statistics(): the statistics of a global tensor, if they follow from those of its local tensors.
//
//   shards along an axis       max, min, mean, norm and the counts follow
//   partial sums               the mean follows; of max, min and norm only the range in which they lie, so that their
//                              slack may be large
//   maxima of parts            the max follows; of min, mean and norm only the range
//
// Checksums do not follow. Counts do not follow if local tensors are reduced or multiplied by a negative factor.

// `of_pieces` is indexed by TensorPieces::records.
[[nodiscard]] TensorNumbers merged_statistics(const TensorPieces& pieces, std::span<const TensorNumbers> of_pieces);

// StatisticTables: the statistics of tensors in the tables of one dump (statistic.csv, dump.json, debug.json). A table is
// read once, on first use; after that a row is found by its index.
//
// A row costs 24 bytes and the text of its values: 150 000 rows with the usual three columns take some 7 MB.

class StatisticTables {
 public:
  explicit StatisticTables(const DumpIndex& index);  // must outlive this
  ~StatisticTables();
  StatisticTables(const StatisticTables&) = delete;
  StatisticTables& operator=(const StatisticTables&) = delete;

  // The row of a record that has a table. For a sharded tensor, what follows from the rows of its local tensors.
  // kChangedWhileReading if the row is no longer there. Thread-safe.
  Result<TensorNumbers> values_of(const TensorRecord& tensor);

  // Reads the table of a record now. Thread-safe.
  void read_table_of(const TensorRecord& tensor) { (void)table(tensor.table); }

  // Frees what was read, of all tables or of one that nobody reads meanwhile. A table that is asked for again is read again.
  void free();
  void free(FileId file);

  [[nodiscard]] const DumpIndex& index() const { return *index_; }

 private:
  struct Row {
    uint64_t offset = 0;
    const char* text = nullptr;  // of the values, joined with commas
    uint32_t size = 0;
    uint32_t header = 0;  // in Table::headers
  };
  // What rows have in common. An appended run has a header of its own.
  struct Header {
    std::vector<StatisticColumn> columns;
    StatisticOrigin origin = StatisticOrigin::kCsv;
  };
  struct Table {
    std::once_flag once;
    std::optional<Error> problem;
    std::vector<Row> rows;  // by offset
    std::vector<Header> headers;
    TextArena texts;

    // Adds a row under a header.
    void add(size_t header, uint64_t offset, std::string_view values) {
      const std::string_view kept = texts.keep(values);
      rows.push_back({offset, kept.data(), static_cast<uint32_t>(kept.size()), static_cast<uint32_t>(header)});
    }
  };

  [[nodiscard]] size_t place_of(FileId file) const;
  Table& table(FileId file);
  Status read(const IndexedFile& file, Table& table) const;
  static Status read_csv(const File& file, Table& table);
  static Status read_monitor(const File& file, std::string_view name, Table& table);
  static Status read_json(const File& file, FileKind kind, Table& table);
  const stats::DialectChoice& dialects();

  const DumpIndex* index_;
  std::vector<FileId> files_;                   // the tables' files, ascending
  std::vector<std::unique_ptr<Table>> tables_;  // by place in files_
  std::once_flag chosen_;
  stats::DialectChoice dialects_;
};

}  // namespace msdump
