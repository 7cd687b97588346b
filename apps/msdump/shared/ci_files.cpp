#include "shared/ci_files.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "frame/terminal.h"
#include "io/atomic_file.h"
#include "report/markdown.h"
#include "report/page/page.h"

namespace msdump::cli {

Option junit_option(std::string& path, std::string_view what) {
  return {.names = "--junit",
          .other_names = "xml junit-xml",
          .is_common = true,
          .value = OptionValue::text(path, "FILE"),
          .group = kOutputGroup,
          .help = fmt::format("Also write {} as JUnit XML, for CI", what),
          .use = OptionUse::kOutput};
}

Option summary_option(std::string& path) {
  return {.names = "--summary",
          .other_names = "markdown md step-summary job-summary",
          .value = OptionValue::text(path, "FILE.md"),
          .group = kOutputGroup,
          .help =
              "Also write the answer, its evidence and ten rows as Markdown, for the page of a CI job. Replaces the "
              "file; the one that $GITHUB_STEP_SUMMARY names is appended to",
          .use = OptionUse::kOutput};
}

void check_file_name(std::string_view option, std::string_view path) {
  if (path == "-") throw UsageError(fmt::format("{} needs the name of a file; /dev/stdout is standard output", option));
}

std::string result_text(ExitCode code) {
  const std::string_view word = code == ExitCode::kOk           ? "passed"
                                : code == ExitCode::kNo         ? "failed"
                                : code == ExitCode::kSomeFailed ? "some inputs could not be read"
                                                                : "nothing was judged";
  return fmt::format("{} (exit code {})", word, static_cast<int>(code));
}

std::vector<std::string> failure_notes(const std::vector<Error>& failures) {
  constexpr size_t kShown = 3;
  std::vector<std::string> notes;
  for (size_t i = 0; i < std::min(failures.size(), kShown); ++i) {
    const Error& error = failures[i];
    notes.push_back(error.path.empty() ? error.message : fmt::format("{}: {}", error.path, error.message));
  }
  if (failures.size() > kShown) notes.push_back(plural(failures.size() - kShown, "more failure"));
  return notes;
}

Status write_summary(const std::string& path, std::string_view markdown) {
  const std::optional<std::string> of_step = environment("GITHUB_STEP_SUMMARY");
  std::error_code none;
  if (!of_step || of_step->empty() || (path != *of_step && !std::filesystem::equivalent(path, *of_step, none)))
    return write_named_file(path, markdown);
  MSDUMP_CHECK_OK(check_is_no_pipe(path));
  return append_to_file(path, "\n" + std::string(markdown));
}

report::JunitCase case_of_errors(std::string class_name, std::string name, const std::vector<Error>& errors) {
  report::JunitCase one{std::move(name), std::move(class_name), {}, {}, {}};
  if (errors.empty()) return one;
  const auto line_of = [&](size_t i) {
    const std::string& path = errors[i].path;
    return path.empty() ? errors[i].message : path + ": " + errors[i].message;
  };
  one.error = report::junit_problem(std::string(code_word(errors.front().code)), "failures", errors.size(), line_of);
  return one;
}

Status write_lone_case(std::string_view command, const std::string& path, report::JunitCase one) {
  report::JunitSuite suite{fmt::format("msdump {}", command), {}};
  suite.cases.push_back(std::move(one));
  return write_named_file(path, report::junit_text({std::move(suite)}));
}

Status write_unbegun(const UnbegunRun& run, const std::string& junit, const std::string& summary) {
  if (!junit.empty()) {
    MSDUMP_CHECK_OK(write_lone_case(run.command, junit,
                                    case_of_errors(fmt::format("msdump.{}", run.command), "inputs", {run.error})));
  }
  if (summary.empty()) return {};
  report::Page page;
  page.command = run.command;
  page.sentence = run.sentence;
  page.notes = failure_notes({run.error});
  return write_summary(summary, report::markdown_summary(page, result_text(run.code), "", {}));
}

}  // namespace msdump::cli
