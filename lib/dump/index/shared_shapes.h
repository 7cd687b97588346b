// SharedShapes keeps each shape once, at a stable address. A dump of a million tensors has a few hundred shapes.
#pragma once

#include <cstdint>
#include <deque>

#include "base/hash_slots.h"
#include "tensor/shape.h"

namespace msdump {

class SharedShapes {
 public:
  static constexpr uint32_t kNone = HashSlots::kNone;

  // The number of a shape; they count from 0.
  uint32_t number_of(const Shape& shape) {
    uint64_t hash = shape.size();
    for (const int64_t dim : shape) hash = mix_hash(hash, static_cast<uint64_t>(dim));
    const auto same = [&](uint32_t other) { return shapes_[other] == shape; };
    const uint32_t number = numbers_.find_or_add(mix_hash(hash, 0), static_cast<uint32_t>(shapes_.size()), same);
    if (number == shapes_.size()) shapes_.push_back(shape);
    return number;
  }
  // Valid as long as this object, even if it is moved.
  [[nodiscard]] const Shape* shape(uint32_t number) const { return &shapes_[number]; }
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(shapes_.size()); }

 private:
  std::deque<Shape> shapes_;
  HashSlots numbers_;
};

}  // namespace msdump
