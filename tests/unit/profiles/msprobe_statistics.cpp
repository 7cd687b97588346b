#include "profiles/msprobe/metrics.h"

#include "support/catch.h"

namespace msdump {
namespace {

PythonValue value(std::string_view json) {
  const auto parsed = parse_json(json);
  return parsed ? python_value(&*parsed) : python_str(std::string(json));
}

// "DIFFERENCE RELATIVE".
std::string difference(std::string_view a, std::string_view b) {
  const auto result = msprobe_difference(value(a), value(b));
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

}  // namespace
}  // namespace msdump
