// Builds Ascend dump files, good ones from a short description and bad ones with exactly one named fault. Nothing here uses
// lib/ascend: numbers and field positions are written down a second time, from the reference.
//
//   write("Add.a.1.2.3", build_dump({.tensors = {output_of(DType::kFloat32, Format::kND, {2, 3})}}));
//   write("Add.a.1.2.3", build_faulty_dump(DumpFault::kDataCut));
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/format.h"

namespace msdump::test {

// `count` bytes that depend on nothing but `seed`.
[[nodiscard]] std::string pattern_bytes(size_t count, uint64_t seed);

// Appended to `to`, little-endian.
void put_u16(std::string& to, uint16_t value);
void put_u32(std::string& to, uint32_t value);
void put_u64(std::string& to, uint64_t value);

using Dims = std::vector<uint64_t>;  // as in the file: -1 is 2^64-1

struct TensorSpec {
  enum Part { kInput, kOutput, kBuffer, kSpace };
  Part part = kOutput;
  int32_t dtype = 1;  // protobuf's number; nano files get GE's for it
  int32_t format = 2;
  std::optional<Dims> shape;  // on the device; absent: no such field
  std::optional<Dims> original_shape;
  std::string data;
  std::optional<uint64_t> size;  // what the header claims; default: the size of `data`
  int32_t sub_format = 0;
  int32_t original_format = 0;  // of outputs only, as the next two: what they were before the compiler fused operators
  std::string original_op = {};
  uint32_t original_output = 0;
};

// A tensor whose data fill its device shape exactly, with seeded content. `host` empty: no original shape.
[[nodiscard]] TensorSpec input_of(DType dtype, Format format, Dims device, std::optional<Dims> host = {},
                                  uint64_t seed = 1);
[[nodiscard]] TensorSpec output_of(DType dtype, Format format, Dims device, std::optional<Dims> host = {},
                                   uint64_t seed = 2);
// l1buffer or space.
[[nodiscard]] TensorSpec raw_of(TensorSpec::Part part, size_t bytes, uint64_t seed = 3);

enum class DumpKind {
  kBinary,   // length | DumpData | data
  kClassic,  // DumpData with the data inside
  kHybrid,   // length | DumpData with the data inside
  kNano,     // length | TLV head | data
};

struct DumpSpec {
  DumpKind kind = DumpKind::kBinary;
  std::string op_name = "Default/network-Net/Add-op1";
  uint64_t time_us = 1700000000000000;
  std::vector<std::pair<std::string, std::string>> attributes = {};
  std::vector<TensorSpec> tensors;  // any order; slots count within a part, data are always inputs, outputs, ...
  std::string trailer = {};         // bytes after everything
};

// The whole file. kNano writes inputs and outputs only.
[[nodiscard]] std::string build_dump(const DumpSpec& spec);

// DumpData alone, with or without the data inside.
[[nodiscard]] std::string build_header(const DumpSpec& spec, bool with_data);
// `length` | header | rest: a binary file with any header.
[[nodiscard]] std::string with_length(std::string_view header, std::string_view rest);

// Each makes a file that is right but for one thing. The good file has input 0 (float16 ND 4x3) and output 0 (float32
// ND 2x3), in this order, unless the fault says otherwise.
enum class DumpFault {
  kNone,
  // The file as a whole
  kEmptyFile,
  kFourBytes,      // shorter than the length in front
  kLengthPastEnd,  // the length is one more than what follows
  kLengthAllOnes,  // 2^64-1
  kLengthZero,
  kLengthOneShort,  // the header is cut by one byte, which becomes data
  kLengthBigEndian,
  kText,
  kAllZero,
  kNpyInside,      // an .npy file under a dump file's name
  kTrailingBytes,  // 7 bytes after the last tensor; CANN does that, no fault
  // The data
  kDataCut,            // 5 bytes are missing at the end
  kDataMissing,        // nothing after the header
  kSizeLessThanShape,  // size is half of what shape and dtype need
  kSizeMoreThanShape,  // size is 32 bytes more; CANN pads, no fault
  kSizeZero,           // a shape, and no data
  kSizeWraps,          // two sizes whose sum is 24 modulo 2^64
  kSizeAllOnes,
  // Shapes
  kDimProductOverflows,   // 2^40 x 2^40
  kDimProductWraps,       // 2^32 x 2^32 x 6: 0 modulo 2^64
  kDimProductWrapsSmall,  // product times item size is 24 modulo 2^64
  kDimNegative,           // -1
  kDimZero,               // an empty tensor, no fault
  kRankAboveLimit,        // 100 dims of 1
  kNoShape,               // a size and no shape
  // Numbers nobody knows
  kDtypeUnknown,   // 99
  kDtypeNegative,  // -1
  kFormatUnknown,  // 200
  kFormatNegative,
  // Protobuf
  kGroupField,   // wire type 3
  kBadWireType,  // wire type 7
  kFieldNumberZero,
  kVarintTooLong,       // 11 bytes
  kNestedLengthBomb,    // a tensor entry that claims 2^31-1 bytes
  kInnerLengthBomb,     // a shape inside a tensor entry that claims more than the entry
  kUnknownFields,       // of wire types 0, 1, 2, 5; no fault
  kUnpackedDims,        // dims one by one; no fault
  kLongUnknownField,    // 17 MiB that are no tensor
  kLongTensorEntry,     // 17 MiB inside one tensor's entry that are not its data
  kManyEmptyTensors,    // 20000 outputs without anything
  kTooManyTensors,      // 70000
  kNameNotUtf8,         // op_name; no fault
  kInlineDataCut,       // classic; the data of the last tensor end with the file
  kInlineAndSize,       // classic; `size` says 7, the data inside are 24 bytes; the data win, no fault
  kClassicDataMissing,  // classic; the output has a size and no data
  kHybridDataMissing,   // the input's data inside, the output has a size and nothing anywhere
  // Nano
  kNanoTrailingBytes,
  kNanoDataCut,
  kNanoCountBomb,      // 2^32-1 inputs
  kNanoListPastEnd,    // tlv_list_len past the head
  kNanoDimsPastEnd,    // a TLNV past its list
  kNanoDimsOddLength,  // 12 bytes of u64
  kNanoTagUnknown,     // a record of tag 9 between the others; skipped, no fault
  kNanoHeadCut,        // the file ends inside the head
  kNanoHeadTooShort,   // the length in front is 5: no room for magic and version
  kLast_,
};

[[nodiscard]] std::string_view name_of(DumpFault fault);  // "data cut"
[[nodiscard]] std::vector<DumpFault> all_dump_faults();
// Faults that readers put up with: the file gives tensors.
[[nodiscard]] bool is_tolerated(DumpFault fault);
[[nodiscard]] std::string build_faulty_dump(DumpFault fault);

}  // namespace msdump::test
