// Facts about the runs of a comparison: the operators, their names and lines, and what msprobe's names say of each other.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_slots.h"
#include "divergence/runs/paired_runs.h"
#include "divergence/runs/tensor_facts.h"

namespace msdump {

struct SourceLine {
  std::string_view file;
  uint32_t line = 0;
  auto operator<=>(const SourceLine&) const = default;
};

// Of an operator of the pairing: by the reference's graph, else by the candidate's; none where neither knows it.
[[nodiscard]] std::optional<SourceLine> line_of(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                                uint32_t op);

class RunFacts : public TensorFacts {
 public:
  // As TensorFacts.
  RunFacts(const CompareSide& a, const CompareSide& b, const Pairing& pairing, const std::vector<TensorDiff>& diffs,
           const CutEvidence* cuts);

  [[nodiscard]] const RunGraph& graph() const { return graph_; }
  [[nodiscard]] const std::vector<OpRun>& runs() const { return graph_.runs(); }
  [[nodiscard]] const OpRun& run(uint32_t index) const { return runs()[index]; }
  [[nodiscard]] const RunPlace& place(uint32_t index) const { return run(index).place; }
  [[nodiscard]] const OpPair& pair(uint32_t index) const { return pairing().operators[run(index).op]; }
  [[nodiscard]] const SequencedOp& op(uint32_t index) const;  // of the reference where it has it
  [[nodiscard]] const std::string& name(uint32_t index) const { return op(index).name; }
  // Of its name, in the order in which names first occur.
  [[nodiscard]] uint32_t name_number(uint32_t index) const { return name_numbers_[index]; }
  [[nodiscard]] bool one_sided(uint32_t index) const;
  // Not the first step of its rank.
  [[nodiscard]] bool is_later_step(uint32_t index) const {
    return place(index).step != first_steps_.at(place(index).rank);
  }
  // One-sided, and no tensor of it is alone for a known reason (Alone): a difference between the networks.
  [[nodiscard]] bool is_surprise(uint32_t index) const { return one_sided(index) && !expected_[run(index).op]; }
  [[nodiscard]] bool of_candidate_only(uint32_t index) const { return pair(index).b == kNoOperator; }
  [[nodiscard]] bool is_backward(uint32_t index) const;  // of msprobe: a backward call, or parameter gradients
  [[nodiscard]] bool is_gradient(uint32_t index) const;  // by its name
  // Runs of an operator of this name on the rank and in the step of a place.
  [[nodiscard]] std::span<const uint32_t> runs_named(std::string_view name, const RunPlace& place) const;
  // Of msprobe, in the place of a run: the backward call that makes these gradients of parameters, and the forward call of
  // a backward call or of such gradients. Empty for any other run.
  [[nodiscard]] std::vector<uint32_t> backward_calls_of(uint32_t index) const;
  [[nodiscard]] std::vector<uint32_t> forward_calls_of(uint32_t index) const;
  // Of two runs that are cut differently: is one of them of the program of the other (CutEvidence)?
  [[nodiscard]] bool same_program(uint32_t one, uint32_t other) const {
    return cuts()->programs[run(one).op] == cuts()->programs[run(other).op];
  }
  // Of runs that are cut differently: the run, or of a collective the one whose output it hands on, of which the candidate's
  // call lacks an input of the reference's, as a bias that is added after the sum over the ranks. It leaves something else.
  // kNoRun: none.
  [[nodiscard]] uint32_t lacking(uint32_t index) const;
  [[nodiscard]] bool lacks_input(uint32_t index) const { return lacking(index) != kNoRun; }
  // Where it is a collective that did not give its ranks what went in; else null.
  [[nodiscard]] const BrokenExchange* broken(uint32_t index) const;
  // The largest rounding to the expected format of what a run reads and writes.
  [[nodiscard]] double expected_rounding(uint32_t index) const;
  // The smallest time stamp of a run's files, of the reference where it has them; none where names have none.
  [[nodiscard]] std::optional<uint64_t> time(uint32_t index) const;
  // Of the operator; none where it is not known.
  [[nodiscard]] std::optional<SourceLine> line(uint32_t index) const {
    return line_of(a(), b(), pairing(), run(index).op);
  }

 private:
  void find_names();
  [[nodiscard]] std::vector<uint32_t> runs_at(const std::optional<std::string>& name, const RunPlace& place) const;

  const RunGraph graph_;
  const std::vector<bool> expected_;                                      // by operator: alone_for_known_reason()
  HashSlots names_;                                                       // of runs, in `named_`
  std::vector<std::vector<uint32_t>> named_;                              // the runs of each name, by rank and step
  std::vector<uint32_t> name_numbers_;                                    // by run: in `named_`
  std::map<std::optional<int64_t>, std::optional<int64_t>> first_steps_;  // by rank
};

}  // namespace msdump
