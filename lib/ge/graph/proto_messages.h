// Walking the messages of a ProtoText: what the readers of ge_proto and ge_onnx share. Internal to ge/graph.
#pragma once

#include <cstdint>
#include <string_view>

#include "ge/graph/proto_text.h"

namespace msdump {

// Calls visit(item) for each field and message of the open message. visit reads a message to its end: with this function
// or with skip(). False if the file ends inside the message.
template <class Visit>
bool for_each_item(ProtoText& text, const Visit& visit) {
  for (;;) {
    const ProtoText::Item item = text.next();
    if (item.kind == ProtoText::Kind::kEnd) return false;
    if (item.kind == ProtoText::Kind::kClose) return true;
    visit(item);
  }
}

// 0 for a text that is not a number. A number that does not fit becomes the nearest that does.
[[nodiscard]] int64_t number_of(std::string_view value);

}  // namespace msdump
