#include "compare/match/cut/layout_search.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compare/match/cut/layout_choices.h"
#include "tensor/dtype_kind.h"

namespace msdump {
namespace {

constexpr int64_t kSamples = 192, kFewSamples = 32;
constexpr int64_t kCopiesTried = 4;  // that are looked at
constexpr double kAgrees = 0.25;     // of the median deviation
constexpr double kRoundings = 4;     // of the dtype
constexpr double kFits = 0.9, kUnclear = 0.6, kAlike = 0.02;
constexpr double kFar = 0.05;  // of the error of the next best
constexpr double kFactorSlack = 0.02;

// Places spread over a tensor, not at equal distances, which may be those of rows.
std::vector<std::vector<int64_t>> sample_of(const Shape& shape, int64_t most) {
  constexpr uint64_t kMixer = 0x9E37'79B9'7F4A'7C15;
  const int64_t count = element_count(shape).value_or(0), samples = std::min(count, most);
  std::vector<std::vector<int64_t>> places;
  for (int64_t i = 0; i < samples; ++i) {
    const int64_t step = count / samples;
    int64_t at =
        i * step + static_cast<int64_t>((static_cast<uint64_t>(i + 1) * kMixer >> 20) % static_cast<uint64_t>(step));
    std::vector<int64_t> place(shape.size());
    for (size_t axis = shape.size(); axis-- > 0;) {
      place[axis] = at % shape[axis];
      at /= shape[axis];
    }
    places.push_back(std::move(place));
  }
  return places;
}

// Terms of a sum are not equal: what is, is copies of something that a factor sets apart from the other side.
bool adds_equals(PieceValues& pieces, const CutLayout& layout) {
  constexpr int64_t kFewest = 8, kMost = 64;
  const int64_t count = element_count(pieces.shapes().front()).value_or(0);
  if (count < kFewest) return false;
  size_t stride = 1;
  for (const CutDim& dim : layout.dims) {
    if (dim.role == CutRole::kSum && pieces.shapes()[0] == pieces.shapes()[stride]) {
      bool equal = true, constant = true;
      for (int64_t i = 0; equal && i < std::min(count, kMost); ++i) {
        const int64_t at = i * (count / std::min(count, kMost));
        const double value = pieces.at(0, at);
        equal = value == pieces.at(stride, at);
        constant = constant && value == pieces.at(0, 0);
      }
      if (equal && !constant) return true;
    }
    stride *= static_cast<size_t>(dim.extent);
  }
  return false;
}

// The sampled elements of the whole, as a layout puts one of its copies together.
std::vector<double> values_of(PieceValues& pieces, const CutLayout& layout, int64_t copy, const Shape& whole,
                              const std::vector<std::vector<int64_t>>& places) {
  std::vector<PieceBox> boxes;
  for (int64_t rank = 0; rank < layout.ranks(); ++rank) {
    if (layout.copy_of(rank) != copy) continue;
    for (PieceBox& box : boxes_of(layout, rank, pieces.shapes(), whole)) boxes.push_back(std::move(box));
  }
  const bool sum = layout.has(CutRole::kSum) || layout.has(CutRole::kMean);
  std::vector<double> values;
  values.reserve(places.size());
  for (const std::vector<int64_t>& place : places) {
    double value = 0;
    for (const PieceBox& box : boxes) {
      const Shape& shape = pieces.shapes()[box.piece];
      int64_t at = 0;
      bool inside = true;
      for (size_t axis = 0; axis < place.size() && inside; ++axis) {
        const int64_t beyond = place[axis] - box.to[axis];
        inside = beyond >= 0 && beyond < box.size[axis];
        at = at * shape[axis] + box.from[axis] + beyond;
      }
      if (!inside) continue;
      value += pieces.at(box.piece, at);
      if (!sum) break;
    }
    values.push_back(value);
  }
  return values;
}

struct Nearness {
  double agreement = 0, error = 0;
};

// The sampled elements of the reference, and how near is near: a part of their median deviation, so that a few large ones
// do not hide the others, and what the dtype rounds.
class Target {
 public:
  Target(std::vector<double> values, double roundoff) : values_(std::move(values)), roundoff_(roundoff) {
    std::vector<double> finite;
    for (const double value : values_) {
      if (std::isfinite(value)) finite.push_back(value);
    }
    if (finite.empty()) return;
    const double middle = median(finite);
    for (double& value : finite) value = std::abs(value - middle);
    // Of a tensor that is mostly one value: of the others.
    const double smallest = 1e-6 * *std::max_element(finite.begin(), finite.end());
    std::erase_if(finite, [&](double deviation) { return deviation <= smallest; });
    if (!finite.empty()) near_ = kAgrees * median(finite);
  }

  // Of one copy or of several.
  [[nodiscard]] Nearness nearness(const std::vector<double>& a, double factor) const {
    double squares = 0, distance = 0;
    size_t agree = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      const double value = a[i] * factor, wanted = values_[i % values_.size()];
      const bool equal = (std::isnan(value) && std::isnan(wanted)) || value == wanted;
      if (equal || std::abs(value - wanted) <= near_ + roundoff_ * std::abs(wanted)) ++agree;
      if (!std::isfinite(value) || !std::isfinite(wanted)) continue;
      squares += wanted * wanted;
      distance += (value - wanted) * (value - wanted);
    }
    const double error = distance == 0 ? 0 : std::sqrt(distance / std::max(squares, 1e-300));
    return {a.empty() ? 1 : static_cast<double>(agree) / static_cast<double>(a.size()), error};
  }

 private:
  static double median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  std::vector<double> values_;
  double roundoff_, near_ = 0;
};

bool tell(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [&](double value) { return value != values.front(); });
}

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
    static constexpr std::array<int, 6> kCosts = {1, 3, 3, 2, 4, 4};
    complexity += kCosts[static_cast<size_t>(dim.role)] + (dim.groups.empty() ? 0 : 3);
  }
  return complexity + (layout.factor == 1 ? 0 : 4);
}

std::string key_of(const CutLayout& layout) {
  std::string key;
  for (const CutDim& dim : layout.dims)
    key += fmt::format("{}{}.{}:{} ", name_of(dim.role), dim.axis, dim.extent, fmt::join(dim.groups, ":"));
  return key + (layout.factor == 1 ? "" : fmt::format("*{}", layout.factor));
}
std::string key_of(const CutLayout& a, const CutLayout& b) { return key_of(a) + "| " + key_of(b); }

class Search {
 public:
  Search(PieceValues& a, PieceValues& b, const CutQuestion& question, const CutPrior& prior)
      : a_(a), b_(b), question_(question), prior_(prior), sums_(kind_of(a.dtype()) == DTypeKind::kFloat) {}

  std::optional<CutFit> run() {
    for (const CutStage stage : kCutStages) {
      if (stage == CutStage::kMixed && question_.effort != CutQuestion::Effort::kThorough) break;
      fits_.clear();
      for (const Shape& whole : wholes_of(a_.shapes(), b_.shapes())) try_whole(whole, stage);
      if (best() >= kFits) break;
    }
    if (fits_.empty()) return std::nullopt;
    CutFit chosen = choose();
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

  std::vector<Tried> tried(PieceValues& side, const Shape& whole, CutStage stage,
                           const std::vector<std::vector<int64_t>>& places, int64_t most_copies,
                           const std::optional<CutLayout>& stated) const {
    std::vector<Tried> all;
    std::vector<CutLayout> layouts;
    if (!stated) {
      layouts = layouts_of(side.shapes(), whole, sums_, stage);
      std::erase_if(layouts, [&](const CutLayout& layout) { return adds_equals(side, layout); });
    } else if (fits_shapes(*stated, side.shapes(), whole)) {
      layouts = {*stated};
    }
    for (CutLayout& layout : layouts) {
      Tried& one = all.emplace_back();
      const int64_t copies = layout.copies(), looked_at = std::min(copies, most_copies);
      for (int64_t i = 0; i < looked_at; ++i) {
        const std::vector<double> values = values_of(side, layout, i * copies / looked_at, whole, places);
        one.values.insert(one.values.end(), values.begin(), values.end());
      }
      one.layout = std::move(layout);
    }
    return all;
  }

  void try_whole(const Shape& whole, CutStage stage) {
    const auto places = sample_of(whole, question_.effort == CutQuestion::Effort::kQuick ? kFewSamples : kSamples);
    const std::vector<Tried> in_a = tried(a_, whole, stage, places, kCopiesTried, question_.stated_a),
                             in_b = tried(b_, whole, stage, places, 1, question_.stated_b);
    std::vector<Target> targets;
    for (const Tried& b : in_b)
      targets.emplace_back(b.values, kRoundings * std::max(unit_roundoff(a_.dtype()), unit_roundoff(b_.dtype())));
    for (const Tried& a : in_a) {
      for (size_t b = 0; b < in_b.size(); ++b) add(whole, a, in_b[b], targets[b]);
    }
  }

  // With the factor that fits best among those that the layouts explain.
  void add(const Shape& whole, const Tried& a, const Tried& b, const Target& target) {
    CutFit best;
    bool any = false;
    for (const auto& [of_a, layout_a] : factors_of(a.layout, question_.factors_a, question_.stated_a)) {
      for (const auto& [of_b, layout_b] : factors_of(b.layout, question_.factors_b, question_.stated_b)) {
        const double factor = of_a / of_b;
        if (any && std::abs(factor - 1) < kFactorSlack) continue;
        const Nearness near = target.nearness(a.values, factor);
        const bool simpler =
            near.agreement >= best.agreement && near.error <= best.error &&
            complexity_of(layout_a) + complexity_of(layout_b) < complexity_of(best.a) + complexity_of(best.b);
        const bool better = near.agreement > best.agreement + kAlike || simpler ||
                            (near.agreement >= best.agreement && near.error < best.error / 3);
        if (any && !better) continue;
        any = true;
        best = {whole, layout_a, layout_b, near.agreement, near.error, tell(b.values), 0, false};
      }
    }
    fits_.push_back(std::move(best));
  }

  [[nodiscard]] double best() const {
    double best = 0;
    for (const CutFit& fit : fits_) best = std::max(best, fit.agreement);
    return best;
  }

  [[nodiscard]] CutFit choose() const {
    const double most = best();
    if (most < kUnclear) {
      if (const CutFit* const known = prior_.of_kind(question_.kind); known != nullptr) {
        for (const CutFit& fit : fits_) {
          if (fit.a.dims == known->a.dims && fit.b.dims == known->b.dims)
            return certain(fit, known->confidence / 2, true);
        }
      }
    }
    double least = INFINITY;
    for (const CutFit& fit : fits_) {
      if (fit.agreement >= most - kAlike) least = std::min(least, fit.error);
    }
    const CutFit* chosen = nullptr;
    const auto rank = [&](const CutFit& fit) {
      return std::pair(prior_.count(question_.kind, fit), -(complexity_of(fit.a) + complexity_of(fit.b)));
    };
    size_t alike = 0;
    double second = 0, next_error = INFINITY;
    for (const CutFit& fit : fits_) {
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
    return certain(*chosen, alike > 1 ? 0.5 * most : most * clear, most >= kUnclear);
  }

  static CutFit certain(CutFit fit, double confidence, bool known) {
    fit.confidence = confidence;
    fit.known = known;
    return fit;
  }

  PieceValues &a_, &b_;
  const CutQuestion& question_;
  const CutPrior& prior_;
  const bool sums_;
  std::vector<CutFit> fits_;
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

std::optional<CutFit> find_layout(PieceValues& a, PieceValues& b, const CutQuestion& question, const CutPrior& prior) {
  if (!a.ok() || !b.ok() || a.shapes().empty() || b.shapes().empty()) return std::nullopt;
  if (element_count(a.shapes().front()).value_or(0) == 0) return std::nullopt;
  return Search(a, b, question, prior).run();
}

}  // namespace msdump
