// RunAccount: the inputs of an execution, its expected and its measured error, and why it is or is not a root.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/match/op_sequence.h"
#include "divergence/model/scored_outputs.h"
#include "graph/flow/run_graph.h"

namespace msdump {

class NoiseModel;
class RootReach;
class RunView;
struct DivergenceReport;
struct ComputedOutputs;
struct RunHistory;

struct InputAccount {
  TensorId tensor;  // kNoId: it was not dumped
  uint32_t slot = 0;
  OperatorId producer;
  std::string parameter;        // its name, if it is one
  std::optional<double> error;  // none if it was not compared
  std::optional<double> gain;   // the error of the first output for an error of 1 here, if known
  bool exact = false, constant = false;
};

struct OutputAccount : OutputScore {
  bool judged = false;               // all but `measured` is known
  double propagated = 0, noise = 0;  // the expected error of the inputs' errors; that of its own rounding
  double correction = 1;             // factor by which its siblings correct both
};

struct RunAccount {
  OperatorId op;
  RunPlace place;
  std::vector<InputAccount> inputs;
  std::vector<OutputAccount> outputs;
  std::vector<OperatorId> through;  // operators that were looked through, in Pairing::operators
  double threshold = 0;             // a score above it is an alarm
  bool is_root = false;
  std::optional<OperatorId> root_op;  // of the root that it is or depends on, in Pairing::operators
  std::string conclusion;             // why it is or is not a root
};

// Accounts for the executions of some operators, up to kMostTried. `report` must have its roots.
void account_for(const RunView& view, const NoiseModel& model, const RunHistory& history, const RootReach& reach,
                 const ComputedOutputs& computed, std::span<const OperatorId> operators, DivergenceReport& report);

}  // namespace msdump
