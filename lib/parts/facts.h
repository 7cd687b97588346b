// Facts: the outcomes of units of work that processes share (--shard), and their bytes. A struct lists its members once, for both
// directions:
//
//   void fields(auto& visit, FieldsOf<Note> auto& value) { MSDUMP_FIELDS(dtype, shape, text); }
//
// The list names every member in the order of declaration. It is a structured binding: a list without a new member does not compile.
// An enum has `constexpr E last_of(E)`, and values beyond it are refused.
//
//   whole number   7 bits a byte, the lowest first; signed ones alternate (0, -1, 1, -2, ..)
//   bool, enum     as a whole number             double, float   8 or 4 bytes of IEEE 754, little-endian: exact
//   text, list     length, then the content      optional        0, or 1 and the value
//   Value          which alternative, then its content; lists nest at most kDeepestValue times
//
// Decoding is for untrusted bytes: nothing is allocated before the bytes for it are there, and an error says at which byte.
#pragma once

#include <bit>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "report/value.h"

#define MSDUMP_FIELDS(...) \
  auto& [__VA_ARGS__] = value; \
  visit(__VA_ARGS__)

namespace msdump {

inline constexpr int kDeepestValue = 8;

// The struct, to be written, or the same to be filled.
template <class T, class Of>
concept FieldsOf = std::same_as<std::remove_const_t<T>, Of>;

constexpr ErrorCode last_of(ErrorCode) { return ErrorCode::kInternal; }
void fields(auto& visit, FieldsOf<Error> auto& value) { MSDUMP_FIELDS(code, message, path, tensor, offset, hint); }

class FactWriter {
 public:
  void operator()(const auto&... members) { (put(members), ...); }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

  void put(bool value) { put_number(value ? 1 : 0); }
  template <std::unsigned_integral T>
  void put(T value) {
    put_number(value);
  }
  template <std::signed_integral T>
  void put(T value) {
    const auto wide = static_cast<int64_t>(value);
    put_number((static_cast<uint64_t>(wide) << 1) ^ static_cast<uint64_t>(wide >> 63));
  }
  template <class T>
  requires std::is_enum_v<T>
  void put(T value) { put_number(static_cast<uint64_t>(value)); }
  void put(double value) { put_fixed(std::bit_cast<uint64_t>(value), 8); }
  void put(float value) { put_fixed(std::bit_cast<uint32_t>(value), 4); }
  void put(const std::string& text) {
    put_number(text.size());
    bytes_ += text;
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class T>
  void put(const std::vector<T>& list) {
    put_number(list.size());
    for (const T& one : list) put(one);
  }
  void put(const report::Value& value);
  template <class T>
  requires std::is_class_v<T>
  void put(const T& value) { fields(*this, value); }

  void put_number(uint64_t value);

 private:
  void put_fixed(uint64_t bits, int bytes);

  std::string bytes_;
};

class FactReader {
 public:
  explicit FactReader(std::string_view bytes) : bytes_(bytes) {}

  void operator()(auto&... members) { (get(members), ...); }
  // False after the first error; values that are read later stay as they are.
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] size_t position() const { return at_; }
  [[nodiscard]] size_t remaining() const { return bytes_.size() - at_; }
  // An error unless all bytes were read without one.
  [[nodiscard]] Status finish() const;

  void get(bool& value) {
    uint64_t number = 0;
    if (get_number(number) && accept(number <= 1)) value = number == 1;
  }
  template <std::unsigned_integral T>
  void get(T& value) {
    uint64_t number = 0;
    if (get_number(number) && accept(number <= std::numeric_limits<T>::max())) value = static_cast<T>(number);
  }
  template <std::signed_integral T>
  void get(T& value) {
    uint64_t number = 0;
    if (!get_number(number)) return;
    const auto wide = static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1);
    if (accept(wide >= std::numeric_limits<T>::min() && wide <= std::numeric_limits<T>::max()))
      value = static_cast<T>(wide);
  }
  template <class T>
  requires std::is_enum_v<T>
  void get(T& value) {
    uint64_t number = 0;
    if (get_number(number) && accept(number <= static_cast<uint64_t>(last_of(T())))) value = static_cast<T>(number);
  }
  void get(double& value) {
    uint64_t bits = 0;
    if (get_fixed(bits, 8)) value = std::bit_cast<double>(bits);
  }
  void get(float& value) {
    uint64_t bits = 0;
    if (get_fixed(bits, 4)) value = std::bit_cast<float>(static_cast<uint32_t>(bits));
  }
  void get(std::string& text);
  template <class T>
  void get(std::optional<T>& value) {
    bool known = false;
    get(known);
    if (!good_ || !known) return;
    T held{};
    get(held);
    if (good_) value = std::move(held);
  }
  template <class T>
  void get(std::vector<T>& list) {
    uint64_t count = 0;
    if (!get_number(count) || !accept(count <= remaining())) return;  // no element takes less than a byte
    for (uint64_t i = 0; i < count && good_; ++i) {
      T held{};
      get(held);
      if (good_) list.push_back(std::move(held));
    }
  }
  void get(report::Value& value) { get_value(value, kDeepestValue); }
  template <class T>
  requires std::is_class_v<T>
  void get(T& value) { fields(*this, value); }

  bool get_number(uint64_t& value);
  // The next `count` bytes; empty if there are fewer.
  std::string_view get_bytes(uint64_t count);

 private:
  bool accept(bool right) { return good_ = good_ && right; }
  bool get_fixed(uint64_t& bits, int bytes);
  void get_value(report::Value& value, int depth);

  std::string_view bytes_;
  size_t at_ = 0;
  bool good_ = true;
};

template <class T>
[[nodiscard]] std::string encode_result(const Result<T>& result) {
  FactWriter writer;
  writer.put(result.has_value());
  if (result) {
    writer.put(*result);
  } else {
    writer.put(result.error());
  }
  return writer.take();
}

// The result that was encoded, which may be an error; an error of its own for other bytes.
template <class T>
[[nodiscard]] Result<T> decode_result(std::string_view bytes) {
  FactReader reader(bytes);
  bool has_value = false;
  T value{};
  Error error;
  reader.get(has_value);
  if (has_value) {
    reader.get(value);
  } else {
    reader.get(error);
  }
  MSDUMP_CHECK_OK(reader.finish());
  if (!has_value) return fail(std::move(error));
  return value;
}

// The kind of unit that a fact is about; the numbers are in files.
enum class FactKind : uint8_t {
  kStatistics = 1,  // of a tensor: file, item
  kConverted = 3,   // the outcome of an input of convert: its number
  kPair = 4,        // a pair of diff: its number
  kRecomputed = 5,  // the judgement of an execution: its number, the traits of the device
};
[[nodiscard]] constexpr bool is_fact_kind(uint8_t number) { return number == 1 || (number >= 3 && number <= 5); }

// Numbers are those of the catalogue, which is the same wherever it is made.
struct FactKey {
  FactKind kind = FactKind::kStatistics;
  uint32_t first = 0, second = 0;
  auto operator<=>(const FactKey&) const = default;
};

// The outcomes of units of work (a tensor, a pair, a file). A run that does a share of the units keeps them here (part_file.h); the
// run that merges finds them here. A unit without a fact is worked on as always, so the result never depends on the facts.
class FactStore {
 public:
  virtual ~FactStore() = default;
  // Thread-safe. The text is valid as long as the store.
  [[nodiscard]] virtual std::optional<std::string_view> find(const FactKey& key) const = 0;
  virtual void keep(const FactKey& key, std::string bytes) = 0;
};

// The result of `work`: that of the store if it has one, else it is kept there. Interrupted work has no result to keep.
template <class T, class Work>
[[nodiscard]] Result<T> recorded(FactStore* store, const FactKey& key, const Work& work) {
  if (store == nullptr) return work();
  if (const auto known = store->find(key)) return decode_result<T>(*known);
  Result<T> result = work();
  if (result || result.error().code != ErrorCode::kCancelled) store->keep(key, encode_result(result));
  return result;
}

}  // namespace msdump
