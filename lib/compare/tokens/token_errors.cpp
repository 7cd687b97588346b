#include "compare/tokens/token_errors.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "base/numbers.h"
#include "base/text.h"
#include "compare/limits.h"
#include "compare/pair/pair_reader.h"
#include "compare/sample/tensor_samples.h"
#include "compare/tokens/input_meaning.h"
#include "dump/elements/host_tensor.h"
#include "kernels/pair/pair_dtype.h"
#include "msprobe/module_path.h"
#include "tensor/dtype.h"

namespace msdump {

bool have_same_elements(std::span<const double> a, std::span<const double> b, size_t width) {
  if (width < 2 || a.size() != b.size()) return false;
  const size_t rows = a.size() / width, some = std::min<size_t>(rows, kFewTried);
  for (size_t i = 0; i < some; ++i) {
    const auto sorted_row = [&](std::span<const double> all) {
      const auto row = all.subspan(i * (rows / some) * width, width);
      std::vector<double> sorted(row.begin(), row.end());
      std::sort(sorted.begin(), sorted.end());
      return sorted;
    };
    const std::vector<double> x = sorted_row(a), y = sorted_row(b);
    const double unit = std::max(std::fabs(y.front()), std::fabs(y.back()));
    for (size_t at = 0; at < width; ++at) {
      if (!(std::fabs(x[at] - y[at]) <= kSameValues * unit)) return false;
    }
  }
  return true;
}

namespace {

// Rounding multiplies the largest error of a token by less from one tensor to the next: by up to 3 in runs without a fault.
// In a tensor in which a token jumps, tokens with half a jump are wrong, too, unless their error is negligible beside its.
constexpr double kJump = 4, kExact = 0.01;
// Sums in another order and roundings on the way are several roundings of one element.
constexpr double kRoundings = 2;
// Errors that are held at a time, in up to so many pairs. Larger tensors are not asked whether they hold the same numbers in
// another order.
constexpr size_t kHeldErrors = size_t{1} << 22, kHeldPairs = 256;

struct RowErrors {
  std::vector<double> errors;
  std::vector<bool> reordered;  // of router's logits: the largest are others, or in another order
};

double median(std::vector<double> values) { return quantile_of_unsorted(values, 0.5); }

bool order_differs(std::span<const double> a, std::span<const double> b) {
  const auto order_of = [](std::span<const double> values) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) { return values[x] > values[y]; });
    // Few experts are chosen; of few, the last ones are not.
    order.resize(std::min(kFewTried, (order.size() + 1) / 2 + 1));
    return order;
  };
  return order_of(a) != order_of(b);
}

// The errors of a pair; none if they hold the same numbers in another order.
Result<RowErrors> row_errors(bool is_router, const DumpIndex& index_a, const TensorRecord& a, const DumpIndex& index_b,
                             const TensorRecord& b, const CancelToken& cancel) {
  MSDUMP_TRY(HostPair pair, open_pair(index_a, a, index_b, b));
  MSDUMP_TRY(PairReader reader, PairReader::open(pair.left, pair.right));
  const auto rows = static_cast<size_t>(std::max<int64_t>(1, a.shape->front()));
  const int64_t size = std::max<int64_t>(1, pair.left.count() / static_cast<int64_t>(rows));
  RowErrors result{std::vector<double>(rows), std::vector<bool>(rows, false)};
  std::vector<double>& errors = result.errors;
  std::vector<double> largest(rows), wide_a, wide_b, all_a, all_b, row_a, row_b;
  const bool keeps_all = pair.left.count() <= int64_t{kHeldErrors};
  MSDUMP_CHECK_OK(reader.for_each(cancel, [&](const PairSlab& slab) {
    wide_a.resize(static_cast<size_t>(slab.count));
    wide_b.resize(static_cast<size_t>(slab.count));
    kernels::widen_to(reader.dtype(), DType::kFloat64, slab.a, slab.count, reinterpret_cast<std::byte*>(wide_a.data()));
    kernels::widen_to(reader.dtype(), DType::kFloat64, slab.b, slab.count, reinterpret_cast<std::byte*>(wide_b.data()));
    if (keeps_all) {
      all_a.insert(all_a.end(), wide_a.begin(), wide_a.end());
      all_b.insert(all_b.end(), wide_b.begin(), wide_b.end());
    }
    for (size_t i = 0; i < wide_a.size(); ++i) {
      const auto row = std::min(rows - 1, static_cast<size_t>((slab.first + static_cast<int64_t>(i)) / size));
      if (std::isfinite(wide_a[i]) && std::isfinite(wide_b[i])) {
        errors[row] = std::max(errors[row], std::fabs(wide_a[i] - wide_b[i]));
        largest[row] = std::max(largest[row], std::fabs(wide_b[i]));
      } else if (std::isfinite(wide_a[i]) != std::isfinite(wide_b[i])) {
        errors[row] = INFINITY;
      }
      if (!is_router) continue;
      row_a.push_back(wide_a[i]);
      row_b.push_back(wide_b[i]);
      if (row_a.size() < static_cast<size_t>(size)) continue;
      result.reordered[row] = order_differs(row_a, row_b);
      row_a.clear();
      row_b.clear();
    }
  }));
  const double usual = median(largest);
  for (size_t row = 0; row < rows; ++row) {
    // Rows of small numbers have the rounding of what they were made of.
    if (const double unit = std::max(largest[row], usual); unit > 0) errors[row] /= unit;
  }
  if (keeps_all && median(errors) > kSameValues && have_same_elements(all_a, all_b, static_cast<size_t>(size)))
    return RowErrors();
  return result;
}

// True for the logits of a router: small rows, by their name.
bool is_router(std::string_view name, const TensorRecord& record) {
  if (record.name.io != Io::kOutput || record.shape->size() != 2 || record.shape->back() > int64_t{kMostFollowed})
    return false;
  const std::string lower = to_lower(name);
  return lower.find("router") != std::string::npos || lower.find(".gate.") != std::string::npos ||
         lower.ends_with(".gate");
}

// All rows of the ranges, in their order.
std::vector<int64_t> common_rows(const std::vector<CommonRows>& rows) {
  std::vector<int64_t> all;
  for (const CommonRows& one : rows) {
    for (int64_t i = 0; i < one.count; ++i) all.push_back(one.first + i);
  }
  return all;
}

// The path of a module; the whole name of any other call.
std::string_view path_of(std::string_view name) { return module_path(name).value_or(name); }

// The place in `rows` of the one that was computed first on the side with more passes, which tells it, by step, pass and row.
// Ranks with different tokens compute those of a step at once.
std::optional<size_t> first_computed(const TokenView& view, const std::vector<int64_t>& rows) {
  const bool timed_by_a = view.a->passes().inputs.size() >= view.b->passes().inputs.size();
  const TokenSide& timed = timed_by_a ? *view.a : *view.b;
  std::optional<std::tuple<std::optional<int64_t>, uint32_t, int64_t>> earliest;
  std::optional<size_t> first;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto place = timed.place_of_row(rows[i]);
    if (!place) continue;
    const std::tuple time(timed.step_of_pass(place->pass), place->pass, place->row);
    if (earliest && *earliest <= time) continue;
    earliest = time;
    first = i;
  }
  return first;
}

std::optional<WrongToken> token_at(const TokenView& view, int64_t row, double error) {
  const auto a = view.a->place_of_row(row), b = view.b->place_of_row(row);
  if (!a || !b) return std::nullopt;
  return WrongToken{row,
                    b->sequence,
                    b->position,
                    b->id,
                    a->pass,
                    a->row,
                    view.a->step_of_pass(a->pass),
                    view.a->rank_of_pass(a->pass),
                    error};
}

class Scan {
 public:
  Scan(const PairRows& pairs, const Pairing& pairing, const std::vector<TensorDiff>& diffs, const ModuleTree& modules,
       const RunContext& context)
      : pairs_(pairs), view_(pairs.view()), pairing_(pairing), diffs_(diffs), modules_(modules), context_(context) {
    result_.of_tensor.resize(pairing.tensors.size());
    before_.assign(static_cast<size_t>(view_.match.tokens), 0);
    flipped_.assign(before_.size(), false);
    for (const MatchedSequence& one : view_.match.sequences) {
      for (int64_t i = 0; i < one.count; ++i) sequence_.push_back(one.b);
    }
  }

  Result<TokenErrors> run(const std::vector<TensorId>& rows) {
    order_tensors(rows);
    std::copy_if(result_.order.begin(), result_.order.end(), std::back_inserter(result_.outputs),
                 [&](TensorId tensor) { return is_output(tensor); });
    result_.heat = TokenHeat(result_.outputs.size(), view_.match.tokens);
    const size_t held = std::clamp<size_t>(kHeldErrors / std::max<size_t>(before_.size(), 1), 1, kHeldPairs);
    for (size_t first = 0; first < result_.order.size(); first += held) {
      const size_t count = std::min(held, result_.order.size() - first);
      std::vector<RowErrors> errors(count);
      context_.pool.parallel_for(static_cast<int64_t>(count), [&](int64_t i) {
        const auto place = static_cast<size_t>(i);
        if (!context_.cancel.cancelled()) errors[place] = errors_of(result_.order[first + place]);
      });
      MSDUMP_CHECK_OK(context_.cancel.check());
      for (size_t i = 0; i < count; ++i) take(result_.order[first + i], errors[i]);
    }
    MSDUMP_CHECK_OK(find_log_probs());
    return std::move(result_);
  }

 private:
  Status find_log_probs() {
    for (auto tensor = result_.order.rbegin(); tensor != result_.order.rend(); ++tensor) {
      const TensorPair& pair = pairing_.tensors[*tensor];
      const bool is_number = pairs_.is_number(Side::kCandidate, pair.a) && pairs_.is_number(Side::kReference, pair.b);
      const bool is_float = kind_of(record(Side::kReference, *tensor).name.dtype) == DTypeKind::kFloat;
      if (!is_number || !is_float || !is_output(*tensor)) continue;
      const auto elements = [&](Side side) {
        return elements_of(*view_.of(side).side().index, record(side, *tensor), context_.cancel);
      };
      const std::vector<double> a = elements(Side::kCandidate), b = elements(Side::kReference);
      MSDUMP_CHECK_OK(context_.cancel.check());
      result_.log_probs = compare_log_probs(*tensor, a, b);
      if (result_.log_probs) return {};
    }
    return {};
  }

  static std::optional<LogProbs> compare_log_probs(TensorId tensor, const std::vector<double>& a,
                                                   const std::vector<double>& b) {
    LogProbs result;
    result.tensor = tensor;
    if (a.size() != b.size()) return std::nullopt;
    for (size_t i = 0; i < a.size(); ++i) {
      if (!(a[i] <= 0) || !(b[i] <= 0)) return std::nullopt;
      if (a[i] == 0 && b[i] == 0) continue;  // masked
      const double log_ratio = b[i] - a[i], ratio = std::exp(log_ratio);
      ++result.tokens;
      result.clipped += static_cast<uint64_t>(ratio < 0.8 || ratio > 1.2);
      result.k1 -= log_ratio;
      result.k3 += ratio - 1 - log_ratio;
      result.largest_ratio = std::max(result.largest_ratio, std::exp(std::fabs(log_ratio)));
    }
    if (result.tokens == 0) return std::nullopt;
    result.k1 /= static_cast<double>(result.tokens);
    result.k3 /= static_cast<double>(result.tokens);
    return result;
  }

  [[nodiscard]] const TensorRecord& record(Side side, TensorId tensor) const {
    return pairs_.record(side, pairing_.tensors[tensor][side]);
  }

  [[nodiscard]] bool is_output(TensorId tensor) const {
    return record(Side::kReference, tensor).name.io == Io::kOutput;
  }

  // Operators with more inputs or outputs on one side: their slots are not the same values. Where no rank is sharded,
  // settle_rows() has paired them.
  [[nodiscard]] std::set<std::pair<OperatorId, Io>> mixed_slots() const {
    std::map<std::pair<OperatorId, Io>, int> more;  // of the candidate
    for (const TensorPair& pair : pairing_.tensors) {
      for (const Side side : kBothSides) {
        if (pair[side] == kNoId || pairs_.of(side, pair[side]) == nullptr) continue;
        const NameFacts& name = pairs_.record(side, pair[side]).name;
        if (kind_of(name.dtype) == DTypeKind::kFloat) more[{pair.op, name.io}] += side == Side::kCandidate ? 1 : -1;
      }
    }
    std::set<std::pair<OperatorId, Io>> mixed;
    for (const auto& [slots, count] : more) {
      if (count != 0) mixed.insert({{slots.first, Io::kInput}, {slots.first, Io::kOutput}});
    }
    return mixed;
  }

  // Pairs with rows as they were computed: inputs of an operator, what is inside of it, its outputs.
  void order_tensors(const std::vector<TensorId>& rows) {
    std::vector<uint32_t> last(pairing_.operators.size());  // the last operator inside
    std::map<std::string_view, OperatorId> by_path;
    // The modules of a call are known by its name in the reference.
    const auto name_of_op = [&](OperatorId op) {
      const SequencedOpId own = pairing_.operators[op].b;
      return own == kNoId ? std::string_view() : std::string_view(pairing_.b[own].name);
    };
    for (OperatorId op{0}; op < last.size(); ++op) {
      last[op] = op;
      if (const std::string_view name = name_of_op(op); !name.empty()) by_path.emplace(path_of(name), op);
    }
    for (OperatorId op{0}; op < last.size(); ++op) {
      const auto is_inside = [&](std::string_view path) {
        const auto around = by_path.find(path);
        if (around != by_path.end()) last[around->second] = std::max<uint32_t>(last[around->second], op);
      };
      const std::string_view name = name_of_op(op);
      std::string_view path = path_of(name), parent = modules_.parent_of(name);
      for (size_t dot = path.rfind('.'); dot != std::string_view::npos; dot = path.rfind('.')) {
        path = path.substr(0, dot);
        is_inside(path);
      }
      for (size_t level = 0; !parent.empty() && level < kMostTried; ++level) {
        is_inside(path_of(parent));
        parent = modules_.parent_of(parent);
      }
    }
    const std::set<std::pair<OperatorId, Io>> mixed =
        pairs_.is_sharded() ? mixed_slots() : std::set<std::pair<OperatorId, Io>>();
    using Key = std::tuple<uint32_t, bool, size_t, TensorId>;
    std::vector<Key> keys;
    for (const TensorId tensor : rows) {
      const TensorPair& pair = pairing_.tensors[tensor];
      if (pairs_.of(pair) == nullptr || mixed.contains({pair.op, record(Side::kReference, tensor).name.io})) continue;
      if (!has_metrics(diffs_[tensor].verdict)) continue;
      // The experts of a token change with rounding.
      const NameFacts& name = record(Side::kReference, tensor).name;
      if (kind_of(name.dtype) != DTypeKind::kFloat && meaning_of(name) == Meaning::kUnknown) continue;
      const bool is_made = is_output(tensor);
      // Of outputs that follow the same operator, those of the inner module come first.
      keys.emplace_back(is_made ? last[pair.op] : uint32_t{pair.op}, is_made,
                        is_made ? SIZE_MAX - path_of(name_of_op(pair.op)).size() : 0, tensor);
    }
    std::sort(keys.begin(), keys.end());
    for (const Key& key : keys) result_.order.push_back(std::get<3>(key));
  }

  [[nodiscard]] RowErrors errors_of(TensorId tensor) const {
    const TensorRecord &a = record(Side::kCandidate, tensor), &b = record(Side::kReference, tensor);
    if (diffs_[tensor].verdict == Verdict::kSame)
      return {std::vector<double>(static_cast<size_t>(a.shape->front()), 0.0), {}};
    auto errors = row_errors(is_router(pairing_.op_name(pairing_.tensors[tensor].op), b), *view_.a->side().index, a,
                             *view_.b->side().index, b, context_.cancel);
    return errors ? std::move(*errors) : RowErrors();
  }

  void take(TensorId tensor, const RowErrors& rows) {
    const std::vector<double>& errors = rows.errors;
    const TensorPair& pair = pairing_.tensors[tensor];
    const bool is_made = is_output(tensor);
    outputs_ += is_made ? 1 : 0;
    const std::vector<int64_t> common = common_rows(*pairs_.of(pair));
    if (errors.empty() || common.size() != errors.size()) return;
    const DType dtype_a = record(Side::kCandidate, tensor).name.dtype,
                dtype_b = record(Side::kReference, tensor).name.dtype;
    // That one side alone rounds to a coarser dtype here is no rounding of both.
    const auto rounding_of = [](DType dtype) {
      return kind_of(dtype) == DTypeKind::kFloat ? kRoundings * unit_roundoff(dtype) : 0;
    };
    const double finer = std::min(rounding_of(dtype_a), rounding_of(dtype_b));
    const double coarser = std::max(rounding_of(dtype_a), rounding_of(dtype_b));
    floor_ = std::max(floor_, floor_ == 0 ? coarser : finer);
    std::vector<double> sorted = errors;
    std::sort(sorted.begin(), sorted.end());
    TokenSummary summary{errors.size(), 0, sorted[sorted.size() / 2], sorted.back()};
    if (!result_.jump) {
      const std::vector<double> before = largest_before();
      find_jump(tensor, errors, common, before, summary);
      for (size_t i = 0; i < errors.size(); ++i) {
        double& known = before_[static_cast<size_t>(common[i])];
        known = std::max(known, errors[i]);
      }
      for (size_t i = 0; i < rows.reordered.size() && !result_.jump; ++i) {
        if (!rows.reordered[i] || flips(common[i])) continue;
        flipped_[static_cast<size_t>(common[i])] = true;
        ++result_.flipped;
      }
    }
    floor_ = std::max(floor_, coarser);
    result_.of_tensor[tensor] = summary;
    for (size_t i = 0; i < errors.size() && is_made; ++i) result_.heat.add(outputs_ - 1, common[i], errors[i]);
  }

  // By common row: the largest error of the token and of those before it in its sequence.
  [[nodiscard]] std::vector<double> largest_before() const {
    std::vector<double> largest = before_;
    for (size_t i = 1; i < largest.size(); ++i) {
      if (sequence_[i] == sequence_[i - 1]) largest[i] = std::max(largest[i], largest[i - 1]);
    }
    return largest;
  }

  void find_jump(TensorId tensor, const std::vector<double>& errors, const std::vector<int64_t>& common,
                 const std::vector<double>& before, TokenSummary& summary) {
    const double usual = median(before);
    const auto exceeds = [&](size_t i, double times) {
      return errors[i] > times * std::max({before[static_cast<size_t>(common[i])], usual, floor_});
    };
    double largest = 0;
    for (size_t i = 0; i < errors.size(); ++i) {
      if (!flips(common[i]) && exceeds(i, kJump)) largest = std::max(largest, errors[i]);
    }
    std::vector<double> wrong;
    std::vector<int64_t> rows;
    for (size_t i = 0; i < errors.size() && largest > 0; ++i) {
      const bool is_exact = std::isfinite(largest) && errors[i] < kExact * largest;
      if (is_exact || flips(common[i]) || !exceeds(i, kJump / 2)) continue;
      wrong.push_back(errors[i]);
      rows.push_back(common[i]);
    }
    summary.wrong = rows.size();
    const auto earliest = first_computed(view_, rows);
    const auto first = earliest ? token_at(view_, rows[*earliest], wrong[*earliest]) : std::nullopt;
    if (first) result_.jump = TokenJump{tensor, *first, before[static_cast<size_t>(first->common)]};
  }

  // True if rounding gave the token other experts, so that its error is no fault.
  [[nodiscard]] bool flips(int64_t row) const { return flipped_[static_cast<size_t>(row)]; }

  const PairRows& pairs_;
  const TokenView& view_;
  const Pairing& pairing_;
  const std::vector<TensorDiff>& diffs_;
  const ModuleTree& modules_;
  const RunContext& context_;
  std::vector<uint32_t> sequence_;  // by common row
  std::vector<double> before_;      // by common row
  std::vector<bool> flipped_;       // by common row: rounding changed the order of its router's logits
  size_t outputs_ = 0;              // in result_.outputs: those that were taken
  double floor_ = 0;
  TokenErrors result_;
};

}  // namespace

const TensorRecord& PairRows::record(Side side, RecordId tensor) const {
  return is_sharded() ? sharded_[side]->tensors()[tensor] : view_.of(side).tensors()[tensor];
}

const std::vector<CommonRows>* PairRows::of(Side side, RecordId tensor) const {
  const TokenSide& own = view_.of(side);
  if (!is_sharded()) return own.has_rows(tensor) ? &own.compared_rows(tensor) : nullptr;
  const std::vector<const TensorRecord*>& records = sharded_[side]->members(sharded_[side]->original(tensor)).records;
  const auto local =
      std::find_if(records.begin(), records.end(), [](const TensorRecord* one) { return one != nullptr; });
  if (local == records.end()) return nullptr;
  const RecordId in_side(static_cast<size_t>(*local - own.tensors().data()));
  if (!own.has_rows(in_side)) return nullptr;
  const Shape* const shape = record(side, tensor).shape;
  return shape != nullptr && !shape->empty() && shape->front() == count_of(own.compared_rows(in_side))
             ? &own.compared_rows(in_side)
             : nullptr;
}

const std::vector<CommonRows>* PairRows::of(const TensorPair& pair) const {
  if (!pair.is_paired()) return nullptr;
  const std::vector<CommonRows>*const a = of(Side::kCandidate, pair.a), *const b = of(Side::kReference, pair.b);
  return a != nullptr && b != nullptr && *a == *b ? a : nullptr;
}

std::optional<WrongToken> first_token(const PairRows& pairs, const TensorPair& pair) {
  const std::vector<CommonRows>* const rows = pairs.of(pair);
  if (rows == nullptr) return std::nullopt;
  const std::vector<int64_t> common = common_rows(*rows);
  const auto first = first_computed(pairs.view(), common);
  return first ? token_at(pairs.view(), common[*first], 0) : std::nullopt;
}

Result<TokenErrors> find_token_errors(const PairRows& pairs, const Pairing& pairing, const std::vector<TensorId>& rows,
                                      const std::vector<TensorDiff>& diffs, const ModuleTree& modules,
                                      const RunContext& context) {
  return Scan(pairs, pairing, diffs, modules, context).run(rows);
}

}  // namespace msdump
