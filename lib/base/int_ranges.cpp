#include "base/int_ranges.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace msdump {

Result<IntRanges> IntRanges::parse(std::string_view text) {
  IntRanges result;
  std::string unified(text);
  std::replace(unified.begin(), unified.end(), ',', '|');
  for (const std::string_view item : split(unified, '|')) {
    const size_t dash = item.find('-');
    const auto low = parse_i64(item.substr(0, dash));
    const auto high = dash == std::string_view::npos ? low : parse_i64(item.substr(dash + 1));
    if (!low || !high || *low < 0 || *high < *low) {
      return fail(make_error(ErrorCode::kUsage, "'{}' is not a number or a range such as 5-8", item)
                      .with_hint("write 0|5-8|100-120 or 0,5-8"));
    }
    result.ranges_.emplace_back(*low, *high);
  }
  return result;
}

bool IntRanges::contains(int64_t value) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const auto& range) { return range.first <= value && value <= range.second; });
}

}  // namespace msdump
