// msdump check: finds non-finite, saturated, unchanged and missing tensors in one dump, and the first operator that is
// at fault.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "check/began/monitor_tables.h"
#include "check/check.h"
#include "check/check_options.h"
#include "check/check_page.h"
#include "check/check_rows.h"
#include "check/check_text.h"
#include "check/tree/tool_results.h"
#include "check/trend.h"
#include "check/values/reference_dump.h"
#include "check/values/value_rules.h"
#include "frame/cli.h"
#include "frame/usage.h"
#include "info/tree_facts.h"
#include "shared/began_report.h"
#include "shared/ci_files.h"
#include "shared/opened_graph.h"
#include "shared/recomputed.h"
#include "shared/report_page.h"

namespace msdump::cli {
namespace {

constexpr std::string_view kRuleGroup = "Rules";

const CommandInfo& check_info() {
  static const CommandInfo info{
      .name = "check",
      .order = 55,
      .summary = "what is wrong in one dump: NaN, overflow, what is missing",
      .usage = "[-d] DUMP [--first | --trend] [--rule RULE]... [OPTIONS]",
      .description =
          "Reads every tensor of a dump once, or its statistics if only these were dumped. Reports values that are "
          "not finite, at the edge of their type, constant, unchanged or out of range; overflows that the device "
          "recorded; what failed in results of msprobe's tools; and missing files, steps and operators. Compares "
          "ranks: what collectives gave them, and the tensors that they should have in common. Names the first "
          "operator along the data flow that makes NaN or an infinity out of finite inputs, with its source line, and "
          "the first place where ranks that had the "
          "same differ. Over 8 steps or more, also in tables of msprobe's monitor, names the step and the tensor with "
          "which the training began to behave otherwise.",
      .examples = {{"msdump check -d dump --first",
                    "the first operator that makes NaN or an infinity, where ranks differ first, and nothing else"},
                   {"msdump check -d dump", "all findings, worst first"},
                   {"msdump check -d dump --rule 'too_large:max_gt=1e4' --rule constant:off", "rules of your own"},
                   {"msdump check -d dump --trend --op '*weight*'", "how weights move from step to step"},
                   {"msdump check -d monitor_output --trend --op-type grad_reduced", "the same of msprobe's monitor"},
                   {"msdump check -d monitor_output --rule none --rule began",
                    "when the training began to behave otherwise, and nothing else"},
                   {"msdump check -d dump --report check.html", "one page to look at and to pass on"},
                   {"msdump check -d dump --junit check.xml --fail-level error", "in CI"}},
      .done = "nothing at or above --fail-level",
      .no = "something was found, or the selection matched nothing",
      .answers = true,
      .other_names = {{"overflow overflow_check anomaly anomalies findings health diagnose"}}};
  return info;
}

std::vector<std::string> rule_names() {
  std::vector<std::string> names = {"none", "default", "all"};
  for (const check::RuleInfo& rule : check::all_rules()) names.emplace_back(rule.name);
  return names;
}

class Check : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return check_info(); }

  void declare(OptionTable& options) override {
    constexpr std::string_view kNoFindings = "--trend applies no rules and has no findings";
    Option page = page_option(options_.report);
    page.excludes = {{"trend", kNoFindings}};
    Option junit = junit_option(options_.junit, "the findings");
    junit.excludes = {{"trend", kNoFindings}};
    Option summary = summary_option(options_.summary);
    summary.excludes = {{"trend", kNoFindings}};
    options.add(dump_options(options_.graph.dump));
    options.add(ir_option(options_.graph.ir, "search in and next to the dump"));
    options.add(selection_options(options_.graph.selection));
    options.add(rule_options());
    options.add({{.names = "--watched",
                  .value = OptionValue::texts(options_.watched, "GLOB"),
                  .group = kRuleGroup,
                  .help = "The operators whose outputs CANN's watcher mode watched, where the names of the dump do not "
                          "tell: LAYER_To_GLOB is the output of GLOB after LAYER ran; may be repeated"},
                 recompute_option(options_.recompute, kRuleGroup,
                                  "Compute every operator again from its own dumped inputs, also in large dumps (rule "
                                  "wrong_output)",
                                  {{"no-recompute"}, {"first"}, {"trend", kNoFindings}}),
                 {.names = "--no-recompute",
                  .value = OptionValue::flag(options_.no_recompute),
                  .group = kRuleGroup,
                  .help = "Do not compute operators again; the same as --rule wrong_output:off"},
                 golden_option(),
                 standard_option(),
                 {.names = "--ref",
                  .other_names = "reference",
                  .value = OptionValue::text(options_.reference, "PATH"),
                  .group = kRuleGroup,
                  .help = "With --standard: the outputs of another device for the same inputs",
                  .use = OptionUse::kWholeRun,
                  .needs = {{"standard"}}},
                 {.names = "--first",
                  .other_names = "nan inf first-nan",
                  .is_common = true,
                  .value = OptionValue::flag(options_.first),
                  .group = kOutputGroup,
                  .help = "Only search for the first operator that makes NaN or an infinity, and for the first place "
                          "where ranks that had the same differ; stop there"},
                 {.names = "--trend",
                  .other_names = "history curve loss",
                  .is_common = true,
                  .value = OptionValue::flag(options_.trend),
                  .group = kOutputGroup,
                  .help = "Each tensor over the steps: a line with norms for people, rows of min, max, mean, norm for "
                          "scripts",
                  .excludes = {{"first"}, {"rule", kNoFindings}, {"rules", kNoFindings}}},
                 {.names = "--all",
                  .other_names = "full",
                  .is_common = true,
                  .value = OptionValue::flag(options_.all),
                  .group = kOutputGroup,
                  .help = "Show notes and every row in the table",
                  .use = OptionUse::kOutput},
                 std::move(junit),
                 std::move(summary),
                 std::move(page)});
    options.add(part_options(options_.sharding, options_.part));
    options.add(report_options(options_.form));
  }

  [[nodiscard]] std::vector<report::DocumentType> documents() const override {
    return {
        {.name = "check",
         .text = "The findings.",
         .row = &finding_type(),
         .summary = &check_summary_type(),
         .further = {{.key = "first",
                      .type = "object|null",
                      .text = "the first operator that makes NaN or an infinity",
                      .of = first_type},
                     {.key = "first_apart",
                      .type = "object|null",
                      .text = "the first place at which ranks differ that should agree",
                      .of = first_apart_type},
                     {.key = "began",
                      .type = "object|null",
                      .text = "in a dump of several steps: with which tensor, and when, it began to behave otherwise",
                      .of = began_type},
                     {.key = "recompute",
                      .type = "object[]",
                      .text = "outputs that are not what the operator's own dumped inputs lead to",
                      .of = recomputed_output_type},
                     {.key = "golden",
                      .type = "object[]",
                      .text = "outputs that --golden or --standard asks for",
                      .of = golden_type}}},
        {.name = "check --trend",
         .text = "Tensors over the steps, a row for each step.",
         .row = &trend_type(),
         .summary = &trend_summary_type()},
        {.name = "check --list-rules", .text = "The rules.", .row = &rule_rows().type()}};
  }

  ExitCode run(Session& session) override {
    check_file_name("--junit", options_.junit);
    check_file_name("--summary", options_.summary);
    if (options_.list_rules) return list_rules(session);
    if (options_.sharding.shard) check_shard_options(session);
    if (const Status possible = check_page_path(options_.report); !possible) return session.end_with(possible.error());
    check_standard();
    Result<check::RuleSet> rules = rules_of(options_);
    if (!rules) return end_before_checking(session, rules.error());
    if (only_asks_when_it_began(*rules)) {
      const Result<std::optional<ExitCode>> code = check_tables(session, *rules);
      if (!code) return end_before_checking(session, code.error());
      if (*code) return **code;
    }
    const Result<std::unique_ptr<OpenedCheck>> result =
        open_check(session, options_.graph, std::move(*rules), options_.watched);
    if (!result) return end_before_checking(session, result.error());
    const OpenedCheck& opened = **result;
    opened.run->recompute = options_.recompute;
    if (const Status asked = ask_for_golden(session, opened); !asked)
      return end_before_checking(session, asked.error());
    if (const Status same = check_inputs(session, {&opened.catalogue().index}); !same)
      return end_before_checking(session, same.error());
    if (options_.sharding.shard) return write_part(session, opened);
    if (!opened.has_tensors() || !opened.run->selects_any()) return end_without_tensors(session, opened);
    return options_.trend ? print_trend(session, opened) : check(session, opened);
  }

 private:
  // Ends a run that could not begin.
  ExitCode end_before_checking(Session& session, const Error& error) const {
    const ExitCode code = session.end_with(error);
    if (error.code == ErrorCode::kCancelled) return code;
    const Status written =
        write_unbegun({"check", "No tensor was checked", error, code}, options_.junit, options_.summary);
    if (!written) session.messages.error(written.error());
    return code;
  }

  std::vector<Option> rule_options() {
    return {{.names = "--rule",
             .value = OptionValue::texts(options_.rules, "RULE"),
             .suggestions = rule_names(),
             .group = kRuleGroup,
             .help = "Turn a rule on, with parameters of your own (NAME:param=value,..), or off (NAME:off); none, "
                     "default and all reset the set; may be repeated"},
            {.names = "--rules",
             .value = OptionValue::text(options_.rules_file, "FILE"),
             .group = kRuleGroup,
             .help = "File of rules that replaces the default set, one per line"},
            {.names = "--list-rules",
             .value = OptionValue::flag(options_.list_rules),
             .group = kRuleGroup,
             .help = "Print the rules with their parameters and formulas"},
            {.names = "--fail-level",
             .other_names = "fail-on severity level strict",
             .is_common = true,
             .value = OptionValue::choice<Severity>(
                 options_.fail_level,
                 {{"error", Severity::kError}, {"warning", Severity::kWarning}, {"note", Severity::kNote}}, {"level"}),
             .group = kRuleGroup,
             .help = "Exit code 1 from this severity on",
             .otherwise = "warning"}};
  }

  // True if rule `began` is all that is asked for, of everything.
  [[nodiscard]] bool only_asks_when_it_began(const check::RuleSet& rules) const {
    const auto all = check::all_rules();
    const bool others = std::any_of(all.begin(), all.end(), [&](const check::RuleInfo& rule) {
      return rules.on(rule.id) != (rule.id == check::RuleId::kBegan);
    });
    const bool files = !options_.junit.empty() || !options_.summary.empty() || !options_.report.empty();
    const Result<Selection> selection = Selection::compile(options_.graph.selection);
    return !others && !files && !options_.first && !options_.trend && !options_.sharding.shard &&
           rules[check::RuleId::kBegan].ops.empty() && selection && selection->everything();
  }

  // Tables of a monitor may have more rows than fit into memory. No value if the dump has anything else.
  Result<std::optional<ExitCode>> check_tables(Session& session, const check::RuleSet& rules) const {
    MSDUMP_TRY(const std::vector<std::string> paths, resolve_dumps(options_.graph.dump, session.context.cancel));
    MSDUMP_TRY(const DumpIndex index, DumpIndex::build(paths, {{}, &session.context.cancel, &session.context.pool}));
    if (!check::is_monitor_output(index)) return std::optional<ExitCode>();
    const std::vector<TensorRecord> none;
    check::CheckRun run(DumpWithGraph{&index, &none}, rules);
    MSDUMP_CHECK_OK(check::check_tables(run, session.context));
    session.context.progress->stop();
    if (run.report.table_rows == 0) return std::optional<ExitCode>();  // nothing was judged, which is said elsewhere
    std::vector<report::Object> failures;
    for (const Error& error : run.report.failures) failures.push_back(relative_failure(index, error));
    print_findings(session, run, std::move(failures));
    for (const Error& error : run.report.failures) session.messages.error(error);
    session.messages.summary(check_summary_text(run));
    if (!run.report.failures.empty()) return std::optional(ExitCode::kSomeFailed);
    return std::optional(is_failing(run) ? ExitCode::kNo : ExitCode::kOk);
  }

  Option golden_option() {
    return {
        .names = "--golden",
        .value = OptionValue::text(options_.golden, "DIR"),
        .group = kRuleGroup,
        .help =
            "Also write what each output should be, computed from the operator's inputs, as .npy below DIR, named as "
            "convert names the arrays",
        .use = OptionUse::kWholeRun,
        .excludes = {{"no-recompute"}, {"first"}, {"trend"}}};
  }

  Option standard_option() {
    using recompute::Standard;
    std::vector<std::pair<std::string, Standard>> standards;
    for (const Standard one : {Standard::kOpen, Standard::kL0, Standard::kL1, Standard::kL2})
      standards.emplace_back(name_of(one), one);
    return {.names = "--standard",
            .value = OptionValue::choice(options_.standard, standards, {"standard"}),
            .group = kRuleGroup,
            .help =
                "Judge outputs by a precision standard of CANN: cann by what they should be alone; a level by the "
                "errors of another device, too (--ref)",
            .use = OptionUse::kWholeRun,
            .excludes = {{"no-recompute"}, {"first"}, {"trend"}}};
  }

  void check_standard() const {
    const bool needs = options_.standard && *options_.standard != recompute::Standard::kOpen;
    if (needs && options_.reference.empty())
      throw UsageError(fmt::format("--standard {} compares with another device", name_of(*options_.standard)),
                       "--ref takes its outputs for the same inputs; --standard cann needs none");
    if (!needs && !options_.reference.empty()) throw UsageError("--standard cann takes no --ref");
  }

  // --golden and --standard.
  Status ask_for_golden(Session& session, const OpenedCheck& opened) {
    recompute::GoldenRequest& request = opened.run->golden;
    request.folder = options_.golden;
    request.version = version_number();
    request.standard = options_.standard;
    if (request.is_empty()) return {};
    opened.run->recompute = recompute::Extent::kAll;
    if (!options_.golden.empty()) MSDUMP_CHECK_OK(check_golden_folder(opened.catalogue().index));
    if (options_.reference.empty()) return {};
    DumpOptions of_reference;
    of_reference.options = {options_.reference};
    const SelectionOptions everything;
    MSDUMP_TRY(Catalogue reference,
               open_catalogue(session.context, {of_reference, everything, {Headers::kWhereNeeded}}));
    for (const Error& error : reference.list.failures()) session.messages.warning(error);
    reference_ = std::make_unique<check::ReferenceDump>(std::move(reference), opened.run->dump);
    request.reference = [this](TensorId tensor) { return reference_->output(tensor); };
    return {};
  }

  // The next run would take the files for tensors of the dump.
  [[nodiscard]] Status check_golden_folder(const DumpIndex& index) const {
    namespace fs = std::filesystem;
    std::error_code failed;
    const std::string folder = fs::weakly_canonical(fs::absolute(options_.golden, failed), failed).string() + '/';
    for (const std::string& path : index.paths()) {
      const fs::path dump = fs::weakly_canonical(path, failed);
      const bool is_inside = fs::is_directory(dump, failed) ? folder.starts_with(dump.string() + '/')
                                                            : folder == dump.parent_path().string() + '/';
      if (is_inside)
        return fail(make_error(ErrorCode::kUsage, "--golden: {} lies in the dump", options_.golden)
                        .with_hint("name a folder beside it"));
    }
    return {};
  }

  // Ascend writes records of overflows whether or not tensors are dumped; results of tools often lie alone.
  static bool has_records(const OpenedCheck& opened) {
    const auto& files = opened.catalogue().index.files();
    return !opened.catalogue().list.overflows().empty() ||
           std::any_of(files.begin(), files.end(), [](const IndexedFile& file) {
             return kind_in_tree(file) == FileKind::kOpdebug || check::has_tool_results(file.kind);
           });
  }

  ExitCode write_part(Session& session, const OpenedCheck& opened) const {
    PartRun part(session, options_.sharding, options_.part, {&opened.catalogue().index});
    if (part.is_done()) return ExitCode::kOk;
    const check::CheckUnits units = check::check_units(*opened.run);
    const std::vector<bool> own = part.take(units.bytes);
    std::vector<bool> tensors(opened.run->dump.tensors(), false);
    for (size_t i = 0; i < own.size(); ++i) tensors[units.tensors[i]] = own[i];
    opened.run->facts.limit_to(tensors);
    Status done = opened.run->facts.read_all(part.context());
    if (done && !options_.first && !options_.trend) {
      std::vector<ExecutionId> runs;
      const std::vector<bool> shared = part.share(units.bytes_of_runs);
      for (size_t i = 0; i < shared.size(); ++i) {
        if (shared[i]) runs.push_back(units.runs[i]);
      }
      done = check::recompute_share(*opened.run, runs, part.context());
    }
    return done ? part.finish("tensor") : session.end_with(done.error());
  }

  ExitCode list_rules(Session& session) const {
    const Result<check::RuleSet> rules = rules_of(options_);
    if (!rules) return session.end_with(rules.error());
    const auto sink = session.open_report(options_.form, {}, rule_rows().columns());
    for (const check::RuleInfo& rule : check::all_rules()) {
      if (!sink->row(rule_rows().row({rule, *rules}))) break;
    }
    (void)sink->finish({});
    return ExitCode::kOk;
  }

  // Ends a check that has no tensors or selects none. A dump without tensors may still have overflow records and missing
  // files to report.
  ExitCode end_without_tensors(Session& session, const OpenedCheck& opened) const {
    const bool reports = !opened.catalogue().list.failures().empty() || has_records(opened);
    if (!opened.has_tensors() && reports && !options_.trend) return check(session, opened);
    (void)say_failures(session, opened);
    const ExitCode code = conclude_listing(session, opened.catalogue());
    // A requested document is written whenever there is a dump.
    if (code != ExitCode::kUsage) {
      const bool table = is_for_people(options_.form);
      if (options_.trend && !table) print_trend_rows(session, opened, {}, 0);
      if (const Status done = publish(session, opened, !table && !options_.trend, false); !done)
        return session.end_with(done.error());
    }
    const bool everything = opened.opened.operators.everything() && opened.opened.tensors.everything();
    if (!opened.has_tensors() && everything) note_settings(session, opened);
    if (code != ExitCode::kOk) return summarize(session, opened, code);
    return summarize(session, opened,
                     end_with_nothing_selected(session, opened.catalogue().index, options_.graph.selection));
  }

  // A dump without tensors: how it was set up.
  static void note_settings(Session& session, const OpenedCheck& opened) {
    std::vector<Error> unread;
    const check::DumpSettings settings = check::settings_of(opened.catalogue().index, unread);
    if (settings.path.empty()) return;
    std::string text = fmt::format("{} asks for iteration \"{}\"", settings.path, settings.iteration);
    if (settings.dump_mode == 1) text += ", and only for the operators in kernels (dump_mode 1)";
    if (settings.op_debug_mode == 3) text += ", and only for operators that overflow (op_debug_mode 3)";
    if (settings.op_debug_mode == 4) text += ", and only for operators that fail (op_debug_mode 4)";
    session.messages.note(text + "; nothing that ran matches");
  }

  ExitCode check(Session& session, const OpenedCheck& opened) const {
    const Result<Selection> places = Selection::compile({.rank = options_.graph.selection.rank,
                                                         .graph = options_.graph.selection.graph,
                                                         .step = options_.graph.selection.step});
    if (!places) return session.end_with(places.error());
    check::CheckRun& run = *opened.run;
    const Status done = options_.first ? check::check_first(run, *places, session.context)
                                       : check::check_all(run, *places, session.context);
    session.context.progress->stop();
    if (!done) return session.end_with(done.error());
    const Status published = publish(session, opened, true, true);
    if (!options_.first) {
      for (const std::string& line : check::unjudged_rules(run.dump, run.facts, run.rules))
        session.messages.warning(line, "it was not judged");
      if (const std::string text = collectives_text(run); !text.empty()) session.messages.note(text);
      if (const std::string text = recompute_text(run); !text.empty()) session.messages.note(text);
      note_golden(session, run);
    }
    if (!published) return session.end_with(published.error());
    return summarize(session, opened, conclude(session, opened));
  }

  void note_golden(Session& session, const check::CheckRun& run) const {
    if (run.golden.is_empty()) return;
    if (run.report.recomputed.golden.empty())
      session.messages.warning(
          "no output of an operator is there to be computed",
          "names tell operator and slot: MatMul.NAME.0.0.0.input.0.npy, MatMul.NAME.0.0.0.output.0.npy");
    else
      session.messages.note(golden_text(run));
  }

  // Writes the results to the terminal or pipe, as a page and as JUnit.
  Status publish(Session& session, const OpenedCheck& opened, bool printed, bool checked) const {
    if (printed) print(session, opened);
    if (!options_.report.empty()) MSDUMP_CHECK_OK(write_check_page(session, options_, opened));
    return options_.junit.empty() ? Status() : write_junit(*opened.run, options_.junit, options_.fail_level, checked);
  }

  // --summary has the exit code, which is returned.
  ExitCode summarize(Session& session, const OpenedCheck& opened, ExitCode code) const {
    const Status written = options_.summary.empty() ? Status() : write_check_summary(options_, opened, code);
    return written ? code : session.end_with(written.error());
  }

  void print(Session& session, const OpenedCheck& opened) const {
    // Other forms do not have them; there may be as many as files.
    const bool document = has_document(options_.form);
    print_findings(session, *opened.run,
                   document ? check_failure_objects(opened.opened, *opened.run) : std::vector<report::Object>());
  }

  void print_findings(Session& session, const check::CheckRun& run, std::vector<report::Object> failures) const {
    const bool table = is_for_people(options_.form);
    if (table) (void)session.out.write(first_text(run));
    if (table && !options_.first) (void)session.out.write(began_text(run.report.began.get()));
    if (table && options_.first) (void)session.out.write(first_divergence_text(run));
    if (table && options_.first && (run.report.first || run.report.first_divergence)) return;
    const ShownFindings shown = shown_findings(run, {table, options_.all, shows_notes()});
    const auto sink = session.open_report(options_.form, run.dump.index().paths(), finding_columns(run));
    for (const check::Finding* const finding : shown.rows) {
      if (!sink->row(finding_row(run, *finding))) break;  // the stream remembers why
    }
    report::Object further;
    further.add("first", first_value(run)).add("first_apart", first_divergence_value(run));
    further.add("began", began_value(run.report.began.get()));
    further.add("recompute", wrong_outputs_value(run)).add("golden", golden_value(run));
    (void)sink->finish({check_summary(run), std::move(failures), std::move(further)});
    if (table) (void)session.out.write(hints_text(run));
    if (shown.more > 0) session.messages.note(fmt::format("{} more rows; --all shows every row", shown.more));
    if (shown.inputs > 0)
      session.messages.note(fmt::format("{} left out: the rows have the outputs that they came from; --all shows them",
                                        plural(shown.inputs, "input")));
  }

  ExitCode print_trend(Session& session, const OpenedCheck& opened) const {
    check::CheckRun& run = *opened.run;
    std::vector<TensorId> wanted;
    const std::vector<check::TrendSeries> all = check::series_by_step(run.dump);
    size_t series_chosen = 0;
    for (const check::TrendSeries& series : all) {
      const bool any = std::any_of(series.tensors.begin(), series.tensors.end(),
                                   [&](TensorId tensor) { return run.chosen[tensor]; });
      series_chosen += any ? 1U : 0U;
      for (const TensorId tensor : series.tensors) {
        if (run.chosen[tensor]) wanted.push_back(tensor);
      }
    }
    const Status read = run.facts.read(wanted, session.context);
    session.context.progress->stop();
    if (!read) return session.end_with(read.error());
    run.report.failures = run.facts.take_failures();
    if (is_for_people(options_.form)) {
      const auto sink = session.open_report(options_.form, run.dump.index().paths(), trend_line_columns(run));
      for (const check::TrendSeries& series : all) {
        if (run.chosen[series.tensors.front()] && !sink->row(trend_line(run, series))) break;
      }
      (void)sink->finish({});
    } else {
      print_trend_rows(session, opened, wanted, series_chosen);
    }
    if (wanted.empty())
      session.messages.warning("no tensor has more than one step", "--trend is for dumps of several steps");
    const bool failed = say_failures(session, opened);
    if (failed) return ExitCode::kSomeFailed;
    return wanted.empty() ? ExitCode::kNo : ExitCode::kOk;
  }

  void print_trend_rows(Session& session, const OpenedCheck& opened, const std::vector<TensorId>& tensors,
                        size_t series) const {
    const check::CheckRun& run = *opened.run;
    const auto sink = session.open_report(options_.form, run.dump.index().paths(), trend_columns(run));
    for (const TensorId tensor : tensors) {
      if (!sink->row(trend_row(run, tensor))) break;
    }
    report::Object summary;
    summary.add("tensors", tensors.size()).add("series", series).add("failed", run.failed());
    (void)sink->finish({std::move(summary), check_failure_objects(opened.opened, run), {}});
  }

  // True if there are any.
  static bool say_failures(Session& session, const OpenedCheck& opened) {
    const check::CheckRun& run = *opened.run;
    const bool failed = report_graph_failures(session, opened.opened, Choices::kSilent);
    for (const Error& error : run.report.failures) session.messages.error(error);
    return failed || !run.report.failures.empty();
  }

  ExitCode conclude(Session& session, const OpenedCheck& opened) const {
    const check::CheckRun& run = *opened.run;
    const bool failed = say_failures(session, opened);
    if (const size_t halves = run.facts.count_mislabelled(); halves > 0)
      session.messages.warning(
          fmt::format("{} not judged: float16 in the file, float32 on the device", plural(halves, "tensor")),
          "the file holds the first half of the float32 buffer (MindSpore on a CPU); the operators that read these "
          "tensors show their values");
    if (options_.first && !run.report.first && !run.report.first_divergence) {
      const size_t blind = run.facts.count_without_values(), read = run.facts.count_read();
      const std::string not_known = blind == 0 ? "" : fmt::format("; the values of {} are not known", blind);
      const std::string overflowed = overflowed_calls_text(run);
      session.messages.summary(fmt::format("{} read{}: {}", plural(read, "tensor"), not_known,
                                           !overflowed.empty()         ? overflowed
                                           : read > 0 && blind == read ? "nothing can be said of NaN or infinities"
                                                                       : "no operator makes NaN or an infinity"));
    } else if (options_.first) {
      session.messages.summary(
          fmt::format("{} of {} read", run.facts.count_read(), plural(run.dump.tensors(), "tensor")));
    } else {
      session.messages.summary(check_summary_text(run) + (hides_all(run) ? "; --all shows them" : ""));
    }
    if (failed) return ExitCode::kSomeFailed;
    return is_failing(run) || run.first_severity() >= options_.fail_level ? ExitCode::kNo : ExitCode::kOk;
  }

  [[nodiscard]] bool is_failing(const check::CheckRun& run) const {
    return std::any_of(run.report.findings.begin(), run.report.findings.end(),
                       [&](const check::Finding& one) { return one.severity >= options_.fail_level; });
  }

  // True if there are only notes, which the table hides.
  [[nodiscard]] bool hides_all(const check::CheckRun& run) const {
    const bool shows = !is_for_people(options_.form) || options_.all || shows_notes();
    return !shows && !run.report.findings.empty() && run.count(Severity::kNote) == run.report.findings.size();
  }

  [[nodiscard]] bool shows_notes() const { return options_.fail_level == Severity::kNote; }

  CheckOptions options_;
  std::unique_ptr<check::ReferenceDump> reference_;
};

const Registration kCheckCommand{[] { return std::make_unique<Check>(); }};

}  // namespace
}  // namespace msdump::cli
