// RegionChain: the questions of several operators of one dump, joined into that of a region (recompute/region.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "check/checked_dump.h"
#include "recompute/question.h"

namespace msdump {

class RegionChain {
 public:
  // Both must outlive it.
  RegionChain(const check::CheckedDump& dump, const recompute::Questions& questions)
      : dump_(&dump), questions_of_(&questions) {}

  // Takes an operand of a member that no member before wrote, and the input that it is.
  using Enter = std::function<recompute::Maybe<void>(recompute::Operand& operand, const RunInput& input)>;
  // Adds an execution, after all that it reads of the region.
  [[nodiscard]] recompute::Maybe<void> add(ExecutionId member, const Enter& enter);
  // Adds an execution that was folded into the member before: its outputs are that one's.
  void add_folded(ExecutionId member);

  // The question of each member, in the order of add(). Their outputs are tensors of the dump.
  [[nodiscard]] std::vector<recompute::Question>& questions() { return questions_; }
  // The name that the kernel of its member gives an output; null: no member writes it.
  [[nodiscard]] const std::string* name_of(TensorId output) const;
  // The question of the last member, with those before it.
  [[nodiscard]] recompute::Question joined() &&;

 private:
  const check::CheckedDump* dump_;
  const recompute::Questions* questions_of_;
  std::vector<recompute::Question> questions_;
  std::map<ExecutionId, uint32_t> place_;  // in `questions_`
  std::map<TensorId, std::string> names_;  // of outputs
};

// The input of an execution whose values the tensor holds; null if there is none.
[[nodiscard]] const RunInput* find_input(const OpRun& run, TensorId tensor);

}  // namespace msdump
