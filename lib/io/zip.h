// Zip archives, read through a File, and gzip compression. zlib inflates and deflates.
//
//   local header, name, extra, data        once per entry; sizes may follow the data instead (flag bit 3)
//   central directory                      the authoritative list: names, methods, sizes, CRC-32, local headers
//   [zip64 end record and its locator]     numbers beyond 32 and 16 bits
//   end record                             the position of the directory
//
// Local headers are used for their lengths only. Encrypted entries are listed but not read. A name is never a path to open.
// An archive is refused if it has one of these:
//   * two entries of one name: readers disagree about which one counts
//   * more than 262,144 entries, or a directory of more than 32 MiB
//   * several parts
//   * bytes before the archive
// Source: PKWARE's APPNOTE.TXT 6.3, sections 4.3 to 4.5.
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

// Position and packing of an entry. Returned by ZipFile::data().
struct ZipData {
  std::string name;
  bool deflated = false;
  uint64_t offset = 0, compressed_size = 0;  // in the archive
  uint64_t size = 0;                         // of the entry
  uint32_t crc = 0;                          // of the entry
  uint64_t begin = 0;                        // of the data in the entry; the bytes before it are a header
  uint32_t header_crc = 0;                   // of that header
};

// Reads the bytes of an entry after a header: from the archive if they are stored, else from memory, into which they are
// inflated once. Thread-safe.
class ZipDataReader {
 public:
  explicit ZipDataReader(std::shared_ptr<const ZipData> data) : data_(std::move(data)) {}

  // Fills `into` from byte `first` after the header. The CRC-32 of the entry is checked once every byte has been read, in
  // pieces of any order.
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
  std::string inflated_;              // the entry, once a deflated one was read
  std::map<uint64_t, Piece> pieces_;  // read so far, by first byte; adjacent pieces are merged
  bool noting_ = true;
};

// Fills `content` from deflated bytes; there may be more.
Status inflate_entry(const File& file, const ZipData& data, std::string& content);

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
  // kTruncated if the directory at the end is missing, kBadHeader if it is damaged.
  static Result<ZipFile> open(const File& file);

  ZipFile(ZipFile&& other) noexcept;
  ZipFile& operator=(ZipFile&& other) noexcept;
  ~ZipFile();

  [[nodiscard]] std::span<const ZipEntry> entries() const;  // in the order of the directory
  [[nodiscard]] std::optional<size_t> find(std::string_view name) const;

  // The offset of the data of a stored entry, all of which is inside the file. Reads the local header.
  [[nodiscard]] Result<uint64_t> data_offset(size_t entry) const;

  // The position of the data of an entry, for a ZipDataReader; all of it is inside the file.
  [[nodiscard]] Result<ZipData> data(size_t entry) const;
  // The first `most` bytes of an entry, or all of them if there are fewer. Does not check the CRC-32.
  [[nodiscard]] Result<std::string> read_head(size_t entry, uint64_t most) const;

  // The whole entry, with its CRC-32 checked; kTooLarge above `limit` bytes.
  [[nodiscard]] Result<std::string> read(size_t entry, uint64_t limit) const;

 private:
  struct State;
  explicit ZipFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The CRC-32 of zip, PNG and Python's zlib.crc32. `before` is the CRC of the bytes before these, 0 at the beginning.
[[nodiscard]] uint32_t crc32_of(std::span<const std::byte> bytes, uint32_t before = 0);

[[nodiscard]] bool has_zip_magic(std::span<const std::byte> head);  // an archive with at least one entry

// A gzip file (RFC 1952) without name and time, so that equal bytes give equal files. kTooLarge without memory for it.
Result<std::string> gzip(std::string_view bytes);

}  // namespace msdump
