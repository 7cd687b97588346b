#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "config/data_dump/data_dump_rules.h"

namespace msdump::data_dump {
namespace {

constexpr std::string_view kEndsOld = "the process ends at the first step";

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

uint64_t first_step(const Rules& rules, const Setup& setup) {
  return setup.version >= kV26 ? rules.dump.initial_iteration.value_or(0) : 0;
}

bool ends_process(const Iteration& iteration, const Setup& setup) {
  if (setup.version >= kV15) return false;
  for (const IterationItem& item : iteration.items) {
    if (item.ends_old_process()) return true;
  }
  return false;
}

// A dump that is not enabled is reported elsewhere.
Effect effect_of_all(const Rules& rules, const Iteration& iteration, const Setup& setup) {
  if (setup.version < kV13) return fine();  // refused: the type
  if (!iteration.accepted) return refused();
  if (ends_process(iteration, setup)) return stops(std::string(kEndsOld));
  return iteration.selects_any(first_step(rules, setup)) ? fine() : stops("no step is selected, nothing is written");
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

std::string hint_for_none(const Iteration& iteration, const Rules& rules) {
  for (const IterationItem& item : iteration.items) {
    if (!item.selects()) return std::string(explanation(item));
  }
  return fmt::format("steps count from initial_iteration {}", rules.dump.initial_iteration.value_or(0));
}

void check_items(Rules& rules, const Spot& spot, const Iteration& iteration) {
  // Releases for which the whole text or its type is reported anyway. One pass over a long text for each release.
  std::map<Version, bool> reported;
  for (const Setup& setup : rules.findings.setups()) {
    if (reported.count(setup.version) == 0) {
      reported[setup.version] =
          setup.version < kV13 || effect_of_all(rules, iteration, setup).outcome != Outcome::kFine;
    }
  }
  for (const IterationItem& item : iteration.items) {
    rules.findings.judge(
        {spot.key, spot.offset + 1 + item.at},
        {"iteration-item", fmt::format("'{}' in iteration", excerpt(item.text)), std::string(explanation(item))},
        [&](const Setup& setup) {
          const uint64_t first = first_step(rules, setup);
          if (reported.at(setup.version)) return fine();
          if (!item.selects()) return other("it selects no step");
          return item.last < first ? other("it is before initial_iteration and selects no step") : fine();
        });
  }
}

}  // namespace

void check_iteration(Rules& rules) {
  const JsonMember* member = rules.common("iteration");
  if (member == nullptr || !rules.dump.iteration) return;
  const Spot spot{common_spot(*member).key, member->value.offset};
  const std::string& text = *rules.dump.iteration;
  const Iteration iteration = parse_iteration(text);
  rules.findings.judge(spot,
                       {iteration.accepted ? "iteration-nothing" : "iteration-grammar", is_text(*member),
                        iteration.accepted ? hint_for_none(iteration, rules) : hint_for_grammar(text)},
                       [&](const Setup& setup) { return effect_of_all(rules, iteration, setup); });
  check_items(rules, spot, iteration);
}

}  // namespace msdump::data_dump
