// Operators that were dumped before those that were not: on these a value depends that comes out of a gap.
//
// Cost: linear in the operators and edges of the gaps, whatever their shape, and at most kMostAncestors times that.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/containers.h"
#include "graph/flow/data_flow.h"
#include "graph/join/dump_operators.h"
#include "graph/op_graph.h"

namespace msdump {

// Of more, those that are last in the graph are kept.
inline constexpr size_t kMostAncestors = 32;

class GapAncestors {
 public:
  // `dumped`: by operator. The graph must outlive it.
  GapAncestors(const OpGraph& graph, std::vector<bool> dumped);

  // Ascending: dumped operators that an operator depends on with no other one between; itself, if it was dumped. Edges
  // that lead back, of loops, are not followed. Valid until the next call.
  [[nodiscard]] std::span<const OpId> of(OpId op);

 private:
  enum class State : uint8_t { kNew, kOpen, kDone };
  struct Visit {
    OpId op = 0;
    std::vector<OpId> producers;
    size_t next = 0;  // in `producers`
  };
  [[nodiscard]] Visit begin(OpId op);
  void finish(const Visit& visit);
  [[nodiscard]] std::span<const OpId> found(OpId op) const;

  const OpGraph& graph_;
  const std::vector<bool> dumped_;
  std::vector<State> states_;                          // by operator
  std::vector<std::pair<uint32_t, uint32_t>> ranges_;  // by operator: in `all_`; operators of a chain share one
  std::vector<OpId> all_;
};

// RunGraph: the runs of the operators of a dump and the tensors between them. A run is one execution: of an operator, on
// a rank, in a step, the n-th of that operator there.
//
// Each input knows the output that it came from, and each run its readers. Edges come from the first of these that has
// any:
//   1. the data flow of the IR (graph/flow/data_flow.h)
//   2. the contents, if they are given: an input that equals an earlier output of the rank and step was made there.
//      What a collective passes on is read from it and not from what wrote it before. Contents that many tensors share
//      (zeros, ones, scalars) prove nothing. An input that equals no output but a
//      parameter of a module of msprobe is that parameter
// What an operator updates in place is an output: its dump shows the result. The IR and a table say so
// (graph/flow/in_place.h), and so do the contents if an input differs from what its producer wrote. An output that
// nothing reads may never have been written if others of the run are read, or inputs are updated. Such outputs are in
// no run. What the graph returns is read, and so is what an operator reads that was not dumped. An input that kernels
// ignore is in no run either, and what it shows counts as unwritten.
// Ancestry is closed over operators that were not dumped: of an input that one of them made, the nearest runs before
// these are known (graph/flow/gap_ancestors.h).
// Source: corpus/diagnosis/README.md 2 and 4.

inline constexpr uint32_t kNoRun = UINT32_MAX;

struct RunPlace {
  std::optional<int64_t> rank, step;
  uint32_t occurrence = 0;
  auto operator<=>(const RunPlace&) const = default;
};

struct RunInput {
  uint32_t tensor = kNoTensor;   // kNoTensor: it was not dumped
  uint32_t made_by = kNoRun;     // the run whose output it was
  uint32_t made_as = kNoTensor;  // that output, where it was dumped
  InputEdge::From from = InputEdge::From::kUnknown;
  uint32_t slot = 0;
  uint32_t gap = UINT32_MAX;          // what made it was not dumped: see RunGraph::before_gap
  std::string_view parameter = {};    // From::kParameter: its name
  bool is_weight = false;             // of such: a value that the network keeps, not an input of the graph
  uint32_t updated_by = kNoRun;       // of a weight: the run that updated it last in a step before
  uint32_t also_made_by = kNoRun;     // by RunSource::other_contents
  uint32_t also_made_as = kNoTensor;  // that output of it
};

struct OpRun {
  uint32_t op = 0;  // RunSource::operators
  RunPlace place;
  std::optional<int64_t> graph;
  bool ordered = true;  // an IR, msprobe's record or a time stamp places it among the others
  std::vector<RunInput> inputs;
  std::vector<uint32_t> outputs;  // and inputs that were updated
  std::vector<uint32_t> readers;  // runs, once for each input
  // Runs that read what operators that were not dumped made of its outputs, or in later steps what it updated.
  std::vector<uint32_t> later;
};

// kUnwritten: nothing that the run computes with, whatever the file holds.
enum class TensorRole : uint8_t { kInput, kOutput, kUpdated, kUnwritten, kParameter, kOther };
// The role of a tensor by its name: kInput, kOutput, kParameter (a value at the end of the step) or kOther.
[[nodiscard]] TensorRole role_of(const NameFacts& name);
// Is it a parameter that a module of msprobe reads?
[[nodiscard]] bool is_module_parameter(const NameFacts& name);

// A tensor as the builder of the graph needs it.
struct RunTensor {
  uint32_t op = 0;  // RunSource::operators
  RunPlace place;
  std::optional<int64_t> graph;
  TensorRole role = TensorRole::kOther;
  std::string_view op_name;  // as the file spells it
  std::string_view slot;
  std::optional<uint64_t> time;
  bool is_parameter = false;  // an input that is a parameter of a module (msprobe)
};

enum class FlowKind : uint8_t { kIr, kValues, kOrder };

struct RunSource {
  struct Operator {
    OpId op = kNoIndex;  // in `graph`
    std::string_view type;
    bool ordered = false;  // its index says when it ran
  };
  enum class Order : uint8_t {
    kOperators,  // by rank and step, then as `operators` are
    kTime,       // by step and rank, then as they ran: see sort_by_time()
  };

  const OpGraph* graph = nullptr;  // null: no graph has the data flow
  std::vector<Operator> operators;
  size_t tensors = 0;
  std::function<RunTensor(uint32_t)> tensor;
  std::vector<uint64_t> contents;  // by tensor: a hash, 0 for contents that prove nothing; empty: not known
  // Of two dumps at once, the contents in the other one: they know what wrote an input where `contents` do not, and which
  // operators of that dump alone lie between.
  std::vector<uint64_t> other_contents;
  bool known_types = false;  // without a flow: what operators of a type are known to update or leave unwritten
  Order order = Order::kOperators;
};

class RunGraph {
 public:
  // `source.graph` and the texts must outlive it.
  explicit RunGraph(RunSource source);

  [[nodiscard]] FlowKind flow() const { return flow_; }
  [[nodiscard]] const std::vector<OpRun>& runs() const { return runs_; }
  [[nodiscard]] TensorRole role(uint32_t tensor) const { return roles_[tensor]; }
  [[nodiscard]] uint32_t run_of(uint32_t tensor) const { return run_of_[tensor]; }  // kNoRun: in no run

  // The runs on whose outputs a value that was made by an operator without a run depends, without another run between:
  // those that ran last, if they are many. Empty for any other input.
  [[nodiscard]] std::span<const uint32_t> before_gap(const RunInput& input) const;

  // Operators that read an output of this one; empty without an IR.
  [[nodiscard]] const std::vector<uint32_t>& readers_of_op(uint32_t op) const { return op_readers_[op]; }
  // Runs that read the parameter of this name; empty without an IR.
  [[nodiscard]] const std::vector<uint32_t>& readers_of_parameter(std::string_view name, const RunPlace& place) const;
  // Inputs of other runs that show the outputs of this one that were not dumped, or that are `lost`.
  [[nodiscard]] std::vector<uint32_t> stand_ins(uint32_t run, const std::function<bool(uint32_t)>& lost) const;

 private:
  struct ParameterUse {
    uint32_t file = kNoTensor;
    std::vector<uint32_t> runs;
    uint64_t contents = 0;  // as operators without side effects read it
  };
  using ParameterKey = std::tuple<std::string, std::optional<int64_t>, std::optional<int64_t>>;  // name, rank, step

  void collect();
  void sort_by_operator();
  void sort_by_time(const std::vector<std::optional<uint64_t>>& times);
  void index_runs();
  void add_ir_edges();
  void add_edges_of(uint32_t run);
  [[nodiscard]] RunInput input_of(const InputEdge& edge, uint32_t run);
  void find_gaps();
  [[nodiscard]] uint32_t updated_before(const RunInput& input, const RunPlace& place) const;
  [[nodiscard]] bool is_updated(const RunInput& input) const;
  [[nodiscard]] bool shows_new_value(OpId op, const RunPlace& place, const RunInput& input);
  void drop_unwritten(uint32_t run, const OutputReads& reads);
  void judge_by_type(uint32_t run);
  void find_parameters_by_contents();
  [[nodiscard]] uint64_t contents(uint32_t tensor) const;
  [[nodiscard]] bool differ(uint32_t tensor, uint32_t other) const;
  [[nodiscard]] uint32_t find(uint32_t op, RunPlace place) const;
  [[nodiscard]] uint32_t find_exactly(uint32_t op, const RunPlace& place) const;
  [[nodiscard]] uint32_t output_of(uint32_t run, uint32_t slot) const;

  RunSource source_;
  FlowKind flow_ = FlowKind::kOrder;
  std::vector<OpRun> runs_;
  HashSlots by_place_;
  std::vector<TensorRole> roles_;         // by tensor
  std::vector<uint32_t> run_of_, slots_;  // by tensor
  std::vector<uint32_t> operator_of_;     // by operator of the graph: in RunSource::operators
  std::vector<std::vector<uint32_t>> op_readers_;
  std::vector<uint32_t> before_gaps_;  // runs, gap after gap
  std::vector<size_t> gap_ends_;       // by RunInput::gap: in `before_gaps_`
  std::map<ParameterKey, ParameterUse> parameters_;
  std::map<ParameterKey, uint32_t> updates_;   // the last run that updated a parameter
  std::deque<std::string> module_parameters_;  // names: "Module.fc.Linear.forward.0:weight"
};

// The edges of a RunGraph one by one, for what shows the data flow.

struct FlowEdge {
  uint32_t from = kNoRun, to = kNoRun;  // in RunGraph::runs
  uint32_t tensor = kNoTensor;  // what was passed: the input of `to`, else the output of `from`; may be kNoTensor
  bool gap = false;             // operators between the two were not dumped
};

// By `to`, in the order of its inputs.
[[nodiscard]] std::vector<FlowEdge> flow_edges(const RunGraph& graph);

}  // namespace msdump
