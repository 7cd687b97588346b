// Index<Tag>: the position of one kind of thing (a tensor, an operator, a file) in its list. It converts to its number, so
// that it subscripts a vector. No number and no index of another kind converts to it.
//
//   using TensorId = Index<struct TensorTag>;
//   for (TensorId tensor{0}; tensor < facts.size(); ++tensor) use(facts[tensor]);
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace msdump {

// kNoId is the index of nothing, of whatever kind: a tensor that was not dumped, the producer of an input of the network.
struct None {};
inline constexpr None kNoId;

template <class Tag>
class Index {
 public:
  constexpr Index() = default;  // none
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Index(None) {}
  template <class Other>
  Index(Index<Other>) = delete;  // not even in a comparison
  template <std::integral T>
  constexpr explicit Index(T value) : value_(static_cast<uint32_t>(value)) {}

  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr operator uint32_t() const { return value_; }
  explicit operator bool() const = delete;  // 0 is an index, too

  constexpr auto operator<=>(const Index&) const = default;  // none comes last
  constexpr Index& operator++() {
    ++value_;
    return *this;
  }
  constexpr Index operator--(int) { return Index(value_--); }

 private:
  uint32_t value_ = UINT32_MAX;
};

}  // namespace msdump

template <class Tag>
struct std::hash<msdump::Index<Tag>> {
  [[nodiscard]] size_t operator()(msdump::Index<Tag> id) const noexcept { return std::hash<uint32_t>()(id); }
};
