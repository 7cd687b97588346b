// Finds the operator that first computed NaN or an infinity from finite inputs. Executions are searched in their order
// (check/checked_dump.h): the first step that has one, and the first of each rank in it.
//
//   1. Outputs are read in batches, up to the first bad one (check/nonfinite/nonfinite.h). The inputs of that execution decide
//      whether it computed the value or received it (CauseFinder).
//   2. If all outputs of a step are finite, its inputs are read, then the parameters: their files are written at the end of
//      the step.
// An operator that computes is named before a collective of another rank, since an AllReduce passes the NaN of one rank
// to the others. If only collectives have one, the search goes on at the rank that sent it. The reason names the ranks
// that received it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "check/checked_dump.h"
#include "check/nonfinite/nonfinite.h"
#include "check/values/tensor_facts.h"

namespace msdump::check {

struct FirstNonfinite {
  enum class Kind : uint8_t { kNan, kInf, kOverflow, kInput, kParameter };
  Kind kind = Kind::kNan;
  ExecutionId run;                        // kNoId: a parameter that no run reads
  OperatorId op;                          // CheckedDump::operators()
  TensorId tensor;                        // the bad output; if the value came in, the bad input
  std::optional<bool> inputs_finite;      // no value: none was dumped, or one could not be read
  std::string parameter;                  // kInput, kParameter: its name, if known
  std::vector<TensorId> inputs, outputs;  // of the run, if they were dumped
  std::string reason;
};
[[nodiscard]] std::string_view name_of(FirstNonfinite::Kind kind);  // "nan", ...

// Searches the executions of `chosen` tensors and reads what it needs. No value if all is finite; an error only when
// interrupted.
Result<std::optional<FirstNonfinite>> find_first_nonfinite(const CheckedDump& dump, const std::vector<bool>& chosen,
                                                           FactsReader& facts, const RunContext& context);

// Finds the cause of a bad execution: it computed NaN or an infinity itself, or received it.
//
//   its inputs are finite              it computed the value itself
//   an input and its producer are bad  the producer is examined next
//   an input is bad                    the value came in: from a parameter, an input of the network, or a producer that was
//                                      not dumped or not requested
// If outputs were not dumped or cannot be read, the inputs of their consumers stand for them.
//
// A cause is uncertain in three cases. The dump contradicts itself: an input is bad although its producer's output is
// finite, because the IR is of another run or files were changed. Operators read each other in a circle. The order of
// the operators is unknown.

struct Cause {
  FirstNonfinite found;
  bool certain = true;
};

class CauseFinder {
 public:
  // `asked`: by execution. All arguments must outlive it.
  CauseFinder(const CheckedDump& dump, FactsReader& facts, const RunContext& context, const std::vector<bool>& asked)
      : dump_(dump), facts_(facts), context_(context), asked_(asked), classifier_(dump, facts) {}

  // The tensors that hold the results of an execution: its outputs, or for missing ones the inputs of their consumers.
  // Without either, its inputs.
  [[nodiscard]] std::vector<TensorId> judged_of(ExecutionId run) const;
  // Errors only when interrupted.
  Result<bool> is_bad(ExecutionId run);
  Result<Cause> explain(ExecutionId run);
  // True if all its inputs are known, and none of them is bad.
  Result<bool> has_good_inputs(ExecutionId run);
  // A bad input, whatever the outputs are; null: none.
  [[nodiscard]] const RunInput* bad_input(ExecutionId run) const;
  Result<FirstNonfinite> entered(ExecutionId run, const RunInput& bad);

 private:
  [[nodiscard]] const RunInput* infinite_input(ExecutionId run) const;  // of the network, with -inf among its values
  [[nodiscard]] bool is_bad_input(const RunInput& input) const;
  [[nodiscard]] bool is_empty(TensorId tensor) const;  // without elements
  [[nodiscard]] bool is_lost(TensorId output) const { return facts_.has_read(output) && !facts_[output].known(); }
  [[nodiscard]] FirstNonfinite start(ExecutionId run) const;
  [[nodiscard]] FirstNonfinite root(ExecutionId run) const;
  [[nodiscard]] std::string hidden_before(ExecutionId run) const;
  Result<TensorId> module_parameter_like(TensorId tensor);

  const CheckedDump& dump_;
  FactsReader& facts_;
  const RunContext& context_;
  const std::vector<bool>& asked_;
  const NonFiniteClassifier classifier_;
};

}  // namespace msdump::check
