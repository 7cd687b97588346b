// Two dumps compared: any bytes as each kind of file that holds tensors or statistics, against a copy of themselves; and a
// row of files, of which each lies in one dump or the other.
//
//   against itself   no pair differs and no operator is to blame, whatever the file holds
//   row of files     a byte that chooses the name (kNames) and the side (above 127: the reference), two bytes with the
//                    length, the content
//
// Starts from the inputs of all readers: CMakeLists.txt names them.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "divergence/dump_diff.h"
#include "fuzz_file.h"

namespace {

using namespace msdump;
using fuzz::require;
namespace fs = std::filesystem;

constexpr std::array kNames = {
    "rank_0/Net/0/0/statistic.csv",
    "step0/rank0/dump.json",
    "actv_0-1.csv",
    "actv_grad_0-1.csv",
    "module_step_0-1.csv",
    "grad_reduced_0-1.csv",
    "a.npy",
    "a.npz",
    "w.safetensors",
    "w.ckpt",
    "w.pt",
    "Mul.Default_Mul-op1.3.7.1700000000000001",
    "rank_0/Net/0/0/Mul.Default_Mul-op1.3.7.1700000000000002.output.0.DefaultFormat.npy",
    "rank_0/Net/0/0/Mul.Default_Mul-op1.3.7.1700000000000001.input.0.DefaultFormat.npy",
    "rank_0/graphs/ms_output_trace_code_graph_0.ir",
    "step0/rank0/stack.json",
    "step0/rank0/construct.json",
};
constexpr size_t kMostFiles = 8;

void write_file(const fs::path& path, std::string_view content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<long>(content.size()));
}

std::unique_ptr<DiffSide> open_side(const fs::path& path, const RunContext& context) {
  auto opened = OpenedGraph::select({});
  require(opened.has_value(), "nothing is asked for, and that can be selected");
  auto index = DumpIndex::build({path.string()}, {});
  require(index.has_value(), "a folder that is there has an index");
  auto list = TensorList::read(*index, {}, {Headers::kAll}, context);
  require(list.has_value(), "a list is made of what can be read");
  opened->catalogue.emplace(Catalogue{std::move(*index), Selection(), {}, std::move(*list)});
  auto search = find_ir(&opened->catalogue->index, {});
  require(search.has_value(), "a missing IR is not a failure");
  opened->search = std::move(*search);
  require(opened->read(std::nullopt, context).has_value(), "an IR that cannot be read is a failure of that file");
  return std::make_unique<DiffSide>(std::move(*opened));
}

DiffResult diff(const fs::path& a, const fs::path& b) {
  WorkerPool pool(1);
  const CancelToken cancel;
  const RunContext context{pool, cancel};
  DiffRules rules;
  auto run = diff_dumps(open_side(a, context), open_side(b, context), nullptr, rules, {}, context);
  require(run.has_value(), "two dumps can be compared, whatever they hold");
  for (const Error& failure : run->failures) fuzz::require_good_error(failure);
  return std::move(*run);
}

void compare_with_itself(const fs::path& root, const char* name, std::string_view content) {
  write_file(root / "a" / name, content);
  write_file(root / "b" / name, content);
  const DiffResult run = diff(root / "a", root / "b");
  for (const TensorId row : run.rows) {
    const Verdict verdict = run.diffs[row].verdict;
    require(!is_difference(verdict) || verdict == Verdict::kUnmatched, "a tensor equals its copy");
  }
  require(run.divergence.roots.empty(), "nothing is to blame where nothing differs");
  fs::remove_all(root);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fs::path root = fuzz::memory_folder() / "dumps";
  std::string_view input(reinterpret_cast<const char*>(data), size);
  for (const char* const name : kNames) compare_with_itself(root, name, input);
  fs::create_directories(root / "a");
  fs::create_directories(root / "b");
  for (size_t files = 0; files < kMostFiles && input.size() >= 3; ++files) {
    const auto choice = static_cast<uint8_t>(input[0]);
    const size_t length = static_cast<uint8_t>(input[1]) + (size_t{static_cast<uint8_t>(input[2])} << 8);
    input.remove_prefix(3);
    const std::string_view content = input.substr(0, length);
    input.remove_prefix(content.size());
    write_file(root / (choice > 127 ? "b" : "a") / kNames[choice % 128 % kNames.size()], content);
  }
  (void)diff(root / "a", root / "b");
  fs::remove_all(root);
  return 0;
}
