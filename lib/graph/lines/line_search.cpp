#include "graph/lines/line_search.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/containers.h"
#include "base/text.h"
#include "graph/lines/source_lines.h"
#include "ir/model/source_frame.h"

namespace msdump {
namespace {

// The text without surrounding blanks and the '#' that such a line begins with in IR.
std::string_view frame_text(std::string_view text) {
  text = trimmed(text);
  return text.substr(std::min(text.find_first_not_of(" \t#"), text.size()));
}

// Takes the number off the start of `text`.
std::optional<uint32_t> take_number(std::string_view& text) {
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  const auto number = parse_u64(text.substr(0, digits));
  if (!number || *number == 0 || *number > UINT32_MAX) return std::nullopt;
  text.remove_prefix(digits);
  return static_cast<uint32_t>(*number);
}

// True for text that may follow a line number in a copied line: a closing bracket, columns, the code, "in construct".
bool is_tail(std::string_view text) {
  if (!text.empty() && text.front() == ')') text.remove_prefix(1);
  return text.empty() || text.front() == ',' || text.front() == '/' || text.front() == ' ' || text.front() == ':';
}

// "175", "175-180", "15~20, 4~16/code/"
bool take_lines(std::string_view text, LineQuery& query) {
  const auto first = take_number(text);
  if (!first) return false;
  query.first = query.last = *first;
  if (!text.empty() && (text.front() == '-' || text.front() == '~')) {
    text.remove_prefix(1);
    const auto last = take_number(text);
    if (!last || *last < *first) return false;
    query.last = *last;
  }
  return is_tail(text);
}

// File "PATH", line 175, in construct
bool parse_traceback(std::string_view text, LineQuery& query) {
  constexpr std::string_view kFile = "File \"", kLine = "\", line ";
  if (!text.starts_with(kFile)) return false;
  const size_t line = text.find(kLine);
  if (line == std::string_view::npos) return false;
  query.file = text.substr(kFile.size(), line - kFile.size());
  return take_lines(text.substr(line + kLine.size()), query);
}

// Splits at the first ':' or '(' that is followed by line numbers.
bool parse_place(std::string_view text, LineQuery& query) {
  for (size_t at = 1; at < text.size(); ++at) {
    if (text[at] != ':' && text[at] != '(') continue;
    query.file = text.substr(0, at);
    if (take_lines(text.substr(at + 1), query)) return true;
  }
  return false;
}

// Removes "." and ".." from a path: a script that was started by a relative path is "/home/user/run/../src/net.py" in
// the IR. Leading ones are removed, too, as their starting point is unknown.
std::string resolved(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    const size_t length = std::min(path.find('/'), path.size() - 1) + 1;
    const std::string_view component = path.substr(0, length);
    path.remove_prefix(length);
    if (component == "./") continue;
    if (component != "../") {
      result += component;
    } else if (result.size() > 1) {
      const size_t parent = result.rfind('/', result.size() - 2);
      result.resize(parent == std::string::npos ? 0 : parent + 1);
    }
  }
  return result;
}

bool ends_with_components(std::string_view path, std::string_view end) {
  if (end.empty() || !path.ends_with(end)) return false;
  if (path.size() == end.size() || end.front() == '/') return true;
  const char before = path[path.size() - end.size() - 1];
  return before == '/' || before == '\\';
}

}  // namespace

Result<LineQuery> parse_line_query(std::string_view text) {
  std::string_view rest = frame_text(text);
  for (const std::string_view start :
       {std::string_view("- "), std::string_view("inlined:"), std::string_view("In file ")}) {
    if (rest.starts_with(start)) rest = frame_text(rest.substr(start.size()));
  }
  LineQuery query;
  if (!parse_traceback(rest, query) && !parse_place(rest, query)) {
    // The text may be a file name without lines.
    const bool is_name = !rest.empty() && rest.find_first_of(" ()") == std::string_view::npos && rest.ends_with(".py");
    if (!is_name) {
      return fail(make_error(ErrorCode::kUsage, "'{}' is not a line of a script", excerpt(text))
                      .with_hint("write FILE:LINE or FILE:LINE-LINE, such as alexnet.py:175"));
    }
    query = {std::string(rest), 0, 0};
  }
  while (query.file.starts_with("./")) query.file.erase(0, 2);
  return query;
}

bool path_ends_with(std::string_view path, std::string_view end) {
  const auto has_dots = [](std::string_view text) { return text.find("./") != std::string_view::npos; };
  if (!has_dots(path) && !has_dots(end)) return ends_with_components(path, end);
  return ends_with_components(resolved(path), resolved(end));
}

std::string collapsed_code(std::string_view text) {
  std::string result;
  for (const char c : frame_text(text)) {
    const bool blank = c == ' ' || c == '\t' || c == '/';  // IR has '/' for line feeds
    if (!blank) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

namespace {

enum class Fit : uint8_t { kNone, kWhole, kPart };  // the frame lies in the query; or reaches beyond it

using FitFrame = std::function<Fit(const SourceFrame&)>;

// The fit of each frame of one graph; each frame is examined once.
using FrameFits = std::vector<Fit>;

FrameFits fits_of(const IrGraph& ir, const FitFrame& fit) {
  FrameFits fits;
  fits.reserve(ir.frames.size());
  for (const SourceFrame& frame : ir.frames) fits.push_back(fit(frame));
  return fits;
}

Fit fit_of_lines(const LineQuery& query, const SourceFrame& frame) {
  if (!path_ends_with(frame.file, query.file)) return Fit::kNone;
  const uint32_t last = std::max(frame.line, frame.end_line);
  if (query.first == 0 || (query.first <= frame.line && last <= query.last)) return Fit::kWhole;
  const bool overlap = frame.line <= query.last && query.first <= last;
  return overlap && !is_def_frame(frame) ? Fit::kPart : Fit::kNone;
}

constexpr double kSurest = 1.0, kOuterFrame = 0.8, kPartOfRange = 0.8, kOfForward = 0.9, kOneOfSeveral = 0.5,
                 kProtobufAlone = 0.3;

// Finds the best relation of one operator.
class OperatorMatcher {
 public:
  OperatorMatcher(const IrGraph& ir, const FrameFits& fits, bool whole_file, bool of_ir)
      : ir_(ir), fits_(fits), whole_file_(whole_file), of_ir_(of_ir) {}

  std::optional<LineHit> match(const IrNode& node) {
    best_.reset();
    const auto stack = ir_.stack(node);
    for (size_t begin = 0; begin < stack.size();) {
      size_t end = begin + 1;
      while (end < stack.size() && !ir_.frames[stack[end]].begins_chain) ++end;
      match_chain(stack.subspan(begin, end - begin));
      begin = end;
    }
    return best_;
  }

 private:
  // Frames come innermost first. The innermost frame is the first statement in the user's code, or in the library if
  // there is no user code.
  void match_chain(std::span<const uint32_t> chain) {
    frames_.clear();
    for (const uint32_t frame : chain) frames_.push_back(&ir_.frames[frame]);
    bool user_statement_seen = false;
    for (size_t i = 0; i < chain.size(); ++i) {
      const SourceFrame& frame = *frames_[i];
      const bool library = is_library_file(frame.file), statement = !is_def_frame(frame);
      const bool innermost = i == 0 || (!library && !user_statement_seen);
      const bool other_call = of_ir_ && innermost && statement && !library && is_of_other_call(frames_, i);
      if (fits_[chain[i]] != Fit::kNone) take(frame, fits_[chain[i]], innermost && statement, other_call);
      if (!library && statement && !other_call) user_statement_seen = true;
    }
  }

  void take(const SourceFrame& frame, Fit fit, bool innermost, bool other_call) {
    LineHit hit;
    hit.frame = &frame;
    hit.one_of_several = other_call;
    hit.confidence = innermost || whole_file_ ? kSurest : kOuterFrame;
    if (frame.kind != FrameKind::kOwn) {
      hit.relation = frame.kind == FrameKind::kForward ? Relation::kGradient : Relation::kFused;
      hit.confidence = std::min(hit.confidence, kOfForward);
    } else if (fit == Fit::kPart) {
      hit.relation = Relation::kRange;
      hit.confidence = std::min(hit.confidence, kPartOfRange);
    } else {
      hit.relation = innermost ? Relation::kDirect : Relation::kVia;
    }
    if (other_call) hit.confidence = std::min(hit.confidence, kOneOfSeveral);
    const auto rank = [](const LineHit& one) { return std::pair(one.relation, -one.confidence); };
    if (!best_ || rank(hit) < rank(*best_)) best_ = hit;
  }

  const IrGraph& ir_;
  const FrameFits& fits_;
  const bool whole_file_, of_ir_;
  std::vector<const SourceFrame*> frames_;  // of one chain
  std::optional<LineHit> best_;
};

// Matches all operators of one origin.
class OriginMatcher {
 public:
  OriginMatcher(const Origin& origin, const FitFrame& fit, bool whole_file)
      : origin_(origin),
        fits_(fits_of(origin.graph, fit)),
        matcher_(origin.graph, fits_, whole_file, origin.kind != OriginKind::kStackJson) {
    if (!origin.second) return;
    second_fits_ = fits_of(*origin.second, fit);
    second_matcher_.emplace(*origin.second, second_fits_, whole_file, true);
  }

  void run(std::vector<LineHit>& hits) {
    const auto none = [](Fit one) { return one == Fit::kNone; };
    if (std::all_of(fits_.begin(), fits_.end(), none) && std::all_of(second_fits_.begin(), second_fits_.end(), none))
      return;
    const EqualStacks equal(origin_.graph);
    for (uint32_t i = 0; i < origin_.graph.nodes.size(); ++i) {
      const IrNode& node = origin_.graph.nodes[i];
      if (node.kind != IrNodeKind::kKernel) continue;
      auto hit = match(i, equal.repeated(node));
      if (!hit) continue;
      hit->op = OpId(origin_.first_operator + i);
      hits.push_back(*hit);
    }
  }

 private:
  std::optional<LineHit> match(uint32_t place, bool repeated) {
    auto hit = matcher_.match(origin_.graph.nodes[place]);
    const uint32_t second = origin_.second_node.empty() ? kNoIndex : origin_.second_node[place];
    std::optional<LineHit> other;
    if (second_matcher_ && second != kNoIndex) other = second_matcher_->match(origin_.second->nodes[second]);
    // For gradients of a cell that is called several times, the text has each call and the protobuf repeats the last
    // one.
    const bool protobuf_alone = !hit && other;
    if (!hit) hit = other;
    if (!hit) return hit;
    // The gradients of one operator share its lines, so equal stacks say nothing about them.
    hit->one_of_several = hit->one_of_several || protobuf_alone || (repeated && hit->relation != Relation::kGradient);
    if (hit->one_of_several) hit->confidence = std::min(hit->confidence, kOneOfSeveral);
    if (protobuf_alone) hit->confidence = std::min(hit->confidence, kProtobufAlone);
    return hit;
  }

  const Origin& origin_;
  FrameFits fits_, second_fits_;
  OperatorMatcher matcher_;
  std::optional<OperatorMatcher> second_matcher_;
};

std::vector<LineHit> find(const OpGraph& graph, const FitFrame& fit, bool whole_file) {
  std::vector<LineHit> hits;
  for (const Origin& origin : graph.origins()) OriginMatcher(origin, fit, whole_file).run(hits);
  std::stable_sort(hits.begin(), hits.end(),
                   [](const LineHit& a, const LineHit& b) { return a.relation < b.relation; });
  return hits;
}

}  // namespace

bool is_better(const LineHit& a, const LineHit& b) {
  return a.relation != b.relation ? a.relation < b.relation : a.confidence > b.confidence;
}

std::string_view name_of(Relation relation) {
  static constexpr auto kNames = enum_table<Relation, std::string_view>("direct", "via", "range", "gradient", "fused");
  return kNames[relation];
}

std::vector<LineHit> find_line(const OpGraph& graph, const LineQuery& query) {
  return find(
      graph, [&](const SourceFrame& frame) { return fit_of_lines(query, frame); }, query.first == 0);
}

std::vector<LineHit> find_code(const OpGraph& graph, std::string_view code) {
  const std::string wanted = collapsed_code(code);
  const auto fit = [&](const SourceFrame& frame) {
    return collapsed_code(frame.code).find(wanted) == std::string::npos ? Fit::kNone : Fit::kWhole;
  };
  return wanted.empty() ? std::vector<LineHit>() : find(graph, fit, false);
}

std::vector<LineHit> find_likely_line(const OpGraph& graph, const OperatorLines& lines, const LineQuery& query) {
  std::vector<LineHit> hits;
  if (query.first == 0) return hits;
  for (const Origin& origin : graph.origins()) {
    const std::vector<SourceFrame>& frames = origin.graph.frames;
    const auto is_asked = [&](const SourceFrame& frame) { return path_ends_with(frame.file, query.file); };
    if (std::none_of(frames.begin(), frames.end(), is_asked)) continue;  // lines are of files that a frame has
    const OpId end(origin.first_operator + origin.graph.nodes.size());
    for (OpId op = origin.first_operator; op < end; ++op) {
      const SourceFrame* const own = graph.has_kernel(op) ? best_frame(graph, op) : nullptr;
      if (own == nullptr || is_library_file(own->file))
        continue;  // what is around a library's frame is no line of its own
      const OperatorLine line = lines.of(op);
      if (line.frame == own || fit_of_lines(query, *line.frame) != Fit::kWhole) continue;
      hits.push_back(
          {op, Relation::kDirect, line.frame, line.one_of_several, line.one_of_several ? kOneOfSeveral : kOfForward});
    }
  }
  return hits;
}

IrNeedle needle_of(const LineQuery& query) {
  IrNeedle needle{query.file.substr(query.file.find_last_of("/\\") + 1), {}};
  if (query.first == 0) return needle;
  needle.accept = [first = query.first, last = query.last](std::string_view rest) {
    const auto place = msdump::parse_place(rest);
    // A frame without the '/' before its code continues on the next line.
    const bool wrapped = rest.empty() || rest.front() == ':' || rest.front() == '(';
    if (!place && wrapped && rest.find('/') == std::string_view::npos) return true;
    if (!place || place->first > last || place->second < first) return false;
    if (place->first >= first && place->second <= last) return true;
    // The frame of the enclosing def covers nearly every call in it.
    SourceFrame frame;
    frame.code = rest.substr(rest.find('/') + 1);
    return !is_def_frame(frame);
  };
  return needle;
}

std::vector<const SourceFrame*> nearest_lines(const OpGraph& graph, const LineQuery& query, size_t most) {
  std::map<std::tuple<uint32_t, std::string_view, uint32_t>, const SourceFrame*> by_distance;
  for (const Origin& origin : graph.origins()) {
    for (const SourceFrame& frame : origin.graph.frames) {
      if (frame.line == 0 || is_def_frame(frame) || !path_ends_with(frame.file, query.file)) continue;
      const uint32_t distance = frame.line < query.first  ? query.first - frame.line
                                : frame.line > query.last ? frame.line - query.last
                                                          : 0;
      by_distance.try_emplace({distance, frame.file, frame.line}, &frame);
    }
  }
  std::vector<const SourceFrame*> nearest;
  for (const auto& [key, frame] : by_distance) {
    if (nearest.size() == most) break;
    nearest.push_back(frame);
  }
  return nearest;
}

std::vector<std::string> script_files(const OpGraph& graph) {
  std::set<std::pair<bool, std::string>> files;
  for (const Origin& origin : graph.origins()) {
    for (const SourceFrame& frame : origin.graph.frames) files.emplace(is_library_file(frame.file), frame.file);
  }
  std::vector<std::string> names;
  for (const auto& [library, name] : files) names.push_back(name);
  return names;
}

}  // namespace msdump
