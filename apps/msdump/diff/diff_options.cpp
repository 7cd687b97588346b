#include "diff/diff_options.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "frame/usage.h"
#include "shared/ci_files.h"
#include "shared/opened_graph.h"
#include "shared/recomputed.h"
#include "shared/report_page.h"

namespace msdump::cli {
namespace {

constexpr uint32_t kMostTop = 1'000'000'000;
constexpr std::string_view kToleranceGroup = "Tolerance";

Option side_option(const char* name, std::string& target, const char* help, std::string_view excluded) {
  return {.names = name,
          .value = OptionValue::text(target, "N"),
          .group = kInputGroup,
          .help = help,
          .excludes = {{excluded}}};
}

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The options of msdump's own verdicts and rows exclude --profile.
OptionRule not_profile() { return {"profile", "--profile writes the file of another tool, as that tool judges"}; }

Option tolerance_option(const std::string& name, std::string_view other_names, std::optional<double>& target,
                        const std::string& help) {
  const auto take = [&target, name](const std::string& text) {
    const auto value = number_of(text);
    if (!value || !(*value >= 0))  // a NaN is refused, too
      throw UsageError(fmt::format("{} {}: must be a number of at least 0", name, excerpt(text)));
    target = *value;
  };
  return {.names = name,
          .other_names = other_names,
          .is_common = true,
          .value = OptionValue::text(take, "X"),
          .group = kToleranceGroup,
          .help = help,
          .excludes = {not_profile()}};
}

// "noise (its error is what ..); downstream (..)"
std::string known_reasons() {
  std::string text;
  for (size_t i = 1; i <= static_cast<size_t>(last_of(Explanation())); ++i) {
    const auto one = static_cast<Explanation>(i);
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", name_of(one), text_of(one));
  }
  return text;
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Metric& metric : all_metrics()) names.emplace_back(metric.name);
  return names;
}

std::vector<Option> tolerance_options(DiffOptions& options) {
  return {
      tolerance_option(
          "--rtol", "tolerance threshold tol rel eps max-diff max-error", options.rtol,
          "Elements a and b (the reference's) may differ by atol + rtol |b|. Default, by the coarser dtype of the two: "
          "float64 1e-9, float32 1e-3, float16 5e-3, bfloat16 3e-2, float8 0.2, integers 0; plus rtol times the scale "
          "of the tensor"),
      tolerance_option("--atol", "abs", options.atol, "See --rtol; if only one of the two is given, the other is 0"),
      {.names = "--metric",
       .other_names = "cosine rmse relative-l2 min-cosine",
       .value = OptionValue::texts(options.metric_limits, "LIMIT"),
       .suggestions = metric_names(),
       .group = kToleranceGroup,
       .help = "A limit, such as cosine>=0.9999, or several of which one has to hold: 'relative_l2<=0.01 or "
               "max_abs<=1e-3'; may be repeated; --list-metrics",
       .excludes = {not_profile()}},
      {.names = "--tolerances",
       .value = OptionValue::text(options.tolerance_file, "FILE"),
       .group = kToleranceGroup,
       .help = "Rules by tensor, one per line: GLOB [rtol=X] [atol=X] [METRIC>=X [or METRIC>=X] ...]; GLOB matches an "
               "operator's name or name:io:slot, type:GLOB its type, dtype:GLOB its dtype; the last match applies",
       .excludes = {not_profile()}},
      {.names = "--require-rule",
       .value = OptionValue::flag(options.require_rule),
       .group = kToleranceGroup,
       .help =
           "A tensor that no rule of --tolerances is for differs, even if it is equal, and fails at every --fail-on",
       .needs = {{"tolerances"}}},
      {.names = "--baseline",
       .value = OptionValue::text(options.baseline, "FILE"),
       .group = kToleranceGroup,
       .help = "Accepted differences, as --write-baseline wrote them",
       .excludes = {not_profile()}},
      {.names = "--baseline-stale",
       .value = OptionValue::choice<bool>(options.use_stale, {{"refuse", false}, {"use", true}}, {"choice"}),
       .group = kToleranceGroup,
       .help =
           "What to do with a baseline that was made of something else: another writer or version, dtype, number of "
           "ranks, or other operators of the reference. Refuse it, or use what still fits",
       .otherwise = "refuse",
       .needs = {{"baseline"}}},
      {.names = "--write-baseline",
       .value = OptionValue::text(options.new_baseline, "FILE"),
       .group = kToleranceGroup,
       .help = "Write all differences as accepted ones, and what they are of",
       .use = OptionUse::kOutput,
       .excludes = {not_profile()}},
      {.names = "--fail-on",
       .other_names = "fail-level",
       .is_common = true,
       .value = OptionValue::choice<FailLevel>(
           options.fail_level,
           {{"any", FailLevel::kAny}, {"unexplained", FailLevel::kUnexplained}, {"root", FailLevel::kRoot}},
           {"reason"}),
       .group = kToleranceGroup,
       .help = "What exit code 1 is for: any difference (default); unexplained, one that nothing explains; root, an "
               "operator that stands out, and what no model judges and no rounding makes: NaN, another shape, a tensor "
               "without partner, other networks, checkpoints, single files. Explained is what --json calls " +
               known_reasons()},
      {.names = "--exit-zero",
       .other_names = "no-fail",
       .value = OptionValue::flag(options.exit_zero),
       .group = kToleranceGroup,
       .help = "Exit with 0 even if something differs"}};
}

}  // namespace

void declare_diff_options(OptionTable& table, DiffOptions& options) {
  Option ir = ir_option(options.ir, "search in and next to each dump");
  ir.excludes = {not_profile()};
  Option page = page_option(options.report);
  page.excludes = {not_profile()};
  Option junit = junit_option(options.junit, "what differs");
  junit.is_common = false;
  junit.excludes = {not_profile()};
  Option summary = summary_option(options.summary);
  summary.excludes = {not_profile()};
  table.add(
      {arguments_option("PATH", options.paths, "CANDIDATE and REFERENCE: dumps, parts of them, or files"),
       side_option("--a-rank", options.rank_a, "Candidate rank; with one PATH both sides come from it", "rank"),
       side_option("--b-rank", options.rank_b, "Reference rank", "rank"),
       side_option("--a-step", options.step_a, "Candidate step", "step"),
       side_option("--b-step", options.step_b, "Reference step", "step"),
       std::move(ir),
       {.names = "--map",
        .other_names = "mapping name-map",
        .value = OptionValue::text(options.map, "FILE"),
        .group = kInputGroup,
        .help = "Pairs names of the candidate with names of the reference: two columns of CSV, lines such as "
                "blocks=layers that rename parts of paths, or msprobe's data, cell, api or layer mapping. With "
                "--profile msprobe: one of msprobe's four, or the words cell, api and layer for its -cm, -am and -lm "
                "without a file"},
       {.names = "--layout",
        .value = OptionValue::text(options.layout_file, "FILE"),
        .group = kInputGroup,
        .help = "How tensors lie on the ranks of runs that are cut differently, where that is known: lines such as "
                "*.up.* = concat(axis=1; ranks=0-3), reference:GLOB = .. of the reference; the last match applies"},
       {.names = "--tokens",
        .other_names = "rollout token-aligner align packed padded",
        .value = OptionValue::flag([&options] { options.tokens = TokenUse::kAlways; }),
        .group = kInputGroup,
        .help =
            "Compare rows by the tokens that they are of, which the ids and positions in the dumps tell: a rollout "
            "with a training step, packed sequences with padded ones. Without it, that is done where the ids of both "
            "sides have other shapes and are of the same sequences",
        .excludes = {not_profile(), {"no-tokens"}}},
       {.names = "--no-tokens",
        .value = OptionValue::flag([&options] { options.tokens = TokenUse::kNever; }),
        .group = kInputGroup,
        .help = "Compare rows as they are",
        .excludes = {not_profile()}},
       {.names = "--tokenizer",
        .other_names = "vocabulary vocab decode",
        .value = OptionValue::text(options.tokenizer_file, "FILE"),
        .group = kInputGroup,
        .help = "Also show the texts of tokens: a tokenizer.json of Hugging Face, of which the vocabulary is read",
        .excludes = {not_profile(), {"no-tokens"}, {"weights"}}},
       {.names = "--weights",
        .other_names = "sync synchronisation synchronization stale checkpoints",
        .value = OptionValue::flag(options.weights),
        .group = kInputGroup,
        .help = "Compare parameters alone, also those of dumps. With several REFERENCEs, or one with several versions "
                "(global_step_41/, global_step_42/): which of them each parameter is of",
        .excludes = {not_profile(), {"tokens"}, {"explain", "parameters have no operators"}, {"shard"}}}});
  table.add(selection_options(options.selection));
  table.add(tolerance_options(options));
  Option values = values_option(options.values, "Print the elements of both sides instead");
  values.other_names = "";
  values.use = OptionUse::kOutput;
  values.excludes = excluded_forms("--values is for people; msdump info --values has JSON");
  values.excludes.push_back(not_profile());
  table.add(std::move(values));
  table.add(
      {{.names = "--worst",
        .other_names = "top elements",
        .value = OptionValue::number(options.worst, 1, 100'000),
        .group = kOutputGroup,
        .help = "List the N worst elements of each tensor that differs",
        .excludes = {not_profile()}},
       {.names = "--by-axis",
        .value = OptionValue::flag(options.by_axis),
        .group = kOutputGroup,
        .help = "Show along which axis, and where on it, the error lies",
        .excludes = {not_profile()}},
       {.names = "--metrics",
        .value = OptionValue::texts(options.more_metrics, "NAME", ','),
        .suggestions = {"kl"},
        .group = kOutputGroup,
        .help = "Metrics that cost a second pass: kl",
        .excludes = {not_profile()}},
       {.names = "--list-metrics",
        .value = OptionValue::flag(options.list_metrics),
        .group = kOutputGroup,
        .help = "Print the metrics with their formulas"},
       {.names = "--write-layout",
        .value = OptionValue::text(options.new_layout_file, "FILE"),
        .group = kOutputGroup,
        .help = "Write the layouts that were found, as --layout reads them",
        .use = OptionUse::kOutput},
       {.names = "--all",
        .other_names = "full",
        .value = OptionValue::flag([&options] { options.rows = RowsShown::kAll; }),
        .group = kOutputGroup,
        .help = "The same as --rows all",
        .use = OptionUse::kOutput,
        .excludes = {not_profile(), {"rows"}}},
       {.names = "--rows",
        .is_common = true,
        .value = OptionValue::choice<RowsShown>(options.rows,
                                                {{"roots", RowsShown::kRoots},
                                                 {"unexplained", RowsShown::kUnexplained},
                                                 {"differ", RowsShown::kDiffer},
                                                 {"all", RowsShown::kAll}},
                                                {"choice of rows"}),
        .group = kOutputGroup,
        .help = "Rows of the causes only, also those that nobody explains, all that differ, or all; without it, a "
                "table has "
                "at most 20 that answer the question",
        .use = OptionUse::kOutput,
        .excludes = {not_profile()}},
       {.names = "--top",
        .value = OptionValue::number(options.top, 1, kMostTop),
        .group = kOutputGroup,
        .help = "At most N rows",
        .use = OptionUse::kOutput,
        .excludes = {not_profile()}},
       {.names = "--sort",
        .value = OptionValue::choice<RowOrder>(options.sort, {{"order", RowOrder::kOrder}, {"size", RowOrder::kSize}},
                                               {"order of rows"}),
        .group = kOutputGroup,
        .help = "Rows in the order of execution, or the largest error first",
        .use = OptionUse::kOutput,
        .excludes = {not_profile()}},
       recompute_option(options.recompute, kOtherGroup, "Compute operators that differ again, also in large dumps",
                        {not_profile(), {"no-recompute"}}),
       {.names = "--no-recompute",
        .value = OptionValue::flag(options.no_recompute),
        .group = kOtherGroup,
        .help = "Do not compute operators that differ again from their own inputs",
        .excludes = {not_profile()}},
       {.names = "--explain",
        .other_names = "why",
        .is_common = true,
        .value = OptionValue::text(options.explain, "OP"),
        .group = kOutputGroup,
        .help = "Account for one operator instead: its inputs with their errors, what is expected of it and why, "
                "similar operators, and why it is or is not a root; its name, the end of it, or a glob",
        .excludes = {not_profile(), {"csv", "--explain has no rows"}, {"jsonl", "--explain has no rows"}}},
       std::move(junit),
       std::move(summary),
       std::move(page),
       shard_option(options.sharding),
       part_resume_option(options.sharding)});
  table.add(report_options(options.form));
}

void check_diff_options(DiffOptions& options) {
  check_file_name("--junit", options.junit);
  check_file_name("--summary", options.summary);
  if (!options.values.slice.empty() && !looks_like_index(options.values.slice))
    throw UsageError("--values: '" + options.values.slice + "' is no index",
                     "both paths come before --values; an index is written as in numpy: 0,:,2:5  ...,-1  ::2");
  if (options.paths.size() == 1) {
    const bool both =
        (!options.rank_a.empty() && !options.rank_b.empty()) || (!options.step_a.empty() && !options.step_b.empty());
    if (!both) {
      throw UsageError(
          "one dump is given; the reference is missing",
          "msdump diff CANDIDATE REFERENCE, or one dump with --a-rank and --b-rank, or --a-step and --b-step");
    }
    options.paths.push_back(options.paths.front());
  }
  if (options.weights && options.paths.size() > 2) {
    options.versions.assign(options.paths.begin() + 1, options.paths.end());
    options.paths.resize(2);
  }
  if (options.paths.size() != 2) {
    throw UsageError(options.paths.empty() ? "two dumps are needed"
                                           : fmt::format("two dumps are compared, {} are given", options.paths.size()),
                     "msdump diff CANDIDATE REFERENCE: the dump in question, then what it should be");
  }
  const bool any_folder = std::any_of(options.paths.begin(), options.paths.end(),
                                      [](const std::string& path) { return path_kind(path) == PathKind::kDirectory; });
  if (options.values.given && any_folder && !chooses_tensors(options.selection))
    throw UsageError("--values prints the elements of an operator's tensors, and none is chosen",
                     "--op NAME chooses one; msdump ls lists all");
  for (const std::string& name : options.more_metrics) {
    const Metric* const known = find_metric(name);
    if (known != nullptr && known->on_request) continue;
    throw UsageError(known != nullptr
                         ? fmt::format("--metrics {}: it is always computed; only kl must be requested", name)
                         : fmt::format("--metrics {}: no such metric", excerpt(name)),
                     "--list-metrics names all");
  }
}

Result<DiffRules> diff_rules(const DiffOptions& options) {
  DiffRules rules;
  rules.tolerance.rtol = options.rtol;
  rules.tolerance.atol = options.atol;
  for (const std::string& text : options.metric_limits) {
    MSDUMP_TRY(const std::vector<MetricLimit> limits, option_file(parse_alternatives(text)));
    rules.limits.insert(rules.limits.end(), limits.begin(), limits.end());
  }
  rules.on_request = !options.more_metrics.empty() || need_request(rules.limits);
  if (!options.tolerance_file.empty()) {
    MSDUMP_TRY(rules.by_tensor, option_file(ToleranceRules::read(options.tolerance_file)));
    rules.require_rule = options.require_rule;
    for (const ToleranceRule& rule : rules.by_tensor->rules())
      rules.on_request = rules.on_request || need_request(rule.limits);
  }
  if (!options.baseline.empty()) {
    MSDUMP_TRY(rules.baseline, option_file(Baseline::read(options.baseline)));
  }
  return rules;
}

}  // namespace msdump::cli
