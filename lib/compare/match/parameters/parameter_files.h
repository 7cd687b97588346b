// ParameterFiles: what the files of two checkpoints say of their parameters besides the keys.
//
// A single version or rank on each side is compared whatever its number is. Of several versions those are compared that both sides
// have, or the first of each if they have none in common.
//
// The path of a file is a part of its parameters' names if two files of one version and rank have the same keys, such as one file
// a layer. The first of these forms counts in which the two sides have most files in common:
//   1. the path
//   2. without the suffix, so that layer_0.pt is layer_0.safetensors
//   3. without the beginning and the end that all files of a side share, in whole words: net_1-2_10, net_1-3_10 are 2, 3
// If the other side has each key once, the files may be stages of pipeline parallelism that number their layers from 0
// (Megatron): they are counted on from stage to stage, if this makes all keys those of the other side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compare/sides.h"
#include "graph/join/dump_operators.h"

namespace msdump {

struct ParameterFile {
  std::string step, rank;  // if several are compared
  std::string name;        // in the form that counts, if the file is a part of the name
  std::string path;        // below the root
  int64_t first_layer = 0;

  [[nodiscard]] bool tells() const { return !step.empty() || !rank.empty() || !name.empty(); }
  // The key in its file; `with_place`: of its step and rank.
  [[nodiscard]] std::string name_of(std::string_view key, bool with_place) const;
};

struct ParameterFiles {
  std::unordered_map<FileId, ParameterFile> files;  // of the versions that are compared
  std::vector<int64_t> steps;                       // versions, ascending, if the first is compared and no other
  std::vector<int64_t> steps_alone;                 // ascending, if others are compared
  std::vector<std::string> alone;                   // paths of versions without a step that are not compared
};

// Both sides must be checkpoints.
[[nodiscard]] Sides<ParameterFiles> parameter_files(const DumpWithGraph& a, const DumpWithGraph& b);

}  // namespace msdump
