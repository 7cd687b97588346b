// A table with one value for each enumerator of an enum, whose enumerators count from 0. One with a value too few or too many
// does not compile: a new enumerator would read beyond it.
//
//   constexpr auto kNames = enum_table<Color, std::string_view>("red", "green", "blue");
//   kNames[color]
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace msdump {

// True if the enum has a name for the value: compilers write "(Color)3" for one without.
template <auto kValue>
[[nodiscard]] consteval bool is_enumerator() {
  constexpr std::string_view kName = "kValue = ";
  const std::string_view function = __PRETTY_FUNCTION__;
  return function[function.find(kName) + kName.size()] != '(';
}

template <class Enum, class Value, size_t kSize>
struct EnumTable {
  std::array<Value, kSize> values;
  [[nodiscard]] constexpr const Value& operator[](Enum key) const { return values[static_cast<size_t>(key)]; }
};

template <class Enum, class Value, class... Values>
[[nodiscard]] consteval EnumTable<Enum, Value, sizeof...(Values)> enum_table(Values... values) {
  static_assert(is_enumerator<static_cast<Enum>(sizeof...(Values) - 1)>(), "more values than enumerators");
  static_assert(!is_enumerator<static_cast<Enum>(sizeof...(Values))>(), "an enumerator has no value");
  return {{Value(values)...}};
}

}  // namespace msdump
