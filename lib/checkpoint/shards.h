// Do the files of a sharded checkpoint hold what its index says?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "checkpoint/shard_index.h"
#include "io/cancel.h"

namespace msdump {

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
