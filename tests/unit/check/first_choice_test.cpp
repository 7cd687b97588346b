// Which of several candidates is the first: ranks, collectives, overflows; and what is said of it.
#include <limits>

#include "check/nonfinite/first_nonfinite.h"

#include "small_dump.h"

namespace msdump::check {
namespace {

using Kind = FirstNonfinite::Kind;

// One operator of a rank, at the place `time` in its order; without an IR.
void write_op(const test::ScratchDir& scratch, int64_t rank, std::string_view op, int64_t time, float in, float out) {
  scratch.write(tensor_path(op, time, "input.0", 0, rank), floats({in, 1}));
  scratch.write(tensor_path(op, time, "output.0", 0, rank), floats({out, 1}));
}

std::string first_of(const test::ScratchDir& scratch) {
  const Checked checked(scratch.path(), RuleSet::defaults(), true);
  if (!checked.report().first) return "none";
  const auto rank = checked.dump().identity(checked.report().first->tensor).rank;
  return fmt::format("{} of rank {}", checked.first_op(), rank.value_or(-1));
}

void write_chain(const test::ScratchDir& scratch, const std::vector<float>& x, const std::vector<float>& a) {
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir",
                test::ir_text(test::node_text("%1", "Mul", "%para1_x", "Default/Mul-op1") +
                              test::node_text("%2", "Add", "%1, %para2_w", "Default/Add-op2")));
  scratch.write(tensor_path("Default/Mul-op1", 1, "input.0"), floats(x));
  scratch.write(tensor_path("Default/Mul-op1", 1, "output.0"), floats(a));
  scratch.write(tensor_path("Default/Add-op2", 2, "input.0"), floats(a));
}

}  // namespace

TEST_CASE("BroadcastTo repeats what its own rank has, and is not a collective") {
  const test::ScratchDir scratch;
  write_op(scratch, 0, "Default/BroadcastTo-op1", 1, 1, kNan);
  write_op(scratch, 1, "Default/Log-op1", 1, 1, kNan);
  CHECK(first_of(scratch) == "Default_BroadcastTo-op1 of rank 0");
}

TEST_CASE("an operator that communicates comes after one that computes, however it is spelt") {
  for (const char* const op : {"Default/AllReduce-op1", "Default/all_reduce-op1", "Default/AllGather-op1",
                               "Default/Broadcast-op1", "Default/ReduceScatter-op1", "Default/Receive-op1"}) {
    INFO(op);
    const test::ScratchDir scratch;
    write_op(scratch, 0, op, 1, 1, kNan);
    write_op(scratch, 1, "Default/Mul-op1", 1, 1, 2);
    write_op(scratch, 1, "Default/Log-op2", 2, 2, kNan);
    CHECK(first_of(scratch) == "Default_Log-op2 of rank 1");
  }
}

TEST_CASE("what came in from nowhere goes before what came from another rank") {
  const test::ScratchDir scratch;
  write_op(scratch, 0, "Default/AllReduce-op1", 1, 1, kNan);
  write_op(scratch, 1, "Default/Mul-op1", 1, 1, 2);
  write_op(scratch, 1, "Default/Add-op2", 2, kNan, kNan);
  CHECK(first_of(scratch) == "Default_Add-op2 of rank 1");
}

TEST_CASE("of several ranks the one that had it earlier is named") {
  const test::ScratchDir later, earlier;
  for (const int64_t rank : {0, 1}) {
    const bool late = rank == 0;
    write_op(later, rank, "Default/Mul-op1", 1, 1, 2);
    write_op(later, rank, "Default/Mul-op2", 2, late ? kNan : 1, late ? kNan : 2);
    write_op(later, rank, "Default/Mul-op3", 3, kNan, kNan);
    write_op(earlier, rank, "Default/Log-op1", 1, 1, late ? 1 : kNan);
    write_op(earlier, rank, "Default/Log-op2", 2, 1, kNan);
  }
  CHECK(first_of(later) == "Default_Mul-op2 of rank 0");
  CHECK(first_of(earlier) == "Default_Log-op1 of rank 1");
}

TEST_CASE("an infinity is called one") {
  const test::ScratchDir scratch;
  write_op(scratch, 0, "Default/Exp-op1", 1, 100, kInf);
  const Checked checked(scratch.path());
  REQUIRE(checked.report().first);
  CHECK(checked.report().first->kind == Kind::kInf);
  // The rule about infinities alone searches, too.
  CHECK(Checked(scratch.path(), only("inf")).first_op() == "Default_Exp-op1");
  CHECK_FALSE(Checked(scratch.path(), only("saturation")).report().first);
}

TEST_CASE("an infinity among the values of the network's input is where NaN came from") {
  const test::ScratchDir scratch;
  write_chain(scratch, {-kInf, 1, 3}, {kNan, 1, 1});
  const Checked checked(scratch.path());
  REQUIRE(checked.report().first);
  CHECK(checked.report().first->kind == Kind::kInput);
  CHECK(checked.report().first->parameter == "x");
  // Beside one other value it is a mask.
  write_chain(scratch, {-kInf, 1, 1}, {kNan, 1, 9});
  CHECK(Checked(scratch.path()).report().first->kind == Kind::kNan);
}

TEST_CASE("where an input was not dumped it is not said that the inputs are finite") {
  const test::ScratchDir scratch;
  write_chain(scratch, {1, 2}, {1, 4});
  scratch.write(tensor_path("Default/Add-op2", 2, "output.0"), floats({kNan, 1}));
  const Checked without(scratch.path());
  REQUIRE(without.report().first);
  CHECK(without.first_op() == "Default/Add-op2");
  CHECK_FALSE(without.report().first->inputs_finite);
  CHECK(without.report().first->reason ==
        "its output is not finite; not all of its inputs are there, the others are finite");
  scratch.write(tensor_path("Default/Add-op2", 2, "input.1"), floats({1, 1}));
  CHECK(Checked(scratch.path()).report().first->inputs_finite == true);
}

TEST_CASE("a parameter that is bad when the step is over is called an input where the network does not keep it") {
  const auto kind_of = [](std::string_view name) {
    const test::ScratchDir scratch;
    scratch.write(fmt::format("rank_0/Net/0/0/Parameter.{}.0.0.1700000000000009.output.0.DefaultFormat.npy", name),
                  floats({kNan, 2}));
    const Checked checked(scratch.path());
    REQUIRE(checked.report().first);
    return checked.report().first->kind;
  };
  CHECK(kind_of("fc_weight") == Kind::kParameter);
  CHECK(kind_of("inputs0") == Kind::kInput);
}

TEST_CASE("NaN goes before an overflow that the device noted, which is the first only where its rule is on") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/Net/0/0/Mul.Default_Mul-op1.57.7.1700000000000001.output.0.DefaultFormat.npy", floats({1, 2}));
  scratch.write("rank_0/Net/0/0/Opdebug.Node_OpDebug.1.1.1700000000000002.output.0.json",
                R"({"AI Core":{"status":32,"task_id":57,"stream_id":7}})");
  CHECK(Checked(scratch.path()).report().first->kind == Kind::kOverflow);
  RuleSet without = RuleSet::defaults();
  REQUIRE(without.apply("operator_overflow:off"));
  for (const bool only_first : {false, true}) CHECK_FALSE(Checked(scratch.path(), without, only_first).report().first);
  scratch.write("rank_0/Net/0/0/Log.Default_Log-op2.58.7.1700000000000003.output.0.DefaultFormat.npy",
                floats({kNan, 2}));
  CHECK(Checked(scratch.path()).report().first->kind == Kind::kNan);
  CHECK(Checked(scratch.path(), RuleSet::defaults(), true).report().first->kind == Kind::kNan);
}

TEST_CASE("an operator whose inputs cannot be read takes no place of one that got NaN from nowhere") {
  const test::ScratchDir scratch;
  const std::string folder = "step0/rank0/dump_tensor_data/Functional.";
  scratch.write(folder + "add.0.forward.input.0.npy", floats({kNan, 1}));
  scratch.write(folder + "add.0.forward.output.0.npy", floats({kNan, 2}));
  scratch.write(folder + "softmax.0.forward.input.0.npy", floats({1, 2}).substr(0, 130));
  scratch.write(folder + "softmax.0.forward.output.0.npy", floats({kNan, 1}));
  CHECK(Checked(scratch.path(), RuleSet::defaults(), true).first_op() == "Functional.add.0.forward");
}

TEST_CASE("an input that is a parameter of its module is called so, of the same step only") {
  const auto first_of = [](int module_step) {
    const test::ScratchDir scratch;
    const std::string folder = "step0/rank0/dump_tensor_data/Functional.linear.0.forward.";
    scratch.write(folder + "input.0.npy", floats({1, 3}));
    scratch.write(folder + "input.1.npy", floats({kNan, 2}));
    scratch.write(folder + "output.0.npy", floats({kNan, 6}));
    const std::string module = fmt::format("step{}/rank0/dump_tensor_data/Module.fc.Linear.forward.0.", module_step);
    scratch.write(module + "parameters.weight.npy", floats({kNan, 2}));
    return Checked(scratch.path(), RuleSet::defaults(), true).report().first;
  };
  REQUIRE(first_of(0));
  CHECK(first_of(0)->kind == Kind::kParameter);
  CHECK(first_of(0)->parameter == "weight");
  REQUIRE(first_of(1));
  CHECK(first_of(1)->kind == Kind::kInput);
}

TEST_CASE("of an operator in a loop the maker is the run of the same number, else the first one") {
  const test::ScratchDir scratch;
  write_chain(scratch, {1, 2}, {1, 4});
  scratch.write(tensor_path("Default/Add-op2", 3, "input.0"), floats({2, 4}));
  const Checked checked(scratch.path());
  size_t readers = 0;
  for (const OpRun& run : checked.dump().runs()) {
    if (checked.dump().operators()[run.op].name != "Default/Add-op2") continue;
    ++readers;
    REQUIRE_FALSE(run.inputs.empty());
    const ExecutionId maker = run.inputs.front().producer;
    REQUIRE(maker != kNoId);
    CHECK(checked.dump().operators()[checked.dump().runs()[maker].op].name == "Default/Mul-op1");
  }
  CHECK(readers == 2);
}

TEST_CASE("where operators read each other's NaN in a circle one of them is named") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir",
                test::ir_text(test::node_text("%1", "Mul", "%2", "Default/Mul-op1") +
                              test::node_text("%2", "Log", "%1", "Default/Log-op2") +
                              test::node_text("%3", "Exp", "%para1_x", "Default/Exp-op3")));
  for (const char* const op : {"Default/Mul-op1", "Default/Log-op2"}) {
    for (const char* const slot : {"input.0", "output.0"}) scratch.write(tensor_path(op, 1, slot), floats({kNan, 1}));
  }
  const Checked checked(scratch.path());
  CHECK(checked.first_op() == "Default/Mul-op1");
  CHECK(checked.report().first->reason == "its inputs are not finite already, and what made them reads its output");
  // One that made NaN of finite numbers goes before them.
  scratch.write(tensor_path("Default/Exp-op3", 1, "input.0"), floats({1, 2}));
  scratch.write(tensor_path("Default/Exp-op3", 1, "output.0"), floats({kNan, 2}));
  CHECK(Checked(scratch.path()).first_op() == "Default/Exp-op3");
}

TEST_CASE("a NaN in a loss that only Return reads is an error, not a note") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir",
                test::ir_text(test::node_text("%1", "CrossEntropy", "%para1_x", "Default/CrossEntropy-op1") +
                              test::node_text("%2", "TupleGetItem", "%1, I64(0)", "Default/TupleGetItem-op1") +
                              test::node_text("%3", "TupleGetItem", "%1, I64(1)", "Default/TupleGetItem-op2") +
                              test::node_text("%4", "Mul", "%3", "Default/Mul-op2") + "  Return(%2)\n"));
  scratch.write(tensor_path("Default/CrossEntropy-op1", 1, "input.0"), floats({1, 2}));
  scratch.write(tensor_path("Default/CrossEntropy-op1", 1, "output.0"), floats({kNan, kNan}));
  scratch.write(tensor_path("Default/CrossEntropy-op1", 1, "output.1"), floats({1, 3}));
  scratch.write(tensor_path("Default/Mul-op2", 2, "input.0"), floats({1, 3}));
  scratch.write(tensor_path("Default/Mul-op2", 2, "output.0"), floats({2, 6}));
  const Checked checked(scratch.path());
  CHECK(checked.first_op() == "Default/CrossEntropy-op1");
  CHECK(checked.only("nan").severity == Severity::kError);
}

}  // namespace msdump::check
