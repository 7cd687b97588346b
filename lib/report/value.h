// The row model of every report. A Value is the content of a cell or key. An Object keeps its keys in the order in which
// they were added. A Row is an Object. Commands build rows; the writers (row_sink.h) format them.
//
// A float is not widened to double: 0.1F is written "0.1", the shortest text that reads back as the same float. Text is
// bytes and need not be UTF-8; the writers escape what is not.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace msdump::report {

class Value;
struct Member;
using List = std::vector<Value>;

class Object {
 public:
  // Defined in value.cpp: Member is still incomplete here, and clang 14 refuses the implicit ones.
  Object();
  Object(const Object& other);
  Object(Object&& other) noexcept;
  Object& operator=(const Object& other);
  Object& operator=(Object&& other) noexcept;
  ~Object();

  // Duplicate keys are not detected; `add` returns the object so that a row reads as one expression.
  Object& add(std::string_view key, Value value);
  // Moving members to a larger vector costs more than adding them, and reports have many rows.
  void reserve(size_t members);
  [[nodiscard]] const Value* find(std::string_view key) const;  // null when absent
  // The same; tries `place` first and stores the place found, because a report's rows have their keys at the same
  // places.
  [[nodiscard]] const Value* find(std::string_view key, size_t& place) const;
  // "source.line" finds `line` in the object `source`; null when any step is absent or not an object.
  [[nodiscard]] const Value* find_path(std::string_view dotted) const;
  // The same as find_path if the value holds a T, else null.
  template <class T>
  [[nodiscard]] const T* get(std::string_view dotted) const;
  // The text at a dotted key; empty when it is absent or not a text.
  [[nodiscard]] std::string_view text(std::string_view dotted) const;
  // The integer at a dotted key; nothing if it is absent or no integer.
  [[nodiscard]] std::optional<int64_t> number(std::string_view dotted) const;
  // The text, or the digits of a whole number; "-" for anything else.
  [[nodiscard]] std::string text_or_number(std::string_view dotted) const;
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  [[nodiscard]] bool empty() const;

 private:
  std::vector<Member> members_;
};

using Row = Object;

template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

class Value {
 public:
  using Storage = std::variant<std::monostate, bool, int64_t, uint64_t, float, double, std::string, List, Object>;

  Value() = default;  // null
  // Implicit on purpose: row.add("bytes", 12).add("path", path) is what commands write all day.
  // NOLINTBEGIN(google-explicit-constructor)
  Value(std::nullptr_t) {}
  template <std::same_as<bool> T>
  Value(T value) : storage_(value) {}
  template <Integer T>
  Value(T value) : storage_(widen(value)) {}
  Value(float value) : storage_(value) {}
  Value(double value) : storage_(value) {}
  Value(std::string value) : storage_(std::move(value)) {}
  Value(std::string_view value) : storage_(std::string(value)) {}
  Value(const char* value) : storage_(std::string(value)) {}
  Value(List value) : storage_(std::move(value)) {}
  Value(Object value) : storage_(std::move(value)) {}
  template <class T>
  Value(const std::optional<T>& value) {
    if (value.has_value()) storage_ = Value(*value).storage_;
  }
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] const Storage& storage() const { return storage_; }
  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(storage_); }
  [[nodiscard]] bool is_number() const;
  // Null if it holds something else.
  template <class T>
  [[nodiscard]] const T* get() const {
    return std::get_if<T>(&storage_);
  }

 private:
  template <Integer T>
  static Storage widen(T value) {
    if constexpr (std::signed_integral<T>)
      return Storage(static_cast<int64_t>(value));
    else
      return Storage(static_cast<uint64_t>(value));
  }

  Storage storage_;
};

struct Member {
  Member(std::string_view member_key, Value&& member_value) : key(member_key), value(std::move(member_value)) {}
  std::string key;
  Value value;
};

template <class T>
const T* Object::get(std::string_view dotted) const {
  const Value* const value = find_path(dotted);
  return value == nullptr ? nullptr : value->get<T>();
}

// Null for an empty text, which stands for unknown.
[[nodiscard]] inline Value text_or_null(std::string_view text) { return text.empty() ? Value() : Value(text); }

// A list of whatever a Value can be made of: list_of(shape).
template <class Range>
[[nodiscard]] List list_of(const Range& range) {
  List list;
  for (const auto& item : range) list.emplace_back(item);
  return list;
}

// Shortest text that reads back as the same number, always recognisable as a float ("1.0", "1e+30", "-0.0"); "nan",
// "inf" and "-inf" for the rest. What JSON (there in quotes) and CSV print.
[[nodiscard]] std::string number_text(double value);
[[nodiscard]] std::string number_text(float value);
void append_number_text(std::string& into, double value);
void append_number_text(std::string& into, float value);

}  // namespace msdump::report
