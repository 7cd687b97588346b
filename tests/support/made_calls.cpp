#include "support/made_calls.h"

#include <fmt/format.h>

#include "support/statistics_run.h"

namespace msdump {

namespace fs = std::filesystem;

namespace {

// One tensor: its file, and what dump.json says of it.
std::string leaf(const fs::path& folder, const std::string& name, const Values& values) {
  const std::string file = name + ".npy";
  const Shape shape{static_cast<int64_t>(values.size())};
  const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  test::write_bytes(folder / "dump_tensor_data" / file, test::npy_of("<f4", shape, bytes));
  return fmt::format(R"({{"type":"torch.Tensor","dtype":"torch.float32","shape":[{}],"data_name":"{}"}})",
                     values.size(), file);
}

std::string leaves(const fs::path& folder, const std::string& name, const std::vector<Values>& tensors) {
  std::string text;
  for (size_t i = 0; i < tensors.size(); ++i)
    text += (i == 0 ? "" : ",") + leaf(folder, fmt::format("{}.{}", name, i), tensors[i]);
  return "[" + text + "]";
}

std::string scalar(const std::string& type, const std::string& value) {
  return type.empty() ? "null" : fmt::format(R"({{"type":"{}","value":{}}})", type, value);
}

}  // namespace

void MadeCalls::ran(const std::string& name, const std::vector<Values>& inputs, const std::vector<Values>& outputs,
                    const std::string& parent) {
  entries_.push_back({name, parent, inputs, outputs, {}, {}, {}, 10 + static_cast<int>(entries_.size())});
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
  std::string data, construct, stack;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    const std::string comma = i == 0 ? "" : ",\n";
    data += fmt::format("{}\"{}\": ", comma, entry.name);
    if (entry.name.find(".parameters_grad") != std::string::npos) {
      data += fmt::format(R"({{"weight":[{}]}})", leaf(folder, entry.name + ".weight", entry.outputs.at(0)));
    } else {
      const bool forward = entry.name.find(".forward") != std::string::npos;
      std::string inputs = leaves(folder, entry.name + ".input", entry.inputs);
      inputs.insert(inputs.size() - 1,
                    entry.inputs.empty() ? entry.arguments.substr(entry.arguments.empty() ? 0 : 1) : entry.arguments);
      std::string parameters;
      for (const auto& [name, values] : entry.parameters) {
        parameters += fmt::format("{}\"{}\":{}", parameters.empty() ? "" : ",", name,
                                  leaf(folder, entry.name + ".parameters." + name, values));
      }
      data += fmt::format(R"({{"{}":{},{}{}"output":{}}})", forward ? "input_args" : "input", inputs,
                          forward ? fmt::format(R"("input_kwargs":{{{}}},)", entry.keywords) : "",
                          parameters.empty() ? "" : fmt::format(R"("parameters":{{{}}},)", parameters),
                          leaves(folder, entry.name + ".output", entry.outputs));
    }
    construct += fmt::format("{}\"{}\": {}", comma, entry.name,
                             entry.parent.empty() ? "null" : fmt::format("\"{}\"", entry.parent));
    stack += fmt::format("{}\"{}\": [[\"{}\"], [\"File /home/user/net.py, line {}, in forward, \\n y = f(x)\"]]", comma,
                         i, entry.name, entry.line);
  }
  test::write_bytes(
      folder / "dump.json",
      R"({"task":"tensor","level":"mix","framework":"pytorch","dump_data_dir":null,"data":{)" + data + "}}");
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
