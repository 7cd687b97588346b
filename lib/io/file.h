// Reading regular files: by offset (File), or whole as text.
//
// Files are never mapped: a dump that shrinks while it is read must be an error, not a SIGBUS.
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

struct stat;

namespace msdump {

// open(2) with O_CLOEXEC, repeated after a signal; mode 0666 less umask for a new file. The descriptor, or -1 with errno.
// Internal to lib/io.
[[nodiscard]] int open_file(const std::string& path, int flags);

// Nanoseconds since the epoch; a time that does not fit 64 bits becomes the nearest that does.
[[nodiscard]] int64_t mtime_ns_of(const struct ::stat& status);

// The number of files that each of `workers` may hold open within the limit of the process, at most `most`.
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

// Permission to keep a file open between two reads. A quarter of the descriptors of the process are for such files.
// Thread-safe.
class KeepOpen {
 public:
  // None if that many files are kept open already; then close the file after the read and open it again for the next.
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

// A piece of data that are spread over a file. It has the bytes of the data from `begin` up to the `begin` of the next
// piece, and lies at `offset` in the file.
struct FilePiece {
  uint64_t begin = 0, offset = 0;
};

// A regular file, read by offset. FIFOs, sockets, devices and directories are refused without blocking. The size is that
// at open(); a shorter read is kChangedWhileReading. The first bytes are kept, so that a small file costs one read.
// Thread-safe after open().
class File {
 public:
  static Result<File> open(const std::string& path);
  // A range of bytes as a file of its own; kTruncated if the file ends before it does.
  static Result<File> open_part(const std::string& path, uint64_t begin, uint64_t size);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] uint64_t size() const { return size_; }
  [[nodiscard]] int64_t mtime_ns() const { return mtime_ns_; }

  // Fills all of `into` from `offset`, or fails.
  Status read_at(uint64_t offset, std::span<std::byte> into) const;

  // The first 64 KiB, or the whole file if it is shorter; valid as long as the File.
  [[nodiscard]] std::span<const std::byte> head() const { return {head_.get(), head_size_}; }

  // kChangedWhileReading if size or modification time are not those at open().
  [[nodiscard]] Status check_unchanged() const;

 private:
  File() = default;
  Status read_head();
  Descriptor descriptor_;
  std::string path_;
  uint64_t begin_ = 0, size_ = 0;  // of the part
  uint64_t whole_size_ = 0;
  int64_t mtime_ns_ = 0;
  std::unique_ptr<std::byte[]> head_;
  size_t head_size_ = 0;
};

// The whole file; kTooLarge if it has more than `limit` bytes. `what` names it in that message: "a mapping.csv".
Result<std::string> read_text(const File& file, uint64_t limit, std::string_view what);
Result<std::string> read_text(const std::string& path, uint64_t limit, std::string_view what);

// The same for hundreds of MiB: the memory is not zeroed first.
struct LargeText {
  std::unique_ptr<char[]> bytes;
  size_t size = 0;
  [[nodiscard]] std::string_view view() const { return {bytes.get(), size}; }
};
Result<LargeText> read_large_text(const File& file, uint64_t limit, std::string_view what);

}  // namespace msdump
