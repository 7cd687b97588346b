// Rejoining: whether both sides agree again wherever something reads what an operator leads to. There they write the same
// in two ways, and the differences in between are none of the run. It needs edges, and not the names or the mathematics
// of the operators.
//
// From an execution the walk goes along the edges, through operators that differ or that only one side has, up to those
// whose outputs agree. Two kinds of edges are in no dump of msprobe:
//
//   gradients   a backward call depends on what its forward call read. Autograd adds up the gradients of a value that
//               several calls read, and the sum goes to the backward call of the operator that wrote the value
//   unseen      what nothing is known to read goes on through operators that were not dumped, to some input of unknown
//               source: all of these have to agree
//
// The last value of a forward pass, such as the loss, is compared between the operators that write it, partners or not.
//
// An IR has all edges: there a difference remains at what the graph returns and at what nothing reads.
//
// The gradient of a value that no operator wrote, such as a weight, must agree: the optimizer reads it. Values agree if
// they have no more than several times the error that is usual right before the first of them; gradients behind other values
// may have more, up to what the coarsest arithmetic leaves. Statistics may agree although elements do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "compare/sides.h"
#include "divergence/divergence.h"
#include "divergence/runs/run_view.h"

namespace msdump {

class Rejoining {
 public:
  // The arguments must outlive this. Without `error_of_records`, only partners are compared.
  Rejoining(const RunView& view, const ErrorOfRecords& error_of_records);

  using Region = std::set<ExecutionId>;
  // The executions between `starts`, which it includes, and those that agree again. None if a difference remains, in the
  // optimizer, with too few executions behind, or beyond the limits: 512 executions, and some work for each that all calls
  // share.
  [[nodiscard]] std::optional<Region> behind(const std::vector<ExecutionId>& starts) const;
  // True if the region reaches the last value of a forward pass, which the sides write by different operators.
  [[nodiscard]] bool reaches_end(const Region& region) const;
  [[nodiscard]] const ReachedLimits& limits() const { return limits_; }

 private:
  class Walk;
  using Contents = std::pair<RunPlace::Step, uint64_t>;

  [[nodiscard]] uint64_t contents_of(TensorId tensor) const;
  // The largest error that is noise, of what enters a step; 0 without such a step.
  [[nodiscard]] double most_entering(const RunPlace& place) const;
  bool spend(size_t work) const;  // false if no work is left
  void find_ends();
  // The error of the last value of a forward pass, if the execution writes it on one side, and another one on the other.
  [[nodiscard]] std::optional<double> error_at_end(ExecutionId run) const;

  // The last executions of a forward pass on the two sides, where they are not the same.
  struct PassEnd {
    Sides<ExecutionId> last;
    std::optional<std::optional<double>> error;  // of what they write, once it was asked for
  };

  const RunView& view_;
  const ErrorOfRecords& error_of_records_;
  mutable std::vector<PassEnd> ends_;
  std::map<ExecutionId, size_t> end_at_;            // in `ends_`, by the last execution of either side
  std::vector<std::vector<ExecutionId>> backward_;  // by run: the backward calls of a forward call
  std::vector<ExecutionId> of_unknown_;             // those that read a value of unknown source
  std::map<Contents, std::vector<std::pair<ExecutionId, TensorId>>> entering_;  // what reads such a value
  std::vector<size_t> behind_;  // by run: those with compared outputs behind it, in all steps
  mutable std::map<RunPlace::Step, double> most_entering_;
  mutable size_t work_left_;
  mutable ReachedLimits limits_;
};

}  // namespace msdump
