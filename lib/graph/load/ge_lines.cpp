#include "graph/load/ge_lines.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

namespace msdump {
namespace {

bool has_lines(const Origin& origin) {
  return origin.kind == OriginKind::kIrText || origin.kind == OriginKind::kIrProtobuf;
}

bool same_rank(const Origin& a, const Origin& b) { return !a.rank || !b.rank || *a.rank == *b.rank; }

// Frames and stacks of an IR in a graph of GE. Each is copied once.
class FrameCopier {
 public:
  FrameCopier(const IrGraph& from, IrGraph& to) : from_(from), to_(to) {}

  // The stack of an operator that was made of these; kEmpty if none has lines.
  List stack_of(const std::vector<uint32_t>& originals) {
    if (originals.size() > 1) return joined_stack(originals);
    const List own = from_.nodes[originals.front()].stack;
    const auto [at, added] = stacks_.try_emplace(own, List::kEmpty);
    if (!added) return at->second;
    scratch_.clear();
    for (const uint32_t index : from_.pool.view(own)) scratch_.push_back(frame(index, false));
    return at->second = to_.pool.intern(scratch_);
  }

 private:
  // Thousands of lists may repeat names with long stacks: the total is limited.
  List joined_stack(const std::vector<uint32_t>& originals) {
    scratch_.clear();
    for (const uint32_t original : originals) {
      const auto stack = from_.stack(from_.nodes[original]);
      if (stack.size() > frames_left_) break;
      frames_left_ -= stack.size();
      for (const uint32_t index : stack) scratch_.push_back(frame(index, true));
    }
    return to_.pool.intern(scratch_);
  }

  uint32_t frame(uint32_t index, bool several) {
    std::vector<uint32_t>& known = known_[several ? 1 : 0];
    if (known.empty()) known.assign(from_.frames.size(), kNoIndex);
    if (known[index] != kNoIndex) return known[index];
    SourceFrame copy = from_.frames[index];
    copy.file = text(copy.file);
    copy.code = text(copy.code);
    if (several && copy.kind == FrameKind::kOwn) copy.kind = FrameKind::kCandidate;
    to_.frames.push_back(copy);
    return known[index] = static_cast<uint32_t>(to_.frames.size() - 1);
  }

  std::string_view text(std::string_view original) {
    const auto [at, added] = texts_.try_emplace(original);
    if (added) at->second = to_.pool.view(to_.pool.keep(original));
    return at->second;
  }

  const IrGraph& from_;
  IrGraph& to_;
  std::array<std::vector<uint32_t>, 2> known_;  // by `several`
  std::unordered_map<std::string_view, std::string_view> texts_;
  std::unordered_map<List, List> stacks_;
  std::vector<uint32_t> scratch_;
  size_t frames_left_ = (size_t{4} << 20) + 64 * to_.nodes.size();
};

// One IR and the graphs of GE to which it may give lines.
class NamedLines {
 public:
  explicit NamedLines(const Origin& ir) : ir_(ir.graph) {
    for (uint32_t i = 0; i < ir_.nodes.size(); ++i) {
      if (ir_.nodes[i].leaf != Text::kEmpty) nodes_.try_emplace(ir_.full_name(ir_.nodes[i]), i);
    }
  }

  // Do most operators that may have a name of MindSpore have a name in this IR?
  bool give(Origin& ge) const {
    IrGraph& graph = ge.graph;
    FrameCopier copier(ir_, graph);
    size_t named = 0, found = 0;
    std::vector<uint32_t> nodes;
    for (IrNode& node : graph.nodes) {
      if (node.kind != IrNodeKind::kKernel) continue;
      find(graph, node, nodes);
      const bool inserted = graph.originals(node) && graph.originals(node)->empty();
      named += node.scope != Text::kEmpty && !inserted ? 1U : 0U;
      found += nodes.empty() ? 0U : 1U;
      if (nodes.empty() || node.stack != List::kEmpty) continue;
      node.stack = copier.stack_of(nodes);
    }
    graph.pool.close();
    return found > 0 && found * 2 >= named;
  }

 private:
  void find(const IrGraph& graph, const IrNode& node, std::vector<uint32_t>& nodes) const {
    nodes.clear();
    const auto add = [&](const std::string& name) {
      const auto found = nodes_.find(name);
      if (found != nodes_.end()) nodes.push_back(found->second);
    };
    const auto originals = graph.originals(node);
    if (!originals) return add(graph.full_name(node));
    for (const uint32_t name : *originals) add(std::string(graph.text(Text{name})));
  }

  const IrGraph& ir_;
  std::unordered_map<std::string, uint32_t> nodes_;
};

}  // namespace

void give_lines_to_ge(std::vector<Origin>& origins) {
  const auto is_ge = [](const Origin& origin) { return origin.kind == OriginKind::kGeGraph; };
  if (std::none_of(origins.begin(), origins.end(), is_ge)) return;
  std::vector<bool> taken(origins.size());
  for (size_t i = 0; i < origins.size(); ++i) {
    if (!has_lines(origins[i])) continue;
    const NamedLines lines(origins[i]);
    for (Origin& ge : origins) {
      if (is_ge(ge) && same_rank(ge, origins[i])) taken[i] = lines.give(ge) || taken[i];
    }
  }
  std::vector<Origin> left;
  for (size_t i = 0; i < origins.size(); ++i) {
    if (!taken[i]) left.push_back(std::move(origins[i]));
  }
  origins = std::move(left);
}

}  // namespace msdump
