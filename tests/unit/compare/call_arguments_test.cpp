#include "compare/arguments/call_arguments.h"

#include <functional>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/compare_run.h"
#include "support/made_calls.h"

namespace msdump {
namespace {

using Kind = CallValue::Kind;
using Build = std::function<void(MadeCalls&)>;

// "OP STEP SLOT VERDICT: REASON" of each.
Texts compare_calls(const Build& candidate, const Build& reference, const std::vector<std::string>& folders,
                    const Tolerance& tolerance = {}) {
  const test::ScratchDir scratch;
  for (const bool bad : {false, true}) {
    for (const std::string& folder : folders) {
      MadeCalls calls(bad);
      (bad ? candidate : reference)(calls);
      calls.write(scratch.path() / (bad ? "bad" : "ref"), folder);
    }
  }
  const test::ComparedDumps compared(scratch.path() / "bad", scratch.path() / "ref");
  Texts lines;
  for (const ArgumentDiff& one : compare_calls(compared.a(), compared.b(), compared.pairing(), tolerance)) {
    lines.push_back(fmt::format("{} {} {} {}: {}", compared.pairing().op_name(one.op), one.step.value_or(-1), one.name,
                                name_of(one.verdict), reason_of(one, compared.pairing())));
  }
  return lines;
}

Texts compare_arguments_of(const std::string& call, const Build& candidate, const Build& reference,
                           const Tolerance& tolerance = {}) {
  const auto with = [&](const Build& give) {
    return [&, give](MadeCalls& calls) {
      calls.ran(call, {{1, 2}}, {{3, 4}});
      give(calls);
    };
  };
  return compare_calls(with(candidate), with(reference), {"step0/rank0"}, tolerance);
}

std::optional<Verdict> of_numbers(std::string_view a, std::string_view b, const Tolerance& tolerance = {}) {
  return compare_call_values({Kind::kNumber, false, a}, {Kind::kNumber, false, b}, tolerance);
}

}  // namespace

TEST_CASE("an epsilon that differs is found in its call and slot; equal arguments are not listed") {
  const auto call = [](const char* eps) {
    return [eps](MadeCalls& calls) {
      calls.given("int", "7");
      calls.given("float", eps);
      calls.given("affine", "bool", "true");
    };
  };
  CHECK(compare_arguments_of("Functional.layer_norm.0.forward", call("0.01"), call("1e-06")) ==
        Texts{"Functional.layer_norm.0.forward 0 2 differ: argument 2 is 0.01 here, 1e-06 in the reference"});
}

TEST_CASE("texts, flags, lists and None are compared as they are written") {
  const auto call = [](const char* reduction, const char* keep, const char* size, const char* type) {
    return [=](MadeCalls& calls) {
      calls.given("reduction", "str", reduction);
      calls.given("keepdim", "bool", keep);
      calls.given("size", "torch.Size", size);
      calls.given("weight", type, "1");
    };
  };
  CHECK(compare_arguments_of("Functional.loss.0.forward", call("\"sum\"", "true", "[2,3]", "int"),
                             call("\"mean\"", "false", "[2,4]", "")) ==
        Texts{"Functional.loss.0.forward 0 reduction differ: reduction is sum here, mean in the reference",
              "Functional.loss.0.forward 0 keepdim differ: keepdim is true here, false in the reference",
              "Functional.loss.0.forward 0 size differ: size is [2,3] here, [2,4] in the reference",
              "Functional.loss.0.forward 0 weight differ: weight is 1 here, None in the reference"});
}

TEST_CASE("an argument of one side alone may be the other's default; None and no argument are the same") {
  const auto call = [](bool first) {
    return [=](MadeCalls& calls) {
      if (first) calls.given("eps", "float", "0.5");
      if (!first) calls.given("dim", "int", "1");
      if (first) calls.given("out", "", "");
    };
  };
  CHECK(compare_arguments_of("Functional.norm.0.forward", call(true), call(false)) ==
        Texts{"Functional.norm.0.forward 0 dim skipped: dim is not given in the candidate: its default counts there",
              "Functional.norm.0.forward 0 eps skipped: eps is not given in the reference: its default counts there"});
}

TEST_CASE("each step has its own arguments, whether or not the dump has an operator for each step") {
  const auto call = [](MadeCalls& calls) {
    calls.ran("Tensor.mul.0.forward", {{1, 2}}, {{3, 4}});
    calls.given("float", calls.bad() ? "2.5" : "2");
  };
  CHECK(compare_calls(call, call, {"step0/rank0", "step1/rank0"}) ==
        Texts{"Tensor.mul.0.forward 0 1 differ: argument 1 is 2.5 here, 2 in the reference",
              "Tensor.mul.0.forward 1 1 differ: argument 1 is 2.5 here, 2 in the reference"});
}

TEST_CASE("between PyTorch and MindSpore only arguments with one meaning are compared") {
  const auto candidate = [](MadeCalls& calls) {
    calls.ran("Functional.dropout.0.forward", {{1, 2}}, {{3, 4}});
    calls.given("float", "0.9");  // what is kept
    calls.ran("Tensor.__add__.0.forward", {{1, 2}}, {{3, 4}});
    calls.given("float", "0.01");
    calls.ran("Functional.layer_norm.0.forward", {{1, 2}}, {{3, 4}});
    calls.given("epsilon", "float", "0.01");
    calls.given("begin_axis", "int", "-1");
  };
  const auto reference = [](MadeCalls& calls) {
    calls.ran("Functional.dropout.0.forward", {{1, 2}}, {{3, 4}});
    calls.given("float", "0.1");  // what is dropped
    calls.ran("Tensor.__add__.0.forward", {{1, 2}}, {{3, 4}});
    calls.given("float", "1e-05");
    calls.ran("Functional.layer_norm.0.forward", {{1, 2}}, {{3, 4}});
    calls.given("eps", "float", "1e-05");
    calls.given("begin_axis", "int", "2");
    calls.ran("Torch.abs.0.forward", {{1, 2}}, {{1, 2}});
  };
  CHECK(compare_calls(candidate, reference, {"step0/rank0"}) ==
        Texts{"Tensor.__add__.0.forward 0 1 differ: argument 1 is 0.01 here, 1e-05 in the reference",
              "Functional.layer_norm.0.forward 0 eps differ: eps is 0.01 here, 1e-05 in the reference"});
}

TEST_CASE("numbers are equal but for their last digits, close with the noise of a factor out of data") {
  CHECK_FALSE(of_numbers("1e-05", "0.00001"));
  CHECK_FALSE(of_numbers("2", "2.0"));
  CHECK_FALSE(of_numbers("NaN", "NaN"));
  CHECK_FALSE(of_numbers("0.30000001", "0.3"));
  CHECK(of_numbers("0.30001", "0.3") == Verdict::kClose);
  CHECK(of_numbers("0.301", "0.3") == Verdict::kDiffer);
  CHECK(of_numbers("-0.3", "0.3") == Verdict::kDiffer);
  CHECK(of_numbers("Infinity", "0.3") == Verdict::kDiffer);
  CHECK(of_numbers("Infinity", "-Infinity") == Verdict::kDiffer);
}

TEST_CASE("integers that differ by one differ, however large they are and whatever tolerance the user gives") {
  Tolerance tolerance;
  tolerance.rtol = 0.5;
  for (const Tolerance& one : {Tolerance(), tolerance}) {
    CHECK(of_numbers("4096", "4097", one) == Verdict::kDiffer);
    CHECK(of_numbers("1000000", "1000001", one) == Verdict::kDiffer);
    CHECK(of_numbers("9007199254740992", "9007199254740993", one) == Verdict::kDiffer);
    CHECK_FALSE(of_numbers("9007199254740993", "9007199254740993", one));
  }
  CHECK_FALSE(of_numbers("1", "1.0"));
  const auto of_flags = [](std::string_view a, std::string_view b) {
    return compare_call_values({Kind::kBool, false, a}, {Kind::kBool, false, b}, {});
  };
  CHECK(of_flags("true", "false") == Verdict::kDiffer);
  CHECK_FALSE(of_flags("true", "true"));
  CHECK(compare_call_values({Kind::kText, false, "1000000"}, {Kind::kText, false, "1000001"}, {}) == Verdict::kDiffer);
}

TEST_CASE("the user's tolerance holds for arguments, too") {
  Tolerance tolerance;
  tolerance.atol = 0.1;
  CHECK(of_numbers("0.01", "1e-06", tolerance) == Verdict::kClose);
  CHECK(of_numbers("0.2", "1e-06", tolerance) == Verdict::kDiffer);
  tolerance.rtol = 0.5;
  CHECK(of_numbers("1.5", "1", tolerance) == Verdict::kClose);
  tolerance = {};
  tolerance.rtol = 0;
  CHECK(of_numbers("0.30001", "0.3", tolerance) == Verdict::kDiffer);
}

TEST_CASE("two precisions of floating numbers are close, other dtypes differ") {
  const auto verdict = [](std::string_view a, std::string_view b) {
    return compare_call_values({Kind::kText, true, a}, {Kind::kText, true, b}, {});
  };
  CHECK_FALSE(verdict("Float32", "torch.float32"));
  CHECK(verdict("torch.bfloat16", "torch.float32") == Verdict::kClose);
  CHECK(verdict("torch.int64", "torch.float32") == Verdict::kDiffer);
  CHECK(verdict("torch.int64", "torch.int32") == Verdict::kDiffer);
  CHECK(verdict("torch.unknown", "torch.float32") == Verdict::kDiffer);
  CHECK_FALSE(verdict("torch.unknown", "torch.unknown"));
}

TEST_CASE("the ranks of a process group are not compared") {
  const CallValue group{Kind::kGroup, false, "[0,1]"};
  CHECK_FALSE(compare_call_values(group, {Kind::kGroup, false, "[0,1,2,3]"}, {}));
  CHECK_FALSE(compare_call_values(group, {}, {}));
  CHECK_FALSE(compare_call_values({}, group, {}));
}

}  // namespace msdump
