// Any bytes as a stack.json, against a plain reading of the whole tree, and as one frame.
#include <map>
#include <string>
#include <string_view>

#include "fuzz_file.h"
#include "io/json.h"
#include "msprobe/stack_json.h"

namespace {

using namespace msdump;
using fuzz::require;

bool all_texts(const JsonValue& list) {
  for (const JsonValue& item : list.items) {
    if (!item.is(JsonKind::kString)) return false;
  }
  return list.is(JsonKind::kArray);
}

std::string show(const MsprobeFrame& frame) {
  return std::string(frame.file) + '\n' + std::to_string(frame.line) + '\n' + std::string(frame.function) + '\n' +
         std::string(frame.code) + '\n';
}

std::string show(const JsonValue& frames) {
  if (frames.items.size() == 1 && frames.items[0].text == "The call stack retrieval failed.") return {};
  std::string text;
  for (const JsonValue& frame : frames.items) text += show(parse_msprobe_frame(frame.text));
  return text;
}

// The stacks by operator, and how many entries are not understood.
std::map<std::string, std::string> plain_reading(const JsonValue& tree, int64_t& bad) {
  std::map<std::string, std::string> stacks;
  for (const auto& [key, offset, value] : tree.members) {
    if (all_texts(value)) {
      stacks[key] = show(value);
    } else if (value.items.size() == 2 && all_texts(value.items[0]) && all_texts(value.items[1])) {
      for (const JsonValue& name : value.items[0].items) stacks[name.text] = show(value.items[1]);
    } else {
      ++bad;
    }
  }
  return stacks;
}

void check_against_tree(const StackJson& json, const JsonValue& tree) {
  int64_t bad = 0;
  const auto stacks = plain_reading(tree, bad);
  require(json.entries == static_cast<int64_t>(tree.members.size()), "both readers see the same entries");
  require(static_cast<int64_t>(json.problems.count()) == bad, "both readers understand the same entries");
  require(json.ops.size() == stacks.size(), "both readers see the same operators");
  for (const auto& [name, expected] : stacks) {
    const StackJson::Op* op = json.find(name);
    require(op != nullptr, "an operator is found by its name");
    std::string text;
    for (const uint32_t id : json.stack_of(*op)) text += show(json.frames.at(id));
    require(text == expected, "both readers see the same stack");
  }
}

void check_file(std::string_view text) {
  const fuzz::FuzzFile input(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  const auto json = read_stack_json(input.open());
  // RapidJSON takes a zero byte for the end of the text.
  const bool comparable = text.find('\0') == std::string_view::npos;
  const auto tree = comparable ? parse_json(text) : Result<JsonValue>();
  if (!json) {
    fuzz::require_good_error(json.error());
    require(json.error().offset && *json.error().offset <= text.size(), "an error says where");
    require(!comparable || !tree || !tree->is(JsonKind::kObject), "what is refused is not an object");
    return;
  }
  bool too_deep = false;
  for (const Error& problem : json->problems) {
    fuzz::require_good_error(problem);
    require(problem.offset && *problem.offset < text.size(), "a problem says where");
    too_deep = too_deep || problem.message.ends_with("nested deeper than 90");
  }
  for (const StackJson::Op& op : json->ops) {
    require(op.offset < text.size() && (text[op.offset] == '"' || text[op.offset] == '['), "an operator says where");
  }
  if (!comparable || too_deep) return;
  require(tree.has_value(), "what is read is JSON");
  check_against_tree(*json, *tree);
}

void check_frame(std::string_view text) {
  const MsprobeFrame frame = parse_msprobe_frame(text);
  for (const std::string_view part : {frame.file, frame.function, frame.code}) {
    require(part.empty() || (part.data() >= text.data() && part.data() + part.size() <= text.data() + text.size()),
            "a part is a view of the text");
  }
  if (frame.file.empty()) return require(frame.line == 0 && frame.function.empty(), "a place is whole or not there");
  const std::string again = "File " + std::string(frame.file) + ", line " + std::to_string(frame.line) + ", in " +
                            std::string(frame.function) + ", \n " + std::string(frame.code);
  require(show(parse_msprobe_frame(again)) == show(frame), "a frame put together again is the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_file(text);
  check_frame(text);
  return 0;
}
