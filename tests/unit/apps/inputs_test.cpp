// What -d, its relatives and -j come to.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "io/worker_pool.h"
#include "shared/dump_paths.h"
#include "shared/options.h"
#include "support/catch.h"

namespace msdump::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class Scratch {
 public:
  Scratch() : before_(fs::current_path()) {
    std::string pattern = (fs::temp_directory_path() / "msdump-inputs-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) FAIL("no scratch directory");
    dir_ = pattern;
    fs::current_path(dir_);
    unsetenv("MSDUMP_DUMP");
    unsetenv("MSDUMP_JOBS");
  }
  ~Scratch() {
    fs::current_path(before_);
    fs::remove_all(dir_);
  }
  static void file(const std::string& name, const std::string& text = "") {
    if (const fs::path parent = fs::path(name).parent_path(); !parent.empty()) fs::create_directories(parent);
    std::ofstream(name) << text;
  }

 private:
  fs::path before_, dir_;
};

Result<Words> resolve(const Words& options, const Words& positionals = {}) {
  const CancelToken cancel;
  return resolve_dumps({options, positionals}, cancel);
}

TEST_CASE("dump: a path that exists wins over splitting at commas") {
  const Scratch scratch;
  for (const char* name : {"a", "b", "a,b"}) Scratch::file(name);
  CHECK(resolve({"a,b"}).value() == Words{"a,b"});
  CHECK(resolve({"b,a"}).value() == Words{"b", "a"});
  CHECK(resolve({"a"}, {"b"}).value() == Words{"a", "b"});
}

TEST_CASE("dump: nothing typed is $MSDUMP_DUMP, else the current directory") {
  const Scratch scratch;
  Scratch::file("a");
  CHECK(resolve({}).value() == Words{"."});
  setenv("MSDUMP_DUMP", "a", 1);
  CHECK(resolve({}).value() == Words{"a"});
  setenv("MSDUMP_DUMP", "nowhere", 1);
  CHECK(resolve({}).error().message == "no such file or directory ($MSDUMP_DUMP)");
  setenv("MSDUMP_DUMP", "", 1);
  CHECK(resolve({}).value() == Words{"."});
}

TEST_CASE("dump: where missing paths do not end the run, all of them are named") {
  const Scratch scratch;
  Scratch::file("a");
  const CancelToken cancel;
  const auto resolved = resolve_existing({{"nowhere"}, {"a", "a,gone"}}, cancel);
  REQUIRE(resolved);
  CHECK(resolved->paths == Words{"a", "a"});
  REQUIRE(resolved->missing.size() == 2);
  CHECK(resolved->missing[0].path == "nowhere");
  CHECK(resolved->missing[1].path == "gone");
  setenv("MSDUMP_DUMP", "nowhere", 1);
  CHECK(resolve_existing({}, cancel)->missing.at(0).message == "no such file or directory ($MSDUMP_DUMP)");
}

TEST_CASE("dump: a missing path is named, with the nearest name next to it") {
  const Scratch scratch;
  Scratch::file("run/rank_0/x");
  const Result<Words> result = resolve({"run/rnak_0/"});
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::kNotFound);
  CHECK(result.error().path == "run/rnak_0/");
  CHECK(result.error().hint == "did you mean 'run/rank_0'?");
  CHECK(resolve({"nothing,near"}).error().hint.empty());
  CHECK(resolve({""}).error().code == ErrorCode::kUsage);
  CHECK(resolve({"run,"}).error().code == ErrorCode::kUsage);
}

// Puts `text` on descriptor 0 while it lives.
class Stdin {
 public:
  explicit Stdin(const std::string& text) : saved_(dup(0)) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    REQUIRE(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    close(ends[1]);
    dup2(ends[0], 0);
    close(ends[0]);
  }
  ~Stdin() {
    dup2(saved_, 0);
    close(saved_);
  }

 private:
  int saved_;
};

TEST_CASE("dump: '-' is a list from stdin, by lines or by NUL") {
  const Scratch scratch;
  {
    const Stdin input("a b\n\nc,d\n");
    CHECK(resolve({"-"}).value() == Words{"a b", "c,d"});
  }
  {
    const Stdin input(std::string("a\nb\0c\0", 6));
    CHECK(resolve({}, {"-"}).value() == Words{"a\nb", "c"});
  }
  {
    const Stdin input("");
    CHECK(resolve({"-"}).error().message == "the list on standard input is empty");
  }
  const Stdin input("a\n");
  CHECK(resolve({"-", "-"}).error().code == ErrorCode::kUsage);
}

TEST_CASE("dump: waiting for stdin ends with an interruption") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const int saved = dup(0);
  dup2(ends[0], 0);
  CancelToken cancel;
  cancel.cancel();
  CHECK(resolve_dumps({{"-"}, {}}, cancel).error().code == ErrorCode::kCancelled);
  dup2(saved, 0);
  for (const int fd : {saved, ends[0], ends[1]}) close(fd);
}

TEST_CASE("jobs: the option, then $MSDUMP_JOBS, then the machine") {
  const Scratch scratch;
  CHECK(jobs_of(5).value() == 5);
  CHECK(jobs_of(0).value() == usable_cpus());
  setenv("MSDUMP_JOBS", "3", 1);
  CHECK(jobs_of(0).value() == 3);
  CHECK(jobs_of(5).value() == 5);
  setenv("MSDUMP_JOBS", "many", 1);
  CHECK(jobs_of(0).error().code == ErrorCode::kUsage);
  unsetenv("MSDUMP_JOBS");
}

TEST_CASE("dump: a list on standard input is bounded in entries, and its empty lines cost nothing") {
  CHECK(paths_of_list(std::string(size_t{100} << 20, '\n') + "a\n\nb").value() == Words{"a", "b"});
  std::string many;
  for (size_t i = 0; i < kMostListEntries; ++i) many += "a\n";
  CHECK(paths_of_list(many).value().size() == kMostListEntries);
  const auto resolved = paths_of_list(many + "a");
  REQUIRE(!resolved);
  CHECK(resolved.error().message == "the list on standard input has more than 4000000 entries");
}

}  // namespace
}  // namespace msdump::cli
