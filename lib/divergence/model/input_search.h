// What is known of the inputs of a run. An input that was compared is known. What was not is made of what its producer
// read: operators that were fused, were not dumped or have no partner are looked through. Where neither a graph nor values
// know what a run reads, the outputs of what ran before stand for it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/reached_limits.h"
#include "divergence/model/expectation.h"
#include "divergence/model/run_operators.h"
#include "divergence/runs/run_view.h"

namespace msdump {

struct KnownInputs {
  std::vector<KnownInput> known;
  uint64_t pattern = 0;  // a hash of what is not known directly: such runs are siblings of their like alone
  bool complete = true;
  bool by_order = false;          // what ran before stands for them
  std::vector<uint32_t> through;  // runs that were looked through
};

class InputSearch {
 public:
  InputSearch(const RunView& view, const RunOperators& operators)
      : view_(view), operators_(operators), assumed_(view.tensors()) {}

  [[nodiscard]] KnownInputs inputs_of(uint32_t run) const;
  // The runs that an output stands for, fused or not dumped between: ascending, itself last.
  [[nodiscard]] std::vector<uint32_t> within(uint32_t run) const;
  // From now on, what reads a tensor is taken to read at least this error.
  void assume(uint32_t tensor, double error) { assumed_[tensor] = error; }
  [[nodiscard]] const ReachedLimits& limits() const { return limits_; }

 private:
  [[nodiscard]] bool is_masked_for(uint32_t run, const RunInput& input) const;
  void add_inputs(uint32_t run, uint32_t depth, KnownInputs& result) const;
  void add_before(uint32_t run, KnownInputs& result) const;
  void add_other_ranks(uint32_t run, KnownInputs& result) const;
  void add_saved(uint32_t forward, KnownInputs& result) const;
  [[nodiscard]] double largest_error_into(uint32_t run) const;
  bool add_operand(const RunInput& input, KnownInputs& result) const;
  bool add_tensor(uint32_t tensor, const RunInput* input, KnownInputs& result) const;

  const RunView& view_;
  const RunOperators& operators_;
  std::vector<double> assumed_;   // by tensor
  mutable ReachedLimits limits_;  // that any of the searches reached
};

}  // namespace msdump
