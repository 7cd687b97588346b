// InternPool: texts and lists of numbers, each kept once and named by a handle of four bytes.
//
// An IR of a million operators repeats a few thousand scopes, types and source lines; what does not repeat (debug
// names) is kept without a look-up. A text costs its bytes, four for the length and what rounds it up to four; a table
// to look it up, some sixteen bytes a text, is there only while the pool grows.
//
// Handles reach 16 GiB of texts. Beyond, intern() and keep() give the empty text and full() says so.
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

  // A text that is not looked up: its handle is new, and a later intern() of the same text gives another one.
  Text keep(std::string_view text) { return Text{add(text)}; }

  // Valid as long as the pool, also when it is moved.
  [[nodiscard]] std::string_view view(Text text) const { return at(static_cast<uint32_t>(text)); }
  [[nodiscard]] std::span<const uint32_t> view(List list) const;

  // No intern() after this; the look-up table is freed.
  void close() { slots_.reset(); }

  [[nodiscard]] bool full() const { return full_; }
  [[nodiscard]] uint64_t memory() const { return chunk_bytes_ + (slots_ ? slots_->memory() : 0); }

 private:
  static constexpr uint32_t kChunkWords = uint32_t{1} << 14;  // 64 KiB; a longer text takes several that are neighbours

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

// Sixty-four bits of any bytes, different in each process: nobody can prepare texts that meet in one slot.
[[nodiscard]] uint64_t hash_bytes(std::string_view bytes);

}  // namespace msdump
