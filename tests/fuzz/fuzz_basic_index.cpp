// Any text as an index of an array: the part is that of a slow list of indices, axis by axis.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "fuzz_file.h"
#include "tensor/shape.h"

namespace {

using namespace msdump;
using fuzz::require;

std::vector<int64_t> elements_of(const ArrayView& view) {
  std::vector<int64_t> elements = {view.offset};
  for (size_t axis = 0; axis < view.shape.size(); ++axis) {
    std::vector<int64_t> next;
    for (const int64_t base : elements) {
      for (int64_t i = 0; i < view.shape[axis]; ++i) next.push_back(base + i * view.strides[axis]);
    }
    elements = std::move(next);
  }
  return elements;
}

// "A:B:C" of an axis, by trying: Python's rules as the documentation of range has them.
std::vector<int64_t> slice_of(std::string_view item, int64_t extent) {
  std::vector<long double> numbers;
  std::vector<bool> given;
  for (const std::string_view part : split(item, ':')) {
    given.push_back(part.find_first_of("0123456789") != std::string_view::npos);
    numbers.push_back(given.back() ? std::stold(std::string(part)) : 0);
  }
  numbers.resize(3, 0);
  given.resize(3, false);
  const long double step = given[2] ? numbers[2] : 1;
  const auto border = [&](size_t at, long double fallback) {
    if (!given[at]) return fallback;
    const long double value = numbers[at] < 0 ? numbers[at] + static_cast<long double>(extent) : numbers[at];
    const long double low = step > 0 ? 0 : -1;
    return std::clamp(value, low, low + static_cast<long double>(extent));
  };
  const long double first = border(0, step > 0 ? 0 : static_cast<long double>(extent - 1));
  const long double last = border(1, step > 0 ? static_cast<long double>(extent) : -1);
  std::vector<int64_t> indices;
  for (long double i = first; step > 0 ? i < last : i > last; i += step) indices.push_back(static_cast<int64_t>(i));
  return indices;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{3, 0, 2}, Shape{2, 3, 4}}) {
    const auto view = index_view(text, shape);
    if (!view) {
      require(view.error().code == ErrorCode::kUsage && !view.error().message.empty(), "a refusal says why");
      continue;
    }
    require(looks_like_index(text) || text.find_first_of("0123456789:.") == std::string::npos,
            "an index looks like one");
    const auto count = element_count(shape);
    for (const int64_t element : elements_of(*view)) require(element >= 0 && element < *count, "elements are inside");
  }
  // One axis against the slow list.
  if (text.find(':') == std::string::npos || text.find_first_not_of("0123456789:-+") != std::string::npos) return 0;
  constexpr int64_t kExtent = 7;
  const auto view = index_view(text, {kExtent});
  if (view) require(elements_of(*view) == slice_of(text, kExtent), "a slice is that of the slow list");
  return 0;
}
