// IR text as a graph, for tests.
#pragma once

#include <string>
#include <string_view>

#include "ir/text/ir_text.h"
#include "support/catch.h"
#include "support/operand_text.h"
#include "support/scratch_dir.h"

namespace msdump::test {

inline IrGraph ir_of(std::string_view text, const IrTextOptions& options = {}) {
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("graph.ir", text));
  REQUIRE(file);
  auto ir = read_ir_text(*file, options);
  INFO((ir ? "" : ir.error().message));
  REQUIRE(ir);
  return std::move(*ir);
}

// "12: reason" of each problem, one a line.
inline std::string problems_of(const IrGraph& ir) {
  std::string text;
  for (const IrProblem& problem : ir.problems) text += std::to_string(problem.line) + ": " + problem.reason + "\n";
  return text;
}

// The operands as printed, separated by " | ".
inline std::string operands_of(const IrGraph& ir, const IrNode& node) {
  std::string text;
  for (const IrOperand& operand : ir.operands_of(node)) {
    text += (text.empty() ? "" : " | ") + operand_text(ir, node, operand);
  }
  return text;
}

// "alexnet.py:175 -> cell.py:9": files without folders, innermost first; a mark before a chain of another kind.
inline std::string stack_of(const IrGraph& ir, const IrNode& node) {
  constexpr std::string_view kMarks[] = {"", "forward ", "candidate "};
  std::string text;
  for (const uint32_t index : ir.stack(node)) {
    const SourceFrame& frame = ir.frames[index];
    if (!text.empty()) text += frame.begins_chain ? " / " : " -> ";
    if (frame.begins_chain) text += kMarks[static_cast<size_t>(frame.kind)];
    text += std::string(frame.file.substr(frame.file.rfind('/') + 1)) + ":" + std::to_string(frame.line);
    if (frame.end_line != frame.line) text += "-" + std::to_string(frame.end_line);
  }
  return text;
}

}  // namespace msdump::test
