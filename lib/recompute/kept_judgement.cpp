#include "recompute/kept_judgement.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace msdump::recompute {
namespace {

// Texts and pages take indices of the output from it.
bool is_sound(const Judgement& judgement) {
  const auto is_inside = [&](const std::vector<int64_t>& index) {
    return index.size() == judgement.shape.size() &&
           std::equal(index.begin(), index.end(), judgement.shape.begin(),
                      [](int64_t at, int64_t extent) { return at >= 0 && at < extent; });
  };
  if (judgement.elements < 0 || judgement.wrong < 0 || judgement.wrong > judgement.elements) return false;
  if (!judgement.worst.empty() && !is_inside(judgement.worst)) return false;
  if (!judgement.place) return true;
  const Box& box = *judgement.place;
  return box.multiple_of >= 0 && is_inside(box.from) && is_inside(box.to) &&
         std::equal(box.from.begin(), box.from.end(), box.to.begin(), std::less_equal<>());
}

}  // namespace

FactKey judgement_key(ExecutionId run, const DeviceTraits& device) {
  const uint32_t usual = device.usual == DType::kUndefined ? 0 : device.usual == DType::kFloat16 ? 1 : 2;
  return {FactKind::kRecomputed, run, 2 * usual + (device.tensor_cores ? 1U : 0U)};
}

KeptJudgement kept_judgement(const Question& question, const OperatorJudgement& judgement) {
  KeptJudgement kept{judgement.why, {}, judgement.asked};
  for (const OutputJudgement& output : judgement.outputs) {
    const auto found = std::find_if(question.outputs.begin(), question.outputs.end(),
                                    [&](const AskedOutput& asked) { return asked.tensor == output.tensor; });
    kept.outputs.push_back({static_cast<uint32_t>(found - question.outputs.begin()), output.name, output.judgement});
  }
  return kept;
}

std::optional<OperatorJudgement> judgement_of(const Question& question, KeptJudgement kept) {
  OperatorJudgement judgement{question.run, question.forward, question.type, question.row, {}, {}, {}, {}};
  judgement.why = std::move(kept.why);
  judgement.asked = std::move(kept.asked);
  const bool is_judged = question.row != nullptr && question.row->kernel != nullptr;
  if (is_judged) judgement.kernel = *question.row->kernel;
  if (!is_judged && !kept.outputs.empty()) return std::nullopt;
  for (KeptJudgement::Output& output : kept.outputs) {
    if (output.place >= question.outputs.size() || !is_sound(output.judgement)) return std::nullopt;
    judgement.outputs.push_back(
        {question.outputs[output.place].tensor, std::move(output.name), std::move(output.judgement), {}});
  }
  return judgement;
}

}  // namespace msdump::recompute
