#include "ir/text/spelling.h"

#include <algorithm>

namespace msdump {

void Spelling::note(uint16_t oldest, uint16_t newest) {
  oldest_ = std::max(oldest_, oldest);
  newest_ = std::min(newest_, newest);
}

void Spelling::note_head(const HeadLine& line) {
  if (line.kind == HeadLine::Kind::kNodes) note(203, kNoBound);
  if (line.is_1) {
    note(0, 110);
    order_ = Order::kInnermostFirst;
  }
  if (line.is_2) {
    note(200, kNoBound);
    order_ = Order::kOutermostFirst;
  }
}

// The 2.0 previews still have labels of 1.x, so the head of the file goes before.
void Spelling::note_label(NameLabel label) {
  if (label == NameLabel::kNone || label == NameLabel::kPlain) return;
  const bool lower = label == NameLabel::kLower;
  lower ? note(107, 200) : note(200, kNoBound);
  if (order_ == Order::kUnknown) order_ = lower ? Order::kInnermostFirst : Order::kOutermostFirst;
}

void Spelling::note_frame(PlaceStyle style, bool inlined) {
  if (style == PlaceStyle::kParentheses) note(0, 108);
  if (style == PlaceStyle::kRange) note(203, kNoBound);
  if (inlined) note(200, 202);
}

}  // namespace msdump
