#include "dump/layouts/layout.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dump/index/selection.h"
#include "support/catch.h"

namespace msdump {
namespace {

// "rank graph step", "-" for what the folder does not say.
std::string identity(std::string_view folder) {
  const FolderIdentity found = identify_folder(folder);
  const auto number = [](const std::optional<int64_t>& value) { return value ? std::to_string(*value) : "-"; };
  return number(found.rank) + " " + number(found.graph) + " " + number(found.step);
}

TEST_CASE("folders of MindSpore 1.3 and later") {
  CHECK(identity("/data/dump/rank_3/Net/1/20") == "3 1 20");
  CHECK(identity("/data/dump/rank_0/Net/1/constants") == "0 1 -");
  CHECK(identity("/data/dump/rank_0/_/2/0") == "0 2 0");
  CHECK(identity("/data/dump/rank_0/exception_data/0/0") == "0 0 0");
  CHECK(identity("/data/dump/rank_0/Net/1") == "0 1 -");
  CHECK(identity("/data/dump/rank_0/Net") == "0 - -");
  CHECK(identity("/data/dump/rank_0") == "0 - -");
  CHECK(identity("/data/dump/rank_0/graphs") == "0 - -");
}

TEST_CASE("folders of overflow records have a step and no graph") {
  CHECK(identity("/data/rank_0/debug_files/5") == "0 - 5");
  CHECK(identity("/data/rank_0/debug_files") == "0 - -");
}

TEST_CASE("folders of MindSpore 1.0 to 1.2") {
  CHECK(identity("/data/net/device_4/iteration_7") == "4 - 7");
  CHECK(identity("/data/device_4/net_graph_2/2/9") == "4 2 9");
  CHECK(identity("/data/net/iteration_7") == "- - 7");
}

TEST_CASE("folders of GE and ACL dumps") {
  CHECK(identity("/data/20240102030405/2/model_name/1/3") == "2 1 3");
  CHECK(identity("/data/20240102030405/2/1/3") == "2 1 3");
  CHECK(identity("/data/5/20240102030405/2/model_name/1/0") == "2 1 5");
  CHECK(identity("/data/5/20240102030405/2/1/0") == "2 1 5");
  CHECK(identity("/data/5/20240102030405/2/0") == "2 - 5");  // jit_level O0: S/TIME/R/S'
  CHECK(identity("/data/5/20240102030405/2") == "2 - 5");
}

TEST_CASE("folders of msprobe") {
  CHECK(identity("/out/step3/rank1/dump_tensor_data") == "1 - 3");
  CHECK(identity("/out/rank_1/20240102030405/step_3") == "1 - 3");
  CHECK(identity("/out/step3/proc12/dump_tensor_data") == "- - 3");
}

// python/msprobe/pytorch/aclgraph_dumper.py: _step_rank_dir, _tensor_data_dir.
TEST_CASE("folders of msprobe's AclGraphDumper") {
  CHECK(identity("/out/step3/pid12") == "- - 3");
  CHECK(identity("/out/step3/pid12/dump_tensor_data") == "- - 3");
  CHECK(identity("/out/step3/rank1/dump_tensor_data") == "1 - 3");
  CHECK(identity("/out/dump_tensor_data/rank1") == "1 - -");
  CHECK(identity("/out/dump_tensor_data/pid12") == "- - -");
  CHECK(identity("/out/other/rank1") == "- - -");
  CHECK(identity("/out/step3/pid") == "- - -");
  CHECK(identify_folder("/out/step3/pid12").layout == Layout::kMsprobe);
  CHECK(identify_folder("/out/dump_tensor_data/pid12").layout == Layout::kMsprobe);
  CHECK(identify_folder("/out/dump_tensor_data/rank").layout == Layout::kFlat);
}

// ptdbg_ascend/dump/dump.py: rename_; its documents.
TEST_CASE("folders of ptdbg_ascend have the version of their writer above the rank or step") {
  CHECK(identity("/d/ptdbg_dump_v2.0/rank3/dump") == "3 - -");
  CHECK(identity("/d/all_v4.0/rank0/api_stack_dump") == "0 - -");
  CHECK(identity("/d/ptdbg_dump_v5.0.1/step2/rank3/dump") == "3 - 2");
  CHECK(identify_folder("/d/ptdbg_dump_v2.0/rank3").layout == Layout::kPtdbg);
  CHECK(identify_folder("/d/ptdbg_dump_v2.0/rank3").depth == 2);
  CHECK(identify_folder("/d/ptdbg_dump_v2.0/step1/rank3/dump").depth == 4);
  CHECK(identify_folder("/d/run/step1/rank3/dump").layout == Layout::kMsprobe);
  for (const char* const other : {"/d/_v2.0/rank3", "/d/run_v/rank3", "/d/run_vx/rank3", "/d/run_v2-1/rank3",
                                  "/d/run_v.2/rank3", "/d/ptdbg_dump_v2.0/rank"})
    CHECK(identity(other) == "- - -");
}

// python/torchair/fx_dumper.py: step_path; docs/zh/ascend_ir/features/advanced/data_dump.md.
TEST_CASE("folders of torchair name the global rank, also above a GE dump of a device") {
  CHECK(identity("/d/worldsize8_global_rank5/graph_2/7") == "5 2 7");
  CHECK(identity("/d/worldsize8_global_rank5/gm_20240125031118787351_dump/7") == "5 - 7");
  CHECK(identity("/d/worldsize1_global_rank0") == "0 - -");
  CHECK(identity("/d/worldsize16_global_rank9/20241121145738/1/ge_default_20200808163719_121/3/0") == "9 3 0");
  CHECK(identity("/d/worldsize_global_rank9") == "- - -");
  CHECK(identity("/d/worldsize8_global_rank") == "- - -");
  CHECK(identify_folder("/d/worldsize8_global_rank5/graph_2/7").layout == Layout::kTorchair);
  CHECK(identify_folder("/d/worldsize8_global_rank5/20241121145738/1/m/3/0").layout == Layout::kGe);
}

// ccsrc/atb_probe/atb_probe.cpp; docs/en/dump/atb_data_dump_instruct.md.
TEST_CASE("folders of msprobe's ATB dump have device and run") {
  CHECK(identity("/d/atb_dump_data/data/1_39945/2/0_WordEmbedding/before") == "1 - 2");
  CHECK(identity("/d/atb_dump_data/data/1_39945") == "1 - -");
  CHECK(identity("/d/atb_dump_data/info/layer/1_39945") == "- - -");
  CHECK(identity("/d/data/1_39945/2") == "- - -");
  CHECK(identify_folder("/d/atb_dump_data/data/1_39945/2").layout == Layout::kAtb);
}

TEST_CASE("folders of msprobe's monitor have a rank between a time and a number") {
  CHECK(identity("/d/Nov23_15-50-51-rank12-04eb6adc") == "12 - -");
  CHECK(identify_folder("/d/Nov23_15-50-51-rank0-04eb6adc").layout == Layout::kMonitor);
  CHECK(name_of(Layout::kMonitor) == "msprobe's monitor");
  for (const char* const other :
       {"/d/x-rank1-04eb6ad", "/d/x-rank1-04eb6adcc", "/d/x-rank1-04EB6ADC", "/d/x-rank-04eb6adc",
        "/d/x-rank1a-04eb6adc", "/d/x-rank1", "/d/rank1-04eb6adc", "/d/04eb6adc-rank1"})
    CHECK(identify_folder(other).layout == Layout::kFlat);
}

TEST_CASE("folders of msit have a device, a process and a token") {
  CHECK(identity("/out/torch_tensors/npu1_4321/2/root.model.layers.0") == "1 - 2");
  CHECK(identity("/out/torch_tensors/cuda:3_99/0") == "3 - 0");
  CHECK(identity("/out/torch_tensors/cpu_99/0") == "- - 0");
  CHECK(identity("/out/torch_tensors") == "- - -");
  CHECK(identify_folder("/out/torch_tensors/npu1_4321/2/root").layout == Layout::kMsit);
  CHECK(identify_folder("/out/torch_tensors/images/2").layout == Layout::kFlat);
  CHECK(identity("/out/torch_tensors/npu99999999999999999999_1/2") == "- - 2");
}

TEST_CASE("folders of the profiler are known, also from inside") {
  CHECK(identify_folder("/d/PROF_000001_20240101/host").profiler);
  CHECK(identify_folder("/d/host_1_2024_ascend_ms/ASCEND_PROFILER_OUTPUT").profiler);
  CHECK(identify_folder("/d/host_1_2024_ascend_pt").profiler);
  CHECK_FALSE(identify_folder("/d/PROFILE/host").profiler);
}

TEST_CASE("an offline model has no step, an exception dump neither") {
  CHECK(identity("/data/20240102030405/2/7") == "2 7 -");
  CHECK(identity("/work/extra-info/data-dump/3") == "3 - -");
}

TEST_CASE("folders say which layout they belong to") {
  const auto layout = [](std::string_view folder) { return identify_folder(folder).layout; };
  CHECK(layout("/data/rank_3/Net/1/20") == Layout::kTree);
  CHECK(layout("/data/rank_3/Net/1/constants") == Layout::kConstants);
  CHECK(layout("/data/rank_3/debug_files/1") == Layout::kOverflow);
  CHECK(layout("/data/net/device_4/iteration_7") == Layout::kOldSync);
  CHECK(layout("/data/net/iteration_7") == Layout::kOldSync);
  CHECK(layout("/data/device_4/net_graph_2/2/9") == Layout::kOldAsync);
  CHECK(layout("/data/20240102030405/2/model_name/1/3") == Layout::kGe);
  CHECK(layout("/data/20240102030405/2/7") == Layout::kOfflineModel);
  CHECK(layout("/data/5/20240102030405/2/model_name/1/0") == Layout::kAcl);
  CHECK(layout("/out/rank_1/20240102030405/step_3") == Layout::kAdump);
  CHECK(layout("/out/step3/rank1/dump_tensor_data") == Layout::kMsprobe);
  CHECK(layout("/out/step3/rank/dump_tensor_data") == Layout::kMsprobe);
  CHECK(layout("/work/extra-info/data-dump/3") == Layout::kException);
  CHECK(layout("/home/user/arrays") == Layout::kFlat);
  CHECK(identify_folder("/out/step3/rank1/dump_tensor_data").tensor_data);
  CHECK_FALSE(identify_folder("/out/step3/rank1").tensor_data);
}

TEST_CASE("each layout has a name of its own") {
  std::set<std::string_view> names;
  constexpr auto kLast = static_cast<int>(Layout::kMsit);
  for (int layout = 0; layout <= kLast; ++layout) names.insert(name_of(static_cast<Layout>(layout)));
  CHECK(names.size() == kLast + 1);
  CHECK(name_of(Layout::kFlat) == "plain folder");
  CHECK(name_of(Layout::kConstants) == "constants of a MindSpore tree");
  CHECK(name_of(Layout::kAcl) == "ACL tree STEP/TIME/DEVICE");
}

TEST_CASE("the nearest folder that says something wins") {
  CHECK(identity("/data/rank_9/backup/rank_3/Net/1/20") == "3 1 20");
  CHECK(identity("/data/step1/rank1/rank_3/Net/1/20") == "3 1 20");
}

TEST_CASE("folders that say nothing") {
  CHECK(identity("") == "- - -");
  CHECK(identity("/") == "- - -");
  CHECK(identity("/home/user/dump") == "- - -");
  CHECK(identity("/data/rank_/x") == "- - -");
  CHECK(identity("/data/rank_a/x") == "- - -");
  CHECK(identity("/data/rank_99999999999999999999/Net/1/2") == "- - -");
  CHECK(identity("/data/20240102030405") == "- - -");
  CHECK(identity("//./data//rank_1/./Net/2//3/") == "1 2 3");
}

Identity add_of(int64_t rank) {
  Identity add;
  add.rank = rank;
  add.graph = 0;
  add.name.op_type = "Add";
  add.name.op_name = "Default_net_Add-op1";
  return add;
}

TEST_CASE("an empty selection selects everything") {
  const Selection all;
  CHECK(all.everything());
  CHECK(all.matches_file({}));
  CHECK(all.matches_tensor(Io::kSpace, "7"));
  const auto compiled = Selection::compile({});
  REQUIRE(compiled);
  CHECK(compiled->everything());
}

// Options with one or two of them set.
SelectionOptions with(std::string SelectionOptions::*option, std::string value, SelectionOptions options = {}) {
  options.*option = std::move(value);
  return options;
}
SelectionOptions with(std::vector<std::string> SelectionOptions::*option, std::vector<std::string> value) {
  SelectionOptions options;
  options.*option = std::move(value);
  return options;
}
const auto kRank = &SelectionOptions::rank, kGraph = &SelectionOptions::graph, kStep = &SelectionOptions::step;
const auto kRegex = &SelectionOptions::regex, kIo = &SelectionOptions::io, kSlot = &SelectionOptions::slot;
const auto kOp = &SelectionOptions::op, kOpType = &SelectionOptions::op_type;

bool selects(const SelectionOptions& options, const Identity& identity) {
  const auto selection = Selection::compile(options);
  REQUIRE(selection);
  CHECK_FALSE(selection->everything());
  return selection->matches_file(identity);
}

TEST_CASE("files are selected by rank and graph and step") {
  CHECK(selects(with(kRank, "0|2-3"), add_of(2)));
  CHECK_FALSE(selects(with(kRank, "0|2-3"), add_of(1)));
  CHECK(selects(with(kGraph, "0", with(kRank, "0")), add_of(0)));
  CHECK_FALSE(selects(with(kGraph, "1", with(kRank, "0")), add_of(0)));
  // What the file does not say matches only when it is not asked for.
  CHECK_FALSE(selects(with(kStep, "0"), add_of(0)));
  CHECK_FALSE(selects(with(kRank, "0"), {}));
}

TEST_CASE("files are selected by globs and a regular expression") {
  CHECK(selects(with(kOp, {"*Mul*", "Default_*-op1"}), add_of(0)));
  CHECK_FALSE(selects(with(kOp, {"net"}), add_of(0)));
  CHECK(selects(with(kOpType, {"Add"}), add_of(0)));
  CHECK_FALSE(selects(with(kOpType, {"add"}), add_of(0)));
  CHECK(selects(with(kRegex, "net_.*-op[0-9]+$"), add_of(0)));
  CHECK_FALSE(selects(with(kRegex, "^net"), add_of(0)));
  CHECK_FALSE(selects(with(kRegex, "^net", with(kOp, {"*"})), add_of(0)));
}

TEST_CASE("tensors are selected by io and slot") {
  const auto selection = Selection::compile(with(kSlot, "1", with(kIo, "input")));
  REQUIRE(selection);
  CHECK(selection->matches_tensor(Io::kInput, "1"));
  CHECK_FALSE(selection->matches_tensor(Io::kInput, "0"));
  CHECK_FALSE(selection->matches_tensor(Io::kOutput, "1"));
  CHECK_FALSE(selection->matches_tensor(Io::kSpace, "1"));
}

TEST_CASE("options that cannot be understood name the option") {
  const auto message_of = [](const SelectionOptions& options) {
    const auto selection = Selection::compile(options);
    REQUIRE_FALSE(selection);
    CHECK(selection.error().code == ErrorCode::kUsage);
    return selection.error().message;
  };
  CHECK(message_of(with(kRank, "x")) == "--rank: 'x' is not a number or a range such as 5-8");
  CHECK(message_of(with(kGraph, "1|")) == "--graph: '' is not a number or a range such as 5-8");
  CHECK(message_of(with(kStep, "3-1")) == "--step: '3-1' is not a number or a range such as 5-8");
  CHECK(message_of(with(kRegex, "(")).starts_with("--regex: "));
  CHECK(message_of(with(kIo, "both")) == "--io: 'both' is neither input, output nor parameter");
}

TEST_CASE("a parameter is selected by its name in the IR, whose dots file names have as underscores") {
  Identity weight;
  weight.name.op_type = "Parameter";
  weight.name.op_name = "layers_0_conv1_weight";
  CHECK(selects(with(kOp, {"layers.0.conv1.weight"}), weight));
  CHECK(selects(with(kOp, {"*.conv?.weight"}), weight));
  CHECK_FALSE(selects(with(kOp, {"layers.1.*"}), weight));
  weight.name.op_name = "layers.0.conv1.weight";
  CHECK(selects(with(kOp, {"layers.0.conv1.weight"}), weight));
  CHECK_FALSE(selects(with(kOp, {"Default.net.Add-op1"}), add_of(0)));  // of operators a dot is a dot
}

}  // namespace
}  // namespace msdump
