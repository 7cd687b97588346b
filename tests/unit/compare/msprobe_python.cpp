#include "compare/match/msprobe/msprobe_python.h"

#include <cmath>
#include <limits>

#include "support/catch.h"

namespace msdump {
namespace {

std::string str(std::string_view json) { return str_of(*parse_json(json)); }
PythonValue value(std::string_view json) {
  const auto parsed = parse_json(json);
  REQUIRE(parsed);
  return python_value(&*parsed);
}

TEST_CASE("floats are printed as Python prints them") {
  const auto [number, text] = GENERATE(table<double, std::string>({
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1.0, "1.0"},
      {16.0, "16.0"},
      {0.1, "0.1"},
      {-2.5, "-2.5"},
      {123456.789, "123456.789"},
      {0.0001, "0.0001"},
      {0.00012345, "0.00012345"},
      {0.00001, "1e-05"},
      {1.5e-07, "1.5e-07"},
      {9999999999999998.0, "9999999999999998.0"},
      {1e16, "1e+16"},
      {1.2345e22, "1.2345e+22"},
      {1e100, "1e+100"},
      {5e-324, "5e-324"},
      {2.699645757675171, "2.699645757675171"},
      {-0.02310253120958805, "-0.02310253120958805"},
      {std::numeric_limits<double>::infinity(), "inf"},
      {-std::numeric_limits<double>::infinity(), "-inf"},
      {std::numeric_limits<double>::quiet_NaN(), "nan"},
  }));
  CHECK(float_repr(number) == text);
}

TEST_CASE("texts in lists are quoted as Python quotes them") {
  CHECK(quoted_repr("plain") == "'plain'");
  CHECK(quoted_repr("it's") == "\"it's\"");
  CHECK(quoted_repr("say \"so\"") == "'say \"so\"'");
  CHECK(quoted_repr("it's \"so\"") == "'it\\'s \"so\"'");
  CHECK(quoted_repr("a\n\t\r\\") == "'a\\n\\t\\r\\\\'");
  CHECK(quoted_repr(std::string_view("\0\x1f\x7f", 3)) == "'\\x00\\x1f\\x7f'");
  CHECK(quoted_repr("中文") == "'中文'");
  CHECK(quoted_repr("\xc2\xa0\xe2\x80\x8b") == "'\\xa0\\u200b'");
  CHECK(quoted_repr("\xff") == "'\\xff'");
}

TEST_CASE("values of JSON become what Python's str makes of them") {
  CHECK(str("[4, 12]") == "[4, 12]");
  CHECK(str("[]") == "[]");
  CHECK(str("[null, true, false, 1.50, \"a\", {\"b\": [1e5]}]") == "[None, True, False, 1.5, 'a', {'b': [100000.0]}]");
  CHECK(str("\"a 'text'\"") == "a 'text'");
  CHECK(str("123456789012345678901234567890") == "123456789012345678901234567890");
  CHECK(str("-0") == "0");
  CHECK(str("-0.0") == "-0.0");
  CHECK(str("1e-400") == "0.0");
  CHECK(str("NaN") == "nan");
  CHECK(str("-Infinity") == "-inf");
}

TEST_CASE("numbers compare by value, texts by their bytes") {
  CHECK(python_equal(value("2"), value("2.0")));
  CHECK(python_equal(value("true"), value("1")));
  CHECK_FALSE(python_equal(value("2"), value("3")));
  CHECK_FALSE(python_equal(value("9007199254740993"), value("9007199254740992")));
  CHECK_FALSE(python_equal(value("\"2\""), value("2")));
  CHECK(python_equal(value("\"a\""), value("\"a\"")));
  CHECK_FALSE(python_equal(value("NaN"), value("NaN")));
  CHECK(python_equal(value("null"), python_value(nullptr)));
}

TEST_CASE("decimal texts are read, others are not") {
  CHECK(decimal_value("1.5") == 1.5);
  CHECK(decimal_value("+1.5") == 1.5);
  CHECK(decimal_value("-0").has_value());
  CHECK(decimal_value("1e5") == 1e5);
  CHECK(decimal_value("-1e400") == -std::numeric_limits<double>::infinity());
  CHECK(decimal_value("1e-400") == 0.0);
  for (const std::string_view text : {"", "-", "+-1", "0x10", "inf", "nan", "N/A", "1.5%", "1 ", "1e", "True"}) {
    INFO(text);
    CHECK_FALSE(decimal_value(text));
  }
}

TEST_CASE("rounding is that of the exact value, half to even") {
  CHECK(rounded_to(0.9999995, 6) == 1.0);
  CHECK(rounded_to(0.9999994, 6) == 0.999999);
  CHECK(rounded_to(0.5, 0) == 0.0);
  CHECK(rounded_to(2.675, 2) == 2.67);
  CHECK(rounded_to(1e-13, 12) == 0.0);
  CHECK(std::isinf(rounded_to(std::numeric_limits<double>::infinity(), 12)));
}

}  // namespace
}  // namespace msdump
