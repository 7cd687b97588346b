// TensorList: every tensor of a dump, one record each, in the order of reports. Made from a DumpIndex: each file lists
// its tensors (its header is read, never its data), and each table (statistic.csv, dump.json) its rows. A row about a
// tensor in a file is joined to that file's record; the others are tensors without elements.
//
// A record costs about 180 bytes; texts and shapes are shared.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text_arena.h"
#include "dump/index/dump_index.h"
#include "dump/index/selection.h"
#include "dump/index/shared_shapes.h"
#include "dump/index/tensor_view.h"
#include "dump/layouts/call_argument.h"
#include "dump/layouts/layout.h"
#include "dump/names/identity.h"
#include "io/run_context.h"
#include "tensor/shape.h"

namespace msdump {

inline constexpr uint32_t kNoTable = UINT32_MAX;
inline constexpr uint32_t kNoOrder = UINT32_MAX;
inline constexpr int64_t kStepOfFolder = -1;

// What an output of a device was before the compiler fused or cut its operator.
struct OriginalOutput {
  std::string_view op;  // full name
  uint32_t output = 0;
};

struct TensorRecord {
  NameFacts name;                // with the dtype of the framework's tensor, whatever the file stores
  const Shape* shape = nullptr;  // null: not known
  std::optional<uint64_t> bytes;
  const OriginalOutput* original = nullptr;        // null: not said
  const TensorView* view = nullptr;                // the elements that it stands for; null: all, as they lie
  const std::string_view* distribution = nullptr;  // of which larger tensor it is a part, as JSON; null: not said
  int64_t step = kStepOfFolder;                    // of the row, in a table of several steps
  uint64_t row_offset = 0;                         // of the row in `table`
  uint32_t file = 0;          // DumpIndex::files(): where the elements are; without elements the table
  uint32_t item = 0;          // which of the tensors that file holds
  uint32_t table = kNoTable;  // DumpIndex::files(): the table with a row about it
  uint32_t order = kNoOrder;  // place of the operator in msprobe's record of the run
  uint32_t occurrence = 0;
  bool has_elements = true;
  bool lost_file = false;      // the table names a file of its elements, but that file is missing
  bool broken = false;         // its elements cannot be read; `failures` says why
  bool claimed_twice = false;  // an earlier record has the same identity, including the time stamp

  // Where it lies in several others; null: in `file`.
  [[nodiscard]] const TensorPieces* pieces() const { return view == nullptr ? nullptr : view->pieces; }
};

// The files of which headers are read.
enum class Headers : uint8_t {
  kAll,
  kWhereNeeded,  // those that may hold several tensors or none; for others dtype and shape stay as the name says them
  kNone,         // an Ascend dump file, which may hold several tensors, is one record without slot
};

struct ListOptions {
  Headers headers = Headers::kAll;
};

class TensorList {
 public:
  // An error only when interrupted; everything else is in `failures`.
  static Result<TensorList> read(const DumpIndex& index, const Selection& selection, const ListOptions& options,
                                 const RunContext& context);

  // By rank, graph, step, msprobe's order, the first time stamp of the operator's run, op name; then io and slot.
  [[nodiscard]] const std::vector<TensorRecord>& tensors() const { return tensors_; }
  // Of all calls, whatever is selected; those of one call follow each other.
  [[nodiscard]] const std::vector<CallArgument>& arguments() const { return arguments_; }
  [[nodiscard]] const std::vector<CallOverflow>& overflows() const { return overflows_; }  // likewise
  // Files and single tensors that cannot be used, in the order of the index; the index's own problems come first.
  [[nodiscard]] const std::vector<Error>& failures() const { return failures_; }
  // Files that hold tensors and were looked at; among them, `foreign` turned out to hold none.
  [[nodiscard]] int64_t files() const { return files_; }
  [[nodiscard]] int64_t foreign() const { return foreign_; }

 private:
  friend class TensorListBuilder;
  std::vector<TensorRecord> tensors_;
  std::vector<CallArgument> arguments_;
  std::vector<CallOverflow> overflows_;
  std::vector<Error> failures_;
  std::vector<TextArena> texts_;
  std::vector<std::deque<OriginalOutput>> originals_;
  std::vector<std::deque<std::string_view>> distributions_;
  SharedShapes shapes_;
  int64_t files_ = 0, foreign_ = 0;
};

// Rank, graph and step of a record; the layout is that of its folder. A tensor that lies in several has no rank.
[[nodiscard]] FolderIdentity place_of(const DumpIndex& index, const TensorRecord& tensor);

// The identity of a record, with rank, graph and step.
[[nodiscard]] Identity identity_of(const DumpIndex& index, const TensorRecord& tensor);

}  // namespace msdump
