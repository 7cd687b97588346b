// How fast `msdump check` says when a training began to behave otherwise, from tables of msprobe's monitor: 20 000 tensors in
// 1000 steps, some 2 GB, from the page cache. Compared with `wc -l`, which reads every byte.
//
//   bench_began [--runs N] [--scale PERCENT] [--msdump PROGRAM] [--keep]     the scale is that of the steps
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "whole_process.h"

namespace {

constexpr int kParameters = 5000;  // four rows of each in every step

double noise(uint64_t& state) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return static_cast<double>(state >> 11U) * 0x1p-53;
}

// A row with the digits that Python writes of a float32.
void add_row(std::string& text, int step, int parameter, std::string_view suffix, std::string_view scope, double scale,
             uint64_t& state) {
  const double norm = scale * (1 + 0.1 * noise(state));
  fmt::format_to(std::back_inserter(text), "-1,{},layers.{}.mlp.up.weight{},{},{:.17g},{:.17g},{:.17g},{:.17g},0.0\n",
                 step, parameter, suffix, scope, norm, -norm / 3, norm / 2, norm / 1000);
}

void write_tables(const std::filesystem::path& folder, int steps) {
  struct Table {
    const char* name;
    std::vector<std::pair<const char*, const char*>> rows;  // suffix and scope
  };
  const std::vector<Table> tables = {{"param", {{"", "param_origin"}, {"", "param_updated"}}},
                                     {"optimizer", {{".exp_avg", "exp_avg"}}},
                                     {"weight_grad", {{"", "reduced"}}}};
  std::filesystem::create_directories(folder);
  uint64_t state = 1;
  for (const Table& table : tables) {
    std::FILE* const file = std::fopen((folder / fmt::format("{}_step0-{}.csv", table.name, steps - 1)).c_str(), "w");
    if (file == nullptr) std::exit(1);
    std::string text = "vpp_stage,step,module_name,scope,norm,min,max,mean,nans\n";
    for (int step = 0; step < steps; ++step) {
      for (const auto& [suffix, scope] : table.rows) {
        // From two thirds on the gradients of one layer are eight times larger.
        for (int one = 0; one < kParameters; ++one) {
          const bool odd = table.name[0] == 'w' && (one == 77 || one == 78) && step >= steps * 2 / 3;
          add_row(text, step, one, suffix, scope, odd ? 8 : 1, state);
        }
      }
      std::fwrite(text.data(), 1, text.size(), file);
      text.clear();
    }
    std::fclose(file);
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::Options options = bench::parse(argc, argv);
  const bench::Scratch scratch(options);
  const std::filesystem::path folder = scratch.path() / "rank_0";
  const int steps = options.scaled(1000);
  write_tables(folder, steps);
  uint64_t bytes = 0;
  std::vector<std::string> count = {"wc", "-l"};
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    bytes += entry.file_size();
    count.push_back(entry.path());
  }
  fmt::print("{} steps of {} tensors, {:.2f} GB\n", steps, 4 * kParameters, static_cast<double>(bytes) * 1e-9);
  compare(
      {"check --rule began",
       "wc -l",
       {options.msdump, "check", scratch.path(), "-q", "--rule", "none", "--rule", "began", "--fail-level", "error"},
       count},
      options);
}
