// The statistic.csv of each directory: which there are, which tensors are in each, and writing them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "io/atomic_file.h"

namespace msdump::stats {

// One directory that gets a statistic.csv. msprobe's stands beside dump.json, not in dump_tensor_data.
struct StatisticDirectory {
  uint32_t root = 0;            // DumpIndex::paths()
  std::string relative;         // to that path
  std::vector<size_t> tensors;  // in the writer's order: operators by their first time stamp, Parameters last
};

// Directories in the order of their paths; tensors without elements are in none.
[[nodiscard]] std::vector<StatisticDirectory> statistic_directories(const DumpIndex& index,
                                                                    const std::vector<TensorRecord>& tensors);

// Text that grows and becomes a file at the end.
class TextFile {
 public:
  // Makes the folder of `path` if it is missing.
  static Result<TextFile> create(const std::string& path);
  Status append(std::string_view text);
  Status commit();

 private:
  explicit TextFile(AtomicFile file) : file_(std::move(file)) {}
  Status flush();
  AtomicFile file_;
  std::string waiting_;
  uint64_t written_ = 0;
};

}  // namespace msdump::stats
