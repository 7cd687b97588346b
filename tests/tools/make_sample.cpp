// make_sample DIR [wrong]: writes the sample dump of testdata/, a few operators of a small network as an Ascend run of
// MindSpore would leave them. The host values are a ramp, so that a converted array shows at a glance whether it is right, and
// an operator with all its inputs computes what it should;
// padding is filled with a value that no ramp has. `wrong`: the same of a run in which the MatMul computes something
// else, at another time.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "dump_data.pb.h"
#include "format/plan.h"
#include "format/window.h"
#include "io/atomic_file.h"

namespace {

using msdump::DType;
using msdump::Format;
using msdump::Shape;

constexpr float kPadding = -77;

struct Tensor {
  DType dtype;
  Format format;
  Shape device, host;
  // Of a ramp of the host values.
  enum class Values : uint8_t {
    kRamp,
    kWrong,     // half as much again, and a half
    kBiased,    // with the bias of BiasAdd, a ramp of the channels
    kMean,      // of the 40 values of a ramp
    kWrongMean  // of 40 wrong ones
  };
  Values values = Values::kRamp;
};

float host_value(const Tensor& tensor, size_t i) {
  const auto ramp = static_cast<float>(i % 2048);
  switch (tensor.values) {
    case Tensor::Values::kWrong: return 1.5F * ramp + 0.5F;
    case Tensor::Values::kBiased: return ramp + static_cast<float>(i / 36 % 8);
    case Tensor::Values::kMean: return 19.5F;
    case Tensor::Values::kWrongMean: return 29.75F;
    case Tensor::Values::kRamp: break;
  }
  return ramp;
}

// The bytes of one value; exact for the small whole numbers used here.
std::string encode(DType dtype, float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  std::string bytes(4, '\0');
  if (dtype == DType::kFloat32) {
    std::memcpy(bytes.data(), &bits, 4);
    return bytes;
  }
  if (dtype == DType::kInt32) {
    const auto whole = static_cast<int32_t>(value);
    std::memcpy(bytes.data(), &whole, 4);
    return bytes;
  }
  uint16_t half = static_cast<uint16_t>(bits >> 16);  // bfloat16: the upper half
  if (dtype == DType::kFloat16 && value != 0) {
    // sign | exponent rebased from 127 to 15 | the upper 10 of 23 mantissa bits
    const uint32_t exponent = ((bits >> 23) & 0xFF) - 127 + 15;
    half = static_cast<uint16_t>((bits >> 16 & 0x8000) | exponent << 10 | (bits >> 13 & 0x3FF));
  }
  bytes.resize(2);
  std::memcpy(bytes.data(), &half, 2);
  return bytes;
}

// Device bytes in which the host tensor is the ramp 0, 1, 2, ... (modulo 2048, exact in fp16).
std::string device_bytes(const Tensor& tensor) {
  msdump::PlanRequest request;
  request.dtype = tensor.dtype;
  request.format_number = static_cast<int64_t>(tensor.format);
  request.shape = tensor.device;
  request.original_shape = tensor.host;
  request.target = Format::kNCHW;
  int64_t count = 1;
  for (const int64_t dim : tensor.device) count *= dim;
  request.bytes = *msdump::bytes_of(tensor.dtype, count);
  const msdump::Plan plan = msdump::make_plan(request).value();
  std::vector<float> values(static_cast<size_t>(count), kPadding);
  // Which device element each host element comes from: a conversion of the element numbers themselves.
  std::vector<int32_t> numbers(static_cast<size_t>(count)), sources(static_cast<size_t>(plan.dst_elements));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int32_t>(i);
  for (const msdump::PlanPart& part : plan.parts) {
    msdump::run_part(part, std::as_bytes(std::span(numbers)).data(), std::as_writable_bytes(std::span(sources)).data(),
                     4);
  }
  for (size_t i = 0; i < sources.size(); ++i) values[static_cast<size_t>(sources[i])] = host_value(tensor, i);
  std::string bytes;
  for (const float value : values) bytes += encode(tensor.dtype, value);
  return bytes;
}

template <class Message>
std::string describe(Message& message, const Tensor& tensor) {
  message.set_data_type(msdump::info(tensor.dtype).proto_number);
  message.set_format(static_cast<int32_t>(tensor.format));
  for (const int64_t dim : tensor.device) message.mutable_shape()->add_dim(static_cast<uint64_t>(dim));
  message.mutable_original_shape();
  for (const int64_t dim : tensor.host) message.mutable_original_shape()->add_dim(static_cast<uint64_t>(dim));
  const std::string bytes = device_bytes(tensor);
  message.set_size(bytes.size());
  return bytes;
}

std::string with_length(const msdump::pb::DumpData& data, const std::string& payload) {
  const std::string header = data.SerializeAsString();
  const uint64_t length = header.size();
  std::string file(reinterpret_cast<const char*>(&length), sizeof length);
  return file + header + payload;
}

std::string dump_file(const std::string& op_name, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& outputs) {
  msdump::pb::DumpData data;
  data.set_version("2.0");
  data.set_dump_time(1700000000000000);
  data.set_op_name(op_name);
  std::string payload;
  for (const Tensor& tensor : inputs) payload += describe(*data.add_input(), tensor);
  for (const Tensor& tensor : outputs) payload += describe(*data.add_output(), tensor);
  return with_length(data, payload);
}

// An overflow record of the first generation: AI Core status 32 of task 3 in stream 7.
std::string opdebug_file() {
  std::string record(2048, '\0');
  const auto put = [&](size_t at, uint64_t value) { std::memcpy(record.data() + at, &value, sizeof value); };
  put(256, 514), put(264, 7), put(272, 3);
  put(288, 0x1008005b0000), put(296, 0x100800297000);
  put(1024, 0x1008005ae000), put(1032, 1), put(1040, 32);
  msdump::pb::DumpData data;
  data.set_version("2.0");
  data.set_op_name("Node_OpDebug");
  msdump::pb::OpOutput& output = *data.add_output();
  output.set_data_type(4);
  output.set_format(2);
  output.mutable_shape()->add_dim(record.size());
  output.set_size(record.size());
  return with_length(data, record);
}

// The graph of these operators as MindSpore 2.0 prints it beside a dump.
std::string ir_text() {
  std::string text = R"(# IR entry: @kernel_graph_0
# Total subgraphs: 1

# Total params: 5
# Params:
%para1_x : <Tensor[Float16], (1, 3, 6, 6)>
%para2_conv1.weight : <Ref[Tensor[Float16]], (8, 3, 3, 3), ref_key=:conv1.weight>  :  has_default
%para3_conv1.bias : <Ref[Tensor[Float32]], (8), ref_key=:conv1.bias>  :  has_default
%para4_fc1.weight : <Ref[Tensor[Float16]], (10, 40), ref_key=:fc1.weight>  :  has_default
%para5_embedding.table : <Ref[Tensor[BFloat16]], (9, 6), ref_key=:embedding.table>  :  has_default

subgraph attr:
subgraph instance: kernel_graph_0 : 0x55d0c0ffee00
subgraph @kernel_graph_0() {
)";
  const std::string net = "/home/user/train/net.py", layers = "/usr/lib/python3.9/site-packages/mindspore/nn/layer/";
  int number = 0;
  const auto node = [&](const std::string& head, const std::string& types, const std::string& name,
                        const std::vector<std::string>& lines) {
    text += fmt::format("  %{}([CNode]{}) = {}\n      : {}\n", number, number + 1, head, types);
    text += fmt::format("      # Fullname with scope: (Default/network-Net/{})\n", name);
    for (const std::string& line : lines) text += fmt::format("      # In file {}/\n", line);
    ++number;
  };
  const std::string image = "<Tensor[Float16], (1, 3, 6, 6)>", feature = "<Tensor[Float16], (1, 8, 6, 6)>";
  const std::string logits = "<Tensor[Float32], (4, 10)>";
  const std::string conv1 = net + ":23/        x = self.conv1(x)",
                    fc1 = net + ":27/        x = self.fc1(self.flatten(x))";
  node("Conv2D(%para1_x, %para2_conv1.weight) {instance name: conv2d}",
       fmt::format("({}, <Ref[Tensor[Float16]], (8, 3, 3, 3), ref_key=:conv1.weight>) -> ({})", image, feature),
       "conv1-Conv2d/Conv2D-op12", {conv1, layers + "conv.py:308/        output = self.conv2d(x, self.weight)"});
  node("BiasAdd(%0, %para3_conv1.bias) {instance name: bias_add}",
       fmt::format("({}, <Ref[Tensor[Float32]], (8), ref_key=:conv1.bias>) -> ({})", feature, feature),
       "conv1-Conv2d/BiasAdd-op13",
       {conv1, layers + "conv.py:310/            output = self.bias_add(output, self.bias)"});
  node("ReLU(%1) {instance name: relu}", fmt::format("({}) -> ({})", feature, feature), "relu-ReLU/ReLU-op15",
       {net + ":24/        x = self.relu(x)", layers + "activation.py:367/        return self.relu(x)"});
  node("MatMul(%2, %para4_fc1.weight) {instance name: matmul}",
       fmt::format("({}, <Ref[Tensor[Float16]], (10, 40), ref_key=:fc1.weight>) -> ({})", feature, logits),
       "fc1-Dense/MatMul-op20", {fc1, layers + "basic.py:627/        x = self.matmul(x, self.weight)"});
  node("DynamicRNN(%2) {instance name: rnn}", fmt::format("({}) -> ({})", feature, logits), "lstm-LSTM/DynamicRNN-op22",
       {net + ":28/        h = self.lstm(x)"});
  node("ReduceMean(%3) {instance name: reduce_mean}", fmt::format("({}) -> (<Tensor[Float32], ()>)", logits),
       "loss-MSELoss/ReduceMean-op30", {net + ":41/        return self.loss(x)"});
  node("Gather(%para5_embedding.table, Tensor(shape=[4], dtype=Int32, value=[0 1 2 3])) {instance name: gather}",
       "(<Ref[Tensor[BFloat16]], (9, 6), ref_key=:embedding.table>, <Tensor[Int32], (4)>) -> (<Tensor[BFloat16], (4, "
       "6)>)",
       "embedding-Embedding/Gather-op40", {net + ":26/        e = self.embedding(self.indices)"});
  text += fmt::format("  Return(%{})\n      : (<Tensor[Float32], ()>)\n", number - 2);
  text += "      # Fullname with scope: (Default/Return-op42)\n";
  text += "}\n";
  return text;
}

void write(const std::filesystem::path& path, const std::string& content) {
  const msdump::Status status = msdump::write_file(path.string(), content);
  if (!status) {
    fmt::print(stderr, "make_sample: {}: {}\n", path.string(), status.error().message);
    std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool wrong = argc == 3 && std::string_view(argv[2]) == "wrong";
  if (argc != 2 && !wrong) {
    fmt::print(stderr, "usage: make_sample DIR [wrong]\n");
    return 2;
  }
  const std::string hour = wrong ? "17000036" : "17000000";  // of time stamps
  const std::filesystem::path folder = std::filesystem::path(argv[1]) / "rank_0" / "Net" / "0" / "0";
  std::filesystem::create_directories(folder);
  const Tensor image{DType::kFloat16, Format::kNC1HWC0, {1, 1, 6, 6, 16}, {1, 3, 6, 6}};
  const Tensor weight{DType::kFloat16, Format::kFractalZ, {9, 1, 16, 16}, {8, 3, 3, 3}};
  const Tensor feature{DType::kFloat16, Format::kNC1HWC0, {1, 1, 6, 6, 16}, {1, 8, 6, 6}};
  Tensor biased = feature;
  biased.values = Tensor::Values::kBiased;
  const Tensor bias{DType::kFloat32, Format::kND, {8}, {8}};
  const Tensor matrix{DType::kFloat16, Format::kFractalNZ, {3, 1, 16, 16}, {4, 40}};
  const Tensor logits{DType::kFloat32,
                      Format::kFractalNZ,
                      {1, 1, 16, 16},
                      {4, 10},
                      wrong ? Tensor::Values::kWrong : Tensor::Values::kRamp};
  const Tensor lstm{DType::kFloat16, Format::kFractalZnLstm, {3, 8, 16, 16}, {1, 1, 40, 80}};
  const Tensor scalar{
      DType::kFloat32, Format::kND, {1}, {}, wrong ? Tensor::Values::kWrongMean : Tensor::Values::kMean};
  const Tensor embedding{DType::kBfloat16, Format::kND, {4, 6}, {4, 6}};
  const Tensor indices{DType::kInt32, Format::kND, {4}, {4}};
  const std::string net = "Default/network-Net/", file_net = "Default_network-Net_";
  write(folder / ("Conv2D." + file_net + "conv1-Conv2d_Conv2D-op12.3.7." + hour + "00001000"),
        dump_file(net + "conv1-Conv2d/Conv2D-op12", {image, weight}, {feature}));
  write(folder / ("BiasAdd." + file_net + "conv1-Conv2d_BiasAdd-op13.4.7." + hour + "00002000"),
        dump_file(net + "conv1-Conv2d/BiasAdd-op13", {feature, bias}, {biased}));
  write(folder / ("MatMul." + file_net + "fc1-Dense_MatMul-op20.5.7." + hour + "00003000"),
        dump_file(net + "fc1-Dense/MatMul-op20", {matrix}, {logits}));
  write(folder / ("DynamicRNN." + file_net + "lstm-LSTM_DynamicRNN-op22.6.7." + hour + "00004000"),
        dump_file(net + "lstm-LSTM/DynamicRNN-op22", {lstm}, {}));
  write(folder / ("ReduceMean." + file_net + "loss-MSELoss_ReduceMean-op30.7.7." + hour + "00005000"),
        dump_file(net + "loss-MSELoss/ReduceMean-op30", {logits}, {scalar}));
  // A name too long for the file system, as CANN hashes it.
  const std::string hashed = "71502983415062987341509827364518";
  write(folder / hashed, dump_file(net + "embedding-Embedding/Gather-op40", {embedding, indices}, {embedding}));
  write(folder / "mapping.csv",
        hashed + ",Gather." + file_net + "embedding-Embedding_Gather-op40.8.7." + hour + "00006000\n");
  write(folder / ("Opdebug.Node_OpDebug.9.7." + hour + "00007000"), opdebug_file());
  const std::filesystem::path graphs = std::filesystem::path(argv[1]) / "rank_0" / "graphs";
  std::filesystem::create_directories(graphs);
  write(graphs / "ms_output_trace_code_graph_0.ir", ir_text());
  return 0;
}
