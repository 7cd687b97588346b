// Checkpoints in several files (shards): reading the index, and checking the files against it.
//
//   {"metadata": {"total_size": BYTES, ...}, "weight_map": {NAME: FILE, ...}}
//
// Each FILE is in the directory of the index and holds the parameter NAME. Names of an index: model.safetensors.index.json,
// pytorch_model.bin.index.json (Hugging Face), param_name_map.json (MindSpore, whose older versions wrote only the
// weight_map).
//
// A FILE with more than a name is kUnsafeName. Limits against hostile input: 100,000,000 bytes, 500,000 parameters, 64 KiB
// for each, 1 MiB of metadata.
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
  std::vector<std::pair<std::string, uint32_t>> parameters;  // with the index into files, in the order of the text
  std::optional<uint64_t> total_size;                        // bytes of all parameters
};

[[nodiscard]] bool is_shard_index_name(std::string_view name);

Result<ShardIndex> read_shard_index(const File& file);

enum class ShardFaultKind : uint8_t {
  kMissingFile,
  kUnreadable,  // `problem` says why
  kMissing,     // the file lacks parameters of the index
  kUnlisted,    // the file has parameters that the index lacks or has in another file
  kTotalSize,   // total_size is not the size of the parameters
};

struct ShardFault {
  ShardFaultKind kind = ShardFaultKind::kMissingFile;
  std::string file;  // name; empty for kTotalSize
  std::string text;  // "lacks 2 parameters of the index: a, b"
  std::optional<Error> problem = {};
};

struct ShardCheck {
  std::vector<ShardFault> faults;  // by file, in the order of the index
  std::optional<uint64_t> bytes;   // of all parameters; no value if a file cannot be read
};

// Compares the headers of the files in `folder` with the index. Linear in the parameters.
[[nodiscard]] ShardCheck check_shards(const ShardIndex& index, const std::string& folder, const CancelToken& cancel);

}  // namespace msdump
