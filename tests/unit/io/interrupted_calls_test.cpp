// System calls that a signal interrupts (EINTR), that move fewer bytes than they were given, or none, and a cancellation
// in the middle of a walk: the functions of the C library are replaced for this program, and do what a test says.
#include <cerrno>
#include <cstdarg>
#include <limits>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/atomic_file.h"
#include "io/dir_walk.h"
#include "io/file.h"
#include "io/run_context.h"
#include "support/catch.h"
#include "support/scratch_dir.h"

namespace {

struct Faults {
  int calls_before = -1;  // the call after so many is interrupted; -1: none
  int short_calls = 0;    // so many calls move one byte at most
  bool writes_nothing = false;
  msdump::CancelToken* cancel = nullptr;  // set where a folder with the name below is opened
  std::string_view cancelling_folder{};
};
thread_local Faults faults;

bool interrupts() {
  if (faults.calls_before < 0 || faults.calls_before-- > 0) return false;
  errno = EINTR;
  return true;
}

size_t shortened(size_t count) { return count > 1 && faults.short_calls > 0 && faults.short_calls-- > 0 ? 1 : count; }

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return interrupts() ? -1 : static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int openat(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (faults.cancel != nullptr && faults.cancelling_folder == path) faults.cancel->cancel();
  return static_cast<int>(syscall(SYS_openat, directory, path, flags, mode));
}

ssize_t pread(int descriptor, void* into, size_t count, off_t offset) {
  return interrupts() ? -1 : syscall(SYS_pread64, descriptor, into, shortened(count), offset);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  if (faults.writes_nothing) return 0;
  return interrupts() ? -1 : syscall(SYS_pwrite64, descriptor, bytes, shortened(count), offset);
}

int ftruncate(int descriptor, off_t size) noexcept {
  return interrupts() ? -1 : static_cast<int>(syscall(SYS_ftruncate, descriptor, size));
}

// Linux has closed the descriptor when it reports the interruption.
int close(int descriptor) {
  const auto result = static_cast<int>(syscall(SYS_close, descriptor));
  return interrupts() ? -1 : result;
}

}  // extern "C"

namespace msdump {
namespace {

using test::ScratchDir;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

// Interrupts each call of `run` in turn; how many there are.
template <class Run>
int interrupt_each_call(const Run& run) {
  for (int calls = 0;; ++calls) {
    faults.calls_before = calls;
    run();
    if (std::exchange(faults.calls_before, -1) >= 0) return calls;
  }
}

}  // namespace

TEST_CASE("a file is written whole though a signal interrupts its calls") {
  const ScratchDir scratch;
  const std::string path = scratch.file("out"), text = "all of it";
  const int calls = interrupt_each_call([&] {
    auto file = AtomicFile::create(path);
    REQUIRE(file);
    REQUIRE(file->set_size(text.size()));
    REQUIRE(file->write_at(0, bytes_of(text)));
    REQUIRE(file->commit());
    CHECK(scratch.read("out") == text);
  });
  CHECK(calls >= 4);  // open, ftruncate, pwrite, close
}

TEST_CASE("a file is read whole though a signal interrupts its calls") {
  const ScratchDir scratch;
  const std::string path = scratch.write("in", "all of it");
  const int calls = interrupt_each_call([&] {
    const auto file = File::open(path);
    REQUIRE(file);
    std::string text(9, '\0');
    REQUIRE(file->read_at(0, std::as_writable_bytes(std::span(text))));
    CHECK(text == "all of it");
  });
  CHECK(calls >= 3);  // open, pread, close
}

TEST_CASE("a file is written and read whole in calls of one byte") {
  const ScratchDir scratch;
  const std::string path = scratch.file("out"), text = "all of it";
  faults.short_calls = std::numeric_limits<int>::max();
  const Status written = write_file(path, text);
  const auto file = File::open(path);
  faults = {};
  REQUIRE(written);
  REQUIRE(file);
  CHECK(std::string(reinterpret_cast<const char*>(file->head().data()), file->head().size()) == text);
}

TEST_CASE("what is left of a read that was cut short is no more than was asked for") {
  const ScratchDir scratch;
  constexpr size_t kFarFromHead = 1 << 20;
  const auto file = File::open(scratch.write("in", std::string(kFarFromHead, 'x') + "all of it and more"));
  REQUIRE(file);
  std::string text = "......... the rest";
  faults.short_calls = 2;
  const Status read = file->read_at(kFarFromHead, std::as_writable_bytes(std::span(text.data(), 9)));
  faults = {};
  REQUIRE(read);
  CHECK(text == "all of it the rest");
}

TEST_CASE("a walk that is cancelled in a folder of a folder ends there, though nothing follows") {
  const ScratchDir scratch;
  scratch.write("a/b/c/file", "");
  CancelToken cancel;
  faults.cancel = &cancel;
  faults.cancelling_folder = "b";
  const auto walked = walk_directory(scratch.path().string(), {{}, &cancel});
  faults = {};
  REQUIRE_FALSE(walked);
  CHECK(walked.error().code == ErrorCode::kCancelled);
}

TEST_CASE("a write that moves nothing and gives no reason is a full disk, and leaves nothing") {
  const ScratchDir scratch;
  faults.writes_nothing = true;
  const Status written = write_file(scratch.file("out"), "text");
  faults = {};
  REQUIRE(!written);
  CHECK(written.error().code == ErrorCode::kWriteFailed);
  CHECK(!scratch.exists("out"));
}

}  // namespace msdump
