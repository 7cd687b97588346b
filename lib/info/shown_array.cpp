#include "info/shown_array.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/bytes.h"
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

// Offsets in the tensor of the elements that are shown, in C order.
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

namespace {

constexpr size_t kLineWidth = 78;
constexpr std::string_view kGap = "...";

template <class T>
T load(const ShownArray& array, size_t index) {
  return msdump::load<T>(array.elements.data() + index * sizeof(T));
}

report::Value element(const ShownArray& array, size_t index) {
  switch (array.dtype) {
    case DType::kBool: return array.elements[index] != std::byte{0};
    case DType::kInt8: return load<int8_t>(array, index);
    case DType::kInt16: return load<int16_t>(array, index);
    case DType::kInt32: return load<int32_t>(array, index);
    case DType::kInt64: return load<int64_t>(array, index);
    case DType::kUint16: return load<uint16_t>(array, index);
    case DType::kUint32: return load<uint32_t>(array, index);
    case DType::kUint64: return load<uint64_t>(array, index);
    case DType::kFloat16: return kernels::decode_float16(load<uint16_t>(array, index));
    case DType::kFloat32: return load<float>(array, index);
    case DType::kFloat64: return load<double>(array, index);
    case DType::kComplex64: return report::List{load<float>(array, 2 * index), load<float>(array, 2 * index + 1)};
    case DType::kComplex128: return report::List{load<double>(array, 2 * index), load<double>(array, 2 * index + 1)};
    default: return load<uint8_t>(array, index);
  }
}

std::string text_of(const report::Value& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, bool>) {
          return held ? "True" : "False";
        } else if constexpr (std::is_arithmetic_v<T> && !std::is_floating_point_v<T>) {
          return std::to_string(held);
        } else if constexpr (std::is_floating_point_v<T>) {
          return std::isnan(held) ? "nan" : fmt::format("{:.8g}", held);
        } else if constexpr (std::is_same_v<T, report::List>) {
          const std::string imaginary = text_of(held[1]);
          return text_of(held[0]) + (imaginary.starts_with('-') ? "" : "+") + imaginary + "j";
        } else {
          return {};
        }
      },
      value.storage());
}

class ArrayWriter {
 public:
  explicit ArrayWriter(const ShownArray& array) : array_(array), at_(array.shown.size(), 0) {
    for (size_t i = 0; i < static_cast<size_t>(element_count(array.shown).value_or(0)); ++i) {
      texts_.push_back(text_of(element(array, i)));
      width_ = std::max(width_, texts_.back().size());
    }
  }

  std::string run() {
    if (array_.shape.empty()) return texts_.front();
    write(0);
    text_.pop_back();
    return std::move(text_);
  }

 private:
  [[nodiscard]] bool gap_before(size_t axis, int64_t index) const {
    return array_.shown[axis] < array_.shape[axis] && index == kEdgeItems;
  }

  void write(size_t axis) {
    if (axis + 1 == at_.size()) return write_row();
    for (at_[axis] = 0; at_[axis] < array_.shown[axis]; ++at_[axis]) {
      if (gap_before(axis, at_[axis])) text_.append(kGap).append(1, '\n');
      write(axis + 1);
    }
  }

  // "[0, 2, :]" in the whole array.
  [[nodiscard]] std::string place() const {
    std::string text = "[";
    for (size_t axis = 0; axis + 1 < at_.size(); ++axis) {
      const int64_t left_out = at_[axis] < kEdgeItems ? 0 : array_.shape[axis] - array_.shown[axis];
      text += std::to_string(at_[axis] + left_out) + ", ";
    }
    return text + ":]";
  }

  void write_row() {
    const std::string label = at_.size() > 1 ? place() : "";
    const size_t indent = label.size();
    text_ += label;
    size_t column = indent;
    const auto put = [&](std::string_view word) {
      if (column > indent && column + 1 + width_ > kLineWidth) {
        text_.append(1, '\n').append(indent, ' ');
        column = indent;
      }
      text_ += fmt::format("{}{:>{}}", column > 0 ? " " : "", word, width_);
      column += width_ + (column > 0 ? 1 : 0);
    };
    const size_t axis = at_.size() - 1;
    for (int64_t i = 0; i < array_.shown[axis]; ++i) {
      if (gap_before(axis, i)) put(kGap);
      put(texts_[next_++]);
    }
    text_ += '\n';
  }

  const ShownArray& array_;
  Shape at_;  // place of the row among those shown
  std::vector<std::string> texts_;
  size_t width_ = 0, next_ = 0;
  std::string text_;
};

report::Value value_at(const ShownArray& array, size_t axis, size_t& next) {
  if (axis == array.shown.size()) return element(array, next++);
  report::List list;
  for (int64_t i = 0; i < array.shown[axis]; ++i) list.push_back(value_at(array, axis + 1, next));
  return list;
}

}  // namespace

std::string array_text(const ShownArray& array) {
  const bool empty = std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end();
  return empty ? "no elements" : ArrayWriter(array).run();
}

report::Value array_value(const ShownArray& array) {
  size_t next = 0;
  return value_at(array, 0, next);
}

}  // namespace msdump
