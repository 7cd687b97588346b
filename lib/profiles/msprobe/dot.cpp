#include "profiles/msprobe/dot.h"

#include <algorithm>
#include <cmath>

namespace msdump {
namespace {

// Inlined into each of the functions below, which differ only in the instructions that they may use.
[[gnu::always_inline]] inline void add_lanes(const double* x, const double* y, int64_t count, double* lanes) {
  for (int64_t i = 0; i < count; i += 32) {
    for (int64_t lane = 0; lane < 32; ++lane) lanes[lane] = __builtin_fma(x[i + lane], y[i + lane], lanes[lane]);
  }
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void add_lanes_fma(const double* x, const double* y, int64_t count, double* lanes) {
  add_lanes(x, y, count, lanes);
}
#endif

}  // namespace

namespace openblas {

void add_32_lanes_portable(const double* x, const double* y, int64_t count, double* lanes) {
  add_lanes(x, y, count, lanes);
}

void add_32_lanes(const double* x, const double* y, int64_t count, double* lanes) {
#if defined(__x86_64__)
  static const bool kHasFma = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (kHasFma) return add_lanes_fma(x, y, count, lanes);
#endif
  add_32_lanes_portable(x, y, count, lanes);
}

}  // namespace openblas

OpenBlasDot::OpenBlasDot(int64_t total) : in_32_(total / 32 * 32), in_16_(total / 16 * 16) {}

void OpenBlasDot::add(const double* x, const double* y, int64_t count) {
  const int64_t end = at_ + count;
  if (const int64_t here = std::min(end, in_32_) - at_; here > 0) {
    openblas::add_32_lanes(x, y, here, lanes_.data());
    x += here;
    y += here;
    at_ += here;
  }
  if (at_ == in_32_ && !folded_) fold();
  if (at_ == end) return;
  if (at_ < in_16_) {
    for (size_t lane = 0; lane < 16; ++lane) lanes_[lane] = std::fma(x[lane], y[lane], lanes_[lane]);
    x += 16;
    y += 16;
    at_ += 16;
  }
  for (; at_ < end; ++at_, ++x, ++y, ++tail_) {
    tail_x_[tail_] = *x;
    tail_y_[tail_] = *y;
  }
}

void OpenBlasDot::fold() {
  std::array<double, 32> folded{};
  for (size_t k = 0; k < 4; ++k) {
    for (size_t l = 0; l < 4; ++l) folded[4 * k + l] = lanes_[8 * k + l] + lanes_[8 * k + 4 + l];
  }
  lanes_ = folded;
  folded_ = true;
}

double OpenBlasDot::result() const {
  std::array<double, 4> sums{};
  for (size_t l = 0; l < 4; ++l) sums[l] = ((lanes_[l] + lanes_[4 + l]) + lanes_[8 + l]) + lanes_[12 + l];
  double sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
  for (size_t i = 0; i < tail_; ++i) sum = std::fma(tail_y_[i], tail_x_[i], sum);
  return sum;
}

}  // namespace msdump
