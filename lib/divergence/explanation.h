// Why a tensor differs, as far as the data flow and the noise model explain it. A verdict never depends on this.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

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
};
[[nodiscard]] std::string_view name_of(Explanation explanation);  // empty: kNone

// By Pairing::tensors.
[[nodiscard]] std::vector<Explanation> explain_tensors(const RunView& view, const NoiseModel& model,
                                                       const RunHistory& history, const RootReach& reach,
                                                       const std::vector<Divergence>& roots);

}  // namespace msdump
