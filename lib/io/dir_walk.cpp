#include "io/dir_walk.h"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
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

// Deeper than any dump; also bounds the number of open descriptors.
constexpr size_t kDeepestFolder = 100;

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
    MSDUMP_CHECK_OK(visit(AT_FDCWD, result_.root, "", inode_of(status), false, std::nullopt));
    if (result_.dirs.empty()) return fail(result_.problems.front());
    return std::move(result_);
  }

 private:
  struct Child {
    std::string_view name;
    mode_t mode = 0;
    bool link = false;
    bool unknown_type = false;  // the file system does not report types, so this may be a link
    int error = 0;              // errno of stat
    Inode inode;
    uint64_t size = 0;
    int64_t mtime_ns = 0;
  };

  // The sorted entries of one directory. Any thread may list it.
  struct Listing {
    std::unique_ptr<DIR, DirCloser> dir;  // closed early in a listing made ahead
    bool opened = false;
    std::vector<Child> children;
    std::vector<Error> problems;
    TextArena names;
  };

  Status visit(int parent, const std::string& name, const std::string& relative, const Inode& inode, bool through_link,
               std::optional<Listing> ready) {
    if (options_.cancel != nullptr) MSDUMP_CHECK_OK(options_.cancel->check());
    if (!relative.empty() && excluded_.contains(inode)) return {};  // the root is never excluded
    if (through_link && !enter_link(inode, relative)) return {};
    Listing listing = ready ? std::move(*ready) : list(parent, name, relative);
    for (Error& problem : listing.problems) report(std::move(problem));
    if (!listing.opened) return {};
    result_.names.absorb(std::move(listing.names));
    const auto index = static_cast<uint32_t>(result_.dirs.size());
    result_.dirs.push_back(relative);
    const std::vector<Child>& children = listing.children;
    std::vector<size_t> folders;
    for (size_t i = 0; i < children.size(); ++i) {
      const Child& child = children[i];
      if (S_ISDIR(child.mode)) {
        folders.push_back(i);
      } else {
        result_.files.push_back({index, S_ISREG(child.mode), child.name, child.size, child.mtime_ns});
      }
    }
    if (folders.empty()) return {};
    if (ancestors_.size() >= kDeepestFolder) {
      report(make_error(ErrorCode::kTooLarge, "folders nested deeper than {} are not entered", kDeepestFolder)
                 .with_path(join_path(result_.root, relative)));
      return {};
    }
    if (!listing.dir) listing.dir = open_directory(parent, name);
    if (!listing.dir) {
      report(cannot_open(errno, relative));
      return {};
    }
    ancestors_.push_back(inode);
    Status status = enter(listing, folders, relative, through_link);
    ancestors_.pop_back();
    return status;
  }

  // Enters the sub-directories. The workers list some of them ahead.
  Status enter(const Listing& listing, const std::vector<size_t>& folders, const std::string& relative,
               bool through_link) {
    const size_t batch = options_.pool == nullptr || through_link ? 1 : options_.pool->jobs() * 4;
    const int parent = ::dirfd(listing.dir.get());
    for (size_t begin = 0; begin < folders.size(); begin += batch) {
      const size_t count = std::min(batch, folders.size() - begin);
      std::vector<std::optional<Listing>> ready(count);
      if (count > 1) list_ahead(listing, std::span(folders).subspan(begin, count), relative, ready);
      for (size_t i = 0; i < count; ++i) {
        const Child& child = listing.children[folders[begin + i]];
        MSDUMP_CHECK_OK(visit(parent, std::string(child.name), join_path(relative, child.name), child.inode,
                              through_link || child.link, std::move(ready[i])));
      }
    }
    return {};
  }

  // Links are not listed ahead: whether one is entered depends on what was entered before it.
  void list_ahead(const Listing& listing, std::span<const size_t> folders, const std::string& relative,
                  std::vector<std::optional<Listing>>& ready) const {
    const int parent = ::dirfd(listing.dir.get());
    options_.pool->parallel_for(static_cast<int64_t>(folders.size()), [&](int64_t i) {
      const Child& child = listing.children[folders[static_cast<size_t>(i)]];
      if (child.link || excluded_.contains(child.inode)) return;
      if (options_.cancel != nullptr && options_.cancel->cancelled()) return;
      Listing ahead = list(parent, std::string(child.name), join_path(relative, child.name));
      ahead.dir.reset();  // descriptors are scarce
      ready[static_cast<size_t>(i)] = std::move(ahead);
    });
  }

  static std::unique_ptr<DIR, DirCloser> open_directory(int parent, const std::string& name) {
    const int descriptor = ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return std::unique_ptr<DIR, DirCloser>(descriptor >= 0 ? ::fdopendir(descriptor) : nullptr);
  }

  [[nodiscard]] Error cannot_open(int errno_value, const std::string& relative) const {
    return system_error(errno_value, "open the directory", join_path(result_.root, relative), ErrorCode::kReadFailed);
  }

  // A link to a directory: an error if it leads to one of its parents; skipped if the directory was entered before.
  bool enter_link(const Inode& inode, const std::string& relative) {
    if (std::find(ancestors_.begin(), ancestors_.end(), inode) != ancestors_.end()) {
      report(make_error(ErrorCode::kReadFailed, "a symbolic link leads back to a folder that contains it; not followed")
                 .with_path(join_path(result_.root, relative)));
      return false;
    }
    return through_links_.insert(inode).second;
  }

  static void read_status(int directory, Child& child) {
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

  // Calls body(begin, end) for parts of [0, count), on all workers if there is enough work.
  void in_pieces(size_t count, const std::function<void(size_t, size_t)>& body) const {
    constexpr size_t kPiece = 1024;
    if (options_.pool == nullptr || count < 2 * kPiece) return body(0, count);
    options_.pool->parallel_for(static_cast<int64_t>((count + kPiece - 1) / kPiece), [&](int64_t piece) {
      const size_t begin = static_cast<size_t>(piece) * kPiece;
      body(begin, std::min(begin + kPiece, count));
    });
  }

  // The length of the common prefix of all names, without digits at its end.
  static size_t common_front(const std::vector<Child>& children) {
    if (children.empty()) return 0;
    const std::string_view first = children.front().name;
    size_t common = first.size();
    for (const Child& child : children) {
      const size_t most = std::min(common, child.name.size());
      common = static_cast<size_t>(
          std::mismatch(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(most), child.name.begin()).first -
          first.begin());
    }
    while (common > 0 && first[common - 1] >= '0' && first[common - 1] <= '9') --common;
    return common;
  }

  // The workers sort parts, which are then merged in pairs.
  void sort_by_name(std::vector<Child>& children) const {
    struct Place {
      NaturalKey key;
      uint32_t child;
    };
    const size_t count = children.size(), front = common_front(children);
    std::vector<Place> places(count);
    for (uint32_t i = 0; i < count; ++i) places[i] = {natural_key(children[i].name.substr(front)), i};
    const auto by_name = [&](const Place& a, const Place& b) {
      if (a.key != b.key) return a.key < b.key;
      return natural_less(children[a.child].name, children[b.child].name);
    };
    const size_t pieces = options_.pool == nullptr || count < 4096 ? 1 : options_.pool->jobs();
    const auto border = [&](size_t piece) {
      return places.begin() + static_cast<std::ptrdiff_t>(count * std::min(piece, pieces) / pieces);
    };
    const auto sort_piece = [&](int64_t piece) {
      std::sort(border(static_cast<size_t>(piece)), border(static_cast<size_t>(piece) + 1), by_name);
    };
    if (pieces == 1) {
      sort_piece(0);
    } else {
      options_.pool->parallel_for(static_cast<int64_t>(pieces), sort_piece);
    }
    for (size_t width = 1; width < pieces; width *= 2) {
      for (size_t piece = 0; piece + width < pieces; piece += 2 * width) {
        std::inplace_merge(border(piece), border(piece + width), border(piece + 2 * width), by_name);
      }
    }
    std::vector<Child> sorted;
    sorted.reserve(count);
    for (const Place& place : places) sorted.push_back(children[place.child]);
    children = std::move(sorted);
  }

  [[nodiscard]] Listing list(int parent, const std::string& name, const std::string& relative) const {
    Listing listing;
    listing.dir = open_directory(parent, name);
    listing.opened = listing.dir != nullptr;
    if (!listing.opened) {
      listing.problems.push_back(cannot_open(errno, relative));
      return listing;
    }
    const int list_error = read_entries(listing);
    std::vector<Child>& children = listing.children;
    in_pieces(children.size(), [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) read_status(::dirfd(listing.dir.get()), children[i]);
    });
    for (const Child& child : children) {
      if (child.error == 0) continue;
      listing.problems.push_back(system_error(
          child.error, "follow", join_path(result_.root, join_path(relative, child.name)), ErrorCode::kReadFailed));
    }
    std::erase_if(children, [](const Child& child) { return child.error != 0; });
    if (list_error != 0) {
      listing.problems.push_back(
          system_error(list_error, "list the directory", join_path(result_.root, relative), ErrorCode::kReadFailed));
    }
    sort_by_name(children);
    return listing;
  }

  // Reads the names; errno if that fails.
  static int read_entries(Listing& listing) {
    for (;;) {
      errno = 0;
      const struct dirent* entry = ::readdir(listing.dir.get());
      if (entry == nullptr) return errno;
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || is_private_name(name)) continue;
      Child child;
      child.name = listing.names.keep(name);
      child.link = entry->d_type == DT_LNK;
      child.unknown_type = entry->d_type == DT_UNKNOWN;
      listing.children.push_back(child);
    }
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

bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
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

bool is_missing(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG);
}

RelativePaths::RelativePaths(const std::vector<std::string>& roots) {
  for (size_t i = 0; i < roots.size(); ++i) places_.emplace(roots[i].ends_with('/') ? roots[i] : roots[i] + "/", i);
}

std::string RelativePaths::of(const std::string& path) const {
  size_t first = SIZE_MAX, length = 0;
  for (size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1)) {
    const auto found = places_.find(path.substr(0, end + 1));
    if (found == places_.end() || found->second >= first) continue;
    first = found->second;
    length = end + 1;
  }
  return path.substr(length);
}

}  // namespace msdump
