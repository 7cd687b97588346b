// When a training began to behave otherwise, or two trainings to differ: text, JSON and charts of the page.
#pragma once

#include <string>
#include <vector>

#include "check/began/began.h"
#include "report/page/step_charts.h"
#include "report/row_type.h"

namespace msdump::cli {

// "it began at step 60". The report must have a first mover.
[[nodiscard]] std::string began_heading(const check::BeganReport& report);
// The first mover with its step and a sparkline, and what followed; empty if nothing began. `report` may be null.
[[nodiscard]] std::string began_text(const check::BeganReport* report);
// The first mover and its followers as small multiples.
[[nodiscard]] std::vector<report::StepChart> began_charts(const check::BeganReport* report);
// The same as an object, or null.
[[nodiscard]] report::Value began_value(const check::BeganReport* report);
[[nodiscard]] const report::ObjectType& began_type();

}  // namespace msdump::cli
