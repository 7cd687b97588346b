#include "support/device_net/net_files.h"

#include <fmt/format.h>
#include <Eigen/Core>

#include "graph/op_name.h"
#include "support/dump_builder.h"
#include "support/graph_run.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump::test {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kFirstTime = 1'700'000'000'000'000;

struct NpyType {
  const char *in_name, *descr;
};

NpyType npy_type(DType dtype) {
  switch (dtype) {
    case DType::kInt64: return {"Int64", "<i8"};
    case DType::kInt32: return {"Int32", "<i4"};
    case DType::kBool: return {"Bool", "|b1"};
    default: return {"Float32", "<f4"};
  }
}

std::string bytes_of(const NetValue& value) {
  std::string bytes;
  const auto put = [&](auto number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof(number)); };
  for (const float x : value.host) {
    switch (value.dtype) {
      case DType::kInt64: put(static_cast<int64_t>(x)); break;
      case DType::kInt32: put(static_cast<int32_t>(x)); break;
      case DType::kBool: put(static_cast<uint8_t>(x)); break;
      default: put(x);
    }
  }
  return bytes;
}

const NetValue& value_at(const HostNet& net, HostPlace place, Io io) {
  const HostOp& op = net.ops[place.op];
  return net.values[(io == Io::kInput ? op.inputs : op.outputs)[place.slot]];
}

NetTensor host_tensor(const HostNet& net, HostPlace place, Io io) {
  const HostOp& op = net.ops[place.op];
  return {fmt::format("{}.{}_{}-op{}.0.0.{}.{}.{}.DefaultFormat.{}.npy", op.type, normalised_op_name(op.scope), op.type,
                      op.number, kFirstTime + place.op, name_of(io), place.slot,
                      npy_type(value_at(net, place, io).dtype).in_name),
          io, place.slot};
}

std::string ir_of(const HostNet& net) {
  std::string text = "# IR entry: @kernel_graph0\n# Total subgraphs: 1\n\n# Params:\n";
  for (const NetValue& value : net.values) {
    if (value.operand.starts_with("%para"))
      text += fmt::format("{}: <Tensor[Float32], ({})>\n", value.operand, fmt::join(value.shape, ", "));
  }
  text += "\nsubgraph attr:\nsubgraph instance: kernel_graph0 : 0x1\nsubgraph @kernel_graph0() {\n";
  for (size_t i = 0; i < net.ops.size(); ++i) {
    const HostOp& op = net.ops[i];
    std::string operands;
    for (const uint32_t input : op.inputs) operands += (operands.empty() ? "" : ", ") + net.values[input].operand;
    text += node_text(fmt::format("%{}", i), op.type, operands, fmt::format("{}/{}-op{}", op.scope, op.type, op.number),
                      {});
  }
  return text + "}\n";
}

TensorSpec spec_of(const HostNet& net, const LoweredTensor& tensor, TensorSpec::Part part) {
  TensorSpec spec;
  spec.part = part;
  DType dtype = DType::kFloat16;
  Shape shape = {static_cast<int64_t>(tensor.own.size())};
  const Floats* values = &tensor.own;
  if (tensor.value) {
    const NetValue& value = net.values[*tensor.value];
    shape = value.shape;
    values = &value.device;
    if (value.dtype == DType::kInt32) dtype = DType::kInt32;
  }
  spec.dtype = info(dtype).proto_number;
  spec.format = static_cast<int32_t>(Format::kND);
  spec.shape = Dims(shape.begin(), shape.end());
  spec.original_shape = spec.shape;
  for (const float x : *values) {
    if (dtype == DType::kInt32) {
      put_u32(spec.data, static_cast<uint32_t>(x));
    } else {
      put_u16(spec.data, Eigen::numext::bit_cast<uint16_t>(Eigen::half(x)));
    }
  }
  spec.original_op = tensor.original;
  spec.original_output = tensor.original_output;
  return spec;
}

}  // namespace

void write_host_dump(const HostNet& net, bool with_ir, const fs::path& dir, DeviceNet& truth) {
  const fs::path rank = dir / "rank_0", folder = rank / "Net" / "0" / "0";
  fs::create_directories(folder);
  for (uint32_t i = 0; i < net.ops.size(); ++i) {
    const HostOp& op = net.ops[i];
    for (const Io io : {Io::kInput, Io::kOutput}) {
      const auto& alone = io == Io::kInput ? op.in_alone : op.out_alone;
      for (uint32_t k = 0; k < alone.size(); ++k) {
        const NetValue& value = value_at(net, {i, k}, io);
        const NetTensor tensor = host_tensor(net, {i, k}, io);
        write_bytes(folder / tensor.file, npy_of(npy_type(value.dtype).descr, value.shape, bytes_of(value)));
        truth.host[tensor] = alone[k];
      }
    }
  }
  if (!with_ir) return;
  fs::create_directories(rank / "graphs");
  fs::create_directories(rank / ".dump_metadata");
  write_bytes(rank / ".dump_metadata" / "config.json", "{\"ms_version\":\"2.10.0\"}");
  write_bytes(rank / "graphs" / "ms_output_trace_code_graph_0.ir", ir_of(net));
}

void write_device_dump(const HostNet& net, const std::vector<LoweredOp>& ops, bool by_time, const fs::path& dir,
                       DeviceNet& truth) {
  const fs::path folder =
      by_time ? dir / "20260101000000" / "0" / "Net" / "1" / "0" : dir / "rank_0" / "Net" / "0" / "0";
  fs::create_directories(folder);
  for (size_t i = 0; i < ops.size(); ++i) {
    const LoweredOp& op = ops[i];
    DumpSpec spec;
    spec.op_name = op.name;
    spec.time_us = kFirstTime + i;
    const std::string file = fmt::format("{}.{}.{}.0.{}", op.type, normalised_op_name(op.name), i, spec.time_us);
    for (const Io io : {Io::kInput, Io::kOutput}) {
      const auto& list = io == Io::kInput ? op.inputs : op.outputs;
      for (uint32_t k = 0; k < list.size(); ++k) {
        spec.tensors.push_back(spec_of(net, list[k], io == Io::kInput ? TensorSpec::kInput : TensorSpec::kOutput));
        DeviceNet::Device& known = truth.device[{file, io, k}];
        if (list[k].partner) known.partner = host_tensor(net, *list[k].partner, io);
        known.alone = list[k].alone;
      }
    }
    write_bytes(folder / file, build_dump(spec));
  }
}

}  // namespace msdump::test
