// Finds the places at which a series of numbers, a statistic of one tensor over the steps, begins to behave otherwise.
//
// Numbers are compared on a logarithmic scale. The deviation of a value is its distance from the median of the five before it,
// and that of a slope the same of the differences between neighbours; one that only slows down is none, as rates decay. What
// moves slowly shows in the mean of 32 values after a step, less that of 32 before. A deviation counts if it is several times the largest
// of those in the last three quarters of what came before. So each series sets its own limit: noise, a schedule and a decay that were
// there before are no news. No distribution is assumed but that the tail of the deviations is not heavier than it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace msdump::check {

struct SeriesScale {
  bool is_signed = false;  // has values of both signs (a mean): they are compared with their median magnitude
  // True for a norm: its slope is judged, too, and whether it freezes. The slope of an extreme has a kink wherever another element becomes the
  // largest, and one element may rest while others move.
  bool is_smooth = true;
  double resolution = 0;  // of the table, in its unit: 1e-6 where numbers are rounded to six decimals
};

enum class ChangeKind : uint8_t {
  kSpike,      // a value that is far off, after which the old level returns
  kLevel,      // another level, which stays
  kSlope,      // it rises or falls at another rate
  kSpread,     // values are scattered more
  kFreeze,     // the same value over and over
  kNonFinite,  // NaN or an infinity
};
[[nodiscard]] std::string_view name_of(ChangeKind kind);

struct SeriesChange {
  ChangeKind kind = ChangeKind::kSpike;
  // kSpike: the value over the median before; kLevel: the median after over it. kSlope: how much the factor from one step to
  // the next grew. kSpread: the usual difference between neighbours over that before. kFreeze: steps with the same value.
  // kNonFinite, or nothing to divide by: no value.
  std::optional<double> size = {};
};

// The least score of a deviation that is listed. One that is to start a search needs more (first_mover.h).
inline constexpr double kWeakScore = 1.5;
// The values on each side of a step that show what moves slowly.
inline constexpr size_t kSlowWindow = 32;

struct Deviation {
  uint32_t at = 0;        // index of the first value that is off
  float score = 0;        // multiple of the largest deviation before; infinite for kFreeze and kNonFinite
  float off = 0;          // the deviation itself, a difference of logarithms; 0 for kFreeze and kNonFinite
  bool of_slope = false;  // the difference to the value before is off, not the value
  bool slow = false;      // many values together are off; `at` is the one between them that is off most
  bool season = false;    // comes again and again after equal times: a restart of the learning rate, an evaluation
  uint32_t onset = 0;     // of a slow one: where it begins, exact to some values; else `at`
  SeriesChange change = {};
};

// In ascending order of `at`. Values are non-negative unless `scale` says otherwise; NaN stands for a tensor with NaN or
// infinities.
[[nodiscard]] std::vector<Deviation> find_deviations(std::span<const float> values, const SeriesScale& scale);
// Finds where two series of one statistic diverge, one value of each training a step. A deviation of their quotient (difference, of
// a mean) counts if it is several times the largest one before, of the quotient and of each series: what one training does by
// itself is no divergence.
[[nodiscard]] std::vector<Deviation> find_partings(std::span<const float> a, std::span<const float> b,
                                                   const SeriesScale& scale);

}  // namespace msdump::check
