#include "support/dump_builder.h"

#include <stdexcept>

#include "dump_data.pb.h"
#include "support/nano_builder.h"

namespace msdump::test {
namespace {

void put_little_endian(std::string& to, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) to += static_cast<char>((value >> (8 * i)) & 0xFF);
}

void set_dims(pb::Shape& shape, const Dims& dims) {
  for (const uint64_t dim : dims) shape.add_dim(dim);
}

// What OpInput and OpOutput have in common.
template <class Message>
void describe(Message& message, const TensorSpec& tensor, bool with_data) {
  message.set_data_type(tensor.dtype);
  message.set_format(tensor.format);
  message.set_sub_format(tensor.sub_format);
  if (tensor.shape) set_dims(*message.mutable_shape(), *tensor.shape);
  if (tensor.original_shape) set_dims(*message.mutable_original_shape(), *tensor.original_shape);
  message.set_size(tensor.size.value_or(tensor.data.size()));
  if (with_data) message.set_data(tensor.data);
}

template <class Message>
void describe_raw(Message& message, const TensorSpec& tensor, bool with_data) {
  message.set_size(tensor.size.value_or(tensor.data.size()));
  if (with_data) message.set_data(tensor.data);
}

std::string all_data(const DumpSpec& spec) {
  std::string data;
  for (const TensorSpec::Part part :
       {TensorSpec::kInput, TensorSpec::kOutput, TensorSpec::kBuffer, TensorSpec::kSpace}) {
    for (const TensorSpec& tensor : spec.tensors) {
      if (tensor.part == part) data += tensor.data;
    }
  }
  return data;
}

TensorSpec tensor_of(TensorSpec::Part part, DType dtype, Format format, Dims device, std::optional<Dims> host,
                     uint64_t seed) {
  TensorSpec tensor;
  tensor.part = part;
  tensor.dtype = info(dtype).proto_number;
  tensor.format = static_cast<int32_t>(format);
  int64_t count = 1;
  for (const uint64_t dim : device) count *= static_cast<int64_t>(dim);
  const auto bytes = bytes_of(dtype, count);
  if (!bytes) throw std::invalid_argument("no fixed size: give the data yourself");
  tensor.data = pattern_bytes(static_cast<size_t>(*bytes), seed);
  tensor.shape = std::move(device);
  tensor.original_shape = std::move(host);
  return tensor;
}

}  // namespace

std::string pattern_bytes(size_t count, uint64_t seed) {
  std::string bytes;
  bytes.reserve(count);
  uint64_t state = seed * 0x9E3779B97F4A7C15U + 1;
  for (size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    bytes += static_cast<char>(state >> 56);
  }
  return bytes;
}

void put_u16(std::string& to, uint16_t value) { put_little_endian(to, value, 2); }
void put_u32(std::string& to, uint32_t value) { put_little_endian(to, value, 4); }
void put_u64(std::string& to, uint64_t value) { put_little_endian(to, value, 8); }

TensorSpec input_of(DType dtype, Format format, Dims device, std::optional<Dims> host, uint64_t seed) {
  return tensor_of(TensorSpec::kInput, dtype, format, std::move(device), std::move(host), seed);
}

TensorSpec output_of(DType dtype, Format format, Dims device, std::optional<Dims> host, uint64_t seed) {
  return tensor_of(TensorSpec::kOutput, dtype, format, std::move(device), std::move(host), seed);
}

TensorSpec raw_of(TensorSpec::Part part, size_t bytes, uint64_t seed) {
  TensorSpec tensor;
  tensor.part = part;
  tensor.data = pattern_bytes(bytes, seed);
  return tensor;
}

std::string build_header(const DumpSpec& spec, bool with_data) {
  pb::DumpData data;
  data.set_version("2.0");
  data.set_dump_time(spec.time_us);
  data.set_op_name(spec.op_name);
  for (const auto& [name, value] : spec.attributes) {
    pb::OpAttr& attribute = *data.add_attr();
    attribute.set_name(name);
    attribute.set_value(value);
  }
  for (const TensorSpec& tensor : spec.tensors) {
    switch (tensor.part) {
      case TensorSpec::kInput: describe(*data.add_input(), tensor, with_data); break;
      case TensorSpec::kOutput: {
        pb::OpOutput& output = *data.add_output();
        describe(output, tensor, with_data);
        if (tensor.original_format != 0) output.mutable_original_op()->set_format(tensor.original_format);
        if (!tensor.original_op.empty()) {
          output.mutable_original_op()->set_name(tensor.original_op);
          output.mutable_original_op()->set_output_index(tensor.original_output);
        }
        break;
      }
      case TensorSpec::kBuffer: describe_raw(*data.add_buffer(), tensor, with_data); break;
      case TensorSpec::kSpace: describe_raw(*data.add_space(), tensor, with_data); break;
    }
  }
  return data.SerializeAsString();
}

std::string with_length(std::string_view header, std::string_view rest) {
  std::string file;
  put_u64(file, header.size());
  file += header;
  file += rest;
  return file;
}

std::string build_dump(const DumpSpec& spec) {
  switch (spec.kind) {
    case DumpKind::kBinary: return with_length(build_header(spec, false), all_data(spec) + spec.trailer);
    case DumpKind::kClassic: return build_header(spec, true) + spec.trailer;
    case DumpKind::kHybrid: return with_length(build_header(spec, true), spec.trailer);
    case DumpKind::kNano: return build_nano(spec);
  }
  return {};
}

}  // namespace msdump::test
