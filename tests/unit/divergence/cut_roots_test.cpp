#include <filesystem>
#include <functional>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "divergence/dump_diff.h"
#include "support/catch.h"
#include "support/cut_pieces.h"
#include "support/made_calls.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

using Ran = std::function<void(MadeCalls&, int)>;  // on a rank

// A run over ranks against one in a single process.
class CutDiff {
 public:
  struct Step {
    Ran cut, whole;
  };
  CutDiff(int ranks, const Ran& cut, const Ran& whole) : CutDiff(ranks, {{cut, whole}}) {}
  CutDiff(int ranks, const std::vector<Step>& steps) {
    for (size_t step = 0; step < steps.size(); ++step) {
      for (int rank = 0; rank < ranks; ++rank)
        write(steps[step].cut, "cut", fmt::format("step{}/rank{}", step, rank), rank);
      write(steps[step].whole, "whole", fmt::format("step{}/proc7", step), 0);
    }
    DiffRules rules;
    auto run = diff_dumps(open("cut"), open("whole"), nullptr, rules, {}, {pool_, never_});
    REQUIRE(run);
    run_ = std::make_unique<DiffResult>(std::move(*run));
    REQUIRE_FALSE(run_->cuts.empty());
  }

  // "Functional.gelu.0.forward on 0,1": each root and the ranks that it names.
  [[nodiscard]] Texts roots() const {
    Texts texts;
    for (const Divergence& root : run_->divergence.roots)
      texts.push_back(fmt::format("{} on {}", run_->op_name(root.op), text_of_ranks(root.ranks)));
    return texts;
  }

 private:
  void write(const Ran& ran, const std::string& side, const std::string& below, int rank) const {
    MadeCalls calls(false);
    ran(calls, rank);
    calls.write(scratch_.path() / side, below);
  }

  [[nodiscard]] std::unique_ptr<DiffSide> open(const std::string& side) const {
    auto opened = OpenedGraph::select({});
    REQUIRE(opened);
    test::ListedDump dump = test::list_dump({scratch_.path() / side});
    opened->catalogue.emplace(Catalogue{std::move(dump.index), Selection(), {}, std::move(dump.list)});
    auto search = find_ir(&opened->catalogue->index, {});
    REQUIRE(search);
    opened->search = std::move(*search);
    REQUIRE(opened->read(std::nullopt, {pool_, never_}));
    return std::make_unique<DiffSide>(std::move(*opened));
  }

  test::ScratchDir scratch_;
  mutable WorkerPool pool_{2};
  const CancelToken never_;
  std::unique_ptr<DiffResult> run_;
};

const Values kCutX = test::numbers(32, 1), kCutUp = test::numbers(32, 2), kCutOut = test::numbers(32, 3),
             kCutLast = test::numbers(32, 4);

// Of two.
Values half_of(const Values& all, int rank) {
  const auto half = static_cast<std::ptrdiff_t>(all.size()) / 2;
  return {all.begin() + rank * half, all.begin() + (rank + 1) * half};
}
Values by_factor(Values all, float factor) {
  for (float& one : all) one *= factor;
  return all;
}

void in_one_process(MadeCalls& calls, int) {
  calls.ran("Functional.linear.0.forward", {kCutX}, {kCutUp});
  calls.ran("Functional.gelu.0.forward", {kCutUp}, {kCutOut});
  calls.ran("Functional.tanh.0.forward", {kCutOut}, {kCutLast});
}

TEST_CASE("the call of the candidate alone that wrote a wrong input is named, and the rank that it is wrong on") {
  const CutDiff diff(
      2,
      [](MadeCalls& calls, int rank) {
        const float wrong = rank == 1 ? 1.2F : 1.0F;
        calls.ran("Functional.linear.0.forward", {kCutX}, {half_of(kCutUp, rank)});
        calls.ran("Tensor.__mul__.0.forward", {half_of(kCutUp, rank)}, {by_factor(half_of(kCutUp, rank), wrong)});
        calls.ran("Functional.gelu.0.forward", {by_factor(half_of(kCutUp, rank), wrong)},
                  {by_factor(half_of(kCutOut, rank), wrong)});
        calls.ran("Functional.tanh.0.forward", {by_factor(half_of(kCutOut, rank), wrong)},
                  {by_factor(half_of(kCutLast, rank), wrong)});
      },
      in_one_process);
  CHECK(diff.roots() == Texts{"Tensor.__mul__.0.forward on 1"});
}

TEST_CASE("of copies the rank is named whose copy is off") {
  const CutDiff diff(
      3,
      [](MadeCalls& calls, int rank) {
        const float wrong = rank == 1 ? 1.02F : 1.0F;
        calls.ran("Functional.linear.0.forward", {kCutX}, {kCutUp});
        calls.ran("Functional.gelu.0.forward", {kCutUp}, {by_factor(kCutOut, wrong)});
        calls.ran("Functional.tanh.0.forward", {by_factor(kCutOut, wrong)}, {by_factor(kCutLast, wrong)});
      },
      in_one_process);
  CHECK(diff.roots() == Texts{"Functional.gelu.0.forward on 1"});
}

// gelu's output in an order of its own on each rank, as of tokens that go to experts: no layout makes it the reference's.
void reordered(MadeCalls& calls, int rank, float wrong) {
  Values shuffled = half_of(kCutOut, rank);
  for (size_t i = 0; i < shuffled.size(); ++i) std::swap(shuffled[i], shuffled[(i * 7 + 5) % shuffled.size()]);
  calls.ran("Functional.linear.0.forward", {kCutX}, {half_of(kCutUp, rank)});
  calls.ran("Functional.gelu.0.forward", {half_of(kCutUp, rank)}, {shuffled});
  calls.ran("Functional.tanh.0.forward", {shuffled}, {by_factor(half_of(kCutLast, rank), wrong)});
}

TEST_CASE("a tensor that fits no layout is no divergence where what is made of it is right") {
  const CutDiff right(
      2, [](MadeCalls& calls, int rank) { reordered(calls, rank, 1); }, in_one_process);
  CHECK(right.roots().empty());
  const CutDiff wrong(
      2, [](MadeCalls& calls, int rank) { reordered(calls, rank, 1.2F); }, in_one_process);
  CHECK_FALSE(wrong.roots().empty());
}

// The finite elements of what follows are right.
TEST_CASE("of calls of the candidate alone that pass infinity on, the one that made it is named, with its rank") {
  const CutDiff diff(
      2,
      [](MadeCalls& calls, int rank) {
        const auto broken = [&](Values values) {
          if (rank == 1) values[3] = std::numeric_limits<float>::infinity();
          return values;
        };
        const Values up = half_of(kCutUp, rank), made = broken(up), turned = broken(by_factor(up, -1));
        calls.ran("Functional.linear.0.forward", {kCutX}, {up});
        calls.ran("Tensor.__truediv__.0.forward", {up}, {made});
        calls.ran("Tensor.__neg__.0.forward", {made}, {turned});
        calls.ran("Tensor.__neg__.1.forward", {turned}, {made});
        calls.ran("Functional.gelu.0.forward", {made}, {broken(half_of(kCutOut, rank))});
        calls.ran("Functional.tanh.0.forward", {broken(half_of(kCutOut, rank))}, {broken(half_of(kCutLast, rank))});
      },
      in_one_process);
  CHECK(diff.roots() == Texts{"Tensor.__truediv__.0.forward on 1"});
}

TEST_CASE("a gradient that is not finite comes from a call of the candidate alone whose value is not, either") {
  const float infinity = std::numeric_limits<float>::infinity();
  const Values loss = {0.5F}, gradient = {1};
  const CutDiff diff(
      2,
      [&](MadeCalls& calls, int rank) {
        const float factor = rank == 1 ? infinity : 1;
        calls.ran("Functional.linear.0.forward", {kCutX}, {half_of(kCutUp, rank)});
        calls.ran("Functional.mean.0.forward", {half_of(kCutUp, rank)}, {loss});
        calls.ran("Tensor.__mul__.0.forward", {loss}, {by_factor(loss, factor)});
        calls.ran("Tensor.__mul__.0.backward", {gradient}, {by_factor(gradient, factor)});
        calls.ran("Functional.mean.0.backward", {by_factor(gradient, factor)},
                  {by_factor(half_of(kCutOut, rank), factor)});
        calls.ran("Functional.linear.0.backward", {by_factor(half_of(kCutOut, rank), factor)},
                  {by_factor(kCutLast, factor)});
      },
      [&](MadeCalls& calls, int) {
        calls.ran("Functional.linear.0.forward", {kCutX}, {kCutUp});
        calls.ran("Functional.mean.0.forward", {kCutUp}, {loss});
        calls.ran("Functional.mean.0.backward", {gradient}, {kCutOut});
        calls.ran("Functional.linear.0.backward", {kCutOut}, {kCutLast});
      });
  CHECK(diff.roots() == Texts{"Tensor.__mul__.0.forward on 1"});
}

// Of a weight that every rank has; `wrong` is rank 1's.
CutDiff::Step with_weight(uint64_t step, float wrong) {
  const Values x = test::numbers(32, 10 * step + 1), weight = test::numbers(32, 10 * step + 2),
               out = test::numbers(32, 10 * step + 3), last = test::numbers(32, 10 * step + 4);
  const auto ran = [=](MadeCalls& calls, const Values& of_rank, float factor) {
    calls.ran("Functional.tanh.0.forward", {last}, {x});
    calls.ran("Tensor.__mul__.0.forward", {x, of_rank}, {by_factor(out, factor)});
    calls.ran("Functional.gelu.0.forward", {by_factor(out, factor)}, {by_factor(last, factor)});
  };
  return {[=](MadeCalls& calls, int rank) {
            const float factor = rank == 1 ? wrong : 1.0F;
            ran(calls, by_factor(weight, factor), factor);
          },
          [=](MadeCalls& calls, int) { ran(calls, weight, 1.0F); }};
}

TEST_CASE("a weight that is off in a later step by more than the step before left is named where it is first read") {
  CHECK(CutDiff(2, {with_weight(0, 1), with_weight(1, 1.02F)}).roots() == Texts{"Tensor.__mul__.0.forward on 1"});
  // As far off as what the first step made; and by rounding.
  CHECK(CutDiff(2, {with_weight(0, 1.0005F), with_weight(1, 1.001F)}).roots() ==
        CutDiff(2, {with_weight(0, 1.0005F), with_weight(1, 1)}).roots());
  CHECK(CutDiff(2, {with_weight(0, 1), with_weight(1, 1.000001F)}).roots().empty());
}

TEST_CASE("gradients follow from an alarm of the forward pass, although no edge leads from it to them") {
  const CutDiff diff(
      2,
      [](MadeCalls& calls, int rank) {
        calls.ran("Functional.linear.0.forward", {kCutX}, {half_of(kCutUp, rank)});
        calls.ran("Functional.gelu.0.forward", {half_of(kCutUp, rank)}, {by_factor(half_of(kCutOut, rank), 1.2F)});
        calls.ran("Functional.tanh.0.backward", {by_factor(half_of(kCutLast, rank), 1.1F)},
                  {by_factor(half_of(kCutX, rank), 1.1F)});
      },
      [](MadeCalls& calls, int) {
        calls.ran("Functional.linear.0.forward", {kCutX}, {kCutUp});
        calls.ran("Functional.gelu.0.forward", {kCutUp}, {kCutOut});
        calls.ran("Functional.tanh.0.backward", {kCutLast}, {kCutX});
      });
  CHECK(diff.roots() == Texts{"Functional.gelu.0.forward on 0-1"});
}

}  // namespace
}  // namespace msdump
