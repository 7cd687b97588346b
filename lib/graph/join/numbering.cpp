#include "graph/join/numbering.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dump/index/framework.h"
#include "graph/join/proof.h"
#include "graph/join/renumber.h"
#include "graph/op_name.h"

namespace msdump {
namespace {

constexpr uint64_t kEnoughEdges = 200, kMostEdges = 2000;
constexpr double kProved = 1.0, kByVersion = 0.9, kUndecided = 0.5;

bool changes_names(const OpGraph& graph, const std::vector<uint32_t>& numbers) {
  for (OpId op = 0; op < graph.size(); ++op) {
    if (numbers[op] == kNoIndex) continue;
    const auto own = split_number(graph.leaf(op));
    if (own && own->number != numbers[op]) return true;
  }
  return false;
}

// Edges that have other files under one hypothesis than under the other: a sample, in the order of the graph.
class Trial {
 public:
  Trial(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const OpGraph& graph, const FileJoin& as_is,
        const FileJoin& renumbered)
      : index_(index), tensors_(tensors), graph_(graph), comparer_(index, tensors), joins_{&as_is, &renumbered} {}

  std::array<ProofTally, 2> run(const CancelToken& cancel) {
    for (OpId op = 0; op < graph_.size(); ++op) moved_.push_back(first_group(0, op) != first_group(1, op));
    for (OpId op = 0; op < graph_.size() && !enough() && !cancel.cancelled(); ++op) {
      if (graph_.has_kernel(op)) try_operator(op);
    }
    return tallies_;
  }

  [[nodiscard]] std::vector<Error> failures() const { return comparer_.failures(); }

 private:
  // Ends even if they say nothing: of a million empty files a few are enough to know that.
  [[nodiscard]] bool enough() const {
    const bool both = std::min(tallies_[0].all(), tallies_[1].all()) >= kEnoughEdges;
    return both || std::max(compared_[0], compared_[1]) >= kMostEdges;
  }

  [[nodiscard]] uint32_t first_group(size_t hypothesis, OpId op) const {
    const auto pairs = joins_[hypothesis]->pairs_of(op);
    return pairs.empty() ? kNoIndex : pairs.front().group;
  }

  void try_operator(OpId op) {
    const std::vector<InputEdge> inputs = inputs_of(graph_, op);
    const bool differs = moved_[op] || std::any_of(inputs.begin(), inputs.end(), [&](const InputEdge& input) {
                           return input.from == InputEdge::From::kOperator && moved_[input.op];
                         });
    if (!differs) return;
    const std::array edges = {proof_edges(tensors_, index_, inputs, *joins_[0], op),
                              proof_edges(tensors_, index_, inputs, *joins_[1], op)};
    for (size_t i = 0; i < edges.size(); ++i) {
      for (const ProofEdge& edge : edges[i]) {
        const auto& others = edges[1 - i];
        const bool same = std::any_of(others.begin(), others.end(), [&](const ProofEdge& other) {
          return other.input_tensor == edge.input_tensor && other.output_tensor == edge.output_tensor;
        });
        if (!same) compare(i, edge);
      }
    }
  }

  void compare(size_t hypothesis, const ProofEdge& edge) {
    ProofTally& tally = tallies_[hypothesis];
    if (tally.all() >= kMostEdges) return;
    ++compared_[hypothesis];
    tally.count(comparer_.compare(edge.input_tensor, edge.output_tensor));
  }

  const DumpIndex& index_;
  const std::vector<TensorRecord>& tensors_;
  const OpGraph& graph_;
  const ValueComparer comparer_;
  const std::array<const FileJoin*, 2> joins_;
  std::vector<bool> moved_;  // operators: other files under one hypothesis than under the other
  std::array<ProofTally, 2> tallies_;
  std::array<uint64_t, 2> compared_ = {};
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

Numbering choose(const std::array<ProofTally, 2>& tallies, const std::optional<bool>& known, const FileJoin& as_is,
                 const FileJoin& renumbered) {
  Numbering choice;
  const bool decided = tallies[0].share() != tallies[1].share() && tallies[0].all() + tallies[1].all() > 0;
  if (decided) {
    choice.renumbered = tallies[1].share() > tallies[0].share();
    const ProofTally& right = tallies[choice.renumbered ? 1 : 0];
    const ProofTally& wrong = tallies[choice.renumbered ? 0 : 1];
    choice.agreeing = right.agreeing;
    choice.contradicting = right.contradicting;
    choice.confidence = right.contradicting == 0 ? kProved : std::max(kUndecided, right.share());
    choice.evidence = fmt::format("{} of {} inputs equal their producer's output", right.agreeing, right.all());
    if (wrong.all() > 0)
      choice.evidence += fmt::format(", with {} numbers {} of {}", choice.renumbered ? "the IR's" : "new",
                                     wrong.agreeing, wrong.all());
  } else if (known) {
    choice.renumbered = *known;
    choice.confidence = kByVersion;
    choice.evidence = "this follows from the version of MindSpore; no tensor values here confirm it";
  } else {
    choice.renumbered = renumbered.matched_operators() > as_is.matched_operators();
    choice.confidence = kUndecided;
    choice.evidence = "more operators have files that way; neither the version of MindSpore nor tensor values decide";
  }
  return choice;
}

}  // namespace

Result<Joined> join_files(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const OpGraph& graph,
                          const RunContext& context) {
  std::vector<uint32_t> numbers;
  std::shared_ptr<const TensorGroups> groups;
  context.pool.parallel_for(2, [&](int64_t part) {
    if (part == 0) groups = std::make_shared<const TensorGroups>(index, tensors, graph);
    if (part == 1) numbers = renumbered(graph);
  });
  MSDUMP_CHECK_OK(context.cancel.check());
  if (!changes_names(graph, numbers)) return Joined{FileJoin(groups, graph, {})};
  std::array<std::optional<FileJoin>, 2> joins;
  context.pool.parallel_for(2, [&](int64_t hypothesis) {
    joins[static_cast<size_t>(hypothesis)].emplace(groups, graph, Numbering{numbers, hypothesis == 1});
  });
  Trial trial(index, tensors, graph, *joins[0], *joins[1]);
  const auto tallies = trial.run(context.cancel);
  MSDUMP_CHECK_OK(context.cancel.check());
  Numbering choice = choose(tallies, by_version(framework_of(index)), *joins[0], *joins[1]);
  FileJoin& right = *joins[choice.renumbered ? 1 : 0];
  right.settle(std::move(choice));
  return Joined{std::move(right), trial.failures()};
}

}  // namespace msdump
