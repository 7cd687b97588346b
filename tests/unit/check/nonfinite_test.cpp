#include <limits>

#include "check/nonfinite/nonfinite.h"
#include "small_dump.h"

namespace msdump::check {

// What of NaN and infinities is a fault, and what is a mask.

namespace {

// x -> Mul -> Log -> Add(Log, w)
std::string chain_without_lines() {
  return test::ir_text(test::node_text("%1", "Mul", "%para1_x", "Default/Mul-op1") +
                       test::node_text("%2", "Log", "%1", "Default/Log-op2") +
                       test::node_text("%3", "Add", "%2, %para2_w", "Default/Add-op3"));
}

std::string parameter_path(std::string_view name, std::string_view step = "0") {
  return fmt::format("rank_0/Net/0/{}/Parameter.{}.0.0.1700000000000009.output.0.DefaultFormat.npy", step, name);
}

// Of one operator of which only the output was dumped.
Severity inf_of_output(std::string_view op, const std::vector<float>& output) {
  const test::ScratchDir scratch;
  scratch.write(tensor_path(op, 1, "output.0"), floats(output));
  return Checked(scratch.path()).only("inf").severity;
}

}  // namespace

TEST_CASE("+inf is not a mask, whoever puts it") {
  CHECK(reported_of("Default/Select-op1", floats({1, 2}), floats({kInf, 0})) ==
        Lines{"inf error Default_Select-op1 output 0"});
}

TEST_CASE("a parameter of -inf and one other value is a mask; with more values it is none") {
  const auto reported = [](const std::vector<float>& elements) {
    const test::ScratchDir scratch;
    scratch.write(parameter_path("fc_mask"), floats(elements));
    const Checked checked(scratch.path());
    return std::pair(checked.only("inf").severity, checked.report().first.has_value());
  };
  CHECK(reported({-kInf, 0, 0}) == std::pair(Severity::kNote, false));
  CHECK(reported({-kInf, 1, 2}) == std::pair(Severity::kError, true));
}

TEST_CASE("a table shows two values where the largest is 0, or is the smallest") {
  TensorFacts facts;
  facts.from = TensorFacts::From::kStatistics;
  facts.max = 0;
  CHECK(is_two_valued(facts));
  facts.max = 2;
  CHECK_FALSE(is_two_valued(facts));
  facts.min = 1;
  CHECK_FALSE(is_two_valued(facts));
  facts.min = 2;
  CHECK(is_two_valued(facts));
}

TEST_CASE("what an optimizer made -inf is not a mask") {
  const test::ScratchDir scratch;
  scratch.write(tensor_path("Default/ApplyMomentum-op1", 1, "input.0"), floats({-kInf, 1}));
  for (const char* const slot : {"input.1", "input.3"})
    scratch.write(tensor_path("Default/ApplyMomentum-op1", 1, slot), floats({2, 1}));
  CHECK(Checked(scratch.path()).only("inf").severity == Severity::kError);
}

TEST_CASE("an infinite input of which the operator makes something finite is a note") {
  const test::ScratchDir scratch;
  scratch.write(kIrPath, chain_without_lines());
  scratch.write(tensor_path("Default/Mul-op1", 1, "input.0"), floats({kInf, 2}));
  scratch.write(tensor_path("Default/Mul-op1", 1, "output.0"), floats({1, 2}));
  const Finding harmless = Checked(scratch.path()).only("inf");
  CHECK(harmless.severity == Severity::kNote);
  CHECK(harmless.message == "1 of 2 elements: +inf; the operator that reads it gives finite values");
  // Of NaN nothing good comes.
  scratch.write(tensor_path("Default/Mul-op1", 1, "input.0"), floats({kNan, 2}));
  CHECK(Checked(scratch.path()).only("nan").severity == Severity::kError);
}

TEST_CASE("an infinite constant of the graph is where a running minimum begins") {
  const test::ScratchDir scratch;
  scratch.write(kIrPath, test::ir_text(test::node_text("%1", "Mul", "%para1_x", "Default/Mul-op1") +
                                       test::node_text("%2", "Minimum", "%1, F32(1)", "Default/Minimum-op2")));
  for (const auto& [op, slot] :
       {std::pair("Default/Mul-op1", "input.0"), std::pair("Default/Mul-op1", "output.0"),
        std::pair("Default/Minimum-op2", "input.0"), std::pair("Default/Minimum-op2", "output.0")})
    scratch.write(tensor_path(op, 1, slot), floats({1, 2}));
  scratch.write(tensor_path("Default/Minimum-op2", 1, "input.1"), floats({kInf, kInf}));
  const Checked checked(scratch.path());
  CHECK(checked.only("inf").severity == Severity::kNote);
  CHECK_FALSE(checked.report().first);
}

TEST_CASE("an infinity that came in is the first where nothing shows what became of it") {
  const test::ScratchDir scratch;
  scratch.write(kIrPath, chain_without_lines());
  scratch.write(tensor_path("Default/Mul-op1", 1, "input.0"), floats({kInf, 2}));
  const Checked checked(scratch.path());
  REQUIRE(checked.report().first);
  CHECK(checked.report().first->kind == FirstNonfinite::Kind::kInput);
  CHECK(checked.only("inf").severity == Severity::kError);
}

TEST_CASE("an infinite parameter is harmless only where somebody reads it, or it is a constant for all steps") {
  const test::ScratchDir unread, constant;
  for (const test::ScratchDir* const scratch : {&unread, &constant}) {
    scratch->write(kIrPath, chain_without_lines());
    scratch->write(tensor_path("Default/Mul-op1", 1, "input.0"), floats({1, 2}));
    scratch->write(tensor_path("Default/Mul-op1", 1, "output.0"), floats({1, 2}));
  }
  unread.write(parameter_path("other_weight"), floats({kInf, 2}));
  CHECK(Checked(unread.path()).only("inf").severity == Severity::kError);
  CHECK(Checked(unread.path()).first_op() == "other_weight");
  constant.write(parameter_path("value0", "constants"), floats({kInf, 2}));
  CHECK(Checked(constant.path()).only("inf").severity == Severity::kNote);
  CHECK_FALSE(Checked(constant.path()).report().first);
}

TEST_CASE("where only inputs were dumped the -inf of a logarithm is what its reader got") {
  const test::ScratchDir scratch;
  scratch.write(kIrPath, chain_without_lines());
  scratch.write(tensor_path("Default/Mul-op1", 1, "input.0"), floats({1, 2}));
  scratch.write(tensor_path("Default/Log-op2", 2, "input.0"), floats({0, 2}));
  scratch.write(tensor_path("Default/Add-op3", 3, "input.0"), floats({-kInf, 2}));
  scratch.write(tensor_path("Default/Add-op3", 3, "input.1"), floats({1, 2}));
  const Checked checked(scratch.path());
  CHECK(checked.first_op() == "Default/Log-op2");
  REQUIRE(checked.report().first);
  CHECK(checked.report().first->kind == FirstNonfinite::Kind::kInf);
}

TEST_CASE("a cast to -inf beside zeros is a mask") {
  CHECK(reported_of("Default/Cast-op1", floats({-2e7F, 0}), halves({0xFC00, 0})) ==
        Lines{"inf note Default_Cast-op1 output 0"});
}

TEST_CASE("without inputs -inf is a fault of operators that make infinities only") {
  for (const char* const op : {"Default/Log-op1", "Default/RealDiv-op1", "Default/Pow-op1"}) {
    INFO(op);
    CHECK(inf_of_output(op, {-kInf, 1}) == Severity::kError);
  }
  for (const char* const op : {"Default/LogSoftmax-op1", "Default/Add-op1", "Default/Softmax-op1"}) {
    INFO(op);
    CHECK(inf_of_output(op, {-kInf, 1}) == Severity::kNote);
  }
}

TEST_CASE("a weight of -inf and one other value is a mask of the network, no fault") {
  const auto first_of = [](const std::vector<float>& weight) {
    const test::ScratchDir scratch;
    scratch.write(kIrPath, chain_without_lines());
    for (const auto& [op, slot] : {std::pair("Default/Mul-op1", "input.0"), std::pair("Default/Mul-op1", "output.0"),
                                   std::pair("Default/Log-op2", "input.0"), std::pair("Default/Log-op2", "output.0"),
                                   std::pair("Default/Add-op3", "input.0")})
      scratch.write(tensor_path(op, 1, slot), floats({1, 2, 3}));
    scratch.write(tensor_path("Default/Add-op3", 3, "input.1"), floats(weight));
    scratch.write(tensor_path("Default/Add-op3", 3, "output.0"), floats({-kInf, 3, 4}));
    return Checked(scratch.path()).report().first;
  };
  CHECK_FALSE(first_of({-kInf, 1, 1}));
  const auto bad = first_of({-kInf, 1, 2});
  REQUIRE(bad);
  CHECK(bad->kind == FirstNonfinite::Kind::kParameter);
}

}  // namespace msdump::check
