#include "parts/facts.h"

#include <variant>

namespace msdump {
namespace {

// The alternatives of a Value that a fact may hold. The numbers are in files.
enum Alternative : uint64_t { kNull, kBool, kSigned, kUnsigned, kFloat, kDouble, kText, kList };

}  // namespace

void FactWriter::put_number(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
  bytes_ += static_cast<char>(value);
}

void FactWriter::put_fixed(uint64_t bits, int bytes) {
  for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>((bits >> (8 * i)) & 0xFF);
}

void FactWriter::put(const report::Value& value) {
  const auto put_as = [this](Alternative which, const auto& content) {
    put_number(which);
    put(content);
  };
  const auto& storage = value.storage();
  if (const auto* const truth = std::get_if<bool>(&storage)) return put_as(kBool, *truth);
  if (const auto* const number = std::get_if<int64_t>(&storage)) return put_as(kSigned, *number);
  if (const auto* const number = std::get_if<uint64_t>(&storage)) return put_as(kUnsigned, *number);
  if (const auto* const number = std::get_if<float>(&storage)) return put_as(kFloat, *number);
  if (const auto* const number = std::get_if<double>(&storage)) return put_as(kDouble, *number);
  if (const auto* const text = std::get_if<std::string>(&storage)) return put_as(kText, *text);
  if (const auto* const list = std::get_if<report::List>(&storage)) return put_as(kList, *list);
  put_number(kNull);
}

bool FactReader::get_number(uint64_t& value) {
  uint64_t number = 0;
  for (unsigned shift = 0; accept(at_ < bytes_.size() && shift < 64); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes_[at_++]);
    // The tenth byte has room for one bit.
    if (!accept(shift < 63 || byte <= 1)) return false;
    number |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte >= 0x80) continue;
    value = number;
    return true;
  }
  return false;
}

bool FactReader::get_fixed(uint64_t& bits, int bytes) {
  const std::string_view text = get_bytes(static_cast<uint64_t>(bytes));
  if (!good_) return false;
  bits = 0;
  for (int i = 0; i < bytes; ++i)
    bits |= static_cast<uint64_t>(static_cast<uint8_t>(text[static_cast<size_t>(i)])) << (8 * i);
  return true;
}

std::string_view FactReader::get_bytes(uint64_t count) {
  if (!accept(count <= remaining())) return {};
  const std::string_view text = bytes_.substr(at_, static_cast<size_t>(count));
  at_ += static_cast<size_t>(count);
  return text;
}

void FactReader::get(std::string& text) {
  uint64_t length = 0;
  if (!get_number(length)) return;
  const std::string_view read = get_bytes(length);
  if (good_) text = read;
}

void FactReader::get_value(report::Value& value, int depth) {
  uint64_t which = 0;
  if (!get_number(which) || !accept(which <= kList)) return;
  const auto take = [&]<class T>(T held) {
    get(held);
    if (good_) value = report::Value(std::move(held));
  };
  switch (static_cast<Alternative>(which)) {
    case kNull: value = report::Value(); return;
    case kBool: return take(false);
    case kSigned: return take(int64_t{0});
    case kUnsigned: return take(uint64_t{0});
    case kFloat: return take(0.0F);
    case kDouble: return take(0.0);
    case kText: return take(std::string());
    case kList: break;
  }
  uint64_t count = 0;
  if (!accept(depth > 0) || !get_number(count) || !accept(count <= remaining())) return;
  report::List list;
  for (uint64_t i = 0; i < count && good_; ++i) get_value(list.emplace_back(), depth - 1);
  if (good_) value = report::Value(std::move(list));
}

Status FactReader::finish() const {
  if (good_ && remaining() == 0) return {};
  return fail(make_error(ErrorCode::kBadHeader, "{} of a fact", good_ ? "bytes after the end" : "unexpected bytes")
                  .with_offset(at_));
}

}  // namespace msdump
