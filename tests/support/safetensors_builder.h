// Builds .safetensors files, good and with one named fault, without lib/checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msdump::test {

// The file around a header; `length` is what the file says of the header's size.
[[nodiscard]] std::string safetensors_file(std::string_view header, std::string_view data,
                                           std::optional<uint64_t> length = {});

// "NAME":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}
[[nodiscard]] std::string safetensors_entry(std::string_view name, std::string_view dtype, std::string_view shape,
                                            uint64_t begin, uint64_t end);

// A good file holds a, float32 (2, 3), and b, float16 (4).
enum class SafetensorsFault {
  kNone,
  kEmpty,
  kLengthCut,
  kLengthBomb,     // 2^64-1
  kLengthTooLong,  // 200 MB, which the file does not have
  kHeaderPastEnd,
  kNotAnObject,
  kNotClosed,
  kTextAfterHeader,
  kMetadataNoObject,
  kEntryNoObject,
  kEntryTooLong,
  kNameTwice,
  kShapeMissing,
  kShapeNoList,
  kShapeNegative,
  kShapeFloat,
  kRankAboveLimit,
  kOffsetsMissing,
  kOffsetsOfOne,
  kOffsetsNegative,
  kOffsetsReversed,
  kOffsetsFloat,
  kOverlap,
  kInside,
  kGapBetween,
  kGapAtBegin,
  kTrailingBytes,
  kOneDtypeUnknown,  // from here on b alone has a problem
  kOneDtypeMissing,
  kOneDtypeFnuz,
  kOneTooManyBytes,
  kOneShapeOverflows,
  kOneByteCountWraps,
  kOneHalfByte,
  kOneCut,
  kOneBeyondEnd,
  kOneOffsetHuge,
  kLast_,
};

[[nodiscard]] std::string_view name_of(SafetensorsFault fault);
[[nodiscard]] std::vector<SafetensorsFault> all_safetensors_faults();
[[nodiscard]] std::string build_faulty_safetensors(SafetensorsFault fault);
// The file can be read, and only its second tensor cannot.
[[nodiscard]] bool is_of_one_tensor(SafetensorsFault fault);

}  // namespace msdump::test
