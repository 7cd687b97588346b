#include "config/data_dump/iteration.h"

#include <algorithm>

#include "base/checked.h"
#include "base/text.h"

namespace msdump {
namespace {

IterationItem parse_item(std::string_view text, size_t at) {
  using Kind = IterationItem::Kind;
  IterationItem item{text, at};
  const size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : text.substr(dash + 1);
  if (low.empty() || high.find_first_not_of('-') == std::string_view::npos) {
    item.kind = Kind::kEmpty;
  } else if (high.find('-') != std::string_view::npos) {
    item.kind = Kind::kDashes;
  } else {
    const auto first = parse_u64(low), last = parse_u64(high);
    if (!first || !last) {
      item.kind = Kind::kTooLarge;
      return item;
    }
    item.first = *first;
    item.last = *last;
    item.kind = *first <= *last ? Kind::kRange : Kind::kBackward;
  }
  return item;
}

}  // namespace

bool Iteration::selects_any(uint64_t initial) const {
  if (all) return true;
  return std::any_of(items.begin(), items.end(),
                     [&](const IterationItem& item) { return item.selects() && item.last >= initial; });
}

std::optional<uint64_t> Iteration::count(uint64_t initial) const {
  if (all) return std::nullopt;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const IterationItem& item : items) {
    if (item.selects() && item.last >= initial) ranges.emplace_back(std::max(item.first, initial), item.last);
  }
  std::sort(ranges.begin(), ranges.end());
  uint64_t steps = 0;
  std::optional<uint64_t> counted_to;  // inclusive
  for (auto [first, last] : ranges) {
    if (counted_to && last <= *counted_to) continue;
    if (counted_to && first <= *counted_to) first = *counted_to + 1;
    const auto length = checked_add<uint64_t>(last - first, 1);
    const auto sum = length ? checked_add<uint64_t>(steps, *length) : std::nullopt;
    if (!sum) return std::nullopt;
    steps = *sum;
    counted_to = last;
  }
  return steps;
}

Iteration parse_iteration(std::string_view text) {
  Iteration iteration;
  iteration.all = text == "all";
  if (iteration.all) return iteration;
  iteration.accepted = !text.empty() && text.find_first_not_of("0123456789-|") == std::string_view::npos;
  if (!iteration.accepted) return iteration;
  size_t at = 0;
  for (const std::string_view item : split(text, '|')) {
    iteration.items.push_back(parse_item(item, at));
    at += item.size() + 1;
  }
  return iteration;
}

}  // namespace msdump
