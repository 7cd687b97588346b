// What the tests of pair share: tensors of any dtype with nasty values among them, and metrics on every CPU target.
#pragma once

#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/pair/pair.h"
#include "support/catch.h"
#include "unit/kernels/each_target.h"

namespace msdump::kernels {

using PairBytes = std::vector<std::byte>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline size_t width_of(DType dtype) { return info(dtype).bits < 8 ? 1 : static_cast<size_t>(info(dtype).bits) / 8; }

template <class T>
PairBytes bytes_of_values(const std::vector<T>& values) {
  PairBytes bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline std::vector<DType> pairable() {
  std::vector<DType> dtypes;
  for (const DTypeInfo& entry : all_dtypes()) {
    if (can_pair(entry.dtype)) dtypes.push_back(entry.dtype);
  }
  return dtypes;
}

// Two tensors of one dtype, each after one byte, so that nothing is aligned.
struct TensorPair {
  DType dtype = DType::kFloat32;
  int64_t count = 0;
  PairBytes a, b;

  TensorPair(DType dtype_, const PairBytes& a_, const PairBytes& b_)
      : dtype(dtype_), count(static_cast<int64_t>(a_.size() / width_of(dtype_))), a(1), b(1) {
    REQUIRE(a_.size() == b_.size());
    a.insert(a.end(), a_.begin(), a_.end());
    b.insert(b.end(), b_.begin(), b_.end());
  }

  template <class T>
  TensorPair(DType dtype_, const std::vector<T>& a_, const std::vector<T>& b_)
      : TensorPair(dtype_, bytes_of_values(a_), bytes_of_values(b_)) {}

  using Kernel = void (*)(DType, const std::byte*, const std::byte*, int64_t, const PairRule&, PairState&);

  // Elements [from, to).
  void run(Kernel kernel, int64_t from, int64_t to, const PairRule& rule, PairState& state) const {
    const auto offset = 1 + static_cast<std::ptrdiff_t>(from * static_cast<int64_t>(width_of(dtype)));
    kernel(dtype, a.data() + offset, b.data() + offset, to - from, rule, state);
  }

  [[nodiscard]] PairState whole(Kernel kernel, const PairRule& rule) const {
    PairState state;
    run(kernel, 0, count, rule, state);
    return state;
  }
};

// By the definition; on every target the fast form has the same state, bit for bit.
inline PairState state_of(const TensorPair& pair, const PairRule& rule = {}) {
  const PairState defined = pair.whole(pair_reference, rule);
  for_each_target([&] {
    if (!(pair.whole(pair_block, rule) == defined)) {
      FAIL_CHECK(name_of(pair.dtype) << ", " << pair.count << " pairs: another state than the definition's");
    }
  });
  return defined;
}

inline PairMetrics metrics_of(const TensorPair& pair, const PairRule& rule = {}) {
  return finish(state_of(pair, rule));
}

template <class T>
PairMetrics metrics_of(DType dtype, const std::vector<T>& a, const std::vector<T>& b, const PairRule& rule = {}) {
  return metrics_of(TensorPair(dtype, a, b), rule);
}

inline PairMetrics metrics_of(const std::vector<double>& a, const std::vector<double>& b, const PairRule& rule = {}) {
  return metrics_of(DType::kFloat64, a, b, rule);
}

// Random codes: any at all, or floats of moderate size; b as a, as a but for its last bits, or of its own; and of 256
// elements `specials` have a code of the ends of the dtype.
struct PairSource {
  enum class Likeness { kSame, kNear, kNone, kMixed };

  int specials = 0;
  bool moderate = true;
  Likeness likeness = Likeness::kNear;
  std::mt19937_64 random{1};

  TensorPair make(DType dtype, size_t count) {
    const size_t width = width_of(dtype);
    PairBytes a(count * width), b(count * width);
    for (size_t i = 0; i < count; ++i) {
      for (size_t at = 0; at < width; at += 8) {
        const size_t bytes = std::min<size_t>(8, width - at);
        const uint64_t first = code(dtype, bytes), second = other(first, dtype, bytes, i);
        std::memcpy(&a[i * width + at], &first, bytes);
        std::memcpy(&b[i * width + at], &second, bytes);
      }
    }
    return {dtype, a, b};
  }

 private:
  uint64_t code(DType dtype, size_t bytes) {
    const uint64_t top = uint64_t{1} << (8 * bytes - 1);
    if (static_cast<int>(random() & 0xFF) < specials) {
      const uint64_t infinity = dtype == DType::kFloat16                   ? 0x7C00
                                : dtype == DType::kBfloat16                ? 0x7F80
                                : bytes == 4                               ? 0x7F80'0000
                                : bytes == 8 && dtype != DType::kComplex64 ? 0x7FF0'0000'0000'0000
                                                                           : 0x7F80'0000'7F80'0000;
      const uint64_t codes[] = {
          0, top, infinity, infinity | top, infinity + 1, ~uint64_t{0}, infinity - 1, (infinity - 1) | top, 1, top | 1};
      return cut(dtype, codes[random() % std::size(codes)]);
    }
    uint64_t result = random();
    if (moderate) result &= ~(top >> 1);
    return cut(dtype, result);
  }

  uint64_t other(uint64_t code_a, DType dtype, size_t bytes, size_t at) {
    Likeness like = likeness;
    if (like == Likeness::kMixed) like = static_cast<Likeness>(at / 1024 % 3);
    if (like == Likeness::kSame) return code_a;
    if (like == Likeness::kNear) return cut(dtype, code_a ^ (random() & 3));
    return code(dtype, bytes);
  }

  static uint64_t cut(DType dtype, uint64_t code) {
    return info(dtype).bits < 8 ? code & ((1U << info(dtype).bits) - 1) : code;
  }
};

}  // namespace msdump::kernels
