#include "ascend/atb_tensor.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/bytes.h"
#include "base/text.h"

namespace msdump::ascend {
namespace {

constexpr std::string_view kVersion = "$Version=";
constexpr std::string_view kEnd = "$End";

using Attributes = std::map<std::string_view, std::string_view>;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Removes the lines up to $End from `text`.
Result<Attributes> take_attributes(std::string_view& text) {
  Attributes attributes;
  for (;;) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const size_t equals = line.find('=');
    if (end == std::string_view::npos || equals == std::string_view::npos)
      return fail(ErrorCode::kBadHeader, "the lines before the elements do not end in $End=1");
    text.remove_prefix(end + 1);
    if (line.substr(0, equals) == kEnd) return attributes;
    if (!attributes.emplace(line.substr(0, equals), line.substr(equals + 1)).second)
      return fail(ErrorCode::kBadHeader, "'{}' stands twice in the header", excerpt(line.substr(0, equals)));
  }
}

std::string_view value_of(const Attributes& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? std::string_view() : found->second;
}

Result<Shape> shape_of(std::string_view dims) {
  Shape shape;
  if (dims.empty()) return shape;
  for (const std::string_view text : split(dims, ',')) {
    const auto dim = parse_i64(text);
    if (!dim || *dim < 0 || shape.size() == kMaxRank)
      return fail(ErrorCode::kBadHeader, "dims '{}' is not a shape", excerpt(dims));
    shape.push_back(*dim);
  }
  return shape;
}

// "OFFSET,LENGTH", counted from the end of the lines.
Status take_place(std::string_view place, uint64_t begin, uint64_t file_size, AtbTensor& tensor) {
  const size_t comma = place.find(',');
  const auto offset = parse_u64(place.substr(0, comma));
  const auto length = comma == std::string_view::npos ? std::nullopt : parse_u64(place.substr(comma + 1));
  const auto first = offset ? checked_add(begin, *offset) : std::nullopt;
  if (!first || !length) return fail(ErrorCode::kBadHeader, "'{}' is not OFFSET,LENGTH", excerpt(place));
  tensor.offset = *first;
  tensor.bytes = *length;
  if (*first <= file_size && *length <= file_size - *first) return {};
  tensor.problem =
      make_error(ErrorCode::kTruncated, "needs {} bytes, {} present", *length, file_size - std::min(*first, file_size))
          .with_offset(*first);
  return {};
}

void check_size(AtbTensor& tensor) {
  const auto count = element_count(tensor.shape);
  const auto needed = count && tensor.dtype ? bytes_of(*tensor.dtype, *count) : std::nullopt;
  if (tensor.problem || !tensor.dtype || is_raw(*tensor.dtype) || needed == tensor.bytes) return;
  tensor.problem = make_error(ErrorCode::kShapeMismatch, "{} of {} do not take the {} bytes of its place",
                              describe(tensor.shape), name_of(*tensor.dtype), tensor.bytes);
}

Result<AtbTensor> read(const File& file) {
  std::string_view text = text_of(file.head());
  if (!looks_like_atb_tensor(file.head())) return fail(ErrorCode::kBadHeader, "it does not begin with '{}'", kVersion);
  MSDUMP_TRY(const Attributes attributes, take_attributes(text));
  const uint64_t begin = file.head().size() - text.size();
  const auto dtype = parse_i64(value_of(attributes, "dtype")), format = parse_i64(value_of(attributes, "format"));
  if (!dtype || !format || *dtype < 0 || *dtype > INT32_MAX)
    return fail(ErrorCode::kBadHeader, "dtype or format is not a number");
  AtbTensor tensor;
  tensor.dtype_number = static_cast<int32_t>(*dtype);
  tensor.format_number = *format;
  tensor.dtype = dtype_from_ge(tensor.dtype_number);
  MSDUMP_TRY(tensor.shape, shape_of(value_of(attributes, "dims")));
  tensor.same_as = value_of(attributes, "data");
  if (!tensor.same_as.empty()) return tensor;
  MSDUMP_CHECK_OK(take_place(value_of(attributes, "$Object.data"), begin, file.size(), tensor));
  check_size(tensor);
  return tensor;
}

}  // namespace

Result<AtbTensor> read_atb_tensor(const File& file) { return in_file(read(file), file.path()); }

bool looks_like_atb_tensor(std::span<const std::byte> head) { return text_of(head).starts_with(kVersion); }

}  // namespace msdump::ascend
