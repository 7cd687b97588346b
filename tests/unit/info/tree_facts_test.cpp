#include "info/tree_facts.h"

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
  [[nodiscard]] Words odd() const {
    Words words;
    for (const Oddity& oddity : facts.odd) words.push_back(path_of(index, oddity) + ": " + describe(index, oddity));
    return words;
  }
};

Tree look_at(const ScratchDir& scratch) {
  auto index = DumpIndex::build({scratch.path().string()}, {});
  REQUIRE(index);
  TreeFacts facts = tree_facts_of(*index);
  return {std::move(*index), std::move(facts)};
}

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
  CHECK(facts.odd.empty());
  CHECK(facts.not_understood.empty());
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
  CHECK(look_at(scratch).odd() == Words{"a/" + npy_name(1) + ": empty",
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
      look_at(scratch).odd() ==
      Words{
          "empty_output_0_shape_0_Float32_DefaultFormat.bin: empty",
          "Add.a.1.2.1700000000000000.output.0.ND.BF16: 3 bytes are no whole number of bfloat16",
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
  CHECK(look_at(scratch).odd() == Words{"rank_0/Net/0/3: 1 tensor file; others of this rank and graph have 3"});
}

TEST_CASE("steps that all differ are measured by nothing") {
  const ScratchDir scratch;
  int count = 1;
  for (const char* step : {"0", "1", "2", "3"}) write_arrays(scratch, std::string("rank_0/Net/0/") + step, count++);
  CHECK(look_at(scratch).odd().empty());
}

TEST_CASE("overflow records come in some steps only") {
  const ScratchDir scratch;
  const std::string record = "Opdebug.Node_OpDebug.1.2.17000000000000";
  for (const char* name : {"0/00", "0/01", "1/02", "2/03"}) {
    const std::string place(name);
    scratch.write("rank_0/debug_files/" + place.substr(0, 2) + record + place.substr(2), std::string(3000, 'x'));
  }
  CHECK(look_at(scratch).odd().empty());
}

TEST_CASE("an empty step is odd once") {
  const ScratchDir scratch;
  write_arrays(scratch, "rank_0/Net/0/0", 2);
  write_arrays(scratch, "rank_0/Net/0/1", 2);
  scratch.make_dir("rank_0/Net/0/2");
  CHECK(look_at(scratch).odd() == Words{"rank_0/Net/0/2: nothing in the folder of this step"});
}

TEST_CASE("a rank that lacks steps of the others is odd") {
  const ScratchDir scratch;
  for (const char* step : {"0", "1", "2"}) write_arrays(scratch, std::string("rank_0/Net/0/") + step, 1);
  write_arrays(scratch, "rank_1/Net/0/0", 1);
  write_arrays(scratch, "rank_2/Net/0/0", 1);
  write_arrays(scratch, "rank_2/Net/0/1", 1);
  CHECK(look_at(scratch).odd() == Words{"rank_1: rank 1 lacks 2 steps from 1 to 2, which other ranks have",
                                        "rank_2: rank 2 lacks step 2, which other ranks have"});
}

TEST_CASE("what kept the index from being complete is odd") {
  const ScratchDir scratch;
  scratch.write("a/mapping.csv", "no comma here\n");
  fs::create_symlink("nowhere", scratch.file("a/dangling"));
  const Tree tree = look_at(scratch);
  REQUIRE(tree.facts.odd.size() == 2);
  CHECK(tree.facts.odd[0].kind == OddityKind::kProblem);
  CHECK(path_of(tree.index, tree.facts.odd[0]) == "a/dangling");
  CHECK(path_of(tree.index, tree.facts.odd[1]) == "a/mapping.csv");
}

TEST_CASE("how many oddities there are is said in words") {
  CHECK(heading(OddityKind::kEmptyFile, 1) == "1 empty file");
  CHECK(heading(OddityKind::kEmptyFile, 2) == "2 empty files");
  CHECK(heading(OddityKind::kLackingSteps, 1) == "1 rank that lacks steps");
  CHECK(heading(OddityKind::kLackingSteps, 3) == "3 ranks that lack steps");
}

}  // namespace
}  // namespace msdump
