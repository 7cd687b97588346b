#include "io/atomic_file.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "as_nobody.h"
#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

namespace fs = std::filesystem;
using test::ScratchDir;

std::span<const std::byte> bytes_of_text(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  return names;
}

TEST_CASE("nothing appears under the name before commit") {
  const ScratchDir scratch;
  auto file = AtomicFile::create(scratch.file("out.npy"));
  REQUIRE(file);
  CHECK(file->write_at(0, bytes_of_text("hello")));
  CHECK_FALSE(scratch.exists("out.npy"));
  REQUIRE(names_in(scratch.path()).size() == 1);
  CHECK(is_temporary_name(names_in(scratch.path()).front()));
  REQUIRE(file->commit());
  CHECK(names_in(scratch.path()) == std::vector<std::string>{"out.npy"});
  CHECK(scratch.read("out.npy") == "hello");
}

TEST_CASE("an output that is not committed leaves nothing and the old file as it was") {
  const ScratchDir scratch;
  scratch.write("out", "old");
  {
    auto file = AtomicFile::create(scratch.file("out"));
    REQUIRE(file);
    CHECK(file->write_at(0, bytes_of_text("new and longer")));
    auto moved = std::move(*file);
    CHECK(moved.path() == scratch.file("out"));
    CHECK(scratch.read("out") == "old");
  }
  CHECK(names_in(scratch.path()) == std::vector<std::string>{"out"});
  CHECK(scratch.read("out") == "old");
}

TEST_CASE("commit replaces the file of that name for those who open it next") {
  const ScratchDir scratch;
  const std::string path = scratch.write("out", "the old content");
  const auto reader = File::open(path);
  REQUIRE(reader);
  REQUIRE(write_file(path, "new"));
  CHECK(scratch.read("out") == "new");
  CHECK(reader->size() == 15);
  CHECK(reader->check_unchanged());
}

TEST_CASE("a link of that name is replaced and what it points to is not written to") {
  const ScratchDir scratch;
  scratch.write("target", "precious");
  fs::create_symlink("target", scratch.file("out"));
  REQUIRE(write_file(scratch.file("out"), "new"));
  CHECK(scratch.read("target") == "precious");
  CHECK_FALSE(fs::is_symlink(scratch.file("out")));
}

TEST_CASE("of a file that the user has named a link stays and what it points to is replaced") {
  const ScratchDir scratch;
  scratch.write("target", "old");
  fs::create_symlink("target", scratch.path() / "link");
  REQUIRE(write_named_file(scratch.file("link"), "new"));
  CHECK(fs::is_symlink(scratch.path() / "link"));
  CHECK(scratch.read("target") == "new");
  REQUIRE(write_named_file(scratch.file("another"), "newer"));
  CHECK(scratch.read("another") == "newer");
}

TEST_CASE("of a file that the user has named a link stays when there is nothing at its end yet") {
  const ScratchDir scratch;
  scratch.make_dir("folder");
  fs::create_symlink("folder/second", scratch.path() / "first");
  fs::create_symlink("target", scratch.path() / "folder/second");
  REQUIRE(write_named_file(scratch.file("first"), "new"));
  CHECK(fs::is_symlink(scratch.path() / "first"));
  CHECK(fs::is_symlink(scratch.path() / "folder/second"));
  CHECK(scratch.read("folder/target") == "new");
  fs::create_symlink("circle", scratch.path() / "circle");
  CHECK_FALSE(std::ifstream(scratch.file("circle")).good());
  REQUIRE(write_named_file(scratch.file("circle"), "x"));  // it can only be replaced
  CHECK(scratch.read("circle") == "x");
}

TEST_CASE("a file that is not a regular one is written into and stays what it is") {
  const ScratchDir scratch;
  const std::string pipe = scratch.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::string got;
  std::thread reader([&] { got = scratch.read("pipe"); });
  const Status written = write_named_file(pipe, "through");
  reader.join();
  CHECK(written);
  CHECK(got == "through");
  CHECK(fs::is_fifo(pipe));
  REQUIRE_FALSE(fs::is_regular_file("/dev/full"));
  const Status full = write_named_file("/dev/full", "x");
  REQUIRE_FALSE(full);
  CHECK(full.error().code == ErrorCode::kWriteFailed);
  CHECK(full.error().hint == "free some space, then run again");
  CHECK_FALSE(fs::is_regular_file("/dev/full"));
  CHECK_FALSE(write_named_file(scratch.path().string(), "x"));  // a directory
}

TEST_CASE("whoever waits for the reader of a pipe stops waiting at a signal") {
  const ScratchDir scratch;
  const std::string pipe = scratch.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  struct sigaction before {
  }, interrupting{};
  interrupting.sa_handler = [](int) {};  // without SA_RESTART
  REQUIRE(::sigaction(SIGUSR1, &interrupting, &before) == 0);
  std::atomic<bool> done = false;
  std::thread signals([&, waiting = ::pthread_self()] {
    while (!done) {
      ::pthread_kill(waiting, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const Status written = write_named_file(pipe, "x");
  done = true;
  signals.join();
  REQUIRE(::sigaction(SIGUSR1, &before, nullptr) == 0);
  REQUIRE_FALSE(written);
  CHECK(written.error().code == ErrorCode::kCancelled);
}

TEST_CASE("the temporary file of a killed process that had our number is stepped over") {
  const ScratchDir scratch;
  {
    const auto first = AtomicFile::create(scratch.file("out"));
    REQUIRE(first);
    const std::string name = names_in(scratch.path()).at(0);  // .msdump-PROCESS-COUNT.tmp
    const size_t count_at = name.rfind('-') + 1;
    const int count = std::stoi(name.substr(count_at));
    for (const int next : {count + 1, count + 2})
      scratch.write(name.substr(0, count_at) + std::to_string(next) + ".tmp", "left over");
    REQUIRE(write_file(scratch.file("other"), "new"));
  }
  CHECK(scratch.read("other") == "new");
  CHECK(names_in(scratch.path()).size() == 3);
}

TEST_CASE("a text file is made with its folder, from pieces of any size, and only when it is committed") {
  const ScratchDir scratch;
  const std::string piece = test::pattern_bytes(300'000, 3);
  std::string whole;
  {
    auto text = TextFile::create(scratch.file("a/b/text"));
    REQUIRE(text);
    for (int i = 0; i < 8; ++i) {
      REQUIRE(text->append(piece));
      REQUIRE(text->append("\n"));
      whole += piece + "\n";
    }
    CHECK_FALSE(scratch.exists("a/b/text"));
    REQUIRE(text->commit());
  }
  CHECK((scratch.read("a/b/text") == whole));
  { REQUIRE(TextFile::create(scratch.file("a/b/text"))->append("never committed")); }
  CHECK((scratch.read("a/b/text") == whole));
  CHECK(TextFile::create(scratch.file("a/b/text/below")).error().code == ErrorCode::kWriteFailed);
}

TEST_CASE("blocks are written at their offsets by several threads") {
  const ScratchDir scratch;
  const std::string content = test::pattern_bytes(1 << 20, 5);
  auto file = AtomicFile::create(scratch.file("out"));
  REQUIRE(file);
  {
    std::vector<std::jthread> threads;
    for (size_t part = 0; part < 4; ++part) {
      threads.emplace_back([&, part] {
        for (size_t at = part * 4096; at < content.size(); at += 4 * 4096) {
          if (!file->write_at(at, bytes_of_text(content.substr(at, 4096)))) std::abort();
        }
      });
    }
  }
  REQUIRE(file->commit());
  CHECK(scratch.read("out") == content);
}

TEST_CASE("many outputs at once have temporary names of their own") {
  const ScratchDir scratch;
  std::vector<AtomicFile> files;
  for (int i = 0; i < 50; ++i) {
    auto file = AtomicFile::create(scratch.file("out" + std::to_string(i)));
    REQUIRE(file);
    files.push_back(std::move(*file));
  }
  CHECK(names_in(scratch.path()).size() == 50);
  files.clear();
  CHECK(names_in(scratch.path()).empty());
}

TEST_CASE("a name as long as the file system allows can be written") {
  const ScratchDir scratch;
  const std::string name(255, 'n');
  REQUIRE(write_file(scratch.file(name), "x"));
  CHECK(scratch.exists(name));
  const Status longer = write_file(scratch.file(name + "n"), "x");
  REQUIRE_FALSE(longer);
  CHECK(longer.error().code == ErrorCode::kWriteFailed);
  CHECK(names_in(scratch.path()).size() == 1);
}

TEST_CASE("a directory in the way is named and nothing is left behind") {
  const ScratchDir scratch;
  scratch.make_dir("out");
  const Status written = write_file(scratch.file("out"), "x");
  REQUIRE_FALSE(written);
  CHECK(written.error().code == ErrorCode::kWriteFailed);
  CHECK(written.error().hint == "a directory of that name is in the way");
  CHECK(names_in(scratch.path()) == std::vector<std::string>{"out"});
}

TEST_CASE("a folder that is missing or may not be written to is a failed write") {
  const ScratchDir scratch;
  const auto missing = AtomicFile::create(scratch.file("none/out"));
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::kWriteFailed);
  CHECK(missing.error().path == scratch.file("none/out"));
  fs::permissions(scratch.path(), fs::perms{0555});
  const AsNobody nobody;
  if (!nobody.works()) return;
  const auto forbidden = AtomicFile::create(scratch.file("out"));
  REQUIRE_FALSE(forbidden);
  CHECK(forbidden.error().message == "cannot create a file beside: Permission denied");
}

TEST_CASE("a write that the system cuts off is an error and leaves nothing") {
  const ScratchDir scratch;
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {10000, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const Status written = write_file(scratch.file("out"), std::string(20000, 'x'));
  const Status sized = AtomicFile::create(scratch.file("out")).value().set_size(20000);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  REQUIRE_FALSE(written);
  CHECK(written.error().code == ErrorCode::kWriteFailed);
  CHECK(written.error().message == "cannot write: File too large");
  REQUIRE_FALSE(sized);
  CHECK(sized.error().message == "cannot write: File too large");
  CHECK(names_in(scratch.path()).empty());
}

TEST_CASE("a full disk is an error with a hint for every command, and leaves nothing") {
  const ScratchDir scratch;
  const std::string disk = scratch.make_dir("disk");
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=65536") != 0) {
    WARN("cannot mount a small tmpfs here: a full disk is not tested");
    return;
  }
  const Status written = write_file(disk + "/out", std::string(1 << 20, 'x'));
  const auto left = names_in(disk);
  ::umount(disk.c_str());
  REQUIRE_FALSE(written);
  CHECK(written.error().code == ErrorCode::kWriteFailed);
  CHECK(written.error().message == "cannot write: No space left on device");
  CHECK(written.error().hint == "free some space, then run again");
  CHECK(left.empty());
}

TEST_CASE("texts that several threads append stay whole") {
  const ScratchDir scratch;
  const std::string path = scratch.file("log");
  std::vector<std::thread> writers;
  for (char name = 'a'; name < 'e'; ++name) {
    writers.emplace_back([&path, name] {
      for (int i = 0; i < 50; ++i) (void)append_to_file(path, std::string(20'000, name) + "\n");
    });
  }
  for (std::thread& writer : writers) writer.join();
  std::ifstream file(path);
  size_t lines = 0;
  for (std::string line; std::getline(file, line); ++lines) REQUIRE(line == std::string(20'000, line.front()));
  CHECK(lines == 200);
  const Status in_folder = append_to_file(scratch.path().string(), "x");
  REQUIRE_FALSE(in_folder);
  CHECK(in_folder.error().code == ErrorCode::kWriteFailed);
  const Status full = append_to_file("/dev/full", "x");
  REQUIRE_FALSE(full);
  CHECK(full.error().hint == "free some space, then run again");
}

TEST_CASE("directories are made with those above them and may be there already") {
  const ScratchDir scratch;
  CHECK(make_directories(scratch.file("a/b/c")));
  CHECK(make_directories(scratch.file("a/b/c")));
  CHECK(make_directories(scratch.file("a/d/")));
  CHECK(make_directories(""));
  CHECK(fs::is_directory(scratch.file("a/b/c")));
  fs::create_symlink("a", scratch.file("link"));
  CHECK(make_directories(scratch.file("link")));
}

TEST_CASE("a file where a directory should be is a failed write") {
  const ScratchDir scratch;
  scratch.write("file", "x");
  fs::create_symlink("nowhere", scratch.file("dangling"));
  for (const char* name : {"file", "file/below", "dangling"}) {
    CAPTURE(name);
    const Status made = make_directories(scratch.file(name));
    REQUIRE_FALSE(made);
    CHECK(made.error().code == ErrorCode::kWriteFailed);
    CHECK(made.error().path == scratch.file(name));
  }
}

TEST_CASE("temporary names are known again and no others") {
  CHECK(is_temporary_name(".msdump-12-0.tmp"));
  CHECK_FALSE(is_temporary_name(".msdump-12-0"));
  CHECK_FALSE(is_temporary_name("a.msdump-12-0.tmp"));
  CHECK_FALSE(is_temporary_name(".tmp"));
  CHECK_FALSE(is_temporary_name(""));
}

}  // namespace
}  // namespace msdump
