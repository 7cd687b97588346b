// .ckpt files: checkpoints of MindSpore, each a protobuf message.
//
//   Checkpoint    1 value, repeated
//     Value       1 tag: the parameter's name; 2 tensor; 3 maptensor
//     TensorProto 1 dims, repeated; 2 tensor_type ("Float32"); 3 tensor_content: the elements
//   and optionally "crc_num" with ten bytes at the end
//
// A scalar has dims [0] and one element. A parameter of more than 512 MiB consists of several values with its name and dims;
// one without elements is absent. Texts (tensor_type "str") and hash tables (maptensor) are only counted. An encrypted
// checkpoint is not recognised.
//
// Only the bytes before each tensor_content are read. Limits against hostile input: 500,000 values, 64 KiB before the
// elements of each.
// Source: mindspore ccsrc/utils/checkpoint.proto and python/mindspore/train/serialization.py, _exec_save.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "checkpoint/stored_parameter.h"
#include "io/file.h"

namespace msdump {

struct MsCkpt {
  std::vector<StoredParameter> tensors;  // in the order of the file
  int64_t other_values = 0;
};

Result<MsCkpt> read_ms_ckpt(const File& file);

[[nodiscard]] bool looks_like_ms_ckpt(std::span<const std::byte> head, uint64_t file_size);

}  // namespace msdump
