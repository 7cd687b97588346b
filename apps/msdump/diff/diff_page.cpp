#include "diff/diff_page.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/pair/element_errors.h"
#include "diff/diff_roots.h"
#include "diff/diff_rows.h"
#include "diff/diff_table.h"
#include "diff/diff_text.h"
#include "help/words.h"
#include "report/json.h"
#include "report/page/page_data.h"
#include "shared/recomputed.h"
#include "shared/report_page.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

constexpr uint32_t kNoRow = UINT32_MAX;
constexpr std::string_view kArgumentClass = "argument", kAcceptedClass = "accepted";

// If a scale is divided out, or one side is not finite, the largest difference of what was dumped says nothing.
report::Value distance_cell_of_page(const report::Row& row) {
  if (is_scaled(row) || row.text("verdict") == "nan") return {};
  const report::Value* const found = row.find_path("metrics.max_abs");
  return found == nullptr ? report::Value() : *found;
}

// "0.41 against 0.02 at [3,1]"
report::Value worst_cell(const report::Row& row) {
  const auto* const worst = row.get<report::Object>("worst");
  if (worst == nullptr || is_scaled(row)) return {};
  std::string a, b, at;
  report::append_json(a, *worst->find("a"));
  report::append_json(b, *worst->find("b"));
  report::append_json(at, *worst->find("index"));
  return fmt::format("{} against {} at {}", a, b, at);
}

report::Value passes_cell(const report::Row& row) {
  const auto* const rtol = row.get<double>("tolerance_that_passes.rtol");
  const auto* const atol = row.get<double>("tolerance_that_passes.atol");
  return rtol == nullptr || atol == nullptr || is_scaled(row)
             ? report::Value()
             : report::Value(fmt::format("--rtol {:g} --atol {:g}", *rtol, *atol));
}

report::Value shape_cell(const report::Row& row) {
  for (const char* const side : {"a.shape", "b.shape"}) {
    if (const report::Value* const shape = row.find_path(side); shape != nullptr && !shape->is_null()) return *shape;
  }
  return {};
}

// "cause" instead of nothing, as the table of the command says it.
report::Value explained_cell(const report::Row& row) {
  if (row.text("class") == "cause") return "cause";
  const report::Value* const found = row.find("explained");
  return found == nullptr ? report::Value() : *found;
}

// The place of a tensor's elements on a side, whose identity is at `key` of the row (PageData::dumps).
report::Value place_on(const DiffSide& side, RecordId record, const report::Row& row, const std::string& key) {
  if (record == kNoId) return {};
  const TensorRecord& tensor = (*side.side.tensors)[record];
  if (!tensor.has_elements || tensor.lost_file || tensor.broken) return {};
  report::List own;
  bool as_row = true;
  for (const char* const part : {"rank", "step", "io", "slot", "op_name"}) {
    const report::Value* const here = row.find_path(fmt::format("{}.{}", key, part));
    const std::string text = row.text_or_number(fmt::format("{}.{}", key, part)), shown = row.text_or_number(part);
    // Files have the name of the graph without slashes.
    as_row = as_row && std::equal(text.begin(), text.end(), shown.begin(), shown.end(), [](char x, char y) {
               return x == y || (x == '_' && y == '/') || (x == '/' && y == '_');
             });
    own.push_back(here == nullptr ? report::Value() : *here);
  }
  return as_row ? report::Value("=") : report::Value(std::move(own));
}

std::vector<report::PageColumn> page_columns(const DiffResult& run, bool sampled) {
  const std::vector<report::Column> table = diff_columns(run);
  const auto is_shown = [&](std::string_view key) {
    for (const report::Column& column : table) {
      if (column.key == key) return !column.title.empty();
    }
    return false;
  };
  // The text of the command's table for a key.
  const auto cell = [&](const std::string& key, const std::string& title) {
    for (const report::Column& column : table) {
      if (column.key == key) return cell_column(title, title, column.text);
    }
    return text_column(title, title);
  };
  const auto made = [](const char* key, const char* title, report::Value (*value)(const report::Row&)) {
    report::PageColumn column = text_column(key, title, false);
    column.value = value;
    return column;
  };
  report::PageColumn distance = figure_column("metrics.max_abs", "max abs");
  distance.value = distance_cell_of_page;
  std::vector<report::PageColumn> columns = {
      figure_column("order", "order"),
      figure_column("rank", "rank", is_shown("rank")),
      figure_column("step", "step", is_shown("step")),
      figure_column("graph", "graph", false),
      text_column("verdict", "verdict"),
      {"explained", "explained", report::PageColumn::Kind::kText, true, explained_cell},
      text_column("op_type", "op type"),
      text_column("op_name", "op name"),
      cell("io", "tensor"),
      cell("a.dtype", "dtype"),
      figure_column("error", "relative error"),
      distance,
      figure_column("expected_error", "expected"),
      cell("source.file", "line"),
      text_column("reason", "reason"),
      text_column("io", "io", false),
      text_column("slot", "slot", false),
      made("shape", "shape", shape_cell),
      text_column("error_note", "", false),
      figure_column("measured_error", "measured error", false),
      figure_column("score", "score", false)};
  for (const char* const metric : {"max_rel", "mean_abs", "cosine", "max_ulp", "over_tolerance", "count"})
    columns.push_back(figure_column(fmt::format("metrics.{}", metric), metric, false));
  for (const char* const metric : {"nan", "min", "max", "mean"}) {
    columns.push_back(
        figure_column(fmt::format("metrics.{}_a", metric), fmt::format("{} of candidate", metric), false));
    columns.push_back(
        figure_column(fmt::format("metrics.{}_b", metric), fmt::format("{} of reference", metric), false));
  }
  columns.push_back(made("worst", "worst element", worst_cell));
  columns.push_back(made("passes", "would pass", passes_cell));
  columns.insert(columns.end(),
                 {text_column("source.file", "file", false), text_column("source.code", "code", false),
                  text_column("paired_by", "paired by", false), text_column("a_value", "in candidate", false),
                  text_column("b_value", "in reference", false)});
  columns.push_back(text_column("difference", "counts as a difference", false));
  columns.push_back(text_column("class", "", false));
  for (const char* const side : {"a_at", "b_at"}) columns.push_back(text_column(side, "", false));
  columns.push_back(figure_column("run", "run", false));
  if (sampled) columns.push_back(figure_column("position", "position", false));
  return columns;
}

// The number for the chart, and what is said beside it: "nan", "(24 of 144)"; "0.28", "(871 as dumped)".
void add_error(const DiffResult& run, TensorId tensor, report::Row& row) {
  const bool nan = run.diffs[tensor].verdict == Verdict::kNan;
  const auto error = nan ? std::optional(std::numeric_limits<double>::quiet_NaN()) : judged_error(run, tensor);
  const std::string text = error_text(run, tensor);
  const size_t note = text.find('(');
  row.add("error", error);
  row.add("error_note", note == std::string::npos ? report::Value() : report::Value(text.substr(note)));
}

}  // namespace

DiffPageRows::DiffPageRows(WorkerPool& pool, const DiffOptions& options, const DiffResult& run,
                           const std::vector<const Divergence*>& roots)
    : run_(run), of_cause_(rows_of_causes(run)), row_of_(run.diffs.size(), kNoRow), table_({}) {
  const std::vector<DiffRow> all = all_rows(run);
  all_ = all.size();
  for (const DiffRow& row : all) ++class_counts_[class_of(row)];
  const std::vector<size_t> taken = chosen(all, roots);
  const bool sampled = taken.size() < all.size();
  for (const size_t place : taken) rows_.push_back(all[place]);
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].tensor != kNoId) row_of_[rows_[i].tensor] = static_cast<uint32_t>(i);
  }
  table_ = report::PageTable(page_columns(run, sampled));
  fill_page_table(table_, pool, rows_.size(), [&](size_t i) {
    const DiffRow& place = rows_[i];
    report::Row row = diff_row(run, place, options);
    row.add("difference", counts_as_difference(run, place) ? "yes" : "");
    row.add("class", class_of(place));
    if (place.tensor != kNoId) {
      const ExecutionId at = run.divergence.runs[place.tensor];
      const TensorPair& pair = run.pairing.tensors[place.tensor];
      add_error(run, place.tensor, row);
      row.add("a_at", place_on(*run.a, pair.a, row, "a")).add("b_at", place_on(*run.b, pair.b, row, "b"));
      row.add("run", at == kNoId ? report::Value() : report::Value(uint32_t{at}));
    }
    if (sampled) row.add("position", taken[i]);
    return row;
  });
}

std::vector<size_t> DiffPageRows::chosen(const std::vector<DiffRow>& all,
                                         const std::vector<const Divergence*>& roots) const {
  std::vector<bool> marked(run_.diffs.size());
  for (const Divergence* const root : roots) {
    for (const auto* const tensors : {&root->inputs, &root->outputs}) {
      for (const TensorId tensor : *tensors) marked[tensor] = true;
    }
  }
  std::vector<report::PagePoint> points;
  points.reserve(all.size());
  for (const DiffRow& row : all) {
    const bool differs = counts_as_difference(run_, row);
    if (row.tensor == kNoId) {
      points.push_back({std::numeric_limits<double>::quiet_NaN(), 0, differs, differs});
      continue;
    }
    const TensorDiff& diff = run_.diffs[row.tensor];
    points.push_back({judged_error(run_, row.tensor).value_or(std::numeric_limits<double>::quiet_NaN()),
                      static_cast<uint8_t>(diff.verdict), marked[row.tensor], differs});
  }
  return report::page_sample(points);
}

// The reason of the summary if it does not agree, else its verdict; where nothing is judged the verdict alone.
std::string_view DiffPageRows::class_of(const DiffRow& row) const {
  const bool is_argument = row.tensor == kNoId, judged = !run_.single_pair && !run_.pairing.of_parameters;
  if (is_argument && argument_counts(run_, row.argument)) return kArgumentClass;
  const Verdict verdict = is_argument ? run_.arguments[row.argument].verdict : run_.diffs[row.tensor].verdict;
  if (verdict == Verdict::kClose || verdict == Verdict::kEmpty) return name_of(Verdict::kSame);
  if (verdict == Verdict::kSame || verdict == Verdict::kSkipped) return name_of(verdict);
  const std::string_view reason = is_argument || !judged ? "" : reason_key(run_, row.tensor, of_cause_);
  if (!reason.empty()) return reason;
  return counts_as_difference(run_, row) ? name_of(verdict) : kAcceptedClass;
}

std::vector<report::PageClass> DiffPageRows::classes() const {
  // The worst last: it is drawn over the others, and stands for its operator in the data flow.
  static const std::vector<report::PageClass> kAll = {{"skipped", "skipped", "not compared"},
                                                      {"same", "agrees", "same or close"},
                                                      {std::string(kAcceptedClass), "agrees", "accepted"},
                                                      {"unwritten", "other"},
                                                      {"random", "other"},
                                                      {"inert", "other"},
                                                      {"elsewhere", "other"},
                                                      {"noise", "rounding"},
                                                      {"unmatched", "other"},
                                                      {"downstream", "downstream"},
                                                      {"unexplained", "unexplained"},
                                                      {"dtype", "culprit"},
                                                      {"shape", "culprit"},
                                                      {"nan", "unexplained"},
                                                      {"differ", "culprit"},
                                                      {std::string(kArgumentClass), "culprit", "arguments that differ"},
                                                      {"cause", "culprit"}};
  const std::vector<ReasonCount> reasons = reason_counts(run_);
  std::vector<report::PageClass> classes;
  for (report::PageClass one : kAll) {
    const auto count = class_counts_.find(one.key);
    if (count == class_counts_.end()) continue;
    for (const ReasonCount& reason : reasons) {
      if (reason.key == one.key) one.text = reason.text;
    }
    if (one.text.empty()) one.text = one.key;
    one.count = count->second;
    classes.push_back(std::move(one));
  }
  return classes;
}

std::optional<size_t> DiffPageRows::row_of(TensorId tensor) const {
  if (tensor == kNoId || row_of_[tensor] == kNoRow) return std::nullopt;
  return row_of_[tensor];
}

std::vector<report::PageEdge> DiffPageRows::edges() const {
  std::set<ExecutionId> runs;
  for (const DiffRow& row : rows_) {
    if (row.tensor != kNoId) runs.insert(run_.divergence.runs[row.tensor]);
  }
  return page_edges(run_.divergence.edges, runs, [&](TensorId tensor) { return row_of(tensor); });
}

report::List DiffPageRows::causes(const std::vector<const Divergence*>& roots) const {
  report::List list;
  for (const Divergence* const root : roots) {
    report::List rows;
    for (const auto* const tensors : {&root->outputs, &root->inputs}) {
      for (const TensorId tensor : *tensors) {
        if (const auto row = row_of(tensor)) rows.emplace_back(*row);
      }
    }
    report::Object cause;
    cause.add("rows", std::move(rows));
    list.emplace_back(std::move(cause));
  }
  return list;
}

namespace {

constexpr size_t kMostPictures = 12, kOutputsOfRoot = 3, kMostLooks = 200;

report::Object histogram_object(const ErrorPicture& picture) {
  report::List bins;
  for (const auto& [bin, count] : picture.bins) bins.emplace_back(report::List{bin, count});
  report::Object object;
  object.add("per_decade", kBinsPerDecade).add("bins", std::move(bins));
  object.add("equal", picture.equal).add("mismatches", picture.mismatches);
  return object;
}

report::Object map_object(const ErrorPicture& picture) {
  report::List cells;
  for (const double cell : picture.cells) cells.emplace_back(static_cast<float>(cell));
  report::Object object;
  object.add("rows", picture.rows).add("columns", picture.columns);
  object.add("cell_height", picture.cell_height).add("cell_width", picture.cell_width);
  object.add("down", picture.cells_down).add("across", picture.cells_across).add("cells", std::move(cells));
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

// The outputs of the roots, each once; of two files their only pair.
std::vector<TensorId> pictured(const DiffResult& run, const std::vector<const Divergence*>& roots) {
  std::vector<TensorId> tensors;
  if (run.single_pair) tensors = run.rows;
  for (const Divergence* const root : roots) {
    const std::vector<TensorId>& shown = enters(*root) || root->outputs.empty() ? root->inputs : root->outputs;
    for (size_t i = 0; i < std::min(shown.size(), kOutputsOfRoot) && tensors.size() < kMostPictures; ++i) {
      if (std::find(tensors.begin(), tensors.end(), shown[i]) == tensors.end()) tensors.push_back(shown[i]);
    }
  }
  return tensors;
}

}  // namespace

Result<report::List> pictures_value(Session& session, const DiffResult& run,
                                    const std::vector<const Divergence*>& roots, const DiffPageRows& rows) {
  report::List list;
  const std::vector<TensorId> tensors = pictured(run, roots);
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

namespace {

constexpr size_t kCausesInFull = 10, kRelationsInFull = 50;

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
  if (!of_values) return {"The dumps differ in what they hold", report::Tone::kNeutral};
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
  const RootReport report(run, root);
  cause.name = report.name();
  cause.place = report.place();
  add_source(run.line(root.op), cause);
  add_evidence(run, "in", root.inputs, cause);
  add_evidence(run, "out", root.outputs, cause);
  cause.measured = root.measured_error;
  cause.expected = root.expected_error;
  for (const RootFact& fact : report.facts()) {
    if (fact.label == "line" || fact.label == "in" || fact.label == "out") continue;
    // The counts of the page say what a single root explains.
    if (fact.label == "so" && run.divergence.roots.size() == 1) {
      cause.facts.push_back({"confidence", report.effect(false)});
    } else {
      cause.facts.push_back({std::string(fact.long_label), escape_for_terminal(fact.text), fact.is_code});
    }
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
    counts.push_back(
        {std::string(one.key), std::string(one.text), one.count, open ? report::Tone::kBad : report::Tone::kNeutral});
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
                                      one.catalogue().index, facts[side].dtype);
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
  for (const FoundRelation& one : run.pairing.relations) {
    if (about.size() < kRelationsInFull)
      about.push_back({std::string(one.kind), one.count > 1 ? fmt::format("{} ({})", one.text, one.count) : one.text});
  }
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
  add("--baseline", options.baseline);
  return words;
}

}  // namespace

Status write_diff_page(Session& session, const DiffOptions& options, const DiffResult& run) {
  std::vector<const Divergence*> roots;
  for (const Divergence& root : run.divergence.roots) roots.push_back(&root);
  const DiffPageRows rows(session.context.pool, options, run, roots);
  report::Page page;
  page.dumps = dumps_of(run, options);
  page.heading = fmt::format("{} against {}", page.dumps.front().name, page.dumps.back().name);
  std::tie(page.sentence, page.tone) = answer_of(run, roots);
  if (const size_t end = page.sentence.find("; "); roots.empty() && end != std::string::npos) {
    page.more = page.sentence.substr(end + 2);
    page.sentence.resize(end);
  }
  report::PageData data;
  data.command = command_of(run, options);
  for (size_t i = 0; i < std::min(roots.size(), kCausesInFull) && !run.single_pair; ++i)
    page.causes.push_back(cause_of(run, *roots[i], i == 0));
  data.causes = rows.causes(roots);
  page.counts = verdict_counts(diff_summary(run, run.failures.size()));
  page.reasons = reason_counts_of_page(run);
  page.about = about_of(run);
  page.words = page_words({"candidate", "reference", "cause", "evidence", "asked", "computed", "handed on", "estimate",
                           "error", "expected error", "similar operators", "confidence", "downstream", "noise",
                           "unwritten", "unexplained", "unmatched", "skipped"});
  page.notes = notes_of(run, rows.rows().size(), rows.all(), roots.size());
  data.has_flow = !run.pairing.of_parameters && !run.single_pair;
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
  MSDUMP_TRY(data.pictures, pictures_value(session, run, roots, rows));
  return write_page(session, options.report, std::move(page), std::move(data));
}

}  // namespace msdump::cli
