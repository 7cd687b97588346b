// Why a tensor differs, as far as the data flow and the noise model explain it; where they do not, why nobody judged it.
// A verdict never depends on this.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "divergence/model/scored_outputs.h"

namespace msdump {

class NoiseModel;
class RootReach;
class RunView;
struct Divergence;
struct RunHistory;

enum class Explanation : uint8_t {
  kNone,        // it does not differ, it belongs to a root, or nothing explains it
  kNoise,       // its error is what the errors of the inputs and the arithmetic lead to
  kDownstream,  // it depends on a root
  kUnwritten,   // nothing reads it; the kernel may never have written it
  kRandom,      // it depends on random numbers that were drawn differently
  kFused,       // it lies between operators that are one on the other side
  kInert,       // its operator exists on one side only, and what was compared after it agrees
  kElsewhere,   // the other side has no such rank or step
};
[[nodiscard]] constexpr Explanation last_of(Explanation) { return Explanation::kElsewhere; }
[[nodiscard]] std::string_view name_of(Explanation explanation);  // empty: kNone
[[nodiscard]] std::string_view text_of(Explanation explanation);  // "it depends on a root"

// By Pairing::tensors.
struct Explanations {
  std::vector<Explanation> explained;
  std::vector<Unjudged> unjudged;  // of those that differ, belong to no root and are kNone
};
[[nodiscard]] Explanations explain_tensors(const RunView& view, const NoiseModel& model, const RunHistory& history,
                                           const RootReach& reach, const std::vector<Divergence>& roots);

}  // namespace msdump
