// Any bytes as YAML: a tree within its limits, or an error that says where.
#include <algorithm>
#include <string>
#include <string_view>

#include "fuzz_file.h"
#include "io/json.h"

namespace {

using namespace msdump;
using fuzz::require;

size_t check(const JsonValue& value, size_t size) {
  require(value.offset <= size, "a value lies in the text");
  require(value.items.empty() || value.is(JsonKind::kArray), "only sequences have items");
  require(value.members.empty() || value.is(JsonKind::kObject), "only mappings have members");
  require(!value.is(JsonKind::kBool) && !value.is(JsonKind::kNumber), "scalars are texts");
  size_t depth = 0;
  for (const JsonValue& item : value.items) depth = std::max(depth, check(item, size));
  for (const JsonMember& member : value.members) depth = std::max(depth, check(member.value, size));
  return depth + 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto value = parse_yaml({reinterpret_cast<const char*>(data), size});
  if (value) {
    require(check(*value, size) <= 101, "the depth is limited");
  } else {
    require(!value.error().message.empty(), "an error says something");
    require(value.error().code == ErrorCode::kUsage, "text that is not YAML is refused");
  }
  return 0;
}
