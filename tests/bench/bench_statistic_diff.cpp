// How fast rows of statistic.csv are compared with as many others, from the page cache: listing both dumps, loading the
// values of both tables, and the verdicts. The default three columns, and all twelve.
//
//   bench_statistic_diff [ROWS]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "compare/statistics/statistic_diff.h"
#include "dump/index/tensor_list.h"

namespace {

using namespace msdump;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

void write_table(const fs::path& folder, const std::string& titles, size_t rows, bool all, double noise) {
  fs::create_directories(folder);
  std::FILE* out = std::fopen((folder / "statistic.csv").c_str(), "w");
  if (out == nullptr) std::exit(1);
  fmt::print(out, "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape{}\n", titles);
  for (size_t i = 0; i < rows; ++i) {
    const double value = 1.0 + static_cast<double>(i % 977) / 100 * (1 + noise);
    fmt::print(out,
               "MatMul,Default_network-TrainOneStepCell_backbone_decoder_layers_{}_attention_MatMul-op{},0,0,{},input,"
               "{},33554432,float32,\"[{},1024,8]\",{:.6g},{:.6g},",
               i % 96, i, 1733905446819790 + i, i % 3, 1024 + i % 7, value, -value);
    if (all) fmt::print(out, "{:.6g},8388608,4194304,4194300,0,0,0,4,{:032x},", value / 10, i);
    fmt::print(out, "{:.6g},\n", value * 1000);
  }
  std::fclose(out);
}

struct Side {
  DumpIndex index;
  TensorList list;
};

Side list(const fs::path& folder, WorkerPool& pool, const CancelToken& cancel) {
  auto index = DumpIndex::build({folder.string()}, {});
  auto selection = Selection::compile({});
  auto listed = TensorList::read(*index, *selection, {}, {pool, cancel});
  if (!listed) std::exit(1);
  return {std::move(*index), std::move(*listed)};
}

double milliseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

void measure(const char* what, const std::string& titles, size_t rows, bool all) {
  const fs::path root = fs::temp_directory_path() / fmt::format("bench_statistic_diff.{}", ::getpid());
  write_table(root / "a", titles, rows, all, 1e-6);
  write_table(root / "b", titles, rows, all, 0);
  for (int run = 0; run < 3; ++run) {
    WorkerPool pool(2);
    const CancelToken never;
    const auto begin = Clock::now();
    std::optional<Side> a, b;
    pool.parallel_for(2, [&](int64_t i) { (i == 0 ? a : b) = list(root / (i == 0 ? "a" : "b"), pool, never); });
    const auto listed = Clock::now();
    StatisticTables tables_a(a->index), tables_b(b->index);
    const auto &left = a->list.tensors(), &right = b->list.tensors();
    (void)tables_a.values_of(left.front());
    (void)tables_b.values_of(right.front());
    const auto loaded = Clock::now();
    size_t wrong = 0;
    for (size_t i = 0; i < right.size(); ++i) {
      const auto diff = diff_records({a->index, tables_a}, left[i], {b->index, tables_b}, right[i], {}, {pool, never});
      if (!diff || is_difference(diff->verdict)) ++wrong;
    }
    const auto end = Clock::now();
    fmt::print(
        "{:<8} {} rows against as many, {} differ: listed {:.0f} ms (2 threads), loaded {:.0f} ms, compared "
        "{:.0f} ms (1 thread); in all {:.0f} ms\n",
        what, right.size(), wrong, milliseconds(begin, listed), milliseconds(listed, loaded), milliseconds(loaded, end),
        milliseconds(begin, end));
  }
  fs::remove_all(root);
}

}  // namespace

int main(int argc, char** argv) {
  const size_t rows = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 150'000;
  measure("default", ",Max Value,Min Value,L2Norm Value", rows, false);
  measure("all",
          ",Max Value,Min Value,Avg Value,Count,Negative Zero Count,Positive Zero Count,NaN Count,Negative Inf Count,"
          "Positive Inf Count,Zero Count,MD5,L2Norm Value",
          rows, true);
  return 0;
}
