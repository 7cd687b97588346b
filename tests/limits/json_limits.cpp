// JSON and YAML: tiny tokens, deep brackets, one entry that is the whole file, and tables of msprobe with many calls.
#include <fmt/format.h>

#include "limits/inputs.h"
#include "limits/measure.h"
#include "support/catch.h"

namespace msdump::limits {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr std::string_view kHead =
    R"({"task":"statistics","level":"mix","framework":"pytorch","dump_data_dir":null,"data":{)";

fs::path rank_in(const fs::path& folder) { return folder / "step0" / "rank0"; }

// Statistics of many calls, each in a module, each with its stack.
void write_calls(const fs::path& folder, int64_t calls) {
  constexpr std::string_view kTensor =
      R"({"type":"torch.Tensor","dtype":"torch.float32","shape":[4],"Max":2.0,"Min":-1.0,"Mean":0.5,"Norm":3.0})";
  write_pieces(rank_in(folder) / "dump.json", calls, [&](std::string& text, int64_t i) {
    text += i == 0 ? kHead : ",";
    text += fmt::format(R"("Functional.relu.{}.forward":{{"input_args":[{}],"input_kwargs":{{}},"output":[{}]}})", i,
                        kTensor, kTensor);
    if (i + 1 == calls) text += "}}";
  });
  write_pieces(rank_in(folder) / "construct.json", calls, [&](std::string& text, int64_t i) {
    text += i == 0 ? "{" : ",";
    text += fmt::format(R"("Functional.relu.{}.forward":"Module.net.layers.{}.Block.forward.0")", i, i / 16);
    if (i % 16 == 0) text += fmt::format(R"(,"Module.net.layers.{}.Block.forward.0":null)", i / 16);
    if (i + 1 == calls) text += "}";
  });
  write_pieces(rank_in(folder) / "stack.json", calls, [&](std::string& text, int64_t i) {
    text += i == 0 ? "{" : ",";
    text += fmt::format(
        R"-("{0}":[["Functional.relu.{0}.forward"],["File /home/user/net.py, line {1}, in forward, \n y = f(x)"]])-", i,
        i % 1000);
    if (i + 1 == calls) text += "}";
  });
}

}  // namespace

TEST_CASE("dumps of msprobe cost a fixed amount a call") {
  check_growth("calls", 10'000, write_calls,
               {{{"info", "@/step0/rank0/dump.json"}, kOfCall},
                {{"info", "@/step0/rank0/stack.json"}, kOfStream},
                {{"info", "@/step0/rank0/construct.json"}, kOfCall},
                {{"ls", "@"}, kOfCall},
                {{"check", "@"}, kOfCall},
                {{"check", "@", "--first"}, kOfCall},
                {{"diff", "@", "@"}, kOfCall},
                {{"diff", "@", "@", "--profile", "msprobe"}, kOfCall},
                {{"diff", "@", "@", "--profile", "msprobe", "--fuzzy"}, kOfCall},
                {{"map-ir", "-d", "@"}, kOfCall},
                {{"find-op", "--line", "net.py:5", "-d", "@"}, kOfCall}});
}

TEST_CASE("JSON of tiny tokens costs a fixed amount a byte") {
  const auto build = [](const fs::path& folder, int64_t bytes) {
    const int64_t tokens = bytes / 2;
    write_repeated(folder / "a" / "dump.json", std::string(kHead) + R"("Functional.relu.0.forward":{"input_args":[0)",
                   ",0", tokens, R"(],"input_kwargs":{},"output":[]}}})");
    write_repeated(folder / "b" / "dump.json", std::string(kHead) + R"("Functional.relu.0.forward":{"input_args":[[])",
                   ",[]", bytes / 3, R"(],"input_kwargs":{},"output":[]}}})");
    write_repeated(folder / "c" / "dump.json", R"({"data":{},"other":[0)", ",0", tokens, "]}");
    write_repeated(folder / "stack.json", R"({"0":[["a"],["")", ",\"\"", bytes / 3, "]]}");
    write_repeated(folder / "construct.json", R"({"a":[0)", ",0", tokens, "]}");
  };
  check_growth("tokens", 4 * kMiB, build,
               {{{"info", "@/a/dump.json"}, kOfJsonByte, 3},
                {{"info", "@/b/dump.json"}, kOfJsonByte, 3},
                {{"info", "@/c/dump.json"}, kOfJsonByte, 0},
                {{"info", "@/stack.json"}, kOfJsonByte, 3},
                {{"info", "@/construct.json"}, kOfJsonByte, 3},
                {{"ls", "@/a"}, kOfJsonByte, 3},
                {{"check", "@/a"}, kOfJsonByte, 3},
                {{"diff", "@/a", "@/a"}, kOfJsonByte, 3},
                {{"diff", "@/a", "@/a", "--profile", "msprobe"}, kOfJsonByte, 3}});
  check_growth(
      "tokens of a configuration", kMiB,
      [](const fs::path& folder, int64_t bytes) {
        write_repeated(folder / "kernels.json",
                       R"({"common_dump_settings":{"dump_mode":1,"path":"/x","net_name":"N","iteration":"0",)"
                       R"("input_output":0,"kernels":[0)",
                       ",0", bytes / 2, R"(],"support_device":[0]}})");
        write_repeated(folder / "sections.json", R"({"a":0)", R"(,"common_dump_settings":{})", bytes / 26, "}");
        write_repeated(folder / "keys.json", R"({"common_dump_settings":{"a":0)", R"(,"b":0)", bytes / 6, "}}");
        write_repeated(folder / "msprobe.json", R"({"task":"tensor","tensor":{"list":[""])", ",\"\"", bytes / 3, "]}}");
        write_repeated(folder / "acl.json", R"({"dump":{"dump_list":[{})", ",{}", bytes / 3, "]}}");
      },
      {{{"check-config", "@/kernels.json"}, kOfJsonByte, 1},
       {{"check-config", "@/sections.json"}, kOfJsonByte, 1},
       {{"check-config", "@/keys.json"}, kOfJsonByte, 1},
       {{"check-config", "@/msprobe.json"}, kOfJsonByte, 1},
       {{"check-config", "@/acl.json"}, kOfJsonByte, 1},
       {{"info", "@/kernels.json"}, kOfJsonByte, 3}});
}

TEST_CASE("a YAML mapping costs a fixed amount an entry") {
  check_growth("entries", 20'000,
               [](const fs::path& folder, int64_t entries) {
                 write_calls(folder / "dump", 10);
                 write_pieces(folder / "cell.yaml", entries, [](std::string& text, int64_t i) {
                   text += fmt::format("layers.{0}.Dense: net.layers.{0}.Linear\n", i);
                 });
                 write_pieces(folder / "data.yaml", entries, [](std::string& text, int64_t i) {
                   text += fmt::format("Functional.relu.{0}.forward.input.0: Functional.relu.{0}.forward.input.0\n", i);
                 });
                 write_pieces(folder / "api.yaml", entries, [](std::string& text, int64_t i) {
                   text += fmt::format(
                       "- ms_api: Functional.relu{0}\n  pt_api: Functional.relu{0}\n  ms_args: [0]\n  pt_args: [0]\n"
                       "  ms_output: [0]\n  pt_output: [0]\n",
                       i);
                 });
                 write_pieces(folder / "names.csv", entries, [](std::string& text, int64_t i) {
                   text += fmt::format("Functional.relu.{0}.forward,Functional.relu.{0}.forward\n", i);
                 });
               },
               {{{"diff", "@/dump", "@/dump", "--map", "@/cell.yaml"}, kOfCall},
                {{"diff", "@/dump", "@/dump", "--map", "@/data.yaml"}, kOfCall},
                {{"diff", "@/dump", "@/dump", "--map", "@/api.yaml"}, kOfCall},
                {{"diff", "@/dump", "@/dump", "--map", "@/names.csv"}, kOfCall},
                {{"diff", "@/dump", "@/dump", "--profile", "msprobe", "--map", "@/cell.yaml"}, kOfCall},
                {{"diff", "@/dump", "@/dump", "--profile", "msprobe", "--map", "@/data.yaml"}, kOfCall},
                {{"diff", "@/dump", "@/dump", "--profile", "msprobe", "--map", "@/api.yaml"}, kOfCall, 2}});
  check_growth("one long value", 4 * kMiB,
               [](const fs::path& folder, int64_t bytes) {
                 write_calls(folder / "dump", 10);
                 write_repeated(folder / "cell.yaml", "a: ", "x", bytes, "\n");
                 write_repeated(folder / "list.yaml", "a: [0", ",0", bytes / 2, "]\n");
               },
               {{{"diff", "@/dump", "@/dump", "--map", "@/cell.yaml"}, kOfJsonByte, 0},
                {{"diff", "@/dump", "@/dump", "--profile", "msprobe", "--map", "@/cell.yaml"}, kOfJsonByte, 2},
                {{"diff", "@/dump", "@/dump", "--map", "@/list.yaml"}, kOfJsonByte, 2}});
}

TEST_CASE("modules in modules cost what there are of them, not their depth") {
  check_growth("depth", 2'000,
               [](const fs::path& folder, int64_t depth) {
                 write_calls(folder, depth);
                 write_pieces(rank_in(folder) / "construct.json", depth, [&](std::string& text, int64_t i) {
                   text += i == 0 ? "{" : ",";
                   text += fmt::format(R"("Functional.relu.{0}.forward":"Module.m{0}.B.forward.0",)", i);
                   text += i == 0 ? R"("Module.m0.B.forward.0":null)"
                                  : fmt::format(R"("Module.m{}.B.forward.0":"Module.m{}.B.forward.0")", i, i - 1);
                   if (i + 1 == depth) text += "}";
                 });
               },
               {{{"info", "@/step0/rank0/construct.json"}, kOfCall},
                {{"ls", "@"}, kOfCall},
                {{"map-ir", "-d", "@"}, kOfCall},
                {{"check", "@"}, kOfCall},
                {{"check", "@", "--first"}, kOfCall},
                {{"diff", "@", "@"}, kOfCall}});
}

}  // namespace msdump::limits
