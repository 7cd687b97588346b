// What check-config --estimate says of the configurations in real/, from the IR beside each dump, against the files that
// MindSpore 1.3 to 2.10 wrote in the first step. Left out is what no IR tells: how often loops and branches run, and what a
// PyNative run does beside its graphs.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "check/tree/dump_estimate.h"
#include "graph/load/load_graph.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

struct Written {
  uint64_t files = 0, bytes = 0;
};

// The .npy files of the first step of each graph together.
Written first_step(const fs::path& rank) {
  std::map<fs::path, std::map<int, Written>> steps;
  for (const auto& entry : fs::recursive_directory_iterator(rank)) {
    if (entry.path().extension() != ".npy") continue;
    const std::string step = entry.path().parent_path().filename().string();
    int number = 0;
    const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), number);
    if (error != std::errc{} || *end != '\0') continue;  // constants
    Written& written = steps[entry.path().parent_path().parent_path()][number];
    ++written.files;
    written.bytes += entry.file_size();
  }
  Written first;
  for (const auto& [graph, numbered] : steps) {
    first.files += numbered.begin()->second.files;
    first.bytes += numbered.begin()->second.bytes;
  }
  return first;
}

DumpEstimate estimate_of(const fs::path& folder) {
  const auto root = parse_json(read_bytes(folder / "data_dump.json"));
  REQUIRE(root);
  const auto search = find_ir(nullptr, {(folder / "dump" / "rank_0" / "graphs").string()});
  REQUIRE(search);
  WorkerPool pool(1);
  const CancelToken cancel;
  const auto loaded = load_graph(search->files, {}, {pool, cancel});
  REQUIRE(loaded);
  const auto version = parse_version(folder.filename().string());
  REQUIRE(version);
  return estimate_dump(loaded->graph, read_data_dump(*root), {*version, Device::kCpu, Framework::kMindSpore});
}

bool reported_by_no_ir(const std::string& tree) {
  return tree.ends_with("-pynative") || tree.find("-control-") != std::string::npos ||
         tree.find("-loop-") != std::string::npos;
}

bool is_near(uint64_t estimate, uint64_t truth, double tolerance) {
  const double difference = static_cast<double>(estimate) - static_cast<double>(truth);
  return std::fabs(difference) <= tolerance * static_cast<double>(truth);
}

}  // namespace

TEST_CASE("the estimate of a step is what MindSpore wrote, within a few small tensors") {
  const auto folder = corpus_or_skip("real");
  if (!folder) return;
  size_t trees = 0, exact = 0;
  for (const auto& entry : fs::directory_iterator(*folder)) {
    const std::string name = entry.path().filename().string();
    if (!fs::exists(entry.path() / "dump" / "rank_0" / "graphs") || reported_by_no_ir(name)) continue;
    const Written written = first_step(entry.path() / "dump" / "rank_0");
    const DumpEstimate estimate = estimate_of(entry.path());
    INFO(name << ": " << written.files << " files, " << written.bytes << " bytes; estimated " << estimate.tensors()
              << " and " << estimate.bytes());
    ++trees;
    exact += estimate.tensors() == written.files && estimate.bytes() == written.bytes ? 1U : 0U;
    CHECK(is_near(estimate.tensors(), written.files, 0.06));
    CHECK(is_near(estimate.bytes(), written.bytes, 0.02));
    CHECK(estimate.unmatched_kernels.empty());
  }
  CHECK(trees > 20);
  CHECK(exact > 10);
  std::cout << fmt::format("estimates: {} of {} trees to the byte\n", exact, trees);
}
