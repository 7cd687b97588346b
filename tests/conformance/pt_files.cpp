// Every .pt file of the msprobe trees: dtype and shape as the dump.json beside it says, the elements inside the file.
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "io/json.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/scratch_dir.h"
#include "torch/pt_file.h"

using namespace msdump;
using namespace msdump::test;

namespace {

namespace fs = std::filesystem;

struct ExpectedTensor {
  std::string dtype;  // "torch.float32"
  Shape shape;
};

using ExpectedTensors = std::map<std::string, ExpectedTensor>;  // by file name

// Everything in the tree that has a data_name.
void collect(const JsonValue& value, ExpectedTensors& all) {
  const JsonValue *name = value.find("data_name"), *dtype = value.find("dtype"), *shape = value.find("shape");
  if (name != nullptr && name->is(JsonKind::kString) && dtype != nullptr && shape != nullptr) {
    ExpectedTensor expected{dtype->text, {}};
    for (const JsonValue& dim : shape->items) expected.shape.push_back(dim.as_int().value());
    all.emplace(name->text, std::move(expected));
  }
  for (const JsonValue& item : value.items) collect(item, all);
  for (const JsonMember& member : value.members) collect(member.value, all);
}

ExpectedTensors expected_in(const fs::path& folder) {
  ExpectedTensors all;
  for (const char* name : {"dump.json", "debug.json"}) {
    const fs::path path = folder.parent_path() / name;
    if (!fs::exists(path)) continue;
    const auto json = parse_json(read_bytes(path));
    REQUIRE(json);
    collect(*json, all);
  }
  return all;
}

// Empty: all is as it should be.
std::string judge(const fs::path& path, const ExpectedTensors& expected) {
  const auto file = File::open(path.string());
  if (!file) return file.error().message;
  const auto found = torch::read_pt(*file);
  if (!found) return found.error().message;
  if (found->tensors.size() != 1 || found->other_values != 0) return "it is not one tensor";
  const torch::PtTensor& tensor = found->tensors[0];
  if (tensor.problem) return tensor.problem->message;
  if (!tensor.key.empty() || !tensor.contiguous) return "a key, or not contiguous";
  if (tensor.offset > file->size() || tensor.bytes > file->size() - tensor.offset) return "elements beyond the end";
  const auto wanted = expected.find(path.filename().string());
  if (wanted == expected.end()) return "";  // a run that was killed had not yet written of it
  if ("torch." + std::string(name_of(tensor.dtype)) != wanted->second.dtype) {
    return fmt::format("{} instead of {}", name_of(tensor.dtype), wanted->second.dtype);
  }
  if (tensor.shape != wanted->second.shape) {
    return fmt::format("{} instead of {}", describe(tensor.shape), describe(wanted->second.shape));
  }
  return "";
}

}  // namespace

TEST_CASE("every .pt file of the msprobe trees is what its dump.json says") {
  const auto corpus = corpus_or_skip("msprobe/trees");
  if (!corpus) return;
  std::map<fs::path, ExpectedTensors> folders;
  size_t read = 0, named = 0;
  std::vector<std::string> problems;
  for (const auto& entry : fs::recursive_directory_iterator(*corpus)) {
    if (!entry.is_regular_file() || entry.path().extension() != ".pt") continue;
    const fs::path folder = entry.path().parent_path();
    if (!folders.contains(folder)) folders[folder] = expected_in(folder);
    const std::string wrong = judge(entry.path(), folders[folder]);
    if (!wrong.empty()) problems.push_back(fmt::format("{}: {}", entry.path().string(), wrong));
    ++read;
    named += folders[folder].count(entry.path().filename().string());
  }
  std::cout << read - problems.size() << " of " << read << " files, " << named << " of them in a dump.json"
            << std::endl;
  for (const std::string& problem : problems) std::cout << "  " << problem << "\n";
  CHECK(problems.empty());
  CHECK(read > 3000);
  CHECK(named > read * 9 / 10);
}
