#include "dump/names/file_kind.h"

#include <set>
#include <string_view>

#include "dump/index/dump_index.h"
#include "support/catch.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;

TEST_CASE("files that hold no tensors are known by their names") {
  const auto kind = [](std::string_view name) { return name_of(kind_of_name(name)); };
  CHECK(kind("mapping.csv") == "mapping");
  CHECK(kind("statistic.csv") == "statistic");
  CHECK(kind("ms_execution_order_graph_0.csv") == "execution_order");
  CHECK(kind("ms_global_execution_order_graph_0.csv") == "execution_order");
  CHECK(kind("ms_output_trace_code_graph_0.ir") == "ir_text");
  CHECK(kind("ms_output_trace_code_graph_0.pb") == "ir_protobuf");
  CHECK(kind("trace_code_graph_0012") == "ir_text");
  CHECK(kind("trace_code_graph_x") == "unknown");
  CHECK(kind("MatMul.Default_network-Net_MatMul-op2.json") == "kernel_args");
  CHECK(kind("dump.json") == "dump_json");
  CHECK(kind("debug.json") == "debug_json");
  CHECK(kind("stack.json") == "stack_json");
  CHECK(kind("construct.json") == "construct_json");
  CHECK(kind("free_benchmark.csv") == "free_benchmark");
  CHECK(kind("data_dump.json") == "config");
  CHECK(kind("Opdebug.Node_OpDebug.21.7.1597922031178434.output.0.json") == "opdebug");
}

TEST_CASE("what msprobe's tools write is known by its name") {
  const auto kind = [](std::string_view name) { return name_of(kind_of_name(name)); };
  CHECK(kind("accuracy_checking_result_20261123075305.csv") == "acc_check");
  CHECK(kind("accuracy_checking_details_20261123075305.csv") == "acc_check");
  CHECK(kind("api_precision_compare_result_20261123075351.csv") == "precision_compare");
  CHECK(kind("compare_result_20261123075355.csv") == "compare_result");
  CHECK(kind("compare_result_20261123075355.xlsx") == "spreadsheet");
  CHECK(kind("multi_ranks_compare_merge_20261123075355.xlsx") == "spreadsheet");
  CHECK(kind("anomaly_analyze_1795420428087928920.json") == "anomalies");
  CHECK(kind("diff_analyze_1795420428087928920.json") == "anomalies");
  CHECK(kind("anomaly.json") == "anomalies");
  CHECK(kind("anomaly_analyse.json") == "anomalies");
  CHECK(kind("my_anomaly.json") == "config");
  CHECK(kind("module_struct.json") == "module_struct");
  CHECK(kind("grad_reduced_0-1.csv") == "monitor");
  CHECK(kind("module_step0-1.csv") == "monitor");
  for (const char* const name : {"stack_info.csv", "hyper_params_compare.csv", "msprobe_cmp_report_rank0_1.csv"})
    CHECK(kind(name) == "tool_table");
  for (const FileKind read : {FileKind::kMonitor, FileKind::kAccCheck, FileKind::kCompareResult, FileKind::kAnomalies})
    CHECK(is_read(read));
  for (const FileKind named : {FileKind::kSpreadsheet, FileKind::kConfigCheck, FileKind::kToolTable})
    CHECK_FALSE(is_read(named));
}

TEST_CASE("each kind of file is explained in words of its own") {
  std::set<std::string_view> texts;
  constexpr auto kLast = static_cast<int>(FileKind::kText);
  for (int kind = 0; kind <= kLast; ++kind) texts.insert(explanation(static_cast<FileKind>(kind)));
  CHECK(texts.size() == kLast + 1);
  CHECK(explanation(FileKind::kUnknown) == "no name that a dump uses");
  CHECK(explanation(FileKind::kConstructJson) == "which module each of msprobe's operators belongs to");
}

TEST_CASE("graphs and settings of other tools are known by their names") {
  for (const char* name : {"ge_readable_00000.txt", "ge_x.pb", "ge.pbtxt", "a.dot", "hwopt_0.dat"}) {
    INFO(name);
    CHECK(kind_of_name(name) == FileKind::kGraphText);
  }
  CHECK(kind_of_name("x.pb") == FileKind::kIrProtobuf);
  for (const char* name : {"a.yaml", "a.YML", "acl.cfg", "any.json"}) CHECK(kind_of_name(name) == FileKind::kConfig);
  CHECK(kind_of_name("my_statistic_2.csv") == FileKind::kStatistic);
  CHECK(kind_of_name("loss.csv") == FileKind::kText);
  CHECK(kind_of_name("a.b-op1.c.json") == FileKind::kConfig);  // four fields
  CHECK(kind_of_name("pytorch_model.bin.index.json") == FileKind::kShardIndex);
  CHECK(is_read(FileKind::kShardIndex));
}

TEST_CASE("files of the field that msdump does not read are named, with what reads them") {
  const auto kind = [](std::string_view name) {
    CHECK_FALSE(is_read(kind_of_name(name)));
    return name_of(kind_of_name(name));
  };
  CHECK(kind("m.om") == "offline_model");
  CHECK(kind("m.mindir") == "mindir");
  CHECK(kind("m.air") == "air");
  CHECK(kind("m.onnx") == "onnx");
  CHECK(kind("monitor.trend.db") == "database");
  CHECK(kind("compare.vis.db") == "database");
  CHECK(kind("w.h5") == "hdf5");
  CHECK(kind("w.HDF5") == "hdf5");
  CHECK(kind("events.out.tfevents.1700000000.host.1.0") == "events");
  CHECK(kind("events.out.events.summary.1700000000.ms") == "events");
  CHECK(explanation(FileKind::kOfflineModel).find("atc") != std::string_view::npos);
}

TEST_CASE("a file without a name of its own in a profiler's folder is the profiler's") {
  const ScratchDir scratch;
  scratch.write("PROF_000001_1/host/data/aicore.slice_0", "x");
  scratch.write("PROF_000001_1/host/end_info.done", "x");
  scratch.write("PROF_000001_1/host/sample.json", "{}");
  scratch.write("other/aicore.slice_0", "x");
  const auto index = DumpIndex::build({scratch.path().string()}, {});
  REQUIRE(index);
  std::multiset<std::string_view> kinds;
  for (const IndexedFile& file : index->files()) kinds.insert(name_of(file.kind));
  CHECK(kinds == std::multiset<std::string_view>{"profile", "profile", "profile", "unknown"});
}

TEST_CASE("files of a folder of kernels, or of an error report, are what the folder says") {
  const ScratchDir scratch;
  scratch.write("rank_0/kernel_meta/Add_0123_high_performance.json", "{}");
  scratch.write("rank_0/kernel_meta/Add_0123_high_performance.o", "x");
  scratch.write("kernel_meta_temp_17/Add_0123.info", "x");
  scratch.write("akg_kernel_meta/Fused_Add_17.json", "{}");
  scratch.write("aicerror_0_20260801120000/info.txt", "x");
  scratch.write("ASCEND_PROFILER_OUTPUT/soc_pmu.csv", "x");
  scratch.write("my_kernel_meta/a.json", "{}");
  const auto index = DumpIndex::build({scratch.path().string()}, {});
  REQUIRE(index);
  std::multiset<std::string_view> kinds;
  for (const IndexedFile& file : index->files()) kinds.insert(name_of(file.kind));
  CHECK(kinds ==
        std::multiset<std::string_view>{"config", "error_report", "kernel", "kernel", "kernel", "kernel", "profile"});
}

TEST_CASE("what ends in .ir is not always IR") {
  CHECK(kind_of_name("actor_set_kernel_graph_0.ir") == FileKind::kGraphText);
  CHECK(kind_of_name("somas_after_0.ir") == FileKind::kCompileOutput);
  CHECK(name_of(FileKind::kGraphText) == "graph_text");
}

TEST_CASE("names of nothing in particular are unknown") {
  CHECK(kind_of_name("notes") == FileKind::kUnknown);
  CHECK(kind_of_name("") == FileKind::kUnknown);
  CHECK(kind_of_name("a.b.c") == FileKind::kUnknown);
  CHECK(kind_of_name("log.txt") == FileKind::kText);
}

std::string framework_text(const ScratchDir& scratch) {
  const auto index = DumpIndex::build({scratch.path().string()}, {});
  REQUIRE(index);
  return framework_of(*index).text;
}

TEST_CASE("the version comes from config.json, else from the look of the names") {
  const ScratchDir metadata;
  metadata.write("rank_0/.dump_metadata/config.json", R"({"device_target":"CPU","ms_version":"2.7.1rc1"})");
  metadata.write("rank_0/Net/0/0/Add.Add-op1.0.0.1733905446819790.output.0.DefaultFormat.npy", test::build_npy({}));
  CHECK(framework_text(metadata) == "2.7.1rc1");

  const std::string folder = "rank_0/Net/0/0/";
  const std::string tail = ".0.0.1733905446819790.output.0.DefaultFormat";
  const auto of_name = [&](const std::string& name) {
    const ScratchDir scratch;
    scratch.write(folder + name + ".npy", test::build_npy({}));
    return framework_text(scratch);
  };
  CHECK(of_name("Add.Default_Add-op1" + tail + ".float16") == "2.4 or later");
  CHECK(of_name("Add.Default_Add-op1" + tail) == "2.3");
  CHECK(of_name("Add.Add-op1" + tail) == "1.3 to 2.2");
  CHECK(of_name("Parameter.conv1.weight" + tail).empty());  // alike in all of them
}

TEST_CASE("only a config.json among the metadata of a dump says the version") {
  const ScratchDir scratch;
  scratch.write("rank_0/config.json", R"({"ms_version":"2.7.1"})");
  scratch.write("rank_0/.dump_metadata/other.json", R"({"ms_version":"2.7.2"})");
  scratch.write("my.dump_metadata/config.json", R"({"ms_version":"2.7.3"})");
  CHECK(framework_text(scratch).empty());
  scratch.write(".dump_metadata/config.json", R"({"ms_version":"2.7.4"})");
  CHECK(framework_text(scratch) == "2.7.4");
}

TEST_CASE("a damaged config.json says nothing and harms nothing") {
  for (const char* text : {"", "{", "[]", "null", R"({"ms_version":7})", R"({"ms_version":"next"})"}) {
    const ScratchDir scratch;
    scratch.write("rank_0/.dump_metadata/config.json", text);
    CHECK(framework_text(scratch).empty());
  }
}

}  // namespace
}  // namespace msdump
