#include "ir/text/text_blocks.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

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

namespace {

constexpr size_t kFirstCapacity = size_t{512} << 10;     // fits a core's cache
constexpr size_t kHeadOfFile = size_t{64} << 10;         // what decides whether the lines are numbered
constexpr std::string_view kCommentIndent = "        ";  // of a comment of the script, which may look like anything
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

size_t find_byte(const char* buffer, size_t begin, size_t end, char byte) {
  const void* found = begin < end ? std::memchr(buffer + begin, byte, end - begin) : nullptr;
  return found == nullptr ? end : static_cast<size_t>(static_cast<const char*>(found) - buffer);
}

}  // namespace

IrTextReader::IrTextReader(const File& file, IrNeedle needle) : file_(&file), needle_(std::move(needle)) {}

Result<IrEvent> IrTextReader::next() {
  while (!ended_) {
    MSDUMP_TRY(const bool found, find_line());
    if (!found) {
      ended_ = true;
      if (in_graph_head_) return *continue_graph_head();
      if (node_open_) {
        if (auto last = finish_node()) return *last;
      }
      break;
    }
    if (auto event = line_.too_long ? step_over_long_line() : step()) return *event;
  }
  IrEvent end;
  end.line = line_number_;
  end.offset = file_->size();
  return end;
}

// Makes line_ the line at position_; false at the end of the file.
Result<bool> IrTextReader::find_line() {
  while (!have_line_) {
    if (skipping_ && step_over_rest()) continue;
    const size_t from = position_ + scanned_;
    const size_t feed = skipping_ ? end_ : find_byte(buffer_.get(), from, end_, '\n');
    const bool at_end = file_offset_ == file_->size();
    if (feed < end_ || (!skipping_ && (end_ - position_ > kMaxLine + 2 || (at_end && position_ < end_)))) {
      have_line_ = use_line(feed - position_, feed < end_);
    } else if (at_end) {
      return false;
    } else {
      scanned_ = end_ - position_;
      MSDUMP_CHECK_OK(refill());
    }
  }
  return true;
}

bool IrTextReader::use_line(size_t length, bool has_end) {
  line_.complete = has_end;
  line_.too_long = length > kMaxLine + 1;
  line_.end = position_ + length + (has_end ? 1 : 0);
  std::string_view text(buffer_.get() + position_, std::min(length, kMaxLine));
  if (gutters_) text.remove_prefix(gutter_length(text));
  if (text.ends_with('\r')) text.remove_suffix(1);
  line_.begin = static_cast<size_t>(text.data() - buffer_.get());
  line_.size = text.size();
  line_.kind = line_kind(text);
  if (in_comment_ && text.starts_with(kCommentIndent)) {
    line_.kind = LineKind::kBlank;
  } else {
    in_comment_ = line_.kind == LineKind::kHash && trim_front(text).starts_with("# Comment:");
  }
  return true;
}

void IrTextReader::take_line() {
  position_ = line_.end;
  scanned_ = 0;
  have_line_ = false;
  ++line_number_;
}

// Skips the rest of a line that is too long; false if more of the file must be read.
bool IrTextReader::step_over_rest() {
  const size_t feed = find_byte(buffer_.get(), position_, end_, '\n');
  skipping_ = feed == end_;
  position_ = skipping_ ? end_ : feed + 1;
  scanned_ = 0;
  return !skipping_;
}

void IrTextReader::add_problem(uint64_t line, std::string reason) { problems_.add({line, std::move(reason)}); }

// Moves what is still needed to the front and reads more.
Status IrTextReader::refill() {
  const size_t held_from = node_open_ ? block_begin_ : position_;
  const size_t held = end_ - held_from;
  if (held_from > 0) std::memmove(buffer_.get(), buffer_.get() + held_from, held);
  position_ -= held_from;
  block_begin_ -= std::min(block_begin_, held_from);
  block_end_ -= std::min(block_end_, held_from);
  searched_ -= std::min(searched_, held_from);
  hit_ = hit_ == kNowhere || hit_ < held_from ? kNowhere : hit_ - held_from;
  end_ = held;
  MSDUMP_CHECK_OK(make_room(held));
  const auto count = static_cast<size_t>(std::min<uint64_t>(capacity_ - end_, file_->size() - file_offset_));
  const bool first = file_offset_ == 0;
  const Status read = file_->read_at(file_offset_, std::as_writable_bytes(std::span(buffer_.get() + end_, count)));
  if (!read) {
    ended_ = true;
    return read;
  }
  end_ += count;
  file_offset_ += count;
  if (first) detect_gutters();
  return {};
}

// A full buffer grows, or drops the operator that fills it.
Status IrTextReader::make_room(size_t held) {
  if (held < capacity_) return {};
  if (capacity_ >= kMaxBlock) {
    lose_node(fmt::format("an operator with more than {} bytes of text is left out", kMaxBlock));
    return refill();
  }
  const auto first = static_cast<size_t>(std::min<uint64_t>(kFirstCapacity, file_->size()));
  const size_t capacity = std::min(std::max(first, capacity_ * 4), kMaxBlock);
  auto larger = std::make_unique_for_overwrite<char[]>(capacity);
  if (held > 0) std::memcpy(larger.get(), buffer_.get(), held);
  buffer_ = std::move(larger);
  capacity_ = capacity;
  return {};
}

// Skips a byte order mark and checks whether most lines begin with their number.
void IrTextReader::detect_gutters() {
  const std::string_view head(buffer_.get(), std::min(end_, kHeadOfFile));
  if (head.starts_with(kByteOrderMark)) position_ = kByteOrderMark.size();
  size_t lines = 0, numbered = 0;
  for (size_t begin = position_; begin < head.size();) {
    const size_t feed = find_byte(head.data(), begin, head.size(), '\n');
    const std::string_view line = head.substr(begin, feed - begin);
    begin = feed + 1;
    if (trim(line).empty()) continue;
    ++lines;
    if (gutter_length(line) > 0) ++numbered;
  }
  gutters_ = numbered * 10 >= lines * 6 && numbered >= 3;
}

std::optional<IrEvent> IrTextReader::step() {
  if (in_graph_head_) return continue_graph_head();
  switch (line_.kind) {
    case LineKind::kNode:
    case LineKind::kReturn:
      if (node_open_) return finish_node();
      start_node();
      return std::nullopt;
    case LineKind::kGraph:
    case LineKind::kGraphNote:
    case LineKind::kClose:
    case LineKind::kParameter:
      if (node_open_) return finish_node();
      node_lost_ = false;
      return outside_node();
    default:
      if (node_open_) {
        append_to_node();
        return std::nullopt;
      }
      return outside_node();
  }
}

// Reports the line and removes it from the operator or graph that it belongs to.
std::optional<IrEvent> IrTextReader::step_over_long_line() {
  const bool defines_node = line_.kind == LineKind::kNode || line_.kind == LineKind::kReturn;
  if (defines_node && node_open_) return finish_node();
  add_problem(line_number_, fmt::format("a line of more than {} bytes is skipped", kMaxLine));
  node_heads_ += defines_node ? 1 : 0;
  node_lost_ = node_lost_ || defines_node;
  skipping_ = line_.end <= end_ && buffer_[line_.end - 1] != '\n';
  take_line();
  return std::nullopt;
}

std::optional<IrEvent> IrTextReader::outside_node() {
  switch (line_.kind) {
    case LineKind::kGraph:
      in_graph_head_ = true;
      graph_head_.clear();
      graph_line_ = line_number_;
      graph_offset_ = file_offset_ - (end_ - position_);
      return continue_graph_head();
    case LineKind::kClose: {
      inside_graph_ = false;
      return simple_event(IrEvent::Kind::kGraphEnd);
    }
    case LineKind::kBlank:
    case LineKind::kEllipsis: take_line(); return std::nullopt;
    default:
      if (!node_lost_) return simple_event(IrEvent::Kind::kHead);
      take_line();
      return std::nullopt;
  }
}

IrEvent IrTextReader::simple_event(IrEvent::Kind kind) {
  IrEvent event;
  event.kind = kind;
  event.line_kind = line_.kind;
  event.line = line_number_;
  event.offset = file_offset_ - (end_ - position_);
  event.text = {buffer_.get() + line_.begin, line_.size};
  take_line();
  return event;
}

// Joins the lines of "subgraph @g(" .. ") {"; an operator or the end of the file ends it, too.
std::optional<IrEvent> IrTextReader::continue_graph_head() {
  const bool over = ended_ || line_.kind == LineKind::kNode || line_.kind == LineKind::kReturn ||
                    line_.kind == LineKind::kClose || graph_head_.size() > kMaxLine;
  bool complete = over;
  if (!over) {
    const std::string_view text = trim({buffer_.get() + line_.begin, line_.size});
    if (!graph_head_.empty()) graph_head_ += ' ';
    graph_head_ += text;
    complete = text.ends_with('{');
    take_line();
  }
  if (!complete) return std::nullopt;
  if (over) add_problem(graph_line_, "the head of this graph does not end in '{'");
  in_graph_head_ = false;
  inside_graph_ = true;
  IrEvent event;
  event.kind = IrEvent::Kind::kGraph;
  event.line = graph_line_;
  event.offset = graph_offset_;
  event.text = graph_head_;
  return event;
}

void IrTextReader::start_node() {
  ++node_heads_;
  node_open_ = true;
  node_lost_ = false;
  block_.clear();
  block_begin_ = position_;
  block_line_ = line_number_;
  append_to_node();
}

void IrTextReader::lose_node(std::string reason) {
  add_problem(block_line_, std::move(reason));
  node_open_ = false;
  node_lost_ = true;
}

void IrTextReader::append_to_node() {
  if (line_.kind == LineKind::kBlank) return take_line();
  if (block_.size() == kMaxBlockLines) {
    return lose_node(fmt::format("an operator of more than {} lines is left out", kMaxBlockLines));
  }
  block_.push_back({static_cast<uint32_t>(line_.begin - block_begin_), static_cast<uint32_t>(line_.size),
                    static_cast<uint32_t>(line_number_ - block_line_), line_.kind});
  block_end_ = line_.end;
  block_cut_ = !line_.complete;
  take_line();
}

std::optional<IrEvent> IrTextReader::finish_node() {
  node_open_ = false;
  if (!needle_.text.empty() && !block_is_wanted()) return std::nullopt;
  const char* const block = buffer_.get() + block_begin_;
  lines_.clear();
  for (const BlockLine& line : block_) {
    lines_.push_back({{block + line.begin, line.size}, line.kind, block_line_ + line.number});
  }
  IrEvent event;
  event.kind = IrEvent::Kind::kNode;
  event.line = block_line_;
  event.offset = file_offset_ - (end_ - block_begin_);
  event.lines = lines_;
  event.cut = block_cut_;
  return event;
}

// The needle is searched once in everything that has been read; most operators lie between two occurrences.
bool IrTextReader::block_is_wanted() {
  const size_t size = needle_.text.size();
  for (;;) {
    if (hit_ == kNowhere || hit_ < block_begin_) {
      const size_t from = std::max(searched_, block_begin_);
      const void* found =
          from < end_ ? ::memmem(buffer_.get() + from, end_ - from, needle_.text.data(), size) : nullptr;
      if (found == nullptr) {
        hit_ = kNowhere;
        searched_ = std::max(from, end_ - std::min(end_, size - 1));
        return false;
      }
      hit_ = searched_ = static_cast<size_t>(static_cast<const char*>(found) - buffer_.get());
    }
    const size_t after = hit_ + size;
    if (after > block_end_) return false;
    const size_t line_end = find_byte(buffer_.get(), after, block_end_, '\n');
    if (!needle_.accept || needle_.accept({buffer_.get() + after, line_end - after})) return true;
    searched_ = hit_ + 1;
    hit_ = kNowhere;
  }
}

}  // namespace msdump
