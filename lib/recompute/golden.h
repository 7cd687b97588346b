// Golden tensors: what operators should have written, as arrays under a folder that mirrors the dump.
//
// An array has the name that `convert` gives the tensor (an .npy or .pt keeps its own). Numbers are float64, not rounded to the
// output's type; integers are int64 and truth values bool, as the kind of the output is.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "graph/flow/run_graph.h"
#include "recompute/array.h"

namespace msdump::recompute {

class GoldenFolder {
 public:
  // The index and the list must outlive it. The folder is made if it is missing.
  GoldenFolder(const DumpIndex& index, const std::vector<TensorRecord>& tensors, std::string folder)
      : index_(index), tensors_(tensors), folder_(std::move(folder)) {}

  // Thread-safe. An array of an earlier run is replaced.
  void write(TensorId tensor, const Array& expected);

  [[nodiscard]] uint64_t written() const { return written_; }
  // An error for each array that could not be written.
  [[nodiscard]] std::vector<Error> take_failures() { return std::move(failures_); }

 private:
  [[nodiscard]] Status write_array(TensorId tensor, const Array& expected) const;

  const DumpIndex& index_;
  const std::vector<TensorRecord>& tensors_;
  const std::string folder_;
  std::mutex mutex_;
  uint64_t written_ = 0;
  std::vector<Error> failures_;
};

}  // namespace msdump::recompute
