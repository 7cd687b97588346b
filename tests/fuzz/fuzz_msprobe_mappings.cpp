// Any text as one of msprobe's mappings (-cm, -am, -dm, -lm), applied to two small dumps: each row of the result has its
// fields, or an error names the mapping. The first byte chooses which.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "fuzz_file.h"
#include "profiles/msprobe/result.h"

namespace {

using namespace msdump;
using fuzz::require;
namespace fs = std::filesystem;

constexpr std::string_view kTensor =
    R"({"type": "mindspore.Tensor", "dtype": "Float32", "shape": [2], "Max": 1, "Min": 0, "Mean": 0.5, "Norm": 1})";

// A layer that two cells are in, one call in each, and a parameter.
std::string dump_json(std::string_view framework, std::string_view kind, std::string_view dense) {
  std::string text = R"({"task": "statistics", "level": "mix", "dump_data_dir": null, "framework": ")";
  text.append(framework).append(R"(", "data": {)");
  const auto entry = [&](const std::string& name) {
    text.append(text.ends_with('{') ? "\"" : ", \"").append(name).append(R"(": {"input_args": [)").append(kTensor);
    text.append(R"(], "input_kwargs": {}, "output": [)").append(kTensor).append("]}");
  };
  for (const char* const layer : {"attn.q.", "attn.k."})
    entry(std::string(kind).append(".").append(layer).append(dense).append(".forward.0"));
  entry("Functional.softmax.0.forward");
  entry("Functional.softmax.0.backward");
  return text + "}}";
}

std::string construct_json(std::string_view kind, std::string_view dense) {
  const std::string cell = std::string(kind) + ".attn.q." + std::string(dense) + ".forward.0";
  return R"({"Functional.softmax.0.forward": ")" + cell + R"(", ")" + cell + R"(": null})";
}

constexpr std::string_view kStacks =
    R"json({"0": [["Functional.softmax.0.forward"], ["File /u/net.py, line 12, in construct, \n x = f(x)"]]})json";

std::string write_side(const char* name, std::string_view dump, std::string_view construct) {
  const fs::path folder = fuzz::memory_folder() / name;
  fs::create_directories(folder);
  std::ofstream(folder / "dump.json") << dump;
  std::ofstream(folder / "construct.json") << construct;
  std::ofstream(folder / "stack.json") << kStacks;
  return (folder / "dump.json").string();
}

void check_result(const MsprobeCompareOptions& options) {
  static const std::string kTarget =
      write_side("target", dump_json("mindspore", "Cell", "Dense"), construct_json("Cell", "Dense"));
  static const std::string kGolden =
      write_side("golden", dump_json("pytorch", "Module", "Linear"), construct_json("Module", "Linear"));
  static WorkerPool pool(1);
  const CancelToken cancel;
  int64_t lines = 0;
  const auto counts =
      write_msprobe_result(kTarget, kGolden, options, {pool, cancel}, [&](std::string_view text) -> Status {
        lines += std::count(text.begin(), text.end(), '\n');
        return {};
      });
  if (!counts) return fuzz::require_good_error(counts.error());
  require(counts->rows == 8, "each item of the target has a row, whatever the mapping");
  require(lines > counts->rows, "and a header is above");
  require(counts->pass + counts->warning + counts->error == counts->rows, "each row has a verdict");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const fuzz::FuzzFile file(data + 1, size - 1);
  const std::string path = file.open().path();
  MsprobeCompareOptions options;
  switch (data[0] % 4) {
    case 0: options.cell_mapping = path; break;
    case 1: options.api_mapping = path; break;
    case 2: options.data_mapping = path; break;
    default: options.layer_mapping = path; break;
  }
  check_result(options);
  return 0;
}
