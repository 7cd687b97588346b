// Every stack.json and construct.json of the conformance data, written by msprobe for MindSpore and PyTorch: what our
// readers see is what a plain reading of the whole tree sees, each frame has its place, and the entries of the
// dump.json beside them are found in both, but for those that msprobe leaves out.
#include <algorithm>
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "io/json.h"
#include "msprobe/construct_json.h"
#include "msprobe/names.h"
#include "msprobe/stack_json.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> files_named(const fs::path& folder, std::string_view name) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == name) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

JsonValue tree_of(const fs::path& path) {
  auto tree = parse_json(read_bytes(path));
  REQUIRE(tree);
  return std::move(*tree);
}

StackJson read_stack(const fs::path& path) {
  INFO(path.string());
  const auto file = File::open(path.string());
  REQUIRE(file);
  auto json = read_stack_json(*file);
  REQUIRE(json);
  return std::move(*json);
}

ConstructJson read_construct(const fs::path& path) {
  INFO(path.string());
  const auto file = File::open(path.string());
  REQUIRE(file);
  auto json = read_construct_json(*file);
  REQUIRE(json);
  return std::move(*json);
}

// As msprobe writes it.
std::string text_of(const MsprobeFrame& frame) {
  return fmt::format("File {}, line {}, in {}, \n {}", frame.file, frame.line, frame.function, frame.code);
}

std::vector<std::string> entries_of(const fs::path& dump_json) {
  std::vector<std::string> names;
  const JsonValue tree = tree_of(dump_json);
  if (const JsonValue* data = tree.find("data")) {
    for (const JsonMember& member : data->members) names.push_back(member.key);
  }
  return names;
}

}  // namespace

TEST_CASE("every stack.json of msprobe is read as a plain reader of the tree reads it") {
  const auto corpus = corpus_or_skip("");
  if (!corpus) return;
  size_t files = 0, ops = 0, frames = 0;
  for (const fs::path& path : files_named(*corpus, "stack.json")) {
    INFO(path.string());
    const StackJson json = read_stack(path);
    CHECK(json.problems.empty());
    std::map<std::string, std::vector<std::string>> expected;
    for (const JsonMember& member : tree_of(path).members) {
      REQUIRE(member.value.items.size() == 2);
      for (const JsonValue& name : member.value.items[0].items) {
        for (const JsonValue& frame : member.value.items[1].items) expected[name.text].push_back(frame.text);
      }
    }
    REQUIRE(json.ops.size() == expected.size());
    for (const auto& [name, texts] : expected) {
      const StackJson::Op* op = json.find(name);
      REQUIRE(op != nullptr);
      std::vector<std::string> read;
      for (const uint32_t id : json.stack_of(*op)) read.push_back(text_of(json.frames[id]));
      CHECK(read == texts);
      frames += read.size();
    }
    for (const MsprobeFrame& frame : json.frames) CHECK((!frame.file.empty() && frame.line > 0));
    ops += json.ops.size();
    ++files;
  }
  std::cout << ops << " operators with " << frames << " frames in " << files << " files" << std::endl;
  CHECK(files >= 146);
  CHECK(ops >= 3000);
}

TEST_CASE("every construct.json of msprobe is read as a plain reader of the tree reads it") {
  const auto corpus = corpus_or_skip("");
  if (!corpus) return;
  size_t files = 0, nodes = 0, parents = 0;
  for (const fs::path& path : files_named(*corpus, "construct.json")) {
    INFO(path.string());
    const ConstructJson json = read_construct(path);
    CHECK(json.problems.empty());
    CHECK_FALSE(json.micro_steps);
    const JsonValue tree = tree_of(path);
    REQUIRE(json.nodes.size() == tree.members.size());
    for (size_t i = 0; i < json.nodes.size(); ++i) {
      CHECK(json.nodes[i].name == tree.members[i].key);
      CHECK(json.nodes[i].parent == tree.members[i].value.text);
      // Not promised in general, but so in all of these.
      CHECK((json.nodes[i].parent.empty() || json.find(json.nodes[i].parent) != nullptr));
      if (!json.nodes[i].parent.empty()) ++parents;
    }
    nodes += json.nodes.size();
    ++files;
  }
  std::cout << nodes << " nodes, " << parents << " with a parent, in " << files << " files" << std::endl;
  CHECK(files >= 146);
  CHECK(nodes >= 5000);
}

TEST_CASE("the entries of dump.json have a stack and a place in the model, but for known gaps") {
  const auto corpus = corpus_or_skip("msprobe");
  if (!corpus) return;
  size_t entries = 0, own_stack = 0, forward_stack = 0, gradients = 0, placed = 0, no_construct = 0;
  std::vector<std::string> problems, without;
  for (const fs::path& path : files_named(*corpus, "dump.json")) {
    if (!fs::exists(path.parent_path() / "stack.json")) continue;
    const StackJson stacks = read_stack(path.parent_path() / "stack.json");
    const ConstructJson construct = read_construct(path.parent_path() / "construct.json");
    for (const std::string& name : entries_of(path)) {
      ++entries;
      const auto forward = forward_entry_of(name);
      if (stacks.find(name) != nullptr) {
        ++own_stack;
      } else if (forward && stacks.find(*forward) != nullptr) {
        ++forward_stack;
      } else {
        without.push_back(name);
      }
      if (construct.nodes.empty()) {
        ++no_construct;
      } else if (name.find(".parameters_grad") != std::string::npos) {
        ++gradients;
      } else if (construct.find(name) != nullptr) {
        ++placed;
      } else {
        problems.push_back(fmt::format("{}: {} has no place", path.string(), name));
      }
    }
  }
  std::cout << entries << " entries: " << own_stack << " with a stack, " << forward_stack << " with that of the forward"
            << " call; " << placed << " with a place, " << gradients << " gradients, " << no_construct
            << " where construct.json is empty" << std::endl;
  for (const auto& problem : problems) UNSCOPED_INFO(problem);
  CHECK(problems.empty());
  // A configured list that names a backward call and not its forward call.
  CHECK(without == std::vector<std::string>{"Primitive.matmul.MatMul.1.backward", "Functional.linear.1.backward"});
  CHECK(entries >= 6500);
}
