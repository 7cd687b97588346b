// TensorFacts: what the rules know of one tensor's values, from its elements or from a table.
//
//   elements        min, max, mean, norm of the finite ones; every count
//   statistic.csv   what its columns hold; a number that NaN or an infinity has entered is unknown, but shows one
//   dump.json       max, min, mean, norm the same way
// For complex numbers min, max and the rest are of their parts, and only the elements are counted.
#pragma once

#include <cstdint>
#include <optional>

#include "compare/statistics/statistic_values.h"
#include "stats/tensor_statistics.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump::check {

struct TensorFacts {
  enum class From : uint8_t { kNothing, kElements, kStatistics };

  From from = From::kNothing;
  DType dtype = DType::kUndefined;  // of the framework's tensor
  uint8_t rank = 0;                 // number of dimensions
  const Shape* shape = nullptr;     // of what was read from a file, else null; with `bytes`
  uint64_t bytes = 0;
  bool has_nan = false, has_positive_inf = false, has_negative_inf = false;  // something shows it
  std::optional<uint64_t> elements;
  std::optional<double> min, max, mean, l2norm, mean_abs;
  std::optional<uint64_t> nan, positive_inf, negative_inf, zero, subnormal;
  std::optional<uint64_t> positive_edge, negative_edge;  // elements that are the largest or smallest of the type
  // Equal for equal tensors: a hash of the elements, or of what the table has of them (a checksum, else the numbers). 0:
  // not known, or not asked for.
  uint64_t digest = 0;
  bool digest_is_exact = false;  // tensors with different ones differ; else it is of rounded numbers

  [[nodiscard]] bool known() const { return from != From::kNothing && elements != 0U; }
  [[nodiscard]] bool is_finite() const { return !has_nan && !has_positive_inf && !has_negative_inf; }
  // Of those that are finite.
  [[nodiscard]] std::optional<double> root_mean_square() const;
  [[nodiscard]] std::optional<double> deviation() const;
  [[nodiscard]] std::optional<uint64_t> finite() const;  // how many
  [[nodiscard]] std::optional<bool> all_zero() const;
  // At most one finite value; no value if that is unknown.
  [[nodiscard]] std::optional<bool> constant() const;
};

[[nodiscard]] TensorFacts facts_of(const stats::TensorStatistics& statistics);
[[nodiscard]] TensorFacts facts_of(const StatisticValues& values);

// float, bfloat16, fp8, complex: types that can hold NaN, and be trained.
[[nodiscard]] bool is_floating(DType dtype);
[[nodiscard]] bool is_eight_bit_float(DType dtype);
// 65504 of float16; no value for types other than numpy's floats and floats of 8 bits.
[[nodiscard]] std::optional<double> largest_of(DType dtype);

}  // namespace msdump::check
