#include "compare/tokens/run_passes.h"

#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "compare/tokens/input_meaning.h"
#include "compare/tokens/pass_inputs.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

using Number = std::optional<int64_t>;

Number rank_of(const CompareSide& side, const TensorRecord& record) {
  return side.index->folders()[side.index->files()[record.file].folder].identity.rank;
}
Number step_of(const CompareSide& side, const TensorRecord& record) { return place_of(*side.index, record).step; }

// The operator without the number of its call: "Module.fc.Linear.forward." and "", "Functional.linear." and ".forward".
struct CallName {
  std::string_view before, after;
  Number call;
};

CallName call_name(std::string_view name) {
  const auto entry = parse_msprobe_entry(name);
  if (!entry) return {name, {}, {}};
  const std::vector<std::string_view> parts = split(name, '.');
  for (size_t i = parts.size(); i-- > 0 && i + 2 >= parts.size();) {
    if (!is_digits(parts[i])) continue;
    const auto at = static_cast<size_t>(parts[i].data() - name.data());
    return {name.substr(0, at), name.substr(at + parts[i].size()), parse_i64(parts[i])};
  }
  return {name, {}, {}};
}

using Call = std::pair<int64_t, uint32_t>;  // the number in the name, and the occurrence

Call call_of(const TensorRecord& record) {
  return {call_name(record.name.op_name).call.value_or(0), record.occurrence};
}

// The tensor of an operator in whatever call; of an embedding by a function, in those that read a table of this shape.
using ValueKey = std::tuple<std::string_view, std::string_view, Io, std::string_view, Shape>;
ValueKey value_key(const TensorRecord& record, Shape table) {
  const CallName name = call_name(record.name.op_name);
  return {name.before, name.after, record.name.io, record.name.slot, std::move(table)};
}

// The shapes of the tables of embeddings by functions, which read them as their second input.
class EmbeddingTables {
 public:
  explicit EmbeddingTables(const CompareSide& side) : side_(side) {
    for (const TensorRecord& record : *side.tensors) {
      const bool is_table = record.name.io == Io::kInput && record.name.slot == "1" && embeds_tokens(record.name);
      if (!is_table || !record.shape || record.shape->empty()) continue;
      shapes_.try_emplace(key_of(record), *record.shape);
      most_rows_ = std::max(most_rows_, record.shape->front());
    }
  }
  // True for an embedding by a function that looks up places or kinds: words are more.
  [[nodiscard]] bool has_fewer_rows(const Shape& table) const { return !table.empty() && table.front() < most_rows_; }
  [[nodiscard]] Shape of(const TensorRecord& record) const {
    const auto found = shapes_.find(key_of(record));
    return found == shapes_.end() ? Shape{} : found->second;
  }

 private:
  using Key = std::tuple<Number, Number, std::string_view, uint32_t>;
  [[nodiscard]] Key key_of(const TensorRecord& record) const {
    return {rank_of(side_, record), step_of(side_, record), record.name.op_name, record.occurrence};
  }

  const CompareSide& side_;
  std::map<Key, Shape> shapes_;
  int64_t most_rows_ = 0;
};

}  // namespace

TokenIds find_token_ids(const CompareSide& side, bool statistics) {
  if (side.index->dumps().size() > 1) return {{}, {}, "it has several dumps"};
  struct Found {
    int certainty = 0;
    std::vector<RecordId> records;
  };
  const EmbeddingTables tables(side);
  std::map<std::pair<Number, ValueKey>, Found> found;
  std::vector<const std::pair<const std::pair<Number, ValueKey>, Found>*> order;
  for (RecordId i{0}; i < side.tensors->size(); ++i) {
    const TensorRecord& record = (*side.tensors)[i];
    if (record.has_elements == statistics || !can_be_input(record) || kind_of(record.name.dtype) != DTypeKind::kInteger)
      continue;
    if (meaning_of(record.name) != Meaning::kIds) continue;
    Shape table = tables.of(record);
    if (tables.has_fewer_rows(table)) continue;
    const auto [one, added] = found.try_emplace({rank_of(side, record), value_key(record, std::move(table))});
    if (added) order.push_back(&*one);
    // The input of the embedding is the surest: the activations have a row for each of its elements.
    one->second.certainty = record.name.io == Io::kInput && embeds_tokens(record.name) ? 2 : 1;
    one->second.records.push_back(i);
  }
  if (order.empty()) return {{}, {}, "no tensor with the ids of tokens was dumped"};
  const Number rank = order.front()->first.first;
  const std::pair<const std::pair<Number, ValueKey>, Found>* best = nullptr;
  for (const auto* const one : order) {
    if (one->first.first == rank && (best == nullptr || one->second.certainty > best->second.certainty)) best = one;
  }
  TokenIds ids{best->second.records, {}, {}};
  for (const auto* const one : order) {
    if (one != best && one->first.second == best->first.second) ids.others.push_back(one->second.records);
  }
  const auto earlier = [&](RecordId x, RecordId y) {
    const TensorRecord &left = (*side.tensors)[x], &right = (*side.tensors)[y];
    return std::pair(step_of(side, left), call_of(left)) < std::pair(step_of(side, right), call_of(right));
  };
  std::stable_sort(ids.records.begin(), ids.records.end(), earlier);
  for (std::vector<RecordId>& other : ids.others) std::stable_sort(other.begin(), other.end(), earlier);
  return ids;
}

bool rows_differ(const CompareSide& a, const TokenIds& ids_a, const CompareSide& b, const TokenIds& ids_b) {
  const auto shapes_of = [](const CompareSide& side, const TokenIds& ids) {
    std::map<Number, std::vector<Shape>> shapes;
    for (const RecordId record : ids.records)
      shapes[step_of(side, (*side.tensors)[record])].push_back(without_ones(*(*side.tensors)[record].shape));
    return shapes;
  };
  const auto of_a = shapes_of(a, ids_a), of_b = shapes_of(b, ids_b);
  if (of_a.empty() || of_b.empty()) return false;
  if (of_a.size() == 1 && of_b.size() == 1) return of_a.begin()->second != of_b.begin()->second;
  for (const auto& [step, shapes] : of_a) {
    const auto other = of_b.find(step);
    if (other != of_b.end()) return shapes != other->second;
  }
  return true;
}

namespace {

class PassBuilder {
 public:
  PassBuilder(const CompareSide& side, const TokenIds& ids, const CancelToken& cancel)
      : side_(side), ids_(ids), cancel_(cancel) {}

  Result<RunPasses> run() {
    MSDUMP_CHECK_OK(add_passes(ids_.records));
    for (const std::vector<RecordId>& other : ids_.others) {
      MSDUMP_TRY(const bool joined, join_group(other));
      if (!joined) MSDUMP_CHECK_OK(add_passes(other));
    }
    MSDUMP_CHECK_OK(check_groups());
    count_calls();
    place_calls();
    join_tensors();
    MSDUMP_CHECK_OK(read_inputs(side_, groups_.front().ranks.front(), result_, cancel_));
    return std::move(result_);
  }

 private:
  using Place = std::pair<Number, Number>;  // rank and step
  // Ranks that read the same tokens, and their passes: the first pass of each step, and how many it has.
  struct Group {
    std::vector<Number> ranks;
    std::map<Number, std::pair<uint32_t, uint32_t>> steps;
  };
  // The calls of one operator on one rank in one step.
  struct Calls {
    std::map<Call, uint32_t> orders;                       // the first order of each
    std::map<Call, std::pair<uint32_t, uint32_t>> placed;  // its pass, and its number there
  };
  using CallsKey = std::tuple<Number, Number, std::string_view, std::string_view, std::string_view>;

  [[nodiscard]] const TensorRecord& record(RecordId id) const { return (*side_.tensors)[id]; }

  [[nodiscard]] CallsKey calls_key(const TensorRecord& one) const {
    const CallName name = call_name(one.name.op_name);
    return {rank_of(side_, one), step_of(side_, one), name.before, name.after, one.name.op_type};
  }

  [[nodiscard]] uint32_t passes() const { return static_cast<uint32_t>(result_.inputs.size()); }

  // The passes of a rank that reads other tokens than those before.
  Status add_passes(const std::vector<RecordId>& ids) {
    const Number rank = rank_of(side_, record(ids.front()));
    Group& group = groups_.emplace_back();
    group.ranks.push_back(rank);
    group_of_[rank] = groups_.size() - 1;
    for (const RecordId id : ids) {
      const Number step = step_of(side_, record(id));
      const auto [found, added] = group.steps.try_emplace(step, passes(), 0);
      ++found->second.second;
      TokenInputs& inputs = result_.inputs.emplace_back();
      inputs.source = static_cast<uint32_t>(groups_.size() - 1);
      inputs.shape = *record(id).shape;
      MSDUMP_TRY(inputs.ids, read_whole_numbers(side_, record(id), cancel_));
      result_.steps.push_back(step);
      result_.ranks.push_back(rank);
      tokens_ += static_cast<int64_t>(inputs.ids.size());
      if (tokens_ > kMostTokens) return fail(ErrorCode::kTooLarge, "it has more than {} tokens", kMostTokens);
    }
    return {};
  }

  // Adds a rank to the group that reads the same tokens. False if none does.
  Result<bool> join_group(const std::vector<RecordId>& ids) {
    const Number rank = rank_of(side_, record(ids.front()));
    std::vector<bool> differs(groups_.size(), false);
    std::map<Number, uint32_t> calls;  // that were seen of each step
    for (const RecordId id : ids) {
      MSDUMP_TRY(const std::vector<int64_t> numbers, read_whole_numbers(side_, record(id), cancel_));
      const Number step = step_of(side_, record(id));
      const uint32_t call = calls[step]++;
      for (size_t i = 0; i < groups_.size(); ++i) {
        const auto passes = groups_[i].steps.find(step);
        if (passes == groups_[i].steps.end() || call >= passes->second.second ||
            result_.inputs[passes->second.first + call].ids != numbers)
          differs[i] = true;
      }
    }
    const auto same = std::find(differs.begin(), differs.end(), false);
    if (same == differs.end()) return false;
    const auto group = static_cast<size_t>(same - differs.begin());
    groups_[group].ranks.push_back(rank);
    group_of_[rank] = group;
    return true;
  }

  // If ranks read different tokens, each rank has a counterpart in every group.
  Status check_groups() {
    result_.groups = static_cast<uint32_t>(groups_.size());
    if (groups_.size() == 1) return {};
    for (const Group& group : groups_) {
      if (group.ranks.size() != groups_.front().ranks.size()) {
        return fail(ErrorCode::kNotFound, "some tokens are read by {} ranks, others by {}",
                    groups_.front().ranks.size(), group.ranks.size());
      }
    }
    for (const TensorRecord& one : *side_.tensors) {
      const Number rank = rank_of(side_, one);
      if (group_of_.contains(rank)) continue;
      return fail(ErrorCode::kNotFound, "other ranks read different tokens, and nothing tells those of rank {}",
                  rank.value_or(0));
    }
    return {};
  }

  [[nodiscard]] const Group& group_of(Number rank) const {
    const auto found = group_of_.find(rank);
    return groups_[found == group_of_.end() ? 0 : found->second];
  }
  // The passes of a step, as the group of the rank runs it; null for none.
  [[nodiscard]] const std::pair<uint32_t, uint32_t>* passes_of(Number rank, Number step) const {
    const Group& group = group_of(rank);
    const auto found = group.steps.find(step);
    return found == group.steps.end() ? nullptr : &found->second;
  }
  // Its counterpart in the first group.
  [[nodiscard]] Number joined_rank(Number rank) const {
    if (groups_.size() == 1) return rank;
    const std::vector<Number>& ranks = group_of(rank).ranks;
    return groups_.front().ranks[static_cast<size_t>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin())];
  }

  void count_calls() {
    for (const TensorRecord& one : *side_.tensors) {
      if (passes_of(rank_of(side_, one), step_of(side_, one)) == nullptr) continue;
      const auto [found, added] = calls_[calls_key(one)].orders.try_emplace(call_of(one), one.order);
      if (!added) found->second = std::min(found->second, one.order);
    }
  }

  void place_calls() {
    std::map<Place, std::vector<uint32_t>> begins;  // the first order of each pass of the step
    for (const auto& [key, calls] : calls_) {
      const auto [first, count] = *passes_of(std::get<0>(key), std::get<1>(key));
      if (calls.orders.size() != count || count < 2) continue;
      std::vector<uint32_t>& own = begins[{std::get<0>(key), std::get<1>(key)}];
      own.resize(count, kNoOrder);
      uint32_t pass = 0;
      for (const auto& [call, order] : calls.orders) {
        own[pass] = std::min(own[pass], order);
        ++pass;
      }
    }
    for (auto& [key, calls] : calls_) {
      const auto [first, count] = *passes_of(std::get<0>(key), std::get<1>(key));
      const auto own = begins.find({std::get<0>(key), std::get<1>(key)});
      const bool in_order = count > 1 && own != begins.end() && calls.orders.size() != count &&
                            std::is_sorted(own->second.begin(), own->second.end()) && own->second.back() != kNoOrder;
      const size_t in_each = std::max<size_t>(1, calls.orders.size() / count);
      std::map<uint32_t, uint32_t> next;  // number in the pass
      size_t number = 0;
      for (const auto& [call, order] : calls.orders) {
        auto pass = static_cast<uint32_t>(std::min<size_t>(number++ / in_each, count - 1));
        if (in_order && order != kNoOrder) {
          const auto after = std::upper_bound(own->second.begin(), own->second.end(), order);
          pass = static_cast<uint32_t>(std::max<std::ptrdiff_t>(0, after - own->second.begin() - 1));
        }
        calls.placed[call] = {first + pass, next[pass]++};
      }
    }
  }

  // The pass and the number of a call: those of its forward call for a backward one.
  [[nodiscard]] std::pair<uint32_t, uint32_t> place_of_call(const TensorRecord& one) const {
    if (const auto forward = forward_entry_of(one.name.op_name)) {
      const CallName name = call_name(*forward);
      const auto calls =
          calls_.find({rank_of(side_, one), step_of(side_, one), name.before, name.after, one.name.op_type});
      if (calls != calls_.end()) {
        const auto placed = calls->second.placed.find({name.call.value_or(0), one.occurrence});
        if (placed != calls->second.placed.end()) return placed->second;
      }
    }
    return calls_.at(calls_key(one)).placed.at(call_of(one));
  }

  [[nodiscard]] std::string_view name_with(std::string_view own, uint32_t number) {
    const CallName name = call_name(own);
    if (!name.call || *name.call == number) return own;
    std::string renamed = std::string(name.before) + std::to_string(number) + std::string(name.after);
    const auto known = renamed_.find(renamed);
    if (known != renamed_.end()) return *known;
    result_.names.push_back(std::move(renamed));
    return *renamed_.insert(result_.names.back()).first;
  }

  void join_tensors() {
    using OperatorKey = std::tuple<Number, Number, std::string_view, std::string_view>;
    using TensorKey = std::tuple<size_t, uint32_t, Io, std::string_view>;
    struct Placed {
      uint32_t pass = 0, occurrence = 0;
      RecordId id;
      OperatorKey key;
    };
    std::vector<Placed> all;
    for (RecordId id{0}; id < side_.tensors->size(); ++id) {
      const TensorRecord& one = record(id);
      if (passes_of(rank_of(side_, one), step_of(side_, one)) == nullptr) {
        ++result_.left_out;
        continue;
      }
      const auto [pass, number] = place_of_call(one);
      const bool named = call_name(one.name.op_name).call.has_value();
      all.push_back({pass,
                     named ? 0 : number,
                     id,
                     {joined_rank(rank_of(side_, one)), place_of(*side_.index, one).graph,
                      name_with(one.name.op_name, number), one.name.op_type}});
    }
    std::stable_sort(all.begin(), all.end(), [](const Placed& x, const Placed& y) {
      return std::tuple(std::get<0>(x.key), x.pass) < std::tuple(std::get<0>(y.key), y.pass);
    });
    // An operator that an earlier pass does not have comes after the one before it in its own.
    std::list<size_t> order;
    std::map<OperatorKey, std::list<size_t>::iterator> places;
    std::map<TensorKey, size_t> tensors;
    std::vector<SequencedOp> operators;
    auto at = order.end();
    const Placed* before = nullptr;
    for (const Placed& one : all) {
      const TensorRecord& own = record(one.id);
      const bool follows =
          before != nullptr && before->pass == one.pass && std::get<0>(before->key) == std::get<0>(one.key);
      const auto known = places.find(one.key);
      if (known == places.end()) {
        const auto next = follows ? std::next(at) : one.pass == 0 || before == nullptr ? order.end() : order.begin();
        at = order.insert(next, operators.size());
        places.emplace(one.key, at);
        SequencedOp& op = operators.emplace_back();
        op.rank = std::get<0>(one.key);
        op.graph = std::get<1>(one.key);
        op.name = std::string(std::get<2>(one.key));
        op.type = own.name.op_type;
      } else {
        at = known->second;
      }
      before = &one;
      const auto [tensor, added] =
          tensors.try_emplace({*at, one.occurrence, own.name.io, own.name.slot}, result_.tensors.size());
      if (added) {
        operators[*at].tensors.emplace_back(tensor->second);
        result_.tensors.emplace_back();
        result_.op_names.push_back(std::get<2>(one.key));
        result_.occurrences.push_back(one.occurrence);
      }
      RunPasses::Parts& parts = result_.tensors[tensor->second];
      if (parts.empty() || parts.back().pass != one.pass) parts.push_back({one.pass, one.id});
    }
    for (const size_t op : order) result_.operators.push_back(std::move(operators[op]));
  }

  const CompareSide& side_;
  const TokenIds& ids_;
  const CancelToken& cancel_;
  std::vector<Group> groups_;
  std::map<Number, size_t> group_of_;  // by rank
  int64_t tokens_ = 0;
  std::map<CallsKey, Calls> calls_;
  std::set<std::string_view> renamed_;
  RunPasses result_;
};

}  // namespace

Result<RunPasses> run_passes(const CompareSide& side, const TokenIds& ids, const CancelToken& cancel) {
  if (ids.records.empty()) return fail(ErrorCode::kNotFound, "{}", ids.problem);
  return PassBuilder(side, ids, cancel).run();
}

}  // namespace msdump
