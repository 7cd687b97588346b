// Every IR protobuf of the conformance data: those beside dumps against what is known of each operator (type, scope,
// user frames, in the order of the IR text), all of them against the text beside them and against their own bytes.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/protobuf/ir_protobuf.h"
#include "ir/protobuf/protobuf_value.h"
#include "ir/text/ir_text.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

using Strings = std::vector<std::string>;

IrGraph read(const fs::path& path) {
  INFO(path.string());
  const auto file = File::open(path.string());
  REQUIRE(file);
  auto ir = read_ir_protobuf(*file);
  REQUIRE(ir);
  return std::move(*ir);
}

std::vector<fs::path> protobufs_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".pb") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The fields of one row; a quoted one may hold commas.
Strings split_csv(const std::string& line) {
  Strings fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

// "direct alexnet.py:169", "forward alexnet.py:168-186": what is not below site-packages, each once.
Strings user_frames(const IrGraph& ir, const IrNode& node) {
  const std::map<FrameKind, std::string> words = {
      {FrameKind::kOwn, "direct"}, {FrameKind::kForward, "forward"}, {FrameKind::kCandidate, "fused"}};
  Strings all;
  for (const uint32_t index : ir.stack(node)) {
    const SourceFrame& frame = ir.frames[index];
    if (frame.file.find("site-packages") != std::string_view::npos) continue;
    std::string text =
        fmt::format("{} {}:{}", words.at(frame.kind), frame.file.substr(frame.file.rfind('/') + 1), frame.line);
    if (frame.end_line != frame.line) text += fmt::format("-{}", frame.end_line);
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
  }
  return all;
}

// One operator in IR protobuf and IR text.
struct Both {
  const IrGraph& ir;
  const IrNode& node;
  const IrGraph& text;
  const IrNode& text_node;

  [[nodiscard]] Strings differences(size_t& operands, size_t& types) const {
    Strings all;
    if (ir.full_name(node) != text.full_name(text_node)) all.push_back("name " + text.full_name(text_node));
    if (ir.op_type(node) != text.op_type(text_node)) all.push_back(fmt::format("type {}", text.op_type(text_node)));
    if (node.kind != text_node.kind) all.push_back("kind");
    const auto mine = ir.operands_of(node), theirs = text.operands_of(text_node);
    if (mine.size() != theirs.size()) all.push_back(fmt::format("{} operands, {}", mine.size(), theirs.size()));
    for (size_t i = 0; i < std::min(mine.size(), theirs.size()); ++i, ++operands) {
      if (is_unfolded(mine[i]) && theirs[i].kind == IrOperand::Kind::kParameter) continue;
      if (operand_of(ir, mine[i]) != operand_of(text, theirs[i])) {
        all.push_back(fmt::format("operand {}, {}", operand_of(ir, mine[i]), operand_of(text, theirs[i])));
      }
    }
    compare_types(ir.inputs(node.host), text.inputs(text_node.host), true, all, types);
    compare_types(ir.outputs(node.host), text.outputs(text_node.host), false, all, types);
    return all;
  }

 private:
  // A tuple is one parameter here, and in the text one for each element.
  [[nodiscard]] bool is_unfolded(const IrOperand& operand) const {
    return operand.kind == IrOperand::Kind::kParameter && ir.types[ir.parameters[operand.value].host].is_tuple;
  }

  static std::string operand_of(const IrGraph& graph, const IrOperand& operand) {
    switch (operand.kind) {
      case IrOperand::Kind::kNode: return graph.full_name(graph.nodes[operand.value]);
      // The text has no names for parameters that the framework made, so by number.
      // The text has no names for parameters that the framework made, so by number.
      case IrOperand::Kind::kParameter: return fmt::format("parameter {}", graph.parameters[operand.value].number);
      case IrOperand::Kind::kNamed:
      case IrOperand::Kind::kConstant: return "constant";
      default: return "unresolved";
    }
  }

  // "F32", as a Ref up to 1.10 has it, is Float32.
  static std::string long_name(std::string_view dtype) {
    if (dtype.size() < 2 || !is_digits(dtype.substr(1))) return std::string(dtype);
    const std::string_view word = dtype[0] == 'F' ? "Float" : dtype[0] == 'I' ? "Int" : "UInt";
    return std::string(word) + std::string(dtype.substr(1));
  }

  // Empty if the same is said; what the protobuf leaves out (shapes in tuples, values of constants) is not compared.
  [[nodiscard]] std::string type_difference(uint32_t mine, uint32_t theirs, bool in_tuple) const {
    const IrType& own = ir.types[mine];
    const IrType& other = text.types[theirs];
    const bool none = own.dtype == "None" && other.dtype == "kMetaTypeNone";  // 1.3
    const bool dtype = long_name(own.dtype) == long_name(other.dtype) || none;
    const bool shape = own.shape == other.shape || (in_tuple && !own.shape);
    if (!dtype || !shape || own.is_tensor != other.is_tensor || own.elements.size() != other.elements.size()) {
      return fmt::format("type {}, {}", own.text, other.text);
    }
    for (size_t i = 0; i < own.elements.size(); ++i) {
      std::string difference = type_difference(own.elements[i], other.elements[i], true);
      if (!difference.empty()) return difference;
    }
    return "";
  }

  void compare_types(std::span<const uint32_t> mine, std::span<const uint32_t> theirs, bool inputs, Strings& all,
                     size_t& types) const {
    if (mine.size() != theirs.size()) all.push_back(fmt::format("{} types, {}", mine.size(), theirs.size()));
    for (size_t i = 0; i < std::min(mine.size(), theirs.size()); ++i) {
      const IrOperand operand = inputs ? ir.operands_of(node)[i] : IrOperand{IrOperand::Kind::kNode};
      if (ir.types[mine[i]].text.empty() && operand.kind != IrOperand::Kind::kNode) continue;
      ++types;
      std::string difference = type_difference(mine[i], theirs[i], is_unfolded(operand));
      if (!difference.empty()) all.push_back(std::move(difference));
    }
  }
};

struct Known {
  std::string graph, full_name, type, scope;
  Strings frames;
};

std::vector<Known> known_operators(const fs::path& csv) {
  std::ifstream in(csv);
  std::string line;
  std::getline(in, line);
  std::vector<Known> all;
  while (std::getline(in, line)) {
    const Strings fields = split_csv(line);
    REQUIRE(fields.size() >= 6);
    Known known{fields[0], fields[1], fields[3], fields[4], {}};
    for (size_t at = 0; at < fields[5].size();) {
      const size_t end = std::min(fields[5].find(" | ", at), fields[5].size());
      known.frames.push_back(fields[5].substr(at, end - at));
      at = end + 3;
    }
    all.push_back(std::move(known));
  }
  return all;
}

}  // namespace

TEST_CASE("IR protobufs beside dumps have the operators, scopes and user frames that are known") {
  const auto corpus = corpus_or_skip("real");
  if (!corpus) return;
  size_t trees = 0, operators = 0, frames = 0;
  for (const auto& entry : fs::directory_iterator(*corpus / "expected")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".ops.csv")) continue;
    INFO(name);
    const fs::path graphs = *corpus / name.substr(0, name.size() - 8) / "dump" / "rank_0" / "graphs";
    std::map<std::string, std::vector<Known>> by_graph;
    for (Known& known : known_operators(entry.path())) by_graph[known.graph].push_back(std::move(known));
    for (const auto& [graph, expected] : by_graph) {
      INFO(graph);
      const IrGraph ir = read(graphs / fmt::format("ms_output_trace_code_graph_{}.pb", graph));
      CHECK(ir.problems.count() == 0);
      CHECK(ir.text(ir.facts.root_name) == graph);
      REQUIRE(ir.nodes.size() == expected.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        const IrNode& node = ir.nodes[i];
        CHECK(ir.full_name(node) == expected[i].full_name);
        CHECK(ir.op_type(node) == expected[i].type);
        // Loads up to 1.8 are called after their parameter; their scope is not part of that.
        if (expected[i].full_name.find('/') != std::string::npos) CHECK(ir.scope(node) == expected[i].scope);
        CHECK(user_frames(ir, node) == expected[i].frames);
        frames += expected[i].frames.size();
      }
      operators += expected.size();
    }
    ++trees;
  }
  std::cout << operators << " operators, " << frames << " user frames of " << trees << " trees" << std::endl;
  CHECK(trees >= 28);
  CHECK(operators >= 1900);
}

TEST_CASE("every IR protobuf is read whole, and its operands are all found") {
  const auto corpus = corpus_or_skip("");
  if (!corpus) return;
  size_t files = 0, nodes = 0, operands = 0, typed = 0;
  for (const fs::path& path : protobufs_below(*corpus)) {
    if (path.string().find("/real/") == std::string::npos && path.string().find("/ir/") == std::string::npos) continue;
    INFO(path.string());
    const IrGraph ir = read(path);
    CHECK(ir.problems.count() == 0);
    CHECK_FALSE(ir.facts.truncated);
    CHECK(ir.parsed() == ir.expected());
    CHECK(ir.text(ir.facts.entry).starts_with("kernel_graph"));
    for (const IrOperand& operand : ir.operands) {
      CHECK(operand.kind != IrOperand::Kind::kUnresolved);
      CHECK_FALSE(operand.control);
    }
    for (size_t i = 0; i < ir.nodes.size(); ++i) {
      CHECK(ir.nodes[i].number == i + 1);
      CHECK_FALSE(ir.full_name(ir.nodes[i]).empty());
      const auto outputs = ir.outputs(ir.nodes[i].host);
      REQUIRE(outputs.size() == 1);
      if (outputs[0] != 0) ++typed;
    }
    // Counted in the bytes.
    const std::string bytes = read_bytes(path);
    size_t parameters = 0, constants = 0, own_nodes = 0;
    const auto graph = static_cast<uint8_t>(bytes[0]) == 8 ? *find_field(bytes, 4) : std::string_view(bytes);
    ProtobufFields fields(graph);
    while (const auto field = fields.next()) {
      if (field->number == 1) ++own_nodes;
      if (field->number == 3) ++parameters;
      if (field->number == 5) ++constants;
    }
    CHECK(ir.nodes.size() == own_nodes);
    CHECK(ir.parameters.size() == parameters);
    CHECK(ir.constants.size() == constants);
    nodes += own_nodes;
    operands += ir.operands.size();
    ++files;
  }
  std::cout << nodes << " operators with " << operands << " operands, " << typed << " typed, in " << files << " files"
            << std::endl;
  CHECK(files >= 71);
  CHECK(nodes >= 2800);
}

TEST_CASE("IR protobuf and IR text beside a dump say the same of each operator") {
  const auto corpus = corpus_or_skip("real");
  if (!corpus) return;
  size_t files = 0, nodes = 0, operands = 0, types = 0;
  Strings differences;
  for (const fs::path& path : protobufs_below(*corpus)) {
    fs::path text_path = path;
    text_path.replace_extension(".ir");
    if (!fs::exists(text_path)) continue;
    const auto file = File::open(text_path.string());
    REQUIRE(file);
    const auto text = read_ir_text(*file);
    REQUIRE(text);
    const IrGraph ir = read(path);
    std::vector<const IrNode*> text_nodes;
    for (const IrNode& node : text->nodes) {
      if (node.number != kNoIndex) text_nodes.push_back(&node);
    }
    INFO(path.string());
    REQUIRE(text_nodes.size() == ir.nodes.size());
    for (size_t i = 0; i < ir.nodes.size(); ++i) {
      const Both both{ir, ir.nodes[i], *text, *text_nodes[i]};
      for (const std::string& what : both.differences(operands, types)) {
        differences.push_back(fmt::format("{}: {}: {}", path.string(), ir.full_name(ir.nodes[i]), what));
      }
    }
    nodes += ir.nodes.size();
    ++files;
  }
  std::cout << nodes << " operators with " << operands << " operands and " << types << " types in " << files
            << " pairs of files" << std::endl;
  for (const std::string& difference : differences) UNSCOPED_INFO(difference);
  CHECK(differences.empty());
  CHECK(files >= 46);
}
