// How fast a statistic.csv is read: rows like those of MindSpore 2.4 with all twelve categories and with the default
// three, from the page cache.
//
//   bench_statistic_csv [ROWS]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "tables/statistic_csv.h"

namespace {

using namespace msdump;

const std::string kFields = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape";

void measure(const char* what, const std::string& titles, const std::string& values, size_t rows) {
  std::string path = "/tmp/bench_statistic_csv.XXXXXX";
  const int descriptor = ::mkstemp(path.data());
  std::FILE* out = descriptor < 0 ? nullptr : ::fdopen(descriptor, "w");
  if (out == nullptr) return;
  fmt::print(out, "{}{}\n", kFields, titles);
  for (size_t i = 0; i < rows; ++i) {
    fmt::print(out,
               "MatMul,Default_network-TrainOneStepCell_backbone_decoder_layers_{}_attention_MatMul-op{},0,0,{},input,"
               "{},33554432,float32,\"({},1024,8)\"{},\n",
               i % 96, i, 1733905446819790 + i, i % 3, 1024 + i % 7, values);
  }
  std::fclose(out);
  for (int run = 0; run < 3; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    const auto file = File::open(path);
    auto reader = StatisticReader::open(*file);
    size_t read = 0;
    for (auto row = reader->next(); row && *row != nullptr; row = reader->next()) ++read;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    fmt::print("{:<8} {} of {} rows, {:.0f} MB: {:.0f} MB/s, {:.0f} ns a row\n", what, read, rows,
               static_cast<double>(file->size()) / 1e6, static_cast<double>(file->size()) / 1e6 / elapsed.count(),
               elapsed.count() * 1e9 / static_cast<double>(rows));
  }
  ::unlink(path.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const size_t rows = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2'000'000;
  measure("default", ",Max Value,Min Value,L2Norm Value", ",6.01562,-1.25e-05,9.53939", rows);
  measure("all",
          ",Max Value,Min Value,Avg Value,Count,Negative Zero Count,Positive Zero Count,NaN Count,Negative Inf Count,"
          "Positive Inf Count,Zero Count,MD5,L2Norm Value",
          ",6.01562,-1.25e-05,0.0125,8388608,4194304,4194300,0,0,0,4,fa85978152c7dfb5f1322082915cb050,9.53939", rows);
  return 0;
}
