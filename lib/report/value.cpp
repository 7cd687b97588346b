#include "report/value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace msdump::report {
namespace {

template <class T>
void append_shortest(std::string& into, T value) {
  if (std::isnan(value)) {
    into += "nan";
    return;
  }
  if (std::isinf(value)) {
    into += value < 0 ? "-inf" : "inf";
    return;
  }
  std::array<char, 64> buffer{};
  const std::to_chars_result end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  const std::string_view text(buffer.data(), static_cast<size_t>(end.ptr - buffer.data()));
  into += text;
  // "-0" and "1" would be read back as integers, "-0" without its sign.
  if (text.find_first_of(".e") == std::string_view::npos) into += ".0";
}

template <class T>
std::string shortest(T value) {
  std::string text;
  append_shortest(text, value);
  return text;
}

}  // namespace

Object::Object() = default;
Object::Object(const Object&) = default;
Object::Object(Object&&) noexcept = default;
Object& Object::operator=(const Object&) = default;
Object& Object::operator=(Object&&) noexcept = default;
Object::~Object() = default;

Object& Object::add(std::string_view key, Value value) {
  constexpr size_t kUsual = 16;
  if (members_.capacity() == 0) members_.reserve(kUsual);
  members_.emplace_back(key, std::move(value));
  return *this;
}

void Object::reserve(size_t members) { members_.reserve(members); }

const Value* Object::find(std::string_view key) const {
  size_t place = 0;
  return find(key, place);
}

const Value* Object::find(std::string_view key, size_t& place) const {
  if (place < members_.size() && members_[place].key == key) return &members_[place].value;
  const std::vector<Member>::const_iterator found =
      std::find_if(members_.begin(), members_.end(), [&](const Member& member) { return member.key == key; });
  if (found == members_.end()) return nullptr;
  place = static_cast<size_t>(found - members_.begin());
  return &found->value;
}

const Value* Object::find_path(std::string_view dotted) const {
  const size_t dot = dotted.find('.');
  const Value* value = find(dotted.substr(0, dot));
  if (dot == std::string_view::npos || value == nullptr) return value;
  const auto* const inner = value->get<Object>();
  return inner == nullptr ? nullptr : inner->find_path(dotted.substr(dot + 1));
}

std::string_view Object::text(std::string_view dotted) const {
  const auto* const found = get<std::string>(dotted);
  return found == nullptr ? std::string_view() : *found;
}

std::optional<int64_t> Object::number(std::string_view dotted) const {
  if (const auto* const found = get<int64_t>(dotted)) return *found;
  const auto* const natural = get<uint64_t>(dotted);
  if (natural == nullptr || *natural > uint64_t{std::numeric_limits<int64_t>::max()}) return std::nullopt;
  return static_cast<int64_t>(*natural);
}

std::string Object::text_or_number(std::string_view dotted) const {
  if (const auto* const found = get<std::string>(dotted)) return *found;
  const std::optional<int64_t> whole = number(dotted);
  return whole ? std::to_string(*whole) : "-";
}

bool Object::empty() const { return members_.empty(); }

bool Value::is_number() const {
  return get<int64_t>() != nullptr || get<uint64_t>() != nullptr || get<float>() != nullptr || get<double>() != nullptr;
}

std::string number_text(double value) { return shortest(value); }
std::string number_text(float value) { return shortest(value); }
void append_number_text(std::string& into, double value) { append_shortest(into, value); }
void append_number_text(std::string& into, float value) { append_shortest(into, value); }

}  // namespace msdump::report
