// With which tensor it began: by time, then along the flow.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "check/began/began.h"

#include "support/catch.h"
#include "support/graph_run.h"

namespace msdump::check {
namespace {

constexpr int64_t kSteps = 120;

// A few tensors whose norms vary by some per cent, each in its own way, but for what is planted.
class Training {
 public:
  // Multiplies the values of a tensor by `factor(step)`.
  void add(std::string_view type, std::string_view name, std::optional<int64_t> rank = std::nullopt) {
    StepTensor tensor;
    tensor.rank = rank;
    tensor.op_type = type;
    tensor.op_name = name;
    tensor.io = Io::kParameter;
    tensor.slot = "0";
    tensors_.push_back(tensor);
  }
  template <class Factor>
  void plant(std::string_view type, const Factor& factor, std::optional<int64_t> rank = std::nullopt) {
    planted_.push_back({std::string(type), rank, factor});
  }
  // `stride`: steps between two of the dump.
  [[nodiscard]] StepHistory history(int64_t stride = 1, int64_t steps = kSteps) const {
    StepHistory history;
    for (const StepTensor& tensor : tensors_) history.add(tensor);
    uint64_t state = 7;
    for (int64_t step = 0; step < steps; ++step) {
      for (StepTensorId id = 0; id < tensors_.size(); ++id) {
        double sum = 0;
        for (int j = 0; j < 12; ++j) {
          state = state * 6364136223846793005U + 1442695040888963407U;
          sum += static_cast<double>(state >> 11U) * 0x1p-53;
        }
        double value = std::exp(0.05 * (sum - 6));
        for (const Planted& one : planted_) {
          if (one.type == tensors_[id].op_type && (!one.rank || one.rank == tensors_[id].rank))
            value *= one.factor(step);
        }
        history.set(id, step * stride, static_cast<float>(value));
      }
    }
    return history;
  }

 private:
  struct Planted {
    std::string type;
    std::optional<int64_t> rank;
    std::function<double(int64_t)> factor;
  };
  std::vector<StepTensor> tensors_;
  std::vector<Planted> planted_;
};

Training usual() {
  Training training;
  // As the tables of a monitor come: not in the order of the flow.
  for (const std::string_view type : {"forward", "backward", "exp_avg", "param_origin", "param_updated", "reduced"}) {
    training.add(type, "fc1");
    training.add(type, "fc2");
  }
  return training;
}

std::optional<Began> answer(const StepHistory& history) {
  WorkerPool pool(2);
  const CancelToken cancel;
  auto began = find_first_mover(history, {pool, cancel});
  REQUIRE(began);
  return std::move(*began);
}

std::string first_of(const StepHistory& history) {
  const auto began = answer(history);
  if (!began) return "nothing";
  const StepTensor& tensor = history[began->first.tensor];
  return fmt::format("{} {} {}", began->first.step, tensor.op_type, tensor.op_name);
}

const auto kFrom60 = [](double factor) { return [factor](int64_t step) { return step < 60 ? 1 : factor; }; };
const auto kAt = [](int64_t at, double factor) {
  return [at, factor](int64_t step) { return step == at ? factor : 1; };
};

}  // namespace

TEST_CASE("a training in which nothing happens has no first mover") { CHECK(first_of(usual().history()) == "nothing"); }

TEST_CASE("of what moves in one step the first in the flow is named: parameter, forward, backward, gradient, update") {
  const std::vector<std::pair<std::vector<std::string_view>, std::string>> cases = {
      {{"param_origin", "forward", "reduced", "param_updated"}, "60 param_origin fc1"},
      {{"forward", "backward", "reduced"}, "60 forward fc1"},
      {{"backward", "reduced", "exp_avg"}, "60 backward fc1"},
      {{"reduced", "exp_avg", "param_updated"}, "60 reduced fc2"},  // the last layer has its gradient first
      {{"exp_avg", "param_updated"}, "60 exp_avg fc1"},
      {{"param_updated"}, "60 param_updated fc1"}};
  for (const auto& [types, expected] : cases) {
    Training training = usual();
    for (const std::string_view type : types) training.plant(type, kFrom60(9));
    CHECK(first_of(training.history()) == expected);
  }
}

TEST_CASE("time goes before the flow, and the order of update and gradient is said") {
  Training training = usual();
  training.plant("param_updated", kAt(60, 9));
  training.plant("reduced", kAt(61, 9));
  training.plant("forward", kAt(61, 9));
  const StepHistory history = training.history();
  const auto began = answer(history);
  REQUIRE(began);
  CHECK(began->first.step == 60);
  CHECK(history[began->first.tensor].op_type == "param_updated");
  CHECK(began->followers.size() == 5);
  CHECK(began->followers[1].step == 61);
  CHECK(reason_of({began, history}).find("the update moved before the gradients") != std::string::npos);
  Training other = usual();
  other.plant("backward", kAt(60, 9));
  other.plant("param_updated", kAt(60, 9));
  const StepHistory second = other.history();
  CHECK(reason_of({answer(second), second}).find("the gradients moved before the update") != std::string::npos);
}

TEST_CASE("one tensor alone is noise, unless it freezes or is not finite") {
  Training training;
  training.add("forward", "alone");
  for (int i = 0; i < 5; ++i) training.add("forward_of_others", "fc");
  Training spike = training, bad = training;
  spike.plant("forward", kAt(60, 30));
  CHECK(first_of(spike.history()) == "nothing");
  bad.plant("forward", kAt(60, std::nan("")));
  CHECK(first_of(bad.history()) == "60 forward alone");
}

TEST_CASE("the steps of a dump may have gaps") {
  Training training = usual();
  training.plant("param_updated", kAt(60, 9));
  training.plant("forward", kAt(61, 9));
  CHECK(first_of(training.history(100)) == "6000 param_updated fc1");
  CHECK(answer(training.history(100))->followers.size() == 3);
}

TEST_CASE("a loss scale that doubles is no event, one that is not undone is") {
  Training scaled = usual();
  scaled.plant("backward", kFrom60(4));
  CHECK(first_of(scaled.history()) == "nothing");
  SECTION("not even if something that is no gradient barely leaves its noise in that step") {
    scaled.plant("param_updated", kAt(60, 1.35));
    CHECK(first_of(scaled.history()) == "nothing");
  }
  Training kept = usual();
  kept.plant("backward", kFrom60(4));
  kept.plant("reduced", kFrom60(4));
  CHECK(first_of(kept.history()) == "60 backward fc1");
  Training three = usual();
  three.plant("backward", kFrom60(6));
  CHECK(first_of(three.history()) == "60 backward fc1");
}

TEST_CASE("gradients that are four times as large once are an event") {
  Training training = usual();
  training.plant("backward", kAt(60, 4));
  CHECK(first_of(training.history()) == "60 backward fc1");
}

TEST_CASE("what comes again after equal times is no event; what comes after it is") {
  Training training = usual();
  for (const int64_t at : {40, 60, 80, 100}) training.plant("param_updated", kAt(at, 9));
  CHECK(first_of(training.history()) == "nothing");
  training.plant("forward", kAt(70, 60));
  CHECK(first_of(training.history()) == "70 forward fc1");
}

TEST_CASE("a spike has its echoes, and a rank that was first is named") {
  Training training;
  for (const int64_t rank : {0, 1}) {
    training.add("forward", "fc", rank);
    training.add("reduced", "fc", rank);
  }
  training.plant("forward", kAt(60, 9), 1);
  training.plant("reduced", kAt(60, 9));
  training.plant("forward", kAt(75, 60), 1);
  const StepHistory history = training.history();
  const auto began = answer(history);
  REQUIRE(began);
  CHECK(history[began->first.tensor].rank == 1);
  CHECK(began->first.echoes == std::vector<int64_t>{75});
  CHECK(reason_of({began, history}).find("rank 1 was first, rank 0 followed at step 60: reduced fc") !=
        std::string::npos);
}

TEST_CASE("a value that leaves its noise by and by began where it first did") {
  Training training = usual();
  training.plant("forward", [](int64_t step) { return step < 60 ? 1 : step == 60 ? 1.35 : 1.35 * 40; });
  CHECK(first_of(training.history()) == "60 forward fc1");
}

TEST_CASE("what moves slowly is named by the flow, at the step where it left its level") {
  Training training;
  for (const std::string_view type : {"backward", "forward", "reduced"}) {
    training.add(type, "fc1");
    training.add(type, "fc2");
  }
  for (const std::string_view type : {"backward", "forward"})
    training.plant(type,
                   [](int64_t step) { return std::exp(0.02 * static_cast<double>(std::max<int64_t>(0, step - 299))); });
  const StepHistory history = training.history(10, 400);
  const auto began = answer(history);
  REQUIRE(began);
  CHECK(history[began->first.tensor].op_type == "forward");
  CHECK(began->first.step >= 2950);
  CHECK(began->first.step <= 3050);
  CHECK(began->followers.size() <= 3);
}

TEST_CASE("of two histories the first tensor that leaves is named, with the relation of the two") {
  WorkerPool pool(2);
  const CancelToken cancel;
  Training training = usual();
  const StepHistory reference = training.history();
  training.plant("reduced", kFrom60(3));
  training.plant("param_updated", [](int64_t step) { return step < 61 ? 1 : 5; });
  const auto report = judge_parting(training.history(), reference, {pool, cancel});
  REQUIRE(report);
  REQUIRE(report->began);
  CHECK(report->of_two);
  CHECK(report->began->first.step == 60);
  CHECK(report->history[report->began->first.tensor].op_name == "fc2");
  CHECK(report->began->followers.size() == 3);
  CHECK(report->began->values[59] == 1);
  CHECK(report->began->values[60] == Approx(3));
  CHECK(report->history.series(report->began->first.tensor).values == report->began->values);
  CHECK(reason_of(*report) ==
        "norm over that of the reference is 3 times what it was, from there on; 3 tensors follow; the gradients moved "
        "before the update");
  CHECK_FALSE(judge_parting(reference, reference, {pool, cancel})->began);
}

TEST_CASE("a tensor has the value of the first statistic that it has, and NaN if it has any") {
  TensorFacts facts;
  facts.from = TensorFacts::From::kElements;
  facts.mean = 3;
  CHECK(statistic_of(std::vector<TensorFacts>{facts}) == StepStatistic::kMean);
  TensorFacts extremes = facts, norm = facts, bad = facts;
  extremes.max = 2;
  extremes.min = -7;
  norm.l2norm = 4;
  bad.has_nan = true;
  CHECK(statistic_of(std::vector<TensorFacts>{facts, extremes}) == StepStatistic::kLargest);
  CHECK(statistic_of(std::vector<TensorFacts>{facts, extremes, norm}) == StepStatistic::kNorm);
  CHECK(step_value(facts, StepStatistic::kMean) == 3);
  CHECK(step_value(extremes, StepStatistic::kLargest) == 7);
  CHECK(step_value(norm, StepStatistic::kNorm) == 4);
  CHECK_FALSE(step_value(facts, StepStatistic::kNorm));
  CHECK(std::isnan(step_value(bad, StepStatistic::kNorm).value()));
  CHECK_FALSE(step_value(TensorFacts(), StepStatistic::kMean));
}

TEST_CASE("an interrupted search is an error") {
  WorkerPool pool(1);
  CancelToken cancel;
  cancel.cancel();
  CHECK(find_first_mover(usual().history(), {pool, cancel}).error().code == ErrorCode::kCancelled);
}

}  // namespace msdump::check
