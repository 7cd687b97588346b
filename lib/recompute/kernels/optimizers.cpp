// Optimizers update their parameter and state in place: operands are the old values, outputs have the names of the operands.
#include <cmath>

#include "recompute/kernels/kernels.h"

namespace msdump::recompute {
namespace {

// The operands of one size that an optimizer works on, element by element.
bool same_size(std::initializer_list<const Array*> arrays) {
  for (const Array* const array : arrays) {
    if (array->size() != (*arrays.begin())->size()) return false;
  }
  return true;
}

Maybe<Outputs> assign(const Call& call) {
  MSDUMP_TRY(const Tensor value, call.tensor("value"));
  Outputs outputs;
  add_output(outputs, "ref", *value);
  return outputs;
}

template <int kSign>
Maybe<Outputs> assign_add(const Call& call) {
  MSDUMP_TRY(const Tensor old, call.tensor("ref"));
  MSDUMP_TRY(const Tensor value, call.tensor("value"));
  MSDUMP_TRY(Array y, fitted(combine(*old, *value, [](double u, double v) { return u + kSign * v; })));
  MSDUMP_TRY(Array terms,
             fitted(combine(*old, *value, [](double u, double v) { return std::fabs(u) + std::fabs(v); })));
  Outputs outputs;
  add_output(outputs, "ref", std::move(y), std::move(terms.values), 2);
  return outputs;
}

// The value of a state before the update (is_new: after it, which decides the parameter alone).
struct State {
  Tensor values;
  bool is_new = false;
};

Maybe<State> state_of(const Call& call, const std::string& name) {
  Maybe<Tensor> old = call.tensor(name);
  if (old) return State{std::move(*old), false};
  if (old.error().reason != Reason::kOldValue) return fail(old.error());
  Maybe<Tensor> after = call.tensor("new_" + name);
  if (!after) return fail(old.error());
  return State{std::move(*after), true};
}

// acc' = momentum acc + grad; var' = var - lr acc', or with nesterov var - lr (grad + momentum acc').
Maybe<Outputs> momentum(const Call& call) {
  MSDUMP_TRY(const Tensor var, call.tensor("var"));
  MSDUMP_TRY(const Tensor grad, call.tensor("grad"));
  MSDUMP_TRY(const State acc, state_of(call, "acc"));
  MSDUMP_TRY(const double lr, call.number("lr"));
  MSDUMP_TRY(const double factor, call.number("momentum"));
  const bool nesterov = call.flag_or("use_nesterov", false);
  const double scale = call.number_or("gradient_scale", 1);
  if (!same_size({var.get(), grad.get(), acc.values.get()})) return unjudged(Reason::kShape);
  Array new_var = make_array(var->shape), new_acc = new_var;
  std::vector<double> var_terms(var->values.size()), acc_terms(var->values.size());
  for (size_t i = 0; i < var->values.size(); ++i) {
    const double g = grad->values[i] * scale, known = acc.values->values[i];
    new_acc.values[i] = acc.is_new ? known : factor * known + g;
    acc_terms[i] = acc.is_new ? std::fabs(known) : std::fabs(factor * known) + std::fabs(g);
    const double step = nesterov ? g + factor * new_acc.values[i] : new_acc.values[i];
    new_var.values[i] = var->values[i] - lr * step;
    var_terms[i] = std::fabs(var->values[i]) + std::fabs(lr) * (acc_terms[i] + (nesterov ? std::fabs(g) : 0));
  }
  Outputs outputs;
  add_output(outputs, "var", std::move(new_var), std::move(var_terms), 2);
  if (!acc.is_new) add_output(outputs, "acc", std::move(new_acc), std::move(acc_terms), 2);
  return outputs;
}

// g = grad + decay var; acc' = momentum acc + (1 - dampening) g, in the first step g. The CPU kernel ignores nesterov.
Maybe<Outputs> sgd(const Call& call) {
  MSDUMP_TRY(const Tensor var, call.tensor("var"));
  MSDUMP_TRY(const Tensor grad, call.tensor("grad"));
  MSDUMP_TRY(const double lr, call.number("lr"));
  MSDUMP_TRY(const State acc, state_of(call, "acc"));
  MSDUMP_TRY(const double factor, call.number("momentum"));
  const double dampening = call.number_or("dampening", 0), decay = call.number_or("weight_decay", 0);
  if (!same_size({var.get(), grad.get(), acc.values.get()})) return unjudged(Reason::kShape);
  Outputs outputs;
  outputs.push_back({"var", {}});
  if (!acc.is_new) outputs.push_back({"acc", {}});
  for (const bool first : {false, true}) {
    if (first && acc.is_new) break;  // the new state is that of either
    for (const bool nesterov : {false, true}) {
      Answer new_var{make_array(var->shape), std::vector<double>(var->values.size()), 2, {}};
      Answer new_acc{make_array(var->shape), std::vector<double>(var->values.size()), 2, {}};
      for (size_t i = 0; i < var->values.size(); ++i) {
        const double g = grad->values[i] + decay * var->values[i];
        const double size = std::fabs(grad->values[i]) + std::fabs(decay * var->values[i]);
        const double known = acc.values->values[i];
        const double a = factor == 0 || first ? g : acc.is_new ? known : factor * known + (1 - dampening) * g;
        new_acc.y.values[i] = factor == 0 ? known : a;
        new_acc.terms[i] = size + std::fabs(factor * known);
        const double step = nesterov && factor != 0 ? g + factor * a : a;
        new_var.y.values[i] = var->values[i] - lr * step;
        new_var.terms[i] = std::fabs(var->values[i]) + std::fabs(lr) * (new_acc.terms[i] + (nesterov ? size : 0));
      }
      new_var.variant = new_acc.variant = first ? "first step" : nesterov ? "nesterov" : "";
      if (nesterov && !call.flag_or("nesterov", false)) continue;
      outputs[0].answers.push_back(std::move(new_var));
      if (!acc.is_new) outputs[1].answers.push_back(std::move(new_acc));
    }
  }
  return outputs;
}

// m' = b1 m + (1 - b1) g; v' = b2 v + (1 - b2) g^2; var' = var - step m' / (sqrt(v') + eps) [- lr decay var].
struct AdamSettings {
  double lr = 0, beta1 = 0, beta2 = 0, epsilon = 0, decay = 0;
  double correction = 1;  // of the step: sqrt(1 - beta2^t) / (1 - beta1^t)
  bool nesterov = false;
};

Maybe<Outputs> adam_step(const Call& call, const AdamSettings& s) {
  MSDUMP_TRY(const Tensor var, call.tensor("var"));
  MSDUMP_TRY(const State m, state_of(call, "m"));
  MSDUMP_TRY(const State v, state_of(call, "v"));
  MSDUMP_TRY(const Tensor grad, call.tensor("grad"));
  if (!same_size({var.get(), m.values.get(), v.values.get(), grad.get()})) return unjudged(Reason::kShape);
  const size_t count = var->values.size();
  Array new_var = make_array(var->shape), new_m = new_var, new_v = new_var;
  std::vector<double> var_terms(count), m_terms(count), v_terms(count);
  for (size_t i = 0; i < count; ++i) {
    const double g = grad->values[i], known_m = m.values->values[i], known_v = v.values->values[i];
    new_m.values[i] = m.is_new ? known_m : s.beta1 * known_m + (1 - s.beta1) * g;
    new_v.values[i] = v.is_new ? known_v : s.beta2 * known_v + (1 - s.beta2) * g * g;
    m_terms[i] = 2 * std::fabs(s.beta1 * known_m) + 2 * std::fabs((1 - s.beta1) * g);
    v_terms[i] = 2 * std::fabs(s.beta2 * known_v) + 2 * std::fabs((1 - s.beta2) * g * g);
    const double moment = s.nesterov ? s.beta1 * new_m.values[i] + (1 - s.beta1) * g : new_m.values[i];
    const double divisor = std::sqrt(new_v.values[i]) + s.epsilon, rate = s.lr * s.correction;
    new_var.values[i] = var->values[i] - rate * moment / divisor - s.lr * s.decay * var->values[i];
    var_terms[i] = std::fabs(var->values[i]) * (1 + std::fabs(s.lr * s.decay)) +
                   8 * std::fabs(rate) * (m_terms[i] + (s.nesterov ? std::fabs(g) : 0)) / divisor;
  }
  Outputs outputs;
  add_output(outputs, "var", std::move(new_var), std::move(var_terms), 2);
  if (!m.is_new) add_output(outputs, "m", std::move(new_m), std::move(m_terms), 2);
  if (!v.is_new) add_output(outputs, "v", std::move(new_v), std::move(v_terms), 2);
  return outputs;
}

Maybe<AdamSettings> adam_settings(const Call& call) {
  AdamSettings s;
  MSDUMP_TRY(s.lr, call.number("lr"));
  MSDUMP_TRY(s.beta1, call.number("beta1"));
  MSDUMP_TRY(s.beta2, call.number("beta2"));
  MSDUMP_TRY(s.epsilon, call.number("epsilon"));
  return s;
}

Maybe<Outputs> adam(const Call& call) {
  MSDUMP_TRY(AdamSettings s, adam_settings(call));
  MSDUMP_TRY(const double power1, call.number("beta1_power"));
  MSDUMP_TRY(const double power2, call.number("beta2_power"));
  s.correction = std::sqrt(1 - power2) / (1 - power1);
  s.nesterov = call.flag_or("use_nesterov", false);
  return adam_step(call, s);
}

Maybe<Outputs> adam_weight_decay(const Call& call) {
  MSDUMP_TRY(AdamSettings s, adam_settings(call));
  MSDUMP_TRY(s.decay, call.number("decay"));
  return adam_step(call, s);
}

constexpr Kernel kOptimizersKernels[] = {
    {"assign", Arithmetic::kExact, 0, assign, by_element},
    {"assign_add", Arithmetic::kOptimizer, 4, assign_add<1>, by_element},
    {"assign_sub", Arithmetic::kOptimizer, 4, assign_add<-1>, by_element},
    {"momentum", Arithmetic::kOptimizer, 4, momentum, by_element},
    {"sgd", Arithmetic::kOptimizer, 4, sgd, by_element},
    {"adam", Arithmetic::kOptimizer, 4, adam, by_element},
    {"adam_weight_decay", Arithmetic::kOptimizer, 4, adam_weight_decay, by_element},
};

}  // namespace

std::span<const Kernel> optimizer_kernels() { return kOptimizersKernels; }

}  // namespace msdump::recompute
