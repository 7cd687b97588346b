#include "io/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <system_error>
#include <thread>
#include <utility>

#include "io/file.h"

namespace msdump {
namespace {

constexpr std::string_view kTemporaryPrefix = ".msdump-";
constexpr std::string_view kTemporarySuffix = ".tmp";

std::string temporary_beside(const std::string& path) {
  // Not derived from the target, whose name may have the greatest length that the file system allows.
  static std::atomic<uint64_t> counter = 0;
  static const pid_t process = ::getpid();
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  return fmt::format("{}{}{}-{}{}", folder, kTemporaryPrefix, process, counter.fetch_add(1), kTemporarySuffix);
}

Error write_error(int errno_value, std::string_view what, const std::string& path) {
  Error error = system_error(errno_value, what, path, ErrorCode::kWriteFailed);
  if (errno_value == ENOSPC || errno_value == EDQUOT) error.hint = "free some space, then run again";
  return error;
}

// A signal cancels, so that a process that waits for the reader of a FIFO can be stopped.
Status write_into(const std::string& path, std::string_view content) {
  const Descriptor descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!descriptor.valid() && errno == EINTR) return fail(ErrorCode::kCancelled, "interrupted");
  if (!descriptor.valid()) return fail(write_error(errno, "open", path));
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) return fail(ErrorCode::kCancelled, "interrupted");
    if (written <= 0) return fail(write_error(written < 0 ? errno : ENOSPC, "write", path));
    content.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

// The target of a chain of links, whether or not it exists; `path` itself if the links form a cycle.
std::string end_of_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // the limit of Linux
  std::filesystem::path at = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(at, error);
    if (error) return at.string();
    at = at.parent_path() / target;  // an absolute target replaces the whole path
  }
  return path;
}

// True if the path is of one of these kinds. Links are not followed.
bool has_mode(const std::string& path, std::initializer_list<mode_t> kinds) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) return false;
  return std::find(kinds.begin(), kinds.end(), status.st_mode & S_IFMT) != kinds.end();
}

Error not_replaced(const std::string& path) {
  return make_error(ErrorCode::kWriteFailed, "is no regular file, and is not replaced").with_path(path);
}

}  // namespace

Status check_is_no_pipe(const std::string& path) {
  return has_mode(path, {S_IFIFO, S_IFSOCK}) ? fail(not_replaced(path)) : Status();
}

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  // Replacing a device would remove it for all other programs.
  if (has_mode(path, {S_IFCHR, S_IFBLK})) return fail(not_replaced(path));
  AtomicFile file;
  file.path_ = path;
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string temporary = temporary_beside(path);
    const int descriptor = open_file(temporary, O_WRONLY | O_CREAT | O_EXCL);
    if (descriptor >= 0) {
      file.descriptor_ = Descriptor(descriptor);
      file.temporary_ = std::move(temporary);
      return file;
    }
    // A killed process with the same id left this file: try the next name.
    if (errno != EEXIST) return fail(write_error(errno, "create a file beside", path));
  }
  return fail(make_error(ErrorCode::kWriteFailed, "cannot find a free temporary name").with_path(path));
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)) {
  other.temporary_.clear();
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status AtomicFile::set_size(uint64_t bytes) {
  while (::ftruncate(descriptor_.get(), static_cast<off_t>(bytes)) != 0) {
    if (errno != EINTR) return fail(write_error(errno, "write", path_));
  }
  return {};
}

Status AtomicFile::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    // A write of 0 bytes without an error means that the disk is full.
    if (written <= 0) return fail(write_error(written < 0 ? errno : ENOSPC, "write", path_));
    offset += static_cast<uint64_t>(written);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Status AtomicFile::commit() {
  const int close_error = descriptor_.close();
  if (close_error != 0) return fail(write_error(close_error, "write", path_));
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    Error error = write_error(errno, "put the finished file in place", path_);
    if (errno == EISDIR) error.hint = "a directory of that name is in the way";
    return fail(std::move(error));
  }
  temporary_.clear();
  return {};
}

Status write_file(const std::string& path, std::string_view content) {
  MSDUMP_TRY(AtomicFile file, AtomicFile::create(path));
  MSDUMP_CHECK_OK(file.write_at(0, std::as_bytes(std::span(content.data(), content.size()))));
  return file.commit();
}

Status write_named_file(const std::string& path, std::string_view content) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  const bool special = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
                       !std::filesystem::is_directory(status);
  return special ? write_into(path, content) : write_file(end_of_links(path), content);
}

Status append_to_file(const std::string& path, std::string_view text) {
  Descriptor descriptor(open_file(path, O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY));
  if (!descriptor.valid()) return fail(write_error(errno, "open", path));
  ssize_t written = 0;
  do {
    written = ::write(descriptor.get(), text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0 || static_cast<size_t>(written) < text.size())
    return fail(write_error(written < 0 ? errno : ENOSPC, "append to", path));
  const int close_error = descriptor.close();
  return close_error == 0 ? Status() : fail(write_error(close_error, "append to", path));
}

Status make_directories(const std::string& path) {
  if (path.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail(write_error(error.value(), "create the directory", path));
  return {};
}

bool is_temporary_name(std::string_view name) {
  return name.starts_with(kTemporaryPrefix) && name.ends_with(kTemporarySuffix);
}

bool is_private_name(std::string_view name) { return is_temporary_name(name) || name == kConvertSettingsName; }

namespace {

constexpr size_t kFlushBytes = size_t{1} << 20;

}  // namespace

Result<TextFile> TextFile::create(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0) MSDUMP_CHECK_OK(make_directories(path.substr(0, slash)));
  MSDUMP_TRY(AtomicFile file, AtomicFile::create(path));
  return TextFile(std::move(file));
}

Status TextFile::append(std::string_view text) {
  waiting_ += text;
  return waiting_.size() < kFlushBytes ? Status() : flush();
}

Status TextFile::flush() {
  MSDUMP_CHECK_OK(file_.write_at(written_, std::as_bytes(std::span(waiting_))));
  written_ += waiting_.size();
  waiting_.clear();
  return {};
}

Status TextFile::commit() {
  MSDUMP_CHECK_OK(flush());
  return file_.commit();
}

Result<DirectoryLock> DirectoryLock::acquire(const std::string& directory, const CancelToken& cancel) {
  DirectoryLock lock(Descriptor(open_file(directory.empty() ? "." : directory, O_RDONLY | O_DIRECTORY)));
  // A wait inside flock would miss a signal that came just before it.
  while (lock.descriptor_.valid() && ::flock(lock.descriptor_.get(), LOCK_EX | LOCK_NB) != 0 &&
         (errno == EWOULDBLOCK || errno == EINTR)) {
    MSDUMP_CHECK_OK(cancel.check());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return lock;
}

}  // namespace msdump
