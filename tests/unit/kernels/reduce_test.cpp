#include "kernels/reduce/reduce.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/catch.h"
#include "unit/kernels/each_target.h"
#include "unit/kernels/pair_values.h"

namespace msdump::kernels {
namespace {

using Bytes = std::vector<std::byte>;
using Values = std::vector<double>;

constexpr int64_t kBlock = 256;  // of the implementation; its borders are tested

constexpr ReduceRule kRuleA = {.finite_only = true, .running_mean = true, .finite_start = true, .squares = false};
constexpr ReduceRule kRuleB = {.running_mean = true, .finite_start = true};
constexpr ReduceRule kRuleC = {};

struct NamedRule {
  const char* name;
  ReduceRule rule;
};

std::vector<NamedRule> named_rules() {
  ReduceRule on_aarch64 = kRuleC, extremes = kRuleC, sum = kRuleB, all_finite = kRuleA, nothing = kRuleC;
  on_aarch64.negative_default_nan = false;
  extremes.sum = extremes.squares = extremes.counts = false;
  sum.squares = sum.extremes = sum.counts = false;
  all_finite.squares = true;
  nothing.sum = nothing.squares = nothing.extremes = nothing.counts = false;
  ReduceRule finite_sum = kRuleA, counts = kRuleC, squares = kRuleC;
  finite_sum.extremes = finite_sum.counts = false;
  counts.sum = counts.squares = counts.extremes = false;
  squares.sum = squares.extremes = squares.counts = false;
  return {{"A", kRuleA},
          {"B", kRuleB},
          {"C", kRuleC},
          {"C on aarch64", on_aarch64},
          {"extremes of C", extremes},
          {"mean of B", sum},
          {"A with squares", all_finite},
          {"mean of A", finite_sum},
          {"counts of C", counts},
          {"squares of C", squares},
          {"nothing", nothing}};
}

// To the last bit; there is no padding.
static_assert(sizeof(ChunkStatistics) == 12 * 8);
bool same(const ChunkStatistics& a, const ChunkStatistics& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

std::string show(const ChunkStatistics& s) {
  char text[400];
  std::snprintf(text, sizeof text,
                "count %llu entered %llu negative %llu positive %llu zero %llu nan %llu -inf %llu +inf %llu max %.17g "
                "min %.17g sum %.17g squares %.17g",
                static_cast<unsigned long long>(s.count), static_cast<unsigned long long>(s.entered),
                static_cast<unsigned long long>(s.negative), static_cast<unsigned long long>(s.positive),
                static_cast<unsigned long long>(s.zero), static_cast<unsigned long long>(s.nan),
                static_cast<unsigned long long>(s.negative_inf), static_cast<unsigned long long>(s.positive_inf), s.max,
                s.min, s.sum, s.squares);
  return text;
}

bool is_nan(double x, bool negative) { return std::isnan(x) && std::signbit(x) == negative; }
bool is_zero(double x, bool negative) { return x == 0 && std::signbit(x) == negative; }

template <class T>
ReduceLane lane_of(DType dtype, const std::vector<T>& values, ChunkStatistics& state) {
  return {dtype, reinterpret_cast<const std::byte*>(values.data()), static_cast<int64_t>(values.size()), &state};
}

// The statistics of one chunk, by the definition. On every target, alone and among others, the fast form gives the
// same.
template <class T>
ChunkStatistics statistics(DType dtype, const std::vector<T>& values, const ReduceRule& rule) {
  ChunkStatistics defined = start_statistics(rule);
  const ReduceLane lane = lane_of(dtype, values, defined);
  reduce_reference({&lane, 1}, rule);
  for_each_target([&] {
    for (const size_t together : {size_t{1}, size_t{2}, size_t{8}}) {
      std::vector<ChunkStatistics> states(together, start_statistics(rule));
      std::vector<ReduceLane> lanes;
      for (ChunkStatistics& state : states) lanes.push_back(lane_of(dtype, values, state));
      reduce(lanes, rule);
      for (const ChunkStatistics& state : states) {
        if (!same(state, defined)) FAIL_CHECK(together << " lanes: " << show(state) << " not " << show(defined));
      }
    }
  });
  return defined;
}

ChunkStatistics statistics(const Values& values, const ReduceRule& rule) {
  return statistics(DType::kFloat64, values, rule);
}

// The same numbers at the end of a block, over its border, and after it.
Values shifted(const Values& values, int64_t by, double fill) {
  Values result(static_cast<size_t>(by), fill);
  result.insert(result.end(), values.begin(), values.end());
  return result;
}

std::vector<uint64_t> special_codes(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return {0x7C00, 0xFC00, 0x7C01, 0xFE00, 0x8000, 0x0001, 0};
    case DType::kBfloat16: return {0x7F80, 0xFF80, 0x7F81, 0xFFC0, 0x8000, 0x0001, 0};
    case DType::kFloat32: return {0x7F80'0000, 0xFF80'0000, 0x7F80'0001, 0xFFC0'0000, 0x8000'0000, 1, 0};
    case DType::kFloat64:
      return {0x7FF0'0000'0000'0000,
              0xFFF0'0000'0000'0000,
              0x7FF0'0000'0000'0001,
              0xFFF8'0000'0000'0000,
              1ULL << 63,
              0x7FE0'0000'0000'0000,
              0};
    default: return {0, 0x7F, 0x80, 0xFF, 0x6F, 0xEF, ~0ULL, 1ULL << (info(dtype).bits < 8 ? 0 : info(dtype).bits - 1)};
  }
}

// How often an element is a special one, of 256; a negative number: never, and floats are moderate.
struct Data {
  int specials = 0;
  std::mt19937_64 random{1};

  Bytes make(DType dtype, size_t count) {
    const size_t width = info(dtype).bits < 8 ? 1 : static_cast<size_t>(info(dtype).bits) / 8;
    const std::vector<uint64_t> codes = special_codes(dtype);
    Bytes bytes(count * width);
    for (size_t i = 0; i < count; ++i) {
      const uint64_t dice = random();
      uint64_t code = random();
      if (specials < 0) code &= ~(uint64_t{1} << (8 * width - 2));  // the top of a float's exponent
      if (static_cast<int>(dice & 0xFF) < specials) code = codes[(dice >> 8) % codes.size()];
      if (needs_low_nibble(dtype)) code &= 0xF;
      std::memcpy(&bytes[i * width], &code, width);
    }
    return bytes;
  }

  static bool needs_low_nibble(DType dtype) { return dtype == DType::kFloat4E2m1 || dtype == DType::kFloat4E1m2; }
};

// Chunks of several tensors that are advanced together.
struct Chunks {
  std::vector<DType> dtypes;
  std::vector<Bytes> data;  // each after one byte, so that nothing is aligned
  std::vector<int64_t> counts;

  void add(DType dtype, const Bytes& elements, int64_t count) {
    Bytes odd(1);
    odd.insert(odd.end(), elements.begin(), elements.end());
    dtypes.push_back(dtype);
    data.push_back(odd);
    counts.push_back(count);
  }

  // Elements [from, to) of each chunk, as far as it has them.
  [[nodiscard]] std::vector<ReduceLane> lanes(int64_t from, int64_t to, std::vector<ChunkStatistics>& states) const {
    std::vector<ReduceLane> result;
    for (size_t i = 0; i < data.size(); ++i) {
      const int64_t width = info(dtypes[i]).bits < 8 ? 1 : info(dtypes[i]).bits / 8;
      const int64_t first = std::min(from, counts[i]), last = std::min(to, counts[i]);
      result.push_back({dtypes[i], data[i].data() + 1 + first * width, last - first, &states[i]});
    }
    return result;
  }

  [[nodiscard]] std::vector<ChunkStatistics> defined(const ReduceRule& rule) const {
    std::vector<ChunkStatistics> states(data.size(), start_statistics(rule));
    reduce_reference(lanes(0, std::numeric_limits<int64_t>::max(), states), rule);
    return states;
  }

  // `slab` elements of each chunk at a time.
  void check(const NamedRule& named, const std::vector<ChunkStatistics>& expected, int64_t slab) const {
    std::vector<ChunkStatistics> states(data.size(), start_statistics(named.rule));
    const int64_t longest = *std::max_element(counts.begin(), counts.end());
    for (int64_t at = 0; at < longest; at += slab) reduce(lanes(at, at + slab, states), named.rule);
    for (size_t i = 0; i < states.size(); ++i) {
      if (same(states[i], expected[i])) continue;
      FAIL_CHECK("rule " << named.name << ", " << name_of(dtypes[i]) << ", chunk " << i << " of " << states.size()
                         << ", " << counts[i] << " elements by " << slab << ":\n"
                         << show(states[i]) << " not\n"
                         << show(expected[i]));
    }
  }
};

std::vector<DType> reducible() {
  std::vector<DType> dtypes;
  for (const DTypeInfo& entry : all_dtypes()) {
    if (can_reduce(entry.dtype)) dtypes.push_back(entry.dtype);
  }
  return dtypes;
}

}  // namespace

TEST_CASE("Plain numbers have the statistics that MindSpore prints for them") {
  const ChunkStatistics c = statistics({1, 2, 3, 4, 5, 6}, kRuleC);
  CHECK(c.count == 6);
  CHECK(c.entered == 6);
  CHECK(c.positive == 6);
  CHECK(c.max == 6);
  CHECK(c.min == 1);
  CHECK(c.sum == 21);
  CHECK(c.squares == 91);
  const ChunkStatistics a = statistics({1, 2, 3, 4, 5, 6}, kRuleA);
  CHECK(a.sum == 3.5);
  CHECK(a.squares == 0);
}

TEST_CASE("An empty chunk keeps what it started with") {
  const ChunkStatistics c = statistics(Values{}, kRuleC);
  CHECK(c.count == 0);
  CHECK(c.max == -kInf);
  CHECK(c.min == kInf);
  const ChunkStatistics a = statistics(Values{}, kRuleA);
  CHECK(a.max == -DBL_MAX);
  CHECK(a.min == DBL_MAX);
  CHECK(a.sum == 0);
}

TEST_CASE("Rule A counts NaN and infinities and uses them for nothing else") {
  const ChunkStatistics a = statistics({0, 4, -4, kNan, kInf, -kInf, 8}, kRuleA);
  CHECK(a.count == 7);
  CHECK(a.entered == 4);
  CHECK(a.nan == 1);
  CHECK(a.positive_inf == 1);
  CHECK(a.negative_inf == 1);
  CHECK(a.negative == 1);
  CHECK(a.positive == 2);
  CHECK(a.zero == 1);
  CHECK(a.max == 8);
  CHECK(a.min == -4);
  CHECK(a.sum == 2);
  const ChunkStatistics none = statistics({kNan, kInf}, kRuleA);
  CHECK(none.entered == 0);
  CHECK(none.max == -DBL_MAX);
  CHECK(none.sum == 0);
}

TEST_CASE("From rule B on infinities are numbers too") {
  const ChunkStatistics c = statistics({1, kInf, -2, 0}, kRuleC);
  CHECK(c.positive == 2);
  CHECK(c.positive_inf == 1);
  CHECK(c.max == kInf);
  CHECK(c.min == -2);
  CHECK(c.sum == kInf);
  CHECK(c.squares == kInf);
  const ChunkStatistics all_c = statistics({-kInf, -kInf}, kRuleC), all_b = statistics({-kInf, -kInf}, kRuleB);
  CHECK(all_c.max == -kInf);
  CHECK(all_c.negative == 2);
  CHECK(all_b.max == -DBL_MAX);
  CHECK(all_b.min == -kInf);
  CHECK(is_nan(all_b.sum, true));  // -inf + (-inf - -inf) / 2
  CHECK(statistics({1, kInf}, kRuleB).sum == kInf);
}

TEST_CASE("The last NaN is the extremes, the first one the sums") {
  for (const int64_t by : {0, 1, 7, 253, 254, 255, 256, 300}) {
    for (const ReduceRule& rule : {kRuleB, kRuleC}) {
      const ChunkStatistics s = statistics(shifted({kNan, 3, -kNan, 1, -kInf}, by, 2), rule);
      CHECK(s.nan == 2);
      CHECK(s.negative_inf == 1);
      CHECK(is_nan(s.max, true));
      CHECK(is_nan(s.min, true));
      CHECK(is_nan(s.sum, false));
      CHECK(is_nan(s.squares, false));
    }
  }
}

TEST_CASE("A NaN that arises has the sign of the host") {
  ReduceRule aarch64 = kRuleC;
  aarch64.negative_default_nan = false;
  for (const int64_t by : {0, 3, 255, 256}) {
    const Values values = shifted({kInf, 1, -kInf, kNan}, by, 0.5);
    const ChunkStatistics x86 = statistics(values, kRuleC);
    CHECK(is_nan(x86.sum, true));
    CHECK(is_nan(x86.squares, false));
    CHECK(is_nan(statistics(values, aarch64).sum, false));
  }
}

TEST_CASE("Of the zeros the first is the extreme") {
  for (const int64_t by : {0, 1, 254, 255, 256, 257}) {
    INFO("after " << by << " other numbers");
    CHECK(is_zero(statistics(shifted({-0.0, 0.0}, by, -1), kRuleC).max, true));
    CHECK(is_zero(statistics(shifted({0.0, -0.0}, by, -1), kRuleC).max, false));
    CHECK(is_zero(statistics(shifted({-0.0, 0.0}, by, 1), kRuleC).min, true));
    CHECK(is_zero(statistics(shifted({0.0, -0.0}, by, 1), kRuleC).min, false));
  }
  CHECK(statistics({-0.0, 0.0, 0.0}, kRuleC).zero == 3);
  CHECK(is_zero(statistics({-0.0}, kRuleC).sum, false));  // 0 + -0
}

TEST_CASE("Additions keep their order") {
  CHECK(statistics({1, 1e100, 1, -1e100, 1}, kRuleC).sum == 1);
  CHECK(statistics({1e100, -1e100, 1, 1, 1}, kRuleC).sum == 3);
  Values values(3 * kBlock + 5);
  std::mt19937 random(2);
  for (double& value : values) value = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 90) - 45);
  double sum = 0, squares = 0, mean = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    squares += values[i] * values[i];
    mean += (values[i] - mean) / static_cast<double>(i + 1);
  }
  CHECK(statistics(values, kRuleC).sum == sum);
  CHECK(statistics(values, kRuleC).squares == squares);
  CHECK(statistics(values, kRuleB).sum == mean);
}

TEST_CASE("A running mean may overflow, and then the NaN that arises has a sign too") {
  ReduceRule aarch64 = kRuleA;
  aarch64.negative_default_nan = false;
  const Values values = {DBL_MAX, -DBL_MAX, DBL_MAX, 1};  // -inf after the second, then inf - inf
  CHECK(is_nan(statistics(values, kRuleA).sum, true));
  CHECK(is_nan(statistics(values, aarch64).sum, false));
}

TEST_CASE("Integers become the nearest double, a bool is 0 or 1") {
  const int64_t odd = (int64_t{1} << 53) + 1;
  CHECK(statistics(DType::kInt64, std::vector<int64_t>(20, odd), kRuleC).max == 9007199254740992.0);
  CHECK(statistics(DType::kInt64, std::vector<int64_t>(20, -odd - 2), kRuleC).min == -9007199254740996.0);
  CHECK(statistics(DType::kUint64, std::vector<uint64_t>(20, ~uint64_t{0}), kRuleC).max == 18446744073709551616.0);
  CHECK(statistics(DType::kUint32, std::vector<uint32_t>(20, ~uint32_t{0}), kRuleC).sum == 20 * 4294967295.0);
  const ChunkStatistics flags = statistics(DType::kBool, std::vector<uint8_t>(40, 0x82), kRuleC);
  CHECK(flags.sum == 40);
  CHECK(flags.max == 1);
  CHECK(statistics(DType::kInt4, std::vector<int8_t>{-8, 7, -1}, kRuleC).min == -8);
}

TEST_CASE("What is not wanted stays as it was") {
  ReduceRule rule = kRuleC;
  rule.sum = rule.counts = false;
  const ChunkStatistics s = statistics({1, kNan, -2}, rule);
  CHECK(s.count == 3);
  CHECK(s.nan + s.negative + s.positive == 0);
  CHECK(s.sum == 0);
  CHECK(std::isnan(s.max));
  CHECK(std::isnan(s.squares));
}

TEST_CASE("Every dtype gives the definition's bits, with and without special values, on every CPU target") {
  for (const int specials : {-1, 0, 2, 128}) {
    Data source{specials};
    for (const DType dtype : reducible()) {
      Chunks chunks;
      for (const int64_t count : {kBlock - 1, kBlock, kBlock + 1, int64_t{0}, int64_t{1}, int64_t{70}, 2 * kBlock + 37,
                                  int64_t{15}, int64_t{16}, int64_t{33}}) {
        chunks.add(dtype, source.make(dtype, static_cast<size_t>(count)), count);
      }
      for (const NamedRule& rule : named_rules()) {
        const std::vector<ChunkStatistics> expected = chunks.defined(rule.rule);
        for_each_target([&] { chunks.check(rule, expected, 1000); });
      }
    }
  }
}

TEST_CASE(
    "One to twenty chunks of any lengths and dtypes give the definition's bits, however they are cut into slabs") {
  Data source{1};
  const std::vector<DType> dtypes = reducible();
  for (size_t together = 1; together <= 20; ++together) {
    Chunks chunks;
    for (size_t i = 0; i < together; ++i) {
      const DType dtype = together % 2 == 0 ? DType::kFloat16 : dtypes[source.random() % dtypes.size()];
      const auto count = static_cast<int64_t>(source.random() % 900);
      source.specials = static_cast<int>(source.random() % 3) - 1;
      chunks.add(dtype, source.make(dtype, static_cast<size_t>(count)), count);
    }
    for (const NamedRule& rule : named_rules()) {
      const std::vector<ChunkStatistics> expected = chunks.defined(rule.rule);
      for_each_target([&] {
        for (const int64_t slab : {1000, 256, 129, 61}) chunks.check(rule, expected, slab);
      });
    }
  }
}

TEST_CASE("Numbers that are not complex can be reduced") {
  for (const DType dtype : {DType::kFloat16, DType::kBfloat16, DType::kFloat8E8m0, DType::kHifloat8, DType::kFloat4E1m2,
                            DType::kInt4, DType::kUint1, DType::kBool, DType::kUint64, DType::kQint8}) {
    CHECK(can_reduce(dtype));
  }
  for (const DType dtype : {DType::kComplex32, DType::kComplex64, DType::kComplex128, DType::kString,
                            DType::kFloat6E3m2, DType::kUndefined}) {
    CHECK_FALSE(can_reduce(dtype));
  }
}

}  // namespace msdump::kernels
