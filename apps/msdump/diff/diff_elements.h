// Single elements of a pair of tensors, and where on its axes the error lies, as machine output has them.
#pragma once

#include <vector>

#include "compare/pair/error_axes.h"
#include "compare/pair/worst_elements.h"
#include "report/value.h"

namespace msdump::cli {

[[nodiscard]] report::Object element_object(const WorstElement& element);
[[nodiscard]] report::List elements_value(const std::vector<WorstElement>& elements);
[[nodiscard]] report::List axes_value(const ErrorAxes& axes);

}  // namespace msdump::cli
