#include "compare/match/placement/placement_samples.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/containers.h"
#include "base/numbers.h"
#include "compare/pair/tensor_diff.h"
#include "compare/statistics/computed_statistics.h"
#include "kernels/pair/pair_dtype.h"
#include "tensor/dtype.h"

namespace msdump {

LocalValues::LocalValues(const DumpIndex& index, std::span<const TensorRecord* const> records, ReadFailures* failures)
    : tensors_(index), failures_(failures) {
  size_t count = 0;
  for (const TensorRecord* const record : records) {
    ok_ = record != nullptr && record->has_elements && !record->broken && record->shape != nullptr;
    if (!ok_) return;
    shapes_.push_back(*record->shape);
    count += static_cast<size_t>(element_count(shapes_.back()).value_or(kMostKept + 1));
  }
  const bool all = count <= kMostKept;
  for (const TensorRecord* const record : records) {
    const auto opened = tensors_.add(*record);
    if (!opened) {
      forget(opened.error());
      return;
    }
    HostTensor& tensor = **opened;
    if (tensors_.size() == 1) dtype_ = tensor.dtype();
    ok_ = tensor.dtype() == dtype_ && can_sample(dtype_) && element_count(*record->shape) == tensor.count();
    if (!ok_) return;
    if (!all) continue;
    std::vector<std::byte> stored(static_cast<size_t>(tensor.count()) * tensor.element_bytes());
    if (const Status read = tensor.read(0, tensor.count(), stored.data()); !read) {
      forget(read.error());
      return;
    }
    std::vector<double>& kept = kept_.emplace_back(static_cast<size_t>(tensor.count()));
    kernels::widen_to(dtype_, DType::kFloat64, stored.data(), tensor.count(),
                      reinterpret_cast<std::byte*>(kept.data()));
  }
  fetched_.resize(tensors_.size());
}

void LocalValues::forget(const Error& error) {
  ok_ = false;
  if (failures_ != nullptr) failures_->add(error);
}

void LocalValues::fetch(size_t local, std::vector<int64_t> elements) {
  std::unordered_map<int64_t, double>& known = fetched_[local];
  std::erase_if(elements, [&](int64_t element) { return known.contains(element); });
  if (elements.empty()) return;
  std::sort(elements.begin(), elements.end());
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  if (fetched_count_ + elements.size() > kMostKept) {
    for (auto& of_local : fetched_) of_local.clear();
    fetched_count_ = 0;
  }
  fetched_count_ += elements.size();
  std::vector<double> values(elements.size(), std::numeric_limits<double>::quiet_NaN());
  const auto opened = tensors_.open(local);
  const Status read = opened ? read_elements(**opened, elements, values.data()) : Status(fail(opened.error()));
  if (!read) forget(read.error());
  for (size_t i = 0; i < elements.size(); ++i) known.emplace(elements[i], values[i]);
}

double LocalValues::at(size_t local, int64_t element) {
  if (are_kept()) return kept_[local][static_cast<size_t>(element)];
  const auto found = fetched_[local].find(element);
  if (found != fetched_[local].end()) return found->second;
  fetch(local, {element});
  return fetched_[local].at(element);
}

std::vector<double> LocalValues::first_look(size_t local) {
  const std::vector<int64_t> positions = sample_positions(element_count(shapes_[local]).value_or(0), kFirstPoints);
  if (!are_kept()) fetch(local, positions);
  std::vector<double> values;
  for (const int64_t position : positions) values.push_back(at(local, position));
  return values;
}

bool LocalValues::are_replicas(size_t one, size_t other) {
  if (shapes_[one] != shapes_[other]) return false;
  const std::vector<double> values = first_look(one);
  return !is_constant(values) && values == first_look(other);
}

std::optional<double> LocalValues::scalar() {
  for (size_t local = 0; local < shapes_.size(); ++local) {
    if (element_count(shapes_[local]) != 1 || at(local, 0) != at(0, 0)) return std::nullopt;
  }
  return at(0, 0);
}

Result<std::vector<uint64_t>> LocalValues::digests(const CancelToken& cancel) {
  std::vector<uint64_t> digests;
  for (size_t local = 0; local < tensors_.size(); ++local) {
    MSDUMP_TRY(HostTensor* const tensor, tensors_.open(local));
    MSDUMP_TRY(const uint64_t digest, content_digest(*tensor, cancel));
    digests.push_back(digest);
  }
  return digests;
}

LocalStatistics::LocalStatistics(StatisticTables& tables, std::span<const TensorRecord* const> records,
                                 const RunContext& context, ReadFailures* failures)
    : records_(records.begin(), records.end()) {
  for (const TensorRecord* const record : records) {
    ok_ = ok_ && record != nullptr && record->shape != nullptr && !record->broken &&
          (record->has_elements || record->table != kNoId);
    if (!ok_) return;
    TensorNumbers exact;
    exact.origin = StatisticOrigin::kTorchJson;
    auto values = record->has_elements ? computed_values(tables.index(), *record, exact, nullptr, context)
                                       : tables.values_of(*record);
    if (!values && failures != nullptr) failures->add(values.error());
    ok_ = values && std::any_of(values->numbers.begin(), values->numbers.end(),
                                [](const auto& number) { return number.has_value(); });
    if (!ok_) return;
    shapes_.push_back(*record->shape);
    values_.push_back(std::move(*values));
  }
}

std::vector<uint64_t> LocalStatistics::digests() const {
  std::vector<uint64_t> digests;
  for (const TensorNumbers& one : values_) {
    uint64_t digest = 1;
    for (const auto& number : one.numbers)
      digest = mix_hash(digest, number ? std::bit_cast<uint64_t>(number->value) : 1);
    for (const Checksum& checksum : one.checksums) digest = mix_hash(digest, text_hash(checksum.text));
    digests.push_back(digest);
  }
  return digests;
}

namespace {

constexpr double kAgrees = 0.25;  // of the median deviation

// Calls `see` with every value of the copies and its counterpart until it returns false.
template <class See>
void for_each_pair(const std::vector<double>& copies, const std::vector<double>& values, const See& see) {
  for (size_t i = 0; !values.empty() && i < copies.size(); ++i) {
    if (!see(copies[i], values[i % values.size()])) return;
  }
}

// The element of a local tensor at a place of the global one. No value if the rank lacks it. `segments` are ordered by `to`.
std::optional<int64_t> element_at(const std::vector<int64_t>& place,
                                  const std::vector<std::vector<AxisSegment>>& segments, const Shape& local) {
  int64_t at = 0;
  for (size_t axis = 0; axis < place.size(); ++axis) {
    const auto& of_axis = segments[axis];
    const auto after = std::upper_bound(of_axis.begin(), of_axis.end(), place[axis],
                                        [](int64_t wanted, const AxisSegment& one) { return wanted < one.to; });
    if (after == of_axis.begin()) return std::nullopt;
    const AxisSegment& found = *std::prev(after);
    if (place[axis] >= found.to + found.size) return std::nullopt;
    at = at * local[axis] + found.from + place[axis] - found.to;
  }
  return at;
}

}  // namespace

LocalValues::Places LocalValues::places_of(const Shape& global, bool few) {
  Places places;
  for (const int64_t position : sample_positions(element_count(global).value_or(0), few ? kFirstPoints : kSamplePoints))
    places.push_back(index_of_element(static_cast<uint64_t>(position), global));
  return places;
}

std::vector<double> LocalValues::sample(const Placement& placement, int64_t copy, const Shape& global,
                                        const Places& places) {
  const LocalShapes shapes(shapes_);
  std::vector<std::pair<size_t, std::vector<std::vector<AxisSegment>>>> parts;  // by rank
  for (int64_t rank = 0; rank < placement.ranks(); ++rank) {
    if (placement.copy_of(rank) != copy) continue;
    auto& [local, segments] =
        parts.emplace_back(static_cast<size_t>(rank), segments_of(placement, rank, shapes, global));
    if (segments.size() != global.size()) {  // the rank has no element
      parts.pop_back();
      continue;
    }
    for (std::vector<AxisSegment>& of_axis : segments)
      std::sort(of_axis.begin(), of_axis.end(), [](const auto& x, const auto& y) { return x.to < y.to; });
    if (are_kept()) continue;
    // If the rank holds one range of each axis, other placements move that range. So the elements at the same distance from
    // its begin are read at once, too.
    const Shape& own = shapes_[local];
    const bool plain = std::all_of(segments.begin(), segments.end(), [](const auto& axis) { return axis.size() == 1; });
    std::vector<int64_t> elements;
    for (const std::vector<int64_t>& place : places) {
      if (const auto at = element_at(place, segments, own)) elements.push_back(*at);
      if (!plain) continue;
      int64_t at = 0;
      for (size_t axis = 0; axis < own.size(); ++axis) at = at * own[axis] + place[axis] % own[axis];
      elements.push_back(at);
    }
    fetch(local, std::move(elements));
  }
  const PieceOverlap reduction = placement.reduction();
  std::vector<double> values;
  values.reserve(places.size());
  for (const std::vector<int64_t>& place : places) {
    std::optional<double> value;
    for (const auto& [local, segments] : parts) {
      const auto element = element_at(place, segments, shapes_[local]);
      if (!element) continue;
      const double own = at(local, *element);
      value = !value ? own : reduction == PieceOverlap::kLargest ? larger_or_nan(*value, own) : *value + own;
      if (reduction == PieceOverlap::kNone) break;
    }
    values.push_back(value.value_or(0));
  }
  return values;
}

LocalValues::Target::Target(std::vector<double> values, double roundoff, const Shape&)
    : values_(std::move(values)), roundoff_(roundoff) {
  std::vector<double> finite;
  for (const double value : values_) {
    if (std::isfinite(value)) finite.push_back(value);
  }
  if (finite.empty()) return;
  if (values_.size() == 1) {
    near_ = kSameNumber * std::abs(values_.front());
    return;
  }
  const double middle = quantile_of_unsorted(finite, 0.5);
  for (double& value : finite) value = std::abs(value - middle);
  // If the tensor is mostly one value, the deviation of the others counts.
  const double smallest = 1e-6 * *std::max_element(finite.begin(), finite.end());
  std::erase_if(finite, [&](double deviation) { return deviation <= smallest; });
  if (!finite.empty()) near_ = kAgrees * quantile_of_unsorted(finite, 0.5);
}

bool LocalValues::Target::is_informative() const { return !is_constant(values_); }

Similarity LocalValues::Target::similarity(const std::vector<double>& a, double factor, bool hurry) const {
  double squares = 0, distance = 0;
  size_t agree = 0, seen = 0;
  for_each_pair(a, values_, [&](double own, double wanted) {
    // With an error of a half, a quarter agrees.
    if (hurry && seen == kFewValues && agree == 0) return false;
    ++seen;
    const double value = own * factor;
    const bool equal = value == wanted || (std::isnan(value) && std::isnan(wanted));
    if (equal || std::abs(value - wanted) <= near_ + roundoff_ * std::abs(wanted)) ++agree;
    if (!std::isfinite(value) || !std::isfinite(wanted)) return true;
    squares += wanted * wanted;
    distance += (value - wanted) * (value - wanted);
    return true;
  });
  const double error = distance == 0 ? 0 : std::sqrt(distance / std::max(squares, 1e-300));
  return {seen == 0 ? 1 : static_cast<double>(agree) / static_cast<double>(seen), error};
}

double LocalValues::Target::scaled_agreement(const std::vector<double>& a) const {
  if (values_.size() < kFewValues) return 0;
  double product = 0, squares = 0;
  for_each_pair(a, values_, [&](double value, double wanted) {
    if (!std::isfinite(value) || !std::isfinite(wanted)) return true;
    product += value * wanted;
    squares += value * value;
    return true;
  });
  const double factor = product / squares;
  return std::isfinite(factor) && factor != 0 ? similarity(a, factor).agreement : 0;
}

namespace {

constexpr double kNear = 0.05;  // of a unit

double middle_of(const std::vector<double>& values, Extremum which) {
  const size_t at = 2 * static_cast<size_t>(which);
  return (values[at] + values[at + 1]) / 2;
}

}  // namespace

std::vector<double> LocalStatistics::sample(const Placement& placement, int64_t copy, const Shape& global,
                                            Places) const {
  std::vector<TensorNumbers> parts;
  for (size_t rank = 0; rank < values_.size(); ++rank) {
    if (placement.copy_of(static_cast<int64_t>(rank)) == copy) parts.push_back(values_[rank]);
  }
  const TensorNumbers merged = merged_statistics(pieces_of(placement, records_, global, copy), parts);
  std::vector<double> values;
  for (const auto& number : merged.numbers) {
    const double slack = number ? number->slack : 0;
    const double value = number ? number->value : std::numeric_limits<double>::quiet_NaN();
    values.push_back(value - slack);
    values.push_back(value + slack);
  }
  return values;
}

bool LocalStatistics::are_replicas(size_t one, size_t other) const {
  const TensorNumbers &a = values_[one], &b = values_[other];
  if (shapes_[one] != shapes_[other] || a.value(Extremum::kMax) == a.value(Extremum::kMin)) return false;
  return std::equal(a.numbers.begin(), a.numbers.end(), b.numbers.begin(), [](const auto& x, const auto& y) {
    return x.has_value() == y.has_value() && (!x || x->value == y->value);
  });
}

bool LocalStatistics::Target::is_informative() const {
  return middle_of(values_, Extremum::kMax) != middle_of(values_, Extremum::kMin);
}

LocalStatistics::Target::Target(std::vector<double> values, double roundoff, const Shape& global)
    : values_(std::move(values)) {
  const auto count = static_cast<double>(std::max<int64_t>(element_count(global).value_or(1), 1));
  const double max = std::abs(middle_of(values_, Extremum::kMax)), min = std::abs(middle_of(values_, Extremum::kMin));
  const double norm = middle_of(values_, Extremum::kNorm);
  const double extreme = std::isnan(max + min) ? 0 : std::max(max, min);
  const double magnitude = std::isnan(norm) ? extreme : norm / std::sqrt(count);
  near_ = roundoff > 0 ? kNear : kSameNumber;
  units_ = {extreme, extreme, magnitude / std::sqrt(count) + roundoff * magnitude, norm};
}

Similarity LocalStatistics::Target::similarity(const std::vector<double>& a, double factor, bool /*hurry*/) const {
  size_t known = 0, agree = 0;
  double error = 0;
  for (size_t i = 0; i < a.size(); i += 2) {
    const size_t which = i % (2 * kExtrema);
    const double low = a[i] * factor, high = a[i + 1] * factor;
    const double wanted_low = values_[which], wanted_high = values_[which + 1];
    if (std::isnan(low) || std::isnan(high) || std::isnan(wanted_low) || std::isnan(wanted_high)) continue;
    ++known;
    const double distance = low == wanted_low ? 0 : std::max({0.0, low - wanted_high, wanted_low - high});
    const double relative = distance == 0 ? 0 : distance / std::max(units_[which / 2], 1e-300);
    if (relative <= near_) ++agree;
    error = std::max(error, relative);
  }
  return {known == 0 ? 0 : static_cast<double>(agree) / static_cast<double>(known), error};
}

}  // namespace msdump
