#include "diff/diff_profile.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/match/rename/name_map_file.h"
#include "diff/diff_result.h"
#include "frame/terminal.h"
#include "frame/usage.h"
#include "io/atomic_file.h"
#include "io/dir_walk.h"
#include "io/json.h"
#include "profiles/msaccucmp/result.h"
#include "profiles/msprobe/result.h"
#include "profiles/result_writer.h"
#include "shared/catalogue.h"

namespace msdump::cli {
namespace {

constexpr std::string_view kProfileGroup = "Other tools";

// With pandas2, the words of pandas 2 for a null argument.
constexpr std::string_view kMsprobe = "msprobe", kMsprobePandas2 = "msprobe:pandas2", kMsaccucmp = "msaccucmp";

std::vector<std::string> profile_names() {
  return {std::string(kMsprobe), std::string(kMsprobePandas2), std::string(kMsaccucmp)};
}

}  // namespace

std::vector<Option> profile_options(ProfileOptions& options) {
  Option out =
      output_option(options.out,
                    "With --profile: a folder for the file, which is called result.csv (msaccucmp), or "
                    "compare_result_rankN.csv, compare_result_procPID.csv or, for two files, compare_result.csv "
                    "(msprobe); required for several ranks. With --shard: the part");
  out.is_common = false;
  return {
      {.names = "--profile",
       .value = OptionValue::text(options.name, "TOOL"),
       .suggestions = profile_names(),
       .group = kProfileGroup,
       .help =
           "Write the result file of another tool to stdout, with its columns and verdicts: msprobe (with pandas 3), "
           "msprobe:pandas2 or msaccucmp. Exit code 1: msprobe has a row with warning or error; msaccucmp has one "
           "without partner or metrics, with cosine <= 0.99 or with relative Euclidean distance >= 0.05",
       .use = OptionUse::kWholeRun,
       .excludes = {{"json", "--profile writes CSV, as that tool does"},
                    {"jsonl", "--profile writes CSV, as that tool does"}}},
      {.names = "--fuzzy",
       .value = OptionValue::flag(options.fuzzy),
       .group = kProfileGroup,
       .help = "With --profile msprobe: its -fm, names without call counters",
       .needs = {{"profile"}}},
      std::move(out)};
}

void check_profile_options(const ProfileOptions& profile, const DiffOptions& options) {
  if (profile.name.empty() && !profile.out.empty())
    throw UsageError("--out goes with --profile", "rows of msdump diff go to stdout: msdump diff ... --csv > FILE");
  if (!profile.name.empty() && options.fail_level != FailLevel::kAny)
    throw UsageError("--fail-on and --profile exclude each other: the exit code follows the verdicts of that tool");
}

namespace {

// Runs `write` with stdout as the sink, or with OUT/<name>.csv, which appears when it is complete.
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

// 3 when something failed, 1 when something differs and --exit-zero was not given, else 0.
ExitCode profile_exit_code(const DiffOptions& options, bool failed, bool differs) {
  if (failed) return ExitCode::kSomeFailed;
  return differs && !options.exit_zero ? ExitCode::kNo : ExitCode::kOk;
}

// ---- msprobe

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

// The mapping of msprobe that a file is, by the rules of compare/match/rename/name_map_file.h; its content is not checked.
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
    MSDUMP_TRY(const auto mapping, option_file(kind_of_map(map)));
    options.*mapping = map;
  }
  return {};
}

Result<ExitCode> run_msprobe_profile(Session& session, const ProfileOptions& profile, const DiffOptions& options) {
  refuse_other_options(options);
  MsprobeCompareOptions compare;
  compare.pandas2 = profile.name == kMsprobePandas2;
  compare.fuzzy = profile.fuzzy;
  MSDUMP_CHECK_OK(take_map(options.map, compare));
  MSDUMP_TRY(const std::string target, place_of(options, true));
  MSDUMP_TRY(const std::string golden, place_of(options, false));
  MSDUMP_TRY(const std::vector<MsprobeJsonPair> pairs, find_msprobe_pairs(target, golden));
  if (pairs.size() > 1 && profile.out.empty()) {
    return fail(
        make_error(ErrorCode::kUsage, "{} to compare, each with a file of its own", plural(pairs.size(), "rank"))
            .with_path(target)
            .with_hint("-out DIR writes all of them; --rank N chooses one"));
  }
  MsprobeCompareCounts all;
  for (const MsprobeJsonPair& pair : pairs) {
    MSDUMP_CHECK_OK(write_profile_file(session, profile, pair.result_name, [&](const ProfileSink& sink) -> Status {
      MSDUMP_TRY(MsprobeCompareCounts counts,
                 write_msprobe_result(pair.target, pair.golden, compare, session.context, sink));
      for (const Error& error : counts.failures.kept) session.messages.error(error);
      all += std::move(counts);
      return {};
    }));
  }
  const auto failed = static_cast<uint64_t>(all.failures.count);
  std::string text = plural(static_cast<uint64_t>(all.rows), "row");
  if (!profile.out.empty()) text += fmt::format(" in {} written", plural(pairs.size(), "file"));
  if (all.warning > 0) text += fmt::format(", {} with warning", all.warning);
  if (all.error > 0) text += fmt::format(", {} with error", all.error);
  if (failed > 0) text += fmt::format(", {} could not be read", plural(failed, "file"));
  session.messages.summary(text);
  return profile_exit_code(options, failed > 0, all.warning + all.error > 0);
}

// ---- msaccucmp

void refuse_other_options(const ProfileOptions& profile, const DiffOptions& options) {
  if (profile.fuzzy) throw UsageError("--fuzzy goes with --profile msprobe", "msaccucmp compares equal names");
  if (!options.map.empty()) {
    throw UsageError("--map does not go with --profile msaccucmp, which has none",
                     "its fusion rules (-f, -q, -cf) are not supported; --map works without --profile");
  }
  if (!options.selection.io.empty() || !options.selection.slot.empty())
    throw UsageError("--io and --slot do not go with --profile msaccucmp, which writes all tensors of an operator");
}

Result<Catalogue> open_side(const RunContext& context, const DiffOptions& options, bool is_candidate) {
  DumpOptions dump;
  dump.options = {is_candidate ? options.paths.front() : options.paths.back()};
  const SelectionOptions selection = is_candidate ? selection_of(options, options.rank_a, options.step_a)
                                                  : selection_of(options, options.rank_b, options.step_b);
  return open_catalogue(context, {dump, selection, {Headers::kAll}});
}

MsaccucmpSide side_of(const Catalogue& catalogue) {
  MsaccucmpSide side;
  side.side.index = &catalogue.index;
  side.side.tensors = &catalogue.list.tensors();
  side.selection = &catalogue.selection;
  return side;
}

// True if there is no tensor, whatever the selection.
bool holds_nothing(const Catalogue& catalogue) {
  const auto& files = catalogue.index.files();
  return std::none_of(files.begin(), files.end(), [](const IndexedFile& file) { return file.family != nullptr; });
}

bool nothing_chosen(const Catalogue& catalogue) {
  return catalogue.list.tensors().empty() && catalogue.list.failures().empty();
}

std::string summary_text(const MsaccucmpCounts& counts, bool to_file) {
  std::string text = plural(static_cast<uint64_t>(counts.rows), "row");
  if (to_file) text += " in 1 file written";
  if (counts.unmatched > 0) text += fmt::format(", {} without partner", counts.unmatched);
  if (counts.not_compared > 0) text += fmt::format(", {} not compared", counts.not_compared);
  if (counts.beyond > 0) text += fmt::format(", {} beyond the limits", counts.beyond);
  if (counts.left_out > 0) {
    text += fmt::format("; {} in no row, as in msaccucmp: their number or shapes differ",
                        plural(static_cast<uint64_t>(counts.left_out), "tensor"));
  }
  return text;
}

// True if the list of tensors has this failure.
bool was_listed(const Catalogue& catalogue, const Error& error) {
  for (const Error& other : catalogue.list.failures()) {
    if (other.path == error.path && (other.tensor == error.tensor || other.tensor.empty())) return true;
  }
  return false;
}

Result<ExitCode> run_msaccucmp_profile(Session& session, const ProfileOptions& profile, const DiffOptions& options) {
  refuse_other_options(profile, options);
  MSDUMP_TRY(const Catalogue a, open_side(session.context, options, true));
  MSDUMP_TRY(const Catalogue b, open_side(session.context, options, false));
  for (const Catalogue* const side : {&a, &b}) {
    if (!holds_nothing(*side)) continue;
    report_failures(session, *side);
    return conclude_listing(session, *side);
  }
  if (nothing_chosen(a) && nothing_chosen(b)) return conclude_listing(session, a);
  MsaccucmpCounts counts;
  MSDUMP_CHECK_OK(write_profile_file(session, profile, "result", [&](const ProfileSink& sink) -> Status {
    MSDUMP_TRY(counts, write_msaccucmp_result(side_of(a), side_of(b), session.context, sink));
    return {};
  }));
  report_failures(session, a);
  report_failures(session, b);
  for (const Error& error : counts.failures.kept) {
    if (!was_listed(a, error) && !was_listed(b, error)) session.messages.error(error);
  }
  session.messages.summary(summary_text(counts, !profile.out.empty()));
  const bool failed = counts.failures.count > 0 || !a.list.failures().empty() || !b.list.failures().empty();
  return profile_exit_code(options, failed,
                           counts.unmatched + counts.not_compared + counts.left_out + counts.beyond > 0);
}

}  // namespace

ExitCode run_profile(Session& session, const ProfileOptions& profile, const DiffOptions& options) {
  const std::vector<std::string> known = profile_names();
  if (std::find(known.begin(), known.end(), profile.name) == known.end()) {
    return session.end_with(make_error(ErrorCode::kUsage, "--profile: {}", unknown_word("tool", profile.name, known))
                                .with_hint("accepted are " + join_words(known, "and")));
  }
  const Result<ExitCode> code = profile.name == kMsaccucmp ? run_msaccucmp_profile(session, profile, options)
                                                           : run_msprobe_profile(session, profile, options);
  return code ? *code : session.end_with(code.error());
}

}  // namespace msdump::cli
