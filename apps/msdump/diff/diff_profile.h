// msdump diff --profile: the result file of another tool, with its columns, verdicts and messages, instead of msdump's own
// rows.
//
//   msprobe, msprobe:pandas2   compare_result.csv of `msprobe compare`
//   msaccucmp                  result.csv of `msaccucmp.py compare`
//
// --map is msprobe's -dm, -cm, -am or -lm, by the content of the file. The words cell, api and layer are -cm, -am and -lm
// without a file.
//
// The file is the tool's, the exit code is msdump's:
//   0  all agrees
//   1  msprobe: a row is "warning" or "error"; msaccucmp: a row has no partner, was not compared, or is beyond the limits
//      of its manual
//   2  refused
//   3  something was not readable
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "diff/diff_options.h"
#include "frame/subcommand.h"
#include "profiles/result_writer.h"

namespace msdump::cli {

struct ProfileOptions {
  std::string name;  // empty: none
  std::string out;   // a folder
  bool fuzzy = false;
};
[[nodiscard]] std::vector<Option> profile_options(ProfileOptions& options);

enum class ProfileTool : uint8_t { kMsprobe, kMsaccucmp };
struct Profile {
  ProfileTool tool = ProfileTool::kMsprobe;
  bool pandas2 = false;  // msprobe: the words of pandas 2 for a null argument
};
// kUsage with the nearest name.
Result<Profile> parse_profile(std::string_view text);

// Checks options that need a profile or do not work with one. May throw UsageError.
void check_profile_options(const ProfileOptions& profile, const DiffOptions& options);

// Runs a named profile, after check_profile_options and check_diff_options.
ExitCode run_profile(Session& session, const ProfileOptions& profile, const DiffOptions& options);

// ---- for the profiles

// Runs `write` with stdout as the sink, or with OUT/<name>.csv, which appears when it is complete.
Status write_profile_file(Session& session, const ProfileOptions& profile, const std::string& name,
                          const std::function<Status(const ProfileSink&)>& write);

// 3 when something failed, 1 when something differs and --exit-zero was not given, else 0.
[[nodiscard]] ExitCode profile_exit_code(const DiffOptions& options, bool failed, bool differs);

ExitCode run_msprobe_profile(Session& session, const ProfileOptions& profile, const DiffOptions& options, bool pandas2);
ExitCode run_msaccucmp_profile(Session& session, const ProfileOptions& profile, const DiffOptions& options);

}  // namespace msdump::cli
