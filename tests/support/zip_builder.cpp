#include "support/zip_builder.h"

#include "support/dump_builder.h"

namespace msdump::test {
namespace {

constexpr uint16_t kSizesAfter = 8;  // flag bit
constexpr uint32_t kInExtra = 0xFFFFFFFF;

// One deflate block of type "stored"; at most 65535 bytes.
std::string deflated(const std::string& data) {
  std::string block("\x01", 1);
  put_u16(block, static_cast<uint16_t>(data.size()));
  put_u16(block, static_cast<uint16_t>(~data.size()));
  return block + data;
}

struct Written {
  uint64_t offset = 0, compressed_size = 0;
  uint32_t crc = 0;
};

void put_common(std::string& to, const ZipEntrySpec& entry) {
  put_u16(to, entry.flags);
  put_u16(to, entry.deflated ? 8 : 0);
  put_u32(to, 0);  // time and date
}

Written put_local(std::string& zip, const ZipEntrySpec& entry, size_t alignment) {
  const std::string stored = entry.deflated ? deflated(entry.data) : entry.data;
  const Written written{zip.size(), stored.size(), entry.crc.value_or(crc32_of(entry.data))};
  const bool after = (entry.flags & kSizesAfter) != 0;
  zip += "PK\x03\x04";
  put_u16(zip, 20);
  put_common(zip, entry);
  put_u32(zip, after ? 0 : written.crc);
  put_u32(zip, after ? 0 : static_cast<uint32_t>(stored.size()));
  put_u32(zip, after ? 0 : static_cast<uint32_t>(entry.data.size()));
  put_u16(zip, static_cast<uint16_t>(entry.name.size()));
  const size_t unpadded = zip.size() + 2 + entry.name.size() + 4;
  const size_t padding = (alignment - unpadded % alignment) % alignment;
  put_u16(zip, static_cast<uint16_t>(padding + 4));
  zip += entry.name + "FB";  // the extra field that torch pads with
  put_u16(zip, static_cast<uint16_t>(padding));
  zip += std::string(padding, 'Z') + stored;
  if (after) {
    zip += "PK\x07\x08";
    put_u32(zip, written.crc);
    put_u32(zip, static_cast<uint32_t>(stored.size()));
    put_u32(zip, static_cast<uint32_t>(entry.data.size()));
  }
  return written;
}

void put_directory_entry(std::string& zip, const ZipEntrySpec& entry, const Written& written, ZipForm form) {
  const uint64_t size = entry.size.value_or(entry.data.size()), offset = entry.local_offset.value_or(written.offset);
  const uint64_t compressed = entry.size && !entry.deflated ? *entry.size : written.compressed_size;
  std::string extra;  // of zip64: the numbers that the directory has no room for
  const auto in_place = [&](uint64_t value) {
    const bool moves = form == ZipForm::kZip64 || value >= kInExtra;
    if (moves) put_u64(extra, value);
    return moves ? kInExtra : static_cast<uint32_t>(value);
  };
  const uint32_t short_size = in_place(size), short_compressed = in_place(compressed);
  const uint32_t short_offset = in_place(offset);
  zip += "PK\x01\x02";
  put_u16(zip, 0);
  put_u16(zip, 20);
  put_common(zip, entry);
  put_u32(zip, written.crc);
  put_u32(zip, short_compressed);
  put_u32(zip, short_size);
  put_u16(zip, static_cast<uint16_t>(entry.name.size()));
  put_u16(zip, extra.empty() ? 0 : static_cast<uint16_t>(extra.size() + 4));
  put_u16(zip, 0);  // comment
  put_u16(zip, 0);  // disk
  put_u16(zip, 0);  // attributes
  put_u32(zip, 0);
  put_u32(zip, short_offset);
  zip += entry.name;
  if (extra.empty()) return;
  put_u16(zip, 1);
  put_u16(zip, static_cast<uint16_t>(extra.size()));
  zip += extra;
}

void put_zip64_end(std::string& zip, uint64_t count, uint64_t begin, uint64_t size, uint64_t at) {
  zip += "PK\x06\x06";
  put_u64(zip, 44);
  put_u16(zip, 45);
  put_u16(zip, 45);
  put_u32(zip, 0);
  put_u32(zip, 0);
  for (const uint64_t value : {count, count, size, begin}) put_u64(zip, value);
  zip += "PK\x06\x07";
  put_u32(zip, 0);
  put_u64(zip, at);
  put_u32(zip, 1);
}

}  // namespace

uint32_t crc32_of(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xEDB88320U & (0U - (crc & 1)));
  }
  return ~crc;
}

std::string build_zip(const ZipSpec& spec) {
  std::string zip;
  std::vector<Written> written;
  for (const ZipEntrySpec& entry : spec.entries) written.push_back(put_local(zip, entry, spec.alignment));
  const uint64_t begin = zip.size(), count = spec.entry_count.value_or(spec.entries.size());
  for (size_t i = 0; i < written.size(); ++i) put_directory_entry(zip, spec.entries[i], written[i], spec.form);
  const uint64_t size = zip.size() - begin;
  if (spec.form != ZipForm::kPlain) put_zip64_end(zip, count, begin, size, zip.size());
  const bool full = spec.form == ZipForm::kZip64;
  zip += "PK\x05\x06";
  put_u32(zip, 0);
  put_u16(zip, full ? 0xFFFF : static_cast<uint16_t>(count));
  put_u16(zip, full ? 0xFFFF : static_cast<uint16_t>(count));
  put_u32(zip, full ? kInExtra : static_cast<uint32_t>(size));
  put_u32(zip, full ? kInExtra : static_cast<uint32_t>(begin));
  put_u16(zip, 0);
  return spec.prefix + zip;
}

}  // namespace msdump::test
