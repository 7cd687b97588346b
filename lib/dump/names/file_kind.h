// What the files of a dump tree are, tensors or not, by their names; file_content.h judges one file by its first bytes.
// Source: reference/dump-layouts-and-statistics.md sections 1, 2.8, 6, 7; reference/compare-and-check.md 1.4, 1.5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"

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

// Files that other tools leave in and beside dumps and that msdump does not read: who writes them, and what reads them. Known by
// their names; those without a name of their own by their folder (layout.h).
//
// Sources: MindSpore mindspore/python/mindspore/profiler (names of files), docs of its profiler; torch_npu profiler; CANN
// ge compiler/engines/nn_engine/fusion/common/fusion_statistic/fusion_statistic_writer.cc, api/atc/atc_flags.cc,
// compiler/opcompiler/op_compile_adapter/source/file_handle/te_file_handle.cc; oam-tools src/asys, src/msaicerr,
// src/msprof; torchair python/torchair/npu_fx_compiler.py, inference/_cache_compiler.py; runtime
// src/dfx/log/liblog/slog/plog/plog_file_mgr.c; msprobe python/msprobe/core/common/utils.py.

struct FieldFile {
  std::string_view glob;  // of the name
  FileKind kind = FileKind::kUnknown;
  std::string_view what;  // one sentence: writer, content, what reads it
};

[[nodiscard]] std::span<const FieldFile> all_field_files();
// The first that matches; null: none does.
[[nodiscard]] const FieldFile* field_file_of(std::string_view name);

// In words for the name where that says more than its kind.
[[nodiscard]] std::string_view explanation(FileKind kind, std::string_view name);

// What a file is, by its first bytes: for names that say nothing or lie.

// What a file is that its name promises to be of another kind, and could not be read as such: a Git LFS pointer, a zip
// archive. Nothing if its first bytes do not tell.
[[nodiscard]] std::optional<Error> mistaken_content(FileKind promised, std::span<const std::byte> head);

// kUnknown when they say nothing.
[[nodiscard]] FileKind kind_of_content(std::span<const std::byte> head, uint64_t file_size);

}  // namespace msdump
