// Values of arguments: literals of graphs, and when two of them are equal or known to differ.
#include "graph/arguments/argument_value.h"

#include "support/catch.h"

namespace msdump {
namespace {

using ge::ArgumentKind;

std::string number_text(std::string_view literal) {
  const auto value = parse_argument(literal);
  return value ? value->text() : "none";
}

// '=', '!' or '?'.
char match_of(std::string_view a, std::string_view b, ArgumentKind kind, std::optional<int64_t> rank = {},
              bool same_axes = true) {
  const auto left = parse_argument(a), right = parse_argument(b);
  REQUIRE(left);
  REQUIRE(right);
  ArgumentFacts facts;
  facts.kind = kind;
  facts.same_axes = same_axes;
  facts.rank = rank;
  switch (match_arguments(*left, *right, facts)) {
    case ArgumentMatch::kUnknown: return '?';
    case ArgumentMatch::kEqual: return '=';
    case ArgumentMatch::kDiffer: return '!';
  }
  return ' ';
}

char match_of(double element, DType dtype, std::string_view literal) {
  ArgumentFacts facts;
  switch (match_arguments(argument_of({element}, dtype, false), *parse_argument(literal), facts)) {
    case ArgumentMatch::kUnknown: return '?';
    case ArgumentMatch::kEqual: return '=';
    case ArgumentMatch::kDiffer: return '!';
  }
  return ' ';
}

TEST_CASE("literals of MindSpore and of GE are numbers, whatever types they carry") {
  CHECK(number_text("F32(1e-05)") == "1e-05");
  CHECK(number_text("Float32(1e-05)") == "1e-05");
  CHECK(number_text("9.9999997e-06") == "1e-05");
  CHECK(number_text("I64(-1)") == "-1");
  CHECK(number_text("(I64(4), I64(16), I64(4))") == "(4, 16, 4)");
  CHECK(number_text("[1, 2]") == "(1, 2)");
  CHECK(number_text("((I64(0), I64(1)), (I64(2), I64(3)))") == "(0, 1, 2, 3)");
  CHECK(number_text("(I64(3))") == "3");
  CHECK(number_text("Bool(1)") == "true");
  CHECK(number_text("False") == "false");
  CHECK(number_text("(false, true)") == "(false, true)");
  CHECK(number_text("()") == "()");
  CHECK(number_text("2") == "2");
  CHECK(number_text("BF16(0.5)") == "0.5");
}

TEST_CASE("a text that is not numbers is not a value") {
  for (const char* const text : {"", "None", "F16", "\"mean\"", "Tensor(43)[]", "Tensor(shape=[], dtype=Float32)",
                                 "(I64(1), None)", "I64(1", "Foo(3)", "{k: 1}", "I64(x)"})
    CHECK(number_text(text) == "none");
  std::string many = "(0";
  for (size_t i = 1; i < kMostArgumentElements; ++i) many += ", 0";
  CHECK(number_text(many + ")") != "none");
  CHECK(number_text(many + ", 0)") == "none");
}

TEST_CASE("a decimal is equal to its float32, and to what six digits print of it") {
  CHECK(match_of("F32(1e-05)", "9.9999997e-06", ArgumentKind::kNumber) == '=');
  CHECK(match_of("0.0883883", "0.08838834764831845", ArgumentKind::kNumber) == '=');
  CHECK(match_of("1e-05", "1.001e-05", ArgumentKind::kNumber) == '!');
  CHECK(match_of("1e-05", "0.001", ArgumentKind::kNumber) == '!');
  CHECK(match_of("0", "1e-12", ArgumentKind::kNumber) == '!');
  CHECK(match_of("nan", "nan", ArgumentKind::kNumber) == '=');
  CHECK(match_of("nan", "0", ArgumentKind::kNumber) == '!');
  CHECK(match_of("(0.5, 0.5)", "0.5", ArgumentKind::kNumber) == '?');
  CHECK(match_of("()", "()", ArgumentKind::kNumber) == '?');
}

TEST_CASE("a tensor has the rounding of its dtype") {
  CHECK(match_of(1.0013580322265625e-05, DType::kFloat16, "F32(1e-05)") == '=');
  CHECK(match_of(0.89990234375, DType::kFloat16, "0.9") == '=');
  CHECK(match_of(0.8984375, DType::kBfloat16, "0.9") == '=');
  CHECK(match_of(0.8984375, DType::kFloat16, "0.9") == '!');
  CHECK(match_of(0.001, DType::kFloat16, "1e-05") == '!');
}

TEST_CASE("flags and counts") {
  CHECK(match_of("true", "1", ArgumentKind::kFlag) == '=');
  CHECK(match_of("Bool(0)", "true", ArgumentKind::kFlag) == '!');
  CHECK(match_of("3", "I64(3)", ArgumentKind::kCount) == '=');
  CHECK(match_of("3", "4", ArgumentKind::kCount) == '!');
  CHECK(match_of("-1", "4", ArgumentKind::kCount) == '?');
  CHECK(match_of("-100", "-1", ArgumentKind::kCount) == '!');
}

TEST_CASE("an axis counts from the front or the back") {
  CHECK(match_of("-1", "3", ArgumentKind::kAxis, 4) == '=');
  CHECK(match_of("-2", "3", ArgumentKind::kAxis, 4) == '!');
  CHECK(match_of("-2", "-1", ArgumentKind::kAxis, 4) == '!');
  CHECK(match_of("-1", "3", ArgumentKind::kAxis) == '?');
  CHECK(match_of("1", "3", ArgumentKind::kAxis) == '!');
  CHECK(match_of("-1", "7", ArgumentKind::kAxis, 4) == '?');
  CHECK(match_of("-5", "1", ArgumentKind::kAxis, 4) == '?');
  CHECK(match_of("(1, 2)", "(2, 1)", ArgumentKind::kAxis) == '=');
  CHECK(match_of("(-1, 0)", "(0, 2)", ArgumentKind::kAxis, 3) == '=');
  CHECK(match_of("()", "(0, 1)", ArgumentKind::kAxis, 2) == '?');
  CHECK(match_of("(0, 1)", "()", ArgumentKind::kAxis, 2) == '?');
}

TEST_CASE("an axis of another format is not known to differ") {
  CHECK(match_of("1", "3", ArgumentKind::kAxis, 4, false) == '?');
  CHECK(match_of("1", "1", ArgumentKind::kAxis, 4, false) == '=');
  CHECK(match_of("(0, 2, 1)", "(0, 1, 2)", ArgumentKind::kOrder, 3, false) == '?');
}

TEST_CASE("a permutation has an order") {
  CHECK(match_of("(0, 2, 1)", "(0, 1, 2)", ArgumentKind::kOrder, 3) == '!');
  CHECK(match_of("(0, -1, 1)", "(0, 2, 1)", ArgumentKind::kOrder, 3) == '=');
  CHECK(match_of("(0, 2, 1)", "(0, 2, 1)", ArgumentKind::kOrder) == '=');
}

TEST_CASE("sizes differ only where neither the framework nor a format may have changed them") {
  CHECK(match_of("(2, 3)", "(2, 3)", ArgumentKind::kShape) == '=');
  CHECK(match_of("(2, 3)", "(2, 4)", ArgumentKind::kShape) == '!');
  CHECK(match_of("(2, -1)", "(2, 4)", ArgumentKind::kShape) == '?');
  CHECK(match_of("(2, 4)", "(2, -1)", ArgumentKind::kShape) == '?');
  CHECK(match_of("(1, 2, 2, 1)", "(1, 1, 2, 2)", ArgumentKind::kShape) == '?');
  CHECK(match_of("(2, 2)", "(1, 1, 2, 2)", ArgumentKind::kShape) == '?');
}

}  // namespace
}  // namespace msdump
