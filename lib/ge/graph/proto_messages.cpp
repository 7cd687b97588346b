#include "ge/graph/proto_messages.h"

#include "base/text.h"

namespace msdump {

int64_t number_of(std::string_view value) {
  if (const auto number = parse_i64(value)) return *number;
  const bool negative = value.starts_with('-');
  if (!is_digits(value.substr(negative ? 1 : 0))) return 0;
  return negative ? INT64_MIN : INT64_MAX;
}

}  // namespace msdump
