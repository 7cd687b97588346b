#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "check/tree/completeness.h"
#include "dump/layouts/family.h"
#include "dump/names/file_name.h"
#include "info/tree_oddities.h"

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

}  // namespace msdump::check
