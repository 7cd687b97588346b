// Layouts of folders: the rank, graph and step that the folders above a file name, and the writers of such trees.
//
//   rank_R/net/G/S/                    MindSpore 1.3 and later (also net/G/constants)
//   rank_R/debug_files/S/              its overflow records, 2.0 and later; sometimes without S
//   [device_R/]iteration_S/            1.0 to 1.2 synchronous; the CPU of 1.2 has no device folder
//   device_R/net_graph_G/G/S/          1.0 to 1.2 asynchronous
//   TIME/R/model/G/S/                  GE dump, 2.2 to 2.5; TIME is 14 digits
//   TIME/R/G/                          ACL dump of an offline model: no step
//   S/TIME/R[/model]/G/S'/             ACL dump, 2.3 to 2.5; with jit_level O0 S/TIME/R[/S']/
//   rank_R/TIME/step_S/                msprobe with adump
//   stepS/rankR/, stepS/rank/          msprobe; below it dump_tensor_data/
//   stepS/procPID/, stepS/pidPID/      msprobe, one process: the usual case on one card; without a rank
//   dump_tensor_data/rankR/            msprobe's AclGraphDumper, before the step has ended
//   worldsizeW_global_rankR/           torchair: below it graph_G/S/ of an FX graph, or a GE dump, whose R is a device
//   TAG_vN/[stepS/]rankR/              ptdbg_ascend: below it dump.pkl and dump/
//   atb_dump_data/data/R_PID/S/        msprobe, of ATB operators; S counts runs
//   Nov23_15-50-51-rankR-04eb6adc/     msprobe's monitor: a time and eight hexadecimal digits
//   extra-info/data-dump/R/            exception dump of CANN
//   torch_tensors/DEVICE_PID/T/        msit (ait), of PyTorch modules; T counts tokens, the rank is that of "npu0"
//   any folder                         SGLang's dumper: rank and step are in the names of the files (names/dumper_name.h)
//
// All other folders say nothing. Source: torchair python/torchair/fx_dumper.py; msprobe
// python/msprobe/pytorch/aclgraph_dumper.py and ccsrc/atb_probe/atb_probe.cpp; ptdbg_ascend dump/utils.py; docs/formats/.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace msdump {

enum class Layout : uint8_t {
  kFlat,       // no folder that says anything
  kTree,       // rank_R/net/G/S
  kConstants,  // net/G/constants
  kOverflow,   // debug_files
  kOldSync,
  kOldAsync,
  kGe,
  kOfflineModel,
  kAcl,
  kAdump,
  kMsprobe,
  kTorchair,
  kAtb,
  kMonitor,
  kException,
  kDumper,
  kMsit,
  kPtdbg,
};
// For people: "rank_R/NET/GRAPH/STEP (MindSpore 1.3 and later)", ...
[[nodiscard]] std::string_view name_of(Layout layout);

struct FolderIdentity {
  std::optional<int64_t> rank, graph, step;
  Layout layout = Layout::kFlat;
  uint16_t depth = 0;  // of the layout: folders of the path from its outermost one on; 0 if none says anything
  uint32_t dump = 0;   // in DumpIndex::dumps()
  // True if the folder is, or lies in, a folder of this kind. Files of other tools often have no names of their own.
  bool tensor_data = false;  // msprobe's dump_tensor_data
  bool profiler = false;     // the Ascend profiler: PROF_N, *_ascend_ms, *_ascend_pt, ASCEND_PROFILER_OUTPUT
  bool kernels = false;      // compiled kernels: kernel_meta, kernel_meta_PID, akg_kernel_meta
  bool report = false;       // msaicerr: aicerror_N_TIME
};

// `folder` is the absolute path, so that a command may start at any level of a tree.
[[nodiscard]] FolderIdentity identify_folder(std::string_view folder);

// True for a folder inside a layout that only numbers a rank, graph or step, or that every dump of the layout has. The others
// are chosen by the user or the time: the name of a network, the time of a dump.
[[nodiscard]] bool only_numbers(std::string_view folder);

}  // namespace msdump
