// StepCharts: small multiples on the page of --report. Each is the series of a tensor over the steps, with the step at which it
// begins to behave otherwise. A switch shows the steps around that one instead of the whole history. No script is needed.
//
// Bounds: kStepChartPoints places across; of the values of one place the smallest and the largest are drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace msdump::report {

inline constexpr size_t kStepChartPoints = 120;
inline constexpr size_t kStepsAround = 20;  // on each side of the step, when only those around it are shown

struct StepChart {
  std::string name, text;      // "reduced fc1.weight", "step 60: is 8 times what it was"
  std::vector<int64_t> steps;  // ascending, not empty
  std::vector<float> values;   // of each; what is not finite is marked at the top
  int64_t at = 0;              // one of the steps
};

// A section with the charts; empty without any.
[[nodiscard]] std::string step_charts_html(const std::string& title, const std::vector<StepChart>& charts);

}  // namespace msdump::report
