// Keys that identify the operators of one side on the other side: types, names without numbers, shapes, and neighbours in
// the data flow.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/containers.h"
#include "graph/join/dump_operators.h"

namespace msdump {

using CompareSide = DumpWithGraph;

// Keys for align(), the most certain level first. None of them contains numbers of operators or graphs.
//   1. type, scope and output shapes, with two rounds of neighbours
//   2. the same, with one round
//   3. type and scope
//   4. the common name in both frameworks
//   5. type
[[nodiscard]] std::vector<std::vector<uint64_t>> alignment_keys(const CompareSide& side,
                                                                const std::vector<SequencedOp>& operators);

// The module of each operator of one sequence of msprobe, as a number: of a call the one that ends next; 0 if there is none.
[[nodiscard]] std::vector<uint64_t> modules_of(const std::vector<const SequencedOp*>& operators);

// Operators of one rank and step of msprobe in their order.
struct CallSequence {
  std::vector<std::vector<uint64_t>> keys;  // alignment_keys()
  std::vector<const SequencedOp*> operators;
  std::vector<uint64_t> codes;  // CodeLines::key_of()
};

// Pairs the operators of two sequences that their lines and modules identify: calls of a module by their lines, if each line makes
// as many on both sides; modules by path; and calls by the module that ends next. Gives each pair keys of its own. Where as many
// calls of a name have other shapes, these follow from values, as the tokens of each expert do; then their keys have the order
// instead of shapes.
using PlacePairs = std::vector<std::pair<size_t, size_t>>;
[[nodiscard]] PlacePairs pair_by_modules(CallSequence& a, CallSequence& b);

// Type, scope and shapes of outputs of each operator.
[[nodiscard]] std::vector<uint64_t> kinds_of(const CompareSide& side, const std::vector<SequencedOp>& operators);

// True for a constant that MindSpore numbers, "Parameter.data-12". Such a number means nothing in another run.
[[nodiscard]] bool is_numbered_constant(const SequencedOp& one);

// True for a PyTorch dump of msprobe, by the prefixes of modules and calls. Functions alone do not show it.
[[nodiscard]] bool is_pytorch(const std::vector<SequencedOp>& operators);

// "Default/conv1-Conv2d/Conv2D" of "Default/conv1-Conv2d/Conv2D-op12"; calls of msprobe lose their counter.
[[nodiscard]] std::string name_without_numbers(std::string_view name);

// The common name of what MindSpore and PyTorch name differently in dumps of msprobe:
//
//   module      Cell.attn.q.Dense.forward.0, Module.attn.q.Linear.forward.0        module attn q forward
//   call        Primitive.matmul.MatMul.3.forward, Functional.matmul.3.forward,
//               Torch.matmul.3.forward, Mint.matmul.3.forward                      call matmul forward
//   parameter   gamma weight, beta bias, embedding_table weight, moving_mean running_mean, moving_variance running_var
// Numbers of calls are left out. Any other name, such as that of an operator in an IR, only loses its number.

[[nodiscard]] std::string common_name(std::string_view op_name);
[[nodiscard]] std::string_view common_parameter_name(std::string_view parameter);

// SequenceFlow: the producers and consumers of each operator of a sequence, and the parameters that it reads. It is taken
// from the graph of the dump, and empty without one. The lists of all operators are in one vector, with the begin of each.

class SequenceFlow {
 public:
  struct Producer {
    uint32_t slot;  // of the input that `op` feeds
    SequencedOpId op;
  };
  struct Parameter {
    uint32_t slot;
    uint64_t name;   // hash of the name
    bool is_weight;  // a value that the network keeps, not an input of the graph
  };
  SequenceFlow(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators);

  [[nodiscard]] bool known() const { return known_; }
  // Ordered by the slots of the inputs.
  [[nodiscard]] auto producers(SequencedOpId op) const { return part(producers_, first_producer_, op); }
  [[nodiscard]] auto parameters(SequencedOpId op) const { return part(parameters_, first_parameter_, op); }
  [[nodiscard]] auto consumers(SequencedOpId op) const { return consumers_.of(op); }
  // Keys of the operators with one more round of neighbours: producers by slot, consumers in any order.
  [[nodiscard]] std::vector<uint64_t> with_neighbours(const std::vector<uint64_t>& keys) const;

 private:
  template <class Item>
  static std::span<const Item> part(const std::vector<Item>& all, const std::vector<uint32_t>& first,
                                    SequencedOpId op) {
    if (first.empty()) return {};
    return std::span<const Item>(all).subspan(first[op], first[op + 1] - first[op]);
  }

  bool known_ = false;
  std::vector<Producer> producers_;
  std::vector<Parameter> parameters_;
  EdgeLists<SequencedOpId> consumers_;
  std::vector<uint32_t> first_producer_, first_parameter_;  // by operator, and the end
};

}  // namespace msdump
