#include "io/zip.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <unzip.h>
#include <zlib.h>

#include "base/byte_reader.h"
#include "base/text.h"

namespace msdump {
namespace {

constexpr uint64_t kMaxEntries = 1 << 20;
constexpr uint64_t kMaxNameBytes = uint64_t{64} << 20;  // of all names
constexpr uint64_t kMaxNameLength = 1 << 16;
constexpr uint64_t kMaxDeflateRatio = 1032;  // what 258 bytes in 2 bits come to
constexpr uint32_t kEncrypted = 1;           // flag bit

constexpr uint32_t kDirectoryMagic = 0x02014b50, kLocalMagic = 0x04034b50;
constexpr size_t kDirectoryBytes = 46, kLocalBytes = 30;  // of the fixed parts
constexpr uint32_t kInExtra = 0xFFFFFFFF;                 // instead of a number that stands in the zip64 extra field
constexpr uint16_t kZip64 = 1;

// What minizip reads from. It takes most numbers byte by byte, so that a small window of the file is kept.
struct Stream {
  const File* file = nullptr;
  uint64_t position = 0;
  std::optional<Error> failure;  // the first read that the file refused
  bool ended = false;            // a read since the last seek wanted more than there is
  std::array<std::byte, 4096> window{};
  uint64_t window_begin = 0, window_end = 0;

  bool read_whole(uint64_t offset, std::span<std::byte> into) {
    const auto status = file->read_at(offset, into);
    if (!status && !failure) failure = status.error();
    return status.has_value();
  }

  // Bytes read: fewer than wanted at the end of the file, 0 after a failure.
  uint64_t read(std::byte* to, uint64_t wanted) {
    const uint64_t count = position < file->size() ? std::min(wanted, file->size() - position) : 0;
    ended = ended || count < wanted;
    if (count == 0) return 0;
    if (position < window_begin || position + count > window_end) {
      if (count >= window.size()) {
        if (!read_whole(position, {to, static_cast<size_t>(count)})) return 0;
        position += count;
        return count;
      }
      const uint64_t size = std::min<uint64_t>(window.size(), file->size() - position);
      window_begin = window_end = position;
      if (!read_whole(position, {window.data(), static_cast<size_t>(size)})) return 0;
      window_end += size;
    }
    std::memcpy(to, window.data() + (position - window_begin), static_cast<size_t>(count));
    position += count;
    return count;
  }
};

Stream& stream_of(void* stream) { return *static_cast<Stream*>(stream); }

// The callbacks; minizip is C, so nothing may be thrown here.
void* open_stream(void* opaque, const void* /*name*/, int /*mode*/) { return opaque; }
uLong read_stream(void* /*opaque*/, void* stream, void* to, uLong size) {
  return static_cast<uLong>(stream_of(stream).read(static_cast<std::byte*>(to), size));
}
uLong write_stream(void* /*opaque*/, void* /*stream*/, const void* /*from*/, uLong /*size*/) { return 0; }
ZPOS64_T tell_stream(void* /*opaque*/, void* stream) { return stream_of(stream).position; }
long seek_stream(void* /*opaque*/, void* stream, ZPOS64_T offset, int origin) {
  Stream& s = stream_of(stream);
  const uint64_t base = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                        : origin == ZLIB_FILEFUNC_SEEK_CUR ? s.position
                                                           : s.file->size();
  uint64_t target = 0;
  if (__builtin_add_overflow(base, offset, &target)) return -1;
  s.position = target;  // beyond the end is allowed, and reads nothing
  s.ended = false;
  return 0;
}
int close_stream(void* /*opaque*/, void* /*stream*/) { return 0; }
// Asked after a short read. At the end of the file too, where minizip would go on with zeros.
int stream_error(void* /*opaque*/, void* stream) {
  return stream_of(stream).failure || stream_of(stream).ended ? 1 : 0;
}

// The numbers of an entry that minizip does not tell, or not rightly.
struct Place {
  unz64_file_pos in_directory{};
  uint64_t local_header = 0;
  bool is_zip64 = false;
};

// The fields of a zip64 extra field: only those that are kInExtra in the directory, in this order.
bool take_zip64(ByteReader extra, std::initializer_list<uint64_t*> numbers) {
  while (extra.remaining() >= 4) {
    const auto header = extra.bytes(4);
    auto field = extra.sub(load_u16(header->data() + 2));
    if (!field) return false;
    if (load_u16(header->data()) != kZip64) continue;
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

struct Close {
  void operator()(void* handle) const { unzClose(handle); }
};

}  // namespace

struct ZipFile::State {
  Stream stream;
  std::unique_ptr<void, Close> handle;
  std::vector<ZipEntry> entries;
  std::vector<Place> places;
  std::vector<size_t> by_name;

  tl::unexpected<Error> failure(Error error) {
    if (stream.failure) error = *stream.failure;
    return fail(std::move(error).with_path(stream.file->path()));
  }

  Status list() {
    unz_global_info64 archive{};
    if (unzGetGlobalInfo64(handle.get(), &archive) != UNZ_OK) {
      return failure(make_error(ErrorCode::kBadHeader, "the zip archive has no end record"));
    }
    if (archive.number_entry > kMaxEntries) {
      return failure(make_error(ErrorCode::kTooLarge, "a zip archive of {} entries", archive.number_entry));
    }
    if (archive.number_entry == 0) return {};
    std::string name(kMaxNameLength + 1, '\0');
    uint64_t name_bytes = 0;
    for (int status = unzGoToFirstFile(handle.get());; status = unzGoToNextFile(handle.get())) {
      if (status == UNZ_END_OF_LIST_OF_FILE) return {};
      unz_file_info64 info{};
      Place place;
      if (status != UNZ_OK || unzGetFilePos64(handle.get(), &place.in_directory) != UNZ_OK ||
          unzGetCurrentFileInfo64(handle.get(), &info, name.data(), name.size(), nullptr, 0, nullptr, 0) != UNZ_OK) {
        return failure(make_error(ErrorCode::kBadHeader, "entry {} of the zip directory is damaged", entries.size()));
      }
      name_bytes += info.size_filename;
      if (entries.size() == kMaxEntries || name_bytes > kMaxNameBytes) {
        return failure(
            make_error(ErrorCode::kTooLarge, "the names of a zip archive take more than {} bytes", kMaxNameBytes));
      }
      entries.push_back({.name = name.substr(0, std::min<size_t>(info.size_filename, kMaxNameLength)),
                         .method = static_cast<uint32_t>(info.compression_method),
                         .encrypted = (info.flag & kEncrypted) != 0,
                         .crc = static_cast<uint32_t>(info.crc)});
      if (!read_numbers(place, entries.back())) {
        return failure(make_error(ErrorCode::kBadHeader, "entry {} of the zip directory is damaged", entries.size() - 1)
                           .with_offset(place.in_directory.pos_in_zip_directory));
      }
      places.push_back(place);
    }
  }

  // The sizes and the place of the local header, from the directory's own bytes. minizip gives places relative to the
  // archive: with bytes before it, there is no entry here.
  bool read_numbers(Place& place, ZipEntry& entry) {
    stream.position = place.in_directory.pos_in_zip_directory;
    std::array<std::byte, kDirectoryBytes> fixed{};
    if (stream.read(fixed.data(), fixed.size()) != fixed.size() || load_u32(fixed.data()) != kDirectoryMagic)
      return false;
    entry.compressed_size = load_u32(fixed.data() + 20);
    entry.size = load_u32(fixed.data() + 24);
    place.local_header = load_u32(fixed.data() + 42);
    place.is_zip64 = entry.size == kInExtra || entry.compressed_size == kInExtra || place.local_header == kInExtra;
    if (!place.is_zip64) return true;
    std::vector<std::byte> extra(load_u16(fixed.data() + 30));
    stream.position += load_u16(fixed.data() + 28);
    return stream.read(extra.data(), extra.size()) == extra.size() &&
           take_zip64(ByteReader(extra), {&entry.size, &entry.compressed_size, &place.local_header});
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

  // Where the data begin: behind the local header, whose name and extra field have lengths of their own.
  Result<uint64_t> data_offset(size_t entry) {
    std::array<std::byte, kLocalBytes> fixed{};
    stream.position = places[entry].local_header;
    if (stream.read(fixed.data(), fixed.size()) != fixed.size() || load_u32(fixed.data()) != kLocalMagic ||
        load_u16(fixed.data() + 26) != entries[entry].name.size()) {
      return failure(damaged(entry, "its local header does not match the directory"));
    }
    const uint64_t offset = stream.position + load_u16(fixed.data() + 26) + uint64_t{load_u16(fixed.data() + 28)};
    const uint64_t file_size = stream.file->size(), size = entries[entry].compressed_size;
    if (offset > file_size || size > file_size - offset) {
      return failure(make_error(ErrorCode::kTruncated, "zip entry '{}' needs {} bytes, {} present",
                                excerpt(entries[entry].name), size, offset < file_size ? file_size - offset : 0)
                         .with_offset(offset));
    }
    return offset;
  }

  Status inflate(size_t entry, std::string& content) {
    if (places[entry].is_zip64) return failure(damaged(entry, "a small compressed entry with zip64 numbers"));
    if (unzGoToFilePos64(handle.get(), &places[entry].in_directory) != UNZ_OK ||
        unzOpenCurrentFile(handle.get()) != UNZ_OK) {
      return failure(damaged(entry, "its local header does not match the directory"));
    }
    size_t done = 0;
    while (done < content.size()) {
      const auto step = static_cast<unsigned>(std::min<size_t>(content.size() - done, size_t{1} << 20));
      const int got = unzReadCurrentFile(handle.get(), content.data() + done, step);
      if (got <= 0) break;
      done += static_cast<size_t>(got);
    }
    unzCloseCurrentFile(handle.get());
    if (done < content.size()) return failure(damaged(entry, "its data end too early"));
    return {};
  }

  [[nodiscard]] Error damaged(size_t entry, std::string_view why) const {
    return make_error(ErrorCode::kBadHeader, "zip entry '{}': {}", excerpt(entries[entry].name), why);
  }
};

ZipFile::ZipFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
ZipFile::ZipFile(ZipFile&& other) noexcept = default;
ZipFile& ZipFile::operator=(ZipFile&& other) noexcept = default;
ZipFile::~ZipFile() = default;

std::span<const ZipEntry> ZipFile::entries() const { return state_->entries; }

Result<ZipFile> ZipFile::open(const File& file) {
  auto state = std::make_unique<State>();
  state->stream.file = &file;
  zlib_filefunc64_def functions{open_stream, read_stream,  write_stream, tell_stream,
                                seek_stream, close_stream, stream_error, &state->stream};
  state->handle.reset(unzOpen2_64(nullptr, &functions));
  if (!state->handle) {
    if (!has_zip_magic(file.head())) {
      return state->failure(make_error(ErrorCode::kBadHeader, "not a zip archive").with_offset(0));
    }
    return state->failure(make_error(ErrorCode::kTruncated, "a zip archive without its directory at the end")
                              .with_offset(file.size())
                              .with_hint("the file was cut off or is still being written"));
  }
  MSDUMP_CHECK_OK(state->list());
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

Result<std::string> ZipFile::read(size_t entry, uint64_t limit) const {
  const ZipEntry& wanted = state_->entries[entry];
  const bool deflated = wanted.method == ZipEntry::kDeflated;
  if (wanted.encrypted || (wanted.method != ZipEntry::kStored && !deflated)) {
    return state_->failure(make_error(ErrorCode::kUnsupportedFormat, "zip entry '{}' is {}", excerpt(wanted.name),
                                      wanted.encrypted ? "encrypted" : "compressed in an unknown way"));
  }
  if (wanted.size > limit) {
    return state_->failure(make_error(ErrorCode::kTooLarge, "zip entry '{}' of {} bytes, at most {} are read",
                                      excerpt(wanted.name), wanted.size, limit));
  }
  if (wanted.size / kMaxDeflateRatio > wanted.compressed_size) {
    return state_->failure(state_->damaged(entry, "its sizes cannot be right"));
  }
  // Also compares the size with the file, before anything is allocated.
  MSDUMP_TRY(const uint64_t offset, deflated ? state_->data_offset(entry) : data_offset(entry));
  std::string content(static_cast<size_t>(wanted.size), '\0');
  if (deflated) {
    MSDUMP_CHECK_OK(state_->inflate(entry, content));
  } else {
    const auto into = std::as_writable_bytes(std::span(content.data(), content.size()));
    if (auto status = state_->stream.file->read_at(offset, into); !status) return fail(std::move(status).error());
  }
  const uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  if (crc != wanted.crc) return state_->failure(state_->damaged(entry, "its CRC-32 is wrong"));
  return content;
}

bool has_zip_magic(std::span<const std::byte> head) {
  constexpr std::string_view kMagic = "PK\x03\x04";
  return head.size() >= kMagic.size() && std::memcmp(head.data(), kMagic.data(), kMagic.size()) == 0;
}

}  // namespace msdump
