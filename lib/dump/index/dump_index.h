// DumpIndex: the files of a dump. Every command starts with it.
//
// The index tells by names, folders and sizes which files hold tensors, and of which operator. No file is opened but mapping.csv,
// one of an unknown kind that the user names, and the .log and .txt of a folder without other dumps: they may be logs of
// tensor hashes (msprobe/tensor_log.h). open_tensors() lists the tensors of one file, and TensorList (tensor_list.h) those of all.
//
// A file costs about 160 bytes and its name; the facts of the name are views of it.
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
#include "base/index.h"
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

class Family;
class KeptLists;
class Sidecars;

struct IndexedFolder {
  uint32_t root = 0;     // index into paths()
  std::string relative;  // path below it, "" at the top
  FolderIdentity identity;
};

struct IndexedFile {
  std::string_view name;       // on disk
  std::string_view real_name;  // by mapping.csv, if the name on disk is a hash; else empty
  uint64_t size = 0;
  int64_t mtime_ns = 0;
  const Family* family = nullptr;  // null: holds no tensor
  uint32_t folder = 0;             // index into folders()
  FileKind kind = FileKind::kUnknown;
  bool by_content = false;  // the name decides nothing: the content shows whether the family is right
  bool regular = true;      // false: a FIFO, socket or device
  NameFacts facts;

  [[nodiscard]] std::string_view shown_name() const { return real_name.empty() ? name : real_name; }
};

using FileId = Index<IndexedFile>;  // in DumpIndex::files()

struct IndexOptions {
  std::vector<std::string> excluded;  // folders not entered
  const CancelToken* cancel = nullptr;
  WorkerPool* pool = nullptr;
};

class DumpIndex {
 public:
  // `paths` are files and directories. A path that does not exist is an error; trouble below a path is a problem.
  static Result<DumpIndex> build(const std::vector<std::string>& paths, const IndexOptions& options);
  DumpIndex(DumpIndex&&) noexcept;
  DumpIndex& operator=(DumpIndex&&) noexcept;
  ~DumpIndex();

  // Sorted by rank, graph, step and time stamp, like the rows of reports, then by path, folder and name. Numbers in names
  // are compared by value. A path given twice counts once.
  [[nodiscard]] const std::vector<IndexedFile>& files() const { return files_; }
  [[nodiscard]] const std::vector<IndexedFolder>& folders() const { return folders_; }
  // Unreadable folders, dangling links, a damaged mapping.csv.
  [[nodiscard]] const std::vector<Error>& problems() const { return problems_; }
  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }
  // The dumps below the paths, by FolderIdentity::dump: the part of the path that tells each from the others ("run1",
  // "actor"). Empty if there is one, as usual.
  [[nodiscard]] const std::vector<std::string>& dumps() const { return dumps_; }
  [[nodiscard]] std::string_view name_of_dump(uint32_t dump) const {
    return dump < dumps_.size() ? std::string_view(dumps_[dump]) : std::string_view();
  }

  [[nodiscard]] Identity identity_of(const IndexedFile& file) const;
  [[nodiscard]] std::string path_of(const IndexedFile& file) const;  // usable from the current directory
  [[nodiscard]] std::string relative_path_of(
      const IndexedFile& file) const;  // below its path; the name for a single file
  [[nodiscard]] const std::string& folder_of(const IndexedFile& file) const { return folders_[file.folder].relative; }
  [[nodiscard]] std::string path_of_folder(uint32_t folder) const;
  // The path below the first of the given directories that contains it; unchanged if none does.
  [[nodiscard]] std::string relative(const std::string& path) const { return relative_paths_.of(path); }

  // Opens a file and lists its tensors. Returns an error if the file as a whole is unusable, kNotADump with an empty
  // message if a file that is `by_content` holds none. Thread-safe.
  [[nodiscard]] Result<OpenedFile> open_tensors(const IndexedFile& file) const;
  // Opens a file for its tensor number `item`. Lists of files with many tensors are kept for the next call.
  [[nodiscard]] Result<OpenedFile> open_tensor(const IndexedFile& file, uint32_t item) const;

 private:
  class Mappings;
  DumpIndex();
  Status add_directory(uint32_t root, const std::string& path, const IndexOptions& options);
  Status add_file(uint32_t root, const std::string& path, Mappings& mappings);
  void place_by_names(size_t first_file);
  void sort_files();

  std::vector<std::string> paths_;
  std::vector<std::string> bases_;  // by path: the folder above its folders
  std::vector<bool> is_file_;       // by path
  RelativePaths relative_paths_;
  std::vector<std::string> dumps_;
  std::vector<IndexedFolder> folders_;
  std::vector<IndexedFile> files_;
  std::vector<TextArena> texts_;
  std::vector<Error> problems_;
  std::vector<std::shared_ptr<Sidecars>> sidecars_;  // by folder
  std::unique_ptr<KeptLists> kept_;
};

// Takes the counter that some writers append (names/file_name.h) out of the op names of one folder's files, whose families
// are known. The counter becomes the time stamp, so that executions are in order:
//   torch_npu    always; without the device, unless files of several devices lie in the folder
//   TensorDump   if no two numbers of the folder are equal. MindSpore 2.3 and 2.4 put the number first ("0_x.npy"): see
//                below. Ranks in one folder ("rank0_x_float32_0.npy") count each for themselves
//   acl_save     if, moreover, all arrays of the folder are .pt files that end in a number, and one of several names has several
//                numbers: "layer_0.pt, layer_1.pt" may be two layers, but "a_0.pt, b_1.pt, a_2.pt" are executions of a and b
//   a script     before the name ("0001_attn.npy", "F1__attn.npy") if all arrays of the folder have one there, no two numbers
//                are equal and not all names are; behind it ("attn_4.npy") if, moreover, three names count without a gap
void take_counters(std::span<IndexedFile> files, const IndexedFolder& folder, TextArena& arena);

// Numbers the dumps in FolderIdentity::dump, and returns the part of the path that tells each from the others; nothing if there is
// one. Two folders are of two dumps if they have the same rank, graph and step, both have files of the same operator or the
// same table, and their paths differ in folders that are no numbers of the layout: stages of one step of reinforcement
// learning, prefill and decode, run1 and run2. Folders in which no name occurs twice are one dump (node0/rank0, node1/rank1).
[[nodiscard]] std::vector<std::string> number_dumps(std::vector<IndexedFolder>& folders,
                                                    const std::vector<IndexedFile>& files);

// The framework that wrote a dump, by evidence in the tree:
//
//   .dump_metadata/config.json   {"device_target":"CPU","ms_version":"2.10.0"}        (MindSpore 1.3 and later)
//   dump.json, debug.json        "framework": "mindspore" | "pytorch"                 (msprobe)
//   names of .npy files          with a dtype: 2.4 and later; "Default_..." without: 2.3; else 1.3 to 2.2
//   names of raw .bin files      1.0 to 1.2
//   key=value___key=value.pt     SGLang's dumper
//   torch_tensors/DEVICE_PID     msit
struct FrameworkFacts {
  std::string framework;            // "MindSpore", "msprobe", "SGLang's dumper"; empty: unknown
  std::optional<Version> version;   // in config.json
  std::string text;                 // for people and for `framework_version`: "2.10.0", "2.4 or later"; may be empty
  std::optional<Version> from, to;  // by the names: from <= version < to
};

[[nodiscard]] FrameworkFacts framework_of(const DumpIndex& index);

// KeptLists: the tensors of files that were opened lately. So tensors of large files can be read in any order, without
// parsing a header for each. Thread-safe.
class KeptLists {
 public:
  struct List {
    uint64_t size;  // of the file; if size or time changed, the list is stale
    int64_t mtime_ns;
    FileKind container;
    std::string op_name;
    std::vector<StoredTensor> tensors;
  };

  // `most`: tensors in all lists but the last.
  explicit KeptLists(size_t most) : most_(most) {}

  [[nodiscard]] std::shared_ptr<const List> find(const IndexedFile& file);  // null for none
  // Replaces the list of the file, and drops the lists that were not used for longest.
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

}  // namespace msdump
