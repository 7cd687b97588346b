#include "graph/load/ir_files.h"

#include <algorithm>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;
using Names = std::vector<std::string>;

constexpr const char* kNpyPath = "rank_0/Net/0/0/Add.Default_Add-op1.0.0.1700000000000001.output.0.DefaultFormat.npy";

// Names of the files found, sorted.
Names names_of(const ScratchDir& scratch, const IrSearch& search) {
  Names names;
  for (const IrFile& file : search.files) names.push_back(file.path.substr(scratch.path().string().size() + 1));
  std::sort(names.begin(), names.end());
  return names;
}

Names found_from(const ScratchDir& scratch, const std::string& dump) {
  const auto index = DumpIndex::build({scratch.file(dump)}, {});
  REQUIRE(index);
  const auto search = find_ir(&*index, {});
  REQUIRE(search);
  return names_of(scratch, *search);
}

IrFile named(const char* path) {
  const auto file = ir_file_of_name(path);
  INFO(path);
  REQUIRE(file);
  return *file;
}

TEST_CASE("a name says rank, graph and whether numbers are final") {
  const auto of_dump = ir_file_of_name("d/rank_3/graphs/ms_output_trace_code_graph_12.ir");
  REQUIRE(of_dump);
  CHECK(of_dump->rank == 3);
  CHECK(of_dump->graph_id == 12);
  CHECK(of_dump->place == OriginPlace::kDump);
  CHECK(named("graph_build_2_0087.ir").graph_id == 2);
  CHECK(named("graph_build_2_0087.ir").place == OriginPlace::kSaved);
  CHECK(named("graph_before_reset_id_0_0093.ir").place == OriginPlace::kDump);
  CHECK(named("trace_code_graph_0012").kind == OriginKind::kIrText);
  CHECK(named("ms_output_trace_code_graph_0.pb").kind == OriginKind::kIrProtobuf);
  CHECK(!ir_file_of_name("trace_code_graph_notes"));
  CHECK(!ir_file_of_name("final_actor_set_kernel_graph_0.txt"));
  CHECK(!ir_file_of_name("actor_set_kernel_graph_0.ir"));
}

TEST_CASE("the IR of a dump is found from every level of it, text before protobuf") {
  const ScratchDir scratch;
  scratch.write(std::string("dump/") + kNpyPath, build_faulty_npy(test::NpyFault::kNone));
  scratch.write("dump/rank_0/graphs/ms_output_trace_code_graph_0.ir", "");
  scratch.write("dump/rank_0/graphs/ms_output_trace_code_graph_0.pb", "");
  scratch.write("dump/rank_0/graphs/ms_output_trace_code_graph_1.pb", "");
  const Names wanted = {"dump/rank_0/graphs/ms_output_trace_code_graph_0.ir",
                        "dump/rank_0/graphs/ms_output_trace_code_graph_1.pb"};
  for (const char* place : {"dump", "dump/rank_0", "dump/rank_0/Net", "dump/rank_0/Net/0/0"}) {
    INFO(place);
    CHECK(found_from(scratch, place) == wanted);
  }
}

TEST_CASE("each IR is read once, by whatever paths it is found") {
  const ScratchDir scratch;
  for (const char* step : {"0", "1"})
    scratch.write(std::string("dump/rank_0/Net/0/") + step +
                      "/Add.Default_Add-op1.0.0.1700000000000001.output.0.DefaultFormat.npy",
                  build_faulty_npy(test::NpyFault::kNone));
  const std::string graphs = "dump/rank_0/graphs/";
  scratch.write(graphs + "ms_output_trace_code_graph_0.ir", "");
  scratch.write(graphs + "ms_output_trace_code_graph_0.pb", "");
  const auto index = DumpIndex::build({scratch.file("dump/rank_0/Net/0/0"), scratch.file("dump/rank_0/Net/0/1")}, {});
  REQUIRE(index);
  const Names wanted = {graphs + "ms_output_trace_code_graph_0.ir"};
  CHECK(names_of(scratch, *find_ir(&*index, {})) == wanted);
  CHECK(names_of(scratch, *find_ir(nullptr, {scratch.file(graphs + "*"), scratch.file(graphs)})) == wanted);
}

TEST_CASE("of save_graphs beside a dump the final snapshot of each graph is taken") {
  const ScratchDir scratch;
  scratch.write(std::string("run/dump/") + kNpyPath, build_faulty_npy(test::NpyFault::kNone));
  for (const char* name :
       {"graph_build_0_0087.ir", "graph_build_0_0090.ir", "graph_build_1_0134.ir", "trace_code_graph_0092",
        "16_execute_0466.ir", "13_validate_0040.ir", "graph_before_reset_id_0_0085.ir",
        "verbose_ir_files/hwopt_common_0441.ir", "actor_set/actor_set_0.ir"})
    scratch.write(std::string("run/save_graphs/") + name, "");
  CHECK(found_from(scratch, "run/dump") ==
        Names{"run/save_graphs/graph_build_0_0090.ir", "run/save_graphs/graph_build_1_0134.ir"});
}

TEST_CASE("the saved snapshot nearest to what ran is taken, whatever number stands before its name") {
  const ScratchDir scratch;
  scratch.write(std::string("run/dump/") + kNpyPath, build_faulty_npy(test::NpyFault::kNone));
  for (const char* name :
       {"13_validate_0040.ir", "15_task_emit_0070.ir", "16_execute_0066.ir", "2_type_inference_0012.ir"})
    scratch.write(std::string("run/save_graphs/") + name, "");
  CHECK(found_from(scratch, "run/dump") == Names{"run/save_graphs/16_execute_0066.ir"});
}

TEST_CASE("an IR two folders above a dump is another run's") {
  const ScratchDir scratch;
  scratch.write(std::string("runs/today/dump/") + kNpyPath, build_faulty_npy(test::NpyFault::kNone));
  scratch.write("runs/graph_build_0_0087.ir", "");
  CHECK(found_from(scratch, "runs/today/dump").empty());
  scratch.write("runs/today/graph_build_0_0087.ir", "");
  CHECK(found_from(scratch, "runs/today/dump") == Names{"runs/today/graph_build_0_0087.ir"});
}

TEST_CASE("only an IR outside of the dump is marked as such") {
  const ScratchDir scratch;
  scratch.write(std::string("run/dump/") + kNpyPath, build_faulty_npy(test::NpyFault::kNone));
  scratch.write("run/dump/rank_0/graphs/ms_output_trace_code_graph_0.ir", "");
  const auto outside = [&](const char* dump) {
    const auto index = DumpIndex::build({scratch.file(dump)}, {});
    REQUIRE(index);
    const auto search = find_ir(&*index, {});
    REQUIRE(search);
    REQUIRE(search->files.size() == 1);
    return search->files[0].outside;
  };
  CHECK(!outside("run/dump"));
  CHECK(outside("run/dump/rank_0/Net/0/0"));
}

TEST_CASE("a saved graph without an extension is found inside a dump and beside it") {
  const ScratchDir scratch;
  scratch.write(std::string("run/dump/") + kNpyPath, build_faulty_npy(test::NpyFault::kNone));
  scratch.write("run/save_graphs/trace_code_graph_0092", "");
  scratch.write("run/save_graphs/16_execute_0466.ir", "");
  CHECK(found_from(scratch, "run/dump") == Names{"run/save_graphs/trace_code_graph_0092"});
  CHECK(found_from(scratch, "run") == Names{"run/save_graphs/trace_code_graph_0092"});
}

TEST_CASE("what the user names is read whatever it is called, and globs are expanded") {
  const ScratchDir scratch;
  scratch.write("a/x.txt", "");
  scratch.write("a/graph_build_0_0001.ir", "");
  scratch.write("a/graph_build_1_0002.ir", "");
  CHECK(names_of(scratch, *find_ir(nullptr, {scratch.file("a/x.txt")})) == Names{"a/x.txt"});
  CHECK(find_ir(nullptr, {scratch.file("a/graph_build_*")})->files.size() == 2);
  CHECK(find_ir(nullptr, {scratch.file("a")})->files.size() == 2);
  const auto missing = find_ir(nullptr, {scratch.file("nothing*")});
  REQUIRE(!missing);
  CHECK(missing.error().code == ErrorCode::kNotFound);
}

}  // namespace
}  // namespace msdump
