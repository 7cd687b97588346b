#include "shared/options.h"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "io/worker_pool.h"

namespace msdump::cli {
namespace {

constexpr uint32_t kMostJobs = 1024;

Option when_option(const char* name, When& target, const char* help, std::string_view variable = {}) {
  return {.names = name,
          .value = OptionValue::choice<When>(
              target, {{"auto", When::kAuto}, {"never", When::kNever}, {"always", When::kAlways}}, {"choice"}),
          .group = kGeneralGroup,
          .help = help,
          .otherwise = "auto",
          .variable = variable,
          .use = OptionUse::kGeneral};
}

Option text_flag(const char* names, const char* help) {
  return {.names = names,
          .value = OptionValue::flag([] {}),
          .group = kGeneralGroup,
          .help = help,
          .use = OptionUse::kGeneral};
}

Option selected(const char* names, OptionValue value, const char* help, std::string_view other_names = {}) {
  return {
      .names = names, .other_names = other_names, .value = std::move(value), .group = kSelectionGroup, .help = help};
}

// Of a kind that most people select by.
Option commonly_selected(const char* names, OptionValue value, const char* help, std::string_view other_names) {
  Option option = selected(names, std::move(value), help, other_names);
  option.is_common = true;
  return option;
}

constexpr std::array kEnvironment = {
    EnvironmentVariable{"MSDUMP_DUMP", "the dump when none is given"},
    EnvironmentVariable{"MSDUMP_JOBS", "the number of threads when -j is not given"},
    EnvironmentVariable{"MSDUMP_CPU", "forces a SIMD form of the kernels (see msdump --version); same results", true},
    EnvironmentVariable{"NO_COLOR", "no colour if set and not empty"},
};

}  // namespace

std::vector<Option> general_options(GeneralOptions& options) {
  return {{.names = "-j,--jobs",
           .other_names = "threads workers parallel nproc",
           .value = OptionValue::number(options.jobs, 1, kMostJobs),
           .group = kGeneralGroup,
           .help = "Threads; the results are the same for any number",
           .otherwise = "the CPUs this process may use",
           .variable = "MSDUMP_JOBS",
           .use = OptionUse::kGeneral},
          {.names = "-q,--quiet",
           .other_names = "silent",
           .value = OptionValue::flag(options.quiet),
           .group = kGeneralGroup,
           .help = "Only results and errors",
           .use = OptionUse::kGeneral},
          {.names = "-v,--verbose",
           .other_names = "debug log log-level",
           .value = OptionValue::count(options.verbosity),
           .group = kGeneralGroup,
           .help = "Say on stderr what is done, and every warning; twice: also every file and tensor",
           .use = OptionUse::kGeneral},
          when_option("--color", options.color, "Colour on stderr", "NO_COLOR"),
          when_option("--progress", options.progress, "Progress line on stderr")};
}

std::vector<Option> text_options() {
  return {text_flag("-h,--help", "-h: usage, examples and the common options; --help: this text"),
          text_flag("-V,--version", "Version, compiler and CPU, for bug reports")};
}

std::vector<Option> dump_options(DumpOptions& options, const std::string& aliases, DumpPositional positional) {
  const bool also = positional == DumpPositional::kYes;
  std::vector<Option> rows = {
      {.names = "-d,--dump" + aliases,
       .other_names = "input path dir",
       .is_common = true,
       .value = OptionValue::texts(options.options, "DIR|FILE[,FILE...]"),
       .group = kInputGroup,
       .help = fmt::format("The dump: its root or any level below, or files{}. '-' reads a list from stdin, one per "
                           "line or NUL-separated",
                           also ? "; also without -d" : ""),
       .otherwise = "$MSDUMP_DUMP, else the current directory",
       .variable = "MSDUMP_DUMP"}};
  if (also) rows.push_back(arguments_option("DUMP", options.positionals, "The same without -d"));
  return rows;
}

Option arguments_option(const std::string& name, std::vector<std::string>& target, const std::string& help) {
  return {.names = name, .value = OptionValue::arguments(target), .help = help};
}

Option output_option(std::string& path, const std::string& help) {
  return {.names = "--out,--output",
          .other_names = "output-dir outdir output-path dest dst",
          .is_common = true,
          .value = OptionValue::text(path, "PATH"),
          .group = kOutputGroup,
          .help = help + " (or -out)",
          .use = OptionUse::kShard};
}

std::vector<Option> selection_options(SelectionOptions& options) {
  std::vector<Option> rows = {
      commonly_selected("--rank", OptionValue::text(options.rank, "RANGES"),
                        "Only these ranks: 0|5-8|100-120, ',' for '|' too", "ranks device-id"),
      selected("--graph", OptionValue::text(options.graph, "RANGES"), "Only these graphs"),
      commonly_selected("--step,--iteration", OptionValue::text(options.step, "RANGES"), "Only these steps",
                        "steps iter epoch"),
      commonly_selected("--op", OptionValue::texts(options.op, "GLOB"),
                        "Only operators of this name (* and ?); may be repeated", "name filter operator include"),
      selected("--op-type", OptionValue::texts(options.op_type, "GLOB"), "Only operators of this type; may be repeated",
               "type kind"),
      selected("--regex", OptionValue::text(options.regex, "RE"), "Only operators whose name has a match (RE2)",
               "grep match pattern")};
  for (Option& option : tensor_options(options)) rows.push_back(std::move(option));
  return rows;
}

std::vector<Option> tensor_options(SelectionOptions& options) {
  return {{.names = "--io",
           .value = OptionValue::choice<std::string>(
               options.io, {{"input", "input"}, {"output", "output"}, {"parameter", "parameter"}}, {"io"}),
           .group = kSelectionGroup,
           .help = "Only inputs, outputs or parameters"},
          selected("--slot", OptionValue::text(options.slot, "N"), "Only this slot of the inputs or outputs", "index")};
}

std::vector<Option> report_options(report::Form& form) {
  std::vector<Option> rows;
  for (const report::FormInfo& one : report::all_forms()) {
    if (one.option.empty()) continue;
    rows.push_back({.names = "--" + std::string(one.option),
                    .other_names = one.form == report::Form::kJson ? "format output-format" : "",
                    .is_common = one.form != report::Form::kJsonl,
                    .value = OptionValue::flag([&form, chosen = one.form] { form = chosen; }),
                    .group = kOutputGroup,
                    .help = std::string(one.help),
                    .use = OptionUse::kOutput});
  }
  for (Option& row : rows) {
    for (const OptionRule& other : excluded_forms({})) {
      if (row.key() != other.name) row.excludes.push_back(other);
    }
  }
  return rows;
}

std::vector<OptionRule> excluded_forms(std::string_view reason) {
  std::vector<OptionRule> rules;
  for (const report::FormInfo& one : report::all_forms()) {
    if (!one.option.empty()) rules.push_back({one.option, reason});
  }
  return rules;
}

Result<unsigned> jobs_of(uint32_t jobs) {
  if (jobs > 0) return jobs;
  const std::optional<std::string> variable = environment("MSDUMP_JOBS");
  if (!variable || variable->empty()) return usable_cpus();
  const std::optional<uint64_t> number = parse_u64(*variable);
  if (number && *number >= 1 && *number <= kMostJobs) return static_cast<unsigned>(*number);
  return fail(make_error(ErrorCode::kUsage, "MSDUMP_JOBS: '{}' is not a number from 1 to {}", *variable, kMostJobs));
}

std::span<const EnvironmentVariable> environment_variables() { return kEnvironment; }

}  // namespace msdump::cli
