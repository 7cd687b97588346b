#include "compare/match/cut/layout/layout_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compare/match/cut/layout/element_samples.h"
#include "compare/match/cut/layout/layout_choices.h"
#include "compare/match/cut/layout/statistic_samples.h"
#include "tensor/dtype_kind.h"

namespace msdump {
namespace {

constexpr int64_t kCopiesTried = 4;  // that are looked at
constexpr double kRoundings = 4;     // of the dtype
constexpr double kFits = 0.9, kUnclear = 0.6, kAlike = 0.02;
constexpr double kFar = 0.05;     // of the error of the next best
constexpr double kSimilar = 0.5;  // error: that of other elements is above 1, that of one term of a sum above 0.7
constexpr double kFactorSlack = 0.02;
constexpr int kGroups = 3, kBothAdd = 1;  // of the complexity
constexpr double kOfStatistics = 0.8;     // of the confidence: they do not say which element is where

// The factors that a layout explains, each with the layout that says so. The first is 1.
std::vector<std::pair<double, CutLayout>> factors_of(const CutLayout& layout, const std::vector<double>& gradient,
                                                     const std::optional<CutLayout>& stated) {
  if (stated) {
    double factor = stated->factor;
    for (const CutDim& dim : stated->dims) {
      if (dim.role == CutRole::kMean) factor /= static_cast<double>(dim.extent);
    }
    return {{factor, *stated}};
  }
  std::vector<std::pair<double, CutLayout>> factors = {{1, layout}};
  for (size_t i = 0; i < layout.dims.size(); ++i) {
    const CutDim& dim = layout.dims[i];
    if (dim.role != CutRole::kSum) continue;
    const size_t known = factors.size();
    for (size_t other = 0; other < known; ++other) {
      auto next = factors[other];
      next.first /= static_cast<double>(dim.extent);
      next.second.dims[i].role = CutRole::kMean;
      factors.push_back(std::move(next));
    }
  }
  const size_t without = factors.size();
  for (const double factor : gradient) {
    for (size_t other = 0; other < without; ++other) {
      auto next = factors[other];
      next.first *= factor;
      next.second.factor = factor;
      factors.push_back(std::move(next));
    }
  }
  return factors;
}

int complexity_of(const CutLayout& layout) {
  int complexity = 0;
  for (const CutDim& dim : layout.dims) {
    static constexpr std::array kCosts = {1, 3, 3, 3, 2, 4, 4};
    complexity += kCosts[static_cast<size_t>(dim.role)] + (dim.groups.empty() ? 0 : kGroups);
  }
  return complexity + (layout.factor == 1 ? 0 : 4);
}

// Of both sides together. Sides that are cut in the same groups are cut by one rule over other numbers of ranks. Where both
// sides are added and one is joined, too, the sums hide the order of what is joined, and a factor says the same with less.
int complexity_of(const CutLayout& a, const CutLayout& b) {
  const auto in_groups_of_b = [&](const CutDim& of_a) {
    return !of_a.groups.empty() && std::any_of(b.dims.begin(), b.dims.end(), [&](const CutDim& of_b) {
      return of_a.role == of_b.role && of_a.axis == of_b.axis && of_a.groups == of_b.groups;
    });
  };
  const bool both_add = a.adds() && b.adds(), more = a.dims.size() > 1 || b.dims.size() > 1;
  const bool one_rule = std::any_of(a.dims.begin(), a.dims.end(), in_groups_of_b);
  return complexity_of(a) + complexity_of(b) - (one_rule ? kGroups : 0) + (both_add && more ? kBothAdd : 0);
}

std::string key_of(const CutLayout& layout) {
  std::string key;
  for (const CutDim& dim : layout.dims)
    key += fmt::format("{}{}.{}:{} ", name_of(dim.role), dim.axis, dim.extent, fmt::join(dim.groups, ":"));
  return key + (layout.factor == 1 ? "" : fmt::format("*{}", layout.factor));
}
std::string key_of(const CutLayout& a, const CutLayout& b) { return key_of(a) + "| " + key_of(b); }

// `Samples`: ElementSamples or StatisticSamples.
template <class Samples>
class Search {
 public:
  using Pieces = typename Samples::Pieces;

  Search(Pieces& a, Pieces& b, const CutQuestion& question, const CutPrior& prior)
      : a_(a), b_(b), question_(question), prior_(prior), reduced_(kind_of(a.dtype()) == DTypeKind::kFloat) {}

  std::optional<CutFit> run() {
    size_t simple = 0;  // how many the first stage with any has
    for (const CutStage stage : kCutStages) {
      if (stage > CutStage::kPlain && !Samples::kInOrder) break;
      if (stage == CutStage::kMixed && question_.effort != CutQuestion::Effort::kThorough) break;
      if (stage == CutStage::kGroups && question_.effort == CutQuestion::Effort::kPlain) break;
      if (simple == 0) simple = fits_.size();
      stage_ = fits_.size();
      for (const Shape& whole : wholes_of(a_.shapes(), b_.shapes())) try_whole(whole, stage);
      if (best() >= kFits) break;
    }
    // Beside those of the last stage: most that does not fit is odd copies, and not maxima.
    if (Samples::kInOrder && best() < kFits) {
      for (const Shape& whole : wholes_of(a_.shapes(), b_.shapes())) try_whole(whole, CutStage::kMaxima);
    }
    if (fits_.empty()) return std::nullopt;
    CutFit chosen = best() < kUnclear ? choose_unclear(simple == 0 ? fits_.size() : simple) : choose();
    const bool a_known = question_.stated_a || a_.shapes().size() == 1;
    const bool b_known = question_.stated_b || b_.shapes().size() == 1;
    const bool all_known = a_known && b_known && (question_.stated_a || question_.stated_b);
    return all_known ? certain(std::move(chosen), 1, true) : chosen;
  }

 private:
  struct Tried {
    CutLayout layout;
    std::vector<double> values;  // of several copies of the candidate
  };

  using Places = typename Samples::Places;

  std::vector<Tried> tried(Pieces& side, const Shape& whole, CutStage stage, const Places& places, int64_t most_copies,
                           const std::optional<CutLayout>& stated) const {
    std::vector<Tried> all;
    std::vector<CutLayout> layouts;
    if (!stated) {
      layouts = layouts_of(side.shapes(), whole, reduced_, stage);
      std::erase_if(layouts, [&](const CutLayout& layout) { return Samples::reduces_equals(side, layout); });
    } else if (fits_shapes(*stated, side.shapes(), whole)) {
      layouts = {*stated};
    }
    for (CutLayout& layout : layouts) {
      Tried& one = all.emplace_back();
      const int64_t copies = layout.copies(), looked_at = std::min(copies, most_copies);
      for (int64_t i = 0; i < looked_at; ++i) {
        const std::vector<double> values = Samples::values_of(side, layout, i * copies / looked_at, whole, places);
        one.values.insert(one.values.end(), values.begin(), values.end());
      }
      one.layout = std::move(layout);
    }
    return all;
  }

  void try_whole(const Shape& whole, CutStage stage) {
    const auto places = Samples::places_of(whole, question_.effort == CutQuestion::Effort::kQuick);
    const std::vector<Tried> in_a = tried(a_, whole, stage, places, kCopiesTried, question_.stated_a),
                             in_b = tried(b_, whole, stage, places, 1, question_.stated_b);
    std::vector<typename Samples::Target> targets;
    for (const Tried& b : in_b) targets.emplace_back(b.values, roundings_of_both(), whole);
    for (const Tried& a : in_a) {
      for (size_t b = 0; b < in_b.size(); ++b) {
        if (stage == CutStage::kMaxima && !may_be_maxima(whole, places, a, in_b[b], targets[b])) continue;
        add(whole, a, in_b[b], targets[b]);
      }
    }
  }

  // What was not tried in the stages before, and fits: of odd copies, too, the largest are near. Where those of one rank
  // alone fit, the others are odd.
  [[nodiscard]] bool may_be_maxima(const Shape& whole, const Places& places, const Tried& a, const Tried& b,
                                   const typename Samples::Target& target) const {
    const bool of_a = !question_.stated_a && a.layout.has(CutRole::kMax);
    const bool of_b = !question_.stated_b && b.layout.has(CutRole::kMax);
    if ((!of_a && !of_b) || target.nearness(a.values, 1).agreement < kFits) return false;
    const auto any_rank = [&](Pieces& side, CutLayout layout, const auto& fits) {
      for (CutDim& dim : layout.dims) {
        if (dim.role == CutRole::kMax) dim.role = CutRole::kCopy;
      }
      for (int64_t copy = 0; copy < layout.copies(); ++copy) {
        if (fits(Samples::values_of(side, layout, copy, whole, places))) return true;
      }
      return false;
    };
    const double roundings = roundings_of_both();
    return !(of_a && any_rank(a_, a.layout,
                              [&](const auto& of_rank) { return target.nearness(of_rank, 1).agreement >= kFits; })) &&
           !(of_b && any_rank(b_, b.layout, [&](const auto& of_rank) {
               return typename Samples::Target(of_rank, roundings, whole).nearness(a.values, 1).agreement >= kFits;
             }));
  }

  [[nodiscard]] double roundings_of_both() const {
    return kRoundings * std::max(unit_roundoff(a_.dtype()), unit_roundoff(b_.dtype()));
  }

  // With the factor that fits best among those that the layouts explain.
  void add(const Shape& whole, const Tried& a, const Tried& b, const typename Samples::Target& target) {
    CutFit best;
    bool any = false;
    for (const auto& [of_a, layout_a] : factors_of(a.layout, question_.factors_a, question_.stated_a)) {
      for (const auto& [of_b, layout_b] : factors_of(b.layout, question_.factors_b, question_.stated_b)) {
        const double factor = of_a / of_b;
        if (any && std::abs(factor - 1) < kFactorSlack) continue;
        const Nearness near = target.nearness(a.values, factor);
        const bool simpler = near.agreement >= best.agreement && near.error <= best.error &&
                             complexity_of(layout_a, layout_b) < complexity_of(best.a, best.b);
        const bool better = near.agreement > best.agreement + kAlike || simpler ||
                            (near.agreement >= best.agreement && near.error < best.error / 3);
        if (any && !better) continue;
        any = true;
        best = {whole, layout_a, layout_b, near.agreement, near.error, Samples::tell(a.values, b.values), 0, false};
      }
    }
    scaled_.push_back(best.agreement < kUnclear && best.tells ? target.scaled_agreement(a.values) : 0);
    fits_.push_back(std::move(best));
  }

  // Of the last stage that was tried.
  [[nodiscard]] std::span<const CutFit> last() const { return std::span(fits_).subspan(stage_); }

  [[nodiscard]] double best() const {
    double best = 0;
    for (const CutFit& fit : last()) best = std::max(best, fit.agreement);
    return best;
  }

  // The simplest of those that fit but for a factor that no layout explains, as of a gradient that is sent twice. Null: none.
  // Sums are left out: copies of which one is too large add up to a multiple, too.
  [[nodiscard]] const CutFit* scaled() const {
    const CutFit* simplest = nullptr;
    for (size_t i = 0; i < fits_.size(); ++i) {
      const bool simpler =
          simplest == nullptr || complexity_of(fits_[i].a, fits_[i].b) < complexity_of(simplest->a, simplest->b);
      const bool adds = fits_[i].a.adds() || fits_[i].b.adds();
      if (scaled_[i] >= kFits && simpler && !adds) simplest = &fits_[i];
    }
    return simplest;
  }

  // Where nothing fits, what fits best does so by chance: the layout of the kind, else the simplest of the first `simple`.
  [[nodiscard]] CutFit choose_unclear(size_t simple) const {
    if (const CutFit* const fit = scaled()) return certain(*fit, kFits / 2, true);
    if (const CutFit* const known = prior_.of_kind(question_.kind); known != nullptr) {
      for (const CutFit& fit : fits_) {
        if (fit.a.dims == known->a.dims && fit.b.dims == known->b.dims)
          return certain(fit, known->confidence / 2, true);
      }
    }
    const auto key = [](const CutFit& fit) { return std::pair(complexity_of(fit.a, fit.b), -fit.agreement); };
    const auto simplest = std::min_element(fits_.begin(), fits_.begin() + static_cast<std::ptrdiff_t>(simple),
                                           [&](const CutFit& x, const CutFit& y) { return key(x) < key(y); });
    const auto nearest = std::min_element(fits_.begin(), fits_.end(),
                                          [](const CutFit& x, const CutFit& y) { return x.error < y.error; });
    if (Samples::is_other_number(a_, b_)) return certain(*simplest, kFits / 2, true);
    const bool alike = Samples::kInOrder && nearest->error <= std::min(kSimilar, simplest->error / 2);
    return alike ? certain(*nearest, nearest->agreement / 2, true) : certain(*simplest, simplest->agreement / 2, false);
  }

  [[nodiscard]] CutFit choose() const {
    const double most = best();
    double least = INFINITY;
    for (const CutFit& fit : last()) {
      if (fit.agreement >= most - kAlike) least = std::min(least, fit.error);
    }
    const CutFit* chosen = nullptr;
    const auto rank = [&](const CutFit& fit) {
      return std::pair(prior_.count(question_.kind, fit), -complexity_of(fit.a, fit.b));
    };
    size_t alike = 0;
    double second = 0, next_error = INFINITY;
    for (const CutFit& fit : last()) {
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

  static CutFit certain(CutFit fit, double confidence, bool known) {
    fit.confidence = confidence;
    fit.known = known;
    return fit;
  }

  Pieces &a_, &b_;
  const CutQuestion& question_;
  const CutPrior& prior_;
  const bool reduced_;
  std::vector<CutFit> fits_;
  std::vector<double> scaled_;  // by place in fits_: the agreement with the factor that fits best; 0: not looked for
  size_t stage_ = 0;            // where those of the stage begin
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

uint64_t CutPrior::count(const std::string& kind, const CutFit& fit) const {
  const auto of_kind = kinds_.find(kind);
  if (of_kind == kinds_.end()) return 0;
  const auto found = of_kind->second.find(key_of(fit.a, fit.b));
  return found == of_kind->second.end() ? 0 : found->second.first;
}

namespace {

template <class Samples>
std::optional<CutFit> search(typename Samples::Pieces& a, typename Samples::Pieces& b, const CutQuestion& question,
                             const CutPrior& prior) {
  if (!a.ok() || !b.ok() || a.shapes().empty() || b.shapes().empty()) return std::nullopt;
  if (element_count(a.shapes().front()).value_or(0) == 0) return std::nullopt;
  return Search<Samples>(a, b, question, prior).run();
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
