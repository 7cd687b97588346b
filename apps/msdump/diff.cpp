// msdump diff: what differs between two dumps, and which operator is to blame.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "diff_rows.h"
#include "diff_run.h"
#include "parallel_rows.h"
#include "usage.h"

namespace msdump::cli {
namespace {

const CommandInfo& diff_info() {
  static const CommandInfo info{
      .name = "diff",
      .order = 35,
      .summary = "what differs between two dumps, and which operator is to blame",
      .usage = "CANDIDATE REFERENCE [OPTIONS] | DUMP --a-rank N --b-rank N",
      .description =
          "Compares two dumps, or two files: the first is what is in doubt, the second what it should be. Pairs "
          "tensors "
          "by operator, slot and step, across formats, layouts and frameworks, and names the operators whose inputs "
          "agree and whose outputs do not, with their lines.",
      .examples = {{"msdump diff bad ref", "which operator went wrong first, and all that differs"}},
      .done = "equal within the tolerance",
      .no = "something differs, or has no partner"};
  return info;
}

class Diff : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return diff_info(); }

  void declare(CLI::App& app) override {
    add_positionals(app, "DUMP", options_.paths, "CANDIDATE and REFERENCE");
    app.add_option("--ir", options_.ir, "IR of the run")->type_name("PATH...")->group(kInputGroup);
    add_selection_options(app, options_.selection);
    add_report_options(app, form_);
    add_jobs_option(app, options_.jobs);
  }

  ExitCode run(Session& session) override {
    if (options_.paths.size() != 2) throw UsageError("two dumps are compared: CANDIDATE REFERENCE");
    Result<DiffRun> run = run_diff(session, options_);
    if (!run) return session.end_with(run.error());
    const auto sink = session.open_report(form_, options_.paths, diff_columns(*run));
    std::vector<uint32_t> shown = run->rows;
    if (form_ == report::Form::kTable)
      std::erase_if(shown, [&](uint32_t row) { return !is_difference(run->diffs[row].verdict); });
    write_rows(*sink, *run->b->opened.pool, shown.size(), [&](size_t i) { return diff_row(*run, shown[i]); });
    report::Object further;
    further.add("first_divergence", divergences_value(*run));
    (void)sink->finish({diff_summary(*run), {}, std::move(further)});
    return is_difference(verdict_over_all(*run)) ? ExitCode::kNo : ExitCode::kOk;
  }

 private:
  DiffOptions options_;
  report::Form form_ = report::Form::kTable;
};

const Registration kRegistration{[] { return std::make_unique<Diff>(); }};

}  // namespace
}  // namespace msdump::cli
