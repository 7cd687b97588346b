// What the spelling of a text tells: which MindSpore wrote it, and whether the source lines of a stack begin with the
// innermost. Evidence is collected while the text is read; it stands before what needs it, in the head of the file or
// in the label of a name.
#pragma once

#include <cstdint>

#include "ir/model/source_frame.h"
#include "ir/text/file_head.h"
#include "ir/text/node_text.h"

namespace msdump {

class Spelling {
 public:
  enum class Order : uint8_t { kUnknown, kInnermostFirst, kOutermostFirst };

  // Only versions from `oldest` to `newest` write this; 100 * major + minor.
  void note(uint16_t oldest, uint16_t newest);
  void note_head(const HeadLine& line);
  void note_label(NameLabel label);
  void note_frame(PlaceStyle style, bool inlined);

  // Of source lines without columns, which 1.9 and later write both ways.
  [[nodiscard]] Order order() const { return order_; }
  // Evidence that contradicts itself is none.
  [[nodiscard]] uint16_t oldest() const { return oldest_ <= newest_ ? oldest_ : 0; }
  [[nodiscard]] uint16_t newest() const { return oldest_ <= newest_ ? newest_ : kNoBound; }

 private:
  static constexpr uint16_t kNoBound = 9999;
  uint16_t oldest_ = 0, newest_ = kNoBound;
  Order order_ = Order::kUnknown;
};

}  // namespace msdump
