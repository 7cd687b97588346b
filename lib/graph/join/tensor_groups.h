// TensorGroups: the tensors of a dump by the operator that their files name; the file side of a join. A group is one
// name in one graph of one rank of one dump: all slots, steps and occurrences. If the graph knows its step (msprobe's
// stack.json) a group is of one step. Names that differ only in '/', '.', '_' are one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "graph/op_graph.h"

namespace msdump {

struct TensorGroup {
  std::optional<int64_t> rank, graph, step;
  std::string_view op_type, op_name;  // as its first tensor has them
  std::string_view home;              // Origin::home of the graphs in whose folder it lies; empty for none
  bool parameter = false;
  uint32_t first = 0, count = 0;  // for tensors_of
};

class TensorGroups {
 public:
  TensorGroups(const DumpIndex& index, const std::vector<TensorRecord>& tensors, const OpGraph& graph);

  [[nodiscard]] const std::vector<TensorGroup>& all() const { return groups_; }
  // For each graph and rank that has tensors, one of its groups.
  [[nodiscard]] const std::vector<uint32_t>& places() const { return places_; }
  // In the order of the list.
  [[nodiscard]] std::span<const RecordId> tensors_of(const TensorGroup& group) const;

  // Visits the groups with a name, which is normalised and has this name_hash(), in ascending order: visit(index).
  template <class Visit>
  void for_each_named(std::string_view normal, uint64_t hash, const Visit& visit) const {
    const auto same = [&](uint32_t group) { return is_name(normal, groups_[group].op_name); };
    for (uint32_t group = by_name_.find(hash, same); group != kNoIndex; group = next_of_name_[group]) visit(group);
  }
  // Prefetches a name that is visited soon.
  void prefetch(uint64_t hash) const { by_name_.prefetch(hash); }

 private:
  template <class HashOf>
  void chain_names(const HashOf& hash_of);

  std::vector<TensorGroup> groups_;
  std::vector<RecordId> order_;  // group by group
  std::vector<uint32_t> places_;
  HashSlots by_name_;                   // the first group of each name
  std::vector<uint32_t> next_of_name_;  // by group; kNoIndex for the last
};

// True if the tensors of a group may belong to a graph. A fact that one side does not know is ignored.
[[nodiscard]] bool same_place(const Origin& origin, const TensorGroup& group);

}  // namespace msdump
