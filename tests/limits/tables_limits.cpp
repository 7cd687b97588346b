// Tables: many rows, rows of one operator, lines that are only commas, text that does not end.
#include <fmt/format.h>

#include "limits/inputs.h"
#include "limits/measure.h"
#include "support/catch.h"

namespace msdump::limits {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr std::string_view kColumns =
    "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,L2Norm Value\n";

std::string row_of(int64_t op, int64_t time, int64_t slot) {
  return fmt::format("MatMul,Default_net-Net_layer{0}_MatMul-op{0},0,0,{1},output,{2},16,float32,\"(4)\",{3},-1,2,\n",
                     op, time, slot, 1 + op % 100);
}

fs::path table_in(const fs::path& folder) { return folder / "rank_0" / "Net" / "0" / "0" / "statistic.csv"; }

}  // namespace

TEST_CASE("a statistic.csv of many rows costs a fixed amount a row") {
  const auto build = [](const fs::path& folder, int64_t rows) {
    write_pieces(table_in(folder), rows, [](std::string& text, int64_t i) {
      if (i == 0) text += kColumns;
      text += row_of(i, 1'700'000'000'000'000 + i, 0);
    });
  };
  check_growth("rows", 40'000, build,
               {{{"info", "@/rank_0/Net/0/0/statistic.csv"}, kOfStream},
                {{"ls", "@"}, kOfRow},
                {{"ls", "@", "--json"}, kOfRow},
                {{"stats", "@"}, kOfRow},
                {{"check", "@"}, kOfRow, 0},
                {{"check", "@", "--first"}, kOfRow, 0},
                {{"check", "@", "--trend"}, kOfRow, 1},
                {{"diff", "@", "@"}, kOfComparedTensor, 0},
                {{"diff", "@", "@", "--csv"}, kOfComparedTensor, 0}});
}

TEST_CASE("rows of one operator, which ran again and again, cost what other rows do") {
  check_growth("occurrences", 20'000,
               [](const fs::path& folder, int64_t rows) {
                 write_pieces(table_in(folder), rows, [](std::string& text, int64_t i) {
                   if (i == 0) text += kColumns;
                   text += row_of(7, 1'700'000'000'000'000 + i, 0);
                 });
               },
               {{{"ls", "@"}, kOfRow}, {{"check", "@"}, kOfRow}, {{"diff", "@", "@"}, kOfRow}});
  check_growth("slots", 20'000,
               [](const fs::path& folder, int64_t rows) {
                 write_pieces(table_in(folder), rows, [](std::string& text, int64_t i) {
                   if (i == 0) text += kColumns;
                   text += row_of(7, 1'700'000'000'000'000, i);
                 });
               },
               {{{"ls", "@"}, kOfRow}, {{"check", "@"}, kOfRow}, {{"diff", "@", "@"}, kOfRow}});
}

TEST_CASE("a line of a table is cut off, however long it is") {
  check_growth("one long line", 64 * kMiB,
               [](const fs::path& folder, int64_t bytes) {
                 write_sparse(table_in(folder), kColumns, static_cast<uint64_t>(bytes));
                 write_sparse(folder / "mapping.csv", "a,b\n", static_cast<uint64_t>(bytes));
               },
               {{{"info", "@/rank_0/Net/0/0/statistic.csv"}, kOfStream, 3},
                {{"info", "@/mapping.csv"}, kOfStream, 3, {}, false},
                {{"ls", "@/rank_0"}, kOfStream, 3},
                {{"stats", "@/rank_0", "--verify"}, kOfStream, 3},
                {{"check", "@/rank_0"}, kOfStream, 3},
                {{"check", "@/rank_0", "--trend"}, kOfStream, 3},
                {{"diff", "@/rank_0", "@/rank_0"}, kOfStream, 3}});
  check_growth("commas", 8 * kMiB,
               [](const fs::path& folder, int64_t bytes) {
                 const std::string commas = std::string(1000, ',') + "\n";
                 write_repeated(table_in(folder), kColumns, commas, bytes / 1001);
                 write_repeated(folder / "free_benchmark.csv", "pert_mode,api_name,max_rel\n", commas, bytes / 1001);
                 write_repeated(folder / "grad_reduced_0-1.csv", "name,step\n", commas, bytes / 1001);
                 write_repeated(folder / "accuracy_checking_result_1.csv", "API name,Status\n", "\"\"\"\"\n",
                                bytes / 5);
                 write_repeated(folder / "ms_execution_order_graph_0.csv", "", commas, bytes / 1001);
                 write_repeated(folder / "quotes" / "statistic.csv", kColumns, "\"\"\"\"\"\"\"\"\"\"\n", bytes / 11);
               },
               {{{"info", "@/rank_0/Net/0/0/statistic.csv"}, kOfStream, 3},
                {{"info", "@/free_benchmark.csv"}, kOfStream, 3},
                {{"check", "@/free_benchmark.csv"}, kOfStream, 3},
                {{"info", "@/grad_reduced_0-1.csv"}, kOfStream, 3},
                {{"info", "@/accuracy_checking_result_1.csv"}, kOfStream, 0},
                {{"info", "@/ms_execution_order_graph_0.csv"}, kOfStream, 0},
                {{"info", "@/quotes/statistic.csv"}, kOfStream, 3},
                {{"ls", "@/rank_0"}, kOfRow, 3}});
}

TEST_CASE("rows that are none cost nothing, in the report neither") {
  check_growth("bad rows", 4 * kMiB,
               [](const fs::path& folder, int64_t bytes) {
                 write_repeated(table_in(folder), kColumns, "x\n", bytes / 2);
                 write_repeated(folder / "monitor" / "grad_reduced_0-1.csv", "vpp_stage,name,step,max\n", "x\n",
                                bytes / 2);
               },
               {{{"info", "@/rank_0/Net/0/0/statistic.csv"}, kOfStream, 3},
                {{"ls", "@/rank_0", "--json"}, kOfStream, 3},
                {{"stats", "@/rank_0", "--json"}, kOfStream, 3},
                {{"check", "@/rank_0", "--json"}, kOfStream, 3},
                {{"diff", "@/rank_0", "@/rank_0", "--json"}, kOfStream, 3},
                {{"ls", "@/monitor", "--json"}, kOfStream, 3},
                {{"check", "@/monitor", "--json"}, kOfStream, 3}});
}

TEST_CASE("a mapping.csv of many names costs what its bytes are") {
  check_growth("mapped names", 50'000,
               [](const fs::path& folder, int64_t names) {
                 write_pieces(folder / "mapping.csv", names, [](std::string& text, int64_t i) {
                   text += fmt::format("{:032x},Add.Default_net_Add-op{}.0.0.1700000000000000.output.0.npy\n", i, i);
                 });
                 write_text(folder / fmt::format("{:032x}.npy", 1), tiny_npy());
               },
               {{{"info", "@/mapping.csv"}, kOfRow}, {{"ls", "@"}, kOfRow}, {{"stats", "@"}, kOfRow}});
  check_growth("a mapping that is only claimed", int64_t{1} << 36,
               [](const fs::path& folder, int64_t bytes) {
                 write_sparse(folder / "mapping.csv", "a,b\n", static_cast<uint64_t>(bytes));
               },
               {{{"info", "@/mapping.csv"}, kOfStream, 3, {}, false}, {{"ls", "@"}, kOfStream, 3}});
}

TEST_CASE("an execution order of many operators costs what its bytes are") {
  check_growth("operators in order", 100'000,
               [](const fs::path& folder, int64_t operators) {
                 write_pieces(folder / "ms_execution_order_graph_0.csv", operators, [](std::string& text, int64_t i) {
                   if (i == 0) text += "NodeExecutionOrder-FullNameWithScope\n";
                   text += fmt::format("Default/net-Net/layer{0}/MatMul-op{0}\n", i);
                 });
               },
               {{{"info", "@/ms_execution_order_graph_0.csv"}, kOfStream}});
}

}  // namespace msdump::limits
