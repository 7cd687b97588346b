#include "compare/pair/worst_elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/load.h"
#include "compare/pair/pair_distance.h"
#include "compare/pair/pair_reader.h"
#include "compare/pair/tensor_diff.h"
#include "kernels/pair/pair_dtype.h"

namespace msdump {
namespace {

size_t bytes_of_element(DType dtype) { return info(dtype).bits < 8 ? 1 : static_cast<size_t>(info(dtype).bits) / 8; }

std::optional<double> finite_or_nothing(double distance) {
  return std::isnan(distance) ? std::nullopt : std::optional(distance);
}

}  // namespace

report::Value element_value(DType dtype, const std::byte* at) {
  switch (info(dtype).npy_dtype) {
    case DType::kBool: return *at != std::byte{0};
    case DType::kInt64: return load<int64_t>(at);
    case DType::kUint64: return load<uint64_t>(at);
    case DType::kComplex64:
    case DType::kComplex128: {
      double parts[2] = {};
      kernels::widen_to(dtype, DType::kComplex128, at, 1, reinterpret_cast<std::byte*>(parts));
      if (info(dtype).npy_dtype == DType::kComplex128) return report::List{parts[0], parts[1]};
      return report::List{static_cast<float>(parts[0]), static_cast<float>(parts[1])};
    }
    default: break;
  }
  double value = 0;
  kernels::widen_to(dtype, DType::kFloat64, at, 1, reinterpret_cast<std::byte*>(&value));
  switch (info(dtype).npy_dtype) {
    case DType::kFloat64: return value;
    case DType::kFloat16:
    case DType::kFloat32: return static_cast<float>(value);
    default: return static_cast<int64_t>(value);
  }
}

WorstElements::WorstElements(size_t number, DType stored_a, DType stored_b)
    : number_(std::min(number, kMostWorst)), dtype_a_(stored_a), dtype_b_(stored_b) {}

bool WorstElements::is_worse(const Candidate& x, const Candidate& y) {
  if (std::isnan(x.distance) != std::isnan(y.distance)) return std::isnan(x.distance);
  if (!std::isnan(x.distance) && x.distance != y.distance) return x.distance > y.distance;
  return x.at < y.at;
}

void WorstElements::add(const PairSlab& slab, int64_t from, std::span<const double> distances) {
  for (size_t i = 0; i < distances.size() && number_ > 0; ++i) {
    // A later element never replaces an equal one; NaN compares unequal to everything.
    const double least = heap_.size() < number_ ? 0 : heap_.front().distance;
    if (distances[i] <= least || std::isnan(least)) continue;
    keep(slab, from + static_cast<int64_t>(i), distances[i]);
  }
}

void WorstElements::keep(const PairSlab& slab, int64_t in_slab, double distance) {
  Candidate candidate;
  candidate.distance = distance;
  candidate.at = static_cast<uint64_t>(slab.first + in_slab);
  const size_t bytes_a = bytes_of_element(dtype_a_), bytes_b = bytes_of_element(dtype_b_);
  std::memcpy(candidate.a.data(), slab.stored_a + static_cast<size_t>(in_slab) * bytes_a, bytes_a);
  std::memcpy(candidate.b.data(), slab.stored_b + static_cast<size_t>(in_slab) * bytes_b, bytes_b);
  if (heap_.size() == number_) {
    std::pop_heap(heap_.begin(), heap_.end(), is_worse);
    heap_.pop_back();
  }
  heap_.push_back(candidate);
  std::push_heap(heap_.begin(), heap_.end(), is_worse);
}

std::vector<WorstElement> WorstElements::finish(const Shape& shape) && {
  std::sort_heap(heap_.begin(), heap_.end(), is_worse);
  std::vector<WorstElement> elements;
  elements.reserve(heap_.size());
  for (const Candidate& one : heap_) {
    elements.push_back({index_of_element(one.at, shape), element_value(dtype_a_, one.a.data()),
                        element_value(dtype_b_, one.b.data()), finite_or_nothing(one.distance)});
  }
  return elements;
}

Result<WorstElement> read_pair_at(HostTensor& a, HostTensor& b, uint64_t at) {
  if (a.count() != b.count() || at >= static_cast<uint64_t>(a.count())) {
    return fail(
        make_error(ErrorCode::kShapeMismatch, "{} against {}: no pair {}", describe(a.shape()), describe(b.shape()), at)
            .with_path(a.path()));
  }
  MSDUMP_TRY(PairReader reader, PairReader::open(a, b, static_cast<int64_t>(at), 1));
  MSDUMP_TRY(const std::optional<PairSlab> pair, reader.next(CancelToken()));
  const double distance = PairDistances(reader.dtype()).of(pair->a, pair->b, 1)[0];
  return WorstElement{index_of_element(at, a.shape()), element_value(a.dtype(), pair->stored_a),
                      element_value(b.dtype(), pair->stored_b), finite_or_nothing(distance)};
}

}  // namespace msdump
