#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "next/planner.h"
#include "support/catch.h"
#include "support/diff_side.h"
#include "support/made_calls.h"
#include "support/scratch_dir.h"

#include "call_names.h"

namespace msdump {
namespace {

// Dumps of both sides, compared, and what is planned after them.
class PlannedRound {
 public:
  using Build = std::function<void(MadeCalls&)>;
  explicit PlannedRound(const Build& build, const std::string& below = "step0/rank0")
      : PlannedRound(std::vector<std::pair<Build, std::string>>{{build, below}}) {}
  explicit PlannedRound(const std::vector<std::pair<Build, std::string>>& parts) {
    for (const bool bad : {false, true}) {
      for (const auto& [build, below] : parts) {
        MadeCalls calls(bad);
        build(calls);
        calls.write(scratch_.path() / (bad ? "bad" : "ref"), below);
      }
    }
    compare();
  }
  explicit PlannedRound(const std::function<void(MadeNet&)>& build) {
    for (const bool bad : {false, true}) {
      MadeNet net({bad, 0, 0}, false);
      build(net);
      net.write(scratch_.path() / (bad ? "bad" : "ref"), true);
    }
    compare();
  }

  [[nodiscard]] const DiffResult& run() const { return *run_; }
  // As if diff had named no root, and had not judged the differences of the operator.
  void forget_roots(const std::string& op_name, Unjudged why) {
    run_->divergence.roots.clear();
    for (const TensorId row : run_->rows) {
      if (run_->op_name(run_->pairing.tensors[row].op) != op_name) continue;
      run_->divergence.explained[row] = Explanation::kNone;
      run_->divergence.unjudged[row] = why;
    }
  }
  // As if diff had a second root, an operator that makes NaN.
  void add_pinned_root() {
    Divergence root = run_->divergence.roots.front();
    root.unseen.reset();
    root.kind = DivergenceKind::kNan;
    run_->divergence.roots.push_back(std::move(root));
  }
  [[nodiscard]] NextPlan plan(ConfigKind kind, DumpExtent extent = DumpExtent::kAll) const {
    DumpRequest as_before;
    as_before.kind = kind;
    as_before.target.framework = Framework::kPyTorch;
    return plan_next({{&*run_, extent}}, as_before);
  }
  // After a first dump.
  [[nodiscard]] NextPlan plan_after(const PlannedRound& first, DumpExtent extent, size_t rounds = 2) const {
    std::vector<CaseDump<DiffResult>> all(rounds);
    all.front() = {&first.run(), DumpExtent::kAll};
    all.back() = {&*run_, extent};
    return plan_next(all, {});
  }

 private:
  void compare() {
    DiffRules rules;
    auto run = diff_dumps(test::open_diff_side(scratch_.path() / "bad", {pool_, never_}),
                          test::open_diff_side(scratch_.path() / "ref", {pool_, never_}), nullptr, rules, {},
                          {pool_, never_}, {.explain = {}, .flow = true});
    REQUIRE(run);
    run_ = std::move(*run);
  }

  test::ScratchDir scratch_;
  WorkerPool pool_{2};
  const CancelToken never_;
  std::optional<DiffResult> run_;
};

// Calls [first, end) of a chain; each output is `value` of its place.
void chain(MadeCalls& calls, size_t first, size_t end, const std::function<float(size_t)>& value) {
  for (size_t i = first; i < end; ++i) calls.ran(call(i), {{value(i), 1}}, {{value(i + 1), 1}});
}

float right(size_t place) { return static_cast<float>(place + 1); }

TEST_CASE("an operator whose elements are compared and blame it is pinned, and nothing is asked") {
  const PlannedRound round([](MadeCalls& calls) {
    chain(calls, 0, 6, [&](size_t i) { return calls.bad() && i >= 4 ? 20 + right(i) : right(i); });
  });
  const NextPlan plan = round.plan(ConfigKind::kMsprobe);
  CHECK(plan.state == PlanState::kPinned);
  REQUIRE_FALSE(plan.suspects.empty());
  CHECK(plan.suspects.front().open == Suspect::Open::kPinned);
  CHECK(plan.suspects.front().op_name == call(3));
  CHECK(plan.question.empty());
  CHECK(plan.candidate.list.empty());
}

TEST_CASE("where both sides agree nothing is asked") {
  const PlannedRound round([](MadeCalls& calls) { chain(calls, 0, 6, right); });
  const NextPlan plan = round.plan(ConfigKind::kMsprobe);
  CHECK(plan.state == PlanState::kNothing);
  CHECK(plan.suspects.empty());
}

TEST_CASE("what enters a range with its error sends the search further up, four times as far") {
  const PlannedRound first([](MadeCalls& calls) { chain(calls, 0, 9, right); });
  const PlannedRound part(
      [](MadeCalls& calls) { chain(calls, 6, 8, [&](size_t i) { return right(i) * (calls.bad() ? 2.0F : 1.0F); }); });
  const NextPlan plan = part.plan_after(first, DumpExtent::kRange);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Suspect::Open::kBefore);
  CHECK(plan.extent == DumpExtent::kRange);
  CHECK(plan.candidate.scope == Texts{call(0), call(6)});
  CHECK(plan.reference.scope == plan.candidate.scope);
  CHECK(plan.candidate.steps == std::vector<int64_t>{0});
  CHECK(plan.candidate.ranks == std::vector<int64_t>{0});
  CHECK(plan.candidate.level.empty());
  CHECK(plan.size.tensors == 14);
  CHECK(plan.size.bytes == 14 * 8);
  CHECK(plan.size.of_all == 18 * 8);
  CHECK(plan.question == "where on the way to " + call(6) + " does the difference begin?");
  CHECK(plan.outcomes == Texts{"if the inputs of one of them agree and its outputs do not: that operator is to blame",
                               "if the inputs of the first differ already: the next dump goes further up"});
}

TEST_CASE("what the first call of the network reads is pinned, also where a part shows it") {
  const PlannedRound first([](MadeCalls& calls) { chain(calls, 0, 9, right); });
  const PlannedRound part(
      [](MadeCalls& calls) { chain(calls, 0, 3, [&](size_t i) { return right(i) * (calls.bad() ? 2.0F : 1.0F); }); });
  for (const DumpExtent extent : {DumpExtent::kRange, DumpExtent::kList}) {
    const NextPlan plan = part.plan_after(first, extent);
    CHECK(plan.state == PlanState::kPinned);
    REQUIRE_FALSE(plan.suspects.empty());
    CHECK(plan.suspects.front().op_name == call(0));
    CHECK(plan.suspects.front().open == Suspect::Open::kPinned);
  }
  // A dump of another step does not show what ran before.
  const PlannedRound other([](MadeCalls& calls) { chain(calls, 0, 9, right); }, "step1/rank0");
  CHECK(part.plan_after(other, DumpExtent::kRange).state == PlanState::kAsked);
}

TEST_CASE("in a range the first call at which the error jumps is pinned, and not the noise that came in") {
  const PlannedRound first([](MadeCalls& calls) { chain(calls, 0, 9, right); });
  const PlannedRound part([](MadeCalls& calls) {
    chain(calls, 2, 8, [&](size_t i) { return calls.bad() ? right(i) * (i > 5 ? 3.0F : 1.000001F) : right(i); });
  });
  const NextPlan plan = part.plan_after(first, DumpExtent::kRange);
  CHECK(plan.state == PlanState::kPinned);
  REQUIRE_FALSE(plan.suspects.empty());
  CHECK(plan.suspects.front().op_name == call(5));
}

TEST_CASE("a range into which an error comes pins the call at which a much larger one begins, and says where in it") {
  const PlannedRound first([](MadeCalls& calls) { chain(calls, 0, 9, right); });
  // `made`: by the call, else by what it reads.
  for (const bool made : {true, false}) {
    INFO(made);
    const PlannedRound part([made](MadeCalls& calls) {
      const auto scale = [&](float wrong) { return calls.bad() ? wrong : 1.0F; };
      for (size_t i = 2; i < 5; ++i)
        calls.ran(call(i), {{right(i) * scale(1.1F), 1}}, {{right(i + 1) * scale(1.1F), 1}});
      calls.ran(call(5), {{right(5) * scale(made ? 1.1F : 1.6F), 1}}, {{right(6) * scale(1.6F), 1}});
      calls.ran(call(6), {{right(6) * scale(1.6F), 1}}, {{right(7) * scale(1.6F), 1}});
    });
    const NextPlan plan = part.plan_after(first, DumpExtent::kRange);
    CHECK(plan.state == PlanState::kPinned);
    REQUIRE_FALSE(plan.suspects.empty());
    CHECK(plan.suspects.front().op_name == call(5));
    CHECK(plan.suspects.front().reason.starts_with(made ? "its outputs have a much" : "its inputs have a much"));
    CHECK(plan.suspects.front().place.step == 0);
  }
}

// What statistics show: the outputs of call 4 and all after it are another.
void wrong_statistics(MadeCalls& calls) {
  calls.as_statistics();
  chain(calls, 0, 9, [&](size_t i) { return calls.bad() && i >= 5 ? 20 + right(i) : right(i); });
}

TEST_CASE("an operator that statistics blame is asked about with the calls before it, of its rank and step") {
  const auto healthy = [](MadeCalls& calls) {
    calls.as_statistics();
    chain(calls, 0, 9, right);
  };
  const PlannedRound round({{healthy, "step0/rank0"}, {healthy, "step1/rank0"}, {wrong_statistics, "step1/rank1"}});
  const NextPlan plan = round.plan(ConfigKind::kMsprobe);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Suspect::Open::kStatistics);
  CHECK(plan.suspects.front().op_name == call(4));
  CHECK(plan.candidate.scope == Texts{call(0), call(4)});
  CHECK(plan.candidate.steps == std::vector<int64_t>{1});
  CHECK(plan.candidate.ranks == std::vector<int64_t>{1});
  CHECK(plan.size.tensors == 10);
  CHECK(plan.size.of_all == 3 * 18 * 8);
  CHECK(plan.extent == DumpExtent::kRange);
  // data_dump.json has no ranges.
  const NextPlan listed = round.plan(ConfigKind::kDataDump);
  CHECK(listed.candidate.scope.empty());
  CHECK(listed.candidate.list == Texts{call(4), call(3), call(2), call(1), call(0)});
  CHECK(listed.extent == DumpExtent::kList);
  CHECK(plan.question == "do the elements of the inputs of " + call(4) + " agree, as their statistics do?");
  CHECK(plan.outcomes ==
        Texts{"if its inputs agree and its outputs do not: " + call(4) + " is to blame",
              "if its inputs differ already: what made them is to blame; the next dump goes further up"});
  CHECK(plan.candidate.all_risks);
  CHECK(plan.reference.all_risks);
  CHECK_FALSE(plan.candidate.statistics);
  CHECK_FALSE(plan.size.at_least);
}

TEST_CASE("in a range NaN is not noise beside a large error, and does not make noise of a small one") {
  const PlannedRound first([](MadeCalls& calls) { chain(calls, 0, 9, right); });
  for (const float wrong : {90.0F, 9.4F}) {
    const PlannedRound part([&](MadeCalls& calls) {
      const float made = calls.bad() ? std::numeric_limits<float>::quiet_NaN() : 3.0F;
      calls.ran(call(2), {{3, 1}}, {{made, 1}});
      calls.ran(call(3), {{5, 1}}, {{6, 1}});
      calls.ran(call(4), {{6, 1}}, {{calls.bad() ? wrong : 9.0F, 1}});
    });
    const NextPlan plan = part.plan_after(first, DumpExtent::kRange);
    REQUIRE(plan.suspects.size() == 2);
    CHECK(plan.suspects.front().op_name == call(2));
    CHECK(plan.suspects.front().kind == "nan");
  }
}

TEST_CASE("statistics show another shape, another argument and a call of one side as well as elements do") {
  const PlannedRound::Build faults[] = {
      [](MadeCalls& calls) {
        calls.ran(call(1), {{2, 1}}, {calls.bad() ? Values{3, 1, 4} : Values{3, 1}});
      },
      [](MadeCalls& calls) {
        calls.ran(call(1), {{2, 1}}, {{calls.bad() ? 30.0F : 3.0F, 1}});
        calls.given("float", calls.bad() ? "2.0" : "1.0");
      },
      [](MadeCalls& calls) {
        if (calls.bad()) calls.ran("Functional.mish.0.forward", {{2, 1}}, {{9, 7}});
        calls.ran(call(1), {calls.bad() ? Values{9, 7} : Values{2, 1}}, {{calls.bad() ? 30.0F : 3.0F, 1}});
      },
      [](MadeCalls& calls) {
        calls.ran(call(1), {{2, 1}}, {{calls.bad() ? std::numeric_limits<float>::infinity() : 3.0F, 1}});
      }};
  for (size_t fault = 0; fault < std::size(faults); ++fault) {
    INFO(fault);
    const PlannedRound round([&](MadeCalls& calls) {
      calls.as_statistics();
      calls.ran(call(0), {{1, 1}}, {{2, 1}});
      faults[fault](calls);
    });
    const NextPlan plan = round.plan(ConfigKind::kMsprobe);
    CHECK(plan.state == PlanState::kPinned);
    REQUIRE_FALSE(plan.suspects.empty());
    CHECK(plan.suspects.front().op_name == (fault == 2 ? "Functional.mish.0.forward" : call(1)));
    CHECK(plan.outcomes.empty());
  }
}

TEST_CASE("a module that statistics blame is asked about alone: no range ends in one") {
  const PlannedRound round([](MadeCalls& calls) {
    calls.as_statistics();
    calls.ran(call(0), {{1, 1}}, {{2, 1}});
    calls.ran("Module.fc.Linear.forward.0", {{2, 1}}, {{calls.bad() ? 30.0F : 3.0F, 1}});
  });
  const NextPlan plan = round.plan(ConfigKind::kMsprobe);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Suspect::Open::kStatistics);
  CHECK(plan.candidate.list == Texts{"Module.fc.Linear.forward.0"});
  CHECK(plan.reference.list == plan.candidate.list);
  CHECK(plan.candidate.scope.empty());
}

TEST_CASE("calls of one side alone, and of the other pass, are not asked for") {
  const PlannedRound round([](MadeCalls& calls) {
    calls.as_statistics();
    calls.ran(call(0), {{1, 1}}, {{2, 1}});
    calls.ran(call(1), {{2, 1}}, {{3, 1}});
    calls.ran("Functional.mish.0.backward", {{2, 1}}, {{3, 1}});
    if (calls.bad()) calls.ran("Functional.softsign.0.forward", {{3, 1}}, {{3, 1}});
    calls.ran(call(2), {{3, 1}}, {{calls.bad() ? 44.0F : 4.0F, 1}});
  });
  const NextPlan plan = round.plan(ConfigKind::kDataDump);
  REQUIRE(plan.state == PlanState::kAsked);
  REQUIRE(plan.suspects.front().op_name == call(2));
  std::vector<std::string> names = plan.reference.list;
  CHECK(names.size() == 3);
  CHECK(plan.candidate.list == names);
}

TEST_CASE("the first call of a dump is asked about alone") {
  const PlannedRound round([](MadeCalls& calls) {
    calls.as_statistics();
    calls.ran(call(0), {{1, 1}}, {{calls.bad() ? 44.0F : 4.0F, 1}});
  });
  const NextPlan plan = round.plan(ConfigKind::kMsprobe);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.candidate.scope.empty());
  CHECK(plan.candidate.list == Texts{call(0)});
  CHECK(plan.extent == DumpExtent::kList);
}

TEST_CASE(
    "where neither side has the calls before, statistics of everything in that step are asked for, and then the "
    "range") {
  const PlannedRound listed([](MadeCalls& calls) {
    calls.ran(call(7), {{calls.bad() ? 30.0F : 3.0F, 1}}, {{calls.bad() ? 40.0F : 4.0F, 1}});
  });
  const NextPlan plan = listed.plan(ConfigKind::kMsprobe, DumpExtent::kList);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Suspect::Open::kBefore);
  for (const DumpRequest& request : {plan.candidate, plan.reference}) {
    CHECK(request.statistics);
    CHECK(request.list.empty());
    CHECK(request.scope.empty());
    CHECK(request.steps == std::vector<int64_t>{0});
  }
  CHECK(plan.extent == DumpExtent::kAll);
  const PlannedRound whole([](MadeCalls& calls) { chain(calls, 0, 9, right); });
  const NextPlan third = plan_next(
      {{&listed.run(), DumpExtent::kList}, {&whole.run(), DumpExtent::kAll}, {&listed.run(), DumpExtent::kRange}}, {});
  REQUIRE(third.state == PlanState::kAsked);
  CHECK_FALSE(third.candidate.statistics);
  CHECK(third.candidate.scope == Texts{call(0), call(7)});
}

TEST_CASE("a call of a part whose inputs were not dumped is sought before the part") {
  const auto build = [](MadeCalls& calls) { calls.ran(call(4), {}, {{calls.bad() ? 50.0F : 5.0F, 1}}); };
  const PlannedRound part(build), whole([](MadeCalls&calls) { chain(calls, 0, 9, right); });
  CHECK(part.plan(ConfigKind::kMsprobe).suspects.front().open == Suspect::Open::kNoInput);
  const NextPlan plan = part.plan_after(whole, DumpExtent::kList);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Suspect::Open::kBefore);
  CHECK(plan.candidate.scope == Texts{call(0), call(4)});
}

TEST_CASE("a value that a dump of everything reads first is the network's own, and one of a part is not") {
  const auto build = [](MadeCalls& calls) {
    chain(calls, 0, 3, [&](size_t i) { return right(i) * (calls.bad() ? 2.0F : 1.0F); });
  };
  const PlannedRound round(build);
  CHECK(round.plan(ConfigKind::kMsprobe).state == PlanState::kPinned);
  CHECK(round.plan(ConfigKind::kMsprobe, DumpExtent::kList).state == PlanState::kAsked);
}

TEST_CASE("noise of the first call of a range is not to blame for a much larger error after it") {
  const PlannedRound first([](MadeCalls& calls) { chain(calls, 0, 9, right); });
  const PlannedRound part([](MadeCalls& calls) {
    chain(calls, 2, 8, [&](size_t i) {
      if (!calls.bad() || i <= 2) return right(i);
      return right(i) * (i > 5 ? 3.0F : 1.1F);
    });
  });
  for (const DumpExtent extent : {DumpExtent::kRange, DumpExtent::kList}) {
    const NextPlan plan = part.plan_after(first, extent);
    CHECK(plan.state == PlanState::kPinned);
    REQUIRE_FALSE(plan.suspects.empty());
    const bool at_jump = plan.suspects.front().op_name == call(5);
    CHECK(at_jump == (extent == DumpExtent::kRange));
  }
}

TEST_CASE(
    "a weight that differs in the first step of a dump asks for statistics of the steps before, if there are any") {
  const auto build = [](MadeCalls& calls) {
    calls.ran("Module.fc.Linear.forward.0", {{1, 2}}, {{calls.bad() ? 7.0F : 3.0F, 4}});
    calls.has("weight", {calls.bad() ? 5.0F : 3.0F, 1});
  };
  const PlannedRound later(build, "step5/rank0"), first(build);
  CHECK(first.plan(ConfigKind::kMsprobe).state == PlanState::kPinned);
  const NextPlan plan = later.plan(ConfigKind::kMsprobe);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Suspect::Open::kStepsBefore);
  CHECK(plan.candidate.statistics);
  CHECK(plan.candidate.list.empty());
  CHECK(plan.candidate.steps == std::vector<int64_t>{0, 1, 2, 3, 4});
  CHECK(plan.reference.steps == plan.candidate.steps);
  CHECK(plan.reference.statistics);
  CHECK(plan.extent == DumpExtent::kAll);
  CHECK(plan.question == "in which step before does what Module.fc.Linear.forward.0 reads begin to differ?");
  CHECK(plan.outcomes.size() == 2);
  CHECK(plan.suspects.front().parameter == "Module.fc.Linear.forward.0:weight");
  CHECK(plan.size.tensors == 0);
}

TEST_CASE("in a range a call with other arguments is not noise, however small its error is") {
  const PlannedRound first([](MadeCalls& calls) { chain(calls, 0, 9, right); });
  for (const bool other_argument : {false, true}) {
    INFO(other_argument);
    const PlannedRound part([&](MadeCalls& calls) {
      const auto value = [&](size_t i) {
        if (!calls.bad() || i <= 3) return right(i);
        return right(i) * (i > 5 ? 3.0F : 1.1F);
      };
      for (size_t i = 2; i < 8; ++i) {
        calls.ran(call(i), {{value(i), 1}}, {{value(i + 1), 1}});
        if (i == 3) calls.given("float", calls.bad() && other_argument ? "2.0" : "1.0");
      }
    });
    const NextPlan plan = part.plan_after(first, DumpExtent::kRange);
    CHECK(plan.state == PlanState::kPinned);
    REQUIRE_FALSE(plan.suspects.empty());
    CHECK(plan.suspects.front().op_name == call(other_argument ? 3 : 5));
  }
}

TEST_CASE("where the folders say neither step nor rank, all of them are asked for") {
  const PlannedRound round(wrong_statistics, "");
  const NextPlan plan = round.plan(ConfigKind::kMsprobe);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.candidate.steps.empty());
  CHECK(plan.candidate.ranks.empty());
  CHECK(plan.candidate.scope == Texts{call(0), call(4)});
  CHECK(plan.size.tensors == 10);
}

TEST_CASE("of operators that were not dumped the next dump has all that may be to blame, as MindSpore names them") {
  const PlannedRound round(std::function<void(MadeNet&)>([](MadeNet& net) {
    const auto x = net.input("x");
    const auto a = net.op("Mul", {x, net.constant(net.bad() ? 1.5F : 2)});
    net.hide_output(a);
    net.hide_input(a, 0);
    net.hide_input(a, 1);
    const auto b = net.op("Neg", {a});
    net.hide_output(b);
    net.hide_input(b, 0);
    net.op("ReLU", {b});
  }));
  const NextPlan plan = round.plan(ConfigKind::kDataDump);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Suspect::Open::kNotDumped);
  CHECK(plan.candidate.list == Texts{"Default/ReLU-op0", "Default/Mul-op0", "Default/Neg-op0"});
  CHECK(plan.reference.list == plan.candidate.list);
  CHECK(plan.question == "which operator before Default/ReLU-op0, of those that were not dumped, is to blame?");
  CHECK(plan.outcomes.size() == 2);
  REQUIRE(plan.suspects.front().others.size() == 2);
  CHECK(plan.suspects.front().others.front().op_name == "Default/Mul-op0");
  REQUIRE(plan.suspects.front().others.front().frame != nullptr);
  // Those of ReLU; nothing is known of the others.
  CHECK(plan.size.tensors == 2);
  CHECK(plan.size.bytes == 2 * 16 * 4);
  CHECK(plan.size.at_least);
  CHECK(plan.candidate.scope.empty());
  CHECK(plan.extent == DumpExtent::kList);
}

// Mul, of which the constant is wrong, and Neg were not dumped: ReLU reads what they lead to.
void hidden_chain(MadeNet& net, bool neg_too) {
  const auto a = net.op("Mul", {net.input("x"), net.constant(net.bad() ? 1.5F : 2)});
  net.hide_input(a, 0);
  net.hide_input(a, 1);
  net.hide_output(a);
  const auto b = neg_too ? net.op("Neg", {a}) : a;
  if (neg_too) {
    net.hide_input(b, 0);
    net.hide_output(b);
  }
  net.op("ReLU", {b});
}

TEST_CASE("an operator that only reads what is wrong is asked about with the one that the graph says made it") {
  const PlannedRound round(std::function<void(MadeNet&)>([](MadeNet& net) { hidden_chain(net, false); }));
  REQUIRE_FALSE(round.run().divergence.roots.empty());
  CHECK(round.run().op_name(round.run().divergence.roots.front().op) == "Default/ReLU-op0");
  const NextPlan plan = round.plan(ConfigKind::kDataDump);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Suspect::Open::kNotDumped);
  CHECK(plan.suspects.front().only_reads);
  CHECK(plan.candidate.list == Texts{"Default/ReLU-op0", "Default/Mul-op0"});
  CHECK(plan.reference.list == plan.candidate.list);
  CHECK_FALSE(plan.candidate.statistics);
}

TEST_CASE("the calls before an operator are its producers by the graph, dumped or not, but none that agrees") {
  PlannedRound round(std::function<void(MadeNet&)>([](MadeNet& net) {
    const auto side = net.op("Neg", {net.weight("w")});  // agrees
    const auto far = net.op("Abs", {net.input("y")});    // leads to what comes later
    const auto a = net.op("Mul", {net.input("x"), net.constant(2)});
    net.hide_input(a, 0);
    net.hide_input(a, 1);
    net.hide_output(a);
    const auto sum = net.op("Add", {a, side});
    net.show_input(sum, 0, some_values(net.bad() ? 3 : 1));
    if (net.bad()) net[sum] = some_values(5);
    net.op("Sub", {sum, far});
  }));
  round.forget_roots("Default/Add-op0", Unjudged::kUnknownSource);
  const NextPlan plan = round.plan(ConfigKind::kDataDump);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Suspect::Open::kBefore);
  CHECK(plan.candidate.list == Texts{"Default/Add-op0", "Default/Mul-op0"});
  CHECK(plan.size.at_least);
}

TEST_CASE("where no call of a dump has inputs they are asked for") {
  const PlannedRound round([](MadeCalls& calls) {
    for (size_t i = 0; i < 5; ++i) calls.ran(call(i), {}, {{calls.bad() && i >= 3 ? 30.0F : right(i + 1), 1}});
  });
  const NextPlan plan = round.plan(ConfigKind::kMsprobe);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Suspect::Open::kNoInput);
  CHECK(plan.question == "does " + call(3) + " compute what its inputs lead to, which were not dumped?");
}

TEST_CASE("where nothing stands out the first large difference that was not judged is asked about") {
  const auto build = [](float wrong) {
    return [wrong](MadeCalls& calls) {
      chain(calls, 0, 3, right);
      calls.ran(call(3), {{calls.bad() ? wrong : 55.0F, 1}}, {{calls.bad() ? wrong : 55.0F, 1}});
    };
  };
  PlannedRound large(build(77)), small(build(55.1F));
  large.forget_roots(call(3), Unjudged::kUnknownSource);
  const NextPlan plan = large.plan(ConfigKind::kMsprobe);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Suspect::Open::kBefore);
  CHECK(plan.suspects.front().only_reads);
  CHECK(plan.suspects.front().reason ==
        "nothing is proved; its input 0 is the first difference that was not judged: what wrote it was not dumped");
  CHECK(plan.candidate.scope == Texts{call(0), call(3)});
  CHECK_FALSE(plan.candidate.statistics);
  small.forget_roots(call(3), Unjudged::kUnknownSource);
  CHECK(small.plan(ConfigKind::kMsprobe).state == PlanState::kNothing);
  // No dump makes another shape comparable.
  large.forget_roots(call(3), Unjudged::kOtherShape);
  const NextPlan none = large.plan(ConfigKind::kMsprobe);
  CHECK(none.state == PlanState::kNothing);
  CHECK(none.nothing ==
        "no operator stands out; 2 differences could not be judged (2: another shape or kind of dtype)");
}

TEST_CASE("a module whose difference was not judged is asked about with the calls inside it, or as elements") {
  const auto build = [](bool calls_too) {
    return [calls_too](MadeCalls& calls) {
      calls.as_statistics();
      if (calls_too) calls.ran(call(0), {{1, 2}}, {{1, 2}});
      calls.ran("Module.a.Block.forward.0", {{1, 2}}, {{calls.bad() ? 50.0F : 3.0F, 4}});
    };
  };
  PlannedRound modules(build(false)), mixed(build(true));
  modules.forget_roots("Module.a.Block.forward.0", Unjudged::kLargeInput);
  mixed.forget_roots("Module.a.Block.forward.0", Unjudged::kLargeInput);
  // Statistics ask for what follows equal inputs first.
  CHECK(modules.plan(ConfigKind::kMsprobe).suspects.front().open == Suspect::Open::kStatistics);
  CHECK(mixed.plan(ConfigKind::kMsprobe).suspects.front().open == Suspect::Open::kStatistics);
  PlannedRound elements([](MadeCalls& calls) {
    calls.ran("Module.a.Block.forward.0", {{calls.bad() ? 7.0F : 1.0F, 2}}, {{calls.bad() ? 50.0F : 3.0F, 4}});
  });
  elements.forget_roots("Module.a.Block.forward.0", Unjudged::kLargeInput);
  const NextPlan plan = elements.plan(ConfigKind::kMsprobe);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Suspect::Open::kHiddenCalls);
  CHECK(plan.candidate.level == "mix");
  CHECK(plan.candidate.list == Texts{"Module.a.Block.forward.0"});
  CHECK(plan.candidate.all_risks);
}

TEST_CASE("a dump that begins inside a step is taken for a part") {
  const auto of = [](const std::string& first) {
    return PlannedRound([&](MadeCalls& calls) {
      calls.ran(first, {{calls.bad() ? 2.0F : 1.0F, 1}}, {{calls.bad() ? 3.0F : 2.0F, 1}});
      calls.ran("Functional.linear.0.forward", {{calls.bad() ? 3.0F : 2.0F, 1}}, {{3, 1}});
    });
  };
  CHECK(extent_of(of("Functional.relu.0.forward").run()) == DumpExtent::kAll);
  CHECK(extent_of(of("Functional.relu.2.forward").run()) == DumpExtent::kList);
  CHECK(extent_of(of("Module.fc.Linear.forward.1").run()) == DumpExtent::kList);
  const auto backward = [](bool forward) {
    return PlannedRound([=](MadeCalls& calls) {
      if (forward) chain(calls, 0, 2, right);
      for (size_t i = 9; i-- > 0;) calls.ran("Functional." + kCallNames[i] + ".0.backward", {{1, 1}}, {{1, 1}});
    });
  };
  CHECK(extent_of(backward(false).run()) == DumpExtent::kList);
  CHECK(extent_of(backward(true).run()) == DumpExtent::kAll);
}

TEST_CASE("what the newest dump has in full is not asked for again, but for calls between those of a list") {
  const PlannedRound whole([](MadeCalls& calls) { chain(calls, 0, 9, right); });
  // Call 5 reads something else than what call 4 made.
  const PlannedRound part([](MadeCalls& calls) {
    chain(calls, 0, 5, right);
    calls.ran(call(5), {{calls.bad() ? 77.0F : 55.0F, 1}}, {{calls.bad() ? 78.0F : 56.0F, 1}});
  });
  const auto plan_as = [&](ConfigKind kind) {
    DumpRequest as_before;
    as_before.kind = kind;
    return plan_next({{&whole.run(), DumpExtent::kAll}, {&part.run(), DumpExtent::kList}}, as_before);
  };
  const NextPlan plan = plan_as(ConfigKind::kDataDump);
  CHECK(plan.state == PlanState::kPinned);
  REQUIRE_FALSE(plan.suspects.empty());
  CHECK(plan.suspects.front().op_name == call(5));
  CHECK(plan.suspects.front().only_reads);
  CHECK(plan.candidate.list.empty());
  CHECK(plan.question.empty());
  CHECK(plan_as(ConfigKind::kMsprobe).candidate.scope == Texts{call(0), call(5)});
}

TEST_CASE("one dump asks about four suspects at most") {
  std::vector<std::pair<PlannedRound::Build, std::string>> parts;
  for (size_t rank = 0; rank < 6; ++rank) {
    const auto build = [rank](MadeCalls& calls) {
      calls.as_statistics();
      chain(calls, 0, 9, [&](size_t i) { return calls.bad() && i > rank ? 20 + right(i) : right(i); });
    };
    parts.emplace_back(build, "step0/rank" + std::to_string(rank));
  }
  const PlannedRound round(parts);
  const NextPlan plan = round.plan(ConfigKind::kDataDump);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.size() == 6);
  CHECK(plan.candidate.ranks.size() == kMostSuspects);
}

TEST_CASE("calls that msprobe did not dump are asked for: those inside a module, or between two calls") {
  const PlannedRound inside([](MadeCalls& calls) {
    calls.ran("Module.a.Block.forward.0", {{1, 2}}, {{calls.bad() ? 50.0F : 3.0F, 4}});
  });
  const NextPlan module = inside.plan(ConfigKind::kMsprobe);
  REQUIRE(module.state == PlanState::kAsked);
  CHECK(module.suspects.front().open == Suspect::Open::kHiddenCalls);
  CHECK(module.candidate.list == Texts{"Module.a.Block.forward.0"});
  CHECK(module.reference.list == module.candidate.list);
  CHECK(module.reference.level == "mix");
  CHECK(module.candidate.level == "mix");
  CHECK(module.candidate.all_risks);
  CHECK(module.size.at_least);
  CHECK(module.size.tensors == 2);
  CHECK(module.outcomes.size() == 2);

  const PlannedRound between([](MadeCalls& calls) {
    calls.ran(call(0), {{1, 2}}, {{3, 4}});
    calls.ran(call(1), {{calls.bad() ? 70.0F : 5.0F, 6}}, {{calls.bad() ? 80.0F : 7.0F, 8}});
  });
  const NextPlan calls = between.plan(ConfigKind::kMsprobe);
  REQUIRE(calls.state == PlanState::kAsked);
  CHECK(calls.suspects.front().open == Suspect::Open::kHiddenCalls);
  CHECK(calls.candidate.scope == Texts{call(0), call(1)});
  CHECK(calls.reference.scope == calls.candidate.scope);
  CHECK(calls.extent == DumpExtent::kRange);
  CHECK(calls.size.tensors == 4);
  CHECK(calls.question == "which of the calls that were not dumped makes " + call(1) + " differ?");
  CHECK(calls.outcomes.size() == 2);
  // In a range every call between was dumped; in a list they may lie there.
  CHECK(between.plan(ConfigKind::kMsprobe, DumpExtent::kRange).state == PlanState::kPinned);
  CHECK(between.plan(ConfigKind::kMsprobe, DumpExtent::kList).suspects.front().open == Suspect::Open::kBefore);
  CHECK(inside.plan(ConfigKind::kMsprobe, DumpExtent::kRange).suspects.front().open == Suspect::Open::kHiddenCalls);
}

TEST_CASE("the root that diff names first leads, although another is pinned; in a part of a dump the pinned one does") {
  PlannedRound round([](MadeCalls& calls) {
    calls.ran(call(0), {{1, 2}}, {{3, 4}});
    calls.ran(call(1), {{calls.bad() ? 70.0F : 5.0F, 6}}, {{calls.bad() ? 80.0F : 7.0F, 8}});
  });
  round.add_pinned_root();
  const NextPlan plan = round.plan(ConfigKind::kMsprobe);
  REQUIRE(plan.state == PlanState::kAsked);
  REQUIRE(plan.suspects.size() == 2);
  CHECK(plan.suspects.front().open == Suspect::Open::kHiddenCalls);
  CHECK(plan.suspects.back().open == Suspect::Open::kPinned);
  CHECK(plan.candidate.scope == Texts{call(0), call(1)});
  const NextPlan of_part = round.plan(ConfigKind::kMsprobe, DumpExtent::kList);
  CHECK(of_part.state == PlanState::kPinned);
  CHECK(of_part.suspects.front().kind == name_of(DivergenceKind::kNan));
}

TEST_CASE(
    "where what was asked about is healthy, the next suspect of the first dump is asked about, until none is left") {
  const PlannedRound first([](MadeCalls& calls) {
    calls.ran("Module.a.Block.forward.0", {{1, 2}}, {{calls.bad() ? 50.0F : 3.0F, 4}});
    calls.ran("Module.b.Other.forward.0", {{7, 8}}, {{calls.bad() ? 90.0F : 4.0F, 6}});
  });
  REQUIRE(first.plan(ConfigKind::kMsprobe).suspects.size() == 2);
  const PlannedRound healthy([](MadeCalls& calls) { chain(calls, 0, 2, right); });
  const NextPlan second = healthy.plan_after(first, DumpExtent::kList, 2);
  REQUIRE(second.state == PlanState::kAsked);
  CHECK(second.suspects.size() == 1);
  // Of the two the first dump has less evidence for it.
  CHECK(second.candidate.list == Texts{"Module.a.Block.forward.0"});
  CHECK(healthy.plan_after(first, DumpExtent::kList, 3).state == PlanState::kNothing);
  CHECK(healthy.plan_after(first, DumpExtent::kRange, 3).state == PlanState::kNothing);
}

TEST_CASE("the names of states are those of the documents") {
  CHECK(name_of(Suspect::Open::kNotDumped) == "not_dumped");
  CHECK(name_of(Suspect::Open::kStatistics) == "statistics");
  CHECK(name_of(Suspect::Open::kBefore) == "before");
  CHECK(name_of(Suspect::Open::kStepsBefore) == "steps_before");
  CHECK(name_of(DumpExtent::kAll) == "all");
  CHECK(name_of(DumpExtent::kRange) == "range");
  CHECK(name_of(DumpExtent::kList) == "list");
  CHECK(name_of(PlanState::kNothing) == "nothing");
  CHECK(name_of(PlanState::kPinned) == "pinned");
  CHECK(name_of(PlanState::kAsked) == "asked");
  CHECK(name_of(Suspect::Open::kHiddenCalls) == "hidden_calls");
  CHECK(name_of(Suspect::Open::kPinned) == "pinned");
}

}  // namespace
}  // namespace msdump
