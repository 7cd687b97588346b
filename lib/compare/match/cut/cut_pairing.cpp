#include "compare/match/cut/cut_pairing.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/hash_slots.h"
#include "compare/match/op_sequence.h"
#include "compare/pair/tensor_diff.h"
#include "graph/flow/communication.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

constexpr double kCertain = 0.8;
constexpr size_t kMostCopies = 16;  // different ones of a tensor that are compared

std::vector<int64_t> known_ranks(const std::vector<int64_t>& ranks) {
  std::vector<int64_t> known = ranks;
  std::erase_if(known, [](int64_t rank) { return rank < 0; });
  return known;
}

class CutPairer {
 public:
  CutPairer(const CompareSide& a, const CompareSide& b, const RunContext& context) : context_(context) {
    result_.a = std::make_unique<CutSide>(a);
    result_.b = std::make_unique<CutSide>(b);
    index_a_ = a.index;
    index_b_ = b.index;
  }

  Result<PairedCuts> run(const NameMap* map) {
    result_.pairing = pair_sides(result_.a->side(), result_.b->side(), map);
    result_.pairing.likeness = {};
    result_.pairing.likeness.by_name = true;  // shapes tell nothing here
    MSDUMP_CHECK_OK(find_layouts());
    MSDUMP_CHECK_OK(put_together());
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool paired(const TensorPair& pair) const { return pair.a != kNoTensor && pair.b != kNoTensor; }

  [[nodiscard]] CutQuestion question_of(const TensorPair& pair) const {
    const TensorRecord &a = result_.a->tensors()[pair.a], &b = result_.b->tensors()[pair.b];
    CutQuestion question;
    question.kind = fmt::format("{}|{}|{}", name_without_numbers(a.name.op_name), name_of(a.name.io), a.name.slot);
    for (const TensorRecord* const one : {&a, &b})
      question.kind += one->shape == nullptr ? "|" : "|" + describe(*one->shape);
    question.gradient = forward_entry_of(a.name.op_name).has_value();
    return question;
  }

  // The certain ones first; the others by what these have taught.
  Status find_layouts() {
    const std::vector<TensorPair>& pairs = result_.pairing.tensors;
    fits_.resize(pairs.size());
    for (const bool first : {true, false}) {
      context_.pool.parallel_for(static_cast<int64_t>(pairs.size()), [&](int64_t i) {
        const TensorPair& pair = pairs[static_cast<size_t>(i)];
        std::optional<CutFit>& fit = fits_[static_cast<size_t>(i)];
        if (context_.cancel.cancelled() || !paired(pair) || (!first && (!fit || fit->confidence >= kCertain))) return;
        PieceValues a(*index_a_, result_.a->members(pair.a).records), b(*index_b_, result_.b->members(pair.b).records);
        fit = find_layout(a, b, question_of(pair), prior_);
      });
      MSDUMP_CHECK_OK(context_.cancel.check());
      if (!first) break;
      for (size_t i = 0; i < pairs.size(); ++i) {
        if (fits_[i] && fits_[i]->confidence >= kCertain) prior_.add(question_of(pairs[i]).kind, *fits_[i]);
      }
    }
    return {};
  }

  Status put_together() {
    result_.notes.resize(fits_.size());
    for (size_t i = 0; i < fits_.size(); ++i) {
      if (!fits_[i]) continue;
      const TensorPair& pair = result_.pairing.tensors[i];
      CutNote& note = result_.notes[i];
      const std::vector<int64_t>&ranks_a = result_.a->ranks(pair.a), &ranks_b = result_.b->ranks(pair.b);
      note.layout = text_of(fits_[i]->a, ranks_a);
      note.reference_layout = text_of(fits_[i]->b, ranks_b);
      note.ranks = known_ranks(ranks_a);
      if (note.ranks.empty()) note.ranks = known_ranks(ranks_b);
      note.confidence = fits_[i]->confidence;
      result_.a->set_pieces(pair.a, pieces_of(*result_.a, pair.a, fits_[i]->a, fits_[i]->whole, 0));
      result_.b->set_pieces(pair.b, pieces_of(*result_.b, pair.b, fits_[i]->b, fits_[i]->whole, 0));
    }
    return {};
  }

  // The parts of one of the copies.
  static TensorPieces pieces_of(const CutSide& side, uint32_t tensor, const CutLayout& layout, const Shape& whole,
                                int64_t copy) {
    const std::vector<const TensorRecord*>& records = side.members(tensor).records;
    std::vector<Shape> shapes;
    for (const TensorRecord* const record : records) shapes.push_back(*record->shape);
    TensorPieces pieces;
    pieces.shape = whole;
    pieces.factor = layout.factor;
    for (const CutDim& dim : layout.dims) {
      if (dim.role == CutRole::kMean) pieces.factor /= static_cast<double>(dim.extent);
    }
    pieces.added = layout.has(CutRole::kSum) || layout.has(CutRole::kMean);
    for (int64_t rank = 0; rank < static_cast<int64_t>(records.size()); ++rank) {
      if (layout.copy_of(rank) != copy) continue;
      for (PieceBox& box : boxes_of(layout, rank, shapes, whole)) {
        box.piece = static_cast<uint32_t>(pieces.records.size());
        pieces.boxes.push_back(std::move(box));
      }
      pieces.records.push_back(records[static_cast<size_t>(rank)]);
    }
    const bool one = pieces.records.size() == 1 && pieces.factor == 1 && pieces.records.front()->shape != nullptr &&
                     *pieces.records.front()->shape == whole;
    if (one) pieces.boxes.clear();
    return pieces;
  }

  const RunContext& context_;
  PairedCuts result_;
  const DumpIndex *index_a_ = nullptr, *index_b_ = nullptr;
  CutPrior prior_;
  std::vector<std::optional<CutFit>> fits_;  // by Pairing::tensors
};

}  // namespace

Result<PairedCuts> pair_cuts(const CompareSide& a, const CompareSide& b, const NameMap* map,
                             const RunContext& context) {
  return CutPairer(a, b, context).run(map);
}

}  // namespace msdump
