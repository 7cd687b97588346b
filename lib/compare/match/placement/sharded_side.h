// LocalContents: which parts of the tensors of one side of a comparison are equal to the bit. What was read is kept by its
// record, some 50 bytes each, so that each part is read once for all steps that ask. Thread-safe; two threads that ask
// about a part at the same time may both read it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "compare/match/read_failures.h"
#include "dump/elements/host_tensor.h"
#include "dump/index/tensor_list.h"
#include "graph/join/dump_operators.h"
#include "io/run_context.h"

namespace msdump {

class LocalContents {
 public:
  // `index` lists the tensors, and outlives this.
  explicit LocalContents(const DumpIndex& index) : index_(index) {}

  struct Digests {
    std::vector<uint64_t> of_pieces;  // a number for the elements of each; none where one is missing or cannot be read
    // All elements that were looked at, up to 64 of each, are one value: zeros and ones are those of many tensors, and
    // that they are equal proves nothing.
    bool alike = false;
  };
  // Of the pieces of a tensor. An error when interrupted, or where one that could be opened cannot be read to its end.
  Result<Digests> of(std::span<const TensorRecord* const> records, const CancelToken& cancel);
  // Files that could not be read here or elsewhere while this side was matched.
  [[nodiscard]] ReadFailures& failures() { return failures_; }

 private:
  struct Piece {
    uint64_t digest = 0;
    bool empty = false;
    std::optional<double> only;  // the value of those that were looked at
  };
  [[nodiscard]] static Digests digests_of(std::span<const Piece> pieces);

  const DumpIndex& index_;
  ReadFailures failures_;
  std::mutex lock_;
  std::unordered_map<const TensorRecord*, Piece> known_;
};

// One for all pieces of a tensor, with the set of ranks that they lie on; 0: none is known.
[[nodiscard]] uint64_t contents_number(uint32_t ranks, std::span<const uint64_t> digests);

// ShardedSide: one side of a comparison whose ranks are taken as one: the calls that the ranks of a program have in common are
// one call, and the tensors of a slot are one tensor, which lies on the ranks in pieces.
//
// Ranks that run the same calls are a program: those of a stage of pipeline parallelism, or all. Programs follow each
// other in the order of their ranks, those of the backward pass the other way round.

// The ranks of a dump, ascending; empty where no folder says its rank.
[[nodiscard]] std::set<int64_t> ranks_of(const DumpWithGraph& dump);

// Do the two dumps have other ranks, or other parts of the tensors on the ranks that both have?
[[nodiscard]] bool sharding_differs(const DumpWithGraph& a, const DumpWithGraph& b);

// One end of a connection: the ranks on both ends may run different layers under the same names.
[[nodiscard]] bool sends(const SequencedOp& op);

// Calls that are not one call, although all ranks make them under one name: experts, of which each rank has its own. By
// name, step and rank: which part of the ranks makes the call together.
using ExpertSplits = std::map<std::tuple<std::string, std::optional<int64_t>, int64_t>, uint32_t>;

// Must not move: `side()` refers to it.
class ShardedSide {
 public:
  // What `dump` points to must outlive this.
  explicit ShardedSide(const DumpWithGraph& dump);
  // The same with other calls parted; what `whole` has read is known.
  ShardedSide(const ShardedSide& whole, const ExpertSplits& splits);
  ShardedSide(const ShardedSide&) = delete;
  ShardedSide& operator=(const ShardedSide&) = delete;

  // The tensors and operators without ranks.
  [[nodiscard]] DumpWithGraph side() const;

  // By logical tensor: on which ranks it lies, and the record of each; null where that rank has none.
  struct Members {
    uint32_t ranks = 0;  // a set of ranks
    std::vector<const TensorRecord*> records;
  };
  [[nodiscard]] const Members& members(uint32_t tensor) const { return members_[tensor]; }
  [[nodiscard]] const std::vector<int64_t>& ranks(uint32_t tensor) const { return rank_sets_[members_[tensor].ranks]; }
  // What is equal to what among the parts of its tensors.
  [[nodiscard]] LocalContents& contents() const { return *contents_; }
  [[nodiscard]] size_t size() const { return tensors_.size(); }
  [[nodiscard]] const std::vector<TensorRecord>& tensors() const { return tensors_; }
  [[nodiscard]] const std::vector<SequencedOp>& operators() const { return operators_; }
  [[nodiscard]] uint32_t program_of(uint32_t op) const { return origins_[op].program; }

  // From now on the tensor is put together so.
  void set_pieces(uint32_t tensor, TensorPieces pieces);
  // A further tensor, which is the tensor `of` under another name.
  uint32_t add_tensor(uint32_t of, const TensorRecord& named);

 private:
  using Number = std::optional<int64_t>;
  ShardedSide(const DumpWithGraph& dump, const ExpertSplits& splits, std::shared_ptr<LocalContents> contents);
  void find_programs(const std::vector<SequencedOp>& all);
  void add_program(uint32_t program, const std::vector<SequencedOp>& all, const ExpertSplits& splits);
  uint32_t rank_set(std::vector<int64_t> ranks);
  const TensorView* keep(TensorPieces pieces);
  void order_operators();

  // Where an operator belongs.
  struct Origin {
    uint32_t program = 0;
    uint32_t ranks = 0;            // in rank_sets_
    std::optional<uint32_t> part;  // of a call that is split
  };

  const DumpWithGraph dump_;
  const std::shared_ptr<LocalContents> contents_;
  std::vector<std::vector<int64_t>> programs_;     // ranks; -1: not said
  std::vector<std::vector<uint32_t>> of_program_;  // by program: operators of the dump, rank by rank
  std::vector<std::vector<int64_t>> rank_sets_;    // ascending
  std::vector<SequencedOp> operators_;
  std::vector<Origin> origins_;  // by operator
  std::vector<TensorRecord> tensors_;
  std::vector<Members> members_;
  std::deque<TensorPieces> pieces_;  // by tensor
  std::deque<TensorView> views_;     // of these
};

}  // namespace msdump
