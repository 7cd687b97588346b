// Compression with zlib as a gzip file (RFC 1952) without name and time: equal bytes become equal bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace msdump {

// too_large when there is no memory for it.
Result<std::string> gzip(std::string_view bytes);

}  // namespace msdump
