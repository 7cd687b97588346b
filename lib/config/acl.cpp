#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "config/key_checks.h"
#include "config/tools.h"

namespace msdump {
namespace {

constexpr size_t kLongestAclPath = 512, kMostAclItems = 100;
constexpr std::string_view kAclPathMarks = "-=[];\\,./!@#$%^&*()_+{}:?";

bool is_acl_path_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
         kAclPathMarks.find(c) != std::string_view::npos;
}

class AclLint {
 public:
  AclLint(Findings& findings, const JsonValue& dump)
      : findings_(findings),
        where_{dump, ConfigKind::kAcl, kAclSection, std::string(kAclSection), dump.offset},
        facts_{[&dump](std::string_view key) { return dump.find(key); },
               [](std::string_view, const Setup&) { return std::nullopt; }} {}

  void check() {
    check_repeated_keys(findings_, where_);
    for (const JsonMember& one : where_.object.members) check_type(findings_, where_, one, facts_);
    check_rules(findings_, where_, facts_);
    check_path();
    check_use();
    check_steps();
    check_list();
  }

 private:
  [[nodiscard]] const JsonMember* member(std::string_view key) const { return find_member(where_.object, key); }
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const {
    const JsonMember* one = member(key);
    return one != nullptr && one->value.is(JsonKind::kString) ? std::optional(one->value.text) : std::nullopt;
  }
  void refuse(const Spot& spot, std::string_view rule, const std::string& subject, const std::string& hint = "") {
    findings_.error(spot, {rule, fmt::format("{}: the configuration is refused", subject), hint});
  }

  void check_path() {
    const JsonMember* one = member("dump_path");
    if (one != nullptr && !one->value.is(JsonKind::kString)) return;  // reported as the wrong type
    const auto scene = text("dump_scene");
    if (one == nullptr || one->value.text.empty()) {
      if (scene && *scene != "watcher") return;
      return refuse(one == nullptr ? Spot{key_path(where_, "dump_path"), where_.offset} : value_spot(where_, *one),
                    "missing-key", one == nullptr ? "dump_path is missing" : "dump_path is empty",
                    one == nullptr ? hint_for_missing(where_, "dump_path") : "");
    }
    const std::string& path = one->value.text;
    if (path.size() > kLongestAclPath)
      refuse(value_spot(where_, *one), "path-length", fmt::format("dump_path has {} bytes", path.size()),
             fmt::format("{} at most", kLongestAclPath));
    const size_t bad = static_cast<size_t>(std::find_if_not(path.begin(), path.end(), is_acl_path_char) - path.begin());
    if (bad < path.size())
      refuse(value_spot(where_, *one), "path-characters",
             fmt::format("dump_path has '{}' in it", excerpt(std::string_view(path).substr(bad, 1))),
             "blanks, quotes, '<', '>', '|', '~' and anything beyond ASCII are not accepted");
  }

  void check_use() {
    if (text("dump_scene") || text("dump_debug") == "on" || text("dump_op_switch") == "on" ||
        member("dump_list") != nullptr)
      return;
    findings_.error(
        {where_.path, where_.offset},
        {"nothing-asked", "neither dump_list nor dump_op_switch, dump_debug or dump_scene: nothing is written",
         "\"dump_list\": [] dumps all models, \"dump_op_switch\": \"on\" single operators"});
  }

  void check_steps() {
    const auto steps = text("dump_step");
    if (!steps || steps->empty()) return;
    const Spot spot = value_spot(where_, *member("dump_step"));
    const std::vector<std::string_view> items = split(*steps, '|');
    if (items.size() > kMostAclItems)
      refuse(spot, "dump-step", fmt::format("dump_step has {} items", items.size()),
             fmt::format("{} at most", kMostAclItems));
    for (const std::string_view item : items) {
      const std::vector<std::string_view> ends = split(item, '-');
      const bool digits = std::all_of(ends.begin(), ends.end(), [](std::string_view end) {
        return end.find_first_not_of("0123456789") == std::string_view::npos;
      });
      if (ends.size() <= 2 && digits) continue;
      return refuse(spot, "dump-step", fmt::format("'{}' in dump_step", excerpt(item)),
                    "steps and ranges between '|': \"0|5-10\"");
    }
  }

  void check_list() {
    const JsonMember* list = member("dump_list");
    if (list == nullptr || !list->value.is(JsonKind::kArray)) return;
    for (size_t i = 0; i < list->value.items.size(); ++i) {
      check_model(list->value.items[i], spot_of_item(value_spot(where_, *list), i, list->value.items[i]));
    }
  }

  void check_model(const JsonValue& item, const Spot& spot) {
    if (!item.is(JsonKind::kObject)) {
      findings_.warning(spot, {"wrong-type", fmt::format("an item of dump_list is {}: it is skipped", in_words(item)),
                               "an object is wanted: {\"model_name\": NAME}"});
      return;
    }
    check_known_keys(findings_, {item, ConfigKind::kAcl, kAclListSection, spot.key});
    const JsonMember* name = find_member(item, "model_name");
    const JsonMember* layer = find_member(item, "layer");
    const bool no_name = name != nullptr && name->value.is(JsonKind::kString) && name->value.text.empty();
    const bool no_layer = layer != nullptr && layer->value.is(JsonKind::kArray) && layer->value.items.empty();
    if (no_name || no_layer) {
      findings_.warning(spot,
                        {"dump-list", fmt::format("an empty {}: the item is skipped", no_name ? "model_name" : "layer"),
                         no_layer ? "without layer all operators are dumped" : ""});
    }
    if (find_member(item, "opname_range") == nullptr) return;
    if (text("dump_level").value_or("all") != "op" || name == nullptr || no_name)
      refuse(spot, "dump-list", "opname_range without dump_level op and a model_name");
  }

  Findings& findings_;
  KeyedObject where_;
  ConfigFacts facts_;
};

}  // namespace

void lint_acl(Findings& findings, const JsonValue& root) {
  const KeyedObject top{root, ConfigKind::kAcl, "", "", root.offset};
  const JsonMember* dump = find_member(root, kAclSection);
  if (dump == nullptr) {
    findings.error({std::string(kAclSection), root.offset},
                   {"missing-key", "dump is missing: nothing is written", hint_for_missing(top, kAclSection)});
  } else if (!dump->value.is(JsonKind::kObject)) {
    findings.error(value_spot(top, *dump),
                   {"wrong-type", fmt::format("dump is {}: the configuration is refused", in_words(dump->value)),
                    "an object is wanted"});
  } else {
    check_repeated_keys(findings, top);
    AclLint(findings, dump->value).check();
  }
}

}  // namespace msdump
