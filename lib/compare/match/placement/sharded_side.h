// LocalContents: digests of the local tensors of one side of a comparison, which show those that are bitwise equal. They are
// kept by record, some 50 bytes each, so that each local tensor is read once for all steps that ask. Thread-safe. Two
// threads that ask for a local tensor at the same time may both read it.
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
#include "compare/sample/read_failures.h"
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
    std::vector<uint64_t> of_pieces;  // digests of the elements of each; empty if one is missing or cannot be read
    // True if all sampled elements have one value.
    bool alike = false;
  };
  // The digests of the local tensors of a tensor. An error if interrupted, or if one that was opened cannot be read fully.
  Result<Digests> of(std::span<const TensorRecord* const> records, const CancelToken& cancel);
  // Files that could not be read here or elsewhere while this side was matched.
  [[nodiscard]] ReadFailures& failures() { return failures_; }

 private:
  struct Piece {
    uint64_t digest = 0;
    bool empty = false;
    std::optional<double> only;  // the value of all sampled elements, if there is one
  };
  [[nodiscard]] static Digests digests_of(std::span<const Piece> pieces);

  const DumpIndex& index_;
  ReadFailures failures_;
  std::mutex lock_;
  std::unordered_map<const TensorRecord*, Piece> known_;
};

// A digest of all local tensors of a tensor and of the set of ranks that hold them; 0 if none is known.
[[nodiscard]] uint64_t contents_number(uint32_t ranks, std::span<const uint64_t> digests);

// ShardedSide: one side of a comparison with its ranks merged. The calls that the ranks of a program have in common are one
// call. The tensors of a slot are one global tensor, with the local tensors of the ranks.
//
// Ranks that run the same calls are a program: those of a stage of pipeline parallelism, or all. Programs follow each other
// in the order of their ranks, and in reverse order in the backward pass.

// The ranks of a dump, ascending; empty if no folder has a rank.
[[nodiscard]] std::set<int64_t> ranks_of(const DumpWithGraph& dump);

// True if the two dumps have no rank in common, or other calls or shapes on the first rank that both have. Without a call in
// common, the ranks decide. False if both have at most one rank.
[[nodiscard]] bool sharding_differs(const DumpWithGraph& a, const DumpWithGraph& b);

// True for an operator of the backward pass, by its name in MindSpore's IR or in a dump of msprobe.
[[nodiscard]] bool is_backward_operator(std::string_view name);

// True for a send or receive. The ranks on both ends may run different layers under the same names.
[[nodiscard]] bool sends(const SequencedOp& op);

// Calls that are not one call, although all ranks make them under one name, such as those of experts. Maps name, step and
// rank to the part of the ranks that makes the call together.
using ExpertSplits = std::map<std::tuple<std::string, std::optional<int64_t>, int64_t>, uint32_t>;

// Must not move, because `side()` refers to it.
class ShardedSide {
 public:
  // `dump` is copied, but what it points to must outlive this.
  explicit ShardedSide(const DumpWithGraph& dump)
      : ShardedSide(dump, {}, std::make_shared<LocalContents>(*dump.index)) {}
  // The same side with other calls split. Keeps the digests that `whole` has read.
  ShardedSide(const ShardedSide& whole, const ExpertSplits& splits)
      : ShardedSide(whole.dump_, splits, whole.contents_) {}
  ShardedSide(const ShardedSide&) = delete;
  ShardedSide& operator=(const ShardedSide&) = delete;

  // The tensors and operators without ranks.
  [[nodiscard]] DumpWithGraph side() const;

  // The ranks that hold a global tensor, and the record of each; null if that rank has none.
  struct Members {
    uint32_t ranks = 0;  // index of a set of ranks
    std::vector<const TensorRecord*> records;
  };
  [[nodiscard]] const Members& members(RecordId tensor) const { return members_[tensor]; }
  [[nodiscard]] const std::vector<int64_t>& ranks(RecordId tensor) const { return rank_sets_[members_[tensor].ranks]; }
  // The digests of its local tensors.
  [[nodiscard]] LocalContents& contents() const { return *contents_; }
  [[nodiscard]] size_t size() const { return tensors_.size(); }
  [[nodiscard]] const std::vector<TensorRecord>& tensors() const { return tensors_; }
  [[nodiscard]] const std::vector<SequencedOp>& operators() const { return operators_; }
  [[nodiscard]] uint32_t program_of(SequencedOpId op) const { return origins_[op].program; }

  // Replaces how the tensor is assembled.
  void set_pieces(RecordId tensor, TensorPieces pieces);
  // Adds the tensor `of` under another name.
  RecordId add_tensor(RecordId of, const TensorRecord& named);
  // The tensor that was added under another name, or the tensor itself.
  [[nodiscard]] RecordId original(RecordId tensor) const;
  void remove_added();

 private:
  ShardedSide(const DumpWithGraph& dump, const ExpertSplits& splits, std::shared_ptr<LocalContents> contents);
  void find_programs(const std::vector<SequencedOp>& all);
  void add_program(uint32_t program, const std::vector<SequencedOp>& all, const ExpertSplits& splits);
  uint32_t rank_set(std::vector<int64_t> ranks);
  const TensorView* keep(TensorPieces pieces);
  void order_operators();

  // The program of an operator, and the ranks that run it.
  struct Origin {
    uint32_t program = 0;
    uint32_t ranks = 0;            // index in rank_sets_
    std::optional<uint32_t> part;  // of a call that is split
  };

  const DumpWithGraph dump_;
  const std::shared_ptr<LocalContents> contents_;
  std::vector<std::vector<int64_t>> programs_;          // ranks; -1: unknown
  std::vector<std::vector<SequencedOpId>> of_program_;  // by program: operators of the dump, rank by rank
  std::vector<std::vector<int64_t>> rank_sets_;         // ascending
  std::vector<SequencedOp> operators_;
  std::vector<Origin> origins_;  // by operator
  std::vector<TensorRecord> tensors_;
  std::vector<Members> members_;
  std::deque<TensorPieces> pieces_;  // by tensor: how it is assembled
  std::deque<TensorView> views_;     // of pieces_
  std::vector<RecordId> added_;      // the originals of the last tensors
};

}  // namespace msdump
