// JUnit XML, as CI systems read it: suites of cases, each passed, failed, or not able to run.
//
//   <testsuites tests failures errors>
//     <testsuite name tests failures errors skipped time>
//       <testcase name classname time>[<error|failure message type>text</..>][<system-out>text</system-out>]</testcase>
// Control characters and bytes that are not UTF-8 are written as \xNN: XML 1.0 cannot hold them. There is no time stamp and
// no duration: equal findings are equal bytes.
// Source: the schema of Jenkins' xUnit plugin (junit-10.xsd), which GitLab and GitHub's reporters read as well.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msdump::report {

struct JunitProblem {
  std::string message, type, text;
};

struct JunitCase {
  std::string name, class_name;
  std::optional<JunitProblem> failure, error;  // one of them at most
  std::string output;                          // findings that are not failures
};

struct JunitSuite {
  std::string name;
  std::vector<JunitCase> cases;
};

// `count` lines, one for each thing that is wrong: at most a hundred, and how many more there are.
[[nodiscard]] std::string junit_lines(size_t count, const std::function<std::string(size_t)>& line_of);
// What is wrong with a case: its lines, of which the message has the first. `noun`: "findings".
[[nodiscard]] JunitProblem junit_problem(std::string type, std::string_view noun, size_t count,
                                         const std::function<std::string(size_t)>& line_of);

[[nodiscard]] std::string junit_text(const std::vector<JunitSuite>& suites);

// A text as an attribute or as content.
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace msdump::report
