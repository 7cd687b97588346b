#include "compare/match/parameters/parameter_views.h"

#include <cmath>
#include <limits>

#include "compare/match/parameters/same_parameters.h"
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

std::vector<std::pair<uint32_t, uint32_t>> partners(const std::vector<PartnerCandidate>& candidates) {
  std::vector<std::pair<uint32_t, uint32_t>> result;
  for (const PartnerCandidate& one : best_partners(candidates)) result.emplace_back(one.a, one.b);
  return result;
}

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

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
  ParameterValues known(dump.index, dump.tensors());
  RecordId w, t, few;
  for (RecordId i{0}; i < 3; ++i) {
    const std::string_view name = dump.tensors()[i].name.op_name;
    (name == "w" ? w : name == "t" ? t : few) = i;
  }
  CHECK(known.of(w).size() == kPoints);
  CHECK(known.of(few).size() == 3);
  TensorView turned;
  turned.shape = {30, 40};
  turned.axes = {{30, 1}, {40, 30}};
  const auto of_t = known.of(t);
  CHECK(known.of(w, turned) == std::vector<double>(of_t.begin(), of_t.end()));
  CHECK(known.of(w, turned, kFirstPoints) == std::vector<double>(of_t.begin(), of_t.begin() + kFirstPoints));
  std::vector<double> spread(of_t.begin(), of_t.begin() + kFirstPoints);
  std::sort(spread.begin(), spread.end());
  CHECK(std::adjacent_find(spread.begin(), spread.end()) == spread.end());
  turned.axes = {{31, 1}, {40, 30}};  // beyond its end
  turned.first = 20;
  CHECK(known.of(w, turned).empty());
}

TEST_CASE("the distance of values is in standard deviations") {
  const auto values = sequence(64);
  CHECK(value_distance(values, values) == 0);
  auto noisy = values;
  for (size_t i = 0; i < noisy.size(); ++i) noisy[i] += i % 2 == 0 ? 0.07 : -0.07;
  CHECK(*value_distance(noisy, values) == Approx(0.1).epsilon(0.1));
  CHECK(*value_distance(sequence(64, -1), values) == Approx(2).epsilon(0.1));
  CHECK(*value_distance(sequence(64, 3), values) == Approx(2).epsilon(0.1));
  CHECK(*value_distance(sequence(64, 1.0 / 3), values) > 1);  // also where the other one is the smaller
}

TEST_CASE("few values, constants and what is not finite prove nothing") {
  const std::vector<double> ones(64, 1), twos(64, 2);
  CHECK(!value_distance(sequence(3), sequence(3)));
  CHECK(value_distance(sequence(4), sequence(4)) == 0);
  CHECK(!value_distance(ones, twos));
  CHECK(std::isinf(*value_distance(ones, sequence(64))));
  auto values = sequence(8);
  for (size_t i = 0; i < 5; ++i) values[i] = std::numeric_limits<double>::quiet_NaN();
  CHECK(!value_distance(values, values));
  values[4] = 1;
  CHECK(value_distance(values, values) == 0);
  CHECK(is_same_constant(ones, ones));
  CHECK(!is_same_constant(ones, twos));
  CHECK(!is_same_constant({}, {}));
  CHECK(!is_same_constant(ones, sequence(64)));
}

TEST_CASE("few values have to be nearer than many") {
  CHECK(is_near(0.4, 16));
  CHECK(!is_near(0.6, 64));
  CHECK(!is_near(0.4, 15));
  CHECK(is_near(0.04, 4));
}

TEST_CASE("the nearest are partners, unless another is nearly as near") {
  CHECK(partners({{0, 0, 0.1}, {0, 1, 0.3}, {1, 1, 0.1}}) == Pairs{{0, 0}, {1, 1}});
  CHECK(partners({{0, 0, 0.1}, {0, 1, 0.15}}).empty());
  CHECK(partners({{0, 0, 0.1}, {1, 0, 0.15}}).empty());
  CHECK(partners({{0, 0, 0.1}, {0, 1, 0.15}, {1, 1, 0.01}}) == Pairs{{1, 1}, {0, 0}});
}

TEST_CASE("of candidates with equal values the likest names are partners") {
  CHECK(partners({{0, 0, 0, 0.1}, {0, 1, 0, 0.9}, {1, 0, 0, 0.5}, {1, 1, 0, 0.8}}) == Pairs{{0, 1}, {1, 0}});
  CHECK(partners({{1, 0, 0}, {0, 0, 0}}) == Pairs{{0, 0}});
}

}  // namespace msdump
