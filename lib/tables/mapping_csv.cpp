#include "tables/mapping_csv.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "io/file.h"
#include "kernels/digest/digest.h"

namespace msdump {
namespace {

constexpr size_t kMaxNames = 500'000;

// 6ba7b810-9dad-11d1-80b4-00c04fd430c8, the DNS name space of RFC 4122.
constexpr std::string_view kDnsNamespace{"\x6b\xa7\xb8\x10\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8", 16};

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

Result<NameMapping> read_mapping_csv(const File& file) {
  MSDUMP_TRY(const std::string text, read_text(file, kMostMappingBytes, "a mapping.csv"));
  NameMapping mapping;
  size_t line_number = 0;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    ++line_number;
    while (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const size_t comma = line.find(',');
    if (comma == std::string_view::npos || comma == 0 || comma + 1 == line.size()) {
      return fail(
          make_error(ErrorCode::kBadCsv, "line {}: expected 'mapped,original'", line_number).with_path(file.path()));
    }
    if (mapping.size() == kMaxNames) {
      return fail(
          make_error(ErrorCode::kTooLarge, "a mapping.csv of more than {} names", kMaxNames).with_path(file.path()));
    }
    // MindSpore retries after a collision and writes a second line for the name; the file on disk is the newer one.
    mapping.insert_or_assign(std::string(line.substr(0, comma)), std::string(line.substr(comma + 1)));
  }
  return mapping;
}

std::string format_mapping_csv(const NameMapping& mapping) {
  std::string text;
  for (const auto& [mapped, original] : mapping) text += fmt::format("{},{}\n", mapped, original);
  return text;
}

std::optional<std::string> resolve_name(const NameMapping& mapping, std::string_view name) {
  if (const auto found = mapping.find(name); found != mapping.end()) return found->second;
  const std::string_view stem = name.substr(0, name.rfind('.'));
  if (const auto found = mapping.find(stem); found != mapping.end()) return found->second;
  return std::nullopt;
}

bool looks_hashed(std::string_view name) {
  if (name.ends_with(".npy")) name.remove_suffix(4);
  return is_digits(name) || (name.size() == 32 && std::all_of(name.begin(), name.end(), is_hex));
}

std::string hash_name(std::string_view name) {
  kernels::Md5State state;
  const auto take = [&state](std::string_view text) {
    const kernels::Md5Job job{&state, reinterpret_cast<const std::byte*>(text.data()), text.size()};
    kernels::md5_update({&job, 1});
  };
  take(kDnsNamespace);
  take(name);
  std::array<std::byte, 16> digest = kernels::md5_finish(state);
  // The version (3) and variant (10) bits of a UUID.
  digest[6] = (digest[6] & std::byte{0x0F}) | std::byte{0x30};
  digest[8] = (digest[8] & std::byte{0x3F}) | std::byte{0x80};
  return kernels::hex(digest);
}

}  // namespace msdump
