#include "info/tree_facts.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "ascend/opdebug.h"
#include "base/containers.h"
#include "base/text.h"
#include "checkpoint/shards.h"
#include "dump/layouts/family.h"
#include "dump/names/file_name.h"

namespace msdump {
namespace {

// "shape_0" is a scalar: MindSpore writes no file for an empty tensor.
bool is_lost_scalar(const IndexedFile& file) {
  const auto parsed = parse_raw_bin_file_name(file.shown_name());
  return file.size == 0 && parsed && parsed->shape.empty();
}

// How the size of a raw file contradicts its name; empty if it does not.
std::string against_name(const IndexedFile& file) {
  const auto parsed = parse_raw_bin_file_name(file.shown_name());
  if (!parsed) {
    const auto width = static_cast<uint64_t>(info(file.facts.dtype).bits) / 8;
    if (width == 0 || file.size % width == 0) return {};
    return fmt::format("{} bytes are not a whole number of {}", file.size, name_of(file.facts.dtype));
  }
  const auto count = element_count(parsed->shape);
  const auto bytes = count && !is_raw(parsed->dtype) ? bytes_of(parsed->dtype, *count) : std::nullopt;
  if (bytes == file.size) return {};
  const std::string what = fmt::format("{} of {}", describe(parsed->shape), name_of(parsed->dtype));
  if (!bytes) return is_raw(parsed->dtype) ? "" : fmt::format("{}, as its name says, is too large to be true", what);
  return fmt::format("{} bytes; {}, as its name says, takes {}", file.size, what, *bytes);
}

std::optional<TreeFinding> finding_of(const DumpIndex& index, uint32_t number) {
  const IndexedFile& file = index.files()[number];
  const FileKind kind = kind_in_tree(file);
  if (!file.regular) return std::nullopt;
  const auto finding = [&](TreeFindingKind what, std::string text) {
    return TreeFinding{what, number, index.relative_path_of(file), std::move(text)};
  };
  const bool is_raw = kind == FileKind::kRaw;
  if (is_raw ? is_lost_scalar(file) : file.size == 0 && is_read(kind))
    return finding(TreeFindingKind::kEmptyFile, "empty");
  std::string text = is_raw ? against_name(file) : "";
  if (!text.empty()) return finding(TreeFindingKind::kSizeAgainstName, std::move(text));
  if (is_raw || file.size >= smallest_size(kind, file.shown_name())) return std::nullopt;
  return finding(TreeFindingKind::kTooSmall, fmt::format("{} bytes: too small for its header", file.size));
}

std::string path_or_dot(std::string path) { return path.empty() ? "." : std::move(path); }

// The folder above all folders of each rank.
std::map<int64_t, std::string> folders_of_ranks(const DumpIndex& index) {
  std::map<int64_t, std::string> folders;
  for (const IndexedFolder& folder : index.folders()) {
    if (!folder.identity.rank) continue;
    std::string& common = folders.try_emplace(*folder.identity.rank, folder.relative).first->second;
    while (!common.empty() && folder.relative != common && !folder.relative.starts_with(common + "/")) {
      const size_t slash = common.rfind('/');
      common.resize(slash == std::string::npos ? 0 : slash);
    }
  }
  return folders;
}

// The folders of a tree by rank, graph and step.
class Steps {
 public:
  explicit Steps(const DumpIndex& index) : index_(index), tensor_files_(index.folders().size(), 0) {
    std::vector<bool> has_any(index.folders().size(), false);
    for (const IndexedFile& file : index.files()) {
      has_any[file.folder] = true;
      const bool tensors = file.family != nullptr && file.family->has_elements() && !file.by_content;
      tensor_files_[file.folder] += tensors ? 1 : 0;
    }
    std::set<std::pair<uint32_t, std::string_view>> parents;
    for (const IndexedFolder& folder : index.folders()) {
      const size_t slash = folder.relative.rfind('/');
      if (slash != std::string::npos) {
        parents.emplace(folder.root, std::string_view(folder.relative).substr(0, slash));
      } else if (!folder.relative.empty()) {
        parents.emplace(folder.root, "");
      }
    }
    for (uint32_t i = 0; i < index.folders().size(); ++i) {
      const IndexedFolder& folder = index.folders()[i];
      if (!folder.identity.step) continue;
      if (!has_any[i] && !parents.contains({folder.root, folder.relative})) empty_.push_back(i);
      if (folder.identity.layout != Layout::kOverflow) add(i);
    }
  }

  void report(std::vector<TreeFinding>& findings) const {
    for (const uint32_t folder : empty_)
      findings.push_back({TreeFindingKind::kEmptyStep, folder, path_or_dot(index_.folders()[folder].relative),
                          "nothing in the folder of this step"});
    for (const auto& [key, steps] : groups_) report_incomplete(steps, findings);
    report_lacking(findings);
  }

 private:
  struct Step {
    uint32_t folder = 0;  // the first one
    uint64_t tensor_files = 0;
  };
  using Group = std::map<int64_t, Step>;
  struct Rank {
    uint32_t folder = 0;        // one of its
    std::set<int64_t> steps{};  // with tensors
  };

  void add(uint32_t number) {
    const FolderIdentity& identity = index_.folders()[number].identity;
    const auto key = std::tuple(identity.layout, identity.rank.value_or(-1), identity.graph.value_or(-1));
    const auto [step, added] = groups_[key].try_emplace(*identity.step);
    if (added || step->second.tensor_files == 0) step->second.folder = number;
    step->second.tensor_files += tensor_files_[number];
    if (!identity.rank || tensor_files_[number] == 0) return;
    const auto rank = ranks_.try_emplace(*identity.rank, Rank{number, {}}).first;
    rank->second.steps.insert(*identity.step);
  }

  // Compares with the count that at least half of the steps have. Without such a count the steps differ by nature.
  void report_incomplete(const Group& steps, std::vector<TreeFinding>& findings) const {
    std::map<uint64_t, size_t> how_often;
    for (const auto& [number, step] : steps) ++how_often[step.tensor_files];
    const auto usual = std::max_element(how_often.begin(), how_often.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second < b.second : a.first < b.first;
    });
    if (usual->second * 2 < steps.size()) return;
    for (const auto& [number, step] : steps) {
      // A step without any is reported as an empty step, or was never meant to have tensors.
      if (step.tensor_files == 0 || step.tensor_files >= usual->first) continue;
      findings.push_back({TreeFindingKind::kIncompleteStep, step.folder,
                          path_or_dot(index_.folders()[step.folder].relative),
                          fmt::format("{}; others of this rank and graph have {}",
                                      plural(step.tensor_files, "tensor file"), usual->first)});
    }
  }

  void report_lacking(std::vector<TreeFinding>& findings) const {
    std::set<int64_t> all;
    for (const auto& [number, rank] : ranks_) all.insert(rank.steps.begin(), rank.steps.end());
    const std::map<int64_t, std::string> folders = folders_of_ranks(index_);
    for (const auto& [number, rank] : ranks_) {
      std::vector<int64_t> lacking;
      std::set_difference(all.begin(), all.end(), rank.steps.begin(), rank.steps.end(), std::back_inserter(lacking));
      if (lacking.empty()) continue;
      const std::string range =
          lacking.size() == 1 ? fmt::format("step {}", lacking.front())
                              : fmt::format("{} steps from {} to {}", lacking.size(), lacking.front(), lacking.back());
      findings.push_back({TreeFindingKind::kLackingSteps, rank.folder, path_or_dot(folders.at(number)),
                          fmt::format("rank {} lacks {}, which other ranks have", number, range)});
    }
  }

  const DumpIndex& index_;
  std::vector<uint64_t> tensor_files_;  // by folder
  std::vector<uint32_t> empty_;
  std::map<std::tuple<Layout, int64_t, int64_t>, Group> groups_;
  std::map<int64_t, Rank> ranks_;
};

}  // namespace

// A damaged index is a finding of its own, for those that read it.
std::vector<TreeFinding> find_missing_shards(const DumpIndex& index) {
  std::vector<TreeFinding> findings;
  std::set<std::pair<uint32_t, std::string_view>> there;  // by folder; filled for the first index
  for (uint32_t i = 0; i < index.files().size(); ++i) {
    const IndexedFile& file = index.files()[i];
    if (file.kind != FileKind::kShardIndex || !file.regular) continue;
    const auto opened = File::open(index.path_of(file));
    const auto shards = opened ? read_shard_index(*opened) : tl::unexpected(opened.error());
    if (!shards) continue;
    if (there.empty()) {
      for (const IndexedFile& other : index.files()) there.emplace(other.folder, other.name);
    }
    std::vector<std::string> lost;
    for (const std::string& name : shards->files) {
      if (!there.contains({file.folder, name})) lost.push_back(name);
    }
    if (lost.empty()) continue;
    std::string text = fmt::format("without {} of {}: {}", lost.size(), plural(shards->files.size(), "file"), lost[0]);
    if (lost.size() > 1) text += ", ..";
    findings.push_back({TreeFindingKind::kMissingShards, i, index.relative_path_of(file), std::move(text)});
  }
  return findings;
}

std::vector<TreeFinding> find_in_tree(const DumpIndex& index) {
  std::vector<TreeFinding> findings;
  for (uint32_t i = 0; i < index.problems().size(); ++i) {
    const Error& problem = index.problems()[i];
    findings.push_back({TreeFindingKind::kProblem, i, path_or_dot(index.relative(problem.path)), problem.message});
  }
  for (uint32_t i = 0; i < index.files().size(); ++i) {
    if (auto finding = finding_of(index, i)) findings.push_back(std::move(*finding));
  }
  Steps(index).report(findings);
  for (TreeFinding& finding : find_missing_shards(index)) findings.push_back(std::move(finding));
  const auto by_kind = [](const TreeFinding& a, const TreeFinding& b) { return a.kind < b.kind; };
  if (!std::is_sorted(findings.begin(), findings.end(), by_kind))
    std::stable_sort(findings.begin(), findings.end(), by_kind);
  return findings;
}

std::string heading(TreeFindingKind kind, uint64_t count) {
  using Texts = std::pair<std::string_view, std::string_view>;
  static constexpr auto kTexts = enum_table<TreeFindingKind, Texts>(
      Texts{"place that could not be read", "places that could not be read"}, Texts{"empty file", "empty files"},
      Texts{"file too small for its header", "files too small for their headers"},
      Texts{"file whose size contradicts its name", "files whose sizes contradict their names"},
      Texts{"empty step", "empty steps"},
      Texts{"step with fewer tensor files than others", "steps with fewer tensor files than others"},
      Texts{"rank that lacks steps", "ranks that lack steps"},
      Texts{"checkpoint that lacks files", "checkpoints that lack files"});
  return fmt::format("{} {}", count, count == 1 ? kTexts[kind].first : kTexts[kind].second);
}

namespace {

constexpr size_t kKinds = static_cast<size_t>(FileKind::kText) + 1;
constexpr size_t kFormats = static_cast<size_t>(Format::kMax) + 1;

bool holds_elements(const IndexedFile& file) {
  return file.family != nullptr && file.family->has_elements() && !file.by_content;
}

// Counts in one pass over the files, with counters instead of maps: there may be hundreds of thousands.
class Counter {
 public:
  explicit Counter(const DumpIndex& index) : index_(index), known_folders_(index.folders().size(), false) {}

  TreeFacts run() {
    const std::vector<IndexedFile>& files = index_.files();
    for (uint32_t i = 0; i < files.size(); ++i) count(files[i], i);
    facts_.files = files.size();
    std::set<std::pair<uint32_t, std::string_view>> folders;  // several entries may be one folder
    for (const IndexedFolder& folder : index_.folders()) folders.emplace(folder.root, folder.relative);
    facts_.folders = folders.size();
    take_counters();
    take_folders();
    facts_.layouts = layouts_of(index_);
    facts_.framework = framework_of(index_);
    facts_.watcher = watcher_files(index_);
    facts_.findings = find_in_tree(index_);
    return std::move(facts_);
  }

 private:
  void count(const IndexedFile& file, uint32_t number) {
    const FileKind kind = kind_in_tree(file);
    KindCount& of_kind = kinds_[static_cast<size_t>(kind)];
    ++of_kind.files;
    of_kind.bytes += file.size;
    facts_.bytes += file.size;
    if (!is_read(kind)) facts_.not_understood.push_back(number);
    if (file.family == nullptr || file.by_content) return;
    known_folders_[file.folder] = true;
    if (holds_elements(file) && kind != FileKind::kOpdebug) count_tensor(file);
  }

  void count_tensor(const IndexedFile& file) {
    ++facts_.tensor_files;
    facts_.tensor_bytes += file.size;
    const NameFacts& name = file.facts;
    if (name.dtype != DType::kUndefined) ++dtypes_[static_cast<size_t>(name.dtype)];
    if (name.format) ++formats_[static_cast<size_t>(*name.format)];
    if (!name.slot.empty()) {
      if (name.io == Io::kInput) ++facts_.inputs;
      if (name.io == Io::kOutput) ++facts_.outputs;
      if (name.io == Io::kParameter) ++facts_.parameters;
    }
    if (name.op_type.empty()) return;
    // Neighbours are often of one type.
    if (last_type_ == nullptr || last_type_->first != name.op_type) {
      last_type_ = &*op_types_.try_emplace(name.op_type, 0).first;
    }
    ++last_type_->second;
  }

  void take_counters() {
    for (size_t i = 0; i < kKinds; ++i) {
      kinds_[i].kind = static_cast<FileKind>(i);
      if (kinds_[i].files > 0) facts_.kinds.push_back(kinds_[i]);
    }
    for (size_t i = 0; i < kDTypes; ++i) {
      if (dtypes_[i] > 0) facts_.dtypes.emplace(static_cast<DType>(i), dtypes_[i]);
    }
    for (size_t i = 0; i < kFormats; ++i) {
      if (formats_[i] > 0) facts_.formats.emplace(static_cast<Format>(i), formats_[i]);
    }
    facts_.op_types.insert(op_types_.begin(), op_types_.end());
  }

  void take_folders() {
    for (size_t i = 0; i < known_folders_.size(); ++i) {
      if (!known_folders_[i]) continue;
      const FolderIdentity& identity = index_.folders()[i].identity;
      if (identity.rank) facts_.ranks.insert(*identity.rank);
      if (identity.graph) facts_.graphs.insert(*identity.graph);
      if (identity.step) facts_.steps.insert(*identity.step);
    }
  }

  const DumpIndex& index_;
  TreeFacts facts_;
  std::vector<bool> known_folders_;  // those with a file of a family
  std::array<KindCount, kKinds> kinds_{};
  std::array<uint64_t, kDTypes> dtypes_{};
  std::array<uint64_t, kFormats> formats_{};
  std::unordered_map<std::string_view, uint64_t> op_types_;
  std::pair<const std::string_view, uint64_t>* last_type_ = nullptr;
};

}  // namespace

TreeFacts tree_facts_of(const DumpIndex& index) { return Counter(index).run(); }

FileKind kind_in_tree(const IndexedFile& file) {
  const bool record = file.kind == FileKind::kDumpFile && ascend::is_opdebug_name(file.shown_name());
  return record ? FileKind::kOpdebug : file.kind;
}

bool is_open_question(const IndexedFile& file) { return file.family != nullptr && file.by_content; }

std::vector<std::pair<Layout, uint64_t>> layouts_of(const DumpIndex& index) {
  constexpr size_t kLayouts = static_cast<size_t>(Layout::kPtdbg) + 1;
  std::array<uint64_t, kLayouts> counts{};
  std::vector<std::pair<Layout, uint64_t>> layouts;
  for (const IndexedFile& file : index.files()) {
    if (file.family == nullptr || file.by_content) continue;
    // monitor_v2 has the folders of a tree.
    const Layout of_folder = index.folders()[file.folder].identity.layout;
    const Layout layout = file.kind == FileKind::kMonitor ? Layout::kMonitor : of_folder;
    if (counts[static_cast<size_t>(layout)]++ == 0) layouts.emplace_back(layout, 0);
  }
  for (auto& [layout, count] : layouts) count = counts[static_cast<size_t>(layout)];
  std::stable_sort(layouts.begin(), layouts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return layouts;
}

}  // namespace msdump
