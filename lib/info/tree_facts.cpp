#include "info/tree_facts.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "ascend/opdebug.h"
#include "dump/layouts/family.h"

namespace msdump {
namespace {

constexpr size_t kKinds = static_cast<size_t>(FileKind::kText) + 1;
constexpr size_t kDtypes = static_cast<size_t>(DType::kHifloat4) + 1;
constexpr size_t kFormats = static_cast<size_t>(Format::kMax) + 1;

bool holds_elements(const IndexedFile& file) {
  return file.family != nullptr && file.family->has_elements() && !file.by_content;
}

// One pass over the files with counters instead of maps: there may be hundreds of thousands.
class Counter {
 public:
  explicit Counter(const DumpIndex& index) : index_(index), known_folders_(index.folders().size(), false) {}

  TreeFacts run() {
    const std::vector<IndexedFile>& files = index_.files();
    for (uint32_t i = 0; i < files.size(); ++i) count(files[i], i);
    facts_.files = files.size();
    facts_.folders = index_.folders().size();
    take_counters();
    take_folders();
    facts_.layouts = layouts_of(index_);
    facts_.framework = framework_of(index_);
    facts_.watcher = watcher_files(index_);
    facts_.odd = find_oddities(index_);
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
    for (size_t i = 0; i < kDtypes; ++i) {
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
  std::array<uint64_t, kDtypes> dtypes_{};
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
  constexpr size_t kLayouts = static_cast<size_t>(Layout::kException) + 1;
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
