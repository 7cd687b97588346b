#include "dump/index/dump_index.h"

#include <sys/stat.h>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "dump/index/stated_ranks.h"
#include "dump/layouts/family.h"
#include "dump/names/checkpoint_path.h"
#include "dump/names/dumper_name.h"
#include "dump/names/file_kind.h"
#include "dump/names/file_name.h"
#include "io/dir_walk.h"
#include "msprobe/tensor_log.h"
#include "tables/mapping_csv.h"

namespace msdump {

std::shared_ptr<const KeptLists::List> KeptLists::find(const IndexedFile& file) {
  const std::lock_guard lock(mutex_);
  const auto found = lists_.find(&file);
  if (found == lists_.end()) return nullptr;
  found->second.used = ++now_;
  return found->second.list;
}

void KeptLists::add(const IndexedFile& file, std::shared_ptr<const List> list) {
  const std::lock_guard lock(mutex_);
  Kept& kept = lists_[&file];
  if (kept.list != nullptr) tensors_ -= kept.list->tensors.size();
  tensors_ += list->tensors.size();
  kept = {std::move(list), ++now_};
  while (tensors_ > most_ && lists_.size() > 1) {
    const auto oldest = std::min_element(lists_.begin(), lists_.end(),
                                         [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    tensors_ -= oldest->second.list->tensors.size();
    lists_.erase(oldest);
  }
}

namespace {

constexpr std::string_view kMappingName = "mapping.csv";
// Files that one worker classifies at a time.
constexpr size_t kPiece = 2048;
// Shorter lists cost less to read again than to keep.
constexpr size_t kLongList = 16;
constexpr std::ptrdiff_t kHeadBytes = 64;  // enough to recognise a file of another kind
constexpr size_t kMostOtherLogs = 1000;    // opened below a path in vain
constexpr size_t kMostKept = 100'000;      // tensors, of some 400 bytes each

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto result = std::filesystem::absolute(path, error);
  return error ? path : result.lexically_normal().string();
}

// The paths given so far, by the file that they lead to. Hard links to one file are two files of a dump.
class GivenPaths {
 public:
  bool add(const std::string& path, const struct stat& status) {
    if (S_ISDIR(status.st_mode) || status.st_nlink < 2) return inodes_.emplace(status.st_dev, status.st_ino).second;
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(path, error);
    return names_.insert(error ? path : real.string()).second;
  }

 private:
  std::set<std::pair<dev_t, ino_t>> inodes_;
  std::set<std::string> names_;
};

// The mapping.csv of one folder. A damaged one costs the real names, not the files. `listed`: the walk found it.
std::optional<NameMapping> load_mapping(const std::string& path, bool listed, std::vector<Error>& problems) {
  auto file = File::open(path);
  if (!file) {
    if (listed || file.error().code != ErrorCode::kNotFound) problems.push_back(std::move(file).error());
    return std::nullopt;
  }
  auto mapping = read_mapping_csv(*file);
  if (mapping) return std::move(*mapping);
  problems.push_back(std::move(mapping).error());
  return std::nullopt;
}

// Sets family, kind and facts of a file by its name and folder.
void classify(IndexedFile& file, const IndexedFolder& folder, TextArena& arena) {
  const FileContext context{file.shown_name(), folder.relative, folder.identity, arena};
  const Family* maybe = nullptr;
  NameFacts facts_of_maybe;
  for (const Family* family : all_families()) {
    NameFacts facts;
    const Claim claim = family->claim(context, facts);
    if (claim == Claim::kByName) {
      file.family = family;
      file.kind = family->kind();
      file.facts = facts;
      return;
    }
    if (claim != Claim::kByContent || maybe != nullptr) continue;
    maybe = family;
    facts_of_maybe = facts;
  }
  file.kind = kind_of_name(context.name);
  // Any .json may be a configuration, so its name decides nothing.
  const bool nameless =
      file.kind == FileKind::kUnknown || file.kind == FileKind::kText || file.kind == FileKind::kConfig;
  if (nameless && folder.identity.profiler) file.kind = FileKind::kProfile;
  if (nameless && folder.identity.kernels) file.kind = FileKind::kKernel;
  if (nameless && folder.identity.report) file.kind = FileKind::kErrorReport;
  // A FIFO, socket or device is opened only if it has the name of a dump file.
  if (maybe == nullptr || !file.regular) return;
  file.family = maybe;
  file.facts = facts_of_maybe;
  file.by_content = true;
}

// A log of DebugMode has the name that the script gave it: its first line decides. Returns true if the file is one.
bool classify_by_title(IndexedFile& file, const std::string& path) {
  const auto opened = File::open(path);
  if (!opened || !tensor_log_family().recognises(opened->head(), opened->size())) return false;
  file.family = &tensor_log_family();
  file.kind = FileKind::kTensorLog;
  return true;
}

// Finds logs of DebugMode among the files of one folder, unless it holds another dump: any program leaves logs beside its
// dumps. `others`: logs below the path that were opened and are none.
void find_tensor_logs(std::span<IndexedFile> files, const std::string& folder, size_t& others) {
  const auto is_other_dump = [](const IndexedFile& file) {
    return file.family != nullptr && file.family != &tensor_log_family();
  };
  if (std::any_of(files.begin(), files.end(), is_other_dump)) return;
  for (IndexedFile& file : files) {
    const bool may_be = file.name.ends_with(".log") || file.name.ends_with(".txt");
    if (!may_be || file.family != nullptr || !file.regular || others >= kMostOtherLogs) continue;
    if (!classify_by_title(file, join_path(folder, file.name))) ++others;
  }
}

// A .metadata beside shards of torch.distributed.checkpoint is that of the checkpoint. The files are of one folder.
void trust_metadata(std::span<IndexedFile> files) {
  const auto is_shard = [](const IndexedFile& file) { return file.kind == FileKind::kDcpShards; };
  if (std::none_of(files.begin(), files.end(), is_shard)) return;
  for (IndexedFile& file : files) {
    if (file.family == &dcp_family()) file.by_content = false;
  }
}

// The family that the name allows and that recognises the content; null if there is none.
const Family* family_of_content(const IndexedFile& indexed, const IndexedFolder& folder, const File& file) {
  TextArena arena;
  NameFacts facts;
  const FileContext context{indexed.shown_name(), folder.relative, folder.identity, arena};
  for (const Family* family : all_families()) {
    if (family->claim(context, facts) != Claim::kByContent) continue;
    if (family->recognises(file.head(), file.size())) return family;
  }
  return nullptr;
}

// Known values come before unknown ones.
int compare_known(const std::optional<int64_t>& a, const std::optional<int64_t>& b) {
  if (a == b) return 0;
  if (!a || !b) return a ? -1 : 1;
  return *a < *b ? -1 : 1;
}

bool comes_before(const FolderIdentity& a, const FolderIdentity& b) {
  if (const int order = compare_known(a.rank, b.rank)) return order < 0;
  if (const int order = compare_known(a.graph, b.graph)) return order < 0;
  return compare_known(a.step, b.step) < 0;
}

// Numbers the folders in the order of rank, graph and step; folders in which these are equal have the same number. The
// result is by folder.
std::vector<uint32_t> places_of(const std::vector<IndexedFolder>& folders) {
  std::vector<uint32_t> order(folders.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return comes_before(folders[a].identity, folders[b].identity); });
  std::vector<uint32_t> places(folders.size());
  uint32_t place = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && comes_before(folders[order[i - 1]].identity, folders[order[i]].identity)) ++place;
    places[order[i]] = place;
  }
  return places;
}

}  // namespace

// The mapping.csv of folders whose files were given one by one: each is read once.
class DumpIndex::Mappings {
 public:
  explicit Mappings(std::vector<Error>& problems) : problems_(problems) {}

  const std::optional<NameMapping>& of(const std::string& folder) {
    const auto [found, is_new] = by_folder_.try_emplace(folder);
    if (is_new) found->second = load_mapping(join_path(folder, kMappingName), false, problems_);
    return found->second;
  }

 private:
  std::vector<Error>& problems_;
  std::map<std::string, std::optional<NameMapping>> by_folder_;
};

DumpIndex::DumpIndex() : kept_(std::make_unique<KeptLists>(kMostKept)) {}
DumpIndex::DumpIndex(DumpIndex&&) noexcept = default;
DumpIndex& DumpIndex::operator=(DumpIndex&&) noexcept = default;
DumpIndex::~DumpIndex() = default;

Result<DumpIndex> DumpIndex::build(const std::vector<std::string>& paths, const IndexOptions& options) {
  DumpIndex index;
  GivenPaths given;
  Mappings mappings(index.problems_);
  for (const std::string& path : paths) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return fail(system_error(errno, "open", path, ErrorCode::kReadFailed));
    if (!given.add(path, status)) continue;
    const auto root = static_cast<uint32_t>(index.paths_.size());
    index.paths_.push_back(path);
    index.is_file_.push_back(!S_ISDIR(status.st_mode));
    MSDUMP_CHECK_OK(S_ISDIR(status.st_mode) ? index.add_directory(root, path, options)
                                            : index.add_file(root, path, mappings));
  }
  // A file given by its own path has its own entry in folders_, so several entries may be one folder.
  std::map<std::pair<std::string, bool>, std::shared_ptr<Sidecars>> sidecars;
  for (uint32_t folder = 0; folder < index.folders_.size(); ++folder) {
    const IndexedFolder& data = index.folders_[folder];
    // Only the parent of a given path can be outside of the index.
    const bool alone = data.identity.tensor_data && data.relative.empty();
    std::shared_ptr<Sidecars>& shared = sidecars[{index.path_of_folder(folder), alone}];
    if (shared == nullptr) shared = std::make_shared<Sidecars>(index.path_of_folder(folder), alone);
    index.sidecars_.push_back(shared);
  }
  std::vector<std::string> directories;
  for (size_t root = 0; root < index.paths_.size(); ++root) {
    if (!index.is_file_[root]) directories.push_back(index.paths_[root]);
  }
  index.relative_paths_ = RelativePaths(directories);
  index.dumps_ = number_dumps(index.folders_, index.files_);
  index.sort_files();
  return index;
}

Status DumpIndex::add_directory(uint32_t root, const std::string& path, const IndexOptions& options) {
  MSDUMP_TRY(WalkResult walk, walk_directory(path, {options.excluded, options.cancel, options.pool}));
  for (Error& problem : walk.problems) problems_.push_back(std::move(problem));
  bases_.push_back(path);
  const auto first_folder = static_cast<uint32_t>(folders_.size());
  const std::string absolute_root = absolute(path);
  for (std::string& dir : walk.dirs) {
    const FolderIdentity identity = identify_folder(join_path(absolute_root, dir));
    folders_.push_back({root, std::move(dir), identity});
  }
  const size_t first_file = files_.size();
  files_.reserve(first_file + walk.files.size());
  for (const WalkedFile& walked : walk.files) {
    IndexedFile file;
    file.name = walked.name;
    file.size = walked.size;
    file.mtime_ns = walked.mtime_ns;
    file.folder = first_folder + walked.dir;
    file.regular = walked.regular;
    files_.push_back(file);
  }
  texts_.push_back(std::move(walk.names));
  // Files come folder by folder; the names in a mapping.csv are those of its own folder.
  TextArena real_names;
  for (size_t i = first_file; i < files_.size();) {
    const uint32_t folder = files_[i].folder;
    size_t end = i;
    bool has_mapping = false;
    for (; end < files_.size() && files_[end].folder == folder; ++end)
      has_mapping = has_mapping || files_[end].name == kMappingName;
    const auto mapping =
        has_mapping ? load_mapping(join_path(path_of_folder(folder), kMappingName), true, problems_) : std::nullopt;
    for (; i < end; ++i) {
      if (!mapping) continue;
      if (const auto original = resolve_name(*mapping, files_[i].name))
        files_[i].real_name = real_names.keep(*original);
    }
  }
  texts_.push_back(std::move(real_names));
  const size_t count = files_.size() - first_file, pieces = (count + kPiece - 1) / kPiece;
  const size_t first_text = texts_.size();
  texts_.resize(first_text + pieces);
  const auto classify_piece = [&](int64_t piece) {
    const size_t begin = first_file + static_cast<size_t>(piece) * kPiece;
    for (size_t i = begin; i < std::min(begin + kPiece, files_.size()); ++i) {
      classify(files_[i], folders_[files_[i].folder], texts_[first_text + static_cast<size_t>(piece)]);
    }
  };
  if (options.pool != nullptr && pieces > 1) {
    options.pool->parallel_for(static_cast<int64_t>(pieces), classify_piece);
  } else {
    for (size_t piece = 0; piece < pieces; ++piece) classify_piece(static_cast<int64_t>(piece));
  }
  TextArena counted;
  size_t other_logs = 0;
  for (size_t begin = first_file, end = begin; begin < files_.size(); begin = end) {
    while (end < files_.size() && files_[end].folder == files_[begin].folder) ++end;
    const std::span<IndexedFile> of_folder = std::span(files_).subspan(begin, end - begin);
    find_tensor_logs(of_folder, path_of_folder(of_folder.front().folder), other_logs);
    take_counters(of_folder, folders_[files_[begin].folder], counted);
    trust_metadata(of_folder);
  }
  texts_.push_back(std::move(counted));
  place_by_names(first_file);
  return {};
}

// SGLang's dumper says rank and step in the name of a file, torchtitan the rank, and so do checkpoints that were saved in parts
// or versions, and logs of DebugMode that a script named so: the folder has an entry for each. Of several .pt files of a folder
// whose names say no rank, DTensors do.
void DumpIndex::place_by_names(size_t first_file) {
  struct Placed {
    size_t file;
    FolderIdentity identity;
    std::optional<int64_t> rank, step;
  };
  std::vector<Placed> placed;
  std::map<uint32_t, std::vector<size_t>> without_rank;  // by folder: indices in `placed`
  std::optional<uint32_t> parsed;                        // files come folder by folder
  CheckpointPath of_folder;
  for (size_t i = first_file; i < files_.size(); ++i) {
    const IndexedFile& file = files_[i];
    const bool is_array = file.kind == FileKind::kNpy && file.facts.io == Io::kParameter && file.facts.slot.empty();
    // A .pth may hold parameters or an output of an operator. Only its content tells, which is not read here; an output that is placed
    // like a checkpoint stays what it is.
    const bool holds_parameters = file.family != nullptr && info(file.family->kind()).holds_parameters;
    if (!holds_parameters && file.kind != FileKind::kTensorLog && !is_array) continue;
    Placed& one = placed.emplace_back(Placed{i, folders_[file.folder].identity, {}, {}});
    const std::string_view shown = file.shown_name(), stem = shown.substr(0, shown.rfind('.'));
    if (file.kind == FileKind::kTensorLog) {
      const CheckpointPath of_file = parse_checkpoint_path(shown);
      one.rank = of_file.rank;
      one.step = of_file.step;
    } else if (const auto name = file.kind == FileKind::kPt ? parse_dumper_name(stem) : std::nullopt) {
      one.rank = name->rank;
      one.step = name->step;
      one.identity.layout = Layout::kDumper;
    } else if (!one.identity.graph && (one.identity.layout == Layout::kFlat || one.identity.layout == Layout::kTree)) {
      if (std::exchange(parsed, file.folder) != file.folder) of_folder = parse_checkpoint_path(folder_of(file));
      const CheckpointPath of_file = parse_checkpoint_path(is_array ? checkpoint_of_array(shown) : shown);
      one.rank = of_file.rank ? of_file.rank : of_folder.rank;
      one.step = of_file.step ? of_file.step : of_folder.step;
      const bool may_state = file.kind == FileKind::kPt && file.regular && file.facts.slot.empty() &&
                             !one.identity.tensor_data && !one.identity.rank && !one.rank;
      if (may_state) without_rank[file.folder].push_back(placed.size() - 1);
    }
  }
  for (const auto& [folder, indices] : without_rank) {
    if (indices.size() < 2) continue;
    std::vector<std::string> paths;
    for (const size_t one : indices) paths.push_back(path_of(files_[placed[one].file]));
    const auto ranks = ranks_of_files(paths);
    for (size_t i = 0; i < ranks.size(); ++i) placed[indices[i]].rank = ranks[i];
  }
  using Place = std::tuple<uint32_t, std::optional<int64_t>, std::optional<int64_t>>;
  std::map<Place, uint32_t> entries;
  for (const auto& [number, identity, rank, step] : placed) {
    IndexedFile& file = files_[number];
    if (!rank && !step && identity.layout != Layout::kDumper) continue;
    const auto [found, is_new] = entries.try_emplace({file.folder, rank, step}, static_cast<uint32_t>(folders_.size()));
    if (is_new) {
      IndexedFolder folder = folders_[file.folder];
      folder.identity = identity;
      if (rank) folder.identity.rank = rank;
      if (step) folder.identity.step = step;
      folders_.push_back(std::move(folder));
    }
    file.folder = found->second;
  }
}

Status DumpIndex::add_file(uint32_t root, const std::string& path, Mappings& mappings) {
  const size_t slash = path.rfind('/');
  const std::string folder_path = slash == std::string::npos ? "." : path.substr(0, slash == 0 ? 1 : slash);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return fail(system_error(errno, "open", path, ErrorCode::kReadFailed));
  bases_.push_back(folder_path);
  TextArena texts;
  IndexedFile file;
  file.name = texts.keep(slash == std::string::npos ? path : std::string_view(path).substr(slash + 1));
  file.regular = S_ISREG(status.st_mode);
  file.size = static_cast<uint64_t>(status.st_size);
  file.mtime_ns = mtime_ns_of(status);
  file.folder = static_cast<uint32_t>(folders_.size());
  folders_.push_back({root, "", identify_folder(absolute(folder_path))});
  if (looks_hashed(file.name)) {
    if (const auto& mapping = mappings.of(folder_path)) {
      if (const auto original = resolve_name(*mapping, file.name)) file.real_name = texts.keep(*original);
    }
  }
  classify(file, folders_.back(), texts);
  if (file.family == nullptr && file.regular) classify_by_title(file, path);
  take_counters({&file, 1}, folders_.back(), texts);
  files_.push_back(file);
  texts_.push_back(std::move(texts));
  place_by_names(files_.size() - 1);
  return {};
}

// Sorts by rank, graph, step and time stamp; equal files stay in the order of the walk.
void DumpIndex::sort_files() {
  struct Key {
    uint32_t place;      // of rank, graph and step
    FileId file;         // before sorting
    uint64_t timestamp;  // UINT64_MAX if it is no number of 64 bits
  };
  const std::vector<uint32_t> places = places_of(folders_);
  std::vector<Key> keys(files_.size());
  for (FileId i{0}; i < files_.size(); ++i) {
    const auto timestamp = time_of(files_[i].facts);
    keys[i] = {places[files_[i].folder], i, timestamp.value_or(UINT64_MAX)};
  }
  const auto comes_first = [&](const Key& a, const Key& b) {
    if (a.place != b.place) return a.place < b.place;
    if (a.timestamp != b.timestamp) return a.timestamp < b.timestamp;
    if (a.timestamp == UINT64_MAX) {
      const std::string_view x = files_[a.file].facts.timestamp, y = files_[b.file].facts.timestamp;
      if (x.empty() != y.empty()) return y.empty();
      if (x != y) return natural_less(x, y);
    }
    return a.file < b.file;
  };
  if (std::is_sorted(keys.begin(), keys.end(), comes_first)) return;
  std::sort(keys.begin(), keys.end(), comes_first);
  std::vector<IndexedFile> sorted;
  sorted.reserve(files_.size());
  for (const Key& key : keys) sorted.push_back(files_[key.file]);
  files_ = std::move(sorted);
}

Identity DumpIndex::identity_of(const IndexedFile& file) const {
  const FolderIdentity& folder = folders_[file.folder].identity;
  return {folder.rank, folder.graph, folder.step, file.facts, 0, name_of_dump(folder.dump)};
}

std::string DumpIndex::path_of_folder(uint32_t folder) const {
  return join_path(bases_[folders_[folder].root], folders_[folder].relative);
}

std::string DumpIndex::path_of(const IndexedFile& file) const {
  // The path of a single file is that which the user typed.
  const uint32_t root = folders_[file.folder].root;
  return is_file_[root] ? paths_[root] : join_path(path_of_folder(file.folder), file.name);
}

std::string DumpIndex::relative_path_of(const IndexedFile& file) const { return join_path(folder_of(file), file.name); }

Result<OpenedFile> DumpIndex::open_tensors(const IndexedFile& file) const {
  MSDUMP_TRY(File opened, File::open(path_of(file)));
  const Family* family = file.by_content ? family_of_content(file, folders_[file.folder], opened) : file.family;
  if (family == nullptr) return fail(ErrorCode::kNotADump, "");
  // `open` takes the file; its first bytes are needed only for the error.
  const std::vector<std::byte> head(
      opened.head().begin(), opened.head().begin() + std::min<std::ptrdiff_t>(kHeadBytes, std::ssize(opened.head())));
  auto tensors = family->open(std::move(opened), {file.shown_name(), file.facts, *sidecars_[file.folder]});
  if (tensors || file.by_content) return tensors;
  auto mistaken = mistaken_content(file.kind, head);
  return mistaken ? fail(std::move(*mistaken).with_path(path_of(file))) : std::move(tensors);
}

Result<OpenedFile> DumpIndex::open_tensor(const IndexedFile& file, uint32_t item) const {
  const std::shared_ptr<const KeptLists::List> kept = kept_->find(file);
  const auto other = [&] {
    return make_error(ErrorCode::kChangedWhileReading, "the file holds other tensors than before")
        .with_path(path_of(file));
  };
  if (kept != nullptr) {
    MSDUMP_TRY(File opened, File::open(path_of(file)));
    if (kept->size == opened.size() && kept->mtime_ns == opened.mtime_ns()) {
      if (item >= kept->tensors.size()) return fail(other());
      return OpenedFile{std::move(opened), kept->container, kept->op_name, {kept->tensors[item]}};
    }
  }
  MSDUMP_TRY(OpenedFile all, open_tensors(file));
  if (item >= all.tensors.size()) return fail(other());
  StoredTensor tensor = all.tensors[item];
  if (all.tensors.size() >= kLongList) {
    kept_->add(file, std::make_shared<const KeptLists::List>(KeptLists::List{
                         all.file.size(), all.file.mtime_ns(), all.container, all.op_name, std::move(all.tensors)}));
  }
  all.tensors.clear();
  all.tensors.push_back(std::move(tensor));
  return all;
}

}  // namespace msdump
