// mapping.csv: the real names of files whose names were too long.
//
// The table lies beside the files that it names and has a line `mapped,original` for each, without a header. MindSpore (1.8
// and later) maps to a random decimal number and ".npy". CANN maps to 32 hexadecimal or decimal digits, with or without a
// suffix. msdump writes CANN's hexadecimal digits: the uuid3 of the name in the DNS name space.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "io/file.h"

namespace msdump {

// Enough for 200,000 files; a longer table is too_large.
inline constexpr uint64_t kMostMappingBytes = uint64_t{64} << 20;

// mapped -> original. A line without a comma or with an empty side is kBadCsv.
using NameMapping = std::map<std::string, std::string, std::less<>>;

Result<NameMapping> read_mapping_csv(const File& file);
[[nodiscard]] std::string format_mapping_csv(const NameMapping& mapping);  // sorted by mapped name

// The original of `name`, with or without its last suffix: the table may have either.
[[nodiscard]] std::optional<std::string> resolve_name(const NameMapping& mapping, std::string_view name);

// True for names that a mapping.csv maps to: 32 hexadecimal digits, or digits only, with or without ".npy".
[[nodiscard]] bool looks_hashed(std::string_view name);

// 32 hexadecimal digits: MD5 (RFC 4122 version 3) of the DNS name space and the name.
[[nodiscard]] std::string hash_name(std::string_view name);

}  // namespace msdump
