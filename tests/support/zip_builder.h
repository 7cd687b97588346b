// Builds zip archives, as torch.save lays them out and otherwise, without a zip library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msdump::test {

struct ZipEntrySpec {
  std::string name;
  std::string data = {};
  bool deflated = false;                      // as one block that is stored inside deflate
  uint16_t flags = 0x0808;                    // sizes after the data, UTF-8 names: what torch writes
  std::optional<uint32_t> crc = {};           // a wrong one
  std::optional<uint64_t> size = {};          // in the directory, instead of the right one
  std::optional<uint64_t> local_offset = {};  // in the directory, instead of the right one
};

enum class ZipForm {
  kPlain,
  kTorch,  // with a zip64 end record, although nothing needs it
  kZip64,  // and all numbers of the directory in zip64 extra fields
};

struct ZipSpec {
  std::vector<ZipEntrySpec> entries;
  ZipForm form = ZipForm::kTorch;
  size_t alignment = 64;                     // of the data; through the extra field
  std::string prefix = {};                   // bytes before the archive
  std::optional<uint64_t> entry_count = {};  // in the end records, instead of the right one
};

[[nodiscard]] std::string build_zip(const ZipSpec& spec);
[[nodiscard]] uint32_t crc32_of(std::string_view bytes);

}  // namespace msdump::test
