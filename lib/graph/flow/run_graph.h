// RunGraph: the executions of a dump's operators in data flow order, and the tensors between them. diff and check --first
// look for the first fault along it.
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

#include "base/compact.h"
#include "base/containers.h"
#include "base/index.h"
#include "graph/flow/data_flow.h"
#include "graph/join/dump_operators.h"
#include "graph/op_graph.h"

namespace msdump {

// An execution (a run, in the names below) is one operator on one rank in one step, the n-th time there.
//
// Each input knows the output that it came from, and each execution its readers. Edges come from the first of these
// sources that has any:
//   1. the data flow of the IR (graph/flow/data_flow.h)
//   2. tensor contents, if they are given: an input that equals an earlier output of its rank and step was produced
//      there. The output of a collective is attributed to the collective, not to the producer of its input. Contents
//      that many tensors share (zeros, ones, scalars) prove nothing. An input that equals no output, but a parameter of
//      a module of msprobe, is that parameter
// An input that an operator updates in place is an output: its dump shows the result. The IR and a table name such
// inputs (updates_input), and contents prove it if an input differs from the output of its producer. An output without
// readers may never have been written if other outputs of the execution are read, or inputs are updated. Such outputs
// belong to no execution. Values that the graph returns have a reader, and so have inputs of operators that were not
// dumped. An input that kernels ignore belongs to no execution either, and its contents count as unwritten. Ancestry is
// closed over operators that were not dumped: for an input that one of them produced, the nearest executions before it
// are known (GapAncestors). Source: dumps of MindSpore 2.x and msprobe with planted faults.

using TensorId = Index<struct RunTensor>;    // in the list of the dump; of two dumps, in Pairing::tensors
using OperatorId = Index<struct RunSource>;  // in RunSource::operators; of two dumps, in Pairing::operators
using ExecutionId = Index<struct OpRun>;     // in RunGraph::runs

struct RunPlace {
  CompactOptional<int64_t> rank, step;
  uint32_t occurrence = 0;
  uint32_t dump = 0;  // in DumpIndex::dumps(); of two dumps that are compared, in Pairing::dumps
  auto operator<=>(const RunPlace&) const = default;
  // A step of a rank of a dump, within which values are passed on.
  using Step = std::tuple<std::optional<int64_t>, std::optional<int64_t>, uint32_t>;
  [[nodiscard]] Step in_step() const { return {rank, step, dump}; }
  [[nodiscard]] bool is_beside(const RunPlace& other) const { return in_step() == other.in_step(); }
};

struct RunInput {
  TensorId tensor;       // kNoId: it was not dumped
  ExecutionId producer;  // the run whose output it was
  TensorId produced;     // that output, if it was dumped
  InputEdge::From from = InputEdge::From::kUnknown;
  uint32_t slot = 0;
  uint32_t gap = UINT32_MAX;        // what made it was not dumped: see RunGraph::before_gap
  std::string_view parameter = {};  // its name, if it is one
  bool is_weight = false;           // of such: a value that the network keeps, not an input of the graph
  ExecutionId updated_by;           // of a weight: the run that updated it last in a step before
  ExecutionId other_producer;       // by RunSource::other_contents
  TensorId other_produced;          // that output of it
};

struct OpRun {
  OperatorId op;
  RunPlace place;
  CompactOptional<int64_t> graph;
  bool ordered = true;  // an IR, msprobe's record or a time stamp places it among the others
  std::vector<RunInput> inputs;
  std::vector<TensorId> outputs;     // and inputs that were updated
  std::vector<ExecutionId> readers;  // once for each input; of two dumps of two programs, in either
  // Runs that depend on its outputs through operators that were not dumped, or that read in a later step a parameter
  // that it updated.
  std::vector<ExecutionId> later;
};

// kUnwritten: a tensor that the operator neither reads nor writes, so that its file holds arbitrary memory.
enum class TensorRole : uint8_t { kInput, kOutput, kUpdated, kUnwritten, kParameter, kOther };
// The role of a tensor by its name: kInput, kOutput, kParameter (a value at the end of the step) or kOther.
[[nodiscard]] TensorRole role_of(const NameFacts& name);
// True for a parameter that a module of msprobe reads.
[[nodiscard]] bool is_module_parameter(const NameFacts& name);

// A tensor as the builder of the graph needs it.
struct RunTensor {
  OperatorId op;
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
    OpId op;  // in `graph`
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
  std::function<RunTensor(TensorId)> tensor;
  std::vector<uint64_t> contents;  // by tensor: a hash, 0 for contents that prove nothing; empty: not known
  // If two dumps are paired: the contents in the other dump. They find the producer of an input if `contents` do not,
  // and the operators of the other dump that lie between.
  std::vector<uint64_t> other_contents;
  bool same_flow = false;    // an input of which this dump does not show the producer has that of the other dump
  bool known_types = false;  // without a flow: what operators of a type are known to update or leave unwritten
  Order order = Order::kOperators;
};

class RunGraph {
 public:
  // `source.graph` and the texts must outlive it.
  explicit RunGraph(RunSource source);

  [[nodiscard]] FlowKind flow() const { return flow_; }
  [[nodiscard]] const std::vector<OpRun>& runs() const { return runs_; }
  [[nodiscard]] TensorRole role(TensorId tensor) const { return roles_[tensor]; }
  [[nodiscard]] ExecutionId run_of(TensorId tensor) const { return run_of_[tensor]; }  // kNoId: in no run

  // For an input whose producer was not dumped: the nearest dumped runs that the value depends on; the last ones if
  // they are many. Empty for any other input.
  [[nodiscard]] std::span<const ExecutionId> before_gap(const RunInput& input) const;

  // Operators that read an output of this one; empty without an IR.
  [[nodiscard]] const std::vector<OperatorId>& readers_of_op(OperatorId op) const { return op_readers_[op]; }
  // True for an operator whose output the IR's graph returns, to whoever called it.
  [[nodiscard]] bool is_returned(OperatorId op) const { return !returned_.empty() && returned_[op]; }
  // Runs that read the parameter of this name; empty without an IR.
  [[nodiscard]] const std::vector<ExecutionId>& readers_of_parameter(std::string_view name,
                                                                     const RunPlace& place) const;
  // Inputs of other runs that hold outputs of this run which were not dumped, or are `lost`.
  [[nodiscard]] std::vector<TensorId> stand_ins(ExecutionId run, const std::function<bool(TensorId)>& lost) const;

 private:
  struct ParameterUse {
    TensorId file;
    std::vector<ExecutionId> runs;
    uint64_t contents = 0;  // as operators without side effects read it
  };
  // Name, rank, dump, step.
  using ParameterKey = std::tuple<std::string, std::optional<int64_t>, uint32_t, std::optional<int64_t>>;
  static ParameterKey parameter_key(std::string_view name, const RunPlace& place);

  class Builder;

  FlowKind flow_ = FlowKind::kOrder;
  std::vector<OpRun> runs_;
  std::vector<TensorRole> roles_;    // by tensor
  std::vector<ExecutionId> run_of_;  // by tensor
  std::vector<std::vector<OperatorId>> op_readers_;
  std::vector<bool> returned_;            // by operator; empty without an IR
  std::vector<ExecutionId> before_gaps_;  // gap after gap
  std::vector<size_t> gap_ends_;          // by RunInput::gap: in `before_gaps_`
  std::map<ParameterKey, ParameterUse> parameters_;
  std::deque<std::string> module_parameters_;  // names: "Module.fc.Linear.forward.0:weight"
};

// Lists the edges of a RunGraph, for writers that draw the data flow.

struct FlowEdge {
  ExecutionId from, to;
  TensorId tensor;   // what was passed: the input of `to`, else the output of `from`; may be kNoId
  bool gap = false;  // operators between the two were not dumped
};

// Sorted by `to`, in the order of its inputs.
[[nodiscard]] std::vector<FlowEdge> flow_edges(const RunGraph& graph);

}  // namespace msdump
