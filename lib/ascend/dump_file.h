// Ascend dump files, which CANN writes for each execution of an operator.
//
// All numbers are little-endian. There are three headers:
//
//   Binary (version 2, nearly every file since 2020)
//     1. u64 H
//     2. H bytes: protobuf DumpData (proto/dump_data.proto)
//     3. the bytes of the tensors, back to back, unaligned: all inputs, all outputs, all buffers, all spaces, whatever the
//        order of the fields. Each block has `size` bytes, which may be more than the shape needs (aligned allocation).
//        Bytes after the last block are ignored.
//     Some files have the bytes inside the protobuf (`data`) and nothing after it.
//   Classic (version 1): the whole file is one DumpData with the bytes in `data`.
//   Nano (edge SoCs): u64 L, then L bytes of tag-length-value records beginning with the u32 0x5A5A5A5A, then the bytes.
//     Element types are GE's numbers. The file ends exactly after the last tensor.
//
// Every number is compared with the size of the file before it is used. So lengths cannot overflow, and allocations are
// bounded by the size of the file.
// Source: msaccucmp and dump_data.proto of CANN 8.1.
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

// Limits against hostile input. A longer `original_op` is left out.
inline constexpr size_t kMaxTensors = 1 << 16;
inline constexpr size_t kMaxOriginalName = 4096;

enum class Section : uint8_t { kInput, kOutput, kBuffer, kSpace };
[[nodiscard]] std::string_view name_of(Section section);  // "input", "output", "l1buffer", "space"

enum class HeaderKind : uint8_t { kBinary, kClassic, kNano };

struct DumpTensor {
  Section section = Section::kOutput;
  int slot = 0;
  int32_t dtype_number = 0;    // in the file, for messages
  std::optional<DType> dtype;  // empty: unknown number
  int64_t format_number = 0;   // may be packed, see tensor/format.h
  int64_t sub_format = 0;
  std::optional<Shape> shape;              // on the device; -1: unknown dimension; empty: the file has no shape
  std::optional<Shape> original_shape;     // on the host; () is a scalar
  std::optional<int32_t> original_format;  // outputs only, and often absent
  // Outputs only: the operator and its output before the compiler fused or split it. Empty: unknown.
  std::string original_op;
  uint32_t original_output = 0;
  uint64_t address = 0;          // on the device; 0: unknown
  uint64_t offset = 0;           // of the first byte in the file
  uint64_t size = 0;             // bytes in the file, at least those that `shape` needs if the tensor is complete
  std::optional<Error> problem;  // the reason if its bytes cannot be read (truncated, impossible size)

  [[nodiscard]] std::string label() const;  // "output:0"
};

struct Attribute {
  std::string name, value;
};

struct DumpFile {
  HeaderKind header = HeaderKind::kBinary;
  std::string op_name;  // full scope name; empty if the file has none
  uint64_t dump_time_us = 0;
  std::vector<DumpTensor> tensors;  // inputs, outputs, buffers, spaces, each by slot
  std::vector<Attribute> attributes;
};

// Reads the header only. Fails if the file is not a dump file or its header is damaged; a tensor with missing bytes has a
// `problem` instead.
Result<DumpFile> read_dump_file(const File& file);

// True if `head`, the first bytes of a file of `file_size` bytes, may begin a dump file. For files whose name is unknown.
[[nodiscard]] bool looks_like_dump_file(std::span<const std::byte> head, uint64_t file_size);

// FFTS+ slices: an operator that ran in several threads has a dump file for each thread, with a slice of each tensor. The
// header has the shape of the complete tensor. A JSON attribute has the slices: threadMode (true: automatic slicing),
// input_tensor_slice and output_tensor_slice as [thread][tensor][dimension]{lower, higher}. The thread is the second-last
// field of the file name. Source: msaccucmp.
//
// Sets the shapes of the slices, and removes the original shape of tensors that are only a part. Leaves a file without
// slices alone. kBadJson or kBadHeader if the attribute contradicts itself.
Status apply_thread_slices(DumpFile& dump, std::string_view file_name);

}  // namespace msdump::ascend
