// --report FILE: the page (report/page/page.h) beside what a command prints.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "frame/subcommand.h"
#include "graph/flow/run_graph.h"
#include "graph/lines/operator_lines.h"
#include "report/page/page.h"
#include "report/page/page_data.h"

namespace msdump::cli {

// Rows of a page in plain HTML.
inline constexpr size_t kFirstRows = 50;
// Inputs, and outputs, that stand beside what went wrong.
inline constexpr size_t kMostEvidence = 12;

[[nodiscard]] Option page_option(std::string& path);

// Fails where `path` could not be written after hours of work: its folder is missing, or it is a folder. An empty path is
// none. May throw UsageError.
Status check_page_path(const std::string& path);

// The rows [0, count) in order, made on all threads.
void fill_page_table(report::PageTable& table, WorkerPool& pool, size_t count,
                     const std::function<report::Row(size_t)>& row_of);

// A sentence on the rows that the page leaves out; empty if it has all.
[[nodiscard]] std::string sample_note(size_t shown, size_t all);

// A sentence on inputs that could not be read; empty if all could.
[[nodiscard]] std::string unread_note(size_t failures);

// A dump as the head of a page has it: its full paths, who wrote it ("Ascend" for a device), and when its newest file was
// written. The caller adds its role and name.
[[nodiscard]] report::PageDump page_dump(const std::vector<std::string>& paths, const DumpIndex& index,
                                         std::string_view dtypes);
[[nodiscard]] report::PageSide page_side(std::string role, const std::vector<std::string>& paths, std::string at,
                                         const DumpIndex& index);

void add_source(const OperatorLine& line, report::PageCause& cause);

// Adds a last line that counts the tensors beyond kMostEvidence.
void add_more_evidence(std::string_view side, size_t tensors, report::PageCause& cause);

// The edges between `runs`. `row_of`: by tensor.
[[nodiscard]] std::vector<report::PageEdge> page_edges(const std::vector<FlowEdge>& edges,
                                                       const std::set<ExecutionId>& runs,
                                                       const std::function<std::optional<size_t>(TensorId)>& row_of);

// Fills in the command, its version and line, begins the sentence with a capital, and writes the page under `path`,
// complete or not at all.
Status write_page(const Session& session, const std::string& path, report::Page page, report::PageData data);

// "input:0" and similar columns that all pages share.
[[nodiscard]] report::PageColumn text_column(const std::string& key, const std::string& title, bool shown = true);
[[nodiscard]] report::PageColumn figure_column(const std::string& key, const std::string& title, bool shown = true);
// A text that the table of the command shows: "-" is none.
[[nodiscard]] report::PageColumn cell_column(const std::string& key, const std::string& title,
                                             std::function<std::string(const report::Row&)> text, bool shown = true);

}  // namespace msdump::cli
