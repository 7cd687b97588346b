#include "profiles/msprobe/dot.h"

#include <algorithm>
#include <vector>

#include "support/catch.h"

namespace msdump {
namespace {

std::vector<double> vector_of(int64_t count, int64_t factor, double divisor) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<double>((i * i * factor + i) % 197 - 98) / divisor);
  }
  return values;
}

double dot(const std::vector<double>& x, const std::vector<double>& y, int64_t piece) {
  const auto count = static_cast<int64_t>(x.size());
  OpenBlasDot dot(count);
  for (int64_t at = 0; at < count; at += piece) dot.add(x.data() + at, y.data() + at, std::min(piece, count - at));
  return dot.result();
}

// numpy.dot of numpy 1.26.4, OpenBLAS for CPUs with AVX-512.
TEST_CASE("inner products have the last digit that numpy gives them") {
  const auto [count, expected] = GENERATE(table<int64_t, double>({
      {1, 0x1.f2e8ba2e8ba2ep+6},
      {5, 0x1.7477b03531decp+8},
      {15, 0x1.5b06a63bd81aap+8},
      {16, 0x1.5bc427e56710ap+8},
      {17, 0x1.6f81a98ef606ap+8},
      {31, 0x1.48959c427e566p+9},
      {32, 0x1.4c59c427e5672p+9},
      {33, 0x1.35d4c77b03533p+9},
      {47, 0x1.24db6db6db6dcp+8},
      {48, 0x1.ffb03531dec0cp+7},
      {63, 0x1.25959c427e566p+7},
      {64, 0x1.6027e567109f6p+6},
      {79, 0x1.73bd81a98ef5fp+6},
      {100, -0x1.5ae213f2b3887p+7},
      {1000, -0x1.3231dec0d4c76p+9},
  }));
  const auto x = vector_of(count, 3, 7.0), y = vector_of(count, 5, 11.0);
  CHECK(dot(x, y, count) == expected);
  CHECK(dot(x, y, 32) == expected);
  CHECK(dot(x, y, 96) == expected);
}

TEST_CASE("no elements give 0") { CHECK(OpenBlasDot(0).result() == 0); }

TEST_CASE("the CPU's own fused multiply-add gives the bytes of the portable one") {
  const auto x = vector_of(32 * 40, 7, 3.0), y = vector_of(32 * 40, 11, 1e-3);
  std::array<double, 32> fast{}, portable{};
  openblas::add_32_lanes(x.data(), y.data(), 32 * 40, fast.data());
  openblas::add_32_lanes_portable(x.data(), y.data(), 32 * 40, portable.data());
  CHECK(fast == portable);
}

}  // namespace
}  // namespace msdump
