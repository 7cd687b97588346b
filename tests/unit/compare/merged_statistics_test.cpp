#include "compare/statistics/statistic_tables.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/match/placement/placement.h"
#include "support/catch.h"
#include "support/sharded_tensors.h"

namespace msdump {
namespace {

using test::MadeLocal;
using test::MadeLocals;
using test::shard_tensor;
using namespace test::roles;

// By definition.
TensorNumbers statistics_of(const MadeLocal& piece) {
  TensorNumbers values;
  values.dtype = DType::kFloat32;
  values.shape = piece.shape;
  double max = -HUGE_VAL, min = HUGE_VAL, sum = 0, squares = 0;
  values.zero = values.negative = values.positive = 0;
  for (const double value : piece.values) {
    max = std::isnan(value) || std::isnan(max) ? NAN : std::max(max, value);
    min = std::isnan(value) || std::isnan(min) ? NAN : std::min(min, value);
    sum += value;
    squares += value * value;
    ++*(value == 0 ? values.zero : value < 0 ? values.negative : values.positive);
  }
  values.numbers = {StatisticNumber{max, 0}, StatisticNumber{min, 0},
                    StatisticNumber{sum / static_cast<double>(piece.values.size()), 0},
                    StatisticNumber{std::sqrt(squares), 0}};
  values.checksums.push_back({ChecksumKind::kMd5, false, "of all bytes"});
  return values;
}

TensorNumbers merged(const Placement& layout, const Shape& whole, const std::vector<MadeLocal>& pieces,
                     int64_t copy = 0) {
  const MadeLocals made(pieces);
  std::vector<TensorNumbers> values;
  for (size_t rank = 0; rank < pieces.size(); ++rank) {
    if (layout.copy_of(static_cast<int64_t>(rank)) == copy) values.push_back(statistics_of(pieces[rank]));
  }
  return merged_statistics(pieces_of(layout, made.records(), whole, copy), values);
}

void check_holds(const TensorNumbers& found, const TensorNumbers& truth) {
  for (size_t i = 0; i < kExtrema; ++i) {
    INFO(i);
    REQUIRE(found.numbers[i]);
    CHECK(std::abs(found.numbers[i]->value - truth.numbers[i]->value) <= found.numbers[i]->slack + 1e-5);
  }
  CHECK(found.shape == truth.shape);
  CHECK(found.dtype == truth.dtype);
}

double slack_of(const TensorNumbers& values, Extremum which) { return values.number(which)->slack; }

TEST_CASE("statistics of parts that follow each other are those of the whole") {
  const Shape whole = {8, 12};
  const MadeLocal all{whole, test::numbers(96)};
  for (const Placement& layout :
       {Placement{{{2, kConcat, 0}}}, Placement{{{4, kConcat, 1}}}, Placement{{{2, kZigzag, 0}}},
        Placement{{{2, kConcat, 1, {1, 1, 1}}}}, Placement{{{2, kConcat, 0}, {2, kConcat, 1}}}}) {
    const TensorNumbers found = merged(layout, whole, shard_tensor(layout, whole, all.values));
    check_holds(found, statistics_of(all));
    for (const Extremum which : {Extremum::kMax, Extremum::kMin, Extremum::kMean, Extremum::kNorm})
      CHECK(slack_of(found, which) == 0);
    CHECK(found.negative == statistics_of(all).negative);
    CHECK(found.positive == statistics_of(all).positive);
    CHECK(found.zero == 0u);
    CHECK(found.checksums.empty());
  }
}

TEST_CASE("of a sum the mean follows, and the range of the others; counts do not") {
  const Shape whole = {6, 8};
  const MadeLocal all{whole, test::numbers(48)};
  for (const Placement& layout : {Placement{{{2, kSum}}}, Placement{{{3, kSum}}}, Placement{{{2, kAverage}}},
                                  Placement{{{2, kSum}, {2, kConcat, 0}}}, Placement{{{2, kConcat, 1}, {3, kSum}}}}) {
    const TensorNumbers found = merged(layout, whole, shard_tensor(layout, whole, all.values));
    check_holds(found, statistics_of(all));
    CHECK(slack_of(found, Extremum::kMean) == 0);
    CHECK(slack_of(found, Extremum::kMax) > 0);
    CHECK(slack_of(found, Extremum::kNorm) > 0);
    CHECK_FALSE(found.negative);
  }
}

TEST_CASE("the ends of what a sum can be are reached, and not left") {
  // {3, 0} + {0, 3} and {3, 0} + {3, 0} have the same statistics of the terms.
  const Placement sum{{{2, kSum}}};
  const TensorNumbers found = merged(sum, {2}, {{{2}, {3, 0}}, {{2}, {0, 3}}});
  const auto low = [&](Extremum which) { return found.number(which)->value - found.number(which)->slack; };
  const auto high = [&](Extremum which) { return found.number(which)->value + found.number(which)->slack; };
  CHECK(low(Extremum::kMax) == 3);
  CHECK(high(Extremum::kMax) == 6);
  CHECK(low(Extremum::kMin) == 0);
  CHECK(high(Extremum::kMin) == 3);
  CHECK(low(Extremum::kNorm) == 0);
  CHECK(high(Extremum::kNorm) == 6);
  CHECK(found.number(Extremum::kMean)->value == 3);
  const TensorNumbers uneven = merged(sum, {1}, {{{1}, {5}}, {{1}, {-2}}});
  CHECK(uneven.number(Extremum::kNorm)->value - slack_of(uneven, Extremum::kNorm) == 3);
}

TEST_CASE("of maxima the largest follows, and the range of the others; counts do not") {
  const Shape whole = {6, 8};
  for (const double shift : {0.0, 5.0, -5.0}) {
    MadeLocal all{whole, test::numbers(48)};
    for (float& value : all.values) value += static_cast<float>(shift);
    for (const Placement& layout :
         {Placement{{{2, kLargest}}}, Placement{{{3, kLargest}}}, Placement{{{2, kLargest}, {2, kConcat, 0}}},
          Placement{{{2, kConcat, 1}, {3, kLargest}}}}) {
      const TensorNumbers found = merged(layout, whole, shard_tensor(layout, whole, all.values));
      check_holds(found, statistics_of(all));
      CHECK(slack_of(found, Extremum::kMax) == 0);
      CHECK(slack_of(found, Extremum::kMean) > 0);
      CHECK_FALSE(found.negative);
    }
  }
}

TEST_CASE("the ends of what the largest of two can be are reached, and not left") {
  const Placement largest{{{2, kLargest}}};
  const auto range = [](const TensorNumbers& found, Extremum which) {
    const auto& number = found.number(which);
    return std::pair(number->value - number->slack, number->value + number->slack);
  };
  // {0, 4} and {6, 1} give {6, 4}, {0, 4} and {1, 6} give {1, 6}.
  const TensorNumbers found = merged(largest, {2}, {{{2}, {0, 4}}, {{2}, {6, 1}}});
  CHECK(range(found, Extremum::kMax) == std::pair(6.0, 6.0));
  CHECK(range(found, Extremum::kMin) == std::pair(1.0, 4.0));
  CHECK(range(found, Extremum::kMean) == std::pair(3.5, 5.5));
  CHECK(range(found, Extremum::kNorm).first == Approx(std::sqrt(37.0)));
  CHECK(range(found, Extremum::kNorm).second == Approx(std::sqrt(16.0 + 37.0)));
  // One is above the other everywhere.
  const TensorNumbers one = merged(largest, {1}, {{{1}, {5}}, {{1}, {10}}});
  CHECK(range(one, Extremum::kMin) == std::pair(10.0, 10.0));
  CHECK(range(one, Extremum::kMean) == std::pair(10.0, 10.0));
  // What is negative may be far from 0 in one and near in the other.
  const TensorNumbers negative = merged(largest, {1}, {{{1}, {-5}}, {{1}, {1}}});
  CHECK(range(negative, Extremum::kNorm).first == 0);
  CHECK(range(negative, Extremum::kMax) == std::pair(1.0, 1.0));
  const TensorNumbers nan = merged(largest, {1}, {{{1}, {NAN}}, {{1}, {1}}});
  CHECK_FALSE(nan.number(Extremum::kMax));
  CHECK_FALSE(nan.number(Extremum::kMean));
}

TEST_CASE("copies are one of them, and a factor multiplies") {
  const MadeLocal one{{4}, test::numbers(4)}, other{{4}, test::numbers(4, 9)};
  const Placement copies{{{2, kCopy}}};
  CHECK(merged(copies, {4}, {one, other}, 0).numbers[0]->value == statistics_of(one).numbers[0]->value);
  const TensorNumbers second = merged(copies, {4}, {one, other}, 1);
  CHECK(second.numbers[0]->value == statistics_of(other).numbers[0]->value);
  CHECK(second.checksums.size() == 1);
  const Placement half{{{2, kCopy}}, 0.5};
  const TensorNumbers found = merged(half, {4}, {one, other}, 0);
  for (size_t i = 0; i < kExtrema; ++i)
    CHECK(found.numbers[i]->value == Approx(statistics_of(one).numbers[i]->value / 2));
}

TEST_CASE("NaN, infinity and what is not known stay so") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
  const Placement concat{{{2, kConcat, 0}}}, sum{{{2, kSum}}};
  const TensorNumbers nan = merged(concat, {4}, {{{2}, {1, 2}}, {{2}, {kNan, 1}}});
  CHECK(std::isnan(nan.number(Extremum::kMax)->value));
  CHECK(std::isnan(nan.number(Extremum::kMin)->value));
  CHECK(std::isnan(nan.number(Extremum::kMean)->value));
  const TensorNumbers infinite = merged(concat, {4}, {{{2}, {1, 2}}, {{2}, {kInf, 1}}});
  CHECK(infinite.number(Extremum::kMax)->value == HUGE_VAL);
  CHECK(infinite.number(Extremum::kMin)->value == 1);
  const TensorNumbers of_sum = merged(sum, {2}, {{{2}, {1, 2}}, {{2}, {kInf, 1}}});
  CHECK_FALSE(of_sum.number(Extremum::kMax));
  CHECK_FALSE(of_sum.number(Extremum::kMin));
  CHECK_FALSE(of_sum.number(Extremum::kNorm));

  const MadeLocals made(std::vector<MadeLocal>{{{2}, {1, 2}}, {{2}, {3, 4}}});
  std::vector<TensorNumbers> values = {statistics_of({{2}, {1, 2}}), statistics_of({{2}, {3, 4}})};
  values[1].numbers[static_cast<size_t>(Extremum::kMin)].reset();
  values[0].mean_of_first_chunk = true;
  values[0].zero.reset();
  values[1].bad_number = "one";
  const TensorNumbers partly = merged_statistics(pieces_of(concat, made.records(), {4}, 0), values);
  CHECK(partly.number(Extremum::kMax)->value == 4);
  CHECK_FALSE(partly.number(Extremum::kMin));
  CHECK_FALSE(partly.number(Extremum::kMean));
  CHECK_FALSE(partly.zero);
  CHECK(partly.positive == 4u);
  CHECK(partly.bad_number == "one");
}

TEST_CASE("padding adds nothing to a sum, and slack stays") {
  const Placement concat{{{2, kConcat, 0}}};
  const MadeLocals made(std::vector<MadeLocal>{{{2}, {1, 2}}, {{2}, {3, 0}}});
  std::vector<TensorNumbers> values = {statistics_of({{2}, {1, 2}}), statistics_of({{2}, {3, 0}})};
  values[0].numbers[static_cast<size_t>(Extremum::kMean)]->slack = 0.5;
  const TensorNumbers found = merged_statistics(pieces_of(concat, made.records(), {3}, 0), values);
  CHECK(found.number(Extremum::kMean)->value == Approx(2));
  CHECK(found.number(Extremum::kMean)->slack == Approx(0.5 * 2 / 3));
}

}  // namespace
}  // namespace msdump
