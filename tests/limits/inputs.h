// What the builders of worst inputs share: files that are only claimed to be long, and trees of small tensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace msdump::limits {

// `head`, `zeros` bytes that take no place on the disk, `tail`. Folders are made.
void write_sparse(const std::filesystem::path& path, std::string_view head, uint64_t zeros, std::string_view tail = {});
void write_text(const std::filesystem::path& path, std::string_view text);

// Fills `text` piece by piece and hands it to the file, so that no builder holds a whole file.
void write_pieces(const std::filesystem::path& path, int64_t count,
                  const std::function<void(std::string& text, int64_t i)>& add);

// `piece` again and again, with what stands before and after.
void write_repeated(const std::filesystem::path& path, std::string_view head, std::string_view piece, int64_t times,
                    std::string_view tail = {});

// The bytes of a small .npy: float32, 4 elements.
[[nodiscard]] std::string tiny_npy(float first = 1);

// The header of an .npy of `count` float32 in one axis.
[[nodiscard]] std::string npy_head(uint64_t count);

}  // namespace msdump::limits
