#include "compare/match/parameters/parameter_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/pair/pair_dtype.h"

namespace msdump {
namespace {

constexpr size_t kFewest = 4, kFew = 16;  // values
constexpr double kNearOfFew = 0.05;

// The first kFirstPoints of them are spread, too. Not at equal distances, which may be those of rows.
int64_t point_of(size_t place, int64_t count) {
  constexpr uint64_t kMixer = 0x9E37'79B9'7F4A'7C15;
  constexpr size_t kRounds = kPoints / kFirstPoints;
  const auto all = static_cast<uint64_t>(count);
  if (all <= kPoints) return static_cast<int64_t>(place);
  const size_t slot = place % kFirstPoints * kRounds + place / kFirstPoints;
  const uint64_t step = all / kPoints;
  return static_cast<int64_t>(slot * step + ((slot + 1) * kMixer >> 20) % step);
}

}  // namespace

HostTensor* ParameterValues::opened(uint32_t tensor) {
  if (last_tensor_ == tensor) return last_ ? &*last_ : nullptr;
  last_tensor_ = tensor;
  last_.reset();
  const TensorRecord& record = tensors_[tensor];
  if (!record.has_elements || record.broken) return nullptr;
  if (auto made = HostTensor::open(index_, record, {})) {
    last_ = std::move(*made);
  } else {
    failures_.add(made.error());
  }
  const bool ordered = last_ && kernels::common_dtype(last_->dtype(), DType::kFloat64) == DType::kFloat64;
  if (!ordered) last_.reset();
  return last_ ? &*last_ : nullptr;
}

std::vector<double> ParameterValues::read(HostTensor& tensor, const TensorView* view, size_t most) {
  const int64_t count = view == nullptr ? tensor.count() : view->count();
  if (view != nullptr && (!tensor.direct() || view->last() >= tensor.count())) return {};
  std::array<std::byte, 16> element{};
  std::vector<double> values;
  for (size_t i = 0; i < most; ++i) {
    const int64_t point = point_of(i, count);
    if (point >= count) continue;
    if (const Status read = tensor.read(view == nullptr ? point : view->element(point), 1, element.data()); !read) {
      failures_.add(read.error());
      return {};
    }
    double value = 0;
    kernels::widen_to(tensor.dtype(), DType::kFloat64, element.data(), 1, reinterpret_cast<std::byte*>(&value));
    values.push_back(value);
  }
  return values;
}

std::span<const double> ParameterValues::of(uint32_t tensor) {
  if (const auto found = known_.find(tensor); found != known_.end()) return found->second;
  if (known_.size() >= kMostKnown / 2) older_ = std::exchange(known_, {});
  if (auto known = older_.extract(tensor)) return known_.insert(std::move(known)).position->second;
  std::vector<double>& values = known_[tensor];
  if (HostTensor* const host = opened(tensor)) values = read(*host, nullptr, kPoints);
  return values;
}

std::vector<double> ParameterValues::of(uint32_t tensor, const TensorView& view, size_t most) {
  HostTensor* const host = opened(tensor);
  return host == nullptr ? std::vector<double>() : read(*host, &view, most);
}

std::optional<double> value_distance(std::span<const double> a, std::span<const double> b) {
  const size_t common = std::min(a.size(), b.size());
  size_t count = 0;
  double sum_a = 0, sum_b = 0;
  const auto usable = [&](size_t i) { return std::isfinite(a[i]) && std::isfinite(b[i]); };
  for (size_t i = 0; i < common; ++i) {
    if (!usable(i)) continue;
    ++count;
    sum_a += a[i];
    sum_b += b[i];
  }
  if (count < kFewest) return std::nullopt;
  const double mean_a = sum_a / static_cast<double>(count), mean_b = sum_b / static_cast<double>(count);
  double aa = 0, bb = 0, difference = 0;
  for (size_t i = 0; i < common; ++i) {
    if (!usable(i)) continue;
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
    difference += (a[i] - b[i]) * (a[i] - b[i]);
  }
  if (aa == 0 && bb == 0) return std::nullopt;
  const double spread = std::min(aa, bb);
  return spread == 0 ? std::numeric_limits<double>::infinity() : std::sqrt(difference / spread);
}

bool is_near(double distance, size_t values) { return distance <= (values < kFew ? kNearOfFew : kNear); }

bool is_same_constant(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return false;
  const auto equal = [&](double value) { return value == a.front(); };
  return std::all_of(a.begin(), a.end(), equal) && std::all_of(b.begin(), b.end(), equal);
}

}  // namespace msdump
