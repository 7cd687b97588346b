#include "shared/options.h"

#include <array>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "frame/usage.h"
#include "io/worker_pool.h"

namespace msdump::cli {
namespace {

constexpr const char* kChoices = "choices";  // name of the validator that carries the accepted words
constexpr uint32_t kMostJobs = 1024;

// Exactly one value each time: `--op A B` must not swallow the positional B, and a value "[x]" is not an array.
CLI::Option* add_repeatable(CLI::App& app, const std::string& names, std::vector<std::string>& target,
                            const std::string& value, const std::string& description) {
  return app.add_option(names, target, description)->allow_extra_args(false)->type_name(value);
}

CLI::Option* add_text(CLI::App& app, const std::string& names, std::string& target, const std::string& value,
                      const std::string& description) {
  return app.add_option(names, target, description)->type_name(value);
}

const std::vector<std::pair<std::string, When>>& when_words() {
  static const std::vector<std::pair<std::string, When>> words = {
      {"auto", When::kAuto}, {"never", When::kNever}, {"always", When::kAlways}};
  return words;
}

constexpr std::array kEnvironment = {
    EnvironmentVariable{"dump", "MSDUMP_DUMP", "the dump when none is given"},
    EnvironmentVariable{"jobs", "MSDUMP_JOBS", "the number of threads when -j is not given"},
    EnvironmentVariable{"", "MSDUMP_CPU", "forces a SIMD form of the kernels (see msdump --version); same results"},
    EnvironmentVariable{"color", "NO_COLOR", "no colour if set and not empty"},
};

}  // namespace

void add_general_options(CLI::App& app, GeneralOptions& options) {
  add_number(app, "-j,--jobs", options.jobs, 1, kMostJobs, "Threads; the results are the same for any number")
      ->default_str("the CPUs this process may use")
      ->group(kGeneralGroup);
  app.add_flag("-q,--quiet", options.quiet, "Only results and errors")->group(kGeneralGroup);
  app.add_flag("-v,--verbose", options.verbosity,
               "Say on stderr what is done, and every warning; twice: also every file and tensor")
      ->group(kGeneralGroup);
  add_choice(app, "--color", options.color, when_words(), {"choice", "Colour on stderr"})
      ->default_str("auto")
      ->group(kGeneralGroup);
  add_choice(app, "--progress", options.progress, when_words(), {"choice", "Progress line on stderr"})
      ->default_str("auto")
      ->group(kGeneralGroup);
}

void add_dump_options(CLI::App& app, DumpOptions& options, const std::string& aliases, DumpPositional positional) {
  const bool also = positional == DumpPositional::kYes;
  add_repeatable(
      app, "-d,--dump" + aliases, options.options, "DIR|FILE[,FILE...]",
      fmt::format("The dump: its root or any level below, or files{}. '-' reads a list from stdin, one per line "
                  "or NUL-separated",
                  also ? "; also without -d" : ""))
      ->default_str("$MSDUMP_DUMP, else the current directory")
      ->group(kInputGroup);
  if (!also) return;
  add_positionals(app, "DUMP", options.positionals, "The same without -d");
}

CLI::Option* add_positionals(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                             const std::string& description) {
  // CLI11 2.1.2 takes more than one positional only if it also splits "[a,b]" at commas (allow_extra_args), or up to
  // the number it expects. With take_all there may be fewer.
  constexpr int kMany = 1 << 20;
  return app.add_option(name, target, description)->expected(kMany)->take_all()->allow_extra_args(false)->group("");
}

CLI::Option* add_output_option(CLI::App& app, std::string& path, const std::string& description) {
  return add_text(app, "--out,--output", path, "PATH", description + " (or -out)")->group(kOutputGroup);
}

void add_selection_options(CLI::App& app, SelectionOptions& options) {
  add_text(app, "--rank", options.rank, "RANGES", "Only these ranks: 0|5-8|100-120, ',' for '|' too")
      ->group(kSelectionGroup);
  add_text(app, "--graph", options.graph, "RANGES", "Only these graphs")->group(kSelectionGroup);
  add_text(app, "--step,--iteration", options.step, "RANGES", "Only these steps")->group(kSelectionGroup);
  add_repeatable(app, "--op", options.op, "GLOB", "Only operators of this name (* and ?); may be repeated")
      ->group(kSelectionGroup);
  add_repeatable(app, "--op-type", options.op_type, "GLOB", "Only operators of this type; may be repeated")
      ->group(kSelectionGroup);
  add_text(app, "--regex", options.regex, "RE", "Only operators whose name has a match (RE2)")->group(kSelectionGroup);
  add_tensor_options(app, options);
}

void add_tensor_options(CLI::App& app, SelectionOptions& options) {
  const std::vector<std::pair<std::string, std::string>> io = {
      {"input", "input"}, {"output", "output"}, {"parameter", "parameter"}};
  add_choice(app, "--io", options.io, io, {"io", "Only inputs, outputs or parameters"})->group(kSelectionGroup);
  add_text(app, "--slot", options.slot, "N", "Only this slot of the inputs or outputs")->group(kSelectionGroup);
}

void add_report_options(CLI::App& app, report::Form& form) {
  const auto add = [&](const char* name, report::Form value, const char* description) {
    const auto choose = [&form, value](int64_t) { form = value; };
    return app.add_flag_function(name, choose, description)->group(kOutputGroup);
  };
  CLI::Option* json = add("--json", report::Form::kJson, "Results as one JSON document");
  CLI::Option* jsonl = add("--jsonl", report::Form::kJsonl, "Results as JSON lines, one row per line");
  CLI::Option* csv = add("--csv", report::Form::kCsv, "Results as CSV");
  json->excludes(jsonl)->excludes(csv);
  jsonl->excludes(csv);
}

Result<unsigned> jobs_of(uint32_t jobs) {
  if (jobs > 0) return jobs;
  const std::optional<std::string> variable = environment("MSDUMP_JOBS");
  if (!variable || variable->empty()) return usable_cpus();
  const std::optional<uint64_t> number = parse_u64(*variable);
  if (number && *number >= 1 && *number <= kMostJobs) return static_cast<unsigned>(*number);
  return fail(make_error(ErrorCode::kUsage, "MSDUMP_JOBS: '{}' is not a number from 1 to {}", *variable, kMostJobs));
}

CLI::Option* add_number(CLI::App& app, const std::string& names, uint32_t& target, uint32_t least, uint32_t most,
                        const std::string& description) {
  const std::string spelling = names.substr(names.find("--"), names.find(',', names.find("--")) - names.find("--"));
  const auto take = [&target, least, most, spelling](const std::string& typed) {
    const std::optional<uint64_t> number = parse_u64(typed);
    if (!number || *number < least || *number > most) {
      throw UsageError(fmt::format("{}: '{}' is not a number from {} to {}", spelling, typed, least, most));
    }
    target = static_cast<uint32_t>(*number);
  };
  return app.add_option_function<std::string>(names, take, description)->type_name("N");
}

CLI::Option* add_choice_text(CLI::App& app, const std::string& names, std::vector<std::string> words,
                             const ChoiceText& text, const std::function<void(size_t)>& chosen) {
  const std::string listed = fmt::format("{}", fmt::join(words, "|"));
  const auto take = [words, text, chosen](const std::string& typed) {
    const std::string lower = to_lower(typed);
    for (const RefusedWord& refused : text.refused) {
      if (lower == refused.word) throw UsageError(refused.message, refused.hint);
    }
    for (size_t i = 0; i < words.size(); ++i) {
      if (lower == to_lower(words[i])) return chosen(i);
    }
    throw UsageError(unknown_word(text.what, typed, words),
                     text.hint.empty() ? "accepted are " + join_words(words, "and") : text.hint);
  };
  CLI::Option* option = app.add_option_function<std::string>(names, take, text.description);
  return option->check(CLI::Validator([](std::string&) { return std::string(); }, listed, kChoices));
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  // CLI11 2.1.2 finds validators on a mutable option only; the description is all that is read.
  CLI::Option& mutable_option = const_cast<CLI::Option&>(option);
  try {
    const std::string listed = mutable_option.get_validator(kChoices)->get_description();
    std::vector<std::string> words;
    for (const std::string_view word : split(listed, '|')) words.emplace_back(word);
    return words;
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
}

std::span<const EnvironmentVariable> environment_variables() { return kEnvironment; }

}  // namespace msdump::cli
