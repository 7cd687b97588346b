#include "info/array_text.h"

#include <algorithm>
#include <memory>

#include "info/element_text.h"

namespace msdump {
namespace {

constexpr size_t kLineWidth = 75;
constexpr std::string_view kGap = "...";

// Brackets and line breaks around the texts of elements.
class ArrayWriter {
 public:
  ArrayWriter(const ShownArray& array, const ElementTexts& texts) : array_(array), texts_(texts) {}

  std::string run() {
    write(0, kLineWidth);
    return std::move(text_);
  }

 private:
  // An axis; `width` is what its lines may take.
  void write(size_t axis, size_t width) {
    text_ += '[';
    if (axis + 1 == array_.shown.size()) {
      write_row(axis, width);
    } else {
      write_planes(axis, width);
    }
    text_ += ']';
  }

  [[nodiscard]] bool gap_before(size_t axis, int64_t index) const {
    return array_.shown[axis] < array_.shape[axis] && index == kEdgeItems;
  }

  void write_planes(size_t axis, size_t width) {
    const std::string separator = std::string(array_.shown.size() - axis - 1, '\n') + std::string(axis + 1, ' ');
    for (int64_t i = 0; i < array_.shown[axis]; ++i) {
      if (gap_before(axis, i)) text_.append(separator).append(kGap);
      if (i > 0) text_ += separator;
      write(axis + 1, width - std::min<size_t>(width, 1));
    }
  }

  // Words and the blanks between them; a word that would come too near to the border begins a new line.
  void write_row(size_t axis, size_t width) {
    const size_t indent = axis + 1, most = width - std::min<size_t>(width, 1);
    size_t column = indent;
    const auto put = [&](std::string_view word) {
      if (column > indent) {
        text_ += ' ';
        if (++column + word.size() > most) {
          text_.resize(text_.find_last_not_of(' ') + 1);  // floats may end in blanks
          text_.append(1, '\n').append(indent, ' ');
          column = indent;
        }
      }
      text_ += word;
      column += word.size();
    };
    for (int64_t i = 0; i < array_.shown[axis]; ++i) {
      if (gap_before(axis, i)) put(kGap);
      put(texts_.text(next_++));
    }
  }

  const ShownArray& array_;
  const ElementTexts& texts_;
  std::string text_;
  size_t next_ = 0;  // element
};

report::Value value_at(const ShownArray& array, const ElementTexts& texts, size_t axis, size_t& next) {
  if (axis == array.shown.size()) return texts.value(next++);
  report::List list;
  for (int64_t i = 0; i < array.shown[axis]; ++i) list.push_back(value_at(array, texts, axis + 1, next));
  return list;
}

}  // namespace

std::string array_text(const ShownArray& array) {
  if (std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end()) return "[]";
  const std::unique_ptr<ElementTexts> texts = make_element_texts(array);
  return array.shape.empty() ? texts->single() : ArrayWriter(array, *texts).run();
}

report::Value array_value(const ShownArray& array) {
  const std::unique_ptr<ElementTexts> texts = make_element_texts(array);
  size_t next = 0;
  return value_at(array, *texts, 0, next);
}

}  // namespace msdump
