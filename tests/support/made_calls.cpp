#include "support/made_calls.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "support/statistics_run.h"

namespace msdump {

namespace fs = std::filesystem;

namespace {

std::string number_text(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "\"nan\""; }

std::string statistics_text(const Values& values) {
  double largest = -HUGE_VAL, least = HUGE_VAL, sum = 0, squares = 0;
  for (const float value : values) {
    largest = std::max<double>(largest, value);
    least = std::min<double>(least, value);
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  // NaN counts as the largest and the least, as in the tools.
  if (std::isnan(sum)) largest = least = sum;
  return fmt::format(R"("Max":{},"Min":{},"Mean":{},"Norm":{})", number_text(largest), number_text(least),
                     number_text(sum / static_cast<double>(values.size())), number_text(std::sqrt(squares)));
}

// What dump.json says of a tensor; without statistics its file is written too.
class Leaves {
 public:
  Leaves(fs::path folder, bool statistics) : folder_(std::move(folder)), statistics_(statistics) {}

  [[nodiscard]] std::string of(const std::string& name, const Values& values) const {
    std::string rest = statistics_ ? statistics_text(values) : fmt::format(R"("data_name":"{}.npy")", name);
    if (!statistics_) {
      const Shape shape{static_cast<int64_t>(values.size())};
      const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
      test::write_bytes(folder_ / "dump_tensor_data" / (name + ".npy"), test::npy_of("<f4", shape, bytes));
    }
    return fmt::format(R"({{"type":"torch.Tensor","dtype":"torch.float32","shape":[{}],{}}})", values.size(), rest);
  }

  [[nodiscard]] std::string of(const std::string& name, const std::vector<Values>& tensors) const {
    std::string text;
    for (size_t i = 0; i < tensors.size(); ++i)
      text += (i == 0 ? "" : ",") + of(fmt::format("{}.{}", name, i), tensors[i]);
    return "[" + text + "]";
  }

 private:
  fs::path folder_;
  bool statistics_;
};

std::string scalar(const std::string& type, const std::string& value) {
  return type.empty() ? "null" : fmt::format(R"({{"type":"{}","value":{}}})", type, value);
}

}  // namespace

namespace {

std::string json_of_indices(const Values& indices) {
  const auto [least, largest] = std::minmax_element(indices.begin(), indices.end());
  return fmt::format(
      R"({{"type":"torch.Tensor","dtype":"torch.int64","shape":[{}],"Max":{},"Min":{},"Mean":null,"Norm":null}})",
      indices.size(), *largest, *least);
}

std::string json_of_mask(size_t elements) {
  return fmt::format(
      R"({{"type":"torch.Tensor","dtype":"torch.bool","shape":[{}],"Max":true,"Min":false,"Mean":null,"Norm":null}})",
      elements);
}

}  // namespace

void MadeCalls::read_mask(size_t elements) { entries_.back().arguments += "," + json_of_mask(elements); }

void MadeCalls::read(const Values& indices) { entries_.back().arguments += "," + json_of_indices(indices); }

void MadeCalls::ran(const std::string& name, const std::vector<Values>& inputs, const std::vector<Values>& outputs,
                    const std::string& parent) {
  entries_.push_back({name, parent, inputs, outputs, {}, 0, {}, {}, {}, 10 + static_cast<int>(entries_.size())});
}

void MadeCalls::given(const std::string& type, const std::string& value) {
  entries_.back().arguments += "," + scalar(type, value);
}

void MadeCalls::given(const std::string& keyword, const std::string& type, const std::string& value) {
  std::string& keywords = entries_.back().keywords;
  keywords += fmt::format("{}\"{}\":{}", keywords.empty() ? "" : ",", keyword, scalar(type, value));
}

void MadeCalls::write(const fs::path& dump, const std::string& below) const {
  const fs::path folder = dump / below;
  fs::create_directories(folder / "dump_tensor_data");
  const Leaves leaves(folder, statistics_);
  std::string data, construct, stack;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    const std::string comma = i == 0 ? "" : ",\n";
    data += fmt::format("{}\"{}\": ", comma, entry.name);
    if (entry.name.find(".parameters_grad") != std::string::npos) {
      data += fmt::format(R"({{"weight":[{}]}})", leaves.of(entry.name + ".weight", entry.outputs.at(0)));
    } else {
      const bool forward = entry.name.find(".forward") != std::string::npos;
      std::string inputs = leaves.of(entry.name + ".input", entry.inputs);
      inputs.insert(inputs.size() - 1,
                    entry.inputs.empty() ? entry.arguments.substr(entry.arguments.empty() ? 0 : 1) : entry.arguments);
      std::string outputs = leaves.of(entry.name + ".output", entry.outputs);
      if (!entry.indices.empty())
        outputs.insert(outputs.size() - 1, (entry.outputs.empty() ? "" : ",") + json_of_indices(entry.indices));
      if (entry.mask > 0)
        outputs.insert(outputs.size() - 1, (entry.outputs.empty() ? "" : ",") + json_of_mask(entry.mask));
      std::string parameters;
      for (const auto& [name, values] : entry.parameters) {
        parameters += fmt::format("{}\"{}\":{}", parameters.empty() ? "" : ",", name,
                                  leaves.of(entry.name + ".parameters." + name, values));
      }
      data += fmt::format(R"({{"{}":{},{}{}"output":{}}})", forward ? "input_args" : "input", inputs,
                          forward ? fmt::format(R"("input_kwargs":{{{}}},)", entry.keywords) : "",
                          parameters.empty() ? "" : fmt::format(R"("parameters":{{{}}},)", parameters), outputs);
    }
    construct += fmt::format("{}\"{}\": {}", comma, entry.name,
                             entry.parent.empty() ? "null" : fmt::format("\"{}\"", entry.parent));
    stack += fmt::format("{}\"{}\": [[\"{}\"], [\"File /home/user/net.py, line {}, in forward, \\n {}\"]]", comma, i,
                         entry.name, entry.line, entry.code);
  }
  test::write_bytes(folder / "dump.json",
                    fmt::format(R"({{"task":"{}","level":"mix","framework":"pytorch","dump_data_dir":null,"data":{{)",
                                statistics_ ? "statistics" : "tensor") +
                        data + "}}");
  test::write_bytes(folder / "construct.json", "{" + construct + "}");
  test::write_bytes(folder / "stack.json", "{" + stack + "}");
}

CallTrial::CallTrial(const Build& build) {
  for (const bool bad : {false, true}) {
    MadeCalls calls(bad);
    build(calls);
    calls.write(scratch_.path() / (bad ? "bad" : "ref"));
  }
  compared_ = std::make_unique<test::ComparedDumps>(scratch_.path() / "bad", scratch_.path() / "ref");
}

}  // namespace msdump
