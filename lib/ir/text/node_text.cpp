#include "ir/text/node_text.h"

#include <algorithm>

#include "base/text.h"
#include "ir/model/scan.h"
#include "ir/model/source_frame.h"

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

// The offset of the operands of OP; kNowhere if it has none.
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

namespace {

constexpr size_t npos = std::string_view::npos;

// "(Tensor, Tuple) -> (TupleUnfold)".
bool is_objects(std::string_view text) {
  constexpr std::string_view kWords[] = {"Tensor", "Scalar", "Tuple", "TupleUnfold", "Unknown", "List", "Optional"};
  bool any = false;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find_first_not_of("(), ->", at);
    if (begin == npos) break;
    at = std::min(text.find_first_of("(), ->", begin), text.size());
    const std::string_view word = text.substr(begin, at - begin);
    if (std::find(std::begin(kWords), std::end(kWords), word) == std::end(kWords)) return false;
    any = true;
  }
  return any;
}

// "(<Float16xNC1HWC0[const vector]..": the first type is a word with an x in it.
bool is_device(std::string_view text) {
  const size_t open = text.find('<');
  if (open == npos) return false;
  const size_t end = text.find_first_of("[<>,( ", open + 1);
  return end != npos && text.substr(end).starts_with("[const vector]") &&
         text.substr(open, end - open).find('x') != npos;
}

bool is_symbolic(std::string_view text) {
  constexpr std::string_view kMarks[] = {"(S:", "(V:", ", S:", ", V:"};
  return std::any_of(std::begin(kMarks), std::end(kMarks), [&](auto mark) { return text.find(mark) != npos; });
}

bool is_closed(std::string_view text) {
  if (text.ends_with("->")) return false;
  const size_t arrow = text.rfind("-> (");
  const size_t open = text.find('(', arrow == npos ? 0 : arrow);
  return open != npos && closing_bracket(text, open) != npos;
}

}  // namespace

bool is_value_node(std::string_view line) {
  const std::string_view text = trim(line);
  return text.ends_with(')') && text.find('(') != npos && text.find('=') > text.find('(');
}

const NodeText& NodeTextParser::parse(const IrEvent& event, IrProblems& problems) {
  std::vector<FrameLine> frames = std::move(node_.frames);
  frames.clear();
  node_ = NodeText();
  node_.frames = std::move(frames);
  joined_.clear();
  joined_lines_ = 0;
  name_ = objects_ = {};
  frame_kind_ = FrameKind::kOwn;
  next_begins_chain_ = true;
  problems_ = &problems;
  line_number_ = event.line;
  head_ = trim(event.lines.front().text);
  last_ = Last::kHead;
  last_text_ = &head_;
  for (const IrEvent::Line& line : event.lines.subspan(1)) {
    line_number_ = line.number;
    add_line(line);
  }
  finish(event.cut);
  return node_;
}

void NodeTextParser::add_line(const IrEvent::Line& line) {
  const std::string_view text = trim(line.text);
  switch (line.kind) {
    case LineKind::kBlank:
    case LineKind::kEllipsis: return;
    case LineKind::kColon: return add_colon(text);
    case LineKind::kHash: return add_hash(text);
    case LineKind::kStrategy: return add_strategy(text);
    default: return continue_last(text);
  }
}

void NodeTextParser::add_colon(std::string_view text) {
  const std::string_view rest = trim_front(text.substr(1));
  if (rest.starts_with('f')) {  // full_name_with_scope: (..)
    const size_t colon = rest.find(':');
    if (colon != npos) add_name(trim(rest.substr(colon + 1)), false, NameLabel::kPlain);
    return;
  }
  add_types(rest);
}

void NodeTextParser::add_types(std::string_view text) {
  const bool arrow = text.find("->") != npos;
  last_ = Last::kTypes;
  last_text_ = nullptr;
  if (text.find('<') == npos) {
    if (arrow && is_objects(text)) {
      last_text_ = &objects_;
    } else if (!arrow && text != "()") {
      return add_name(text, false, NameLabel::kPlain);
    } else if (node_.host.empty()) {
      last_text_ = &node_.host;  // an operator without inputs and outputs
    }
  } else if (is_device(text)) {
    last_text_ = &node_.device;
  } else if (node_.host.empty()) {
    last_text_ = &node_.host;
  } else if (node_.device.empty() && !is_symbolic(text)) {
    last_text_ = &node_.device;
  }
  if (last_text_ != nullptr && last_text_->empty()) *last_text_ = text;
}

void NodeTextParser::add_hash(std::string_view text) {
  text.remove_prefix(1);
  const bool blank = text.starts_with(' ');
  text = trim_front(text);
  if (is_source_frame(text)) return add_frame(text, next_begins_chain_);
  if (text.starts_with("- ")) return add_frame(trim_front(text.substr(2)), true);
  const bool forward = text.starts_with("Corresponding forward node candidate");
  if (forward || text.starts_with("Corresponding code candidate")) {
    frame_kind_ = forward ? FrameKind::kForward : FrameKind::kCandidate;
    next_begins_chain_ = true;
  } else if (add_label(text, blank)) {
    return;
  }
  last_ = Last::kNone;
}

// "fullname_with_scope: (..)" and its other spellings.
bool NodeTextParser::add_label(std::string_view text, bool blank_after_sharp) {
  struct Label {
    std::string_view title;
    bool is_scope;
    NameLabel label;
  };
  constexpr Label kLabels[] = {{"Fullname with scope:", false, NameLabel::kUpper},
                               {"fullname_with_scope:", false, NameLabel::kLower},
                               {"full_name_with_scope:", false, NameLabel::kLower},
                               {"Scope:", true, NameLabel::kUpper},
                               {"scope:", true, NameLabel::kLower}};
  for (const Label& known : kLabels) {
    if (!text.starts_with(known.title)) continue;
    add_name(trim(text.substr(known.title.size())), known.is_scope, blank_after_sharp ? known.label : NameLabel::kSort);
    return true;
  }
  return false;
}

void NodeTextParser::add_name(std::string_view text, bool is_scope, NameLabel label) {
  node_.label = label;
  last_ = Last::kName;
  last_text_ = &name_;
  if (text.empty()) problem("the label of a name has no name after it");
  if (!name_.empty() && is_scope) return;  // a full name says more
  name_ = text;
  name_is_scope_ = is_scope;
}

void NodeTextParser::add_frame(std::string_view text, bool begins_chain) {
  if (!is_source_frame(text)) {
    last_ = Last::kNone;
    return;
  }
  node_.frames.push_back({text, frame_kind_, begins_chain, line_number_});
  next_begins_chain_ = false;
  last_ = Last::kFrame;
}

// "{in_strategy: ..}     : (..) -> (..)"; otherwise a wrapped line.
void NodeTextParser::add_strategy(std::string_view text) {
  const size_t close = closing_bracket(text, 0);
  const std::string_view rest = close == npos ? std::string_view() : trim_front(text.substr(close + 1));
  if (!rest.starts_with(": (") && !rest.starts_with(":(")) return continue_last(text);
  add_colon(rest);
}

bool NodeTextParser::last_is_open() const {
  switch (last_) {
    case Last::kHead: return !is_complete_head(head_);
    case Last::kTypes: return last_text_ != nullptr && !is_closed(*last_text_);
    case Last::kName: return name_.starts_with('(') && !name_.ends_with(')');
    case Last::kFrame: return !is_whole_frame(node_.frames.back().text);
    case Last::kNone: break;
  }
  return false;
}

void NodeTextParser::continue_last(std::string_view text) {
  // Checking whether the last part is open scans all of it, which is too slow for every line of a damaged file.
  if (joined_lines_ > kMaxJoined) return;
  if (last_continues_with(text) || last_is_open()) {
    join(text);
  } else if (!is_value_node(text)) {
    problem("line not understood: " + excerpt(text));
  }
}

// Parts that never begin a line of their own, even after a complete one: a group of attributes, outputs.
bool NodeTextParser::last_continues_with(std::string_view text) const {
  if (last_ == Last::kHead) {
    return text.starts_with("primitive_attrs") || text.starts_with("cnode_") || text.starts_with('{');
  }
  return last_ == Last::kTypes && last_text_ != nullptr && text.starts_with("->");
}

void NodeTextParser::join(std::string_view text) {
  std::string_view& target = last_ == Last::kFrame ? node_.frames.back().text : *last_text_;
  if (++joined_lines_ > kMaxJoined || target.size() + text.size() > IrTextReader::kMaxLine) {
    if (joined_lines_ == kMaxJoined + 1) problem("too many continuation lines: the rest is skipped");
    return;
  }
  const bool again = !joined_.empty() && joined_.back().data() == target.data();
  std::string& whole = again ? joined_.back() : joined_.emplace_back(target);
  if (last_ != Last::kName) whole += ' ';  // names hold no blanks
  whole += text;
  target = whole;
}

void NodeTextParser::problem(std::string reason) { problems_->add({line_number_, std::move(reason)}); }

void NodeTextParser::finish(bool cut) {
  node_.whole = !cut || !last_is_open();
  node_.wrong = parse_node_head(head_, node_.head);
  std::string_view name = name_;
  if (name.starts_with('(')) {
    const size_t close = name.rfind(')');
    if (close == npos) problem("the name of this operator is cut off");
    name = close == npos ? std::string_view() : name.substr(1, close - 1);
  }
  (name_is_scope_ ? node_.scope : node_.full_name) = trim(name);
}

}  // namespace msdump
