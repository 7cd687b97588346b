// The inner product of two float64 vectors, equal to numpy's dot to the last digit: OpenBLAS decides in which order the
// products are added, and msprobe prints the norm of a difference with all its digits.
//
//   1. 32 lanes: element i goes to lane i % 32, as long as 32 elements are left; each step is a fused multiply-add
//   2. folded to 16: lanes 8k + l and 8k + 4 + l become lane 4k + l (l < 4); then 16 more elements if there are
//   3. lanes l, 4 + l, 8 + l, 12 + l are added in this order to s_l; the sum is (s_0 + s_2) + (s_1 + s_3)
//   4. the remaining elements, one by one, each a fused multiply-add
// That is OpenBLAS 0.3 on x86-64 with AVX-512, in one thread. Other CPUs add in other orders (Haswell has no step 1), and
// from 10000 elements on several threads share the work: the last digit then differs.
// Source: found by trial against numpy 1.26 (no difference in 204 random vectors); the result files of the conformance
// data agree with this order, and not with that of Haswell, Zen or Sandy Bridge.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace msdump {

class OpenBlasDot {
 public:
  explicit OpenBlasDot(int64_t total);

  // The next `count` elements: a multiple of 32 except for the last ones.
  void add(const double* x, const double* y, int64_t count);
  [[nodiscard]] double result() const;  // after all of them

 private:
  void fold();

  int64_t in_32_, in_16_;  // up to where the elements go to 32 and to 16 lanes
  int64_t at_ = 0;
  bool folded_ = false;
  std::array<double, 32> lanes_{};
  std::array<double, 15> tail_x_{}, tail_y_{};
  size_t tail_ = 0;
};

namespace openblas {

// lanes[i % 32] += x[i] * y[i], fused; count is a multiple of 32. The CPU's own instruction where it has one; the
// portable form is the reference. Both give the same bytes.
void add_32_lanes(const double* x, const double* y, int64_t count, double* lanes);
void add_32_lanes_portable(const double* x, const double* y, int64_t count, double* lanes);

}  // namespace openblas
}  // namespace msdump
