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
  return text_hash(code);
}

}  // namespace

CodeLines::CodeLines(const OpGraph& graph) : graph_(&graph) {
  std::optional<std::vector<uint64_t>> common;
  for (OpId op{0}; op < graph.size(); ++op) {
    std::vector<uint64_t> lines;
    for (const SourceFrame* const frame : lines_of(op)) lines.push_back(code_hash(*frame));
    if (lines.empty()) continue;
    codes_.insert(lines.begin(), lines.end());
    if (!common) common = lines;
    const auto differs = std::mismatch(common->rbegin(), common->rend(), lines.rbegin(), lines.rend()).first;
    common->erase(common->begin(), differs.base());
  }
  if (common) starting_ = common->size();
}

uint64_t CodeLines::key_of(OpId op) const {
  uint64_t key = 0;
  for (const SourceFrame* const frame : lines_of(op)) key = mix_hash(key, code_hash(*frame));
  return key;
}

const SourceFrame* CodeLines::changed_line(OpId op, const CodeLines& other) const {
  if (other.codes_.empty()) return nullptr;
  const std::vector<const SourceFrame*> lines = lines_of(op);
  const auto changed = std::find_if(
      lines.begin(), lines.end(), [&](const SourceFrame* frame) { return other.codes_.count(code_hash(*frame)) == 0; });
  return changed == lines.end() ? nullptr : *changed;
}

std::vector<const SourceFrame*> CodeLines::lines_of(OpId op) const {
  std::vector<const SourceFrame*> lines;
  if (graph_ == nullptr || op == kNoId || graph_->origin(op).kind != OriginKind::kStackJson) return lines;
  for (const SourceFrame* const frame : stack_of(*graph_, op)) {
    if (!is_library_file(frame->file)) lines.push_back(frame);
  }
  lines.resize(lines.size() - std::min(starting_, lines.size()));
  return lines;
}

}  // namespace msdump
