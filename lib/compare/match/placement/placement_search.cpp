#include "compare/match/placement/placement_search.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "compare/match/placement/placement_choices.h"
#include "compare/match/placement/placement_samples.h"
#include "tensor/dtype.h"

namespace msdump {
namespace {

constexpr int64_t kCopiesTried = 4;  // that are looked at
constexpr double kRoundings = 4;     // of the dtype
constexpr double kFits = 0.9, kUnclear = 0.6, kAlike = 0.02;
constexpr double kFar = 0.05;     // of the error of the next best
constexpr double kSimilar = 0.5;  // error: that of other elements is above 1, that of one term of a sum above 0.7
constexpr double kFactorSlack = 0.02;
constexpr size_t kFewPairs = 64;       // of layouts: all values of these are looked at
constexpr double kOfStatistics = 0.8;  // of the confidence: they do not say which element is where

std::string key_of(const CutLayout& a, const CutLayout& b) { return key_of(a) + "| " + key_of(b); }

// `Samples`: ElementSamples or StatisticSamples.
template <class Samples>
class Search {
 public:
  using Pieces = typename Samples::Pieces;

  Search(Pieces& a, Pieces& b, const CutQuestion& question, const CutPrior& prior)
      : a_(a),
        b_(b),
        shapes_a_(a.shapes()),
        shapes_b_(b.shapes()),
        question_(question),
        prior_(prior),
        reduced_(kind_of(a.dtype()) == DTypeKind::kFloat) {}

  std::optional<CutFit> run() {
    Bounded<Shape> wholes = wholes_of(a_.shapes(), b_.shapes());
    cut_off_ = wholes.cut_off;
    for (Shape& whole : wholes.items)
      wholes_.push_back({whole, Samples::places_of(whole, question_.effort == CutQuestion::Effort::kQuick), {}, {}});
    size_t simple = 0;  // how many the first stage with any has
    for (const CutStage stage : kCutStages) {
      if (stage > CutStage::kPlain && !Samples::kInOrder) break;
      if (stage == CutStage::kMixed && question_.effort != CutQuestion::Effort::kThorough) break;
      if (stage == CutStage::kGroups && question_.effort == CutQuestion::Effort::kPlain) break;
      if (simple == 0) simple = fits_.size();
      for (Whole& whole : wholes_) try_whole(whole, stage);
      if (best() >= kFits) break;
    }
    // Most that does not fit is odd copies, and not maxima.
    if (Samples::kInOrder && best() < kFits) {
      for (Whole& whole : wholes_) try_whole(whole, CutStage::kMaxima);
    }
    if (fits_.empty()) return std::nullopt;
    const bool fits = best() >= kFits;
    CutFit chosen = best() < kUnclear ? choose_unclear(simple == 0 ? fits_.size() : simple) : choose();
    chosen.cut_off = cut_off_ && !fits;
    const bool a_known = question_.stated_a || a_.shapes().size() == 1;
    const bool b_known = question_.stated_b || b_.shapes().size() == 1;
    const bool all_known = a_known && b_known && (question_.stated_a || question_.stated_b);
    if (all_known) {
      chosen.confidence = 1;
      chosen.known = true;
    }
    return chosen;
  }

 private:
  struct Tried {
    std::vector<ScaledLayout> layouts;  // one layout, with its factors
    std::vector<double> values;         // of several copies of the candidate
    std::vector<CutGroup> groups;
    CutStage stage;

    [[nodiscard]] const CutLayout& layout() const { return layouts.front().layout; }
  };
  struct Whole {
    Shape shape;
    typename Samples::Places places;
    std::vector<Tried> a, b;  // so far
  };
  // CutFit without copies: there may be hundreds of thousands of them.
  struct Fit {
    const Shape* whole = nullptr;
    const ScaledLayout *a = nullptr, *b = nullptr;
    double agreement = 0, error = 0;
    double scaled = 0;  // the agreement with the factor that fits best, whatever it is; 0: not looked for
    bool tells = false;

    [[nodiscard]] int complexity() const { return complexity_of(*a, *b); }
  };

  // Those that the stages before did not have.
  void add_layouts(bool of_a, const Whole& whole, CutStage stage, std::vector<Tried>& all) {
    Pieces& side = of_a ? a_ : b_;
    const PieceShapes& shapes = of_a ? shapes_a_ : shapes_b_;
    const std::optional<CutLayout>& stated = of_a ? question_.stated_a : question_.stated_b;
    std::vector<CutLayout> layouts;
    if (!stated) {
      Bounded<CutLayout> possible = layouts_of(shapes, whole.shape, reduced_, stage);
      cut_off_ = cut_off_ || possible.cut_off;
      layouts = std::move(possible.items);
      std::erase_if(layouts, [&](const CutLayout& layout) { return Samples::reduces_equals(side, layout); });
    } else if (all.empty() && fits_shapes(*stated, shapes, whole.shape)) {
      layouts = {*stated};
    }
    for (CutLayout& layout : layouts) {
      Tried& one = all.emplace_back();
      const int64_t copies = layout.copies(), looked_at = of_a ? std::min(copies, kCopiesTried) : 1;
      for (int64_t i = 0; i < looked_at; ++i) {
        const std::vector<double> values =
            Samples::values_of(side, layout, i * copies / looked_at, whole.shape, whole.places);
        one.values.insert(one.values.end(), values.begin(), values.end());
      }
      one.groups = groups_of(layout, side.shapes().front());
      one.stage = stage;
      one.layouts =
          scaled_layouts(std::move(layout), of_a ? question_.factors_a : question_.factors_b, stated.has_value());
    }
  }

  void try_whole(Whole& whole, CutStage stage) {
    add_layouts(true, whole, stage, whole.a);
    add_layouts(false, whole, stage, whole.b);
    const bool hurry = whole.a.size() * whole.b.size() > kFewPairs;
    const bool stated = question_.stated_a || question_.stated_b;
    for (const Tried& b : whole.b) {
      std::optional<typename Samples::Target> target;
      for (const Tried& a : whole.a) {
        if (std::max(a.stage, b.stage) != stage || (!stated && !may_go_together(a.groups, b.groups))) continue;
        if (!target) target.emplace(b.values, roundings_of_both(), whole.shape);
        if (stage == CutStage::kMaxima && !may_be_maxima(whole, a, b, *target)) continue;
        fits_.push_back(fit_of(whole.shape, a, b, *target, hurry));
      }
    }
  }

  // Beside plain layouts alone, and if they fit: of odd copies, too, the largest are near. Where those of one rank alone fit,
  // the others are odd.
  [[nodiscard]] bool may_be_maxima(const Whole& whole, const Tried& a, const Tried& b,
                                   const typename Samples::Target& target) const {
    const auto is_plain = [](const Tried& one) {
      return one.stage == CutStage::kPlain || one.stage == CutStage::kMaxima;
    };
    const bool of_a = a.stage == CutStage::kMaxima, of_b = b.stage == CutStage::kMaxima;
    if (!is_plain(a) || !is_plain(b) || target.nearness(a.values, 1).agreement < kFits) return false;
    const auto any_rank = [&](Pieces& side, CutLayout layout, const auto& fits) {
      for (CutDim& dim : layout.dims) {
        if (dim.role == CutRole::kMax) dim.role = CutRole::kCopy;
      }
      for (int64_t copy = 0; copy < layout.copies(); ++copy) {
        if (fits(Samples::values_of(side, layout, copy, whole.shape, whole.places))) return true;
      }
      return false;
    };
    const double roundings = roundings_of_both();
    return !(of_a && any_rank(a_, a.layout(),
                              [&](const auto& of_rank) { return target.nearness(of_rank, 1).agreement >= kFits; })) &&
           !(of_b && any_rank(b_, b.layout(), [&](const auto& of_rank) {
               return
                   typename Samples::Target(of_rank, roundings, whole.shape).nearness(a.values, 1).agreement >= kFits;
             }));
  }

  [[nodiscard]] double roundings_of_both() const {
    return kRoundings * std::max(unit_roundoff(a_.dtype()), unit_roundoff(b_.dtype()));
  }

  Fit fit_of(const Shape& whole, const Tried& a, const Tried& b, const typename Samples::Target& target,
             bool hurry) const {
    Fit fit = with_best_factor(a, b, target, hurry);
    fit.whole = &whole;
    fit.tells = Samples::tell(a.values, b.values);
    // Copies of which one is too large add up to a multiple, too.
    const bool adds = a.layout().adds() || b.layout().adds();
    if (fit.agreement < kUnclear && fit.tells && !adds) fit.scaled = target.scaled_agreement(a.values);
    return fit;
  }

  // Among those that the layouts explain.
  Fit with_best_factor(const Tried& a, const Tried& b, const typename Samples::Target& target, bool hurry) const {
    Fit best;
    std::vector<std::pair<double, Nearness>> known;
    const auto nearness = [&](double factor) {
      const auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.first == factor; });
      if (found != known.end()) return found->second;
      return known.emplace_back(factor, target.nearness(a.values, factor, hurry)).second;
    };
    for (const ScaledLayout& of_a : a.layouts) {
      for (const ScaledLayout& of_b : b.layouts) {
        const double factor = of_a.factor / of_b.factor;
        const bool any = best.a != nullptr;
        if (any && std::abs(factor - 1) < kFactorSlack) continue;
        const Nearness near = nearness(factor);
        const bool better = !any || near.agreement > best.agreement + kAlike ||
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

  // The simplest of those that fit but for a factor that no layout explains, as of a gradient that is sent twice. Null: none.
  [[nodiscard]] const Fit* scaled() const {
    const Fit* simplest = nullptr;
    for (const Fit& fit : fits_) {
      if (fit.scaled >= kFits && (simplest == nullptr || fit.complexity() < simplest->complexity())) simplest = &fit;
    }
    return simplest;
  }

  // Where nothing fits, what fits best does so by chance: the layout of the kind, else the simplest of the first `simple`.
  [[nodiscard]] CutFit choose_unclear(size_t simple) const {
    if (const Fit* const fit = scaled()) return certain(*fit, kFits / 2, true);
    if (const CutFit* const known = prior_.of_kind(question_.kind); known != nullptr) {
      for (const Fit& fit : fits_) {
        if (fit.a->layout.dims == known->a.dims && fit.b->layout.dims == known->b.dims)
          return certain(fit, known->confidence / 2, true);
      }
    }
    const auto key = [](const Fit& fit) { return std::pair(fit.complexity(), -fit.agreement); };
    const auto simplest = std::min_element(fits_.begin(), fits_.begin() + static_cast<std::ptrdiff_t>(simple),
                                           [&](const Fit& x, const Fit& y) { return key(x) < key(y); });
    const auto nearest =
        std::min_element(fits_.begin(), fits_.end(), [](const Fit& x, const Fit& y) { return x.error < y.error; });
    if (Samples::is_other_number(a_, b_)) return certain(*simplest, kFits / 2, true);
    const bool alike = Samples::kInOrder && nearest->error <= std::min(kSimilar, simplest->error / 2);
    return alike ? certain(*nearest, nearest->agreement / 2, true) : certain(*simplest, simplest->agreement / 2, false);
  }

  // What is gathered is taken only if it fits: it is more than the values of what does not fit can say.
  [[nodiscard]] static bool may_be_chosen(const Fit& fit) {
    const auto gathered = [](const ScaledLayout* one) { return one->layout.has(CutRole::kGathered); };
    return fit.agreement >= kFits || !(gathered(fit.a) || gathered(fit.b));
  }

  [[nodiscard]] CutFit choose() const {
    double most = 0, least = INFINITY;
    for (const Fit& fit : fits_) {
      if (may_be_chosen(fit)) most = std::max(most, fit.agreement);
    }
    for (const Fit& fit : fits_) {
      if (may_be_chosen(fit) && fit.agreement >= most - kAlike) least = std::min(least, fit.error);
    }
    const Fit* chosen = nullptr;
    const auto rank = [&](const Fit& fit) {
      return std::pair(prior_.count(question_.kind, fit.a->layout, fit.b->layout), -fit.complexity());
    };
    size_t alike = 0;
    double second = 0, next_error = INFINITY;
    for (const Fit& fit : fits_) {
      if (!may_be_chosen(fit)) continue;
      const bool fits = fit.agreement >= most - kAlike && fit.error <= 3 * least + 1e-6;
      if (!fits) {
        second = std::max(second, fit.agreement);
        next_error = std::min(next_error, fit.error);
        continue;
      }
      if (chosen != nullptr && rank(fit) == rank(*chosen)) ++alike;  // nothing tells which
      if (chosen != nullptr && rank(fit) <= rank(*chosen)) continue;
      chosen = &fit;
      alike = 1;
    }
    const bool far = least <= kFar * next_error;
    const double clear = far ? 1 : std::clamp((most - second) / 0.5, 0.5, 1.0);
    return certain(*chosen, alike > 1 ? 0.5 * most : most * clear, true);
  }

  static CutFit certain(const Fit& fit, double confidence, bool known) {
    return {*fit.whole, fit.a->layout, fit.b->layout, fit.agreement, fit.error, fit.tells, confidence, false, known};
  }

  Pieces &a_, &b_;
  const PieceShapes shapes_a_, shapes_b_;
  const CutQuestion& question_;
  const CutPrior& prior_;
  const bool reduced_;
  bool cut_off_ = false;
  std::deque<Whole> wholes_;
  std::vector<Fit> fits_;
};

}  // namespace

void CutPrior::add(const std::string& kind, const CutFit& fit) {
  auto [known, is_new] = kinds_[kind].try_emplace(key_of(fit.a, fit.b), 0, fit);
  ++known->second.first;
}

const CutFit* CutPrior::of_kind(const std::string& kind) const {
  const auto found = kinds_.find(kind);
  if (found == kinds_.end()) return nullptr;
  const auto most = std::max_element(found->second.begin(), found->second.end(),
                                     [](const auto& x, const auto& y) { return x.second.first < y.second.first; });
  return &most->second.second;
}

uint64_t CutPrior::count(const std::string& kind, const CutLayout& a, const CutLayout& b) const {
  const auto of_kind = kinds_.find(kind);
  if (of_kind == kinds_.end()) return 0;
  const auto found = of_kind->second.find(key_of(a, b));
  return found == of_kind->second.end() ? 0 : found->second.first;
}

namespace {

// True if what all ranks have together, side by side, can be counted. The shapes of tensors without elements may be any.
bool have_wholes(const std::vector<Shape>& pieces) {
  int64_t longest = 0;
  for (const Shape& one : pieces) {
    for (const int64_t extent : one) longest = std::max(longest, extent);
  }
  return checked_mul<int64_t>(longest, 4 * static_cast<int64_t>(pieces.size())).has_value();
}

template <class Samples>
std::optional<CutFit> search(typename Samples::Pieces& a, typename Samples::Pieces& b, const CutQuestion& question,
                             const CutPrior& prior) {
  if (!a.ok() || !b.ok() || a.shapes().empty() || b.shapes().empty()) return std::nullopt;
  if (element_count(a.shapes().front()).value_or(0) == 0 || !have_wholes(a.shapes()) || !have_wholes(b.shapes()))
    return std::nullopt;
  std::optional<CutFit> fit = Search<Samples>(a, b, question, prior).run();
  // What is not read does not fit.
  return a.ok() && b.ok() ? fit : std::nullopt;
}

}  // namespace

std::optional<CutFit> find_layout(PieceValues& a, PieceValues& b, const CutQuestion& question, const CutPrior& prior) {
  return search<ElementSamples>(a, b, question, prior);
}

std::optional<CutFit> find_layout(PieceStatistics& a, PieceStatistics& b, const CutQuestion& question,
                                  const CutPrior& prior) {
  std::optional<CutFit> fit = search<StatisticSamples>(a, b, question, prior);
  if (fit && !(question.stated_a || question.stated_b)) fit->confidence *= kOfStatistics;
  return fit;
}

}  // namespace msdump
