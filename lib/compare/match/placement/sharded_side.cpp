#include "compare/match/placement/sharded_side.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "base/containers.h"
#include "compare/match/placement/placement_samples.h"
#include "graph/flow/communication.h"
#include "msprobe/names.h"

namespace msdump {

Result<LocalContents::Digests> LocalContents::of(std::span<const TensorRecord* const> records,
                                                 const CancelToken& cancel) {
  std::vector<Piece> pieces;
  {
    const std::scoped_lock lock(lock_);
    for (const TensorRecord* const record : records) {
      const auto known = known_.find(record);
      if (known == known_.end()) break;
      pieces.push_back(known->second);
    }
  }
  if (pieces.size() == records.size()) return digests_of(pieces);
  LocalValues values(index_, records, &failures_);
  if (!values.ok()) return Digests();
  const Result<std::vector<uint64_t>> digests = values.digests(cancel);
  if (!digests) {
    failures_.add(digests.error());
    return fail(digests.error());
  }
  pieces.clear();
  for (size_t i = 0; i < digests->size(); ++i) {
    const std::vector<double> look = values.first_look(i);
    const bool one_value = !look.empty() && is_constant(look);
    pieces.push_back({(*digests)[i], look.empty(), one_value ? std::optional(look.front()) : std::nullopt});
  }
  const std::scoped_lock lock(lock_);
  for (size_t i = 0; i < records.size(); ++i) known_.try_emplace(records[i], pieces[i]);
  return digests_of(pieces);
}

LocalContents::Digests LocalContents::digests_of(std::span<const Piece> pieces) {
  Digests digests;
  digests.alike = true;
  std::optional<double> only;
  for (const Piece& piece : pieces) {
    digests.of_pieces.push_back(piece.digest);
    if (piece.empty) continue;
    digests.alike = digests.alike && piece.only && (!only || *only == *piece.only);
    only = piece.only;
  }
  return digests;
}

uint64_t contents_number(uint32_t ranks, std::span<const uint64_t> digests) {
  if (digests.empty()) return 0;
  uint64_t all = ranks + 1;
  for (const uint64_t digest : digests) all = mix_hash(all, digest);
  return all;
}

namespace {

// True for the share that two ranks of one program have in common: one may have calls that the others lack, such as logging.
bool is_most(size_t part, size_t all) { return 10 * part >= 9 * all; }

// -1 if the dump has no ranks.
int64_t rank_of(const SequencedOp& op) { return op.rank.value_or(-1); }

using CallKey = std::tuple<std::string_view, std::string_view, std::optional<int64_t>>;  // name, type, step
CallKey key_of(const SequencedOp& op) { return {op.name, op.type, op.step}; }

using SlotKey = std::tuple<std::optional<int64_t>, uint32_t, Io, std::string_view>;  // step, occurrence, io, slot
SlotKey key_of(const DumpWithGraph& dump, const TensorRecord& tensor) {
  return {place_of(*dump.index, tensor).step, tensor.occurrence, tensor.name.io, tensor.name.slot};
}

// True if ranks with these calls run one program. One of few calls may be missing on either.
bool is_one_program(const std::set<CallKey>& a, const std::set<CallKey>& b) {
  size_t common = 0;
  for (const CallKey& key : a) common += b.count(key);
  const size_t all = a.size() + b.size() - common;
  return (common > 0 && all == common + 1) || is_most(common, all);
}

using Step = std::optional<int64_t>;

struct RankCalls {
  std::map<CallKey, std::map<SlotKey, const Shape*>> shapes;  // of the tensors of each call; null: unknown
  bool communicates = false;
};

std::set<Step> steps_of(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators, int64_t rank) {
  std::set<Step> steps;
  for (const SequencedOp& op : operators) {
    if (rank_of(op) != rank) continue;
    for (const RecordId tensor : op.tensors) steps.insert(place_of(*dump.index, (*dump.tensors)[tensor]).step);
  }
  return steps;
}

// The calls of one step; without it, with the first tensors of each.
RankCalls calls_of(const DumpWithGraph& dump, const std::vector<SequencedOp>& operators, int64_t rank,
                   const std::optional<Step>& of_step) {
  RankCalls calls;
  for (const SequencedOp& op : operators) {
    if (rank_of(op) != rank || op.tensors.empty() || (of_step && op.step && op.step != *of_step)) continue;
    calls.communicates = calls.communicates || is_communication(op.type);
    for (const RecordId index : op.tensors) {
      const TensorRecord& tensor = (*dump.tensors)[index];
      SlotKey key = key_of(dump, tensor);
      if (of_step && std::get<0>(key) != *of_step) continue;
      if (!of_step) std::get<0>(key).reset();
      calls.shapes[key_of(op)].try_emplace(key, tensor.shape);
    }
  }
  return calls;
}

// True if the tensors that both have, some at least, are of the same shapes.
bool alike_shapes(const std::map<SlotKey, const Shape*>& a, const std::map<SlotKey, const Shape*>& b) {
  bool any = false;
  for (const auto& [slot, shape] : a) {
    const auto found = b.find(slot);
    if (found == b.end()) continue;
    any = true;
    const Shape* const other = found->second;
    if (shape == nullptr || other == nullptr ? shape != other : *shape != *other) return false;
  }
  return any;
}

// True if one rank of both sides has alike calls and shapes. `same_ranks` decides if they have no call in common.
bool cut_alike(const RankCalls& a, const RankCalls& b, bool same_ranks) {
  size_t common = 0, alike = 0;
  for (const auto& [key, shapes] : a.shapes) {
    const auto other = b.shapes.find(key);
    if (other == b.shapes.end()) continue;
    ++common;
    if (alike_shapes(shapes, other->second)) ++alike;
  }
  if (common == 0) return same_ranks;
  const size_t fewer = std::min(a.shapes.size(), b.shapes.size());
  return a.communicates == b.communicates && (is_most(common, fewer) || !a.communicates) && is_most(alike, common);
}

}  // namespace

std::set<int64_t> ranks_of(const DumpWithGraph& dump) {
  std::set<int64_t> ranks;
  for (const TensorRecord& tensor : *dump.tensors) {
    const auto& rank = dump.index->folders()[dump.index->files()[tensor.file].folder].identity.rank;
    if (rank) ranks.insert(*rank);
  }
  return ranks;
}

bool sharding_differs(const DumpWithGraph& a, const DumpWithGraph& b) {
  const std::set<int64_t> in_a = ranks_of(a), in_b = ranks_of(b);
  if (in_a.size() <= 1 && in_b.size() <= 1) return false;
  const auto first = std::find_if(in_a.begin(), in_a.end(), [&](int64_t rank) { return in_b.contains(rank); });
  if (first == in_a.end()) return true;
  const std::vector<SequencedOp> of_a = operators_of(a), of_b = operators_of(b);
  const int64_t rank = *first;
  std::optional<Step> step;  // the first that both have
  const std::set<Step> steps_b = steps_of(b, of_b, rank);
  for (const Step& of_rank : steps_of(a, of_a, rank)) {
    if (!step && steps_b.contains(of_rank)) step = of_rank;
  }
  return !cut_alike(calls_of(a, of_a, rank, step), calls_of(b, of_b, rank, step), in_a == in_b);
}

bool is_backward_operator(std::string_view name) {
  return is_gradient_name(name) || forward_entry_of(name).has_value();
}

bool sends(const SequencedOp& op) {
  return is_communication(op.type) &&
         (op.type.find("send") != std::string_view::npos || op.type.find("recv") != std::string_view::npos);
}

ShardedSide::ShardedSide(const DumpWithGraph& dump, const ExpertSplits& splits, std::shared_ptr<LocalContents> contents)
    : dump_(dump), contents_(std::move(contents)) {
  const std::vector<SequencedOp> all = operators_of(dump);
  find_programs(all);
  for (uint32_t program = 0; program < programs_.size(); ++program) add_program(program, all, splits);
  order_operators();
}

void ShardedSide::find_programs(const std::vector<SequencedOp>& all) {
  struct Calls {
    std::set<CallKey> keys;
    bool sends = false;
  };
  std::map<int64_t, std::vector<SequencedOpId>> by_rank;
  for (SequencedOpId i{0}; i < all.size(); ++i) {
    if (!all[i].tensors.empty()) by_rank[rank_of(all[i])].push_back(i);
  }
  std::vector<Calls> programs;
  for (const auto& [rank, operators] : by_rank) {
    Calls own;
    for (const SequencedOpId op : operators) {
      own.keys.insert(key_of(all[op]));
      own.sends = own.sends || sends(all[op]);
    }
    const auto same = std::find_if(programs.begin(), programs.end(), [&](const Calls& other) {
      return own.sends || other.sends ? own.keys == other.keys : is_one_program(own.keys, other.keys);
    });
    const auto program = static_cast<size_t>(same - programs.begin());
    if (same == programs.end()) {
      programs.push_back(std::move(own));
      programs_.emplace_back();
      of_program_.emplace_back();
    }
    programs_[program].push_back(rank);
    of_program_[program].insert(of_program_[program].end(), operators.begin(), operators.end());
  }
}

uint32_t ShardedSide::rank_set(std::vector<int64_t> ranks) {
  const auto found = std::find(rank_sets_.begin(), rank_sets_.end(), ranks);
  if (found != rank_sets_.end()) return static_cast<uint32_t>(found - rank_sets_.begin());
  rank_sets_.push_back(std::move(ranks));
  return static_cast<uint32_t>(rank_sets_.size() - 1);
}

void ShardedSide::add_program(uint32_t program, const std::vector<SequencedOp>& all, const ExpertSplits& splits) {
  const uint32_t all_ranks = rank_set(programs_[program]);
  const auto part_of = [&](const SequencedOp& op, int64_t rank) -> std::optional<uint32_t> {
    if (splits.empty()) return std::nullopt;
    const auto found = splits.find({op.name, op.step, rank});
    return found == splits.end() ? std::nullopt : std::optional(found->second);
  };
  std::map<std::pair<CallKey, std::optional<uint32_t>>, uint32_t> places;  // in operators_
  std::map<std::pair<uint32_t, SlotKey>, uint32_t> slots;
  for (const uint32_t index : of_program_[program]) {
    const SequencedOp& own = all[index];
    const std::optional<uint32_t> part = part_of(own, rank_of(own));
    const auto [found, is_new] = places.try_emplace({key_of(own), part}, static_cast<uint32_t>(operators_.size()));
    if (is_new) {
      SequencedOp& op = operators_.emplace_back(own);
      op.rank = {};
      op.tensors.clear();
      std::vector<int64_t> of_part = programs_[program];
      if (part) std::erase_if(of_part, [&](int64_t rank) { return part_of(own, rank) != part; });
      origins_.push_back({program, part ? rank_set(std::move(of_part)) : all_ranks, part});
    }
    const std::vector<int64_t>& ranks = rank_sets_[origins_[found->second].ranks];
    const auto place = static_cast<size_t>(std::lower_bound(ranks.begin(), ranks.end(), rank_of(own)) - ranks.begin());
    for (const RecordId tensor : own.tensors) {
      const TensorRecord& record = (*dump_.tensors)[tensor];
      const auto [slot, is_new_slot] =
          slots.try_emplace({found->second, key_of(dump_, record)}, static_cast<uint32_t>(tensors_.size()));
      if (is_new_slot) {
        operators_[found->second].tensors.emplace_back(slot->second);
        tensors_.push_back(record);
        members_.push_back({origins_[found->second].ranks, std::vector<const TensorRecord*>(ranks.size(), nullptr)});
        TensorPieces pieces;
        pieces.records = {&record};
        if (record.shape != nullptr) pieces.shape = *record.shape;
        tensors_.back().view = keep(std::move(pieces));
      }
      members_[slot->second].records[place] = &record;
    }
  }
}

// Orders the operators of several programs step by step: forward in their order, then backward in the opposite order.
// Updates of the weights come last. The parts of split calls follow each other, each with all of its calls.
void ShardedSide::order_operators() {
  const auto last = static_cast<uint32_t>(programs_.size() - 1);
  std::vector<SequencedOpId> order(operators_.size()), first_in_place(operators_.size());
  std::iota(order.begin(), order.end(), SequencedOpId(0));
  // Parts were added rank by rank; a call belongs at the index of its first part.
  std::map<std::pair<uint32_t, CallKey>, SequencedOpId> places;
  for (SequencedOpId i{0}; i < operators_.size(); ++i)
    first_in_place[i] = places.try_emplace({origins_[i].program, key_of(operators_[i])}, i).first->second;
  std::map<std::pair<uint32_t, std::optional<int64_t>>, SequencedOpId> last_backward;  // by program and step
  for (SequencedOpId i{0}; i < operators_.size(); ++i) {
    if (is_backward_operator(operators_[i].name))
      last_backward[{origins_[i].program, operators_[i].step}] = first_in_place[i];
  }
  const auto key = [&](SequencedOpId op) {
    const uint32_t program = origins_[op].program;
    const auto last_of_step = last_backward.find({program, operators_[op].step});
    const bool updates = last_of_step != last_backward.end() && first_in_place[op] > last_of_step->second;
    const bool backward = programs_.size() > 1 && (updates || is_backward_operator(operators_[op].name));
    return std::tuple(programs_.size() > 1 ? operators_[op].step.plain() : std::nullopt, backward,
                      backward ? last - program : program, first_in_place[op], origins_[op].part.value_or(0));
  };
  std::stable_sort(order.begin(), order.end(), [&](SequencedOpId x, SequencedOpId y) { return key(x) < key(y); });
  // Sorts a row of split calls by part.
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && origins_[order[end]].part) ++end;
    std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
                     order.begin() + static_cast<std::ptrdiff_t>(end),
                     [&](SequencedOpId x, SequencedOpId y) { return origins_[x].part < origins_[y].part; });
    begin = std::max(end, begin + 1);
  }
  std::vector<SequencedOp> sorted;
  std::vector<Origin> origins;
  for (const SequencedOpId op : order) {
    for (const RecordId tensor : operators_[op].tensors) {
      if (tensors_[tensor].order != kNoOrder) tensors_[tensor].order = static_cast<uint32_t>(sorted.size());
    }
    sorted.push_back(std::move(operators_[op]));
    origins.push_back(origins_[op]);
  }
  operators_ = std::move(sorted);
  origins_ = std::move(origins);
}

DumpWithGraph ShardedSide::side() const {
  DumpWithGraph side = dump_;
  side.tensors = &tensors_;
  side.operators = &operators_;
  side.join = nullptr;
  return side;
}

const TensorView* ShardedSide::keep(TensorPieces pieces) {
  views_.emplace_back().pieces = &pieces_.emplace_back(std::move(pieces));
  return &views_.back();
}

void ShardedSide::set_pieces(RecordId tensor, TensorPieces pieces) {
  pieces_[tensor] = std::move(pieces);
  TensorRecord& record = tensors_[tensor];
  record.shape = &pieces_[tensor].shape;
  uint64_t bytes = 0;
  for (const TensorRecord* const piece : pieces_[tensor].records) bytes += piece->bytes.value_or(0);
  if (record.bytes) record.bytes = bytes;
}

RecordId ShardedSide::add_tensor(RecordId of, const TensorRecord& named) {
  TensorRecord record = tensors_[of];
  record.name.op_name = named.name.op_name;
  record.name.op_type = named.name.op_type;
  record.name.io = named.name.io;
  record.name.slot = named.name.slot;
  record.occurrence = named.occurrence;
  record.view = keep(pieces_[of]);
  record.shape = &pieces_.back().shape;
  tensors_.push_back(record);
  members_.push_back(members_[of]);
  added_.push_back(of);
  return RecordId(tensors_.size() - 1);
}

RecordId ShardedSide::original(RecordId tensor) const {
  const size_t own = tensors_.size() - added_.size();
  return tensor < own ? tensor : added_[tensor - own];
}

void ShardedSide::remove_added() {
  tensors_.resize(tensors_.size() - added_.size());
  members_.resize(tensors_.size());
  added_.clear();
}

}  // namespace msdump
