// kernels.csv as text; made by CMake.
#pragma once

#include <string_view>

namespace msdump::recompute {

extern const std::string_view kKernelsCsv;

}  // namespace msdump::recompute
