// Dumps as a whole: very many tiny tensors, differences everywhere, tables whose time stamps never fit, ranks and steps.
#include <fmt/format.h>

#include "limits/inputs.h"
#include "limits/measure.h"
#include "support/catch.h"
#include "support/dump_builder.h"

namespace msdump::limits {
namespace {

namespace fs = std::filesystem;

std::string npy_name(int64_t i) {
  return fmt::format("Add.Default_net-Net_layer{0}_Add-op{0}.0.0.{1}.output.0.DefaultFormat.npy", i,
                     1'700'000'000'000'000 + i);
}

fs::path step_in(const fs::path& folder, int64_t step = 0, int64_t rank = 0) {
  return folder / fmt::format("rank_{}", rank) / "Net" / "0" / std::to_string(step);
}

void write_tiny(const fs::path& folder, int64_t tensors, float first) {
  const std::string bytes = tiny_npy(first);
  for (int64_t i = 0; i < tensors; ++i) write_text(folder / npy_name(i), bytes);
}

}  // namespace

TEST_CASE("very many tiny tensors cost a fixed amount each, in every command") {
  check_growth("tiny tensors", 15'000,
               [](const fs::path& folder, int64_t tensors) { write_tiny(step_in(folder / "a"), tensors, 1); },
               {{{"info", "@/a"}, kOfTensor},
                {{"ls", "@/a"}, kOfTensor},
                {{"ls", "@/a", "--json"}, kOfTensor},
                {{"ls", "@/a", "--no-shape", "-0"}, kOfTensor},
                {{"stats", "@/a"}, kOfTensor},
                {{"stats", "@/a", "--csv"}, kOfTensor},
                {{"stats", "@/a", "--top", "10"}, kOfTensor},
                {{"stats", "@/a", "-out", "@/table"}, kOfTensor},
                {{"check", "@/a"}, kOfComparedTensor},
                {{"check", "@/a", "--first"}, kOfComparedTensor},
                {{"check", "@/a", "--trend"}, kOfComparedTensor, 1},
                {{"diff", "@/a", "@/a"}, kOfComparedTensor},
                {{"diff", "@/a", "@/a", "--json", "--all"}, kOfComparedTensor},
                {{"diff", "@/a", "@/a", "--profile", "msaccucmp"}, kOfComparedTensor},
                {{"find-op", "*layer5*", "-d", "@/a"}, kOfTensor, 2},
                {{"map-ir", "-d", "@/a"}, kOfTensor, 2}});
}

TEST_CASE("very many tiny dump files are converted at a fixed cost each") {
  check_growth("tiny dump files", 5'000,
               [](const fs::path& folder, int64_t files) {
                 const std::string bytes =
                     test::build_dump({.tensors = {test::output_of(DType::kFloat32, Format::kND, {4})}});
                 for (int64_t i = 0; i < files; ++i) {
                   write_text(step_in(folder / "a") / fmt::format("Add.Default_Add-op{0}.0.0.{0}", i), bytes);
                 }
               },
               {{{"convert", "-d", "@/a", "--dry-run", "-out", "@/none"}, kOfTensor},
                {{"convert", "-d", "@/a", "-out", "@/out"}, kOfTensor},
                {{"convert", "-d", "@/a", "-out", "@/out", "--resume"}, kOfTensor},
                {{"stats", "@/a"}, kOfTensor},
                {{"ls", "@/a"}, kOfTensor}});
}

TEST_CASE("differences everywhere cost a fixed amount a tensor") {
  check_growth("other values", 10'000,
               [](const fs::path& folder, int64_t tensors) {
                 write_tiny(step_in(folder / "a"), tensors, 1);
                 write_tiny(step_in(folder / "b"), tensors, 7);
               },
               {{{"diff", "@/a", "@/b"}, kOfComparedTensor, 1},
                {{"diff", "@/a", "@/b", "--write-baseline", "@/accepted.json"}, kOfComparedTensor, 1},
                {{"diff", "@/a", "@/b", "--baseline", "@/accepted.json"}, kOfComparedTensor, 0}});
  check_growth("nothing has a partner", 8'000,
               [](const fs::path& folder, int64_t tensors) {
                 write_tiny(step_in(folder / "a"), tensors, 1);
                 const std::string bytes = tiny_npy();
                 for (int64_t i = 0; i < tensors; ++i) {
                   write_text(step_in(folder / "b") /
                                  fmt::format("Mul.Other_{0}_Mul-op{0}.0.0.{0}.output.0.DefaultFormat.npy", i),
                              bytes);
                 }
               },
               {{{"diff", "@/a", "@/b"}, kOfComparedTensor, 2}});
}

TEST_CASE("a statistic.csv whose time stamps fit no file costs a fixed amount a row") {
  check_growth("other time stamps", 5'000,
               [](const fs::path& folder, int64_t tensors) {
                 const fs::path step = step_in(folder / "a");
                 const std::string bytes = tiny_npy();
                 for (int64_t i = 0; i < tensors; ++i) {
                   write_text(step / fmt::format("Add.Default_Add-op1.0.0.{}.output.0.DefaultFormat.npy", i), bytes);
                 }
                 write_pieces(step / "statistic.csv", tensors, [](std::string& text, int64_t i) {
                   if (i == 0) {
                     text +=
                         "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,"
                         "Min Value\n";
                   }
                   text += fmt::format("Add,Default_Add-op1,0,0,{},output,0,16,float32,\"(4)\",2,-3,\n", 1'000'000 + i);
                 });
               },
               {{{"ls", "@/a"}, kOfTensor},
                {{"stats", "@/a", "--verify"}, kOfTensor},
                {{"check", "@/a"}, kOfComparedTensor},
                {{"diff", "@/a", "@/a"}, kOfComparedTensor}});
}

TEST_CASE("steps and ranks cost what their tensors are") {
  const auto write_steps = [](const fs::path& folder, int64_t steps) {
    const std::string bytes = tiny_npy(), other = tiny_npy(7);
    for (int64_t step = 0; step < steps; ++step) {
      for (const int64_t op : {1, 2, 3}) {
        for (const std::string_view slot : {"input.0", "output.0"}) {
          const std::string name =
              fmt::format("AllReduce.Default_AllReduce-op{0}.0.0.{0}.{1}.DefaultFormat.npy", op, slot);
          write_text(step_in(folder / "steps", step) / name, bytes);
          write_text(step_in(folder / "changed", step) / name, op == 2 ? other : bytes);
          write_text(step_in(folder / "ranks", 0, step) / name, bytes);
          write_text(step_in(folder / "others", 0, step) / name, op == 2 ? other : bytes);
        }
      }
    }
  };
  check_growth("steps and ranks", 500, write_steps,
               {{{"ls", "@/steps"}, kOfStep},
                {{"check", "@/steps"}, kOfStep},
                {{"check", "@/ranks"}, kOfStep},
                {{"check", "@/steps", "--trend"}, kOfStep},
                {{"diff", "@/changed", "@/steps"}, kOfStep, 1},
                {{"diff", "@/others", "@/ranks"}, kOfStep, 1},
                {{"info", "@/steps"}, kOfStep}});
}

TEST_CASE("ranks that lack steps cost what other ranks do") {
  check_growth("ranks that lack steps", 4'000,
               [](const fs::path& folder, int64_t ranks) {
                 for (int64_t rank = 0; rank < ranks; ++rank)
                   write_text(step_in(folder / "a", rank % 2, rank) / npy_name(0), tiny_npy());
               },
               {{{"check", "@/a", "--rule", "none", "--rule", "missing_step", "--json"}, kOfStep, 1},
                {{"info", "@/a"}, kOfStep}});
}

TEST_CASE("very many files without a byte cost an error and a finding each") {
  check_growth("empty files", 20'000,
               [](const fs::path& folder, int64_t files) {
                 for (int64_t i = 0; i < files; ++i) write_text(step_in(folder / "a") / npy_name(i), "");
               },
               {{{"check", "@/a"}, kOfEmptyFile, 3},
                {{"check", "@/a", "--csv"}, kOfEmptyFile, 3},
                {{"ls", "@/a"}, kOfEmptyFile, 3},
                {{"stats", "@/a"}, kOfEmptyFile, 3},
                {{"diff", "@/a", "@/a"}, kOfEmptyFile, 3}});
}

}  // namespace msdump::limits
