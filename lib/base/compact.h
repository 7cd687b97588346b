// Values that take little memory where there is one for each tensor of a dump.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace msdump {

// CompactOptional: a std::optional of eight bytes. One value stands for none: the number beside the largest unsigned or the
// smallest signed one (damaged files have the ends themselves), and a NaN that no arithmetic makes.
template <class T>
class CompactOptional {
 public:
  constexpr CompactOptional() = default;
  // NOLINTBEGIN(google-explicit-constructor): the same as a std::optional in another form
  constexpr CompactOptional(std::nullopt_t) {}
  constexpr CompactOptional(T value) : bits_(std::bit_cast<uint64_t>(value)) {}
  constexpr CompactOptional(const std::optional<T>& value) : bits_(value ? std::bit_cast<uint64_t>(*value) : kNone) {}
  constexpr operator std::optional<T>() const { return plain(); }
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] constexpr std::optional<T> plain() const {
    return has_value() ? std::optional<T>(**this) : std::nullopt;
  }
  [[nodiscard]] constexpr bool has_value() const { return bits_ != kNone; }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr T operator*() const { return std::bit_cast<T>(bits_); }
  [[nodiscard]] constexpr T value_or(T other) const { return has_value() ? **this : other; }

  friend constexpr bool operator==(const CompactOptional& a, const CompactOptional& b) {
    return a.has_value() && b.has_value() ? *a == *b : a.has_value() == b.has_value();
  }
  friend constexpr bool operator==(const CompactOptional& a, T b) { return a.has_value() && *a == b; }
  // Without these, the operators of std::optional would compare it with a value, and two unknown values would differ.
  friend constexpr bool operator==(const CompactOptional& a, const std::optional<T>& b) { return a.plain() == b; }
  friend constexpr auto operator<=>(const CompactOptional& a, const CompactOptional& b) {
    return a.plain() <=> b.plain();
  }
  friend constexpr auto operator<=>(const CompactOptional& a, const std::optional<T>& b) { return a.plain() <=> b; }

 private:
  static_assert(sizeof(T) == sizeof(uint64_t));
  static constexpr uint64_t kNone = std::is_same_v<T, int64_t>    ? (uint64_t{1} << 63) + 1
                                    : std::is_same_v<T, uint64_t> ? UINT64_MAX - 1
                                                                  : UINT64_MAX;
  uint64_t bits_ = kNone;
};

// Shared: a value that its copies share. A default-constructed one has the value T() and owns nothing.
template <class T>
class Shared {
 public:
  Shared() = default;
  Shared(T value) {  // NOLINT(google-explicit-constructor)
    if (value != T()) value_ = std::make_shared<const T>(std::move(value));
  }
  // Refers to `value`, which must outlive all copies.
  [[nodiscard]] static Shared of(const T& value) {
    Shared shared;
    shared.value_ = std::shared_ptr<const T>(std::shared_ptr<const T>(), &value);
    return shared;
  }

  [[nodiscard]] const T& operator*() const {
    static const T none{};
    return value_ == nullptr ? none : *value_;
  }
  const T* operator->() const { return &**this; }
  operator const T&() const { return **this; }  // NOLINT(google-explicit-constructor)
  friend bool operator==(const Shared& a, const auto& b) { return *a == b; }

 private:
  std::shared_ptr<const T> value_;
};

// SharedText: a text that outlives it, or one that it owns together with its copies. It reads as a view.
class SharedText {
 public:
  SharedText() = default;
  SharedText(std::string text)  // NOLINT(google-explicit-constructor)
      : owned_(std::make_shared<const std::string>(std::move(text))), view_(*owned_) {}
  // Refers to `text`, which must outlive all copies.
  [[nodiscard]] static SharedText of(std::string_view text) {
    SharedText shared;
    shared.view_ = text;
    return shared;
  }
  [[nodiscard]] std::string_view view() const { return view_; }
  operator std::string_view() const { return view_; }          // NOLINT(google-explicit-constructor)
  operator std::string() const { return std::string(view_); }  // NOLINT(google-explicit-constructor)
  friend bool operator==(const SharedText& one, std::string_view other) { return one.view_ == other; }

 private:
  std::shared_ptr<const std::string> owned_;
  std::string_view view_;
};

}  // namespace msdump
