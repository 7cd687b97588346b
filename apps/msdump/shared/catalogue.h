// Opening a dump: from options to paths, to a DumpIndex, to a TensorList; and the messages about it at the end of a
// command.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dump/index/catalogue.h"
#include "frame/subcommand.h"
#include "frame/usage.h"
#include "report/row_type.h"
#include "shared/options.h"

namespace msdump::cli {

struct CatalogueRequest {
  const DumpOptions& dump;
  const SelectionOptions& selection;
  ListOptions list;
  std::vector<std::string> excluded = {};  // folders not entered: an OUT inside the dump
};

Result<Catalogue> open_catalogue(const RunContext& context, const CatalogueRequest& request);

// True if the name of any file is that of a file of tensors.
[[nodiscard]] bool has_tensor_files(const DumpIndex& index);

// True if a device wrote any of the files: an Ascend dump.
[[nodiscard]] bool is_device_dump(const DumpIndex& index);

// The summary of a dump or of its files, as info has it; that of ls counts failures, too.
struct DumpSummary {
  uint64_t tensors = 0, bytes = 0;
  std::set<int64_t> ranks, graphs, steps;
  std::string layout, framework_version;
};
struct CatalogueSummary : DumpSummary {
  size_t failed = 0;
};
[[nodiscard]] const report::RowType<DumpSummary>& dump_summary();
[[nodiscard]] const report::RowType<CatalogueSummary>& catalogue_summary();
[[nodiscard]] CatalogueSummary summary_of(const Catalogue& catalogue);

// Names files that the index of a checkpoint names and that are not there.
void warn_of_missing_shards(Session& session, const DumpIndex& index);

// Prints each failure.
void report_failures(Session& session, const Catalogue& catalogue);
// The same for machine output, with paths relative to the dump.
[[nodiscard]] std::vector<report::Object> failure_objects(const Catalogue& catalogue);
[[nodiscard]] report::Object relative_failure(const DumpIndex& index, const Error& error);

// Says how many files were not recognised.
void note_unknown_files(Session& session, const Catalogue& catalogue);

// Warns that the selection matches nothing, with the nearest names in the dump; returns kNo.
ExitCode end_with_nothing_selected(const Session& session, const DumpIndex& index, const SelectionOptions& asked);

// What to do where no file of a path has a tensor.
[[nodiscard]] std::string_view hint_without_tensors(const std::vector<IndexedFile>& files);

// 3 if something failed, 1 if the selection matches nothing, 2 if there is nothing that could be an input, else 0; each
// with its message.
[[nodiscard]] ExitCode conclude_listing(Session& session, const Catalogue& catalogue);

}  // namespace msdump::cli
