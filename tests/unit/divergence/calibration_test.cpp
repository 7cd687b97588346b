#include "divergence/model/scored_outputs.h"

#include <cmath>

#include "support/catch.h"

namespace msdump {
namespace {

using Sample = Calibration::Sample;

// Each of an operator of its own.
std::vector<Sample> samples_of(uint32_t kind, uint32_t noise_class, const std::vector<double>& values,
                               double spread = 0.5) {
  std::vector<Sample> samples;
  for (uint32_t i = 0; i < values.size(); ++i) samples.push_back({{kind, noise_class}, i, values[i], spread});
  return samples;
}

std::vector<Sample> both(std::vector<Sample> left, const std::vector<Sample>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

constexpr Calibration::Rule kByPrior{0, false, 0.5};

}  // namespace

TEST_CASE("samples of which no median is a number leave each other out") {
  // The logarithm of an error of 0 without any rounding, in two kinds.
  const std::vector<double> values(4, -INFINITY);
  const Calibration calibration(both(samples_of(0, 0, values), samples_of(1, 0, values)), {0, true, 0.2, true});
  for (uint32_t i = 0; i < 8; ++i) CHECK(calibration.without(i).siblings == 3);
}

TEST_CASE("a sample is compared with its siblings and not with itself") {
  for (const double value : {5.0, 5000.0}) {
    const Calibration calibration(samples_of(0, 0, {0, 0, value, 0}), kByPrior);
    const Centre fault = calibration.without(2), healthy = calibration.without(0);
    CHECK(fault.centre == 0);
    CHECK(fault.siblings == 3);
    CHECK(fault.sibling_centre == 0);
    CHECK(fault.sibling_spread == 0);
    // A fault among the siblings moves neither the centre nor the spread of the others.
    CHECK(healthy.centre == 0);
    CHECK(healthy.sibling_spread == 0);
  }
}

TEST_CASE("few siblings lean on the prior, many do not") {
  const auto centre = [](size_t siblings) {
    std::vector<double> values(siblings, 4.0);
    values.push_back(0);
    const Calibration calibration(samples_of(0, 0, values), {1, false, 0.5});
    const Centre found = calibration.without(static_cast<uint32_t>(siblings));
    CHECK(found.siblings == siblings);
    return found.centre;
  };
  CHECK(centre(0) == 1);
  CHECK(centre(1) > 1.2);
  CHECK(centre(1) < 3.5);
  CHECK(centre(3) > centre(1));
  CHECK(centre(30) > 3.7);
  CHECK(centre(30) < 4);
}

TEST_CASE("a kind without siblings leans on its class, a class on all, and all on the prior, where it is asked to") {
  const auto samples = both(samples_of(0, 0, {0}), both(samples_of(1, 0, std::vector<double>(20, 2.0)),
                                                        samples_of(2, 1, std::vector<double>(20, 10.0))));
  const Calibration by_class(samples, {-1, true, 0.5}), by_prior(samples, {-1, false, 0.5});
  CHECK(by_class.without(0).siblings == 0);
  CHECK(by_class.without(0).centre == Approx(2).margin(0.8));
  CHECK(by_prior.without(0).centre == -1);
  // A class that no sample is of is like the others.
  const double unknown = by_class.at({7, 5}, 0.5).centre;
  CHECK(unknown > 1);
  CHECK(unknown < 10);
}

TEST_CASE("a single sibling has no spread: the prior's holds") {
  const auto spread = [](const std::vector<double>& siblings, double prior) {
    return Calibration(samples_of(0, 0, siblings, prior), kByPrior).at({0, 0}, prior).spread;
  };
  CHECK(spread({}, 0.5) > 0.5);
  CHECK(spread({0}, 0.5) >= 0.5);
  CHECK(spread({0}, 0.5) < spread({}, 0.5));
  CHECK(spread({0}, 1) == Approx(2 * spread({0}, 0.5)));
  // Siblings that agree narrow it, siblings that do not widen it, and so does one far from what it leans on.
  CHECK(spread({0, 0, 0, 0, 0, 0}, 0.5) < 0.5);
  CHECK(spread({-3, 3, -3, 3, -3, 3}, 0.5) > 2);
  CHECK(spread({6}, 0.5) > 2);
}

TEST_CASE("the runs of an operator in several steps count as one sibling") {
  std::vector<Sample> samples;
  for (int step = 0; step < 9; ++step) samples.push_back({{0, 0}, 7, 5, 0.5});
  samples.push_back({{0, 0}, 1, 1, 0.5});
  const Calibration calibration(samples, kByPrior);
  CHECK(calibration.at({0, 0}, 0.5).siblings == 2);
  CHECK(calibration.at({0, 0}, 0.5).sibling_centre == 3);
  // Those of its own do not excuse a run.
  CHECK(calibration.without(0).siblings == 1);
  CHECK(calibration.without(0).sibling_centre == 1);
  CHECK(calibration.without(9).sibling_centre == 5);
}

TEST_CASE("the centre may be a low quantile") {
  std::vector<double> values;
  for (int i = 0; i <= 100; ++i) values.push_back(i);
  const Calibration low(samples_of(0, 0, values), {20, false, 0.2}), median(samples_of(0, 0, values), {50, false, 0.5});
  CHECK(low.at({0, 0}, 0.5).sibling_centre == Approx(20));
  CHECK(low.at({0, 0}, 0.5).centre == Approx(20));
  CHECK(median.at({0, 0}, 0.5).sibling_centre == Approx(50));
  // Between neighbours, linearly.
  CHECK(Calibration(samples_of(0, 0, {0, 10}), {0, false, 0.25}).at({0, 0}, 0.5).sibling_centre == Approx(2.5));
}

TEST_CASE("the deviation of siblings is that of a normal distribution") {
  const Calibration calibration(samples_of(0, 0, {-2, -1, 0, 1, 2}), kByPrior);
  CHECK(calibration.at({0, 0}, 0.5).sibling_spread == Approx(1.4826));
}

TEST_CASE("where all kinds scatter more or less than the prior says kinds without siblings do, too") {
  const auto spread = [](double deviation) {
    std::vector<double> values;
    for (int i = 0; i < 20; ++i) values.push_back(i % 2 == 0 ? deviation : -deviation);
    return Calibration(samples_of(0, 0, values), kByPrior).at({1, 0}, 0.5).spread;
  };
  const double none = Calibration({}, kByPrior).at({1, 0}, 0.5).spread;
  CHECK(spread(0.5) == Approx(1.4826 * none).epsilon(0.01));
  CHECK(spread(1e-9) < none);
  CHECK(spread(1e-9) > none / 2);  // within bounds
  CHECK(spread(50) > 2 * none);
  CHECK(spread(50) < 4 * none);
}

TEST_CASE("in a large kind a sample more or less does not matter") {
  std::vector<double> values;
  for (int i = 0; i < 101; ++i) values.push_back(0.01 * i);
  values.push_back(30);
  const Calibration calibration(samples_of(0, 0, values), kByPrior);
  CHECK(calibration.without(101).siblings == 101);
  CHECK(calibration.without(101).sibling_centre == Approx(0.5).margin(0.01));
}

TEST_CASE("where kinds vary, one without samples may be as far off as the others are apart") {
  const auto spread = [](const std::vector<double>& centres, bool vary, uint32_t kind) {
    std::vector<Sample> samples;
    for (uint32_t i = 0; i < centres.size(); ++i) samples.push_back({{i, 0}, i, centres[i], 0.5});
    return Calibration(samples, {0, true, 0.5, vary}).at({kind, 0}, 0.5).spread;
  };
  const std::vector<double> alike{1, 1, 1, 1, 1}, apart{-9, -5, 1, 5, 9};
  const double usual = spread({}, true, 9);
  CHECK(spread(apart, false, 9) == Approx(usual));
  CHECK(spread(alike, true, 9) == Approx(usual));
  CHECK(spread(apart, true, 9) > 6);  // a median deviation of 6
  CHECK(spread(apart, true, 9) < 20);
}

TEST_CASE("how far kinds are apart leaves out the kind that is judged") {
  // A fault that has no siblings; between the others there is nothing.
  const std::vector<Sample> samples{{{0, 0}, 0, 0, 0.5}, {{1, 0}, 1, 10, 0.5}};
  const Calibration vary(samples, {0, true, 0.5, true}), same(samples, {0, true, 0.5, false});
  CHECK(vary.without(1).siblings == 0);
  CHECK(vary.without(1).spread == Approx(same.without(1).spread));
  CHECK(vary.at({7, 0}, 0.5).spread > 5);  // of another kind both count
}

}  // namespace msdump
