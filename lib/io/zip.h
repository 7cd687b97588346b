// The bytes of one zip entry, or of what follows a header in it, read piece by piece: from the archive itself where they are
// stored, else from memory, into which they are inflated once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "io/file.h"

namespace msdump {

// Where an entry is and how it is packed. Made by ZipFile::data.
struct ZipData {
  std::string name;
  bool deflated = false;
  uint64_t offset = 0, compressed_size = 0;  // in the archive
  uint64_t size = 0;                         // of the entry
  uint32_t crc = 0;                          // of the entry
  uint64_t begin = 0;                        // of what is read; the bytes before it are a header
  uint32_t header_crc = 0;                   // of that header
};

// Thread-safe.
class ZipDataReader {
 public:
  explicit ZipDataReader(std::shared_ptr<const ZipData> data) : data_(std::move(data)) {}

  // Fills `into` from byte `first` after the header. When every byte has been read, in whatever pieces and order, an error
  // if the CRC-32 of the entry is another.
  Status read(const File& file, uint64_t first, std::span<std::byte> into);

 private:
  struct Piece {
    uint64_t end = 0;
    uint32_t crc = 0;
  };
  Status inflate_once(const File& file);
  Status note(const File& file, uint64_t first, std::span<const std::byte> bytes);
  [[nodiscard]] Error wrong_crc(const File& file) const;

  std::shared_ptr<const ZipData> data_;
  std::mutex mutex_;
  std::string inflated_;              // the entry, if it is deflated and was read
  std::map<uint64_t, Piece> pieces_;  // that were read, by their first byte; those that touch are one
  bool noting_ = true;
};

// Fills `content` from deflated bytes, which may go on behind it.
Status inflate_entry(const File& file, const ZipData& data, std::string& content);

// Zip archives, read through a File: what is in them, where stored entries lie, and small entries whole.
//
//   local header, name, extra, data        once per entry; sizes may follow the data instead (flag bit 3)
//   central directory                      the authoritative list: names, methods, sizes, CRC-32, local headers
//   [zip64 end record and its locator]     numbers beyond 32 and 16 bits
//   end record                             where the directory begins
//
// zlib inflates. Of the local headers only the lengths are used: the directory has the sizes.
//
// Refused: two entries of one name (readers disagree about which one counts), more than 262,144 entries or a directory of
// more than 32 MiB, archives in several parts, bytes before the archive. Encrypted entries are listed but not read. A name
// is never a path to open.
// Source: PKWARE's APPNOTE.TXT 6.3, sections 4.3 to 4.5.

struct ZipEntry {
  std::string name;
  uint32_t method = 0;  // kStored, 8: deflated
  bool encrypted = false;
  uint64_t compressed_size = 0;
  uint64_t size = 0;
  uint32_t crc = 0;

  static constexpr uint32_t kStored = 0;
  static constexpr uint32_t kDeflated = 8;
};

// The File must outlive it.
class ZipFile {
 public:
  // truncated when the directory at the end is missing, bad_header when it is damaged.
  static Result<ZipFile> open(const File& file);

  ZipFile(ZipFile&& other) noexcept;
  ZipFile& operator=(ZipFile&& other) noexcept;
  ~ZipFile();

  [[nodiscard]] std::span<const ZipEntry> entries() const;  // in the order of the directory
  [[nodiscard]] std::optional<size_t> find(std::string_view name) const;

  // Where the data of a stored entry begins in the file; all of it is inside the file. Reads the local header.
  [[nodiscard]] Result<uint64_t> data_offset(size_t entry) const;

  // Where the data of an entry are, stored or deflated, for a ZipDataReader (zip_data.h); all of it is inside the file.
  [[nodiscard]] Result<ZipData> data(size_t entry) const;
  // The first bytes of an entry, `most` of them at most; its CRC-32 is not checked.
  [[nodiscard]] Result<std::string> read_head(size_t entry, uint64_t most) const;

  // The whole entry, stored or deflated, its CRC-32 checked; too_large above `limit` bytes.
  [[nodiscard]] Result<std::string> read(size_t entry, uint64_t limit) const;

 private:
  struct State;
  explicit ZipFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The CRC-32 of zip, PNG and Python's zlib.crc32. `before` is the CRC of the bytes before these, 0 at the beginning.
[[nodiscard]] uint32_t crc32_of(std::span<const std::byte> bytes, uint32_t before = 0);

[[nodiscard]] bool has_zip_magic(std::span<const std::byte> head);  // an archive with at least one entry

// Compression with zlib as a gzip file (RFC 1952) without name and time: equal bytes become equal bytes.

// too_large when there is no memory for it.
Result<std::string> gzip(std::string_view bytes);

}  // namespace msdump
