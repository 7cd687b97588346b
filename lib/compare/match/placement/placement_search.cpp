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

std::string key_of(const Placement& a, const Placement& b) { return key_of(a) + "| " + key_of(b); }

// `Samples`: ElementSamples or StatisticSamples.
template <class Samples>
class PlacementSearch {
 public:
  using Locals = typename Samples::Locals;

  PlacementSearch(Locals& a, Locals& b, const PlacementQuery& query, const PlacementPrior& prior)
      : locals_{&a, &b},
        shapes_{LocalShapes(a.shapes()), LocalShapes(b.shapes())},
        query_(query),
        prior_(prior),
        reduced_(kind_of(a.dtype()) == DTypeKind::kFloat) {}

  std::optional<PlacementFit> run() {
    Bounded<Shape> possible = global_shapes_of(locals_.a->shapes(), locals_.b->shapes());
    cut_off_ = possible.cut_off;
    for (Shape& shape : possible.items)
      globals_.push_back({shape, Samples::places_of(shape, query_.effort == PlacementQuery::Effort::kQuick), {}});
    size_t simple = 0;  // fits of the first stage that has any
    for (const PlacementStage stage : kPlacementStages) {
      if (stage > PlacementStage::kPlain && !Samples::kInOrder) break;
      if (stage == PlacementStage::kMixed && query_.effort != PlacementQuery::Effort::kThorough) break;
      if (stage == PlacementStage::kBlocks && query_.effort == PlacementQuery::Effort::kPlain) break;
      if (simple == 0) simple = fits_.size();
      for (Global& global : globals_) try_global(global, stage);
      if (best() >= kFits) break;
    }
    // Misfits are mostly replicas that differ, so maxima come last.
    if (Samples::kInOrder && best() < kFits) {
      for (Global& global : globals_) try_global(global, PlacementStage::kMaxima);
    }
    if (fits_.empty()) return std::nullopt;
    const bool fits = best() >= kFits;
    PlacementFit chosen = best() < kUnclear ? choose_unclear(simple == 0 ? fits_.size() : simple) : choose();
    chosen.cut_off = cut_off_ && !fits;
    const auto is_known = [&](Side side) { return query_.stated[side] || locals_[side]->shapes().size() == 1; };
    if (is_stated() && is_known(Side::kCandidate) && is_known(Side::kReference)) {
      chosen.confidence = 1;
      chosen.is_established = true;
    }
    return chosen;
  }

 private:
  struct Tried {
    std::vector<ScaledPlacement> placements;  // one placement, with its factors
    std::vector<double> values;               // of several replicas, if it is the candidate's
    std::vector<BlockedAxis> blocks;
    PlacementStage stage;

    [[nodiscard]] const Placement& placement() const { return placements.front().placement; }
  };
  struct Global {
    Shape shape;
    typename Samples::Places places;
    Sides<std::vector<Tried>> tried;  // so far
  };
  // PlacementFit without copies: there may be hundreds of thousands of them.
  struct Fit {
    const Shape* global = nullptr;
    const ScaledPlacement *a = nullptr, *b = nullptr;
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
      std::erase_if(placements, [&](const Placement& one) { return Samples::reduces_replicas(locals, one); });
    } else if (all.empty() && fits_shapes(*stated, shapes_[side], global.shape)) {
      placements = {*stated};
    }
    for (Placement& placement : placements) {
      Tried& one = all.emplace_back();
      const int64_t copies = placement.copies(),
                    tried = side == Side::kCandidate ? std::min(copies, int64_t{kFewTried}) : 1;
      for (int64_t i = 0; i < tried; ++i) {
        const std::vector<double> values =
            Samples::values_of(locals, placement, i * copies / tried, global.shape, global.places);
        one.values.insert(one.values.end(), values.begin(), values.end());
      }
      one.blocks = blocked_axes_of(placement, locals.shapes().front());
      one.stage = stage;
      one.placements = scaled_placements(std::move(placement), query_.factors[side], stated.has_value());
    }
  }

  void try_global(Global& global, PlacementStage stage) {
    for (const Side side : kBothSides) add_placements(side, global, stage);
    const bool hurry = global.tried.a.size() * global.tried.b.size() > kMostTried;
    for (const Tried& b : global.tried.b) {
      std::optional<typename Samples::Target> target;
      for (const Tried& a : global.tried.a) {
        if (std::max(a.stage, b.stage) != stage || (!is_stated() && !have_same_blocks(a.blocks, b.blocks))) continue;
        if (!target) target.emplace(b.values, roundings_of_both(), global.shape);
        if (stage == PlacementStage::kMaxima && !may_be_maxima(global, a, b, *target)) continue;
        fits_.push_back(fit_of(global.shape, a, b, *target, hurry));
      }
    }
  }

  // Maxima are tried beside plain placements alone, and count only if no single rank matches. The largest of replicas that
  // differ is near, too. But then one rank has the values, and the others are wrong.
  [[nodiscard]] bool may_be_maxima(const Global& global, const Tried& a, const Tried& b,
                                   const typename Samples::Target& target) const {
    const auto is_plain = [](const Tried& one) {
      return one.stage == PlacementStage::kPlain || one.stage == PlacementStage::kMaxima;
    };
    if (!is_plain(a) || !is_plain(b) || target.similarity(a.values, 1).agreement < kFits) return false;
    const auto any_rank_fits = [&](Side side, const Tried& one, const auto& fits) {
      if (one.stage != PlacementStage::kMaxima) return false;
      const Placement single = one.placement().after_reduction();
      for (int64_t copy = 0; copy < single.copies(); ++copy) {
        if (fits(Samples::values_of(*locals_[side], single, copy, global.shape, global.places))) return true;
      }
      return false;
    };
    const auto fits_a = [&](const std::vector<double>& rank) { return target.similarity(rank, 1).agreement >= kFits; };
    const auto fits_b = [&](const std::vector<double>& rank) {
      const typename Samples::Target of_rank(rank, roundings_of_both(), global.shape);
      return of_rank.similarity(a.values, 1).agreement >= kFits;
    };
    return !any_rank_fits(Side::kCandidate, a, fits_a) && !any_rank_fits(Side::kReference, b, fits_b);
  }

  [[nodiscard]] double roundings_of_both() const {
    return std::max(unit_roundoff(locals_.a->dtype()), unit_roundoff(locals_.b->dtype()));
  }

  Fit fit_of(const Shape& global, const Tried& a, const Tried& b, const typename Samples::Target& target,
             bool hurry) const {
    Fit fit = with_best_factor(a, b, target, hurry);
    fit.global = &global;
    fit.is_informative = Samples::is_informative(a.values, b.values);
    // The sum of replicas of which one is too large is a multiple, too.
    const bool adds = a.placement().adds() || b.placement().adds();
    if (fit.agreement < kUnclear && fit.is_informative && !adds) fit.scaled = target.scaled_agreement(a.values);
    return fit;
  }

  // The fit with the best of the factors that the placements explain.
  Fit with_best_factor(const Tried& a, const Tried& b, const typename Samples::Target& target, bool hurry) const {
    Fit best;
    std::vector<std::pair<double, Similarity>> known;
    const auto similarity = [&](double factor) {
      const auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.first == factor; });
      if (found != known.end()) return found->second;
      return known.emplace_back(factor, target.similarity(a.values, factor, hurry)).second;
    };
    for (const ScaledPlacement& of_a : a.placements) {
      for (const ScaledPlacement& of_b : b.placements) {
        const double factor = of_a.factor / of_b.factor;
        const Similarity near = similarity(factor);
        const bool better = best.a == nullptr || near.agreement > best.agreement + kSameShare ||
                            (near.agreement >= best.agreement && near.error < best.error / 3) ||
                            (near.agreement >= best.agreement && near.error <= best.error &&
                             complexity_of(of_a, of_b) < best.complexity());
        if (better) best = {nullptr, &of_a, &of_b, near.agreement, near.error, 0, false};
      }
    }
    return best;
  }

  [[nodiscard]] double best() const {
    double best = 0;
    for (const Fit& fit : fits_) best = std::max(best, fit.agreement);
    return best;
  }

  // The simplest fit but for a factor that no placement explains, such as a gradient that is sent twice. Null if none.
  [[nodiscard]] const Fit* scaled() const {
    const Fit* simplest = nullptr;
    for (const Fit& fit : fits_) {
      if (fit.scaled >= kFits && (simplest == nullptr || fit.complexity() < simplest->complexity())) simplest = &fit;
    }
    return simplest;
  }

  // If nothing fits, the best fit is chance: prefers the placement of the kind, else the simplest of the first `simple`.
  [[nodiscard]] PlacementFit choose_unclear(size_t simple) const {
    if (const Fit* const fit = scaled()) return certain(*fit, kFits / 2, true);
    if (const PlacementFit* const known = prior_.of_kind(query_.kind); known != nullptr) {
      for (const Fit& fit : fits_) {
        if (fit.a->placement.dims == known->a.dims && fit.b->placement.dims == known->b.dims)
          return certain(fit, known->confidence / 2, true);
      }
    }
    const auto key = [](const Fit& fit) { return std::pair(fit.complexity(), -fit.agreement); };
    const auto simplest = std::min_element(fits_.begin(), fits_.begin() + static_cast<std::ptrdiff_t>(simple),
                                           [&](const Fit& x, const Fit& y) { return key(x) < key(y); });
    const auto nearest =
        std::min_element(fits_.begin(), fits_.end(), [](const Fit& x, const Fit& y) { return x.error < y.error; });
    if (Samples::is_other_scalar(*locals_.a, *locals_.b)) return certain(*simplest, kFits / 2, true);
    const bool alike = Samples::kInOrder && nearest->error <= simplest->error / 2;
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
    return {{fit.a->placement, fit.b->placement},
            *fit.global,
            fit.agreement,
            fit.error,
            fit.is_informative,
            confidence,
            false,
            is_established};
  }

  const Sides<Locals*> locals_;
  const Sides<LocalShapes> shapes_;
  const PlacementQuery& query_;
  const PlacementPrior& prior_;
  const bool reduced_;
  bool cut_off_ = false;
  std::deque<Global> globals_;
  std::vector<Fit> fits_;
};

}  // namespace

void PlacementPrior::add(const std::string& kind, const PlacementFit& fit) {
  auto [known, is_new] = kinds_[kind].try_emplace(key_of(fit.a, fit.b), 0, fit);
  ++known->second.first;
}

const PlacementFit* PlacementPrior::of_kind(const std::string& kind) const {
  const auto found = kinds_.find(kind);
  if (found == kinds_.end()) return nullptr;
  const auto most = std::max_element(found->second.begin(), found->second.end(),
                                     [](const auto& x, const auto& y) { return x.second.first < y.second.first; });
  return &most->second.second;
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

template <class Samples>
std::optional<PlacementFit> search(typename Samples::Locals& a, typename Samples::Locals& b,
                                   const PlacementQuery& query, const PlacementPrior& prior) {
  if (!a.ok() || !b.ok() || a.shapes().empty() || b.shapes().empty()) return std::nullopt;
  if (element_count(a.shapes().front()).value_or(0) == 0 || !are_countable(a.shapes()) || !are_countable(b.shapes()))
    return std::nullopt;
  std::optional<PlacementFit> fit = PlacementSearch<Samples>(a, b, query, prior).run();
  // A placement that was found in spite of a failed read is no fit.
  return a.ok() && b.ok() ? fit : std::nullopt;
}

}  // namespace

std::optional<PlacementFit> find_placement(LocalValues& a, LocalValues& b, const PlacementQuery& query,
                                           const PlacementPrior& prior) {
  return search<ElementSamples>(a, b, query, prior);
}

std::optional<PlacementFit> find_placement(LocalStatistics& a, LocalStatistics& b, const PlacementQuery& query,
                                           const PlacementPrior& prior) {
  std::optional<PlacementFit> fit = search<StatisticSamples>(a, b, query, prior);
  if (fit && !query.stated.a && !query.stated.b) fit->confidence *= kCertain;
  return fit;
}

}  // namespace msdump
