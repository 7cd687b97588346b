// The SIMD form of the kernels: the best that the CPU has. The environment variable MSDUMP_CPU forces a lower one for tests
// and bug reports. All forms give the same bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace msdump::kernels {

// Call once before any kernel runs. An empty name is the best form, "scalar" the portable one. An unknown or unavailable name
// is kUsage, which lists the available ones.
Status choose_cpu_target(std::string_view name);
[[nodiscard]] std::string cpu_target();  // "avx3", "avx2", "sse4", "neon", "scalar"
[[nodiscard]] std::vector<std::string> available_cpu_targets();

}  // namespace msdump::kernels
