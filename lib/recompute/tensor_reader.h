// TensorReader: the tensors of a dump as arrays. Large ones are opened, and read in blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/flow/run_graph.h"
#include "graph/join/dump_operators.h"
#include "recompute/kernel.h"
#include "stats/compute.h"
#include "stats/tensor_numbers.h"

namespace msdump::recompute {

// Takes statistics of tensors that are read for something else. Called by several threads.
class ScanTaker {
 public:
  virtual ~ScanTaker() = default;
  [[nodiscard]] virtual const stats::ComputeOptions& scan_options() const = 0;
  [[nodiscard]] virtual bool wants(TensorId tensor) = 0;
  virtual void take(TensorId tensor, const TensorNumbers& numbers) = 0;
};

class TensorReader {
 public:
  // The objects must outlive it.
  // `statistics` may be null, or takes those of tensors that are read as a whole.
  TensorReader(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators, int64_t most_elements,
               ScanTaker* statistics = nullptr)
      : dump_(dump),
        half_written_(float32_on_device(dump, operators)),
        most_elements_(most_elements),
        statistics_(statistics) {}
  // With the shape of the graph if it has as many elements. Its elements have a source unless they are few.
  [[nodiscard]] Maybe<Array> open(TensorId tensor, const Shape* shape) const;
  // With its elements.
  [[nodiscard]] Maybe<Tensor> read(TensorId tensor, const Shape* shape) const;

 private:
  const DumpWithGraph dump_;
  const std::vector<bool> half_written_;  // by tensor: a float16 file with half of a float32 buffer
  const int64_t most_elements_;
  ScanTaker* const statistics_;
};

// Reads the elements of an array that has a source.
[[nodiscard]] Maybe<void> load_elements(Array& array);

}  // namespace msdump::recompute
