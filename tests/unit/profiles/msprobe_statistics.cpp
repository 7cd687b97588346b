#include "profiles/msprobe/statistics.h"

#include <limits>

#include "support/catch.h"

namespace msdump {
namespace {

PythonValue value(std::string_view json) {
  const auto parsed = parse_json(json);
  return parsed ? python_value(&*parsed) : python_str(std::string(json));
}

// "DIFFERENCE RELATIVE".
std::string difference(std::string_view a, std::string_view b, bool pandas2 = false) {
  const auto result = msprobe_difference(value(a), value(b), pandas2);
  return result.difference + " " + result.relative;
}

TEST_CASE("differences of statistics are the texts that msprobe prints") {
  CHECK(difference("1.5", "1.5") == "0 0");
  CHECK(difference("2.0", "1.0") == "1.0 100.0%");
  CHECK(difference("1", "2.0") == "-1.0 50.0%");
  CHECK(difference("1.0", "0.0") == "1.0 inf");
  CHECK(difference("0.0", "0") == "0.0 inf");
  CHECK(difference("0.1", "-0.3") == "0.4 133.33333333333334%");
}

TEST_CASE("texts that are not numbers have a result of their own") {
  CHECK(difference("Nan", "Nan") == "0 0");
  CHECK(difference("Nan", "1.0") == "Nan Nan");
  CHECK(difference("Infinity", "Nan") == "Nan Nan");
  CHECK(difference("Infinity", "Infinity") == "0 0");
  CHECK(difference("Infinity", "1.0") == "inf inf");
  CHECK(difference("-Infinity", "1.0") == "-inf -inf");
  CHECK(difference("1.0", "Infinity") == "-inf -inf");
  CHECK(difference("1.0", "-Infinity") == "inf inf");
  CHECK(difference("Infinity", "-Infinity") == "inf inf");
  CHECK(difference("-Infinity", "Infinity") == "-inf -inf");
  CHECK(difference("N/A", "1.0") == "N/A N/A");
  CHECK(difference("1.0", "N/A") == "N/A N/A");
  CHECK(difference("\"None\"", "1.0") == "Diff Diff");
  CHECK(difference("true", "false") == "Diff Diff");
  CHECK(difference("\"cpu\"", "\"npu:0\"") == "N/A N/A");
  CHECK(difference("\"cpu\"", "1.0") == "Diff Diff");
}

TEST_CASE("pandas 2 reads 17 digits and one power of ten") {
  CHECK(pandas2_number("16") == 16.0);
  CHECK(pandas2_number("-2.5") == -2.5);
  CHECK(pandas2_number("1e3") == 1000.0);
  CHECK(pandas2_number("1e400") == std::numeric_limits<double>::infinity());
  CHECK(pandas2_number("1e-400") == 0.0);
  CHECK(pandas2_number("12345678901234567890") == 12345678901234567000.0);
  CHECK(pandas2_number("210695234717105412") == 21069523471710541.0 * 10.0);
  CHECK_FALSE(pandas2_number("N/A"));
  // The exact values end in another digit.
  CHECK(pandas2_number("1.3042279608514273") == 0x1.4de1e23662b9dp+0);
  CHECK(decimal_value("1.3042279608514273") == 0x1.4de1e23662b9ep+0);
  CHECK(pandas2_number("0.0025935401432800767") == 0x1.53f0c43147c76p-9);
  const auto both = [](bool pandas2) { return difference("1.2345678901234567", "0.02247164398431778", pandas2); };
  CHECK(both(false) == "1.212096246139139 5393.892173554463%");
  CHECK(both(true) == "1.212096246139139 5393.892173554482%");
  const auto small = [](bool pandas2) { return difference("0.048172708600759506", "0.0481727309525013", pandas2); };
  CHECK(small(false) == "-2.2351741790771484e-08 4.639915850486136e-05%");
  CHECK(small(true) == "-2.2351741797710378e-08 4.639915851926555e-05%");
}

}  // namespace
}  // namespace msdump
