// msdump info after its options are parsed: one row per path, as text for people or as a report.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "dump/index/dump_index.h"
#include "frame/subcommand.h"
#include "frame/usage.h"
#include "report/row_sink.h"
#include "shared/options.h"

namespace msdump::cli {

struct InfoRequest {
  DumpOptions dump;
  SelectionOptions selection;  // io and slot
  bool values = false;
  std::string slice;  // empty: everything
  report::Form form = report::Form::kTable;
};

// What one path is. The table form has `text` and no detail; other forms have detail and no text.
struct InfoRow {
  std::string path, kind;
  report::Object detail;
  std::string text;
};

// What the rows share.
struct InfoSummary {
  std::set<int64_t> ranks, graphs, steps;
  std::vector<std::string> layouts, versions;
  uint64_t tensors = 0, bytes = 0;

  void add_layout(std::string_view layout);
  void add_version(std::string_view version);
  [[nodiscard]] report::Object object() const;
};

// One run over all paths.
struct InfoTask {
  Session& session;
  const InfoRequest& request;
  const Selection& selection;
  InfoSummary summary = {};
  std::vector<report::Object> failures = {};
  ExitCode code = ExitCode::kOk;

  [[nodiscard]] bool for_people() const { return request.form == report::Form::kTable; }
  // Reports a failure, and remembers it for the report and the exit code.
  void fail(const Error& error, const DumpIndex* index = nullptr);
};

[[nodiscard]] InfoRow tree_row(InfoTask& task, const std::string& path, const DumpIndex& index);
[[nodiscard]] InfoRow file_row(InfoTask& task, const std::string& path, const DumpIndex& index);

}  // namespace msdump::cli
