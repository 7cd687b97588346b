#include "io/dir_walk.h"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "io/atomic_file.h"
#include "io/file.h"

namespace msdump {
namespace {

using Inode = std::pair<dev_t, ino_t>;

// Paths deeper than this are no dump; it also bounds the descriptors held open.
constexpr size_t kMaxDepth = 100;

Inode inode_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }

struct DirCloser {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

class Walker {
 public:
  Walker(const std::string& root, const WalkOptions& options) : options_(options) {
    result_.root = root;
    for (const std::string& path : options.excluded) {
      struct stat status {};
      if (::stat(path.c_str(), &status) == 0) excluded_.insert(inode_of(status));
    }
  }

  Result<WalkResult> run() {
    struct stat status {};
    if (::stat(result_.root.c_str(), &status) != 0) {
      return fail(system_error(errno, "open", result_.root, ErrorCode::kReadFailed));
    }
    MSDUMP_CHECK_OK(visit(AT_FDCWD, result_.root, "", inode_of(status), false));
    if (result_.dirs.empty()) return fail(result_.problems.front());
    return std::move(result_);
  }

 private:
  struct Child {
    std::string_view name;
    mode_t mode = 0;
    bool link = false;
    bool unknown_type = false;  // a file system that does not say what is a link
    int error = 0;              // errno of looking at it
    Inode inode;
    uint64_t size = 0;
    int64_t mtime_ns = 0;
  };

  Status visit(int parent, const std::string& name, const std::string& relative, const Inode& inode,
               bool through_link) {
    if (options_.cancel != nullptr) MSDUMP_CHECK_OK(options_.cancel->check());
    if (!relative.empty() && excluded_.contains(inode)) return {};  // the root itself was asked for by name
    if (through_link && !enter_link(inode, relative)) return {};
    const int descriptor = ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, DirCloser> dir(descriptor >= 0 ? ::fdopendir(descriptor) : nullptr);
    if (!dir) {
      report(system_error(errno, "open the directory", join_path(result_.root, relative), ErrorCode::kReadFailed));
      return {};
    }
    const std::vector<Child> children = list(dir.get(), relative);
    const auto index = static_cast<uint32_t>(result_.dirs.size());
    result_.dirs.push_back(relative);
    bool is_leaf = true;
    for (const Child& child : children) {
      is_leaf = is_leaf && !S_ISDIR(child.mode);
      if (S_ISDIR(child.mode)) continue;
      result_.files.push_back({index, S_ISREG(child.mode), child.name, child.size, child.mtime_ns});
    }
    if (ancestors_.size() >= kMaxDepth && !is_leaf) {
      report(make_error(ErrorCode::kTooLarge, "folders nested deeper than {} are not entered", kMaxDepth)
                 .with_path(join_path(result_.root, relative)));
      return {};
    }
    ancestors_.push_back(inode);
    for (const Child& child : children) {
      if (!S_ISDIR(child.mode)) continue;
      MSDUMP_CHECK_OK(visit(::dirfd(dir.get()), std::string(child.name), join_path(relative, child.name), child.inode,
                            through_link || child.link));
    }
    ancestors_.pop_back();
    return {};
  }

  // A link to a directory: refused when it leads back to where we came from, silently left when already followed once.
  bool enter_link(const Inode& inode, const std::string& relative) {
    if (std::find(ancestors_.begin(), ancestors_.end(), inode) != ancestors_.end()) {
      report(make_error(ErrorCode::kReadFailed, "a symbolic link leads back to a folder that contains it; not followed")
                 .with_path(join_path(result_.root, relative)));
      return false;
    }
    return through_links_.insert(inode).second;
  }

  static void look_at(int directory, Child& child) {
    const std::string name(child.name);
    struct stat status {};
    if (child.unknown_type) {
      child.link = ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
    }
    if (::fstatat(directory, name.c_str(), &status, 0) != 0) {
      child.error = errno;
      return;
    }
    child.mode = status.st_mode;
    child.inode = inode_of(status);
    child.size = static_cast<uint64_t>(status.st_size);
    child.mtime_ns = mtime_ns_of(status);
  }

  // body(begin, end) for pieces of [0, count), by all workers when that is worth their waking up.
  void in_pieces(size_t count, const std::function<void(size_t, size_t)>& body) const {
    constexpr size_t kPiece = 1024;
    if (options_.pool == nullptr || count < 2 * kPiece) return body(0, count);
    options_.pool->parallel_for(static_cast<int64_t>((count + kPiece - 1) / kPiece), [&](int64_t piece) {
      const size_t begin = static_cast<size_t>(piece) * kPiece;
      body(begin, std::min(begin + kPiece, count));
    });
  }

  // By name; pieces are sorted by the workers and merged two by two.
  void sort_by_name(std::vector<Child>& children) const {
    const auto by_name = [](const Child& a, const Child& b) { return natural_less(a.name, b.name); };
    const size_t count = children.size();
    const size_t pieces = options_.pool == nullptr || count < 4096 ? 1 : options_.pool->jobs();
    const auto border = [&](size_t piece) {
      return children.begin() + static_cast<std::ptrdiff_t>(count * std::min(piece, pieces) / pieces);
    };
    if (pieces == 1) return std::sort(children.begin(), children.end(), by_name);
    options_.pool->parallel_for(static_cast<int64_t>(pieces), [&](int64_t piece) {
      std::sort(border(static_cast<size_t>(piece)), border(static_cast<size_t>(piece) + 1), by_name);
    });
    for (size_t width = 1; width < pieces; width *= 2) {
      for (size_t piece = 0; piece + width < pieces; piece += 2 * width) {
        std::inplace_merge(border(piece), border(piece + width), border(piece + 2 * width), by_name);
      }
    }
  }

  std::vector<Child> list(DIR* dir, const std::string& relative) {
    std::vector<Child> children;
    int list_error = 0;
    for (;;) {
      errno = 0;
      const struct dirent* entry = ::readdir(dir);
      if (entry == nullptr) {
        list_error = errno;
        break;
      }
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || is_temporary_name(name)) continue;
      Child child;
      child.name = result_.names.keep(name);
      child.link = entry->d_type == DT_LNK;
      child.unknown_type = entry->d_type == DT_UNKNOWN;
      children.push_back(child);
    }
    in_pieces(children.size(), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) look_at(::dirfd(dir), children[i]);
    });
    for (const Child& child : children) {
      if (child.error == 0) continue;
      report(system_error(child.error, "follow", join_path(result_.root, join_path(relative, child.name)),
                          ErrorCode::kReadFailed));
    }
    std::erase_if(children, [](const Child& child) { return child.error != 0; });
    if (list_error != 0) {
      report(system_error(list_error, "list the directory", join_path(result_.root, relative), ErrorCode::kReadFailed));
    }
    sort_by_name(children);
    return children;
  }

  void report(Error error) { result_.problems.push_back(std::move(error)); }

  const WalkOptions& options_;
  WalkResult result_;
  std::set<Inode> excluded_, through_links_;
  std::vector<Inode> ancestors_;
};

}  // namespace

std::string WalkResult::relative_path(const WalkedFile& file) const { return join_path(dirs[file.dir], file.name); }

std::string WalkResult::full_path(const WalkedFile& file) const {
  return join_path(join_path(root, dirs[file.dir]), file.name);
}

Result<WalkResult> walk_directory(const std::string& root, const WalkOptions& options) {
  return Walker(root, options).run();
}

std::string join_path(std::string_view a, std::string_view b) {
  if (a.empty()) return std::string(b);
  if (b.empty()) return std::string(a);
  std::string path(a);
  if (path.back() != '/') path += '/';
  path += b;
  return path;
}

PathKind path_kind(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return PathKind::kMissing;
  if (S_ISREG(status.st_mode)) return PathKind::kFile;
  if (S_ISDIR(status.st_mode)) return PathKind::kDirectory;
  return PathKind::kOther;
}

}  // namespace msdump
