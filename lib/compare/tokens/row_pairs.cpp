// settle_rows(): which tensors of paired operators are compared row by row.
//
// Two programs of one network give a module other inputs and outputs. The tensors of two slots are a pair if
//
//   1. both have rows, or neither has, and the module has as many tensors with rows on both sides, of the same size
//   2. one side adds the residual in its norm, and the other before it: its second output is the sum of its inputs. That is
//      what the norm of the other side reads
//   3. the module has more of them on one side, or larger ones: only tensors with the same values are pairs
//   4. integer inputs of the passes are pairs if both are ids or positions; lengths, requests and slots of a cache are of one run
//   5. both are the last output of the operators without partner, with one number a token: the log-probabilities
// Tensors without rows are compared if all passes have the same values.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "base/text.h"
#include "compare/sample/tensor_samples.h"
#include "compare/tokens/input_meaning.h"
#include "compare/tokens/token_errors.h"
#include "compare/tokens/token_view.h"
#include "msprobe/module_path.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

bool same_without_ones(const Shape* a, const Shape* b) {
  return a != nullptr && b != nullptr && without_ones(*a) == without_ones(*b);
}

class RowPairs {
 public:
  RowPairs(TokenView& view, Pairing& pairing, const CancelToken& cancel)
      : view_(view), pairing_(pairing), cancel_(cancel), of_op_(pairing.operators.size()) {
    for (const TensorPair& pair : pairing.tensors) of_op_[pair.op].push_back(pair);
    for (const Side side : kBothSides) {
      const std::vector<SequencedOp>& all = pairing.operators_of(side);
      has_backward_[side] =
          std::any_of(all.begin(), all.end(), [](const SequencedOp& op) { return is_backward_operator(op.name); });
    }
  }

  Status run() {
    pair_inputs_of_passes();
    pair_last_values();
    for (std::vector<TensorPair>& pairs : of_op_) {
      MSDUMP_CHECK_OK(cancel_.check());
      if (!pairs.empty() && pairing_.operators[pairs.front().op].is_paired() && !arrange(pairs, Io::kInput))
        (void)arrange(pairs, Io::kOutput);
    }
    pairing_.tensors.clear();
    for (const std::vector<TensorPair>& pairs : of_op_) {
      for (const TensorPair& pair : pairs) MSDUMP_CHECK_OK(settle(pair));
    }
    pairing_.limits.insert(view_.limits.begin(), view_.limits.end());
    return {};
  }

 private:
  [[nodiscard]] const TensorRecord& record(Side side, RecordId tensor) const {
    return view_.of(side).tensors()[tensor];
  }
  [[nodiscard]] Io io_of(const TensorPair& pair) const {
    const Side side = pair.known_side();
    return record(side, pair[side]).name.io;
  }

  // True for activations: rows of numbers that are no ids or positions.
  [[nodiscard]] bool is_activation(Side side, RecordId tensor) const {
    return tensor != kNoId && view_.of(side).has_rows(tensor) &&
           kind_of(record(side, tensor).name.dtype) == DTypeKind::kFloat;
  }
  [[nodiscard]] int64_t size_of(Side side, RecordId tensor) const {
    const std::span<const int64_t> extents = view_.of(side).extents_of_row(tensor);
    return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
  }

  [[nodiscard]] std::vector<RecordId> activations(Side side, const std::vector<TensorPair>& pairs, Io io) const {
    std::vector<RecordId> found;
    for (const TensorPair& pair : pairs) {
      if (is_activation(side, pair[side]) && record(side, pair[side]).name.io == io) found.push_back(pair[side]);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  [[nodiscard]] std::vector<double> sample(Side side, RecordId tensor) const {
    return sample_of(*view_.of(side).side().index, record(side, tensor));
  }
  [[nodiscard]] std::vector<double> values_of(Side side, RecordId tensor) const {
    return elements_of(*view_.of(side).side().index, record(side, tensor), cancel_);
  }

  [[nodiscard]] static bool have_same_values(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.empty() || a.size() != b.size() || is_constant(b)) return false;
    double error = 0, size = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      error += (a[i] - b[i]) * (a[i] - b[i]);
      size += b[i] * b[i];
    }
    return std::sqrt(error) <= kSameValues * std::sqrt(size);
  }

  // Gives both the rows that both have.
  bool align(RecordId a, RecordId b) {
    const std::vector<CommonRows> rows = intersection(view_.a->rows_of(a), view_.b->rows_of(b));
    if (rows.empty()) return false;
    view_.a->restrict_to(a, rows);
    view_.b->restrict_to(b, rows);
    return true;
  }

  [[nodiscard]] bool is_same(RecordId a, RecordId b) {
    return size_of(Side::kCandidate, a) == size_of(Side::kReference, b) && align(a, b) &&
           have_same_values(sample(Side::kCandidate, a), sample(Side::kReference, b));
  }

  // True if an operator adds two tensors and passes on the sum as its second output.
  [[nodiscard]] bool adds_residual(Side side, const std::vector<RecordId>& inputs,
                                   const std::vector<RecordId>& outputs) const {
    if (inputs.size() != 2 || outputs.size() != 2) return false;
    // A norm that passes on a wrong sum is a norm.
    if (to_lower(record(side, inputs[0]).name.op_name).find("norm") != std::string::npos) return true;
    std::array<std::vector<double>, 3> values = {sample(side, inputs[0]), sample(side, inputs[1]),
                                                 sample(side, outputs[1])};
    if (values[0].size() != values[2].size() || values[1].size() != values[2].size()) return false;
    for (size_t i = 0; i < values[0].size(); ++i) values[0][i] += values[1][i];
    return have_same_values(values[0], values[2]);
  }

  // Replaces the pairs of these tensors by those that `partner` has, of the reference by that of the candidate.
  void pair_as(std::vector<TensorPair>& pairs, const std::vector<RecordId>& of_a, const std::vector<RecordId>& of_b,
               const std::map<RecordId, RecordId>& partner, Alone why) {
    const OperatorId op = pairs.front().op;
    const auto is_in = [](const std::vector<RecordId>& all, RecordId one) {
      return std::find(all.begin(), all.end(), one) != all.end();
    };
    std::vector<TensorPair> result;
    for (const TensorPair& pair : pairs) {
      const bool moved_a = is_in(of_a, pair.a), moved_b = is_in(of_b, pair.b);
      if (!moved_a && !moved_b) {
        result.push_back(pair);
        continue;
      }
      const auto found = moved_b ? partner.find(pair.b) : partner.end();
      const auto is_partner = [&](const auto& one) { return one.second == pair.a; };
      if (pair.a != kNoId && !moved_a) result.push_back({{{pair.a, {}}}, op, why});
      if (found != partner.end()) result.push_back({{{found->second, pair.b}}, op});
      if (found == partner.end() && pair.b != kNoId) result.push_back({{{{}, pair.b}}, op, why});
      if (moved_a && std::none_of(partner.begin(), partner.end(), is_partner))
        result.push_back({{{pair.a, {}}}, op, why});
    }
    std::stable_sort(result.begin(), result.end(), [&](const TensorPair& x, const TensorPair& y) {
      return io_of(x) == Io::kInput && io_of(y) == Io::kOutput;
    });
    pairs = std::move(result);
  }

  // True if modules of other names stand in the same place: a router that returns probabilities for one that returns logits.
  [[nodiscard]] bool is_other_module(OperatorId op) const {
    const std::string &a = pairing_.a[pairing_.operators[op].a].name, &b = pairing_.b[pairing_.operators[op].b].name;
    const std::string renamed = view_.names ? view_.names->path_renamed(a) : a;
    const std::string_view own = module_of(renamed), other = module_of(b);
    return !own.empty() && !other.empty() && own != other;
  }
  // The last part of the path of a module, or of a hook; empty for calls.
  [[nodiscard]] static std::string_view module_of(std::string_view name) {
    const std::string_view path = module_path(name).value_or(std::string_view());
    return path.substr(path.rfind('.') + 1);
  }
  [[nodiscard]] bool has_one_number(const std::vector<RecordId>& of_b) const {
    return of_b.size() == 1 && view_.b->extents_of_row(of_b.front()).empty();
  }

  // Rules 2 and 3. True if the outputs are arranged, too.
  bool arrange(std::vector<TensorPair>& pairs, Io io) {
    const std::vector<RecordId> a = activations(Side::kCandidate, pairs, io),
                                b = activations(Side::kReference, pairs, io);
    const bool sizes_differ = std::any_of(pairs.begin(), pairs.end(), [&](const TensorPair& pair) {
      return is_activation(Side::kCandidate, pair.a) && is_activation(Side::kReference, pair.b) &&
             size_of(Side::kCandidate, pair.a) != size_of(Side::kReference, pair.b);
    });
    const bool is_other =
        is_other_module(pairs.front().op) && !has_one_number(activations(Side::kReference, pairs, Io::kOutput));
    if (!is_other && a.size() == b.size() && (a.empty() || !sizes_differ)) {
      if (a.size() == 1) pair_as(pairs, a, b, {{b[0], a[0]}}, Alone::kOtherRows);
      return false;
    }
    if (io == Io::kInput && pair_residual(pairs)) return true;
    // Two modules with different inputs compute different things, even if they have one name, so values pair their outputs, too.
    const bool all = io == Io::kInput && (a.size() == b.size() || is_other);
    by_values(pairs, a, b);
    if (all)
      by_values(pairs, activations(Side::kCandidate, pairs, Io::kOutput),
                activations(Side::kReference, pairs, Io::kOutput));
    return all;
  }

  bool pair_residual(std::vector<TensorPair>& pairs) {
    for (const Side side : kBothSides) {
      const Side other = opposite(side);
      const std::vector<RecordId> in = activations(side, pairs, Io::kInput),
                                  out = activations(side, pairs, Io::kOutput);
      const std::vector<RecordId> read = activations(other, pairs, Io::kInput),
                                  made = activations(other, pairs, Io::kOutput);
      if (read.size() != 1 || made.size() != 1 || !adds_residual(side, in, out)) continue;
      std::vector<RecordId> own = in, others = read;
      own.insert(own.end(), out.begin(), out.end());
      others.insert(others.end(), made.begin(), made.end());
      if (side == Side::kCandidate) {
        pair_as(pairs, own, others, {{read[0], out[1]}, {made[0], out[0]}}, Alone::kElsewhere);
      } else {
        pair_as(pairs, others, own, {{out[1], read[0]}, {out[0], made[0]}}, Alone::kElsewhere);
      }
      return true;
    }
    return false;
  }

  void by_values(std::vector<TensorPair>& pairs, const std::vector<RecordId>& a, const std::vector<RecordId>& b) {
    std::map<RecordId, RecordId> partner;
    std::vector<RecordId> left = a;
    for (const RecordId one : b) {
      const auto same = std::find_if(left.begin(), left.end(), [&](RecordId other) { return is_same(other, one); });
      if (same == left.end()) continue;
      partner.emplace(one, *same);
      left.erase(same);
    }
    pair_as(pairs, a, b, partner, Alone::kOtherRows);
  }

  // kUnknown for all but the integer inputs of a pass.
  [[nodiscard]] Meaning meaning_in_pass(Side side, RecordId tensor) const {
    const bool is_integer = tensor != kNoId && kind_of(record(side, tensor).name.dtype) != DTypeKind::kFloat;
    return is_integer ? meaning_of(record(side, tensor).name) : Meaning::kUnknown;
  }

  // Rule 4: parts others, and pairs the positions that lie by themselves, as a dumper saves them.
  void pair_inputs_of_passes() {
    Sides<RecordId> positions;
    OperatorId op;  // of the reference's
    for (std::vector<TensorPair>& pairs : of_op_) {
      std::vector<TensorPair> kept;
      for (const TensorPair& pair : pairs) {
        const Meaning a = meaning_in_pass(Side::kCandidate, pair.a), b = meaning_in_pass(Side::kReference, pair.b);
        const bool compared = a == b && (a == Meaning::kIds || a == Meaning::kPositions || a == Meaning::kUnknown);
        if (!pair.is_paired() || compared) {
          kept.push_back(pair);
        } else {
          add_parted(pair, Alone::kOtherRows, kept);
        }
      }
      for (const TensorPair& pair : kept) {
        for (const Side side : kBothSides) {
          if (pair.is_paired() || positions[side] != kNoId ||
              meaning_in_pass(side, pair[side]) != Meaning::kPositions ||
              record(side, pair[side]).name.io != Io::kOutput || !view_.of(side).has_rows(pair[side]))
            continue;
          positions[side] = pair[side];
          if (side == Side::kReference) op = pair.op;
        }
      }
      pairs = std::move(kept);
    }
    if (positions.a == kNoId || positions.b == kNoId) return;
    for (std::vector<TensorPair>& pairs : of_op_) {
      std::erase_if(pairs, [&](const TensorPair& one) {
        return (one.a == positions.a && one.b == kNoId) || (one.b == positions.b && one.a == kNoId);
      });
    }
    of_op_[op].push_back({{positions}, op});
  }

  // Rule 5.
  void pair_last_values() {
    Sides<OperatorId> last;
    Sides<RecordId> value;
    for (OperatorId op{0}; op < of_op_.size(); ++op) {
      if (pairing_.operators[op].is_paired()) continue;
      const Side side = pairing_.operators[op].present_side();
      for (const TensorPair& pair : of_op_[op]) {
        if (!is_activation(side, pair[side]) || record(side, pair[side]).name.io != Io::kOutput) continue;
        const bool is_number = view_.of(side).extents_of_row(pair[side]).empty();
        last[side] = is_number ? op : OperatorId();
        value[side] = pair[side];
      }
    }
    if (last.a == kNoId || last.b == kNoId) return;
    // The operators become a pair; that of the candidate alone is gone.
    pairing_.operators[last.b].a = pairing_.operators[last.a].a;
    pairing_.operators[last.b].how = PairedBy::kValues;
    pairing_.operators[last.b].confidence = confidence(PairedBy::kValues);
    std::vector<TensorPair>&pairs = of_op_[last.b], &others = of_op_[last.a];
    pairs.insert(pairs.end(), others.begin(), others.end());
    for (TensorPair& pair : pairs) pair.op = last.b;
    pair_as(pairs, {value.a}, {value.b}, {{value.b, value.a}}, Alone::kOtherRows);
    pairing_.operators.erase(pairing_.operators.begin() + static_cast<std::ptrdiff_t>(uint32_t{last.a}));
    of_op_.erase(of_op_.begin() + static_cast<std::ptrdiff_t>(uint32_t{last.a}));
    for (OperatorId op{0}; op < of_op_.size(); ++op) {
      for (TensorPair& pair : of_op_[op]) pair.op = op;
    }
  }

  // True if the pair can be compared; its tensors have the same rows then.
  Result<bool> is_comparable(const TensorPair& pair) {
    TokenSide &a = *view_.a, &b = *view_.b;
    if (a.has_rows(pair.a) && b.has_rows(pair.b)) {
      if (!align(pair.a, pair.b)) return false;
      if (*a.tensors()[pair.a].shape != *b.tensors()[pair.b].shape &&
          size_of(Side::kCandidate, pair.a) == size_of(Side::kReference, pair.b)) {
        a.flatten(pair.a);
        b.flatten(pair.b);
      }
      if (is_reordered(pair)) return false;
      leave_out_masked(pair);
      ++view_.rows_mapped;
      return true;
    }
    if (a.has_rows(pair.a) || b.has_rows(pair.b)) {
      // Rows by chance: a weight with as many rows as the pass of one side has.
      if (!same_without_ones(a.first_shape(pair.a), b.first_shape(pair.b))) return false;
      if (a.has_rows(pair.a)) a.undo(pair.a);
      if (b.has_rows(pair.b)) b.undo(pair.b);
    }
    const bool same_shape = same_without_ones(a.tensors()[pair.a].shape, b.tensors()[pair.b].shape);
    if (same_shape && is_reordered(pair, 0)) return false;
    // Ranks that read different tokens may hold different parts of a parameter.
    const bool has_groups = a.passes().groups > 1 || b.passes().groups > 1;
    if (a.tensors()[pair.a].name.io == Io::kParameter && !has_groups) return true;
    if (!same_without_ones(a.first_shape(pair.a), b.first_shape(pair.b))) return false;
    MSDUMP_TRY(const bool constant_a, a.is_constant_over_passes(pair.a, cancel_));
    if (!constant_a) return false;
    return b.is_constant_over_passes(pair.b, cancel_);
  }

  // Queries, keys and values lie one behind the other, or group by group.
  [[nodiscard]] bool is_reordered(const TensorPair& pair) const {
    const std::string name = to_lower(record(Side::kReference, pair.b).name.op_name);
    if (name.find("qkv") == std::string::npos) return false;
    return is_reordered(pair, static_cast<size_t>(size_of(Side::kCandidate, pair.a)));
  }
  // So do the rows of their weight; `width`: the elements among which they change places, or 0 for all.
  [[nodiscard]] bool is_reordered(const TensorPair& pair, size_t width) const {
    constexpr int64_t kMostRead = int64_t{1} << 23;
    const TensorRecord &of_a = record(Side::kCandidate, pair.a), &of_b = record(Side::kReference, pair.b);
    if (kind_of(of_a.name.dtype) != DTypeKind::kFloat || !of_a.has_elements || !of_b.has_elements) return false;
    if (of_a.shape == nullptr || element_count(*of_a.shape).value_or(INT64_MAX) > kMostRead) return false;
    if (have_same_values(sample(Side::kCandidate, pair.a), sample(Side::kReference, pair.b))) return false;
    const std::vector<double> a = values_of(Side::kCandidate, pair.a), b = values_of(Side::kReference, pair.b);
    return a.size() > 1 && a.size() == b.size() && have_same_elements(a, b, width == 0 ? a.size() : width);
  }

  // Leaves out tokens whose only number is exactly 0 on one side alone: a mask has removed them there, as it does the
  // log-probabilities of prompts.
  void leave_out_masked(const TensorPair& pair) {
    if (!view_.a->extents_of_row(pair.a).empty() || !is_activation(Side::kCandidate, pair.a)) return;
    const std::vector<double> a = values_of(Side::kCandidate, pair.a), b = values_of(Side::kReference, pair.b);
    if (a.empty() || a.size() != b.size()) return;
    std::vector<CommonRows> rows;
    size_t i = 0;
    for (const CommonRows& one : intersection(view_.a->rows_of(pair.a), view_.b->rows_of(pair.b))) {
      for (int64_t row = one.first; row < one.first + one.count; ++row, ++i) {
        if ((a[i] == 0) == (b[i] == 0)) append({row, 1}, rows);
      }
    }
    if (rows.empty()) return;
    view_.a->restrict_to(pair.a, rows);
    view_.b->restrict_to(pair.b, rows);
  }

  Status settle(const TensorPair& pair) {
    if (!pair.is_paired()) {
      TensorPair& kept = pairing_.tensors.emplace_back(pair);
      const Side side = pair.present_side();
      const SequencedOpId op = pairing_.operators[pair.op][side];
      if (pair.alone == Alone::kUnknown && op != kNoId && is_backward_operator(pairing_.operators_of(side)[op].name) &&
          !has_backward_[opposite(side)])
        kept.alone = Alone::kBackward;
      return {};
    }
    MSDUMP_TRY(const bool compared, is_comparable(pair));
    if (compared) {
      pairing_.tensors.push_back(pair);
    } else {
      ++view_.rows_unmapped;
      add_parted(pair, Alone::kOtherRows, pairing_.tensors);
    }
    return {};
  }

  TokenView& view_;
  Pairing& pairing_;
  const CancelToken& cancel_;
  std::vector<std::vector<TensorPair>> of_op_;
  Sides<bool> has_backward_ = {};
};

}  // namespace

Status settle_rows(TokenView& view, Pairing& pairing, const CancelToken& cancel) {
  return RowPairs(view, pairing, cancel).run();
}

}  // namespace msdump
