#include "compare/arguments/call_arguments.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "compare/sample/tensor_samples.h"
#include "msprobe/dump_json.h"
#include "tensor/dtype.h"

namespace msdump {
namespace {

using Kind = CallValue::Kind;

constexpr double kEqualNumbers = 1e-6;

// Keywords that mean the same in PyTorch and MindSpore, in the spellings of both.
constexpr std::array<std::array<std::string_view, 2>, 5> kKeywords = {{{"eps", "epsilon"},
                                                                       {"keepdim", "keep_dims"},
                                                                       {"reduction", "reduction"},
                                                                       {"ignore_index", "ignore_index"},
                                                                       {"label_smoothing", "label_smoothing"}}};

// All spellings of a keyword; empty if it is not in the table.
std::span<const std::string_view> spellings(std::string_view keyword) {
  for (const auto& names : kKeywords) {
    if (std::find(names.begin(), names.end(), keyword) != names.end()) return names;
  }
  return {};
}

bool is_place(std::string_view slot) { return is_digits(slot.substr(0, slot.find('.'))); }

DType dtype_named(std::string_view text) {
  return dtype_from_name(text.substr(text.rfind('.') + 1)).value_or(DType::kUndefined);
}

// The arguments of one call in one step.
struct Call {
  std::optional<int64_t> rank, step;
  uint32_t dump = 0;  // in Pairing::dumps
  std::string_view name;
  std::span<const CallArgument> arguments;
};

// All calls of a side, ordered by rank, dump, name and step.
class Calls {
 public:
  Calls(const CompareSide& side, const Pairing& pairing, bool is_a)
      : side_(side), operators_(is_a ? pairing.a : pairing.b) {
    if (side.arguments == nullptr) return;
    const std::span<const CallArgument> all = *side.arguments;
    for (size_t begin = 0; begin < all.size();) {
      size_t end = begin + 1;
      while (end < all.size() && all[end].table == all[begin].table && all[end].op_name == all[begin].op_name) ++end;
      const FolderIdentity& folder = side.index->folders()[side.index->files()[all[begin].table].folder].identity;
      calls_.push_back({folder.rank, folder.step,
                        pairing.common_dump(is_a ? Side::kCandidate : Side::kReference, folder.dump),
                        all[begin].op_name, all.subspan(begin, end - begin)});
      begin = end;
    }
    std::stable_sort(calls_.begin(), calls_.end(), [](const Call& x, const Call& y) {
      return std::tuple(key(x), x.step) < std::tuple(key(y), y.step);
    });
  }

  [[nodiscard]] bool empty() const { return calls_.empty(); }

  // The calls of an operator, one for each of its steps. A dump may have an operator for each step, all of one name.
  [[nodiscard]] std::vector<const Call*> of(SequencedOpId op) const {
    const SequencedOp& one = operators_[op];
    if (one.tensors.empty()) return {};
    const std::string_view name = (*side_.tensors)[one.tensors.front()].name.op_name;
    const auto less = [](const auto& x, const auto& y) { return key(x) < key(y); };
    const auto [begin, end] =
        std::equal_range(calls_.begin(), calls_.end(), Call{one.rank, {}, one.dump, name, {}}, less);
    std::vector<const Call*> calls;
    for (auto call = begin; call != end; ++call) {
      if (std::any_of(one.tensors.begin(), one.tensors.end(), [&](RecordId i) { return step_of(i) == call->step; }))
        calls.push_back(&*call);
    }
    return calls;
  }

  [[nodiscard]] bool one_step() const {
    return std::all_of(calls_.begin(), calls_.end(), [&](const Call& one) { return one.step == calls_.front().step; });
  }

 private:
  [[nodiscard]] std::optional<int64_t> step_of(RecordId tensor) const {
    return side_.index->folders()[side_.index->files()[(*side_.tensors)[tensor].file].folder].identity.step;
  }
  static std::tuple<std::optional<int64_t>, uint32_t, std::string_view> key(const Call& call) {
    return {call.rank, call.dump, call.name};
  }

  const CompareSide& side_;
  const std::vector<SequencedOp>& operators_;
  std::vector<Call> calls_;
};

class ArgumentComparison {
 public:
  ArgumentComparison(const CompareSide& a, const CompareSide& b, const Pairing& pairing, const Tolerance& tolerance)
      : pairing_(pairing), tolerance_(tolerance), calls_a_(a, pairing, true), calls_b_(b, pairing, false) {}

  std::vector<ArgumentDiff> run() {
    if (calls_a_.empty() || calls_b_.empty()) return {};
    lone_step_ = calls_a_.one_step() && calls_b_.one_step();
    for (op_ = OperatorId(0); op_ < pairing_.operators.size(); ++op_) {
      const OpPair& pair = pairing_.operators[op_];
      if (!pair.is_paired()) continue;
      const std::vector<const Call*> in_a = calls_a_.of(pair.a);
      for (const Call* const b : calls_b_.of(pair.b)) {
        const auto a =
            std::find_if(in_a.begin(), in_a.end(), [&](const Call* one) { return lone_step_ || one->step == b->step; });
        if (a != in_a.end()) compare(**a, *b);
      }
    }
    return std::move(diffs_);
  }

 private:
  void compare(const Call& a, const Call& b) {
    for (const CallArgument& argument : b.arguments) {
      if (has_one_meaning(argument.slot)) add(b, argument.slot, value_in(a, argument.slot), argument.value);
    }
    for (const CallArgument& argument : a.arguments) {
      if (has_one_meaning(argument.slot) && value_in(b, argument.slot).kind == Kind::kAbsent)
        add(b, argument.slot, argument.value, {});
    }
  }

  [[nodiscard]] bool has_one_meaning(std::string_view slot) const {
    const OpPair& pair = pairing_.operators[op_];
    const SequencedOp &a = pairing_.a[pair.a], &b = pairing_.b[pair.b];
    if (!is_place(slot)) return !pairing_.other_framework || !spellings(slot).empty();
    if (a.type != b.type) return false;
    return !pairing_.other_framework || a.type.starts_with("__") || a.name.view().starts_with("Mint") ||
           b.name.view().starts_with("Mint");
  }

  [[nodiscard]] CallValue value_in(const Call& call, std::string_view slot) const {
    const auto named = [&](std::string_view name) {
      return std::find_if(call.arguments.begin(), call.arguments.end(),
                          [&](const CallArgument& one) { return one.slot == name; });
    };
    auto found = named(slot);
    if (pairing_.other_framework) {
      for (const std::string_view other : spellings(slot)) {
        if (found == call.arguments.end()) found = named(other);
      }
    }
    return found == call.arguments.end() ? CallValue() : found->value;
  }

  void add(const Call& call, std::string_view slot, const CallValue& a, const CallValue& b) {
    const std::optional<Verdict> verdict = compare_call_values(a, b, tolerance_);
    if (!verdict) return;
    ArgumentDiff diff;
    diff.op = op_;
    diff.differs = verdict == Verdict::kDiffer;
    diff.verdict = *verdict;
    diff.step = call.step;
    diff.name = slot;
    diff.a = a.text;
    diff.b = b.text;
    diff.of_call = true;
    diffs_.push_back(std::move(diff));
  }

  const Pairing& pairing_;
  const Tolerance& tolerance_;
  const Calls calls_a_, calls_b_;
  bool lone_step_ = false;
  OperatorId op_;
  std::vector<ArgumentDiff> diffs_;
};

// True for the texts that Python writes for an int or a bool. A float has a point or an exponent, or is nan or inf.
bool is_integer(const CallValue& value) {
  return value.kind == Kind::kBool || value.text.find_first_of(".eEnN") == std::string::npos;
}

std::optional<Verdict> compare_floats(double a, double b, const Tolerance& tolerance) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return std::nullopt;
  const double apart = std::abs(a - b);
  if (!std::isfinite(apart)) return Verdict::kDiffer;
  if (apart <= kEqualNumbers * std::max(std::abs(a), std::abs(b))) return std::nullopt;
  const bool users = tolerance.rtol || tolerance.atol;
  const double rtol = users ? tolerance.rtol.value_or(0) : kSameNumber;
  return apart <= tolerance.atol.value_or(0) + rtol * std::abs(b) ? Verdict::kClose : Verdict::kDiffer;
}

std::optional<Verdict> differ_unless(bool equal) { return equal ? std::nullopt : std::optional(Verdict::kDiffer); }

}  // namespace

std::optional<Verdict> compare_call_values(const CallValue& a, const CallValue& b, const Tolerance& tolerance) {
  const auto is_empty = [](const CallValue& value) { return value.kind == Kind::kNone || value.kind == Kind::kAbsent; };
  if (is_empty(a) && is_empty(b)) return std::nullopt;
  if (a.kind == Kind::kGroup || b.kind == Kind::kGroup) return std::nullopt;
  if (a.kind == Kind::kAbsent || b.kind == Kind::kAbsent) return Verdict::kSkipped;
  if (a.is_dtype && b.is_dtype) {
    const DType left = dtype_named(a.text), right = dtype_named(b.text);
    if (left != DType::kUndefined && left == right) return std::nullopt;
    if (kind_of(left) == DTypeKind::kFloat && kind_of(right) == DTypeKind::kFloat) return Verdict::kClose;
  }
  const auto is_number = [](const CallValue& value) {
    return value.kind == Kind::kNumber || value.kind == Kind::kBool;
  };
  if (is_number(a) && is_number(b)) {
    // Sizes, seeds and axes have no rounding. Doubles would lose digits of integers above 2^53, so the texts are compared.
    if (is_integer(a) && is_integer(b) && a.kind == b.kind) return differ_unless(a.text == b.text);
    const auto left = statistic_value(a.text), right = statistic_value(b.text);
    if (left && right) return compare_floats(*left, *right, tolerance);
  }
  return differ_unless(a.kind == b.kind && a.text == b.text);
}

std::vector<ArgumentDiff> compare_calls(const CompareSide& a, const CompareSide& b, const Pairing& pairing,
                                        const Tolerance& tolerance) {
  return ArgumentComparison(a, b, pairing, tolerance).run();
}

}  // namespace msdump
