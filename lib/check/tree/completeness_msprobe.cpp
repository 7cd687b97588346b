// msprobe's dump.json and the files beside it: a process that ended before stop(), and files that are named but
// missing.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "check/tree/completeness.h"

namespace msdump::check {
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
