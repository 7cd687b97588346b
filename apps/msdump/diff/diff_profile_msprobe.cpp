// msdump diff --profile msprobe.

#include <fmt/format.h>

#include "base/text.h"
#include "compare/match/rename/name_map_file.h"
#include "diff/diff_profile.h"
#include "frame/usage.h"
#include "io/yaml.h"
#include "profiles/msprobe/place.h"
#include "profiles/msprobe/result.h"

namespace msdump::cli {
namespace {

void refuse_other_options(const DiffOptions& options) {
  const SelectionOptions& selection = options.selection;
  const bool by_operator = !selection.op.empty() || !selection.op_type.empty() || !selection.regex.empty() ||
                           !selection.io.empty() || !selection.slot.empty() || !selection.graph.empty();
  if (by_operator) {
    throw UsageError("--profile msprobe writes every row of a rank",
                     "use --step, --rank, --a-step, --b-step, --a-rank or --b-rank; omit the other selections");
  }
}

// The number in a side's own option, else in the option for both sides.
Result<std::optional<int64_t>> number_of(const std::string& own, const std::string& both, std::string_view what) {
  const std::string& text = own.empty() ? both : own;
  if (text.empty()) return std::optional<int64_t>();
  const auto number = parse_i64(text);
  if (number && *number >= 0) return std::optional<int64_t>(number);
  return fail(make_error(ErrorCode::kUsage, "{} {}: --profile msprobe takes one {}", what, excerpt(text), what)
                  .with_hint(what == "rank" ? "without a choice all ranks are compared" : "run it once for each step"));
}

Result<std::string> place_of(const DiffOptions& options, bool is_candidate) {
  MsprobePlace place;
  MSDUMP_TRY(place.step, number_of(is_candidate ? options.step_a : options.step_b, options.selection.step, "step"));
  MSDUMP_TRY(place.rank, number_of(is_candidate ? options.rank_a : options.rank_b, options.selection.rank, "rank"));
  return find_msprobe_place(is_candidate ? options.paths.front() : options.paths.back(), place);
}

// Which of msprobe's mappings a file is, by the rules of compare/match/rename/name_map_file.h; its content is not checked.
Result<std::optional<std::string> MsprobeCompareOptions::*> kind_of_map(const std::string& path) {
  MSDUMP_TRY(const JsonValue yaml, read_yaml_file(path));
  if (yaml.is(JsonKind::kArray)) return &MsprobeCompareOptions::api_mapping;
  if (!yaml.is(JsonKind::kObject) || yaml.members.empty()) {
    return fail(make_error(ErrorCode::kUsage, "none of msprobe's mappings: neither a list nor a mapping in YAML")
                    .with_path(path));
  }
  const JsonMember& first = yaml.members.front();
  if (first.value.is(JsonKind::kObject)) return &MsprobeCompareOptions::layer_mapping;
  return tensor_name(first.key) ? &MsprobeCompareOptions::data_mapping : &MsprobeCompareOptions::cell_mapping;
}

Status take_map(const std::string& map, MsprobeCompareOptions& options) {
  if (map.empty()) return {};
  if (map == "cell") {
    options.cell_mapping = "";
  } else if (map == "api") {
    options.api_mapping = "";
  } else if (map == "layer") {
    options.layer_mapping = "";
  } else {
    MSDUMP_TRY(const auto mapping, kind_of_map(map));
    options.*mapping = map;
  }
  return {};
}

class ProfileWriter {
 public:
  ProfileWriter(Session& session, const ProfileOptions& profile, const DiffOptions& options)
      : session_(session), profile_(profile), options_(options) {}

  Result<ExitCode> run(const MsprobeCompareOptions& compare) {
    MSDUMP_TRY(const std::string target, place_of(options_, true));
    MSDUMP_TRY(const std::string golden, place_of(options_, false));
    MSDUMP_TRY(const std::vector<MsprobeJsonPair> pairs, find_msprobe_pairs(target, golden));
    if (pairs.size() > 1 && profile_.out.empty()) {
      return fail(
          make_error(ErrorCode::kUsage, "{} to compare, each with a file of its own", plural(pairs.size(), "rank"))
              .with_path(target)
              .with_hint("-out DIR writes all of them; --rank N chooses one"));
    }
    for (const MsprobeJsonPair& pair : pairs) MSDUMP_CHECK_OK(compare_one(pair, compare));
    return conclude(pairs.size());
  }

 private:
  Status compare_one(const MsprobeJsonPair& pair, const MsprobeCompareOptions& compare) {
    return write_profile_file(session_, profile_, pair.result_name, [&](const ProfileSink& sink) -> Status {
      MSDUMP_TRY(const MsprobeCompareCounts counts,
                 write_msprobe_result(pair.target, pair.golden, compare, session_.context, sink));
      rows_ += counts.rows;
      warnings_ += counts.warning;
      errors_ += counts.error;
      failed_ += counts.failures.count;
      for (const Error& error : counts.failures.kept) session_.messages.error(error);
      return {};
    });
  }

  ExitCode conclude(size_t files) {
    std::string text = plural(static_cast<uint64_t>(rows_), "row");
    if (!profile_.out.empty()) text += fmt::format(" in {} written", plural(files, "file"));
    if (warnings_ > 0) text += fmt::format(", {} with warning", warnings_);
    if (errors_ > 0) text += fmt::format(", {} with error", errors_);
    if (failed_ > 0) text += fmt::format(", {} could not be read", plural(static_cast<uint64_t>(failed_), "file"));
    session_.messages.summary(text);
    return profile_exit_code(options_, failed_ > 0, warnings_ + errors_ > 0);
  }

  Session& session_;
  const ProfileOptions& profile_;
  const DiffOptions& options_;
  int64_t rows_ = 0, warnings_ = 0, errors_ = 0, failed_ = 0;
};

}  // namespace

ExitCode run_msprobe_profile(Session& session, const ProfileOptions& profile, const DiffOptions& options,
                             bool pandas2) {
  refuse_other_options(options);
  MsprobeCompareOptions compare;
  compare.pandas2 = pandas2;
  compare.fuzzy = profile.fuzzy;
  if (const Status taken = take_map(options.map, compare); !taken)
    return session.end_with(unusable_option_file(taken.error()));
  const auto code = ProfileWriter(session, profile, options).run(compare);
  return code ? *code : session.end_with(code.error());
}

}  // namespace msdump::cli
