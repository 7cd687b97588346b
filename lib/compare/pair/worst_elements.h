// The elements that differ most, with both values.
//
// First come pairs with NaN or an infinity on one side only, then the largest |a - b|; ties go by index. Equal elements
// are not listed. Values are as stored: integers exact to the last digit, floats with the digits of their dtype, complex
// numbers as a list of two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compare/pair/pair_reader.h"
#include "dump/elements/host_tensor.h"
#include "report/value.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump {

inline constexpr size_t kMostWorst = 100'000;  // more are not kept

struct WorstElement {
  std::vector<int64_t> index;
  report::Value a, b;
  std::optional<double> distance;  // |a - b|; nothing for NaN or an infinity on one side
};

// Takes the pairs of two tensors in order.
class WorstElements {
 public:
  WorstElements(size_t number, DType stored_a, DType stored_b);

  // The pairs of a slab from `from` on, with their distances (pair_distance.h).
  void add(const PairSlab& slab, int64_t from, std::span<const double> distances);

  // The worst first.
  [[nodiscard]] std::vector<WorstElement> finish(const Shape& shape) &&;

 private:
  static constexpr size_t kWidest = 16;  // bytes of a complex128
  using Stored = std::array<std::byte, kWidest>;
  struct Candidate {
    double distance = 0;  // NaN: a mismatch
    uint64_t at = 0;
    Stored a, b;
  };

  static bool is_worse(const Candidate& x, const Candidate& y);
  void keep(const PairSlab& slab, int64_t in_slab, double distance);

  size_t number_;
  DType dtype_a_, dtype_b_;
  std::vector<Candidate> heap_;  // the least bad one on top
};

// One pair of two tensors with equally many elements: the metrics know the worst pair by its index only.
Result<WorstElement> read_pair_at(HostTensor& a, HostTensor& b, uint64_t at);

// One element as reports print it; `at` holds it as HostTensor::read gives it.
[[nodiscard]] report::Value element_value(DType dtype, const std::byte* at);

}  // namespace msdump
