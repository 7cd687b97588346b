#include "base/containers.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace msdump {

uint64_t text_hash(std::string_view text) {
  constexpr uint64_t kFactor = 0x9E37'79B9'7F4A'7C15;
  uint64_t hash = text.size() * kFactor;
  const auto mix = [&](uint64_t word) {
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 32;
  };
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    mix(word);
  }
  uint64_t last = 0;
  if (at < text.size()) std::memcpy(&last, text.data() + at, text.size() - at);
  mix(last);
  return hash * kFactor;
}

void HashSlots::grow() {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
  for (const Slot& slot : old) {
    if (slot.index == kNone) continue;
    size_t at = place_of(uint64_t{slot.tag} << 32);
    while (slots_[at].index != kNone) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

std::vector<Error> errors_of(const ProblemList& problems, size_t most) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(most, problems.size()));
  std::vector<Error> errors(problems.begin(), problems.begin() + shown);
  const uint64_t more = problems.count() - errors.size();
  if (more == 0 || errors.empty()) return errors;
  errors.push_back(make_error(errors.back().code, "{} more like these", more).with_path(errors.back().path));
  return errors;
}

}  // namespace msdump
