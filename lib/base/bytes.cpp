#include "base/bytes.h"

namespace msdump {

Result<uint32_t> ByteReader::u32() {
  MSDUMP_TRY(const auto raw, bytes(4));
  return load<uint32_t>(raw.data());
}

Result<int32_t> ByteReader::i32() {
  MSDUMP_TRY(const auto raw, bytes(4));
  return static_cast<int32_t>(load<uint32_t>(raw.data()));
}

Result<uint64_t> ByteReader::u64() {
  MSDUMP_TRY(const auto raw, bytes(8));
  return load<uint64_t>(raw.data());
}

Result<std::span<const std::byte>> ByteReader::bytes(uint64_t count) {
  if (count > remaining()) {
    return fail(
        make_error(ErrorCode::kTruncated, "{} bytes needed, {} present", count, remaining()).with_offset(offset()));
  }
  const auto slice = bytes_.subspan(position_, static_cast<size_t>(count));
  position_ += static_cast<size_t>(count);
  return slice;
}

Status ByteReader::skip(uint64_t count) {
  MSDUMP_CHECK_OK(bytes(count));
  return {};
}

Result<ByteReader> ByteReader::sub(uint64_t count) {
  const uint64_t start = offset();
  MSDUMP_TRY(const auto slice, bytes(count));
  return ByteReader(slice, start);
}

}  // namespace msdump
