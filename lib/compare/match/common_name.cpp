#include "compare/match/common_name.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "compare/match/op_sequence.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

// "Cell.attn.q.Dense.forward.0" without its first part, its class and its number.
std::string module_name(std::string_view name) {
  const std::vector<std::string_view> parts = split(name, '.');
  const auto direction = std::find_if(parts.begin(), parts.end(), [](std::string_view part) {
    return part == "forward" || part == "backward" || part == "parameters_grad";
  });
  std::string result = "module";
  const size_t end = static_cast<size_t>(direction - parts.begin());
  for (size_t i = 1; i + 1 < end; ++i) (result += ' ').append(parts[i]);
  if (direction != parts.end()) (result += ' ').append(*direction);
  return result;
}

std::string call_name(std::string_view name, std::string_view op_type) {
  std::string type = to_lower(op_type);
  std::erase(type, '_');
  return "call " + type + (name.ends_with(".backward") ? " backward" : " forward");
}

}  // namespace

std::string common_name(std::string_view op_name) {
  const auto entry = parse_msprobe_entry(op_name);
  if (!entry || entry->kind == MsprobeEntryKind::kDebug) return name_without_numbers(op_name);
  return entry->kind == MsprobeEntryKind::kCall ? call_name(op_name, entry->op_type) : module_name(op_name);
}

std::string_view common_parameter_name(std::string_view parameter) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kNames = {
      std::pair<std::string_view, std::string_view>{"gamma", "weight"},
      {"beta", "bias"},
      {"embedding_table", "weight"},
      {"moving_mean", "running_mean"},
      {"moving_variance", "running_var"}};
  const auto found =
      std::find_if(kNames.begin(), kNames.end(), [&](const auto& name) { return name.first == parameter; });
  return found == kNames.end() ? parameter : found->second;
}

}  // namespace msdump
