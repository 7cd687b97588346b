// Files for CI beside what a command prints: --junit FILE and --summary FILE.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "frame/options.h"
#include "frame/usage.h"
#include "report/junit.h"

namespace msdump::cli {

// `what`: "the findings".
[[nodiscard]] Option junit_option(std::string& path, std::string_view what);
[[nodiscard]] Option summary_option(std::string& path);

// Throws UsageError for "-".
void check_file_name(std::string_view option, std::string_view path);

// "failed (exit code 1)"
[[nodiscard]] std::string result_text(ExitCode code);

// Replaces the file, complete or not at all. The one that $GITHUB_STEP_SUMMARY names is appended to: other commands of the step
// have written there.
Status write_summary(const std::string& path, std::string_view markdown);

// The first few inputs that could not be read, each with why.
[[nodiscard]] std::vector<std::string> failure_notes(const std::vector<Error>& failures);

// The errors of one kind of input, as a test case of their own.
[[nodiscard]] report::JunitCase case_of_errors(std::string class_name, std::string name,
                                               const std::vector<Error>& errors);

// Writes a JUnit file of one test case.
Status write_lone_case(std::string_view command, const std::string& path, report::JunitCase one);

// The files of a run that could not begin: those of the run before would be taken for its answer. An empty path: no such file.
// `sentence`: "No tensor was compared".
struct UnbegunRun {
  std::string_view command, sentence;
  const Error& error;
  ExitCode code;
};
Status write_unbegun(const UnbegunRun& run, const std::string& junit, const std::string& summary);

// Rows of the table in a summary.
inline constexpr size_t kSummaryRows = 10;

}  // namespace msdump::cli
