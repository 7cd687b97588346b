// Alarms: the rules by which an execution of a comparison is found faulty. They share BlameState: the comparison, the
// noise model, what earlier executions led to, and the roots so far. Executions are judged in the order of the data flow.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/containers.h"
#include "divergence/model/noise_model.h"
#include "divergence/root_list.h"
#include "divergence/run_inputs.h"
#include "divergence/runs/one_sided_runs.h"
#include "divergence/runs/run_view.h"

namespace msdump {

// Must not move: `roots` refers to the others.
struct BlameState {
  BlameState(const RunView& compared, const NoiseModel& expected, const std::set<OperatorId>& calls);
  BlameState(const BlameState&) = delete;
  BlameState& operator=(const BlameState&) = delete;

  const RunView& view;
  const NoiseModel& model;
  const std::set<OperatorId>& asked_otherwise;  // calls with an argument that differs
  const OneSidedRuns one_sided;
  RunHistory history;
  RootList roots;
  ReachedLimits limits;

  // ---- about the rank and step of the execution that is judged

  RunPlace place;
  ExecutionId first_of_step;
  bool any_before = false;         // an execution in it is alarmed
  bool backward = false;           // its backward pass has begun
  std::array<bool, 2> alarmed{};   // before the backward pass, and since it began
  bool alarmed_before = false;     // in an earlier step of the rank
  bool not_finite_before = false;  // a call of the candidate alone produced NaN or infinities, in any step

  void begin(ExecutionId run);
  void note_alarm(ExecutionId run);

  // True if another pair of the step has the same two constants, exchanged: numbers in names follow the order of a graph, and each
  // operator was paired with the partner of the other.
  [[nodiscard]] bool is_exchanged(TensorId constant) const;

  // The first execution from `first` on, before `run`, that only one side has. Each way of sharding has executions of its own,
  // so only producers of the input count there. kNoId: there is none.
  [[nodiscard]] ExecutionId one_sided_before(ExecutionId run, ExecutionId first, const RunInput& input) const;
  // Adds a root for a value that `reader` gets in a coarser dtype: from `cast`, which is `reader` if it casts by itself.
  void add_cast(ExecutionId cast, ExecutionId reader, const RunInputs& inputs, TensorId tensor);

 private:
  void begin_step(ExecutionId run);

  // Constants of the step that differ: the number of elements, and the largest on both sides.
  std::set<std::tuple<uint64_t, double, double>> constants_;
};

// Alarms of values that no execution wrote: parameters, inputs of the network, and values from an unknown source.

class EnteringValues {
 public:
  // With `of_last_pass`, backward calls before forward calls of their step have the values of a pass after these, so that an unknown source
  // says nothing.
  EnteringValues(BlameState& state, bool of_last_pass) : state_(state), of_last_pass_(of_last_pass) {}

  // Records the parameters that agree. Call it for every execution, before it is judged.
  void note_parameters(ExecutionId run, const RunInputs& inputs);
  // Reports a parameter at its first reader, and an unknown source only if nothing before it may be the cause.
  void judge(ExecutionId run, const RunInputs& inputs);
  // Reports a value that an undumped optimizer left in the step before. Rounding cannot make it worse than what it was
  // computed from; an update that is wrong on one rank can.
  void judge_carried(ExecutionId run, const RunInputs& inputs, const std::vector<TensorId>& outputs);

 private:
  using ParameterKey = std::pair<RunPlace::Step, std::string>;  // and name
  [[nodiscard]] ParameterKey key_of(ExecutionId run, const RunInput& input) const;
  void add_parameter(ExecutionId run, const RunInputs& inputs, const RunInput& input, TensorId tensor);
  Root& add_by_value(ExecutionId run, const RunInputs& inputs, TensorId tensor);
  void judge_unknown_source(ExecutionId run, const RunInputs& inputs, const RunInput& input, TensorId tensor);

  BlameState& state_;
  const bool of_last_pass_;
  std::set<ParameterKey> reported_, agreed_;
};

// Reports a constant that differs (epsilon, axis, factor), unless a root upstream explains it, or two are exchanged.
void judge_constants(BlameState& state, ExecutionId run, const RunInputs& inputs, const std::vector<TensorId>& outputs);

// Alarms of outputs that an operator computed from its inputs.

// True if the output has more error than the inputs explain.
[[nodiscard]] bool stands_out(const BlameState& state, const ScoredOutput& output, const RunInputs& inputs);

void judge_shape(BlameState& state, ExecutionId run, const RunInputs& inputs, const std::vector<TensorId>& outputs);
void judge_outputs(BlameState& state, ExecutionId run, const RunInputs& inputs, const std::vector<TensorId>& outputs);

// True if the execution draws random numbers and drew others than on the other side.
[[nodiscard]] bool draws_differently(const BlameState& state, ExecutionId run, const RunInputs& inputs,
                                     const std::vector<TensorId>& outputs);
// Reports an operator that drops elements on one side only, while the other passes its input on. True if it did.
bool judge_one_sided_draw(BlameState& state, ExecutionId run, const RunInputs& inputs,
                          const std::vector<TensorId>& outputs);

// Reports an operator that produces NaN or infinities, also if other differences go in. NaN of an earlier root explains
// it.
void judge_nan(BlameState& state, ExecutionId run, const RunInputs& inputs, const std::vector<TensorId>& outputs);
// If the sides are sharded differently, NaN may come out of a call that only the candidate has. Only the first is
// reported: all later NaN may come from it, because edges do not show everything that one-sided calls read.
void judge_entering_nan(BlameState& state, ExecutionId run, const RunInputs& inputs);

// Alarms of values that changed between their producer and a consumer.

// True if changed inputs show in the outputs, or no output was compared.
[[nodiscard]] bool matters(const BlameState& state, ExecutionId run, const RunInputs& inputs,
                           const std::vector<TensorId>& outputs);
// Reports what changed an input: an operator that only one side has, a cast to a coarser dtype, or something that was not
// dumped. True if that explains the execution.
bool judge_changed(BlameState& state, ExecutionId run, const RunInputs& inputs);

}  // namespace msdump
