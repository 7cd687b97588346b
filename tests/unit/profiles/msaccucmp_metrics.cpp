// The numbers that msaccucmp of msprobe 26.2.0 printed for the same arrays, within 1e-6.
#include "profiles/msaccucmp/metrics.h"

#include <cmath>

#include "support/made_tensors.h"
#include "support/other_tool.h"

using namespace msdump;

namespace {

using Texts = std::vector<std::string>;
constexpr const char* kNone = "zero-size array to reduction operation maximum which has no identity";

MsaccucmpMetrics metrics_of(HostTensor a, HostTensor b, bool keeps_bool = false) {
  const CancelToken cancel;
  auto metrics = msaccucmp_metrics({a, b, "A", "B", is_msaccucmp_scalar(a.shape()), keeps_bool}, cancel);
  REQUIRE(metrics);
  return std::move(*metrics);
}

Texts texts(const MsaccucmpMetrics& metrics) { return {metrics.values.begin(), metrics.values.end()}; }

// True if all are the same texts, or numbers within 1e-6.
bool same(const MsaccucmpMetrics& metrics, const Texts& expected) {
  const Texts ours = texts(metrics);
  for (size_t i = 0; i < expected.size(); ++i) {
    if (test::same_cell(ours[i], expected[i], 1e-6)) continue;
    UNSCOPED_INFO(kMsaccucmpAlgorithms[i] << " " << ours[i] << " " << expected[i]);
    return false;
  }
  return ours.size() == expected.size();
}

std::vector<float> pattern(uint64_t count, uint64_t seed) {
  std::vector<float> numbers;
  for (uint64_t i = 0; i < count; ++i)
    numbers.push_back(static_cast<float>(static_cast<double>((i + seed) * 2654435761U & 0xFFFF'FFFFU) / 65536 - 32768));
  return numbers;
}

}  // namespace

TEST_CASE("the ten algorithms have msaccucmp's numbers") {
  MadeTensors made;
  CHECK(same(metrics_of(made.floats({1, 2, 3}), made.floats({1, 2, 4})),
             {"0.991460", "1.000000", "0.250000", "0.218218", "0.017372", "(2.000;0.816),(2.333;1.247)", "0.333333",
              "0.577350", "0.250000", "0.083333"}));
  // A side that is constant stays as it is in the divergence.
  CHECK(test::same_cell(texts(metrics_of(made.floats({1, 1, 1}), made.floats({1, 2, 4})))[4], "4.869402", 1e-6));
}

TEST_CASE("tensors of several slabs are compared to the last element") {
  MadeTensors made;
  const std::vector<float> a = pattern(200'000, 0);
  CHECK(same(metrics_of(made.floats(a), made.floats(pattern(200'000, 7))),
             {"-0.318833", "44155.671875", "1849813.875000", "1.624092", "0.730993",
              "(0.010;18918.663),(0.201;18918.589)", "28810.437500", "30725.535156", "212557.812500", "9.249069"}));
  std::vector<float> near = a;
  for (float& number : near) number *= 1.0001F;
  // The tool's 20.000818 is of |a / b - 1| in float32.
  CHECK(same(metrics_of(made.floats(a), made.floats(near)),
             {"1.000000", "3.277344", "20.001316", "0.000100", "-0.000000", "(0.010;18918.663),(0.010;18920.556)",
              "1.638676", "1.892180", "0.000100", "0.000100"}));
}

TEST_CASE("zeros, NaN and what is out of float32's range show as they do there") {
  MadeTensors made;
  const MsaccucmpMetrics zero = metrics_of(made.floats({0, 0}), made.floats({1, 2}));
  CHECK(zero.values[0] == "NaN");
  CHECK(zero.reasons == Texts{"Cannot compare by Cosine Similarity. All the data is zero in A."});
  CHECK(metrics_of(made.floats({0, 0}), made.floats({0, 0})).values[0] == "1.0");
  CHECK(texts(metrics_of(made.floats({1, std::nanf(""), 3}), made.floats({1, 2, 4}))) ==
        Texts{"nan", "nan", "nan", "nan", "nan", "(nan;nan),(2.333;1.247)", "nan", "nan", "nan", "nan"});
  CHECK(metrics_of(made.floats({-std::nanf(""), 1}), made.floats({1, 2})).values[1] == "nan");
  const Texts huge = texts(metrics_of(made.floats({3e38F, 3e38F, 1}), made.floats({1, 2, 3e38F})));
  CHECK(huge[0] == "0.000000");
  CHECK(huge[2].size() > 38);  // the tool: inf
  CHECK(test::same_cell(huge[4], "15.249237", 1e-6));
}

TEST_CASE("a tensor without elements has the messages of numpy") {
  MadeTensors made;
  const MsaccucmpMetrics empty =
      metrics_of(made.make<float>(DType::kFloat32, {3, 0}, {}), made.make<float>(DType::kFloat32, {3, 0}, {}));
  CHECK(texts(empty) ==
        Texts{"1.0", "NaN", "0.000000", "0.000000", "NaN", "(nan;nan),(nan;nan)", "nan", "nan", "NaN", "nan"});
  CHECK(empty.reasons == Texts{std::string("Failed to execute 'compare' in 'MaxAbsoluteError'. ") + kNone,
                               std::string("Failed to execute 'compare' in 'KullbackLeiblerDivergence'. ") + kNone,
                               std::string("Failed to execute 'compare' in 'MaxRelativeError'. ") + kNone});
}

TEST_CASE("a scalar is what its dimensions add up to") {
  CHECK(is_msaccucmp_scalar({}));
  CHECK(is_msaccucmp_scalar({1, 1}));
  CHECK(is_msaccucmp_scalar({2, 0}));
  CHECK_FALSE(is_msaccucmp_scalar({2}));
  CHECK_FALSE(is_msaccucmp_scalar({3, 0}));
  CHECK_FALSE(is_msaccucmp_scalar({INT64_MAX, INT64_MAX, 2}));
  MadeTensors made;
  const MsaccucmpMetrics scalar = metrics_of(made.floats({1}), made.floats({5}));
  CHECK(scalar.values[0] == "1.000000");
  CHECK(scalar.reasons == Texts{"This tensor is scalar."});
}

TEST_CASE("bool tensors that stay so have two algorithms, of which one fails") {
  MadeTensors made;
  const auto bools = [&](const std::vector<uint8_t>& values) { return made.make(DType::kBool, {4}, values); };
  const MsaccucmpMetrics both = metrics_of(bools({1, 0, 1, 1}), bools({1, 1, 0, 1}), true);
  CHECK(both.values[0] == "0.666667");
  CHECK(both.values[3] == "NaN");
  REQUIRE(both.reasons.size() == 9);
  CHECK(both.reasons[0] == "Algorithm MaxAbsoluteError does not support Boolean types.");
  CHECK(both.reasons[2].starts_with("Failed to execute 'compare' in 'RelativeEuclideanDistance'. numpy boolean sub"));
  const MsaccucmpMetrics none = metrics_of(bools({1, 0, 1, 1}), bools({0, 0, 0, 0}), true);
  CHECK(none.values[0] == "NaN");
  CHECK(none.values[3] == "0.000000");
  CHECK(none.reasons[0] == "Cannot compare by Cosine Similarity. All the data is zero in B.");
  CHECK(metrics_of(bools({0, 0, 0, 0}), bools({0, 0, 0, 0}), true).values[0] == "1.0");
  CHECK(metrics_of(bools({1, 0, 1, 1}), bools({1, 1, 0, 1})).values[1] == "1.000000");
}

TEST_CASE("the limits of the manual are those that do not depend on a scale") {
  MadeTensors made;
  CHECK(metrics_of(made.floats({1000, 2000}), made.floats({1001, 2001})).within_limits());
  CHECK_FALSE(metrics_of(made.floats({1, 2}), made.floats({2, 4})).within_limits());  // cosine 1, distance 0.5
  CHECK_FALSE(metrics_of(made.floats({1, -2}), made.floats({1, 2})).within_limits());
  CHECK_FALSE(metrics_of(made.floats({0, 0}), made.floats({1, 2})).within_limits());
  CHECK_FALSE(metrics_of(made.floats({std::nanf("")}), made.floats({1})).within_limits());
  CHECK(metrics_of(made.floats({0, 0}), made.floats({0, 0})).within_limits());
  CHECK_FALSE(no_msaccucmp_metrics("why").within_limits());
}

TEST_CASE("an interruption ends the comparison") {
  MadeTensors made;
  HostTensor a = made.floats({1, 2}), b = made.floats({1, 2});
  CancelToken cancel;
  cancel.cancel();
  const auto metrics = msaccucmp_metrics({a, b, "A", "B"}, cancel);
  REQUIRE_FALSE(metrics);
  CHECK(metrics.error().code == ErrorCode::kCancelled);
}
