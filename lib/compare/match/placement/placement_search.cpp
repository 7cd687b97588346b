#include "compare/match/placement/placement_search.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "compare/limits.h"
#include "compare/match/placement/placement_choices.h"
#include "tensor/dtype.h"

namespace msdump {
namespace {

constexpr double kSameShare = 0.02;  // agreements that are equal up to it

// True for two scalars of which neither is a multiple nor an integer fraction of the other, as numbers of ranks would make it.
bool are_other_scalars(std::optional<double> a, std::optional<double> b) {
  if (!a || !b || !std::isfinite(*a / *b) || *a == 0) return false;
  const double ratio = std::abs(*a / *b), multiple = std::max(ratio, 1 / ratio);
  return *a / *b < 0 || std::abs(multiple - std::round(multiple)) > kSameNumber * multiple;
}

// `Locals`: LocalValues or LocalStatistics.
template <class Locals>
class PlacementSearch {
 public:
  PlacementSearch(Locals& a, Locals& b, const PlacementQuery& query, const PlacementPrior& prior)
      : locals_{&a, &b},
        shapes_{LocalShapes(a.shapes()), LocalShapes(b.shapes())},
        query_(query),
        prior_(prior),
        reduced_(kind_of(a.dtype()) == DTypeKind::kFloat),
        roundoff_(std::max(unit_roundoff(a.dtype()), unit_roundoff(b.dtype()))) {}

  std::optional<PlacementFit> run() {
    Bounded<Shape> possible = global_shapes_of(locals_.a->shapes(), locals_.b->shapes());
    cut_off_ = possible.cut_off;
    for (Shape& shape : possible.items)
      globals_.push_back({shape, Locals::places_of(shape, query_.effort == PlacementQuery::Effort::kQuick), {}});
    size_t simple = 0;  // fits of the first stage that has any
    for (const PlacementStage stage : kPlacementStages) {
      if (stage > PlacementStage::kPlain && !Locals::kInOrder) break;
      if (stage == PlacementStage::kMixed && query_.effort != PlacementQuery::Effort::kThorough) break;
      if (stage == PlacementStage::kBlocks && query_.effort == PlacementQuery::Effort::kPlain) break;
      if (simple == 0) simple = fits_.size();
      for (Global& global : globals_) try_global(global, stage);
      if (best() >= kFits) break;
    }
    // Misfits are mostly replicas that differ, so maxima come last.
    if (Locals::kInOrder && best() < kFits) {
      for (Global& global : globals_) try_global(global, PlacementStage::kMaxima);
    }
    if (fits_.empty()) return std::nullopt;
    PlacementFit chosen = best() < kUnclear ? choose_unclear(simple == 0 ? fits_.size() : simple) : choose();
    chosen.cut_off = cut_off_ && best() < kFits;
    const auto is_known = [&](Side side) { return query_.stated[side] || locals_[side]->shapes().size() == 1; };
    if (is_stated() && is_known(Side::kCandidate) && is_known(Side::kReference)) {
      chosen.confidence = 1;
      chosen.is_established = true;
    }
    return chosen;
  }

 private:
  struct Tried {
    std::vector<Placement> placements;  // one placement, with its factors
    std::vector<double> values;         // of several replicas, if it is the candidate's
    std::vector<BlockedAxis> blocks;
    PlacementStage stage;

    [[nodiscard]] const Placement& placement() const { return placements.front(); }
  };
  struct Global {
    Shape shape;
    typename Locals::Places places;
    Sides<std::vector<Tried>> tried;  // so far
  };
  // PlacementFit without copies: there may be hundreds of thousands of them.
  struct Fit {
    const Shape* global = nullptr;
    const Placement *a = nullptr, *b = nullptr;
    double agreement = 0, error = 0;
    double scaled = 0;  // the agreement with the factor that fits best, whatever it is; 0: not looked for
    bool is_informative = false;

    [[nodiscard]] int complexity() const { return complexity_of(*a, *b); }
  };

  [[nodiscard]] bool is_stated() const { return query_.stated.a || query_.stated.b; }

  // Adds the placements that the stages before did not have.
  void add_placements(Side side, Global& global, PlacementStage stage) {
    Locals& locals = *locals_[side];
    const std::optional<Placement>& stated = query_.stated[side];
    std::vector<Tried>& all = global.tried[side];
    std::vector<Placement> placements;
    if (!stated) {
      Bounded<Placement> possible = placements_of(shapes_[side], global.shape, reduced_, stage);
      cut_off_ = cut_off_ || possible.cut_off;
      placements = std::move(possible.items);
      std::erase_if(placements, [&](const Placement& one) { return reduces_replicas(locals, one); });
    } else if (all.empty() && fits_shapes(*stated, shapes_[side], global.shape)) {
      placements = {*stated};
    }
    for (const Placement& placement : placements) {
      Tried& one = all.emplace_back();
      const int64_t copies = placement.copies(),
                    tried = side == Side::kCandidate ? std::min(copies, int64_t{kFewTried}) : 1;
      for (int64_t i = 0; i < tried; ++i) {
        const std::vector<double> values = locals.sample(placement, i * copies / tried, global.shape, global.places);
        one.values.insert(one.values.end(), values.begin(), values.end());
      }
      one.blocks = blocked_axes_of(placement, locals.shapes().front());
      one.stage = stage;
      one.placements = stated ? std::vector{placement} : with_factors(placement, query_.factors[side]);
    }
  }

  // True if two local tensors that the placement would reduce are equal. Partial sums never are, so the ranks hold replicas and
  // the placement is wrong.
  [[nodiscard]] static bool reduces_replicas(Locals& locals, const Placement& placement) {
    size_t stride = 1;
    for (const PlacementDim& dim : placement.dims) {
      const auto extent = static_cast<size_t>(dim.extent);
      const bool is_reduced = dim.traits().reduction != PieceOverlap::kNone;
      for (size_t rank = stride; is_reduced && rank < locals.shapes().size(); ++rank) {
        if (rank / stride % extent > 0 && locals.are_replicas(rank - stride, rank)) return true;
      }
      stride *= extent;
    }
    return false;
  }

  void try_global(Global& global, PlacementStage stage) {
    for (const Side side : kBothSides) add_placements(side, global, stage);
    const bool hurry = global.tried.a.size() * global.tried.b.size() > kMostTried;
    for (const Tried& b : global.tried.b) {
      std::optional<typename Locals::Target> target;
      for (const Tried& a : global.tried.a) {
        if (std::max(a.stage, b.stage) != stage || (!is_stated() && !have_same_blocks(a.blocks, b.blocks))) continue;
        if (!target) target.emplace(b.values, roundoff_, global.shape);
        if (stage == PlacementStage::kMaxima && !may_be_maxima(global, a, b, *target)) continue;
        fits_.push_back(fit_of(global.shape, a, b, *target, hurry));
      }
    }
  }

  // Maxima are tried beside plain placements alone, and count only if no single rank matches. The largest of replicas that
  // differ is near, too. But then one rank has the values, and the others are wrong.
  [[nodiscard]] bool may_be_maxima(const Global& global, const Tried& a, const Tried& b,
                                   const typename Locals::Target& target) const {
    const auto is_plain = [](const Tried& one) {
      return one.stage == PlacementStage::kPlain || one.stage == PlacementStage::kMaxima;
    };
    if (!is_plain(a) || !is_plain(b) || target.similarity(a.values, 1).agreement < kFits) return false;
    const auto any_rank_fits = [&](Side side, const Tried& one, const auto& fits) {
      if (one.stage != PlacementStage::kMaxima) return false;
      const Placement single = one.placement().after_reduction();
      for (int64_t copy = 0; copy < single.copies(); ++copy) {
        if (fits(locals_[side]->sample(single, copy, global.shape, global.places))) return true;
      }
      return false;
    };
    const auto fits_a = [&](const std::vector<double>& rank) { return target.similarity(rank, 1).agreement >= kFits; };
    const auto fits_b = [&](const std::vector<double>& rank) {
      const typename Locals::Target of_rank(rank, roundoff_, global.shape);
      return of_rank.similarity(a.values, 1).agreement >= kFits;
    };
    return !any_rank_fits(Side::kCandidate, a, fits_a) && !any_rank_fits(Side::kReference, b, fits_b);
  }

  // The fit with the best of the factors that the placements explain.
  Fit fit_of(const Shape& global, const Tried& a, const Tried& b, const typename Locals::Target& target,
             bool hurry) const {
    Fit best;
    std::vector<std::pair<double, Similarity>> known;
    const auto similarity = [&](double factor) {
      const auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.first == factor; });
      if (found != known.end()) return found->second;
      return known.emplace_back(factor, target.similarity(a.values, factor, hurry)).second;
    };
    for (const Placement& of_a : a.placements) {
      for (const Placement& of_b : b.placements) {
        const Similarity near = similarity(of_a.scale() / of_b.scale());
        const bool better = best.a == nullptr || near.agreement > best.agreement + kSameShare ||
                            (near.agreement >= best.agreement && near.error < best.error / 3) ||
                            (near.agreement >= best.agreement && near.error <= best.error &&
                             complexity_of(of_a, of_b) < best.complexity());
        if (better) best = {&global, &of_a, &of_b, near.agreement, near.error, 0, target.is_informative()};
      }
    }
    // The sum of replicas of which one is too large is a multiple, too.
    const bool adds = a.placement().adds() || b.placement().adds();
    if (best.agreement < kUnclear && best.is_informative && !adds) best.scaled = target.scaled_agreement(a.values);
    return best;
  }

  [[nodiscard]] double best() const {
    double best = 0;
    for (const Fit& fit : fits_) best = std::max(best, fit.agreement);
    return best;
  }

  // If nothing fits, the best fit is chance: prefers the placement of the kind, else the simplest of the first `simple`.
  [[nodiscard]] PlacementFit choose_unclear(size_t simple) const {
    // The simplest fit but for a factor that no placement explains, such as a gradient that is sent twice.
    const Fit* scaled = nullptr;
    for (const Fit& fit : fits_) {
      if (fit.scaled >= kFits && (scaled == nullptr || fit.complexity() < scaled->complexity())) scaled = &fit;
    }
    if (scaled != nullptr) return certain(*scaled, kFits / 2, true);
    if (const PlacementFit* const known = prior_.of_kind(query_.kind); known != nullptr) {
      for (const Fit& fit : fits_) {
        if (fit.a->dims == known->a.dims && fit.b->dims == known->b.dims)
          return certain(fit, known->confidence / 2, true);
      }
    }
    const auto key = [](const Fit& fit) { return std::pair(fit.complexity(), -fit.agreement); };
    const auto simplest = std::min_element(fits_.begin(), fits_.begin() + static_cast<std::ptrdiff_t>(simple),
                                           [&](const Fit& x, const Fit& y) { return key(x) < key(y); });
    const auto nearest =
        std::min_element(fits_.begin(), fits_.end(), [](const Fit& x, const Fit& y) { return x.error < y.error; });
    if (are_other_scalars(locals_.a->scalar(), locals_.b->scalar())) return certain(*simplest, kFits / 2, true);
    const bool alike = Locals::kInOrder && nearest->error <= simplest->error / 2;
    return alike ? certain(*nearest, nearest->agreement / 2, true) : certain(*simplest, simplest->agreement / 2, false);
  }

  // The simplest of the placements that fit best. Half as sure if another one is as simple.
  [[nodiscard]] PlacementFit choose() const {
    const double most = best();
    double least = INFINITY;
    for (const Fit& fit : fits_) {
      if (fit.agreement >= most - kSameShare) least = std::min(least, fit.error);
    }
    const Fit* chosen = nullptr;
    size_t alike = 0;
    for (const Fit& fit : fits_) {
      if (fit.agreement < most - kSameShare || fit.error > 3 * least + 1e-6) continue;
      const int more = chosen == nullptr ? -1 : fit.complexity() - chosen->complexity();
      if (more > 0) continue;
      alike = more == 0 ? alike + 1 : 1;
      if (more < 0) chosen = &fit;
    }
    return certain(*chosen, alike > 1 ? most / 2 : most, true);
  }

  static PlacementFit certain(const Fit& fit, double confidence, bool is_established) {
    return {{*fit.a, *fit.b},   *fit.global, fit.agreement, fit.error,
            fit.is_informative, confidence,  false,         is_established};
  }

  const Sides<Locals*> locals_;
  const Sides<LocalShapes> shapes_;
  const PlacementQuery& query_;
  const PlacementPrior& prior_;
  const bool reduced_;
  const double roundoff_;  // of both
  bool cut_off_ = false;
  std::deque<Global> globals_;
  std::vector<Fit> fits_;
};

}  // namespace

void PlacementPrior::add(const std::string& kind, const PlacementFit& fit) {
  std::vector<std::pair<uint64_t, PlacementFit>>& of_kind = kinds_[kind];
  const auto same = [&](const auto& known) { return known.second.a == fit.a && known.second.b == fit.b; };
  auto known = std::find_if(of_kind.begin(), of_kind.end(), same);
  if (known == of_kind.end()) known = of_kind.emplace(known, 0, fit);
  ++known->first;
}

const PlacementFit* PlacementPrior::of_kind(const std::string& kind) const {
  const auto found = kinds_.find(kind);
  if (found == kinds_.end()) return nullptr;
  return &std::max_element(found->second.begin(), found->second.end(), [](const auto& x, const auto& y) {
            return x.first < y.first;
          })->second;
}

namespace {

// True if the elements of all ranks together can be counted. Tensors without elements may have any shape.
bool are_countable(const std::vector<Shape>& locals) {
  int64_t longest = 0;
  for (const Shape& one : locals) {
    for (const int64_t extent : one) longest = std::max(longest, extent);
  }
  return checked_mul<int64_t>(longest, 4 * static_cast<int64_t>(locals.size())).has_value();
}

}  // namespace

template <class Locals>
std::optional<PlacementFit> find_placement(Locals& a, Locals& b, const PlacementQuery& query,
                                           const PlacementPrior& prior) {
  if (!a.ok() || !b.ok() || a.shapes().empty() || b.shapes().empty()) return std::nullopt;
  if (element_count(a.shapes().front()).value_or(0) == 0 || !are_countable(a.shapes()) || !are_countable(b.shapes()))
    return std::nullopt;
  std::optional<PlacementFit> fit = PlacementSearch<Locals>(a, b, query, prior).run();
  // A placement that was found in spite of a failed read is no fit.
  if (!a.ok() || !b.ok()) return std::nullopt;
  if (fit && !Locals::kInOrder && !query.stated.a && !query.stated.b) fit->confidence *= kCertain;
  return fit;
}

template std::optional<PlacementFit> find_placement(LocalValues&, LocalValues&, const PlacementQuery&,
                                                    const PlacementPrior&);
template std::optional<PlacementFit> find_placement(LocalStatistics&, LocalStatistics&, const PlacementQuery&,
                                                    const PlacementPrior&);

}  // namespace msdump
