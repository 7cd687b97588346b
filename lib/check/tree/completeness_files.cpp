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

constexpr const char* kWithoutByte = "a file without a byte";

bool is_empty(const IndexedFile& file) { return file.regular && file.size == 0; }

// For a raw file with a shape in its name: a cut file is never longer.
bool is_longer_than_named(const IndexedFile& file) {
  const auto parsed = parse_raw_bin_file_name(file.shown_name());
  const auto count = parsed ? element_count(parsed->shape) : std::nullopt;
  const auto bytes = count ? bytes_of(parsed->dtype, *count) : std::nullopt;
  return bytes && file.size > *bytes;
}

// The files that these errors are about.
std::map<std::string_view, uint32_t> files_of(const DumpIndex& index, const std::vector<const Error*>& errors) {
  std::map<std::string_view, uint32_t> found;
  for (const Error* const error : errors) found.emplace(error->path, kNone);
  for (uint32_t i = 0; i < index.files().size() && !found.empty(); ++i) {
    const std::string path = index.path_of(index.files()[i]);
    const auto file = found.find(path);
    if (file != found.end()) file->second = i;
  }
  std::erase_if(found, [](const auto& one) { return one.second == kNone; });
  return found;
}

void set_file(const CheckedDump& dump, uint32_t file, Finding& finding) {
  const DumpIndex& index = dump.index();
  finding.file = file;
  finding.path = index.relative_path_of(index.files()[file]);
  finding.op = dump.op_of_file(file);
  const Identity identity = index.identity_of(index.files()[file]);
  finding.rank = identity.rank;
  finding.graph = identity.graph;
  finding.step = identity.step;
}

// Statistics of a training are of what its user chose, and steps and tensors of it may be without values.
bool is_monitored(const CheckedDump& dump) {
  for (uint32_t tensor = 0; tensor < dump.tensors(); ++tensor) {
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
    const bool of_these =
        std::any_of(rules.begin(), rules.end(), [&](RuleId rule) { return finding.kind == info(rule).name; });
    if (of_these && finding.step) places.emplace(finding.rank, *finding.step);
  }
  return places;
}

Finding tree_finding(const RuleSet& rules, RuleId id, std::string message) {
  Finding finding;
  finding.kind = info(id).name;
  finding.severity = rules[id].severity;
  finding.message = std::move(message);
  return finding;
}

void judge_files(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings) {
  const DumpIndex& index = input.dump.index();
  std::set<uint32_t> reported;
  const std::set<std::string> newest = newest_files(index);
  const std::map<std::string_view, uint32_t> failed = files_of(index, input.failures);
  const auto cut =
      static_cast<size_t>(std::count_if(input.failures.begin(), input.failures.end(),
                                        [](const Error* error) { return error->code == ErrorCode::kTruncated; }));
  for (const Error* const failure : input.failures) {
    const Error& error = *failure;
    const auto file = failed.find(error.path);
    const bool empty = file != failed.end() && is_empty(index.files()[file->second]);
    const RuleId id = empty ? RuleId::kEmptyFile : RuleId::kUnreadable;
    Finding finding = tree_finding(rules, id, empty ? kWithoutByte : error.message);
    if (file == failed.end()) finding.path = index.relative(error.path);
    if (file != failed.end()) set_file(input.dump, file->second, finding);
    if (!error.tensor.empty() && !empty) finding.message = error.tensor + ": " + finding.message;
    finding.value = code_word(error.code);
    const bool is_cut = empty || error.code == ErrorCode::kTruncated;
    finding.hint = is_cut ? cause_of_cut(newest.count(error.path) > 0, cut) : error.hint;
    const bool twice = empty && !reported.insert(file->second).second;
    if (rules.on(id) && !twice) findings.push_back(std::move(finding));
    if (file != failed.end()) reported.insert(file->second);
  }
  for (const Oddity& oddity : input.oddities) {
    const bool empty = oddity.kind == OddityKind::kEmptyFile;
    if (!empty && oddity.kind != OddityKind::kSizeAgainstName) continue;
    const IndexedFile& file = index.files()[oddity.place];
    if (reported.count(oddity.place) > 0 || !input.selection.matches_folder(index.identity_of(file))) continue;
    const RuleId id = empty ? RuleId::kEmptyFile : RuleId::kSizeAgainstName;
    if (!rules.on(id)) continue;
    Finding finding = tree_finding(rules, id, empty ? kWithoutByte : oddity.text);
    set_file(input.dump, oddity.place, finding);
    finding.hint = is_longer_than_named(file)
                       ? "another tensor was written under this name, or this one twice; only the first bytes are read"
                       : cause_of_cut(newest.count(index.path_of(file)) > 0, 1);
    findings.push_back(std::move(finding));
  }
}

void judge_completeness(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings) {
  judge_files(input, rules, findings);
  judge_shards(input, rules, findings);
  if (is_monitored(input.dump)) return;
  judge_operators(input, rules, findings);
  judge_msprobe(input, rules, findings);
  judge_slots(input, rules, findings);
  judge_steps(input, rules, findings);
  judge_ranks(input, rules, findings);
}

// The index of a checkpoint in several files against these files.

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

void judge_shards(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings) {
  if (!rules.on(RuleId::kIncompleteCheckpoint)) return;
  const DumpIndex& index = input.dump.index();
  for (uint32_t i = 0; i < index.files().size(); ++i) {
    const IndexedFile& file = index.files()[i];
    if (file.kind != FileKind::kShardIndex || !file.regular) continue;
    const Identity identity = index.identity_of(file);
    if (!input.selection.matches_folder(identity)) continue;
    const auto add = [&](std::string message) -> Finding& {
      Finding finding = tree_finding(rules, RuleId::kIncompleteCheckpoint, std::move(message));
      finding.file = i;
      finding.path = index.relative_path_of(file);
      finding.rank = identity.rank;
      finding.graph = identity.graph;
      finding.step = identity.step;
      return findings.emplace_back(std::move(finding));
    };
    const auto check = checked_shards(index, file);
    if (!check) {
      add(check.error().message).value = code_word(check.error().code);
      continue;
    }
    for (const ShardFault& fault : check->faults) {
      if (fault.kind == ShardFaultKind::kUnreadable) continue;  // a finding of its own
      Finding& finding = add(fault.file.empty() ? fault.text : fault.file + ": " + fault.text);
      finding.hint = hint_of(fault.kind);
      if (fault.kind == ShardFaultKind::kTotalSize) finding.severity = std::min(finding.severity, Severity::kWarning);
    }
  }
}

// msprobe's dump.json and the files beside it: a process that ended before stop(), and files that are named but
// missing.

namespace {

// A process that ended before stop() leaves tensors, and a dump.json without entries.
void judge_stopped(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings) {
  const DumpIndex& index = input.dump.index();
  std::set<uint32_t> with_rows;
  std::map<uint32_t, size_t> in_data;  // by folder: tensors of dump_tensor_data without a row
  for (uint32_t tensor = 0; tensor < input.dump.tensors(); ++tensor) {
    const TensorRecord& record = input.dump.record(tensor);
    if (record.table != kNoTable) with_rows.insert(record.table);
    const uint32_t folder = index.files()[record.file].folder;
    if (record.table == kNoTable && index.folders()[folder].identity.tensor_data) ++in_data[folder];
  }
  for (uint32_t i = 0; i < index.files().size(); ++i) {
    const IndexedFile& file = index.files()[i];
    if (file.kind != FileKind::kDumpJson || with_rows.count(i) > 0) continue;
    const std::string& home = index.folder_of(file);
    for (const auto& [folder, count] : in_data) {
      const std::string& relative = index.folders()[folder].relative;
      const bool below = relative == (home.empty() ? "" : home + "/") + "dump_tensor_data";
      if (!below || index.folders()[folder].root != index.folders()[file.folder].root) continue;
      Finding finding = tree_finding(
          rules, RuleId::kStopped,
          fmt::format("dump.json has no entries beside {}: the process ended before stop()", plural(count, "tensor")));
      const FolderIdentity& place = index.folders()[file.folder].identity;
      finding.rank = place.rank;
      finding.step = place.step;
      finding.path = index.relative_path_of(file);
      finding.value = count;
      finding.hint = "msprobe completes dump.json at stop(); the tensors can be used all the same, by their file names";
      findings.push_back(std::move(finding));
    }
  }
}

// dump.json names them, one by one.
void judge_lost_files(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings) {
  const DumpIndex& index = input.dump.index();
  std::map<uint32_t, std::pair<size_t, std::vector<std::string>>> lost;  // by table: tensors, operators
  for (uint32_t tensor = 0; tensor < input.dump.tensors(); ++tensor) {
    const TensorRecord& record = input.dump.record(tensor);
    if (!record.lost_file) continue;
    auto& [count, names] = lost[record.table];
    ++count;
    if (names.empty() || names.back() != record.name.op_name) names.emplace_back(record.name.op_name);
  }
  for (const auto& [table, one] : lost) {
    const IndexedFile& file = index.files()[table];
    Finding finding = tree_finding(rules, RuleId::kMissingFiles,
                                   fmt::format("files of {} that dump.json names are not there: {}",
                                               plural(one.first, "tensor"), first_names(one.second)));
    finding.severity = std::max(finding.severity, Severity::kWarning);
    finding.path = index.relative_path_of(file);
    const Identity place = index.identity_of(file);
    finding.rank = place.rank;
    finding.step = place.step;
    finding.value = one.first;
    finding.hint = "their statistics stand in for them; the files were deleted or not copied, or the disk was full";
    findings.push_back(std::move(finding));
  }
}

}  // namespace

void judge_msprobe(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings) {
  if (rules.on(RuleId::kStopped)) judge_stopped(input, rules, findings);
  if (rules.on(RuleId::kMissingFiles)) judge_lost_files(input, rules, findings);
}

}  // namespace msdump::check
