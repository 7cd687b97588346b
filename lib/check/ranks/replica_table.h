// The tensors of a dump by what they are, over steps and ranks: a row is one input, output or parameter of one operator,
// a cell that tensor of one rank in one step. Ranks whose cells are equal in the first step of a row hold copies of it:
// replicas. Which ranks those are comes from the values alone.
//
// Memory: 24 bytes a tensor. Cost: a sort of the tensors.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "check/checked_dump.h"
#include "check/values/facts_reader.h"

namespace msdump::check {

struct ReplicaCell {
  uint32_t row = 0;
  std::pair<bool, int64_t> step;  // known_first()
  int64_t rank = 0;
  uint32_t tensor = kNone;
};

// Cells of one row in one step, by rank.
using ReplicaCells = std::span<const ReplicaCell>;

class ReplicaTable {
 public:
  // Tensors without a rank, with the same place as another, or read by no rule, are left out.
  ReplicaTable(const CheckedDump& dump, const FactsReader& facts);

  [[nodiscard]] uint32_t rows() const { return static_cast<uint32_t>(begin_.size() - 1); }
  // By step.
  [[nodiscard]] std::vector<ReplicaCells> steps_of(uint32_t row) const;
  [[nodiscard]] ReplicaCells cells_of(uint32_t row) const {
    return std::span(cells_).subspan(begin_[row], begin_[row + 1] - begin_[row]);
  }
  [[nodiscard]] uint32_t row_of(uint32_t tensor) const { return row_of_[tensor]; }  // kNone: in none
  // The tensor of a row at a place; kNone: not there.
  [[nodiscard]] uint32_t at(uint32_t row, const std::pair<bool, int64_t>& step, int64_t rank) const;

 private:
  std::vector<ReplicaCell> cells_;  // by row, step, rank
  std::vector<size_t> begin_;       // by row, and the end
  std::vector<uint32_t> row_of_;    // by tensor
};

// Cells with equal tensors: places in the span, ascending; the classes by their first. Tensors that are not known are in
// none.
[[nodiscard]] std::vector<std::vector<size_t>> equal_cells(ReplicaCells cells, const FactsReader& facts);

}  // namespace msdump::check
