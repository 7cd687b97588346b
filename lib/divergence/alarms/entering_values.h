// Alarms of values that no run has made: parameters, inputs of the network, constants, and what comes from an unknown
// source.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "divergence/alarms/blame_state.h"

namespace msdump {

class EnteringValues {
 public:
  explicit EnteringValues(BlameState& state) : state_(state) {}

  // Parameters that are what they should be. Of every run, before it is judged.
  void note_parameters(uint32_t run, const RunInputs& inputs);
  // A parameter is reported where it is first read; an unknown source only if nothing before it may be the cause.
  void judge(uint32_t run, const RunInputs& inputs);
  // A parameter as the optimizer of the step before left it, whose calls were not dumped: rounding does not make it worse
  // than what it was made of. A copy that one rank alone updated otherwise is.
  void judge_carried(uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs);

 private:
  using ParameterKey = std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::string>;  // rank, step, name
  [[nodiscard]] ParameterKey key_of(uint32_t run, const RunInput& input) const;
  void add_parameter(uint32_t run, const RunInputs& inputs, const RunInput& input, uint32_t tensor);
  Root& add_by_value(uint32_t run, const RunInputs& inputs, uint32_t tensor);
  void judge_unknown_source(uint32_t run, const RunInputs& inputs, const RunInput& input, uint32_t tensor);

  BlameState& state_;
  std::set<ParameterKey> reported_, agreed_;
};

// Downstream of another root, constants differ because of it, and so do constants of gradients of the same line: shapes,
// axes, factors.
void judge_constants(BlameState& state, uint32_t run, const RunInputs& inputs, const std::vector<uint32_t>& outputs);

}  // namespace msdump
