#include "profiles/msprobe/result.h"

#include "support/catch.h"
#include "support/scratch_dir.h"

using namespace msdump;

namespace {

struct Tree {
  Tree() {
    for (const char* const path : {"two/step0/rank0", "two/step10/rank0", "two/step2/rank0", "two/step2/rank1"})
      scratch.write(std::string(path) + "/dump.json", "{}");
    scratch.write("one/step3/proc77/dump.json", "{}");
    scratch.write("debug/debug.json", "{}");
    scratch.write("two/step1", "a file");
  }
  [[nodiscard]] std::string found(const std::string& path, const MsprobePlace& place = {}) const {
    const auto result = find_msprobe_place(scratch.file(path), place);
    REQUIRE(result);
    return std::filesystem::path(*result).lexically_relative(scratch.path()).string();
  }
  [[nodiscard]] Error error(const std::string& path, const MsprobePlace& place = {}) const {
    auto result = find_msprobe_place(scratch.file(path), place);
    REQUIRE_FALSE(result);
    return result.error();
  }
  test::ScratchDir scratch;
};

}  // namespace

TEST_CASE("the step and the rank of an msprobe dump are found below its root") {
  const Tree tree;
  CHECK(tree.found("two", {2, {}}) == "two/step2");
  CHECK(tree.found("two", {2, 1}) == "two/step2/rank1/dump.json");
  CHECK(tree.found("two/step2", {{}, 0}) == "two/step2/rank0/dump.json");
  CHECK(tree.found("two/step2", {2, 0}) == "two/step2/rank0/dump.json");
  CHECK(tree.found("one") == "one/step3");
  CHECK(tree.found("two/step0") == "two/step0");
  CHECK(tree.found("two/step0/rank0") == "two/step0/rank0/dump.json");
  CHECK(tree.found("two/step0/rank0/dump.json") == "two/step0/rank0/dump.json");
  CHECK(tree.found("debug") == "debug/debug.json");
}

TEST_CASE("of several steps one has to be chosen, and it has to be there") {
  const Tree tree;
  CHECK(tree.error("two").message == "3 steps here: step0, step2, step10");
  CHECK(tree.error("two").code == ErrorCode::kUsage);
  CHECK(tree.error("two", {1, {}}).message == "no step1 here: step0, step2, step10");
  CHECK(tree.error("debug/../one/step3", {4, {}}).message == "no step4 here");
  CHECK(tree.error("two", {0, 1}).message == "no rank1 with a dump.json or debug.json here");
  for (const char* const path : {"two/step4", "two/step5", "two/step05"}) tree.scratch.make_dir(path);
  CHECK(tree.error("two").message == "5 steps here: step0, step2, step4, step5, ..");
  CHECK(tree.error("two", {1, {}}).code == ErrorCode::kNotFound);
  CHECK(tree.error("two/step0", {2, {}}).code == ErrorCode::kNotFound);
  CHECK(tree.error("two", {0, 1}).code == ErrorCode::kNotFound);
  CHECK(tree.error("none").code == ErrorCode::kNotFound);
}
