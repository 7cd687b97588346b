// ParameterFiles: the file of a parameter as a part of its name, where several files of a checkpoint have the same keys: layers
// or ranks, one a file (layer_0.pt, mp_rank_01/model.pt), versions (iter_0000005/..).
//
// A file is known by its path below the root, without what differs on the two sides as a whole. The first of these forms counts
// in which the two sides have most files in common:
//   1. the path
//   2. without the suffix, so that layer_0.pt is layer_0.safetensors
//   3. without the beginning and the end that all files of a side share, in whole words: net_rank_0-1_1, net_rank_1-1_1 are 0, 1
#pragma once

#include <string>
#include <unordered_map>

#include "compare/sides.h"
#include "graph/join/dump_operators.h"

namespace msdump {

struct ParameterFile {
  std::string name;  // in the form that counts
  std::string path;  // below the root
};

using ParameterFiles = std::unordered_map<FileId, ParameterFile>;

// Empty unless both sides are checkpoints in which two files have the same key.
[[nodiscard]] Sides<ParameterFiles> parameter_files(const DumpWithGraph& a, const DumpWithGraph& b);

}  // namespace msdump
