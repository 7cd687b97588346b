// The fields of a protobuf message in order, without a schema: for messages that are cut, and for reading a few bytes
// of a large one. Groups, which no IR has, are damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace msdump {

struct ProtobufField {
  uint32_t number = 0;
  bool is_bytes = false;   // length-delimited: bytes, strings, messages
  bool cut = false;        // it extends past the end of the message
  std::string_view bytes;  // a view of the message
  uint64_t value = 0;      // of a number
  size_t offset = 0;       // where its tag begins in the message
};

class ProtobufFields {
 public:
  enum class State : uint8_t { kGood, kCut, kDamaged };

  explicit ProtobufFields(std::string_view message) : message_(message) {}

  // The next field; nothing at the end, and where fields can no longer be recognised: see state().
  std::optional<ProtobufField> next();

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] size_t offset() const { return offset_; }  // of the last field that was begun

 private:
  std::optional<uint64_t> varint();
  bool fixed(size_t size, ProtobufField& field);

  std::string_view message_;
  size_t at_ = 0, offset_ = 0;
  State state_ = State::kGood;
};

// The bytes of the last field of this number, the one that protobuf uses; nothing if there is none.
[[nodiscard]] std::optional<std::string_view> find_field(std::string_view message, uint32_t number);

}  // namespace msdump
