// The names are those that the sources in dump/names/field_files.h give.
#include "dump/names/file_kind.h"

#include <set>
#include <string>

#include "base/text.h"
#include "support/catch.h"

namespace msdump {
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

TEST_CASE("every entry is the first for some name, is not read, and says something for people") {
  for (const FieldFile& file : all_field_files()) {
    std::string name(file.glob);
    for (size_t star = name.find('*'); star != std::string::npos; star = name.find('*')) name.replace(star, 1, "7");
    INFO(name);
    CHECK(field_file_of(name) == &file);
    CHECK(!is_read(file.kind));
    CHECK(name_of(file.kind) != "unknown");
    CHECK(explanation(file.kind, name) == file.what);
    CHECK(file.what.find_first_of(";") != std::string_view::npos);
  }
}

TEST_CASE("the words of an entry are for its kind only") {
  CHECK(explanation(FileKind::kProfile, "trace_view.json") != explanation(FileKind::kProfile));
  CHECK(explanation(FileKind::kNpy, "trace_view.json") == explanation(FileKind::kNpy));
  CHECK(explanation(FileKind::kProfile, "other") == explanation(FileKind::kProfile));
  CHECK(field_file_of("") == nullptr);
  CHECK(field_file_of("Trace_view.json") == nullptr);
}

TEST_CASE("a timeline and compiled code are told by their content") {
  CHECK(content(R"({"schemaVersion": 1, "traceEvents": []})") == FileKind::kProfile);
  CHECK(content(R"([{"name": "a", "ph": "X", "pid": 1, "tid": 2, "ts": "3"}])") == FileKind::kProfile);
  CHECK(content(R"([{"name": "a", "ph": "X", "pid": 1}])") == FileKind::kUnknown);
  CHECK(content("\x7f"
                "ELF\2\1\1") == FileKind::kKernel);
}

}  // namespace msdump
