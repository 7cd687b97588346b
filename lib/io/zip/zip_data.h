// The bytes of one zip entry, or of what follows a header in it, read piece by piece: from the archive itself where they are
// stored, else from memory, into which they are inflated once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

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

}  // namespace msdump
