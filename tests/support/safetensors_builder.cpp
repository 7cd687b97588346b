#include "support/safetensors_builder.h"

#include <array>

#include <fmt/format.h>

namespace msdump::test {
namespace {

using Fault = SafetensorsFault;

const std::string kA = safetensors_entry("a", "F32", "[2,3]", 0, 24);
const std::string kB = safetensors_entry("b", "F16", "[4]", 24, 32);
const std::string kData(32, '\1');

std::string object(std::string_view members) { return fmt::format("{{{}}}", members); }

std::string with(std::string_view b) { return safetensors_file(object(kA + "," + std::string(b)), kData); }

struct Made {
  Fault fault;
  std::string_view name;
  std::string content;
};

const std::vector<Made>& all() {
  const auto entry = safetensors_entry;
  static const std::string kDeep = [] {
    std::string ones = "1";
    for (int i = 0; i < 64; ++i) ones += ",1";
    return "[" + ones + "]";
  }();
  static const std::vector<Made> kAll = {
      {Fault::kNone, "none", with(kB)},
      {Fault::kEmpty, "empty", ""},
      {Fault::kLengthCut, "length cut", "\x10"},
      {Fault::kLengthBomb, "length bomb", safetensors_file(object(kA), "", UINT64_MAX)},
      {Fault::kLengthTooLong, "length too long", safetensors_file(object(kA), "", 200'000'000)},
      {Fault::kHeaderPastEnd, "header past end", safetensors_file(object(kA), "", 1000)},
      {Fault::kNotAnObject, "not an object", safetensors_file("[1,2]", "")},
      {Fault::kNotClosed, "not closed", safetensors_file("{" + kA, std::string(24, '\1'))},
      {Fault::kTextAfterHeader, "text after header", safetensors_file(object(kA) + " x", std::string(24, '\1'))},
      {Fault::kMetadataNoObject, "metadata is not an object", with(kB + R"(,"__metadata__":["pt"])")},
      {Fault::kEntryNoObject, "entry is not an object", with(R"("b":[24,32])")},
      {Fault::kEntryTooLong, "entry too long",
       with(fmt::format(R"("b":{{"dtype":"F16","shape":[4],"x":"{}","data_offsets":[24,32]}})",
                        std::string(100'000, 'x')))},
      {Fault::kNameTwice, "name twice", with(entry("a", "F16", "[4]", 24, 32))},
      {Fault::kShapeMissing, "shape missing", with(R"("b":{"dtype":"F16","data_offsets":[24,32]})")},
      {Fault::kShapeNoList, "shape is not a list", with(entry("b", "F16", "4", 24, 32))},
      {Fault::kShapeNegative, "negative dimension", with(entry("b", "F16", "[-4]", 24, 32))},
      {Fault::kShapeFloat, "dimension is not whole", with(entry("b", "F16", "[4.0]", 24, 32))},
      {Fault::kRankAboveLimit, "rank above limit", with(entry("b", "F16", kDeep, 24, 32))},
      {Fault::kOffsetsMissing, "offsets missing", with(R"("b":{"dtype":"F16","shape":[4]})")},
      {Fault::kOffsetsOfOne, "one offset", with(R"("b":{"dtype":"F16","shape":[4],"data_offsets":[24]})")},
      {Fault::kOffsetsNegative, "negative offset", with(R"("b":{"dtype":"F16","shape":[4],"data_offsets":[-8,0]})")},
      {Fault::kOffsetsReversed, "offsets reversed", with(entry("b", "F16", "[4]", 32, 24))},
      {Fault::kOffsetsFloat, "offset is not whole",
       with(R"("b":{"dtype":"F16","shape":[4],"data_offsets":[24,32.5]})")},
      {Fault::kOverlap, "overlap", with(entry("b", "F16", "[6]", 20, 32))},
      {Fault::kInside, "inside another", with(entry("b", "F16", "[4]", 8, 16))},
      {Fault::kGapBetween, "gap", with(entry("b", "F16", "[2]", 28, 32))},
      {Fault::kGapAtBegin, "gap at begin", safetensors_file(object(entry("a", "F32", "[2,3]", 8, 32)), kData)},
      {Fault::kTrailingBytes, "trailing bytes", safetensors_file(object(kA), kData)},
      {Fault::kOneDtypeUnknown, "dtype unknown", with(entry("b", "F17", "[4]", 24, 32))},
      {Fault::kOneDtypeMissing, "dtype missing", with(R"("b":{"shape":[4],"data_offsets":[24,32]})")},
      {Fault::kOneDtypeFnuz, "dtype fnuz", with(entry("b", "F8_E4M3FNUZ", "[8]", 24, 32))},
      {Fault::kOneTooManyBytes, "too many bytes", with(entry("b", "F16", "[3]", 24, 32))},
      {Fault::kOneShapeOverflows, "shape overflows", with(entry("b", "F16", "[4294967296,4294967296]", 24, 32))},
      {Fault::kOneByteCountWraps, "byte count wraps", with(entry("b", "F64", "[2305843009213693953]", 24, 32))},
      {Fault::kOneHalfByte, "half a byte", with(entry("b", "F4", "[15]", 24, 32))},
      {Fault::kOneCut, "cut", with(entry("b", "F16", "[100]", 24, 224))},
      {Fault::kOneBeyondEnd, "beyond end", safetensors_file(object(kA + "," + kB), std::string(24, '\1'))},
      {Fault::kOneOffsetHuge, "size huge", with(entry("b", "U8", "[9223372036854775783]", 24, 9223372036854775807))},
  };
  return kAll;
}

const Made& made(Fault fault) { return all()[static_cast<size_t>(fault)]; }

}  // namespace

std::string safetensors_file(std::string_view header, std::string_view data, std::optional<uint64_t> length) {
  std::string file;
  for (uint64_t rest = length.value_or(header.size()), i = 0; i < 8; ++i, rest >>= 8)
    file += static_cast<char>(rest & 0xFF);
  return file.append(header).append(data);
}

std::string safetensors_entry(std::string_view name, std::string_view dtype, std::string_view shape, uint64_t begin,
                              uint64_t end) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", name, dtype, shape, begin, end);
}

std::string_view name_of(SafetensorsFault fault) { return made(fault).name; }

std::vector<SafetensorsFault> all_safetensors_faults() {
  std::vector<SafetensorsFault> faults;
  for (int i = 1; i < static_cast<int>(Fault::kLast_); ++i) faults.push_back(static_cast<Fault>(i));
  return faults;
}

std::string build_faulty_safetensors(SafetensorsFault fault) { return made(fault).content; }

bool is_of_one_tensor(SafetensorsFault fault) { return fault >= Fault::kOneDtypeUnknown; }

}  // namespace msdump::test
