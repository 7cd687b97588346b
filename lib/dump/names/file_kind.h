// FileKind: the kinds of files that lie in and beside dumps.
//
// The name of a file (kind_of_name) or its first bytes (kind_of_content) show its kind. The table in file_kind.cpp has one
// row for each kind, with everything that is known of it.
//
// Sources of the names of other tools:
//   MindSpore  mindspore/python/mindspore/profiler, docs of its profiler
//   torch_npu  profiler
//   CANN ge    compiler/engines/nn_engine/fusion/common/fusion_statistic/fusion_statistic_writer.cc, api/atc/atc_flags.cc,
//              compiler/opcompiler/op_compile_adapter/source/file_handle/te_file_handle.cc
//   oam-tools  src/asys, src/msaicerr, src/msprof
//   torchair   python/torchair/npu_fx_compiler.py, inference/_cache_compiler.py
//   runtime    src/dfx/log/liblog/slog/plog/plog_file_mgr.c
//   msprobe    python/msprobe/core/common/utils.py
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"

namespace msdump {

class Family;

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
  kDumpPkl,
  kTensorLog,  // of PyTorch's DebugMode and torchtitan
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
  kDcpMetadata,  // torch.distributed.checkpoint
  kDcpShards,
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

// The first bytes of a file.
struct FileHead {
  FileHead(std::span<const std::byte> head, uint64_t size);
  std::span<const std::byte> bytes;
  uint64_t file_size;
  std::string_view text, line;  // the bytes as text, and its first line; both without a byte order mark
  bool is_json;
  [[nodiscard]] bool has(std::string_view part) const { return text.find(part) != std::string_view::npos; }
  [[nodiscard]] bool line_has(std::string_view part) const { return line.find(part) != std::string_view::npos; }
};

using HeadTest = bool (*)(const FileHead& head);
using FamilyGetter = const Family& (*)();

struct FileKindInfo {
  FileKind kind = FileKind::kUnknown;
  std::string_view word;         // of the machine output
  std::string_view explanation;  // for people: content and use, in one sentence
  bool is_read = false;          // msdump reads such files, or uses what they say
  std::string_view suffixes;     // of names that nothing else decides: in lower case, one space between
  HeadTest has_signature = nullptr;
  uint64_t smallest_size = 0;     // a smaller file is truncated
  FamilyGetter family = nullptr;  // reads its tensors (layouts/family.h)
  bool holds_parameters = false;  // each with its name
};
[[nodiscard]] const FileKindInfo& info(FileKind kind);

[[nodiscard]] inline std::string_view name_of(FileKind kind) { return info(kind).word; }
[[nodiscard]] inline bool is_read(FileKind kind) { return info(kind).is_read; }
// The explanation by the name of a file, if a tool is known for it, else by the kind.
[[nodiscard]] std::string_view explanation(FileKind kind, std::string_view name = {});
[[nodiscard]] uint64_t smallest_size(FileKind kind, std::string_view name);

// The kind by the name alone, for names that no family claims; kUnknown if the name says nothing.
[[nodiscard]] FileKind kind_of_name(std::string_view name);
// The kind by the first bytes, for names that say nothing or lie; kUnknown if they have no signature.
[[nodiscard]] FileKind kind_of_content(std::span<const std::byte> head, uint64_t file_size);
// The error for a file that could not be read as its name promises. No value unless its first bytes show why: a Git LFS
// pointer, or a zip archive.
[[nodiscard]] std::optional<Error> mistaken_content(FileKind promised, std::span<const std::byte> head);

// Files of other tools, by their names. Files without names of their own are recognised by their folder (layouts/layout.h).
struct ToolFiles {
  FileKind kind = FileKind::kUnknown;
  std::string_view globs;        // of names, one space between
  std::string_view explanation;  // one sentence: writer, content, reader
};
[[nodiscard]] std::span<const ToolFiles> all_tool_files();
// The first row that matches; null if none does.
[[nodiscard]] const ToolFiles* tool_files_of(std::string_view name);

}  // namespace msdump
