// Walks a directory tree and lists its files in natural order (file2 before file10), files before sub-directories.
//
// Symbolic links are followed (MindSpore 1.3 makes them), into each directory once besides its real path, so that cross
// links cannot multiply the tree. A link to a directory that contains it is a problem. Problems do not end the walk.
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
  bool regular = true;    // false: a FIFO, socket or device, which is never opened
  std::string_view name;  // in WalkResult::names
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
  std::vector<std::string> excluded;  // directories not to enter (an OUT inside the dump)
  const CancelToken* cancel = nullptr;
  WorkerPool* pool = nullptr;  // all its workers read large directories
};

// An error only if `root` itself cannot be read.
Result<WalkResult> walk_directory(const std::string& root, const WalkOptions& options);

// a + "/" + b with exactly one slash; either may be empty.
[[nodiscard]] std::string join_path(std::string_view a, std::string_view b);

// True for a name from a file that stays in the folder it is looked up in.
[[nodiscard]] bool is_plain_file_name(std::string_view name);

// Shortens a path below one of some directories (the first that matches) to the rest; leaves other paths alone.
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
// False also if a path exists but cannot be examined.
[[nodiscard]] bool is_missing(const std::string& path);

}  // namespace msdump
