// The values of tensors over steps, in bounded memory.
#include <cmath>
#include <limits>

#include "check/began/step_history.h"

#include "support/catch.h"

namespace msdump::check {

TEST_CASE("a series has the steps of its tensor, in their order, without those that lack") {
  StepHistory history;
  const StepTensorId first = history.add({.op_name = "a"}), second = history.add({.op_name = "b"});
  history.set(first, 10, 1);
  history.set(first, 30, 3);
  history.set(second, 20, 7);
  history.set(first, 5, 0.5F);
  CHECK(history.steps() == 4);
  CHECK(history.all_steps() == std::vector<int64_t>{5, 10, 20, 30});
  CHECK(history.values() == 4);
  CHECK(history.series(first).steps == std::vector<int64_t>{5, 10, 30});
  CHECK(history.series(first).values == std::vector<float>{0.5F, 1, 3});
  CHECK(history.series(second).steps == std::vector<int64_t>{20});
  CHECK(history[second].op_name == "b");
}

TEST_CASE("an infinity is stored as NaN, and is not taken for a step without a number") {
  StepHistory history;
  const StepTensorId tensor = history.add({});
  history.set(tensor, 0, -std::numeric_limits<float>::infinity());
  REQUIRE(history.series(tensor).values.size() == 1);
  CHECK(std::isnan(history.series(tensor).values.front()));
}

TEST_CASE("beyond the budget neighbours become one bin, and a spike stays") {
  StepHistory history(4096);  // bytes
  const StepTensorId quiet = history.add({}), spike = history.add({});
  for (int64_t step = 0; step < 3000; ++step) {
    history.set(quiet, step, 1);
    history.set(spike, step, step == 2001 ? 50.0F : 2.0F);
  }
  CHECK(history.steps() == 3000);
  CHECK(history.steps_in_bin() >= 8);
  const StepSeries series = history.series(spike);
  CHECK(series.values.size() <= 512);
  size_t spikes = 0;
  for (size_t i = 0; i < series.values.size(); ++i) {
    if (series.values[i] != 50) continue;
    ++spikes;
    CHECK(series.steps[i] <= 2001);
    CHECK(series.steps[i] + static_cast<int64_t>(history.steps_in_bin()) > 2001);
  }
  CHECK(spikes == 1);
  CHECK(history.series(quiet).values == std::vector<float>(history.series(quiet).values.size(), 1));
}

TEST_CASE("of two steps in a bin the one that is farther from the last stays, and NaN always") {
  StepHistory history(1);  // every second step halves it
  const StepTensorId tensor = history.add({});
  history.set(tensor, 0, 1);
  history.set(tensor, 1, 9);
  CHECK(history.steps_in_bin() == 2);
  CHECK(history.series(tensor).values == std::vector<float>{9});
  history.set(tensor, 2, std::numeric_limits<float>::quiet_NaN());
  history.set(tensor, 3, 5);
  CHECK(std::isnan(history.series(tensor).values.front()));
}

TEST_CASE("histories that were read apart are one, whatever their steps and bins") {
  StepHistory all, other(1), late;
  const StepTensorId kept = all.add({.op_name = "kept"});
  for (int64_t step = 0; step < 6; ++step) all.set(kept, step, static_cast<float>(step));
  (void)other.add({.op_name = "coarse"});
  for (int64_t step = 0; step < 6; ++step) other.set(0, step, step == 3 ? 9.0F : 1.0F);
  (void)late.add({.op_name = "late"});
  for (int64_t step = 100; step < 104; ++step) late.set(0, step, 5);
  REQUIRE(other.steps_in_bin() > 1);
  const size_t steps_in_bin = other.steps_in_bin();
  StepHistory joined;
  joined.append(std::move(all));
  CHECK(joined.steps_in_bin() == 1);
  joined.append(std::move(other));
  CHECK(joined.steps_in_bin() == steps_in_bin);
  CHECK(joined.tensors() == 2);
  CHECK(joined[1].op_name == "coarse");
  CHECK(joined.series(1).values.front() == 9);
  joined.append(std::move(late));
  CHECK(joined.steps() == 10);
  CHECK(joined.values() == 16);
  CHECK(joined.all_steps().back() == 103);
  CHECK(joined.series(2).steps.front() == 100);
  CHECK(joined.series(0).steps.front() == 0);
  for (const float value : joined.series(2).values) CHECK(value == 5);
}

}  // namespace msdump::check
