// PackedMetrics: PairMetrics without the members that have no value. Statistics have eight of the thirty-one, and a pair of
// statistics is all that is kept of two rows: of a thousand ranks there are many.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

#include "kernels/pair/pair.h"
#include "parts/facts.h"

namespace msdump {

class PackedMetrics {
 public:
  PackedMetrics() = default;
  PackedMetrics(const PackedMetrics& other) : values_(copy_of(other)), present_(other.present_) {}
  PackedMetrics(PackedMetrics&&) noexcept = default;
  PackedMetrics& operator=(const PackedMetrics& other) {
    values_ = copy_of(other);
    present_ = other.present_;
    return *this;
  }
  PackedMetrics& operator=(PackedMetrics&&) noexcept = default;
  ~PackedMetrics() = default;
  PackedMetrics(const kernels::PairMetrics& metrics) {  // NOLINT(google-explicit-constructor): the same in another form
    for_each(metrics, [&](auto member, uint32_t bit) { present_ |= has_value(member) ? bit : 0U; });
    if (present_ == 0) return;
    values_ = std::make_unique_for_overwrite<uint64_t[]>(count());
    uint64_t* next = values_.get();
    for_each(metrics, [&](auto member, uint32_t) {
      if (has_value(member)) *next++ = bits_of(member);
    });
  }
  operator kernels::PairMetrics() const {  // NOLINT(google-explicit-constructor)
    kernels::PairMetrics metrics;
    const uint64_t* next = values_.get();
    for_each(metrics, [&](auto& member, uint32_t bit) {
      if ((present_ & bit) != 0) set_bits(member, *next++);
    });
    return metrics;
  }

  // All members, for one expression: `diff.metrics->max_abs`.
  class Unpacked {
   public:
    explicit Unpacked(const kernels::PairMetrics& metrics) : metrics_(metrics) {}
    const kernels::PairMetrics* operator->() const { return &metrics_; }

   private:
    kernels::PairMetrics metrics_;
  };
  Unpacked operator->() const { return Unpacked(*this); }

 private:
  // visit(member, bit) for each member, in the order of visit_members().
  static void for_each(auto& metrics, const auto& visit) {
    uint32_t bit = 1;
    const auto each = [&](auto&... members) { ((visit(members, bit), bit <<= 1), ...); };
    kernels::visit_members(each, metrics);
  }
  [[nodiscard]] size_t count() const { return static_cast<size_t>(std::popcount(present_)); }
  static std::unique_ptr<uint64_t[]> copy_of(const PackedMetrics& other) {
    if (other.present_ == 0) return nullptr;
    auto copy = std::make_unique_for_overwrite<uint64_t[]>(other.count());
    std::copy_n(other.values_.get(), other.count(), copy.get());
    return copy;
  }
  static bool has_value(uint64_t count) { return count != 0; }
  template <class T>
  static bool has_value(const std::optional<T>& value) {
    return value.has_value();
  }
  static uint64_t bits_of(uint64_t value) { return value; }
  template <class T>
  static uint64_t bits_of(const std::optional<T>& value) {
    return std::bit_cast<uint64_t>(*value);
  }
  static void set_bits(uint64_t& value, uint64_t bits) { value = bits; }
  template <class T>
  static void set_bits(std::optional<T>& value, uint64_t bits) {
    value = std::bit_cast<T>(bits);
  }

  std::unique_ptr<uint64_t[]> values_;  // of the members that have one, in their order
  uint32_t present_ = 0;                // a bit for each member
};

// As the facts of PairMetrics: parts do not depend on how a run keeps them in memory.
void fields(auto& visit, FieldsOf<PackedMetrics> auto& value) {
  kernels::PairMetrics metrics = value;
  kernels::visit_members(visit, metrics);
  if constexpr (!std::is_const_v<std::remove_reference_t<decltype(value)>>) value = metrics;
}

}  // namespace msdump
