#include "support/noisy_net/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace msdump::noisy {
namespace {

bool is_16_bit(const Arithmetic& how) { return how.store == Store::kFloat16 || how.store == Store::kBFloat16; }

bool is_lowered(const NetValue& value) {
  return value.kind == NumberKind::kFloat &&
         (value.from == NetValue::From::kParameter || value.from == NetValue::From::kInput);
}

StepValues start(const Net& net, const Run& run, int step, const std::vector<StepValues>& before) {
  StepValues now;
  now.values.resize(net.values.size());
  now.low.resize(net.values.size());
  now.after.resize(net.values.size());
  for (Ref ref = 0; ref < net.values.size(); ++ref) {
    const NetValue& value = net.values[ref];
    Tensor& tensor = now.values[ref];
    tensor.shape = value.shape;
    if (value.from == NetValue::From::kOutput) continue;
    const auto other = run.parameters.find(ref);
    if (value.from == NetValue::From::kInput) {
      tensor.v = batch_of(net, ref, run.seed, step);
    } else if (!before.empty() && value.from == NetValue::From::kParameter) {
      const Tensor& after = before.back().after[ref];
      tensor.v = after.v.empty() ? before.back().values[ref].v : after.v;
    } else {
      tensor.v = other == run.parameters.end() ? value.initial : other->second;
    }
    if (!is_16_bit(run.how) || !is_lowered(value)) continue;
    now.low[ref] = tensor;
    for (double& x : now.low[ref].v) x = run.how.stored(x);
  }
  return now;
}

KernelCall call_of(const Net& net, const StepValues& values, const NetNode& node, const Arithmetic& how) {
  KernelCall call;
  call.node = &node;
  call.how = &how;
  for (size_t slot = 0; slot < node.inputs.size(); ++slot) call.in.push_back(&values.read(node, slot, how));
  for (const Ref output : node.outputs) call.out.push_back({net.values[output].shape, {}});
  return call;
}

void plant(KernelCall& call, const KernelFault& fault) {
  const std::vector<Tensor> right = call.out;
  call.twist = fault.twist;
  compute(call);
  for (size_t i = 0; i < call.out.size(); ++i) {
    Numbers& wrong = call.out[i].v;
    for (size_t k = 0; k < wrong.size(); ++k)
      wrong[k] = call.how->stored(right[i].v[k] + fault.share * (wrong[k] - right[i].v[k]));
  }
  if (!fault.nan) return;
  Numbers& out = call.out[0].v;
  const size_t row = call.out[0].shape.empty() ? 1 : static_cast<size_t>(call.out[0].shape.back());
  std::fill_n(out.begin(), std::min(row, out.size()), std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

const Tensor& StepValues::read(const NetNode& node, size_t slot, const Arithmetic& how) const {
  const Ref ref = node.inputs[slot];
  return is_16_bit(how) && !low[ref].v.empty() ? low[ref] : values[ref];
}

const Tensor& StepValues::shown(const NetNode& node, size_t slot, const Arithmetic& how) const {
  for (const auto& [input, output] : node.updates) {
    if (input == slot) return after[node.inputs[slot]];
  }
  return read(node, slot, how);
}

Arithmetic arithmetic_of(const NetNode& node, const Arithmetic& how) {
  const std::string& type = node.type;
  const bool optimizer = type == "ApplyMomentum" || type.starts_with("Adam");
  const bool careful = type.find("Norm") != std::string::npos || type.find("CrossEntropy") != std::string::npos ||
                       type == "Softmax" || type.starts_with("Reduce");
  return optimizer || (how.mixed && careful) ? how.in_float32() : how;
}

std::vector<StepValues> evaluate(const Net& net, const Run& run) {
  std::vector<StepValues> steps;
  for (int step = 0; step < run.steps; ++step) {
    StepValues now = start(net, run, step, steps);
    for (uint32_t i = 0; i < net.nodes.size(); ++i) {
      const NetNode& node = net.nodes[i];
      const Arithmetic how = arithmetic_of(node, run.how);
      KernelCall call = call_of(net, now, node, how);
      compute(call);
      for (const KernelFault& fault : run.faults) {
        if (fault.node == i) plant(call, fault);
      }
      size_t hidden = 0;
      for (const auto& [input, output] : node.updates)
        now.after[node.inputs[input]] = output == kAbsent ? std::move(call.updated[hidden++]) : call.out[output];
      for (size_t k = 0; k < node.outputs.size(); ++k) now.values[node.outputs[k]] = std::move(call.out[k]);
    }
    steps.push_back(std::move(now));
  }
  return steps;
}

std::vector<Tensor> outputs_of(const Net& net, const StepValues& values, const Arithmetic& whole,
                               const KernelFault& fault) {
  const NetNode& node = net.nodes[fault.node];
  const Arithmetic how = arithmetic_of(node, whole);
  KernelCall call = call_of(net, values, node, how);
  compute(call);
  plant(call, fault);
  return std::move(call.out);
}

double relative_error(const Numbers& a, const Numbers& b, bool scaled) {
  double across = 0, square = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return std::numeric_limits<double>::infinity();
    across += a[i] * b[i];
    square += b[i] * b[i];
  }
  double factor = 1;
  if (scaled && across > 0 && square > 0) factor = std::exp2(std::round(std::log2(across / square)));
  double distance = 0;
  for (size_t i = 0; i < b.size(); ++i) distance += (a[i] / factor - b[i]) * (a[i] / factor - b[i]);
  if (square == 0) return distance == 0 ? 0 : std::numeric_limits<double>::infinity();
  return std::sqrt(distance / square);
}

}  // namespace msdump::noisy
