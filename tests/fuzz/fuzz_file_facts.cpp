// Any bytes under the name of any kind of file: facts for each, and the elements of its tensors as text. The first byte
// chooses the name.
#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "dump/elements/host_tensor.h"
#include "fuzz_file.h"
#include "info/file_facts.h"
#include "info/shown_array.h"
#include "io/json.h"
#include "report/json.h"

namespace {

using namespace msdump;
using fuzz::require;
namespace fs = std::filesystem;

constexpr std::array kNames = {"Add.a.1.2.1700000000000000",
                               "a.npy",
                               "m.pt",
                               "Default--Add-op1_output_0_shape_2_3_Float32_DefaultFormat.bin",
                               "Add.a.1.2.1700000000000000.output.0.ND.BF16",
                               "statistic.csv",
                               "mapping.csv",
                               "ms_execution_order_graph_0.csv",
                               "free_benchmark.csv",
                               "accuracy_checking_details_1.csv",
                               "anomaly.json",
                               "grad_reduced_0-1.csv",
                               "dump.json",
                               "debug.json",
                               "stack.json",
                               "config.json",
                               "config.yaml",
                               "MatMul.Default_MatMul-op2.json",
                               "graph.ir",
                               "graph.pb",
                               "Opdebug.Node_OpDebug.1.2.1700000000000000",
                               "Opdebug.Node_OpDebug.1.2.1700000000000000.output.0.json",
                               "anything"};

void check_elements(const DumpIndex& index, const FileFacts& facts) {
  constexpr size_t kMostTensors = 4;
  for (size_t item = 0; item < std::min(facts.tensors.size(), kMostTensors); ++item) {
    if (facts.tensors[item].problem) continue;
    auto opened = open_again(index, index.files().front(), facts, item);
    require(opened.has_value(), "a file that was read is read again");
    auto tensor = HostTensor::open(std::move(*opened), 0, {});
    if (!tensor) {
      fuzz::require_good_error(tensor.error());
      continue;
    }
    const auto shown = read_shown(*tensor, whole_view(tensor->shape()));
    if (shown) require(!array_text(*shown).empty(), "an array has a text");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const fs::path path = fuzz::memory_folder() / kNames[data[0] % kNames.size()];
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(data + 1), static_cast<long>(size - 1));
  const auto index = DumpIndex::build({path.string()}, {});
  require(index.has_value(), "a file that is there has an index");
  const CancelToken cancel;
  const FileFacts facts = read_file_facts(*index, index->files().front(), cancel);
  for (const Error& problem : facts.problems) fuzz::require_good_error(problem);
  std::string json;
  report::append_json(json, facts.detail);
  require(json.size() < size * 512 + 65536, "facts are bounded by the file");
  require(facts.detail.find("bytes") != nullptr, "every file has a size");
  check_elements(*index, facts);
  fs::remove(path);
  return 0;
}
