// TextArena: keeps texts for as long as it lives, packed back to back. A catalogue of a million files has a few million
// short texts (names and parts of names); in an arena each costs only its bytes, and a view of a part of a text needs
// no copy.
#pragma once

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace msdump {

class TextArena {
 public:
  // A copy of `text` that stays where it is until the arena is destroyed, even when the arena is moved.
  std::string_view keep(std::string_view text) {
    if (text.empty()) return {};
    if (text.size() > room_) grow(text.size());
    char* const copy = next_;
    std::memcpy(copy, text.data(), text.size());
    next_ += text.size();
    room_ -= text.size();
    return {copy, text.size()};
  }

  // Takes over the texts of `other`; views of them stay valid.
  void absorb(TextArena&& other) {
    for (std::unique_ptr<char[]>& block : other.blocks_) blocks_.push_back(std::move(block));
    other = TextArena();
  }

 private:
  // Blocks grow with the arena, so many small folders with an arena each cost no more than one large folder.
  static constexpr size_t kFirstBlock = size_t{1} << 10, kLargestBlock = size_t{64} << 10;

  void grow(size_t at_least) {
    const size_t size = at_least > block_ ? at_least : block_;
    if (block_ < kLargestBlock) block_ *= 2;
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    next_ = blocks_.back().get();
    room_ = size;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  size_t room_ = 0, block_ = kFirstBlock;
};

}  // namespace msdump
