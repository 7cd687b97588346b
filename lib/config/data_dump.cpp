#include "config/data_dump.h"

#include <algorithm>
#include <limits>

#include "base/bytes.h"
#include "base/text.h"
#include "config/keys.h"

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

namespace {

constexpr Version kV13{1, 3, 0}, kV18{1, 8, 0}, kV23{2, 3, 0}, kV24{2, 4, 0};

std::optional<std::string> text_of(const JsonValue* section, std::string_view key) {
  const JsonValue* value = section == nullptr ? nullptr : section->find(key);
  return value != nullptr && value->is(JsonKind::kString) ? std::optional(value->text) : std::nullopt;
}

std::optional<bool> bool_of(const JsonValue* section, std::string_view key) {
  const JsonValue* value = section == nullptr ? nullptr : section->find(key);
  return value != nullptr && value->is(JsonKind::kBool) ? std::optional(value->boolean) : std::nullopt;
}

// MindSpore keeps the lower 32 bits.
std::optional<uint32_t> number_of(const JsonValue* section, std::string_view key) {
  const JsonValue* value = section == nullptr ? nullptr : section->find(key);
  if (value == nullptr || !value->is(JsonKind::kNumber)) return std::nullopt;
  const auto number = parse_u64(value->text);
  return number ? std::optional(static_cast<uint32_t>(*number & std::numeric_limits<uint32_t>::max())) : std::nullopt;
}

const JsonValue* object_in(const JsonValue& root, std::string_view key) {
  const JsonValue* value = root.find(key);
  return value != nullptr && value->is(JsonKind::kObject) ? value : nullptr;
}

}  // namespace

bool DataDump::is_synchronous(const Setup& setup) const {
  const bool asked = setup.version >= kV24 ? has_e2e : enable.value_or(false);
  if (asked) return true;
  if (setup.device == Device::kGpu) return setup.version >= kV13;
  return setup.device == Device::kCpu && setup.version >= kV18;
}

bool DataDump::is_asynchronous(const Setup& setup) const {
  if (setup.device != Device::kAscend || is_synchronous(setup)) return false;
  return setup.version >= kV13 || async_enable.value_or(false);
}

bool DataDump::before_1_3() const {
  if (common == nullptr || !(old_iteration || async != nullptr)) return false;
  return std::none_of(common->members.begin(), common->members.end(), [](const JsonMember& member) {
    const ConfigKey* key = find_key(ConfigKind::kDataDump, kCommonSection, member.key);
    return key != nullptr && key->since >= kV13;
  });
}

uint32_t DataDump::debug_mode(const Setup& setup) const {
  if (setup.version < kV13 || (setup.version < kV23 && is_synchronous(setup))) return 0;
  const uint32_t mode = op_debug_mode.value_or(0);
  return setup.version >= kV24 && (mode == 1 || mode == 2) ? 3 : mode;
}

bool DataDump::dumps_kernels(const Setup& setup) const {
  return dump_mode == 1U && !(setup.version >= kV23 && debug_mode(setup) != 0);
}

bool is_path_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '/';
}

DataDump read_data_dump(const JsonValue& root) {
  DataDump dump;
  dump.common = object_in(root, kCommonSection);
  dump.e2e = object_in(root, kE2eSection);
  dump.async = object_in(root, kAsyncSection);
  dump.has_e2e = root.find(kE2eSection) != nullptr;
  dump.dump_mode = number_of(dump.common, "dump_mode");
  dump.input_output = number_of(dump.common, "input_output");
  dump.op_debug_mode = number_of(dump.common, "op_debug_mode");
  dump.initial_iteration = number_of(dump.common, "initial_iteration");
  dump.sample_mode = number_of(dump.e2e, "sample_mode");
  dump.sample_num = number_of(dump.e2e, "sample_num");
  dump.enable = bool_of(dump.e2e, "enable");
  dump.trans_flag = bool_of(dump.e2e, "trans_flag");
  dump.async_enable = bool_of(dump.async, "enable");
  dump.path = text_of(dump.common, "path");
  dump.net_name = text_of(dump.common, "net_name");
  dump.iteration = text_of(dump.common, "iteration");
  dump.saved_data = text_of(dump.common, "saved_data");
  dump.file_format = text_of(dump.common, "file_format");
  dump.stat_calc_mode = text_of(dump.e2e, "stat_calc_mode");
  if (dump.common != nullptr) {
    const JsonValue* iteration = dump.common->find("iteration");
    if (iteration != nullptr && iteration->is(JsonKind::kNumber)) dump.old_iteration = parse_u64(iteration->text);
    const JsonValue* kernels = dump.common->find("kernels");
    if (kernels != nullptr && kernels->is(JsonKind::kArray)) dump.kernels = kernels;
  }
  return dump;
}

}  // namespace msdump
