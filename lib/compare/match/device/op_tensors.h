// OpTensors: what a match looks at of the tensors of each operator, in its first run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/join/dump_operators.h"

namespace msdump {

class OpTensors {
 public:
  OpTensors(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators);

  // The input or output with the most elements; the first of several. Parameters count as outputs.
  [[nodiscard]] std::optional<uint32_t> largest(uint32_t op, Io io) const {
    const uint32_t tensor = (io == Io::kOutput ? outputs_ : inputs_)[op];
    return tensor == kNoTensor ? std::nullopt : std::optional(tensor);
  }
  [[nodiscard]] uint32_t count(uint32_t op, Io io) const {
    return (io == Io::kOutput ? output_count_ : input_count_)[op];
  }
  // Inputs without those that a device may have as attributes: integers, booleans and single numbers.
  [[nodiscard]] uint32_t tensor_inputs(uint32_t op) const { return tensor_inputs_[op]; }

 private:
  std::vector<uint32_t> inputs_, outputs_;  // by operator: the largest
  std::vector<uint32_t> input_count_, output_count_, tensor_inputs_;
};

// Elements of the tensor on the host; no value where its shape is padded for the device, or not known.
[[nodiscard]] std::optional<int64_t> host_elements(const TensorRecord& tensor);
// False only where the two are known to differ.
[[nodiscard]] bool same_elements(const TensorRecord& one, const TensorRecord& other);

// Can this input be an attribute of an operator on a device?
[[nodiscard]] bool may_be_attribute(const TensorRecord& tensor);

}  // namespace msdump
