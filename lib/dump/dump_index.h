// DumpIndex: the catalogue every command starts with. Which files of a dump hold tensors, whose they are, and which files
// hold none; built from names, folders and sizes without opening a file. `open_tensors` then asks one file what it holds.
//
// A kind of file is one family (family.h), one source file each; nothing else knows what kinds there are.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "dump/identity.h"
#include "dump/stored_tensor.h"
#include "io/cancel.h"
#include "io/dir_walk.h"

namespace msdump {

class Family;

struct IndexedFile {
  uint32_t root = 0;               // index into roots()
  WalkedFile walked;               // where, how large, how old
  std::string real_name;           // as mapping.csv has it, when the name on disk is a hash; else empty
  const Family* family = nullptr;  // null: holds no tensor
  bool by_content = false;         // the name says nothing: only the content can tell whether the family is right
  Identity identity;

  [[nodiscard]] const std::string& name() const { return real_name.empty() ? walked.name : real_name; }
};

struct IndexOptions {
  std::vector<std::string> excluded;  // folders not entered
  const CancelToken* cancel = nullptr;
};

class DumpIndex {
 public:
  // `paths` are files and directories. A path that does not exist is an error; everything below it is only a problem.
  static Result<DumpIndex> build(const std::vector<std::string>& paths, const IndexOptions& options);

  // By rank, graph, step and time stamp, which is the order of rows in reports; else in the order of paths, folder by
  // folder and by name as people sort. A path given twice counts once.
  [[nodiscard]] const std::vector<IndexedFile>& files() const { return files_; }
  // Unreadable folders, dangling links, a damaged mapping.csv.
  [[nodiscard]] const std::vector<Error>& problems() const { return problems_; }
  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }

  [[nodiscard]] std::string path_of(const IndexedFile& file) const;  // usable from the current directory
  [[nodiscard]] std::string relative_path_of(
      const IndexedFile& file) const;                                  // below its path; the name for a single file
  [[nodiscard]] std::string folder_of(const IndexedFile& file) const;  // of relative_path_of, "" at the top

  // Opens a file and lists its tensors. An error when the file as a whole cannot be used; not_a_dump with an empty message
  // when `by_content` guessed wrong.
  [[nodiscard]] Result<OpenedFile> open_tensors(const IndexedFile& file) const;

 private:
  Status add_directory(uint32_t root, const std::string& path, const IndexOptions& options);
  Status add_file(uint32_t root, const std::string& path);
  void classify(IndexedFile& file, const std::map<std::string, std::string, std::less<>>* mapping);

  std::vector<std::string> paths_;
  std::vector<WalkResult> walks_;  // one per path; a single file is a walk of its folder with one file
  std::vector<bool> is_file_;      // by path
  std::vector<IndexedFile> files_;
  std::vector<Error> problems_;
};

}  // namespace msdump
