#include "support/nano_builder.h"

namespace msdump::test {
namespace {

int32_t ge_number(int32_t proto_number) {
  const auto dtype = dtype_from_proto(proto_number);
  return dtype ? info(*dtype).ge_number : proto_number;
}

void put_i32(std::string& to, int32_t value) { put_u32(to, static_cast<uint32_t>(value)); }

void put_record(std::string& to, uint32_t tag, const std::string& value, std::optional<uint32_t> length = {}) {
  put_u32(to, tag);
  put_u32(to, length.value_or(static_cast<uint32_t>(value.size())));
  to += value;
}

std::string dims_value(const Dims& dims) {
  std::string value;
  for (const uint64_t dim : dims) put_u64(value, dim);
  return value;
}

std::string nano_list(const TensorSpec& tensor, const NanoTwist& twist) {
  std::string list;
  if (tensor.shape) {
    std::string dims = dims_value(*tensor.shape);
    if (twist.dims_are_cut) dims.resize(dims.size() - 4);
    put_record(list, 0, dims, twist.dims_bytes);
  }
  if (tensor.original_shape) put_record(list, 1, dims_value(*tensor.original_shape));
  if (tensor.part == TensorSpec::kOutput) put_record(list, 2, "origin");
  return list;
}

std::string nano_tensor(const TensorSpec& tensor, const NanoTwist& twist) {
  std::string record;
  put_i32(record, ge_number(tensor.dtype));
  put_i32(record, tensor.format);
  put_i32(record, 0);  // address type
  if (tensor.part == TensorSpec::kOutput) {
    put_i32(record, 0);  // original index
    put_i32(record, ge_number(tensor.dtype));
    put_i32(record, tensor.original_format);
  }
  put_u64(record, 0x12c0'0000'1000);  // address
  put_u64(record, 0);                 // offset
  put_u64(record, tensor.size.value_or(tensor.data.size()));
  const std::string list = nano_list(tensor, twist);
  put_u32(record, twist.list_bytes.value_or(static_cast<uint32_t>(list.size())));
  return record + list;
}

std::string nano_tensors(const DumpSpec& spec, TensorSpec::Part part, const NanoTwist& twist) {
  std::string records;
  uint32_t count = 0;
  for (const TensorSpec& tensor : spec.tensors) {
    if (tensor.part != part) continue;
    records += nano_tensor(tensor, count == 0 && part == TensorSpec::kInput ? twist : NanoTwist{});
    ++count;
  }
  if (count == 0) return {};
  std::string value;
  put_u32(value, part == TensorSpec::kInput ? twist.input_count.value_or(count) : count);
  return value + records;
}

}  // namespace

std::string nano_head(const DumpSpec& spec, const NanoTwist& twist) {
  std::string head;
  put_u32(head, 0x5A5A5A5A);
  put_u32(head, 1);
  const std::string inputs = nano_tensors(spec, TensorSpec::kInput, twist);
  const std::string outputs = nano_tensors(spec, TensorSpec::kOutput, twist);
  if (!inputs.empty()) put_record(head, 4, inputs);
  if (twist.has_unknown_record) put_record(head, 9, "what a later version may add");
  if (!outputs.empty()) put_record(head, 5, outputs);
  return head;
}

std::string build_nano(const DumpSpec& spec, const NanoTwist& twist) {
  std::string data;
  for (const TensorSpec::Part part : {TensorSpec::kInput, TensorSpec::kOutput}) {
    for (const TensorSpec& tensor : spec.tensors) {
      if (tensor.part == part) data += tensor.data;
    }
  }
  return with_length(nano_head(spec, twist), data + spec.trailer);
}

}  // namespace msdump::test
