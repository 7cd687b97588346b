// InternPool: texts and lists of numbers, each kept once and named by a handle of four bytes.
//
// An IR of a million operators repeats a few thousand scopes, types and source lines; texts that do not repeat (debug
// names) are kept without a look-up. A text costs its bytes, four for the length, and the padding to a multiple of
// four. The look-up table, some sixteen bytes a text, exists only while the pool grows.
//
// Handles address 16 GiB of texts. Beyond that intern() and keep() return the empty text, and full() is true.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash_slots.h"

namespace msdump {

enum class Text : uint32_t { kEmpty = 0 };
enum class List : uint32_t { kEmpty = 0 };

class InternPool {
 public:
  // Equal texts have equal handles.
  Text intern(std::string_view text) { return Text{find_or_add(text)}; }
  List intern(std::span<const uint32_t> numbers);

  // Stores a text without a look-up: its handle is new, and a later intern() of the same text returns another one.
  Text keep(std::string_view text) { return Text{add(text)}; }

  // Valid as long as the pool, even if the pool is moved.
  [[nodiscard]] std::string_view view(Text text) const { return at(static_cast<uint32_t>(text)); }
  [[nodiscard]] std::span<const uint32_t> view(List list) const;

  // No intern() after this: frees the look-up table.
  void close() { slots_.reset(); }

  [[nodiscard]] bool full() const { return full_; }
  [[nodiscard]] uint64_t memory() const { return chunk_bytes_ + (slots_ ? slots_->memory() : 0); }

 private:
  static constexpr uint32_t kChunkWords = uint32_t{1} << 14;  // 64 KiB; a longer text takes several adjacent ones

  uint32_t find_or_add(std::string_view text);
  uint32_t add(std::string_view text);
  [[nodiscard]] std::string_view at(uint32_t handle) const;

  std::vector<std::unique_ptr<uint32_t[]>> owned_;
  std::vector<uint32_t*> chunks_;
  std::optional<HashSlots> slots_;  // of the texts that are looked up
  uint32_t free_words_ = 0;         // at the end of the last chunk
  uint64_t chunk_bytes_ = 0;
  bool full_ = false;
};

// A 64-bit hash that differs in each process: nobody can prepare texts that collide.
[[nodiscard]] uint64_t hash_bytes(std::string_view bytes);

}  // namespace msdump
