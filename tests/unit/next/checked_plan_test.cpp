#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "next/planner.h"
#include "support/catch.h"
#include "support/check_run.h"
#include "support/made_calls.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

#include "call_names.h"

namespace msdump {
namespace {

using Open = Suspect::Open;

constexpr float kBad = std::numeric_limits<float>::quiet_NaN();

// A dump of the calls, checked.
class CheckedCalls {
 public:
  using Build = std::function<void(MadeCalls&)>;
  explicit CheckedCalls(const Build& build, const std::string& below = "step0/rank0")
      : CheckedCalls(std::vector<std::pair<Build, std::string>>{{build, below}}) {}
  explicit CheckedCalls(const std::vector<std::pair<Build, std::string>>& parts) {
    for (const auto& [build, below] : parts) {
      MadeCalls calls(false);
      build(calls);
      calls.write(scratch_.path(), below);
    }
    checked_ = std::make_unique<test::Checked>(scratch_.path());
  }

  [[nodiscard]] const check::CheckRun& run() const { return checked_->run(); }
  [[nodiscard]] NextPlan plan(DumpExtent extent = DumpExtent::kAll) const { return planned({{&run(), extent}}); }
  // After a first dump.
  [[nodiscard]] NextPlan plan_after(const CheckedCalls& first, DumpExtent extent, size_t rounds = 2) const {
    std::vector<CaseDump<check::CheckRun>> all(rounds);
    all.front() = {&first.run(), DumpExtent::kAll};
    all.back() = {&run(), extent};
    return planned(all);
  }

 private:
  static NextPlan planned(const std::vector<CaseDump<check::CheckRun>>& rounds) {
    DumpRequest as_before;
    as_before.target.framework = Framework::kPyTorch;
    return plan_next(rounds, as_before);
  }

  test::ScratchDir scratch_;
  std::unique_ptr<test::Checked> checked_;
};

// Calls [first, end) of a chain; what call `bad` and those after it make is NaN.
void chain(MadeCalls& calls, size_t first, size_t end, size_t bad) {
  const auto value = [&](size_t place) { return place > bad ? kBad : static_cast<float>(place + 1); };
  for (size_t i = first; i < end; ++i) calls.ran(call(i), {{value(i), 1}}, {{value(i + 1), 1}});
}

constexpr size_t kHealthy = 100;

TEST_CASE("a call that makes NaN of finite inputs is pinned, with its name and line, and nothing is asked") {
  const CheckedCalls dump([](MadeCalls& calls) { chain(calls, 0, 6, 3); });
  const NextPlan plan = dump.plan();
  CHECK(plan.state == PlanState::kPinned);
  REQUIRE(plan.suspects.size() == 1);
  const Suspect& suspect = plan.suspects.front();
  CHECK(suspect.open == Open::kPinned);
  CHECK(suspect.op_name == call(3));
  CHECK(suspect.op_type == "gelu");
  CHECK(suspect.kind == "nan");
  CHECK(suspect.place.step == 0);
  CHECK(suspect.place.rank == 0);
  REQUIRE(suspect.frame != nullptr);
  CHECK(plan.question.empty());
  CHECK(plan.candidate.scope.empty());
  CHECK(plan.size.of_all == 0);
}

TEST_CASE("of a healthy dump nothing is asked") {
  const NextPlan plan = CheckedCalls([](MadeCalls& calls) { chain(calls, 0, 6, kHealthy); }).plan();
  CHECK(plan.state == PlanState::kNothing);
  CHECK(plan.suspects.empty());
}

TEST_CASE("NaN that enters the network is pinned, and NaN that enters a part of it is sought before the part") {
  const auto build = [](MadeCalls& calls) { chain(calls, 6, 8, 2); };
  const CheckedCalls part(build), whole([](MadeCalls&calls) { chain(calls, 0, 9, 2); });
  CHECK(part.plan().state == PlanState::kPinned);
  const NextPlan plan = part.plan_after(whole, DumpExtent::kRange);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Open::kBefore);
  CHECK(plan.candidate.scope == Texts{call(0), call(6)});
  CHECK(plan.candidate.list.empty());
  CHECK(plan.candidate.steps == std::vector<int64_t>{0});
  CHECK(plan.candidate.ranks == std::vector<int64_t>{0});
  CHECK_FALSE(plan.candidate.statistics);
  CHECK(plan.candidate.all_risks);
  CHECK(plan.extent == DumpExtent::kRange);
  CHECK(plan.size.tensors == 14);
  CHECK(plan.size.bytes == 14 * 8);
  CHECK(plan.size.of_all == 18 * 8);
  CHECK_FALSE(plan.size.at_least);
  CHECK(plan.question == "where on the way to Functional.celu.0.forward does it begin?");
  CHECK(plan.outcomes.size() == 2);
}

TEST_CASE(
    "NaN that the first call of the network reads is pinned where a part shows it, or sought in the steps before") {
  const auto part = [](MadeCalls& calls) { calls.ran(call(0), {{kBad, 1}}, {{kBad, 1}}); };
  const auto whole = [](MadeCalls& calls) { chain(calls, 0, 9, kHealthy); };
  for (const DumpExtent extent : {DumpExtent::kRange, DumpExtent::kList})
    CHECK(CheckedCalls(part).plan_after(CheckedCalls(whole), extent).state == PlanState::kPinned);
  const CheckedCalls of_step_5(part, "step5/rank0");
  CHECK(of_step_5.plan_after(CheckedCalls({{whole, "step4/rank0"}, {whole, "step5/rank0"}}), DumpExtent::kList).state ==
        PlanState::kPinned);
  const NextPlan plan = of_step_5.plan_after(CheckedCalls(whole, "step5/rank0"), DumpExtent::kList);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Open::kStepsBefore);
  CHECK(plan.candidate.steps == std::vector<int64_t>{0, 1, 2, 3, 4});
}

TEST_CASE("NaN that enters in the first step of a later dump may be a weight's: the steps before are asked for") {
  const CheckedCalls later([](MadeCalls& calls) { calls.ran(call(0), {{kBad, 1}}, {{kBad, 1}}); }, "step2/rank0");
  const NextPlan plan = later.plan();
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().kind == "input");
  CHECK(plan.suspects.front().open == Open::kStepsBefore);
  CHECK(plan.candidate.steps == std::vector<int64_t>{0, 1});
  CHECK(plan.question == "in which step before does what Functional.linear.0.forward has begin to be wrong?");
  CHECK(plan.outcomes.size() == 2);
  CHECK(later.plan(DumpExtent::kRange).suspects.front().open == Open::kBefore);
}

TEST_CASE("a call of a part that no other dump has is asked about with what the part has before it") {
  const CheckedCalls part([](MadeCalls& calls) {
    calls.ran("Torch.mul.0.forward", {{1, 1}}, {{2, 1}});
    calls.ran("Torch.exp.0.forward", {}, {{kBad, 1}});
  });
  const CheckedCalls whole([](MadeCalls& calls) { chain(calls, 0, 9, 2); });
  const NextPlan plan = part.plan_after(whole, DumpExtent::kRange);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Open::kBefore);
  CHECK(plan.candidate.scope == Texts{"Torch.mul.0.forward", "Torch.exp.0.forward"});
  CHECK(plan.size.tensors == 3);
}

TEST_CASE("a call whose inputs were not dumped is asked about with six calls before it, of its own pass") {
  const CheckedCalls dump([](MadeCalls& calls) {
    calls.ran("Functional.mish.0.forward", {{1, 1}}, {{1, 1}});
    calls.ran("Functional.mish.0.backward", {{1, 1}}, {{1, 1}});
    chain(calls, 0, 8, kHealthy);
    calls.ran("Functional.mish.1.backward", {{1, 1}}, {{1, 1}});
    calls.ran(call(8), {}, {{kBad, 1}});
  });
  const NextPlan plan = dump.plan();
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Open::kBefore);
  CHECK(plan.candidate.scope == Texts{call(2), call(8)});
}

TEST_CASE(
    "a module of a dump of modules is asked about with the calls inside it, and one that is one operator is not") {
  const auto build = [](const std::string& name) {
    return [name](MadeCalls& calls) {
      calls.ran("Module.stem.Stem.forward.0", {{1, 1}}, {{1, 1}});
      calls.ran(name, {{1, 1}}, {{kBad, 1}});
    };
  };
  const CheckedCalls block(build("Module.net.Block.forward.0")), linear(build("Module.fc.Linear.forward.0"));
  const NextPlan plan = block.plan();
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Open::kHiddenCalls);
  CHECK(plan.candidate.list == Texts{"Module.net.Block.forward.0"});
  CHECK(plan.candidate.scope.empty());
  CHECK(plan.extent == DumpExtent::kList);
  CHECK(plan.size.at_least);
  CHECK(plan.size.tensors == 2);
  CHECK(plan.question == "which of the calls inside Module.net.Block.forward.0 makes it?");
  CHECK(plan.outcomes.size() == 1);
  CHECK(linear.plan().state == PlanState::kPinned);
  const CheckedCalls mixed([](MadeCalls& calls) {
    calls.ran("Functional.relu.0.forward", {{1, 1}}, {{1, 1}}, "Module.net.Block.forward.0");
    calls.ran("Module.net.Block.forward.0", {{1, 1}}, {{kBad, 1}});
  });
  CHECK(mixed.plan().state == PlanState::kPinned);
}

TEST_CASE(
    "a weight that is not finite where the dump begins asks for statistics of the steps before, if there are any") {
  const auto build = [](MadeCalls& calls) {
    calls.ran("Module.fc.Linear.forward.0", {{1, 2}}, {{kBad, 4}});
    calls.has("weight", {kBad, 1});
  };
  const CheckedCalls first(build), second(build, "step1/rank0"), later(build, "step20/rank0");
  CHECK(first.plan().state == PlanState::kPinned);
  CHECK(second.plan().candidate.steps == std::vector<int64_t>{0});
  const NextPlan plan = later.plan();
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Open::kStepsBefore);
  CHECK(plan.suspects.front().kind == "parameter");
  CHECK(plan.candidate.statistics);
  CHECK(plan.candidate.list.empty());
  REQUIRE(plan.candidate.steps.size() == 16);
  CHECK(plan.candidate.steps.front() == 4);
  CHECK(plan.candidate.steps.back() == 19);
  CHECK(plan.extent == DumpExtent::kAll);
}

TEST_CASE(
    "a gradient that explodes is pinned by its elements, and asks for the steps before where the dump begins later") {
  const auto build = [](MadeCalls& calls) {
    calls.ran("Module.fc.Linear.forward.0", {{1, 2}}, {{3, 4}});
    calls.ran("Module.fc.Linear.backward.0", {{1, 2}}, {{3, 4}});
    calls.ran("Module.fc.Linear.parameters_grad.0", {}, {{1e8F, 1e8F}});
  };
  const CheckedCalls first(build), later(build, "step3/rank0");
  const NextPlan pinned = first.plan();
  CHECK(pinned.state == PlanState::kPinned);
  REQUIRE_FALSE(pinned.suspects.empty());
  CHECK(pinned.suspects.front().kind == "gradient_exploding");
  CHECK(pinned.suspects.front().op_name == "Module.fc.Linear.parameters_grad.0");
  const NextPlan plan = later.plan();
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.candidate.statistics);
  CHECK(plan.candidate.steps == std::vector<int64_t>{0, 1, 2});
  CHECK(plan.candidate.ranks == std::vector<int64_t>{0});
}

TEST_CASE("a weight that is not finite in a later step of the dump is pinned there: the steps before are in the dump") {
  const auto build = [](float weight) {
    return [weight](MadeCalls& calls) {
      calls.ran("Module.fc.Linear.forward.0", {{1, 2}}, {{weight, 4}});
      calls.has("weight", {weight, 1});
    };
  };
  const CheckedCalls dump({{build(1), "step2/rank0"}, {build(kBad), "step5/rank0"}});
  const NextPlan plan = dump.plan();
  CHECK(plan.state == PlanState::kPinned);
  REQUIRE_FALSE(plan.suspects.empty());
  CHECK(plan.suspects.front().kind == "parameter");
  CHECK(plan.suspects.front().place.step == 5);
}

TEST_CASE("the calls before are those of the rank and step that is bad") {
  const auto healthy = [](MadeCalls& calls) { chain(calls, 0, 9, kHealthy); };
  const auto bad = [](MadeCalls& calls) {
    calls.ran(call(0), {{1, 1}}, {{1, 1}});
    calls.ran(call(1), {}, {{kBad, 1}});
  };
  for (const std::string below : {"step0/rank1", "step1/rank0"}) {
    INFO(below);
    const CheckedCalls dump({{healthy, "step0/rank0"}, {bad, below}});
    const NextPlan plan = dump.plan();
    REQUIRE(plan.state == PlanState::kAsked);
    CHECK(plan.candidate.scope == Texts{call(0), call(1)});
    CHECK(plan.size.tensors == 3);
    CHECK(plan.candidate.steps == std::vector<int64_t>{below == "step1/rank0"});
    CHECK(plan.candidate.ranks == std::vector<int64_t>{below == "step0/rank1"});
  }
}

TEST_CASE(
    "where no dump has the calls before, statistics of everything in that step are asked for, and then the range") {
  const CheckedCalls listed([](MadeCalls& calls) { calls.ran(call(7), {{kBad, 1}}, {{kBad, 1}}); });
  for (const DumpExtent extent : {DumpExtent::kList, DumpExtent::kRange}) {
    const NextPlan plan = listed.plan(extent);
    REQUIRE(plan.state == PlanState::kAsked);
    CHECK(plan.suspects.front().open == Open::kBefore);
    CHECK(plan.candidate.statistics);
    CHECK(plan.candidate.list.empty());
    CHECK(plan.candidate.scope.empty());
    CHECK(plan.candidate.steps == std::vector<int64_t>{0});
    CHECK(plan.candidate.ranks == std::vector<int64_t>{0});
    CHECK(plan.extent == DumpExtent::kAll);
  }
  const CheckedCalls whole([](MadeCalls& calls) { chain(calls, 0, 9, kHealthy); });
  const auto after_it = [&](const CheckedCalls& last, DumpExtent extent) {
    DumpRequest as_before;
    as_before.target.framework = Framework::kPyTorch;
    return plan_next({{&listed.run(), DumpExtent::kList}, {&whole.run(), DumpExtent::kAll}, {&last.run(), extent}},
                     as_before);
  };
  const NextPlan third = after_it(listed, DumpExtent::kRange);
  CHECK_FALSE(third.candidate.statistics);
  CHECK(third.candidate.scope == Texts{call(0), call(7)});
}

TEST_CASE("statistics of a dump that does not have the inputs ask for elements, and not for the same again") {
  const CheckedCalls dump([](MadeCalls& calls) { calls.ran(call(0), {}, {{kBad, 1}}); });
  const NextPlan plan = dump.plan();
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK_FALSE(plan.candidate.statistics);
  CHECK(plan.candidate.list == Texts{call(0)});
}

TEST_CASE(
    "a collective whose ranks got different values is pinned by elements, and asked about on its group by statistics") {
  const auto dump = [](bool statistics) {
    std::vector<std::pair<CheckedCalls::Build, std::string>> parts;
    for (int rank = 0; rank < 4; ++rank) {
      const auto build = [rank, statistics](MadeCalls& calls) {
        const auto value = [&](size_t i) { return static_cast<float>(i) + 0.25F * static_cast<float>(rank); };
        if (statistics) calls.as_statistics();
        for (size_t i = 0; i < 3; ++i) calls.ran(call(i), {{value(i), 1}}, {{value(i + 1), 1}});
        calls.ran("Distributed.all_reduce.0.forward", {{value(3), 1}}, {{rank == 2 ? 20.0F : 13.5F, 4}});
        calls.given("op", "torch.distributed.ReduceOp", R"("RedOpType.SUM")");
        calls.given("group", "torch.ProcessGroup", R"(null,"group_ranks":[0,1,2,3],"group_id":"a")");
        calls.ran("Functional.dropout.0.forward", {}, {});
      };
      for (const std::string step : {"step0", "step1"})
        parts.emplace_back(build, step + "/rank" + std::to_string(rank));
    }
    return std::make_unique<CheckedCalls>(parts);
  };
  const auto elements = dump(false);
  const NextPlan pinned = elements->plan();
  CHECK(pinned.state == PlanState::kPinned);
  REQUIRE_FALSE(pinned.suspects.empty());
  CHECK(pinned.suspects.front().op_name == "Distributed.all_reduce.0.forward");
  CHECK(pinned.suspects.front().place.step == 0);
  const auto statistics = dump(true);
  const NextPlan plan = statistics->plan();
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Open::kStatistics);
  CHECK(plan.candidate.ranks == std::vector<int64_t>{0, 1, 2, 3});
  CHECK(plan.candidate.steps == std::vector<int64_t>{0});
  CHECK(plan.candidate.scope == Texts{call(0), "Distributed.all_reduce.0.forward"});
  CHECK_FALSE(plan.candidate.statistics);
}

// What MindSpore dumped on rank 1 in step 3: operators in the order of time, and what the device noted.
class OverflowDump {
 public:
  void op(const std::string& name, int task) {
    scratch_.write(
        fmt::format("rank_1/Net/0/3/{}.{}.7.170000000000000{}.output.0.DefaultFormat.npy", name, task, ++time_),
        test::build_npy({}));
  }
  void noted(int task) {
    scratch_.write(fmt::format("rank_1/Net/0/3/Opdebug.Node_OpDebug.9.9.170000000000000{}.output.0.json", ++time_),
                   fmt::format(R"({{"AI Core":{{"status":32,"task_id":{},"stream_id":7}}}})", task));
  }
  void holds_what_overflows() {
    scratch_.write("rank_1/.dump_metadata/data_dump.json",
                   R"({"common_dump_settings":{"dump_mode":0,"iteration":"all","op_debug_mode":3}})");
  }
  [[nodiscard]] NextPlan plan(ConfigKind kind, size_t rounds = 1) const {
    const test::Checked checked(scratch_.path());
    DumpRequest as_before;
    as_before.kind = kind;
    return plan_next(std::vector<CaseDump<check::CheckRun>>(rounds, {&checked.run(), DumpExtent::kAll}), as_before);
  }

 private:
  test::ScratchDir scratch_;
  int time_ = 0;
};

TEST_CASE("an overflow of a task without files asks once for the operators that overflow") {
  OverflowDump dump;
  dump.op("Mul.Default_Mul-op1", 8);
  dump.noted(57);
  const NextPlan plan = dump.plan(ConfigKind::kDataDump);
  REQUIRE(plan.state == PlanState::kAsked);
  REQUIRE(plan.suspects.size() == 1);
  CHECK(plan.suspects.front().open == Open::kNotDumped);
  CHECK(plan.suspects.front().kind == "operator_overflow");
  CHECK(plan.suspects.front().op_name.empty());
  CHECK(plan.suspects.front().place.rank == 1);
  CHECK(plan.suspects.front().place.step == 3);
  CHECK(plan.candidate.overflow);
  CHECK_FALSE(plan.candidate.statistics);
  CHECK(plan.candidate.list.empty());
  CHECK(plan.candidate.steps == std::vector<int64_t>{3});
  CHECK(plan.candidate.ranks == std::vector<int64_t>{1});
  CHECK(plan.extent == DumpExtent::kList);
  CHECK(plan.question == "which operator overflows?");
  CHECK(plan.outcomes.size() == 2);
  CHECK(dump.plan(ConfigKind::kDataDump, 2).state == PlanState::kNothing);
  // msprobe has no task for it; its statistics count what is infinite.
  const NextPlan counted = dump.plan(ConfigKind::kMsprobe);
  CHECK_FALSE(counted.candidate.overflow);
  CHECK(counted.candidate.statistics);
  CHECK(counted.extent == DumpExtent::kAll);
}

TEST_CASE("of a dump of what overflows the first operator in time is pinned") {
  OverflowDump dump;
  dump.op("Mul.Default_Mul-op9", 8);
  dump.op("Add.Default_Add-op1", 9);
  CHECK(dump.plan(ConfigKind::kDataDump).state == PlanState::kNothing);
  dump.holds_what_overflows();
  const NextPlan plan = dump.plan(ConfigKind::kDataDump, 2);
  CHECK(plan.state == PlanState::kPinned);
  REQUIRE(plan.suspects.size() == 1);
  CHECK(plan.suspects.front().open == Open::kPinned);
  CHECK(plan.suspects.front().op_name == "Default_Mul-op9");
  CHECK(plan.suspects.front().kind == "operator_overflow");
  CHECK(plan.suspects.front().place.step == 3);
}

TEST_CASE("of gradients that explode the one of the first step is named, and in it the first call") {
  const auto build = [](const std::vector<std::string>& exploding) {
    return [exploding](MadeCalls& calls) {
      for (const std::string name : {"Module.b.Linear", "Module.a.Linear"}) {
        const bool explodes = std::find(exploding.begin(), exploding.end(), name) != exploding.end();
        calls.ran(name + ".parameters_grad.0", {}, {{explodes ? 1e8F : 1, 1}});
      }
    };
  };
  const CheckedCalls dump({{build({}), "step0/rank0"},
                           {build({"Module.a.Linear", "Module.b.Linear"}), "step1/rank0"},
                           {build({"Module.a.Linear"}), "step2/rank0"}});
  const NextPlan plan = dump.plan();
  REQUIRE(plan.suspects.size() == 1);
  CHECK(plan.suspects.front().open == Open::kPinned);
  CHECK(plan.suspects.front().op_name == "Module.b.Linear.parameters_grad.0");
  CHECK(plan.suspects.front().place.step == 1);
}

TEST_CASE("a gradient that statistics show is asked about with the backward calls, each of them once") {
  const CheckedCalls dump([](MadeCalls& calls) {
    calls.as_statistics();
    calls.ran("Module.fc.Linear.forward.0", {{1, 2}}, {{3, 4}});
    calls.ran("Module.act.Tanh.backward.0", {{1, 2}}, {{3, 4}});
    calls.ran("Module.fc.Linear.backward.0", {{1, 2}}, {{3, 4}});
    calls.ran("Module.fc.Linear.parameters_grad.0", {}, {{1e8F, 1e8F}});
  });
  const NextPlan plan = dump.plan();
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.suspects.front().open == Open::kStatistics);
  CHECK(plan.candidate.list == Texts{"Module.fc.Linear.backward.0", "Module.act.Tanh.backward.0"});
  CHECK(plan.candidate.scope.empty());
  CHECK(plan.extent == DumpExtent::kList);
  CHECK(plan.size.tensors == 5);
  CHECK(plan.size.bytes == 5 * 8);
  CHECK(plan.size.of_all == 7 * 8);
  CHECK(plan.question == "what do the elements of Module.fc.Linear.parameters_grad.0 and of the calls before it show?");
  CHECK(plan.outcomes == Texts{"if they show the same: Module.fc.Linear.parameters_grad.0 is to blame",
                               "if they do not: the statistics were rounded, and nothing is wrong there"});
}

TEST_CASE("the size of a call is that of the first dump, which has all of its tensors") {
  const CheckedCalls part([](MadeCalls& calls) { calls.ran(call(0), {}, {{kBad, 1}}); });
  const CheckedCalls whole([](MadeCalls& calls) { chain(calls, 0, 2, 0); });
  const NextPlan plan = part.plan_after(whole, DumpExtent::kList);
  REQUIRE(plan.state == PlanState::kAsked);
  CHECK(plan.candidate.list == Texts{call(0)});
  CHECK(plan.extent == DumpExtent::kList);
  CHECK(plan.size.tensors == 2);
}

TEST_CASE("each round asks about four times as many calls before, up to a limit") {
  CHECK(calls_before(1) == 6);
  CHECK(calls_before(2) == 24);
  CHECK(calls_before(3) == 96);
  CHECK(calls_before(100) == 6144);
  CHECK(steps_before(1) == std::vector<int64_t>{0});
  CHECK(steps_before(0).empty());
  CHECK(steps_before(40).front() == 24);
}

TEST_CASE("a tensor is as large as its elements, and as its file where the shape is not known") {
  TensorRecord record;
  CHECK(bytes_of_elements(record) == 0);
  record.bytes = 5;
  CHECK(bytes_of_elements(record) == 5);
  const Shape shape{2, 3};
  record.shape = &shape;
  record.name.dtype = DType::kFloat16;
  CHECK(bytes_of_elements(record) == 12);
}

TEST_CASE("an operator that only files name is chosen by a pattern where MindSpore knows patterns") {
  DumpRequest request;
  request.kind = ConfigKind::kDataDump;
  SequencedOp op;
  CHECK(name_to_ask(request, op, "Default_net_Log-op2") == "name-regex(Default[_/]net[_/]Log-op2)");
  request.target.version = Version{2, 3, 0};
  CHECK(name_to_ask(request, op, "a_b").starts_with("name-regex"));
  request.target.version = Version{2, 2, 14};
  CHECK(name_to_ask(request, op, "a_b") == "a_b");
  request.target.version.reset();
  op.op = OpId(0);
  CHECK(name_to_ask(request, op, "Default/a_b") == "Default/a_b");
  request.kind = ConfigKind::kAcl;
  op.op = kNoId;
  CHECK(name_to_ask(request, op, "a_b") == "a_b");
  request.kind = ConfigKind::kMsprobe;
  CHECK(name_to_ask(request, op, "Module.fc.Linear.parameters_grad.1") == "Module.fc.Linear.backward.1");
  CHECK(name_to_ask(request, op, "Functional.linear.0.forward") == "Functional.linear.0.forward");
}

}  // namespace
}  // namespace msdump
