#include "io/file.h"

#include <chrono>
#include <filesystem>
#include <future>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "as_nobody.h"
#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

namespace fs = std::filesystem;
using test::ScratchDir;

constexpr size_t kHead = size_t{64} << 10;

std::string bytes_at(const File& file, uint64_t offset, size_t count) {
  std::string text(count, '\0');
  const Status read = file.read_at(offset, std::as_writable_bytes(std::span(text.data(), text.size())));
  REQUIRE(read);
  return text;
}

Status try_read(const File& file, uint64_t offset, size_t count) {
  std::vector<std::byte> bytes(count);
  return file.read_at(offset, bytes);
}

TEST_CASE("a file is read at any offset inside and across the head that is kept") {
  const ScratchDir scratch;
  const std::string content = test::pattern_bytes(3 * kHead + 7, 1);
  const auto file = File::open(scratch.write("f", content));
  REQUIRE(file);
  CHECK(file->size() == content.size());
  CHECK(file->head().size() == kHead);
  for (const size_t offset : {size_t{0}, size_t{1}, kHead - 5, kHead, 2 * kHead + 3, content.size() - 10}) {
    CAPTURE(offset);
    CHECK(bytes_at(*file, offset, 10) == content.substr(offset, 10));
  }
  CHECK(bytes_at(*file, 0, content.size()) == content);
  CHECK(file->check_unchanged());
}

TEST_CASE("reading past the end of a file says how much there is") {
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("f", "0123456789"));
  REQUIRE(file);
  const Status past = try_read(*file, 4, 7);
  REQUIRE_FALSE(past);
  CHECK(past.error().code == ErrorCode::kTruncated);
  CHECK(past.error().message == "7 bytes needed, 6 present");
  CHECK(past.error().offset == 4U);
  CHECK(past.error().path == file->path());
  CHECK(try_read(*file, 10, 0));
  CHECK(try_read(*file, 11, 1).error().message == "1 bytes needed, 0 present");
  CHECK(try_read(*file, ~uint64_t{0}, 8).error().code == ErrorCode::kTruncated);
}

TEST_CASE("an empty file opens and holds nothing") {
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("f", ""));
  REQUIRE(file);
  CHECK(file->size() == 0);
  CHECK(file->head().empty());
  CHECK_FALSE(try_read(*file, 0, 1));
}

TEST_CASE("a file that shrinks while it is read is an error with both sizes") {
  const ScratchDir scratch;
  const std::string path = scratch.write("f", test::pattern_bytes(2 * kHead, 1));
  const auto file = File::open(path);
  REQUIRE(file);
  fs::resize_file(path, kHead + 100);
  const Status read = try_read(*file, kHead, 200);
  REQUIRE_FALSE(read);
  CHECK(read.error().code == ErrorCode::kChangedWhileReading);
  CHECK(read.error().message == "shrank from 131072 to 65636 bytes while being read");
  CHECK(read.error().offset == kHead + 100);
  CHECK_FALSE(read.error().hint.empty());
  const Status unchanged = file->check_unchanged();
  REQUIRE_FALSE(unchanged);
  CHECK(unchanged.error().code == ErrorCode::kChangedWhileReading);
}

TEST_CASE("a part of a file is a file of its own") {
  const ScratchDir scratch;
  const std::string path = scratch.write("a.bin", std::string(100'000, 'x') + "0123456789" + "y");
  const auto part = File::open_part(path, 100'000, 10);
  REQUIRE(part);
  CHECK(part->size() == 10);
  CHECK(part->head().size() == 10);
  std::string text(4, ' ');
  REQUIRE(part->read_at(6, std::as_writable_bytes(std::span(text.data(), text.size()))));
  CHECK(text == "6789");
  CHECK(part->read_at(7, std::as_writable_bytes(std::span(text.data(), text.size()))).error().code ==
        ErrorCode::kTruncated);
  CHECK(part->check_unchanged());
  const auto large = File::open_part(path, 1, 100'000);
  REQUIRE(large);
  REQUIRE(large->read_at(99'998, std::as_writable_bytes(std::span(text.data(), 2))));
  CHECK(text.substr(0, 2) == "x0");
  for (const auto& [begin, size] :
       {std::pair<uint64_t, uint64_t>{100'011, 1}, {100'012, 0}, {0, 100'012}, {1, UINT64_MAX}})
    CHECK(File::open_part(path, begin, size).error().code == ErrorCode::kTruncated);
}

TEST_CASE("a file that grows keeps its size and check_unchanged reports it") {
  const ScratchDir scratch;
  const std::string path = scratch.write("f", "0123456789");
  const auto file = File::open(path);
  REQUIRE(file);
  fs::resize_file(path, 20);
  CHECK(file->size() == 10);
  CHECK_FALSE(try_read(*file, 5, 10));
  const Status unchanged = file->check_unchanged();
  REQUIRE_FALSE(unchanged);
  CHECK(unchanged.error().message == "was written to while being read (10 bytes before, 20 now)");
}

TEST_CASE("a file written to in place is noticed by its time") {
  const ScratchDir scratch;
  const std::string path = scratch.write("f", "0123456789");
  const auto file = File::open(path);
  REQUIRE(file);
  const struct timespec times[2] = {{0, UTIME_OMIT}, {1234567890, 1}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
  CHECK_FALSE(file->check_unchanged());
}

TEST_CASE("a file of an absurd time opens") {
  const ScratchDir scratch;
  const std::string path = scratch.write("f", "0123456789");
  const struct timespec times[2] = {{0, UTIME_OMIT}, {int64_t{1} << 36, 0}};  // the year 4147
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
  const auto file = File::open(path);
  REQUIRE(file);
  CHECK(file->mtime_ns() > 0);  // file systems keep what they can of it
  struct stat status {};
  status.st_mtim.tv_sec = int64_t{1} << 36;
  CHECK(mtime_ns_of(status) == std::numeric_limits<int64_t>::max());
  status.st_mtim.tv_sec = -(int64_t{1} << 36);
  CHECK(mtime_ns_of(status) == std::numeric_limits<int64_t>::min());
  status.st_mtim = {2, 5};
  CHECK(mtime_ns_of(status) == 2'000'000'005);
}

TEST_CASE("a file that is not regular is refused without waiting") {
  const ScratchDir scratch;
  const std::string fifo = scratch.file("fifo"), socket_path = scratch.file("s");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const Descriptor server(::socket(AF_UNIX, SOCK_STREAM, 0));
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  REQUIRE(socket_path.size() < sizeof address.sun_path);
  socket_path.copy(address.sun_path, socket_path.size());
  REQUIRE(::bind(server.get(), reinterpret_cast<const struct sockaddr*>(&address), sizeof address) == 0);
  const auto message_of = [](const std::string& path) {
    const auto file = File::open(path);
    REQUIRE_FALSE(file);
    CHECK(file.error().code == ErrorCode::kNotADump);
    CHECK(file.error().path == path);
    return file.error().message;
  };
  CHECK(message_of(fifo) == "is a FIFO, not a regular file");
  CHECK(message_of(scratch.path().string()) == "is a directory, not a regular file");
  CHECK(message_of("/dev/null") == "is a device, not a regular file");
  CHECK(message_of(socket_path) == "is a socket or a device, not a regular file");
}

TEST_CASE("a file that cannot be opened says why") {
  const ScratchDir scratch;
  CHECK(File::open(scratch.file("none")).error().code == ErrorCode::kNotFound);
  CHECK(File::open(scratch.write("f", "x") + "/below").error().code == ErrorCode::kNotFound);
  fs::create_symlink("loop", scratch.file("loop"));
  CHECK(File::open(scratch.file("loop")).error().code == ErrorCode::kNotFound);
  fs::create_symlink("nowhere", scratch.file("dangling"));
  CHECK(File::open(scratch.file("dangling")).error().message == "cannot open: No such file or directory");
}

TEST_CASE("a file one may not read is a permission error") {
  const ScratchDir scratch;
  const std::string path = scratch.write("f", "x");
  fs::permissions(scratch.path(), fs::perms{0755});
  fs::permissions(path, fs::perms::none);
  const AsNobody nobody;
  if (!nobody.works()) return;
  const auto file = File::open(path);
  REQUIRE_FALSE(file);
  CHECK(file.error().code == ErrorCode::kPermission);
  CHECK(file.error().message == "cannot open: Permission denied");
}

TEST_CASE("where all descriptors are in use an open waits for one that another thread closes") {
  const ScratchDir scratch;
  const std::string path = scratch.write("a", "text");
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit few{40, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  std::vector<Descriptor> open;
  // Sanitizers need descriptors of their own when a thread starts: it is there before none are left.
  std::promise<void> started, all_used;
  std::thread closer([&] {
    started.set_value();
    all_used.get_future().wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    open.pop_back();
  });
  started.get_future().wait();
  for (int next = ::open("/dev/null", O_RDONLY); next >= 0; next = ::open("/dev/null", O_RDONLY))
    open.emplace_back(next);
  all_used.set_value();
  const auto file = File::open(path);
  closer.join();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(file);
}

TEST_CASE("where no descriptor is ever free, only the first open waits long") {
  const ScratchDir scratch;
  const std::string path = scratch.write("a", "text");
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit few{40, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  std::vector<Descriptor> open;
  for (int next = ::open("/dev/null", O_RDONLY); next >= 0; next = ::open("/dev/null", O_RDONLY))
    open.emplace_back(next);
  const auto first = File::open(path);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) CHECK_FALSE(File::open(path));
  const auto taken = std::chrono::steady_clock::now() - begin;
  open.clear();
  const auto later = File::open(path);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK_FALSE(first);
  CHECK(taken < std::chrono::seconds(2));  // five times two, before
  CHECK(later);
}

TEST_CASE("workers share the files that may be open") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const auto each = [&](rlim_t limit, unsigned workers) {
    const rlimit few{limit, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    const unsigned files = open_files_each(workers, 16);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    return files;
  };
  CHECK(each(1024, 1) == 16);
  CHECK(each(1024, 96) == 10);
  CHECK(each(40, 4) == 8);
  CHECK(each(40, 100) == 1);
}

TEST_CASE("a file deleted while open is still read") {
  const ScratchDir scratch;
  const std::string content = test::pattern_bytes(2 * kHead, 4);
  const std::string path = scratch.write("f", content);
  const auto file = File::open(path);
  REQUIRE(file);
  fs::remove(path);
  CHECK(bytes_at(*file, kHead, 100) == content.substr(kHead, 100));
}

TEST_CASE("a text is read whole up to its limit, and refused above it") {
  const ScratchDir scratch;
  const std::string path = scratch.write("text", std::string("seven\0!", 7));
  CHECK(read_text(path, 7, "a text").value() == std::string("seven\0!", 7));
  const auto larger = read_text(path, 6, "a text");
  REQUIRE_FALSE(larger);
  CHECK(larger.error().code == ErrorCode::kTooLarge);
  CHECK(larger.error().message == "a text of 7 bytes; at most 6 are read");
  CHECK(larger.error().path == path);
  CHECK(read_text(scratch.write("empty", ""), 0, "a text").value().empty());
  CHECK(read_text(scratch.file("none"), 6, "a text").error().code == ErrorCode::kNotFound);
}

}  // namespace
}  // namespace msdump
