// .safetensors files: the parameters of a model.
//
//   1. u64 little-endian: the length N of the header
//   2. N bytes of JSON: {"NAME": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [BEGIN, END]}, ...}, optionally with
//      "__metadata__": {TEXT: TEXT}; blanks may follow
//   3. the elements in C order, little-endian; offsets count from here and cover the rest of the file without gaps
//
// A header that contradicts itself (overlapping elements, or bytes of no tensor) is kBadHeader, as in the library of the
// format. A tensor with missing elements or an unknown dtype has a problem; the others are read.
//
// Only the header is read. Limits against hostile input: 100,000,000 bytes of header, the limit of the format; 500,000
// tensors; 64 KiB for each of them; 1 MiB of metadata.
// Source: README.md and safetensors/src/tensor.rs of huggingface/safetensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "checkpoint/stored_parameter.h"
#include "io/file.h"

namespace msdump {

struct SafeTensors {
  std::vector<StoredParameter> tensors;                       // in the order of the header
  std::vector<std::pair<std::string, std::string>> metadata;  // likewise
};

Result<SafeTensors> read_safetensors(const File& file);

[[nodiscard]] bool looks_like_safetensors(std::span<const std::byte> head, uint64_t file_size);

}  // namespace msdump
