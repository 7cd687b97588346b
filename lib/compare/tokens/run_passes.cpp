#include "compare/tokens/run_passes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <list>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "base/text.h"
#include "compare/limits.h"
#include "compare/pair/pair_reader.h"
#include "dump/elements/host_tensor.h"
#include "kernels/pair/pair_dtype.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

using Number = std::optional<int64_t>;

Number rank_of(const CompareSide& side, const TensorRecord& record) {
  return side.index->folders()[side.index->files()[record.file].folder].identity.rank;
}
Number step_of(const CompareSide& side, const TensorRecord& record) { return place_of(*side.index, record).step; }

bool contains(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

// The word that names a tensor: the keyword of its slot, else the last part of the operator's name that is neither a number nor
// "forward" or "backward".
std::string name_of_value(const NameFacts& name) {
  const std::vector<std::string_view> slot = split(name.slot, '.');
  for (auto part = slot.rbegin(); part != slot.rend(); ++part) {
    if (!part->empty() && !is_digits(*part)) return to_lower(*part);
  }
  const std::vector<std::string_view> parts = split(name.op_name, '.');
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (!part->empty() && !is_digits(*part) && *part != "forward" && *part != "backward") return to_lower(*part);
  }
  return {};
}

constexpr size_t kMeanings = static_cast<size_t>(Meaning::kUnknown);

bool is_whole(DType dtype) { return kind_of(dtype) == DTypeKind::kInteger || kind_of(dtype) == DTypeKind::kBool; }

bool can_be_input(const TensorRecord& record) {
  return !record.broken && record.shape != nullptr && !record.shape->empty() && record.shape->size() <= 2 &&
         is_whole(record.name.dtype) && (record.name.io == Io::kInput || record.name.io == Io::kOutput);
}

bool embeds_tokens(const NameFacts& name) {
  const std::string op = to_lower(name.op_name) + " " + to_lower(name.op_type);
  return contains(op, {"embed", "wte"}) && !contains(op, {"rotary", "position", "pos_emb", "type_emb", "wpe"});
}

}  // namespace

Meaning meaning_of(const NameFacts& name) {
  const std::string text = name_of_value(name);
  if (contains(text, {"cu_seq", "query_start_loc", "qo_indptr"})) return Meaning::kCuts;
  if (contains(text, {"slot_mapping", "out_cache_loc"})) return Meaning::kSlots;
  if (contains(text, {"attention_mask", "attn_mask", "padding_mask"})) return Meaning::kMask;
  if (text == "req_pool_indices") return Meaning::kRequests;
  if (text == "seq_lens" || text == "seqlens" || text == "seq_len") return Meaning::kLengths;
  if (text.starts_with("position") || text == "pos_ids" || text == "cache_position") return Meaning::kPositions;
  if (contains(to_lower(name.op_type), {"rotary", "rope"}) || contains(text, {"rotary"})) return Meaning::kPositions;
  if (text == "input_ids" || text == "tokens" || text == "token_ids" || text == "ids") return Meaning::kIds;
  const bool is_first = name.slot == "0" || !is_digits(name.slot);
  if (name.io == Io::kInput && is_first && embeds_tokens(name)) return Meaning::kIds;
  return Meaning::kUnknown;
}

namespace {

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

// The tensor of an operator in whatever call.
using ValueKey = std::tuple<std::string_view, std::string_view, Io, std::string_view>;
ValueKey value_key(const TensorRecord& record) {
  const CallName name = call_name(record.name.op_name);
  return {name.before, name.after, record.name.io, record.name.slot};
}

}  // namespace

TokenIds find_token_ids(const CompareSide& side, bool statistics) {
  if (side.index->dumps().size() > 1) return {{}, "it has several dumps"};
  struct Found {
    int certainty = 0;
    std::vector<RecordId> records;
  };
  std::map<std::pair<Number, ValueKey>, Found> found;
  std::vector<const std::pair<const std::pair<Number, ValueKey>, Found>*> order;
  for (RecordId i{0}; i < side.tensors->size(); ++i) {
    const TensorRecord& record = (*side.tensors)[i];
    if (record.has_elements == statistics || !can_be_input(record) || kind_of(record.name.dtype) != DTypeKind::kInteger)
      continue;
    if (meaning_of(record.name) != Meaning::kIds) continue;
    const auto [one, added] = found.try_emplace({rank_of(side, record), value_key(record)});
    if (added) order.push_back(&*one);
    // The input of the embedding is the surest: the activations have a row for each of its elements.
    one->second.certainty = record.name.io == Io::kInput && embeds_tokens(record.name) ? 2 : 1;
    one->second.records.push_back(i);
  }
  if (order.empty()) return {{}, "no tensor with the ids of tokens was dumped"};
  const Number rank = order.front()->first.first;
  const Found* best = nullptr;
  for (const auto* const one : order) {
    if (one->first.first == rank && (best == nullptr || one->second.certainty > best->certainty)) best = &one->second;
  }
  TokenIds ids{best->records, {}};
  std::stable_sort(ids.records.begin(), ids.records.end(), [&](RecordId x, RecordId y) {
    const TensorRecord &left = (*side.tensors)[x], &right = (*side.tensors)[y];
    return std::pair(step_of(side, left), call_of(left)) < std::pair(step_of(side, right), call_of(right));
  });
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

// True if most numbers are one more than the number before: positions of tokens in the order of their sequences.
bool are_positions(const std::vector<int64_t>& numbers) {
  size_t up = 0;
  for (size_t i = 1; i < numbers.size(); ++i) up += static_cast<size_t>(numbers[i] == numbers[i - 1] + 1);
  return numbers.size() > 1 && 2 * up >= numbers.size() - 1 &&
         std::all_of(numbers.begin(), numbers.end(), [](int64_t one) { return one >= 0; });
}

class PassBuilder {
 public:
  PassBuilder(const CompareSide& side, const TokenIds& ids, const CancelToken& cancel)
      : side_(side), ids_(ids), cancel_(cancel) {}

  Result<RunPasses> run() {
    number_passes();
    count_calls();
    place_calls();
    join_tensors();
    MSDUMP_CHECK_OK(read_inputs());
    MSDUMP_CHECK_OK(check_ranks());
    return std::move(result_);
  }

 private:
  using Place = std::pair<Number, Number>;  // rank and step
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

  void number_passes() {
    for (const RecordId id : ids_.records) {
      const Number step = step_of(side_, record(id));
      const auto [found, added] = steps_.try_emplace(step, passes_, 0);
      ++found->second.second;
      ++passes_;
      result_.steps.push_back(step);
    }
  }

  void count_calls() {
    for (const TensorRecord& one : *side_.tensors) {
      if (!steps_.contains(step_of(side_, one))) continue;
      const auto [found, added] = calls_[calls_key(one)].orders.try_emplace(call_of(one), one.order);
      if (!added) found->second = std::min(found->second, one.order);
    }
  }

  void place_calls() {
    std::map<Place, std::vector<uint32_t>> begins;  // the first order of each pass of the step
    for (const auto& [key, calls] : calls_) {
      const auto [first, count] = steps_.at(std::get<1>(key));
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
      const auto [first, count] = steps_.at(std::get<1>(key));
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
      if (!steps_.contains(step_of(side_, one))) {
        ++result_.left_out;
        continue;
      }
      const auto [pass, number] = place_of_call(one);
      const bool named = call_name(one.name.op_name).call.has_value();
      all.push_back({pass,
                     named ? 0 : number,
                     id,
                     {rank_of(side_, one), place_of(*side_.index, one).graph, name_with(one.name.op_name, number),
                      one.name.op_type}});
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

  // Reads the integer inputs. If several tensors have one meaning, the one that was dumped in most passes is read.
  Status read_inputs() {
    const Number rank = rank_of(side_, record(ids_.records.front()));
    std::array<const RunPasses::Parts*, kMeanings> best{};
    std::vector<const RunPasses::Parts*> unnamed;
    for (const RunPasses::Parts& parts : result_.tensors) {
      const TensorRecord& one = record(parts.front().record);
      if (rank_of(side_, one) != rank || !can_be_input(one) || !one.has_elements) continue;
      const Meaning meaning = meaning_of(one.name);
      if (meaning == Meaning::kUnknown) {
        if (one.name.io == Io::kInput && has_rows(parts)) unnamed.push_back(&parts);
        continue;
      }
      const RunPasses::Parts*& known = best[static_cast<size_t>(meaning)];
      if (known == nullptr || parts.size() > known->size()) known = &parts;
    }
    result_.inputs.resize(passes_);
    int64_t tokens = 0;
    for (uint32_t pass = 0; pass < passes_; ++pass) {
      TokenInputs& inputs = result_.inputs[pass];
      const TensorRecord& of_ids = record(ids_.records[pass]);
      inputs.shape = *of_ids.shape;
      MSDUMP_TRY(inputs.ids, read_whole_numbers(side_, of_ids, cancel_));
      tokens += static_cast<int64_t>(inputs.ids.size());
      if (tokens > kMostTokens) return fail(ErrorCode::kTooLarge, "it has more than {} tokens", kMostTokens);
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

  Status read(const RunPasses::Parts& parts, std::vector<int64_t> TokenInputs::*into) {
    int64_t left = 4 * kMostTokens;
    for (const RunPasses::Part& part : parts) {
      // A file that cannot be read is reported by the comparison; here it is as if it was not dumped.
      Result<std::vector<int64_t>> numbers = read_whole_numbers(side_, record(part.record), cancel_);
      MSDUMP_CHECK_OK(cancel_.check());
      if (!numbers) continue;
      left -= static_cast<int64_t>(numbers->size());
      if (left < 0) return {};
      result_.inputs[part.pass].*into = std::move(*numbers);
    }
    return {};
  }

  // True if each of its tensors has as many elements as the pass has rows.
  [[nodiscard]] bool has_rows(const RunPasses::Parts& parts) const {
    return std::all_of(parts.begin(), parts.end(), [&](const RunPasses::Part& part) {
      const TensorRecord &one = record(part.record), &ids = record(ids_.records[part.pass]);
      return one.shape != nullptr && element_count(*one.shape) == element_count(*ids.shape);
    });
  }

  // Positions that no name tells: the first tensor in the order of operators whose values are like that.
  Status find_positions(const std::vector<const RunPasses::Parts*>& unnamed) {
    size_t tried = 0;
    for (const RunPasses::Parts* const parts : unnamed) {
      if (++tried > kMostTried) return {};
      const auto widest = std::max_element(parts->begin(), parts->end(), [&](const auto& x, const auto& y) {
        return element_count(*record(x.record).shape) < element_count(*record(y.record).shape);
      });
      const Result<std::vector<int64_t>> numbers = read_whole_numbers(side_, record(widest->record), cancel_);
      MSDUMP_CHECK_OK(cancel_.check());
      if (!numbers || *numbers == result_.inputs[widest->pass].ids || !are_positions(*numbers)) continue;
      return read(*parts, &TokenInputs::positions);
    }
    return {};
  }

  // Ranks of tensor or sequence parallelism read the same tokens.
  Status check_ranks() {
    const TensorRecord& first = record(ids_.records.front());
    for (const RunPasses::Parts& parts : result_.tensors) {
      const TensorRecord& one = record(parts.front().record);
      if (rank_of(side_, one) == rank_of(side_, first) || value_key(one) != value_key(first)) continue;
      for (const RunPasses::Part& part : parts) {
        MSDUMP_TRY(const std::vector<int64_t> numbers, read_whole_numbers(side_, record(part.record), cancel_));
        if (numbers != result_.inputs[part.pass].ids) {
          return fail(ErrorCode::kNotFound, "rank {} reads other tokens than rank {}", rank_of(side_, one).value_or(0),
                      rank_of(side_, first).value_or(0));
        }
      }
    }
    return {};
  }

  const CompareSide& side_;
  const TokenIds& ids_;
  const CancelToken& cancel_;
  std::map<Number, std::pair<uint32_t, uint32_t>> steps_;  // the first pass of each step, and how many it has
  uint32_t passes_ = 0;
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
