#include "recompute/recompute.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>

#include "dump/elements/host_tensor.h"
#include "kernels/pair/pair_dtype.h"

namespace msdump::recompute {
namespace {

// The first half of a float32 buffer under a float16 header; the rest is unknown.
void read_half_written(const std::vector<std::byte>& stored, std::vector<double>& values) {
  const size_t known = values.size() / 2;
  for (size_t i = 0; i < known; ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, stored.data() + i * sizeof bits, sizeof bits);
    values[i] = std::bit_cast<float>(bits);
  }
  std::fill(values.begin() + static_cast<std::ptrdiff_t>(known), values.end(), std::nan(""));
}

bool has_size(const Output& output, int64_t size) {
  return std::any_of(output.answers.begin(), output.answers.end(),
                     [&](const Answer& answer) { return answer.y.size() == size; });
}

std::string shown_value(const Value& value) {
  if (!value.tensor) return value.text;
  std::string text;
  for (const double number : value.tensor->values) text += fmt::format("{}{}", text.empty() ? "" : ", ", number);
  return value.tensor->shape.empty() ? text : "(" + text + ")";
}

}  // namespace

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
      RecomputeCounts::OfKernel& of = kernels[judgement.row->kernel->name];
      of.kernel = judgement.row->kernel->name;
      of.limit = judgement.row->kernel->limit;
      ++of.outputs;
      if (output.judgement.is_right()) of.largest_right = std::max(of.largest_right, output.judgement.units);
    }
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

Maybe<Tensor> TensorReader::read(TensorId tensor, const Shape* shape) const {
  const TensorRecord& record = (*dump_.tensors)[tensor];
  if (!record.has_elements) return unjudged(Reason::kStatistics);
  if (record.broken) return unjudged(Reason::kUnreadable, record.name.op_name);
  Result<HostTensor> opened = HostTensor::open(*dump_.index, record, {});
  if (!opened) return unjudged(Reason::kUnreadable, opened.error().message);
  HostTensor& host = *opened;
  if (kernels::common_dtype(host.dtype(), DType::kFloat64) != DType::kFloat64)
    return unjudged(Reason::kFormat, name_of(host.dtype()));
  if (host.count() > most_elements_) return unjudged(Reason::kTooLarge);
  std::vector<std::byte> stored(static_cast<size_t>(host.count()) * host.element_bytes());
  if (const Status status = host.read(0, host.count(), stored.data()); !status)
    return unjudged(Reason::kUnreadable, status.error().message);
  Array array{host.shape(), std::vector<double>(static_cast<size_t>(host.count())), host.original_dtype()};
  if (half_written_[tensor] && host.dtype() == DType::kFloat16) {
    read_half_written(stored, array.values);
    array.known = array.size() / 2;
    array.dtype = DType::kFloat32;
  } else {
    kernels::widen_to(host.dtype(), DType::kFloat64, stored.data(), host.count(),
                      reinterpret_cast<std::byte*>(array.values.data()));
  }
  if (shape != nullptr && size_of(*shape) == array.size()) array.shape = *shape;
  find_effective_format(array);
  return share(std::move(array));
}

namespace {

// Computes the rows of a large product exactly that its projection suspects.
void compute_suspects(const Question& question, const std::vector<Tensor>& written, const OperandFormats& formats,
                      const DeviceTraits& device, Call& call, Outputs& computed) {
  const auto sampled = [](const Output& output) {
    return output.answers.size() == 1 && output.answers.front().projection != nullptr;
  };
  if (computed.size() != 1 || written.size() != 1 || written.front() == nullptr || !sampled(computed.front())) return;
  const Kernel& kernel = *question.row->kernel;
  const Judgement first = judge(*written.front(), kernel, computed.front(), formats, device);
  if (first.suspects.empty()) return;
  call.exact_rows = first.suspects;
  Maybe<Outputs> again = kernel.compute(call);
  if (again) computed = std::move(*again);
}

// A device of 16 bits reads a cast copy of a parameter, which is not the value that an optimizer updates; what has another
// shape is none at all.
void leave_out_copies(const Question& question, const std::vector<Tensor>& written, Call& call) {
  if (question.row->kernel->arithmetic != Arithmetic::kOptimizer) return;
  for (size_t i = 0; i < written.size(); ++i) {
    const std::string& name = question.outputs[i].name;
    const Maybe<Tensor> old = call.tensor(name);
    if (written[i] == nullptr || !old) continue;
    const bool coarser = unit_roundoff((*old)->effective) > unit_roundoff(written[i]->effective);
    if ((*old)->shape == written[i]->shape && !coarser) continue;
    call.erase(name);
    call.set_unknown(name, {Reason::kOldValue, name});
  }
}

OperatorJudgement judge_question(const Question& question, const ReadTensor& read, const RecomputeOptions& options,
                                 const DeviceTraits& device) {
  OperatorJudgement result;
  result.run = question.run;
  result.type = question.type;
  result.forward = question.forward;
  result.why = question.why;
  if (question.row == nullptr) return result;
  result.row = question.row;
  Call call;
  call.type = question.type;
  call.fitted = question.fitted;
  for (const auto& [name, why] : question.unknown) call.set_unknown(name, why);
  int64_t elements = 0;
  for (const Operand& operand : question.operands) {
    Value value = operand.value;
    if (operand.tensor != kNoId) {
      value.from = Value::From::kFile;
      Maybe<Tensor> tensor = read(operand.tensor, operand.shape);
      if (!tensor) {
        call.set_unknown(operand.name, tensor.error());
        continue;
      }
      elements += (*tensor)->size();
      value.tensor = std::move(*tensor);
    }
    if (operand.in_list)
      call.append(operand.name, std::move(value));
    else
      call.set(operand.name, std::move(value));
  }
  std::vector<Tensor> written;
  for (const AskedOutput& output : question.outputs) {
    Maybe<Tensor> tensor = read(output.tensor, output.shape);
    written.push_back(tensor ? *tensor : nullptr);
    if (!tensor) {
      result.why = tensor.error();
      continue;
    }
    elements += (*tensor)->size();
    call.set_output(output.name, (*tensor)->shape, (*tensor)->dtype);
  }
  if (elements > options.most_elements) {
    result.why = {Reason::kTooLarge, {}};
    return result;
  }
  if (std::all_of(written.begin(), written.end(), [](const Tensor& tensor) { return tensor == nullptr; }))
    return result;
  leave_out_copies(question, written, call);
  Maybe<Outputs> computed = question.row->kernel->compute(call);
  if (!computed) {
    result.why = computed.error();
    return result;
  }
  const OperandFormats formats = formats_of(call);
  compute_suspects(question, written, formats, device, call, *computed);
  auto next = computed->begin();
  for (size_t i = 0; i < question.outputs.size(); ++i) {
    if (written[i] == nullptr) continue;
    const std::string& name = question.outputs[i].name;
    const auto fits = [&](const Output& output) {
      return name.empty() ? has_size(output, written[i]->size()) : output.name == name;
    };
    const auto found = std::find_if(name.empty() ? next : computed->begin(), computed->end(), fits);
    if (found == computed->end()) {
      // The new state of an optimizer whose old one is unknown.
      const auto unknown = std::find_if(question.unknown.begin(), question.unknown.end(),
                                        [&](const auto& one) { return one.first == name; });
      if (unknown == question.unknown.end()) continue;
      result.outputs.push_back({question.outputs[i].tensor, name, {}});
      result.outputs.back().judgement.why = unknown->second;
      continue;
    }
    if (name.empty()) next = found + 1;
    result.outputs.push_back(
        {question.outputs[i].tensor, found->name, judge(*written[i], *question.row->kernel, *found, formats, device)});
  }
  for (OutputJudgement& output : result.outputs) {
    if (!question.fitted || !output.judgement.is_wrong()) continue;
    output.judgement = {};
    output.judgement.why = {Reason::kUnknownArgument, "no usual argument fits"};
  }
  if (result.outputs.empty()) result.why = {Reason::kShape, {}};
  if (!result.is_wrong()) return result;
  constexpr int64_t kMostShown = 16;
  for (const auto& [name, values] : call.values()) {
    for (const Value& value : values) {
      if (value.is_none || (value.tensor && value.tensor->size() > kMostShown) ||
          (!value.tensor && value.numbers.empty()))
        continue;
      result.asked.push_back({name, shown_value(value), value.from});
    }
  }
  return result;
}

// The backward of a call whose forward is wrong used what autograd saved of it: the forward is named, not both.
void leave_out_gradients(std::vector<OperatorJudgement>& judgements) {
  std::set<ExecutionId> wrong;
  for (const OperatorJudgement& judgement : judgements) {
    if (judgement.is_wrong()) wrong.insert(judgement.run);
  }
  for (OperatorJudgement& judgement : judgements) {
    if (judgement.forward == kNoId || !judgement.is_wrong() || wrong.count(judgement.forward) == 0) continue;
    judgement.outputs.clear();
    judgement.why = {Reason::kForward, {}};
  }
}

// Tensor cores and 16-bit storage show in most outputs of a dump, or in none.
DeviceTraits traits_of(const std::vector<OperatorJudgement>& judgements) {
  std::vector<double> products;
  uint64_t outputs = 0, halves = 0, bfloats = 0;
  for (const OperatorJudgement& judgement : judgements) {
    for (const OutputJudgement& output : judgement.outputs) {
      if (output.judgement.verdict == Judgement::Verdict::kNotJudged) continue;
      if (judgement.row->kernel->arithmetic == Arithmetic::kProduct) products.push_back(output.judgement.units_of[0]);
      // Optimizers keep float32 whatever the device computes with.
      if (kind_of(output.judgement.format) != DTypeKind::kFloat ||
          judgement.row->kernel->arithmetic == Arithmetic::kOptimizer)
        continue;
      ++outputs;
      halves += output.judgement.format == DType::kFloat16 ? 1U : 0U;
      bfloats += output.judgement.format == DType::kBfloat16 ? 1U : 0U;
    }
  }
  DeviceTraits traits;
  if (!products.empty()) {
    const auto middle = products.begin() + static_cast<std::ptrdiff_t>(products.size() / 2);
    std::nth_element(products.begin(), middle, products.end());
    traits.tensor_cores = *middle > Limits::kUnits;
  }
  if (2 * (halves + bfloats) > outputs) traits.usual = halves > bfloats ? DType::kFloat16 : DType::kBfloat16;
  return traits;
}

}  // namespace

Result<std::vector<OperatorJudgement>> judge_questions(size_t count, const AskQuestion& ask, const ReadTensor& read,
                                                       const RecomputeOptions& options, const RunContext& context) {
  std::vector<OperatorJudgement> judgements(count);
  const auto judge_again = [&](const DeviceTraits& device, bool wrong_only) {
    context.pool.ordered_for(
        static_cast<int64_t>(count),
        [&](int64_t i) {
          const OperatorJudgement& known = judgements[static_cast<size_t>(i)];
          if (context.cancel.cancelled() || (wrong_only && !known.is_wrong())) return known;
          return judge_question(ask(static_cast<size_t>(i)), read, options, device);
        },
        [&](int64_t i, OperatorJudgement&& judgement) { judgements[static_cast<size_t>(i)] = std::move(judgement); });
    return context.cancel.check();
  };
  MSDUMP_CHECK_OK(judge_again({}, false));
  if (const DeviceTraits traits = traits_of(judgements); !traits.is_plain()) MSDUMP_CHECK_OK(judge_again(traits, true));
  leave_out_gradients(judgements);
  return judgements;
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
  const Questions questions(dump, flow, operators);
  const TensorReader reader(dump, operators, options.most_elements);
  return judge_questions(
      runs.size(), [&](size_t i) { return questions.ask(runs[i]); },
      [&](TensorId tensor, const Shape* shape) { return reader.read(tensor, shape); }, options, context);
}

}  // namespace msdump::recompute
