// Any bytes as a construct.json, against a plain reading of the whole tree.
#include <map>
#include <string>
#include <string_view>

#include "fuzz_file.h"
#include "io/json.h"
#include "msprobe/construct_json.h"

namespace {

using namespace msdump;
using fuzz::require;

using Node = std::pair<std::string, std::optional<int64_t>>;

std::optional<Node> node_of(const JsonValue& value) {
  const bool list = value.is(JsonKind::kArray);
  if (list && (value.items.size() != 2 || !value.items[1].as_int())) return std::nullopt;
  const JsonValue& parent = list ? value.items[0] : value;
  if (!parent.is(JsonKind::kString) && !parent.is(JsonKind::kNull)) return std::nullopt;
  return Node(parent.text, list ? value.items[1].as_int() : std::nullopt);
}

void check_against_tree(const ConstructJson& json, const JsonValue& tree) {
  std::map<std::string, Node> nodes;
  std::optional<int64_t> micro_steps;
  int64_t bad = 0;
  for (const auto& [key, offset, value] : tree.members) {
    const auto node = node_of(value);
    if (key == "megatron_micro_step_number") {
      micro_steps = value.as_int();
      if (!micro_steps) ++bad;
    } else if (node) {
      nodes[key] = *node;
    } else {
      ++bad;
    }
  }
  require(json.entries == static_cast<int64_t>(tree.members.size()), "both readers see the same entries");
  require(static_cast<int64_t>(json.problems.count()) == bad, "both readers understand the same entries");
  require(json.micro_steps == micro_steps, "both readers see the same micro steps");
  require(json.nodes.size() == nodes.size(), "both readers see the same nodes");
  for (const auto& [name, expected] : nodes) {
    const ConstructJson::Node* node = json.find(name);
    require(node != nullptr && node->name == name, "a node is found by its name");
    require(node->parent == expected.first, "both readers see the same parent");
    const auto missing = micro_steps ? std::optional<int64_t>(0) : std::nullopt;
    require(node->micro_step == (expected.second ? expected.second : missing), "both readers see the same micro step");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const fuzz::FuzzFile input(data, size);
  const auto json = read_construct_json(input.open());
  // RapidJSON takes a zero byte for the end of the text.
  const bool comparable = text.find('\0') == std::string_view::npos;
  const auto tree = comparable ? parse_json(text) : Result<JsonValue>();
  if (!json) {
    fuzz::require_good_error(json.error());
    require(json.error().offset && *json.error().offset <= size, "an error says where");
    require(!comparable || !tree || !tree->is(JsonKind::kObject), "what is refused is not an object");
    return 0;
  }
  bool unread = false;
  for (const Error& problem : json->problems) {
    fuzz::require_good_error(problem);
    require(problem.offset && *problem.offset < size, "a problem says where");
    unread = unread || problem.message.ends_with("nested deeper than 90") || problem.code == ErrorCode::kTooLarge;
  }
  for (const ConstructJson::Node& node : json->nodes) require(node.offset < size, "a node says where");
  if (!comparable || unread) return 0;
  require(tree.has_value(), "what is read is JSON");
  check_against_tree(*json, *tree);
  return 0;
}
