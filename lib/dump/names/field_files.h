// Files that other tools leave in and beside dumps and that msdump does not read: who writes them, and what reads them. Known by
// their names; those without a name of their own by their folder (layout.h).
//
// Sources: MindSpore mindspore/python/mindspore/profiler (names of files), docs of its profiler; torch_npu profiler; CANN
// ge compiler/engines/nn_engine/fusion/common/fusion_statistic/fusion_statistic_writer.cc, api/atc/atc_flags.cc,
// compiler/opcompiler/op_compile_adapter/source/file_handle/te_file_handle.cc; oam-tools src/asys, src/msaicerr,
// src/msprof; torchair python/torchair/npu_fx_compiler.py, inference/_cache_compiler.py; runtime
// src/dfx/log/liblog/slog/plog/plog_file_mgr.c; msprobe python/msprobe/core/common/utils.py.
#pragma once

#include <span>
#include <string_view>

#include "dump/names/file_kind.h"

namespace msdump {

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

}  // namespace msdump
