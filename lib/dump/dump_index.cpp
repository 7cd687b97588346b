#include "dump/dump_index.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <utility>

#include <sys/stat.h>

#include "base/text.h"
#include "dump/family.h"
#include "dump/layout.h"
#include "tables/mapping_csv.h"

namespace msdump {
namespace {

constexpr std::string_view kMappingName = "mapping.csv";

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto result = std::filesystem::absolute(path, error);
  return error ? path : result.lexically_normal().string();
}

// The mapping.csv of one folder; a damaged one costs the real names, not the files.
std::optional<NameMapping> load_mapping(const std::string& path, std::vector<Error>& problems) {
  auto file = File::open(path);
  if (!file) {
    if (file.error().code != ErrorCode::kNotFound) problems.push_back(std::move(file).error());
    return std::nullopt;
  }
  auto mapping = read_mapping_csv(*file);
  if (mapping) return std::move(*mapping);
  problems.push_back(std::move(mapping).error());
  return std::nullopt;
}

// What is known comes before what is not.
int compare_known(const std::optional<int64_t>& a, const std::optional<int64_t>& b) {
  if (a == b) return 0;
  if (!a || !b) return a ? -1 : 1;
  return *a < *b ? -1 : 1;
}

// The order of rows in every report: rank, graph, step, time stamp; what these leave open stays in the order of the walk.
bool comes_before(const IndexedFile& a, const IndexedFile& b) {
  if (const int order = compare_known(a.identity.rank, b.identity.rank)) return order < 0;
  if (const int order = compare_known(a.identity.graph, b.identity.graph)) return order < 0;
  if (const int order = compare_known(a.identity.step, b.identity.step)) return order < 0;
  const std::string &x = a.identity.timestamp, &y = b.identity.timestamp;
  if (x.empty() || y.empty()) return !x.empty() && y.empty();
  return natural_less(x, y);
}

}  // namespace

Result<DumpIndex> DumpIndex::build(const std::vector<std::string>& paths, const IndexOptions& options) {
  DumpIndex index;
  std::set<std::pair<dev_t, ino_t>> seen;
  for (const std::string& path : paths) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return fail(system_error(errno, "open", path, ErrorCode::kReadFailed));
    if (!seen.emplace(status.st_dev, status.st_ino).second) continue;
    const auto root = static_cast<uint32_t>(index.walks_.size());
    index.paths_.push_back(path);
    index.is_file_.push_back(!S_ISDIR(status.st_mode));
    MSDUMP_CHECK_OK(S_ISDIR(status.st_mode) ? index.add_directory(root, path, options) : index.add_file(root, path));
  }
  std::stable_sort(index.files_.begin(), index.files_.end(), comes_before);
  return index;
}

Status DumpIndex::add_directory(uint32_t root, const std::string& path, const IndexOptions& options) {
  MSDUMP_TRY(WalkResult walk, walk_directory(path, {options.excluded, options.cancel}));
  for (Error& problem : walk.problems) problems_.push_back(std::move(problem));
  const std::string absolute_root = absolute(path);
  std::vector<WalkedFile> walked = std::exchange(walk.files, {});
  walks_.push_back(std::move(walk));
  // Files come folder by folder: what is said once per folder is found once per folder.
  std::optional<NameMapping> mapping;
  FolderIdentity folder;
  std::optional<uint32_t> current;
  bool has_mapping = false;
  for (size_t i = 0; i < walked.size(); ++i) {
    WalkedFile& item = walked[i];
    if (current != item.dir) {
      current = item.dir;
      folder = identify_folder(join_path(absolute_root, walks_[root].dirs[item.dir]));
      has_mapping = false;
      for (size_t j = i; j < walked.size() && walked[j].dir == item.dir && !has_mapping; ++j)
        has_mapping = walked[j].name == kMappingName;
      mapping.reset();
      if (has_mapping)
        mapping = load_mapping(join_path(join_path(path, walks_[root].dirs[item.dir]), kMappingName), problems_);
    }
    IndexedFile file;
    file.root = root;
    file.walked = std::move(item);
    file.identity.rank = folder.rank;
    file.identity.graph = folder.graph;
    file.identity.step = folder.step;
    classify(file, mapping ? &*mapping : nullptr);
    files_.push_back(std::move(file));
  }
  return {};
}

Status DumpIndex::add_file(uint32_t root, const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder_path = slash == std::string::npos ? "." : path.substr(0, slash == 0 ? 1 : slash);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return fail(system_error(errno, "open", path, ErrorCode::kReadFailed));
  WalkResult walk;
  walk.root = folder_path;
  walk.dirs = {""};
  walks_.push_back(std::move(walk));
  IndexedFile file;
  file.root = root;
  file.walked.name = slash == std::string::npos ? path : path.substr(slash + 1);
  file.walked.regular = S_ISREG(status.st_mode);
  file.walked.size = static_cast<uint64_t>(status.st_size);
  file.walked.mtime_ns = mtime_ns_of(status);
  const FolderIdentity folder = identify_folder(absolute(folder_path));
  file.identity.rank = folder.rank;
  file.identity.graph = folder.graph;
  file.identity.step = folder.step;
  const auto mapping =
      looks_hashed(file.walked.name) ? load_mapping(join_path(folder_path, kMappingName), problems_) : std::nullopt;
  classify(file, mapping ? &*mapping : nullptr);
  files_.push_back(std::move(file));
  return {};
}

void DumpIndex::classify(IndexedFile& file, const NameMapping* mapping) {
  if (mapping != nullptr) {
    if (auto original = resolve_name(*mapping, file.walked.name)) file.real_name = std::move(*original);
  }
  const Family* maybe = nullptr;
  for (const Family* family : all_families()) {
    const Claim claim = family->claim(file.name(), file.identity);
    if (claim == Claim::kByName) {
      file.family = family;
      return;
    }
    if (claim == Claim::kByContent && maybe == nullptr) maybe = family;
  }
  // Something that is no regular file and has no dump file's name is not worth a look.
  if (maybe == nullptr || !file.walked.regular) return;
  file.family = maybe;
  file.by_content = true;
}

std::string DumpIndex::path_of(const IndexedFile& file) const {
  // A single file is shown as it was typed.
  return is_file_[file.root] ? paths_[file.root] : walks_[file.root].full_path(file.walked);
}

std::string DumpIndex::relative_path_of(const IndexedFile& file) const {
  return walks_[file.root].relative_path(file.walked);
}

std::string DumpIndex::folder_of(const IndexedFile& file) const { return walks_[file.root].dirs[file.walked.dir]; }

Result<OpenedFile> DumpIndex::open_tensors(const IndexedFile& file) const {
  MSDUMP_TRY(File opened, File::open(path_of(file)));
  if (file.by_content && !file.family->recognises(opened.head(), opened.size())) return fail(ErrorCode::kNotADump, "");
  return file.family->open(std::move(opened), file.name());
}

}  // namespace msdump
