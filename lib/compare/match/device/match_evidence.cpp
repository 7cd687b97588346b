#include "compare/match/device/match_evidence.h"

#include "compare/limits.h"
#include "tensor/dtype.h"

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
  if (kind == DTypeKind::kInteger || kind == DTypeKind::kBool)
    return tensor.shape->size() <= 1 && *count <= int64_t{kMostTried};
  return *count <= 1;
}

OpTensors::OpTensors(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators)
    : inputs_(operators.size()), outputs_(operators.size()) {
  const auto elements = [&](RecordId tensor) {
    const Shape* const shape = (*dump.tensors)[tensor].shape;  // padded or not, the largest stays the largest
    return shape == nullptr ? -1 : element_count(*shape).value_or(-1);
  };
  const auto place_of = [&](RecordId tensor) {
    const TensorRecord& record = (*dump.tensors)[tensor];
    return std::pair(dump.index->files()[record.file].folder, record.occurrence);
  };
  for (SequencedOpId op{0}; op < operators.size(); ++op) {
    const std::vector<RecordId>& tensors = operators[op].tensors;
    for (const RecordId tensor : tensors) {
      if (place_of(tensor) != place_of(tensors.front())) continue;
      const TensorRecord& record = (*dump.tensors)[tensor];
      const bool input = record.name.io == Io::kInput;
      if (!input && record.name.io != Io::kOutput && record.name.io != Io::kParameter) continue;
      Tensors& of = (input ? inputs_ : outputs_)[op];
      if (of.largest == kNoId || elements(tensor) > elements(of.largest)) of.largest = tensor;
      ++of.count;
      if (!may_be_attribute(record)) ++of.no_attributes;
    }
  }
}

std::optional<double> MatchEvidence::likeness_of(RecordId of_device, RecordId of_host) {
  if (!same_elements(device.tensor(of_device), host.tensor(of_host))) return std::nullopt;
  return likeness({device_samples, of_device}, {host_samples, of_host});
}

bool MatchEvidence::is_same(RecordId one, RecordId other) {
  if (!same_elements(host.tensor(one), host.tensor(other))) return false;
  const auto alike = likeness({host_samples, one}, {host_samples, other});
  return alike && host_samples.of(one).values == host_samples.of(other).values;
}

}  // namespace msdump
