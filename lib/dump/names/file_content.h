// What a file is, by its first bytes: for names that say nothing or lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dump/names/file_kind.h"

namespace msdump {

// kUnknown when they say nothing.
[[nodiscard]] FileKind kind_of_content(std::span<const std::byte> head, uint64_t file_size);

}  // namespace msdump
