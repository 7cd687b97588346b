// How the cost of a piece of work grows with its input: for tests that a cost is not quadratic.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>

namespace msdump::test {

// `run(input)` for an input of size n and one of size 8 n, made by `make(n)`: the ratio of the processor time of the
// calling thread, best of some runs. About 8 where the cost is linear, 64 where it is quadratic: compare it with
// kNotQuadratic, which leaves room for caches and small n.
inline constexpr double kNotQuadratic = 24;

template <class Make, class Run>
double growth(size_t n, const Make& make, const Run& run) {
  constexpr int kRuns = 3;
  const auto cost = [&](const auto& input) {
    double best = 0;
    for (int i = 0; i < kRuns; ++i) {
      timespec begin{}, end{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
      run(input);
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
      const double seconds =
          static_cast<double>(end.tv_sec - begin.tv_sec) + static_cast<double>(end.tv_nsec - begin.tv_nsec) * 1e-9;
      best = i == 0 ? seconds : std::min(best, seconds);
    }
    return best;
  };
  const auto small = make(n), large = make(8 * n);
  return cost(large) / cost(small);
}

}  // namespace msdump::test
