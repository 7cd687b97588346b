#include <set>
#include <string>
#include <string_view>

#include "base/text.h"
#include "dump/index/dump_index.h"
#include "dump/names/file_kind.h"
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

// The names are those that the sources in dump/names/file_kind.h give.

namespace {

std::string_view kind_word(std::string_view name) { return name_of(kind_of_name(name)); }

FileKind content(std::string_view text) {
  return kind_of_content(std::as_bytes(std::span(text.data(), text.size())), text.size());
}

}  // namespace

TEST_CASE("files of profilers are named, also where their names look like those of statistics") {
  for (const char* const name : {"trace_view.json",
                                 "ascend_timeline_display_0.json",
                                 "host_123.17.pt.trace.json",
                                 "msprof_20260801.json",
                                 "kernel_details.csv",
                                 "op_statistic.csv",
                                 "op_statistic_20260801.csv",
                                 "api_statistic.csv",
                                 "op_summary_0_1.csv",
                                 "task_time_0_1.csv",
                                 "step_trace_time.csv",
                                 "step_trace_raw_0_detail_time.csv",
                                 "operator_memory.csv",
                                 "memory_record.csv",
                                 "npu_module_mem.csv",
                                 "communication.json",
                                 "communication_matrix.json",
                                 "profiler_info_0.json",
                                 "profiler_metadata.json",
                                 "aicore_intermediate_0_type.csv",
                                 "ascend_timeline_summary_0.json",
                                 "framework_raw_0.csv",
                                 "hccl_raw_0.csv",
                                 "minddata_pipeline_raw_0.csv",
                                 "minddata_cpu_utilization_0.json",
                                 "flops_0.txt",
                                 "flops_summary_0.json",
                                 "dynamic_shape_info_0.json",
                                 "device_queue_profiling_0.txt",
                                 "dataset_iterator_profiling_0.txt",
                                 "pipeline_profiling_0.json",
                                 "cpu_op_detail_info_0.csv",
                                 "cpu_op_type_info_0.csv",
                                 "output_timeline_data_0.txt",
                                 "parallel_strategy_0.json",
                                 "memory_snapshot_rank0.pickle"}) {
    INFO(name);
    CHECK(kind_word(name) == "profile");
  }
  CHECK(kind_word("ascend_pytorch_profiler_0.db") == "database");
  CHECK(kind_word("statistic.csv") == "statistic");
  CHECK(kind_word("my_op_statistic.csv") == "statistic");
}

TEST_CASE("graphs, compilers, comparisons, reports and logs are named") {
  CHECK(kind_word("dynamo_original_graph_0_rank_0_pid_17_ts_20260801.pbtxt") == "graph_text");
  CHECK(kind_word("dynamo_optimized_graph_0_rank_0_pid_17_ts_20260801.py") == "graph_text");
  CHECK(kind_word("fx_graph_readable.py") == "graph_text");
  for (const char* const name : {"fusion_result.json", "check_result.json", "buildPidInfo.json", "compiled_module",
                                 "somas_allocate_info_0.ir", "compile_cache_0.mindir", "compile_dependency.hash"}) {
    INFO(name);
    CHECK(kind_word(name) == "compile_output");
  }
  for (const char* const name : {"result_20260801120000.csv", "advisor_summary.txt", "advisor_20260801.txt"})
    CHECK(kind_word(name) == "comparison");
  for (const char* const name : {"stackcore_python_17_1700000000000.txt", "health_result.txt", "status_info.txt",
                                 "diagnose_result_0.txt", "nccl_trace_rank_0"})
    CHECK(kind_word(name) == "error_report");
  for (const char* const name :
       {"plog-17_20260801120000123.log", "device-17_20260801120000123.log", "worker_0.log", "scheduler.log",
        "device-17_20260801120000123.log.gz", "mindspore.host.user.log.WARNING.20260801-120000.17"})
    CHECK(kind_word(name) == "log");
  for (const char* const name : {"te_add_0123.o", "te_add_0123.cce", "Fused_Add_17.ptx"})
    CHECK(kind_word(name) == "kernel");
}

TEST_CASE("every glob is the first for some name, its kind is not read, and it says something for people") {
  for (const ToolFiles& files : all_tool_files()) {
    for (const std::string_view glob : split(files.globs, ' ')) {
      std::string name(glob);
      for (size_t star = name.find('*'); star != std::string::npos; star = name.find('*')) name.replace(star, 1, "7");
      INFO(name);
      CHECK(tool_files_of(name) == &files);
      CHECK(explanation(files.kind, name) == files.explanation);
    }
    INFO(files.globs);
    CHECK(!is_read(files.kind));
    CHECK(name_of(files.kind) != "unknown");
    CHECK(files.explanation.find_first_of(";") != std::string_view::npos);
  }
}

TEST_CASE("the words of an entry are for its kind only") {
  CHECK(explanation(FileKind::kProfile, "trace_view.json") != explanation(FileKind::kProfile));
  CHECK(explanation(FileKind::kNpy, "trace_view.json") == explanation(FileKind::kNpy));
  CHECK(explanation(FileKind::kProfile, "other") == explanation(FileKind::kProfile));
  CHECK(tool_files_of("") == nullptr);
  CHECK(tool_files_of("Trace_view.json") == nullptr);
}

TEST_CASE("a timeline and compiled code are told by their content") {
  CHECK(content(R"({"schemaVersion": 1, "traceEvents": []})") == FileKind::kProfile);
  CHECK(content(R"([{"name": "a", "ph": "X", "pid": 1, "tid": 2, "ts": "3"}])") == FileKind::kProfile);
  CHECK(content(R"([{"name": "a", "ph": "X", "pid": 1}])") == FileKind::kUnknown);
  CHECK(content("\x7f"
                "ELF\2\1\1") == FileKind::kKernel);
}

}  // namespace msdump
