#include "io/dir_walk.h"

#include <algorithm>
#include <cerrno>
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
    MSDUMP_CHECK_OK(visit(AT_FDCWD, result_.root, "", status, false));
    if (result_.dirs.empty()) return fail(result_.problems.front());
    return std::move(result_);
  }

 private:
  struct Child {
    std::string name;
    struct stat status;
    bool link;
  };

  Status visit(int parent, const std::string& name, const std::string& relative, const struct stat& status,
               bool through_link) {
    if (options_.cancel != nullptr) MSDUMP_CHECK_OK(options_.cancel->check());
    const Inode inode = inode_of(status);
    if (!relative.empty() && excluded_.contains(inode)) return {};  // the root itself was asked for by name
    if (through_link && !enter_link(inode, relative)) return {};
    const int descriptor = ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, DirCloser> dir(descriptor >= 0 ? ::fdopendir(descriptor) : nullptr);
    if (!dir) {
      report(system_error(errno, "open the directory", join_path(result_.root, relative), ErrorCode::kReadFailed));
      return {};
    }
    std::vector<Child> children = list(dir.get(), relative);
    const auto index = static_cast<uint32_t>(result_.dirs.size());
    result_.dirs.push_back(relative);
    for (Child& child : children) {
      if (S_ISDIR(child.status.st_mode)) continue;
      result_.files.push_back({index, S_ISREG(child.status.st_mode), std::move(child.name),
                               static_cast<uint64_t>(child.status.st_size), mtime_ns_of(child.status)});
    }
    const bool is_leaf =
        std::none_of(children.begin(), children.end(), [](const Child& c) { return S_ISDIR(c.status.st_mode); });
    if (ancestors_.size() >= kMaxDepth && !is_leaf) {
      report(make_error(ErrorCode::kTooLarge, "folders nested deeper than {} are not entered", kMaxDepth)
                 .with_path(join_path(result_.root, relative)));
      return {};
    }
    ancestors_.push_back(inode);
    for (const Child& child : children) {
      if (!S_ISDIR(child.status.st_mode)) continue;
      MSDUMP_CHECK_OK(visit(::dirfd(dir.get()), child.name, join_path(relative, child.name), child.status,
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

  static bool is_link(DIR* dir, const struct dirent& entry) {
    if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_LNK;
    struct stat status {};  // a file system that does not say
    return ::fstatat(::dirfd(dir), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
  }

  std::vector<Child> list(DIR* dir, const std::string& relative) {
    std::vector<Child> children;
    for (;;) {
      errno = 0;
      const struct dirent* entry = ::readdir(dir);
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || is_temporary_name(name)) continue;
      struct stat status {};
      if (::fstatat(::dirfd(dir), entry->d_name, &status, 0) != 0) {
        report(
            system_error(errno, "follow", join_path(result_.root, join_path(relative, name)), ErrorCode::kReadFailed));
        continue;
      }
      children.push_back({std::string(name), status, is_link(dir, *entry)});
    }
    if (errno != 0) {
      report(system_error(errno, "list the directory", join_path(result_.root, relative), ErrorCode::kReadFailed));
    }
    std::sort(children.begin(), children.end(),
              [](const Child& a, const Child& b) { return natural_less(a.name, b.name); });
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
