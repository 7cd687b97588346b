#include "shared/report_page.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "frame/cli.h"
#include "frame/terminal.h"
#include "frame/usage.h"
#include "io/atomic_file.h"
#include "io/zip.h"
#include "shared/catalogue.h"

namespace msdump::cli {

Option page_option(std::string& path) {
  return {.names = "--report",
          .other_names = "html page",
          .is_common = true,
          .value = OptionValue::text(path, "FILE.html"),
          .group = kOutputGroup,
          .help =
              "Also write one HTML page, for looking at and for passing on: the answer with its evidence, the error "
              "along the execution, the data flow, the rows. It needs no network",
          .use = OptionUse::kOutput};
}

Status check_page_path(const std::string& path) {
  if (path == "-") throw UsageError("--report needs the name of a file; /dev/stdout is standard output");
  if (path.empty()) return {};
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return fail(make_error(ErrorCode::kWriteFailed, "is a folder, where --report needs a file").with_path(path));
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return {};
  return fail(make_error(ErrorCode::kWriteFailed, "there is no folder {}", folder.string()).with_path(path));
}

void fill_page_table(report::PageTable& table, WorkerPool& pool, size_t count,
                     const std::function<report::Row(size_t)>& row_of) {
  constexpr size_t kChunk = 256;
  constexpr int64_t kMostWaiting = 64;
  const auto make_chunk = [&](int64_t chunk) {
    std::vector<report::PageTable::Cells> rows;
    const size_t begin = static_cast<size_t>(chunk) * kChunk;
    for (size_t i = begin; i < std::min(begin + kChunk, count); ++i) rows.push_back(table.cells_of(row_of(i)));
    return rows;
  };
  const auto add_chunk = [&](int64_t, std::vector<report::PageTable::Cells>&& rows) {
    for (const report::PageTable::Cells& row : rows) table.add(row);
  };
  pool.ordered_for(static_cast<int64_t>((count + kChunk - 1) / kChunk), make_chunk, add_chunk, kMostWaiting);
}

std::string sample_note(size_t shown, size_t all) {
  if (shown >= all) return {};
  return fmt::format(
      "The page has {} of {} rows: the evidence, the largest and the smallest error of every part of the run for each "
      "verdict, then what differs in the order of execution. --json and --csv have all.",
      shown, all);
}

std::string unread_note(size_t failures) {
  if (failures == 0) return {};
  return fmt::format("{} could not be read: msdump names them on standard error and in --json.",
                     plural(failures, "input"));
}

report::PageDump page_dump(const std::vector<std::string>& paths, const DumpIndex& index, std::string_view dtypes) {
  const bool of_device = is_device_dump(index);
  report::PageDump dump;
  for (const std::string& path : paths) {
    std::error_code error;
    const std::filesystem::path full = std::filesystem::absolute(path, error).lexically_normal();
    dump.path += fmt::format("{}{}", dump.path.empty() ? "" : ", ", error ? path : full.string());
  }
  const FrameworkFacts writer = of_device ? FrameworkFacts() : framework_of(index);
  dump.facts = of_device ? "Ascend" : writer.framework + (writer.text.empty() ? "" : " " + writer.text);
  if (!dtypes.empty()) dump.facts += fmt::format("{}{}", dump.facts.empty() ? "" : ", ", dtypes);
  int64_t newest = 0;
  for (const IndexedFile& file : index.files()) newest = std::max(newest, file.mtime_ns);
  // The time of the page itself would make two pages of the same dumps differ.
  if (newest > 0) dump.newest = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(newest / 1'000'000'000));
  return dump;
}

report::PageSide page_side(std::string role, const std::vector<std::string>& paths, std::string at,
                           const DumpIndex& index) {
  std::set<std::optional<int64_t>> ranks, steps;
  for (const auto& folder : index.folders()) {
    if (folder.identity.rank) ranks.insert(folder.identity.rank);
    if (folder.identity.step) steps.insert(folder.identity.step);
  }
  return {std::move(role), paths, std::move(at), ranks.size() > 1, steps.size() > 1};
}

void add_source(const OperatorLine& line, report::PageCause& cause) {
  if (line.frame == nullptr) return;
  cause.source = fmt::format("{}:{}", line.frame->file, line.frame->line);
  cause.code = line.frame->code;
  if (line.one_of_several) cause.source += " (one of several calls)";
}

void add_more_evidence(std::string_view side, size_t tensors, report::PageCause& cause) {
  if (tensors > kMostEvidence)
    cause.evidence.push_back({std::string(side), fmt::format("{} more", tensors - kMostEvidence), "", ""});
}

std::vector<report::PageEdge> page_edges(const std::vector<FlowEdge>& edges, const std::set<ExecutionId>& runs,
                                         const std::function<std::optional<size_t>(TensorId)>& row_of) {
  std::vector<report::PageEdge> shown;
  for (const FlowEdge& edge : edges) {
    if (runs.contains(edge.from) && runs.contains(edge.to))
      shown.push_back({edge.from, edge.to, row_of(edge.tensor), edge.gap});
  }
  return shown;
}

Status write_page(const Session& session, const std::string& path, report::Page page, report::PageData data) {
  page.command = data.kind = std::string(session.command.name);
  page.version = std::string(version_number());
  if (!page.sentence.empty()) page.sentence.front() = to_upper(page.sentence.substr(0, 1)).front();
  std::vector<std::string> line = {"msdump"};
  line.insert(line.end(), session.arguments.begin(), session.arguments.end());
  page.about.insert(page.about.begin(), {"command", shell_line(line), true});
  MSDUMP_TRY(const std::string packed, gzip(report::page_json(data)));
  return write_named_file(path, report::page_html(page, base64(packed)));
}

report::PageColumn text_column(const std::string& key, const std::string& title, bool shown) {
  return {key, title, report::PageColumn::Kind::kText, shown};
}

report::PageColumn figure_column(const std::string& key, const std::string& title, bool shown) {
  return {key, title, report::PageColumn::Kind::kNumber, shown};
}

report::PageColumn cell_column(const std::string& key, const std::string& title,
                               std::function<std::string(const report::Row&)> text, bool shown) {
  report::PageColumn column = text_column(key, title, shown);
  column.value = [text = std::move(text)](const report::Row& row) {
    std::string cell = text(row);
    return cell == "-" ? report::Value() : report::Value(std::move(cell));
  };
  return column;
}

}  // namespace msdump::cli
