#include "compare/match/device/op_tensors.h"

#include "tensor/dtype_kind.h"

namespace msdump {

std::optional<int64_t> host_elements(const TensorRecord& tensor) {
  if (tensor.shape == nullptr) return std::nullopt;
  if (tensor.name.format && info(*tensor.name.format).support != Support::kHost) return std::nullopt;
  return element_count(*tensor.shape);
}

bool same_elements(const TensorRecord& one, const TensorRecord& other) {
  const auto a = host_elements(one), b = host_elements(other);
  return !a || !b || *a == *b;
}

bool may_be_attribute(const TensorRecord& tensor) {
  if (tensor.shape == nullptr) return false;
  const auto count = element_count(*tensor.shape);
  if (!count) return false;
  const DTypeKind kind = kind_of(tensor.name.dtype);
  constexpr int64_t kLongestList = 64;  // axes, shapes, sizes
  if (kind == DTypeKind::kInteger || kind == DTypeKind::kBool)
    return tensor.shape->size() <= 1 && *count <= kLongestList;
  return *count <= 1;
}

OpTensors::OpTensors(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators)
    : inputs_(operators.size(), kNoTensor),
      outputs_(operators.size(), kNoTensor),
      input_count_(operators.size(), 0),
      output_count_(operators.size(), 0),
      tensor_inputs_(operators.size(), 0) {
  const auto elements = [&](uint32_t tensor) {
    const Shape* const shape = (*dump.tensors)[tensor].shape;  // padded or not: the largest stays the largest
    return shape == nullptr ? -1 : element_count(*shape).value_or(-1);
  };
  const auto place_of = [&](uint32_t tensor) {
    const TensorRecord& record = (*dump.tensors)[tensor];
    return std::pair(dump.index->files()[record.file].folder, record.occurrence);
  };
  for (uint32_t op = 0; op < operators.size(); ++op) {
    const std::vector<uint32_t>& tensors = operators[op].tensors;
    for (const uint32_t tensor : tensors) {
      if (place_of(tensor) != place_of(tensors.front())) continue;
      const TensorRecord& record = (*dump.tensors)[tensor];
      const bool input = record.name.io == Io::kInput;
      if (!input && record.name.io != Io::kOutput && record.name.io != Io::kParameter) continue;
      uint32_t& largest = (input ? inputs_ : outputs_)[op];
      if (largest == kNoTensor || elements(tensor) > elements(largest)) largest = tensor;
      ++(input ? input_count_ : output_count_)[op];
      if (input && !may_be_attribute(record)) ++tensor_inputs_[op];
    }
  }
}

}  // namespace msdump
