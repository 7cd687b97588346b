// Watched outputs: dumps that CANN makes with "dump_scene": "watcher". CANN dumps the outputs of some operators
// (watcher_nodes) when they ran. It dumps them again after each of other operators (layer), to find the one that overwrites
// them.
//
//   TYPE.WATCHED.task.stream.time                the watched operator's own output, just written
//   TYPE.LAYER_To_WATCHED.task.stream.time       the same memory after LAYER ran; TYPE is the type of WATCHED, the numbers
//                                                are those of LAYER
//   header, op_name                              "LAYER_To_WATCHED" with the full names
//
// Snapshots are also taken after operators that run before WATCHED; these hold no tensor. Nothing else is dumped in this
// mode: in a dump with other operators, "_To_" is part of a name. None of this was checked against a real run.
//
// Sources:
//   ge        runtime/v1/common/dump/data_dumper.cc (BuildTaskInfoForDumpOutput),
//             runtime/v1/graph/load/model_manager/davinci_model.cc (SaveDfxInfo, OpNeedDump)
//   runtime   src/aicpu_sched/aicpu_schedule/core/dfx/dump_task.cpp (DumpPath)
//   torchair  docs/zh/ascend_ir/features/advanced/data_dump.md
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

// The name of a dumped output, as the dump spells it.
struct DumpedName {
  uint32_t folder = 0;
  std::string_view op_type, op_name;
};

inline constexpr size_t kNotWatched = std::string_view::npos;

// Returns for each output the position of the watched operator's name in its name: 0 for the operator's own output.
// All outputs of a folder with other operators are kNotWatched. `watched`: globs of the watched operators; with them, an
// operator need not have an output of its own, and other operators are ignored.
[[nodiscard]] std::vector<size_t> find_watched(std::span<const DumpedName> names, std::span<const std::string> watched);

struct WatchedOutput {
  struct Snapshot {
    RecordId tensor;
    std::string_view after;  // LAYER; empty: the operator's own output
  };
  std::string_view op_name, slot;
  std::vector<Snapshot> snapshots;  // in the order of time
};

// The watched outputs of each folder, in the order of the list, without tensors that have no elements.
[[nodiscard]] std::vector<WatchedOutput> watched_outputs(const DumpIndex& index,
                                                         const std::vector<TensorRecord>& tensors,
                                                         std::span<const std::string> watched);

// The watched operators by the names of files alone.
struct WatcherFiles {
  std::set<std::string_view> operators;
  uint64_t snapshots = 0;  // files, without the operators' own outputs
};
[[nodiscard]] WatcherFiles watcher_files(const DumpIndex& index);

}  // namespace msdump
