// CutMatch: what the steps of pair_cuts() work on: the two sides as wholes, which of them are partners so far, and how
// each of these lies on its ranks.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "compare/match/placement/placement_samples.h"
#include "compare/match/placement/sharded_pairing.h"
#include "compare/statistics/statistic_tables.h"

namespace msdump {

// The pieces of a tensor, as far as they are known.
using CutPieces = std::variant<PieceValues, PieceStatistics>;
[[nodiscard]] bool ok(const CutPieces& pieces);
[[nodiscard]] const std::vector<Shape>& shapes_of(const CutPieces& pieces);
// Of one run, so that both are of one kind.
[[nodiscard]] std::optional<CutFit> find_layout(CutPieces& a, CutPieces& b, const CutQuestion& question,
                                                const CutPrior& prior);

class CutMatch {
 public:
  static constexpr double kLike = 0.9, kUnlike = 0.6;  // agreement
  static constexpr size_t kMostTried = 64;             // operators for one

  // What these point to must outlive this.
  CutMatch(const CutInput& of_a, const CutInput& of_b, const LayoutRules* layouts_known, const RunContext& run);

  // One of the sides, and the other.
  struct OneSide {
    CutSide *own, *other;
    const DumpIndex *own_index, *other_index;
    bool of_a;
    [[nodiscard]] uint32_t own_of(const TensorPair& pair) const { return of_a ? pair.a : pair.b; }
    [[nodiscard]] uint32_t other_of(const TensorPair& pair) const { return of_a ? pair.b : pair.a; }
    [[nodiscard]] uint32_t own_of(const OpPair& pair) const { return of_a ? pair.a : pair.b; }
  };
  [[nodiscard]] OneSide cut_of(bool of_a) const;

  // Elements, or statistics where most tensors of a side have no elements.
  [[nodiscard]] CutPieces pieces_of(bool of_a, std::span<const TensorRecord* const> records) const;
  [[nodiscard]] CutPieces pieces_of(bool of_a, uint32_t tensor) const;

  // Counts a comparison of two tensors of a run that may be partners. False, and a limit is noted, if a step has made as many
  // as it may: where nothing fits, nothing will.
  [[nodiscard]] bool may_try(size_t& trials);
  // Notes that only the first kMostTried calls were looked at for a partner.
  void leave_out_calls();
  // By their shapes alone: may the two be parts of one whole?
  [[nodiscard]] bool may_be_one(uint32_t a, uint32_t b) const;
  // Has no rank an element of the tensor?
  [[nodiscard]] bool is_empty(bool of_a, uint32_t tensor) const;
  // How the tensors of a pair lie on their ranks.
  [[nodiscard]] std::optional<CutFit> fit_of(const TensorPair& pair, CutQuestion::Effort effort) const;
  // Of all pairs, into `fits`: the certain ones first, the others by what these have taught. An error when interrupted.
  Status find_layouts();
  // That find_layouts() hit, and that the fits still depend on.
  [[nodiscard]] ReachedLimits limits_of_layouts() const;
  // After find_layouts() the factors of gradients are those of most of them; with wrong partners these say nothing.
  void allow_all_factors();
  // By operator of the pairing: that of the tensor which fits least; 0 without a partner.
  [[nodiscard]] std::vector<double> agreements() const;

  // The line of the user's file for a tensor that lies on several ranks, and its layout, if so many ranks can have it.
  struct Stated {
    const StatedLayout* line = nullptr;
    std::optional<CutLayout> layout;
  };
  [[nodiscard]] Stated stated_of(bool of_a, uint32_t tensor) const;
  // What does not fit the shapes is reported when all are paired (problem_of).
  [[nodiscard]] std::optional<CutFit> find_stated(CutPieces& of_a, CutPieces& of_b, CutQuestion question,
                                                  const Stated& stated_a, const Stated& stated_b) const;
  [[nodiscard]] std::string problem_of(bool of_a, uint32_t tensor, const CutFit* fit) const;

  // A tensor of an operator that one side alone has, the value of the other side that it is compared with, and how both
  // lie on their ranks.
  struct Twin {
    uint32_t pair = 0;   // in Pairing::tensors
    uint32_t value = 0;  // tensor of the other side
    CutFit fit;
  };
  // The operator gets a partner of its name that has these values.
  void add_partner(const OneSide& cut, uint32_t op, const std::vector<Twin>& twins);

  // A number for the elements of each piece, or its statistics where it has no elements; none where a piece is missing or
  // cannot be read.
  [[nodiscard]] Result<std::vector<uint64_t>> digests_of(const OneSide& cut, uint32_t tensor) const;
  // One for all pieces and the ranks that they lie on; 0: none.
  [[nodiscard]] Result<uint64_t> contents_of(const OneSide& cut, uint32_t tensor) const;

  const RunContext& context;
  const LayoutRules* const layouts;
  const CompareSide whole_a, whole_b;  // with their ranks
  const DumpIndex *const index_a, *const index_b;
  StatisticTables &tables_a, &tables_b;
  PairedCuts result;
  CutPrior prior;
  std::vector<double> factors_a, factors_b;  // of gradients
  std::vector<std::optional<CutFit>> fits;   // by Pairing::tensors
  ReachedLimits limits;

 private:
  [[nodiscard]] CutQuestion question_of(const TensorPair& pair) const;
  void find_backward_pass();
  void find_layouts_of_kind(const std::vector<size_t>& pairs, bool first);
  void choose_factors();

  const bool by_statistics_;
  std::atomic<bool> searched_less_ = false;  // a layout was not found with little effort
  std::vector<bool> of_backward_pass_;  // by tensor of a; its forward calls are derivatives that are written by hand
};

[[nodiscard]] inline bool paired(const TensorPair& pair) { return pair.a != kNoTensor && pair.b != kNoTensor; }
// Calls of one kind may be partners: the type, the step, and whether it is of the backward pass.
[[nodiscard]] std::tuple<std::string_view, std::optional<int64_t>, bool> kind_of(const SequencedOp& op);

[[nodiscard]] std::optional<int64_t> step_of(const DumpIndex& index, const TensorRecord& record);

}  // namespace msdump
