#include "dump/names/field_files.h"

#include <array>

#include "base/text.h"

namespace msdump {
namespace {

constexpr std::string_view kTimeline =
    "a timeline of a profiler; MindStudio Insight, Perfetto or chrome://tracing shows it";
constexpr std::string_view kProfileTable =
    "times or memory that the Ascend profiler measured; MindStudio Insight reads it";
constexpr std::string_view kProfileDatabase =
    "tables of the Ascend profiler; MindStudio Insight or msprof-analyze reads them";
constexpr std::string_view kOldProfile = "a table of MindSpore's profiler; MindInsight reads it";
constexpr std::string_view kTorchairGraph = "a graph of torchair; the ge_proto or ge_onnx of GE is what --ir takes";
constexpr std::string_view kTorchGraph = "code that torch.compile generated; torch_compile_debug has it";
constexpr std::string_view kAsys = "what asys of CANN says of the machine or a crash; text";
constexpr std::string_view kCache = "a compiled network that a framework keeps for the next run; it reads it itself";

constexpr std::array kFiles = {
    FieldFile{"trace_view.json", FileKind::kProfile, kTimeline},
    FieldFile{"*_timeline_display_*.json", FileKind::kProfile, kTimeline},
    FieldFile{"*.pt.trace.json", FileKind::kProfile, kTimeline},
    FieldFile{"*.pt.trace.json.gz", FileKind::kProfile, kTimeline},
    FieldFile{"msprof_*.json", FileKind::kProfile, kTimeline},
    FieldFile{"*snapshot*.pickle", FileKind::kProfile,
              "the memory of a device over time, by torch; pytorch.org/memory_viz shows it"},
    FieldFile{"ascend_pytorch_profiler*.db", FileKind::kDatabase, kProfileDatabase},
    FieldFile{"ascend_mindspore_profiler*.db", FileKind::kDatabase, kProfileDatabase},
    FieldFile{"msprof_*.db", FileKind::kDatabase, kProfileDatabase},
    FieldFile{"analysis.db", FileKind::kDatabase, kProfileDatabase},
    FieldFile{"cluster_analysis.db", FileKind::kDatabase, kProfileDatabase},
    FieldFile{"*.trend.db", FileKind::kDatabase, "trends of msprobe; its TensorBoard plugin shows them"},
    FieldFile{"*.vis.db", FileKind::kDatabase, "a graph of msprobe graph_visualize; its TensorBoard plugin shows it"},
    FieldFile{"kernel_details.csv", FileKind::kProfile, kProfileTable},
    FieldFile{"operator_details.csv", FileKind::kProfile, kProfileTable},
    FieldFile{"op_statistic*.csv", FileKind::kProfile, kProfileTable},
    FieldFile{"api_statistic*.csv", FileKind::kProfile, kProfileTable},
    FieldFile{"communication_statistic*.csv", FileKind::kProfile, kProfileTable},
    FieldFile{"op_summary*.csv", FileKind::kProfile, kProfileTable},
    FieldFile{"task_time*.csv", FileKind::kProfile, kProfileTable},
    FieldFile{"step_trace*.csv", FileKind::kProfile, kProfileTable},
    FieldFile{"operator_memory*.csv", FileKind::kProfile, kProfileTable},
    FieldFile{"memory_record*.csv", FileKind::kProfile, kProfileTable},
    FieldFile{"memory_block.csv", FileKind::kProfile, kProfileTable},
    FieldFile{"npu_module_mem*.csv", FileKind::kProfile, kProfileTable},
    FieldFile{"npu_mem*.csv", FileKind::kProfile, kProfileTable},
    FieldFile{"l2_cache*.csv", FileKind::kProfile, kProfileTable},
    FieldFile{"data_preprocess.csv", FileKind::kProfile, kProfileTable},
    FieldFile{"communication.json", FileKind::kProfile, kProfileTable},
    FieldFile{"communication_matrix.json", FileKind::kProfile, kProfileTable},
    FieldFile{"profiler_info*.json", FileKind::kProfile, kProfileTable},
    FieldFile{"profiler_metadata.json", FileKind::kProfile, kProfileTable},
    FieldFile{"*_timeline_summary_*.json", FileKind::kProfile, kOldProfile},
    FieldFile{"aicore_intermediate_*.csv", FileKind::kProfile, kOldProfile},
    FieldFile{"aicpu_intermediate_*.csv", FileKind::kProfile, kOldProfile},
    FieldFile{"framework_raw_*.csv", FileKind::kProfile, kOldProfile},
    FieldFile{"hccl_raw_*.csv", FileKind::kProfile, kOldProfile},
    FieldFile{"ascend_cluster_analyse_*.csv", FileKind::kProfile, kOldProfile},
    FieldFile{"cpu_op_*_info_*.csv", FileKind::kProfile, kOldProfile},
    FieldFile{"cpu_op_execute_timestamp_*.txt", FileKind::kProfile, kOldProfile},
    FieldFile{"cpu_framework_*.txt", FileKind::kProfile, kOldProfile},
    FieldFile{"cpu_ms_memory_record_*.txt", FileKind::kProfile, kOldProfile},
    FieldFile{"output_timeline_data_*.txt", FileKind::kProfile, kOldProfile},
    FieldFile{"*_profiling_*.txt", FileKind::kProfile, kOldProfile},
    FieldFile{"pipeline_profiling_*.json", FileKind::kProfile, kOldProfile},
    FieldFile{"minddata_*.csv", FileKind::kProfile, kOldProfile},
    FieldFile{"minddata_*.json", FileKind::kProfile, kOldProfile},
    FieldFile{"flops_*.txt", FileKind::kProfile, kOldProfile},
    FieldFile{"flops_summary_*.json", FileKind::kProfile, kOldProfile},
    FieldFile{"dynamic_shape_info_*.json", FileKind::kProfile, kOldProfile},
    FieldFile{"step_trace_point_info_*.json", FileKind::kProfile, kOldProfile},
    FieldFile{"parallel_strategy_*.json", FileKind::kProfile, kOldProfile},
    FieldFile{"dynamo_*graph*.py", FileKind::kGraphText,
              "a graph of torchair; beside a graph of GE, find-op and map-ir take its lines of the script"},
    FieldFile{"dynamo_*graph*.txt", FileKind::kGraphText, kTorchairGraph},
    FieldFile{"dynamo_*graph*.pbtxt", FileKind::kGraphText, kTorchairGraph},
    FieldFile{"fx_graph_*.py", FileKind::kGraphText, kTorchGraph},
    FieldFile{"output_code.py", FileKind::kGraphText, kTorchGraph},
    FieldFile{"ge_readable_*.txt", FileKind::kGraphText,
              "a graph of GE for people; the ge_proto or ge_onnx beside it is what --ir takes"},
    FieldFile{"actor_set*.ir", FileKind::kGraphText, "how MindSpore schedules the kernels of a graph; text"},
    FieldFile{"*.dot", FileKind::kGraphText, "a graph in DOT; Graphviz draws it"},
    FieldFile{"*.dat", FileKind::kGraphText, "a graph as older versions of MindSpore print it; text"},
    FieldFile{"fusion_result.json", FileKind::kCompileOutput, "how often each fusion of GE was applied; JSON"},
    FieldFile{"check_result.json", FileKind::kCompileOutput, "what atc found when it checked a model; JSON"},
    FieldFile{"buildPidInfo.json", FileKind::kCompileOutput, "which process compiles kernels; CANN reads it"},
    FieldFile{"somas_*", FileKind::kCompileOutput, "how MindSpore places tensors in memory; text or JSON"},
    FieldFile{"compiled_module", FileKind::kCompileOutput, kCache},
    FieldFile{"compile_cache_*", FileKind::kCompileOutput, kCache},
    FieldFile{"compile_dependency.hash", FileKind::kCompileOutput, kCache},
    FieldFile{"advisor_summary.txt", FileKind::kComparison, "advice of msaccucmp on its results; text"},
    FieldFile{"result_20*.csv", FileKind::kComparison,
              "results of a comparison by msaccucmp; msdump diff --profile msaccucmp writes such"},
    FieldFile{"advisor_20*.txt", FileKind::kComparison, "advice of msprobe on its results; text"},
    FieldFile{"stackcore*", FileKind::kErrorReport, "stacks of a process of CANN that crashed; text, or asys reads it"},
    FieldFile{"hardware_info.txt", FileKind::kErrorReport, kAsys},
    FieldFile{"software_info.txt", FileKind::kErrorReport, kAsys},
    FieldFile{"status_info.txt", FileKind::kErrorReport, kAsys},
    FieldFile{"health_result.txt", FileKind::kErrorReport, kAsys},
    FieldFile{"diagnose_result_*.txt", FileKind::kErrorReport, kAsys},
    FieldFile{"nccl_trace_rank_*", FileKind::kErrorReport,
              "the last collectives of a process of torch; torchfrtrace reads it"},
    FieldFile{"*.log", FileKind::kLog, "a log of MindSpore, CANN (plog, device) or another program; text"},
    FieldFile{"*.log.gz", FileKind::kLog, "a compressed log of CANN; zcat shows it"},
    FieldFile{"*.log.INFO.*", FileKind::kLog, "a log of MindSpore; text"},
    FieldFile{"*.log.WARNING.*", FileKind::kLog, "a log of MindSpore; text"},
    FieldFile{"*.log.ERROR.*", FileKind::kLog, "a log of MindSpore; text"},
    FieldFile{"*.o", FileKind::kKernel, "a compiled kernel of CANN; llvm-objdump of CANN reads it"},
    FieldFile{"*.cce", FileKind::kKernel, "the source of a kernel of CANN; text"},
    FieldFile{"*.ptx", FileKind::kKernel, "a kernel that AKG compiled for a GPU; text"},
};

}  // namespace

std::span<const FieldFile> all_field_files() { return kFiles; }

const FieldFile* field_file_of(std::string_view name) {
  for (const FieldFile& file : kFiles) {
    if (glob_match(file.glob, name)) return &file;
  }
  return nullptr;
}

std::string_view explanation(FileKind kind, std::string_view name) {
  const FieldFile* const file = field_file_of(name);
  return file != nullptr && file->kind == kind ? file->what : explanation(kind);
}

}  // namespace msdump
