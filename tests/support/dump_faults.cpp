#include <array>
#include <stdexcept>

#include "support/dump_builder.h"
#include "support/nano_builder.h"

namespace msdump::test {
namespace {

using enum DumpFault;

constexpr uint64_t kMinusOne = ~uint64_t{0};

struct FaultInfo {
  DumpFault fault;
  std::string_view name;
  bool tolerated = false;
};

constexpr std::array kFaults = {
    FaultInfo{kNone, "none", true},
    FaultInfo{kEmptyFile, "empty file"},
    FaultInfo{kFourBytes, "four bytes"},
    FaultInfo{kLengthPastEnd, "length past end"},
    FaultInfo{kLengthAllOnes, "length all ones"},
    FaultInfo{kLengthZero, "length zero"},
    FaultInfo{kLengthOneShort, "length one short"},
    FaultInfo{kLengthBigEndian, "length big-endian"},
    FaultInfo{kText, "text"},
    FaultInfo{kAllZero, "all zero"},
    FaultInfo{kNpyInside, "npy inside"},
    FaultInfo{kTrailingBytes, "trailing bytes", true},
    FaultInfo{kDataCut, "data cut"},
    FaultInfo{kDataMissing, "data missing"},
    FaultInfo{kSizeLessThanShape, "size less than shape"},
    FaultInfo{kSizeMoreThanShape, "size more than shape", true},
    FaultInfo{kSizeZero, "size zero"},
    FaultInfo{kSizeWraps, "size wraps"},
    FaultInfo{kSizeAllOnes, "size all ones"},
    FaultInfo{kDimProductOverflows, "dim product overflows"},
    FaultInfo{kDimProductWraps, "dim product wraps"},
    FaultInfo{kDimProductWrapsSmall, "dim product wraps to small"},
    FaultInfo{kDimNegative, "dim negative"},
    FaultInfo{kDimZero, "dim zero", true},
    FaultInfo{kRankAboveLimit, "rank above limit"},
    FaultInfo{kNoShape, "no shape", true},
    FaultInfo{kDtypeUnknown, "dtype unknown"},
    FaultInfo{kDtypeNegative, "dtype negative"},
    FaultInfo{kFormatUnknown, "format unknown"},
    FaultInfo{kFormatNegative, "format negative"},
    FaultInfo{kGroupField, "group field"},
    FaultInfo{kBadWireType, "bad wire type"},
    FaultInfo{kFieldNumberZero, "field number zero"},
    FaultInfo{kVarintTooLong, "varint too long"},
    FaultInfo{kNestedLengthBomb, "nested length bomb"},
    FaultInfo{kInnerLengthBomb, "inner length bomb"},
    FaultInfo{kUnknownFields, "unknown fields", true},
    FaultInfo{kUnpackedDims, "unpacked dims", true},
    FaultInfo{kLongUnknownField, "long unknown field"},
    FaultInfo{kLongTensorEntry, "long tensor entry"},
    FaultInfo{kManyEmptyTensors, "20000 empty tensors"},
    FaultInfo{kTooManyTensors, "too many tensors"},
    FaultInfo{kNameNotUtf8, "name not UTF-8", true},
    FaultInfo{kInlineDataCut, "inline data cut"},
    FaultInfo{kInlineAndSize, "inline data and another size", true},
    FaultInfo{kClassicDataMissing, "classic data missing"},
    FaultInfo{kHybridDataMissing, "hybrid data missing"},
    FaultInfo{kNanoTrailingBytes, "nano trailing bytes"},
    FaultInfo{kNanoDataCut, "nano data cut"},
    FaultInfo{kNanoCountBomb, "nano count bomb"},
    FaultInfo{kNanoListPastEnd, "nano list past end"},
    FaultInfo{kNanoDimsPastEnd, "nano dims past end"},
    FaultInfo{kNanoDimsOddLength, "nano dims of odd length"},
    FaultInfo{kNanoTagUnknown, "nano tag unknown", true},
    FaultInfo{kNanoHeadCut, "nano head cut"},
    FaultInfo{kNanoHeadTooShort, "nano head too short"},
};
static_assert(kFaults.size() == static_cast<size_t>(kLast_));

DumpSpec good(DumpKind kind = DumpKind::kBinary) {
  DumpSpec spec;
  spec.kind = kind;
  spec.tensors = {input_of(DType::kFloat16, Format::kND, {4, 3}), output_of(DType::kFloat32, Format::kND, {2, 3})};
  return spec;
}

std::string cut(std::string file, size_t bytes) {
  file.resize(file.size() - bytes);
  return file;
}

void put_varint(std::string& to, uint64_t value) {
  while (value >= 0x80) {
    to += static_cast<char>((value & 0x7F) | 0x80);
    value >>= 7;
  }
  to += static_cast<char>(value);
}

void put_tag(std::string& to, uint32_t field, uint32_t wire_type) { put_varint(to, field << 3 | wire_type); }

// A good file with more bytes at the end of its DumpData.
std::string with_more_header(const std::string& more) {
  const DumpSpec spec = good();
  return with_length(build_header(spec, false) + more, spec.tensors[0].data + spec.tensors[1].data);
}

// A good file whose output has been changed.
template <class Change>
std::string with_output(Change change, DumpKind kind = DumpKind::kBinary) {
  DumpSpec spec = good(kind);
  change(spec.tensors[1]);
  return build_dump(spec);
}

std::string with_output_shape(Dims dims) {
  return with_output([&](TensorSpec& output) { output.shape = std::move(dims); });
}

std::string with_length_field(uint64_t length) {
  std::string file;
  put_u64(file, length);
  return file + build_dump(good()).substr(8);
}

std::string whole_file_fault(DumpFault fault) {
  const std::string file = build_dump(good());
  const size_t header = build_header(good(), false).size();
  switch (fault) {
    case kEmptyFile: return {};
    case kFourBytes: return file.substr(0, 4);
    case kLengthPastEnd: return with_length_field(file.size() - 8 + 1);
    case kLengthAllOnes: return with_length_field(kMinusOne);
    case kLengthZero: return with_length_field(0);
    case kLengthOneShort: return with_length_field(header - 1);
    case kLengthBigEndian: return with_length_field(__builtin_bswap64(header));
    case kText: return "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot\nAdd,Add-op1,0,0,17,output,0\n";
    case kAllZero: return std::string(4096, '\0');
    case kNpyInside: return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + "{'descr': '<f4', 'fortran_order': False, }";
    case kTrailingBytes: return file + "\1\2\3\4\5\6\7";
    case kDataCut: return cut(file, 5);
    case kDataMissing: return cut(file, 48);
    default: return {};
  }
}

std::string tensor_fault(DumpFault fault) {
  switch (fault) {
    case kSizeLessThanShape: return with_output([](TensorSpec& t) { t.data.resize(12); });
    case kSizeMoreThanShape: return with_output([](TensorSpec& t) { t.data += pattern_bytes(32, 9); });
    case kSizeZero: return with_output([](TensorSpec& t) { t.data.clear(); });
    case kSizeAllOnes: return with_output([](TensorSpec& t) { t.size = kMinusOne; });
    case kSizeWraps: {
      DumpSpec spec = good();
      spec.tensors[0].size = kMinusOne - 23;
      spec.tensors[1].size = 48;
      return build_dump(spec);
    }
    case kDimProductOverflows: return with_output_shape({uint64_t{1} << 40, uint64_t{1} << 40});
    case kDimProductWraps: return with_output_shape({uint64_t{1} << 32, uint64_t{1} << 32, 6});
    case kDimProductWrapsSmall: return with_output_shape({2, (uint64_t{1} << 61) + 3});  // times 4: 24 modulo 2^64
    case kDimNegative: return with_output_shape({kMinusOne, 3});
    case kDimZero:
      return with_output([](TensorSpec& t) {
        t.shape = Dims{0, 3};
        t.data.clear();
      });
    case kRankAboveLimit: return with_output_shape(Dims(100, 1));
    case kNoShape: return with_output([](TensorSpec& t) { t.shape.reset(); });
    case kDtypeUnknown: return with_output([](TensorSpec& t) { t.dtype = 99; });
    case kDtypeNegative: return with_output([](TensorSpec& t) { t.dtype = -1; });
    case kFormatUnknown: return with_output([](TensorSpec& t) { t.format = 200; });
    case kFormatNegative: return with_output([](TensorSpec& t) { t.format = -1; });
    default: return {};
  }
}

std::string entry_of_one_dim_at_a_time() {
  std::string shape;
  for (const uint64_t dim : {2U, 3U}) {
    put_tag(shape, 1, 0);
    put_varint(shape, dim);
  }
  std::string entry;
  put_tag(entry, 1, 0), put_varint(entry, 1);  // float32
  put_tag(entry, 2, 0), put_varint(entry, 2);  // ND
  put_tag(entry, 3, 2), put_varint(entry, shape.size()), entry += shape;
  put_tag(entry, 6, 0), put_varint(entry, 24);
  return entry;
}

std::string header_fault(DumpFault fault) {
  std::string more;
  switch (fault) {
    case kGroupField: put_tag(more, 12, 3), put_tag(more, 12, 4); break;
    case kBadWireType: put_tag(more, 12, 7); break;
    case kFieldNumberZero: put_tag(more, 0, 0), put_varint(more, 1); break;
    case kVarintTooLong: put_tag(more, 2, 0), more += std::string(10, '\xff') + '\1'; break;
    case kNestedLengthBomb: put_tag(more, 4, 2), put_varint(more, 0x7FFFFFFF); break;
    case kInnerLengthBomb: {
      std::string entry;
      put_tag(entry, 3, 2), put_varint(entry, 1'000'000);
      put_tag(more, 4, 2), put_varint(more, entry.size()), more += entry;
      break;
    }
    case kUnknownFields:
      put_tag(more, 100, 0), put_varint(more, kMinusOne);
      put_tag(more, 101, 1), put_u64(more, 1);
      put_tag(more, 102, 2), put_varint(more, 3), more += "abc";
      put_tag(more, 103, 5), put_u32(more, 1);
      break;
    case kLongUnknownField: {
      constexpr size_t kBytes = size_t{17} << 20;
      put_tag(more, 9, 2), put_varint(more, kBytes), more += std::string(kBytes, 'x');
      break;
    }
    case kLongTensorEntry: {
      constexpr size_t kBytes = size_t{17} << 20;
      std::string entry;
      put_tag(entry, 100, 2), put_varint(entry, kBytes), entry += std::string(kBytes, 'x');
      put_tag(more, 4, 2), put_varint(more, entry.size()), more += entry;
      break;
    }
    case kUnpackedDims: {
      const std::string entry = entry_of_one_dim_at_a_time();
      put_tag(more, 3, 2), put_varint(more, entry.size()), more += entry;
      return with_length(more, pattern_bytes(24, 2));
    }
    case kManyEmptyTensors:
    case kTooManyTensors:
      for (int i = 0; i < (fault == kManyEmptyTensors ? 20000 : 70000); ++i) put_tag(more, 3, 2), put_varint(more, 0);
      return with_length(more, {});
    case kNameNotUtf8: {
      DumpSpec spec = good();
      spec.op_name = "Default/\xff\xfe/Add";
      return build_dump(spec);
    }
    default: break;
  }
  return with_more_header(more);
}

std::string inline_fault(DumpFault fault) {
  switch (fault) {
    case kInlineDataCut: {
      // The data must be the last bytes: no field may follow them.
      DumpSpec spec = good(DumpKind::kClassic);
      spec.op_name.clear();
      spec.tensors.pop_back();
      spec.tensors[0].size = 0;
      return cut(build_dump(spec), 5);
    }
    case kInlineAndSize: return with_output([](TensorSpec& t) { t.size = 7; }, DumpKind::kClassic);
    case kClassicDataMissing:
    case kHybridDataMissing:
      return with_output(
          [](TensorSpec& t) {
            t.data.clear();
            t.size = 24;
          },
          fault == kClassicDataMissing ? DumpKind::kClassic : DumpKind::kHybrid);
    default: return {};
  }
}

std::string nano_fault(DumpFault fault) {
  DumpSpec spec = good(DumpKind::kNano);
  NanoTwist twist;
  if (fault == kNanoTrailingBytes) spec.trailer = "\1\2\3";
  if (fault == kNanoDataCut) return cut(build_nano(spec), 5);
  if (fault == kNanoHeadCut) return build_nano(spec).substr(0, 40);
  if (fault == kNanoHeadTooShort) return with_length("ZZZZ\1", spec.tensors[0].data);
  if (fault == kNanoCountBomb) twist.input_count = 0xFFFFFFFF;
  if (fault == kNanoListPastEnd) twist.list_bytes = 1000;
  if (fault == kNanoDimsPastEnd) twist.dims_bytes = 0xFFFFFFF8;
  if (fault == kNanoDimsOddLength) twist.dims_are_cut = true;
  if (fault == kNanoTagUnknown) twist.has_unknown_record = true;
  return build_nano(spec, twist);
}

}  // namespace

std::string_view name_of(DumpFault fault) {
  for (const FaultInfo& info : kFaults) {
    if (info.fault == fault) return info.name;
  }
  throw std::invalid_argument("no such fault");
}

std::vector<DumpFault> all_dump_faults() {
  std::vector<DumpFault> faults;
  for (const FaultInfo& info : kFaults) faults.push_back(info.fault);
  return faults;
}

bool is_tolerated(DumpFault fault) {
  for (const FaultInfo& info : kFaults) {
    if (info.fault == fault) return info.tolerated;
  }
  return false;
}

std::string build_faulty_dump(DumpFault fault) {
  if (fault == kNone) return build_dump(good());
  if (fault <= kDataMissing) return whole_file_fault(fault);
  if (fault <= kFormatNegative) return tensor_fault(fault);
  if (fault <= kNameNotUtf8) return header_fault(fault);
  if (fault <= kHybridDataMissing) return inline_fault(fault);
  return nano_fault(fault);
}

}  // namespace msdump::test
