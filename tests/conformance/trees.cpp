// The catalogue over every real tree of the conformance data, written by MindSpore 1.2 to 2.10 and by msprobe: each file
// of a tensor is listed once, nothing fails, and the operators are those that the data's own tables name.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

struct Tree {
  DumpIndex index;
  TensorList list;
};

Tree read_tree(const fs::path& path) {
  WorkerPool pool(2);
  const CancelToken cancel;
  auto index = DumpIndex::build({path.string()}, {{}, &cancel, &pool});
  REQUIRE(index);
  const Selection everything;
  auto list = TensorList::read(*index, everything, {}, {pool, cancel});
  REQUIRE(list);
  return {std::move(*index), std::move(*list)};
}

// Files that a tree keeps tensors in, by the suffixes of real dumps; the data's own inputs/*.bin have no name of a dump.
bool holds_tensor(const fs::path& path) {
  const std::string name = path.filename().string();
  if (path.extension() == ".npy" || path.extension() == ".pt") return true;
  return path.extension() == ".bin" && name.find("_shape_") != std::string::npos;
}

std::vector<fs::path> trees_below(const fs::path& folder) {
  std::vector<fs::path> trees;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) trees.push_back(entry.path());
  }
  std::sort(trees.begin(), trees.end());
  return trees;
}

std::map<std::string, int> times_listed(const Tree& tree) {
  std::map<std::string, int> times;
  for (const TensorRecord& tensor : tree.list.tensors()) {
    if (tensor.has_elements) ++times[tree.index.relative_path_of(tree.index.files()[tensor.file])];
  }
  return times;
}

void check_trees(const fs::path& folder) {
  size_t present = 0, known = 0, trees = 0;
  for (const fs::path& path : trees_below(folder)) {
    const Tree tree = read_tree(path);
    INFO(path);
    for (const Error& failure : tree.list.failures()) UNSCOPED_INFO(failure.path << ": " << failure.message);
    CHECK(tree.list.failures().empty());
    std::map<std::string, int> times = times_listed(tree);
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (!entry.is_regular_file() || !holds_tensor(entry.path())) continue;
      ++present;
      const std::string relative = fs::relative(entry.path(), path).string();
      INFO(relative);
      CHECK(times[relative] == 1);
      if (times[relative] == 1) ++known;
    }
    for (const TensorRecord& tensor : tree.list.tensors()) {
      INFO(tensor.name.op_name);
      CHECK(tensor.shape != nullptr);
      CHECK(tensor.name.dtype != DType::kUndefined);
    }
    ++trees;
  }
  std::cout << fmt::format("{}: {} trees, {} of {} files of tensors known\n", folder.filename().string(), trees, known,
                           present);
  CHECK(present > 1000);
}

// One operator of real/expected/<case>.ops.csv.
struct ExpectedOperator {
  std::string name, type;
  std::vector<std::string> files;
};

std::vector<ExpectedOperator> read_operators(const fs::path& path) {
  std::vector<ExpectedOperator> operators;
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  REQUIRE(line.starts_with("graph,op_full_name,full_name_used_in_files,op_type,"));
  while (std::getline(in, line)) {
    const auto fields = split(line, ',');
    REQUIRE(fields.size() == 8);
    ExpectedOperator one{std::string(fields[2]), std::string(fields[3]), {}};
    for (const std::string_view file : split(fields[7], ' ')) {
      if (!file.empty()) one.files.emplace_back(file);
    }
    operators.push_back(std::move(one));
  }
  return operators;
}

// Full scope with '_' from 2.3 on, the last component before; the raw files of 1.2 have it whole.
bool same_operator(const ExpectedOperator& expected, std::string_view op_name) {
  std::string sanitised = expected.name;
  std::replace(sanitised.begin(), sanitised.end(), '/', '_');
  return op_name == expected.name || op_name == sanitised ||
         op_name == std::string_view(expected.name).substr(expected.name.rfind('/') + 1);
}

}  // namespace

TEST_CASE("every tensor file of MindSpore's own trees is in the catalogue once") {
  if (const auto folder = corpus_or_skip("real")) check_trees(*folder);
}

TEST_CASE("every tensor file of msprobe's own trees is in the catalogue once") {
  if (const auto folder = corpus_or_skip("msprobe/trees")) check_trees(*folder);
}

TEST_CASE("files belong to the operators that the tables of the real trees name") {
  const auto folder = corpus_or_skip("real");
  if (!folder) return;
  size_t cases = 0, files = 0;
  for (const auto& entry : fs::directory_iterator(*folder / "expected")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".ops.csv")) continue;
    const std::string tree_name = name.substr(0, name.size() - std::string_view(".ops.csv").size());
    const Tree tree = read_tree(*folder / tree_name / "dump");
    std::map<std::string, const TensorRecord*> by_path;
    for (const TensorRecord& tensor : tree.list.tensors())
      by_path[tree.index.relative_path_of(tree.index.files()[tensor.file])] = &tensor;
    for (const ExpectedOperator& expected : read_operators(entry.path())) {
      for (const std::string& file : expected.files) {
        INFO(tree_name << " " << file);
        const auto found = by_path.find(file);
        REQUIRE(found != by_path.end());
        const NameFacts& facts = found->second->name;
        CHECK(facts.op_type == expected.type);
        CHECK(same_operator(expected, facts.op_name));
        ++files;
      }
    }
    ++cases;
  }
  std::cout << fmt::format("{} tables, {} files belong to the operator they are listed under\n", cases, files);
  CHECK(files > 1000);
}

TEST_CASE("the version that wrote a real tree is read off it") {
  const auto folder = corpus_or_skip("real");
  if (!folder) return;
  size_t trees = 0;
  for (const fs::path& path : trees_below(*folder)) {
    const std::string name = path.filename().string();
    if (!fs::is_directory(path / "dump")) continue;
    const auto index = DumpIndex::build({(path / "dump").string()}, {});
    REQUIRE(index);
    INFO(name);
    const std::string version = framework_of(*index).text;
    // 1.2 wrote no metadata on the CPU: its file names say as much as they can.
    CHECK(version == (name.starts_with("1.2.0") ? "1.0 to 1.2" : name.substr(0, name.find('-'))));
    ++trees;
  }
  CHECK(trees > 20);
}
