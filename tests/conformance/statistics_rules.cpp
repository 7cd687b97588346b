// Statistics of random tensors, with NaN and infinities planted in them and with lengths around the borders of chunks,
// against the rules written down a second time: of all dialects, also those of which no release could be run (2.3 and
// 2.4). Needs no data.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iostream>
#include <random>

#include <fmt/format.h>

#include "kernels/cpu.h"
#include "support/catch.h"
#include "support/scratch_dir.h"
#include "support/statistics_oracle.h"
#include "support/statistics_run.h"

using namespace msdump;
using namespace msdump::test;

namespace {

constexpr std::array kLengths = {0, 1, 9999, 10000, 10001, 19999, 20000, 20480, 20481, 40961, 320000, 330001};

struct RuleCase {
  const char* version;
  OracleRule rule;
};
constexpr std::array kCases = {RuleCase{"2.0.0", OracleRule::kA},  RuleCase{"2.2.14", OracleRule::kA},
                               RuleCase{"2.3.1", OracleRule::kB},  RuleCase{"2.4.10", OracleRule::kC1},
                               RuleCase{"2.6.0", OracleRule::kC2}, RuleCase{"2.10.0", OracleRule::kD}};

// What is planted among ordinary numbers.
enum class Plant { kNothing, kOneNan, kOneInf, kMany, kInfsOfBothSigns, kOnlyNan, kOnlyInf, kHuge };
constexpr std::array kPlants = {Plant::kNothing,         Plant::kOneNan,  Plant::kOneInf,  Plant::kMany,
                                Plant::kInfsOfBothSigns, Plant::kOnlyNan, Plant::kOnlyInf, Plant::kHuge};

template <class T>
T planted(Plant plant, std::mt19937_64& random, T ordinary) {
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  const bool odd = random() % 2 != 0;
  switch (plant) {
    case Plant::kOnlyNan: return odd ? nan : -nan;
    case Plant::kOnlyInf: return inf;
    case Plant::kHuge: return odd ? std::numeric_limits<T>::max() : ordinary;
    case Plant::kMany: return random() % 7000 != 0 ? ordinary : odd ? nan : random() % 2 != 0 ? -nan : -inf;
    case Plant::kInfsOfBothSigns: return random() % 7000 != 0 ? ordinary : odd ? inf : -inf;
    default: return ordinary;
  }
}

template <class T>
std::vector<T> random_values(size_t count, Plant plant, std::mt19937_64& random) {
  std::normal_distribution<double> normal(0.25, 3);
  std::vector<T> values(count);
  for (T& value : values) {
    T ordinary = static_cast<T>(normal(random));
    if (random() % 50 == 0) ordinary = random() % 2 != 0 ? T{0} : -T{0};
    value = planted(plant, random, ordinary);
  }
  const bool odd = random() % 2 != 0;
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  if (count > 0 && plant == Plant::kOneNan) values[random() % count] = odd ? nan : -nan;
  if (count > 0 && plant == Plant::kOneInf) values[random() % count] = odd ? inf : -inf;
  return values;
}

struct Tally {
  size_t numbers = 0;
  std::vector<std::string> differences;

  void number(const std::string& where, bool same, const std::string& got, const std::string& expected) {
    ++numbers;
    if (!same) differences.push_back(fmt::format("{}: {} instead of {}", where, got, expected));
  }
};

// To the last bit, with the sign of a zero and of a NaN.
bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) && std::signbit(a) == std::signbit(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

void compare(const std::string& where, const OracleStatistics& oracle, const RuleCase& rule, const TensorNumbers& got,
             const stats::TextStyle& style, Tally& tally) {
  using enum StatisticColumn;
  struct Double {
    StatisticColumn column;
    double oracle, got;
  };
  for (const Double& one :
       {Double{kMax, oracle.max, got.value(Extremum::kMax)}, Double{kMin, oracle.min, got.value(Extremum::kMin)},
        Double{kAvg, oracle.avg, got.value(Extremum::kMean)},
        Double{kL2Norm, oracle.l2norm, got.value(Extremum::kNorm)}}) {
    const bool is_norm = one.column == kL2Norm;
    if (is_norm && rule.rule == OracleRule::kA) continue;  // has no such column
    const std::string place = fmt::format("{} {}", where, info(one.column).title);
    tally.number(place, same(one.oracle, one.got), fmt::format("{}", one.got), fmt::format("{}", one.oracle));
    const std::string text = oracle.null && !is_norm ? "null" : oracle_text(one.oracle);
    const std::string got_text = stats::cell_text(style, one.column, got);
    tally.number(place + " as text", text == got_text, got_text, text);
  }
  struct Count {
    StatisticColumn column;
    uint64_t oracle;
  };
  for (const Count& one : {Count{kCount, oracle.count}, Count{kNegativeZero, oracle.negative},
                           Count{kPositiveZero, oracle.positive}, Count{kZero, oracle.zero}, Count{kNan, oracle.nan},
                           Count{kNegativeInf, oracle.negative_inf}, Count{kPositiveInf, oracle.positive_inf}}) {
    const std::string got_text = stats::cell_text(style, one.column, got), text = std::to_string(one.oracle);
    tally.number(fmt::format("{} {}", where, info(one.column).title), got_text == text, got_text, text);
  }
}

// One array for each length and plant, and its elements as doubles.
struct Arrays {
  std::vector<std::vector<double>> values;
  std::vector<std::string> names;
};

template <class T>
Arrays write_floats(const ScratchDir& scratch, std::string_view descr, uint64_t seed) {
  Arrays arrays;
  std::mt19937_64 random(seed);
  for (const int length : kLengths) {
    for (const Plant plant : kPlants) {
      const auto values = random_values<T>(static_cast<size_t>(length), plant, random);
      arrays.values.emplace_back(values.begin(), values.end());
      arrays.names.push_back(fmt::format("{} length {} plant {}", descr, length, static_cast<int>(plant)));
      scratch.write(fmt::format("{:04}.npy", arrays.values.size()),
                    npy_of(descr, {length}, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)}));
    }
  }
  return arrays;
}

template <class T>
Arrays write_integers(const ScratchDir& scratch, std::string_view descr, uint64_t seed) {
  Arrays arrays;
  std::mt19937_64 random(seed);
  for (const int length : kLengths) {
    std::vector<T> values(static_cast<size_t>(length));
    for (T& value : values) value = static_cast<T>(random() % 5 == 0 ? 0 : random());
    std::vector<double> doubles;
    for (const T value : values) doubles.push_back(static_cast<double>(value));
    arrays.values.push_back(std::move(doubles));
    arrays.names.push_back(fmt::format("{} length {}", descr, length));
    scratch.write(fmt::format("{:04}.npy", arrays.values.size()),
                  npy_of(descr, {length}, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)}));
  }
  return arrays;
}

void check_rule(const ScratchDir& scratch, const Arrays& arrays, Tally& tally) {
  const ListedDump dump = list_dump({scratch.path()});
  REQUIRE(dump.tensors().size() == arrays.values.size());
  for (const RuleCase& one : kCases) {
    StatisticsRequest request;
    request.dialect = stats::dialect_from_text(one.version).value();
    request.jobs = 2;
    const stats::TextStyle style{request.dialect, {}, false};
    const auto results = compute_statistics(dump, request);
    for (size_t i = 0; i < results.size(); ++i) {
      const std::string where = fmt::format("{} {}", one.version, arrays.names[i]);
      REQUIRE(results[i]);
      compare(where, oracle_statistics(arrays.values[i], one.rule), one, *results[i], style, tally);
    }
  }
}

void report_tally(const char* what, const Tally& tally) {
  std::cout << tally.numbers << " numbers of " << what << " compared, " << tally.differences.size() << " differ"
            << std::endl;
  for (size_t i = 0; i < std::min<size_t>(tally.differences.size(), 30); ++i) UNSCOPED_INFO(tally.differences[i]);
  CHECK(tally.differences.empty());
}

}  // namespace

TEST_CASE("statistics of float64 and float32 are those of the rules in all dialects") {
  Tally tally;
  for (const bool wide : {true, false}) {
    const ScratchDir scratch;
    const Arrays arrays = wide ? write_floats<double>(scratch, "<f8", 20) : write_floats<float>(scratch, "<f4", 21);
    check_rule(scratch, arrays, tally);
  }
  report_tally("random floats", tally);
  CHECK(tally.numbers == 2 * kLengths.size() * kPlants.size() * (2 * 13 + 4 * 15));
}

TEST_CASE("statistics of integers are those of the rules in all dialects") {
  Tally tally;
  for (const int kind : {0, 1, 2, 3}) {
    const ScratchDir scratch;
    const Arrays arrays = kind == 0   ? write_integers<int8_t>(scratch, "|i1", 30)
                          : kind == 1 ? write_integers<uint16_t>(scratch, "<u2", 31)
                          : kind == 2 ? write_integers<int64_t>(scratch, "<i8", 32)
                                      : write_integers<uint64_t>(scratch, "<u8", 33);
    check_rule(scratch, arrays, tally);
  }
  report_tally("random integers", tally);
  CHECK(tally.numbers == 4 * kLengths.size() * (2 * 13 + 4 * 15));
}

// The oracle itself: what reference/dump-layouts-and-statistics.md says of the first chunk and of NaN that are lost.
TEST_CASE("the plain rules are those that are written down") {
  std::vector<double> ramp(30000);
  for (size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<double>(i);
  CHECK(oracle_statistics(ramp, OracleRule::kA).avg == 4999.5);
  CHECK(oracle_statistics(ramp, OracleRule::kB).avg == 4999.5);
  CHECK(oracle_statistics(ramp, OracleRule::kC1).avg == 14999.5);
  CHECK(oracle_statistics(ramp, OracleRule::kD).avg == 14999.5);
  ramp[0] = NAN;
  CHECK(oracle_statistics(ramp, OracleRule::kC1).max == 29999);
  CHECK(std::isnan(oracle_statistics(ramp, OracleRule::kC2).max));
  CHECK(oracle_text(oracle_statistics({1, 2, 3, 4, 5, 6}, OracleRule::kD).l2norm) == "9.53939");
  CHECK(oracle_text(oracle_statistics({}, OracleRule::kD).avg) == "-nan");
  CHECK(oracle_statistics({HUGE_VAL}, OracleRule::kA).null);
}
