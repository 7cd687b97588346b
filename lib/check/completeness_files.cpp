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

// The last files that the dump wrote, by the clock of their file system; none where a copy gave many the same time.
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
  const std::set<std::string> newest = newest_files(index);
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
    finding.hint = error.code == ErrorCode::kTruncated ? cause_of_cut(newest.count(error.path) > 0, cut) : error.hint;
    findings.push_back(std::move(finding));
  }
  for (const Oddity& oddity : input.oddities) {
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
    finding.hint = cause_of_cut(newest.count(index.path_of(file)) > 0, 1);
    findings.push_back(std::move(finding));
  }
}

void judge_completeness(const CompletenessInput& input, const RuleSet& rules, std::vector<Finding>& findings) {
  judge_files(input, rules, findings);
  judge_steps(input, rules, findings);
  judge_operators(input, rules, findings);
  judge_slots(input, rules, findings);
}

}  // namespace msdump::check
