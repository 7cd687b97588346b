#include "ir/text/line_kind.h"

namespace msdump {
namespace {

// "%4(x) = ", "%4 = ". An operand at the front of a wrapped line, "%4, %5)", has neither.
LineKind kind_of_percent(std::string_view text) {
  size_t at = 1;
  while (at < text.size() && is_digit(text[at])) ++at;
  if (at == 1) {
    const bool parameter = text.starts_with("%para") && text.find(": <") != std::string_view::npos;
    return parameter ? LineKind::kParameter : LineKind::kText;
  }
  const std::string_view rest = text.substr(at);
  return rest.starts_with('(') || rest.starts_with(" =") ? LineKind::kNode : LineKind::kText;
}

LineKind kind_of_subgraph(std::string_view text) {
  if (text.starts_with("subgraph @")) return LineKind::kGraph;
  constexpr std::string_view kNotes[] = {"subgraph attr", "subgraph instance", "subgraph symbol", "subgraph flag"};
  for (const std::string_view note : kNotes) {
    if (text.starts_with(note)) return LineKind::kGraphNote;
  }
  return LineKind::kText;
}

LineKind kind_of_colon(std::string_view text) {
  const std::string_view rest = trim_front(text.substr(1));
  return rest.starts_with('(') || rest.starts_with("full") ? LineKind::kColon : LineKind::kText;
}

}  // namespace

LineKind line_kind(std::string_view line) {
  const std::string_view text = trim_front(line);
  if (text.empty()) return LineKind::kBlank;
  switch (text[0]) {
    case '#': return LineKind::kHash;
    case ':': return kind_of_colon(text);
    case '%': return kind_of_percent(text);
    case '}': return trim(text).size() == 1 ? LineKind::kClose : LineKind::kText;
    case '{': return LineKind::kStrategy;
    case 's': return kind_of_subgraph(text);
    case 'R': return text.starts_with("Return(") ? LineKind::kReturn : LineKind::kText;
    case 'r': return text.starts_with("return(") ? LineKind::kReturn : LineKind::kText;
    case 'P': return text.starts_with("Primitive::Return{") ? LineKind::kReturn : LineKind::kText;
    case '.': return text.starts_with("...") ? LineKind::kEllipsis : LineKind::kText;
    case '\xe2': return text.starts_with("\xe2\x80\xa6") ? LineKind::kEllipsis : LineKind::kText;
    default: return LineKind::kText;
  }
}

size_t gutter_length(std::string_view line) {
  size_t at = 0;
  while (at < line.size() && is_blank(line[at])) ++at;
  const size_t first = at;
  while (at < line.size() && is_digit(line[at])) ++at;
  if (at == first || at - first > 7) return 0;
  if (at == line.size()) return at;
  return line[at] == ':' || is_blank(line[at]) ? at + 1 : 0;
}

}  // namespace msdump
