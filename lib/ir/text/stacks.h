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
  Stacks(IrGraphBuilder& builder, const Spelling& spelling) : builder_(&builder), spelling_(&spelling) {}

  // Frames without a line number are left out and reported.
  List stack(std::span<const FrameLine> frames);

 private:
  void add_chain(std::span<const FrameLine> chain);
  bool intern_chain(std::span<const FrameLine> chain, bool outermost_first);
  bool is_outermost_first(std::span<const FrameLine> chain);

  IrGraphBuilder* builder_;
  const Spelling* spelling_;
  bool outermost_first_ = false;  // of the last chain: a guess at the next
  bool order_missed_ = false;     // reported
  std::vector<uint32_t> frames_, chain_;
};

}  // namespace msdump
