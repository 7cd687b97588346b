#include "recompute/recompute.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/numbers.h"
#include "recompute/in_parts.h"
#include "recompute/kept_judgement.h"
#include "recompute/region.h"

namespace msdump::recompute {
namespace {

std::string shown_value(const Value& value) {
  if (!value.tensor) return value.text;
  std::string text;
  for (const double number : value.tensor->values) text += fmt::format("{}{}", text.empty() ? "" : ", ", number);
  return value.tensor->shape.empty() ? text : "(" + text + ")";
}

}  // namespace

std::string describe_wrong(const OutputJudgement& output) {
  const Judgement& judgement = output.judgement;
  std::string text = fmt::format("relative error {:.2g}, {} of {} elements", judgement.relative_error, judgement.wrong,
                                 judgement.elements);
  if (judgement.wrong == 0 && judgement.slope)
    text = fmt::format("on average {:.6g} times as large", *judgement.slope);
  else if (judgement.limit > 0)
    text += fmt::format(", {:.2g} units (limit {})", judgement.units, judgement.limit);
  if (const std::string place = describe_place(judgement); !place.empty()) text += "; " + place;
  if (judgement.sampled) text += "; sampled";
  if (!output.instead.empty()) text += "; " + describe(output.instead.front());
  return text;
}

bool OperatorJudgement::is_wrong() const {
  return std::any_of(outputs.begin(), outputs.end(), [](const auto& one) { return one.judgement.is_wrong(); });
}

bool OperatorJudgement::is_right() const {
  return !outputs.empty() &&
         std::all_of(outputs.begin(), outputs.end(), [](const auto& one) { return one.judgement.is_right(); });
}

RecomputeCounts count(const std::vector<OperatorJudgement>& judgements) {
  RecomputeCounts counts;
  std::map<std::string_view, RecomputeCounts::OfKernel> kernels;
  std::map<std::tuple<Reason, std::string_view, std::string>, uint64_t> reasons;
  for (const OperatorJudgement& judgement : judgements) {
    ++counts.operators;
    bool judged = false;
    for (const OutputJudgement& output : judgement.outputs) {
      if (output.judgement.verdict == Judgement::Verdict::kNotJudged) continue;
      judged = true;
      RecomputeCounts::OfKernel& of = kernels[judgement.kernel.name];
      of.kernel = judgement.kernel.name;
      of.limit = std::max(of.limit, judgement.kernel.limit);
      ++of.outputs;
      if (output.judgement.is_right()) of.largest_right = std::max(of.largest_right, output.judgement.units);
    }
    const bool sampled =
        std::any_of(judgement.outputs.begin(), judgement.outputs.end(),
                    [](const OutputJudgement& output) { return output.judgement.sampled.has_value(); });
    counts.sampled += sampled ? 1U : 0U;
    if (judgement.is_wrong()) {
      ++counts.wrong;
    } else if (judged) {
      ++counts.right;
    } else {
      ++counts.unjudged;
      const Unjudged& why = judgement.outputs.empty() ? judgement.why : judgement.outputs.front().judgement.why;
      ++reasons[{why.reason, judgement.type, why.what}];
    }
  }
  for (const auto& [key, operators] : reasons)
    counts.not_judged.push_back(
        {std::get<Reason>(key), std::get<std::string_view>(key), std::get<std::string>(key), operators});
  for (auto& [name, of] : kernels) counts.kernels.push_back(of);
  return counts;
}

Maybe<void> ReadQuestion::load(int64_t most_elements) {
  if (elements > most_elements) return unjudged(Reason::kTooLarge);
  const auto load_one = [](Tensor& tensor) -> Maybe<void> {
    if (!tensor || !tensor->source) return {};
    Array array = *tensor;
    MSDUMP_CHECK_OK(load_elements(array));
    tensor = share(std::move(array));
    return {};
  };
  for (auto& [name, values] : call.values()) {
    for (Value& value : values) MSDUMP_CHECK_OK(load_one(value.tensor));
  }
  for (Tensor& output : outputs) MSDUMP_CHECK_OK(load_one(output));
  return {};
}

namespace {

DType format_of_copy(const Array& copy, const DeviceTraits& device) {
  if (copy.undecided && device.usual != DType::kUndefined) return device.usual;
  // What fits both formats may be of the coarser one.
  return copy.undecided && copy.effective == DType::kFloat16 ? DType::kBfloat16 : copy.effective;
}

// A device of 16 bits reads a cast copy of a parameter, which is the value that an optimizer updates but for its rounding; what has
// another shape is none at all. Too few values to tell are taken for a copy there.
void find_copies(const Question& question, const std::vector<Tensor>& written, const DeviceTraits& device, Call& call) {
  if (question.row->kernel->arithmetic != Arithmetic::kOptimizer) return;
  for (size_t i = 0; i < written.size(); ++i) {
    const std::string& name = question.outputs[i].name;
    const bool is_state = std::any_of(question.operands.begin(), question.operands.end(),
                                      [&](const Operand& one) { return one.is_state && one.name == name; });
    if (is_state) continue;
    const Maybe<Tensor> old = call.tensor(name);
    if (written[i] == nullptr || !old) continue;
    const DType read = format_of_copy(**old, device);
    const bool coarser = unit_roundoff(read) > unit_roundoff(written[i]->effective);
    if (coarser) call.copied = read;
    if ((*old)->shape == written[i]->shape) continue;
    call.erase(name);
    call.set_unknown(name, {Reason::kOldValue, name});
  }
}

using InnerValues = std::map<std::pair<uint32_t, std::string>, InnerValue>;  // by member and output

// `computed` has the inner values that the operands need.
ReadQuestion read_member(const Question& question, const InnerValues& computed, const OpenTensor& open) {
  ReadQuestion opened;
  Call& call = opened.call;
  call.type = question.type;
  call.fitted = question.fitted;
  for (const auto& [name, why] : question.unknown) call.set_unknown(name, why);
  for (const Operand& operand : question.operands) {
    Value value = operand.value;
    if (operand.member != Operand::kNoMember) {
      const InnerValue& inner = computed.at({operand.member, operand.output});
      const bool fits = operand.shape != nullptr && size_of(*operand.shape) == inner.y->size();
      value.tensor = fits ? share(with_shape(*inner.y, *operand.shape)) : inner.y;
      const auto before = call.values().find(operand.name);
      const size_t place = operand.in_list && before != call.values().end() ? before->second.size() : 0;
      opened.inner.push_back({operand.name, place, &inner});
    } else if (operand.tensor != kNoId) {
      value.from = Value::From::kFile;
      Maybe<Array> tensor = open(operand.tensor, operand.shape);
      if (!tensor) {
        call.set_unknown(operand.name, tensor.error());
        continue;
      }
      opened.elements += size_of(tensor->shape);
      opened.incomplete = opened.incomplete || tensor->known >= 0;
      value.tensor = share(std::move(*tensor));
    }
    if (operand.in_list)
      call.append(operand.name, std::move(value));
    else
      call.set(operand.name, std::move(value));
  }
  for (const AskedOutput& output : question.outputs) {
    opened.outputs.push_back(nullptr);
    if (output.tensor == kNoId) {
      if (output.shape != nullptr) call.set_output(output.name, *output.shape, DType::kUndefined);
      continue;
    }
    Maybe<Array> tensor = open(output.tensor, output.shape);
    if (!tensor) {
      opened.why = tensor.error();
      continue;
    }
    opened.elements += size_of(tensor->shape);
    call.set_output(output.name, tensor->shape, tensor->dtype);
    opened.outputs.back() = share(std::move(*tensor));
  }
  return opened;
}

// The inner values of the members before that a question reads.
Maybe<void> compute_inner(const Question& question, const std::vector<Outputs>& members, InnerValues& inner) {
  for (const Operand& operand : question.operands) {
    if (operand.member == Operand::kNoMember || inner.count({operand.member, operand.output}) > 0) continue;
    if (operand.member >= members.size()) return unjudged(Reason::kRegion, operand.name);
    const Outputs& outputs = members[operand.member];
    const auto found = std::find_if(outputs.begin(), outputs.end(),
                                    [&](const Output& output) { return output.name == operand.output; });
    if (found == outputs.end()) return unjudged(Reason::kRegion, operand.name);
    MSDUMP_TRY(InnerValue value, inner_value(*found));
    inner.emplace(std::pair(operand.member, operand.output), std::move(value));
  }
  return {};
}

// The answer that the output was judged by. Null: it was not judged, or no usual argument fits.
const Answer* answer_of(const Output& computed, const Question& question, const Judgement& judgement) {
  const bool verified = judgement.is_right() || (judgement.is_wrong() && !question.fitted);
  return verified ? &computed.answers[judgement.answer] : nullptr;
}

void judge_outputs(const Question& question, const ReadQuestion& opened, Outputs& computed, const Kernel& kernel,
                   const OperandFormats& formats, const DeviceTraits& device, bool explains,
                   const RecomputeOptions& options, OperatorJudgement& result) {
  Outputs::const_iterator next = computed.begin();
  for (size_t i = 0; i < question.outputs.size(); ++i) {
    const Tensor& written = opened.outputs[i];
    if (written == nullptr) continue;
    const std::string& name = question.outputs[i].name;
    const auto found = find_output(computed, next, {name, question.outputs[i].slot, written->shape});
    if (found == computed.end()) {
      // The new state of an optimizer whose old one is unknown.
      const auto unknown = std::find_if(question.unknown.begin(), question.unknown.end(),
                                        [&](const auto& one) { return one.first == name; });
      if (unknown == question.unknown.end()) continue;
      result.outputs.push_back({question.outputs[i].tensor, name, {}, {}});
      result.outputs.back().judgement.why = unknown->second;
      continue;
    }
    if (name.empty()) next = found + 1;
    allow_rounding_of_copy(opened.call, written->values, computed[static_cast<size_t>(found - computed.begin())]);
    result.outputs.push_back(
        {question.outputs[i].tensor, found->name, judge(*written, kernel, *found, formats, device), {}});
    OutputJudgement& output = result.outputs.back();
    if (const Answer* const answer = options.golden ? answer_of(*found, question, output.judgement) : nullptr)
      options.golden({output.tensor, kernel, *written, answer->y, opened.incomplete || written->known >= 0});
    if (explains && output.judgement.is_wrong())
      output.instead = find_instead({*written, kernel, opened.call, *found, formats, device, output.judgement});
  }
}

void note_asked(const Call& call, OperatorJudgement& result) {
  constexpr int64_t kMostShown = 16;
  for (const auto& [name, values] : call.values()) {
    for (const Value& value : values) {
      if (value.is_none || (value.tensor && size_of(value.tensor->shape) > kMostShown) ||
          (!value.tensor && value.numbers.empty()))
        continue;
      result.asked.push_back({name, shown_value(value), value.from});
    }
  }
}

// Judges an operator in parts. False if it is computed as a whole.
bool judge_parts(const Question& question, const ReadQuestion& opened, const RecomputeOptions& options,
                 const DeviceTraits& device, OperatorJudgement& result) {
  std::vector<WrittenOutput> outputs;
  for (size_t i = 0; i < question.outputs.size(); ++i)
    outputs.push_back({question.outputs[i].name, opened.outputs[i], question.outputs[i].slot});
  const double most = opened.elements > options.most_elements ? 0 : options.most_multiplications;
  const auto judgements = judge_in_parts(*question.row->kernel, opened.call, outputs, device, most);
  if (!judgements) return false;
  result.kernel = *question.row->kernel;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].y)
      result.outputs.push_back({question.outputs[i].tensor, question.outputs[i].name, (*judgements)[i], {}});
  }
  if (result.is_wrong()) note_asked(opened.call, result);
  return true;
}

// Computes an operator, or the members of a region, as a whole.
Maybe<void> judge_whole(const Question& question, ReadQuestion last, const OpenTensor& open,
                        const RecomputeOptions& options, const DeviceTraits& device, bool explains,
                        OperatorJudgement& result) {
  std::vector<const Question*> members;
  for (const Question& member : question.members) members.push_back(&member);
  members.push_back(&question);
  std::vector<ReadQuestion> opened;
  std::vector<Outputs> computed;
  std::vector<const Kernel*> kernels;
  InnerValues inner;
  OperandFormats formats;
  int64_t elements = 0;
  for (const Question* const member : members) {
    if (member->row == nullptr) {
      result.row = nullptr;
      return fail(member->why);
    }
    MSDUMP_CHECK_OK(compute_inner(*member, computed, inner));
    const bool is_alone = members.size() == 1;
    opened.push_back(is_alone ? std::exchange(last, {}) : read_member(*member, inner, open));
    ReadQuestion& one = opened.back();
    if (one.why) result.why = *one.why;
    MSDUMP_CHECK_OK(one.load(options.most_elements - elements));
    elements += one.elements;
    one.incomplete = one.incomplete || (opened.size() > 1 && opened[opened.size() - 2].incomplete);
    if (!is_alone) find_copies(*member, one.outputs, device, one.call);
    MSDUMP_TRY(Outputs outputs, compute_with(*member->row->kernel, one.call, one.inner));
    computed.push_back(std::move(outputs));
    kernels.push_back(member->row->kernel);
    formats.add(formats_of(one.call));
  }
  for (size_t i = 0; i < members.size(); ++i) {
    result.kernel = i == 0 ? *kernels.front() : kernel_of_region(std::span(kernels).first(i + 1));
    // What a region did instead would be a guess about its members.
    judge_outputs(*members[i], opened[i], computed[i], result.kernel, formats, device, explains && members.size() == 1,
                  options, result);
  }
  if (result.is_wrong()) note_asked(opened.back().call, result);
  return {};
}

bool is_written(const ReadQuestion& opened) {
  return std::any_of(opened.outputs.begin(), opened.outputs.end(),
                     [](const Tensor& tensor) { return tensor != nullptr; });
}

// `large` is held while a large operator is computed in full that would else be judged in parts.
OperatorJudgement judge_question(const Question& question, const OpenTensor& open, const RecomputeOptions& options,
                                 const DeviceTraits& device, bool explains, std::mutex& large) {
  OperatorJudgement result;
  result.run = question.run;
  result.type = question.type;
  result.forward = question.forward;
  result.assumes_state = std::any_of(question.operands.begin(), question.operands.end(),
                                     [](const Operand& operand) { return operand.is_state; });
  result.why = question.why;
  result.row = question.row;
  if (question.row == nullptr) return result;
  ReadQuestion last;
  Maybe<void> judged;
  bool in_parts = false;
  if (question.members.empty()) {
    last = read_member(question, {}, open);
    if (last.why) result.why = *last.why;
    if (!is_written(last)) return result;
    find_copies(question, last.outputs, device, last.call);
    // What is explained is computed as a whole if it can be.
    in_parts = !explains && !options.golden && judge_parts(question, last, options, device, result);
  }
  std::unique_lock<std::mutex> alone(large, std::defer_lock);
  if (options.golden && last.elements > options.large_elements) alone.lock();
  if (!in_parts) judged = judge_whole(question, last, open, options, device, explains, result);
  const bool falls_back = (explains || options.golden) && question.members.empty();
  if (!judged && judged.error().reason == Reason::kTooLarge && falls_back) {
    result.outputs.clear();
    if (judge_parts(question, last, options, device, result)) judged = {};
  }
  if (!judged) {
    result.why = judged.error();
    return result;
  }
  for (OutputJudgement& output : result.outputs) {
    if (!question.fitted || !output.judgement.is_wrong()) continue;
    output.judgement = {};
    output.judgement.why = {Reason::kUnknownArgument, "no usual argument fits"};
  }
  if (result.outputs.empty()) result.why = {Reason::kShape, {}};
  return result;
}

// The backward of a call whose forward is wrong, or left out as noise, used what autograd saved of it: it is left out.
void leave_out_gradients(std::vector<OperatorJudgement>& judgements) {
  std::map<ExecutionId, Reason> left_out;  // for the backward of a run
  for (const OperatorJudgement& judgement : judgements) {
    if (judgement.is_wrong()) left_out.emplace(judgement.run, Reason::kForward);
    if (judgement.why.reason == Reason::kNoise) left_out.emplace(judgement.run, Reason::kNoise);
  }
  for (OperatorJudgement& judgement : judgements) {
    const auto forward = judgement.forward == kNoId ? left_out.end() : left_out.find(judgement.forward);
    if (forward == left_out.end() || !judgement.is_wrong()) continue;
    judgement.outputs.clear();
    judgement.why = {forward->second, {}};
  }
}

// Updates that do not follow from a copy of 16 bits are wrong only where most do: a device may make its copies in another way.
void leave_out_copies(std::vector<OperatorJudgement>& judgements) {
  constexpr size_t kRightForEachWrong = 4;
  size_t right = 0, wrong = 0;
  for (const OperatorJudgement& judgement : judgements) {
    for (const OutputJudgement& output : judgement.outputs) {
      if (!output.judgement.follows_copy) continue;
      right += output.judgement.is_right() ? 1U : 0U;
      wrong += output.judgement.is_wrong() ? 1U : 0U;
    }
  }
  if (right >= kRightForEachWrong * wrong) return;
  for (OperatorJudgement& judgement : judgements) {
    for (OutputJudgement& output : judgement.outputs) {
      if (!output.judgement.is_wrong() || !output.judgement.follows_copy) continue;
      output.judgement = {};
      output.judgement.why = {Reason::kOldValue, {}};
    }
  }
}

double largest_error(const OperatorJudgement& judgement) {
  double largest = 0;
  for (const OutputJudgement& output : judgement.outputs) {
    if (!output.judgement.is_wrong()) continue;
    const double error = output.judgement.relative_error;
    largest = std::max(largest, std::isfinite(error) ? error : std::numeric_limits<double>::infinity());
  }
  return largest;
}

// The median error of the types of operators if most of them are mostly wrong: no mistake does that. 0: they are not. Moves do not
// round, and products may be of fewer bits (DeviceTraits): they do not count.
double noise_of_types(const std::vector<OperatorJudgement>& judgements) {
  constexpr size_t kFewTypes = 4;
  std::map<std::string_view, std::vector<double>> errors;  // of operators; 0 of one that is right
  for (const OperatorJudgement& judgement : judgements) {
    const Arithmetic arithmetic = judgement.kernel.arithmetic;
    if (arithmetic == Arithmetic::kExact || arithmetic == Arithmetic::kProduct) continue;
    if (judgement.is_wrong() || judgement.is_right()) errors[judgement.type].push_back(largest_error(judgement));
  }
  std::vector<double> of_types;
  for (auto& [type, of_type] : errors) of_types.push_back(quantile_of_unsorted(of_type, 0.5));
  return of_types.size() < kFewTypes ? 0 : quantile_of_unsorted(of_types, 0.5);
}

// Outputs that are off by about as much as those of most types are not judged.
void leave_out_noise(std::vector<OperatorJudgement>& judgements) {
  constexpr double kMostOverNoise = 4;
  const double noise = noise_of_types(judgements);
  if (noise == 0) return;
  for (OperatorJudgement& judgement : judgements) {
    if (!judgement.is_wrong() || !(largest_error(judgement) <= kMostOverNoise * noise)) continue;
    judgement.outputs.clear();
    judgement.why = {Reason::kNoise, {}};
  }
}

std::vector<size_t> wrong_ones(const std::vector<OperatorJudgement>& judgements) {
  std::vector<size_t> wrong;
  for (size_t i = 0; i < judgements.size(); ++i) {
    if (judgements[i].is_wrong()) wrong.push_back(i);
  }
  return wrong;
}

std::optional<OperatorJudgement> find_kept(const FactStore& facts, const FactKey& key, const Question& question) {
  const auto bytes = facts.find(key);
  if (!bytes) return std::nullopt;
  Result<KeptJudgement> kept = decode_result<KeptJudgement>(*bytes);
  return kept ? judgement_of(question, std::move(*kept)) : std::nullopt;
}

}  // namespace

DeviceTraits traits_of(const std::vector<OperatorJudgement>& judgements) {
  std::vector<double> products, transcendental;
  uint64_t outputs = 0, halves = 0, bfloats = 0;
  for (const OperatorJudgement& judgement : judgements) {
    for (const OutputJudgement& output : judgement.outputs) {
      if (output.judgement.verdict == Judgement::Verdict::kNotJudged) continue;
      if (judgement.kernel.arithmetic == Arithmetic::kProduct) products.push_back(output.judgement.units_of[0]);
      if (judgement.kernel.arithmetic == Arithmetic::kTranscendental)
        transcendental.push_back(output.judgement.units_of[0] / judgement.kernel.limit * Limits::kUnits);
      // Optimizers keep float32 whatever the device computes with.
      if (kind_of(output.judgement.format) != DTypeKind::kFloat ||
          judgement.kernel.arithmetic == Arithmetic::kOptimizer)
        continue;
      ++outputs;
      halves += output.judgement.format == DType::kFloat16 ? 1U : 0U;
      bfloats += output.judgement.format == DType::kBfloat16 ? 1U : 0U;
    }
  }
  DeviceTraits traits;
  // Without a graph no product is computed: then the functions tell that have a unit of their own as well. Of few, most may be
  // wrong.
  constexpr size_t kFewFunctions = 4;
  std::vector<double>& telling = products.empty() ? transcendental : products;
  if (!telling.empty() && (!products.empty() || telling.size() >= kFewFunctions)) {
    traits.tensor_cores = quantile_of_unsorted(telling, 0.5) > Limits::kUnits;
  }
  if (2 * (halves + bfloats) > outputs) traits.usual = halves > bfloats ? DType::kFloat16 : DType::kBfloat16;
  return traits;
}

Maybe<ReadQuestion> read_question(const Question& question, const OpenTensor& open) {
  ReadQuestion opened = read_member(question, {}, open);
  MSDUMP_CHECK_OK(opened.load(kMostElements));
  return opened;
}

Maybe<Outputs> compute_question(const Question& question, const OpenTensor& open, int64_t most_elements) {
  std::vector<Outputs> computed;
  InnerValues inner;
  for (size_t i = 0; i <= question.members.size(); ++i) {
    const Question& member = i < question.members.size() ? question.members[i] : question;
    if (member.row == nullptr) return fail(member.why);
    MSDUMP_CHECK_OK(compute_inner(member, computed, inner));
    ReadQuestion one = read_member(member, inner, open);
    MSDUMP_CHECK_OK(one.load(most_elements));
    most_elements -= one.elements;
    MSDUMP_TRY(Outputs outputs, member.row->kernel->compute(one.call));
    computed.push_back(std::move(outputs));
  }
  return std::move(computed.back());
}

Result<std::vector<OperatorJudgement>> judge_questions(size_t count, const AskQuestion& ask, const OpenTensor& open,
                                                       const RecomputeOptions& options, const RunContext& context) {
  std::vector<OperatorJudgement> judgements(count);
  std::mutex large;
  const auto judge_again = [&](const std::vector<size_t>& which, const DeviceTraits& device, bool explains,
                               const RecomputeOptions& options_of_pass) {
    context.pool.ordered_for(
        static_cast<int64_t>(which.size()),
        [&](int64_t i) {
          const size_t one = which[static_cast<size_t>(i)];
          if (context.cancel.cancelled()) return judgements[one];
          const Question question = ask(one);
          const bool is_kept = options.facts != nullptr && !explains && question.members.empty();
          const FactKey key = judgement_key(question.run, device);
          if (is_kept) {
            if (auto known = find_kept(*options.facts, key, question)) return std::move(*known);
          }
          OperatorJudgement judgement = judge_question(question, open, options_of_pass, device, explains, large);
          if (is_kept && !context.cancel.cancelled())
            options.facts->keep(key, encode_result(Result<KeptJudgement>(kept_judgement(question, judgement))));
          return judgement;
        },
        [&](int64_t i, OperatorJudgement&& judgement) {
          judgements[which[static_cast<size_t>(i)]] = std::move(judgement);
        });
    return context.cancel.check();
  };
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  RecomputeOptions once = options;
  once.golden = {};
  MSDUMP_CHECK_OK(judge_again(all, {}, false, options));
  const DeviceTraits traits = options.device.value_or(traits_of(judgements));
  if (!traits.is_plain()) MSDUMP_CHECK_OK(judge_again(wrong_ones(judgements), traits, false, once));
  leave_out_copies(judgements);
  leave_out_noise(judgements);
  leave_out_gradients(judgements);
  std::vector<size_t> explained = wrong_ones(judgements);
  if (explained.size() > options.most_explained) explained.resize(options.most_explained);
  MSDUMP_CHECK_OK(judge_again(explained, traits, true, once));
  return judgements;
}

namespace {

// An operator that did not run leaves the buffer as an earlier one had it.
void find_stale(std::vector<OperatorJudgement>& judgements, size_t wrong, const TensorReader& reader,
                const std::function<std::string(ExecutionId run)>& name_of_run) {
  for (OutputJudgement& output : judgements[wrong].outputs) {
    if (output.judgement.wrong == 0 || (!output.instead.empty() && output.instead.front().bits < kStaleBits)) continue;
    const Maybe<Tensor> y = reader.read(output.tensor, nullptr);
    if (!y) continue;
    const auto is_left = [&](const OutputJudgement& earlier) {
      if (earlier.judgement.elements != output.judgement.elements) return false;
      const Maybe<Tensor> held = reader.read(earlier.tensor, nullptr);
      return held && is_stale(**y, **held);
    };
    for (size_t i = wrong; i-- > 0 && wrong - i <= kEarlierOutputs;) {
      if (!std::any_of(judgements[i].outputs.begin(), judgements[i].outputs.end(), is_left)) continue;
      output.instead.insert(output.instead.begin(), {Mistake::kStale, name_of_run(judgements[i].run), 0, kStaleBits});
      break;
    }
  }
}

}  // namespace

RecomputeOptions options_of(Extent extent) {
  RecomputeOptions options;
  if (extent == Extent::kAll) options.most_multiplications = RecomputeOptions::kInFull;
  return options;
}

uint64_t bytes_of(const DumpWithGraph& dump, const RunGraph& flow, const std::vector<ExecutionId>& runs) {
  uint64_t bytes = 0;
  const auto add = [&](TensorId tensor) {
    if (tensor == kNoId || !(*dump.tensors)[tensor].has_elements) return;
    const TensorRecord& record = (*dump.tensors)[tensor];
    bytes += std::min(record.bytes.value_or(dump.index->files()[record.file].size), uint64_t{1} << 40);
  };
  for (const ExecutionId run : runs) {
    for (const RunInput& input : flow.runs()[run].inputs) add(input.tensor);
    for (const TensorId tensor : flow.runs()[run].outputs) add(tensor);
  }
  return bytes;
}

Result<std::vector<OperatorJudgement>> recompute(const DumpWithGraph& dump, const RunGraph& flow,
                                                 const std::vector<SequencedOp>& operators,
                                                 const std::vector<ExecutionId>& runs, const RunContext& context,
                                                 const RecomputeOptions& options) {
  const Questions questions(dump, flow, operators, options.assumed);
  const TensorReader reader(dump, operators, options.most_elements, options.statistics);
  MSDUMP_TRY(auto judgements,
             judge_questions(
                 runs.size(), [&](size_t i) { return questions.ask(runs[i]); },
                 [&](TensorId tensor, const Shape* shape) { return reader.open(tensor, shape); }, options, context));
  const std::vector<size_t> wrong = wrong_ones(judgements);
  for (size_t i = 0; i < std::min(wrong.size(), options.most_explained); ++i) {
    if (context.cancel.cancelled()) break;
    find_stale(judgements, wrong[i], reader,
               [&](ExecutionId run) { return std::string(operators[flow.runs()[run].op].name); });
  }
  return judgements;
}

}  // namespace msdump::recompute
