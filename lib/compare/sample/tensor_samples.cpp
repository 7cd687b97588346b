#include "compare/sample/tensor_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/containers.h"
#include "compare/pair/pair_reader.h"
#include "kernels/pair/pair_dtype.h"

namespace msdump {

std::vector<int64_t> sample_positions(int64_t count, size_t most) {
  constexpr uint64_t kMixer = 0x9E37'79B9'7F4A'7C15;
  const int64_t points = std::min(count, static_cast<int64_t>(most));
  int64_t stride = points * 3 / 8 | 1;
  while (std::gcd(points, stride) != 1) stride += 2;
  std::vector<int64_t> positions;
  for (int64_t number = 0; number < points; ++number) {
    const int64_t part = count / points, i = number * stride % points;
    const uint64_t shift = (static_cast<uint64_t>(i + 1) * kMixer >> 20) % static_cast<uint64_t>(part);
    positions.push_back(i * part + static_cast<int64_t>(shift));
  }
  return positions;
}

bool can_sample(DType dtype) { return kernels::common_dtype(dtype, DType::kFloat64) == DType::kFloat64; }

Status read_elements(HostTensor& tensor, std::span<const int64_t> positions, double* into) {
  std::vector<size_t> order(positions.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // A tensor that is not direct is fast only in ascending order.
  if (!tensor.direct())
    std::sort(order.begin(), order.end(), [&](size_t x, size_t y) { return positions[x] < positions[y]; });
  std::array<std::byte, 16> element{};
  for (const size_t i : order) {
    MSDUMP_CHECK_OK(tensor.read(positions[i], 1, element.data()));
    kernels::widen_to(tensor.dtype(), DType::kFloat64, element.data(), 1, reinterpret_cast<std::byte*>(into + i));
  }
  return {};
}

std::vector<double> sample_of(const DumpIndex& index, const TensorRecord& record) {
  auto tensor = HostTensor::open(index, record, {});
  if (!tensor || !can_sample(tensor->dtype())) return {};
  const std::vector<int64_t> positions = sample_positions(tensor->count());
  std::vector<double> values(positions.size());
  return read_elements(*tensor, positions, values.data()) ? values : std::vector<double>();
}

std::vector<double> elements_of(const DumpIndex& index, const TensorRecord& record, const CancelToken& cancel) {
  auto tensor = HostTensor::open(index, record, {});
  if (!tensor || !can_sample(tensor->dtype())) return {};
  std::vector<double> values;
  const Status read = for_each_slab(*tensor, cancel, [&](std::span<const std::byte> bytes, int64_t count) {
    const size_t before = values.size();
    values.resize(before + static_cast<size_t>(count));
    kernels::widen_to(tensor->dtype(), DType::kFloat64, bytes.data(), count,
                      reinterpret_cast<std::byte*>(values.data() + before));
  });
  return read ? values : std::vector<double>();
}

HostTensor* TensorSamples::opened(RecordId tensor) {
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
  if (last_ && !can_sample(last_->dtype())) last_.reset();
  return last_ ? &*last_ : nullptr;
}

std::vector<double> TensorSamples::read(HostTensor& tensor, std::span<const int64_t> positions) {
  std::vector<double> values(positions.size());
  const Status read = read_elements(tensor, positions, values.data());
  if (read) return values;
  failures_.add(read.error());
  return {};
}

const TensorSamples::Sample& TensorSamples::of(RecordId tensor) {
  if (const auto found = known_.find(tensor); found != known_.end()) return found->second;
  if (known_.size() >= kMostKnown / 2) older_ = std::exchange(known_, {});
  if (auto known = older_.extract(tensor)) return known_.insert(std::move(known)).position->second;
  Sample& sample = known_[tensor];
  if (HostTensor* const host = opened(tensor)) {
    sample.count = host->count();
    sample.values = read(*host, sample_positions(host->count()));
  }
  return sample;
}

std::vector<double> TensorSamples::of(RecordId tensor, const TensorView& view, size_t most) {
  HostTensor* const host = opened(tensor);
  if (host == nullptr || !host->is_in_order() || view.last() >= host->count()) return {};
  std::vector<int64_t> positions = sample_positions(view.count());
  positions.resize(std::min(positions.size(), most));
  for (int64_t& position : positions) position = view.element(position);
  return read(*host, positions);
}

std::optional<double> likeness(std::span<const double> a, std::span<const double> b) {
  const size_t common = std::min(a.size(), b.size());
  const auto usable = [&](size_t i) { return std::isfinite(a[i]) && std::isfinite(b[i]); };
  size_t count = 0;
  double sum_a = 0, sum_b = 0;
  for (size_t i = 0; i < common; ++i) {
    if (!usable(i)) continue;
    ++count;
    sum_a += a[i];
    sum_b += b[i];
  }
  if (count == 0) return std::nullopt;
  const auto n = static_cast<double>(count);
  double aa = 0, bb = 0, ab = 0, squares = 0, distance = 0;
  for (size_t i = 0; i < common; ++i) {
    if (!usable(i)) continue;
    const double x = a[i] - sum_a / n, y = b[i] - sum_b / n;
    aa += x * x;
    bb += y * y;
    ab += x * y;
    squares += b[i] * b[i];
    distance += (a[i] - b[i]) * (a[i] - b[i]);
  }
  const auto nearness = [&](double unit) { return unit == 0 ? 0 : std::max(0.0, 1 - std::sqrt(distance / unit)); };
  // Zeros occur in many tensors.
  if (aa == 0 && bb == 0) return squares == 0 && sum_a == 0 ? std::nullopt : std::optional(nearness(squares));
  if (aa == 0 || bb == 0) return std::nullopt;
  const double correlated = std::max(0.0, ab / std::sqrt(aa) / std::sqrt(bb));
  return count < kFewValues ? std::max(nearness(std::min(aa, bb)), std::min(correlated, kUnlike)) : correlated;
}

std::optional<double> likeness(const SampledTensor& a, const SampledTensor& b) {
  const TensorSamples::Sample& x = a.samples.of(a.tensor);
  if (x.values.empty()) return std::nullopt;
  const TensorSamples::Sample& y = b.samples.of(b.tensor);
  if (y.values.empty()) return std::nullopt;
  return x.count == y.count ? likeness(x.values, y.values) : 0;
}

bool is_constant(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
}

Result<uint64_t> content_digest(HostTensor& tensor, const CancelToken& cancel) {
  uint64_t digest = 1;
  MSDUMP_CHECK_OK(for_each_slab(tensor, cancel, [&](std::span<const std::byte> bytes, int64_t) {
    digest = mix_hash(digest, text_hash({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }));
  return digest;
}

}  // namespace msdump
