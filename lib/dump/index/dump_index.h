// The tensors of files that were opened lately, so that reading all tensors of a few large files in any order does not
// parse a header for each. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/text.h"
#include "dump/layouts/layout.h"
#include "dump/layouts/stored_tensor.h"
#include "dump/names/file_kind.h"
#include "dump/names/identity.h"
#include "io/dir_walk.h"
#include "io/run_context.h"
#include "io/worker_pool.h"

namespace msdump {

struct IndexedFile;

class KeptLists {
 public:
  struct List {
    uint64_t size;  // of the file, which is read again when this or the next has changed
    int64_t mtime_ns;
    FileKind container;
    std::string op_name;
    std::vector<StoredTensor> tensors;
  };

  // `most`: tensors of all lists together, but for the last one that was added.
  explicit KeptLists(size_t most) : most_(most) {}

  [[nodiscard]] std::shared_ptr<const List> find(const IndexedFile& file);  // null for none
  // Takes the place of the file's list, and of those that were not asked for longest.
  void add(const IndexedFile& file, std::shared_ptr<const List> list);

 private:
  struct Kept {
    std::shared_ptr<const List> list;
    uint64_t used = 0;
  };

  const size_t most_;
  std::mutex mutex_;
  std::unordered_map<const IndexedFile*, Kept> lists_;
  size_t tensors_ = 0;
  uint64_t now_ = 0;
};

// DumpIndex: the catalogue every command starts with. It says which files of a dump hold tensors, of which operator,
// and which hold none, from names, folders and sizes without opening a tensor file (mapping.csv is read).
// `open_tensors` then lists the tensors of one file; tensor_list.h does so for all files.
//
// Each kind of file is a family (family.h) in a source file of its own; nothing else knows the kinds.
// A file costs about 160 bytes plus its name; the facts of the name are views of it.

class Family;
class Sidecars;

struct IndexedFolder {
  uint32_t root = 0;     // index into paths()
  std::string relative;  // to that path, "" at the top
  FolderIdentity identity;
};

struct IndexedFile {
  std::string_view name;       // on disk
  std::string_view real_name;  // as mapping.csv has it, when the name on disk is a hash; else empty
  uint64_t size = 0;
  int64_t mtime_ns = 0;
  const Family* family = nullptr;  // null: holds no tensor
  uint32_t folder = 0;             // index into folders()
  FileKind kind = FileKind::kUnknown;
  bool by_content = false;  // the name says nothing: only the content can tell whether the family is right
  bool regular = true;      // false: a FIFO, socket or device
  NameFacts facts;

  [[nodiscard]] std::string_view shown_name() const { return real_name.empty() ? name : real_name; }
};

struct IndexOptions {
  std::vector<std::string> excluded;  // folders not entered
  const CancelToken* cancel = nullptr;
  WorkerPool* pool = nullptr;
};

class DumpIndex {
 public:
  // `paths` are files and directories. A path that does not exist is an error; everything below it is only a problem.
  static Result<DumpIndex> build(const std::vector<std::string>& paths, const IndexOptions& options);
  DumpIndex(DumpIndex&&) noexcept;
  DumpIndex& operator=(DumpIndex&&) noexcept;
  ~DumpIndex();

  // By rank, graph, step and time stamp, like the rows of reports; then in the order of paths, folders and names,
  // numbers in names by value. A path given twice counts once.
  [[nodiscard]] const std::vector<IndexedFile>& files() const { return files_; }
  [[nodiscard]] const std::vector<IndexedFolder>& folders() const { return folders_; }
  // Unreadable folders, dangling links, a damaged mapping.csv.
  [[nodiscard]] const std::vector<Error>& problems() const { return problems_; }
  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }

  [[nodiscard]] Identity identity_of(const IndexedFile& file) const;
  [[nodiscard]] std::string path_of(const IndexedFile& file) const;  // usable from the current directory
  [[nodiscard]] std::string relative_path_of(
      const IndexedFile& file) const;  // below its path; the name for a single file
  [[nodiscard]] const std::string& folder_of(const IndexedFile& file) const { return folders_[file.folder].relative; }
  [[nodiscard]] std::string path_of_folder(uint32_t folder) const;
  // The path relative to the first of the given directories that contains it; unchanged if none does.
  [[nodiscard]] std::string relative(const std::string& path) const { return relative_paths_.of(path); }

  // Opens a file and lists its tensors. An error if the file as a whole is unusable; not_a_dump with an empty message
  // if `by_content` guessed wrong. Thread-safe.
  [[nodiscard]] Result<OpenedFile> open_tensors(const IndexedFile& file) const;
  // The same for a single one of its tensors; `item` counts as in open_tensors. The lists of files with many tensors
  // are kept, so that reading all of them does not parse a file each time.
  [[nodiscard]] Result<OpenedFile> open_tensor(const IndexedFile& file, uint32_t item) const;

 private:
  class Mappings;
  DumpIndex();
  Status add_directory(uint32_t root, const std::string& path, const IndexOptions& options);
  Status add_file(uint32_t root, const std::string& path, Mappings& mappings);
  void sort_files();

  std::vector<std::string> paths_;
  std::vector<std::string> bases_;  // by path: the folder that `relative` of its folders is relative to
  std::vector<bool> is_file_;       // by path
  RelativePaths relative_paths_;
  std::vector<IndexedFolder> folders_;
  std::vector<IndexedFile> files_;
  std::vector<TextArena> texts_;
  std::vector<Error> problems_;
  std::vector<std::shared_ptr<Sidecars>> sidecars_;  // by folder
  std::unique_ptr<KeptLists> kept_;
};

// Files whose names end in a counter of their writer (names/saved_name.h), found among the names of one folder. Internal
// to lib/dump.

// `files` are those of one folder, after their families are known. A file that was counted loses the counter from its
// op name and has it as its time stamp, so that its runs are in order:
//   torch_npu    always. The device leaves the name, too, unless files of several devices lie in the folder.
//   TensorDump   if no two of the folder's numbers are equal
//   acl_save     if, moreover, all .pt files of the folder end in a number, and one of several names has several numbers.
//                "layer_0.pt, layer_1.pt" may be two layers, but "a_0.pt, b_1.pt, a_2.pt" are runs of a and b.
void take_counters(std::span<IndexedFile> files, const IndexedFolder& folder);

// Which framework wrote a dump, by what the tree itself says.
//
//   .dump_metadata/config.json   {"device_target":"CPU","ms_version":"2.10.0"}        (MindSpore 1.3 and later)
//   dump.json, debug.json        "framework": "mindspore" | "pytorch"                 (msprobe)
//   names of .npy files          with a dtype: 2.4 and later; "Default_..." without: 2.3; else 1.3 to 2.2
//   names of raw .bin files      1.0 to 1.2
// Source: reference/dump-layouts-and-statistics.md 1.4, 2.7.

struct FrameworkFacts {
  std::string framework;            // "MindSpore", "msprobe"; empty: not known
  std::optional<Version> version;   // as config.json says it
  std::string text;                 // for people and for `framework_version`: "2.10.0", "2.4 or later"; may be empty
  std::optional<Version> from, to;  // what names leave open: from <= version < to
};

[[nodiscard]] FrameworkFacts framework_of(const DumpIndex& index);

}  // namespace msdump
