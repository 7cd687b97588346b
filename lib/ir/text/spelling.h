// Whether the source lines of a stack begin with the innermost: MindSpore 1.x writes them so, 2.0 and later write the
// outermost first. The head of the file or the label of a name shows the version; both come before the lines.
#pragma once

#include <cstdint>

#include "ir/text/file_head.h"
#include "ir/text/node_text.h"

namespace msdump {

class Spelling {
 public:
  enum class Order : uint8_t { kUnknown, kInnermostFirst, kOutermostFirst };

  void note_head(const HeadLine& line);
  void note_label(NameLabel label);

  // Of source lines without columns, which 1.9 and later write both ways.
  [[nodiscard]] Order order() const { return order_; }

 private:
  Order order_ = Order::kUnknown;
};

}  // namespace msdump
