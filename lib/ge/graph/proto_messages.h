// Walking the messages of a ProtoText: what the readers of ge_proto and ge_onnx share. Internal to ge/graph.
#pragma once

#include <cstdint>
#include <string_view>

#include "ge/graph/proto_text.h"

namespace msdump {

// visit(item) for each field and message of the message that is open. visit passes the messages: with this function or
// with skip(). False if the file ends inside.
template <class Visit>
bool for_each_item(ProtoText& text, const Visit& visit) {
  for (;;) {
    const ProtoText::Item item = text.next();
    if (item.kind == ProtoText::Kind::kEnd) return false;
    if (item.kind == ProtoText::Kind::kClose) return true;
    visit(item);
  }
}

// 0 for anything else; what does not fit is the nearest that does.
[[nodiscard]] int64_t number_of(std::string_view value);

}  // namespace msdump
