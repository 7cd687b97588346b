#include "compare/match/cut/cut_pairing.h"

#include <algorithm>

#include "compare/match/cut/collective_partners.h"
#include "compare/match/cut/cut_match.h"
#include "compare/match/cut/expert_splits.h"
#include "compare/match/cut/value_partners.h"
#include "compare/match/cut/value_twins.h"
#include "compare/match/cut/whole_tensors.h"

namespace msdump {
namespace {

// Shapes tell nothing here: two networks have no tensor in common.
Likeness likeness_of_cuts(const Pairing& pairing) {
  const bool any = std::any_of(pairing.tensors.begin(), pairing.tensors.end(),
                               [](const TensorPair& pair) { return pair.a != kNoTensor && pair.b != kNoTensor; });
  Likeness likeness;
  if (!any) likeness.comparable = std::min(pairing.a.size(), pairing.b.size());
  return likeness;
}

}  // namespace

Result<PairedCuts> pair_cuts(const CutInput& a, const CutInput& b, const NameMap* map, const LayoutRules* layouts,
                             const RunContext& context) {
  CutMatch match(a, b, layouts, context);
  PairedCuts& result = match.result;
  const auto pair_again_by_names = [&] {
    result.pairing = pair_sides(result.a->side(), result.b->side(), map);
    return match.find_layouts();
  };
  MSDUMP_CHECK_OK(pair_again_by_names());
  MSDUMP_TRY(const CutSplitsOfBoth splits, find_expert_splits(match));
  if (!splits.a.empty() || !splits.b.empty()) {
    result.a = std::make_unique<CutSide>(*result.a, splits.a);
    result.b = std::make_unique<CutSide>(*result.b, splits.b);
    MSDUMP_CHECK_OK(pair_again_by_names());
  }
  if (map == nullptr) {
    MSDUMP_TRY(const std::vector<uint32_t> partners, partners_by_values(match));
    result.pairing = pair_again(result.a->side(), result.b->side(), result.pairing, partners);
    MSDUMP_CHECK_OK(match.find_layouts());
  }
  result.pairing.of_cuts = true;
  if (map == nullptr) MSDUMP_CHECK_OK(pair_value_twins(match));
  MSDUMP_CHECK_OK(pair_collectives(match));
  result.pairing.likeness = likeness_of_cuts(result.pairing);
  MSDUMP_CHECK_OK(put_together(match));
  result.pairing.limits.merge(match.limits);
  result.pairing.limits.merge(match.limits_of_layouts());
  return std::move(result);
}

}  // namespace msdump
