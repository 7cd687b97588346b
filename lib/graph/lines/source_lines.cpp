#include "graph/lines/source_lines.h"

#include <algorithm>

namespace msdump {
namespace {

constexpr std::string_view kPackageFolders[] = {"/site-packages/", "/dist-packages/"};
// Below a folder "mindspore": a user's folder of that name has others.
constexpr std::string_view kMindSporeFolders[] = {"nn/",       "ops/",   "train/", "_extends/", "common/",
                                                  "parallel/", "mint/",  "numpy/", "boost/",    "rewrite/",
                                                  "python/",   "ccsrc/", "scipy/", "amp.py",    "hal/"};

bool is_space(char c) { return c == ' ' || c == '\t'; }

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
  const auto statement = std::find_if(stack.begin(), stack.end(), [&](const SourceFrame* frame) {
    return in_user_code(frame) && !is_def_frame(*frame);
  });
  if (statement != stack.end()) return *statement;
  const auto any = std::find_if(stack.begin(), stack.end(), in_user_code);
  return any != stack.end() ? *any : stack.front();
}

}  // namespace msdump
