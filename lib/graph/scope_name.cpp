#include "graph/scope_name.h"

#include <optional>

#include "graph/op_name.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

// Empty if it is no entry of msprobe.
std::string scope_of_entry(std::string_view name) {
  const std::optional<MsprobeEntry> entry = parse_msprobe_entry(name);
  if (!entry || entry->kind == MsprobeEntryKind::kDebug || entry->op_type.empty()) return {};
  const bool of_call = entry->kind == MsprobeEntryKind::kCall;
  const auto type = static_cast<size_t>(entry->op_type.data() - name.data());
  const size_t end = of_call ? type + entry->op_type.size() : type - 1;  // the class of a module is not of its path
  const bool is_backward =
      entry->kind == MsprobeEntryKind::kParameterGradients || name.find(".backward", end) != std::string_view::npos;
  return std::string(name.substr(0, end)) + (is_backward ? ".backward" : "");
}

}  // namespace

std::string scope_of_op(std::string_view op_name) {
  if (std::string scope = scope_of_entry(op_name); !scope.empty()) return scope;
  for (const char separator : {'/', '.'}) {
    if (separator == '.' && split_number(op_name)) break;
    if (const size_t at = op_name.rfind(separator); at != std::string_view::npos && at > 0)
      return std::string(op_name.substr(0, at));
  }
  const std::optional<NumberedName> numbered = split_number(op_name);
  return std::string(numbered && !numbered->prefix.empty() ? numbered->prefix : op_name);
}

}  // namespace msdump
