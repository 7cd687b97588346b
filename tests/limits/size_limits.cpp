// The size of one tensor does not count, nor how many are read at once.
#include <fmt/format.h>

#include "limits/inputs.h"
#include "limits/measure.h"
#include "support/catch.h"
#include "support/dump_builder.h"

namespace msdump::limits {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMiB = int64_t{1} << 20;

constexpr std::string_view kDumpName = "Add.a-op1.1.2.1700000000000000";

}  // namespace

TEST_CASE("the size of a tensor does not count, whatever its format and block") {
  const auto build = [](const fs::path& folder, int64_t units) {
    const auto c0 = static_cast<uint64_t>(units) / 8;  // two blocks of float32
    test::TensorSpec tensor;
    tensor.dtype = 1;
    tensor.format = 3;  // NC1HWC0
    tensor.shape = test::Dims{1, 2, 1, 1, c0};
    tensor.original_shape = test::Dims{1, 2 * c0, 1, 1};
    tensor.size = static_cast<uint64_t>(units);
    test::DumpSpec spec;
    spec.tensors = {tensor};
    write_sparse(folder / "giant" / kDumpName, test::build_dump(spec), static_cast<uint64_t>(units));
    tensor.format = 29;  // FRACTAL_NZ
    tensor.shape = test::Dims{2, 1, 1, c0};
    tensor.original_shape = test::Dims{1, 2 * c0};
    spec.tensors = {tensor};
    write_sparse(folder / "nz" / kDumpName, test::build_dump(spec), static_cast<uint64_t>(units));
    write_sparse(folder / "npy" / fmt::format("{}.output.0.DefaultFormat.npy", kDumpName),
                 npy_head(static_cast<uint64_t>(units) / 4), static_cast<uint64_t>(units));
  };
  std::vector<Command> commands;
  for (const std::string kind : {"@/giant", "@/nz", "@/npy"}) {
    for (const std::string jobs : {"1", "2", "8"}) {
      commands.push_back({{"stats", kind, "-j", jobs}, kOfTensorSize, 0});
    }
    commands.push_back({{"check", kind}, kOfTensorSize, 0});
    commands.push_back({{"diff", kind, kind}, kOfTensorSize, 0});
    commands.push_back({{"stats", kind, "--columns", "max,md5"}, kOfTensorSize, 0});
  }
  commands.push_back({{"convert", "-d", "@/giant", "-out", "@/out", "-f", "NCHW"}, kOfTensorSize, 0});
  check_growth("one giant tensor", 64 * kMiB, build, commands);
}

TEST_CASE("device tensors need slabs, not their size, however many are read at once") {
  check_growth("sixteen in NC1HWC0", 4 * kMiB,
               [](const fs::path& folder, int64_t bytes) {
                 const auto side = static_cast<uint64_t>(bytes) / 64 / 64;  // x 1 x 64 x 16 float32
                 for (int i = 0; i < 16; ++i) {
                   test::TensorSpec tensor;
                   tensor.dtype = 1;
                   tensor.format = 3;  // NC1HWC0
                   tensor.shape = test::Dims{1, 1, side, 64, 16};
                   tensor.original_shape = test::Dims{1, 16, side, 64};
                   tensor.size = static_cast<uint64_t>(bytes);
                   test::DumpSpec spec;
                   spec.tensors = {tensor};
                   write_sparse(folder / "a" / fmt::format("Conv2D.Default_Conv2D-op{0}.0.0.{0}", i),
                                test::build_dump(spec), static_cast<uint64_t>(bytes));
                 }
               },
               {{{"stats", "@/a", "-j", "1"}, kOfTensorSize},
                {{"stats", "@/a", "-j", "8"}, kOfManyThreads},
                {{"stats", "@/a", "-j", "1", "--columns", "max,md5"}, kOfTensorSize},
                {{"check", "@/a", "-j", "1"}, kOfTensorSize},
                {{"check", "@/a", "-j", "8"}, kOfManyThreads},
                {{"diff", "@/a", "@/a", "-j", "1"}, kOfTensorSize},
                {{"diff", "@/a", "@/a", "-j", "8"}, kOfManyThreads}});
}

}  // namespace msdump::limits
