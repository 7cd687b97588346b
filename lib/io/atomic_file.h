// AtomicFile: an output that appears under its name complete or not at all, whatever ends the process. It is not
// synchronised: after a power failure a file may lack bytes that its size counts.
//
// The bytes go to a temporary file in the same directory, which `commit` renames over the target; an AtomicFile that is
// destroyed without commit removes its temporary file. A process that is killed leaves at most a temporary file, whose
// name (".msdump-PID-N.tmp") no reader takes for data. Thread-safe: write_at may be called from several threads.
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

  // Sets the length of the file at once, so that pieces written in any order do not each extend it.
  Status set_size(uint64_t bytes);
  Status write_at(uint64_t offset, std::span<const std::byte> bytes);
  // Closes and renames. Without this call, nothing appears.
  Status commit();

  [[nodiscard]] const std::string& path() const { return path_; }
  // For a writer that appends; it has to have written everything before commit.
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

 private:
  AtomicFile() = default;
  Descriptor descriptor_;
  std::string path_, temporary_;
};

// An error for the name of a pipe or a socket: another program waits at it. (AtomicFile replaces those, and no devices.)
Status check_is_no_pipe(const std::string& path);

// Writes a whole small file atomically.
Status write_file(const std::string& path, std::string_view content);

// The same for a file that the user has named: a link is followed and its target replaced or created; a target that is
// not a regular file (a terminal, /dev/null, a pipe) is written into.
Status write_named_file(const std::string& path, std::string_view content);

// Creates `path` and its missing parents (mode 0777 less umask). Not an error if it exists as a directory.
Status make_directories(const std::string& path);

// True for the names AtomicFile gives its temporary files.
[[nodiscard]] bool is_temporary_name(std::string_view name);

// What convert says about the arrays in its OUT (convert/settings_file.h).
constexpr std::string_view kConvertSettingsName = ".msdump-convert.json";

// True for files that msdump writes for itself: walkers skip them.
[[nodiscard]] bool is_private_name(std::string_view name);

// TextFile: a text file that is written in order and appears under its name complete or not at all.

class TextFile {
 public:
  // Makes the folder of `path` if it is missing.
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

// DirectoryLock: one process at a time changes a file of a directory that is read and then replaced.

class DirectoryLock {
 public:
  // Waits until nobody else holds the lock of `directory`, or `cancel` is set (kCancelled). Advisory; holds nothing
  // where the file system has no locks.
  static Result<DirectoryLock> acquire(const std::string& directory, const CancelToken& cancel);

 private:
  explicit DirectoryLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Descriptor descriptor_;  // the lock ends when it is closed
};

}  // namespace msdump
