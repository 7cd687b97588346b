// msdump info after its options are parsed: one row per path, as text for people or as a report.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dump/index/dump_index.h"
#include "frame/subcommand.h"
#include "frame/usage.h"
#include "report/row_sink.h"
#include "shared/catalogue.h"
#include "shared/options.h"
#include "shared/values.h"

namespace msdump::cli {

struct InfoRequest {
  DumpOptions dump;
  SelectionOptions selection;  // of tensors whose elements are printed
  ValuesOption values;
  report::Form form = report::Form::kTable;
};

// The row of a path. The table form has `text` and no detail; other forms have detail and no text.
struct InfoRow {
  std::string path, kind;
  report::Object detail;
  std::string text;
};

// The summary of all rows.
struct InfoSummary : DumpSummary {
  void add_layout(std::string_view name);
  void add_version(std::string_view version);

 private:
  std::vector<std::string> layouts_, versions_;
};

// A run over all paths.
struct InfoTask {
  Session& session;
  const InfoRequest& request;
  const Selection& selection;
  InfoSummary summary = {};
  std::vector<report::Object> failures = {};
  ExitCode code = ExitCode::kOk;

  [[nodiscard]] bool for_people() const { return is_for_people(request.form); }
  // Reports a failure, and remembers it for the report and the exit code.
  void fail(const Error& error, const DumpIndex* index = nullptr);
};

// Prints a row with the elements of each tensor of the selection. An error if interrupted.
Status print_values(InfoTask& task, const Catalogue& catalogue, const std::function<bool(InfoRow)>& print);

[[nodiscard]] InfoRow tree_row(InfoTask& task, const std::string& path, const DumpIndex& index);
[[nodiscard]] InfoRow file_row(InfoTask& task, const std::string& path, const DumpIndex& index);

}  // namespace msdump::cli
