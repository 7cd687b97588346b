// Every IR protobuf of the conformance data: those beside dumps against what is known of each operator (type, scope,
// user frames, in the order of the IR text), all of them against the text beside them and against their own bytes.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/ir_protobuf.h"
#include "ir/protobuf_fields.h"
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
      CHECK(ir.problem_count == 0);
      CHECK(ir.text(ir.facts.root_name) == graph);
      REQUIRE(ir.nodes.size() == expected.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        const IrNode& node = ir.nodes[i];
        CHECK(ir.full_name(node) == expected[i].full_name);
        CHECK(ir.op_type(node) == expected[i].type);
        // Loads up to 1.8 are called after their parameter; their scope is no part of that.
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
    CHECK(ir.problem_count == 0);
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
  CHECK(files >= 73);
  CHECK(nodes >= 3000);
}

TEST_CASE("IR protobuf and IR text beside a dump have the same operators in the same order") {
  const auto corpus = corpus_or_skip("real");
  if (!corpus) return;
  size_t files = 0, nodes = 0;
  for (const fs::path& path : protobufs_below(*corpus)) {
    fs::path text_path = path;
    text_path.replace_extension(".ir");
    if (!fs::exists(text_path)) continue;
    INFO(path.string());
    // Lines of full names alone, so that this does not lean on the reader of IR text.
    Strings names;
    std::ifstream in(text_path);
    for (std::string line; std::getline(in, line);) {
      const size_t open = line.find('(');
      if (open == std::string::npos || !line.ends_with(')') || line.find("->") != std::string::npos) continue;
      const std::string head = to_lower(line.substr(0, open));
      const bool labelled = head.find("full") != std::string::npos && head.find("with") != std::string::npos;
      if (!labelled && head != "      : ") continue;
      const std::string name = line.substr(open + 1, line.size() - open - 2);
      const bool type = name.starts_with('<') || name.empty();
      if (!type && name.find("/Return-op") == std::string::npos) names.push_back(name);
    }
    const IrGraph ir = read(path);
    Strings own;
    for (const IrNode& node : ir.nodes) own.push_back(ir.full_name(node));
    CHECK(own == names);
    nodes += own.size();
    ++files;
  }
  std::cout << nodes << " operators in " << files << " pairs of files" << std::endl;
  CHECK(files >= 46);
}
