#include "ascend/ffts.h"

#include <optional>
#include <vector>

#include "base/text.h"
#include "io/json.h"

namespace msdump::ascend {
namespace {

// Memory for the tree of an attribute: enough for some 20,000 bounds.
constexpr size_t kSliceMemory = size_t{8} << 20;

std::optional<size_t> thread_of(std::string_view file_name) {
  const std::vector<std::string_view> fields = split(file_name, '.');
  if (fields.size() < 2) return std::nullopt;
  const auto thread = parse_u64(fields[fields.size() - 2]);
  return thread ? std::optional<size_t>(*thread) : std::nullopt;
}

Result<Shape> slice_shape(const JsonValue& slice) {
  const auto bound = [](const JsonValue& dim, std::string_view key) {
    const JsonValue* const value = dim.find(key);
    return value != nullptr ? value->as_int().value_or(-1) : int64_t{-1};  // bounds are never negative
  };
  Shape shape;
  for (const JsonValue& dim : slice.items) {
    const int64_t begin = bound(dim, "lower"), end = bound(dim, "higher");
    if (begin < 0 || end < begin || shape.size() == kMaxRank)
      return fail(ErrorCode::kBadHeader, "an FFTS+ slice without valid lower and higher bounds");
    shape.push_back(end - begin);
  }
  return shape;
}

Status apply(const JsonValue& attribute, std::string_view key, Section section, size_t thread, DumpFile& dump) {
  const JsonValue* threads = attribute.find(key);
  if (threads == nullptr || threads->items.empty()) return {};
  if (thread >= threads->items.size()) {
    return fail(ErrorCode::kBadHeader, "{} has {} threads, the file is that of thread {}", key, threads->items.size(),
                thread);
  }
  const std::vector<JsonValue>& slices = threads->items[thread].items;
  for (DumpTensor& tensor : dump.tensors) {
    if (tensor.section != section) continue;
    const auto slot = static_cast<size_t>(tensor.slot);
    if (slot >= slices.size()) {
      return fail(ErrorCode::kBadHeader, "{} has {} tensors, the file has more", key, slices.size());
    }
    MSDUMP_TRY(Shape shape, slice_shape(slices[slot]));
    if (tensor.shape == shape) continue;
    tensor.shape = std::move(shape);
    tensor.original_shape.reset();
  }
  return {};
}

}  // namespace

Status apply_thread_slices(DumpFile& dump, std::string_view file_name) {
  for (const Attribute& attribute : dump.attributes) {
    if (!attribute.value.starts_with('{') || attribute.value.find("threadMode") == std::string::npos) continue;
    auto parsed = parse_json(attribute.value, kSliceMemory);
    if (!parsed) {
      // The offset of the error is in the attribute, not in the file.
      Error& error = parsed.error();
      error.message = fmt::format("attribute '{}': {}", excerpt(attribute.name), error.message);
      error.offset.reset();
      return fail(std::move(error));
    }
    const JsonValue& json = *parsed;
    const JsonValue* mode = json.find("threadMode");
    if (mode == nullptr || !mode->is(JsonKind::kBool) || !mode->boolean) return {};
    const auto thread = thread_of(file_name);
    if (!thread) return fail(ErrorCode::kBadHeader, "a sliced FFTS+ dump whose name does not say its thread");
    MSDUMP_CHECK_OK(apply(json, "input_tensor_slice", Section::kInput, *thread, dump));
    return apply(json, "output_tensor_slice", Section::kOutput, *thread, dump);
  }
  return {};
}

}  // namespace msdump::ascend
