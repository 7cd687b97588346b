// open(2), retried after a signal; always O_CLOEXEC, and mode 0666 less umask for a new file. Internal to lib/io.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace msdump {

// The descriptor, or -1 with errno.
[[nodiscard]] int open_file(const std::string& path, int flags);

}  // namespace msdump

struct stat;

namespace msdump {

// File: a regular file opened for reading, read by offset. Never mapped: a dump that shrinks while it is read must be an
// error, not a SIGBUS, and mapped pages count as resident.
//
// A FIFO, socket, device or directory is refused without blocking. The size is taken once, at open; a read that comes
// back short is `changed_while_reading`. The first bytes are kept, so that the header and the data of a small file cost
// one system call. Thread-safe after opening.

// Nanoseconds since the epoch; a time that does not fit 64 bits becomes the nearest that does.
[[nodiscard]] int64_t mtime_ns_of(const struct ::stat& status);

// How many files each of `workers` may hold open, at most `most`, within the limit of the process.
[[nodiscard]] unsigned open_files_each(unsigned workers, unsigned most);

// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] bool valid() const { return value_ >= 0; }
  int close();  // errno of the close, 0 on success

 private:
  int value_ = -1;
};

// Permission to keep a file open between two reads of it. A quarter of the descriptors that the process may have are for such
// files, the others for files that are open while they are read. Thread-safe.
class KeepOpen {
 public:
  // None if as many files are kept open already: the file is closed after the read, and opened again for the next one.
  static std::optional<KeepOpen> take();
  KeepOpen(KeepOpen&& other) noexcept : taken_(std::exchange(other.taken_, false)) {}
  KeepOpen& operator=(KeepOpen&& other) noexcept {
    std::swap(taken_, other.taken_);
    return *this;
  }
  ~KeepOpen();

 private:
  KeepOpen() = default;
  bool taken_ = true;
};

// A part of something that lies in a file in several places: it begins `begin` bytes after the first part, at `offset`
// in the file, and ends where the next part begins.
struct FilePiece {
  uint64_t begin = 0, offset = 0;
};

class File {
 public:
  static Result<File> open(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] uint64_t size() const { return size_; }
  [[nodiscard]] int64_t mtime_ns() const { return mtime_ns_; }

  // Fills `into` from `offset`; all of it or an error.
  Status read_at(uint64_t offset, std::span<std::byte> into) const;

  // The first min(size, 64 KiB) bytes; valid as long as the File.
  [[nodiscard]] std::span<const std::byte> head() const { return {head_.get(), head_size_}; }

  // `changed_while_reading` if the file's size or time is no longer what it was at open.
  [[nodiscard]] Status check_unchanged() const;

 private:
  File() = default;
  Descriptor descriptor_;
  std::string path_;
  uint64_t size_ = 0;
  int64_t mtime_ns_ = 0;
  std::unique_ptr<std::byte[]> head_;
  size_t head_size_ = 0;
};

// Reads a whole text file, up to a limit.

// too_large if the file has more than `limit` bytes. `what` is its name in that message: "a mapping.csv".
Result<std::string> read_text(const File& file, uint64_t limit, std::string_view what);
Result<std::string> read_text(const std::string& path, uint64_t limit, std::string_view what);

// The same for texts of hundreds of MiB: the memory is not zeroed first.
struct LargeText {
  std::unique_ptr<char[]> bytes;
  size_t size = 0;
  [[nodiscard]] std::string_view view() const { return {bytes.get(), size}; }
};
Result<LargeText> read_large_text(const File& file, uint64_t limit, std::string_view what);

}  // namespace msdump
