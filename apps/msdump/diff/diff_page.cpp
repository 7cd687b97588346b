#include "diff/diff_files.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/pair/element_errors.h"
#include "diff/diff_page_rows.h"
#include "diff/diff_roots.h"
#include "diff/diff_rows.h"
#include "diff/diff_table.h"
#include "diff/diff_text.h"
#include "diff/diff_tokens.h"
#include "help/words.h"
#include "report/markdown.h"
#include "report/page/page.h"
#include "report/page/page_data.h"
#include "shared/began_report.h"
#include "shared/ci_files.h"
#include "shared/recomputed.h"
#include "shared/report_page.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

constexpr size_t kMostPictures = 12, kOutputsOfRoot = 3, kMostLooks = 200;

report::Object histogram_object(const ErrorPicture& picture) {
  report::Object object;
  object.add("per_decade", kBinsPerDecade).add("bins", list_of(picture.bins, [](const auto& bin) {
                                                 return report::List{bin.first, bin.second};
                                               }));
  return std::move(object.add("equal", picture.equal).add("mismatches", picture.mismatches));
}

report::Object map_object(const ErrorPicture& picture) {
  report::Object object;
  object.add("rows", picture.rows).add("columns", picture.columns);
  object.add("cell_height", picture.cell_height).add("cell_width", picture.cell_width);
  object.add("down", picture.cells_down)
      .add("across", picture.cells_across)
      .add("cells", list_of(picture.cells, [](double cell) { return static_cast<float>(cell); }));
  return object;
}

// An element of the candidate after the division by a scale.
report::Value divided(const report::Value& value, double scale) {
  if (const auto* const number = value.get<double>(); number != nullptr) return *number / scale;
  if (const auto* const number = value.get<float>(); number != nullptr) return static_cast<float>(*number / scale);
  return value;
}

report::Object picture_object(size_t row, const SecondLook& look, const ErrorPicture* picture, double scale = 1) {
  std::vector<WorstElement> worst = look.worst;
  if (scale != 1) {
    for (WorstElement& one : worst) one.a = divided(one.a, scale);
  }
  report::Object object;
  object.add("row", row);
  object.add("worst", elements_value({worst.begin(), worst.begin() + static_cast<std::ptrdiff_t>(
                                                                         std::min(worst.size(), kPictureWorst))}));
  object.add("axes", axes_value(look.axes));
  object.add("histogram", picture == nullptr ? report::Value() : report::Value(histogram_object(*picture)));
  object.add("map", picture == nullptr ? report::Value() : report::Value(map_object(*picture)));
  return object;
}

// The parameters that differ, the largest error first.
std::vector<TensorId> parameters_that_differ(const DiffResult& run) {
  std::vector<std::pair<double, TensorId>> sized;
  for (const TensorId row : run.rows) {
    if (!counts_as_difference(run, row) || !run.pairing.tensors[row].is_paired()) continue;
    const double error = judged_error(run, row).value_or(0);
    sized.emplace_back(std::isfinite(error) ? -error : -std::numeric_limits<double>::infinity(), row);
  }
  std::sort(sized.begin(), sized.end());
  std::vector<TensorId> tensors;
  for (const auto& [size, row] : sized) tensors.push_back(row);
  return tensors;
}

// The outputs of the roots, each once; of two files their only pair, of checkpoints the parameters that differ most.
std::vector<TensorId> pictured(const DiffResult& run) {
  std::vector<TensorId> tensors;
  if (run.single_pair) tensors = run.rows;
  if (run.pairing.of_parameters) tensors = parameters_that_differ(run);
  if (tensors.size() > kMostPictures) tensors.resize(kMostPictures);
  for (const Divergence& root : run.divergence.roots) {
    const std::vector<TensorId>& shown = enters(root) || root.outputs.empty() ? root.inputs : root.outputs;
    for (size_t i = 0; i < std::min(shown.size(), kOutputsOfRoot) && tensors.size() < kMostPictures; ++i) {
      if (std::find(tensors.begin(), tensors.end(), shown[i]) == tensors.end()) tensors.push_back(shown[i]);
    }
  }
  return tensors;
}

// [{"row","worst","axes","histogram","map"}] of the tensors that show what went wrong, and of those for which --worst or --by-axis
// asked; the last two are null if no elements were read again. An error only when interrupted: a tensor that cannot be read any
// more has no picture.
Result<report::List> pictures_value(Session& session, const DiffResult& run, const DiffPageRows& rows) {
  report::List list;
  const std::vector<TensorId> tensors = pictured(run);
  for (const TensorId tensor : tensors) {
    const TensorPair& pair = run.pairing.tensors[tensor];
    const auto row = rows.row_of(tensor);
    if (!row || !pair.is_paired()) continue;
    const auto picture = picture_pair({run.a->catalogue().index, (*run.a->side.tensors)[pair.a]},
                                      {run.b->catalogue().index, (*run.b->side.tensors)[pair.b]}, run.diffs[tensor],
                                      loss_scale_of(run, tensor), session.context.cancel);
    if (!picture && picture.error().code == ErrorCode::kCancelled) return fail(picture.error());
    if (picture && *picture)
      list.emplace_back(picture_object(*row, (*picture)->look, &(*picture)->error, loss_scale_of(run, tensor)));
  }
  size_t looks = 0;
  for (size_t row = 0; row < rows.rows().size() && looks < kMostLooks; ++row) {
    const DiffRow& place = rows.rows()[row];
    if (place.tensor == kNoId || std::find(tensors.begin(), tensors.end(), place.tensor) != tensors.end()) continue;
    const SecondLook& look = run.details[place.tensor].look;
    if (look.worst.empty() && look.axes.axes.empty()) continue;
    list.emplace_back(picture_object(row, look, nullptr));
    ++looks;
  }
  return list;
}

constexpr size_t kCausesInFull = 10, kRelationsInFull = 50;

std::string short_name(std::string_view name) { return std::string(name.substr(name.rfind('/') + 1)); }

// "It went wrong first in Mul-op0, net.py:11"
std::string root_sentence(const DiffResult& run) {
  const Divergence& root = run.divergence.roots.front();
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
  const size_t others = run.divergence.roots.size() - 1;
  return others > 0 ? text + fmt::format(", and in {}", plural(others, "further place")) : text;
}

std::pair<std::string, report::Tone> answer_of(const DiffResult& run) {
  if (run.rows.empty()) return {"Nothing was compared: the selection matches nothing", report::Tone::kNeutral};
  if (!run.divergence.roots.empty() && !run.single_pair) return {root_sentence(run), report::Tone::kBad};
  if (verdict_over_all(run) == Verdict::kSame) return {"Both sides are the same", report::Tone::kGood};
  if (verdict_over_all(run) == Verdict::kClose) return {"Both sides agree within the tolerance", report::Tone::kGood};
  if (run.single_pair) return {"The two tensors differ", report::Tone::kBad};
  if (!any_value_differs(run)) return {"The dumps differ in what they hold", report::Tone::kNeutral};
  return {rootless_text(run), run.pairing.of_parameters ? report::Tone::kBad : report::Tone::kNeutral};
}

void add_evidence(const DiffResult& run, std::string_view side, const std::vector<TensorId>& tensors,
                  report::PageCause& cause) {
  for (size_t i = 0; i < std::min(tensors.size(), kMostEvidence); ++i) {
    const NameFacts& name = run.record_of(run.pairing.tensors[tensors[i]]).name;
    const std::string error = error_text(run, tensors[i]);
    cause.evidence.push_back({std::string(side), fmt::format("{} {}", name_of(name.io), name.slot),
                              std::string(name_of(run.diffs[tensors[i]].verdict)), error.empty() ? "-" : error});
  }
  add_more_evidence(side, tensors.size(), cause);
}

report::PageCause cause_of(const DiffResult& run, const Divergence& root, bool is_first) {
  report::PageCause cause;
  cause.title = is_first ? "First divergence" : "Also";
  cause.name = root_name(run, root);
  cause.place = root_place(run, root);
  add_source(run.line(root.op), cause);
  add_evidence(run, "in", root.inputs, cause);
  add_evidence(run, "out", root.outputs, cause);
  if (root.score) {
    cause.measured = root.score->measured;
    cause.expected = root.score->expected;
  }
  for (const RootFact& fact : root_facts(run, root)) {
    if (fact.label == "line" || fact.label == "in" || fact.label == "out") continue;
    cause.facts.push_back({std::string(fact.long_label), escape_for_terminal(fact.text), fact.is_code});
  }
  const auto is_scaled = [&](TensorId tensor) { return loss_scale_of(run, tensor) != 1; };
  if (std::any_of(root.inputs.begin(), root.inputs.end(), is_scaled) ||
      std::any_of(root.outputs.begin(), root.outputs.end(), is_scaled))
    cause.facts.push_back({"scale", loss_scale_text(run.divergence.loss_scale)});
  for (const TensorId output : root.outputs) {
    const auto wrong = run.computed.wrong.find(output);
    if (wrong == run.computed.wrong.end()) continue;
    add_wrong_output(wrong->second.output, wrong->second.asked, cause);
    break;
  }
  return cause;
}

// The verdicts that occur.
std::vector<report::PageCount> verdict_counts(const report::Object& summary) {
  std::vector<report::PageCount> counts;
  const auto add = [&](const std::string& key, report::Tone tone) {
    const auto number = static_cast<uint64_t>(summary.number(key).value_or(0));
    if (number > 0 || key == "compared") counts.push_back({key, key, number, tone});
  };
  add("compared", report::Tone::kNeutral);
  for (const char* const verdict : {"same", "close"}) add(verdict, report::Tone::kGood);
  for (const char* const verdict : {"differ", "nan", "shape", "dtype"}) add(verdict, report::Tone::kBad);
  for (const char* const verdict : {"unmatched", "empty", "skipped", "accepted", "failed"})
    add(verdict, report::Tone::kNeutral);
  return counts;
}

std::vector<report::PageCount> reason_counts_of_page(const DiffResult& run) {
  std::vector<report::PageCount> counts;
  for (const ReasonCount& one : reason_counts(run)) {
    const bool open = one.key == "cause" || one.key == "unexplained";
    counts.push_back({std::string(one.key), std::string(one.text) + one.note, one.count,
                      open ? report::Tone::kBad : report::Tone::kNeutral});
  }
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

std::vector<report::PageDump> dumps_of(const DiffResult& run, const DiffOptions& options) {
  const Sides<SideFacts> facts = facts_of_sides(run, options);
  std::vector<report::PageDump> dumps;
  for (const Side side : kBothSides) {
    const DiffSide& one = side == Side::kCandidate ? *run.a : *run.b;
    report::PageDump dump = page_dump({side == Side::kCandidate ? options.paths.front() : options.paths.back()},
                                      one.catalogue().index, facts[side].dtype_name());
    dump.role = name_of(side);
    dump.meaning = first_clause_of_word(dump.role);
    dump.name = facts[side].name;
    dump.facts += fmt::format("{}{}", dump.facts.empty() ? "" : ", ", plural(one.side.tensors->size(), "tensor"));
    dumps.push_back(std::move(dump));
  }
  return dumps;
}

std::vector<report::PageFact> about_of(const DiffResult& run) {
  std::vector<report::PageFact> about;
  if (run.divergence.loss_scale != 1) about.push_back({"loss scale", loss_scale_text(run.divergence.loss_scale)});
  if (run.divergence.error_at_start != 0) about.push_back({"begins late", start_text(run.divergence.error_at_start)});
  for (const FoundRelation& one : run.pairing.relations) {
    if (about.size() < kRelationsInFull)
      about.push_back({std::string(one.kind), one.count > 1 ? fmt::format("{} ({})", one.text, one.count) : one.text});
  }
  return about;
}

std::vector<std::string> notes_of(const DiffResult& run, size_t shown, size_t all) {
  const size_t causes = run.divergence.roots.size();
  std::vector<std::string> notes;
  if (std::string note = sample_note(shown, all); !note.empty()) notes.push_back(std::move(note));
  if (causes > kCausesInFull)
    notes.push_back(fmt::format("{} more places where it went wrong: --json has all.", causes - kCausesInFull));
  if (std::string note = unread_note(run.failures.size()); !note.empty()) notes.push_back(std::move(note));
  return notes;
}

// The command that looks at one tensor again, without its operator.
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
  add("--tokenizer", options.tokenizer_file);
  for (const std::string& ir : options.ir) add("--ir", ir);
  // The page adds the rank and step of a row if there are several.
  std::set<std::optional<int64_t>> ranks, steps;
  for (const TensorId row : run.rows) {
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
  if (options.require_rule) words.emplace_back("--require-rule");
  add("--baseline", options.baseline);
  return words;
}

// The head of the page and of the summary: the dumps, the answer in a sentence, the first causes.
report::Page answer_page(const DiffResult& run, const DiffOptions& options) {
  const std::vector<Divergence>& roots = run.divergence.roots;
  report::Page page;
  page.dumps = dumps_of(run, options);
  page.heading = fmt::format("{} against {}", page.dumps.front().name, page.dumps.back().name);
  std::tie(page.sentence, page.tone) = answer_of(run);
  if (const size_t end = page.sentence.find("; "); roots.empty() && end != std::string::npos) {
    page.more = page.sentence.substr(end + 2);
    page.sentence.resize(end);
  }
  for (size_t i = 0; i < std::min(roots.size(), kCausesInFull) && !run.single_pair; ++i)
    page.causes.push_back(cause_of(run, roots[i], i == 0));
  return page;
}

}  // namespace

Status write_diff_summary(const DiffResult& run, const DiffOptions& options, ExitCode code) {
  report::Page page = answer_page(run, options);
  page.command = "diff";
  page.notes = failure_notes(run.failures);
  if (code == ExitCode::kUsage) page.sentence = "No tensor was compared";
  DiffOptions of_table = options;
  of_table.form = report::Form::kTable;
  of_table.rows.reset();
  of_table.top = kSummaryRows;
  report::MarkdownTable table{{"verdict", "operator", "tensor", "error", "line", "explained"},
                              {false, true, false, false, true, false},
                              {},
                              {}};
  for (const DiffRow& one : diff_table(run, of_table).rows) {
    const report::Object row = diff_row(run, one, of_table);
    const std::string error = one.tensor == kNoId ? "" : error_text(run, one.tensor);
    const std::string_view explained = row.text("explained");
    table.rows.push_back({std::string(row.text("verdict")), std::string(row.text("op_name")), tensor_cell(row),
                          error.empty() ? "-" : error, source_cell(row),
                          explained.empty() ? "-" : std::string(explained)});
  }
  const std::vector<DiffRow> all = all_rows(run);
  const auto differ = static_cast<size_t>(
      std::count_if(all.begin(), all.end(), [&](const DiffRow& row) { return counts_as_difference(run, row); }));
  if (differ > table.rows.size())
    table.below = fmt::format("{} differ, {} of them are shown", plural(differ, "row"), table.rows.size());
  return write_summary(options.summary, report::markdown_summary(page, result_text(code), summary_text(run), table));
}

Status write_diff_page(Session& session, const DiffOptions& options, const DiffResult& run) {
  const DiffPageRows rows(session.context.pool, options, run);
  report::Page page = answer_page(run, options);
  report::PageData data;
  data.command = command_of(run, options);
  data.causes = rows.causes();
  page.counts = verdict_counts(diff_summary(run, run.failures.size()));
  page.reasons = reason_counts_of_page(run);
  page.about = about_of(run);
  page.ranks = rows.ranks();
  page.movers = began_charts(&run.histories);
  page.tokens = token_map_texts(run);
  data.has_flow = !run.pairing.of_parameters && !run.single_pair;
  page.words =
      data.has_flow
          ? page_words({"candidate", "reference", "cause", "evidence", "asked", "computed", "handed on", "estimate",
                        "error", "expected error", "similar operators", "confidence", "downstream", "noise",
                        "unwritten", "unexplained", "unmatched", "skipped"})
          : page_words({"candidate", "reference", "same", "close", "differ", "nan", "tolerance", "error", "unmatched"});
  page.notes = notes_of(run, rows.rows().size(), rows.all());
  page.chart_title = data.has_flow ? "Error along the execution" : "Error of each parameter";
  page.rows_title = "Tensors";
  page.rows = data.rows = &rows.table();
  page.first_rows = first_rows(run, rows.rows());
  data.all = rows.all();
  data.classes = rows.classes();
  for (const Side side : kBothSides) {
    const bool candidate = side == Side::kCandidate;
    data.dumps.push_back(page_side(std::string(name_of(side)),
                                   {candidate ? options.paths.front() : options.paths.back()},
                                   candidate ? "a_at" : "b_at", (candidate ? run.a : run.b)->catalogue().index));
  }
  data.edges = rows.edges();
  data.tokens = token_map_value(run);
  MSDUMP_TRY(data.pictures, pictures_value(session, run, rows));
  return write_page(session, options.report, std::move(page), std::move(data));
}

}  // namespace msdump::cli
