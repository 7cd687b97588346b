#include "graph/lines/code_lines.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/containers.h"
#include "graph/lines/source_lines.h"

namespace msdump {
namespace {

uint64_t code_hash(const SourceFrame& frame) {
  std::string code(frame.code.substr(0, frame.code.find('#')));
  std::erase_if(code, [](char c) { return c == ' ' || c == '\t'; });
  return code.empty() || is_library_file(frame.file) ? 0 : text_hash(code);
}

// The codes of a stack, innermost first.
std::vector<uint64_t> codes_of(const IrGraph& ir, List stack, const std::vector<uint64_t>& by_frame) {
  std::vector<uint64_t> codes;
  for (const uint32_t frame : ir.pool.view(stack)) {
    if (by_frame[frame] != 0) codes.push_back(by_frame[frame]);
  }
  return codes;
}

}  // namespace

CodeLines::CodeLines(const OpGraph& graph) : graph_(&graph), origins_(graph.origins().size()) {
  std::optional<std::vector<uint64_t>> common;  // the outermost lines of all stacks
  for (size_t i = 0; i < origins_.size(); ++i) {
    const Origin& origin = graph.origins()[i];
    if (origin.kind != OriginKind::kStackJson) continue;
    for (const SourceFrame& frame : origin.graph.frames) origins_[i].codes.push_back(code_hash(frame));
    codes_.insert(origins_[i].codes.begin(), origins_[i].codes.end());
    for (const IrNode& node : origin.graph.nodes) {
      if (!origins_[i].keys.try_emplace(node.stack, 0).second) continue;
      const std::vector<uint64_t> codes = codes_of(origin.graph, node.stack, origins_[i].codes);
      if (codes.empty()) continue;
      if (!common) common = codes;
      const auto differs = std::mismatch(common->rbegin(), common->rend(), codes.rbegin(), codes.rend()).first;
      common->erase(common->begin(), differs.base());
    }
  }
  codes_.erase(0);
  const size_t starting = common ? common->size() : 0;
  for (size_t i = 0; i < origins_.size(); ++i) {
    for (auto& [stack, key] : origins_[i].keys) {
      std::vector<uint64_t> codes = codes_of(graph.origins()[i].graph, stack, origins_[i].codes);
      codes.resize(codes.size() - std::min(starting, codes.size()));
      for (const uint64_t code : codes) key = mix_hash(key, code);
    }
  }
  if (common) starting_.insert(common->begin(), common->end());
}

uint64_t CodeLines::key_of(OpId op) const {
  if (graph_ == nullptr || op == kNoId) return 0;
  const Stacks& stacks = origins_[graph_->origin_index(op)];
  const auto found = stacks.keys.find(graph_->node(op).stack);
  return found == stacks.keys.end() ? 0 : found->second;
}

const SourceFrame* CodeLines::changed_line(OpId op, const CodeLines& other) const {
  if (graph_ == nullptr || op == kNoId || other.codes_.empty()) return nullptr;
  const Stacks& stacks = origins_[graph_->origin_index(op)];
  const IrGraph& ir = graph_->ir(op);
  if (stacks.codes.empty()) return nullptr;
  for (const uint32_t frame : ir.stack(graph_->node(op))) {
    const uint64_t code = stacks.codes[frame];
    if (code != 0 && starting_.count(code) == 0 && other.codes_.count(code) == 0) return &ir.frames[frame];
  }
  return nullptr;
}

}  // namespace msdump
