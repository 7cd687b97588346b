#include "dump/names/file_kind.h"

#include <array>
#include <string_view>

#include "ascend/dump_file.h"
#include "base/text.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/shards.h"
#include "dump/names/file_name.h"
#include "ge/graph/ge_graph.h"
#include "io/zip.h"
#include "npy/npy.h"
#include "tables/monitor_csv.h"
#include "torch/pt_file.h"

namespace msdump {
namespace {

struct KindText {
  FileKind kind;
  std::string_view name, explanation;
};

constexpr auto kTexts = std::to_array<KindText>({
    {FileKind::kUnknown, "unknown", "no name that a dump uses"},
    {FileKind::kDumpFile, "dump_file", "tensors of one operator as the device holds them; msdump convert makes arrays"},
    {FileKind::kOpdebug, "opdebug", "an overflow record"},
    {FileKind::kNpy, "npy", "one tensor as a numpy array"},
    {FileKind::kPt, "pt", "tensors that PyTorch saved"},
    {FileKind::kRaw, "raw", "the elements of one tensor and nothing else"},
    {FileKind::kStatistic, "statistic", "statistics of tensors, one row each"},
    {FileKind::kMapping, "mapping", "real names of files whose names were too long"},
    {FileKind::kExecutionOrder, "execution_order", "the order in which operators ran"},
    {FileKind::kIrText, "ir_text", "a graph as MindSpore prints it; joins operators to lines of the script"},
    {FileKind::kIrProtobuf, "ir_protobuf", "a graph as a protobuf message"},
    {FileKind::kKernelArgs, "kernel_args", "attributes of one kernel"},
    {FileKind::kDumpJson, "dump_json", "what msprobe recorded: names, shapes and statistics of tensors"},
    {FileKind::kDebugJson, "debug_json", "tensors that msprobe's save() recorded"},
    {FileKind::kStackJson, "stack_json", "call stacks of msprobe's operators"},
    {FileKind::kConstructJson, "construct_json", "which module each of msprobe's operators belongs to"},
    {FileKind::kFreeBenchmark, "free_benchmark", "results of msprobe's free benchmark"},
    {FileKind::kConfig, "config", "how the dump was set up"},
    {FileKind::kGeGraph, "ge_graph", "a graph of GE; what the operators of the device are made of"},
    {FileKind::kSafetensors, "safetensors", "the parameters of a model"},
    {FileKind::kCheckpoint, "checkpoint", "the parameters of a model, saved by MindSpore"},
    {FileKind::kNpz, "npz", "arrays of numpy, each with a name"},
    {FileKind::kAtbTensor, "atb_tensor", "one tensor that msprobe dumped of an ATB operator"},
    {FileKind::kShardIndex, "checkpoint_index", "which file of a checkpoint holds which parameter"},
    {FileKind::kMonitor, "monitor",
     "statistics of a training that msprobe's monitor wrote, a row for a tensor and step"},
    {FileKind::kAccCheck, "acc_check", "what msprobe's acc_check says of each API"},
    {FileKind::kPrecisionCompare, "precision_compare", "what msprobe's api_precision_compare says of each API"},
    {FileKind::kCompareResult, "compare_result", "what msprobe's compare says of each tensor"},
    {FileKind::kAnomalies, "anomalies", "operators that msprobe's overflow_check, compare or monitor named"},
    {FileKind::kSpreadsheet, "spreadsheet",
     "a spreadsheet, of msprobe's compare, merge_result or config_check; LibreOffice opens it"},
    {FileKind::kConfigCheck, "config_check", "the environment of a training; msprobe config_check -c compares two"},
    {FileKind::kModuleStruct, "module_struct", "the modules of a model, for the configuration of msprobe's monitor"},
    {FileKind::kToolTable, "tool_table", "a table of msprobe without tensors; a spreadsheet program shows it"},
    {FileKind::kOfflineModel, "offline_model",
     "an offline model of CANN; atc --mode=1 makes JSON of it, which msdump reads"},
    {FileKind::kMindir, "mindir", "a model that MindSpore exported; mindspore.load reads it"},
    {FileKind::kAir, "air", "a model that MindSpore exported for CANN; atc makes an offline model of it"},
    {FileKind::kOnnx, "onnx", "a model in ONNX; Netron shows it"},
    {FileKind::kDatabase, "database",
     "an SQLite database; msprobe's trends and graphs are read by its TensorBoard plugins"},
    {FileKind::kHdf5, "hdf5", "an HDF5 file; h5dump reads it"},
    {FileKind::kEvents, "events", "scalars and graphs of a training; TensorBoard or MindInsight shows them"},
    {FileKind::kProfile, "profile", "data of the Ascend profiler; msprof and MindStudio Insight read them"},
    {FileKind::kGraphText, "graph_text", "a graph in a form that msdump does not read"},
    {FileKind::kLog, "log", "a log; text"},
    {FileKind::kKernel, "kernel", "a kernel that CANN or AKG compiled, or its description; the framework loads it"},
    {FileKind::kErrorReport, "error_report", "what msaicerr or asys of CANN collected about an error; text"},
    {FileKind::kComparison, "comparison", "results of a comparison by another tool"},
    {FileKind::kCompileOutput, "compile_output", "what a compiler left: a cache, a report, a plan of memory"},
    {FileKind::kText, "unknown", "text, a log or an archive"},
});

const KindText& text_of(FileKind kind) {
  for (const KindText& text : kTexts) {
    if (text.kind == kind) return text;
  }
  return kTexts[0];
}

struct SuffixKind {
  std::string_view suffix;
  FileKind kind;
};

constexpr std::array kSuffixKinds = {
    SuffixKind{"om", FileKind::kOfflineModel},  SuffixKind{"mindir", FileKind::kMindir},
    SuffixKind{"air", FileKind::kAir},          SuffixKind{"onnx", FileKind::kOnnx},
    SuffixKind{"db", FileKind::kDatabase},      SuffixKind{"h5", FileKind::kHdf5},
    SuffixKind{"hdf5", FileKind::kHdf5},        SuffixKind{"ckpt", FileKind::kCheckpoint},
    SuffixKind{"pbtxt", FileKind::kGraphText},  SuffixKind{"yaml", FileKind::kConfig},
    SuffixKind{"yml", FileKind::kConfig},       SuffixKind{"cfg", FileKind::kConfig},
    SuffixKind{"xlsx", FileKind::kSpreadsheet},
};

// Of msprobe's tools; most names go on with a time.
FileKind result_of_csv(std::string_view name) {
  if (name == "free_benchmark.csv") return FileKind::kFreeBenchmark;
  if (parse_monitor_name(name)) return FileKind::kMonitor;
  static constexpr std::array kPrefixes = {SuffixKind{"accuracy_checking_result_", FileKind::kAccCheck},
                                           SuffixKind{"accuracy_checking_details_", FileKind::kAccCheck},
                                           SuffixKind{"api_precision_compare_", FileKind::kPrecisionCompare},
                                           SuffixKind{"compare_result_", FileKind::kCompareResult},
                                           SuffixKind{"msprobe_cmp_report_", FileKind::kToolTable},
                                           SuffixKind{"hyper_params_", FileKind::kToolTable},
                                           SuffixKind{"stack_info.", FileKind::kToolTable}};
  for (const SuffixKind& known : kPrefixes) {
    if (name.starts_with(known.suffix)) return known.kind;
  }
  return FileKind::kUnknown;
}

FileKind kind_of_csv(std::string_view name) {
  if (name == "mapping.csv") return FileKind::kMapping;
  if (name.starts_with("ms_execution_order_graph_") || name.starts_with("ms_global_execution_order_graph_"))
    return FileKind::kExecutionOrder;
  if (const FileKind result = result_of_csv(name); result != FileKind::kUnknown) return result;
  return name.find("statistic") != std::string_view::npos ? FileKind::kStatistic
                                                          : FileKind::kText;  // also copies of one
}

FileKind kind_of_json(std::string_view name) {
  if (name == "dump.json") return FileKind::kDumpJson;
  if (name == "debug.json") return FileKind::kDebugJson;
  if (name == "stack.json") return FileKind::kStackJson;
  if (name == "construct.json") return FileKind::kConstructJson;
  if (name.starts_with("Opdebug.")) return FileKind::kOpdebug;
  if (is_shard_index_name(name)) return FileKind::kShardIndex;
  const bool named = name == "anomaly.json" || name == "anomaly_analyse.json" || name.starts_with("anomaly_analyze_") ||
                     name.starts_with("diff_analyze_");
  if (named) return FileKind::kAnomalies;
  if (name == "module_struct.json") return FileKind::kModuleStruct;
  // Exactly what save_kernel_args writes beside the tensors: type.full_name.json.
  const auto fields = split(name, '.');
  if (fields.size() == 3 && fields[1].find("-op") != std::string_view::npos) return FileKind::kKernelArgs;
  return FileKind::kConfig;
}

}  // namespace

std::string_view name_of(FileKind kind) { return text_of(kind).name; }
std::string_view explanation(FileKind kind) { return text_of(kind).explanation; }

bool is_read(FileKind kind) { return kind != FileKind::kUnknown && kind <= FileKind::kAnomalies; }

FileKind kind_of_name(std::string_view name) {
  if (const FieldFile* const known = field_file_of(name)) return known->kind;
  const std::string suffix = suffix_of(name);
  if (suffix == "csv") return kind_of_csv(name);
  if (suffix == "json") return kind_of_json(name);
  if (suffix == "ir") return FileKind::kIrText;
  // save_graphs writes it without a suffix.
  constexpr std::string_view kTraceCode = "trace_code_graph_";
  if (name.starts_with(kTraceCode) && is_digits(name.substr(kTraceCode.size()))) return FileKind::kIrText;
  if (ge_file_name(name)) return FileKind::kGeGraph;
  if (suffix == "pb") return name.starts_with("ge_") ? FileKind::kGraphText : FileKind::kIrProtobuf;
  for (const SuffixKind& known : kSuffixKinds) {
    if (suffix == known.suffix) return known.kind;
  }
  if (suffix == "txt" && name.starts_with("ge_")) return FileKind::kGraphText;
  if (name.starts_with("events.out.")) return FileKind::kEvents;
  return is_known_other_suffix(suffix) ? FileKind::kText : FileKind::kUnknown;
}

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

namespace {

FileKind kind_of_magic(std::string_view head) {
  using namespace std::string_view_literals;
  constexpr size_t kEventBytes = 64;  // the first record says its version
  if (head.starts_with("SQLite format 3\0"sv)) return FileKind::kDatabase;
  if (head.starts_with("\x89HDF\r\n\x1a\n"sv)) return FileKind::kHdf5;
  if (head.starts_with("IMOD"sv)) return FileKind::kOfflineModel;
  if (head.starts_with("\x7f"
                       "ELF"sv))
    return FileKind::kKernel;
  if (head.starts_with("$Version="sv)) return FileKind::kAtbTensor;
  const std::string_view first = head.substr(0, kEventBytes);
  const bool event = first.find("brain.Event:") != first.npos || first.find("MindSpore.Event:") != first.npos;
  return event ? FileKind::kEvents : FileKind::kUnknown;
}

// By the titles of the first line.
FileKind kind_of_result_table(std::string_view titles) {
  const auto has = [&](std::string_view title) { return titles.find(title) != std::string_view::npos; };
  if (looks_like_monitor_csv(titles)) return FileKind::kMonitor;
  if (titles.starts_with("NPU Name,Bench Name,")) return FileKind::kCompareResult;
  if (has("pert_") && has("api_name") && has("max_rel")) return FileKind::kFreeBenchmark;
  if (titles.starts_with("API Name,") && has("比对结果")) return FileKind::kPrecisionCompare;
  const bool api = titles.starts_with("API name,") || titles.starts_with("API Name,");
  if (api && (has(",Forward Test Success,") || has(",Status,"))) return FileKind::kAccCheck;
  if (titles.starts_with("module_name,stack_info")) return FileKind::kToolTable;
  return FileKind::kUnknown;
}

FileKind kind_of_json_text(std::string_view text) {
  const auto has = [&](std::string_view key) { return text.find(key) != std::string_view::npos; };
  if (has("\"dump_data_dir\"") && has("\"data\"")) return FileKind::kDumpJson;
  if (has("\"common_dump_settings\"")) return FileKind::kConfig;
  const bool alerts = has("\"tag_name\"") && has("\"group_mates\"");
  if (alerts || (has("\"rank_") && has("\"op_name\"") && has("\"data_info\""))) return FileKind::kAnomalies;
  if (has("\"traceEvents\"") || (has("\"ph\"") && has("\"pid\"") && has("\"ts\""))) return FileKind::kProfile;
  return FileKind::kUnknown;
}

FileKind kind_of_text(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (const std::string_view title : {"Op Type,Op Name,", "Input/Output,Index,", "Device and PID,Execution Count,"}) {
    if (text.starts_with(title)) return FileKind::kStatistic;
  }
  if (const FileKind result = kind_of_result_table(text.substr(0, text.find('\n'))); result != FileKind::kUnknown)
    return result;
  if (text.starts_with("NodeExecutionOrder-FullNameWithScope")) return FileKind::kExecutionOrder;
  if (text.starts_with("#IR entry") || text.starts_with("# IR entry")) return FileKind::kIrText;
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  return json ? kind_of_json_text(text) : FileKind::kUnknown;
}

}  // namespace

FileKind kind_of_content(std::span<const std::byte> head, uint64_t file_size) {
  if (npy::has_magic(head)) return FileKind::kNpy;
  if (torch::looks_like_pt(head)) return FileKind::kPt;
  if (looks_like_safetensors(head, file_size)) return FileKind::kSafetensors;
  if (const FileKind magic = kind_of_magic({reinterpret_cast<const char*>(head.data()), head.size()});
      magic != FileKind::kUnknown)
    return magic;
  const FileKind kind = kind_of_text({reinterpret_cast<const char*>(head.data()), head.size()});
  if (kind != FileKind::kUnknown) return kind;
  return ascend::looks_like_dump_file(head, file_size) ? FileKind::kDumpFile : FileKind::kUnknown;
}

std::optional<Error> mistaken_content(FileKind promised, std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (text.starts_with("version https://git-lfs.github.com/spec/")) {
    return make_error(ErrorCode::kBadHeader, "a Git LFS pointer: the file itself is not here")
        .with_hint("git lfs pull fetches it");
  }
  const bool archive = promised == FileKind::kPt || promised == FileKind::kNpz;
  if (archive || !has_zip_magic(head)) return std::nullopt;
  return make_error(ErrorCode::kBadHeader, "a zip archive, such as PyTorch's .pt or numpy's .npz, under another name")
      .with_hint("msdump reads it when its name ends in .pt or .npz");
}

}  // namespace msdump
