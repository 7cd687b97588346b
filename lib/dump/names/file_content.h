// What a file is, by its first bytes: for names that say nothing or lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/error.h"
#include "dump/names/file_kind.h"

namespace msdump {

// What a file is that its name promises to be of another kind, and could not be read as such: a Git LFS pointer, a zip
// archive. Nothing if its first bytes do not tell.
[[nodiscard]] std::optional<Error> mistaken_content(FileKind promised, std::span<const std::byte> head);

// kUnknown when they say nothing.
[[nodiscard]] FileKind kind_of_content(std::span<const std::byte> head, uint64_t file_size);

}  // namespace msdump
