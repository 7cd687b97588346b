#include "report/value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace msdump::report {
namespace {

template <class T>
std::string shortest(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 64> buffer{};
  const std::to_chars_result end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string text(buffer.data(), end.ptr);
  // "-0" and "1" would be read back as integers, the first one without its sign.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

Object::Object() = default;
Object::Object(const Object&) = default;
Object::Object(Object&&) noexcept = default;
Object& Object::operator=(const Object&) = default;
Object& Object::operator=(Object&&) noexcept = default;
Object::~Object() = default;

Object& Object::add(std::string key, Value value) {
  constexpr size_t kUsual = 16;
  if (members_.empty()) members_.reserve(kUsual);
  members_.push_back({std::move(key), std::move(value)});
  return *this;
}

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
  const Object* inner = std::get_if<Object>(&value->storage());
  return inner == nullptr ? nullptr : inner->find_path(dotted.substr(dot + 1));
}

bool Object::empty() const { return members_.empty(); }

bool Value::is_number() const {
  return std::holds_alternative<int64_t>(storage_) || std::holds_alternative<uint64_t>(storage_) ||
         std::holds_alternative<float>(storage_) || std::holds_alternative<double>(storage_);
}

std::string number_text(double value) { return shortest(value); }
std::string number_text(float value) { return shortest(value); }

}  // namespace msdump::report
