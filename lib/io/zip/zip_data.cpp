#include "io/zip/zip_data.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include <zlib.h>

#include "base/text.h"
#include "io/zip/zip.h"

namespace msdump {
namespace {

Error damaged_data(const File& file, const ZipData& data, std::string_view why) {
  return make_error(ErrorCode::kBadHeader, "zip entry '{}': {}", excerpt(data.name), why).with_path(file.path());
}

}  // namespace

Status inflate_entry(const File& file, const ZipData& data, std::string& content) {
  z_stream stream{};
  constexpr int kRawDeflate = -15;  // no header of zlib's own
  if (inflateInit2(&stream, kRawDeflate) != Z_OK) return fail(damaged_data(file, data, "zlib has no memory"));
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> owner(&stream, &inflateEnd);
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  stream.avail_out = static_cast<uInt>(content.size());
  std::array<std::byte, size_t{16} << 10> window;
  uint64_t offset = data.offset, left = data.compressed_size;
  int status = Z_OK;
  while (status == Z_OK && left > 0 && stream.avail_out > 0) {
    const size_t count = static_cast<size_t>(std::min<uint64_t>(left, window.size()));
    MSDUMP_CHECK_OK(file.read_at(offset, {window.data(), count}));
    offset += count;
    left -= count;
    stream.next_in = reinterpret_cast<Bytef*>(window.data());
    stream.avail_in = static_cast<uInt>(count);
    status = inflate(&stream, Z_NO_FLUSH);
  }
  if (stream.avail_out > 0) return fail(damaged_data(file, data, "its data end too early"));
  return {};
}

Status ZipDataReader::read(const File& file, uint64_t first, std::span<std::byte> into) {
  if (!data_->deflated) {
    MSDUMP_CHECK_OK(file.read_at(data_->offset + data_->begin + first, into));
    return note(file, first, into);
  }
  MSDUMP_CHECK_OK(inflate_once(file));
  std::memcpy(into.data(), inflated_.data() + data_->begin + first, into.size());
  return {};
}

Status ZipDataReader::inflate_once(const File& file) {
  const std::lock_guard lock(mutex_);
  if (!inflated_.empty() || data_->size == 0) return {};
  std::string content(static_cast<size_t>(data_->size), '\0');
  MSDUMP_CHECK_OK(inflate_entry(file, *data_, content));
  if (crc32_of(std::as_bytes(std::span(content))) != data_->crc) return fail(wrong_crc(file));
  inflated_ = std::move(content);
  return {};
}

Status ZipDataReader::note(const File& file, uint64_t first, std::span<const std::byte> bytes) {
  constexpr size_t kMostPieces = 1024;  // of a reader that jumps about and reads no tensor whole
  const uint64_t whole = data_->size - data_->begin;
  if (bytes.empty()) return {};
  {
    const std::lock_guard lock(mutex_);
    if (!noting_) return {};
  }
  Piece piece{first + bytes.size(), crc32_of(bytes)};
  const std::lock_guard lock(mutex_);
  const auto next = pieces_.lower_bound(first);
  const auto before = next == pieces_.begin() ? pieces_.end() : std::prev(next);
  // What is read twice counts once.
  const bool again =
      (next != pieces_.end() && next->first < piece.end) || (before != pieces_.end() && before->second.end > first);
  if (again) return {};
  const auto joined = [](const Piece& left, uint64_t begin, const Piece& right) {
    const auto length = static_cast<z_off_t>(right.end - begin);
    return Piece{right.end, static_cast<uint32_t>(crc32_combine(left.crc, right.crc, length))};
  };
  if (next != pieces_.end() && next->first == piece.end) {
    piece = joined(piece, next->first, next->second);
    pieces_.erase(next);
  }
  if (before != pieces_.end() && before->second.end == first) {
    before->second = joined(before->second, first, piece);
  } else {
    pieces_.emplace(first, piece);
  }
  const auto& [begin, all] = *pieces_.begin();
  if (begin == 0 && all.end == whole) {
    noting_ = false;
    const uint32_t crc = joined({0, data_->header_crc}, 0, all).crc;
    if (crc != data_->crc) return fail(wrong_crc(file));
  }
  noting_ = noting_ && pieces_.size() <= kMostPieces;
  return {};
}

Error ZipDataReader::wrong_crc(const File& file) const {
  return damaged_data(file, *data_, "its CRC-32 is wrong")
      .with_hint("the file was damaged after it was written; copy it again");
}

}  // namespace msdump
