// The question of an execution: which kernel computes it, from which tensors, arguments and constants.
//
//   MindSpore's IR   operands by slot: files, constants of the graph, parameters; attributes of the primitive
//   GE's graph       the same; slots are those of the device, and become MindSpore's by ge/operators
//   msprobe          arguments of the call by position or keyword; what is not given has PyTorch's default
//
// What is not known is left out or named with its reason: nothing is assumed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/flow/run_graph.h"
#include "graph/join/dump_operators.h"
#include "recompute/kernel.h"

namespace msdump::recompute {

struct Operand {
  std::string name;
  bool in_list = false;
  TensorId tensor;  // in the list of the dump; else `value` has it
  Value value;
  const Shape* shape = nullptr;  // of the graph, which counts if the file has as many elements
  // Within a region: the member in Question::members that computes it, and which of its outputs it is; else kNoMember.
  static constexpr uint32_t kNoMember = UINT32_MAX;
  uint32_t member = kNoMember;
  std::string output = {};
  bool is_state = false;  // assumed: what the update of the step before left
};

struct AskedOutput {
  TensorId tensor;   // kNoId: within a region, no file has it
  std::string name;  // of the kernel; empty: see find_output()
  const Shape* shape = nullptr;
  uint32_t slot = UINT32_MAX;
};

struct Question {
  const KernelRow* row = nullptr;  // null: not asked, for `why`
  Unjudged why;
  std::string_view type;
  ExecutionId run;
  ExecutionId forward;  // of a backward call: the execution of its forward call
  bool fitted = false;  // see Call::fitted
  std::vector<Operand> operands;
  std::vector<std::pair<std::string, Unjudged>> unknown;  // operands that nothing shows, with the reason
  std::vector<AskedOutput> outputs;
  // Of an operator that stands for several: those before the last one, in the order of the data flow.
  std::vector<Question> members;
};

// The values that a question takes for an operand that was not dumped.
enum class Assumed : uint8_t {
  kNothing,
  kArguments,  // the usual ones of an operator without a graph
  kState,      // the state of an optimizer is what the step before left; the caller finds out whether that holds
};

class Questions {
 public:
  // The objects must outlive it. Where something was assumed, only what verifies is the question.
  Questions(const DumpWithGraph& dump, const RunGraph& flow, const std::vector<SequencedOp>& operators,
            Assumed assumed = Assumed::kNothing);
  [[nodiscard]] Question ask(ExecutionId run) const;

 private:
  [[nodiscard]] Question ask_graph(ExecutionId run) const;
  [[nodiscard]] Question ask_call(ExecutionId run) const;
  // The question of NAME.backward: the operands of its forward call in the same step, its output and the gradient of that.
  [[nodiscard]] Question ask_gradient(ExecutionId run) const;

  const DumpWithGraph dump_;
  const RunGraph& flow_;
  const std::vector<SequencedOp>& operators_;
  const Assumed assumed_;
  // With kState: the last execution of an operator in a step.
  std::map<std::pair<RunPlace::Step, OperatorId>, ExecutionId> last_;
  // By table and name of the call: its arguments, as a range of DumpWithGraph::arguments.
  std::map<std::pair<uint32_t, std::string_view>, std::pair<size_t, size_t>> arguments_;
  // Executions of forward calls, by rank, step and name.
  std::map<std::pair<RunPlace::Step, std::string_view>, ExecutionId> forward_;
};

}  // namespace msdump::recompute
