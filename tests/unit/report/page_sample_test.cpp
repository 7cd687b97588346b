#include "report/page/page_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.h"

namespace msdump::report {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<PagePoint> run_of(size_t count) {
  std::vector<PagePoint> points(count);
  for (size_t i = 0; i < count; ++i) points[i].error = static_cast<double>(i * 7919 % 1000) + 1;
  return points;
}

bool has(const std::vector<size_t>& rows, size_t row) { return std::binary_search(rows.begin(), rows.end(), row); }

TEST_CASE("all rows are taken where there is room") {
  CHECK(page_sample(run_of(5), 5) == std::vector<size_t>{0, 1, 2, 3, 4});
  CHECK(page_sample({}, 5).empty());
}

TEST_CASE("a sample is ascending, without repetition, and keeps to its limit") {
  std::vector<PagePoint> points = run_of(50'000);
  for (size_t i = 0; i < points.size(); i += 2) points[i].differs = true;
  for (const size_t most : {1000U, 5000U}) {
    const std::vector<size_t> rows = page_sample(points, most);
    CHECK(rows.size() == most);
    CHECK(std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>()) == rows.end());
  }
}

TEST_CASE("evidence is kept, wherever it is") {
  std::vector<PagePoint> points = run_of(50'000);
  for (const size_t at : {0U, 12'345U, 49'999U}) points[at] = {500, 0, true, false};
  const std::vector<size_t> rows = page_sample(points, 1000);
  CHECK((has(rows, 0) && has(rows, 12'345) && has(rows, 49'999)));
}

TEST_CASE("the largest and the smallest error of each kind are in every part of a sample") {
  std::vector<PagePoint> points = run_of(50'000);
  points[20'001].error = 1e9;
  points[30'001].error = 1e-9;
  points[40'001] = {5, 3, false, false};
  points[40'002] = {kNone, 4, false, false};
  const std::vector<size_t> rows = page_sample(points, 1000);
  for (const size_t at : {20'001U, 30'001U, 40'001U, 40'002U}) CHECK(has(rows, at));
}

TEST_CASE("a point without an error does not hide those that have one") {
  std::vector<PagePoint> points(50'000, PagePoint{kNone, 0, false, false});
  points[25'000].error = 2;
  CHECK(has(page_sample(points, 1000), 25'000));
}

TEST_CASE("differences fill what room is left, in order") {
  std::vector<PagePoint> points(10'000, PagePoint{1, 0, false, true});
  const std::vector<size_t> rows = page_sample(points, 1000);
  for (size_t i = 0; i < 900; ++i) CHECK(rows[i] == i);
}

}  // namespace
}  // namespace msdump::report
