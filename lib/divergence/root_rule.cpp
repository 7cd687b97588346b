#include "divergence/root_rule.h"

#include <algorithm>
#include <cmath>

#include "base/containers.h"

namespace msdump {
namespace {

struct RuleTraits {
  std::string_view name;
  DecidedBy decided_by = DecidedBy::kEstimate;
  int right = 0, named = 0;  // roots in the newest nets of scripts/e2e, both halves
};

constexpr auto kRules = enum_table<RootRule, RuleTraits>(
    RuleTraits{"graph", DecidedBy::kAsked, 149, 151}, RuleTraits{"argument", DecidedBy::kAsked, 180, 181},
    RuleTraits{"computed", DecidedBy::kComputed, 193, 193}, RuleTraits{"outlier", DecidedBy::kEstimate, 0, 0},
    RuleTraits{"handed_on", DecidedBy::kHandedOn, 0, 0}, RuleTraits{"update", DecidedBy::kHandedOn, 11, 11},
    RuleTraits{"kept", DecidedBy::kHandedOn, 9, 9}, RuleTraits{"parameter", DecidedBy::kEstimate, 25, 27},
    RuleTraits{"source", DecidedBy::kEstimate, 169, 208}, RuleTraits{"missing", DecidedBy::kEstimate, 216, 229},
    RuleTraits{"extra", DecidedBy::kEstimate, 96, 109}, RuleTraits{"cast", DecidedBy::kEstimate, 3, 3},
    RuleTraits{"constant", DecidedBy::kEstimate, 0, 0}, RuleTraits{"equal_inputs", DecidedBy::kEstimate, 35, 39},
    RuleTraits{"excess", DecidedBy::kEstimate, 173, 249}, RuleTraits{"shape", DecidedBy::kEstimate, 0, 3},
    RuleTraits{"changed", DecidedBy::kEstimate, 24, 33}, RuleTraits{"nan", DecidedBy::kEstimate, 0, 0},
    RuleTraits{"draw", DecidedBy::kEstimate, 0, 0}, RuleTraits{"collective", DecidedBy::kEstimate, 0, 0},
    RuleTraits{"cut", DecidedBy::kEstimate, 28, 28}, RuleTraits{"line", DecidedBy::kEstimate, 26, 28},
    RuleTraits{"token", DecidedBy::kEstimate, 143, 146});  // of scripts/e2e's rollouts (docs/tokens.md)

// The expected share of a next root, if any share is as likely before the first.
double share(int right, int named) { return (right + 1.0) / (named + 2.0); }

}  // namespace

std::string_view name_of(DecidedBy decided_by) {
  static constexpr auto kNames = enum_table<DecidedBy, std::string_view>("estimate", "asked", "computed", "handed_on");
  return kNames[decided_by];
}

std::string_view name_of(RootRule rule) { return kRules[rule].name; }

DecidedBy decided_by(RootRule rule) { return kRules[rule].decided_by; }

double confidence(RootRule rule) {
  constexpr double kSteps = 20, kMost = 0.95;
  RuleTraits traits = kRules[rule];
  if (traits.named == 0) {
    const bool is_exact = traits.decided_by != DecidedBy::kEstimate;
    for (const RuleTraits& other : kRules.values) {
      // Tokens are counted in runs where no other estimate is a root.
      if (other.name == name_of(RootRule::kToken) || (other.decided_by != DecidedBy::kEstimate) != is_exact) continue;
      traits.right += other.right;
      traits.named += other.named;
    }
  }
  return std::min(kMost, std::round(share(traits.right, traits.named) * kSteps) / kSteps);
}

}  // namespace msdump
