#include "ge/graph/torchair_lines.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/model/ir_builder.h"

namespace msdump {
namespace {

constexpr std::string_view kNodeName = "node_name=", kFile = "File \"", kLine = "\", line ";
constexpr size_t kMostFrames = 1000;  // above one operator

struct Place {
  std::string_view file, line, code;
};

// "# File "net.py", line 23, in forward"
std::optional<Place> place_of(std::string_view comment) {
  const size_t file = comment.find(kFile);
  if (file == std::string_view::npos) return std::nullopt;
  comment.remove_prefix(file + kFile.size());
  const size_t end = comment.find(kLine);
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  Place place;
  place.file = comment.substr(0, end);
  comment.remove_prefix(end + kLine.size());
  place.line = comment.substr(0, std::min(comment.find_first_not_of("0123456789"), comment.size()));
  constexpr std::string_view kCode = "code: ";
  if (const size_t code = comment.find(kCode); code != std::string_view::npos)
    place.code = trimmed(comment.substr(code + kCode.size()));
  return place.line.empty() ? std::nullopt : std::optional(place);
}

// The NAME of node_name="NAME"; empty without one.
std::string_view node_name_of(std::string_view line) {
  const size_t at = line.find(kNodeName);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + kNodeName.size());
  if (line.empty() || (line[0] != '"' && line[0] != '\'')) return {};
  const size_t end = line.find(line[0], 1);
  return end == std::string_view::npos ? std::string_view() : line.substr(1, end - 1);
}

// "Mul" of "Mul_0 = ge.Mul(arg0, ..".
std::string_view type_of(std::string_view line) {
  const size_t open = line.find('(');
  if (open == std::string_view::npos) return "Operator";
  line = line.substr(0, open);
  const size_t begin = line.find_last_of(". =");
  const std::string_view type = begin == std::string_view::npos ? line : line.substr(begin + 1);
  return type.empty() ? "Operator" : type;
}

class TorchairReader {
 public:
  Result<IrGraph> run(std::string_view text) {
    graph_ = builder_.begin_graph("", "", 1);
    uint32_t number = 0;
    while (!text.empty()) {
      const size_t feed = text.find('\n');
      ++number;
      take(trimmed(text.substr(0, feed)), number);
      text.remove_prefix(feed == std::string_view::npos ? text.size() : feed + 1);
    }
    if (builder_.graph().nodes.empty()) return fail(ErrorCode::kBadIr, "no operator has a node_name");
    builder_.graph().facts.node_heads = builder_.graph().nodes.size();
    return builder_.finish();
  }

 private:
  void take(std::string_view line, uint32_t number) {
    if (line.starts_with('#')) return take_comment(trimmed(line, "# \t\r"));
    const std::string_view name = node_name_of(line);
    if (!name.empty()) add(line, name, number);
    if (!line.empty()) places_.clear();
  }

  void take_comment(std::string_view comment) {
    if (const auto place = place_of(comment)) {
      if (places_.size() < kMostFrames) places_.push_back(*place);
    } else if (!places_.empty() && places_.back().code.empty()) {
      places_.back().code = comment;
    }
  }

  void add(std::string_view line, std::string_view name, uint32_t number) {
    IrNode node;
    node.graph = graph_;
    node.number = builder_.graph().graphs[graph_].node_count;
    node.line = number;
    node.op = builder_.intern(type_of(line));
    builder_.set_full_name(node, name);
    std::vector<uint32_t> stack;
    for (auto place = places_.rbegin(); place != places_.rend(); ++place) {
      const auto frame = builder_.frame(fmt::format("In file {}:{}/{}/", place->file, place->line, place->code),
                                        FrameKind::kOwn, stack.empty());
      if (frame) stack.push_back(*frame);
    }
    node.stack = builder_.stack(stack);
    builder_.add_node(node, {});
  }

  IrGraphBuilder builder_;
  uint32_t graph_ = kNoIndex;
  std::vector<Place> places_;
};

}  // namespace

bool is_torchair(std::string_view head) {
  return head.find(kNodeName) != std::string_view::npos && head.find("ge.") != std::string_view::npos &&
         (head.find("torchair") != std::string_view::npos || head.find(kFile) != std::string_view::npos);
}

Result<IrGraph> read_torchair(std::string_view text) { return TorchairReader().run(text); }

}  // namespace msdump
