// The source lines of an operator as a stack: each chain with its innermost frame first, whichever way the text has it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/model/ir_builder.h"
#include "ir/text/node_text.h"
#include "ir/text/spelling.h"

namespace msdump {

class Stacks {
 public:
  Stacks(IrGraphBuilder& builder, Spelling& spelling) : builder_(&builder), spelling_(&spelling) {}

  // Frames without a line number are left out and told about.
  List stack(std::span<const FrameLine> frames);

 private:
  void add_chain(std::span<const FrameLine> chain);
  bool intern_chain(std::span<const FrameLine> chain, bool outermost_first);
  bool is_outermost_first(std::span<const FrameLine> chain);

  IrGraphBuilder* builder_;
  Spelling* spelling_;
  bool outermost_first_ = false;  // of the last chain: a guess at the next
  bool order_missed_ = false;     // told about
  size_t noted_frames_ = 0;
  std::vector<uint32_t> frames_, chain_;
};

}  // namespace msdump
