// Judgements in parts (parts/facts.h): a process with --shard makes them for its share of the executions, the one that merges
// takes them in place of computing these again.
//
// A judgement depends on the traits of the device, which the whole dump shows. So the key has them: a share keeps the judgements of
// outputs without traits, and those of the wrong ones again with the traits that the share shows. What the merge does not find it
// computes, as it does what wrong operators did instead.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parts/facts.h"
#include "recompute/recompute.h"

namespace msdump::recompute {

// A judgement without what its question has.
struct KeptJudgement {
  struct Output {
    uint32_t place = 0;  // in Question::outputs
    std::string name;
    Judgement judgement;
  };
  Unjudged why;
  std::vector<Output> outputs;
  std::vector<AskedArgument> asked;
};

[[nodiscard]] constexpr Judgement::Verdict last_of(Judgement::Verdict) { return Judgement::Verdict::kNotJudged; }
void fields(auto& visit, FieldsOf<Unjudged> auto& value) { MSDUMP_FIELDS(reason, what); }
void fields(auto& visit, FieldsOf<Box> auto& value) { MSDUMP_FIELDS(from, to, multiple_of); }
void fields(auto& visit, FieldsOf<AskedArgument> auto& value) { MSDUMP_FIELDS(name, text, from); }
void fields(auto& visit, FieldsOf<Judgement> auto& value) {
  auto& [verdict, why, precision, units, limit, relative_error, slope, elements, wrong, worst, worst_value,
         worst_expected, sampled, place, shape, variant, answer, format, coarser, fits_bfloat16, follows_copy, units_of,
         rounding_of] = value;
  auto& [of_float32, of_low, of_tensor] = units_of;
  auto& [in_float32, in_low, in_tensor] = rounding_of;
  visit(verdict, why, precision, units, limit, relative_error, slope, elements, wrong, worst, worst_value,
        worst_expected, sampled, place, shape, variant, format, coarser, fits_bfloat16, follows_copy, of_float32,
        of_low, of_tensor, in_float32, in_low, in_tensor);
}
void fields(auto& visit, FieldsOf<KeptJudgement::Output> auto& value) { MSDUMP_FIELDS(place, name, judgement); }
void fields(auto& visit, FieldsOf<KeptJudgement> auto& value) { MSDUMP_FIELDS(why, outputs, asked); }

[[nodiscard]] FactKey judgement_key(ExecutionId run, const DeviceTraits& device);
[[nodiscard]] KeptJudgement kept_judgement(const Question& question, const OperatorJudgement& judgement);
// None for a judgement that is not about this question, or that no judge gives. Of a question that is no region.
[[nodiscard]] std::optional<OperatorJudgement> judgement_of(const Question& question, KeptJudgement kept);

}  // namespace msdump::recompute
