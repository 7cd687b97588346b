#include "report/junit.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump::report {
namespace {

constexpr size_t kLinesOfCase = 100;

struct Counts {
  size_t tests = 0, failures = 0, errors = 0;

  void add(const JunitSuite& suite) {
    tests += suite.cases.size();
    for (const JunitCase& one : suite.cases) {
      failures += one.failure ? 1U : 0U;
      errors += one.error ? 1U : 0U;
    }
  }
};

std::string problem_text(std::string_view element, const JunitProblem& problem) {
  return fmt::format("      <{0} message=\"{1}\" type=\"{2}\">{3}</{0}>\n", element, xml_escaped(problem.message),
                     xml_escaped(problem.type), xml_escaped(problem.text));
}

std::string case_text(const JunitCase& one) {
  std::string text = fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"0\"", xml_escaped(one.name),
                                 xml_escaped(one.class_name));
  if (!one.failure && !one.error && one.output.empty()) return text + "/>\n";
  text += ">\n";
  if (one.error) text += problem_text("error", *one.error);
  if (one.failure) text += problem_text("failure", *one.failure);
  if (!one.output.empty()) text += fmt::format("      <system-out>{}</system-out>\n", xml_escaped(one.output));
  return text + "    </testcase>\n";
}

// XML 1.0 allows all but most control characters, the surrogates, U+FFFE and U+FFFF.
bool is_xml_character(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence.front());
  if (sequence.size() == 1) return first >= 0x20 ? first != 0x7F : first == '\n' || first == '\t';
  return sequence != "\xEF\xBF\xBE" && sequence != "\xEF\xBF\xBF";
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (size_t at = 0; at < text.size();) {
    const size_t length = utf8_sequence_length(text, at);
    if (length == 0 || !is_xml_character(text.substr(at, length))) {
      const size_t bytes = std::max<size_t>(length, 1);
      for (size_t i = 0; i < bytes; ++i) escaped += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at + i]));
      at += bytes;
      continue;
    }
    switch (text[at]) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\n': escaped += "&#10;"; break;
      case '\t': escaped += "&#9;"; break;
      default: escaped += text.substr(at, length); break;
    }
    at += length;
  }
  return escaped;
}

std::string junit_lines(size_t count, const std::function<std::string(size_t)>& line_of) {
  std::string text;
  for (size_t i = 0; i < std::min(count, kLinesOfCase); ++i) text += line_of(i) + "\n";
  if (count > kLinesOfCase) text += fmt::format("and {} more\n", count - kLinesOfCase);
  return text;
}

JunitProblem junit_problem(std::string type, std::string_view noun, size_t count,
                           const std::function<std::string(size_t)>& line_of) {
  const std::string first = line_of(0);
  return {count == 1 ? first : fmt::format("{} {}, the first: {}", count, noun, first), std::move(type),
          junit_lines(count, line_of)};
}

std::string junit_text(const std::vector<JunitSuite>& suites) {
  Counts all;
  for (const JunitSuite& suite : suites) all.add(suite);
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
      all.tests, all.failures, all.errors);
  for (const JunitSuite& suite : suites) {
    Counts counts;
    counts.add(suite);
    text +=
        fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\" time=\"0\">\n",
                    xml_escaped(suite.name), counts.tests, counts.failures, counts.errors);
    for (const JunitCase& one : suite.cases) text += case_text(one);
    text += "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

}  // namespace msdump::report
