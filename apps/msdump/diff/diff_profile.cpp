#include "diff/diff_profile.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "frame/terminal_lines.h"
#include "frame/usage.h"
#include "io/dir_walk.h"
#include "io/text_file.h"

namespace msdump::cli {
namespace {

constexpr const char* kProfileGroup = "Other tools";

// Options for msdump's own verdicts and rows, which a profile does not have.
void refuse_own_judgement(const ProfileOptions& profile, const DiffOptions& options) {
  const std::array<std::pair<bool, std::string_view>, 14> given = {{{options.rtol.has_value(), "--rtol"},
                                                                    {options.atol.has_value(), "--atol"},
                                                                    {!options.metric_limits.empty(), "--metric"},
                                                                    {!options.tolerance_file.empty(), "--tolerances"},
                                                                    {!options.baseline.empty(), "--baseline"},
                                                                    {!options.new_baseline.empty(), "--write-baseline"},
                                                                    {!options.more_metrics.empty(), "--metrics"},
                                                                    {!options.explain.empty(), "--explain"},
                                                                    {options.fail_on != "any", "--fail-on"},
                                                                    {options.worst > 0, "--worst"},
                                                                    {options.by_axis, "--by-axis"},
                                                                    {options.all, "--all"},
                                                                    {!options.report.empty(), "--report"},
                                                                    {!options.ir.empty(), "--ir"}}};
  for (const auto& [is_given, name] : given) {
    if (!is_given) continue;
    throw UsageError(fmt::format("{} does not go with --profile {}, which writes that tool's file", name, profile.name),
                     "omit one of the two");
  }
}

}  // namespace

void declare_profile_options(CLI::App& app, ProfileOptions& options) {
  app.add_option(
         "--profile", options.name,
         "Write the result file of another tool to stdout, including its faults: msprobe (with pandas 3), "
         "msprobe:pandas2 or msaccucmp. Exit code 1: msprobe has a row with warning or error; msaccucmp has one "
         "without partner or metrics, with cosine <= 0.99 or with relative Euclidean distance >= 0.05")
      ->type_name("TOOL")
      ->group(kProfileGroup);
  app.add_flag("--fuzzy", options.fuzzy, "With --profile msprobe: its -fm, names without call counters")
      ->group(kProfileGroup);
  add_output_option(
      app, options.out,
      "With --profile: a folder for the file, which is called result.csv (msaccucmp), or compare_result_rankN.csv, "
      "compare_result_procPID.csv or, for two files, compare_result.csv (msprobe); required for several ranks. With "
      "--shard: the part");
}

Result<Profile> parse_profile(std::string_view text) {
  if (text == "msprobe") return Profile{ProfileTool::kMsprobe, false};
  if (text == "msprobe:pandas2") return Profile{ProfileTool::kMsprobe, true};
  if (text == "msaccucmp") return Profile{ProfileTool::kMsaccucmp, false};
  const std::vector<std::string> known = {"msprobe", "msprobe:pandas2", "msaccucmp"};
  return fail(make_error(ErrorCode::kUsage, "--profile: {}", unknown_word("tool", text, known))
                  .with_hint("accepted are " + join_words(known, "and")));
}

void check_profile_options(const ProfileOptions& profile, const DiffOptions& options) {
  if (profile.name.empty()) {
    if (!profile.out.empty())
      throw UsageError("--out goes with --profile", "rows of msdump diff go to stdout: msdump diff ... --csv > FILE");
    if (profile.fuzzy) throw UsageError("--fuzzy goes with --profile msprobe");
    return;
  }
  if (options.form == report::Form::kJson || options.form == report::Form::kJsonl) {
    throw UsageError(fmt::format("--profile {} writes CSV, as that tool does", profile.name),
                     "omit --profile to use --json or --jsonl");
  }
  refuse_own_judgement(profile, options);
}

Status write_profile_file(Session& session, const ProfileOptions& profile, const std::string& name,
                          const std::function<Status(const ProfileSink&)>& write) {
  if (profile.out.empty()) {
    return write([&](std::string_view lines) {
      return session.out.tty() ? session.out.write(lines_for_terminal(lines)) : session.out.write(lines);
    });
  }
  MSDUMP_TRY(TextFile file, TextFile::create(join_path(profile.out, name + ".csv")));
  MSDUMP_CHECK_OK(write([&](std::string_view lines) { return file.append(lines); }));
  return file.commit();
}

ExitCode profile_exit_code(const DiffOptions& options, bool failed, bool differs) {
  if (failed) return ExitCode::kSomeFailed;
  return differs && !options.exit_zero ? ExitCode::kNo : ExitCode::kOk;
}

ExitCode run_profile(Session& session, const ProfileOptions& profile, const DiffOptions& options) {
  const auto parsed = parse_profile(profile.name);
  if (!parsed) return session.end_with(parsed.error());
  if (parsed->tool == ProfileTool::kMsaccucmp) return run_msaccucmp_profile(session, profile, options);
  return run_msprobe_profile(session, profile, options, parsed->pandas2);
}

}  // namespace msdump::cli
