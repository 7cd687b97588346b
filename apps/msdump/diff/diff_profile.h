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

#include <string>
#include <vector>

#include "diff/diff_options.h"
#include "frame/subcommand.h"

namespace msdump::cli {

struct ProfileOptions {
  std::string name;  // empty: none
  std::string out;   // a folder
  bool fuzzy = false;
};
[[nodiscard]] std::vector<Option> profile_options(ProfileOptions& options);

// Checks options that need a profile or do not work with one. May throw UsageError.
void check_profile_options(const ProfileOptions& profile, const DiffOptions& options);

// Runs a named profile, after check_profile_options and check_diff_options.
ExitCode run_profile(Session& session, const ProfileOptions& profile, const DiffOptions& options);

}  // namespace msdump::cli
