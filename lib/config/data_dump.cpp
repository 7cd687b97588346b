#include "config/data_dump.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/text.h"
#include "config/kernels.h"
#include "config/key_checks.h"
#include "config/tools.h"

namespace msdump {
namespace {

constexpr Version kV11{1, 1, 0}, kV13{1, 3, 0}, kV15{1, 5, 0}, kV18{1, 8, 0}, kV23{2, 3, 0}, kV24{2, 4, 0},
    kV26{2, 6, 0}, kV271{2, 7, 1};

}  // namespace

namespace {

IterationItem parse_item(std::string_view text, size_t at) {
  using Kind = IterationItem::Kind;
  IterationItem item{text, at};
  const size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : text.substr(dash + 1);
  if (low.empty() || high.find_first_not_of('-') == std::string_view::npos) {
    item.kind = Kind::kEmpty;
  } else if (high.find('-') != std::string_view::npos) {
    item.kind = Kind::kDashes;
  } else {
    const auto first = parse_u64(low), last = parse_u64(high);
    if (!first || !last) {
      item.kind = Kind::kTooLarge;
      return item;
    }
    item.first = *first;
    item.last = *last;
    item.kind = *first <= *last ? Kind::kRange : Kind::kBackward;
  }
  return item;
}

}  // namespace

bool Iteration::selects_any(uint64_t initial) const {
  if (all) return true;
  return std::any_of(items.begin(), items.end(),
                     [&](const IterationItem& item) { return item.selects() && item.last >= initial; });
}

std::optional<uint64_t> Iteration::count(uint64_t initial) const {
  if (all) return std::nullopt;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const IterationItem& item : items) {
    if (item.selects() && item.last >= initial) ranges.emplace_back(std::max(item.first, initial), item.last);
  }
  std::sort(ranges.begin(), ranges.end());
  uint64_t steps = 0;
  std::optional<uint64_t> counted_to;  // inclusive
  for (auto [first, last] : ranges) {
    if (counted_to && last <= *counted_to) continue;
    if (counted_to && first <= *counted_to) first = *counted_to + 1;
    const auto length = checked_add<uint64_t>(last - first, 1);
    const auto sum = length ? checked_add<uint64_t>(steps, *length) : std::nullopt;
    if (!sum) return std::nullopt;
    steps = *sum;
    counted_to = last;
  }
  return steps;
}

Iteration parse_iteration(std::string_view text) {
  Iteration iteration;
  iteration.all = text == "all";
  if (iteration.all) return iteration;
  iteration.accepted = !text.empty() && text.find_first_not_of("0123456789-|") == std::string_view::npos;
  if (!iteration.accepted) return iteration;
  size_t at = 0;
  for (const std::string_view item : split(text, '|')) {
    iteration.items.push_back(parse_item(item, at));
    at += item.size() + 1;
  }
  return iteration;
}

namespace {

std::optional<std::string> text_of(const JsonValue* section, std::string_view key) {
  const JsonValue* value = section == nullptr ? nullptr : section->find(key);
  return value != nullptr && value->is(JsonKind::kString) ? std::optional(value->text) : std::nullopt;
}

std::optional<bool> bool_of(const JsonValue* section, std::string_view key) {
  const JsonValue* value = section == nullptr ? nullptr : section->find(key);
  return value != nullptr && value->is(JsonKind::kBool) ? std::optional(value->boolean) : std::nullopt;
}

// MindSpore keeps the lower 32 bits.
std::optional<uint32_t> number_of(const JsonValue* section, std::string_view key) {
  const JsonValue* value = section == nullptr ? nullptr : section->find(key);
  if (value == nullptr || !value->is(JsonKind::kNumber)) return std::nullopt;
  const auto number = parse_u64(value->text);
  return number ? std::optional(static_cast<uint32_t>(*number & std::numeric_limits<uint32_t>::max())) : std::nullopt;
}

const JsonValue* object_in(const JsonValue& root, std::string_view key) {
  const JsonValue* value = root.find(key);
  return value != nullptr && value->is(JsonKind::kObject) ? value : nullptr;
}

}  // namespace

bool DataDump::is_synchronous(const Setup& setup) const {
  const bool asked = setup.version >= kV24 ? has_e2e : enable.value_or(false);
  if (asked) return true;
  if (setup.device == Device::kGpu) return setup.version >= kV13;
  return setup.device == Device::kCpu && setup.version >= kV18;
}

bool DataDump::is_asynchronous(const Setup& setup) const {
  if (setup.device != Device::kAscend || is_synchronous(setup)) return false;
  return setup.version >= kV13 || async_enable.value_or(false);
}

bool DataDump::before_1_3() const {
  if (common == nullptr || !(old_iteration || async != nullptr)) return false;
  return std::none_of(common->members.begin(), common->members.end(), [](const JsonMember& member) {
    const ConfigKey* key = find_key(ConfigKind::kDataDump, kCommonSection, member.key);
    return key != nullptr && key->since >= kV13;
  });
}

uint32_t DataDump::debug_mode(const Setup& setup) const {
  if (setup.version < kV13 || (setup.version < kV23 && is_synchronous(setup))) return 0;
  const uint32_t mode = op_debug_mode.value_or(0);
  return setup.version >= kV24 && (mode == 1 || mode == 2) ? 3 : mode;
}

bool DataDump::dumps_kernels(const Setup& setup) const {
  return dump_mode == 1U && !(setup.version >= kV23 && debug_mode(setup) != 0);
}

bool is_path_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '/';
}

DataDump read_data_dump(const JsonValue& root) {
  DataDump dump;
  dump.common = object_in(root, kCommonSection);
  dump.e2e = object_in(root, kE2eSection);
  dump.async = object_in(root, kAsyncSection);
  dump.has_e2e = root.find(kE2eSection) != nullptr;
  dump.dump_mode = number_of(dump.common, "dump_mode");
  dump.input_output = number_of(dump.common, "input_output");
  dump.op_debug_mode = number_of(dump.common, "op_debug_mode");
  dump.initial_iteration = number_of(dump.common, "initial_iteration");
  dump.sample_mode = number_of(dump.e2e, "sample_mode");
  dump.sample_num = number_of(dump.e2e, "sample_num");
  dump.enable = bool_of(dump.e2e, "enable");
  dump.trans_flag = bool_of(dump.e2e, "trans_flag");
  dump.async_enable = bool_of(dump.async, "enable");
  dump.path = text_of(dump.common, "path");
  dump.net_name = text_of(dump.common, "net_name");
  dump.iteration = text_of(dump.common, "iteration");
  dump.saved_data = text_of(dump.common, "saved_data");
  dump.file_format = text_of(dump.common, "file_format");
  dump.stat_calc_mode = text_of(dump.e2e, "stat_calc_mode");
  if (dump.common != nullptr) {
    const JsonValue* iteration = dump.common->find("iteration");
    if (iteration != nullptr && iteration->is(JsonKind::kNumber)) dump.old_iteration = parse_u64(iteration->text);
    const JsonValue* kernels = dump.common->find("kernels");
    if (kernels != nullptr && kernels->is(JsonKind::kArray)) dump.kernels = kernels;
  }
  return dump;
}

namespace {

constexpr std::string_view kEndsOld = "the process ends at the first step";
// The first release that knows each group of words, and those that the device computes.
const std::vector<std::string> kCategories = {"max",
                                              "min",
                                              "avg",
                                              "count",
                                              "negative zero count",
                                              "positive zero count",
                                              "nan count",
                                              "negative inf count",
                                              "positive inf count",
                                              "zero count",
                                              "md5",
                                              "l2norm",
                                              "hash",
                                              "hash:sha1",
                                              "hash:md5"};
constexpr size_t kFirstDigest = 12;  // of kCategories; 2.7.1 and later
constexpr std::array<std::string_view, 4> kDeviceCategories = {"max", "min", "avg", "l2norm"};

// Effects by release, so that a long text or list is read once for each.
using ReleaseEffects = std::map<Version, Effect>;

std::string_view explanation(const IterationItem& item) {
  using Kind = IterationItem::Kind;
  switch (item.kind) {
    case Kind::kBackward: return "write the smaller step first";
    case Kind::kEmpty: return item.text.empty() ? "there is nothing between the '|'" : "a range needs both its ends";
    case Kind::kDashes: return "a range is two steps and one '-'";
    case Kind::kTooLarge: return "the number is larger than 64 bits hold";
    case Kind::kRange: break;
  }
  return "";
}

std::string hint_for_grammar(std::string_view text) {
  std::string without_blanks;
  for (const char c : text) {
    if (c != ' ' && c != '\t') without_blanks += c == ',' ? '|' : c;
  }
  if (parse_iteration(without_blanks).accepted) return fmt::format("write \"{}\"", excerpt(without_blanks));
  if (to_lower(without_blanks) == "all") return "write \"all\"";
  return "\"all\", or steps and ranges between '|': \"0|5-8|100-120\"";
}

std::string hint_for(const KernelItem& item) {
  switch (item.kind) {
    case KernelItem::Kind::kNoText: return "operators are named by strings";
    case KernelItem::Kind::kBlank: return "remove it";
    case KernelItem::Kind::kType: return "types are taken from MindSpore 2.0 on, blanks in them from 2.3 on";
    case KernelItem::Kind::kFullName: return "blanks in it are taken out from MindSpore 2.3 on";
    case KernelItem::Kind::kRegex:
      if (!item.fault.empty()) return item.fault;
      return fmt::format("MindSpore 2.3 and later; it has to match the whole name: name-regex(.*{}.*)", item.text);
  }
  return "";
}

// The effect of all items together.
Effect effect_of_list(const std::vector<KernelItem>& items, const Version& version) {
  bool chooses = false, everything = false, skipped = true;
  for (const KernelItem& item : items) {
    switch (reach_of(item, version)) {
      case KernelReach::kEnds: return fine();  // reported for the item
      case KernelReach::kEverything: everything = true; break;
      case KernelReach::kMay: chooses = true; break;
      case KernelReach::kNever: skipped = false; break;
      case KernelReach::kSkipped: break;
    }
  }
  if (everything) return ignored("every operator is dumped");
  if (chooses) return fine();
  return skipped && version >= kV23 ? ignored("every operator is dumped")
                                    : refused("no operator is selected, nothing is written");
}

class DataDumpLint {
 public:
  DataDumpLint(Findings& findings, const JsonValue& root, const LintTarget& target)
      : findings_(findings), root_(root), target_(target), dump_(read_data_dump(root)) {
    facts_.value = [this](std::string_view key) { return value_of(key); };
    facts_.derived = [this](std::string_view name, const Setup& setup) { return derived(name, setup); };
  }

  void check() {
    check_sections();
    if (dump_.common != nullptr) {
      check_path();
      check_net_name();
      check_devices();
      check_categories();
      check_iteration();
      check_kernels();
      check_rules(findings_, common(), facts_);
    }
    if (dump_.e2e != nullptr)
      check_rules(findings_, {*dump_.e2e, ConfigKind::kDataDump, kE2eSection, std::string(kE2eSection)}, facts_);
    check_rules(findings_, top(), facts_);
  }

 private:
  [[nodiscard]] KeyedObject top() const { return {root_, ConfigKind::kDataDump, "", "", root_.offset}; }
  [[nodiscard]] KeyedObject common() const {
    return {*dump_.common, ConfigKind::kDataDump, kCommonSection, std::string(kCommonSection)};
  }
  [[nodiscard]] const JsonMember* member(std::string_view key) const { return find_member(*dump_.common, key); }
  [[nodiscard]] Spot spot(const JsonMember& one) const { return value_spot(common(), one); }
  [[nodiscard]] const JsonMember* list(std::string_view key) const {
    const JsonMember* const found = member(key);
    return found != nullptr && found->value.is(JsonKind::kArray) ? found : nullptr;
  }

  [[nodiscard]] const JsonValue* value_of(std::string_view key) const {
    for (const auto& [section, object] : {std::pair(kCommonSection, dump_.common), {kE2eSection, dump_.e2e}}) {
      const ConfigKey* const known = find_key(ConfigKind::kDataDump, section, key);
      const JsonValue* const value = known == nullptr || object == nullptr ? nullptr : object->find(key);
      if (value != nullptr && has_type(known->type, *value)) return value;
    }
    return nullptr;
  }
  [[nodiscard]] std::optional<std::string> derived(std::string_view name, const Setup& setup) const {
    if (name == "debug") return std::to_string(dump_.debug_mode(setup));
    if (name != "dump") return std::nullopt;
    return dump_.is_synchronous(setup) ? "synchronous" : dump_.is_asynchronous(setup) ? "asynchronous" : "off";
  }

  void check_sections() {
    check_repeated_keys(findings_, top());
    for (const JsonMember& section : root_.members) {
      check_type(findings_, top(), section, facts_);
      const bool is_known = find_key(ConfigKind::kDataDump, "", section.key) != nullptr;
      if (is_known && &section == find_member(root_, section.key)) check_section(section);
    }
    if (root_.find(kCommonSection) == nullptr) check_missing_keys(findings_, top(), facts_);
  }

  void check_section(const JsonMember& section) {
    // MindSpore looks for keys in any value; a list has none.
    static const JsonValue kNoObject;
    const bool is_object = section.value.is(JsonKind::kObject);
    const KeyedObject where{is_object ? section.value : kNoObject, ConfigKind::kDataDump, section.key, section.key,
                            section.key_offset};
    if (!is_object) findings_.warning(value_spot(top(), section), {"wrong-type", is_text(section) + ", not an object"});
    check_repeated_keys(findings_, where);
    for (const JsonMember& one : where.object.members) check_type(findings_, where, one, facts_);
    check_missing_keys(findings_, where, facts_);
  }

  void check_path_text(const Spot& at, std::string_view subject, std::string_view path) {
    const size_t bad = static_cast<size_t>(std::find_if_not(path.begin(), path.end(), is_path_char) - path.begin());
    if (bad < path.size()) {
      findings_.error(
          at, {"path-characters", fmt::format("{} has '{}' in it: {}", subject, excerpt(path.substr(bad, 1)), kRefused),
               "only letters, digits, '-', '_' and '/' are accepted"});
    } else if (path.front() != '/') {
      findings_.judge(at,
                      {"path-not-absolute", fmt::format("{} is not absolute", subject),
                       fmt::format("begin it with '/'; '{}' is not expanded", excerpt(path))},
                      [](const Setup& setup) {
                        return setup.version >= kV11 ? refused() : ignored("it depends on the working directory");
                      });
    }
  }

  void check_path() {
    const JsonMember* const found = member("path");
    if (found != nullptr && !dump_.path) return;  // reported as the wrong type
    const Spot at{key_path(common(), "path"), found != nullptr ? found->value.offset : dump_.common->offset};
    if (dump_.path && !dump_.path->empty())
      return check_path_text(at, fmt::format("path '{}'", excerpt(*dump_.path)), *dump_.path);
    const std::string& variable = target_.diagnostic_path;
    if (!variable.empty()) {
      check_path_text(at, fmt::format("path is empty, and $MS_DIAGNOSTIC_DATA_PATH '{}'", excerpt(variable)), variable);
    }
    findings_.judge(at,
                    {"path-empty", found == nullptr ? "path is missing" : "path is empty",
                     "MindSpore 1.5 and later then take $MS_DIAGNOSTIC_DATA_PATH, which is not set here"},
                    [&](const Setup& setup) { return setup.version < kV15 || variable.empty() ? refused() : fine(); });
  }

  void check_net_name() {
    const JsonMember* const found = member("net_name");
    if (found == nullptr || !dump_.net_name) return;
    const std::string& name = *dump_.net_name;
    const bool bad = !std::all_of(name.begin(), name.end(), [](char c) { return is_path_char(c) && c != '/'; });
    findings_.judge(
        spot(*found), {"net-name", is_text(*found), "only letters, digits, '-' and '_' are accepted, at least one"},
        [&](const Setup& setup) { return bad || (name.empty() && setup.version >= kV13) ? refused() : fine(); });
  }

  void check_devices() {
    const JsonMember* const found = list("support_device");
    for (size_t i = 0; found != nullptr && i < found->value.items.size(); ++i) {
      const JsonValue& item = found->value.items[i];
      const Spot at = spot_of_item(spot(*found), i, item);
      const std::string subject = fmt::format("support_device[{}] is {}", i, in_words(item));
      if (!item.is(JsonKind::kNumber) && !item.is(JsonKind::kBool)) {
        findings_.error(at, {"support-device", fmt::format("{}: {}", subject, kRefused), "numbers are wanted"});
      } else if (!parse_u64(item.text)) {
        findings_.warning(at, {"support-device", fmt::format("{}: it is read as another number", subject),
                               "non-negative whole numbers are wanted"});
      }
    }
  }

  void check_categories() {
    const JsonMember* const found = list("statistic_category");
    if (found == nullptr || !dump_.saves_statistics()) return;
    for (size_t i = 0; i < found->value.items.size(); ++i) {
      const JsonValue& item = found->value.items[i];
      const auto place = std::find(kCategories.begin(), kCategories.end(), item.text);
      const bool is_known = item.is(JsonKind::kString) && place != kCategories.end();
      const bool is_digest = place - kCategories.begin() >= static_cast<std::ptrdiff_t>(kFirstDigest);
      const bool on_device =
          std::find(kDeviceCategories.begin(), kDeviceCategories.end(), item.text) != kDeviceCategories.end();
      findings_.judge(spot_of_item(spot(*found), i, item),
                      {"statistic-category", fmt::format("statistic_category[{}] is {}", i, in_words(item)),
                       place != kCategories.end() ? "" : words_hint(item, kCategories)},
                      [&](const Setup& setup) {
                        if (setup.version < kV23) return fine();
                        if (!is_known || (is_digest && setup.version < kV271)) return refused();
                        const bool device = setup.device == Device::kAscend && dump_.stat_calc_mode == "device" &&
                                            dump_.saved_data == "statistic";
                        return device && !on_device ? ignored("not computed on the device") : fine();
                      });
    }
  }

  [[nodiscard]] uint64_t first_step(const Setup& setup) const {
    return setup.version >= kV26 ? dump_.initial_iteration.value_or(0) : 0;
  }

  // The effect of the text. A dump that is off is reported elsewhere.
  [[nodiscard]] Effect effect_of(const Iteration& iteration, const Setup& setup) const {
    if (setup.version < kV13) return fine();  // refused: the type
    if (!iteration.accepted) return refused();
    if (setup.version < kV15 && std::any_of(iteration.items.begin(), iteration.items.end(),
                                            [](const IterationItem& item) { return item.ends_old_process(); }))
      return refused(std::string(kEndsOld));
    return iteration.selects_any(first_step(setup)) ? fine() : refused("no step is selected, nothing is written");
  }

  [[nodiscard]] std::string hint_for_none(const Iteration& iteration) const {
    for (const IterationItem& item : iteration.items) {
      if (!item.selects()) return std::string(explanation(item));
    }
    return fmt::format("steps count from initial_iteration {}", dump_.initial_iteration.value_or(0));
  }

  void check_iteration() {
    const JsonMember* const found = member("iteration");
    if (found == nullptr || !dump_.iteration) return;
    const std::string& text = *dump_.iteration;
    const Iteration iteration = parse_iteration(text);
    ReleaseEffects effects;
    for (const Setup& setup : findings_.setups()) {
      if (effects.count(setup.version) == 0) effects[setup.version] = effect_of(iteration, setup);
    }
    findings_.judge(spot(*found),
                    {iteration.accepted ? "iteration-nothing" : "iteration-grammar", is_text(*found),
                     iteration.accepted ? hint_for_none(iteration) : hint_for_grammar(text)},
                    [&](const Setup& setup) { return effects.at(setup.version); });
    for (const IterationItem& item : iteration.items) {
      findings_.judge(
          {spot(*found).key, found->value.offset + 1 + item.at},
          {"iteration-item", fmt::format("'{}' in iteration", excerpt(item.text)), std::string(explanation(item))},
          [&](const Setup& setup) {
            // Reported for the text or its type.
            if (setup.version < kV13 || effects.at(setup.version).outcome != Outcome::kFine) return fine();
            if (!item.selects()) return ignored("it selects no step");
            return item.last < first_step(setup) ? ignored("it is before initial_iteration and selects no step")
                                                 : fine();
          });
    }
  }

  void check_kernels() {
    const JsonMember* const found = list("kernels");
    if (found == nullptr || !dump_.dump_mode) return;
    const std::vector<KernelItem> items = parse_kernels(found->value);
    const Spot at = spot(*found);
    if (*dump_.dump_mode != 1) {
      const bool names_any = std::any_of(items.begin(), items.end(),
                                         [](const KernelItem& item) { return item.kind != KernelItem::Kind::kBlank; });
      if (names_any && *dump_.dump_mode == 0) {
        findings_.warning(at, {"kernels-unused", "kernels is not read with dump_mode 0: every operator is dumped",
                               "set dump_mode to 1"});
      }
      return;
    }
    ReleaseEffects effects;
    for (const Setup& setup : findings_.setups()) {
      if (effects.count(setup.version) == 0) effects[setup.version] = effect_of_list(items, setup.version);
    }
    findings_.judge(
        at,
        {"kernels", items.empty() ? "kernels is empty" : "no item of kernels can name an operator",
         items.size() == 1 ? hint_for(items.front()) : ""},
        [&](const Setup& setup) { return dump_.dumps_kernels(setup) ? effects.at(setup.version) : fine(); });
    std::map<std::pair<KernelItem::Kind, std::string_view>, size_t> seen;
    for (size_t i = 0; i < items.size(); ++i) {
      const Spot of_item = spot_of_item(at, i, found->value.items[i]);
      check_kernel(of_item, fmt::format("kernels[{}] is {}", i, in_words(found->value.items[i])), items[i], effects);
      if (items[i].kind == KernelItem::Kind::kNoText || items[i].kind == KernelItem::Kind::kBlank) continue;
      if (seen.try_emplace({items[i].kind, items[i].text}, i).second) continue;
      findings_.judge(of_item, {"kernel-duplicate", fmt::format("kernels[{}] is a duplicate", i)},
                      [&](const Setup& setup) {
                        return dump_.dumps_kernels(setup) ? ignored("MindSpore warns about it") : fine();
                      });
    }
  }

  void check_kernel(const Spot& at, const std::string& subject, const KernelItem& item, const ReleaseEffects& list) {
    findings_.judge(at, {item.fault.empty() ? "kernel-item" : "kernel-regex", subject, hint_for(item)},
                    [&](const Setup& setup) {
                      if (!dump_.dumps_kernels(setup)) return fine();
                      const KernelReach reach = reach_of(item, setup.version);
                      if (reach == KernelReach::kEnds)
                        return refused("the process ends, the expression cannot be read");
                      const bool is_reported = list.at(setup.version).outcome == Outcome::kRefused;
                      return reach == KernelReach::kNever && !is_reported ? ignored("it selects no operator") : fine();
                    });
    if (item.kind != KernelItem::Kind::kRegex || item.text.find('\\') == std::string::npos) return;
    findings_.judge(at, {"kernel-regex", subject, "use [0-9] for \\d, [.] for \\."}, [&](const Setup& setup) {
      return dump_.dumps_kernels(setup) && setup.version >= kV23
                 ? ignored("MindSpore doubles the backslash, which then matches itself")
                 : fine();
    });
  }

  Findings& findings_;
  const JsonValue& root_;
  const LintTarget& target_;
  DataDump dump_;
  ConfigFacts facts_;
};

}  // namespace

void lint_data_dump(Findings& findings, const JsonValue& root, const LintTarget& target) {
  DataDumpLint(findings, root, target).check();
}

}  // namespace msdump
