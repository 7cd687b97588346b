// Every dump.json and debug.json of the conformance data, written by msprobe for MindSpore and PyTorch: each is read
// without a problem, each data_name is a file beside it, and the name of that file says the same operator, io and slot
// as the json does. What lies in a dump_tensor_data without being named there belongs to runs that did not end.
#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include <fmt/format.h>

#include "msprobe/dump_json.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

struct Counts {
  size_t files = 0, tensors = 0, named = 0, others = 0;
};

// What is wrong with a tensor that has a data_name, empty if nothing is.
std::string judge(const MsprobeTensor& tensor, const fs::path& folder) {
  if (!fs::is_regular_file(folder / "dump_tensor_data" / *tensor.data_name)) return "no such file";
  const auto name = parse_msprobe_file_name(*tensor.data_name);
  if (!name) return "the name is not understood";
  if (name->op_name != tensor.op_name || name->op_type != tensor.op_type) return "op";
  if (name->io != tensor.io || name->slot != tensor.slot) return "io or slot";
  return name->unfinished.empty() ? "" : "unfinished";
}

void judge_leaf(const MsprobeTensor& tensor, const fs::path& path, Counts& counts, std::vector<std::string>& problems) {
  ++counts.tensors;
  std::string wrong;
  if (!tensor.dtype || !tensor.shape) wrong = fmt::format("dtype '{}' or shape", tensor.dtype_text);
  for (const auto* number : {&tensor.max, &tensor.min, &tensor.mean, &tensor.norm}) {
    if (*number && !statistic_value(**number)) wrong = fmt::format("'{}' is no number", **number);
  }
  if (wrong.empty() && tensor.data_name) {
    wrong = judge(tensor, path.parent_path());
    if (wrong.empty()) ++counts.named;
  }
  if (!wrong.empty()) {
    problems.push_back(fmt::format("{}: {} {} {} {}: {}", path.string(), tensor.op_name, name_of(tensor.io),
                                   tensor.slot, tensor.data_name.value_or("-"), wrong));
  }
}

std::vector<fs::path> json_files(const fs::path& corpus) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(corpus)) {
    const fs::path name = entry.path().filename();
    if (name == "dump.json" || name == "debug.json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

TEST_CASE("every dump.json of msprobe is read, and its names are those of its files") {
  const auto corpus = corpus_or_skip("");
  if (!corpus) return;
  Counts counts;
  std::vector<std::string> problems;
  for (const fs::path& path : json_files(*corpus)) {
    ++counts.files;
    const auto file = File::open(path.string());
    REQUIRE(file);
    const auto json = read_dump_json(*file);
    if (!json) {
      problems.push_back(path.string() + ": " + json.error().message);
      continue;
    }
    for (const Error& problem : json->problems) problems.push_back(path.string() + ": " + problem.message);
    for (const MsprobeTensor& tensor : json->tensors) judge_leaf(tensor, path, counts, problems);
    counts.others += static_cast<size_t>(json->others);
  }
  std::cout << counts.named << " named tensors of " << counts.tensors << ", " << counts.others << " other leaves in "
            << counts.files << " files" << std::endl;
  for (const auto& problem : problems) UNSCOPED_INFO(problem);
  CHECK(problems.empty());
  CHECK(counts.files >= 150);
  CHECK(counts.named >= 7000);
}

TEST_CASE("every file in a dump_tensor_data of msprobe has a name that is understood") {
  const auto corpus = corpus_or_skip("msprobe");
  if (!corpus) return;
  size_t understood = 0, unfinished = 0;
  std::vector<std::string> problems;
  for (const auto& entry : fs::recursive_directory_iterator(*corpus)) {
    if (!entry.is_regular_file() || entry.path().parent_path().filename() != "dump_tensor_data") continue;
    const std::string file_name = entry.path().filename().string();
    const auto name = parse_msprobe_file_name(file_name);
    if (!name) problems.push_back(entry.path().string());
    if (name) ++understood;
    if (name && !name->unfinished.empty()) ++unfinished;
  }
  std::cout << understood << " names, " << unfinished << " of them of unfinished files" << std::endl;
  for (const auto& problem : problems) UNSCOPED_INFO(problem);
  CHECK(problems.empty());
  CHECK(understood >= 8000);
  CHECK(unfinished == 2);
}
