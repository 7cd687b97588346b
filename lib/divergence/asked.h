// AskedSearch: operators that were asked something else than the reference's: another type, argument, constant or input,
// or operators that one side alone has. Needs the graphs of both sides, and no estimate of errors to find them.
//
//   1. the frontier of a side: operators whose question (graph/arguments/questions.h) the other side does not ask, although it
//      asks all that leads to them. There the script first asks something else; what comes after it follows
//      Of several operators that one side alone has, the one counts that reads what the other side reads in place of their result: the
//      others are there for it, as operators that make a mask are for the one that adds it
//   2. a frontier operator counts if the values after it differ: its own outputs if both sides have them, else what the first
//      operators of both sides read that follow it. Two releases write one script in several ways, and agree
//      And it is none if both sides compute the same mathematics in two ways (equal_maths.h)
//   3. one root for each place: an operator that one side alone has goes before its readers, unless it only moves values, and
//      a forward operator before gradients
// Cost: linear in the operators and edges of both graphs and in the executions, and for each operator of the frontier that one
// side alone has up to 1024 operators that follow it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "divergence/computed_outputs.h"
#include "divergence/model/noise_model.h"
#include "divergence/runs/run_view.h"

namespace msdump {

struct AskedRoot {
  bool of_constant = false;  // it reads another constant, and nothing else
  ExecutionId reader;        // of an operator that one side has: the first execution that reads another value
  std::vector<TensorId> inputs, outputs;  // the evidence
  std::string reason;
};

struct AskedRoots {
  std::map<ExecutionId, AskedRoot> roots;
  // By run: it reads what a root, or a rewritten operator, leaves, even if no edge shows it; empty without these.
  std::vector<bool> behind;
  // Operators where both sides do the same mathematics in two ways (EqualMaths): those of the frontier with operators that have a
  // wrong partner, and all between them and what reads their values.
  std::set<OperatorId> rewritten, of_rewriting;
  // The slots of operands that changed places. Their files hold each other's values, so they are not compared.
  std::map<ExecutionId, std::set<uint32_t>> exchanged;
  ReachedLimits limits;

  [[nodiscard]] bool is_rewritten(OperatorId op) const { return rewritten.count(op) + of_rewriting.count(op) > 0; }
  [[nodiscard]] bool is_behind(ExecutionId run) const { return !behind.empty() && behind[run]; }
};

// No roots unless both graphs have the data flow and are of one compiler.
[[nodiscard]] AskedRoots find_asked(const RunView& view, const NoiseModel& model, const ComputedOutputs& computed);

}  // namespace msdump
