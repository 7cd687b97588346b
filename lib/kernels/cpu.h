// Which SIMD form the kernels use: chosen once at start-up by what the CPU has; the environment variable MSDUMP_CPU
// forces a lower one for tests and bug reports. Results are the same bytes for all of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace msdump::kernels {

// Call once before any kernel runs. `name` empty: the best form that the CPU has. "scalar" forces the portable form. A
// name that is unknown or not available here is kUsage, which lists the available ones.
Status choose_cpu_target(std::string_view name);
[[nodiscard]] std::string cpu_target();  // "avx3", "avx2", "sse4", "neon", "scalar"
[[nodiscard]] std::vector<std::string> available_cpu_targets();

}  // namespace msdump::kernels
