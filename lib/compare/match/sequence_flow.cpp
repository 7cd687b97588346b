#include "compare/match/sequence_flow.h"

#include "base/hash_slots.h"
#include "graph/flow/data_flow.h"

namespace msdump {

SequenceFlow::SequenceFlow(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators)
    : known_(has_flow(dump)) {
  if (dump.graph == nullptr) return;
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> place(dump.graph->size(), kNone);
  for (uint32_t i = 0; i < operators.size(); ++i) {
    if (operators[i].op != kNoIndex) place[operators[i].op] = i;
  }
  first_consumer_.assign(operators.size() + 1, 0);
  for (uint32_t i = 0; i < operators.size(); ++i) {
    first_producer_.push_back(static_cast<uint32_t>(producers_.size()));
    first_parameter_.push_back(static_cast<uint32_t>(parameters_.size()));
    if (operators[i].op == kNoIndex) continue;
    const IrGraph& ir = dump.graph->ir(operators[i].op);
    for (const InputEdge& edge : inputs_of(*dump.graph, operators[i].op)) {
      if (edge.from == InputEdge::From::kParameter)
        parameters_.push_back({edge.slot, text_hash(ir.text(ir.parameters[edge.parameter].name)),
                               is_kept(ir, ir.parameters[edge.parameter])});
      if (edge.from != InputEdge::From::kOperator || place[edge.op] == kNone) continue;
      producers_.push_back({edge.slot, place[edge.op]});
      ++first_consumer_[place[edge.op] + 1];
    }
  }
  first_producer_.push_back(static_cast<uint32_t>(producers_.size()));
  first_parameter_.push_back(static_cast<uint32_t>(parameters_.size()));
  for (size_t i = 0; i < operators.size(); ++i) first_consumer_[i + 1] += first_consumer_[i];
  consumers_.resize(producers_.size());
  std::vector<uint32_t> next(first_consumer_.begin(), first_consumer_.end() - 1);
  for (uint32_t i = 0; i < operators.size(); ++i) {
    for (uint32_t at = first_producer_[i]; at < first_producer_[i + 1]; ++at) consumers_[next[producers_[at].op]++] = i;
  }
}

std::vector<uint64_t> SequenceFlow::with_neighbours(const std::vector<uint64_t>& keys) const {
  std::vector<uint64_t> wider(keys.size());
  for (uint32_t i = 0; i < keys.size(); ++i) {
    uint64_t key = keys[i], readers = 0;
    for (const auto& [slot, producer] : producers(i)) key = mix_hash(mix_hash(key, slot + 1), keys[producer]);
    for (const uint32_t consumer : consumers(i)) readers += mix_hash(1, keys[consumer]);
    wider[i] = mix_hash(key, readers);
  }
  return wider;
}

}  // namespace msdump
