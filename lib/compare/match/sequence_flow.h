// SequenceFlow: the producers and consumers of each operator of a sequence, and the parameters that it reads, from the
// graph of the dump; none without one. Lists in one vector, and where each begins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/join/dump_operators.h"

namespace msdump {

class SequenceFlow {
 public:
  struct Producer {
    uint32_t slot, op;  // of the input that it feeds
  };
  struct Parameter {
    uint32_t slot;
    uint64_t name;   // its hash
    bool is_weight;  // a value that the network keeps, not an input of the graph
  };
  SequenceFlow(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators);

  [[nodiscard]] bool known() const { return known_; }
  // By the slots of the inputs.
  [[nodiscard]] std::span<const Producer> producers(uint32_t op) const { return part(producers_, first_producer_, op); }
  [[nodiscard]] std::span<const Parameter> parameters(uint32_t op) const {
    return part(parameters_, first_parameter_, op);
  }
  [[nodiscard]] std::span<const uint32_t> consumers(uint32_t op) const { return part(consumers_, first_consumer_, op); }
  // Keys of the operators with one more circle of neighbours: producers by slot, consumers in any order.
  [[nodiscard]] std::vector<uint64_t> with_neighbours(const std::vector<uint64_t>& keys) const;

 private:
  template <class Item>
  static std::span<const Item> part(const std::vector<Item>& all, const std::vector<uint32_t>& first, uint32_t op) {
    if (first.empty()) return {};
    return std::span<const Item>(all).subspan(first[op], first[op + 1] - first[op]);
  }

  bool known_ = false;
  std::vector<Producer> producers_;
  std::vector<Parameter> parameters_;
  std::vector<uint32_t> consumers_;
  std::vector<uint32_t> first_producer_, first_parameter_, first_consumer_;  // by operator, and one more
};

}  // namespace msdump
