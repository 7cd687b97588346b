#include "compare/match/cut/whole_tensors.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/hash_slots.h"
#include "compare/statistics/record_diff.h"

namespace msdump {
namespace {

constexpr size_t kMostDifferent = 8;  // copies of a tensor

std::vector<int64_t> known_ranks(const std::vector<int64_t>& ranks) {
  std::vector<int64_t> known = ranks;
  std::erase_if(known, [](int64_t rank) { return rank < 0; });
  return known;
}

class WholeTensors {
 public:
  explicit WholeTensors(CutMatch& match) : match_(match) {}

  Status run() {
    match_.result.notes.resize(match_.fits.size());
    std::vector<TensorPieces> pieces(match_.fits.size());
    match_.context.pool.parallel_for(static_cast<int64_t>(match_.fits.size()), [&](int64_t i) {
      const auto place = static_cast<size_t>(i);
      if (!match_.fits[place] || match_.context.cancel.cancelled()) return;
      pieces[place] =
          candidate_pieces(match_.result.pairing.tensors[place], *match_.fits[place], match_.result.notes[place]);
    });
    MSDUMP_CHECK_OK(match_.context.cancel.check());
    if (has_more_copies_) {
      match_.limits.insert(
          {"different_copies", kMostDifferent, "of more copies of a tensor that differ, not all were compared"});
    }
    for (size_t i = 0; i < match_.fits.size(); ++i) {
      const TensorPair& pair = match_.result.pairing.tensors[i];
      const CutFit* const fit = match_.fits[i] ? &*match_.fits[i] : nullptr;
      std::string& problem = match_.result.notes[i].problem;
      if (paired(pair)) problem = match_.problem_of(true, pair.a, fit);
      if (paired(pair) && problem.empty()) problem = match_.problem_of(false, pair.b, fit);
      if (fit == nullptr) {
        if (paired(pair) && problem.empty()) find_lost_part(pair, match_.result.notes[i]);
        continue;
      }
      CutNote& note = match_.result.notes[i];
      const std::vector<int64_t>&ranks_a = match_.result.a->ranks(pair.a), &ranks_b = match_.result.b->ranks(pair.b);
      note.layout = text_of(fit->a, ranks_a);
      note.reference_layout = text_of(fit->b, ranks_b);
      note.ranks = known_ranks(ranks_a);
      if (note.ranks.empty()) note.ranks = known_ranks(ranks_b);
      note.confidence = fit->confidence;
      note.known = fit->known;
      note.a = fit->a;
      note.b = fit->b;
      match_.result.a->set_pieces(pair.a, std::move(pieces[i]));
      match_.result.b->set_pieces(pair.b, pieces_of(fit->b, match_.result.b->members(pair.b).records, fit->whole, 0));
    }
    return {};
  }

 private:
  void find_lost_part(const TensorPair& pair, CutNote& note) const {
    for (const bool of_a : {true, false}) {
      const CutSide& side = of_a ? *match_.result.a : *match_.result.b;
      const uint32_t tensor = of_a ? pair.a : pair.b;
      const std::vector<int64_t>& ranks = side.ranks(tensor);
      for (size_t i = 0; ranks.size() > 1 && i < ranks.size(); ++i) {
        const TensorRecord* const& part = side.members(tensor).records[i];
        if (part != nullptr && !was_unreadable(side, *part) && ok(match_.pieces_of(of_a, {&part, 1}))) continue;
        const std::string rank = fmt::format("rank {} of the {}", ranks[i], of_a ? "candidate" : "reference");
        if (part == nullptr) {
          note.lacking = rank + " does not have it";
        } else {
          note.unreadable = "the part of " + rank + " cannot be read";
        }
        return;
      }
    }
  }

  // True if the file could not be read when a layout was looked for, though it may be now.
  [[nodiscard]] static bool was_unreadable(const CutSide& side, const TensorRecord& part) {
    const DumpIndex& index = *side.side().index;
    return side.contents().failures().has(index.path_of(index.files()[part.file]));
  }

  // Of copies that are not equal the one that is furthest from the reference is compared.
  [[nodiscard]] TensorPieces candidate_pieces(const TensorPair& pair, const CutFit& fit, CutNote& note) {
    const auto of_copy = [&](int64_t copy) {
      return pieces_of(fit.a, match_.result.a->members(pair.a).records, fit.whole, copy);
    };
    const std::vector<int64_t> different = different_copies(pair.a, fit.a, note);
    if (different.size() < 2) return of_copy(0);
    TensorRecord whole = match_.result.a->tensors()[pair.a], other = match_.result.b->tensors()[pair.b];
    const TensorPieces reference = pieces_of(fit.b, match_.result.b->members(pair.b).records, fit.whole, 0);
    TensorView view_b, view_a;
    view_b.pieces = &reference;
    other.view = &view_b;
    int64_t worst = 0;
    double most = -1;
    for (const int64_t copy : different) {
      const TensorPieces pieces = of_copy(copy);
      view_a.pieces = &pieces;
      whole.view = &view_a;
      // What cannot be read is reported when it is compared.
      const auto diff = diff_records({*match_.index_a, match_.tables_a}, whole, {*match_.index_b, match_.tables_b},
                                     other, {}, match_.context);
      const double error = diff ? diff->error().value_or(INFINITY) : -1;
      if (error <= most) continue;
      most = error;
      worst = copy;
    }
    return of_copy(worst);
  }

  // One of each kind, the most frequent first.
  [[nodiscard]] std::vector<int64_t> different_copies(uint32_t tensor, const CutLayout& layout, CutNote& note) {
    const int64_t copies = layout.copies();
    if (copies < 2) return {0};
    const auto digests = match_.digests_of(match_.cut_of(true), tensor);
    if (!digests || digests->empty()) return {0};
    std::vector<uint64_t> of_copy(static_cast<size_t>(copies), 1);
    for (size_t rank = 0; rank < digests->size(); ++rank) {
      uint64_t& all = of_copy[static_cast<size_t>(layout.copy_of(static_cast<int64_t>(rank)))];
      all = mix_hash(all, (*digests)[rank]);
    }
    std::map<uint64_t, std::pair<size_t, int64_t>> kinds;  // how many, and the first of them
    for (int64_t copy = 0; copy < copies; ++copy)
      ++kinds.try_emplace(of_copy[static_cast<size_t>(copy)], 0, copy).first->second.first;
    if (kinds.size() < 2) return {0};
    const auto usual = std::max_element(kinds.begin(), kinds.end(), [](const auto& x, const auto& y) {
      return std::pair(x.second.first, -x.second.second) < std::pair(y.second.first, -y.second.second);
    });
    note.uneven = true;
    std::vector<int64_t> different = {usual->second.second};
    for (const auto& [digest, kind] : kinds) {
      if (digest != usual->first && different.size() < kMostDifferent) different.push_back(kind.second);
    }
    if (different.size() < kinds.size()) has_more_copies_ = true;
    return different;
  }

  CutMatch& match_;
  std::atomic<bool> has_more_copies_ = false;
};

}  // namespace

Status put_together(CutMatch& match) { return WholeTensors(match).run(); }

}  // namespace msdump
