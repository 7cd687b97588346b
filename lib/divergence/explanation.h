// Which root each run depends on: the most upstream one whose values reach it along the edges. A root of a parameter or
// an input reaches all that read the value.
//
// Cost: linear in the runs and edges, however many roots there are.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "divergence/model/scored_outputs.h"
#include "divergence/runs/run_view.h"

namespace msdump {

struct Divergence;

inline constexpr uint32_t kNoRoot = UINT32_MAX;

class RootReach {
 public:
  RootReach(const RunView& view, const std::vector<Divergence>& roots);

  // The root that a run is an instance of, itself or at a further place; kNoRoot for none.
  [[nodiscard]] uint32_t root_at(uint32_t run) const { return root_at_[run]; }
  // The first root that a run depends on, or is.
  [[nodiscard]] uint32_t root_before(uint32_t run) const { return root_before_[run]; }

 private:
  std::vector<uint32_t> root_at_, root_before_;  // by run
};

// Why a tensor differs, as far as the data flow and the noise model explain it; where they do not, why nobody judged it.
// A verdict never depends on this.

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
