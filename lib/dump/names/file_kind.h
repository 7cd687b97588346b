// What the files of a dump tree are, tensors or not, by their names; file_content.h judges one file by its first bytes.
// Source: reference/dump-layouts-and-statistics.md sections 1, 2.8, 6, 7; reference/compare-and-check.md 1.4, 1.5.
#pragma once

#include <cstdint>
#include <string_view>

namespace msdump {

enum class FileKind : uint8_t {
  kUnknown,
  kDumpFile,
  kOpdebug,
  kNpy,
  kPt,
  kRaw,
  kStatistic,
  kMapping,
  kExecutionOrder,
  kIrText,
  kIrProtobuf,
  kKernelArgs,
  kDumpJson,
  kDebugJson,
  kStackJson,
  kConstructJson,
  kFreeBenchmark,
  kConfig,
  kGeGraph,  // ge_proto, ge_onnx
  kSafetensors,
  kAtbTensor,
  kShardIndex,
  kCheckpoint,  // MindSpore's .ckpt
  kNpz,
  kMonitor,  // of msprobe, as the following ones
  kAccCheck,
  kPrecisionCompare,
  kCompareResult,
  kAnomalies,
  // Named, not read:
  kSpreadsheet,
  kConfigCheck,
  kModuleStruct,
  kToolTable,
  kOfflineModel,  // .om
  kMindir,
  kAir,
  kOnnx,
  kDatabase,
  kHdf5,
  kEvents,  // TensorBoard's, MindInsight's
  kProfile,
  kGraphText,  // .dat, .dot, actor sets
  kLog,
  kKernel,         // compiled, and what lies beside it
  kErrorReport,    // of asys, msaicerr
  kComparison,     // results of msaccucmp, msprobe
  kCompileOutput,  // caches, reports of compilers
  kText,
};
// The words of the machine output: "dump_file", "npy", "statistic", ...
[[nodiscard]] std::string_view name_of(FileKind kind);

// By the name alone, for names that no family of tensors claims; kUnknown when it says nothing.
[[nodiscard]] FileKind kind_of_name(std::string_view name);

// Does msdump read files of this kind, or use what they say?
[[nodiscard]] bool is_read(FileKind kind);

// One sentence for people: what such a file is and what to do with it.
[[nodiscard]] std::string_view explanation(FileKind kind);

}  // namespace msdump
