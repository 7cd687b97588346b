#include "ir/text/node_head.h"

#include "ir/model/scan.h"

namespace msdump {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

// "%12(debug) = ": leaves `text` at OP.
const char* take_definition(std::string_view& text, NodeHead& head) {
  size_t at = 1;
  uint32_t number = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    if (at > 9) return "the number of this operator is too large";
    number = number * 10 + static_cast<uint32_t>(text[at] - '0');
  }
  head.number = number;
  text.remove_prefix(at);
  if (text.starts_with('(')) {
    const size_t end = text.find(") =");
    if (end == kNowhere) return "no ')' after the name of this operator";
    head.debug_name = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
  }
  text = trim_front(text);
  if (!text.starts_with('=')) return "no '=' after the name of this operator";
  text = trim_front(text.substr(1));
  return nullptr;
}

// Where the operands of OP begin; kNowhere if it has none.
size_t find_operands(std::string_view text) {
  size_t at = 0;
  if (text.starts_with("$(")) {
    at = closing_bracket(text, 1);
    if (at == kNowhere) return kNowhere;
    ++at;
  }
  while (at < text.size() && text[at] != '(') {
    if (text[at] == '[' || text[at] == '{') {
      const size_t close = closing_bracket(text, at);
      if (close == kNowhere) return text.find('(', at);
      at = close;
    }
    ++at;
  }
  return at < text.size() ? at : kNowhere;
}

std::string_view without_class(std::string_view op) {
  const size_t colons = op.find("::");
  const size_t type = op.find("{prim_type=");
  return colons == kNowhere || type == kNowhere || type < colons ? op : op.substr(colons + 2, type - colons - 2);
}

}  // namespace

const char* parse_node_head(std::string_view text, NodeHead& head) {
  head = NodeHead();
  text = trim(text);
  if (text.starts_with('%')) {
    if (const char* wrong = take_definition(text, head)) return wrong;
  }
  size_t open = find_operands(text);
  if (open == kNowhere) return "no operands";
  size_t close = closing_bracket(text, open);
  // The callee may be a literal with brackets of its own: "Tensor(shape=[], ..)(%1)".
  while (close != kNowhere && text.substr(close + 1).starts_with('(')) {
    open = close + 1;
    close = closing_bracket(text, open);
  }
  head.op = without_class(trim(text.substr(0, open)));
  if (head.op.empty()) return "no operator before its operands";
  head.operands_closed = close != kNowhere;
  head.operands = trim(text.substr(open + 1, close == kNowhere ? kNowhere : close - open - 1));
  if (close != kNowhere) head.attributes = trim(text.substr(close + 1));
  return nullptr;
}

bool is_complete_head(std::string_view text) {
  NodeHead head;
  if (parse_node_head(text, head) != nullptr || !head.operands_closed) return false;
  std::string_view rest = head.attributes;
  while (!rest.empty()) {
    const size_t open = rest.find('{');
    const size_t close = open == kNowhere ? kNowhere : closing_bracket(rest, open);
    if (close == kNowhere) return false;
    rest = trim_front(rest.substr(close + 1));
  }
  return true;
}

}  // namespace msdump
