#include "recompute/region.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace msdump::recompute {
namespace {

// Shares of its error that an inner value is moved by. The small one is the slope of the kernel. The large one is what bfloat16 can
// do at the limit of three members, 2^-9 * 2 * 12: an activation may then be on the other side of its kink.
constexpr double kSteps[] = {0x1p-12, 0x1p-4};

double terms_of(const Answer& answer, size_t i) {
  return answer.terms.empty() ? std::fabs(answer.y.values[i]) : answer.terms[i];
}

// The call with its inner values moved by a share of their errors, up or down; a negative share moves them the other way.
Call moved(const Call& call, std::span<const InnerOperand> inner, double share) {
  std::minstd_rand random(1);
  Call result = call;
  for (const InnerOperand& one : inner) {
    const auto found = result.values().find(one.name);
    if (found == result.values().end() || one.place >= found->second.size()) continue;
    Tensor& tensor = found->second[one.place].tensor;
    if (!tensor || tensor->values.size() != one.value->error.size()) continue;
    Array array = *tensor;
    for (size_t i = 0; i < array.values.size(); ++i) {
      const double step = share * one.value->error[i];
      array.values[i] += (random() & 0x4000U) != 0 ? step : -step;
    }
    tensor = std::make_shared<const Array>(std::move(array));
  }
  return result;
}

}  // namespace

Maybe<InnerValue> inner_value(const Output& output) {
  if (output.answers.size() != 1) return unjudged(Reason::kRegion, output.name);
  const Answer& answer = output.answers.front();
  InnerValue inner;
  inner.length = answer.length;
  // u |y| + v (2 + g) S, where u is at most v.
  inner.error.resize(answer.y.values.size());
  for (size_t i = 0; i < inner.error.size(); ++i)
    inner.error[i] = terms_of(answer, i) + std::fabs(answer.y.values[i]) / 2;
  inner.y = share(answer.y);
  return inner;
}

Maybe<Outputs> compute_with(const Kernel& kernel, const Call& call, std::span<const InnerOperand> inner) {
  MSDUMP_TRY(Outputs outputs, kernel.compute(call));
  if (inner.empty()) return outputs;
  double length = 0;
  for (const InnerOperand& one : inner) length = std::max(length, one.value->length);
  for (Output& output : outputs) {
    for (Answer& answer : output.answers) {
      answer.length = std::max(answer.length, length);
      if (!answer.terms.empty()) continue;
      answer.terms.resize(answer.y.values.size());
      for (size_t i = 0; i < answer.terms.size(); ++i) answer.terms[i] = std::fabs(answer.y.values[i]);
    }
  }
  std::vector<std::vector<std::vector<double>>> changes(outputs.size());
  for (size_t o = 0; o < outputs.size(); ++o) {
    for (const Answer& answer : outputs[o].answers) changes[o].emplace_back(answer.y.values.size(), 0.0);
  }
  for (const double step : {kSteps[0], -kSteps[0], kSteps[1], -kSteps[1]}) {
    MSDUMP_TRY(const Outputs others, kernel.compute(moved(call, inner, step)));
    if (others.size() != outputs.size()) return unjudged(Reason::kRegion);
    for (size_t o = 0; o < outputs.size(); ++o) {
      if (others[o].answers.size() != outputs[o].answers.size()) return unjudged(Reason::kRegion);
      for (size_t a = 0; a < outputs[o].answers.size(); ++a) {
        const std::vector<double>& y = outputs[o].answers[a].y.values;
        const std::vector<double>& other = others[o].answers[a].y.values;
        if (other.size() != y.size()) return unjudged(Reason::kRegion);
        for (size_t i = 0; i < y.size(); ++i)
          changes[o][a][i] = std::max(changes[o][a][i], std::fabs((other[i] - y[i]) / step));
      }
    }
  }
  for (size_t o = 0; o < outputs.size(); ++o) {
    for (size_t a = 0; a < outputs[o].answers.size(); ++a) {
      std::vector<double>& terms = outputs[o].answers[a].terms;
      for (size_t i = 0; i < terms.size(); ++i) terms[i] += changes[o][a][i];
    }
  }
  return outputs;
}

Kernel kernel_of_region(std::span<const Kernel* const> members) {
  Kernel kernel = *members.back();
  bool product = false, shared = false;
  int rounding = 0;
  for (const Kernel* const member : members) {
    kernel.limit = std::max(kernel.limit, member->limit);
    product = product || member->arithmetic == Arithmetic::kProduct;
    shared =
        shared || member->arithmetic == Arithmetic::kTranscendental || member->arithmetic == Arithmetic::kNormalisation;
    if (member->arithmetic != Arithmetic::kExact) ++rounding;
  }
  if (members.size() > 1) kernel.name = "region";
  kernel.limit *= std::max(rounding, 1);
  if (product) {
    kernel.arithmetic = Arithmetic::kProduct;
  } else if (shared) {
    kernel.arithmetic = Arithmetic::kNormalisation;
  } else if (kernel.arithmetic == Arithmetic::kExact && rounding > 0) {
    kernel.arithmetic = Arithmetic::kElementwise;
  }
  return kernel;
}

Maybe<FoldedOperands> fold(const Array& filter, const Tensor& bias, const Call& batch_norm) {
  MSDUMP_TRY(const bool training, batch_norm.flag("is_training"));
  if (training) return unjudged(Reason::kRegion, "is_training");
  MSDUMP_TRY(const Tensor gamma, batch_norm.tensor("gamma"));
  MSDUMP_TRY(const Tensor beta, batch_norm.tensor("beta"));
  MSDUMP_TRY(const Tensor mean, batch_norm.tensor("mean"));
  MSDUMP_TRY(const Tensor variance, batch_norm.tensor("variance"));
  MSDUMP_TRY(const double epsilon, batch_norm.number("epsilon"));
  const size_t channels = gamma->values.size();
  const auto has_channels = [&](const Tensor& tensor) { return tensor->values.size() == channels; };
  if (!has_channels(beta) || !has_channels(mean) || !has_channels(variance) || (bias && !has_channels(bias)))
    return unjudged(Reason::kShape, "channels");
  // Output channels are the first axis; a depthwise filter of MindSpore is 1 x C x h x w.
  if (filter.rank() < 2 || channels == 0) return unjudged(Reason::kShape, "filter");
  const size_t axis = filter.shape[0] == 1 && channels > 1 ? 1 : 0;
  if (filter.shape[axis] != static_cast<int64_t>(channels)) return unjudged(Reason::kShape, "filter");
  const size_t inner = filter.values.size() / channels;
  FoldedOperands folded;
  Answer scaled, shifted;
  scaled.y = make_array(filter.shape);
  shifted.y = make_array({static_cast<int64_t>(channels)});
  scaled.terms.resize(filter.values.size());
  shifted.terms.resize(channels);
  for (size_t c = 0; c < channels; ++c) {
    const double scale = gamma->values[c] / std::sqrt(variance->values[c] + epsilon);
    const double before = bias ? bias->values[c] : 0;
    shifted.y.values[c] = beta->values[c] + (before - mean->values[c]) * scale;
    shifted.terms[c] =
        std::fabs(beta->values[c]) + 2 * (std::fabs(before) + std::fabs(mean->values[c])) * std::fabs(scale);
    for (size_t i = c * inner; i < (c + 1) * inner; ++i) {
      scaled.y.values[i] = filter.values[i] * scale;
      scaled.terms[i] = 2 * std::fabs(scaled.y.values[i]);  // the factor rounds as well
    }
  }
  folded.filter.name = "filter";
  folded.filter.answers.push_back(std::move(scaled));
  folded.bias.name = "bias";
  folded.bias.answers.push_back(std::move(shifted));
  return folded;
}

const Kernel& fold_kernel() {
  static constexpr Kernel kFold = {"fold", Arithmetic::kNormalisation, 4, nullptr};
  return kFold;
}

}  // namespace msdump::recompute
