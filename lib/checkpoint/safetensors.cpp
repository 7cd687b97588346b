#include "checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <unordered_set>

#include "base/bytes.h"
#include "base/text.h"
#include "io/json.h"
#include "msprobe/json_text.h"

namespace msdump {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMostHeaderBytes = 100'000'000;
constexpr size_t kMostTensors = 500'000;
constexpr size_t kMostEntryBytes = size_t{64} << 10;
constexpr size_t kMostMetadataBytes = size_t{1} << 20;
constexpr std::string_view kMetadata = "__metadata__";

// No value on overflow, and if the elements do not fill whole bytes.
std::optional<uint64_t> bytes_needed(DType dtype, const Shape& shape) {
  const auto count = element_count(shape);
  const DTypeInfo& row = info(dtype);
  const auto bits =
      count ? checked_mul(*count, int64_t{is_raw(dtype) ? row.traits.packed_bits : row.bits}) : std::nullopt;
  return bits && *bits % 8 == 0 ? std::optional(static_cast<uint64_t>(*bits / 8)) : std::nullopt;
}

std::optional<uint64_t> header_length(std::span<const std::byte> head) {
  return head.size() < kLengthBytes ? std::nullopt : std::optional(load<uint64_t>(head.data()));
}

class HeaderReader {
 public:
  HeaderReader(std::string_view text, uint64_t file_size)
      : text_(text), data_begin_(kLengthBytes + text.size()), data_bytes_(file_size - data_begin_) {}

  Result<SafeTensors> run() {
    if (!text_.starts_with('{')) return fail(bad("", "the header does not begin with '{'"));
    JsonMemberReader members(text_, 0);
    for (;;) {
      MSDUMP_TRY(const auto member, members.next());
      if (!member) break;
      MSDUMP_CHECK_OK(member->key == kMetadata ? metadata(*member) : tensor(*member));
    }
    MSDUMP_CHECK_OK(members.check_end());
    MSDUMP_CHECK_OK(check_places());
    return std::move(result_);
  }

 private:
  static Error bad(std::string_view name, std::string_view what) {
    return make_error(ErrorCode::kBadHeader, "{}{}{}", name.empty() ? "" : excerpt(name), name.empty() ? "" : ": ",
                      what);
  }

  [[nodiscard]] Result<JsonValue> value_of(const JsonMemberPlace& member, size_t most) const {
    constexpr size_t kMostDepth = 4;
    if (member.end - member.begin <= most && member.depth <= kMostDepth)
      return parse_json_at(text_, member.begin, member.end);
    return fail(
        make_error(ErrorCode::kTooLarge, "{}: an entry of {} bytes", excerpt(member.key), member.end - member.begin));
  }

  Status metadata(const JsonMemberPlace& member) {
    MSDUMP_TRY(const JsonValue value, value_of(member, kMostMetadataBytes));
    if (!value.is(JsonKind::kObject)) return fail(bad(kMetadata, "expected an object"));
    for (const JsonMember& pair : value.members) result_.metadata.emplace_back(pair.key, pair.value.text);
    return {};
  }

  Status tensor(const JsonMemberPlace& member) {
    if (result_.tensors.size() == kMostTensors) return fail(ErrorCode::kTooLarge, "more than {} tensors", kMostTensors);
    MSDUMP_TRY(const JsonValue value, value_of(member, kMostEntryBytes));
    if (!names_.insert(member.key).second) return fail(bad(member.key, "the name stands twice in the header"));
    StoredParameter tensor;
    tensor.name = member.key;
    MSDUMP_TRY(tensor.shape, shape_of(member.key, value));
    MSDUMP_CHECK_OK(take_place(value, tensor));
    check_elements(value, tensor);
    result_.tensors.push_back(std::move(tensor));
    return {};
  }

  static Result<Shape> shape_of(std::string_view name, const JsonValue& entry) {
    const JsonValue* const list = entry.find("shape");
    if (list == nullptr || !list->is(JsonKind::kArray) || list->items.size() > kMaxRank)
      return fail(bad(name, "no shape, or one of too many dimensions"));
    Shape shape;
    for (const JsonValue& item : list->items) {
      const auto dim = item.as_int();
      if (!dim || *dim < 0) return fail(bad(name, "a dimension is not a whole number"));
      shape.push_back(*dim);
    }
    return shape;
  }

  Status take_place(const JsonValue& entry, StoredParameter& tensor) const {
    const JsonValue* const list = entry.find("data_offsets");
    const bool pair = list != nullptr && list->is(JsonKind::kArray) && list->items.size() == 2;
    const auto begin = pair ? list->items[0].as_int() : std::nullopt;
    const auto end = pair ? list->items[1].as_int() : std::nullopt;
    if (!begin || !end || *begin < 0 || *end < *begin)
      return fail(bad(tensor.name, "data_offsets is not [BEGIN, END]"));
    const auto offset = checked_add(data_begin_, static_cast<uint64_t>(*begin));
    if (!offset) return fail(bad(tensor.name, "its offset overflows"));
    tensor.offset = *offset;
    tensor.bytes = static_cast<uint64_t>(*end - *begin);
    return {};
  }

  void check_elements(const JsonValue& entry, StoredParameter& tensor) const {
    const JsonValue* const word = entry.find("dtype");
    const std::string_view name = word == nullptr ? "" : std::string_view(word->text);
    const auto dtype = dtype_spelled(name, &DTypeTraits::safetensors);
    tensor.dtype = dtype.value_or(DType::kUndefined);
    tensor.check_elements(name, dtype ? bytes_needed(*dtype, tensor.shape) : std::nullopt, data_begin_ + data_bytes_);
  }

  // An error unless the tensors follow each other without gaps up to the end of the file.
  [[nodiscard]] Status check_places() const {
    const std::vector<StoredParameter>& tensors = result_.tensors;
    std::vector<size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(tensors[a].offset, tensors[a].bytes) < std::pair(tensors[b].offset, tensors[b].bytes);
    });
    uint64_t end = data_begin_;
    for (const size_t i : order) {
      const StoredParameter& tensor = tensors[i];
      if (tensor.offset != end) {
        return fail(bad(tensor.name, tensor.offset < end ? "its elements overlap those of another tensor"
                                                         : "the bytes before its elements belong to no tensor")
                        .with_offset(tensor.offset));
      }
      const auto next = checked_add(tensor.offset, tensor.bytes);
      if (!next) return fail(bad(tensor.name, "its place overflows"));
      end = *next;
    }
    if (end >= data_begin_ + data_bytes_) return {};
    return fail(make_error(ErrorCode::kTrailingBytes, "{} bytes after the last tensor", data_begin_ + data_bytes_ - end)
                    .with_offset(end));
  }

  std::string_view text_;
  uint64_t data_begin_, data_bytes_;
  std::unordered_set<std::string> names_;
  SafeTensors result_;
};

Result<SafeTensors> read(const File& file) {
  const auto length = header_length(file.head());
  if (!length) return fail(ErrorCode::kTruncated, "{} bytes: too few for the length of a header", file.size());
  if (*length > kMostHeaderBytes) return fail(ErrorCode::kTooLarge, "a safetensors header of {} bytes", *length);
  if (*length > file.size() - kLengthBytes) {
    return fail(make_error(ErrorCode::kTruncated, "header of {} bytes announced, {} present", *length,
                           file.size() - kLengthBytes)
                    .with_offset(kLengthBytes));
  }
  std::string text(*length, '\0');
  MSDUMP_CHECK_OK(file.read_at(kLengthBytes, std::as_writable_bytes(std::span(text.data(), text.size()))));
  return HeaderReader(text, file.size()).run();
}

}  // namespace

Result<SafeTensors> read_safetensors(const File& file) { return in_file(read(file), file.path()); }

bool looks_like_safetensors(std::span<const std::byte> head, uint64_t file_size) {
  const auto length = header_length(head);
  return length && *length <= kMostHeaderBytes && file_size > kLengthBytes && *length <= file_size - kLengthBytes &&
         head.size() > kLengthBytes && head[kLengthBytes] == std::byte{'{'};
}

}  // namespace msdump
