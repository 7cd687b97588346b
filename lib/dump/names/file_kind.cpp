#include "dump/names/file_kind.h"

#include <array>

#include "base/text.h"
#include "checkpoint/shard_index.h"
#include "dump/names/field_files.h"
#include "dump/names/file_name.h"
#include "ge/graph/ge_graph.h"
#include "tables/monitor_csv.h"

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

}  // namespace msdump
