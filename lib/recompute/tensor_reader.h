// TensorReader: the tensors of a dump as arrays. Large ones are opened, and read in blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/flow/run_graph.h"
#include "graph/join/dump_operators.h"
#include "recompute/kernel.h"

namespace msdump::recompute {

class TensorReader {
 public:
  // The objects must outlive it.
  TensorReader(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators, int64_t most_elements)
      : dump_(dump), half_written_(float32_on_device(dump, operators)), most_elements_(most_elements) {}
  // With the shape of the graph if it has as many elements. Its elements have a source unless they are few.
  [[nodiscard]] Maybe<Array> open(TensorId tensor, const Shape* shape) const;
  // With its elements.
  [[nodiscard]] Maybe<Tensor> read(TensorId tensor, const Shape* shape) const;

 private:
  const DumpWithGraph dump_;
  const std::vector<bool> half_written_;  // by tensor: a float16 file with half of a float32 buffer
  const int64_t most_elements_;
};

// Reads the elements of an array that has a source.
[[nodiscard]] Maybe<void> load_elements(Array& array);

}  // namespace msdump::recompute
