// HandleMap maps a handle of an InternPool, or any other non-zero number, to an index.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/hash_slots.h"

namespace msdump {

class HandleMap {
 public:
  [[nodiscard]] std::optional<uint32_t> find(uint32_t key) const {
    const uint32_t at = slots_.find(hash(key), kSame);
    return at == HashSlots::kNone ? std::nullopt : std::optional(values_[at]);
  }

  // Replaces the value of an existing key.
  void set(uint32_t key, uint32_t value) {
    const uint32_t at = slots_.find_or_add(hash(key), static_cast<uint32_t>(values_.size()), kSame);
    if (at == values_.size()) values_.push_back(value);
    values_[at] = value;
  }

 private:
  // HashSlots compares the upper half itself, so equal hashes are equal keys.
  static constexpr uint64_t hash(uint32_t key) { return uint64_t{key} << 32; }
  static constexpr auto kSame = [](uint32_t) { return true; };

  HashSlots slots_;
  std::vector<uint32_t> values_;
};

}  // namespace msdump
