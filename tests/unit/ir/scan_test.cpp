#include "ir/model/scan.h"

#include <chrono>
#include <string>

#include "support/catch.h"

namespace msdump {
namespace {

using Parts = std::vector<std::string_view>;

Parts values(std::string_view text) {
  Parts parts;
  split_at_commas(text, Brackets::kValues, parts);
  return parts;
}

Parts types(std::string_view text) {
  Parts parts;
  split_at_commas(text, Brackets::kTypes, parts);
  return parts;
}

TEST_CASE("the closing bracket is the one of the same kind that matches") {
  CHECK(closing_bracket("(a, (b), c) {d}", 0) == 10);
  CHECK(closing_bracket("{a: [x, y), b: (1}", 0) == 17);
  CHECK(closing_bracket("f(a", 1) == std::string_view::npos);
  CHECK(closing_bracket("<Func, (a) -> (b)>", 0) == 17);
}

TEST_CASE("brackets and commas in strings do not count") {
  CHECK(closing_bracket(R"x(("a)", %1))x", 0) == 9);
  CHECK(values(R"(x: "a, b", y: 1)") == Parts{R"(x: "a, b")", "y: 1"});
}

TEST_CASE("a quote that ends no string is an ordinary character") {
  CHECK(values(R"(size: 5", pad: 1)") == Parts{R"(size: 5")", "pad: 1"});
  CHECK(values(R"(a: "b, c)") == Parts{R"(a: "b)", "c"});
  CHECK(values(R"(class "x" y, z)") == Parts{R"(class "x" y)", "z"});
}

TEST_CASE("commas split where no bracket is open") {
  CHECK(values("") == Parts{});
  CHECK(values("  ") == Parts{});
  CHECK(values("%1, (I64(0), I64(2)), [a, b], {k: v, l: w}") ==
        Parts{"%1", "(I64(0), I64(2))", "[a, b]", "{k: v, l: w}"});
  CHECK(values("compile_info: , a: b") == Parts{"compile_info:", "a: b"});
  CHECK(types("<Tuple[A,B]>, <Tensor[F], (1, 2)>") == Parts{"<Tuple[A,B]>", "<Tensor[F], (1, 2)>"});
  CHECK(values("<a, b>") == Parts{"<a", "b>"});
}

TEST_CASE("a megabyte of quotes takes no more than linear time") {
  std::string text = "(";
  while (text.size() < (size_t{1} << 20)) text += ",\"x";
  const auto begin = std::chrono::steady_clock::now();
  CHECK(closing_bracket(text, 0) == std::string_view::npos);
  CHECK(values(text).size() == 1);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
}

}  // namespace
}  // namespace msdump
