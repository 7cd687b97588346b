#include "divergence/roots/cut_text.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/limits.h"

namespace msdump {
namespace {

std::string line_name(const SourceFrame& frame) {
  const std::string_view file = frame.file;
  return fmt::format("{}:{}", escape_for_terminal(file.substr(file.rfind('/') + 1)), frame.line);
}

// " (6 of lstm.py:25, 5 of lstm.py:28)": nothing for operators of one line.
std::string lines_text(const std::vector<CutLine>& lines) {
  if (lines.size() < 2) return {};
  std::string text;
  uint64_t others = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i < kNamedInText) {
      text += fmt::format("{}{} of {}", i == 0 ? "" : ", ", lines[i].operators, line_name(*lines[i].frame));
    } else {
      others += lines[i].operators;
    }
  }
  if (others > 0) text += fmt::format(", {} of {}", others, plural(lines.size() - kNamedInText, "further line"));
  return " (" + text + ")";
}

}  // namespace

std::vector<CutLine> lines_of_cut(const DiffResult& run, const GradientCut& cut) {
  std::map<std::tuple<std::string_view, uint32_t>, size_t> places;
  std::vector<CutLine> lines;
  for (const OperatorId op : cut.operators) {
    const SourceFrame* const frame = run.frame(op);
    if (frame == nullptr) continue;
    const size_t place = places.try_emplace({frame->file, frame->line}, lines.size()).first->second;
    if (place == lines.size()) lines.push_back({frame, 0});
    ++lines[place].operators;
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const CutLine& left, const CutLine& right) { return left.operators > right.operators; });
  return lines;
}

std::string text_of_cut(const DiffResult& run, const GradientCut& cut) {
  const SourceFrame* const frame = run.frame(cut.at);
  const size_t count = cut.operators.size();
  const std::string_view side = cut.of_candidate ? "candidate" : "reference";
  const std::string what = cut.returned ? fmt::format("{} {} a gradient only in the {}", plural(count, "backward call"),
                                                      count == 1 ? "returns" : "return", side)
                                        : fmt::format("{} {} only in the {}", plural(count, "gradient operator"),
                                                      count == 1 ? "exists" : "exist", side);
  return fmt::format("{}{}: {}{}", cut.of_candidate ? "the reference cuts the gradient" : "the gradient is cut",
                     frame == nullptr ? "" : " at " + line_name(*frame), what, lines_text(lines_of_cut(run, cut)));
}

}  // namespace msdump
