#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "check/tree/completeness.h"
#include "checkpoint/shards.h"
#include "dump/layouts/family.h"
#include "dump/names/file_name.h"
#include "info/tree_facts.h"

namespace msdump::check {
namespace {

// The last files that the dump wrote, by the clock of their file system; none if a copy gave many the same time.
std::set<std::string> newest_files(const DumpIndex& index) {
  constexpr size_t kMostAtOnce = 3;
  int64_t newest = INT64_MIN;
  std::set<std::string> paths;
  for (const IndexedFile& file : index.files()) {
    if (file.mtime_ns > newest) paths.clear();
    newest = std::max(newest, file.mtime_ns);
    if (file.mtime_ns == newest && paths.size() <= kMostAtOnce) paths.insert(index.path_of(file));
  }
  return paths.size() > kMostAtOnce ? std::set<std::string>() : paths;
}

std::string cause_of_cut(bool is_newest, size_t cut) {
  if (is_newest) return "it is the last file that was written: the process ended, or the disk was full";
  if (cut > 2) return "several files are cut: check whether the disk was full (df), and dump fewer steps or operators";
  return "it was cut when it was written or copied; compare its size with the original";
}

constexpr std::string_view kWithoutByte = "a file without a byte";

bool is_empty(const IndexedFile& file) { return file.regular && file.size == 0; }

// For a raw file with a shape in its name: a cut file is never longer.
bool is_longer_than_named(const IndexedFile& file) {
  const auto parsed = parse_raw_bin_file_name(file.shown_name());
  const auto count = parsed ? element_count(parsed->shape) : std::nullopt;
  const auto bytes = count ? bytes_of(parsed->dtype, *count) : std::nullopt;
  return bytes && file.size > *bytes;
}

// The files that these errors are about.
std::map<std::string_view, FileId> files_of(const DumpIndex& index, const std::vector<const Error*>& errors) {
  std::map<std::string_view, FileId> found;
  for (const Error* const error : errors) found.emplace(error->path, kNoId);
  for (FileId i{0}; i < index.files().size() && !found.empty(); ++i) {
    const std::string path = index.path_of(index.files()[i]);
    const auto file = found.find(path);
    if (file != found.end()) file->second = i;
  }
  std::erase_if(found, [](const auto& one) { return one.second == kNoId; });
  return found;
}

// True for the statistics of a training monitor. Its user chose the tensors, and steps may have no values.
bool is_monitored(const CheckedDump& dump) {
  for (TensorId tensor{0}; tensor < dump.tensors(); ++tensor) {
    if (dump.record(tensor).step == kStepOfFolder) return false;
  }
  return dump.tensors() > 0;
}

}  // namespace

std::string first_names(const std::vector<std::string>& names) {
  constexpr size_t kNamesShown = 3;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kNamesShown); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kNamesShown ? text + ", .." : text;
}

std::set<RankStep> places_of(const std::vector<Finding>& findings, std::span<const RuleId> rules) {
  std::set<RankStep> places;
  for (const Finding& finding : findings) {
    if (finding.step && std::find(rules.begin(), rules.end(), finding.rule) != rules.end())
      places.emplace(finding.rank, *finding.step);
  }
  return places;
}

void judge_files(RuleContext& context, const TreeInput& tree) {
  const DumpIndex& index = context.dump.index();
  std::set<FileId> reported;
  const std::set<std::string> newest = newest_files(index);
  const std::map<std::string_view, FileId> failed = files_of(index, tree.failures);
  const auto cut =
      static_cast<size_t>(std::count_if(tree.failures.begin(), tree.failures.end(),
                                        [](const Error* error) { return error->code == ErrorCode::kTruncated; }));
  for (const Error* const failure : tree.failures) {
    const Error& error = *failure;
    const auto file = failed.find(error.path);
    const bool empty = file != failed.end() && is_empty(index.files()[file->second]);
    const bool is_repeated = empty && reported.count(file->second) > 0;
    if (file != failed.end()) reported.insert(file->second);
    const RuleId id = empty ? RuleId::kEmptyFile : RuleId::kUnreadable;
    if (!context.judges(id) || is_repeated) continue;
    std::string message = empty                  ? std::string(kWithoutByte)
                          : error.tensor.empty() ? error.message
                                                 : error.tensor + ": " + error.message;
    Finding& finding =
        file != failed.end()
            ? context.report_file(id, file->second, code_word(error.code), std::move(message))
            : context.report_place(id, {.path = index.relative(error.path)}, code_word(error.code), std::move(message));
    const bool is_cut = empty || error.code == ErrorCode::kTruncated;
    finding.hint = is_cut ? cause_of_cut(newest.count(error.path) > 0, cut) : error.hint;
  }
  for (const TreeFinding& found : tree.tree_findings) {
    const bool empty = found.kind == TreeFindingKind::kEmptyFile;
    if (!empty && found.kind != TreeFindingKind::kSizeAgainstName) continue;
    const IndexedFile& file = index.files()[FileId(found.item)];
    if (reported.count(FileId(found.item)) > 0 || !tree.selection.matches_folder(index.identity_of(file))) continue;
    const RuleId id = empty ? RuleId::kEmptyFile : RuleId::kSizeAgainstName;
    if (!context.judges(id)) continue;
    Finding& finding = context.report_file(id, FileId(found.item), {}, empty ? std::string(kWithoutByte) : found.text);
    finding.hint = is_longer_than_named(file)
                       ? "another tensor was written under this name, or this one twice; only the first bytes are read"
                       : cause_of_cut(newest.count(index.path_of(file)) > 0, 1);
  }
}

void judge_completeness(RuleContext& context, const TreeInput& tree) {
  judge_files(context, tree);
  judge_shards(context, tree);
  if (is_monitored(context.dump)) return;
  judge_operators(context, tree);
  judge_msprobe(context);
  judge_slots(context);
  judge_steps(context, tree);
  judge_ranks(context, tree);
}

namespace {

Result<ShardCheck> checked_shards(const DumpIndex& index, const IndexedFile& file) {
  MSDUMP_TRY(const File opened, File::open(index.path_of(file)));
  MSDUMP_TRY(const ShardIndex shards, read_shard_index(opened));
  return check_shards(shards, index.path_of_folder(file.folder), CancelToken());
}

const char* hint_of(ShardFaultKind kind) {
  switch (kind) {
    case ShardFaultKind::kMissingFile: return "copy it beside the others; a download may not have ended";
    case ShardFaultKind::kMissing:
    case ShardFaultKind::kUnlisted:
      return "the file and the index are of different checkpoints, or one was converted alone";
    default: return "";
  }
}

}  // namespace

void judge_shards(RuleContext& context, const TreeInput& tree) {
  constexpr RuleId kRule = RuleId::kIncompleteCheckpoint;
  if (!context.judges(kRule)) return;
  const DumpIndex& index = context.dump.index();
  for (FileId i{0}; i < index.files().size(); ++i) {
    const IndexedFile& file = index.files()[i];
    if (file.kind != FileKind::kShardIndex || !file.regular) continue;
    if (!tree.selection.matches_folder(index.identity_of(file))) continue;
    const auto check = checked_shards(index, file);
    if (!check) {
      context.report_file(kRule, i, code_word(check.error().code), check.error().message);
      continue;
    }
    for (const ShardFault& fault : check->faults) {
      if (fault.kind == ShardFaultKind::kUnreadable) continue;  // a finding of its own
      Finding& finding =
          context.report_file(kRule, i, {}, fault.file.empty() ? fault.text : fault.file + ": " + fault.text);
      finding.hint = hint_of(fault.kind);
      if (fault.kind == ShardFaultKind::kTotalSize) finding.limit_severity(Severity::kWarning);
    }
  }
}

namespace {

// Reports a process that ended before stop(): it leaves tensors, and a dump.json without entries.
void judge_stopped(RuleContext& context) {
  const CheckedDump& dump = context.dump;
  const DumpIndex& index = dump.index();
  std::set<FileId> with_rows;
  std::map<uint32_t, size_t> without_row;  // tensors of dump_tensor_data, by folder
  for (TensorId tensor{0}; tensor < dump.tensors(); ++tensor) {
    const TensorRecord& record = dump.record(tensor);
    if (record.table != kNoId) with_rows.insert(record.table);
    const uint32_t folder = index.files()[record.file].folder;
    if (record.table == kNoId && index.folders()[folder].identity.tensor_data) ++without_row[folder];
  }
  for (FileId i{0}; i < index.files().size(); ++i) {
    const IndexedFile& file = index.files()[i];
    if (file.kind != FileKind::kDumpJson || with_rows.count(i) > 0) continue;
    const std::string& home = index.folder_of(file);
    for (const auto& [folder, count] : without_row) {
      const std::string& relative = index.folders()[folder].relative;
      const bool below = relative == (home.empty() ? "" : home + "/") + "dump_tensor_data";
      if (!below || index.folders()[folder].root != index.folders()[file.folder].root) continue;
      const FolderIdentity& place = index.folders()[file.folder].identity;
      Finding& finding = context.report_place(
          RuleId::kStopped, {.rank = place.rank, .step = place.step, .path = index.relative_path_of(file)}, count,
          fmt::format("dump.json has no entries beside {}: the process ended before stop()", plural(count, "tensor")));
      finding.hint = "msprobe completes dump.json at stop(); the tensors can be used all the same, by their file names";
    }
  }
}

// Reports files that dump.json names and that are not there.
void judge_lost_files(RuleContext& context) {
  const DumpIndex& index = context.dump.index();
  std::map<FileId, std::pair<size_t, std::vector<std::string>>> lost;  // tensors and operators, by table
  for (TensorId tensor{0}; tensor < context.dump.tensors(); ++tensor) {
    const TensorRecord& record = context.dump.record(tensor);
    if (!record.lost_file) continue;
    auto& [count, names] = lost[record.table];
    ++count;
    if (names.empty() || names.back() != record.name.op_name) names.emplace_back(record.name.op_name);
  }
  for (const auto& [table, one] : lost) {
    const IndexedFile& file = index.files()[table];
    const Identity place = index.identity_of(file);
    Finding& finding =
        context.report_place(RuleId::kMissingFiles,
                             {.rank = place.rank, .step = place.step, .path = index.relative_path_of(file)}, one.first,
                             fmt::format("files of {} that dump.json names are not there: {}",
                                         plural(one.first, "tensor"), first_names(one.second)));
    finding.raise_severity(Severity::kWarning);
    finding.hint = "their statistics stand in for them; the files were deleted or not copied, or the disk was full";
  }
}

}  // namespace

void judge_msprobe(RuleContext& context) {
  if (context.judges(RuleId::kStopped)) judge_stopped(context);
  if (context.judges(RuleId::kMissingFiles)) judge_lost_files(context);
}

}  // namespace msdump::check
