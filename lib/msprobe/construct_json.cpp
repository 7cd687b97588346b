#include "msprobe/construct_json.h"

#include <unordered_set>

#include "io/file.h"
#include "io/json.h"
#include "msprobe/json_text.h"

namespace msdump {
namespace {

constexpr std::string_view kMicroSteps = "megatron_micro_step_number";

class ConstructJsonReader {
 public:
  ConstructJsonReader(std::string_view text, const ConstructJsonLimits& limits)
      : text_(text), limits_(limits), problems_(text) {}

  Result<ConstructJson> read(const std::string& path) {
    MSDUMP_CHECK_OK(read_json_entries(
        text_, limits_.entry, problems_, result_.entries,
        [this](const JsonMemberPlace& member, const JsonValue& value) { return entry(member, value); }));
    // The order of members is not guaranteed.
    for (ConstructJson::Node& node : result_.nodes) {
      if (result_.micro_steps && !node.micro_step) node.micro_step = 0;
    }
    result_.problems = problems_.take(path);
    return std::move(result_);
  }

 private:
  Status entry(const JsonMemberPlace& member, const JsonValue& value) {
    if (member.key == kMicroSteps) {
      result_.micro_steps = value.as_int();
      if (!result_.micro_steps) return problems_.add(member, value, "expected a whole number");
      return {};
    }
    const bool list = value.is(JsonKind::kArray);
    if (list && value.items.size() != 2) return problems_.add(member, value, "expected [parent, micro step]");
    const JsonValue& parent = list ? value.items[0] : value;
    if (!parent.is(JsonKind::kString) && !parent.is(JsonKind::kNull)) {
      return problems_.add(member, parent, "the name of the parent is not a string");
    }
    const auto micro_step = list ? value.items[1].as_int() : std::nullopt;
    if (list && !micro_step) return problems_.add(member, value.items[1], "the micro step is not a whole number");
    return add({member.key, parent.text, micro_step, member.begin});
  }

  Status add(ConstructJson::Node node) {
    // A module is the parent of many nodes: its name is kept once, when it first appears.
    node.parent = keep(node.parent);
    if (const auto known = result_.by_name.find(node.name); known != result_.by_name.end()) {
      node.name = known->first;
      result_.nodes[known->second] = node;
    } else {
      node.name = keep(node.name);
      result_.by_name.emplace(node.name, result_.nodes.size());
      result_.nodes.push_back(node);
      kept_ += sizeof(ConstructJson::Node) + kPerKey;
    }
    if (kept_ <= limits_.kept) return {};
    return fail(ErrorCode::kTooLarge, "more than {} nodes: they do not fit into {} bytes of memory",
                result_.nodes.size(), limits_.kept);
  }

  std::string_view keep(std::string_view text) {
    if (const auto known = texts_.find(text); known != texts_.end()) return *known;
    const std::string_view kept = result_.texts.keep(text);
    texts_.insert(kept);
    kept_ += text.size() + kPerKey;
    return kept;
  }

  static constexpr uint64_t kPerKey = 64;  // the memory of one key in a hash table

  std::string_view text_;
  const ConstructJsonLimits& limits_;
  ConstructJson result_;
  JsonProblems problems_;
  std::unordered_set<std::string_view> texts_;
  uint64_t kept_ = 0;
};

}  // namespace

const ConstructJson::Node* ConstructJson::find(std::string_view name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : &nodes[found->second];
}

Result<ConstructJson> read_construct_json(const File& file, const ConstructJsonLimits& limits) {
  MSDUMP_TRY(const auto text, read_large_text(file, limits.text, "a construct.json"));
  return in_file(ConstructJsonReader(text.view(), limits).read(file.path()), file.path());
}

}  // namespace msdump
