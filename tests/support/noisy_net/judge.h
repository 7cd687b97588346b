// What a search for the culprit says about a noisy net, held against what was planted; and what fixed tolerances say.
#pragma once

#include <string>
#include <vector>

#include "divergence/dump_diff.h"
#include "support/noisy_net/faults.h"

namespace msdump::noisy {

struct Named {
  int fault = -1;  // the planted one that it is a right answer to; -1: it is innocent
  double confidence = 0;
  std::string text;              // "value Default/Mul-op0"
  std::vector<int> places = {};  // likewise, of its further places
};

// In the order of the report.
[[nodiscard]] std::vector<Named> judge(const DiffResult& run, const std::vector<Planted>& planted);

// Rules that look at an operator alone: it is named if they hold, in the order of the flow.
enum class Rule : uint8_t {
  kTolerance,  // an element of an output is off by more than 1e-3 of |b| and of the tensor's scale
  kCosine,     // of an output, below 0.99
  kMsprobe,    // msprobe: of the inputs 90 % of the elements within 1e-3, of the outputs less than 10 %; or the cosine
               // falls by more than 0.1; or an output has NaN or infinities that the reference has not
};
inline constexpr Rule kRules[] = {Rule::kTolerance, Rule::kCosine, Rule::kMsprobe};
[[nodiscard]] std::string_view name_of(Rule rule);
[[nodiscard]] std::vector<Named> judge_by(Rule rule, const DiffResult& run, const std::vector<Planted>& planted);

// What could be known at best: every operator is computed again, exactly, from the inputs that the candidate gave it, and
// those whose result is more than four times as far off as is usual for its type are named, the furthest first. It sees
// wrong kernels, no wrong script, and nothing where most operators of a type are wrong: those are usual then.
[[nodiscard]] std::vector<Named> judge_by_recomputing(const Candidate& candidate);

}  // namespace msdump::noisy
