// Every IR text of corpus/ir, 0.5 to 2.6, whole and excerpts, against what it was found to say (NAME.expected.json):
// operators, operands, types, names, source lines.
#include <algorithm>
#include <functional>
#include <iostream>

#include <fmt/format.h>
#include <rapidjson/document.h>

#include "ir/model/scan.h"
#include "ir/text/ir_text.h"
#include "support/catch.h"
#include "support/operand_text.h"
#include "support/paths.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

using Json = rapidjson::Value;
using Texts = std::vector<std::string>;

std::string text_of(const Json& value) { return {value.GetString(), value.GetStringLength()}; }

Texts texts_of(const Json& array) {
  Texts texts;
  for (const Json& item : array.GetArray()) texts.push_back(text_of(item));
  return texts;
}

// What differs in one sample, each with where.
class Differences {
 public:
  explicit Differences(std::string file) : file_(std::move(file)) {}

  void check(const std::string& where, const Texts& found, const Texts& expected) {
    ++fields;
    if (found == expected) return;
    texts.push_back(
        fmt::format("{} {}: '{}' instead of '{}'", file_, where, fmt::join(found, "' '"), fmt::join(expected, "' '")));
  }
  // A key that is not there expects the empty text.
  void check(const std::string& where, const std::string& found, const Json& object, const char* key) {
    check(where + " " + key, Texts{found}, Texts{object.HasMember(key) ? text_of(object[key]) : ""});
  }

  Texts texts;
  size_t fields = 0;

 private:
  std::string file_;
};

Texts type_texts(const IrGraph& ir, std::span<const uint32_t> types) {
  Texts texts;
  for (const uint32_t type : types) texts.emplace_back(ir.types[type].text);
  return texts;
}

void check_types(const IrGraph& ir, Signature signature, const std::string& where, const Json& node, const char* in,
                 const char* out, Differences& differences) {
  const bool expected = node.HasMember(in);
  differences.check(where + " has " + in, {signature != List::kEmpty ? "yes" : "no"}, {expected ? "yes" : "no"});
  if (!expected) return;
  differences.check(where + " " + in, type_texts(ir, ir.inputs(signature)), texts_of(node[in]));
  differences.check(where + " " + out, type_texts(ir, ir.outputs(signature)), texts_of(node[out]));
}

std::string frame_text(const SourceFrame& frame) {
  constexpr std::string_view kKinds[] = {"self", "forward", "candidate"};
  std::string text = fmt::format("{}:{}", frame.file, frame.line);
  if (frame.end_line != frame.line) text += fmt::format("-{}", frame.end_line);
  return fmt::format("{} {} {}", text, kKinds[static_cast<size_t>(frame.kind)], frame.code);
}

std::string frame_text(const Json& frame) {
  std::string text = fmt::format("{}:{}", text_of(frame["file"]), frame["line"].GetInt());
  if (frame.HasMember("end_line")) text += fmt::format("-{}", frame["end_line"].GetInt());
  return fmt::format("{} {} {}", text, text_of(frame["kind"]), text_of(frame["code"]));
}

// The sample has them in the order of the file; which is outermost first from 2.0.
void check_stack(const IrGraph& ir, const IrNode& node, bool outermost_first, const std::string& where,
                 const Json& expected, Differences& differences) {
  Texts found, wanted;
  for (const uint32_t frame : ir.stack(node)) found.push_back(frame_text(ir.frames[frame]));
  for (const Json& frame : expected.GetArray()) wanted.push_back(frame_text(frame));
  if (outermost_first) std::reverse(wanted.begin(), wanted.end());
  differences.check(where + " source", found, wanted);
}

void check_node(const IrGraph& ir, const IrNode& node, bool outermost_first, const Json& expected,
                Differences& differences) {
  const std::string where = fmt::format("line {} {}", node.line, ir.node_name(node));
  differences.check(where, ir.node_name(node), expected, "name");
  differences.check(where, std::string(ir.text(node.debug_name)), expected, "debug");
  differences.check(where, std::string(ir.graph_name(node)), expected, "subgraph");
  differences.check(where, std::string(ir.text(node.op)), expected, "op");
  differences.check(where, ir.full_name(node), expected, "fullname");
  if (!expected.HasMember("fullname")) differences.check(where, std::string(ir.scope(node)), expected, "scope");
  Texts operands;
  for (const IrOperand& operand : ir.operands_of(node)) operands.push_back(operand_text(ir, node, operand));
  differences.check(where + " inputs", operands, texts_of(expected["inputs"]));
  check_types(ir, node.host, where, expected, "host_in", "host_out", differences);
  check_types(ir, node.device, where, expected, "dev_in", "dev_out", differences);
  check_stack(ir, node, outermost_first, where, expected["source"], differences);
}

void check_parameters(const IrGraph& ir, const Json& expected, Differences& differences) {
  Texts found, wanted;
  const auto type_text = [&](uint32_t type) { return type == kNoIndex ? "" : ir.types[type].text; };
  for (const IrParameter& parameter : ir.parameters) {
    if (parameter.graph != kNoIndex) continue;
    found.push_back(fmt::format("{} {} {} {} {}", ir.text(parameter.text), type_text(parameter.host),
                                type_text(parameter.device), parameter.is_weight.value_or(false),
                                parameter.has_default));
  }
  for (const Json& parameter : expected.GetArray()) {
    const auto text = [&](const char* key) { return parameter.HasMember(key) ? text_of(parameter[key]) : ""; };
    const auto flag = [&](const char* key) { return parameter.HasMember(key) && parameter[key].GetBool(); };
    wanted.push_back(
        fmt::format("{} {} {} {} {}", text("name"), text("host"), text("dev"), flag("is_weight"), flag("has_default")));
  }
  differences.check("params", found, wanted);
}

void check_sample(const IrGraph& ir, bool outermost_first, const Json& expected, Differences& differences) {
  const std::string entry = expected["entry"].IsString() ? text_of(expected["entry"]) : "";
  differences.check("entry", {std::string(ir.text(ir.facts.entry))}, {entry});
  Texts graphs, wanted_graphs;
  for (const IrSubgraph& graph : ir.graphs) graphs.emplace_back(ir.text(graph.name));
  for (const Json& graph : expected["subgraphs"].GetArray()) wanted_graphs.push_back(text_of(graph["name"]));
  differences.check("subgraphs", graphs, wanted_graphs);
  check_parameters(ir, expected["params"], differences);
  const auto nodes = expected["nodes"].GetArray();
  differences.check("nodes", {std::to_string(ir.nodes.size())}, {std::to_string(nodes.Size())});
  for (rapidjson::SizeType i = 0; i < nodes.Size() && i < ir.nodes.size(); ++i) {
    check_node(ir, ir.nodes[i], outermost_first, nodes[i], differences);
  }
}

std::vector<fs::path> files_with(const fs::path& folder, std::string_view ending) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().ends_with(ending)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// A text as it may arrive: each line changed.
std::string changed(const std::string& text, const std::function<std::string(size_t, std::string_view)>& change) {
  std::string result;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    result += change(++number, std::string_view(text).substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return result;
}

// Everything about the operators but where they stand.
Texts sample_texts(const IrGraph& ir) {
  Texts texts;
  for (const IrNode& node : ir.nodes) {
    std::string text = fmt::format("{} {} {} {} {} {}", ir.graph_name(node), ir.node_name(node), ir.text(node.op),
                                   ir.full_name(node), ir.scope(node), ir.text(node.attributes));
    for (const IrOperand& operand : ir.operands_of(node)) text += " " + operand_text(ir, node, operand);
    for (const Signature signature : {node.host, node.device}) {
      text += fmt::format(" : {} -> {}", fmt::join(type_texts(ir, ir.inputs(signature)), ","),
                          fmt::join(type_texts(ir, ir.outputs(signature)), ","));
    }
    for (const uint32_t frame : ir.stack(node)) text += " / " + frame_text(ir.frames[frame]);
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace

TEST_CASE("every IR sample says what it was found to say") {
  const auto corpus = corpus_or_skip("ir");
  if (!corpus) return;
  size_t nodes = 0, fields = 0, problems = 0;
  Texts differences;
  const auto samples = files_with(*corpus, ".expected.json");
  for (const fs::path& path : samples) {
    const std::string text = read_bytes(path);
    rapidjson::Document expected;
    expected.Parse(text.data(), text.size());
    REQUIRE_FALSE(expected.HasParseError());
    const std::string name = text_of(expected["file"]);
    const auto file = File::open((*corpus / name).string());
    REQUIRE(file);
    const auto ir = read_ir_text(*file);
    if (!ir) differences.push_back(name + ": " + ir.error().message);
    if (!ir) continue;
    Differences here(name);
    check_sample(*ir, name.starts_with("ms2"), expected, here);
    differences.insert(differences.end(), here.texts.begin(), here.texts.end());
    nodes += ir->nodes.size();
    fields += here.fields;
    problems += ir->problems.count();
    for (const IrProblem& problem : ir->problems) {
      std::cout << name << ":" << problem.line << ": " << problem.reason << std::endl;
    }
    CHECK(ir->parsed() == ir->expected());
  }
  std::cout << samples.size() << " samples, " << nodes << " operators, " << fields << " fields, " << problems
            << " problems" << std::endl;
  for (const std::string& difference : differences) UNSCOPED_INFO(difference);
  CHECK(differences.empty());
  CHECK(samples.size() >= 30);
}

TEST_CASE("an IR sample copied in another way says the same") {
  const auto corpus = corpus_or_skip("ir");
  if (!corpus) return;
  using View = std::string_view;
  const std::pair<const char*, std::function<std::string(size_t, View)>> copies[] = {
      {"carriage returns", [](size_t, View line) { return std::string(line) + "\r"; }},
      {"no indentation", [](size_t, View line) { return std::string(trim_front(line)); }},
      {"tabs", [](size_t, View line) { return "\t" + std::string(trim_front(line)); }},
      {"numbered", [](size_t number, View line) { return fmt::format("{:4} {}", number, line); }},
      {"numbered with colons", [](size_t number, View line) { return fmt::format("{}:{}", number, line); }},
  };
  const test::ScratchDir scratch;
  size_t texts = 0;
  for (const fs::path& path : files_with(*corpus, ".ir")) {
    const std::string text = read_bytes(path);
    const auto file = File::open(path.string());
    const auto ir = read_ir_text(*file);
    REQUIRE(ir);
    for (const auto& [how, change] : copies) {
      if (std::count(text.begin(), text.end(), '\n') < 3 && View(how).starts_with("numbered")) continue;
      const auto copy = File::open(scratch.write("copy.ir", changed(text, change)));
      const auto same = read_ir_text(*copy);
      INFO(path.filename().string() << ": " << how);
      REQUIRE(same);
      CHECK(sample_texts(*same) == sample_texts(*ir));
      ++texts;
    }
  }
  std::cout << texts << " copies" << std::endl;
  CHECK(texts >= 100);
}
