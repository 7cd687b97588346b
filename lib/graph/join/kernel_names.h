// The names that the operators with a kernel have in files, and the operators of a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/hash_slots.h"
#include "graph/join/file_join.h"
#include "graph/name_table.h"

namespace msdump {

// The most operators of equal names that one group may have, and beginnings that are compared: names crafted to be
// equal must not cost the product of both sides.
inline constexpr uint32_t kMostNamesakes = 64;

class KernelNames {
 public:
  // Both outlive it.
  KernelNames(const OpGraph& graph, const Numbering& numbering) : graph_(graph), numbering_(numbering) {}

  void assign(OpId op, NormalName& name) const {
    name.assign(graph_, op, numbering_.renumbered ? numbering_.numbers[op] : kNoIndex);
  }
  [[nodiscard]] std::string of(OpId op) const;
  // Those that may belong to the group, kMostNamesakes at most. The first call makes the table.
  [[nodiscard]] std::vector<OpId> find(std::string_view name, const TensorGroup& group);

  // visit(origin, op)
  template <class Visit>
  void for_each_kernel(const Visit& visit) const {
    for_each_node([&](const Origin& origin, const IrNode& node, OpId op) {
      if (node.kind == IrNodeKind::kKernel) visit(origin, op);
    });
  }
  // The same, and what GE dumps without a kernel: the inputs of a graph (Data) and its results (NetOutput).
  template <class Visit>
  void for_each_dumped(const Visit& visit) const {
    for_each_node([&](const Origin& origin, const IrNode& node, OpId op) {
      const bool of_ge = origin.kind == OriginKind::kGeGraph && node.kind == IrNodeKind::kVirtual;
      if (of_ge || node.kind == IrNodeKind::kKernel) visit(origin, op);
    });
  }

 private:
  template <class Visit>
  void for_each_node(const Visit& visit) const {
    for (const Origin& origin : graph_.origins()) {
      for (uint32_t i = 0; i < origin.graph.nodes.size(); ++i) {
        const IrNode& node = origin.graph.nodes[i];
        if (node.leaf != Text::kEmpty) visit(origin, node, origin.first_operator + i);
      }
    }
  }

  void prepare();

  const OpGraph& graph_;
  const Numbering& numbering_;
  bool prepared_ = false;
  HashSlots first_of_name_;         // operators
  std::vector<OpId> next_of_name_;  // by operator, ascending; kNoIndex for the last
  size_t longest_ = 0;
};

}  // namespace msdump
