// The statistics of every dialect against the rules written down a second time (support/statistics_oracle.h).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/scratch_dir.h"
#include "support/statistics_oracle.h"
#include "support/statistics_run.h"

namespace msdump::stats {
namespace {

using test::OracleRule;
using test::OracleStatistics;

struct RuleOfVersion {
  const char* version;
  OracleRule rule;
};
constexpr std::array kRules = {RuleOfVersion{"2.0.0", OracleRule::kA},  RuleOfVersion{"2.2.14", OracleRule::kA},
                               RuleOfVersion{"2.3.1", OracleRule::kB},  RuleOfVersion{"2.4.10", OracleRule::kC1},
                               RuleOfVersion{"2.6.0", OracleRule::kC2}, RuleOfVersion{"2.10.0", OracleRule::kD}};

constexpr double kHuge = std::numeric_limits<double>::max();

// No two chunks have the same extremes or the same sums.
std::vector<double> ramp(size_t count) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = i % 50 == 7 ? 0 : (static_cast<double>(i % 977) - 400.3) * (1 + static_cast<double>(i) / 1000);
  return values;
}

std::vector<double> with(std::vector<double> values, const std::vector<std::pair<size_t, double>>& planted) {
  for (const auto& [at, value] : planted) values[at] = value;
  return values;
}

// Lengths around the borders of chunks; NaN and infinities in the first, the last and a middle chunk.
std::vector<std::vector<double>> samples() {
  return {{},
          {2.5},
          {HUGE_VAL, -NAN, 1, -HUGE_VAL, NAN, 0, -2, -HUGE_VAL},
          {HUGE_VAL, HUGE_VAL, NAN},
          ramp(10000),
          ramp(10001),
          ramp(20480),
          ramp(20481),
          ramp(330001),
          with(ramp(30000), {{3, NAN}}),
          with(ramp(30000), {{29999, -NAN}}),
          with(ramp(45000), {{15000, -NAN}, {44000, NAN}}),
          with(ramp(45000), {{1, HUGE_VAL}, {25000, -HUGE_VAL}, {25001, -HUGE_VAL}}),
          with(ramp(45000), {{30000, HUGE_VAL}}),
          with(ramp(30000), {{2, kHuge}, {29000, kHuge}}),
          std::vector<double>(30000, NAN)};
}

std::string text_of(const OracleStatistics& one, bool has_norm) {
  const auto number = [&](double value) { return one.null ? "null" : test::oracle_text(value); };
  std::string text = number(one.max) + " " + number(one.min) + " " + number(one.avg);
  if (has_norm) text += " " + test::oracle_text(one.l2norm);
  for (const uint64_t count :
       {one.count, one.negative, one.positive, one.nan, one.negative_inf, one.positive_inf, one.zero})
    text += " " + std::to_string(count);
  return text;
}

TEST_CASE("the statistics of every dialect are those of its rules, NaN, infinities, chunks and all") {
  const test::ScratchDir scratch;
  const auto values = samples();
  for (size_t i = 0; i < values.size(); ++i) {
    scratch.write(std::to_string(100 + i) + ".npy",
                  test::npy_of("<f8", {static_cast<int64_t>(values[i].size())},
                               {reinterpret_cast<const char*>(values[i].data()), values[i].size() * 8}));
  }
  const test::ListedDump dump = test::list_dump({scratch.path()});
  REQUIRE(dump.tensors().size() == values.size());
  for (const RuleOfVersion& one : kRules) {
    using enum StatisticColumn;
    const bool has_norm = one.rule != OracleRule::kA;
    test::StatisticsRequest request{.dialect = dialect_from_text(one.version).value()};
    request.columns = {kMax, kMin, kAvg};
    if (has_norm) request.columns.push_back(kL2Norm);
    request.columns.insert(request.columns.end(),
                           {kCount, kNegativeZero, kPositiveZero, kNan, kNegativeInf, kPositiveInf, kZero});
    const auto results = test::compute_statistics(dump, request);
    for (size_t i = 0; i < values.size(); ++i) {
      INFO(one.version << " sample " << i);
      REQUIRE(results[i]);
      std::string cells;
      for (const StatisticColumn column : request.columns)
        cells += (cells.empty() ? "" : " ") + cell_text({request.dialect, {}}, column, *results[i]);
      CHECK(cells == text_of(test::oracle_statistics(values[i], one.rule), has_norm));
    }
  }
}

TEST_CASE("each column is computed when it is asked for alone") {
  using enum StatisticColumn;
  const std::vector<float> values = {3, -1, 0, NAN, HUGE_VALF, -HUGE_VALF, 4};
  struct Case {
    StatisticColumn column;
    const char* old;  // 2.0.0: of finite elements
    const char* text;
  };
  for (const Case& one :
       {Case{kMax, "4", "nan"}, Case{kMin, "-1", "nan"}, Case{kAvg, "1.5", "nan"}, Case{kL2Norm, "", "nan"},
        Case{kCount, "7", "7"}, Case{kNegativeZero, "1", "2"}, Case{kPositiveZero, "2", "3"}, Case{kNan, "1", "1"},
        Case{kNegativeInf, "1", "1"}, Case{kPositiveInf, "1", "1"}, Case{kZero, "1", "1"}}) {
    INFO(info(one.column).title);
    for (const bool old : {true, false}) {
      if (old && one.column == kL2Norm) continue;
      const Dialect& dialect = old ? all_dialects().front() : newest_dialect();
      const auto got = test::statistics_of("<f4", values, {.dialect = &dialect, .columns = {one.column}});
      CHECK(cell_text({&dialect, {}}, one.column, got) == (old ? one.old : one.text));
    }
  }
  const auto plain = test::statistics_of<float>("<f4", {3, -4, 7}, {.columns = {kL2Norm}});
  CHECK(cell_text({}, kL2Norm, plain) == "8.60233");
}

TEST_CASE("a NaN that arises has the sign of the host that the statistics are made for") {
  const std::vector<float> values = {HUGE_VALF, -HUGE_VALF};
  for (const HostArch arch : {HostArch::kX86, HostArch::kAarch64}) {
    const auto got = test::statistics_of("<f4", values, {.arch = arch});
    CHECK(six_digits(got.value(Extremum::kMean)) == (arch == HostArch::kX86 ? "-nan" : "nan"));
    const auto empty = test::statistics_of("<f4", {0}, "", {.arch = arch});
    CHECK(six_digits(empty.value(Extremum::kMean)) == (arch == HostArch::kX86 ? "-nan" : "nan"));
  }
}

}  // namespace
}  // namespace msdump::stats
