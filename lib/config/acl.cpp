#include "config/acl.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "config/keys.h"

namespace msdump {
namespace {

constexpr size_t kLongestPath = 512, kMostSteps = 100;
constexpr std::string_view kPathMarks = "-=[];\\,./!@#$%^&*()_+{}:?";

using Words = std::vector<std::string>;

class AclRules {
 public:
  AclRules(Findings& findings, const JsonValue& root, const JsonValue& dump)
      : findings_(findings), root_(root), where_{dump, ConfigKind::kAcl, kAclSection, std::string(kAclSection)} {}

  void check() {
    check_keys();
    const auto scene = text("dump_scene"), debug = text("dump_debug"), op_switch = text("dump_op_switch");
    check_word("dump_scene",
               {"lite_exception", "aic_err_brief_dump", "aic_err_norm_dump", "aic_err_detail_dump", "watcher"});
    check_word("dump_op_switch", {"on", "off"});
    check_word("dump_mode", {"input", "output", "all"});
    check_word("dump_level", {"op", "kernel", "all"});
    check_path(scene.has_value() && *scene != "watcher");
    check_use(scene, debug, op_switch);
    check_steps();
    check_statistics();
    check_list();
  }

 private:
  [[nodiscard]] const JsonMember* member(std::string_view key) const { return find_member(where_.object, key); }
  [[nodiscard]] Spot spot(const JsonMember& one) const { return {key_path(where_, one.key), one.value.offset}; }
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const {
    const JsonMember* one = member(key);
    return one != nullptr && one->value.is(JsonKind::kString) ? std::optional(one->value.text) : std::nullopt;
  }
  static std::string is_text(const JsonMember& one) {
    return fmt::format("{} is {}", excerpt(one.key), in_words(one.value));
  }
  void refuse(const JsonMember& one, std::string_view rule, const std::string& subject, const std::string& hint = "") {
    findings_.error(spot(one), {rule, fmt::format("{}: the configuration is refused", subject), hint});
  }

  void check_keys() {
    check_repeated_keys(findings_, {root_, ConfigKind::kAcl, "", ""});
    check_repeated_keys(findings_, where_);
    for (const JsonMember& one : where_.object.members) {
      const ConfigKey* key = find_key(ConfigKind::kAcl, kAclSection, one.key);
      if (key == nullptr) {
        complain_of_unknown_key(findings_, where_, one);
      } else if (key->type == ValueType::kText && !one.value.is(JsonKind::kString)) {
        refuse(one, "wrong-type", is_text(one), "a string is wanted");
      }
    }
  }

  void check_word(std::string_view key, const Words& words) {
    const auto value = text(key);
    if (!value || std::find(words.begin(), words.end(), *value) != words.end()) return;
    const std::string near = did_you_mean(*value, words);
    refuse(*member(key), "bad-value", is_text(*member(key)),
           near.empty() ? fmt::format("use one of {}", fmt::join(words, ", ")) : near);
  }

  void check_path(bool may_be_missing) {
    const JsonMember* one = member("dump_path");
    if (one == nullptr || (one->value.is(JsonKind::kString) && one->value.text.empty())) {
      if (may_be_missing) return;
      const Spot where = one == nullptr ? Spot{key_path(where_, "dump_path"), where_.object.offset} : spot(*one);
      findings_.error(
          where, {"missing-key",
                  fmt::format("dump_path is {}: the configuration is refused", one == nullptr ? "missing" : "empty"),
                  one == nullptr ? hint_for_missing(where_, "dump_path") : ""});
      return;
    }
    const std::string& path = one->value.text;
    if (!one->value.is(JsonKind::kString)) return;
    if (path.size() > kLongestPath) {
      refuse(*one, "path-length", fmt::format("dump_path has {} bytes", path.size()),
             fmt::format("{} at most", kLongestPath));
    }
    const size_t bad = static_cast<size_t>(std::find_if_not(path.begin(), path.end(), is_path_char) - path.begin());
    if (bad < path.size()) {
      refuse(*one, "path-characters",
             fmt::format("dump_path has '{}' in it", excerpt(std::string_view(path).substr(bad, 1))),
             "blanks, quotes, '<', '>', '|', '~' and anything beyond ASCII are not accepted");
    }
  }
  static bool is_path_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kPathMarks.find(c) != std::string_view::npos;
  }

  // The three uses exclude each other; one of them is required.
  void check_use(const std::optional<std::string>& scene, const std::optional<std::string>& debug,
                 const std::optional<std::string>& op_switch) {
    const JsonMember* list = member("dump_list");
    const bool models = list != nullptr && list->value.is(JsonKind::kArray);
    if (debug && *debug != "on" && *debug != "off") {
      findings_.warning(
          spot(*member("dump_debug")),
          {"bad-value", fmt::format("{}: it is treated as off", is_text(*member("dump_debug"))), "use on or off"});
    }
    if (scene && debug == "on")
      refuse(*member("dump_debug"), "exclusive", "dump_debug on with dump_scene", "remove one of them");
    if (scene && op_switch == "on")
      refuse(*member("dump_op_switch"), "exclusive", "dump_op_switch on with dump_scene", "remove one of them");
    if (scene == "watcher" && text("dump_mode").value_or("output") != "output")
      refuse(*member("dump_mode"), "exclusive", "dump_scene watcher with another dump_mode than output");
    if (!scene && debug == "on" && models && !list->value.items.empty())
      refuse(*list, "exclusive", "dump_debug on with a dump_list", "make dump_list empty");
    if (!scene && debug == "on" && op_switch == "on") {
      findings_.warning(spot(*member("dump_op_switch")),
                        {"exclusive", "dump_op_switch on with dump_debug on: only overflow is dumped"});
    }
    if (!scene && debug != "on" && op_switch != "on" && list == nullptr) {
      findings_.error(
          {where_.path, where_.object.offset},
          {"nothing-asked", "neither dump_list nor dump_op_switch, dump_debug or dump_scene: nothing is written",
           "\"dump_list\": [] dumps all models, \"dump_op_switch\": \"on\" single operators"});
    }
  }

  void check_steps() {
    const auto steps = text("dump_step");
    if (!steps || steps->empty()) return;
    const JsonMember& one = *member("dump_step");
    const std::vector<std::string_view> items = split(*steps, '|');
    if (items.size() > kMostSteps)
      refuse(one, "dump-step", fmt::format("dump_step has {} items", items.size()),
             fmt::format("{} at most", kMostSteps));
    for (const std::string_view item : items) {
      const std::vector<std::string_view> ends = split(item, '-');
      const bool digits = std::all_of(ends.begin(), ends.end(), [](std::string_view end) {
        return end.find_first_not_of("0123456789") == std::string_view::npos;
      });
      if (ends.size() <= 2 && digits) continue;
      return refuse(one, "dump-step", fmt::format("'{}' in dump_step", excerpt(item)),
                    "steps and ranges between '|': \"0|5-10\"");
    }
  }

  void check_statistics() {
    const std::string data = text("dump_data").value_or("tensor");
    if (data != "tensor" && data != "stats") {
      findings_.warning(spot(*member("dump_data")),
                        {"bad-value", is_text(*member("dump_data")) + ": it is not known", "use tensor or stats"});
    }
    const JsonMember* stats = member("dump_stats");
    if (stats == nullptr) return;
    if (!stats->value.is(JsonKind::kArray) || stats->value.items.empty()) {
      refuse(*stats, "dump-stats", is_text(*stats), "a list of strings is wanted, at least one");
    } else if (data != "stats") {
      refuse(*stats, "dump-stats", "dump_stats without statistics", "set dump_data to stats");
    }
  }

  void check_list() {
    const JsonMember* list = member("dump_list");
    if (list == nullptr) return;
    if (!list->value.is(JsonKind::kArray)) {
      findings_.warning(spot(*list), {"wrong-type", fmt::format("{}: no model is dumped", is_text(*list)),
                                      "a list of objects is wanted"});
      return;
    }
    for (size_t i = 0; i < list->value.items.size(); ++i) {
      check_model(list->value.items[i], spot_of_item(spot(*list), i, list->value.items[i]));
    }
  }

  void check_model(const JsonValue& item, const Spot& spot) {
    if (!item.is(JsonKind::kObject)) {
      findings_.warning(spot, {"wrong-type", fmt::format("an item of dump_list is {}: it is skipped", in_words(item)),
                               "an object is wanted: {\"model_name\": NAME}"});
      return;
    }
    const KeyedObject model{item, ConfigKind::kAcl, kAclListSection, spot.key};
    check_repeated_keys(findings_, model);
    for (const JsonMember& one : item.members) {
      if (find_key(model.kind, model.section, one.key) == nullptr) complain_of_unknown_key(findings_, model, one);
    }
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
    if (text("dump_level").value_or("all") != "op" || name == nullptr || no_name) {
      findings_.error(
          spot, {"dump-list", "opname_range without dump_level op and a model_name: the configuration is refused"});
    }
  }

  Findings& findings_;
  const JsonValue& root_;
  KeyedObject where_;
};

}  // namespace

void lint_acl(Findings& findings, const JsonValue& root) {
  const JsonMember* dump = find_member(root, kAclSection);
  const KeyedObject top{root, ConfigKind::kAcl, "", ""};
  if (dump == nullptr) {
    findings.error({std::string(kAclSection), root.offset},
                   {"missing-key", "dump is missing: nothing is written", hint_for_missing(top, kAclSection)});
  } else if (!dump->value.is(JsonKind::kObject)) {
    findings.error({dump->key, dump->value.offset},
                   {"wrong-type", fmt::format("dump is {}: the configuration is refused", in_words(dump->value)),
                    "an object is wanted"});
  } else {
    AclRules(findings, root, dump->value).check();
  }
}

}  // namespace msdump
