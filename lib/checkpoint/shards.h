// The index of a checkpoint in several files (shards).
//
//   {"metadata": {"total_size": BYTES, ...}, "weight_map": {NAME: FILE, ...}}
//
// Each FILE lies beside the index and holds the parameter NAME. Names: model.safetensors.index.json,
// pytorch_model.bin.index.json (Hugging Face), param_name_map.json (MindSpore; older versions wrote the weight_map
// alone).
//
// A FILE that is more than a name makes the index unsafe_name: no path of it is ever opened. Limits against hostile
// input: 100,000,000 bytes, 500,000 parameters, 64 KiB for each, 1 MiB of metadata.
// Source: huggingface_hub/serialization/_base.py; mindspore/parallel/transform_safetensors.py.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "io/file.h"
#include "io/run_context.h"

namespace msdump {

struct ShardIndex {
  std::vector<std::string> files;                            // each once, in the order of the text
  std::vector<std::pair<std::string, uint32_t>> parameters;  // with the place of the file; likewise
  std::optional<uint64_t> total_size;                        // bytes of all parameters
};

[[nodiscard]] bool is_shard_index_name(std::string_view name);

Result<ShardIndex> read_shard_index(const File& file);

// Do the files of a sharded checkpoint hold what its index says?

enum class ShardFaultKind : uint8_t {
  kMissingFile,
  kUnreadable,  // `problem` says why
  kMissing,     // parameters that the index has in this file and the file does not have
  kUnlisted,    // parameters of the file that the index does not have, or has in another file
  kTotalSize,   // the index says another number of bytes than the parameters have
};

struct ShardFault {
  ShardFaultKind kind = ShardFaultKind::kMissingFile;
  std::string file;  // name; empty for kTotalSize
  std::string text;  // "lacks 2 parameters of the index: a, b"
  std::optional<Error> problem = {};
};

struct ShardCheck {
  std::vector<ShardFault> faults;  // by file, in the order of the index
  std::optional<uint64_t> bytes;   // of all parameters; no value if some file cannot be read
};

// Reads the headers of the files in `folder`. Linear in the parameters.
[[nodiscard]] ShardCheck check_shards(const ShardIndex& index, const std::string& folder, const CancelToken& cancel);

}  // namespace msdump
