#include "divergence/runs/run_view.h"

#include <algorithm>

#include "divergence/cuts/forgotten_values.h"
#include "graph/flow/communication.h"

namespace msdump {
namespace {

constexpr int kMostNested = 1000;  // modules

const std::vector<uint32_t> kNone;

}  // namespace

RunView::RunView(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                 const std::vector<TensorDiff>& diffs, const ModuleTree& modules, const CutEvidence* cuts)
    : RunFacts(a, b, pairing, diffs, cuts) {
  forget_local_numbers(*this);
  forget_made_up(*this);
  collectives_ = collective_runs(*this);
  passed_on_ = passed_on(*this);
  find_modules(modules);
}

void RunView::find_modules(const ModuleTree& modules) {
  if (modules.empty()) return;
  inside_.resize(runs().size());
  for (uint32_t index = 0; index < runs().size(); ++index) {
    std::string_view parent = modules.parent_of(name(index));
    for (int depth = 0; !parent.empty() && depth < kMostNested; ++depth) {
      for (const uint32_t module : runs_named(parent, place(index))) inside_[module].push_back(index);
      parent = modules.parent_of(parent);
    }
  }
}

const std::vector<uint32_t>& RunView::inside(uint32_t index) const { return inside_.empty() ? kNone : inside_[index]; }

std::vector<uint32_t> RunView::outputs(uint32_t index) const {
  if (lacks_input(index)) return {};
  std::vector<uint32_t> outputs = run(index).outputs;
  std::erase_if(outputs, [&](uint32_t tensor) { return passed_on_.right[tensor] || passed_on_.mended[tensor]; });
  // What a collective gives shows whether it is right: what changes it later is not the collective's.
  if (of_cuts() && is_communication(op(index).type)) return outputs;
  const auto is_lost = [&](uint32_t output) { return !compared(output) || passed_on_.mended[output]; };
  for (const uint32_t tensor : graph().stand_ins(index, is_lost)) {
    if (compared(tensor)) outputs.push_back(tensor);
  }
  return outputs;
}

bool RunView::all_agree(uint32_t index) const {
  const std::vector<uint32_t> all = outputs(index);
  return !all.empty() && std::all_of(all.begin(), all.end(), [&](uint32_t tensor) {
    return is(tensor, Verdict::kSame) || is(tensor, Verdict::kClose);
  });
}

}  // namespace msdump
