#include "msprobe/names.h"

#include <span>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "tensor/dtype.h"

namespace msdump {
namespace {

// Longer than any file name and any name a model gives; a bound on the work below.
constexpr size_t kMaxName = 1024;

using Parts = std::span<const std::string_view>;

// The text from the first of `parts` to the last, with the dots between them; all are views into one text.
std::string_view joined(Parts parts) {
  if (parts.empty()) return {};
  return {parts.front().data(), static_cast<size_t>(parts.back().data() + parts.back().size() - parts.front().data())};
}

bool is_direction(std::string_view part) { return part == "forward" || part == "backward"; }

std::optional<MsprobeIo> io_from_part(std::string_view part) {
  if (part == "input" || part == "kwargs") return MsprobeIo::kInput;
  if (part == "output") return MsprobeIo::kOutput;
  if (part == "parameters") return MsprobeIo::kParameter;
  return std::nullopt;
}

std::optional<MsprobeEntry> entry_of(MsprobeEntryKind kind, std::string_view op_type) {
  if (op_type.empty()) return std::nullopt;
  return MsprobeEntry{kind, op_type};
}

std::optional<MsprobeEntry> parse_entry(Parts parts) {
  const size_t count = parts.size();
  if (count < 3) return std::nullopt;
  const std::string_view last = parts[count - 1];
  const std::string_view before = parts[count - 2];
  if (last == "debug" && is_digits(before)) return entry_of(MsprobeEntryKind::kDebug, joined(parts.first(count - 2)));
  if (last == "parameters_grad") return entry_of(MsprobeEntryKind::kParameterGradients, before);
  if (count < 4) return std::nullopt;
  if (before == "parameters_grad" && is_digits(last)) {
    return entry_of(MsprobeEntryKind::kParameterGradients, parts[count - 3]);
  }
  if (is_direction(before) && is_digits(last)) return entry_of(MsprobeEntryKind::kModule, parts[count - 3]);
  if (!is_direction(last) || !is_digits(before)) return std::nullopt;
  const bool primitive = parts.front() == "Primitive";
  return entry_of(MsprobeEntryKind::kCall, primitive ? parts[count - 3] : joined(parts.subspan(1, count - 3)));
}

std::optional<MsprobeName> name_of(const std::optional<MsprobeEntry>& entry, Parts op_name, MsprobeIo io, Parts slot) {
  if (!entry || (joined(slot).empty() && !(io == MsprobeIo::kDebug && slot.empty()))) return std::nullopt;
  return MsprobeName{joined(op_name), std::string(entry->op_type), io, joined(slot), {}};
}

// {call or module}.{input|output|parameters}.{slot}. The first such io counts: what follows are the user's own keys.
std::optional<MsprobeName> parse_argument(Parts parts) {
  for (size_t at = 4; at + 1 < parts.size(); ++at) {
    const auto io = io_from_part(parts[at]);
    if (!io || (!is_direction(parts[at - 1]) && !is_direction(parts[at - 2]))) continue;
    const auto entry = parse_entry(parts.first(at));
    if (!entry || (entry->kind != MsprobeEntryKind::kCall && entry->kind != MsprobeEntryKind::kModule)) continue;
    return name_of(entry, parts.first(at), *io, parts.subspan(at + 1));
  }
  return std::nullopt;
}

std::optional<MsprobeName> parse_gradient(Parts parts) {
  for (size_t at = 2; at + 1 < parts.size(); ++at) {
    if (parts[at] != "parameters_grad") continue;
    const bool numbered = at + 2 < parts.size() && is_digits(parts[at + 1]);
    const Parts op_name = parts.first(at + (numbered ? 2 : 1));
    return name_of(parse_entry(op_name), op_name, MsprobeIo::kParameter, parts.subspan(op_name.size()));
  }
  return std::nullopt;
}

// The length of "{dtype}_{counter}" at the end of the text, 0 if it does not end so.
size_t tag_length(std::string_view text) {
  const size_t counter = text.rfind('_');
  if (counter == std::string_view::npos || !is_digits(text.substr(counter + 1))) return 0;
  for (size_t at = counter; at > 0 && (at = text.rfind('_', at - 1)) != std::string_view::npos;) {
    if (dtype_from_name(text.substr(at + 1, counter - at - 1))) return text.size() - at - 1;
  }
  return 0;
}

std::optional<MsprobeName> parse_unfinished(Parts parts) {
  const size_t tag = tag_length(parts.back());
  for (size_t at = 3; tag > 0 && at + 1 < parts.size(); ++at) {
    const auto io = io_from_part(parts[at]);
    if (!io || !is_direction(parts[at - 1]) || parts[at - 2].empty()) continue;
    std::string_view slot = joined(parts.subspan(at + 1));
    const std::string_view unfinished = slot.substr(slot.size() - tag);
    slot.remove_suffix(tag + 1);
    if (slot.empty()) return std::nullopt;
    return MsprobeName{joined(parts.first(at)), std::string(parts[at - 2]), *io, slot, unfinished};
  }
  return std::nullopt;
}

std::optional<MsprobeName> parse_debug(Parts parts) {
  for (size_t at = 2; at < parts.size(); ++at) {
    if (parts[at] != "debug" || !is_digits(parts[at - 1])) continue;
    const Parts op_name = parts.first(at + 1);
    return name_of(parse_entry(op_name), op_name, MsprobeIo::kDebug, parts.subspan(at + 1));
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(MsprobeIo io) {
  switch (io) {
    case MsprobeIo::kInput: return "input";
    case MsprobeIo::kOutput: return "output";
    case MsprobeIo::kParameter: return "parameter";
    case MsprobeIo::kDebug: return "debug";
  }
  return "";
}

std::optional<MsprobeEntry> parse_msprobe_entry(std::string_view name) {
  if (name.size() > kMaxName) return std::nullopt;
  // Names in graphs have at most one dot. This is asked of a million of them.
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos || name.find('.', dot + 1) == std::string_view::npos) return std::nullopt;
  return parse_entry(split(name, '.'));
}

std::optional<std::string> forward_entry_of(std::string_view name) {
  const auto entry = parse_msprobe_entry(name);
  if (!entry) return std::nullopt;
  const auto replaced = [&](std::string_view part, std::string_view tail) {
    const size_t at = name.rfind(part);
    return fmt::format("{}.forward{}", name.substr(0, at), tail.empty() ? name.substr(at + part.size()) : tail);
  };
  switch (entry->kind) {
    case MsprobeEntryKind::kCall:
      if (!name.ends_with(".backward")) return std::nullopt;
      return replaced(".backward", {});
    case MsprobeEntryKind::kModule: {
      const size_t direction = name.rfind('.', name.rfind('.') - 1);
      if (!name.substr(direction).starts_with(".backward.")) return std::nullopt;
      return replaced(".backward", {});
    }
    case MsprobeEntryKind::kParameterGradients:
      return replaced(".parameters_grad", name.ends_with(".parameters_grad") ? ".0" : std::string_view());
    case MsprobeEntryKind::kDebug: break;
  }
  return std::nullopt;
}

std::optional<std::string> backward_entry_of(std::string_view name) {
  constexpr std::string_view kPart = ".parameters_grad";
  const auto entry = parse_msprobe_entry(name);
  if (!entry || entry->kind != MsprobeEntryKind::kParameterGradients) return std::nullopt;
  const size_t at = name.rfind(kPart);
  const std::string_view number = name.substr(at + kPart.size());
  return fmt::format("{}.backward{}", name.substr(0, at), number.empty() ? ".0" : number);
}

std::optional<std::string> summand_entry_of(std::string_view name) {
  const auto entry = parse_msprobe_entry(name);
  if (!entry || entry->kind != MsprobeEntryKind::kParameterGradients) return std::nullopt;
  const size_t dot = name.rfind('.');
  const auto number = parse_u64(name.substr(dot + 1));
  if (number.value_or(0) == 0) return std::nullopt;
  return fmt::format("{}.{}", name.substr(0, dot), *number - 1);
}

std::optional<MsprobeName> parse_msprobe_file_name(std::string_view file_name) {
  if (file_name.size() > kMaxName) return std::nullopt;
  if (!file_name.ends_with(".npy") && !file_name.ends_with(".pt")) return std::nullopt;
  const std::vector<std::string_view> parts = split(file_name.substr(0, file_name.rfind('.')), '.');
  // The stricter form first: a saved variable may be called anything.
  if (auto name = parse_argument(parts)) return name;
  if (auto name = parse_gradient(parts)) return name;
  if (auto name = parse_unfinished(parts)) return name;
  return parse_debug(parts);
}

std::optional<RespelledName> parse_aclgraph_file_name(std::string_view file_name) {
  if (file_name.size() > kMaxName || !file_name.ends_with(".pt")) return std::nullopt;
  const std::vector<std::string_view> parts = split(file_name.substr(0, file_name.rfind('.')), '.');
  for (size_t at = 2; at < parts.size(); ++at) {
    const bool keywords = parts[at] == "input_kwargs";
    if (!is_digits(parts[at - 1]) || !(keywords || parts[at] == "input" || parts[at] == "output")) continue;
    const Parts scope = Parts(parts).first(at - 1);
    const std::string_view number = parts[at - 1];
    const bool module = scope.front() == "Module" && scope.size() >= 3;
    RespelledName name;
    name.op_name = fmt::format("{}.{}.{}", joined(scope), module ? "forward" : number, module ? number : "forward");
    name.op_type = module ? scope.back() : joined(scope.subspan(scope.size() > 1 ? 1 : 0));
    name.io = parts[at] == "output" ? MsprobeIo::kOutput : MsprobeIo::kInput;
    name.slot = joined(Parts(parts).subspan(at + 1));
    return name;
  }
  return std::nullopt;
}

std::optional<RespelledName> parse_ptdbg_name(std::string_view name) {
  if (name.size() > kMaxName) return std::nullopt;
  RespelledName result;
  // The slot: all numbers at the end.
  size_t end = name.size();
  for (size_t dot = name.rfind('.'); dot != std::string_view::npos && dot > 0; dot = name.rfind('.', dot - 1)) {
    if (!is_digits(name.substr(dot + 1, end - dot - 1))) break;
    end = dot;
  }
  if (end == name.size()) return std::nullopt;
  result.slot = name.substr(end + 1);
  name = name.substr(0, end);
  const auto take_last = [&] {
    const size_t at = name.rfind('_');
    const std::string_view word = at == std::string_view::npos ? std::string_view() : name.substr(at + 1);
    name = name.substr(0, at == std::string_view::npos ? 0 : at);
    return word;
  };
  const std::string_view side = take_last(), direction = take_last(), call = take_last();
  const size_t api = name.find('_');
  const bool known = (side == "input" || side == "output") && is_direction(direction) && is_digits(call);
  if (!known || api == 0 || api == std::string_view::npos || api + 1 == name.size()) return std::nullopt;
  result.io = side == "input" ? MsprobeIo::kInput : MsprobeIo::kOutput;
  result.op_type = name.substr(api + 1);
  result.op_name = fmt::format("{}.{}.{}.{}", name.substr(0, api), result.op_type, call, direction);
  return result;
}

}  // namespace msdump
