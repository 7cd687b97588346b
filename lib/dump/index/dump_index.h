// DumpIndex: the catalogue every command starts with. It says which files of a dump hold tensors, of which operator,
// and which hold none, from names, folders and sizes without opening a tensor file (mapping.csv is read).
// `open_tensors` then lists the tensors of one file; tensor_list.h does so for all files.
//
// Each kind of file is a family (family.h) in a source file of its own; nothing else knows the kinds.
// A file costs about 160 bytes plus its name; the facts of the name are views of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text_arena.h"
#include "dump/index/kept_lists.h"
#include "dump/layouts/layout.h"
#include "dump/layouts/stored_tensor.h"
#include "dump/names/file_kind.h"
#include "dump/names/identity.h"
#include "io/cancel.h"
#include "io/dir_walk.h"
#include "io/worker_pool.h"

namespace msdump {

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

}  // namespace msdump
