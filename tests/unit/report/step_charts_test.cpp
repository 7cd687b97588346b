#include "report/page/step_charts.h"

#include <cmath>
#include <numeric>
#include <string>

#include "support/catch.h"

namespace msdump::report {
namespace {

// 0, 1, 2, ... at steps of 10.
StepChart rising(size_t count, int64_t at) {
  StepChart chart{"reduced fc<1>", "step 10: rises", {}, std::vector<float>(count), at};
  std::iota(chart.values.begin(), chart.values.end(), 0.0F);
  for (size_t i = 0; i < count; ++i) chart.steps.push_back(static_cast<int64_t>(10 * i));
  return chart;
}

std::string html_of(const StepChart& chart) { return step_charts_html("It began", {chart}); }
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

size_t occurrences(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("without charts there is no section") { CHECK(step_charts_html("It began", {}).empty()); }

TEST_CASE("a chart has the whole history and the twenty steps around, each with a mark at the step") {
  const std::string text = html_of(rising(101, 500));
  CHECK(has(text, "steps 0 to 1000, 0 to 100, marked at step 500"));
  CHECK(has(text, "steps 300 to 700, 30 to 70, marked at step 500"));
  CHECK(occurrences(text, "x1=\"120.0\"") == 2);
  CHECK(has(text, "reduced fc&lt;1&gt;"));
  CHECK(has(text, "(0 to 100)"));
}

TEST_CASE("at the ends of a history there are fewer steps around") {
  CHECK(has(html_of(rising(101, 0)), "steps 0 to 200, "));
  CHECK(has(html_of(rising(101, 1000)), "steps 800 to 1000, "));
}

TEST_CASE("the smallest and the largest of the values at one place are drawn") {
  StepChart chart = rising(1200, 0);
  for (float& value : chart.values) value = 1;
  chart.values[605] = 9;
  const std::string text = html_of(chart);
  CHECK(occurrences(text, ",2.0 ") == 1);  // at the top
  const size_t line = text.find("points=\"");
  CHECK(occurrences(text.substr(line, text.find('"', line + 8) - line), ",") == 2 * kStepChartPoints);
}

TEST_CASE("a range of ten times is drawn on a logarithmic scale, unless it has zeros") {
  StepChart chart = rising(3, 10);
  chart.values = {1, 10, 100};
  CHECK(has(html_of(chart), "1 to 100, logarithmic"));
  CHECK(has(html_of(chart), "120.0,36.0"));
  chart.values = {0, 10, 100};
  CHECK(has(html_of(chart), "(0 to 100)"));
  CHECK(has(html_of(chart), "120.0,63.2"));
}

TEST_CASE("values that are not finite break the line and are marked; a constant is a line in the middle") {
  StepChart chart = rising(5, 20);
  chart.values = {1, 1, std::nanf(""), 1, 1};
  const std::string text = html_of(chart);
  CHECK(occurrences(text, "<polyline") == 4);  // two in each drawing
  CHECK(occurrences(text, "class=\"nan\" cx=\"120.0\"") == 2);
  CHECK(has(text, "0.0,36.0 60.0,36.0"));
}

TEST_CASE("a series of one step, and one without a finite value") {
  CHECK(has(html_of(rising(1, 0)), "points=\"120.0,36.0 \""));
  StepChart chart = rising(2, 10);
  chart.values = {std::nanf(""), HUGE_VALF};
  CHECK(occurrences(html_of(chart), "class=\"nan\"") == 4);
}

}  // namespace msdump::report
