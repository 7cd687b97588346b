// msdump diff: what differs between two dumps, and which operator is to blame.
#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "diff/diff_files.h"
#include "diff/diff_options.h"
#include "diff/diff_profile.h"
#include "diff/diff_result.h"
#include "diff/diff_roots.h"
#include "diff/diff_rows.h"
#include "diff/diff_table.h"
#include "diff/diff_text.h"
#include "diff/diff_tokens.h"
#include "diff/diff_weights.h"
#include "dump/index/row_steps.h"
#include "frame/usage.h"
#include "shared/began_report.h"
#include "shared/catalogue.h"
#include "shared/ci_files.h"
#include "shared/opened_graph.h"
#include "shared/report_page.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

constexpr size_t kCloserShown = 10, kMostSteps = 10;

const CommandInfo& diff_info() {
  static const CommandInfo info{
      .name = "diff",
      .order = 50,
      .summary = "what differs between two dumps, and which operator is to blame",
      .usage = "CANDIDATE REFERENCE [OPTIONS] | DUMP --a-rank N --b-rank N",
      .description =
          "Compares two dumps or two files: candidate first, reference second. Tensors are paired by operator, slot "
          "and step, across device formats, frameworks, shifted operator numbers, and what a compiler made of the "
          "operators; statistics are compared with statistics and with tensors. The parameters of checkpoints are "
          "paired "
          "by name, else by their values, also where they are transposed or concatenated. Names the first divergence: "
          "the "
          "operators along the data flow that differ more than the errors of their inputs and their own arithmetic "
          "explain, with their source lines.",
      .examples = {{"msdump diff bad ref", "which operator went wrong first, and all that differs"},
                   {"msdump diff a.npy b.npy --worst 5 --by-axis", "two tensors, and where the error lies"},
                   {"msdump diff rollout train", "a rollout and a training step, token by token"},
                   {"msdump diff net.ckpt hf/", "two checkpoints, whatever their parameters are called"},
                   {"msdump diff --weights rollout ckpt", "of which of several versions each parameter is"},
                   {"msdump diff dump --a-step 1 --b-step 2 --op '*weight*'", "one dump against itself"},
                   {"msdump diff bad ref --report bad.html", "one page to look at and to pass on"},
                   {"msdump diff bad ref --json | jq '.first_divergence[0].source'", "for scripts"},
                   {"msdump diff npu cpu --explain MatMul-op20", "why an operator is or is not to blame"},
                   {"msdump diff npu cpu --fail-on root", "in CI: rounding may differ"},
                   {"msdump diff bad ref --baseline accepted.json", "in CI: only what is new"},
                   {"msdump diff bad ref --profile msprobe", "the result CSV that msprobe compare writes"}},
      .done = "equal within the tolerance",
      .no = "something differs or has no partner, or the selection matched nothing",
      .answers = true,
      .other_names = {{"compare cmp blame delta differ precision accuracy root cause culprit"}}};
  return info;
}

class Diff : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return diff_info(); }

  void declare(OptionTable& options) override {
    declare_diff_options(options, options_);
    options.add(profile_options(profile_));
  }

  [[nodiscard]] std::vector<report::DocumentType> documents() const override { return diff_documents(); }

  ExitCode run(Session& session) override {
    if (options_.list_metrics) {
      (void)session.out.write(metrics_text());
      return ExitCode::kOk;
    }
    if (options_.sharding.shard) return run_shard(session);
    check_diff_options(options_);
    check_profile_options(profile_, options_);
    if (!profile_.name.empty()) return run_profile(session, profile_, options_);
    if (const Status possible = check_page_path(options_.report); !possible) return session.end_with(possible.error());
    Result<DiffRules> rules = diff_rules(options_);
    if (!rules) return end_before_comparing(session, rules.error());
    Result<DiffResult> run = compute_diff_of_versions(session, options_, *rules, weights_);
    if (!run) return end_before_comparing(session, run.error());
    if (const Status fits = check_baseline(session, options_, *run, *rules); !fits)
      return end_before_comparing(session, fits.error());
    const bool none = run->rows.empty() || run->a->side.tensors->empty() || run->b->side.tensors->empty();
    const Result<ExitCode> code = none ? end_without_rows(session, *run) : answer(session, *run);
    return code ? *code : session.end_with(code.error());
  }

 private:
  // An error is that of a file or of stdout.
  Result<ExitCode> answer(Session& session, DiffResult& run) const {
    if (!options_.new_baseline.empty()) MSDUMP_CHECK_OK(write_baseline(session, options_, run));
    if (!options_.new_layout_file.empty()) MSDUMP_CHECK_OK(write_layouts(session, run, options_.new_layout_file));
    const bool nothing = !options_.values.given && note_nothing_compared(run);
    if (!options_.values.given) print(session, run);
    if (options_.values.given) MSDUMP_CHECK_OK(print_values(session, run));
    if (!options_.report.empty()) MSDUMP_CHECK_OK(write_diff_page(session, options_, run));
    if (!options_.junit.empty()) MSDUMP_CHECK_OK(write_diff_junit(run, options_));
    const ExitCode concluded = conclude(session, run), code = nothing ? ExitCode::kUsage : concluded;
    if (!options_.summary.empty()) MSDUMP_CHECK_OK(write_diff_summary(run, options_, code));
    return code;
  }

  static std::string hint_without_partners(const DiffResult& run) {
    const auto is_array = [](const DiffSide& side) {
      const std::vector<IndexedFile>& files = side.catalogue().index.files();
      return files.size() == 1 && side.catalogue().list.tensors().size() == 1 && files.front().kind == FileKind::kNpy;
    };
    const bool of_a = is_array(*run.a);
    if (of_a == is_array(*run.b)) return "both must be of one network; --map FILE pairs other names";
    return fmt::format("the {} is one array: compare it with a file of the other, which msdump ls lists",
                       name_of(of_a ? Side::kCandidate : Side::kReference));
  }

  // A failure of the request: no exit code could say that two dumps agree of which no tensor was compared.
  static bool note_nothing_compared(DiffResult& run) {
    if (count_compared(run) > 0 || !run.failures.empty()) return false;
    const auto with_partner = std::find_if(run.rows.begin(), run.rows.end(),
                                           [&](TensorId row) { return run.pairing.tensors[row].is_paired(); });
    const std::string why = with_partner == run.rows.end() ? "none has a partner" : *run.diffs[*with_partner].reason;
    Error error = make_error(ErrorCode::kNothingCompared, "no tensor was compared: {}", why);
    if (with_partner == run.rows.end()) error.hint = hint_without_partners(run);
    run.failures.push_back(std::move(error));
    return true;
  }

  ExitCode run_shard(Session& session) {
    check_shard_options(session);
    const std::string part = std::exchange(profile_.out, {});
    check_diff_options(options_);
    check_profile_options(profile_, options_);
    const Result<DiffRules> rules = diff_rules(options_);
    if (!rules) return session.end_with(rules.error());
    const Result<ExitCode> code = write_diff_part(session, options_, *rules, part);
    return code ? *code : session.end_with(code.error());
  }

  // Ends a run that could not begin.
  ExitCode end_before_comparing(Session& session, const Error& error) const {
    const ExitCode code = session.end_with(error);
    if (error.code == ErrorCode::kCancelled) return code;
    const Status written =
        write_unbegun({"diff", "No tensor was compared", error, code}, options_.junit, options_.summary);
    if (!written) session.messages.error(written.error());
    return code;
  }

  // Ends a run in which nothing was selected, or one side holds no tensors. Machine output has its document nevertheless: the frame writes
  // it, with the error of a side that holds no tensors.
  Result<ExitCode> end_without_rows(Session& session, const DiffResult& run) const {
    std::vector<Error> failures = run.failures;
    for (const Error& error : failures) session.messages.error(error);
    ExitCode code = ExitCode::kOk;
    for (const DiffSide* const side : {run.a.get(), run.b.get()}) {
      if (code == ExitCode::kOk) code = conclude_listing(session, side->catalogue());
    }
    const auto is_empty = [](const DiffSide& side) { return side.catalogue().list.tensors().empty(); };
    const bool selects_all = run.a->catalogue().selection.everything() && run.b->catalogue().selection.everything();
    const bool none = (code == ExitCode::kNo && selects_all) || code == ExitCode::kUsage;
    if (none && (is_empty(*run.a) || is_empty(*run.b))) {
      failures.push_back(make_error(ErrorCode::kNothingCompared, "no tensor was compared: the {} holds none",
                                    is_empty(*run.a) ? "candidate" : "reference"));
      if (code == ExitCode::kNo) session.messages.error(failures.back());
      code = ExitCode::kUsage;
    }
    if (code != ExitCode::kUsage && !is_for_people(options_.form)) print_rows(session, run);
    if (!options_.report.empty() && code != ExitCode::kUsage) MSDUMP_CHECK_OK(write_diff_page(session, options_, run));
    if (!options_.junit.empty()) MSDUMP_CHECK_OK(write_empty_junit(options_.junit, failures));
    if (code == ExitCode::kOk) {
      note_empty_selection(session, run);
      code = ExitCode::kNo;
    }
    if (!options_.summary.empty()) MSDUMP_CHECK_OK(write_diff_summary(run, options_, code));
    return code;
  }

  void note_empty_selection(Session& session, const DiffResult& run) const {
    std::string hint;
    SelectionOptions asked = options_.selection;
    for (const DiffSide* const side : {run.a.get(), run.b.get()}) {
      if (!hint.empty()) break;
      RowSteps steps = row_steps(side->catalogue().index, asked.step, session.context);
      if (steps.has_asked) asked.step.clear();
      hint = std::move(steps.hint);
    }
    if (hint.empty()) hint = selection_hint(run.a->opened, asked);
    if (hint.empty()) hint = selection_hint(run.b->opened, asked);
    session.messages.nothing_selected(options_.weights ? "no parameter is selected" : "the selection matches nothing",
                                      hint.empty() ? "msdump ls lists all tensors" : hint);
  }

  void print(Session& session, const DiffResult& run) const {
    const bool table = is_for_people(options_.form);
    if (table && !options_.explain.empty()) {
      (void)session.out.write(explain_text(run));
      return;
    }
    if (table) {
      std::string facts = divergence_text(run);
      if (session.terminal.out_tty) facts = with_wrapped_facts(facts, session.terminal.out_width);
      (void)session.out.write(run.single_pair
                                  ? pair_text(run)
                                  : roles_text(run, options_) + weights_text(weights_) + tokens_text(run) + facts +
                                        began_text(&run.histories) + next_text(run, options_) + expected_text(run));
    }
    if (!table || !run.single_pair) print_rows(session, run);
    if (table) print_closer(session, run);
  }

  // An index that does not fit is an error of the command line.
  Status print_values(Session& session, DiffResult& run) const {
    MSDUMP_CHECK_OK(session.out.write(roles_text(run, options_)));
    for (const TensorId row : run.rows) {
      const Result<std::string> text = values_text(run, row, options_.values.slice);
      if (!text && text.error().code == ErrorCode::kUsage) return fail(text.error());
      if (!text) run.failures.push_back(text.error());
      if (text) MSDUMP_CHECK_OK(session.out.write(*text));
    }
    return {};
  }

  void print_rows(Session& session, const DiffResult& run) const {
    const auto sink = session.open_report(options_.form, options_.paths, diff_columns(run));
    const DiffTable table = diff_table(run, options_);
    write_rows(*sink, session.context.pool, table.rows.size(),
               {[&](size_t i) { return diff_row(run, table.rows[i], options_); },
                [&](size_t i, report::JsonObject& row) { add_diff_row(run, table.rows[i], options_, row); }});
    report::Object further;
    further.add("first_divergence", divergences_value(run));
    further.add("error_growth", report::list_of(run.divergence.growth.medians));
    further.add("loss_scale",
                run.divergence.loss_scale == 1 ? report::Value() : report::Value(run.divergence.loss_scale));
    further.add("error_at_start",
                run.divergence.error_at_start == 0 ? report::Value() : report::Value(run.divergence.error_at_start));
    further.add("explain", options_.explain.empty() ? report::Value() : report::Value(explain_value(run)));
    further.add("tokens", tokens_value(run));
    further.add("weights", weights_value(weights_));
    further.add("began", began_value(&run.histories));
    if (run.pairing.of_parameters) further.add("relations", relations_value(run));
    std::vector<report::Object> failures;
    for (const Error& error : run.failures) failures.push_back(report::failure_object(error));
    report::Object summary = diff_summary(run, failures.size());
    summary.add("fails", run.rows.empty() ? report::Value() : report::Value(fails(run, options_.fail_level)));
    (void)sink->finish({std::move(summary), std::move(failures), std::move(further)});
    (void)session.out.write(table.left_out);
  }

  void print_closer(Session& session, const DiffResult& run) const {
    size_t shown = 0;
    for (const TensorId row : run.rows) {
      const std::string text = counts_as_difference(run, row) ? closer_text(run, row, options_.worst) : std::string();
      if (text.empty()) continue;
      if (++shown > kCloserShown) return session.messages.note("more tensors; --json has the worst elements of all");
      (void)session.out.write("\n" + text);
    }
  }

  // Reports operator numbers that may be wrong, and IR that may be another run's; both sides may have found the same
  // IR.
  static void note_graphs(Session& session, const DiffResult& run) {
    std::set<std::string> notes;
    for (const DiffSide* const side : {run.a.get(), run.b.get()}) {
      for (const Error& error : side->opened.loaded->notes) {
        std::string note = fmt::format("{}: {}", error.path, error.message);
        if (notes.insert(note).second) session.messages.note(note);
      }
      if (side->side.graph == nullptr || side->opened.joined->join.numbering().confidence >= 1) continue;
      session.messages.note(fmt::format("{}: the operators of the files are uncertain: {}",
                                        side == run.a.get() ? "candidate" : "reference",
                                        side->opened.joined->join.numbering().evidence));
    }
  }

  static void note_pairing(Session& session, const Pairing& pairing) {
    const auto note_alone = [&](Side side, std::string_view word, const auto& names, std::string_view end) {
      if (names.empty()) return;
      const auto shown = std::span(names).first(std::min(names.size(), kMostSteps));
      session.messages.note(fmt::format("only the {} has {}{}{}{}", name_of(side), word,
                                        fmt::join(shown, fmt::format("{}, ", end)), end,
                                        names.size() > kMostSteps ? ", .." : ""));
    };
    for (const Side side : kBothSides) {
      const std::vector<int64_t>& steps = pairing.steps_alone[side];
      note_alone(side, steps.size() == 1 ? "step " : "steps ", steps, "");
      note_alone(side, "", pairing.dumps_alone[side], "/");
      note_alone(side, "", pairing.files_alone[side], "");
    }
    if (pairing.likeness.two_networks()) {
      session.messages.warning(fmt::format("these are dumps of two different networks ({} of {} operators are alike)",
                                           pairing.likeness.alike, pairing.likeness.comparable));
    }
  }

  static void note_parameters(Session& session, const Pairing& pairing) {
    const auto note = [&](std::string_view side, uint64_t others, const std::vector<int64_t>& steps) {
      if (others > 0) {
        session.messages.note(fmt::format("{} of the {} {} not parameters, and not compared", plural(others, "tensor"),
                                          side, others == 1 ? "is" : "are"));
      }
      if (steps.size() > 1) {
        session.messages.note(fmt::format("the {} has {} steps; step {} is compared (--a-step and --b-step choose)",
                                          side, steps.size(), steps.front()));
      }
    };
    for (const Side side : kBothSides) note(name_of(side), pairing.others[side], pairing.compared_steps[side]);
    const auto is_pair = [](const OpPair& one) { return one.is_paired(); };
    if (std::none_of(pairing.operators.begin(), pairing.operators.end(), is_pair))
      session.messages.warning("no parameter of the candidate is one of the reference",
                               "--map FILE pairs them by names");
  }

  ExitCode conclude(Session& session, const DiffResult& run) const {
    for (const Error& error : run.failures) session.messages.error(error);
    note_graphs(session, run);
    for (const std::string& text : run.unused_baseline)
      session.messages.note(fmt::format("in the baseline, but gone or grown: {}", text));
    note_pairing(session, run.pairing);
    if (const std::string swapped = swap_text(run); !swapped.empty())
      session.messages.warning(swapped, "msdump diff CANDIDATE REFERENCE: what is in doubt comes first");
    for (const ReachedLimit& one : run.limits())
      session.messages.note(fmt::format("a limit was reached ({}: {}): {}", one.name, one.limit, one.effect));
    if (run.pairing.of_parameters) {
      note_parameters(session, run.pairing);
      for (const DiffSide* const side : {run.a.get(), run.b.get()})
        warn_of_missing_shards(session, side->catalogue().index);
    }
    if (const std::string placements = placements_text(run); !placements.empty()) session.messages.note(placements);
    session.messages.summary(summary_text(run));
    if (!run.failures.empty()) return ExitCode::kSomeFailed;
    return fails(run, options_.fail_level) && !options_.exit_zero ? ExitCode::kNo : ExitCode::kOk;
  }

  WeightVersions weights_;
  DiffOptions options_;
  ProfileOptions profile_;
};

const Registration kDiffCommand{[] { return std::make_unique<Diff>(); }};

}  // namespace
}  // namespace msdump::cli
