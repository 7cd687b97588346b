// OpRuns: who ran when with which tensors, and for each input where the value came from; what every rule that looks at an
// operator, and the search for the first NaN, go by. A run is one operator in one step of one rank, one occurrence of it.
//
// The order of runs: by step and rank; inside, graph after graph by the time of their first tensors; inside a graph the order
// of the IR, else msprobe's, else time. Where an operator ran several times in a step (a loop) time alone.
// Where values come from: the IR (graph/flow/data_flow.h); msprobe's and nameless dumps do not say.
//
// What a dump shows of an operator is not all what it seems (corpus/diagnosis/README.md 2 and 4):
//   * an input that it updates in place holds the result: it is an output here
//   * an output that nothing reads, beside others that are read or beside such inputs, may never have been written
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "check/rules/finding.h"
#include "compare/match/op_sequence.h"
#include "graph/flow/data_flow.h"

namespace msdump::check {

struct RunInput {
  uint32_t tensor = kNone;   // kNone: it was not dumped
  uint32_t made_by = kNone;  // the run whose output it was
  uint32_t made_as = kNone;  // that output, where it was dumped
  InputEdge::From from = InputEdge::From::kUnknown;
  uint32_t slot = 0;
  std::string_view parameter = {};  // From::kParameter: its name
  bool is_weight = false;           // of such: one that the network keeps, no input of the graph
};

// The tensor that tells of an input: what was dumped of it, else the output that it was; kNone: neither.
[[nodiscard]] inline uint32_t tensor_of(const RunInput& input) {
  return input.tensor != kNone ? input.tensor : input.made_as;
}

struct OpRun {
  uint32_t op = 0;  // OpRuns::operators()
  std::optional<int64_t> rank, graph, step;
  uint32_t occurrence = 0;
  bool ordered = true;  // something tells its place among the others: an IR, msprobe's record, or time
  std::vector<RunInput> inputs;
  std::vector<uint32_t> outputs;  // and inputs that were updated
};

enum class Role : uint8_t { kInput, kOutput, kUpdated, kUnwritten, kParameter, kOther };

class OpRuns {
 public:
  // Everything of `side` outlives it.
  explicit OpRuns(const CompareSide& side);

  [[nodiscard]] const CompareSide& side() const { return side_; }
  [[nodiscard]] const std::vector<SequencedOp>& operators() const { return operators_; }
  [[nodiscard]] const std::vector<OpRun>& runs() const { return runs_; }
  [[nodiscard]] bool has_flow() const { return has_flow_; }  // inputs say where they come from

  [[nodiscard]] Role role(uint32_t tensor) const { return roles_[tensor]; }
  [[nodiscard]] uint32_t run_of(uint32_t tensor) const { return run_of_[tensor]; }  // kNone: in no run
  [[nodiscard]] uint32_t op_of(uint32_t tensor) const { return op_of_[tensor]; }
  // One that was dumped of a run; kNone: only others tell of it.
  [[nodiscard]] uint32_t any_tensor_of(const OpRun& run) const;
  [[nodiscard]] uint32_t op_of_file(uint32_t file) const;  // the operator of its tensors; kNone: of none, or several
  [[nodiscard]] const TensorRecord& record(uint32_t tensor) const { return (*side_.tensors)[tensor]; }
  [[nodiscard]] size_t tensors() const { return roles_.size(); }
  // The same operator in all steps: the first with its name. msprobe's stack.json has an operator of its own for each step.
  [[nodiscard]] uint32_t same_in_all_steps(uint32_t op) const { return same_[op]; }
  // Runs that read what a file of a parameter holds, in the same step; of a flow that is not known none.
  [[nodiscard]] const std::vector<uint32_t>& readers_of_parameter(uint32_t tensor) const;
  // Operators that read an output of this one; of a flow that is not known none.
  [[nodiscard]] const std::vector<uint32_t>& readers_of_op(uint32_t op) const { return op_readers_[op]; }
  // Of a run: inputs of others that its outputs became, where these were not dumped, or are `lost`.
  [[nodiscard]] std::vector<uint32_t> stand_ins(uint32_t run, const std::function<bool(uint32_t)>& lost) const;
  // Is a parameter one that the network keeps, and trains? Inputs of the graph, and what an optimizer keeps beside the
  // weights, are parameters as well. The IR says so; without one, a weight has the dotted name of its cell.
  [[nodiscard]] bool is_weight_name(std::string_view parameter) const;
  [[nodiscard]] bool is_kept_name(std::string_view parameter) const;  // a weight, or what an optimizer keeps
  // The place in the data flow or in msprobe's record; no value where only names tell of operators.
  [[nodiscard]] std::optional<uint64_t> order_of(uint32_t op) const;

 private:
  // What parts the runs of an operator.
  struct Place {
    uint32_t op = 0;
    std::optional<int64_t> rank, step;
    uint32_t occurrence = 0;
    auto operator<=>(const Place&) const = default;
  };
  void collect();
  void collect_parameters();
  void find_same();
  void sort_runs(std::vector<uint64_t> first_times);
  void add_edges();
  void add_edges_of(uint32_t run);
  void keep_written_outputs(uint32_t run);
  void judge_by_type(uint32_t run);
  [[nodiscard]] uint32_t find_run(uint32_t op, const OpRun& near) const;
  [[nodiscard]] uint32_t output_of(uint32_t run, uint32_t slot) const;

  CompareSide side_;
  std::vector<SequencedOp> operators_;
  std::vector<uint32_t> same_;  // by operator
  std::vector<OpRun> runs_;
  std::vector<Role> roles_;               // by tensor
  std::vector<uint32_t> run_of_, op_of_;  // by tensor
  std::vector<uint32_t> op_of_file_;      // kNone: of none; kSeveral
  std::vector<uint32_t> place_;           // by operator of the graph: in operators_
  std::map<Place, uint32_t> by_place_;
  std::map<std::string, bool, std::less<>> parameters_;  // of the IR, as files spell them: is it a weight?
  // By name, rank and step: the file of a parameter, and who reads it.
  struct ParameterUse {
    uint32_t file = kNone;  // tensor
    std::vector<uint32_t> runs;
  };
  std::map<std::tuple<std::string, std::optional<int64_t>, std::optional<int64_t>>, ParameterUse> parameter_uses_;
  std::vector<std::vector<uint32_t>> readers_;     // by run: runs
  std::vector<std::vector<uint32_t>> read_slots_;  // by operator: output slots that some operator reads
  std::vector<std::vector<uint32_t>> op_readers_;  // by operator
  bool has_flow_ = false;
};

}  // namespace msdump::check
