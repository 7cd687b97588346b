// The index of a checkpoint in several files against these files.
#include "check/tree/completeness.h"
#include "checkpoint/shards.h"

namespace msdump::check {
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

}  // namespace msdump::check
