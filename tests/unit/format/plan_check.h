// What a plan does, compared with what it should do, element by element.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "format/plan.h"
#include "support/format_oracle.h"

namespace msdump::test {

// A request whose bytes are exactly what the device shape needs.
[[nodiscard]] PlanRequest request_for(Format format, const Shape& device, std::optional<Shape> original,
                                      std::optional<Format> target = Format::kNCHW, DType dtype = DType::kFloat16);
[[nodiscard]] PlanRequest request_for(const DeviceLayout& layout, std::optional<Shape> original,
                                      std::optional<Format> target = Format::kNCHW);

// Carries the plan out in every way there is (whole parts; windows of many sizes; source_index_of) over a source whose
// padding is poisoned, and checks that element i of the result is element sources[i] of the source.
void check_plan(const Plan& plan, const std::vector<int64_t>& sources);

// The plan, with the checks of Catch2 failing when there is none.
[[nodiscard]] Plan plan_of(const PlanRequest& request);
// The error of a request that must be refused.
[[nodiscard]] Error refusal_of(const PlanRequest& request);

// Random numbers that are the same in every run.
class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  [[nodiscard]] int64_t from_to(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  template <class T>
  [[nodiscard]] T one_of(const std::vector<T>& choices) {
    return choices[static_cast<size_t>(from_to(0, static_cast<int64_t>(choices.size()) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace msdump::test
