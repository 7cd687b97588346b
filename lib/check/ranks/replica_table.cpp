#include "check/ranks/replica_table.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "base/hash_slots.h"
#include "base/order.h"

namespace msdump::check {

ReplicaTable::ReplicaTable(const CheckedDump& dump, const FactsReader& facts) : row_of_(dump.tensors(), kNone) {
  std::unordered_map<std::string, uint32_t> rows;
  std::string name;
  for (uint32_t tensor = 0; tensor < dump.tensors(); ++tensor) {
    const TensorRecord& record = dump.record(tensor);
    const FolderIdentity place = place_of(dump.index(), record);
    const uint32_t op = dump.op_of(tensor);
    if (!place.rank || facts[tensor].digest == 0 || op == kNone) continue;
    name = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", dump.operators()[op].name, dump.operators()[op].type,
                       name_of(record.name.io), record.name.slot, record.occurrence, place.graph.value_or(-1));
    const uint32_t row = rows.try_emplace(name, static_cast<uint32_t>(rows.size())).first->second;
    cells_.push_back({row, known_first(place.step), *place.rank, tensor});
  }
  const auto place = [](const ReplicaCell& cell) { return std::tuple(cell.row, cell.step, cell.rank); };
  std::sort(cells_.begin(), cells_.end(), [&](const ReplicaCell& a, const ReplicaCell& b) {
    return std::pair(place(a), a.tensor) < std::pair(place(b), b.tensor);
  });
  const auto same = [&](const ReplicaCell& a, const ReplicaCell& b) { return place(a) == place(b); };
  cells_.erase(std::unique(cells_.begin(), cells_.end(), same), cells_.end());
  begin_.assign(rows.size() + 1, cells_.size());
  for (size_t i = cells_.size(); i-- > 0;) {
    begin_[cells_[i].row] = i;
    row_of_[cells_[i].tensor] = cells_[i].row;
  }
}

std::vector<ReplicaCells> ReplicaTable::steps_of(uint32_t row) const {
  std::vector<ReplicaCells> steps;
  const ReplicaCells all = cells_of(row);
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin;
    while (end < all.size() && all[end].step == all[begin].step) ++end;
    steps.push_back(all.subspan(begin, end - begin));
    begin = end;
  }
  return steps;
}

uint32_t ReplicaTable::at(uint32_t row, const std::pair<bool, int64_t>& step, int64_t rank) const {
  const ReplicaCells all = cells_of(row);
  const auto found = std::lower_bound(
      all.begin(), all.end(), std::pair(step, rank),
      [](const ReplicaCell& cell, const auto& place) { return std::pair(cell.step, cell.rank) < place; });
  return found != all.end() && found->step == step && found->rank == rank ? found->tensor : kNone;
}

std::vector<std::vector<size_t>> equal_cells(ReplicaCells cells, const FactsReader& facts) {
  std::unordered_map<uint64_t, size_t> by_content;
  std::vector<std::vector<size_t>> classes;
  for (size_t i = 0; i < cells.size(); ++i) {
    const TensorFacts& one = facts[cells[i].tensor];
    const uint64_t key = mix_hash(mix_hash(one.digest, static_cast<uint64_t>(one.dtype)), one.rank);
    const auto [found, is_new] = by_content.try_emplace(key, classes.size());
    if (is_new) classes.emplace_back();
    classes[found->second].push_back(i);
  }
  return classes;
}

}  // namespace msdump::check
