// Walks a directory tree and lists its files, in an order that does not depend on the file system: inside a directory by
// name as people sort (file2 before file10), files before sub-directories.
//
// Symbolic links to files and directories are followed (MindSpore 1.3 makes them). A link to a directory that contains
// it is reported. Links lead into a directory only once, besides its real place, so a tree of cross links cannot make
// the walk explode. What cannot be read becomes a problem in the result and never ends the walk.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "io/run_context.h"
#include "io/worker_pool.h"

namespace msdump {

struct WalkedFile {
  uint32_t dir = 0;       // index into WalkResult::dirs
  bool regular = true;    // false: a FIFO, socket or device; never opened
  std::string_view name;  // lives as long as the WalkResult's names
  uint64_t size = 0;
  int64_t mtime_ns = 0;
};

struct WalkResult {
  std::string root;               // as given
  std::vector<std::string> dirs;  // relative to root; "" is the root itself
  std::vector<WalkedFile> files;
  TextArena names;
  std::vector<Error> problems;  // unreadable directories, dangling links, loops

  [[nodiscard]] std::string relative_path(const WalkedFile& file) const;
  [[nodiscard]] std::string full_path(const WalkedFile& file) const;
};

struct WalkOptions {
  std::vector<std::string> excluded;  // directories that are never entered (an OUT inside the dump)
  const CancelToken* cancel = nullptr;
  WorkerPool* pool = nullptr;  // all its workers read large directories
};

// `root` must be a directory (or a link to one) that can be opened; anything below it may fail and is then reported.
Result<WalkResult> walk_directory(const std::string& root, const WalkOptions& options);

// a + "/" + b with neither doubled nor missing slashes; either may be empty.
[[nodiscard]] std::string join_path(std::string_view a, std::string_view b);

// Shortens paths below one of these directories (the first that matches) to the part below it; leaves all others alone.
class RelativePaths {
 public:
  RelativePaths() = default;
  explicit RelativePaths(const std::vector<std::string>& roots);
  [[nodiscard]] std::string of(const std::string& path) const;

 private:
  std::unordered_map<std::string, size_t> places_;  // by root with a trailing slash
};

enum class PathKind : uint8_t { kMissing, kFile, kDirectory, kOther };
[[nodiscard]] PathKind path_kind(const std::string& path);
// False also for what is there and cannot be looked at.
[[nodiscard]] bool is_missing(const std::string& path);

}  // namespace msdump
