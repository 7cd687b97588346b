#include "io/file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <span>
#include <thread>
#include <utility>

namespace msdump {

int open_file(const std::string& path, int flags) {
  for (;;) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EINTR) return descriptor;
  }
}

namespace {

constexpr size_t kHeadBytes = size_t{64} << 10;

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "not a regular file";
}

// Retries for two seconds while all descriptors are in use, because another thread may close some. After the first failure
// it does not wait again, so that a dump of many files does not wait for each.
int open_for_reading(const std::string& path) {
  using namespace std::chrono_literals;
  static std::atomic<bool> in_vain = false;
  const auto most = in_vain ? 20ms : 2000ms;
  for (auto waited = 0ms;; waited += 10ms) {
    // O_NONBLOCK: opening a FIFO without a writer must not block. Regular files ignore it.
    const int descriptor = open_file(path, O_RDONLY | O_NONBLOCK);
    const bool none_free = descriptor < 0 && (errno == EMFILE || errno == ENFILE);
    if (!none_free || waited >= most) {
      if (descriptor >= 0 || none_free) in_vain = none_free;
      return descriptor;
    }
    std::this_thread::sleep_for(10ms);
  }
}

// Reads until `into` is full or the file ends; returns the number of bytes.
Result<size_t> read_fully(int descriptor, uint64_t offset, std::span<std::byte> into, const std::string& path) {
  size_t done = 0;
  while (done < into.size()) {
    // Linux limits a single read to little more than this.
    const size_t want = std::min<size_t>(into.size() - done, size_t{1} << 30);
    const ssize_t count = ::pread(descriptor, into.data() + done, want, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(system_error(errno, "read", path, ErrorCode::kReadFailed).with_offset(offset + done));
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

}  // namespace

int64_t mtime_ns_of(const struct stat& status) {
  int64_t nanoseconds = 0;
  const bool overflows = __builtin_mul_overflow(int64_t{status.st_mtim.tv_sec}, int64_t{1'000'000'000}, &nanoseconds) ||
                         __builtin_add_overflow(nanoseconds, int64_t{status.st_mtim.tv_nsec}, &nanoseconds);
  using Limits = std::numeric_limits<int64_t>;
  if (overflows) return status.st_mtim.tv_sec < 0 ? Limits::min() : Limits::max();
  return nanoseconds;
}

unsigned open_files_each(unsigned workers, unsigned most) {
  // Reserved for standard streams, the output file and directories.
  constexpr rlim_t kReserved = 8;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return most;
  const rlim_t left = limit.rlim_cur > kReserved ? limit.rlim_cur - kReserved : 0;
  return static_cast<unsigned>(std::clamp<rlim_t>(left / std::max(workers, 1U), 1, most));
}

namespace {
std::atomic<unsigned> kept_open = 0;
}

std::optional<KeepOpen> KeepOpen::take() {
  static const unsigned kMost = open_files_each(4, 1U << 16);
  unsigned kept = kept_open;
  do {
    if (kept >= kMost) return std::nullopt;
  } while (!kept_open.compare_exchange_weak(kept, kept + 1));
  return KeepOpen();
}

KeepOpen::~KeepOpen() {
  if (taken_) --kept_open;
}

Descriptor::Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    value_ = std::exchange(other.value_, -1);
  }
  return *this;
}

Descriptor::~Descriptor() { close(); }

int Descriptor::close() {
  if (value_ < 0) return 0;
  return ::close(std::exchange(value_, -1)) == 0 || errno == EINTR ? 0 : errno;
}

namespace {

// The descriptor and the status of a regular file.
Result<Descriptor> open_regular(const std::string& path, struct stat& status) {
  Descriptor descriptor(open_for_reading(path));
  if (!descriptor.valid() && errno == ENXIO) {
    return fail(make_error(ErrorCode::kNotADump, "is a socket or a device, not a regular file").with_path(path));
  }
  if (!descriptor.valid()) return fail(system_error(errno, "open", path, ErrorCode::kReadFailed));
  if (::fstat(descriptor.get(), &status) != 0) return fail(system_error(errno, "stat", path, ErrorCode::kReadFailed));
  if (!S_ISREG(status.st_mode)) {
    return fail(make_error(ErrorCode::kNotADump, "is {}, not a regular file", kind_of(status.st_mode)).with_path(path));
  }
  return descriptor;
}

}  // namespace

Result<File> File::open(const std::string& path) {
  File file;
  struct stat status {};
  file.path_ = path;
  MSDUMP_TRY(file.descriptor_, open_regular(path, status));
  file.size_ = file.whole_size_ = static_cast<uint64_t>(status.st_size);
  file.mtime_ns_ = mtime_ns_of(status);
  MSDUMP_CHECK_OK(file.read_head());
  return file;
}

Result<File> File::open_part(const std::string& path, uint64_t begin, uint64_t size) {
  File file;
  struct stat status {};
  file.path_ = path;
  MSDUMP_TRY(file.descriptor_, open_regular(path, status));
  file.whole_size_ = static_cast<uint64_t>(status.st_size);
  if (begin > file.whole_size_ || size > file.whole_size_ - begin) {
    return fail(make_error(ErrorCode::kTruncated, "{} bytes needed, {} present", size,
                           begin < file.whole_size_ ? file.whole_size_ - begin : 0)
                    .with_path(path)
                    .with_offset(begin));
  }
  file.begin_ = begin;
  file.size_ = size;
  file.mtime_ns_ = mtime_ns_of(status);
  MSDUMP_CHECK_OK(file.read_head());
  return file;
}

Status File::read_head() {
  head_size_ = static_cast<size_t>(std::min<uint64_t>(size_, kHeadBytes));
  head_ = std::make_unique_for_overwrite<std::byte[]>(head_size_);
  MSDUMP_TRY(const size_t count, read_fully(descriptor_.get(), begin_, {head_.get(), head_size_}, path_));
  if (count == head_size_) return {};
  return fail(make_error(ErrorCode::kChangedWhileReading, "shrank from {} to {} bytes while being read", size_, count)
                  .with_path(path_));
}

Status File::read_at(uint64_t offset, std::span<std::byte> into) const {
  if (into.empty()) return {};
  if (offset > size_ || into.size() > size_ - offset) {
    return fail(make_error(ErrorCode::kTruncated, "{} bytes needed, {} present", into.size(),
                           offset < size_ ? size_ - offset : 0)
                    .with_path(path_)
                    .with_offset(offset));
  }
  if (offset + into.size() <= head_size_) {
    std::memcpy(into.data(), head_.get() + offset, into.size());
    return {};
  }
  MSDUMP_TRY(const size_t count, read_fully(descriptor_.get(), begin_ + offset, into, path_));
  if (count < into.size()) {
    return fail(make_error(ErrorCode::kChangedWhileReading, "shrank from {} to {} bytes while being read", size_,
                           offset + count)
                    .with_path(path_)
                    .with_offset(offset + count)
                    .with_hint("the dump may still be running; run again when it is finished"));
  }
  return {};
}

Status File::check_unchanged() const {
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) != 0) return fail(system_error(errno, "stat", path_, ErrorCode::kReadFailed));
  if (static_cast<uint64_t>(status.st_size) == whole_size_ && mtime_ns_of(status) == mtime_ns_) return {};
  return fail(make_error(ErrorCode::kChangedWhileReading, "was written to while being read ({} bytes before, {} now)",
                         whole_size_, status.st_size)
                  .with_path(path_)
                  .with_hint("the dump may still be running; run again when it is finished"));
}

namespace {

Status check_size(const File& file, uint64_t limit, std::string_view what) {
  if (file.size() <= limit) return {};
  return fail(make_error(ErrorCode::kTooLarge, "{} of {} bytes; at most {} are read", what, file.size(), limit)
                  .with_path(file.path()));
}

}  // namespace

Result<std::string> read_text(const File& file, uint64_t limit, std::string_view what) {
  MSDUMP_CHECK_OK(check_size(file, limit, what));
  std::string text(static_cast<size_t>(file.size()), '\0');
  MSDUMP_CHECK_OK(file.read_at(0, std::as_writable_bytes(std::span(text.data(), text.size()))));
  return text;
}

Result<std::string> read_text(const std::string& path, uint64_t limit, std::string_view what) {
  MSDUMP_TRY(const File file, File::open(path));
  return read_text(file, limit, what);
}

Result<LargeText> read_large_text(const File& file, uint64_t limit, std::string_view what) {
  MSDUMP_CHECK_OK(check_size(file, limit, what));
  const auto size = static_cast<size_t>(file.size());
  LargeText text{std::make_unique_for_overwrite<char[]>(size), size};
  MSDUMP_CHECK_OK(file.read_at(0, std::as_writable_bytes(std::span(text.bytes.get(), size))));
  return text;
}

}  // namespace msdump
