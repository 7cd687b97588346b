#include "io/zip.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <limits>
#include <vector>

#include <zlib.h>

#include "base/bytes.h"
#include "base/text.h"

namespace msdump {
namespace {

Error damaged_data(const File& file, const ZipData& data, std::string_view why) {
  return make_error(ErrorCode::kBadHeader, "zip entry '{}': {}", excerpt(data.name), why).with_path(file.path());
}

}  // namespace

Status inflate_entry(const File& file, const ZipData& data, std::string& content) {
  z_stream stream{};
  constexpr int kRawDeflate = -15;  // without a zlib header
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
  constexpr size_t kMostPieces = 1024;  // of a reader with random access that reads no whole tensor
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
  // Bytes that are read twice count once.
  const bool repeated =
      (next != pieces_.end() && next->first < piece.end) || (before != pieces_.end() && before->second.end > first);
  if (repeated) return {};
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

namespace {

// Bounds on the memory for a directory. (torch.save writes an entry for each storage.)
constexpr uint64_t kMaxEntries = 1 << 18;
constexpr uint64_t kMaxDirectoryBytes = uint64_t{32} << 20;
constexpr uint64_t kMaxDeflateRatio = 1032;  // 258 bytes from 2 bits
constexpr uint16_t kEncrypted = 1;           // flag bit

constexpr uint32_t kEntryMagic = 0x02014b50, kLocalMagic = 0x04034b50, kEndMagic = 0x06054b50;
constexpr uint32_t kEnd64Magic = 0x06064b50, kLocatorMagic = 0x07064b50;
constexpr size_t kEntryBytes = 46, kLocalBytes = 30, kEndBytes = 22, kEnd64Bytes = 56, kLocatorBytes = 20;
constexpr size_t kMaxCommentBytes = 0xFFFF;
constexpr uint32_t kInExtra = 0xFFFFFFFF;  // the number is in the zip64 extra field
constexpr uint16_t kZip64 = 1;

Result<std::vector<std::byte>> bytes_at(const File& file, uint64_t offset, uint64_t count) {
  std::vector<std::byte> bytes(static_cast<size_t>(count));
  MSDUMP_CHECK_OK(file.read_at(offset, bytes));
  return bytes;
}

// The relevant fields of the end record, and the offset of the first end record.
struct Directory {
  uint64_t entries = 0, bytes = 0, offset = 0, end = 0;
  bool several_parts = false;
};

// Numbers of a zip64 extra field: those that are kInExtra in the directory, in this order.
bool take_zip64(ByteReader extra, std::initializer_list<uint64_t*> numbers) {
  while (extra.remaining() >= 4) {
    const auto header = extra.bytes(4);
    auto field = extra.sub(load<uint16_t>(header->data() + 2));
    if (!field) return false;
    if (load<uint16_t>(header->data()) != kZip64) continue;
    for (uint64_t* number : numbers) {
      if (*number != kInExtra) continue;
      const auto value = field->u64();
      if (!value) return false;
      *number = *value;
    }
    return true;
  }
  return false;
}

Error bad_entry(size_t number, uint64_t offset) {
  return make_error(ErrorCode::kBadHeader, "entry {} of the zip directory is damaged", number).with_offset(offset);
}

}  // namespace

struct ZipFile::State {
  const File* file = nullptr;
  std::vector<ZipEntry> entries;
  std::vector<uint64_t> local_headers;
  std::vector<size_t> by_name;

  [[nodiscard]] tl::unexpected<Error> failure(Error error) const {
    if (error.path.empty()) error.path = file->path();
    return fail(std::move(error));
  }

  // A comment of any bytes may follow the end record.
  Result<std::optional<Directory>> find_directory() const {
    const uint64_t size = file->size();
    const uint64_t begin = size - std::min<uint64_t>(size, kEndBytes + kMaxCommentBytes);
    MSDUMP_TRY(const auto tail, bytes_at(*file, begin, size - begin));
    for (size_t at = tail.size() < kEndBytes ? 0 : tail.size() - kEndBytes + 1; at-- > 0;) {
      const std::byte* const record = tail.data() + at;
      if (load<uint32_t>(record) != kEndMagic) continue;
      Directory directory{load<uint16_t>(record + 10), load<uint32_t>(record + 12), load<uint32_t>(record + 16),
                          begin + at};
      directory.several_parts = load<uint16_t>(record + 4) != 0 || load<uint16_t>(record + 6) != 0;
      MSDUMP_CHECK_OK(take_end64(directory));
      return directory;
    }
    return std::nullopt;
  }

  Status take_end64(Directory& directory) const {
    if (directory.end < kLocatorBytes) return {};
    MSDUMP_TRY(const auto locator, bytes_at(*file, directory.end - kLocatorBytes, kLocatorBytes));
    if (load<uint32_t>(locator.data()) != kLocatorMagic) return {};
    const uint64_t offset = load<uint64_t>(locator.data() + 8);
    if (offset > directory.end || directory.end - offset < kEnd64Bytes) {
      return fail(make_error(ErrorCode::kBadHeader, "the zip64 end record is not where its locator says")
                      .with_offset(directory.end - kLocatorBytes));
    }
    MSDUMP_TRY(const auto record, bytes_at(*file, offset, kEnd64Bytes));
    if (load<uint32_t>(record.data()) != kEnd64Magic) {
      return fail(make_error(ErrorCode::kBadHeader, "the zip64 end record is damaged").with_offset(offset));
    }
    const bool several_parts = load<uint32_t>(record.data() + 16) != 0 || load<uint32_t>(record.data() + 20) != 0;
    directory = {load<uint64_t>(record.data() + 32), load<uint64_t>(record.data() + 40),
                 load<uint64_t>(record.data() + 48), offset, several_parts};
    return {};
  }

  Status list(const Directory& directory) {
    if (directory.several_parts) return failure(make_error(ErrorCode::kBadHeader, "a zip archive in several parts"));
    if (directory.entries > kMaxEntries || directory.bytes > kMaxDirectoryBytes) {
      return failure(make_error(ErrorCode::kTooLarge, "a zip archive of {} entries in a directory of {} bytes",
                                directory.entries, directory.bytes));
    }
    // Bytes before the archive would shift all offsets.
    if (directory.offset > directory.end || directory.end - directory.offset != directory.bytes) {
      return failure(make_error(ErrorCode::kBadHeader, "the zip directory is not where its end record says")
                         .with_offset(directory.end));
    }
    MSDUMP_TRY(const auto bytes, bytes_at(*file, directory.offset, directory.bytes));
    ByteReader reader(bytes, directory.offset);
    while (reader.remaining() > 0) {
      const uint64_t offset = reader.offset();
      if (entries.size() == directory.entries || !read_entry(reader)) return failure(bad_entry(entries.size(), offset));
    }
    if (entries.size() == directory.entries) return {};
    return failure(make_error(ErrorCode::kBadHeader, "the zip directory has {} entries, its end record says {}",
                              entries.size(), directory.entries)
                       .with_offset(directory.end));
  }

  bool read_entry(ByteReader& reader) {
    const auto fixed = reader.bytes(kEntryBytes);
    if (!fixed || load<uint32_t>(fixed->data()) != kEntryMagic) return false;
    const std::byte* const at = fixed->data();
    const auto name = reader.bytes(load<uint16_t>(at + 28));
    const auto extra = name ? reader.bytes(load<uint16_t>(at + 30)) : name;
    if (!extra || !reader.skip(load<uint16_t>(at + 32))) return false;
    ZipEntry entry;
    entry.name.assign(reinterpret_cast<const char*>(name->data()), name->size());
    entry.encrypted = (load<uint16_t>(at + 8) & kEncrypted) != 0;
    entry.method = load<uint16_t>(at + 10);
    entry.crc = load<uint32_t>(at + 16);
    entry.compressed_size = load<uint32_t>(at + 20);
    entry.size = load<uint32_t>(at + 24);
    uint64_t local_header = load<uint32_t>(at + 42);
    const bool zip64 = entry.size == kInExtra || entry.compressed_size == kInExtra || local_header == kInExtra;
    if (zip64 && !take_zip64(ByteReader(*extra), {&entry.size, &entry.compressed_size, &local_header})) return false;
    entries.push_back(std::move(entry));
    local_headers.push_back(local_header);
    return true;
  }

  Status index_names() {
    by_name.resize(entries.size());
    for (size_t i = 0; i < by_name.size(); ++i) by_name[i] = i;
    const auto name = [this](size_t i) -> const std::string& { return entries[i].name; };
    std::sort(by_name.begin(), by_name.end(), [&](size_t a, size_t b) { return name(a) < name(b); });
    const auto twice =
        std::adjacent_find(by_name.begin(), by_name.end(), [&](size_t a, size_t b) { return name(a) == name(b); });
    if (twice == by_name.end()) return {};
    return failure(
        make_error(ErrorCode::kBadHeader, "two entries of the zip archive are named '{}'", excerpt(name(*twice))));
  }

  // The offset of the data: after the local header, whose name and extra field have lengths of their own.
  Result<uint64_t> data_offset(size_t entry) const {
    const uint64_t file_size = file->size(), local = local_headers[entry], size = entries[entry].compressed_size;
    std::array<std::byte, kLocalBytes> fixed{};
    if (local > file_size || file_size - local < fixed.size()) return failure(bad_local_header(entry));
    MSDUMP_CHECK_OK(file->read_at(local, fixed));
    if (load<uint32_t>(fixed.data()) != kLocalMagic ||
        load<uint16_t>(fixed.data() + 26) != entries[entry].name.size()) {
      return failure(bad_local_header(entry));
    }
    const uint64_t offset =
        local + kLocalBytes + load<uint16_t>(fixed.data() + 26) + uint64_t{load<uint16_t>(fixed.data() + 28)};
    if (offset > file_size || size > file_size - offset) {
      return failure(make_error(ErrorCode::kTruncated, "zip entry '{}' needs {} bytes, {} present",
                                excerpt(entries[entry].name), size, offset < file_size ? file_size - offset : 0)
                         .with_offset(offset));
    }
    return offset;
  }

  [[nodiscard]] Error damaged(size_t entry, std::string_view why) const {
    return make_error(ErrorCode::kBadHeader, "zip entry '{}': {}", excerpt(entries[entry].name), why);
  }
  [[nodiscard]] Error bad_local_header(size_t entry) const {
    return damaged(entry, "its local header does not match the directory").with_offset(local_headers[entry]);
  }
};

ZipFile::ZipFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
ZipFile::ZipFile(ZipFile&& other) noexcept = default;
ZipFile& ZipFile::operator=(ZipFile&& other) noexcept = default;
ZipFile::~ZipFile() = default;

std::span<const ZipEntry> ZipFile::entries() const { return state_->entries; }

Result<ZipFile> ZipFile::open(const File& file) {
  auto state = std::make_unique<State>();
  state->file = &file;
  auto directory = state->find_directory();
  if (!directory) return state->failure(std::move(directory).error());
  if (!*directory) {
    if (!has_zip_magic(file.head())) {
      return state->failure(make_error(ErrorCode::kBadHeader, "not a zip archive").with_offset(0));
    }
    return state->failure(make_error(ErrorCode::kTruncated, "a zip archive without its directory at the end")
                              .with_offset(file.size())
                              .with_hint("the file was cut off or is still being written"));
  }
  MSDUMP_CHECK_OK(state->list(**directory));
  MSDUMP_CHECK_OK(state->index_names());
  return ZipFile(std::move(state));
}

std::optional<size_t> ZipFile::find(std::string_view name) const {
  const auto& by_name = state_->by_name;
  const auto found = std::lower_bound(by_name.begin(), by_name.end(), name, [this](size_t entry, std::string_view to) {
    return state_->entries[entry].name < to;
  });
  if (found == by_name.end() || state_->entries[*found].name != name) return std::nullopt;
  return *found;
}

Result<uint64_t> ZipFile::data_offset(size_t entry) const {
  const ZipEntry& wanted = state_->entries[entry];
  if (wanted.encrypted || wanted.method != ZipEntry::kStored) {
    return state_->failure(make_error(ErrorCode::kUnsupportedFormat, "zip entry '{}' is {}", excerpt(wanted.name),
                                      wanted.encrypted ? "encrypted" : "compressed"));
  }
  if (wanted.compressed_size != wanted.size) {
    return state_->failure(state_->damaged(entry, "a stored entry with two different sizes"));
  }
  return state_->data_offset(entry);
}

Result<ZipData> ZipFile::data(size_t entry) const {
  const ZipEntry& wanted = state_->entries[entry];
  const bool deflated = wanted.method == ZipEntry::kDeflated;
  if (wanted.encrypted || (wanted.method != ZipEntry::kStored && !deflated)) {
    return state_->failure(make_error(ErrorCode::kUnsupportedFormat, "zip entry '{}' is {}", excerpt(wanted.name),
                                      wanted.encrypted ? "encrypted" : "compressed in an unknown way"));
  }
  if (wanted.size / kMaxDeflateRatio > wanted.compressed_size)
    return state_->failure(state_->damaged(entry, "its sizes cannot be right"));
  // Compares the size with the file before anything is allocated.
  MSDUMP_TRY(const uint64_t offset, deflated ? state_->data_offset(entry) : data_offset(entry));
  return ZipData{wanted.name, deflated, offset, wanted.compressed_size, wanted.size, wanted.crc};
}

Result<std::string> ZipFile::read_head(size_t entry, uint64_t most) const {
  MSDUMP_TRY(const ZipData from, data(entry));
  std::string content(static_cast<size_t>(std::min(from.size, most)), '\0');
  const auto into = std::as_writable_bytes(std::span(content.data(), content.size()));
  MSDUMP_CHECK_OK(from.deflated ? inflate_entry(*state_->file, from, content)
                                : state_->file->read_at(from.offset, into));
  return content;
}

Result<std::string> ZipFile::read(size_t entry, uint64_t limit) const {
  const ZipEntry& wanted = state_->entries[entry];
  if (wanted.size > limit) {
    return state_->failure(make_error(ErrorCode::kTooLarge, "zip entry '{}' of {} bytes, at most {} are read",
                                      excerpt(wanted.name), wanted.size, limit));
  }
  MSDUMP_TRY(std::string content, read_head(entry, limit));
  if (crc32_of(std::as_bytes(std::span(content))) != wanted.crc)
    return state_->failure(state_->damaged(entry, "its CRC-32 is wrong"));
  return content;
}

uint32_t crc32_of(std::span<const std::byte> bytes, uint32_t before) {
  return static_cast<uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

bool has_zip_magic(std::span<const std::byte> head) {
  constexpr std::string_view kMagic = "PK\x03\x04";
  return head.size() >= kMagic.size() && std::memcmp(head.data(), kMagic.data(), kMagic.size()) == 0;
}

Result<std::string> gzip(std::string_view bytes) {
  // Columns of numbers: higher levels take twice the time for a few percent.
  constexpr int kLevel = 4, kGzipWindow = 15 + 16, kMemory = 8;
  constexpr size_t kMostAtOnce = std::numeric_limits<uInt>::max() / 2;
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    return fail(ErrorCode::kTooLarge, "no memory to compress");
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  size_t written = 0;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    const size_t piece = std::min(bytes.size(), kMostAtOnce);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib does not write to it
    stream.avail_in = static_cast<uInt>(piece);
    stream.next_out = reinterpret_cast<Bytef*>(packed.data()) + written;
    stream.avail_out = static_cast<uInt>(std::min(packed.size() - written, kMostAtOnce));
    const uInt room = stream.avail_out;
    state = deflate(&stream, piece == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    bytes.remove_prefix(piece - stream.avail_in);
    written += room - stream.avail_out;
    if (state != Z_OK && state != Z_STREAM_END) break;
  }
  deflateEnd(&stream);
  if (state != Z_STREAM_END) return fail(ErrorCode::kTooLarge, "cannot be compressed");
  packed.resize(written);
  return packed;
}

}  // namespace msdump
