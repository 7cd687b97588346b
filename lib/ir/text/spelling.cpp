#include "ir/text/spelling.h"

namespace msdump {

void Spelling::note_head(const HeadLine& line) {
  if (line.is_1) order_ = Order::kInnermostFirst;
  if (line.is_2) order_ = Order::kOutermostFirst;
}

// The 2.0 previews still have labels of 1.x, so the head of the file takes precedence.
void Spelling::note_label(NameLabel label) {
  if (label == NameLabel::kNone || label == NameLabel::kPlain || order_ != Order::kUnknown) return;
  order_ = label == NameLabel::kLower ? Order::kInnermostFirst : Order::kOutermostFirst;
}

}  // namespace msdump
