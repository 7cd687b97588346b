#include "tensor/shape.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace msdump {

Shape without_ones(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

std::string join_dims(const Shape& shape, std::string_view separator) {
  return fmt::format("{}", fmt::join(shape, separator));
}

std::string describe(const Shape& shape) { return shape.empty() ? "scalar" : join_dims(shape, "x"); }

std::optional<Shape> listed_shape(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']')) return std::nullopt;
  text = trimmed(text.substr(1, text.size() - 2));
  Shape shape;
  if (text.empty()) return shape;
  for (const std::string_view item : split(text, ',')) {
    const auto size = parse_i64(trimmed(item));
    if (!size || *size < 0 || shape.size() == kMaxRank) return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}

namespace {

constexpr std::string_view kEllipsis = "...";
// Larger bounds and steps are cut to this: no axis is longer.
constexpr int64_t kFar = INT64_MAX / 4;

tl::unexpected<Error> bad_item(std::string_view item, std::string_view why) {
  return fail(make_error(ErrorCode::kUsage, "'{}' {}", excerpt(item), why)
                  .with_hint("write an index as in numpy: 0,:,2:5,...,-1"));
}

// A signed number, cut to kFar.
Result<int64_t> parse_number(std::string_view text, std::string_view item) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = negative || text.starts_with('+') ? text.substr(1) : text;
  if (!is_digits(digits)) return bad_item(item, "is not an index");
  const int64_t magnitude = std::min(parse_i64(digits).value_or(kFar), kFar);
  return negative ? -magnitude : magnitude;
}

// "(2,3)", "()": as numpy's users know it.
std::string shape_text(const Shape& shape) { return "(" + join_dims(shape, ",") + ")"; }

struct Slice {
  std::optional<int64_t> start, stop;
  int64_t step = 1;
};

Result<Slice> parse_slice(std::string_view item) {
  const std::vector<std::string_view> parts = split(item, ':');
  if (parts.size() > 3) return bad_item(item, "is not a slice: it has more than three parts");
  Slice slice;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string_view part = trimmed(parts[i]);
    if (part.empty()) continue;
    MSDUMP_TRY(const int64_t number, parse_number(part, item));
    if (i == 0) slice.start = number;
    if (i == 1) slice.stop = number;
    if (i == 2) slice.step = number;
  }
  if (slice.step == 0) return bad_item(item, "is not a slice: its step is 0");
  return slice;
}

// A bound of a slice on an axis of `extent`, clamped to [low, high].
int64_t place(const std::optional<int64_t>& border, int64_t fallback, int64_t extent, int64_t low, int64_t high) {
  if (!border) return fallback;
  return std::clamp(*border < 0 ? *border + extent : *border, low, high);
}

class Indexer {
 public:
  explicit Indexer(const Shape& shape) : shape_(shape), whole_(whole_view(shape)) {}

  Result<ArrayView> run(std::string_view text) {
    const std::vector<std::string_view> items = items_of(text);
    size_t named = 0;
    bool ellipsis = false;
    for (const std::string_view item : items) {
      if (item != kEllipsis) {
        ++named;
      } else if (ellipsis) {
        return bad_item(text, "has two ellipses");
      } else {
        ellipsis = true;
      }
    }
    if (named > shape_.size()) {
      return fail(ErrorCode::kUsage, "'{}' has too many indices ({}) for the shape {}, which has {}", excerpt(text),
                  named, shape_text(shape_), shape_.size());
    }
    for (const std::string_view item : items) {
      if (item == kEllipsis) {
        keep_whole(shape_.size() - named);
      } else {
        MSDUMP_CHECK_OK(take(item));
      }
    }
    keep_whole(shape_.size() - axis_);
    return std::move(view_);
  }

 private:
  static std::vector<std::string_view> items_of(std::string_view text) {
    text = trimmed(text);
    if (text.starts_with('[') && text.ends_with(']')) text = trimmed(text.substr(1, text.size() - 2));
    std::vector<std::string_view> items;
    for (const std::string_view item : split(text, ',')) items.push_back(trimmed(item));
    if (items.size() > 1 && items.back().empty()) items.pop_back();  // Python writes a tuple of one item as "0,"
    return items;
  }

  void keep_whole(size_t axes) {
    for (; axes > 0; --axes, ++axis_) add(0, shape_[axis_], 1);
  }

  void add(int64_t first, int64_t extent, int64_t step) {
    view_.offset += extent > 0 ? first * whole_.strides[axis_] : 0;
    view_.shape.push_back(extent);
    view_.strides.push_back(extent > 1 ? step * whole_.strides[axis_] : 0);
  }

  Status take(std::string_view item) {
    if (item.find(':') != std::string_view::npos) {
      MSDUMP_TRY(const Slice slice, parse_slice(item));
      take_slice(slice);
    } else {
      MSDUMP_TRY(const int64_t index, parse_number(item, item));
      const int64_t extent = shape_[axis_];
      if (index < -extent || index >= extent) {
        return fail(ErrorCode::kUsage, "index {} is out of bounds for axis {} of the shape {}", index, axis_,
                    shape_text(shape_));
      }
      view_.offset += (index < 0 ? index + extent : index) * whole_.strides[axis_];
    }
    ++axis_;
    return {};
  }

  void take_slice(const Slice& slice) {
    const int64_t extent = shape_[axis_];
    const bool ahead = slice.step > 0;
    const int64_t low = ahead ? 0 : -1, high = ahead ? extent : extent - 1;
    const int64_t start = place(slice.start, ahead ? low : high, extent, low, high);
    const int64_t stop = place(slice.stop, ahead ? high : low, extent, low, high);
    const int64_t length = ahead ? stop - start : start - stop;
    add(start, length > 0 ? ceil_div(length, std::abs(slice.step)) : 0, slice.step);
  }

  const Shape& shape_;
  ArrayView whole_, view_;
  size_t axis_ = 0;  // the next one of shape_
};

}  // namespace

ArrayView whole_view(const Shape& shape) {
  ArrayView view{0, shape, std::vector<int64_t>(shape.size(), 0)};
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    view.strides[i] = stride;
    // When one axis has length 0, the others may have any length; there are no elements.
    stride = checked_mul(stride, std::max<int64_t>(shape[i], 1)).value_or(0);
  }
  return view;
}

Result<ArrayView> index_view(std::string_view text, const Shape& shape) { return Indexer(shape).run(text); }

bool looks_like_index(std::string_view text) {
  if (text.find_first_not_of("0123456789:,.-+[] \t\r\n") != std::string_view::npos) return false;
  return text.find_first_of("0123456789:") != std::string_view::npos || text.find(kEllipsis) != std::string_view::npos;
}

}  // namespace msdump
