// The account of a run: what went in, what the noise model expected of it, what it measured, and why the run is or is not
// a root.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/match/op_sequence.h"
#include "graph/flow/run_graph.h"

namespace msdump {

class NoiseModel;
class RootReach;
class RunView;
struct DivergenceReport;
struct RunHistory;

struct InputAccount {
  uint32_t tensor = kNoTensor;  // in Pairing::tensors; kNoTensor: it was not dumped
  uint32_t slot = 0;
  uint32_t made_by = kNoOperator;  // in Pairing::operators
  std::string parameter;           // its name, where it is one
  std::optional<double> error;     // none where it was not compared
  std::optional<double> gain;      // what an error of 1 here leaves in the first output, where one is known
  bool exact = false, constant = false;
};

struct OutputAccount {
  uint32_t tensor = kNoTensor;
  double measured = 0;
  bool judged = false;               // what follows is known
  double propagated = 0, noise = 0;  // what the inputs' errors lead to; what its own rounding adds
  double correction = 1;             // what its siblings have of that, as a factor
  double expected = 0;               // of all this
  double score = 0;
  uint32_t siblings = 0;
  double sibling_median = 0, sibling_spread = 0;  // as Divergence has them
};

struct RunAccount {
  uint32_t op = 0;  // in Pairing::operators
  RunPlace place;
  std::vector<InputAccount> inputs;
  std::vector<OutputAccount> outputs;
  std::vector<uint32_t>
      through;           // operators between the inputs and this run that have no tensors, in Pairing::operators
  double threshold = 0;  // a score above it is an alarm
  bool is_root = false;
  std::optional<uint32_t> root_op;  // of the root that it is, or that it depends on, in Pairing::operators
  std::string conclusion;           // why it is or is not a root
};

// Accounts for the runs of some operators, at most kMostAccounts of them. `report` has its roots.
inline constexpr size_t kMostAccounts = 64;
void account_for(const RunView& view, const NoiseModel& model, const RunHistory& history, const RootReach& reach,
                 std::span<const uint32_t> operators, DivergenceReport& report);

}  // namespace msdump
