// What the graph of a dump says about the arguments of an operator: attributes, and constants that are operands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ge/operators/operator_table.h"
#include "graph/join/dump_operators.h"

namespace msdump {

struct GraphArgument {
  const ge::Argument* known = nullptr;  // null: a constant without a name
  std::string_view key;                 // of an attribute, as the graph spells it
  std::optional<uint32_t> slot;         // of a constant: the input, as files number them
  std::string_view value;               // the literal
};

struct GraphArguments {
  bool known = false;    // the graph has the operator, and so its arguments
  bool of_ge = false;    // in GE's spelling; else in MindSpore's
  bool is_plain = true;  // no tensor of it has a device format
  bool is_fused = false;
  std::string_view type;           // as the graph has it
  uint32_t inputs = 0;             // of MindSpore's
  std::optional<int64_t> rank;     // of the first input
  std::vector<GraphArgument> all;  // a name that has two values is left out

  [[nodiscard]] const GraphArgument* named(std::string_view name) const;
  [[nodiscard]] const GraphArgument* at(uint32_t slot) const;
};

// Not known where the operator of the graph is only a guess.
[[nodiscard]] GraphArguments graph_arguments(const DumpWithGraph& dump, const SequencedOp& op);

}  // namespace msdump
