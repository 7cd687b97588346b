// The row of a dump tree.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "dump/layouts/dump_json_kinds.h"
#include "dump/layouts/family.h"
#include "dump/names/file_kind.h"
#include "frame/terminal.h"
#include "info/info_run.h"
#include "info/info_text.h"
#include "info/tree_facts.h"

namespace msdump::cli {
namespace {

using Counts = std::vector<std::pair<std::string, uint64_t>>;

// More places than these are counted, not listed: even a list for machines must end.
constexpr size_t kMostListed = 100'000;
constexpr size_t kShownPlaces = 3, kShownTypes = 8, kShownLayouts = 3;

// Kinds that share a word are one kind to the reader.
Counts kind_counts(const TreeFacts& facts) {
  Counts counts;
  for (const KindCount& kind : facts.kinds) {
    const std::string_view name = name_of(kind.kind);
    const auto same = std::find_if(counts.begin(), counts.end(), [&](const auto& one) { return one.first == name; });
    if (same == counts.end()) {
      counts.emplace_back(name, kind.files);
    } else {
      same->second += kind.files;
    }
  }
  return counts;
}

template <class Key>
Counts named_counts(const std::map<Key, uint64_t>& map) {
  Counts counts;
  for (const auto& [key, count] : map) {
    if constexpr (std::is_same_v<Key, std::string_view>) {
      counts.emplace_back(key, count);
    } else {
      counts.emplace_back(name_of(key), count);
    }
  }
  return counts;
}

report::Object counts_object(const Counts& counts) {
  report::Object object;
  for (const auto& [name, count] : counts) object.add(name, count);
  return object;
}

std::string reason(const IndexedFile& file) {
  if (!file.regular) return "not a regular file";
  if (is_open_question(file) && file.kind == FileKind::kUnknown) return "its name says nothing; it may be a dump file";
  if (is_open_question(file) && file.kind == FileKind::kText)
    return fmt::format("its name does not tell; its content may be that of a file of kind {}",
                       name_of(file.family->kind()));
  return std::string(explanation(file.kind, file.shown_name()));
}

report::List finding_list(const TreeFacts& facts) {
  report::List list;
  for (const TreeFinding& finding : facts.findings) {
    if (list.size() == kMostListed) break;
    list.emplace_back(report::Object().add("path", finding.path).add("what", finding.text));
  }
  return list;
}

report::List not_understood_list(const DumpIndex& index, const TreeFacts& facts) {
  report::List list;
  for (const uint32_t number : facts.not_understood) {
    if (list.size() == kMostListed) break;
    const IndexedFile& file = index.files()[number];
    report::Object object;
    object.add("path", index.relative_path_of(file)).add("reason", reason(file));
    list.emplace_back(std::move(object));
  }
  return list;
}

report::Object detail_of(const DumpIndex& index, const TreeFacts& facts) {
  report::Object detail;
  report::List layouts;
  for (const auto& [layout, files] : facts.layouts) {
    layouts.emplace_back(report::Object().add("layout", name_of(layout)).add("files", files));
  }
  detail.add("framework", report::text_or_null(facts.framework.framework));
  detail.add("framework_version", report::text_or_null(facts.framework.text)).add("layouts", std::move(layouts));
  detail.add("ranks", report::list_of(facts.ranks)).add("graphs", report::list_of(facts.graphs));
  detail.add("steps", report::list_of(facts.steps)).add("folders", facts.folders).add("files", facts.files);
  detail.add("bytes", facts.bytes).add("tensor_files", facts.tensor_files).add("tensor_bytes", facts.tensor_bytes);
  detail.add("kinds", counts_object(kind_counts(facts))).add("dtypes", counts_object(named_counts(facts.dtypes)));
  detail.add("formats", counts_object(named_counts(facts.formats)));
  detail.add("inputs", facts.inputs).add("outputs", facts.outputs).add("parameters", facts.parameters);
  detail.add("op_types", counts_object(named_counts(facts.op_types)));
  detail.add("odd", finding_list(facts)).add("odd_count", facts.findings.size());
  detail.add("not_understood", not_understood_list(index, facts));
  detail.add("not_understood_count", facts.not_understood.size());
  return detail.add("watched_ops", facts.watcher.operators.size()).add("snapshots", facts.watcher.snapshots);
}

std::string framework_text(const FrameworkFacts& framework) {
  if (framework.framework.empty()) return "unknown: nothing in the tree says";
  return framework.text.empty() ? framework.framework : framework.framework + " " + framework.text;
}

// "a, b, c and 4 more"
std::string first_names(const std::set<std::string_view>& names) {
  std::vector<std::string> shown;
  for (const std::string_view name : names) {
    if (shown.size() < kShownPlaces) shown.push_back(escape_for_terminal(name));
  }
  const std::string more = names.size() > shown.size() ? fmt::format(" and {} more", names.size() - shown.size()) : "";
  return fmt::format("{}{}", fmt::join(shown, ", "), more);
}

std::string tensor_text(const TreeFacts& facts) {
  std::string text = fmt::format("{}, {}", facts.tensor_files, human_bytes(facts.tensor_bytes));
  std::vector<std::string> parts;
  if (facts.inputs > 0) parts.push_back(plural(facts.inputs, "input"));
  if (facts.outputs > 0) parts.push_back(plural(facts.outputs, "output"));
  if (facts.parameters > 0) parts.push_back(plural(facts.parameters, "parameter"));
  return parts.empty() ? text : text + fmt::format(": {}", fmt::join(parts, ", "));
}

// Each kind of finding with the first places of it.
void add_findings(const TreeFacts& facts, InfoText& text) {
  for (size_t i = 0; i < facts.findings.size();) {
    const TreeFindingKind kind = facts.findings[i].kind;
    size_t end = i;
    while (end < facts.findings.size() && facts.findings[end].kind == kind) ++end;
    text.line(i == 0 ? "odd" : " ", heading(kind, end - i));
    const size_t shown = std::min(end - i, kShownPlaces);
    for (size_t k = i; k < i + shown; ++k) {
      const TreeFinding& finding = facts.findings[k];
      text.more(finding.path + (finding.text == "empty" ? "" : ": " + finding.text));
    }
    if (end - i > shown) text.more(fmt::format("and {} more; --json names all", end - i - shown));
    i = end;
  }
}

void add_not_understood(const DumpIndex& index, const TreeFacts& facts, InfoText& text) {
  std::map<std::string, std::pair<uint64_t, uint32_t>> reasons;  // how many, and the first
  for (const uint32_t number : facts.not_understood) {
    const auto place = reasons.try_emplace(reason(index.files()[number]), 0, number).first;
    ++place->second.first;
  }
  bool first = true;
  for (const auto& [why, place] : reasons) {
    const std::string example = index.relative_path_of(index.files()[place.second]);
    const std::string_view others = place.first > 1 ? ", ..." : "";
    text.line(std::exchange(first, false) ? "not read" : " ",
              fmt::format("{}: {} ({}{})", plural(place.first, "file"), why, example, others));
  }
}

bool has(const TreeFacts& facts, FileKind kind) {
  return std::any_of(facts.kinds.begin(), facts.kinds.end(), [&](const KindCount& one) { return one.kind == kind; });
}

bool has_tables(const TreeFacts& facts) {
  return std::any_of(facts.kinds.begin(), facts.kinds.end(), [](const KindCount& one) {
    return one.kind == FileKind::kStatistic || is_like_dump_json(one.kind);
  });
}

void add_next(const std::string& path, const TreeFacts& facts, bool questions, InfoText& text) {
  const std::string dump = shell_quoted(path);
  const bool tables = has_tables(facts);
  if (facts.tensor_files > 0 || tables) text.next("the tensors, a row each", "msdump ls -d " + dump);
  if (facts.tensor_files > 0) text.next("those that look worst", "msdump stats -d " + dump + " --top 10");
  if (!facts.watcher.operators.empty()) text.next("which outputs were overwritten", "msdump check -d " + dump);
  if (has(facts, FileKind::kDumpFile)) text.next("as .npy, in NCHW", "msdump convert -d " + dump + " -out OUT -f NCHW");
  if (facts.tensor_files == 0 && !tables && questions) text.next("a look into the files", "msdump ls -d " + dump);
}

std::string text_of(const std::string& path, const DumpIndex& index, const TreeFacts& facts, bool quiet) {
  std::string what;
  for (const auto& [layout, files] : facts.layouts) {
    if (what.empty() || facts.layouts.size() <= kShownLayouts)
      what += (what.empty() ? "" : "; ") + std::string(name_of(layout));
  }
  if (facts.layouts.size() > kShownLayouts) what = fmt::format("{} layouts, mostly {}", facts.layouts.size(), what);
  if (what.empty() && has(facts, FileKind::kCompareResult)) what = "results of msprobe's compare, without tensors";
  if (what.empty()) what = facts.files == 0 ? "a folder without files" : "a folder that holds nothing of a dump";
  InfoText text(path, what);
  if (!facts.layouts.empty()) text.line("written by", framework_text(facts.framework));
  text.line(facts.ranks.size() == 1 ? "rank" : "ranks", counted_ranges_text(facts.ranks));
  text.line(facts.graphs.size() == 1 ? "graph" : "graphs", counted_ranges_text(facts.graphs));
  text.line(facts.steps.size() == 1 ? "step" : "steps", counted_ranges_text(facts.steps));
  if (facts.tensor_files > 0) text.line("tensor files", tensor_text(facts));
  if (!facts.watcher.operators.empty())
    text.line("watcher mode", fmt::format("{} of the outputs of {}", plural(facts.watcher.snapshots, "snapshot"),
                                          first_names(facts.watcher.operators)));
  if (facts.tensor_files == 0 && has_tables(facts)) text.line("tensor files", "none, tables of statistics only");
  text.line("dtypes", counts_text(named_counts(facts.dtypes), kShownTypes));
  text.line("formats", counts_text(named_counts(facts.formats), kShownTypes));
  text.line("op types", counts_text(named_counts(facts.op_types), kShownTypes));
  if (facts.files > 0) {
    text.line("all files",
              fmt::format("{} in {}, {}", facts.files, plural(facts.folders, "folder"), human_bytes(facts.bytes)));
    text.line("of kinds", counts_text(kind_counts(facts), kShownTypes));
  }
  add_findings(facts, text);
  add_not_understood(index, facts, text);
  const bool questions = std::any_of(index.files().begin(), index.files().end(), is_open_question);
  if (!quiet) add_next(path, facts, questions, text);
  return text.text();
}

}  // namespace

InfoRow tree_row(InfoTask& task, const std::string& path, const DumpIndex& index) {
  const TreeFacts facts = tree_facts_of(index);
  for (const Error& problem : index.problems()) task.fail(problem, &index);
  InfoSummary& summary = task.summary;
  summary.ranks.insert(facts.ranks.begin(), facts.ranks.end());
  summary.graphs.insert(facts.graphs.begin(), facts.graphs.end());
  summary.steps.insert(facts.steps.begin(), facts.steps.end());
  for (const auto& [layout, files] : facts.layouts) summary.add_layout(name_of(layout));
  summary.add_version(facts.framework.text);
  summary.tensors += facts.tensor_files;
  summary.bytes += facts.tensor_bytes;
  if (task.request.values.given) {
    task.fail(
        make_error(ErrorCode::kUsage, "--values prints the elements of a file, or of an operator, and this is a folder")
            .with_path(path)
            .with_hint("--op NAME chooses an operator; msdump ls -d " + shell_quoted(path) + " lists them"));
  }
  if (task.for_people()) return {path, "tree", {}, text_of(path, index, facts, task.session.general.quiet)};
  return {path, "tree", detail_of(index, facts), {}};
}

}  // namespace msdump::cli
