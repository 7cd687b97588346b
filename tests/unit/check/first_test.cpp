#include "check/nonfinite/first_nonfinite.h"

#include <limits>

#include "small_dump.h"

namespace msdump::check {
namespace {

using Kind = FirstNonfinite::Kind;

std::string ir_path(int64_t rank = 0) { return fmt::format("rank_{}/graphs/ms_output_trace_code_graph_0.ir", rank); }

// x -> Mul -> Log -> Add(Log, w): three operators in a row.
std::string chain() {
  return test::ir_text(
      test::node_text("%1", "Mul", "%para1_x", "Default/Mul-op1", {"/home/user/net.py:10, 8~20/a = x * x"}) +
      test::node_text("%2", "Log", "%1", "Default/Log-op2", {"/home/user/net.py:11, 8~20/b = log(a)"}) +
      test::node_text("%3", "Add", "%2, %para2_w", "Default/Add-op3"));
}

struct Step {
  std::vector<float> x = {1, 2}, a = {1, 4}, b = {0, 1}, w = {1, 1}, y = {1, 2};
};

void write_step(const test::ScratchDir& scratch, const Step& step, int64_t number = 0, int64_t rank = 0) {
  const auto write = [&](std::string_view op, int64_t time, std::string_view slot, const std::vector<float>& elements) {
    scratch.write(tensor_path(op, time, slot, number, rank), floats(elements));
  };
  // The files' times are not the order of the data flow.
  write("Default/Mul-op1", 30, "input.0", step.x);
  write("Default/Mul-op1", 30, "output.0", step.a);
  write("Default/Log-op2", 20, "input.0", step.a);
  write("Default/Log-op2", 20, "output.0", step.b);
  write("Default/Add-op3", 10, "input.0", step.b);
  write("Default/Add-op3", 10, "input.1", step.w);
  write("Default/Add-op3", 10, "output.0", step.y);
}

}  // namespace

TEST_CASE("along the data flow the operator with finite inputs is named, whatever the time stamps say") {
  const test::ScratchDir scratch;
  scratch.write(ir_path(), chain());
  write_step(scratch, {.b = {kNan, 1}, .y = {kNan, 2}});
  const Checked checked(scratch.path(), RuleSet::defaults(), true);
  REQUIRE(checked.report().first);
  CHECK(checked.first_op() == "Default/Log-op2");
  CHECK(checked.report().first->kind == Kind::kNan);
  CHECK(checked.report().first->inputs_finite);
}

TEST_CASE("without an IR the time stamps are the order") {
  const test::ScratchDir scratch;
  write_step(scratch, {.b = {kNan, 1}, .y = {kNan, 2}});
  // The Add has the earlier stamp, and a bad input that nothing before it made.
  const Checked checked(scratch.path(), RuleSet::defaults(), true);
  CHECK(checked.first_op() == "Default_Add-op3");
  CHECK(checked.report().first->kind == Kind::kInput);
}

TEST_CASE("a network input that is NaN already is named as such, with the graph's name for it") {
  const test::ScratchDir scratch;
  scratch.write(ir_path(), chain());
  write_step(scratch, {.x = {kNan, 2}, .a = {kNan, 4}, .b = {kNan, 1}, .y = {kNan, 2}});
  const Checked checked(scratch.path(), RuleSet::defaults(), true);
  REQUIRE(checked.report().first);
  CHECK(checked.report().first->kind == Kind::kInput);
  CHECK(checked.report().first->parameter == "x");
  CHECK(checked.first_op() == "Default/Mul-op1");
  CHECK(checked.report().first->inputs_finite == false);
}

TEST_CASE("a weight that is infinite already is named as a parameter") {
  const test::ScratchDir scratch;
  scratch.write(ir_path(), chain());
  write_step(scratch, {.w = {kInf, 1}, .y = {kInf, 2}});
  const Checked checked(scratch.path(), RuleSet::defaults(), true);
  REQUIRE(checked.report().first);
  CHECK(checked.report().first->kind == Kind::kParameter);
  CHECK(checked.report().first->parameter == "w");
}

TEST_CASE("an input that the optimizer has updated is its result, and outputs that it never writes say nothing") {
  const test::ScratchDir scratch;
  scratch.write(ir_path(), test::ir_text(test::node_text("%1", "Mul", "%para1_x", "Default/Mul-op1") +
                                         test::node_text("%2", "Assign", "%para2_w, %1", "Default/Assign-op2")));
  scratch.write(tensor_path("Default/Mul-op1", 1, "input.0"), floats({1, 2}));
  scratch.write(tensor_path("Default/Mul-op1", 1, "output.0"), floats({kInf, 2}));
  scratch.write(tensor_path("Default/Assign-op2", 2, "input.0"), floats({kInf, 2}));
  scratch.write(tensor_path("Default/Assign-op2", 2, "input.1"), floats({kInf, 2}));
  scratch.write(tensor_path("Default/Assign-op2", 2, "output.0"), floats({kNan, kNan}));
  const Checked checked(scratch.path());
  CHECK(checked.first_op() == "Default/Mul-op1");
  CHECK(checked.only("nan").severity == Severity::kNote);
  CHECK(checked.only("nan").message.find("may never have written it") != std::string::npos);
}

TEST_CASE("garbage in an output that nothing reads is not a root") {
  const test::ScratchDir scratch;
  scratch.write(ir_path(), chain());
  write_step(scratch, {});
  scratch.write(tensor_path("Default/Mul-op1", 30, "output.1"), floats({kNan, kNan}));
  const Checked checked(scratch.path());
  CHECK_FALSE(checked.report().first);
  CHECK(checked.only("nan").severity == Severity::kNote);
}

TEST_CASE("the first step and, inside it, the first rank that computes are named") {
  const test::ScratchDir scratch;
  for (const int64_t rank : {0, 1}) {
    scratch.write(ir_path(rank), test::ir_text(test::node_text("%1", "Log", "%para1_x", "Default/Log-op1") +
                                               test::node_text("%2", "AllReduce", "%1", "Default/AllReduce-op2")));
    for (const int64_t step : {0, 1, 2}) {
      const bool bad = step > 0;
      const float log = bad && rank == 1 ? kNan : 1, all = bad ? kNan : 1;
      scratch.write(tensor_path("Default/Log-op1", 1, "input.0", step, rank), floats({1, 2}));
      scratch.write(tensor_path("Default/Log-op1", 1, "output.0", step, rank), floats({log, 2}));
      scratch.write(tensor_path("Default/AllReduce-op2", 2, "input.0", step, rank), floats({log, 2}));
      scratch.write(tensor_path("Default/AllReduce-op2", 2, "output.0", step, rank), floats({all, 2}));
    }
  }
  const Checked checked(scratch.path(), RuleSet::defaults(), true);
  REQUIRE(checked.report().first);
  CHECK(checked.first_op() == "Default/Log-op1");
  const OpRun& run = checked.dump().runs()[checked.report().first->run];
  CHECK(run.place.rank == 1);
  CHECK(run.place.step == 1);
}

TEST_CASE("the search reads no further than to the step of the first") {
  const test::ScratchDir scratch;
  scratch.write(ir_path(), chain());
  for (int64_t step = 0; step < 20; ++step) {
    write_step(scratch, step == 3 ? Step{.b = {kNan, 1}, .y = {kNan, 2}} : Step{}, step);
  }
  const Checked checked(scratch.path(), RuleSet::defaults(), true);
  CHECK(checked.first_op() == "Default/Log-op2");
  // Of each step before it everything, its three outputs and what went in; of its own the outputs and the one input.
  CHECK(checked.facts().count_read() == 25);
}

TEST_CASE("where only inputs were dumped, what a reader got stands for what was made") {
  const test::ScratchDir scratch;
  scratch.write(ir_path(), chain());
  scratch.write(tensor_path("Default/Mul-op1", 1, "input.0"), floats({1, 2}));
  scratch.write(tensor_path("Default/Log-op2", 2, "input.0"), floats({1, 2}));
  scratch.write(tensor_path("Default/Add-op3", 3, "input.0"), floats({kNan, 2}));
  scratch.write(tensor_path("Default/Add-op3", 3, "input.1"), floats({1, 2}));
  const Checked checked(scratch.path());
  CHECK(checked.first_op() == "Default/Log-op2");
  CHECK(checked.only("partial_dump").severity == Severity::kNote);
}

TEST_CASE("a finite dump has no first") {
  const test::ScratchDir scratch;
  scratch.write(ir_path(), chain());
  write_step(scratch, {});
  const Checked checked(scratch.path(), RuleSet::defaults(), true);
  CHECK_FALSE(checked.report().first);
  CHECK(checked.findings().empty());
}

TEST_CASE("an output that cannot be read is what its reader got") {
  const test::ScratchDir scratch;
  scratch.write(ir_path(), chain());
  write_step(scratch, {.b = {kNan, 1}, .y = {kNan, 2}});
  scratch.write(tensor_path("Default/Log-op2", 20, "output.0"), floats({kNan, 1}).substr(0, 131));
  const Checked checked(scratch.path(), RuleSet::defaults(), true);
  CHECK(checked.first_op() == "Default/Log-op2");
  REQUIRE(checked.report().first);
  CHECK(checked.report().first->inputs_finite == true);
  CHECK(checked.report().first->reason ==
        "its inputs are finite, its output is not, as input 0 of Default/Add-op3 shows");
}

TEST_CASE("where an edge of the IR contradicts the values, an operator with finite inputs is named") {
  const test::ScratchDir scratch;
  scratch.write(ir_path(), chain());
  // Mul reads NaN that the network never got; the Log after it makes its own.
  write_step(scratch, {.x = {1, 2}, .a = {1, 4}, .b = {kNan, 1}, .y = {kNan, 2}});
  scratch.write(tensor_path("Default/Log-op2", 20, "input.0"), floats({kNan, 4}));
  scratch.write(tensor_path("Default/Add-op3", 10, "input.0"), floats({1, 1}));
  const Checked checked(scratch.path(), RuleSet::defaults(), true);
  CHECK(checked.first_op() == "Default/Add-op3");
}

TEST_CASE("without an order of operators the one that made it is named, not one that got it") {
  const test::ScratchDir scratch;
  const std::string folder = "step0/rank0/dump_tensor_data/";
  scratch.write(folder + "Functional.add.0.forward.input.0.npy", floats({kNan, 1}));
  scratch.write(folder + "Functional.add.0.forward.output.0.npy", floats({kNan, 2}));
  scratch.write(folder + "Functional.softmax.0.forward.input.0.npy", floats({1, 2}));
  scratch.write(folder + "Functional.softmax.0.forward.output.0.npy", floats({kNan, 1}));
  CHECK(Checked(scratch.path(), RuleSet::defaults(), true).first_op() == "Functional.softmax.0.forward");
}

TEST_CASE("an input of the network of which only the file of the parameter was dumped") {
  const test::ScratchDir scratch;
  scratch.write(ir_path(), chain());
  scratch.write(tensor_path("Default/Mul-op1", 30, "output.0"), floats({kNan, 4}));
  scratch.write("rank_0/Net/0/0/Parameter.x.0.0.1700000000000009.output.0.DefaultFormat.npy", floats({kNan, 2}));
  const Checked checked(scratch.path(), RuleSet::defaults(), true);
  REQUIRE(checked.report().first);
  CHECK(checked.report().first->kind == Kind::kInput);
  CHECK(checked.report().first->parameter == "x");
}

TEST_CASE("what came in bad is named although everything that was made is finite") {
  const test::ScratchDir scratch;
  scratch.write(ir_path(), chain());
  write_step(scratch, {.x = {kNan, 2}});
  const Checked input(scratch.path(), RuleSet::defaults(), true);
  REQUIRE(input.report().first);
  CHECK(input.report().first->kind == Kind::kInput);
  // An infinity of which something finite is made does no harm.
  write_step(scratch, {.x = {kInf, 2}});
  CHECK_FALSE(Checked(scratch.path(), RuleSet::defaults(), true).report().first);
}

TEST_CASE("a weight that is NaN when the step is over is named in that step, not in the next") {
  const test::ScratchDir scratch;
  scratch.write(ir_path(), chain());
  for (int64_t step = 0; step < 2; ++step) {
    write_step(scratch, step == 1 ? Step{.w = {kNan, 1}, .y = {kNan, 2}} : Step{}, step);
    scratch.write(fmt::format("rank_0/Net/0/{}/Parameter.w.0.0.1700000000000099.output.0.DefaultFormat.npy", step),
                  floats({kNan, 1}));
  }
  const Checked checked(scratch.path(), RuleSet::defaults(), true);
  REQUIRE(checked.report().first);
  const Identity place = checked.dump().identity(checked.report().first->tensor);
  CHECK(place.step == 0);
  CHECK(place.name.op_name == "w");
}

TEST_CASE("an input of which only the maker's file or the parameter's was dumped is judged, too") {
  const test::ScratchDir scratch;
  scratch.write(ir_path(), chain());
  // Everything that was made is finite; x was not dumped as an input.
  scratch.write(tensor_path("Default/Mul-op1", 30, "output.0"), floats({1, 4}));
  scratch.write("rank_0/Net/0/0/Parameter.x.0.0.1700000000000009.output.0.DefaultFormat.npy", floats({kNan, 2}));
  for (const bool only_first : {false, true}) {
    const Checked checked(scratch.path(), RuleSet::defaults(), only_first);
    REQUIRE(checked.report().first);
    CHECK(checked.report().first->parameter == "x");
  }
}

TEST_CASE("an operator with finite inputs on one rank goes before what came in from nowhere on another") {
  const test::ScratchDir scratch;
  const auto write = [&](int64_t rank, std::string_view op, int64_t time, float in, float out) {
    scratch.write(tensor_path(op, time, "input.0", 0, rank), floats({in, 1}));
    scratch.write(tensor_path(op, time, "output.0", 0, rank), floats({out, 1}));
  };
  write(0, "Default/Add-op1", 1, kNan, kNan);
  write(1, "Default/Mul-op1", 1, 1, 2);
  write(1, "Default/Log-op2", 2, 2, kNan);
  CHECK(Checked(scratch.path(), RuleSet::defaults(), true).first_op() == "Default_Log-op2");
}

TEST_CASE("a variable that the script saved is judged") {
  const test::ScratchDir scratch;
  scratch.write("step0/rank0/dump_tensor_data/logits.0.debug.npy", floats({kNan, 1}));
  const Checked checked(scratch.path());
  CHECK(checked.of("nan").size() == 1);
}

}  // namespace msdump::check
