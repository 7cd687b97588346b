#include "compare/sample/tensor_samples.h"

#include <cmath>
#include <limits>

#include "compare/sample/best_pairs.h"
#include "support/catch.h"
#include "support/made_checkpoint.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

std::vector<double> sequence(size_t count, double factor = 1) {
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) values.push_back(factor * std::sin(static_cast<double>(i * i)));
  return values;
}

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;
Pairs clear_pairs(const std::vector<RatedPair>& pairs) {
  Pairs result;
  for (const RatedPair& one : best_pairs(pairs, true)) result.emplace_back(one.a, one.b);
  return result;
}

}  // namespace

TEST_CASE("the values of a tensor are those at the same places of its views") {
  const test::ScratchDir scratch;
  std::vector<float> values(40 * 30);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const std::string path = scratch.write(
      "a.safetensors",
      test::safetensors_of(
          {{"w", {40, 30}, values}, {"t", {30, 40}, test::transposed(values, 40, 30)}, {"few", {3}, {1, 2, 3}}}));
  const test::ListedDump dump = test::list_dump({path});
  TensorSamples known(dump.index, dump.tensors());
  RecordId w, t, few;
  for (RecordId i{0}; i < 3; ++i) {
    const std::string_view name = dump.tensors()[i].name.op_name;
    (name == "w" ? w : name == "t" ? t : few) = i;
  }
  CHECK(known.of(w).values.size() == kSamplePoints);
  CHECK(known.of(few).values.size() == 3);
  TensorView turned;
  turned.shape = {30, 40};
  turned.axes = {{30, 1}, {40, 30}};
  const std::vector<double> of_t = known.of(t).values;
  CHECK(known.of(w, turned) == of_t);
  CHECK(known.of(w, turned, kFirstPoints) == std::vector<double>(of_t.begin(), of_t.begin() + kFirstPoints));
  std::vector<double> spread(of_t.begin(), of_t.begin() + kFirstPoints);
  std::sort(spread.begin(), spread.end());
  CHECK(std::adjacent_find(spread.begin(), spread.end()) == spread.end());
  turned.axes = {{31, 1}, {40, 30}};  // beyond its end
  turned.first = 20;
  CHECK(known.of(w, turned).empty());
}

TEST_CASE("samples are as like as they correlate") {
  const auto values = sequence(64);
  CHECK(*likeness(values, values) == Approx(1));
  auto noisy = values;
  for (size_t i = 0; i < noisy.size(); ++i) noisy[i] += i % 2 == 0 ? 0.07 : -0.07;
  CHECK(*likeness(noisy, values) == Approx(0.995).margin(0.002));
  CHECK(*likeness(sequence(64, -1), values) == 0);
  CHECK(*likeness(sequence(64, 3), values) == Approx(1));
}

TEST_CASE("constants and what is not finite prove little") {
  const std::vector<double> zeros(64, 0), ones(64, 1);
  CHECK(!likeness(zeros, zeros));
  CHECK(!likeness(ones, sequence(64)));
  CHECK(*likeness(ones, ones) == 1);
  auto values = sequence(8);
  for (double& value : values) value = std::numeric_limits<double>::quiet_NaN();
  CHECK(!likeness(values, values));
  CHECK(!is_constant(values));
  CHECK(is_constant(ones));
  CHECK_FALSE(is_constant(sequence(64)));
}

TEST_CASE("the likest are partners") {
  const std::vector<RatedPair> pairs = {{0.9, 0, 0}, {0.95, 0, 1}, {0.92, 1, 1}, {0.8, 1, 0}};
  const std::vector<RatedPair> best = best_pairs(pairs);
  REQUIRE(best.size() == 2);
  CHECK(Pairs{{best[0].a, best[0].b}, {best[1].a, best[1].b}} == Pairs{{0, 1}, {1, 0}});
}

TEST_CASE("a pair is left out if another is nearly as like") {
  CHECK(clear_pairs({{0.99, 0, 0}, {0.9, 0, 1}, {0.99, 1, 1}}) == Pairs{{0, 0}, {1, 1}});
  CHECK(clear_pairs({{0.99, 0, 0}, {0.98, 0, 1}}).empty());
  CHECK(clear_pairs({{0.99, 0, 0}, {0.98, 1, 0}}).empty());
  CHECK(clear_pairs({{0.99, 0, 0}, {0.98, 0, 1}, {0.9999, 1, 1}}) == Pairs{{1, 1}, {0, 0}});
}

TEST_CASE("of equal pairs those with the likest names are partners") {
  CHECK(clear_pairs({{1, 0, 0, 0.1}, {1, 0, 1, 0.9}, {1, 1, 0, 0.5}, {1, 1, 1, 0.8}}) == Pairs{{0, 1}, {1, 0}});
  CHECK(clear_pairs({{1, 1, 0}, {1, 0, 0}}) == Pairs{{0, 0}});
}

}  // namespace msdump
