#include "divergence/roots/undumped.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "divergence/model/constants.h"
#include "graph/op_name.h"

namespace msdump {
namespace {

using From = InputEdge::From;

class Search {
 public:
  Search(const CompareSide& a, const CompareSide& b, const Pairing& pairing, const RunView& view)
      : of_b_(has_flow(b)), graph_(of_b_ ? *b.graph : *a.graph), pairing_(pairing), view_(view) {
    for (OperatorId op{0}; op < pairing.operators.size(); ++op) {
      if (const OpId in_graph = op_of(op); in_graph != kNoId) operators_.emplace(in_graph, op);
    }
  }

  std::vector<OperatorId> before(const Divergence& root) {
    const std::vector<InputEdge> edges = edges_of(view_.run(root.run).op);
    enter(root.place);
    found_.clear();
    passed_.clear();
    error_ = 0;
    for (const RunInput& input : view_.run(root.run).inputs) {
      if (input.producer != kNoId || input.from != From::kOperator || !is_suspect(root, input)) continue;
      if (view_.compared(input.tensor)) error_ = std::max(error_, error_of(input.tensor));
      for (const InputEdge& edge : edges) {
        if (edge.slot == input.slot) follow(edge);
      }
    }
    return {found_.begin(), found_.end()};
  }

 private:
  using Value = std::pair<OpId, uint32_t>;  // an output of an operator

  [[nodiscard]] OpId op_of(OperatorId pair) const {
    const SequencedOpId place = of_b_ ? pairing_.operators[pair].b : pairing_.operators[pair].a;
    return place == kNoId ? OpId() : (of_b_ ? pairing_.b : pairing_.a)[place].op;
  }
  [[nodiscard]] std::vector<InputEdge> edges_of(OperatorId pair) const {
    const OpId op = op_of(pair);
    return op == kNoId ? std::vector<InputEdge>() : inputs_of(graph_, op);
  }
  [[nodiscard]] bool is_dumped(OperatorId pair) const {
    const OpPair& both = pairing_.operators[pair];
    return (both.a != kNoId && !pairing_.a[both.a].tensors.empty()) ||
           (both.b != kNoId && !pairing_.b[both.b].tensors.empty());
  }
  [[nodiscard]] double error_of(TensorId tensor) const {
    const auto& error = view_.error(tensor);
    return error ? error->relative : view_.differs(tensor) ? 1 : 0;
  }

  // True for an input that differs if the root blames its inputs; else for one that was not dumped.
  [[nodiscard]] static bool blames_input(const Divergence& root) { return root.kind == DivergenceKind::kInput; }
  [[nodiscard]] bool is_suspect(const Divergence& root, const RunInput& input) const {
    if (view_.compared(input.tensor))
      return blames_input(root) && view_.error(input.tensor) && error_of(input.tensor) > 0;
    return !blames_input(root) && input.tensor == kNoId;
  }

  // Collects, on one rank and in one step, the inputs that hold values of undumped operators.
  void enter(const RunPlace& place) {
    if (known_place_ && known_place_->is_beside(place)) return;
    known_place_ = place;
    known_.clear();
    for (const OpRun& run : view_.runs()) {
      if (!run.place.is_beside(place)) continue;
      const bool any = std::any_of(run.inputs.begin(), run.inputs.end(), [&](const RunInput& input) {
        return input.producer == kNoId && input.from == From::kOperator && view_.compared(input.tensor);
      });
      if (!any) continue;
      for (const InputEdge& edge : edges_of(run.op)) {
        for (const RunInput& input : run.inputs) {
          if (edge.from == From::kOperator && input.slot == edge.slot && view_.compared(input.tensor))
            known_[{edge.op, edge.output}].push_back(input.tensor);
        }
      }
    }
  }

  enum class State : uint8_t { kUnknown, kAgrees, kDiffers };
  [[nodiscard]] State state_of(const InputEdge& edge) const {
    const auto found = known_.find({edge.op, edge.output});
    if (found == known_.end()) return State::kUnknown;
    double largest = 0;
    for (const TensorId tensor : found->second) largest = std::max(largest, error_of(tensor));
    // A value agrees if growth alone does not make its error the one to be explained.
    return kMostGrowth * largest > error_ && largest > 0 ? State::kDiffers : State::kAgrees;
  }

  // Adds all operators that may have produced the value of an edge, up to those that were dumped or whose value is known.
  void follow(const InputEdge& first) {
    std::vector<OpId> next = {first.op};
    while (!next.empty()) {
      const OpId op = next.back();
      next.pop_back();
      const auto pair = operators_.find(op);
      if (pair == operators_.end() || is_dumped(pair->second) || !passed_.insert(op).second) continue;
      const std::vector<InputEdge> edges = inputs_of(graph_, op);
      bool convicted = false;
      for (const InputEdge& edge : edges) {
        if (edge.from != From::kOperator || state_of(edge) != State::kDiffers) continue;
        convicted = true;
        next.push_back(edge.op);
      }
      if (convicted) continue;  // it received a wrong value
      found_.insert(pair->second);
      for (const InputEdge& edge : edges) {
        if (edge.from == From::kOperator && state_of(edge) == State::kUnknown) next.push_back(edge.op);
      }
    }
  }

  const bool of_b_;
  const OpGraph& graph_;
  const Pairing& pairing_;
  const RunView& view_;
  std::unordered_map<OpId, OperatorId> operators_;
  std::optional<RunPlace> known_place_;           // of `known_`
  std::map<Value, std::vector<TensorId>> known_;  // tensors
  double error_ = 0;                              // to be explained
  std::set<OperatorId> found_;
  std::set<OpId> passed_;
};

}  // namespace

void find_candidates(const CompareSide& a, const CompareSide& b, const Pairing& pairing, const RunView& view,
                     std::vector<Divergence>& roots) {
  if (view.graph().flow() != FlowKind::kIr) return;
  std::optional<Search> search;
  for (Divergence& root : roots) {
    if (!root.parameter.empty() || view.one_sided(root.run)) continue;
    const auto& inputs = view.run(root.run).inputs;
    const bool any = std::any_of(inputs.begin(), inputs.end(), [](const RunInput& input) {
      return input.producer == kNoId && input.from == From::kOperator;
    });
    if (!any) continue;
    if (!search) search.emplace(a, b, pairing, view);
    root.candidates = search->before(root);
  }
}

std::string kernel_name(const CompareSide& side, const SequencedOp& op) {
  if (op.op == kNoId || side.graph == nullptr || side.join == nullptr) return op.name;
  std::string name = side.graph->full_name(op.op);
  const Numbering& numbering = side.join->numbering();
  const auto own = split_number(name);
  if (!numbering.renumbered || !own || numbering.numbers.empty() || numbering.numbers[op.op] == kNoIndex) return name;
  return fmt::format("{}{}{}", own->prefix, kNumberMark, numbering.numbers[op.op]);
}

}  // namespace msdump
