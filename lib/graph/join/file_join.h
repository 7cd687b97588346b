// FileJoin: joins the tensors of a dump to the operators of a graph, by name. Each pair has the rule that found it and
// a confidence; each operator and each tensor without a partner has a reason in words.
//
//   rule            the name in the file is ...                                                              confidence
//   full name       the whole name of the operator ("Default_conv1-Conv2d_Conv2D-op12"), also if the file has it       1
//                   with '/', '--' or a type of another spelling
//   last component  its last part, which no other operator of the graph has                                         0.95
//   ambiguous       its last part, which several have: type decides (0.6), or nothing does (0.3 / how many)
//   fused           the concatenated names of several operators, or one of those that an operator was
//                   made of (_datadump_original_names)                                                              0.85
//   derived         the name of one and a suffix of the graph engine ("_lxslice3", "trans_Cast_0")                  0.75
//   cut             the beginning, too long for a file system, of one                                                0.5
//   parameter       the name of a parameter of the graph, or of a constant
// If all operators have new numbers in the files (renumbered() of graph/join/numbering.h), names have these. The
// confidence in the numbering limits the confidence of every pair whose name it changes. Ranks and graphs must be equal
// if both sides know theirs. Source: IR and file names of MindSpore 1.3 to 2.10 and of GE.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/containers.h"
#include "graph/join/tensor_groups.h"
#include "graph/op_graph.h"

namespace msdump {

enum class JoinRule : uint8_t {
  kUnmatched,
  kFullName,
  kLastComponent,
  kTypeDecided,
  kAmbiguous,
  kFused,
  kDerived,
  kCut,
  kParameter,
};

// The numbers that operators have in file names, and how these were chosen (graph/join/numbering.h).
struct Numbering {
  std::vector<uint32_t> numbers = {};  // by operator, as renumbered() makes them; may be empty
  bool renumbered = false;             // files have these; false: those of the graph
  double confidence = 1;               // limits that of pairs of operators for which the two differ
  std::string evidence =
      {};  // for people: "41 of 41 inputs equal their producer's output (0 of 41 with the IR's numbers)"
  uint64_t agreeing = 0, contradicting = 0;  // edges that distinguish the two, under the one chosen
};

// From here on a file surely belongs to its operator: by the full name, or by the last component if that is unique.
inline constexpr double kSureJoin = 0.9;

struct JoinPair {
  OpId op;
  uint32_t group = 0;
  JoinRule rule = JoinRule::kUnmatched;
  double confidence = 0;
};

// Counts how many groups of tensors have an operator in the graph.
struct ExplainedGroups {
  size_t all = 0, explained = 0;

  // An IR that matches under half of the groups is of another network or another run.
  [[nodiscard]] bool mostly() const { return explained * 2 >= all; }
};

class FileJoin {
 public:
  // Several joins may share the groups.
  FileJoin(std::shared_ptr<const TensorGroups> groups, const OpGraph& graph, Numbering numbering);

  // Keeps the numbers; how certain they are is known only after the join.
  void settle(Numbering evidence);

  [[nodiscard]] const std::vector<TensorGroup>& groups() const { return groups_->all(); }
  // In the order of the list.
  [[nodiscard]] std::span<const RecordId> tensors_of(const TensorGroup& group) const {
    return groups_->tensors_of(group);
  }
  // The rule of its best pair; `group` is one of groups().
  [[nodiscard]] JoinRule rule_of(const TensorGroup& group) const { return rules_[index_of(group)]; }
  // The pairs of an operator, best first.
  [[nodiscard]] std::span<const JoinPair> pairs_of(OpId op) const;
  [[nodiscard]] const std::vector<JoinPair>& pairs() const { return pairs_; }
  [[nodiscard]] const Numbering& numbering() const { return numbering_; }
  // Indices of the groups of a parameter of one origin.
  [[nodiscard]] std::vector<uint32_t> groups_of_parameter(uint32_t origin, uint32_t parameter) const;

  // Counts the groups for which `counts` is true; groups of parameters are left out.
  [[nodiscard]] ExplainedGroups explained(const std::function<bool(const TensorGroup&)>& counts) const;
  [[nodiscard]] size_t matched_operators() const { return matched_operators_; }
  [[nodiscard]] const ReachedLimits& limits() const { return limits_; }
  // The reason why no tensor belongs to an operator, or no operator to a group.
  [[nodiscard]] std::string reason(OpId op) const;
  [[nodiscard]] std::string reason(const TensorGroup& group) const;

 private:
  friend class FileJoiner;
  struct ParameterPair {
    uint32_t origin, parameter, group;
    auto operator<=>(const ParameterPair&) const = default;
  };

  [[nodiscard]] size_t index_of(const TensorGroup& group) const {
    return static_cast<size_t>(&group - groups().data());
  }
  // True if the operator has another name when all have new numbers.
  [[nodiscard]] bool depends_on_numbering(OpId op) const;
  void sort_pairs();

  std::shared_ptr<const TensorGroups> groups_;
  const OpGraph* graph_;  // outlives this
  Numbering numbering_;
  std::vector<JoinRule> rules_;  // by group
  std::vector<JoinPair> pairs_;  // by operator
  std::vector<uint32_t> first_pair_;
  std::vector<ParameterPair> parameters_;  // sorted
  std::vector<bool> dumped_;               // by origin: true if any tensor of its graph is in the dump
  size_t matched_operators_ = 0;
  ReachedLimits limits_;
};

// The text of a rule in the reason of a pair: "by full name".
[[nodiscard]] std::string_view explanation(JoinRule rule);

}  // namespace msdump
