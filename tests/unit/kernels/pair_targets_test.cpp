// pair on every CPU target, however the pairs are cut.
#include <cmath>

#include "kernels/pair/pair.h"
#include "unit/kernels/pair_values.h"

namespace msdump::kernels {
namespace {

using Likeness = PairSource::Likeness;

std::vector<PairRule> rules() {
  return {{},
          {.rtol = 1e-3, .atol = 1e-5, .scale = 0.7},
          {.rtol = 0.5, .atol = 0, .scale = 1e-300, .ulp = false, .quantiles = false}};
}

// As the formulas read, in long double where there is a longer one.
struct Plain {
  long double d = 0, d2 = 0, a2 = 0, b2 = 0, ab = 0, sum_a = 0, count = 0;
};

template <class T>
Plain plain(const std::vector<T>& a, const std::vector<T>& b) {
  Plain p;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<long double>(a[i]), y = static_cast<long double>(b[i]);
    p.d += std::abs(x - y);
    p.d2 += (x - y) * (x - y);
    p.a2 += x * x;
    p.b2 += y * y;
    p.ab += x * y;
    p.sum_a += x;
    p.count += 1;
  }
  return p;
}

void check_plain(const PairMetrics& m, const Plain& p) {
  const auto value = [](long double x) { return Approx(static_cast<double>(x)).epsilon(1e-13); };
  CHECK(*m.mean_abs == value(p.d / p.count));
  CHECK(*m.l2_distance == value(std::sqrt(p.d2)));
  CHECK(*m.relative_l2 == value(std::sqrt(p.d2 / p.b2)));
  CHECK(*m.cosine == value(p.ab / std::sqrt(p.a2 * p.b2)));
  CHECK(*m.std_a == value(std::sqrt(p.a2 / p.count - (p.sum_a / p.count) * (p.sum_a / p.count))));
}

}  // namespace

TEST_CASE("Every dtype has the definition's state on every CPU target, with and without special values") {
  for (const int specials : {0, 1, 60, 256}) {
    for (const Likeness likeness : {Likeness::kSame, Likeness::kNear, Likeness::kNone}) {
      for (const bool moderate : {true, false}) {
        PairSource source{specials, moderate, likeness};
        for (const DType dtype : pairable()) {
          for (const unsigned count : {1U, 7U, 9U, 64U, 71U, 1023U, 1024U, 1100U})
            (void)state_of(source.make(dtype, count));
        }
      }
    }
  }
}

TEST_CASE("Long pairs with changing likeness have the definition's state under every rule") {
  for (const DType dtype : {DType::kFloat16, DType::kBfloat16, DType::kFloat32, DType::kFloat64, DType::kInt8,
                            DType::kInt64, DType::kUint64, DType::kBool, DType::kComplex64, DType::kFloat8E4m3fn}) {
    for (const bool moderate : {true, false}) {
      PairSource source{1, moderate, Likeness::kMixed};
      const TensorPair pair = source.make(dtype, 5000);
      for (const PairRule& rule : rules()) (void)state_of(pair, rule);
    }
  }
}

TEST_CASE("Slabs of whole blocks make the same state as one call") {
  PairSource source{1, true, Likeness::kMixed};
  for (const DType dtype : {DType::kFloat16, DType::kFloat64, DType::kInt32}) {
    const TensorPair pair = source.make(dtype, 9000);
    const PairState whole = state_of(pair);
    for_each_target([&] {
      for (const int64_t slab : {kPairBlock, 3 * kPairBlock}) {
        PairState state;
        for (int64_t at = 0; at < pair.count; at += slab) {
          pair.run(pair_block, at, std::min(at + slab, pair.count), {}, state);
        }
        CHECK(state == whole);
      }
    });
  }
}

TEST_CASE("Chunks that are merged have the metrics of the whole") {
  PairSource source{1, true, Likeness::kMixed};
  for (const DType dtype : {DType::kFloat16, DType::kFloat32, DType::kFloat64, DType::kInt64, DType::kComplex128}) {
    const TensorPair pair = source.make(dtype, 6000);
    const PairState whole_state = state_of(pair);
    const PairMetrics whole = finish(whole_state);
    for (const int64_t chunk : {int64_t{1}, int64_t{700}, 4 * kPairBlock, int64_t{5999}}) {
      PairState state;
      for (int64_t at = 0; at < pair.count; at += chunk) {
        PairState next;
        pair.run(pair_block, at, std::min(at + chunk, pair.count), {}, next);
        state.merge(next);
      }
      INFO(name_of(dtype) << " by " << chunk);
      CHECK(state.elements == whole_state.elements);
      CHECK(state.magnitudes == whole_state.magnitudes);
      const PairMetrics m = finish(state);
      CHECK(m.count == whole.count);
      CHECK(m.equal == whole.equal);
      CHECK(m.worst == whole.worst);
      CHECK(m.max_abs == whole.max_abs);
      CHECK(m.max_rel == whole.max_rel);
      CHECK(m.max_ulp == whole.max_ulp);
      CHECK(m.max_a == whole.max_a);
      CHECK(m.min_b == whole.min_b);
      CHECK(m.nan_mismatch == whole.nan_mismatch);
      CHECK(m.inf_mismatch == whole.inf_mismatch);
      CHECK(m.p50_abs == whole.p50_abs);
      CHECK(m.under_1e3 == whole.under_1e3);
      const auto same = [](const std::optional<double>& x, const std::optional<double>& y) {
        REQUIRE(x.has_value() == y.has_value());
        if (x) CHECK(*x == Approx(*y).epsilon(1e-12));
      };
      same(m.l2_distance, whole.l2_distance);
      same(m.mean_abs, whole.mean_abs);
      same(m.mean_rel, whole.mean_rel);
      same(m.cosine, whole.cosine);
      same(m.std_a, whole.std_a);
      same(m.mean_b, whole.mean_b);
    }
  }
}

TEST_CASE("The sums are those of the formulas") {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0.3, 1);
  std::vector<double> a(70'000), b(a.size());
  std::vector<float> fa(a.size()), fb(a.size());
  std::vector<int32_t> ia(a.size()), ib(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    b[i] = normal(random);
    a[i] = b[i] + 0.01 * normal(random);
    fa[i] = static_cast<float>(a[i]);
    fb[i] = static_cast<float>(b[i]);
    ia[i] = static_cast<int32_t>(a[i] * 1e6);
    ib[i] = static_cast<int32_t>(b[i] * 1e6);
  }
  check_plain(metrics_of(a, b), plain(a, b));
  check_plain(metrics_of(DType::kFloat32, fa, fb), plain(fa, fb));
  check_plain(metrics_of(DType::kInt32, ia, ib), plain(ia, ib));
}

TEST_CASE("Raw dtypes cannot be compared by value") {
  CHECK(can_pair(DType::kFloat16));
  CHECK(can_pair(DType::kComplex32));
  CHECK(can_pair(DType::kUint1));
  CHECK_FALSE(can_pair(DType::kString));
  CHECK_FALSE(can_pair(DType::kFloat6E3m2));
  CHECK_FALSE(can_pair(DType::kUndefined));
}

}  // namespace msdump::kernels
