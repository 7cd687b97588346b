#include "io/dir_walk.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "as_nobody.h"
#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

namespace fs = std::filesystem;
using test::ScratchDir;
using Names = std::vector<std::string>;

WalkResult walk(const std::string& root, const WalkOptions& options = {}) {
  auto result = walk_directory(root, options);
  REQUIRE(result);
  return std::move(*result);
}

Names paths(const WalkResult& result) {
  Names names;
  for (const WalkedFile& file : result.files) names.push_back(result.relative_path(file));
  return names;
}

TEST_CASE("files come before folders and both as people sort") {
  const ScratchDir scratch;
  for (const char* name : {"file10", "file2", "b/x", "a10/x", "a2/y", "a2/x", "Z"}) scratch.write(name, "12345");
  const WalkResult result = walk(scratch.path().string());
  CHECK(paths(result) == Names{"Z", "file2", "file10", "a2/x", "a2/y", "a10/x", "b/x"});
  CHECK(result.dirs == Names{"", "a2", "a10", "b"});
  CHECK(result.problems.empty());
  CHECK(result.files[1].size == 5);
  CHECK(result.files[1].regular);
  CHECK(result.full_path(result.files[3]) == scratch.file("a2/x"));
}

TEST_CASE("long names that differ at their ends only sort as people do") {
  const ScratchDir scratch;
  const std::string front = "Default_network-WithLossCell_backbone-Net_fc";
  Names expected;
  for (const char* end : {"1", "2", "3", "9", "10", "11", "100"}) expected.push_back(front + end);
  expected.emplace_back("Z");
  for (const size_t i : {4U, 1U, 7U, 6U, 0U, 3U, 5U, 2U}) scratch.write(expected[i], "");
  CHECK(paths(walk(scratch.path().string())) == expected);
}

TEST_CASE("a root is joined to its files without doubled slashes") {
  const ScratchDir scratch;
  scratch.write("a/f", "");
  const WalkResult result = walk(scratch.path().string() + "/");
  CHECK(result.full_path(result.files.at(0)) == scratch.file("a/f"));
  CHECK(join_path("", "b") == "b");
  CHECK(join_path("a", "") == "a");
  CHECK(join_path("/", "b") == "/b");
  CHECK(join_path("a/", "b") == "a/b");
}

TEST_CASE("links to files and folders are followed") {
  const ScratchDir scratch;
  scratch.write("real/f", "123");
  scratch.make_dir("tree");
  fs::create_directory_symlink("../real", scratch.file("tree/step"));
  fs::create_symlink("../real/f", scratch.file("tree/g"));
  const WalkResult result = walk(scratch.file("tree"));
  CHECK(paths(result) == Names{"g", "step/f"});
  CHECK(result.files[0].size == 3);
  CHECK(result.problems.empty());
}

TEST_CASE("the root itself may be a link") {
  const ScratchDir scratch;
  scratch.write("real/f", "");
  fs::create_directory_symlink("real", scratch.file("link"));
  CHECK(paths(walk(scratch.file("link"))) == Names{"f"});
}

TEST_CASE("a link back to a folder above is reported and not followed") {
  const ScratchDir scratch;
  scratch.write("a/b/f", "");
  fs::create_directory_symlink("../..", scratch.file("a/b/up"));
  fs::create_directory_symlink(".", scratch.file("a/self"));
  const WalkResult result = walk(scratch.path().string());
  CHECK(paths(result) == Names{"a/b/f"});
  REQUIRE(result.problems.size() == 2);
  CHECK(result.problems[0].path == scratch.file("a/b/up"));
  CHECK(result.problems[0].message == "a symbolic link leads back to a folder that contains it; not followed");
  CHECK(result.problems[1].path == scratch.file("a/self"));
}

TEST_CASE("a tree of cross links does not make the walk explode") {
  const ScratchDir scratch;
  constexpr int kFolders = 14;
  for (int i = 0; i < kFolders; ++i) {
    const std::string folder = "d" + std::to_string(i);
    scratch.write(folder + "/f", "");
    for (int j = 0; j < kFolders; ++j) {
      const std::string other = "d" + std::to_string(j);
      fs::create_directory_symlink("../" + other, scratch.file(folder + "/to_" + other));
    }
  }
  const WalkResult result = walk(scratch.path().string());
  // Each folder at its real place and at most once through a link.
  CHECK(result.files.size() >= kFolders);
  CHECK(result.files.size() <= 2 * kFolders);
  for (int i = 0; i < kFolders; ++i) {
    const Names names = paths(result);
    CHECK(std::count(names.begin(), names.end(), "d" + std::to_string(i) + "/f") == 1);
  }
}

TEST_CASE("dangling and looping links are problems of the walk and not its end") {
  const ScratchDir scratch;
  scratch.write("f", "");
  fs::create_symlink("nowhere", scratch.file("dangling"));
  fs::create_symlink("loop", scratch.file("loop"));
  const WalkResult result = walk(scratch.path().string());
  CHECK(paths(result) == Names{"f"});
  REQUIRE(result.problems.size() == 2);
  for (const Error& problem : result.problems) CHECK(problem.code == ErrorCode::kNotFound);
  scratch.make_dir("a/b");
  fs::create_symlink("nowhere", scratch.file("a/b/link"));
  const WalkResult below = walk(scratch.file("a"));
  REQUIRE(below.problems.size() == 1);
  CHECK(below.problems[0].path == scratch.file("a/b/link"));
  CHECK(below.problems[0].message == "cannot follow: No such file or directory");
}

TEST_CASE("files that are not regular are listed as such") {
  const ScratchDir scratch;
  REQUIRE(::mkfifo(scratch.file("fifo").c_str(), 0600) == 0);
  const WalkResult result = walk(scratch.path().string());
  REQUIRE(result.files.size() == 1);
  CHECK_FALSE(result.files[0].regular);
}

TEST_CASE("temporary files of ours are not seen") {
  const ScratchDir scratch;
  scratch.write(".msdump-1-2.tmp", "");
  scratch.write("f", "");
  CHECK(paths(walk(scratch.path().string())) == Names{"f"});
}

TEST_CASE("an excluded folder is not entered under any name") {
  const ScratchDir scratch;
  scratch.write("in/f", "");
  scratch.write("out/g", "");
  fs::create_directory_symlink("out", scratch.file("alias"));
  const std::vector<std::string> excluded = {scratch.file("in/../out"), scratch.file("missing")};
  CHECK(paths(walk(scratch.path().string(), {excluded, nullptr})) == Names{"in/f"});
  // The root was asked for by name.
  CHECK(paths(walk(scratch.file("out"), {excluded, nullptr})) == Names{"g"});
}

TEST_CASE("a folder one may not read is reported and the others are walked") {
  const ScratchDir scratch;
  scratch.write("a/f", "");
  scratch.write("closed/g", "");
  scratch.write("z/h", "");
  fs::permissions(scratch.path(), fs::perms{0755});
  fs::permissions(scratch.file("closed"), fs::perms::none);
  {
    const AsNobody nobody;
    if (!nobody.works()) return;
    const WalkResult result = walk(scratch.path().string());
    CHECK(paths(result) == Names{"a/f", "z/h"});
    REQUIRE(result.problems.size() == 1);
    CHECK(result.problems[0].code == ErrorCode::kPermission);
    CHECK(result.problems[0].path == scratch.file("closed"));
    CHECK(result.problems[0].message == "cannot open the directory: Permission denied");
    const auto closed_root = walk_directory(scratch.file("closed"), {});
    REQUIRE_FALSE(closed_root);
    CHECK(closed_root.error().code == ErrorCode::kPermission);
  }
  fs::permissions(scratch.file("closed"), fs::perms{0755});
}

TEST_CASE("a root that is missing or a file is an error") {
  const ScratchDir scratch;
  CHECK(walk_directory(scratch.file("none"), {}).error().code == ErrorCode::kNotFound);
  CHECK(walk_directory(scratch.write("f", ""), {}).error().code == ErrorCode::kNotFound);
}

std::string nested(int depth) {
  std::string path = "d";
  for (int i = 1; i < depth; ++i) path += "/d";
  return path;
}

TEST_CASE("folders nested too deep are reported and those just not are read") {
  const ScratchDir scratch;
  scratch.write(nested(100) + "/f", "");
  const WalkResult deep = walk(scratch.path().string());
  CHECK(deep.files.size() == 1);
  CHECK(deep.problems.empty());
  scratch.write(nested(102) + "/g", "");
  const WalkResult too_deep = walk(scratch.path().string());
  CHECK(too_deep.files.size() == 1);
  REQUIRE(too_deep.problems.size() == 1);
  CHECK(too_deep.problems[0].code == ErrorCode::kTooLarge);
  CHECK(too_deep.problems[0].message == "folders nested deeper than 100 are not entered");
}

TEST_CASE("a cancelled walk stops") {
  const ScratchDir scratch;
  CancelToken cancel;
  cancel.cancel();
  const auto result = walk_directory(scratch.path().string(), {{}, &cancel});
  REQUIRE_FALSE(result);
  CHECK(result.error().code == ErrorCode::kCancelled);
}

TEST_CASE("a walk by several workers finds the same in the same order") {
  const ScratchDir scratch;
  for (int folder = 0; folder < 30; ++folder) {
    const std::string name = "step" + std::to_string(folder);
    for (int file = 0; file < 3; ++file) scratch.write(name + "/inner/f" + std::to_string(10 - file), "x");
    if (folder % 7 == 0) fs::create_symlink("nowhere", scratch.file(name + "/dangling"));
    if (folder % 5 == 0) fs::create_directory_symlink("../step3", scratch.file(name + "/again"));
  }
  for (int file = 0; file < 5000; ++file) scratch.write("many/f" + std::to_string(file * 7919 % 5000), "");
  const WalkResult alone = walk(scratch.path().string(), {{scratch.file("step4")}, nullptr, nullptr});
  WorkerPool pool(4);
  const WalkResult together = walk(scratch.path().string(), {{scratch.file("step4")}, nullptr, &pool});
  CHECK(together.dirs == alone.dirs);
  CHECK(paths(together) == paths(alone));
  REQUIRE(together.problems.size() == alone.problems.size());
  for (size_t i = 0; i < alone.problems.size(); ++i) CHECK(together.problems[i].path == alone.problems[i].path);
  CHECK(alone.problems.size() >= 5);
  const Names names = paths(alone);
  CHECK(std::find(names.begin(), names.end(), "step4/inner/f10") == names.end());
  CHECK(std::find(names.begin(), names.end(), "step5/again/inner/f10") == names.end());  // entered from step0 already
}

TEST_CASE("kinds of paths") {
  const ScratchDir scratch;
  REQUIRE(::mkfifo(scratch.file("fifo").c_str(), 0600) == 0);
  CHECK(path_kind(scratch.file("none")) == PathKind::kMissing);
  CHECK(path_kind(scratch.write("f", "")) == PathKind::kFile);
  CHECK(path_kind(scratch.path().string()) == PathKind::kDirectory);
  CHECK(path_kind(scratch.file("fifo")) == PathKind::kOther);
}

TEST_CASE("a path is shown from the first root above it, else as it is") {
  CHECK(RelativePaths({"dump", "other/"}).of("dump/a/b.npy") == "a/b.npy");
  CHECK(RelativePaths({"dump", "other/"}).of("other/b.npy") == "b.npy");
  CHECK(RelativePaths({"dump"}).of("dumps/b.npy") == "dumps/b.npy");
  CHECK(RelativePaths({"/"}).of("/b.npy") == "b.npy");
  CHECK(RelativePaths({"a/b", "a"}).of("a/b/c.npy") == "c.npy");
  CHECK(RelativePaths({"a", "a/b"}).of("a/b/c.npy") == "b/c.npy");
  CHECK(RelativePaths().of("b.npy") == "b.npy");
}

}  // namespace
}  // namespace msdump
