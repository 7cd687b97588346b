#include "ascend/nano_header.h"

#include <algorithm>

#include "base/byte_reader.h"

namespace msdump::ascend {
namespace {

constexpr uint64_t kHeaderBegin = 8;
constexpr uint64_t kMaxHeaderBytes = uint64_t{16} << 20;  // real ones have a few hundred bytes

enum Tag : uint32_t { kShapeTag = 0, kOriginalShapeTag = 1, kInputsTag = 4, kOutputsTag = 5 };

Result<Shape> read_dims(ByteReader reader) {
  Shape dims;
  const size_t rank = reader.remaining() / 8;
  if (reader.remaining() % 8 != 0) {
    return fail(make_error(ErrorCode::kBadHeader, "a shape of {} bytes, not a multiple of 8", reader.remaining())
                    .with_offset(reader.offset()));
  }
  if (rank > kMaxRank) {
    return fail(make_error(ErrorCode::kBadHeader, "a shape of rank {}, more than {}", rank, kMaxRank)
                    .with_offset(reader.offset()));
  }
  while (reader.remaining() > 0) {
    MSDUMP_TRY(const uint64_t dim, reader.u64());
    dims.push_back(dim_from_file(dim));
  }
  return dims;
}

Status read_list(ByteReader reader, DumpTensor& tensor) {
  while (reader.remaining() > 0) {
    MSDUMP_TRY(const uint32_t tag, reader.u32());
    MSDUMP_TRY(const uint32_t length, reader.u32());
    MSDUMP_TRY(const ByteReader value, reader.sub(length));
    if (tag == kShapeTag) {
      MSDUMP_TRY(tensor.shape, read_dims(value));
    } else if (tag == kOriginalShapeTag) {
      MSDUMP_TRY(tensor.original_shape, read_dims(value));
    }
  }
  return {};
}

Result<DumpTensor> read_tensor(ByteReader& reader, Section section) {
  DumpTensor tensor;
  tensor.section = section;
  MSDUMP_TRY(tensor.dtype_number, reader.i32());
  tensor.dtype = dtype_from_ge(tensor.dtype_number);
  MSDUMP_TRY(tensor.format_number, reader.i32());
  MSDUMP_CHECK_OK(reader.skip(4));  // address type
  if (section == Section::kOutput) {
    MSDUMP_CHECK_OK(reader.skip(8));  // original index and data type
    MSDUMP_TRY(tensor.original_format, reader.i32());
  }
  MSDUMP_TRY(tensor.address, reader.u64());
  MSDUMP_CHECK_OK(reader.skip(8));  // offset
  MSDUMP_TRY(tensor.size, reader.u64());
  MSDUMP_TRY(const uint32_t list_bytes, reader.u32());
  MSDUMP_TRY(const ByteReader list, reader.sub(list_bytes));
  MSDUMP_CHECK_OK(read_list(list, tensor));
  return tensor;
}

Status read_tensors(ByteReader reader, Section section, std::vector<DumpTensor>& tensors) {
  MSDUMP_TRY(const uint32_t count, reader.u32());
  const auto is_same = [&](const DumpTensor& tensor) { return tensor.section == section; };
  if (std::any_of(tensors.begin(), tensors.end(), is_same)) {
    return fail(
        make_error(ErrorCode::kBadHeader, "a second list of {}s", name_of(section)).with_offset(reader.offset()));
  }
  // The count allocates nothing: each tensor must be present.
  for (uint32_t slot = 0; slot < count; ++slot) {
    if (tensors.size() >= kMaxTensors) return fail(ErrorCode::kTooLarge, "header has more tensors than any operator");
    MSDUMP_TRY(DumpTensor tensor, read_tensor(reader, section));
    tensor.slot = static_cast<int>(slot);
    tensors.push_back(std::move(tensor));
  }
  return {};
}

}  // namespace

Result<DumpFile> read_nano_header(const File& file, uint64_t length) {
  if (length > file.size() - kHeaderBegin) {
    return fail(ErrorCode::kTruncated, "truncated: header of {} bytes announced, {} present", length,
                file.size() - kHeaderBegin);
  }
  if (length > kMaxHeaderBytes) return fail(ErrorCode::kTooLarge, "a nano header of {} bytes", length);
  std::vector<std::byte> bytes(static_cast<size_t>(length));
  MSDUMP_CHECK_OK(file.read_at(kHeaderBegin, bytes));
  ByteReader reader(bytes, kHeaderBegin);
  MSDUMP_CHECK_OK(reader.skip(8));  // magic, version
  DumpFile dump;
  dump.header = HeaderKind::kNano;
  while (reader.remaining() > 0) {
    MSDUMP_TRY(const uint32_t tag, reader.u32());
    MSDUMP_TRY(const uint32_t record_bytes, reader.u32());
    MSDUMP_TRY(const ByteReader record, reader.sub(record_bytes));
    if (tag == kInputsTag) MSDUMP_CHECK_OK(read_tensors(record, Section::kInput, dump.tensors));
    if (tag == kOutputsTag) MSDUMP_CHECK_OK(read_tensors(record, Section::kOutput, dump.tensors));
  }
  // The data of inputs come before those of outputs, whatever the order of the records.
  std::stable_sort(dump.tensors.begin(), dump.tensors.end(),
                   [](const DumpTensor& a, const DumpTensor& b) { return a.section < b.section; });
  return dump;
}

}  // namespace msdump::ascend
