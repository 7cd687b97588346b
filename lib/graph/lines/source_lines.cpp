#include "graph/lines/source_lines.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace msdump {
namespace {

constexpr std::string_view kPackageFolders[] = {"/site-packages/", "/dist-packages/"};
// Below a folder "mindspore": a user's folder of that name has others.
constexpr std::string_view kMindSporeFolders[] = {"nn/",       "ops/",   "train/", "_extends/", "common/",
                                                  "parallel/", "mint/",  "numpy/", "boost/",    "rewrite/",
                                                  "python/",   "ccsrc/", "scipy/", "amp.py",    "hal/"};

bool is_space(char c) { return c == ' ' || c == '\t'; }

bool is_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// "self.relu" and "self.fc1" of "x = self.relu(self.fc1(x))"; only the first few, as the line may be anything.
std::vector<std::string_view> called_names(std::string_view code) {
  constexpr size_t kMostNames = 16;
  std::vector<std::string_view> names;
  for (size_t end = code.find('('); end != std::string_view::npos && names.size() < kMostNames;
       end = code.find('(', end + 1)) {
    size_t begin = end;
    while (begin > 0 && is_in_name(code[begin - 1])) --begin;
    if (begin < end) names.push_back(code.substr(begin, end - begin));
  }
  return names;
}

bool calls(std::string_view code, std::string_view name) {
  for (size_t at = code.find(name); at != std::string_view::npos; at = code.find(name, at + 1)) {
    const bool whole = at == 0 || !is_in_name(code[at - 1]);
    if (whole && code.substr(at + name.size()).starts_with('(')) return true;
  }
  return false;
}

}  // namespace

bool is_library_file(std::string_view path) {
  for (const std::string_view folder : kPackageFolders) {
    if (path.find(folder) != std::string_view::npos) return true;
  }
  constexpr std::string_view kMindSpore = "mindspore/";
  for (size_t at = path.find(kMindSpore); at != std::string_view::npos; at = path.find(kMindSpore, at + 1)) {
    if (at > 0 && path[at - 1] != '/') continue;
    const std::string_view rest = path.substr(at + kMindSpore.size());
    if (std::any_of(std::begin(kMindSporeFolders), std::end(kMindSporeFolders),
                    [&](std::string_view folder) { return rest.starts_with(folder); }))
      return true;
  }
  return false;
}

bool is_def_frame(const SourceFrame& frame) {
  std::string_view code = frame.code;
  while (!code.empty() && is_space(code.front())) code.remove_prefix(1);
  if (code.starts_with("async ")) code.remove_prefix(6);
  return code.starts_with("def ") || code.starts_with("@");
}

bool is_of_other_call(std::span<const SourceFrame* const> stack, size_t at) {
  constexpr size_t kFarthest = 1000;  // frames outwards: a crafted stack may be long
  const auto is_outer = [&](size_t i) { return i < stack.size() && i <= at + kFarthest && !stack[i]->begins_chain; };
  if (!is_outer(at + 1)) return false;
  const SourceFrame &frame = *stack[at], &caller = *stack[at + 1];
  const bool is_last = frame.begins_chain;
  if (!is_last && (at == 0 || stack[at - 1]->file != caller.file || stack[at - 1]->line == caller.line)) return false;
  const auto names = called_names(frame.code);
  for (size_t i = at + 1; is_outer(i) && !is_def_frame(*stack[i]); ++i) {
    const SourceFrame& outer = *stack[i];
    const bool other_line = i > at + 1 && outer.line != frame.line && outer.file == frame.file;
    if (other_line && std::any_of(names.begin(), names.end(), [&](auto name) { return calls(outer.code, name); }))
      return true;
  }
  return false;
}

std::vector<const SourceFrame*> stack_of(const OpGraph& graph, OpId op) {
  const IrGraph& ir = graph.ir(op);
  std::vector<const SourceFrame*> own, others;
  for (const uint32_t index : ir.stack(graph.node(op))) {
    const SourceFrame& frame = ir.frames[index];
    (frame.kind == FrameKind::kOwn ? own : others).push_back(&frame);
  }
  return own.empty() ? others : own;
}

const SourceFrame* best_frame(const OpGraph& graph, OpId op) {
  const std::vector<const SourceFrame*> stack = stack_of(graph, op);
  if (stack.empty()) return nullptr;
  const auto in_user_code = [](const SourceFrame* frame) { return !is_library_file(frame->file); };
  const bool of_ir = graph.origin(op).kind != OriginKind::kStackJson;
  for (size_t i = 0; i < stack.size(); ++i) {
    if (in_user_code(stack[i]) && !is_def_frame(*stack[i]) && !(of_ir && is_of_other_call(stack, i))) return stack[i];
  }
  const auto any = std::find_if(stack.begin(), stack.end(), in_user_code);
  return any != stack.end() ? *any : stack.front();
}

EqualStacks::EqualStacks(const IrGraph& ir) {
  for (const IrNode& node : ir.nodes) {
    if (node.kind == IrNodeKind::kKernel && node.stack != List::kEmpty) ++counts_[key(node)];
  }
}

bool EqualStacks::repeated(const IrNode& node) const {
  const auto found = counts_.find(key(node));
  return found != counts_.end() && found->second > 1;
}

std::string nearest_operator(const OpGraph& graph, std::string_view typed, OperatorText text) {
  if (typed.find_first_of("*?") != std::string_view::npos) return {};
  if (text == OperatorText::kName) typed.remove_prefix(typed.rfind('/') + 1);
  std::set<std::string_view> distinct;
  for (OpId op{0}; op < graph.size(); ++op) {
    if (graph.has_kernel(op)) distinct.insert(text == OperatorText::kType ? graph.op_type(op) : graph.leaf(op));
  }
  distinct.erase("");
  const auto found = distinct.find(typed);
  if (found != distinct.end()) return text == OperatorText::kType ? std::string() : "*" + std::string(*found);
  return closest_match(typed, std::vector<std::string>(distinct.begin(), distinct.end())).value_or("");
}

}  // namespace msdump
