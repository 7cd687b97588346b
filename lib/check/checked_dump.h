// CheckedDump: the dump that rules judge, with its operators, their executions in the order of time
// (graph/flow/run_graph.h), and its parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/flow/run_graph.h"

namespace msdump::check {

// The tensors of a CheckedDump are the records of its list.
[[nodiscard]] inline TensorId tensor_of(RecordId record) { return TensorId(uint32_t{record}); }
// The dumped tensor that holds the values of an input: its own file, else its producer's output, else kNoId.
[[nodiscard]] inline TensorId tensor_of(const RunInput& input) {
  return input.tensor != kNoId ? input.tensor : input.produced;
}

class CheckedDump {
 public:
  // The objects that `dump` points to must outlive it.
  explicit CheckedDump(const DumpWithGraph& dump);

  [[nodiscard]] const DumpIndex& index() const { return *dump_.index; }
  [[nodiscard]] const OpGraph* graph() const { return dump_.graph; }
  [[nodiscard]] const FileJoin* join() const { return dump_.join; }

  [[nodiscard]] size_t tensors() const { return op_of_.size(); }
  [[nodiscard]] const TensorRecord& record(TensorId tensor) const { return (*dump_.tensors)[tensor]; }
  [[nodiscard]] Identity identity(TensorId tensor) const { return identity_of(index(), record(tensor)); }
  [[nodiscard]] TensorRole role(TensorId tensor) const { return graph_.role(tensor); }
  [[nodiscard]] ExecutionId run_of(TensorId tensor) const { return graph_.run_of(tensor); }  // kNoId: in no run
  [[nodiscard]] OperatorId op_of(TensorId tensor) const { return op_of_[tensor]; }

  [[nodiscard]] const DumpWithGraph& dump() const { return dump_; }
  [[nodiscard]] const std::vector<SequencedOp>& operators() const { return operators_; }
  // The first operator of the same name: msprobe's stack.json has one for each step.
  [[nodiscard]] OperatorId same_in_all_steps(OperatorId op) const { return same_[op]; }
  // Position in the data flow or in msprobe's record. None if only the names of operators are known.
  [[nodiscard]] std::optional<uint64_t> order_of(OperatorId op) const;
  // Operators that read an output of this one; empty without an IR.
  [[nodiscard]] const std::vector<OperatorId>& readers_of_op(OperatorId op) const { return graph_.readers_of_op(op); }
  // True if the operator's graph has shapes that are known only at run time.
  [[nodiscard]] bool has_dynamic_shapes(OperatorId op) const;
  [[nodiscard]] OperatorId op_of_file(FileId file) const;  // of all tensors in the file; kNoId: none, or several

  [[nodiscard]] const RunGraph& run_graph() const { return graph_; }
  [[nodiscard]] const std::vector<OpRun>& runs() const { return graph_.runs(); }
  [[nodiscard]] bool has_flow() const { return graph_.flow() == FlowKind::kIr; }  // inputs have their sources
  [[nodiscard]] TensorId any_tensor_of(const OpRun& run) const;  // kNoId: only tensors of other runs show it
  [[nodiscard]] std::vector<TensorId> stand_ins(ExecutionId run, const std::function<bool(TensorId)>& lost) const {
    return graph_.stand_ins(run, lost);
  }
  // Executions of the same step that read the parameter of this tensor; empty without an IR.
  [[nodiscard]] const std::vector<ExecutionId>& readers_of_parameter(TensorId tensor) const;

  // True for a weight. Inputs of a graph and the state of optimizers are parameters as well. The IR tells them apart;
  // without it, a weight has the dotted name of its cell.
  [[nodiscard]] bool is_weight_name(std::string_view parameter) const;
  [[nodiscard]] bool is_kept_name(std::string_view parameter) const;  // a weight, or state of an optimizer

 private:
  void collect_operators();
  void collect_parameters();
  [[nodiscard]] RunGraph build_graph();
  [[nodiscard]] RunSource source() const;
  [[nodiscard]] bool is_of_msprobe(OperatorId op) const;  // msprobe recorded the order of its tensors

  DumpWithGraph dump_;
  std::vector<SequencedOp> operators_;
  std::vector<OperatorId> same_;                         // by operator
  std::vector<OperatorId> op_of_;                        // by tensor
  std::vector<OperatorId> op_of_file_;                   // kNoId, or kSeveral
  std::vector<bool> dynamic_;                            // by origin of the graph
  std::map<std::string, bool, std::less<>> parameters_;  // of the IR, as files spell them; true: the network keeps it
  RunGraph graph_;
};

}  // namespace msdump::check
