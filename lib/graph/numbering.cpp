#include "graph/numbering.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "dump/framework.h"
#include "graph/op_name.h"
#include "graph/proof.h"
#include "graph/renumber.h"

namespace msdump {
namespace {

constexpr size_t kEnoughEdges = 200;
constexpr double kProved = 1.0, kByVersion = 0.9, kUndecided = 0.5;

bool changes_names(const OpGraph& graph, const std::vector<uint32_t>& numbers) {
  for (OpId op = 0; op < graph.size(); ++op) {
    if (numbers[op] == kNoIndex) continue;
    const auto own = split_number(graph.leaf(op));
    if (own && own->number != numbers[op]) return true;
  }
  return false;
}

struct Tally {
  uint64_t equal = 0, different = 0;
  [[nodiscard]] uint64_t all() const { return equal + different; }
  [[nodiscard]] double share() const {
    return all() == 0 ? 0 : static_cast<double>(equal) / static_cast<double>(all());
  }
};

// Edges that have other files under one hypothesis than under the other.
class Trial {
 public:
  Trial(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const OpGraph& graph, const FileJoin& as_is,
        const FileJoin& renumbered)
      : index_(index), tensors_(tensors), graph_(graph), comparer_(index, tensors), joins_{&as_is, &renumbered} {}

  std::array<Tally, 2> run() {
    for (OpId op = 0; op < graph_.size(); ++op) {
      if (std::min(tallies_[0].all(), tallies_[1].all()) >= kEnoughEdges) break;
      if (graph_.has_kernel(op)) try_operator(op);
    }
    return tallies_;
  }

 private:
  void try_operator(OpId op) {
    const std::array edges = {proof_edges(tensors_, index_, graph_, *joins_[0], op),
                              proof_edges(tensors_, index_, graph_, *joins_[1], op)};
    for (size_t i = 0; i < edges.size(); ++i) {
      for (const ProofEdge& edge : edges[i]) {
        const auto& others = edges[1 - i];
        const bool same = std::any_of(others.begin(), others.end(), [&](const ProofEdge& other) {
          return other.input_tensor == edge.input_tensor && other.output_tensor == edge.output_tensor;
        });
        if (!same) count(tallies_[i], edge);
      }
    }
  }

  void count(Tally& tally, const ProofEdge& edge) {
    switch (comparer_.compare(edge.input_tensor, edge.output_tensor)) {
      case Agreement::kEqual: ++tally.equal; break;
      case Agreement::kDifferent: ++tally.different; break;
      case Agreement::kUnknown: break;
    }
  }

  const DumpIndex& index_;
  const std::vector<TensorRecord>& tensors_;
  const OpGraph& graph_;
  const ValueComparer comparer_;
  const std::array<const FileJoin*, 2> joins_;
  std::array<Tally, 2> tallies_;
};

constexpr Version kFirstUnknown{2, 3, 0}, kFirstRenumbered{2, 7, 0};

// What is known of the version: new numbers, the graph's, or nothing.
std::optional<bool> by_version(const FrameworkFacts& framework) {
  if (framework.version) {
    if (*framework.version >= kFirstRenumbered) return true;
    return *framework.version < kFirstUnknown ? std::optional(false) : std::nullopt;
  }
  if (framework.to && *framework.to <= kFirstUnknown) return false;
  if (framework.from && *framework.from >= kFirstRenumbered) return true;
  return std::nullopt;
}

}  // namespace

Joined join_files(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const OpGraph& graph) {
  std::vector<uint32_t> numbers = renumbered(graph);
  if (!changes_names(graph, numbers)) return {{}, FileJoin(index, tensors, graph, {})};
  FileJoin as_is(index, tensors, graph, {});
  FileJoin anew(index, tensors, graph, {numbers, true, kProved});
  const auto tallies = Trial(index, tensors, graph, as_is, anew).run();
  const std::optional<bool> known = by_version(framework_of(index));
  NumberingChoice choice;
  const bool decided = tallies[0].share() != tallies[1].share() && tallies[0].all() + tallies[1].all() > 0;
  if (decided) {
    choice.renumbered = tallies[1].share() > tallies[0].share();
    const Tally& right = tallies[choice.renumbered ? 1 : 0];
    const Tally& wrong = tallies[choice.renumbered ? 0 : 1];
    choice.agreeing = right.equal;
    choice.contradicting = right.different;
    choice.confidence = right.different == 0 ? kProved : std::max(kUndecided, right.share());
    choice.evidence = fmt::format("{} of {} inputs equal their producer's output", right.equal, right.all());
    if (wrong.all() > 0)
      choice.evidence +=
          fmt::format(", with {} numbers {} of {}", choice.renumbered ? "the IR's" : "new", wrong.equal, wrong.all());
  } else if (known) {
    choice.renumbered = *known;
    choice.confidence = kByVersion;
    choice.evidence = "by the version of MindSpore; no bytes to prove it by";
  } else {
    choice.renumbered = anew.matched_operators() > as_is.matched_operators();
    choice.confidence = kUndecided;
    choice.evidence = "neither the version nor the bytes tell; the one that matches more operators";
  }
  return {choice, FileJoin(index, tensors, graph, {std::move(numbers), choice.renumbered, choice.confidence})};
}

}  // namespace msdump
