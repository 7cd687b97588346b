// Watched outputs: what CANN dumps with "dump_scene": "watcher". The outputs of some operators (watcher_nodes) are
// dumped when they ran, and again after each of others (layer), to find the one that overwrites them.
//
//   TYPE.WATCHED.task.stream.time                the watched operator's own output, just written
//   TYPE.LAYER_To_WATCHED.task.stream.time       the same memory after LAYER ran; TYPE is that of WATCHED, the numbers are
//                                                those of LAYER
//   header, op_name                              "LAYER_To_WATCHED" with the full names
//
// Snapshots are also taken after operators that run before WATCHED; what they hold is of no tensor. Nothing else is
// dumped in this mode, which tells it from a dump that has "_To_" in the name of an operator.
// Source: ge runtime/v1/common/dump/data_dumper.cc (BuildTaskInfoForDumpOutput), runtime/v1/graph/load/model_manager/
// davinci_model.cc (SaveDfxInfo, OpNeedDump); runtime src/aicpu_sched/aicpu_schedule/core/dfx/dump_task.cpp (DumpPath);
// torchair docs/zh/ascend_ir/features/advanced/data_dump.md. Not checked against a real run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"

namespace msdump {

// Of a dumped output. Names are as the dump spells them, all of them in the same way.
struct DumpedName {
  uint32_t folder = 0;
  std::string_view op_type, op_name;
};

inline constexpr size_t kNotWatched = std::string_view::npos;

// By output: where the name of the watched operator begins in its name, 0 for the operator's own output. kNotWatched in
// a folder that also has other operators. `watched`: globs for the watched operators, which then need not have an output
// of their own; other operators beside them are ignored.
[[nodiscard]] std::vector<size_t> find_watched(std::span<const DumpedName> names, std::span<const std::string> watched);

struct WatchedOutput {
  struct Snapshot {
    uint32_t tensor = 0;     // of the list
    std::string_view after;  // LAYER; empty: the watched operator itself
  };
  std::string_view op_name, slot;
  std::vector<Snapshot> snapshots;  // in the order of time
};

// Of each folder, in the order of the list. Tensors without elements are left out.
[[nodiscard]] std::vector<WatchedOutput> watched_outputs(const DumpIndex& index,
                                                         const std::vector<TensorRecord>& tensors,
                                                         std::span<const std::string> watched);

// By the names of files alone.
struct WatcherFiles {
  std::set<std::string_view> operators;  // that are watched
  uint64_t snapshots = 0;                // files, without the operators' own
};
[[nodiscard]] WatcherFiles watcher_files(const DumpIndex& index);

}  // namespace msdump
