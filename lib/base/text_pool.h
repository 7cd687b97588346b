// TextPool: an arena in which equal texts are kept once. The ranks of a dump have the same names of operators, and the tensors of
// an operator have its name.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/containers.h"
#include "base/text.h"

namespace msdump {

class TextPool {
 public:
  // A copy of `text`, which may be that of an earlier call.
  std::string_view share(std::string_view text) {
    const auto same = [&](uint32_t other) { return texts_[other] == text; };
    const uint32_t number = numbers_.find_or_add(text_hash(text), static_cast<uint32_t>(texts_.size()), same);
    if (number == texts_.size()) texts_.push_back(arena_.keep(text));
    return texts_[number];
  }
  // A copy of a text that hardly repeats.
  std::string_view keep(std::string_view text) { return arena_.keep(text); }

  // The texts alone, at the same addresses.
  [[nodiscard]] TextArena take() && { return std::move(arena_); }

 private:
  TextArena arena_;
  HashSlots numbers_;
  std::vector<std::string_view> texts_;
};

}  // namespace msdump
