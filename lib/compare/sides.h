// Side: the candidate or the reference of a comparison. Sides: one value for each.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace msdump {

enum class Side : uint8_t { kCandidate, kReference };
inline constexpr std::array kBothSides = {Side::kCandidate, Side::kReference};

[[nodiscard]] constexpr Side opposite(Side side) {
  return side == Side::kCandidate ? Side::kReference : Side::kCandidate;
}

[[nodiscard]] constexpr std::string_view name_of(Side side) {
  return side == Side::kCandidate ? "candidate" : "reference";
}

// `a` is the candidate's, `b` the reference's.
template <class T>
struct Sides {
  T a, b;

  [[nodiscard]] constexpr T& operator[](Side side) { return side == Side::kCandidate ? a : b; }
  [[nodiscard]] constexpr const T& operator[](Side side) const { return side == Side::kCandidate ? a : b; }
  bool operator==(const Sides&) const = default;
};

// `own` for the side, `other` for the opposite one.
template <class T>
[[nodiscard]] constexpr Sides<T> sides_from(Side side, T own, T other) {
  return side == Side::kCandidate ? Sides<T>{std::move(own), std::move(other)}
                                  : Sides<T>{std::move(other), std::move(own)};
}

}  // namespace msdump
