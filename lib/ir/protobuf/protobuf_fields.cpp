#include "ir/protobuf/protobuf_fields.h"

namespace msdump {
namespace {

constexpr uint64_t kMaxTag = UINT32_MAX;

}  // namespace

std::optional<uint64_t> ProtobufFields::varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ == message_.size()) {
      state_ = State::kCut;
      return std::nullopt;
    }
    const auto byte = static_cast<uint8_t>(message_[at_++]);
    value |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  state_ = State::kDamaged;
  return std::nullopt;
}

bool ProtobufFields::fixed(size_t size, ProtobufField& field) {
  if (message_.size() - at_ < size) {
    state_ = State::kCut;
    return false;
  }
  for (size_t i = 0; i < size; ++i) field.value |= uint64_t{static_cast<uint8_t>(message_[at_ + i])} << (8 * i);
  at_ += size;
  return true;
}

std::optional<ProtobufField> ProtobufFields::next() {
  if (at_ == message_.size() || state_ != State::kGood) return std::nullopt;
  ProtobufField field;
  field.offset = offset_ = at_;
  const auto tag = varint();
  if (!tag) return std::nullopt;
  field.number = static_cast<uint32_t>((*tag & kMaxTag) >> 3);
  const auto wire_type = *tag & 7;
  if (*tag > kMaxTag || field.number == 0) {
    state_ = State::kDamaged;
    return std::nullopt;
  }
  if (wire_type == 1 || wire_type == 5) {
    if (!fixed(wire_type == 1 ? 8 : 4, field)) return std::nullopt;
    return field;
  }
  if (wire_type != 0 && wire_type != 2) {
    state_ = State::kDamaged;
    return std::nullopt;
  }
  const auto number = varint();
  if (!number) return std::nullopt;
  if (wire_type == 0) {
    field.value = *number;
    return field;
  }
  field.is_bytes = true;
  field.cut = *number > message_.size() - at_;
  if (field.cut) state_ = State::kCut;
  field.bytes = message_.substr(at_, field.cut ? std::string_view::npos : static_cast<size_t>(*number));
  at_ += field.bytes.size();
  return field;
}

std::optional<std::string_view> find_field(std::string_view message, uint32_t number) {
  std::optional<std::string_view> found;
  ProtobufFields fields(message);
  while (const auto field = fields.next()) {
    if (field->number == number && field->is_bytes && !field->cut) found = field->bytes;
  }
  return found;
}

}  // namespace msdump
