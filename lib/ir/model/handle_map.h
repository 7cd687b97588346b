// HandleMap: from a handle of an InternPool, or any other number but 0, to an index. Lookups are one probe in a flat
// table: there are several for each operator.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace msdump {

class HandleMap {
 public:
  [[nodiscard]] std::optional<uint32_t> find(uint32_t key) const {
    if (slots_.empty()) return std::nullopt;
    const Slot& slot = slots_[place(key)];
    if (slot.key == 0) return std::nullopt;
    return slot.value;
  }

  // A key that is there takes the new value.
  void set(uint32_t key, uint32_t value) {
    if (size_ * 2 >= slots_.size()) grow();
    Slot& slot = slots_[place(key)];
    if (slot.key == 0) ++size_;
    slot = {key, value};
  }

  void clear() {
    slots_.clear();
    size_ = 0;
  }

 private:
  struct Slot {
    uint32_t key = 0;
    uint32_t value = 0;
  };

  // Where the key is, or would be put.
  [[nodiscard]] size_t place(uint32_t key) const {
    const size_t mask = slots_.size() - 1;
    size_t i = static_cast<size_t>((key * uint64_t{0x9e3779b97f4a7c15}) >> 32) & mask;
    while (slots_[i].key != key && slots_[i].key != 0) i = (i + 1) & mask;
    return i;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key != 0) slots_[place(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two of them
  size_t size_ = 0;
};

}  // namespace msdump
