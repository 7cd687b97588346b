#include "divergence/region_chain.h"

#include <algorithm>
#include <utility>

namespace msdump {

using recompute::AskedOutput;
using recompute::Operand;
using recompute::Question;
using recompute::Reason;
using recompute::unjudged;

const RunInput* find_input(const OpRun& run, TensorId tensor) {
  const auto found = std::find_if(run.inputs.begin(), run.inputs.end(),
                                  [&](const RunInput& input) { return check::tensor_of(input) == tensor; });
  return found == run.inputs.end() ? nullptr : &*found;
}

recompute::Maybe<void> RegionChain::add(ExecutionId member, const Enter& enter) {
  Question question = questions_of_->ask(member);
  if (question.row == nullptr) return fail(question.why);
  for (Operand& operand : question.operands) {
    if (operand.tensor == kNoId) continue;
    const RunInput* const input = find_input(dump_->runs()[member], operand.tensor);
    if (input == nullptr) return unjudged(Reason::kRegion, operand.name);
    const auto inner = input->producer == kNoId ? place_.end() : place_.find(input->producer);
    if (inner == place_.end()) {
      MSDUMP_CHECK_OK(enter(operand, *input));
      continue;
    }
    const std::string* const name = name_of(input->produced);
    if (name == nullptr) return unjudged(Reason::kRegion, operand.name);
    operand.member = inner->second;
    operand.output = *name;
  }
  for (AskedOutput& output : question.outputs) {
    names_[output.tensor] = output.name;
    if (output.shape == nullptr && output.tensor != kNoId) output.shape = dump_->record(output.tensor).shape;
  }
  place_[member] = static_cast<uint32_t>(questions_.size());
  questions_.push_back(std::move(question));
  return {};
}

void RegionChain::add_folded(ExecutionId member) {
  place_[member] = static_cast<uint32_t>(questions_.size() - 1);
  for (const AskedOutput& output : questions_of_->ask(member).outputs) names_[output.tensor] = output.name;
}

const std::string* RegionChain::name_of(TensorId output) const {
  const auto found = names_.find(output);
  return found == names_.end() ? nullptr : &found->second;
}

Question RegionChain::joined() && {
  Question question = std::move(questions_.back());
  questions_.pop_back();
  question.members = std::move(questions_);
  return question;
}

}  // namespace msdump
