// Ascend dump files: what CANN writes for one run of one operator.
//
// All numbers little-endian. Three headers occur:
//
//   Binary (version 2, nearly every file since 2020)
//     1. u64 H
//     2. H bytes: protobuf DumpData (proto/dump_data.proto)
//     3. the bytes of the tensors, back to back, unaligned: all inputs, all outputs, all buffers, all spaces, whatever the
//        order of the fields. Each block is as long as its `size`, which may exceed what the shape needs (aligned
//        allocation). Bytes after the last block are ignored.
//     A hybrid occurs: the bytes inside the protobuf (`data`), nothing after it.
//   Classic (version 1): the whole file is one DumpData with the bytes in `data`.
//   Nano (edge SoCs): u64 L, then L bytes of tag-length-value records beginning with the u32 0x5A5A5A5A, then the bytes.
//     Element types are GE's numbers. The file ends exactly after the last tensor.
//
// Source: reference/ascend-dump-file.md sections 1 and 2 (msaccucmp, CANN 8.1 dump_data.proto), checked against the
// conformance corpus. Every number is compared with the size of the file before it is used: lengths cannot overflow,
// and allocations are bounded by the bytes that are really there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/file.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace msdump::ascend {

// Far above any real header; bounds the memory for a hostile one.
inline constexpr size_t kMaxTensors = 1 << 16;
// Of `original_op`; a longer text cannot be a name and is left out.
inline constexpr size_t kMaxOriginalName = 4096;

enum class Section : uint8_t { kInput, kOutput, kBuffer, kSpace };
[[nodiscard]] std::string_view name_of(Section section);  // "input", "output", "l1buffer", "space"

enum class HeaderKind : uint8_t { kBinary, kClassic, kNano };

struct DumpTensor {
  Section section = Section::kOutput;
  int slot = 0;
  int32_t dtype_number = 0;    // as the file has it, for messages
  std::optional<DType> dtype;  // empty: unknown number
  int64_t format_number = 0;   // may be packed, see tensor/format.h
  int64_t sub_format = 0;
  std::optional<Shape> shape;              // on the device; -1 where the file says "unknown"; empty: the file has none
  std::optional<Shape> original_shape;     // on the host; () is a scalar
  std::optional<int32_t> original_format;  // outputs only, and often absent
  // Outputs only: the operator and its output before the compiler fused or cut it. Empty: not said.
  std::string original_op;
  uint32_t original_output = 0;
  uint64_t address = 0;          // where it was on the device; 0: not said
  uint64_t offset = 0;           // of the first byte in the file
  uint64_t size = 0;             // bytes present for it, at least what `shape` needs if the tensor is whole
  std::optional<Error> problem;  // why its bytes cannot be read (truncated, absurd size); other tensors are unaffected

  [[nodiscard]] std::string label() const;  // "output:0"
};

struct Attribute {
  std::string name, value;
};

struct DumpFile {
  HeaderKind header = HeaderKind::kBinary;
  std::string op_name;  // full scope name; empty when the writer left it out
  uint64_t dump_time_us = 0;
  std::vector<DumpTensor> tensors;  // inputs, outputs, buffers, spaces, each by slot
  std::vector<Attribute> attributes;
};

// Reads the header only. Fails as a whole when the file is not a dump file or its header cannot be trusted; a tensor whose
// bytes are missing has a `problem` instead.
Result<DumpFile> read_dump_file(const File& file);

// True when `head` (the first bytes of a file of `file_size` bytes) could begin a dump file. For files whose name says
// nothing; reads no more of the file.
[[nodiscard]] bool looks_like_dump_file(std::span<const std::byte> head, uint64_t file_size);

// FFTS+ slices: an operator that ran in several threads has one dump file per thread, which holds a slice of each tensor.
//
// An attribute of the file is JSON: threadMode (true: automatic slicing), input_tensor_slice and output_tensor_slice as
// [thread][tensor][dimension]{lower, higher}. The thread is the second-last field of the file name. `shape` in the header
// is that of the whole tensor; the bytes are those of the slice.
// Source: reference/ascend-dump-file.md section 9 (msaccucmp).

// Gives the tensors of a sliced file the shapes of their slices, and takes the original shape away from those that are
// only a part. Does nothing to a file that is not sliced. bad_json or bad_header when the attribute contradicts itself.
Status apply_thread_slices(DumpFile& dump, std::string_view file_name);

}  // namespace msdump::ascend
