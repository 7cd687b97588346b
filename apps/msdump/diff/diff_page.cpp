#include "diff/diff_page.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "diff/diff_page_rows.h"
#include "diff/diff_pictures.h"
#include "diff/diff_rows.h"
#include "diff/diff_text.h"
#include "report/page/page_sample.h"
#include "shared/graph_rows.h"
#include "shared/report_page.h"

namespace msdump::cli {
namespace {

constexpr size_t kCausesInFull = 10;

std::string last_folder(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string short_name(std::string_view name) { return std::string(name.substr(name.rfind('/') + 1)); }

// "It went wrong first in Mul-op0, net.py:11"
std::string root_sentence(const DiffResult& run, const Divergence& root, size_t roots) {
  const SourceFrame* const frame = run.frame(root.op);
  const std::string line = frame == nullptr ? "" : fmt::format(", {}", source_text(frame));
  std::string text;
  if (enters(root)) {
    text = fmt::format("{} differs already where {} reads it{}",
                       root.parameter.empty() ? "A value that enters the graph"
                                              : fmt::format("The {} {}", name_of(root.kind), root.parameter),
                       short_name(run.op_name(root.op)), line);
  } else {
    text = fmt::format("It went wrong first in {}{}", short_name(run.op_name(root.op)), line);
  }
  return roots > 1 ? text + fmt::format(", and in {}", plural(roots - 1, "further place")) : text;
}

std::pair<std::string, report::Tone> answer_of(const DiffResult& run, const std::vector<const Divergence*>& roots) {
  if (run.rows.empty()) return {"Nothing was compared: the selection matches nothing", report::Tone::kNeutral};
  if (!roots.empty() && !run.single_pair) return {root_sentence(run, *roots.front(), roots.size()), report::Tone::kBad};
  if (verdict_over_all(run) == Verdict::kSame) return {"Both sides are the same", report::Tone::kGood};
  if (verdict_over_all(run) == Verdict::kClose) return {"Both sides agree within the tolerance", report::Tone::kGood};
  if (run.single_pair) return {"The two tensors differ", report::Tone::kBad};
  const bool of_values =
      count_of(run, Verdict::kDiffer) + count_of(run, Verdict::kNan) + count_of(run, Verdict::kShape) > 0;
  return {of_values ? nothing_stands_out(run) : "The dumps differ in what they hold", report::Tone::kNeutral};
}

void add_evidence(const DiffResult& run, std::string_view side, const std::vector<uint32_t>& tensors,
                  report::PageCause& cause) {
  for (size_t i = 0; i < std::min(tensors.size(), kMostEvidence); ++i) {
    const NameFacts& name = run.record_of(run.pairing.tensors[tensors[i]]).name;
    const std::string error = error_text(run, tensors[i]);
    cause.evidence.push_back({std::string(side), fmt::format("{} {}", name_of(name.io), name.slot),
                              std::string(name_of(run.diffs[tensors[i]].verdict)), error.empty() ? "-" : error});
  }
  add_more_evidence(side, tensors.size(), cause);
}

// The labels of root_lines() where there is room for words.
std::string long_label(std::string_view label) {
  if (label == "or") return "or rather";
  if (label == "dump") return "to dump next";
  if (label == "and") return "also";
  return std::string(label == "so" ? "effect" : label);
}

report::PageCause cause_of(const DiffResult& run, const Divergence& root, bool is_first) {
  report::PageCause cause;
  cause.title = is_first ? "First divergence" : "Also";
  cause.name = root_name(run, root);
  cause.place = place_text(run, root.op, root.place, root.ranks);
  add_source(run.line(root.op), cause);
  add_evidence(run, "in", root.inputs, cause);
  add_evidence(run, "out", root.outputs, cause);
  cause.measured = root.measured_error;
  cause.expected = root.expected_error;
  for (const RootLine& line : root_lines(run, root)) {
    if (line.label == "line" || line.label == "in" || line.label == "out") continue;
    cause.facts.push_back({long_label(line.label), escape_for_terminal(line.text), line.label == "dump"});
  }
  const auto is_scaled = [&](uint32_t tensor) { return loss_scale_of(run, tensor) != 1; };
  if (std::any_of(root.inputs.begin(), root.inputs.end(), is_scaled) ||
      std::any_of(root.outputs.begin(), root.outputs.end(), is_scaled))
    cause.facts.push_back({"scale", loss_scale_text(run.divergence.loss_scale)});
  return cause;
}

// Verdicts that occur, then what explains the differences.
std::vector<report::PageCount> counts_of_page(const report::Object& summary) {
  std::vector<report::PageCount> counts;
  const auto add = [&](std::string_view key, const std::string& label, report::Tone tone, bool always) {
    const auto number = static_cast<uint64_t>(summary.number(key).value_or(0));
    if (number > 0 || always) counts.push_back({label, number, tone});
  };
  add("compared", "compared", report::Tone::kNeutral, true);
  for (const char* const verdict : {"same", "close"}) add(verdict, verdict, report::Tone::kGood, false);
  for (const char* const verdict : {"differ", "nan", "shape", "dtype"})
    add(verdict, verdict, report::Tone::kBad, false);
  for (const char* const verdict : {"unmatched", "empty", "skipped", "accepted", "failed"})
    add(verdict, verdict, report::Tone::kNeutral, false);
  add("unexplained", "unexplained", report::Tone::kBad, false);
  for (const char* const why : {"downstream", "noise", "random", "unwritten", "inert", "elsewhere"})
    add(fmt::format("explained.{}", why), why, report::Tone::kNeutral, false);
  return counts;
}

std::vector<size_t> first_rows(const DiffResult& run, const std::vector<DiffRow>& rows) {
  std::vector<size_t> first;
  for (const bool wanted : {true, false}) {
    for (size_t i = 0; i < rows.size() && first.size() < kFirstRows; ++i) {
      if (counts_as_difference(run, rows[i]) == wanted) first.push_back(i);
    }
    if (!first.empty()) break;
  }
  return first;
}

std::vector<report::PageFact> about_of(const DiffResult& run, const DiffOptions& options) {
  const auto side = [](const DiffSide& one, const std::string& path) {
    return fmt::format("{} ({})", path, plural(one.side.tensors->size(), "tensor"));
  };
  std::vector<report::PageFact> about = {{"candidate", side(*run.a, options.paths.front())},
                                         {"reference", side(*run.b, options.paths.back())}};
  if (!run.single_pair) about.push_back({"roles", roles_text(run, options)});
  if (run.divergence.loss_scale != 1) about.push_back({"loss scale", loss_scale_text(run.divergence.loss_scale)});
  return about;
}

std::vector<std::string> notes_of(const DiffResult& run, size_t shown, size_t all, size_t causes) {
  std::vector<std::string> notes;
  if (std::string note = sample_note(shown, all); !note.empty()) notes.push_back(std::move(note));
  if (causes > kCausesInFull)
    notes.push_back(fmt::format("{} more places where it went wrong: --json has all.", causes - kCausesInFull));
  if (std::string note = unread_note(run.failures.size()); !note.empty()) notes.push_back(std::move(note));
  return notes;
}

// What looks at one tensor again, when its operator is added.
std::vector<std::string> command_of(const DiffResult& run, const DiffOptions& options) {
  std::vector<std::string> words = {"msdump", "diff", options.paths.front(), options.paths.back()};
  const auto add = [&](const char* option, const std::string& text) {
    if (!text.empty()) words.insert(words.end(), {option, text});
  };
  add("--a-rank", options.rank_a);
  add("--b-rank", options.rank_b);
  add("--a-step", options.step_a);
  add("--b-step", options.step_b);
  add("--map", options.map);
  add("--layout", options.layout_file);
  for (const std::string& ir : options.ir) add("--ir", ir);
  // The page adds the rank and step of a row if there are several.
  std::set<std::optional<int64_t>> ranks, steps;
  for (const uint32_t row : run.rows) {
    const Identity identity = run.identity(row);
    ranks.insert(identity.rank);
    steps.insert(identity.step);
  }
  if (ranks.size() < 2) add("--rank", options.selection.rank);
  if (steps.size() < 2) add("--step", options.selection.step);
  add("--graph", options.selection.graph);
  if (options.rtol) add("--rtol", fmt::format("{}", *options.rtol));
  if (options.atol) add("--atol", fmt::format("{}", *options.atol));
  for (const std::string& limit : options.metric_limits) add("--metric", limit);
  add("--tolerances", options.tolerance_file);
  add("--baseline", options.baseline);
  return words;
}

}  // namespace

Status write_diff_page(Session& session, const DiffOptions& options, const DiffResult& run) {
  std::vector<const Divergence*> roots;
  for (const Divergence& root : run.divergence.roots) roots.push_back(&root);
  const DiffPageRows rows(session.context.pool, options, run, roots);
  report::Page page;
  page.heading = fmt::format("{} against {}", last_folder(options.paths.front()), last_folder(options.paths.back()));
  std::tie(page.sentence, page.tone) = answer_of(run, roots);
  report::PageData data;
  data.command = command_of(run, options);
  for (size_t i = 0; i < std::min(roots.size(), kCausesInFull) && !run.single_pair; ++i)
    page.causes.push_back(cause_of(run, *roots[i], i == 0));
  data.causes = rows.causes(roots);
  page.counts = counts_of_page(diff_summary(run, run.failures.size()));
  page.about = about_of(run, options);
  page.notes = notes_of(run, rows.rows().size(), rows.all(), roots.size());
  page.chart_title = "Error along the execution";
  page.rows_title = "Tensors";
  page.rows = data.rows = &rows.table();
  page.first_rows = first_rows(run, rows.rows());
  data.all = rows.all();
  data.edges = rows.edges();
  MSDUMP_TRY(data.pictures, pictures_value(session, run, roots, rows));
  return write_page(session, options.report, std::move(page), std::move(data));
}

}  // namespace msdump::cli
