#include "check/nonfinite/nonfinite.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace msdump::check {
namespace {

// Types in the form in which they are compared: lower case, without '_' and the mark of an in-place call.
std::string plain_type(std::string_view op_type) {
  std::string plain = to_lower(op_type);
  std::erase(plain, '_');
  return plain;
}

// Operators that write values they were given, or move them about: by how their types begin, and whole.
constexpr std::array<std::string_view, 12> kPuttingFamilies = {"maskedfill", "maskedscatter", "select", "where",
                                                               "fill",       "setitem",       "tril",   "triu",
                                                               "expand",     "pad",           "slice",  "broadcastto"};
constexpr std::array<std::string_view, 13> kPutting = {"full",     "fulllike", "tile",          "cat",
                                                       "concat",   "stack",    "gather",        "tensor",
                                                       "reshape",  "scatter",  "scatterupdate", "tensorscatterupdate",
                                                       "scatternd"};
// A number below this is a literal, not a result: -1e9, the smallest float32.
constexpr double kMaskedBelow = -1e8;
// Operators that make an infinity of a number, if only at 0.
constexpr std::array<std::string_view, 9> kDiverging = {"log", "div",        "truediv",  "reciprocal", "rsqrt",
                                                        "pow", "logsigmoid", "floordiv", "log1p"};

bool begins_with_any(std::string_view plain, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return plain.starts_with(word); });
}

bool converts(std::string_view op_type) {
  const std::string plain = plain_type(op_type);
  return plain == "cast" || plain == "to" || plain == "half" || plain == "type";
}

bool diverges(std::string_view op_type) {
  const std::string plain = plain_type(op_type);
  if (plain.starts_with("logical") || plain.starts_with("logsoftmax")) return false;
  return begins_with_any(plain, kDiverging) || plain == "realdiv" || plain == "divnonan";
}

// Sums: an infinity comes out for each that went in (as often as broadcasting repeats it), or is new.
bool adds(std::string_view op_type) {
  static constexpr std::array<std::string_view, 9> kSums = {"add",  "addv2", "addn", "biasadd", "tensoradd",
                                                            "iadd", "radd",  "sub",  "isub"};
  return std::find(kSums.begin(), kSums.end(), plain_type(op_type)) != kSums.end();
}

}  // namespace

bool is_two_valued(const TensorFacts& facts) {
  if (facts.from == TensorFacts::From::kElements) return facts.constant() == true;
  return facts.max == 0.0 || (facts.min && facts.min == facts.max);
}

bool puts_given_values(std::string_view op_type) {
  const std::string plain = plain_type(op_type);
  return begins_with_any(plain, kPuttingFamilies) ||
         std::find(kPutting.begin(), kPutting.end(), plain) != kPutting.end();
}

std::vector<uint32_t> HealthJudge::inputs_of(uint32_t run) const {
  std::vector<uint32_t> tensors;
  for (const RunInput& input : dump_.runs()[run].inputs) {
    if (tensor_of(input) != kNone) tensors.push_back(tensor_of(input));
  }
  return tensors;
}

bool HealthJudge::needs_inputs(uint32_t tensor) const {
  const TensorFacts& facts = facts_[tensor];
  return facts.has_negative_inf && !facts.has_nan && !facts.has_positive_inf;
}

Health HealthJudge::of(uint32_t tensor) const {
  const TensorFacts& facts = facts_[tensor];
  if (!facts.known()) return Health::kUnknown;
  if (facts.is_finite()) return Health::kFinite;
  if (facts.has_nan || facts.has_positive_inf) return Health::kBad;
  const TensorRole role = dump_.role(tensor);
  if (role == TensorRole::kParameter) return is_two_valued(facts_[tensor]) ? Health::kMasked : Health::kBad;
  if (role == TensorRole::kUpdated) return Health::kBad;
  const uint32_t run = dump_.run_of(tensor);
  return role != TensorRole::kOutput || run == kNone ? Health::kMasked : of_negative_infinity(tensor, run);
}

bool HealthJudge::has_finite_outputs(uint32_t run) const {
  const std::vector<uint32_t>& outputs = dump_.runs()[run].outputs;
  return !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), [&](uint32_t output) {
    return facts_[output].known() && facts_[output].is_finite();
  });
}

bool HealthJudge::does_no_harm(uint32_t tensor) const {
  if (facts_[tensor].has_nan) return false;
  if (dump_.role(tensor) == TensorRole::kParameter) {
    // Constants are written once, for all steps.
    if (!dump_.identity(tensor).step) return !dump_.runs().empty();
    const std::vector<uint32_t>& readers = dump_.readers_of_parameter(tensor);
    return !readers.empty() &&
           std::all_of(readers.begin(), readers.end(), [&](uint32_t run) { return has_finite_outputs(run); });
  }
  const uint32_t run = dump_.run_of(tensor);
  if (dump_.role(tensor) != TensorRole::kInput || run == kNone || !has_finite_outputs(run)) return false;
  const std::vector<RunInput>& inputs = dump_.runs()[run].inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](const RunInput& input) {
    return input.tensor == tensor &&
           (input.from == InputEdge::From::kConstant || input.from == InputEdge::From::kParameter);
  });
}

Health HealthJudge::of_made(uint32_t tensor, uint32_t run) const {
  const bool only_negative = needs_inputs(tensor) && dump_.role(tensor) == TensorRole::kInput;
  return only_negative ? of_negative_infinity(tensor, run) : of(tensor);
}

bool HealthJudge::has_more_than_its_terms(uint32_t tensor, uint32_t run) const {
  const TensorFacts& made = facts_[tensor];
  const std::vector<uint32_t> terms = inputs_of(run);
  if (!adds(dump_.operators()[dump_.runs()[run].op].type) || terms.size() < 2) return false;
  if (!made.negative_inf || made.elements.value_or(0) == 0) return false;
  uint64_t most = 0;
  for (const uint32_t term : terms) {
    const TensorFacts& facts = facts_[term];
    const uint64_t elements = facts.elements.value_or(0);
    if (!facts.known() || !facts.negative_inf || elements == 0 || *made.elements % elements != 0) return false;
    most += *facts.negative_inf * (*made.elements / elements);
  }
  return *made.negative_inf > most;
}

Health HealthJudge::of_negative_infinity(uint32_t tensor, uint32_t run) const {
  const std::string_view type = dump_.operators()[dump_.runs()[run].op].type;
  const std::vector<uint32_t> inputs = inputs_of(run);
  const auto any = [&](const auto& holds) {
    return std::any_of(inputs.begin(), inputs.end(), [&](uint32_t input) { return holds(facts_[input]); });
  };
  if (has_more_than_its_terms(tensor, run)) return Health::kBad;
  if (any([](const TensorFacts& input) { return input.has_negative_inf; })) return Health::kMasked;
  if (puts_given_values(type)) return Health::kMasked;
  if (converts(type)) {
    const bool of_mask = any([](const TensorFacts& input) { return input.min && *input.min < kMaskedBelow; });
    const bool zeros_beside = is_two_valued(facts_[tensor]) && facts_[tensor].max.value_or(0) == 0;
    return of_mask || zeros_beside ? Health::kMasked : Health::kBad;
  }
  if (diverges(type)) return Health::kBad;
  return any([](const TensorFacts& input) { return input.known(); }) ? Health::kBad : Health::kMasked;
}

}  // namespace msdump::check
