// numpy's arithmetic on two arrays without a dimension, which keep their dtypes: |a - b| and |(a - b) / b|.
// Source: numpy's promotion rules; metrics.h says what they are for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace msdump {

// One element; only the fields of its kind are set.
struct NumpyScalar {
  DType dtype = DType::kUndefined;
  double real = 0, imaginary = 0;  // of all kinds, as float64
  int64_t whole = 0;               // of signed integers and bool
  uint64_t natural = 0;            // of unsigned ones
};

// The element in host byte order. `dtype` is one that numpy knows.
[[nodiscard]] NumpyScalar read_scalar(DType dtype, std::span<const std::byte> bytes);

// numpy.abs(a - b); both become float64 if `a` is a bool, as msprobe does it.
[[nodiscard]] double numpy_distance(const NumpyScalar& a, const NumpyScalar& b);
[[nodiscard]] double numpy_relative_error(const NumpyScalar& a, const NumpyScalar& b, bool numpy1);

}  // namespace msdump
