// RootReach: the root that each execution depends on, the most upstream one whose values reach it along the edges. A
// parameter or input that is a root reaches everything that reads it.
//
// Cost: linear in the executions and edges, however many roots there are.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "divergence/computed_outputs.h"
#include "divergence/model/scored_outputs.h"
#include "divergence/runs/run_view.h"

namespace msdump {

struct Divergence;

inline constexpr uint32_t kNoRoot = UINT32_MAX;

class RootReach {
 public:
  explicit RootReach(const RunView& view);
  RootReach(const RunView& view, const std::vector<Divergence>& roots);

  // The next root. What a root before it reaches stays with that one.
  void add(const Divergence& root);

  // The root that the execution is, itself or as a further place; kNoRoot if it is none.
  [[nodiscard]] uint32_t root_at(ExecutionId run) const { return root_at_[run]; }
  // The first root that the execution depends on, or is.
  [[nodiscard]] uint32_t root_before(ExecutionId run) const { return root_before_[run]; }

 private:
  const RunView& view_;
  uint32_t roots_ = 0;
  std::vector<uint32_t> root_at_, root_before_;  // by run
  std::vector<bool> exchanged_;                  // by collective: a root has reached all members
};

// Explains why a tensor differs, by data flow and noise model, or why it was not judged. Verdicts never depend on it.

class NoiseModel;
class RootReach;
class RunView;
struct Divergence;
struct DivergenceReport;
struct RunHistory;

enum class Explanation : uint8_t {
  kNone,        // it does not differ, it belongs to a root, or it has no explanation
  kNoise,       // its error is within what the errors of the inputs and the arithmetic lead to
  kDownstream,  // it depends on a root
  kUnwritten,   // nothing reads it, and the kernel may never have written it
  kRandom,      // it depends on random numbers that were drawn differently
  kFused,       // it lies between operators that the other side fused into one
  kInert,       // only one side has its operator, or both write something in two ways, and what follows agrees
  kElsewhere,   // the other side has no such rank or step
};
[[nodiscard]] constexpr Explanation last_of(Explanation) { return Explanation::kElsewhere; }
[[nodiscard]] std::string_view name_of(Explanation explanation);  // empty: kNone
[[nodiscard]] std::string_view text_of(Explanation explanation);  // "it depends on a root"

// Both are by Pairing::tensors.
struct Explanations {
  std::vector<Explanation> explained;
  std::vector<Unjudged> unjudged;  // of tensors that differ, belong to no root and are kNone
};
[[nodiscard]] Explanations explain_tensors(const RunView& view, const NoiseModel& model, const RunHistory& history,
                                           const RootReach& reach, const DivergenceReport& report,
                                           const ComputedOutputs& computed);

}  // namespace msdump
