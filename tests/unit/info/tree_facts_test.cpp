#include "info/tree_facts.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

namespace fs = std::filesystem;
using test::ScratchDir;
using Words = std::vector<std::string>;

struct Tree {
  DumpIndex index;
  TreeFacts facts;

  // "PATH: WHAT"
  [[nodiscard]] Words findings() const {
    Words words;
    for (const TreeFinding& one : facts.findings) words.push_back(one.path + ": " + one.text);
    return words;
  }
};

Tree look_at(const std::string& root) {
  auto index = DumpIndex::build({root}, {});
  REQUIRE(index);
  TreeFacts facts = tree_facts_of(*index);
  return {std::move(*index), std::move(facts)};
}

Tree look_at(const ScratchDir& scratch) { return look_at(scratch.path().string()); }

std::string npy_name(int number, std::string_view io = "output", std::string_view dtype = "float32") {
  return fmt::format("Add.Default_Add-op{}.0.0.17339054468197{:02}.{}.0.DefaultFormat.{}.npy", number, number, io,
                     dtype);
}

void write_arrays(const ScratchDir& scratch, const std::string& folder, int count) {
  for (int i = 0; i < count; ++i) scratch.write(folder + "/" + npy_name(i), test::build_npy({}));
}

TEST_CASE("a tree is counted by what names and folders say") {
  const ScratchDir scratch;
  write_arrays(scratch, "rank_0/Net/1/3", 2);
  write_arrays(scratch, "rank_1/Net/1/3", 1);
  scratch.write("rank_1/Net/1/3/" + npy_name(5, "input", "int8"), test::build_npy({}));
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir", "#IR entry : @g");
  scratch.write("rank_0/.dump_metadata/config.json", R"({"device_target":"CPU","ms_version":"2.7.0"})");
  const Tree tree = look_at(scratch);
  const TreeFacts& facts = tree.facts;
  CHECK(facts.framework.framework == "MindSpore");
  CHECK(facts.framework.text == "2.7.0");
  CHECK(facts.ranks == std::set<int64_t>{0, 1});
  CHECK(facts.graphs == std::set<int64_t>{1});
  CHECK(facts.steps == std::set<int64_t>{3});
  CHECK(facts.files == 6);
  CHECK(facts.tensor_files == 4);
  CHECK(facts.tensor_bytes == 4 * test::build_npy({}).size());
  CHECK(facts.inputs == 1);
  CHECK(facts.outputs == 3);
  CHECK(facts.dtypes == std::map<DType, uint64_t>{{DType::kFloat32, 3}, {DType::kInt8, 1}});
  CHECK(facts.op_types == std::map<std::string_view, uint64_t>{{"Add", 4}});
  REQUIRE(facts.layouts.size() == 1);
  CHECK(facts.layouts[0] == std::pair(Layout::kTree, uint64_t{4}));
  REQUIRE(facts.kinds.size() == 3);
  CHECK(facts.kinds[0].kind == FileKind::kNpy);
  CHECK(facts.kinds[0].files == 4);
  CHECK(facts.findings.empty());
  CHECK(facts.not_understood.empty());
}

TEST_CASE("each kind, layout, dtype and format has its number of files") {
  const ScratchDir scratch;
  const std::string array = test::build_npy({});
  scratch.write("rank_0/Net/0/0/Parameter.w.0.0.1733905446819790.output.0.NHWC.bfloat16.npy", array);
  scratch.write("rank_0/Net/0/0/Mul.a.0.0.1733905446819791.input.0.NHWC.float32.npy", array);
  scratch.write("rank_0/Net/2/7/Mul.b.0.0.1733905446819791.output.0.NCHW.float32.npy", array);
  scratch.write("rank_0/Net/2/7/Add.c.0.0.1733905446819792", std::string(100, 'x'));
  scratch.write("rank_3/Net/2/9/statistic.csv", std::string(200, 'x'));
  scratch.write("rank_4/Net/5/8/notes.txt", "hello");
  scratch.write("Opdebug.Node_OpDebug.1.2.1700000000000000", std::string(3000, 'x'));
  scratch.write("plain.npy", array);
  const Tree tree = look_at(scratch);
  const TreeFacts& facts = tree.facts;
  CHECK((facts.files == 8 && facts.bytes == 4 * array.size() + 100 + 200 + 5 + 3000));
  CHECK((facts.tensor_files == 5 && facts.tensor_bytes == 4 * array.size() + 100));
  CHECK(facts.ranks == std::set<int64_t>{0, 3});
  CHECK(facts.graphs == std::set<int64_t>{0, 2});
  CHECK(facts.steps == std::set<int64_t>{0, 7, 9});
  CHECK((facts.inputs == 1 && facts.outputs == 2 && facts.parameters == 1));
  CHECK(facts.dtypes == std::map<DType, uint64_t>{{DType::kFloat32, 2}, {DType::kBfloat16, 1}});
  CHECK(facts.formats == std::map<Format, uint64_t>{{Format::kNHWC, 2}, {Format::kNCHW, 1}});
  CHECK(facts.op_types == std::map<std::string_view, uint64_t>{{"Parameter", 1}, {"Mul", 2}, {"Add", 1}});
  Words words;
  for (const auto& [layout, count] : facts.layouts) words.push_back(fmt::format("{} {}", name_of(layout), count));
  for (const KindCount& one : facts.kinds)
    words.push_back(fmt::format("{} {} {}", name_of(one.kind), one.files, one.bytes));
  CHECK(words == Words{"MindSpore tree rank_R/NET/GRAPH/STEP 5", "plain folder 2", "dump_file 1 100", "opdebug 1 3000",
                       "npy 4 608", "statistic 1 200", "unknown 1 5"});
}

TEST_CASE("files that nothing reads are named, those that may be dump files as an open question") {
  const ScratchDir scratch;
  scratch.write("notes.txt", "hello");
  scratch.write("strange", "hello");
  scratch.write("ge_proto.pbtxt", "graph");
  const Tree tree = look_at(scratch);
  CHECK(tree.facts.not_understood.size() == 3);
  size_t questions = 0;
  for (const uint32_t number : tree.facts.not_understood) questions += is_open_question(tree.index.files()[number]);
  CHECK(questions == 1);
  CHECK(tree.facts.tensor_files == 0);
}

TEST_CASE("an overflow record is no tensor") {
  const ScratchDir scratch;
  scratch.write("Opdebug.Node_OpDebug.1.2.1700000000000000", std::string(3000, 'x'));
  const Tree tree = look_at(scratch);
  REQUIRE(tree.facts.kinds.size() == 1);
  CHECK(tree.facts.kinds[0].kind == FileKind::kOpdebug);
  CHECK(tree.facts.tensor_files == 0);
}

TEST_CASE("empty files and files too small for their header are odd") {
  const ScratchDir scratch;
  scratch.write("a/" + npy_name(1), "");
  scratch.write("a/" + npy_name(2), "\x93NUMPY\x01");
  scratch.write("a/statistic.csv", "Op Type");
  scratch.write("a/notes.txt", "");
  CHECK(look_at(scratch).findings() == Words{"a/" + npy_name(1) + ": empty",
                                             "a/" + npy_name(2) + ": 7 bytes: too small for its header",
                                             "a/statistic.csv: 7 bytes: too small for its header"});
}

TEST_CASE("a raw file that contradicts its name is odd, a scalar without a byte is empty") {
  const ScratchDir scratch;
  const std::string good = "x_output_0_shape_2_3_Float32_DefaultFormat.bin";
  scratch.write(good, std::string(24, 'x'));
  scratch.write("empty_output_0_shape_0_Float32_DefaultFormat.bin", "");
  scratch.write("short_output_0_shape_2_3_Float32_DefaultFormat.bin", std::string(20, 'x'));
  scratch.write("huge_output_0_shape_9000000000_9000000000_Float32_DefaultFormat.bin", "x");
  scratch.write("Add.a.1.2.1700000000000000.output.0.ND.BF16", "odd");
  CHECK(
      look_at(scratch).findings() ==
      Words{
          "empty_output_0_shape_0_Float32_DefaultFormat.bin: empty",
          "Add.a.1.2.1700000000000000.output.0.ND.BF16: 3 bytes are not a whole number of bfloat16",
          "huge_output_0_shape_9000000000_9000000000_Float32_DefaultFormat.bin: 9000000000x9000000000 of float32, as "
          "its name says, is too large to be true",
          "short_output_0_shape_2_3_Float32_DefaultFormat.bin: 20 bytes; 2x3 of float32, as its name says, takes 24"});
}

TEST_CASE("a step with fewer tensor files than the others of its rank and graph is odd") {
  const ScratchDir scratch;
  for (const char* step : {"0", "1", "2"}) write_arrays(scratch, std::string("rank_0/Net/0/") + step, 3);
  write_arrays(scratch, "rank_0/Net/0/3", 1);
  // Another graph has its own measure.
  for (const char* step : {"0", "1", "2", "3"}) write_arrays(scratch, std::string("rank_0/Net/1/") + step, 1);
  CHECK(look_at(scratch).findings() == Words{"rank_0/Net/0/3: 1 tensor file; others of this rank and graph have 3"});
}

TEST_CASE("steps that all differ are measured by nothing") {
  const ScratchDir scratch;
  int count = 1;
  for (const char* step : {"0", "1", "2", "3"}) write_arrays(scratch, std::string("rank_0/Net/0/") + step, count++);
  CHECK(look_at(scratch).findings().empty());
}

TEST_CASE("overflow records come in some steps only") {
  const ScratchDir scratch;
  const std::string record = "Opdebug.Node_OpDebug.1.2.17000000000000";
  for (const char* name : {"0/00", "0/01", "1/02", "2/03"}) {
    const std::string place(name);
    scratch.write("rank_0/debug_files/" + place.substr(0, 2) + record + place.substr(2), std::string(3000, 'x'));
  }
  CHECK(look_at(scratch).findings().empty());
}

TEST_CASE("an empty step is odd once") {
  const ScratchDir scratch;
  write_arrays(scratch, "rank_0/Net/0/0", 2);
  write_arrays(scratch, "rank_0/Net/0/1", 2);
  scratch.make_dir("rank_0/Net/0/2");
  CHECK(look_at(scratch).findings() == Words{"rank_0/Net/0/2: nothing in the folder of this step"});
}

TEST_CASE("a step that is the whole tree is empty, too, unless it has folders") {
  const ScratchDir scratch;
  const std::string step = scratch.make_dir("rank_0/Net/0/2");
  CHECK(look_at(step).findings() == Words{".: nothing in the folder of this step"});
  scratch.write("rank_0/Net/0/2/more/notes.txt", "hello");
  CHECK(look_at(step).findings().empty());
}

TEST_CASE("a step whose files are in a folder of their own is not empty") {
  const ScratchDir scratch;
  write_arrays(scratch, "rank_0/Net/0/0", 2);
  scratch.write("rank_0/Net/0/1/more/notes.txt", "hello");
  CHECK(look_at(scratch).findings().empty());
}

TEST_CASE("layouts come by their number of files") {
  const ScratchDir scratch;
  write_arrays(scratch, "rank_0/Net/0/0", 1);
  for (const char* name : {"a.npy", "b.npy"}) scratch.write(name, test::build_npy({}));
  const auto layouts = look_at(scratch).facts.layouts;
  REQUIRE(layouts.size() == 2);
  CHECK(layouts[0].second == 2);
  CHECK(layouts[1] == std::pair(Layout::kTree, uint64_t{1}));
}

TEST_CASE("a rank that lacks steps of the others is odd") {
  const ScratchDir scratch;
  for (const char* step : {"0", "1", "2"}) write_arrays(scratch, std::string("rank_0/Net/0/") + step, 1);
  write_arrays(scratch, "rank_1/Net/0/0", 1);
  write_arrays(scratch, "rank_2/Net/0/0", 1);
  write_arrays(scratch, "rank_2/Net/0/1", 1);
  CHECK(look_at(scratch).findings() == Words{"rank_1: rank 1 lacks 2 steps from 1 to 2, which other ranks have",
                                             "rank_2: rank 2 lacks step 2, which other ranks have"});
}

TEST_CASE("what kept the index from being complete is odd") {
  const ScratchDir scratch;
  scratch.write("a/mapping.csv", "no comma here\n");
  fs::create_symlink("nowhere", scratch.file("a/dangling"));
  const Tree tree = look_at(scratch);
  REQUIRE(tree.facts.findings.size() == 2);
  CHECK(tree.facts.findings[0].kind == TreeFindingKind::kProblem);
  CHECK(tree.facts.findings[0].path == "a/dangling");
  CHECK(tree.facts.findings[1].path == "a/mapping.csv");
}

TEST_CASE("a file is too small when it is a byte shorter than the least of its kind") {
  const ScratchDir scratch;
  const std::string titles = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape";
  for (const auto& [name, least] : {std::pair<std::string, size_t>{npy_name(1), 58},
                                    {"Add.a.0.0.1733905446819792", 10},
                                    {"Opdebug.Node_OpDebug.1.2.1700000000000000", 10},
                                    {"a.pt", 22},
                                    {"statistic.csv", titles.size()},
                                    {"dump.json", 11},
                                    {"debug.json", 11},
                                    {"stack.json", 1}}) {
    scratch.write("good/" + name, std::string(least, 'x'));
    scratch.write("small/" + name, std::string(least - 1, 'x'));
  }
  Words words = look_at(scratch).findings();
  std::sort(words.begin(), words.end());
  CHECK(words == Words{"small/" + npy_name(1) + ": 57 bytes: too small for its header",
                       "small/Add.a.0.0.1733905446819792: 9 bytes: too small for its header",
                       "small/Opdebug.Node_OpDebug.1.2.1700000000000000: 9 bytes: too small for its header",
                       "small/a.pt: 21 bytes: too small for its header",
                       "small/debug.json: 10 bytes: too small for its header",
                       "small/dump.json: 10 bytes: too small for its header", "small/stack.json: empty",
                       "small/statistic.csv: 76 bytes: too small for its header"});
}

TEST_CASE("at least half of the steps are the measure of the others; of equal halves the larger number") {
  const ScratchDir scratch;
  for (const auto& [step, count] : {std::pair{"0", 2}, {"1", 2}, {"2", 3}, {"3", 3}, {"4", 1}})
    write_arrays(scratch, std::string("rank_0/Net/0/") + step, count);
  for (const auto& [step, count] : {std::pair{"0", 2}, {"1", 2}, {"2", 3}, {"3", 3}})
    write_arrays(scratch, std::string("rank_0/Net/1/") + step, count);
  CHECK(look_at(scratch).findings() == Words{"rank_0/Net/1/0: 2 tensor files; others of this rank and graph have 3",
                                             "rank_0/Net/1/1: 2 tensor files; others of this rank and graph have 3"});
}

TEST_CASE("findings come by kind, whatever order they are found in") {
  const ScratchDir scratch;
  scratch.write("a/b_output_0_shape_2_3_Float32_DefaultFormat.bin", "x");
  scratch.write("a/c_output_0_shape_0_Float32_DefaultFormat.bin", "");
  scratch.write("a/mapping.csv", "no comma here\n");
  scratch.write("a/z.npy", "x");
  scratch.write("a/y.npy", "");
  std::vector<TreeFindingKind> kinds;
  for (const TreeFinding& one : look_at(scratch).facts.findings) kinds.push_back(one.kind);
  CHECK(kinds == std::vector{TreeFindingKind::kProblem, TreeFindingKind::kEmptyFile, TreeFindingKind::kEmptyFile,
                             TreeFindingKind::kTooSmall, TreeFindingKind::kSizeAgainstName});
}

TEST_CASE("a rank whose folders have no common part lies in the whole tree") {
  const ScratchDir scratch;
  for (const char* step : {"0", "1"}) write_arrays(scratch, std::string("rank_0/Net/0/") + step, 1);
  write_arrays(scratch, "x/rank_1/Net/0/0", 1);
  write_arrays(scratch, "y/rank_1/Net/0/0", 1);
  CHECK(look_at(scratch).findings() == Words{".: rank 1 lacks step 1, which other ranks have"});
}

TEST_CASE("files that the index of a checkpoint names and that are missing are odd") {
  const ScratchDir scratch;
  scratch.write("a/1.safetensors", "");
  scratch.write("b/2.safetensors", "");
  const std::string index = R"({"weight_map":{"x":"1.safetensors","y":"2.safetensors","z":"3.safetensors"}})";
  for (const char* const folder : {"a", "b", "c"})
    scratch.write(std::string(folder) + "/model.safetensors.index.json", index);
  scratch.write("d/model.safetensors.index.json", "damaged");
  const Words findings = look_at(scratch).findings();
  const auto reported = [&](const std::string& line) {
    return std::find(findings.begin(), findings.end(), line) != findings.end();
  };
  CHECK(reported("a/model.safetensors.index.json: without 2 of 3 files: 2.safetensors, .."));
  CHECK(reported("b/model.safetensors.index.json: without 2 of 3 files: 1.safetensors, .."));
  CHECK(reported("c/model.safetensors.index.json: without 3 of 3 files: 1.safetensors, .."));
  CHECK(findings.size() == 5);  // with the two empty files
}

TEST_CASE("headings count findings in words") {
  CHECK(heading(TreeFindingKind::kEmptyFile, 1) == "1 empty file");
  CHECK(heading(TreeFindingKind::kEmptyFile, 2) == "2 empty files");
  CHECK(heading(TreeFindingKind::kProblem, 2) == "2 places that could not be read");
  CHECK(heading(TreeFindingKind::kTooSmall, 1) == "1 file too small for its header");
  CHECK(heading(TreeFindingKind::kTooSmall, 2) == "2 files too small for their headers");
  CHECK(heading(TreeFindingKind::kSizeAgainstName, 1) == "1 file whose size contradicts its name");
  CHECK(heading(TreeFindingKind::kSizeAgainstName, 2) == "2 files whose sizes contradict their names");
  CHECK(heading(TreeFindingKind::kEmptyStep, 1) == "1 empty step");
  CHECK(heading(TreeFindingKind::kIncompleteStep, 2) == "2 steps with fewer tensor files than others");
  CHECK(heading(TreeFindingKind::kLackingSteps, 1) == "1 rank that lacks steps");
  CHECK(heading(TreeFindingKind::kMissingShards, 1) == "1 checkpoint that lacks files");
  CHECK(heading(TreeFindingKind::kMissingShards, 2) == "2 checkpoints that lack files");
  CHECK(heading(TreeFindingKind::kLackingSteps, 3) == "3 ranks that lack steps");
}

}  // namespace
}  // namespace msdump
