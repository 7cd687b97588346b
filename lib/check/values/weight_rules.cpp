#include "check/values/weight_rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "check/values/value_rules.h"
#include "compare/pair/metric_table.h"
#include "compare/pair/tensor_diff.h"
#include "dump/elements/host_tensor.h"
#include "ge/operators/operator_properties.h"
#include "graph/flow/data_flow.h"
#include "msprobe/names.h"

namespace msdump::check {
namespace {

constexpr int64_t kScanned = int64_t{1} << 18;   // elements
constexpr int64_t kMostRows = int64_t{1} << 26;  // or columns: 8 MiB of flags

// A tensor as rows of `columns` times `inner` elements.
class Scan {
 public:
  Scan(const Shape& shape, int64_t count)
      : columns_(shape[1]),
        row_length_(count / shape[0]),
        inner_(row_length_ / columns_),
        row_lives_(static_cast<size_t>(shape[0])),
        column_lives_(static_cast<size_t>(columns_)) {}

  // Elements [first, first + data.size()); `magnitude` has the bits of one that are not its sign.
  template <class Bits>
  void take(int64_t first, std::span<const Bits> data, Bits magnitude) {
    for (size_t i = 0; i < data.size();) {
      const int64_t at = first + static_cast<int64_t>(i), in_row = at % row_length_;
      const auto length = std::min(static_cast<size_t>(row_length_ - in_row), data.size() - i);
      if (take_run(in_row, data.subspan(i, length), magnitude))
        row_lives_[static_cast<size_t>(at / row_length_)] = true;
      i += length;
    }
  }

  [[nodiscard]] const std::vector<bool>& row_lives() const { return row_lives_; }
  [[nodiscard]] const std::vector<bool>& column_lives() const { return column_lives_; }

 private:
  // True if an element of the row is not zero.
  template <class Bits>
  bool take_run(int64_t in_row, std::span<const Bits> data, Bits magnitude) {
    bool lives = false;
    auto column = static_cast<size_t>(in_row / inner_);
    int64_t left = inner_ - in_row % inner_;
    for (const Bits bits : data) {
      if ((bits & magnitude) != 0) lives = column_lives_[column] = true;
      if (--left > 0) continue;
      ++column;
      left = inner_;
    }
    return lives;
  }

  int64_t columns_, row_length_, inner_;
  std::vector<bool> row_lives_, column_lives_;
};

template <class Bits>
Status scan(HostTensor& host, const CancelToken& cancel, Scan& into) {
  std::vector<Bits> slab(static_cast<size_t>(std::min(kScanned, host.count())));
  for (int64_t first = 0; first < host.count(); first += kScanned) {
    MSDUMP_CHECK_OK(cancel.check());
    const int64_t count = std::min(kScanned, host.count() - first);
    MSDUMP_CHECK_OK(host.read(first, count, reinterpret_cast<std::byte*>(slab.data())));
    constexpr auto kMagnitude = static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1);
    into.take(first, std::span<const Bits>(slab).first(static_cast<size_t>(count)), kMagnitude);
  }
  return host.check_unchanged();
}

// "0, 7-9, 12, .."
std::string places_text(const std::vector<bool>& lives) {
  constexpr size_t kShown = 4;
  std::string text;
  size_t shown = 0;
  for (size_t i = 0; i < lives.size(); ++i) {
    if (lives[i]) continue;
    const size_t first = i;
    while (i + 1 < lives.size() && !lives[i + 1]) ++i;
    if (shown++ == kShown) return text + ", ..";
    text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
    if (i > first) text += fmt::format("-{}", i);
  }
  return text;
}

// A row needs as many zeros as it has elements.
bool may_have_dead_rows(const TensorFacts& facts, const Shape& shape) {
  if (shape.size() < 2 || shape[0] < 2 || shape[1] < 2 || std::max(shape[0], shape[1]) > kMostRows) return false;
  return *facts.zero >= *facts.elements / static_cast<uint64_t>(std::max(shape[0], shape[1]));
}

uint64_t dead(const std::vector<bool>& lives) {
  return static_cast<uint64_t>(std::count(lives.begin(), lives.end(), false));
}

}  // namespace

bool is_embedding_name(std::string_view weight) {
  const std::string name = to_lower(weight);
  constexpr std::array<std::string_view, 4> kWords = {"emb", "wte", "vocab", "lm_head"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

Result<DeadRows> find_dead_rows(const CheckedDump& dump, TensorId tensor, const TensorFacts& facts,
                                const CancelToken& cancel) {
  if (!is_floating(facts.dtype) || facts.zero.value_or(0) == 0 || facts.zero == facts.elements) return DeadRows{};
  // Tensors in a device format, or with other axes first, have other rows.
  const auto& format = dump.record(tensor).name.format;
  const bool plain = !format || *format == Format::kND || *format == Format::kNCHW;
  if (!plain || (facts.shape != nullptr && !may_have_dead_rows(facts, *facts.shape))) return DeadRows{};
  MSDUMP_TRY(HostTensor host, HostTensor::open(dump.index(), dump.record(tensor), {}));
  const bool same_width = info(host.dtype()).bits == static_cast<int>(host.element_bytes()) * 8;
  if (!same_width || !may_have_dead_rows(facts, host.shape())) return DeadRows{};
  Scan lives(host.shape(), host.count());
  switch (host.element_bytes()) {
    case 1: MSDUMP_CHECK_OK(scan<uint8_t>(host, cancel, lives)); break;
    case 2: MSDUMP_CHECK_OK(scan<uint16_t>(host, cancel, lives)); break;
    case 4: MSDUMP_CHECK_OK(scan<uint32_t>(host, cancel, lives)); break;
    case 8: MSDUMP_CHECK_OK(scan<uint64_t>(host, cancel, lives)); break;
    default: return DeadRows{};
  }
  return DeadRows{host.shape(), dead(lives.row_lives()), dead(lives.column_lives()), places_text(lives.row_lives()),
                  places_text(lives.column_lives())};
}

namespace {

// The parameter that an optimizer updates.
std::string_view weight_of(const CheckedDump& dump, OperatorId op) {
  const OpId node = dump.operators()[op].op;
  if (!dump.has_flow() || node == kNoId) return {};
  for (const InputEdge& edge : inputs_of(*dump.graph(), node)) {
    if (edge.slot != 0 || edge.from != InputEdge::From::kParameter) continue;
    const IrGraph& ir = dump.graph()->ir(node);
    return ir.text(ir.parameters[edge.parameter].name);
  }
  return {};
}

// Adds the gradients among an optimizer's inputs.
void add_of_optimizer(const CheckedDump& dump, const FactsReader& facts, const OpRun& run, std::set<TensorId>& taken,
                      std::vector<WeightGradient>& gradients) {
  std::optional<uint64_t> elements;
  for (const TensorId tensor : run.outputs) {
    if (dump.role(tensor) == TensorRole::kUpdated && !elements) elements = facts[tensor].elements;
  }
  if (elements.value_or(0) < 2) return;
  const std::string_view weight = weight_of(dump, run.op);
  for (const RunInput& input : run.inputs) {
    const TensorId tensor = input.produced != kNoId ? input.produced : input.tensor;
    if (tensor == kNoId || facts[tensor].elements != elements || !is_floating(facts[tensor].dtype)) continue;
    if (taken.insert(tensor).second) gradients.push_back({tensor, weight, run.place.rank, run.place.step});
  }
}

// The gradients of one step on one rank.
struct StepGradients {
  double largest = 0;  // root mean square; beside one that explodes the others only seem to vanish
  size_t matrices = 0, zeros = 0;
};

class GradientJudge {
 public:
  explicit GradientJudge(RuleContext& context)
      : context_(context),
        facts_(context.facts),
        exploding_(context.rules.value(RuleId::kGradientExploding, "rms_gt")),
        ratio_(context.rules.value(RuleId::kGradientVanishing, "layer_ratio_lt")) {}

  void run() {
    const std::vector<WeightGradient> gradients = weight_gradients(context_.dump, facts_);
    for (const WeightGradient& one : gradients) {
      const auto rms = facts_[one.tensor].root_mean_square();
      if (!rms) continue;
      StepGradients& step = steps_[{one.rank, one.step}];
      if (*rms <= exploding_) step.largest = std::max(step.largest, *rms);
      if (!is_matrix(one)) continue;
      ++step.matrices;
      step.zeros += *rms == 0 ? 1U : 0U;
    }
    for (const WeightGradient& one : gradients) judge(one);
  }

 private:
  // Gradients of vectors may cancel out: the bias before a normalisation has none.
  [[nodiscard]] bool is_matrix(const WeightGradient& one) const { return facts_[one.tensor].rank >= 2; }

  void judge(const WeightGradient& one) {
    const auto rms = facts_[one.tensor].root_mean_square();
    if (!rms) return;
    const StepGradients& step = steps_[{one.rank, one.step}];
    const std::string name =
        one.weight.empty() ? "the gradient of a weight" : fmt::format("the gradient of {}", one.weight);
    if (*rms > exploding_ && context_.judges(RuleId::kGradientExploding, one.tensor)) {
      context_.report(RuleId::kGradientExploding, one.tensor, *rms,
                      fmt::format("{} has the root mean square {:.3g}", name, *rms));
    }
    if (!is_matrix(one) || *rms >= ratio_ * step.largest) return;
    if (!context_.judges(RuleId::kGradientVanishing, one.tensor)) return;
    Finding& finding =
        context_.report(RuleId::kGradientVanishing, one.tensor, *rms / step.largest,
                        fmt::format("{} has the root mean square {:.3g}; the largest of this step has {:.3g}", name,
                                    *rms, step.largest));
    // A layer that nothing read in this step has a gradient of zero, and so has one after a layer that starts at zero. Few
    // layers do.
    if (*rms == 0 && step.zeros * 2 <= step.matrices) finding.limit_severity(Severity::kNote);
  }

  RuleContext& context_;
  const FactsReader& facts_;
  const double exploding_, ratio_;
  std::map<std::pair<std::optional<int64_t>, std::optional<int64_t>>, StepGradients> steps_;  // by rank and step
};

}  // namespace

bool is_optimizer(std::string_view op_type) { return ge::has_property(op_type, ge::OperatorProperty::kOptimizer); }

std::vector<WeightGradient> weight_gradients(const CheckedDump& dump, const FactsReader& facts) {
  std::vector<WeightGradient> gradients;
  std::set<TensorId> taken;
  for (const OpRun& run : dump.runs()) {
    const SequencedOp& op = dump.operators()[run.op];
    if (is_optimizer(op.type)) {
      add_of_optimizer(dump, facts, run, taken, gradients);
      continue;
    }
    if (op.name.view().find("parameters_grad") == std::string::npos) continue;
    for (const TensorId tensor : run.outputs) {
      if (taken.insert(tensor).second) gradients.push_back({tensor, {}, run.place.rank, run.place.step});
    }
  }
  return gradients;
}

void judge_gradients(RuleContext& context) { GradientJudge(context).run(); }

namespace {

std::optional<int64_t> step_of(const CheckedDump& dump, TensorId tensor) { return dump.identity(tensor).step; }

double allowance(double value, double rtol, double atol) { return atol + rtol * std::abs(value); }

// True if the numbers of two steps prove that an element changed by more than the tolerance.
bool has_surely_changed(const TensorFacts& now, const TensorFacts& before, double rtol, double atol) {
  if (now.elements != before.elements || now.is_finite() != before.is_finite()) return true;
  const auto far = [](const std::optional<double>& a, const std::optional<double>& b, double most) {
    return a && b && std::abs(*a - *b) > most;
  };
  if (before.max && far(now.max, before.max, allowance(*before.max, rtol, atol))) return true;
  if (before.min && far(now.min, before.min, allowance(*before.min, rtol, atol))) return true;
  const double root = std::sqrt(static_cast<double>(before.elements.value_or(0)));
  // |mean x - mean p| <= mean |x - p|, and |norm x - norm p| <= norm of x - p.
  const double rms = before.root_mean_square().value_or(0);
  if (far(now.mean, before.mean, allowance(rms, rtol, atol) * (1 + 1e-9))) return true;
  return before.l2norm && far(now.l2norm, before.l2norm, (atol * root + rtol * *before.l2norm) * (1 + 1e-9));
}

bool has_same_numbers(const TensorFacts& now, const TensorFacts& before) {
  return now.max == before.max && now.min == before.min && now.mean == before.mean && now.l2norm == before.l2norm &&
         (now.l2norm || now.mean || (now.max && now.min));
}

class WeightJudge {
 public:
  explicit WeightJudge(RuleContext& context)
      : context_(context),
        dump_(context.dump),
        facts_(context.facts),
        rules_(context.rules),
        rtol_(rules_.value(RuleId::kWeightUnchanged, "rtol")),
        atol_(rules_.value(RuleId::kWeightUnchanged, "atol")) {}

  Status run() {
    for (const std::vector<TensorId>& weight : weights_by_step(dump_)) {
      judge_first(weight.front());
      MSDUMP_CHECK_OK(judge_rows(weight.back()));
      for (size_t i = 1; i < weight.size(); ++i) MSDUMP_CHECK_OK(judge_change(weight[i], weight[i - 1]));
    }
    add_unchanged();
    return {};
  }

 private:
  using Place = std::pair<std::optional<int64_t>, std::optional<int64_t>>;  // rank, step

  [[nodiscard]] bool takes(RuleId id, TensorId tensor) const {
    return context_.judges(id, dump_.record(tensor).name.op_name);
  }

  void judge_first(TensorId tensor) {
    const TensorFacts& facts = facts_[tensor];
    if (!takes(RuleId::kWeightInitialization, tensor) || !facts.known() || step_of(dump_, tensor).value_or(0) != 0)
      return;
    const bool bias = facts.rank < 2;
    const double zeros = rules_.value(RuleId::kWeightInitialization, "zero_percentage_ge");
    std::string message;
    double value = 0;
    if (!bias && facts.zero && facts.elements.value_or(0) > 0) {
      value = 100.0 * static_cast<double>(*facts.zero) / static_cast<double>(*facts.elements);
      if (value >= zeros) message = fmt::format("{:.3g} % of the elements are zero", value);
    }
    if (facts.max && *facts.max > rules_.value(RuleId::kWeightInitialization, "max_gt")) {
      value = *facts.max;
      message = fmt::format("max {:g}", value);
    }
    if (facts.min && *facts.min < rules_.value(RuleId::kWeightInitialization, "min_lt")) {
      value = *facts.min;
      message = fmt::format("min {:g}", value);
    }
    if (!message.empty()) context_.report(RuleId::kWeightInitialization, tensor, value, message + " in the first step");
  }

  Status judge_rows(TensorId tensor) {
    const TensorRecord& record = dump_.record(tensor);
    const TensorFacts& facts = facts_[tensor];
    if (!takes(RuleId::kDeadRows, tensor) || facts.from != TensorFacts::From::kElements) return {};
    const auto dead = find_dead_rows(dump_, tensor, facts, context_.run.cancel);
    if (!dead) return context_.keep_failure(dead.error());
    if (dead->shape.size() < 2) return {};
    const double least = rules_.value(RuleId::kDeadRows, "percentage_ge");
    uint64_t found = 0;
    std::string message;
    const auto judge = [&](uint64_t count, int64_t whole, std::string_view what, const std::string& places) {
      if (count == 0 || 100.0 * static_cast<double>(count) / static_cast<double>(whole) < least) return;
      found += count;
      message += fmt::format("{}{} of {} {} are all zero: {}", message.empty() ? "" : "; ", count, whole, what, places);
    };
    const Shape& shape = dead->shape;
    if (!is_embedding_name(record.name.op_name)) judge(dead->rows, shape[0], "rows", dead->row_text);
    judge(dead->columns, shape[1], "columns", dead->column_text);
    if (found > 0) context_.report(RuleId::kDeadRows, tensor, found, std::move(message));
    return {};
  }

  Status judge_change(TensorId tensor, TensorId before) {
    const TensorFacts &now = facts_[tensor], &old = facts_[before];
    if (!now.known() || !old.known() || !is_floating(now.dtype)) return {};
    std::optional<Result<TensorDiff>> compared;  // once for all rules
    const auto diff_of_pair = [&]() -> const Result<TensorDiff>& {
      if (!compared) compared = compare(tensor, before);
      return *compared;
    };
    MSDUMP_CHECK_OK(judge_ratio(tensor, before, diff_of_pair));
    if (!rules_.on(RuleId::kWeightUnchanged) || now.elements.value_or(0) < 2) return {};
    const Identity identity = dump_.identity(tensor);
    const Place place{identity.rank, identity.step};
    ++weights_at_[place];
    if (!now.is_finite()) return {};
    if (has_surely_changed(now, old, rtol_, atol_)) return {};
    bool unchanged = has_same_numbers(now, old);
    if (now.from == TensorFacts::From::kElements && old.from == TensorFacts::From::kElements) {
      const Result<TensorDiff>& diff = diff_of_pair();
      if (!diff) return context_.keep_failure(diff.error());
      unchanged = diff->metrics->over_tolerance == 0 && diff->metrics->nan_mismatch == 0 && has_metrics(diff->verdict);
    }
    if (unchanged) unchanged_.push_back({place, tensor, before});
    return {};
  }

  template <class DiffOfPair>
  Status judge_ratio(TensorId tensor, TensorId before, const DiffOfPair& diff_of_pair) {
    const bool large = takes(RuleId::kWeightChangeLarge, tensor), small = takes(RuleId::kWeightChangeSmall, tensor);
    const auto& mean = facts_[before].mean_abs;
    const bool elements = facts_[tensor].from == TensorFacts::From::kElements;
    if ((!large && !small) || !elements || !mean) return {};
    const Result<TensorDiff>& diff = diff_of_pair();
    if (!diff) return context_.keep_failure(diff.error());
    if (!diff->metrics->mean_abs) return {};
    const auto judge = [&](RuleId id, std::string_view parameter, bool above) {
      const double magnitude = *mean + rules_.value(id, "epsilon");
      const double ratio = *diff->metrics->mean_abs == 0 ? 0 : *diff->metrics->mean_abs / magnitude;
      const double limit = rules_.value(id, parameter);
      if (above ? ratio <= limit : ratio >= limit) return;
      context_.report(id, tensor, ratio,
                      fmt::format("changed by {:.3g} of its mean magnitude since step {}", ratio,
                                  step_of(dump_, before).value_or(0)));
    };
    if (large) judge(RuleId::kWeightChangeLarge, "abs_mean_update_ratio_gt", true);
    if (small) judge(RuleId::kWeightChangeSmall, "abs_mean_update_ratio_lt", false);
    return {};
  }

  Result<TensorDiff> compare(TensorId tensor, TensorId before) const {
    MSDUMP_TRY(HostTensor now, HostTensor::open(dump_.index(), dump_.record(tensor), {}));
    MSDUMP_TRY(HostTensor old, HostTensor::open(dump_.index(), dump_.record(before), {}));
    Tolerance tolerance;
    tolerance.rtol = rtol_;
    tolerance.atol = atol_;
    PairOptions options;
    options.pool = &context_.run.pool;
    return diff_tensors(now, old, tolerance, context_.run.cancel, options);
  }

  // True if weights are meant to change: an optimizer runs, or gradients were dumped.
  [[nodiscard]] bool trains() const {
    for (const SequencedOp& op : dump_.operators()) {
      if (is_optimizer(op.type)) return true;
      const auto entry = parse_msprobe_entry(op.name);
      if (entry && entry->kind == MsprobeEntryKind::kParameterGradients) return true;
    }
    return false;
  }

  void add_unchanged() {
    std::map<Place, size_t> unchanged_at;
    for (const Unchanged& one : unchanged_) ++unchanged_at[one.place];
    const bool training = trains();
    for (const Unchanged& one : unchanged_) {
      if (!takes(RuleId::kWeightUnchanged, one.tensor)) continue;
      Finding& finding = context_.report(RuleId::kWeightUnchanged, one.tensor, {},
                                         fmt::format("the same as in step {}", step_of(dump_, one.before).value_or(0)));
      const bool all = unchanged_at[one.place] == weights_at_[one.place] && unchanged_at[one.place] > 1;
      if (!all || !training) continue;
      finding.raise_severity(Severity::kWarning);
      finding.message += ", like all weights: no update reached them";
      finding.hint = "possible causes: the loss scaler skipped the step, learning rate 0, frozen weights";
    }
  }

  struct Unchanged {
    Place place;
    TensorId tensor, before;
  };

  RuleContext& context_;
  const CheckedDump& dump_;
  const FactsReader& facts_;
  const RuleSet& rules_;
  const double rtol_, atol_;  // within which a weight is unchanged
  std::map<Place, size_t> weights_at_;
  std::vector<Unchanged> unchanged_;
};

}  // namespace

std::vector<std::vector<TensorId>> weights_by_step(const CheckedDump& dump) {
  using Key = std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::string_view, Io, std::string_view>;
  std::map<Key, std::map<std::optional<int64_t>, TensorId>> found;
  bool has_parameters = false;
  for (TensorId tensor{0}; tensor < dump.tensors(); ++tensor)
    has_parameters = has_parameters || dump.role(tensor) == TensorRole::kParameter;
  for (TensorId tensor{0}; tensor < dump.tensors(); ++tensor) {
    // If there are Parameter files, what an optimizer updated repeats them.
    if (!is_weight(dump, tensor) || (has_parameters && dump.role(tensor) == TensorRole::kUpdated)) continue;
    const TensorRecord& record = dump.record(tensor);
    const Identity identity = identity_of(dump.index(), record);
    auto& steps = found[{identity.rank, identity.graph, record.name.op_name, record.name.io, record.name.slot}];
    steps[identity.step] = tensor;  // the last of several runs
  }
  std::vector<std::vector<TensorId>> weights;
  for (const auto& [key, steps] : found) {
    std::vector<TensorId>& weight = weights.emplace_back();
    for (const auto& [step, tensor] : steps) weight.push_back(tensor);
  }
  return weights;
}

Status judge_weights(RuleContext& context) { return WeightJudge(context).run(); }

}  // namespace msdump::check
