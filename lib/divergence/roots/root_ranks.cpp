#include "divergence/roots/root_ranks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "divergence/model/constants.h"
#include "dump/elements/host_tensor.h"

namespace msdump {
namespace {

// Of one part; none where it cannot be compared.
class PartErrors {
 public:
  PartErrors(const CutSide& a, const CutSide& b, const TensorPair& pair, const CutLayout& layout,
             const CancelToken& cancel)
      : a_(a), b_(b), pair_(pair), layout_(layout), cancel_(cancel) {
    for (const TensorRecord* const record : a.members(pair.a).records) {
      if (record != nullptr && record->shape != nullptr) shapes_.push_back(*record->shape);
    }
  }

  [[nodiscard]] std::optional<double> of(size_t place) const {
    const TensorRecord* const piece = a_.members(pair_.a).records[place];
    const TensorRecord* const whole = b_.members(pair_.b).records.front();
    if (shapes_.size() != a_.members(pair_.a).records.size() || whole == nullptr || whole->shape == nullptr) return {};
    std::vector<PieceBox> boxes = boxes_of(layout_, static_cast<int64_t>(place), shapes_, *whole->shape);
    if (boxes.empty()) return {};
    TensorPieces own = pieces_of(piece), theirs = pieces_of(whole);
    own.factor = layout_.factor;
    own.shape = theirs.shape = *piece->shape;
    for (PieceBox& box : boxes) {
      theirs.boxes.push_back({0, box.to, box.from, box.size});
      own.boxes.push_back({0, box.from, box.from, std::move(box.size)});
    }
    return error_of(own, theirs);
  }

 private:
  static TensorPieces pieces_of(const TensorRecord* record) {
    TensorPieces pieces;
    pieces.records = {record};
    return pieces;
  }

  [[nodiscard]] std::optional<double> error_of(const TensorPieces& own, const TensorPieces& theirs) const {
    TensorRecord left = a_.tensors()[pair_.a], right = b_.tensors()[pair_.b];
    TensorView view_a, view_b;
    view_a.pieces = &own;
    view_b.pieces = &theirs;
    left.view = &view_a;
    right.view = &view_b;
    auto opened = open_pair(*a_.side().index, left, *b_.side().index, right);
    if (!opened) return {};
    const auto diff = diff_tensors(opened->left, opened->right, {}, cancel_);
    if (!diff || diff->verdict == Verdict::kShape) return {};
    if (diff->verdict == Verdict::kSame) return 0;
    return diff->verdict == Verdict::kNan ? std::numeric_limits<double>::infinity() : diff->metrics.relative_l2;
  }

  const CutSide &a_, &b_;
  const TensorPair& pair_;
  const CutLayout& layout_;
  const CancelToken& cancel_;
  std::vector<Shape> shapes_;
};

// Ranks of the candidate, ascending: those whose part has more than a tenth of the error of the worst. Empty where that
// cannot be told: of the terms of a sum, of a reference that is cut itself, of parts that cannot be read.
std::vector<int64_t> ranks_that_differ(const CutSide& a, const CutSide& b, const TensorPair& pair, const CutNote& note,
                                       const CancelToken& cancel) {
  constexpr double kShareOfWorst = 0.1;
  if (pair.a == kNoTensor || pair.b == kNoTensor) return {};
  if (note.ranks.size() < 2) return note.ranks;
  const auto is_no_part = [](const CutDim& dim) { return is_reduced(dim.role) || dim.role == CutRole::kGathered; };
  if (std::any_of(note.a.dims.begin(), note.a.dims.end(), is_no_part)) return {};
  const bool reference_is_whole =
      std::all_of(note.b.dims.begin(), note.b.dims.end(), [](const CutDim& dim) { return dim.role == CutRole::kCopy; });
  const std::vector<int64_t>& ranks = a.ranks(pair.a);
  if (!reference_is_whole || note.b.factor != 1 || ranks.size() != note.ranks.size()) return {};
  const PartErrors errors(a, b, pair, note.a, cancel);
  std::vector<double> by_place;
  for (size_t place = 0; place < ranks.size(); ++place) {
    const std::optional<double> error = errors.of(place);
    if (!error) return {};
    by_place.push_back(*error);
  }
  const double worst = *std::max_element(by_place.begin(), by_place.end());
  std::vector<int64_t> found;
  for (size_t place = 0; place < ranks.size(); ++place) {
    if (by_place[place] > 0 && by_place[place] >= kShareOfWorst * worst) found.push_back(ranks[place]);
  }
  return found;
}

}  // namespace

void find_ranks(DiffResult& run, const CancelToken& cancel) {
  for (Divergence& root : run.divergence.roots) {
    if (!root.ranks.empty()) continue;
    std::vector<uint32_t> evidence = root.outputs;
    evidence.insert(evidence.end(), root.inputs.begin(), root.inputs.end());
    const auto tells = std::find_if(evidence.begin(), evidence.end(), [&](uint32_t tensor) {
      const TensorDiff& diff = run.diffs[tensor];
      const bool near = diff.metrics.relative_l2.value_or(kMostError) < kMostError;  // another layout is not
      return is_difference(diff.verdict) && (run.cut_evidence.known[tensor] || near);
    });
    if (tells == evidence.end()) continue;
    root.ranks = ranks_that_differ(*run.cut_a, *run.cut_b, run.pairing.tensors[*tells], run.cuts[*tells], cancel);
  }
}

}  // namespace msdump
