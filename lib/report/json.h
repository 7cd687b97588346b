// Values as JSON text on one line, without blanks.
//
//   unprintable characters   are escaped (is_unprintable in base/text.h), so that a terminal can show a document
//   other UTF-8              is kept
//   other bytes              become the lone surrogate \udcXX, which Python's "surrogateescape" reads back
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "report/value.h"

namespace msdump::report {

void append_json(std::string& into, const Value& value);
void append_json(std::string& into, const Object& object);
void append_json_string(std::string& into, std::string_view text);

// An object that is written as it is filled: what Object has to fill it, without an Object. Keys are plain, as those of a program
// are: letters, digits and underscores.
class JsonObject {
 public:
  explicit JsonObject(std::string& into) : into_(into) { into_ += '{'; }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;
  ~JsonObject() { into_ += '}'; }

  template <class T>
  JsonObject& add(std::string_view key, const T& value) {
    if constexpr (std::same_as<T, Value>) {
      append_member(key, value);
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
      begin_member(key, false);
      append_json_string(into_, value);
    } else if constexpr (requires { value.has_value(); }) {
      value.has_value() ? add(key, *value) : add(key, Value());
    } else {
      append_member(key, Value(value));
    }
    return *this;
  }
  template <class Fill>
  JsonObject& object(std::string_view key, const Fill& fill) {
    begin_member(key, false);
    JsonObject inner(into_);
    fill(inner);
    return *this;
  }
  void add_members(const Object& object) {
    for (const Member& member : object.members()) append_member(member.key, member.value);
  }
  void reserve(size_t /*members*/) const {}

 private:
  void begin_member(std::string_view key, bool is_null);
  void append_member(std::string_view key, const Value& value);

  std::string& into_;
  bool first_ = true;
};

// Text in CSV: a byte that is not UTF-8 becomes the same six characters \udcXX. A NUL becomes \u0000, because readers of
// CSV stop at it. All else is kept.
[[nodiscard]] std::string surrogate_escaped(std::string_view text);

}  // namespace msdump::report
