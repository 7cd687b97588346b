#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "config/data_dump/data_dump_rules.h"
#include "config/kernels.h"

namespace msdump::data_dump {
namespace {

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

// What happens to the list as a whole.
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
  if (everything) return other("every operator is dumped");
  if (chooses) return fine();
  const bool empty_is_all = version >= kV23;
  return skipped && empty_is_all ? other("every operator is dumped")
                                 : stops("no operator is selected, nothing is written");
}

// By release, so that a long list is read once for each.
using ListEffects = std::map<Version, Effect>;

void check_item(Rules& rules, const Spot& spot, const std::string& subject, const KernelItem& item,
                const ListEffects& list) {
  rules.findings.judge(spot, {item.fault.empty() ? "kernel-item" : "kernel-regex", subject, hint_for(item)},
                       [&](const Setup& setup) {
                         if (!rules.dump.dumps_kernels(setup)) return fine();
                         const KernelReach reach = reach_of(item, setup.version);
                         if (reach == KernelReach::kEnds)
                           return stops("the process ends, the expression cannot be read");
                         const bool reported = list.at(setup.version).outcome == Outcome::kStops;
                         return reach == KernelReach::kNever && !reported ? other("it selects no operator") : fine();
                       });
  if (item.kind == KernelItem::Kind::kRegex && item.text.find('\\') != std::string::npos) {
    rules.findings.judge(spot, {"kernel-regex", subject, "use [0-9] for \\d, [.] for \\."}, [&](const Setup& setup) {
      return rules.dump.dumps_kernels(setup) && setup.version >= kV23
                 ? other("MindSpore doubles the backslash, which then matches itself")
                 : fine();
    });
  }
}

void check_repeats(Rules& rules, const JsonMember& member, const std::vector<KernelItem>& items) {
  std::map<std::pair<KernelItem::Kind, std::string_view>, size_t> seen;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].kind == KernelItem::Kind::kNoText || items[i].kind == KernelItem::Kind::kBlank) continue;
    if (seen.try_emplace({items[i].kind, items[i].text}, i).second) continue;
    rules.findings.judge(spot_of_item(common_spot(member), i, member.value.items[i]),
                         {"kernel-duplicate", fmt::format("kernels[{}] is a duplicate", i)}, [&](const Setup& setup) {
                           return rules.dump.dumps_kernels(setup) ? other("MindSpore warns about it") : fine();
                         });
  }
}

}  // namespace

void check_kernels(Rules& rules) {
  const JsonMember* member = rules.common("kernels");
  if (member == nullptr || rules.dump.kernels == nullptr || !rules.dump.dump_mode) return;
  const std::vector<KernelItem> items = parse_kernels(*rules.dump.kernels);
  const Spot spot = common_spot(*member);
  if (*rules.dump.dump_mode != 1) {
    const bool names_any = std::any_of(items.begin(), items.end(),
                                       [](const KernelItem& item) { return item.kind != KernelItem::Kind::kBlank; });
    if (names_any && *rules.dump.dump_mode == 0) {
      rules.findings.warning(spot, {"kernels-unused", "kernels is not read with dump_mode 0: every operator is dumped",
                                    "set dump_mode to 1"});
    }
    return;
  }
  ListEffects list;
  for (const Setup& setup : rules.findings.setups()) {
    if (list.count(setup.version) == 0) list[setup.version] = effect_of_list(items, setup.version);
  }
  rules.findings.judge(
      spot,
      {"kernels", items.empty() ? "kernels is empty" : "no item of kernels can name an operator",
       items.size() == 1 ? hint_for(items.front()) : ""},
      [&](const Setup& setup) { return rules.dump.dumps_kernels(setup) ? list.at(setup.version) : fine(); });
  for (size_t i = 0; i < items.size(); ++i) {
    const JsonValue& item = member->value.items[i];
    check_item(rules, spot_of_item(spot, i, item), fmt::format("kernels[{}] is {}", i, in_words(item)), items[i], list);
  }
  check_repeats(rules, *member, items);
}

}  // namespace msdump::data_dump
