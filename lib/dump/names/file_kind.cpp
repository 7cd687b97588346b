#include "dump/names/file_kind.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "ascend/atb_tensor.h"
#include "ascend/dump_file.h"
#include "base/containers.h"
#include "base/text.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/shards.h"
#include "dump/layouts/family.h"
#include "dump/names/file_name.h"
#include "ge/graph/ge_graph.h"
#include "io/zip.h"
#include "msprobe/dump_pkl.h"
#include "msprobe/tensor_log.h"
#include "npy/npy.h"
#include "tables/monitor_csv.h"
#include "torch/pt_file.h"

namespace msdump {
namespace {

using namespace std::string_view_literals;

// Titles that every statistic.csv has, and those of the tables that CANN writes, one for each operator.
constexpr std::string_view kTitles = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape";
constexpr std::string_view kTitlesOfOneOperator = "Input/Output,Index,Data Size,Data Type,Format,Shape";
constexpr uint64_t kSmallestNpy = 10 + "{'descr':'<f4','fortran_order':False,'shape':()}"sv.size();
constexpr uint64_t kSmallestZip = 22, kSmallestDumpFile = 10;
constexpr uint64_t kSmallestSafetensors = 8 + "{}"sv.size(), kSmallestDumpJson = "{\"data\":{}}"sv.size();

constexpr std::string_view kSqlite = "SQLite format 3\0"sv, kHdf5 = "\x89HDF\r\n\x1a\n", kOm = "IMOD";
constexpr std::string_view kElf =
    "\x7f"
    "ELF";
constexpr std::string_view kCompareTitles = "NPU Name,Bench Name,", kStackTitles = "module_name,stack_info";
constexpr std::string_view kOrderTitle = "NodeExecutionOrder-FullNameWithScope";

template <const std::string_view& kBeginning>
bool begins_with(const FileHead& head) {
  return head.text.starts_with(kBeginning);
}

bool is_npy(const FileHead& head) { return npy::has_magic(head.bytes); }
bool is_pt(const FileHead& head) { return torch::looks_like_pt(head.bytes); }
bool is_dcp_metadata(const FileHead& head) {
  return head.text.starts_with('\x80') && head.has("torch.distributed.checkpoint.metadata");
}
bool is_safetensors(const FileHead& head) { return looks_like_safetensors(head.bytes, head.file_size); }
bool is_atb_tensor(const FileHead& head) { return ascend::looks_like_atb_tensor(head.bytes); }
bool is_dump_file(const FileHead& head) { return ascend::looks_like_dump_file(head.bytes, head.file_size); }
bool is_monitor(const FileHead& head) { return looks_like_monitor_csv(head.line); }
bool is_ir_text(const FileHead& head) {
  return head.text.starts_with("#IR entry") || head.text.starts_with("# IR entry");
}

bool is_event_file(const FileHead& head) {
  constexpr size_t kEventBytes = 64;  // the first record says its version
  const std::string_view first = head.text.substr(0, kEventBytes);
  return first.find("brain.Event:") != first.npos || first.find("MindSpore.Event:") != first.npos;
}

bool is_statistic_csv(const FileHead& head) {
  return head.text.starts_with("Op Type,Op Name,") || head.text.starts_with("Input/Output,Index,") ||
         head.text.starts_with("Device and PID,Execution Count,");
}

bool is_free_benchmark(const FileHead& head) {
  return head.line_has("pert_") && head.line_has("api_name") && head.line_has("max_rel");
}

bool is_precision_compare(const FileHead& head) {
  return head.line.starts_with("API Name,") && head.line_has("比对结果");
}

bool is_acc_check(const FileHead& head) {
  const bool is_api = head.line.starts_with("API name,") || head.line.starts_with("API Name,");
  return is_api && (head.line_has(",Forward Test Success,") || head.line_has(",Status,"));
}

bool is_dump_json(const FileHead& head) {
  return head.is_json && head.has("\"dump_data_dir\"") && head.has("\"data\"");
}

bool is_dump_pkl(const FileHead& head) { return looks_like_dump_pkl(head.line); }
bool is_tensor_log(const FileHead& head) { return tensor_log_writer(head.line).has_value(); }

bool is_dump_config(const FileHead& head) { return head.is_json && head.has("\"common_dump_settings\""); }

bool is_anomaly_list(const FileHead& head) {
  const bool alerts = head.has("\"tag_name\"") && head.has("\"group_mates\"");
  return head.is_json && (alerts || (head.has("\"rank_") && head.has("\"op_name\"") && head.has("\"data_info\"")));
}

bool is_timeline(const FileHead& head) {
  return head.is_json &&
         (head.has("\"traceEvents\"") || (head.has("\"ph\"") && head.has("\"pid\"") && head.has("\"ts\"")));
}

using K = FileKind;
constexpr FileKindInfo named(K kind, std::string_view word, std::string_view explanation,
                             std::string_view suffixes = "", HeadTest has_signature = nullptr) {
  return {kind, word, explanation, false, suffixes, has_signature, 0, nullptr, false};
}

constexpr FileKindInfo read(K kind, std::string_view word, std::string_view explanation, std::string_view suffixes = "",
                            HeadTest has_signature = nullptr, uint64_t smallest_size = 0, FamilyGetter family = nullptr,
                            bool holds_parameters = false) {
  return {kind, word, explanation, true, suffixes, has_signature, smallest_size, family, holds_parameters};
}

// Signatures are tried in this order: the weakest is the last.
constexpr std::array kKinds = {
    named(K::kUnknown, "unknown", "no name that a dump uses"),
    read(K::kNpy, "npy", "one tensor as a numpy array", "", is_npy, kSmallestNpy, npy_family),
    read(K::kPt, "pt", "tensors that PyTorch saved", "", is_pt, kSmallestZip, pt_family, true),
    read(K::kDcpMetadata, "dcp",
         "the tensors of a checkpoint of torch.distributed.checkpoint, whose shards are beside it", "", is_dcp_metadata,
         0, dcp_family, true),
    read(K::kSafetensors, "safetensors", "the parameters of a model", "", is_safetensors, kSmallestSafetensors,
         safetensors_family, true),
    named(K::kDatabase, "database",
          "an SQLite database; msprobe's trends and graphs are read by its TensorBoard plugins", "db",
          begins_with<kSqlite>),
    named(K::kHdf5, "hdf5", "an HDF5 file; h5dump reads it", "h5 hdf5", begins_with<kHdf5>),
    named(K::kOfflineModel, "offline_model",
          "an offline model of CANN; atc --mode=1 makes JSON of it, which msdump reads", "om", begins_with<kOm>),
    named(K::kKernel, "kernel", "a kernel that CANN or AKG compiled, or its description; the framework loads it", "",
          begins_with<kElf>),
    read(K::kAtbTensor, "atb_tensor", "one tensor that msprobe dumped of an ATB operator", "", is_atb_tensor, 0,
         atb_family),
    named(K::kEvents, "events", "scalars and graphs of a training; TensorBoard or MindInsight shows them", "",
          is_event_file),
    read(K::kStatistic, "statistic", "statistics of tensors, one row each", "", is_statistic_csv,
         kTitlesOfOneOperator.size()),
    read(K::kMonitor, "monitor", "statistics of a training that msprobe's monitor wrote, a row for a tensor and step",
         "", is_monitor),
    read(K::kCompareResult, "compare_result", "what msprobe's compare says of each tensor", "",
         begins_with<kCompareTitles>),
    read(K::kFreeBenchmark, "free_benchmark", "results of msprobe's free benchmark", "", is_free_benchmark),
    read(K::kPrecisionCompare, "precision_compare", "what msprobe's api_precision_compare says of each API", "",
         is_precision_compare),
    read(K::kAccCheck, "acc_check", "what msprobe's acc_check says of each API", "", is_acc_check),
    named(K::kToolTable, "tool_table", "a table of msprobe without tensors; a spreadsheet program shows it", "",
          begins_with<kStackTitles>),
    read(K::kExecutionOrder, "execution_order", "the order in which operators ran", "", begins_with<kOrderTitle>),
    read(K::kIrText, "ir_text", "a graph as MindSpore prints it; joins operators to lines of the script", "ir",
         is_ir_text),
    read(K::kDumpJson, "dump_json", "what msprobe recorded: names, shapes and statistics of tensors", "", is_dump_json,
         kSmallestDumpJson),
    read(K::kDumpPkl, "dump_pkl", "what ptdbg_ascend recorded: names, shapes and statistics of tensors, a line each",
         "", is_dump_pkl),
    read(K::kTensorLog, "tensor_log",
         "what PyTorch's DebugMode or torchtitan recorded: hashes and statistics of tensors, operator by operator", "",
         is_tensor_log),
    read(K::kConfig, "config", "how the dump was set up", "yaml yml cfg", is_dump_config),
    read(K::kAnomalies, "anomalies", "operators that msprobe's overflow_check, compare or monitor named", "",
         is_anomaly_list),
    named(K::kProfile, "profile", "data of the Ascend profiler; msprof and MindStudio Insight read them", "",
          is_timeline),
    read(K::kDumpFile, "dump_file", "tensors of one operator as the device holds them; msdump convert makes arrays", "",
         is_dump_file, kSmallestDumpFile, ascend_family),
    // Kinds that only a name shows.
    read(K::kOpdebug, "opdebug", "an overflow record", "", nullptr, kSmallestDumpFile, ascend_family),
    read(K::kNpz, "npz", "arrays of numpy, each with a name", "", nullptr, kSmallestZip, npz_family, true),
    read(K::kCheckpoint, "checkpoint", "the parameters of a model, saved by MindSpore", "ckpt", nullptr, 0, ckpt_family,
         true),
    read(K::kDcpShards, "dcp_shards",
         "shards of tensors of torch.distributed.checkpoint; msdump reads them with the .metadata beside them",
         "distcp"),
    read(K::kRaw, "raw", "the elements of one tensor and nothing else"),
    read(K::kMapping, "mapping", "real names of files whose names were too long"),
    read(K::kIrProtobuf, "ir_protobuf", "a graph as a protobuf message"),
    read(K::kGeGraph, "ge_graph", "a graph of GE; what the operators of the device are made of"),
    read(K::kKernelArgs, "kernel_args", "attributes of one kernel"),
    read(K::kDebugJson, "debug_json", "tensors that msprobe's save() recorded", "", nullptr, kSmallestDumpJson),
    read(K::kStackJson, "stack_json", "call stacks of msprobe's operators"),
    read(K::kConstructJson, "construct_json", "which module each of msprobe's operators belongs to"),
    read(K::kShardIndex, "checkpoint_index", "which file of a checkpoint holds which parameter"),
    named(K::kSpreadsheet, "spreadsheet",
          "a spreadsheet, of msprobe's compare, merge_result or config_check; LibreOffice opens it", "xlsx"),
    named(K::kConfigCheck, "config_check", "the environment of a training; msprobe config_check -c compares two"),
    named(K::kModuleStruct, "module_struct", "the modules of a model, for the configuration of msprobe's monitor"),
    named(K::kMindir, "mindir", "a model that MindSpore exported; mindspore.load reads it", "mindir"),
    named(K::kAir, "air", "a model that MindSpore exported for CANN; atc makes an offline model of it", "air"),
    named(K::kOnnx, "onnx", "a model in ONNX; Netron shows it", "onnx"),
    named(K::kGraphText, "graph_text", "a graph in a form that msdump does not read", "pbtxt"),
    named(K::kLog, "log", "a log; text"),
    named(K::kErrorReport, "error_report", "what msaicerr or asys of CANN collected about an error; text"),
    named(K::kComparison, "comparison", "results of a comparison by another tool"),
    named(K::kCompileOutput, "compile_output", "what a compiler left: a cache, a report, a plan of memory"),
    named(K::kText, "unknown", "text, a log or an archive")};
static_assert(!is_enumerator<static_cast<FileKind>(kKinds.size())>(), "a kind has no row");

// The place of each kind in the table.
constexpr auto kRows = [] {
  std::array<size_t, kKinds.size()> rows{};
  rows.fill(kKinds.size());
  for (size_t i = 0; i < kKinds.size(); ++i) rows[static_cast<size_t>(kKinds[i].kind)] = i;
  return rows;
}();
static_assert(std::find(kRows.begin(), kRows.end(), kKinds.size()) == kRows.end(), "a kind has two rows");

template <class Test>
bool any_word(std::string_view words, const Test& test) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (test(words.substr(0, end))) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

struct NamePrefix {
  std::string_view prefix;
  FileKind kind;
};

// Tables of msprobe's tools, most of whose names go on with a time.
constexpr std::array kCsvPrefixes = {NamePrefix{"ms_execution_order_graph_", K::kExecutionOrder},
                                     NamePrefix{"ms_global_execution_order_graph_", K::kExecutionOrder},
                                     NamePrefix{"accuracy_checking_result_", K::kAccCheck},
                                     NamePrefix{"accuracy_checking_details_", K::kAccCheck},
                                     NamePrefix{"api_precision_compare_", K::kPrecisionCompare},
                                     NamePrefix{"compare_result_", K::kCompareResult},
                                     NamePrefix{"debug_compare_result_", K::kCompareResult},
                                     NamePrefix{"msprobe_cmp_report_", K::kToolTable},
                                     NamePrefix{"hyper_params_", K::kToolTable},
                                     NamePrefix{"stack_info.", K::kToolTable}};

FileKind kind_of_csv(std::string_view name) {
  if (name == "mapping.csv") return FileKind::kMapping;
  if (name == "free_benchmark.csv") return FileKind::kFreeBenchmark;
  if (parse_monitor_name(name)) return FileKind::kMonitor;
  for (const NamePrefix& known : kCsvPrefixes) {
    if (name.starts_with(known.prefix)) return known.kind;
  }
  // Also copies of a statistic.csv.
  return name.find("statistic") != std::string_view::npos ? FileKind::kStatistic : FileKind::kText;
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
  // save_kernel_args writes type.full_name.json beside the tensors.
  const auto fields = split(name, '.');
  if (fields.size() == 3 && fields[1].find("-op") != std::string_view::npos) return FileKind::kKernelArgs;
  return FileKind::kConfig;
}

constexpr std::array kToolFiles = {
    ToolFiles{K::kProfile, "trace_view.json *_timeline_display_*.json *.pt.trace.json *.pt.trace.json.gz msprof_*.json",
              "a timeline of a profiler; MindStudio Insight, Perfetto or chrome://tracing shows it"},
    ToolFiles{K::kProfile, "*snapshot*.pickle",
              "the memory of a device over time, by torch; pytorch.org/memory_viz shows it"},
    ToolFiles{K::kDatabase,
              "ascend_pytorch_profiler*.db ascend_mindspore_profiler*.db msprof_*.db analysis.db "
              "cluster_analysis.db",
              "tables of the Ascend profiler; MindStudio Insight or msprof-analyze reads them"},
    ToolFiles{K::kDatabase, "*.trend.db", "trends of msprobe; its TensorBoard plugin shows them"},
    ToolFiles{K::kDatabase, "*.vis.db", "a graph of msprobe graph_visualize; its TensorBoard plugin shows it"},
    ToolFiles{K::kProfile,
              "kernel_details.csv operator_details.csv op_statistic*.csv api_statistic*.csv "
              "communication_statistic*.csv op_summary*.csv task_time*.csv step_trace*.csv operator_memory*.csv "
              "memory_record*.csv memory_block.csv npu_module_mem*.csv npu_mem*.csv l2_cache*.csv "
              "data_preprocess.csv communication.json communication_matrix.json profiler_info*.json "
              "profiler_metadata.json",
              "times or memory that the Ascend profiler measured; MindStudio Insight reads it"},
    ToolFiles{K::kProfile,
              "*_timeline_summary_*.json aicore_intermediate_*.csv aicpu_intermediate_*.csv framework_raw_*.csv "
              "hccl_raw_*.csv ascend_cluster_analyse_*.csv cpu_op_*_info_*.csv cpu_op_execute_timestamp_*.txt "
              "cpu_framework_*.txt cpu_ms_memory_record_*.txt output_timeline_data_*.txt *_profiling_*.txt "
              "pipeline_profiling_*.json minddata_*.csv minddata_*.json flops_*.txt flops_summary_*.json "
              "dynamic_shape_info_*.json step_trace_point_info_*.json parallel_strategy_*.json",
              "a table of MindSpore's profiler; MindInsight reads it"},
    ToolFiles{K::kGraphText, "dynamo_*graph*.py",
              "a graph of torchair; beside a graph of GE, find-op and map-ir take its lines of the script"},
    ToolFiles{K::kGraphText, "dynamo_*graph*.txt dynamo_*graph*.pbtxt",
              "a graph of torchair; the ge_proto or ge_onnx of GE is what --ir takes"},
    ToolFiles{K::kGraphText, "fx_graph_*.py output_code.py",
              "code that torch.compile generated; torch_compile_debug has it"},
    ToolFiles{K::kGraphText, "ge_readable_*.txt",
              "a graph of GE for people; the ge_proto or ge_onnx beside it is what --ir takes"},
    ToolFiles{K::kGraphText, "actor_set*.ir", "how MindSpore schedules the kernels of a graph; text"},
    ToolFiles{K::kGraphText, "*.dot", "a graph in DOT; Graphviz draws it"},
    ToolFiles{K::kGraphText, "*.dat", "a graph as older versions of MindSpore print it; text"},
    ToolFiles{K::kCompileOutput, "fusion_result.json", "how often each fusion of GE was applied; JSON"},
    ToolFiles{K::kCompileOutput, "check_result.json", "what atc found when it checked a model; JSON"},
    ToolFiles{K::kCompileOutput, "buildPidInfo.json", "which process compiles kernels; CANN reads it"},
    ToolFiles{K::kCompileOutput, "somas_*", "how MindSpore places tensors in memory; text or JSON"},
    ToolFiles{K::kCompileOutput, "compiled_module compile_cache_* compile_dependency.hash",
              "a compiled network that a framework keeps for the next run; it reads it itself"},
    ToolFiles{K::kComparison, "advisor_summary.txt", "advice of msaccucmp on its results; text"},
    ToolFiles{K::kComparison, "result_20*.csv",
              "results of a comparison by msaccucmp; msdump diff --profile msaccucmp writes such"},
    ToolFiles{K::kComparison, "advisor_20*.txt", "advice of msprobe on its results; text"},
    ToolFiles{K::kErrorReport, "stackcore*", "stacks of a process of CANN that crashed; text, or asys reads it"},
    ToolFiles{K::kErrorReport,
              "hardware_info.txt software_info.txt status_info.txt health_result.txt diagnose_result_*.txt",
              "what asys of CANN says of the machine or a crash; text"},
    ToolFiles{K::kErrorReport, "nccl_trace_rank_*",
              "the last collectives of a process of torch; torchfrtrace reads it"},
    ToolFiles{K::kLog, "*.log", "a log of MindSpore, CANN (plog, device) or another program; text"},
    ToolFiles{K::kLog, "*.log.gz", "a compressed log of CANN; zcat shows it"},
    ToolFiles{K::kLog, "*.log.INFO.* *.log.WARNING.* *.log.ERROR.*", "a log of MindSpore; text"},
    ToolFiles{K::kKernel, "*.o", "a compiled kernel of CANN; llvm-objdump of CANN reads it"},
    ToolFiles{K::kKernel, "*.cce", "the source of a kernel of CANN; text"},
    ToolFiles{K::kKernel, "*.ptx", "a kernel that AKG compiled for a GPU; text"},
};

}  // namespace

FileHead::FileHead(std::span<const std::byte> head, uint64_t size)
    : bytes(head), file_size(size), text(reinterpret_cast<const char*>(head.data()), head.size()) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  line = text.substr(0, text.find('\n'));
  const size_t first = text.find_first_not_of(" \t\r\n");
  is_json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

const FileKindInfo& info(FileKind kind) { return kKinds[kRows[static_cast<size_t>(kind)]]; }

std::string_view explanation(FileKind kind, std::string_view name) {
  const ToolFiles* const files = tool_files_of(name);
  return files != nullptr && files->kind == kind ? files->explanation : info(kind).explanation;
}

uint64_t smallest_size(FileKind kind, std::string_view name) {
  const bool is_plain_table = kind == FileKind::kStatistic && kind_of_name(name) == FileKind::kStatistic;
  return is_plain_table ? kTitles.size() : info(kind).smallest_size;
}

FileKind kind_of_name(std::string_view name) {
  if (rank_of_tensor_log(name)) return FileKind::kTensorLog;
  if (const ToolFiles* const known = tool_files_of(name)) return known->kind;
  const std::string suffix = suffix_of(name);
  if (suffix == "csv") return kind_of_csv(name);
  if (suffix == "json") return kind_of_json(name);
  // save_graphs writes it without a suffix.
  constexpr std::string_view kTraceCode = "trace_code_graph_";
  if (name.starts_with(kTraceCode) && is_digits(name.substr(kTraceCode.size()))) return FileKind::kIrText;
  if (is_dump_pkl_name(name)) return FileKind::kDumpPkl;
  if (ge_file_name(name)) return FileKind::kGeGraph;
  if (name == ".metadata") return FileKind::kDcpMetadata;
  if (suffix == "pb") return name.starts_with("ge_") ? FileKind::kGraphText : FileKind::kIrProtobuf;
  for (const FileKindInfo& kind : kKinds) {
    if (any_word(kind.suffixes, [&](std::string_view one) { return one == suffix; })) return kind.kind;
  }
  if (suffix == "txt" && name.starts_with("ge_")) return FileKind::kGraphText;
  if (name.starts_with("events.out.")) return FileKind::kEvents;
  return is_known_other_suffix(suffix) ? FileKind::kText : FileKind::kUnknown;
}

FileKind kind_of_content(std::span<const std::byte> head, uint64_t file_size) {
  const FileHead of_file(head, file_size);
  for (const FileKindInfo& kind : kKinds) {
    if (kind.has_signature != nullptr && kind.has_signature(of_file)) return kind.kind;
  }
  return FileKind::kUnknown;
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

std::span<const ToolFiles> all_tool_files() { return kToolFiles; }

const ToolFiles* tool_files_of(std::string_view name) {
  for (const ToolFiles& files : kToolFiles) {
    if (any_word(files.globs, [&](std::string_view glob) { return glob_match(glob, name); })) return &files;
  }
  return nullptr;
}

}  // namespace msdump
