#include "info/shown_array.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "kernels/widen/widen.h"

namespace msdump {
namespace {

// Elements this close to each other are read at once.
constexpr int64_t kGapElements = 512;
constexpr int64_t kLongestRead = int64_t{1} << 18;

Shape shown_shape(const Shape& shape, bool summarised) {
  Shape shown = shape;
  for (int64_t& extent : shown) {
    if (summarised) extent = std::min(extent, 2 * kEdgeItems);
  }
  return shown;
}

// Where the elements shown lie in the tensor, in C order of what is shown.
std::vector<int64_t> offsets_of(const ArrayView& view, const Shape& shown, size_t count) {
  std::vector<int64_t> offsets;
  offsets.reserve(count);
  Shape at(shown.size(), 0);
  const auto place = [&](size_t axis) {
    const bool after_gap = shown[axis] < view.shape[axis] && at[axis] >= kEdgeItems;
    return after_gap ? view.shape[axis] - shown[axis] + at[axis] : at[axis];
  };
  while (offsets.size() < count) {
    int64_t offset = view.offset;
    for (size_t axis = 0; axis < at.size(); ++axis) offset += place(axis) * view.strides[axis];
    offsets.push_back(offset);
    for (size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < shown[axis]) break;
      at[axis] = 0;
    }
  }
  return offsets;
}

// Reads elements wherever they lie, in ascending order and in few pieces.
Status gather(HostTensor& tensor, const std::vector<int64_t>& offsets, std::vector<std::byte>& into) {
  const size_t width = tensor.element_bytes();
  std::vector<uint32_t> order(offsets.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return offsets[a] < offsets[b]; });
  std::vector<std::byte> piece;
  for (size_t begin = 0; begin < order.size();) {
    const int64_t first = offsets[order[begin]];
    size_t end = begin + 1;
    while (end < order.size() && offsets[order[end]] - offsets[order[end - 1]] <= kGapElements &&
           offsets[order[end]] - first < kLongestRead) {
      ++end;
    }
    const int64_t count = offsets[order[end - 1]] - first + 1;
    piece.resize(static_cast<size_t>(count) * width);
    MSDUMP_CHECK_OK(tensor.read(first, count, piece.data()));
    for (; begin < end; ++begin) {
      const auto at = static_cast<size_t>(offsets[order[begin]] - first);
      std::memcpy(into.data() + order[begin] * width, piece.data() + at * width, width);
    }
  }
  return {};
}

}  // namespace

Result<ShownArray> read_shown(HostTensor& tensor, const ArrayView& view, const ShowOptions& options) {
  ShownArray array;
  array.dtype = info(tensor.dtype()).npy_dtype;
  array.shape = view.shape;
  const auto all = element_count(view.shape);
  if (!all) return fail(ErrorCode::kTooLarge, "{} elements are too many to count", describe(view.shape));
  array.summarised = options.summarise && *all > kSummaryThreshold;
  array.shown = shown_shape(view.shape, array.summarised);
  const auto count = element_count(array.shown);
  if (!count || *count > options.most) {
    return fail(make_error(ErrorCode::kTooLarge, "{} elements are too many to show, {} is the limit",
                           count.value_or(*all), options.most)
                    .with_hint("choose a part of the tensor: --values :10"));
  }
  const auto elements = static_cast<size_t>(*count);
  std::vector<std::byte> stored(elements * tensor.element_bytes());
  MSDUMP_CHECK_OK(gather(tensor, offsets_of(view, array.shown, elements), stored));
  if (!kernels::needs_widening(tensor.dtype())) {
    array.elements = std::move(stored);
    return array;
  }
  array.elements.resize(elements * static_cast<size_t>(info(array.dtype).bits) / 8);
  kernels::widen(tensor.dtype(), stored.data(), *count, array.elements.data());
  return array;
}

}  // namespace msdump
