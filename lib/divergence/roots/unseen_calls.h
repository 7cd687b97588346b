// find_unseen_calls(): calls that msprobe did not dump, and one of which may be to blame. They are inside a module in a
// dump of modules (L0), or before a call whose input differs although everything before it agrees.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/match/pairing.h"

namespace msdump {

class NoiseModel;
class RunView;
struct Divergence;
struct RunHistory;

// Operators in Pairing::operators.
struct UnseenCalls {
  OperatorId after;  // kNoId: those inside `before`, a module
  OperatorId before;
  std::string_view level;  // of msprobe, to dump them: "L1" or "mix"
};

// Sets Divergence::unseen. A module of a type that is known to be a single operator hides no calls.
void find_unseen_calls(const RunView& view, const NoiseModel& model, const RunHistory& history,
                       std::vector<Divergence>& roots);

// The config.json of msprobe that dumps them.
struct MsprobeSettings {
  std::string_view task, level;          // as in the dump, but the level mix for modules
  std::vector<std::string> scope, list;  // one of them: the calls around them, or the module
  bool all_risks = false;                // by default msprobe leaves out PyTorch calls that move values
  bool operator==(const MsprobeSettings&) const = default;
};
[[nodiscard]] MsprobeSettings settings_for(const UnseenCalls& calls, const Pairing& pairing, const CompareSide& side,
                                           bool of_candidate);

}  // namespace msdump
