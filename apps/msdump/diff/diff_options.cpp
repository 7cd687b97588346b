#include "diff/diff_options.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "frame/usage.h"
#include "shared/opened_graph.h"
#include "shared/report_page.h"

namespace msdump::cli {
namespace {

constexpr const char* kToleranceGroup = "Tolerance";

void add_side(CLI::App& app, const char* name, std::string& target, const char* description) {
  app.add_option(name, target, description)->type_name("N")->group(kInputGroup);
}

std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Not negative and no NaN.
CLI::Option* add_tolerance(CLI::App& app, const std::string& name, std::optional<double>& target,
                           const std::string& description) {
  return app
      .add_option_function<std::string>(
          name,
          [&target, name](const std::string& text) {
            const auto value = number_of(text);
            if (!value || !(*value >= 0))
              throw UsageError(fmt::format("{} {}: must be a number of at least 0", name, excerpt(text)));
            target = *value;
          },
          description)
      ->type_name("X")
      ->group(kToleranceGroup);
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

void declare_tolerances(CLI::App& app, DiffOptions& options) {
  add_tolerance(
      app, "--rtol", options.rtol,
      "Elements a and b (the reference's) may differ by atol + rtol |b|. Default, by the coarser dtype of the two: "
      "float64 1e-9, float32 1e-3, float16 5e-3, bfloat16 3e-2, float8 0.2, integers 0; plus rtol times the scale "
      "of the tensor");
  add_tolerance(app, "--atol", options.atol, "See --rtol; if only one of the two is given, the other is 0");
  app.add_option("--metric", options.metric_limits, "A limit, such as cosine>=0.9999; may be repeated; --list-metrics")
      ->type_name("LIMIT")
      ->allow_extra_args(false)
      ->group(kToleranceGroup);
  app.add_option(
         "--tolerances", options.tolerance_file,
         "Rules by tensor, one per line: GLOB [rtol=X] [atol=X] [METRIC>=X ...]; GLOB matches an operator's name or "
         "name:io:slot, type:GLOB its type, dtype:GLOB its dtype; the last match applies")
      ->type_name("FILE")
      ->group(kToleranceGroup);
  app.add_option("--baseline", options.baseline, "Accepted differences, as --write-baseline wrote them")
      ->type_name("FILE")
      ->group(kToleranceGroup);
  app.add_option("--write-baseline", options.new_baseline, "Write all differences as accepted ones")
      ->type_name("FILE")
      ->group(kToleranceGroup);
  app.add_option(
         "--fail-on", options.fail_on,
         "What exit code 1 is for: any difference (default); unexplained, one that nothing explains; root, an "
         "operator that stands out, and what no model judges and no rounding makes: NaN, another shape, a tensor "
         "without partner, other networks, checkpoints, single files. Explained is what --json calls " +
             known_reasons())
      ->type_name("WHAT")
      ->group(kToleranceGroup);
  app.add_flag("--exit-zero", options.exit_zero, "Exit with 0 even if something differs")->group(kToleranceGroup);
}

}  // namespace

void declare_diff_options(CLI::App& app, DiffOptions& options) {
  add_positionals(app, "PATH", options.paths, "CANDIDATE and REFERENCE: dumps, parts of them, or files");
  add_side(app, "--a-rank", options.rank_a, "Candidate rank; with one PATH both sides come from it");
  add_side(app, "--b-rank", options.rank_b, "Reference rank");
  add_side(app, "--a-step", options.step_a, "Candidate step");
  add_side(app, "--b-step", options.step_b, "Reference step");
  add_ir_option(app, options.ir, "search in and next to each dump");
  app.add_option("--map", options.map,
                 "Pairs names of the candidate with names of the reference: two columns of CSV, lines such as "
                 "blocks=layers that "
                 "rename parts of paths, or msprobe's data, cell, api or layer mapping. With --profile msprobe: one of "
                 "msprobe's "
                 "four, or the words cell, api and layer for its -cm, -am and -lm without a file")
      ->type_name("FILE")
      ->group(kInputGroup);
  app.add_option("--layout", options.layout_file,
                 "How tensors lie on the ranks of runs that are cut differently, where that is known: lines such as "
                 "*.up.* = concat(axis=1; ranks=0-3), reference:GLOB = .. of the reference; the last match applies")
      ->type_name("FILE")
      ->group(kInputGroup);
  add_selection_options(app, options.selection);
  declare_tolerances(app, options);
  add_number(app, "--worst", options.worst, 1, 100'000, "List the N worst elements of each tensor that differs")
      ->group(kOutputGroup);
  app.add_flag("--by-axis", options.by_axis, "Show along which axis, and where on it, the error lies")
      ->group(kOutputGroup);
  app.add_option("--metrics", options.more_metrics, "Metrics that cost a second pass: kl")
      ->type_name("NAME")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kOutputGroup);
  app.add_flag("--list-metrics", options.list_metrics, "Print the metrics with their formulas")->group(kOutputGroup);
  app.add_option("--write-layout", options.new_layout_file, "Write the layouts that were found, as --layout reads them")
      ->type_name("FILE")
      ->group(kOutputGroup);
  app.add_flag("--all", options.all, "Show the tensors that agree in the table, too")->group(kOutputGroup);
  app.add_option("--explain", options.explain,
                 "Account for one operator instead: its inputs with their errors, what is expected of it and why, its "
                 "siblings, and why it is or is not a root; its name, the end of it, or a glob")
      ->type_name("OP")
      ->group(kOutputGroup);
  add_page_option(app, options.report);
  add_shard_option(app, options.sharding);
  add_part_resume(app, options.sharding);
  add_report_options(app, options.form);
}

void check_diff_options(DiffOptions& options) {
  const std::vector<std::string> levels = {"any", "unexplained", "root"};
  const auto level = std::find(levels.begin(), levels.end(), options.fail_on);
  if (level == levels.end())
    throw UsageError("--fail-on: " + unknown_word("reason", options.fail_on, levels),
                     "accepted are " + join_words(levels, "and"));
  options.fail_level = static_cast<FailLevel>(level - levels.begin());
  if (!options.explain.empty() && (options.form == report::Form::kCsv || options.form == report::Form::kJsonl))
    throw UsageError("--explain has no rows: it goes with text and --json", "omit --csv or --jsonl");
  const bool by_rank = !options.rank_a.empty() || !options.rank_b.empty();
  const bool by_step = !options.step_a.empty() || !options.step_b.empty();
  if (by_rank && !options.selection.rank.empty()) throw UsageError("--rank goes with neither --a-rank nor --b-rank");
  if (by_step && !options.selection.step.empty()) throw UsageError("--step goes with neither --a-step nor --b-step");
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
  if (options.paths.size() != 2) {
    throw UsageError(options.paths.empty() ? "two dumps are needed"
                                           : fmt::format("two dumps are compared, {} are given", options.paths.size()),
                     "msdump diff CANDIDATE REFERENCE: the dump in question, then what it should be");
  }
  for (const std::string& name : options.more_metrics) {
    if (name == "kl") continue;
    const bool known = find_metric(name) != nullptr;
    throw UsageError(known ? fmt::format("--metrics {}: it is always computed; only kl must be requested", name)
                           : fmt::format("--metrics {}: no such metric", excerpt(name)),
                     "--list-metrics names all");
  }
}

Error unusable_option_file(Error error) {
  error.code = ErrorCode::kUsage;
  return error;
}

Result<DiffRules> diff_rules(const DiffOptions& options) {
  DiffRules rules;
  rules.tolerance.rtol = options.rtol;
  rules.tolerance.atol = options.atol;
  for (const std::string& text : options.metric_limits) {
    MSDUMP_TRY(MetricLimit limit, parse_metric_limit(text));
    rules.limits.push_back(limit);
  }
  rules.kl = !options.more_metrics.empty() || needs_kl(rules.limits);
  if (!options.tolerance_file.empty()) {
    MSDUMP_TRY(rules.by_tensor, ToleranceRules::read(options.tolerance_file));
    for (const ToleranceRule& rule : rules.by_tensor->rules()) rules.kl = rules.kl || needs_kl(rule.limits);
  }
  if (!options.baseline.empty()) {
    MSDUMP_TRY(rules.baseline, Baseline::read(options.baseline));
  }
  return rules;
}

}  // namespace msdump::cli
