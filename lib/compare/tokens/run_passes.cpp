#include "compare/tokens/run_passes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <list>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/limits.h"
#include "compare/pair/pair_reader.h"
#include "compare/tokens/input_meaning.h"
#include "dump/elements/host_tensor.h"
#include "kernels/pair/pair_dtype.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

using Number = std::optional<int64_t>;

Number rank_of(const CompareSide& side, const TensorRecord& record) { return place_of(*side.index, record).rank; }
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
ValueKey value_key(const TensorRecord& record, const Shape& table) {
  const CallName name = call_name(record.name.op_name);
  return {name.before, name.after, record.name.io, record.name.slot, table};
}

}  // namespace

TokenIds find_token_ids(const CompareSide& side, bool statistics) {
  if (side.index->dumps().size() > 1) return {{}, {}, "it has several dumps"};
  struct Found {
    Number rank;
    ValueKey key;
    int certainty = 0;
    std::vector<RecordId> records = {};
  };
  // The shapes of the tables of embeddings by functions, which read them as their second input.
  using CallKey = std::tuple<Number, Number, std::string_view, uint32_t>;
  const auto call_key = [&](const TensorRecord& record) {
    return CallKey(rank_of(side, record), step_of(side, record), record.name.op_name, record.occurrence);
  };
  std::map<CallKey, Shape> tables;
  int64_t most_rows = 0;
  for (const TensorRecord& record : *side.tensors) {
    const bool is_table = record.name.io == Io::kInput && record.name.slot == "1" && embeds_tokens(record.name);
    if (!is_table || !record.shape || record.shape->empty()) continue;
    tables.try_emplace(call_key(record), *record.shape);
    most_rows = std::max(most_rows, record.shape->front());
  }
  std::vector<Found> found;
  std::map<std::pair<Number, ValueKey>, size_t> places;
  for (RecordId i{0}; i < side.tensors->size(); ++i) {
    const TensorRecord& record = (*side.tensors)[i];
    if (record.has_elements == statistics || !can_be_input(record) || kind_of(record.name.dtype) != DTypeKind::kInteger)
      continue;
    if (meaning_of(record.name) != Meaning::kIds) continue;
    const auto known = tables.find(call_key(record));
    const Shape table = known == tables.end() ? Shape() : known->second;
    // Tables of places or kinds have fewer rows than those of words.
    if (!table.empty() && table.front() < most_rows) continue;
    const Number rank = rank_of(side, record);
    const ValueKey key = value_key(record, table);
    const auto [place, added] = places.try_emplace({rank, key}, found.size());
    if (added) found.push_back({rank, key});
    // The input of the embedding is the surest: the activations have a row for each of its elements.
    found[place->second].certainty = record.name.io == Io::kInput && embeds_tokens(record.name) ? 2 : 1;
    found[place->second].records.push_back(i);
  }
  if (found.empty()) return {{}, {}, "no tensor with the ids of tokens was dumped"};
  const Found* best = &found.front();
  for (const Found& one : found) {
    if (one.rank == found.front().rank && one.certainty > best->certainty) best = &one;
  }
  TokenIds ids{best->records, {}, {}};
  for (const Found& one : found) {
    if (&one != best && one.key == best->key) ids.others.push_back(one.records);
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
  if (of_a.size() == 1 && of_b.size() == 1) return of_a.begin()->second != of_b.begin()->second;
  for (const auto& [step, shapes] : of_a) {
    const auto other = of_b.find(step);
    if (other != of_b.end()) return shapes != other->second;
  }
  return true;
}

namespace {

// A tensor of integers or booleans, row by row. kTooLarge for other tensors, and beyond kMostTokens.
Result<std::vector<int64_t>> read_whole_numbers(const CompareSide& side, const TensorRecord& record,
                                                const CancelToken& cancel) {
  MSDUMP_TRY(HostTensor tensor, HostTensor::open(*side.index, record, {}));
  if (!is_whole(tensor.dtype()) || tensor.count() > kMostTokens) {
    return fail(make_error(ErrorCode::kTooLarge, "{} of {} are no ids or positions of tokens", describe(tensor.shape()),
                           name_of(tensor.dtype()))
                    .with_path(tensor.path()));
  }
  std::vector<int64_t> numbers;
  std::vector<double> wide;
  MSDUMP_CHECK_OK(for_each_slab(tensor, cancel, [&](std::span<const std::byte> bytes, int64_t count) {
    wide.resize(static_cast<size_t>(count));
    kernels::widen_to(tensor.dtype(), DType::kFloat64, bytes.data(), count, reinterpret_cast<std::byte*>(wide.data()));
    // Ids and positions are below 2^53; others only have to stay different from them.
    for (const double value : wide) numbers.push_back(std::fabs(value) < 0x1p53 ? static_cast<int64_t>(value) : -1);
  }));
  return numbers;
}

constexpr size_t kMeanings = static_cast<size_t>(Meaning::kUnknown);

// True if most numbers are one more than the number before: positions of tokens in the order of their sequences.
bool are_positions(const std::vector<int64_t>& numbers) {
  size_t up = 0;
  for (size_t i = 1; i < numbers.size(); ++i) up += static_cast<size_t>(numbers[i] == numbers[i - 1] + 1);
  return numbers.size() > 1 && 2 * up >= numbers.size() - 1 &&
         std::all_of(numbers.begin(), numbers.end(), [](int64_t one) { return one >= 0; });
}

// Adds to `passes.inputs`, which have the ids, what the tensors of a rank tell of the rows: by their meaning (input_meaning.h), and
// positions also by their values. If several have one meaning, the one that was dumped in most passes is read.
class InputReader {
 public:
  InputReader(const CompareSide& side, RunPasses& passes, const CancelToken& cancel)
      : side_(side), passes_(passes), cancel_(cancel) {}

  Status run(std::optional<int64_t> rank) {
    std::array<const RunPasses::Parts*, kMeanings> best{};
    std::vector<const RunPasses::Parts*> unnamed;
    for (const SequencedOp& op : passes_.operators) {
      if (op.rank != rank) continue;
      for (const RecordId tensor : op.tensors) {
        const RunPasses::Parts& parts = passes_.tensors[tensor];
        const TensorRecord& one = record(parts.front().record);
        if (!can_be_input(one) || !one.has_elements) continue;
        const Meaning meaning = meaning_of(one.name);
        if (meaning == Meaning::kUnknown) {
          if (one.name.io == Io::kInput && has_rows(parts)) unnamed.push_back(&parts);
          continue;
        }
        const RunPasses::Parts*& known = best[static_cast<size_t>(meaning)];
        if (known == nullptr || parts.size() > known->size()) known = &parts;
      }
    }
    constexpr std::array<std::vector<int64_t> TokenInputs::*, kMeanings> kMembers = {nullptr,
                                                                                     &TokenInputs::positions,
                                                                                     &TokenInputs::cu_seqlens,
                                                                                     &TokenInputs::lengths,
                                                                                     &TokenInputs::requests,
                                                                                     &TokenInputs::slots,
                                                                                     &TokenInputs::mask};
    for (size_t meaning = 1; meaning < kMeanings; ++meaning) {
      if (best[meaning] != nullptr) MSDUMP_CHECK_OK(read(*best[meaning], kMembers[meaning]));
    }
    if (best[static_cast<size_t>(Meaning::kPositions)] == nullptr) MSDUMP_CHECK_OK(find_positions(unnamed));
    return {};
  }

 private:
  [[nodiscard]] const TensorRecord& record(RecordId id) const { return (*side_.tensors)[id]; }

  Status read(const RunPasses::Parts& parts, std::vector<int64_t> TokenInputs::*into) {
    int64_t left = 4 * kMostTokens;
    for (const RunPasses::Part& part : parts) {
      // A file that cannot be read is reported by the comparison; here it is as if it was not dumped.
      Result<std::vector<int64_t>> numbers = read_whole_numbers(side_, record(part.record), cancel_);
      MSDUMP_CHECK_OK(cancel_.check());
      if (!numbers) continue;
      left -= static_cast<int64_t>(numbers->size());
      if (left < 0) return {};
      passes_.inputs[part.pass].*into = std::move(*numbers);
    }
    return {};
  }

  // True if each of its tensors has as many elements as the pass has rows.
  [[nodiscard]] bool has_rows(const RunPasses::Parts& parts) const {
    return std::all_of(parts.begin(), parts.end(), [&](const RunPasses::Part& part) {
      const Shape* const shape = record(part.record).shape;
      return shape != nullptr && element_count(*shape) == static_cast<int64_t>(passes_.inputs[part.pass].ids.size());
    });
  }

  // Positions that no name tells: the first tensor in the order of operators whose values are like that.
  Status find_positions(const std::vector<const RunPasses::Parts*>& unnamed) {
    for (const RunPasses::Parts* const parts : std::span(unnamed).first(std::min(unnamed.size(), kMostTried))) {
      const auto widest = std::max_element(parts->begin(), parts->end(), [&](const auto& x, const auto& y) {
        return element_count(*record(x.record).shape) < element_count(*record(y.record).shape);
      });
      const Result<std::vector<int64_t>> numbers = read_whole_numbers(side_, record(widest->record), cancel_);
      MSDUMP_CHECK_OK(cancel_.check());
      if (!numbers || *numbers == passes_.inputs[widest->pass].ids || !are_positions(*numbers)) continue;
      return read(*parts, &TokenInputs::positions);
    }
    return {};
  }

  const CompareSide& side_;
  RunPasses& passes_;
  const CancelToken& cancel_;
};

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
    MSDUMP_CHECK_OK(InputReader(side_, result_, cancel_).run(groups_.front().ranks.front()));
    return std::move(result_);
  }

 private:
  // Ranks that read the same tokens, and their passes: the first pass of each step, and how many it has.
  struct Group {
    std::vector<Number> ranks;
    std::map<Number, std::pair<uint32_t, uint32_t>> steps;
  };
  struct PlacedCall {
    uint32_t order = kNoOrder;  // the first of its tensors
    uint32_t pass = 0, number = 0;
  };
  using Place = std::pair<Number, Number>;  // rank and step
  // By place: an operator.
  using CallsKey = std::pair<Place, std::tuple<std::string_view, std::string_view, std::string_view>>;

  [[nodiscard]] const TensorRecord& record(RecordId id) const { return (*side_.tensors)[id]; }

  [[nodiscard]] Place place(const TensorRecord& one) const { return {rank_of(side_, one), step_of(side_, one)}; }
  [[nodiscard]] CallsKey calls_key(const TensorRecord& one, const CallName& name) const {
    return {place(one), {name.before, name.after, one.name.op_type}};
  }

  // The passes of a rank that reads other tokens than those before.
  Status add_passes(const std::vector<RecordId>& ids) {
    const Number rank = rank_of(side_, record(ids.front()));
    Group& group = groups_.emplace_back();
    group.ranks.push_back(rank);
    group_of_[rank] = groups_.size() - 1;
    for (const RecordId id : ids) {
      const Number step = step_of(side_, record(id));
      const auto [found, added] = group.steps.try_emplace(step, result_.inputs.size(), 0);
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
      if (!group_of_.contains(rank))
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
  [[nodiscard]] const std::pair<uint32_t, uint32_t>* passes_of(const Place& place) const {
    const Group& group = group_of(place.first);
    const auto found = group.steps.find(place.second);
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
      if (passes_of(place(one)) == nullptr) continue;
      uint32_t& order = calls_[calls_key(one, call_name(one.name.op_name))][call_of(one)].order;
      order = std::min(order, one.order);
    }
  }

  void place_calls() {
    std::map<Place, std::vector<uint32_t>> begins;  // the first order of each pass of the step
    for (const auto& [key, calls] : calls_) {
      const auto [first, count] = *passes_of(key.first);
      if (calls.size() != count || count < 2) continue;
      std::vector<uint32_t>& own = begins[key.first];
      own.resize(count, kNoOrder);
      auto pass = own.begin();
      for (const auto& [call, placed] : calls) {
        *pass = std::min(*pass, placed.order);
        ++pass;
      }
    }
    for (auto& [key, calls] : calls_) {
      const auto [first, count] = *passes_of(key.first);
      const auto own = begins.find(key.first);
      const bool in_order = count > 1 && own != begins.end() && calls.size() != count &&
                            std::is_sorted(own->second.begin(), own->second.end()) && own->second.back() != kNoOrder;
      const size_t in_each = std::max<size_t>(1, calls.size() / count);
      std::map<uint32_t, uint32_t> next;  // number in the pass
      size_t number = 0;
      for (auto& [call, placed] : calls) {
        auto pass = static_cast<uint32_t>(std::min<size_t>(number++ / in_each, count - 1));
        if (in_order && placed.order != kNoOrder) {
          const auto after = std::upper_bound(own->second.begin(), own->second.end(), placed.order);
          pass = static_cast<uint32_t>(std::max<std::ptrdiff_t>(0, after - own->second.begin() - 1));
        }
        placed.pass = first + pass;
        placed.number = next[pass]++;
      }
    }
  }

  // The pass and the number of a call: those of its forward call for a backward one.
  [[nodiscard]] const PlacedCall& place_of_call(const TensorRecord& one) const {
    if (const auto forward = forward_entry_of(one.name.op_name)) {
      const CallName name = call_name(*forward);
      const auto calls = calls_.find(calls_key(one, name));
      if (calls != calls_.end()) {
        const auto placed = calls->second.find({name.call.value_or(0), one.occurrence});
        if (placed != calls->second.end()) return placed->second;
      }
    }
    return calls_.at(calls_key(one, call_name(one.name.op_name))).at(call_of(one));
  }

  [[nodiscard]] std::string_view name_with(std::string_view own, uint32_t number) {
    const CallName name = call_name(own);
    if (!name.call || *name.call == number) return own;
    std::string renamed = fmt::format("{}{}{}", name.before, number, name.after);
    const auto known = renamed_.find(renamed);
    if (known != renamed_.end()) return *known;
    return *renamed_.insert(result_.names.emplace_back(std::move(renamed))).first;
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
      if (passes_of(place(one)) == nullptr) continue;
      const auto [order, pass, number] = place_of_call(one);
      const FolderIdentity folder = place_of(*side_.index, one);
      OperatorKey key(joined_rank(folder.rank), folder.graph, name_with(one.name.op_name, number), one.name.op_type);
      all.push_back({pass, call_name(one.name.op_name).call ? 0 : number, id, std::move(key)});
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
  std::map<CallsKey, std::map<Call, PlacedCall>> calls_;
  std::set<std::string_view> renamed_;
  RunPasses result_;
};

}  // namespace

Result<RunPasses> run_passes(const CompareSide& side, const TokenIds& ids, const CancelToken& cancel) {
  if (ids.records.empty()) return fail(ErrorCode::kNotFound, "{}", ids.problem);
  return PassBuilder(side, ids, cancel).run();
}

}  // namespace msdump
