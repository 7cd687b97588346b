// Mistakes that are planted in outputs of recorded runs, kind by kind: how many are named rightly, as something else, or not at
// all. Only right outputs of right dumps are used, and only what differs from them.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include <fmt/format.h>

#include "check/checked_dump.h"
#include "recompute/recompute.h"
#include "support/catch.h"
#include "support/graph_run.h"
#include "support/paths.h"

namespace msdump::recompute {
namespace {

namespace fs = std::filesystem;
using namespace msdump::test;

// An output of a right operator, with all that a mistake needs.
struct Subject {
  const Kernel& kernel;
  const Call& call;
  const Output& output;
  const Array& y;            // of the file
  std::string_view variant;  // of the answer that fits it
  std::mt19937& random;

  [[nodiscard]] std::optional<Array> computed(const Call& other, const Kernel& by) const {
    const Maybe<Outputs> outputs = by.compute(other);
    if (!outputs) return std::nullopt;
    for (const Output& one : *outputs) {
      for (const Answer& answer : one.answers) {
        if (one.name == output.name && answer.variant == variant && answer.y.size() == y.size())
          return with_shape(answer.y, y.shape);
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Array> with(const std::string& name, Value value) const {
    Call other = call;
    other.set(name, std::move(value));
    return computed(other, kernel);
  }
  // With one tensor operand changed.
  template <class Change>
  [[nodiscard]] std::optional<Array> with_operand(const std::string& name, const Change& change) const {
    const auto found = call.values().find(name);
    if (found == call.values().end() || found->second.size() != 1 || !found->second.front().tensor) return std::nullopt;
    Array array = *found->second.front().tensor;
    if (!change(array)) return std::nullopt;
    Value value = found->second.front();
    value.tensor = share(std::move(array));
    return with(name, std::move(value));
  }
};

double coarse(double x, int bits) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits + 1)), exponent - bits - 1);
}

using Planted = std::optional<Array>;
struct Kind {
  const char* name;
  std::set<Mistake> right;  // several names of one mistake
  Planted (*plant)(const Subject& subject);
};

Planted rolled(const Subject& s) {
  if (s.y.rank() == 0 || s.y.shape.back() < 2) return std::nullopt;
  Array y = s.y;
  for (auto row = y.values.begin(); row != y.values.end(); row += y.shape.back())
    std::rotate(row, row + 1, row + y.shape.back());
  return y;
}

Planted axes_exchanged(const Subject& s) {
  const size_t rank = s.y.rank();
  if (rank < 2 || s.y.shape[rank - 1] < 2 || s.y.shape[rank - 2] < 2) return std::nullopt;
  std::vector<int64_t> permutation(rank);
  for (size_t i = 0; i < rank; ++i) permutation[i] = static_cast<int64_t>(i);
  std::swap(permutation[rank - 1], permutation[rank - 2]);
  return with_shape(*transpose(s.y, permutation), s.y.shape);
}

Planted tail(const Subject& s) {
  if (s.y.size() < 64) return std::nullopt;
  Array y = s.y;
  std::fill(y.values.begin() + y.size() - y.size() / 8, y.values.end(), 0);
  return y;
}

Planted factor(const Subject& s) {
  return map(s.y, [](double x) { return 1.03 * x; });
}

Planted transposed(const Subject& s) {
  if (s.kernel.name != "matmul") return std::nullopt;
  return s.with_operand("b", [](Array& b) {
    if (b.rank() < 2) return false;
    std::vector<int64_t> permutation(b.rank());
    for (size_t i = 0; i < b.rank(); ++i) permutation[i] = static_cast<int64_t>(i);
    std::swap(permutation[b.rank() - 1], permutation[b.rank() - 2]);
    b = with_shape(*transpose(b, permutation), b.shape);
    return true;
  });
}

Planted other_axis(const Subject& s) {
  const auto asked = s.call.integers_if("axis");
  if (!asked || asked->size() != 1) return std::nullopt;
  Value value = s.call.values().find("axis")->second.front();
  value.tensor = nullptr;
  value.numbers = {static_cast<double>(asked->front() == 0 ? 1 : 0)};
  return s.with("axis", std::move(value));
}

Planted bias_twice(const Subject& s) {
  if (s.kernel.name != "bias_add") return std::nullopt;
  return s.with_operand("b", [](Array& b) {
    for (double& x : b.values) x *= 2;
    return true;
  });
}

Planted no_bias(const Subject& s) {
  if (s.kernel.name != "bias_add") return std::nullopt;
  return with_shape(**s.call.tensor("a"), s.y.shape);
}

Planted other_epsilon(const Subject& s) {
  const auto epsilon = s.call.number("epsilon");
  if (!epsilon) return std::nullopt;
  Value value;
  value.numbers = {30 * *epsilon};
  return s.with("epsilon", std::move(value));
}

template <int kBits>
Planted low_precision(const Subject& s) {
  if (s.kernel.arithmetic != Arithmetic::kProduct) return std::nullopt;
  Call call = s.call;
  for (auto& [name, values] : call.values()) {
    for (Value& value : values) {
      if (value.tensor && kind_of(value.tensor->dtype) == DTypeKind::kFloat) {
        Array array = map(*value.tensor, [](double x) { return coarse(x, kBits); });
        array.dtype = value.tensor->dtype;
        array.effective = value.tensor->effective;
        value.tensor = share(std::move(array));
      }
    }
  }
  return s.computed(call, s.kernel);
}

Planted other_constant(const Subject& s) {
  for (const auto& [name, values] : s.call.values()) {
    const auto number = s.call.number(name);
    if (!number || *number == std::floor(*number) || name == "epsilon") continue;
    Value value;
    value.numbers = {*number * 1.25};
    if (auto y = s.with(name, std::move(value))) return y;
  }
  return std::nullopt;
}

Planted handed_on(const Subject& s) {
  if (s.kernel.arithmetic == Arithmetic::kExact) return std::nullopt;
  for (const std::string_view name : {"a", "x"}) {
    if (const auto tensor = s.call.tensor(name); tensor && (*tensor)->size() == s.y.size() && s.y.size() > 1)
      return with_shape(**tensor, s.y.shape);
  }
  return std::nullopt;
}

Planted other_activation(const Subject& s) {
  static constexpr std::string_view kNames[] = {"relu", "sigmoid", "tanh", "silu", "gelu"};
  const auto own = std::find(std::begin(kNames), std::end(kNames), s.kernel.name);
  if (own == std::end(kNames)) return std::nullopt;
  return s.computed(s.call, *find_kernel(kNames[(own - kNames + 1) % 5]));
}

Planted exchanged(const Subject& s) {
  if (s.kernel.name != "sub" && s.kernel.name != "div") return std::nullopt;
  const auto a = s.call.tensor("a"), b = s.call.tensor("b");
  if (!a || !b || (*a)->size() != (*b)->size()) return std::nullopt;
  Call call = s.call;
  call.set("a", s.call.values().find("b")->second.front());
  call.set("b", s.call.values().find("a")->second.front());
  return s.computed(call, s.kernel);
}

Planted one_element(const Subject& s) {
  Array y = s.y;
  double& x = y.values[s.random() % y.values.size()];
  x = s.random() % 2 == 0 ? -x - 0.5 : 2 * x + 1;
  return y;
}

const std::vector<Kind>& kinds() {
  using M = Mistake;
  static const std::vector<Kind> kAll = {
      {"output rolled by one", {M::kRolled, M::kReversed, M::kSwapped}, rolled},
      {"axes exchanged", {M::kSwapped, M::kTransposed, M::kArgument, M::kReversed, M::kRolled}, axes_exchanged},
      {"tail of 1/8 zero", {M::kTail, M::kLastLeftOut}, tail},
      {"factor 1.03", {M::kFactor, M::kConstant, M::kOffset}, factor},
      {"second operand transposed", {M::kTransposed, M::kArgument}, transposed},
      {"other axis", {M::kArgument, M::kTransposed}, other_axis},
      {"bias twice", {M::kTwice}, bias_twice},
      {"no bias", {M::kHandedOn, M::kLeftOut}, no_bias},
      {"other epsilon", {M::kConstant}, other_epsilon},
      {"inputs of 4 bits", {M::kPrecision}, low_precision<4>},
      {"inputs of 10 bits", {M::kPrecision}, low_precision<10>},
      {"other constant", {M::kConstant, M::kFactor, M::kOffset}, other_constant},
      {"input handed on", {M::kHandedOn}, handed_on},
      {"other activation", {M::kOperator, M::kHandedOn}, other_activation},
      {"operands exchanged", {M::kExchanged, M::kNegated, M::kFactor}, exchanged},
      {"one element", {}, one_element},
  };
  return kAll;
}

struct Tally {
  int planted = 0, right = 0, otherwise = 0, nothing = 0;
  std::map<std::string, int> others;
};

// Stores like a file of the same dtype and format.
void store(Array& y, const Array& like) {
  y.dtype = like.dtype;
  for (double& x : y.values) x = static_cast<double>(static_cast<float>(x));
  find_effective_format(y);
}

void plant_all(const fs::path& dump, std::mt19937& random, std::map<std::string, Tally>& tallies) {
  const JoinedDump opened = join_dump(dump);
  const DumpWithGraph with_graph{&opened.dump.index, &opened.dump.tensors(), &opened.graph(), &opened.join()};
  const check::CheckedDump checked(with_graph);
  const Questions questions(with_graph, checked.run_graph(), checked.operators());
  const TensorReader reader(with_graph, checked.operators(), int64_t{1} << 20);
  std::map<std::string_view, int> of_kernel;
  constexpr int kMostOfKernel = 6;  // executions of one kernel in a dump: they are alike
  for (ExecutionId run{0}; run < checked.runs().size(); ++run) {
    const Question question = questions.ask(run);
    if (question.row == nullptr || of_kernel[question.row->kernel->name] >= kMostOfKernel) continue;
    const Maybe<ReadQuestion> read =
        read_question(question, [&](TensorId tensor, const Shape* shape) { return reader.open(tensor, shape); });
    if (!read) continue;
    const ReadQuestion& asked = *read;
    const Kernel& kernel = *question.row->kernel;
    const Maybe<Outputs> computed = kernel.compute(asked.call);
    if (!computed) continue;
    const OperandFormats formats = formats_of(asked.call);
    for (size_t i = 0; i < question.outputs.size(); ++i) {
      const auto output = std::find_if(computed->begin(), computed->end(),
                                       [&](const Output& one) { return one.name == question.outputs[i].name; });
      const Tensor& y = asked.outputs[i];
      if (!y || output == computed->end() || y->dtype != DType::kFloat32 || y->known >= 0 || y->size() < 2) continue;
      const Judgement right = judge(*y, kernel, *output, formats, {});
      if (!right.is_right()) continue;
      ++of_kernel[kernel.name];
      const Subject subject{kernel, asked.call, *output, *y, right.variant, random};
      for (const Kind& kind : kinds()) {
        Planted planted = kind.plant(subject);
        if (!planted) continue;
        store(*planted, *y);
        const Judgement judgement = judge(*planted, kernel, *output, formats, {});
        if (!judgement.is_wrong()) continue;  // a mistake without effect
        const auto found = find_instead({*planted, kernel, asked.call, *output, formats, {}, judgement});
        Tally& tally = tallies[kind.name];
        ++tally.planted;
        if (found.empty()) {
          ++tally.nothing;
          ++tally.others[fmt::format("nothing ({}, {:.2g} units)", kernel.name, judgement.units)];
        } else if (kind.right.count(found.front().what) > 0) {
          ++tally.right;
        } else {
          ++tally.otherwise;
          ++tally.others[fmt::format("{} {} ({})", name_of(found.front().what), found.front().value, kernel.name)];
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("mistakes that are planted in recorded outputs are named") {
  const auto corpus = corpus_or_skip("real");
  if (!corpus) return;
  std::map<std::string, Tally> tallies;
  std::mt19937 random(1);
  for (const fs::directory_entry& entry : fs::directory_iterator(*corpus)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("2.") && fs::is_directory(entry.path() / "dump"))
      plant_all(entry.path() / "dump", random, tallies);
  }
  int planted = 0, right = 0;
  for (const Kind& kind : kinds()) {
    const Tally& tally = tallies[kind.name];
    std::cout << fmt::format("{:28} {:6} planted {:6} right {:6} otherwise {:6} nothing\n", kind.name, tally.planted,
                             tally.right, tally.otherwise, tally.nothing);
    std::vector<std::pair<int, std::string>> others;
    for (const auto& [other, count] : tally.others) others.emplace_back(count, other);
    std::sort(others.rbegin(), others.rend());
    for (size_t i = 0; i < std::min<size_t>(others.size(), 3); ++i)
      std::cout << fmt::format("    {} x {}\n", others[i].first, others[i].second);
    if (kind.right.empty()) {
      CHECK(tally.nothing == tally.planted);
    } else {
      planted += tally.planted;
      right += tally.right;
    }
  }
  CHECK(planted >= 1000);
  CHECK(10 * right >= 9 * planted);
}

}  // namespace msdump::recompute
