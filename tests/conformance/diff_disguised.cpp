// Recorded dumps below other folders: nested, and two below one path. The same tensors must be paired, and an operator that
// is wrong in one of two dumps must be named with the folder of that dump.
#include <algorithm>
#include <array>
#include <iostream>
#include <set>
#include <string>

#include <fmt/format.h>

#include "conformance/diff_answer.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

struct Way {
  std::string first, second;  // the folders of two dumps
  std::string name;           // of the second, as rows say it
};
const std::array<Way, 2> kWays = {Way{"1", "2", "2"}, Way{"x/actor/y", "x/critic/y", "critic"}};

void link_tree(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  fs::copy(from, to,
           fs::copy_options::recursive | fs::copy_options::create_hard_links | fs::copy_options::copy_symlinks);
}

// Below the folder of the corpus, so that files can be linked.
std::vector<fs::path> recorded_dumps(const fs::path& real, const fs::path& msprobe) {
  std::vector<fs::path> dumps;
  for (const auto& entry : fs::directory_iterator(real)) {
    if (fs::is_directory(entry.path() / "dump")) dumps.push_back(entry.path() / "dump");
  }
  for (const auto& entry : fs::directory_iterator(msprobe / "trees")) {
    if (entry.is_directory()) dumps.push_back(entry.path());
  }
  std::sort(dumps.begin(), dumps.end());
  return dumps;
}

// Changes the last elements of an array in the middle of the dump; false if it has none with some elements.
bool plant(const fs::path& dump) {
  std::vector<fs::path> arrays;
  for (const auto& entry : fs::recursive_directory_iterator(dump)) {
    if (entry.is_regular_file() && entry.path().extension() == ".npy" && entry.file_size() > 400)
      arrays.push_back(entry.path());
  }
  if (arrays.empty()) return false;
  std::sort(arrays.begin(), arrays.end());
  const fs::path array = arrays[arrays.size() / 2];
  std::string bytes = read_bytes(array);
  for (size_t i = bytes.size() - 64; i < bytes.size(); ++i) bytes[i] = static_cast<char>(bytes[i] ^ 0x35);
  fs::remove(array);
  write_bytes(array, bytes);
  return true;
}

std::string text_of(const JsonValue& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  return value == nullptr ? std::string() : value->text;
}

// The operators of the rows that differ, with their dumps.
std::multiset<std::string> different(const DiffAnswer& answer, const std::string& dump) {
  std::multiset<std::string> rows;
  for (const JsonValue& row : answer.document.find("rows")->items) {
    const std::string verdict = text_of(row, "verdict");
    if (verdict == "same" || verdict == "skipped") continue;
    const std::string known = text_of(row, "dump");
    rows.insert(
        fmt::format("{} {} {} {}", known.empty() ? dump : known, text_of(row, "op_name"), text_of(row, "io"), verdict));
  }
  return rows;
}

std::vector<std::string> names_of(const std::vector<NamedRoot>& roots) {
  std::vector<std::string> names;
  for (const NamedRoot& root : roots) names.push_back(root.op_name);
  return names;
}

}  // namespace

TEST_CASE("a dump is paired with itself whatever the folders above it are") {
  const auto real = corpus_or_skip("real"), msprobe = corpus_or_skip("msprobe");
  if (!real || !msprobe) return;
  size_t asked = 0;
  for (const fs::path& dump : recorded_dumps(*real, *msprobe)) {
    INFO(dump.string());
    const auto alone = try_diff(dump, dump);
    if (!alone || alone->count("compared") == 0) continue;
    const ScratchDir scratch(real->parent_path());
    link_tree(dump, scratch.path() / "a/x/y/z");
    link_tree(dump, scratch.path() / "b/deep");
    const DiffAnswer nested = ask_diff(scratch.path() / "a", scratch.path() / "b");
    CHECK(nested.count("compared") == alone->count("compared"));
    CHECK(nested.count("unmatched") == 0);
    for (const Way& way : kWays) {
      INFO(way.first);
      const ScratchDir both(real->parent_path());
      for (const std::string side : {"a/out", "b"}) {
        link_tree(dump, both.path() / side / way.first);
        link_tree(dump, both.path() / side / way.second);
      }
      const DiffAnswer answer = ask_diff(both.path() / "a", both.path() / "b");
      CHECK(answer.count("compared") == 2 * alone->count("compared"));
      CHECK(answer.count("unmatched") == 0);
      CHECK(answer.roots().empty());
      ++asked;
    }
  }
  CHECK(asked >= 300);
  std::cout << fmt::format("{} pairs of two dumps below one path\n", asked);
}

TEST_CASE("an operator that is wrong in one of two dumps is named with the dump") {
  const auto real = corpus_or_skip("real"), msprobe = corpus_or_skip("msprobe");
  if (!real || !msprobe) return;
  size_t asked = 0;
  for (const fs::path& dump : recorded_dumps(*real, *msprobe)) {
    INFO(dump.string());
    const ScratchDir scratch(real->parent_path());
    link_tree(dump, scratch.path() / "wrong");
    if (!plant(scratch.path() / "wrong")) continue;
    const auto alone = try_diff(scratch.path() / "wrong", dump);
    if (!alone || alone->verdict() != "differ") continue;
    for (const Way& way : kWays) {
      INFO(way.first);
      const fs::path a = scratch.path() / "a", b = scratch.path() / "b";
      link_tree(dump, a / way.first);
      link_tree(scratch.path() / "wrong", a / way.second);
      link_tree(dump, b / way.first);
      link_tree(dump, b / way.second);
      const DiffAnswer answer = ask_diff(a, b);
      CHECK(different(answer, "") == different(*alone, way.name));
      CHECK(names_of(answer.roots()) == names_of(alone->roots()));
      fs::remove_all(a);
      fs::remove_all(b);
      ++asked;
    }
  }
  CHECK(asked >= 70);
  std::cout << fmt::format("{} pairs of two dumps, one of them wrong\n", asked);
}
