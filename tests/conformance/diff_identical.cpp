// Dumps that differ in nothing: no row may say so, and no operator may be named. Every dump against itself, and runs of
// msprobe that were repeated.
#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include "conformance/diff_answer.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> folders_in(const fs::path& parent) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(parent)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

void check_agrees(const DiffAnswer& answer) {
  INFO(answer.messages);
  // Of a dump without a number for any tensor nothing can be said, not even that it equals itself.
  CHECK(answer.exit_code == (answer.count("compared") == 0 ? 2 : 0));
  CHECK(answer.verdict() != "differ");
  CHECK(answer.count("unmatched") == 0);
  CHECK(answer.roots().empty());
}

}  // namespace

TEST_CASE("every dump that MindSpore wrote is the same as itself") {
  const auto corpus = corpus_or_skip("real");
  if (!corpus) return;
  size_t trees = 0;
  int64_t tensors = 0;
  for (const fs::path& folder : folders_in(*corpus)) {
    if (!fs::is_directory(folder / "dump")) continue;
    INFO(folder.filename().string());
    const DiffAnswer answer = ask_diff(folder / "dump", folder / "dump");
    check_agrees(answer);
    CHECK(answer.verdict() == "same");
    CHECK(answer.count("same") == answer.count("compared"));
    tensors += answer.count("compared");
    ++trees;
  }
  CHECK(trees >= 29);
  std::cout << fmt::format("{} tensors of {} dumps are the same\n", tensors, trees);
}

// Statistics alone prove no more than close, and nothing where they are NaN; trees without data have no tensors.
TEST_CASE("every dump of msprobe agrees with itself") {
  const auto corpus = corpus_or_skip("msprobe");
  if (!corpus) return;
  size_t trees = 0, empty = 0;
  int64_t tensors = 0;
  for (const fs::path& folder : folders_in(*corpus / "trees")) {
    INFO(folder.filename().string());
    const auto answer = try_diff(folder, folder);
    if (!answer) {
      ++empty;
      continue;
    }
    check_agrees(*answer);
    if (folder.filename().string().find("-tensor") != std::string::npos &&
        folder.filename().string().find("tensor_list") == std::string::npos)
      CHECK(answer->verdict() == "same");
    tensors += answer->count("compared");
    ++trees;
  }
  CHECK(trees >= 120);
  CHECK(empty <= 12);
  std::cout << fmt::format("{} tensors of {} dumps agree with themselves\n", tensors, trees);
}

TEST_CASE("a run that was repeated agrees with the first one") {
  const auto corpus = corpus_or_skip("msprobe");
  if (!corpus) return;
  constexpr std::string_view kAgain = "-again";
  size_t pairs = 0;
  for (const fs::path& folder : folders_in(*corpus / "trees")) {
    const std::string name = folder.filename().string();
    if (!name.ends_with(kAgain)) continue;
    INFO(name);
    // It has the first step only.
    const fs::path first = folder.parent_path() / name.substr(0, name.size() - kAgain.size());
    check_agrees(ask_diff(folder / "step0", first / "step0"));
    ++pairs;
  }
  CHECK(pairs >= 2);
}
