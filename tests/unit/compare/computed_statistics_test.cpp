#include "compare/statistics/computed_statistics.h"

#include "support/catch.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

template <class T>
TensorNumbers values_of(std::string_view descr, const std::vector<T>& numbers) {
  const test::ScratchDir scratch;
  scratch.write("a.npy", test::npy_of(descr, {static_cast<int64_t>(numbers.size())},
                                      {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)}));
  const test::ListedDump dump = test::list_dump({scratch.path()});
  TensorNumbers other;
  other.origin = StatisticOrigin::kTorchJson;
  WorkerPool pool(1);
  const CancelToken never;
  auto values = computed_values(dump.index, dump.tensors().at(0), other, dialects_of(other).at(0), {pool, never});
  REQUIRE(values);
  return std::move(*values);
}

}  // namespace

TEST_CASE("statistics of 64-bit integers that a double does not hold have the slack of its rounding") {
  constexpr double kBig = 0x1p60;
  const auto with_slack = [](double value, double slack) { return std::pair(value, slack); };
  const auto number = [](const TensorNumbers& values, Extremum which) {
    REQUIRE(values.number(which));
    return std::pair(values.number(which)->value, values.number(which)->slack);
  };
  const auto of_signed = values_of<int64_t>("<i8", {-(int64_t{1} << 60), 7});
  CHECK(number(of_signed, Extremum::kMin) == with_slack(-kBig, kBig * 0x1p-53));
  CHECK(number(of_signed, Extremum::kMax) == with_slack(7, 0));
  const auto of_unsigned = values_of<uint64_t>("<u8", {uint64_t{1} << 60, 7});
  CHECK(number(of_unsigned, Extremum::kMax) == with_slack(kBig, kBig * 0x1p-53));
  const auto of_doubles = values_of<double>("<f8", {kBig, 7});
  CHECK(number(of_doubles, Extremum::kMax) == with_slack(kBig, 0));
}

}  // namespace msdump
