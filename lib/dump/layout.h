// Layouts of folders: what the folders above a file say about its rank, graph and step.
//
//   rank_R/net/G/S/                    MindSpore 1.3 and later (also net/G/constants)
//   rank_R/debug_files/S/              its overflow records, 2.0 and later; sometimes without S
//   device_R/iteration_S/              1.0 to 1.2 synchronous
//   device_R/net_graph_G/G/S/          1.0 to 1.2 asynchronous
//   TIME/R/model/G/S/                  GE dump, 2.2 to 2.5; TIME is 14 digits
//   S/TIME/R[/model]/G/S'/             ACL dump, 2.3 to 2.5; with jit_level O0 S/TIME/R[/S']/
//   rank_R/TIME/step_S/                msprobe with adump
//   stepS/rankR/                       msprobe
// Source: reference/dump-layouts-and-statistics.md section 1. Other folders say nothing. The other layouts of that section
// carry no tensors that convert reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace msdump {

struct FolderIdentity {
  std::optional<int64_t> rank, graph, step;
};

// `folder` is the absolute path, so that a command may start at any level of a tree.
[[nodiscard]] FolderIdentity identify_folder(std::string_view folder);

}  // namespace msdump
