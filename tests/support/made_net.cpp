#include "support/made_net.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <Eigen/Core>

#include "graph/op_name.h"
#include "support/statistics_run.h"

namespace msdump {

namespace fs = std::filesystem;

namespace {

float computed(std::string_view type, float x) {
  if (type == "Neg") return -x;
  if (type == "ReLU") return std::max(x, 0.0F);
  if (type == "Sign") return x > 0 ? 1.0F : -1.0F;
  if (type == "Log") return std::log(x);
  return x;
}

float computed(std::string_view type, float x, float y) {
  if (type == "Mul") return x * y;
  if (type == "Sub") return x - y;
  if (type == "Div") return x / y;
  return x + y;
}

// Numbers alone count for all elements.
Values elementwise(std::string_view type, const Values& left, const Values& right) {
  Values result(std::max(left.size(), right.size()));
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = computed(type, left[left.size() == 1 ? 0 : i], right[right.size() == 1 ? 0 : i]);
  return result;
}

std::string bytes_of(const Values& values, bool half) {
  if (!half) return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
  std::string bytes;
  for (const float value : values) {
    const Eigen::half narrow(value);
    bytes.append(reinterpret_cast<const char*>(&narrow), sizeof(narrow));
  }
  return bytes;
}

}  // namespace

Values some_values(float scale) {
  Values values;
  for (int i = 0; i < 16; ++i) values.push_back(scale * (std::sin(static_cast<float>(i) * 1.7F) + 0.1F));
  return values;
}

MadeNet::Tensor MadeNet::add(MadeTensor tensor) {
  tensors_.push_back(std::move(tensor));
  return static_cast<Tensor>(tensors_.size() - 1);
}

MadeNet::Tensor MadeNet::input(const std::string& name, const Values& values) {
  const std::string operand = fmt::format("%para{}_{}", tensors_.size() + 1, name);
  return add({values, operand, fmt::format("{}: <Tensor[Float32], (16)>\n", operand), UINT32_MAX, {}, true});
}

MadeNet::Tensor MadeNet::weight(const std::string& name, const Values& values) {
  const std::string operand = fmt::format("%para{}_{}", tensors_.size() + 1, name);
  return add({values,
              operand,
              fmt::format("{}: <Ref[Tensor[Float32]], (16), ref_key={}>  :  has_default\n", operand, name),
              UINT32_MAX,
              {},
              true});
}

MadeNet::Tensor MadeNet::constant(float value) {
  return add({{value}, fmt::format("F32({})", value), {}, UINT32_MAX, {}, true});
}

MadeNet::Tensor MadeNet::constant(const Values& values) {
  const std::string text = fmt::format("Tensor(shape=[{}], dtype=Float32, value=[...])", values.size());
  return add({values, text, {}, UINT32_MAX, {}, true});
}

MadeNet::Tensor MadeNet::op(std::string_view type, const std::vector<Tensor>& inputs, std::string_view scope) {
  Node node;
  node.type = type;
  node.scope = scope;
  node.line = line_++;
  for (const Tensor input : inputs) node.inputs.push_back({input, true, {}, {}, false});
  const auto before = std::count_if(nodes_.begin(), nodes_.end(),
                                    [&](const Node& one) { return one.type == type && one.scope == scope; });
  node.name = fmt::format("{}/{}-op{}", scope, type, before);
  MadeTensor output;
  output.values = tensors_[inputs.at(0)].values;
  for (size_t i = 1; i < inputs.size(); ++i)
    output.values = elementwise(type, output.values, tensors_[inputs[i]].values);
  if (inputs.size() == 1) {
    for (float& value : output.values) value = computed(type, value);
  }
  if (type == "ReduceSum") {
    float sum = 0;
    for (const float value : output.values) sum += value;
    output.values = {sum};
  }
  output.operand = fmt::format("%{}", nodes_.size());
  output.node = static_cast<uint32_t>(nodes_.size());
  node.output = static_cast<Tensor>(tensors_.size());
  nodes_.push_back(std::move(node));
  return add(std::move(output));
}

void MadeNet::write_tensor(const fs::path& folder, const Node& node, size_t time, const std::string& tensor,
                           const Values& values, const Shape& shape, bool half) const {
  const std::string name = fmt::format("{}.{}.0.0.{}.{}.DefaultFormat.{}.npy", node.type, normalised_op_name(node.name),
                                       1'700'000'000'000'000 + begin_ + time, tensor, half ? "Float16" : "Float32");
  const Shape stored = shape.empty() ? Shape{static_cast<int64_t>(values.size())} : shape;
  test::write_bytes(folder / name, test::npy_of(half ? "<f2" : "<f4", stored, bytes_of(values, half)));
}

std::string MadeNet::ir() const {
  std::string text = "# IR entry: @kernel_graph0\n# Total subgraphs: 1\n\n# Params:\n";
  for (const MadeTensor& tensor : tensors_) text += tensor.declared;
  text += "\nsubgraph attr:\nsubgraph instance: kernel_graph0 : 0x1\nsubgraph @kernel_graph0() {\n";
  for (size_t i = 0; i < nodes_.size(); ++i) {
    std::string operands;
    for (const Input& input : nodes_[i].inputs)
      operands += (operands.empty() ? "" : ", ") + tensors_[input.tensor].operand;
    std::string node = test::node_text(fmt::format("%{}", i), nodes_[i].type, operands, nodes_[i].name,
                                       {fmt::format("/home/user/net.py:{}, 8~20/y = f(x)", nodes_[i].line)});
    if (!nodes_[i].attributes.empty())
      node.insert(node.find('\n'), fmt::format(" primitive_attrs: {{{}}}", nodes_[i].attributes));
    text += node;
  }
  if (returned_ != UINT32_MAX) text += fmt::format("  Return({})\n", tensors_[returned_].operand);
  return text + "}\n";
}

void MadeNet::write(const fs::path& dump, bool with_ir) const {
  const fs::path rank = dump / fmt::format("rank_{}", place_.rank);
  const fs::path folder = rank / "Net" / "0" / std::to_string(place_.step);
  fs::create_directories(folder);
  for (size_t time = 0; time < nodes_.size(); ++time) {
    const Node& node = nodes_[time];
    for (size_t slot = 0; slot < node.inputs.size(); ++slot) {
      const Input& input = node.inputs[slot];
      const MadeTensor& tensor = tensors_[input.tensor];
      if (input.dumped)
        write_tensor(folder, node, time, fmt::format("input.{}", slot),
                     input.shown.empty() ? tensor.values : input.shown,
                     input.shape.empty() ? tensor.shape : input.shape, half_ || input.half);
    }
    const MadeTensor& output = tensors_[node.output];
    if (output.dumped) write_tensor(folder, node, time, "output.0", output.values, output.shape, half_);
    for (size_t i = 0; i < node.more_outputs.size(); ++i)
      write_tensor(folder, node, time, fmt::format("output.{}", i + 1), node.more_outputs[i], {}, half_);
  }
  if (!with_ir) return;
  fs::create_directories(rank / "graphs");
  fs::create_directories(rank / ".dump_metadata");
  test::write_bytes(rank / ".dump_metadata" / "config.json", "{\"ms_version\":\"2.10.0\"}");
  test::write_bytes(rank / "graphs" / "ms_output_trace_code_graph_0.ir", ir());
}

MadeChain made_chain(MadeNet& net, float factor) {
  MadeChain made;
  made.x = net.input("x");
  made.w = net.weight("w");
  made.product = net.op("Mul", {made.x, net.constant(factor)});
  made.sum = net.op("Add", {made.product, made.w});
  made.relu = net.op("ReLU", {made.sum});
  return made;
}

namespace {

void keep_statistics(const fs::path& dump) {
  std::set<fs::path> folders;
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(dump)) {
    if (file.path().extension() == ".npy") folders.insert(file.path().parent_path());
  }
  for (const fs::path& folder : folders) {
    const std::string csv = test::statistic_csv(folder, {});
    for (const fs::path& file : std::vector<fs::path>(fs::directory_iterator(folder), fs::directory_iterator()))
      fs::remove(file);
    test::write_bytes(folder / "statistic.csv", csv);
  }
}

}  // namespace

Trial::Trial(const Build& build, const TrialOptions& options) {
  for (const bool bad : {false, true}) {
    for (int rank = 0; rank < options.ranks; ++rank) {
      for (int step = 0; step < options.steps; ++step) {
        MadeNet net({bad, rank, step}, bad && options.half_candidate);
        build(net);
        net.write(scratch_.path() / (bad ? "bad" : "ref"), options.ir);
      }
    }
    if (options.statistics) keep_statistics(scratch_.path() / (bad ? "bad" : "ref"));
  }
  compared_ = std::make_unique<test::ComparedDumps>(scratch_.path() / "bad", scratch_.path() / "ref", options.map);
}

void two_roots(MadeNet& net) {
  const auto y = net.op("Exp", {net.input("x")}), z = net.op("Cos", {net.input("w")});
  if (net.bad()) net[y][4] += 1;
  if (net.bad()) net[z][7] += 2;
  net.op("Add", {y, z});
  net.op("Neg", {z});
}

}  // namespace msdump
