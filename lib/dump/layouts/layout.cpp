#include "dump/layouts/layout.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"

namespace msdump {
namespace {

using Parts = std::vector<std::string_view>;

std::optional<int64_t> number_after(std::string_view part, std::string_view prefix) {
  if (!part.starts_with(prefix) || !is_digits(part.substr(prefix.size()))) return std::nullopt;
  return parse_i64(part.substr(prefix.size()));
}

std::optional<int64_t> number_at(const Parts& parts, size_t index) {
  if (index >= parts.size() || !is_digits(parts[index])) return std::nullopt;
  return parse_i64(parts[index]);
}

std::string_view part_at(const Parts& parts, size_t index) { return index < parts.size() ? parts[index] : ""; }

bool is_time(std::string_view part) { return part.size() == 14 && is_digits(part); }

bool is_profiler_folder(std::string_view part) {
  return part.starts_with("PROF_") || part.ends_with("_ascend_ms") || part.ends_with("_ascend_pt") ||
         part == "ASCEND_PROFILER_OUTPUT";
}

bool is_kernel_folder(std::string_view part) {
  return part == "kernel_meta" || part == "akg_kernel_meta" || part.starts_with("kernel_meta_");
}

// rank_R/net/G/S or device_R/...
void identify_under_rank(const Parts& parts, size_t rank_at, FolderIdentity& identity) {
  const bool device = parts[rank_at].starts_with("device_");
  identity.layout = device ? Layout::kOldAsync : Layout::kTree;
  if (const auto step = number_after(part_at(parts, rank_at + 1), "iteration_")) {
    identity.layout = Layout::kOldSync;
    identity.step = step;
    return;
  }
  if (part_at(parts, rank_at + 1) == "debug_files") {
    identity.layout = Layout::kOverflow;
    identity.step = number_at(parts, rank_at + 2);
    return;
  }
  if (const auto step = number_after(part_at(parts, rank_at + 2), "step_")) {
    identity.layout = Layout::kAdump;
    identity.step = step;
    return;
  }
  identity.graph = number_at(parts, rank_at + 2);
  if (!identity.graph) return;
  identity.step = number_at(parts, rank_at + 3);
  if (part_at(parts, rank_at + 3) == "constants") identity.layout = Layout::kConstants;
}

// TIME/R[/model]/G/S. In an ACL dump the step precedes TIME, and the last number repeats it or counts runs.
void identify_under_time(const Parts& parts, size_t time_at, FolderIdentity& identity) {
  identity.rank = number_at(parts, time_at + 1);
  if (!identity.rank) return;
  const bool has_model = !is_digits(part_at(parts, time_at + 2));
  const size_t graph_at = time_at + (has_model ? 3 : 2);
  identity.graph = number_at(parts, graph_at);
  identity.step = number_at(parts, graph_at + 1);
  const auto outer_step = time_at > 0 ? number_at(parts, time_at - 1) : std::nullopt;
  identity.layout = outer_step                                       ? Layout::kAcl
                    : identity.graph && !identity.step && !has_model ? Layout::kOfflineModel
                                                                     : Layout::kGe;
  if (!outer_step) return;
  if (identity.graph && !identity.step && !has_model) identity.graph.reset();  // jit_level O0: only the step again
  identity.step = outer_step;
}

// TAG_v2.2, the folder of one dump of ptdbg_ascend.
bool is_versioned(std::string_view part) {
  const size_t mark = part.rfind("_v");
  if (mark == 0 || mark == std::string_view::npos) return false;
  const std::string_view version = part.substr(mark + 2);
  return !version.empty() && is_digits(version.substr(0, 1)) &&
         version.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool identify_msprobe(const Parts& parts, size_t at, FolderIdentity& identity) {
  if (at == 0) return false;
  const auto step = number_after(parts[at - 1], "step");
  const auto rank = number_after(parts[at], "rank");
  const bool process = number_after(parts[at], "proc") || number_after(parts[at], "pid");
  const bool unfinished = parts[at - 1] == "dump_tensor_data" && (rank || process);
  const bool whole_run = rank && is_versioned(parts[at - 1]);
  if (!unfinished && !whole_run && (!step || !(rank || process || parts[at] == "rank"))) return false;
  identity.rank = rank;
  identity.step = step;
  const bool versioned = whole_run || (rank && at > 1 && is_versioned(parts[at - 2]));
  identity.layout = versioned ? Layout::kPtdbg : Layout::kMsprobe;
  return true;
}

// The R of worldsizeW_global_rankR.
std::optional<int64_t> global_rank(std::string_view part) {
  constexpr std::string_view kMark = "_global_rank";
  const size_t mark = part.find(kMark);
  if (mark == std::string_view::npos || !number_after(part.substr(0, mark), "worldsize")) return std::nullopt;
  return number_after(part.substr(mark), kMark);
}

// The R of TIME-rankR-ID.
std::optional<int64_t> monitored_rank(std::string_view part) {
  constexpr std::string_view kMark = "-rank", kHex = "0123456789abcdef";
  const size_t mark = part.rfind(kMark), end = part.rfind('-');
  if (mark == std::string_view::npos || end <= mark || part.size() - end != 9) return std::nullopt;
  if (part.find_first_not_of(kHex, end + 1) != std::string_view::npos) return std::nullopt;
  return number_after(part.substr(mark, end - mark), kMark);
}

// graph_G/S; gm_TIME_dump/S of a graph without a number.
void identify_under_global_rank(const Parts& parts, size_t at, FolderIdentity& identity) {
  identity.layout = Layout::kTorchair;
  identity.rank = global_rank(parts[at]);
  identity.graph = number_after(part_at(parts, at + 1), "graph_");
  identity.step = number_at(parts, at + 2);
}

// torch_tensors/npu0_4321/TOKEN
bool identify_msit(const Parts& parts, size_t at, FolderIdentity& identity) {
  if (parts[at] != "torch_tensors") return false;
  const std::string_view device = part_at(parts, at + 1);
  const size_t process = device.rfind('_');
  if (!device.empty() && (process == device.npos || !is_digits(device.substr(process + 1)))) return false;
  const std::string_view card = device.substr(0, process);
  identity.layout = Layout::kMsit;
  identity.rank = parse_i64(card.substr(card.find_last_not_of("0123456789") + 1));
  identity.step = number_at(parts, at + 2);
  return true;
}

// The identity that the folder at `at` names, if any.
bool identify_at(const Parts& parts, size_t at, FolderIdentity& identity) {
  for (const std::string_view prefix : {"rank_", "device_"}) {
    if (const auto rank = number_after(parts[at], prefix)) {
      identity.rank = rank;
      identify_under_rank(parts, at, identity);
      return true;
    }
  }
  if (identify_msprobe(parts, at, identity) || identify_msit(parts, at, identity)) return true;
  if (global_rank(parts[at])) {
    identify_under_global_rank(parts, at, identity);
    return true;
  }
  if (const auto rank = monitored_rank(parts[at])) {
    identity.rank = rank;
    identity.layout = Layout::kMonitor;
    return true;
  }
  if (parts[at] == "data" && at > 0 && parts[at - 1] == "atb_dump_data") {
    const std::string_view device = part_at(parts, at + 1);
    identity.layout = Layout::kAtb;
    identity.rank = parse_i64(device.substr(0, device.find('_')));
    identity.step = number_at(parts, at + 2);
    return true;
  }
  if (parts[at] == "data-dump" && at > 0 && parts[at - 1] == "extra-info") {
    identity.rank = number_at(parts, at + 1);
    identity.layout = Layout::kException;
    return true;
  }
  // Below a rank_R stands a time of msprobe's, which says nothing.
  if (!is_time(parts[at])) return false;
  identify_under_time(parts, at, identity);
  const auto rank = at > 0 ? global_rank(parts[at - 1]) : std::nullopt;
  if (rank && identity.rank) identity.rank = rank;
  return identity.rank.has_value();
}

// The number of folders above the one that shows the layout that belong to it.
size_t folders_above(const Parts& parts, size_t at, const FolderIdentity& identity) {
  if (at == 0) return 0;
  switch (identity.layout) {
    case Layout::kMsprobe:
    case Layout::kAtb:
    case Layout::kException:
    case Layout::kAcl: return 1;
    case Layout::kPtdbg: return identity.step ? 2 : 1;
    default: return is_time(parts[at]) && global_rank(parts[at - 1]) ? 1 : 0;
  }
}

}  // namespace

std::string_view name_of(Layout layout) {
  switch (layout) {
    case Layout::kFlat: return "plain folder";
    case Layout::kTree: return "MindSpore tree rank_R/NET/GRAPH/STEP";
    case Layout::kConstants: return "constants of a MindSpore tree";
    case Layout::kOverflow: return "overflow records (debug_files)";
    case Layout::kOldSync: return "MindSpore 1.0-1.2 synchronous tree iteration_N";
    case Layout::kOldAsync: return "MindSpore 1.0-1.2 asynchronous tree device_N";
    case Layout::kGe: return "GE tree TIME/DEVICE/MODEL/GRAPH/STEP";
    case Layout::kOfflineModel: return "ACL tree of an offline model TIME/DEVICE/MODEL_ID";
    case Layout::kAcl: return "ACL tree STEP/TIME/DEVICE";
    case Layout::kAdump: return "msprobe adump tree rank_R/TIME/step_S";
    case Layout::kMsprobe: return "msprobe tree stepN/rankN";
    case Layout::kTorchair: return "torchair tree worldsizeN_global_rankN/graph_N/STEP";
    case Layout::kAtb: return "msprobe tree of ATB operators atb_dump_data/data/DEVICE_PID/RUN";
    case Layout::kMonitor: return "msprobe's monitor";
    case Layout::kException: return "exception dump extra-info/data-dump";
    case Layout::kDumper: return "files of SGLang's dumper, key=value___key=value.pt";
    case Layout::kPtdbg: return "ptdbg_ascend tree TAG_vN/[stepN/]rankN";
    case Layout::kMsit: return "msit tree torch_tensors/DEVICE_PID/TOKEN";
  }
  return "plain folder";
}

FolderIdentity identify_folder(std::string_view folder) {
  FolderIdentity identity;
  Parts parts;
  for (const std::string_view part : split(folder, '/')) {
    if (part.empty() || part == ".") continue;
    parts.push_back(part);
    identity.tensor_data = identity.tensor_data || part == "dump_tensor_data";
    identity.profiler = identity.profiler || is_profiler_folder(part);
    identity.kernels = identity.kernels || is_kernel_folder(part);
    identity.report = identity.report || part.starts_with("aicerror_");
  }
  // The innermost folder that names something decides.
  for (size_t i = parts.size(); i-- > 0;) {
    if (!identify_at(parts, i, identity)) continue;
    identity.depth =
        static_cast<uint16_t>(std::min<size_t>(parts.size() - i + folders_above(parts, i, identity), UINT16_MAX));
    return identity;
  }
  for (size_t i = parts.size(); i-- > 0;) {
    const auto step = number_after(parts[i], "iteration_");
    if (!step) continue;
    identity.step = step;
    identity.layout = Layout::kOldSync;
    identity.depth = static_cast<uint16_t>(std::min<size_t>(parts.size() - i, UINT16_MAX));
    return identity;
  }
  return identity;
}

bool only_numbers(std::string_view folder) {
  constexpr std::array<std::string_view, 8> kWords = {"rank", "dump_tensor_data", "debug_files", "constants",
                                                      "data", "atb_dump_data",    "extra-info",  "data-dump"};
  constexpr std::array<std::string_view, 7> kPrefixes = {"rank_", "device_", "iteration_", "step_",
                                                         "step",  "rank",    "graph_"};
  if (is_digits(folder)) return !is_time(folder);
  const auto numbers = [&](std::string_view prefix) { return number_after(folder, prefix).has_value(); };
  return std::find(kWords.begin(), kWords.end(), folder) != kWords.end() ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(), numbers) || global_rank(folder) || monitored_rank(folder);
}

}  // namespace msdump
