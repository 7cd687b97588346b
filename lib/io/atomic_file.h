// Writing files: complete or not at all, whatever ends the process.
//
// AtomicFile writes to a temporary file in the same directory, which commit() renames over the target. Without commit(),
// the temporary file is removed; a killed process leaves at most one, whose name (".msdump-PID-N.tmp") no reader takes for
// data. Several threads may call write_at().
//
// Durability: files are not synchronised to the disk. After a power failure a committed file may have its full size and zeros
// in place of data. To resume after one, remove the files that were written shortly before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "io/file.h"
#include "io/run_context.h"

namespace msdump {

class AtomicFile {
 public:
  // The directory of `path` must exist.
  static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  // Sets the length of the file first, so that slabs written in any order do not extend it one by one.
  Status set_size(uint64_t bytes);
  Status write_at(uint64_t offset, std::span<const std::byte> bytes);
  // Closes and renames. Without this call, nothing appears.
  Status commit();

  [[nodiscard]] const std::string& path() const { return path_; }
  // For a writer that appends; it writes everything before commit().
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

 private:
  AtomicFile() = default;
  Descriptor descriptor_;
  std::string path_, temporary_;
};

// An error if the path is a pipe or a socket, at which another program waits. AtomicFile would replace it (but no device).
Status check_is_no_pipe(const std::string& path);

// Writes a whole small file atomically.
Status write_file(const std::string& path, std::string_view content);

// Writes a file that the user named. Follows links; writes into a terminal, /dev/null or a pipe instead of replacing it.
Status write_named_file(const std::string& path, std::string_view content);

// Appends in one write, so that texts of several processes never mix; the file need not exist. What a full disk cut stays cut.
Status append_to_file(const std::string& path, std::string_view text);

// Creates `path` and its missing parents (mode 0777 less umask). Not an error if it exists as a directory.
Status make_directories(const std::string& path);

// True for the names AtomicFile gives its temporary files.
[[nodiscard]] bool is_temporary_name(std::string_view name);

// The settings that convert wrote its arrays with, in its OUT.
constexpr std::string_view kConvertSettingsName = ".msdump-convert.json";

// True for files that msdump writes for itself; directory walks skip them.
[[nodiscard]] bool is_private_name(std::string_view name);

// An atomic text file that is written in order.
class TextFile {
 public:
  // Makes the directory of `path` if it is missing.
  static Result<TextFile> create(const std::string& path);
  Status append(std::string_view text);
  Status commit();

 private:
  explicit TextFile(AtomicFile file) : file_(std::move(file)) {}
  Status flush();

  AtomicFile file_;
  std::string waiting_;
  uint64_t written_ = 0;
};

// Held by the one process that reads and replaces a file of a directory.
class DirectoryLock {
 public:
  // Waits until no other process holds the lock, or `cancel` is set (kCancelled). Advisory; locks nothing if the file
  // system has no locks.
  static Result<DirectoryLock> acquire(const std::string& directory, const CancelToken& cancel);

 private:
  explicit DirectoryLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Descriptor descriptor_;  // the lock ends when it is closed
};

}  // namespace msdump
