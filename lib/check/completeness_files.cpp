#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "check/completeness.h"
#include "dump/family.h"
#include "dump/tree_oddities.h"
#include "io/dir_walk.h"

namespace msdump::check {
namespace {

// The last file that the dump wrote, by the clock of its file system.
int64_t newest_time(const DumpIndex& index) {
  int64_t newest = INT64_MIN;
  for (const IndexedFile& file : index.files()) newest = std::max(newest, file.mtime_ns);
  return newest;
}

std::string cause_of_cut(bool is_newest, size_t cut) {
  if (is_newest) return "it is the last file that was written: the process ended, or the disk was full";
  if (cut > 2) return "several files are cut: look whether the disk was full (df), and dump fewer steps or operators";
  return "it was cut when it was written or copied; compare its size with the original";
}

}  // namespace

Finding tree_finding(const RuleSet& rules, RuleId id, std::string message) {
  Finding finding;
  finding.kind = info(id).name;
  finding.severity = rules[id].severity;
  finding.message = std::move(message);
  return finding;
}

void judge_files(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings) {
  const DumpIndex& index = *input.runs.side().index;
  std::set<std::string> told;
  const int64_t newest = newest_time(index);
  const auto is_newest = [&](const std::string& path) {
    return std::any_of(index.files().begin(), index.files().end(),
                       [&](const IndexedFile& file) { return file.mtime_ns == newest && index.path_of(file) == path; });
  };
  const auto cut =
      static_cast<size_t>(std::count_if(input.failures.begin(), input.failures.end(),
                                        [](const Error& error) { return error.code == ErrorCode::kTruncated; }));
  for (const Error& error : input.failures) {
    told.insert(relative_to_any(index.paths(), error.path));
    if (!rules.on(RuleId::kUnreadable)) continue;
    Finding finding = tree_finding(rules, RuleId::kUnreadable, error.message);
    finding.path = relative_to_any(index.paths(), error.path);
    if (!error.tensor.empty()) finding.message = error.tensor + ": " + finding.message;
    finding.value = code_word(error.code);
    finding.hint = error.code == ErrorCode::kTruncated ? cause_of_cut(is_newest(error.path), cut) : error.hint;
    findings.push_back(std::move(finding));
  }
  for (const Oddity& oddity : find_oddities(index)) {
    const bool empty = oddity.kind == OddityKind::kEmptyFile;
    if (!empty && oddity.kind != OddityKind::kSizeAgainstName) continue;
    const IndexedFile& file = index.files()[oddity.place];
    const std::string path = index.relative_path_of(file);
    if (told.count(path) > 0 || !input.selection.matches_folder(index.identity_of(file))) continue;
    const RuleId id = empty ? RuleId::kEmptyFile : RuleId::kSizeAgainstName;
    if (!rules.on(id)) continue;
    Finding finding = tree_finding(rules, id, empty ? "a file without a byte" : oddity.text);
    const Identity identity = index.identity_of(file);
    finding.rank = identity.rank;
    finding.graph = identity.graph;
    finding.step = identity.step;
    finding.path = path;
    finding.hint = cause_of_cut(file.mtime_ns == newest, 1);
    findings.push_back(std::move(finding));
  }
}

void judge_completeness(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings) {
  judge_files(input, rules, findings);
  judge_steps(input, rules, findings);
  judge_operators(input, rules, findings);
}

}  // namespace msdump::check
