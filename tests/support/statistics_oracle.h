// The statistics of a tensor the slow and plain way, one element after the other, as the rules of
// reference/dump-layouts-and-statistics.md 3.6 and 3.8 and the notes of verified-on-real-mindspore.md 4 have them for
// each version of MindSpore. Shares nothing with lib/stats and lib/kernels. For x86 hosts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace msdump::test {

// A: 1.6.0 to 2.3.0rc2, B: 2.3.0 and 2.3.1, C1: 2.4, C2: 2.5.0 to 2.7.0, D: 2.7.1 and later.
enum class OracleRule { kA, kB, kC1, kC2, kD };

struct OracleStatistics {
  double max = 0, min = 0, avg = 0, l2norm = 0;  // rule A has no l2norm
  uint64_t count = 0, negative = 0, positive = 0, zero = 0, nan = 0, negative_inf = 0, positive_inf = 0;
  bool null = false;  // max, min and avg are written as "null"
};

[[nodiscard]] OracleStatistics oracle_statistics(const std::vector<double>& values, OracleRule rule);

// As C++ streams print a double: six digits, with the sign of a NaN.
[[nodiscard]] std::string oracle_text(double value);

}  // namespace msdump::test
