#include "recompute/region.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "io/worker_pool.h"
#include "recompute/judge.h"
#include "recompute/recompute.h"
#include "support/catch.h"

namespace msdump::recompute {
namespace {

Array normal(Shape shape, uint32_t seed, double scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> distribution(0, scale);
  Array array = make_array(std::move(shape));
  for (double& value : array.values) value = distribution(random);
  return array;
}

Array stored(Array array) {
  for (double& value : array.values) value = static_cast<double>(static_cast<float>(value));
  array.dtype = DType::kFloat32;
  find_effective_format(array);
  return array;
}

Value given(Tensor tensor) {
  Value value;
  value.tensor = std::move(tensor);
  return value;
}

Value number(double value) {
  Value result;
  result.numbers = {value};
  return result;
}

// A question with operands that read(TensorId) knows.
Question question(std::string_view type, const std::vector<std::pair<std::string, uint32_t>>& operands,
                  uint32_t output) {
  Question result;
  result.row = find_row(Framework::kMindSpore, type);
  REQUIRE(result.row != nullptr);
  result.type = result.row->type;
  for (const auto& [name, tensor] : operands) {
    Operand operand;
    operand.name = name;
    operand.tensor = TensorId(tensor);
    result.operands.push_back(operand);
  }
  result.outputs.push_back({TensorId(output), "y", nullptr});
  return result;
}

// a (4 x 64) b (64 x 8), and a bias of 8, as one operator.
struct FusedProduct {
  std::vector<Array> files;
  Question asked;

  explicit FusedProduct(double factor = 1) {
    const Array a = stored(normal({4, 64}, 1)), b = stored(normal({64, 8}, 2)), bias = stored(normal({8}, 3));
    Array y = make_array({4, 8});
    for (size_t i = 0; i < 4; ++i) {
      for (size_t j = 0; j < 8; ++j) {
        float sum = 0;  // as a device adds up, in float32
        for (size_t k = 0; k < 64; ++k)
          sum += static_cast<float>(a.values[i * 64 + k]) * static_cast<float>(b.values[k * 8 + j]);
        y.values[i * 8 + j] = factor * static_cast<double>(sum) + bias.values[j];
      }
    }
    files = {a, b, bias, stored(std::move(y))};
    Question product = question("MatMul", {{"a", 0}, {"b", 1}}, 0);
    product.outputs.front().tensor = {};
    asked = question("BiasAdd", {{"b", 2}}, 3);
    Operand inner;
    inner.name = "a";
    inner.member = 0;
    inner.output = "y";
    asked.operands.push_back(inner);
    asked.members.push_back(product);
  }

  [[nodiscard]] OperatorJudgement judged(const RecomputeOptions& options = {}) const {
    WorkerPool pool(1);
    const CancelToken cancel;
    const auto judgements = judge_questions(
        1, [&](size_t) { return asked; }, [&](TensorId tensor, const Shape*) -> Maybe<Array> { return files[tensor]; },
        options, RunContext{pool, cancel});
    REQUIRE(judgements);
    return judgements->front();
  }
};

}  // namespace

TEST_CASE("a region is computed from what enters it") {
  const OperatorJudgement right = FusedProduct().judged();
  REQUIRE(right.is_right());
  CHECK(right.kernel.name == "region");
  CHECK(right.outputs.front().judgement.units < 1);
  // A lone product beyond float32 passes for one of tensor cores: the fault is beyond these as well.
  CHECK(FusedProduct(3).judged().is_wrong());
}

TEST_CASE("what is computed in full is handed on, of a region as well, with what is not known") {
  FusedProduct product(3);
  std::vector<Array> expected;
  RecomputeOptions options;
  options.golden = [&](const ComputedOutput& output) {
    CHECK(output.tensor == TensorId(3));
    CHECK(output.written.shape == Shape{4, 8});
    CHECK_FALSE(output.incomplete);
    expected.push_back(output.expected);
  };
  CHECK(product.judged(options).is_wrong());
  REQUIRE(expected.size() == 1);
  product.files[3] = stored(expected.front());
  CHECK(product.judged().is_right());
  // An operand of the first member has half of its elements.
  product.files[0].known = 128;
  size_t incomplete = 0;
  options.golden = [&](const ComputedOutput& output) { incomplete += output.incomplete ? 1U : 0U; };
  (void)product.judged(options);
  CHECK(incomplete == 1);
}

namespace {

// "right", "wrong" or the reason, of operators that are off by these relative errors, of types of their own, on the same input.
std::vector<std::string> judged_alike(const std::vector<double>& errors) {
  struct Function {
    std::string_view type;
    double (*of)(double);
  };
  constexpr std::array<Function, 6> kFunctions = {{{"Exp", std::exp},
                                                   {"Tanh", std::tanh},
                                                   {"Sqrt", std::sqrt},
                                                   {"Log", std::log},
                                                   {"Erf", std::erf},
                                                   {"Square", [](double x) { return x * x; }}}};
  Array x = make_array({2, 500});
  for (size_t i = 0; i < x.values.size(); ++i) x.values[i] = 1.5 + 0.001 * static_cast<double>(i);
  std::vector<Array> files = {stored(x)};
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (size_t i = 0; i < errors.size(); ++i) {
    Array y = files[0];
    for (double& value : y.values) value = kFunctions[i].of(value) * (1 + errors[i] * normal(random));
    files.push_back(stored(std::move(y)));
  }
  WorkerPool pool(1);
  const CancelToken cancel;
  const auto judgements = judge_questions(
      errors.size(),
      [&](size_t i) {
        return question(kFunctions[i].type, {{"x", 0}}, static_cast<uint32_t>(i + 1));
      },
      [&](TensorId tensor, const Shape*) -> Maybe<Array> { return files[tensor]; }, {}, RunContext{pool, cancel});
  REQUIRE(judgements);
  std::vector<std::string> texts;
  for (const OperatorJudgement& judgement : *judgements)
    texts.emplace_back(judgement.is_right() ? "right" : judgement.is_wrong() ? "wrong" : name_of(judgement.why.reason));
  return texts;
}

}  // namespace

TEST_CASE("where most types are off by as much, that is how the device computes, and only larger errors are wrong") {
  using Texts = std::vector<std::string>;
  CHECK(judged_alike({0, 0, 0, 0, 0, 0}) == Texts(6, "right"));
  CHECK(judged_alike({1e-2, 1e-2, 1e-2, 1e-2, 1e-2, 1e-2}) == Texts(6, "noise"));
  CHECK(judged_alike({1e-2, 1e-2, 1e-2, 1e-2, 1e-2, 1}) == Texts{"noise", "noise", "noise", "noise", "noise", "wrong"});
  CHECK(judged_alike({1e-2, 1e-2, 0, 0, 0, 0}) == Texts{"wrong", "wrong", "right", "right", "right", "right"});
  CHECK(judged_alike({1e-2, 1e-2, 1e-2}) == Texts(3, "wrong"));  // too few to tell
}

TEST_CASE("large operators are computed in full one at a time") {
  const Array x = stored(normal({2, 1000}, 5));
  const Question asked = question("Neg", {{"x", 0}}, 0);
  WorkerPool pool(4);
  const CancelToken cancel;
  std::atomic<int> now = 0, most = 0;
  RecomputeOptions options;
  options.golden = [&](const ComputedOutput&) {
    most = std::max<int>(most, ++now);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    --now;
  };
  options.large_elements = 1000;
  const auto open = [&](TensorId, const Shape*) -> Maybe<Array> { return x; };
  const RunContext context{pool, cancel};
  REQUIRE(judge_questions(
      8, [&](size_t) { return asked; }, open, options, context));
  CHECK(most == 1);
}

TEST_CASE("what is too large to be computed in full is judged in parts and not handed on") {
  FusedProduct product;
  const Array x = stored(normal({2, kBlockElements}, 5));
  product.files = {x, x, stored(map(x, [](double value) { return 2 * value; }))};
  product.asked = question("Add", {{"a", 0}, {"b", 1}}, 2);
  RecomputeOptions options;
  size_t handed_on = 0;
  options.golden = [&](const ComputedOutput&) { ++handed_on; };
  CHECK(product.judged(options).is_right());
  CHECK(handed_on == 1);
  options.most_elements = kBlockElements;
  const OperatorJudgement judgement = product.judged(options);
  CHECK(judgement.is_right());
  CHECK(handed_on == 1);
  product.files[2].values[70000] += 1;
  CHECK(product.judged(options).is_wrong());
}

TEST_CASE("a member that is not asked leaves its region without judgement") {
  FusedProduct product;
  product.asked.members.front().row = nullptr;
  product.asked.members.front().why = {Reason::kNoKernel, "MatMul"};
  const OperatorJudgement judgement = product.judged();
  CHECK(judgement.outputs.empty());
  CHECK(judgement.row == nullptr);
  CHECK(judgement.why.reason == Reason::kNoKernel);
  FusedProduct other;
  other.asked.operands.back().output = "no such output";
  CHECK(other.judged().why.reason == Reason::kRegion);
}

TEST_CASE("what rounding did to an inner value is carried on") {
  // y = 1000 (x - 1) with x rounded to 2^-11: the error of y is 1000 times larger than its own rounding.
  Array x = make_array({100}), y = make_array({100});
  std::mt19937 random(5);
  for (size_t i = 0; i < 100; ++i) {
    x.values[i] = 1 + static_cast<double>(random() % 1000) * 1e-6;
    y.values[i] = std::nearbyint((x.values[i] - 1) * 1000 * 2048) / 2048 + 0.25;
  }
  Output inner{"y", {}};
  inner.answers.push_back({x, {}, 0, {}});
  const auto value = inner_value(inner);
  REQUIRE(value);
  CHECK(value->error[0] == 1.5 * x.values[0]);
  Call call;
  call.set("a", given(value->y));
  call.set("b", number(1000));
  const InnerOperand operand{"a", 0, &*value};
  const auto outputs = compute_with(*find_kernel("mul"), call, std::span(&operand, 1));
  REQUIRE(outputs);
  const Answer& answer = outputs->front().answers.front();
  for (size_t i = 0; i < 100; ++i) CHECK_THAT(answer.terms[i], Catch::Matchers::WithinRel(2500 * x.values[i], 1e-6));
  CHECK(compute_with(*find_kernel("mul"), call, {})->front().answers.front().terms.empty());

  // Below 0 by less than it may be off: the activation may be above.
  InnerValue below{share(make_array({2}, -0.01)), {1, 0.001}, 0};
  Call activation;
  activation.set("x", given(below.y));
  const InnerOperand x_of{"x", 0, &below};
  const auto activated = compute_with(*find_kernel("relu"), activation, std::span(&x_of, 1));
  REQUIRE(activated);
  CHECK(activated->front().answers.front().terms[0] > 0.5);
  CHECK(activated->front().answers.front().terms[1] == 0);
}

TEST_CASE("an inner value with several answers is not known") {
  Output inner{"y", {}};
  inner.answers.resize(2);
  REQUIRE_FALSE(inner_value(inner));
  CHECK(inner_value(inner).error().reason == Reason::kRegion);
}

TEST_CASE("every member of a region may round, and products decide how coarse") {
  const std::vector<const Kernel*> members = {find_kernel("matmul"), find_kernel("bias_add"), find_kernel("relu")};
  const Kernel kernel = kernel_of_region(members);
  CHECK(kernel.arithmetic == Arithmetic::kProduct);
  CHECK(kernel.limit >= 8);
  CHECK(kernel_of_region(std::span(members).first(1)).limit == 4);
  CHECK(kernel_of_region(std::vector{find_kernel("mul"), find_kernel("softmax")}).arithmetic ==
        Arithmetic::kNormalisation);
}

TEST_CASE("a batch normalisation folds into the filter and bias before it") {
  const Array filter = normal({3, 2, 1, 1}, 7);
  const std::vector<double> gamma = {1, 2, -1}, beta = {0.5, 0, 1}, mean = {0.1, -1, 2}, variance = {1, 4, 0.25};
  const auto of = [](const std::vector<double>& values) {
    Array array = make_array({static_cast<int64_t>(values.size())});
    array.values = values;
    return given(share(std::move(array)));
  };
  Call call;
  call.set("gamma", of(gamma));
  call.set("beta", of(beta));
  call.set("mean", of(mean));
  call.set("variance", of(variance));
  call.set("epsilon", number(0));
  call.set("is_training", number(0));
  const auto folded = fold(filter, nullptr, call);
  REQUIRE(folded);
  CHECK(folded->bias.answers.front().y.values == std::vector<double>{0.5 - 0.1, 1, 1 + 4});
  CHECK(folded->filter.answers.front().y.values[5] == -2 * filter.values[5]);

  const auto with_bias = fold(filter, share(normal({3}, 8)), call);
  CHECK(with_bias->bias.answers.front().y.values[1] == 1 + normal({3}, 8).values[1]);

  // What was folded with another epsilon is something else; what was rounded to float32 is not.
  const OperandFormats formats = {DType::kFloat32, DType::kFloat32};
  const Array right = stored(folded->filter.answers.front().y);
  CHECK(judge(right, fold_kernel(), folded->filter, formats, {}).is_right());
  call.set("epsilon", number(1e-3));
  CHECK(judge(right, fold_kernel(), fold(filter, nullptr, call)->filter, formats, {}).is_wrong());

  // A depthwise filter of MindSpore has its channels second.
  CHECK(fold(normal({1, 3, 2, 2}, 9), nullptr, call));
  CHECK(fold(normal({4, 2, 1, 1}, 9), nullptr, call).error().reason == Reason::kShape);
  call.set("is_training", number(1));
  CHECK(fold(filter, nullptr, call).error().reason == Reason::kRegion);
}

TEST_CASE("the parts of a device's batch normalisation are its sums, and what these lead to") {
  Array x = make_array({2, 2, 1, 2});
  x.values = {1, 2, 3, 4, 5, 6, 7, 8};
  Call call;
  call.set("x", given(share(x)));
  const auto reduced = find_kernel("bn_reduce")->compute(call);
  REQUIRE(reduced);
  CHECK(reduced->at(0).answers.front().y.values == std::vector<double>{14, 22});
  CHECK(reduced->at(1).answers.front().y.values == std::vector<double>{66, 138});
  const auto of = [](const Array& array) { return given(share(array)); };
  Array ones = make_array({2}, 1), zeros = make_array({2});
  call.set("sum", of(reduced->at(0).answers.front().y));
  call.set("square_sum", of(reduced->at(1).answers.front().y));
  call.set("gamma", of(ones));
  call.set("beta", of(zeros));
  call.set("epsilon", number(0.75));
  const auto updated = find_kernel("bn_update")->compute(call);
  REQUIRE(updated);
  CHECK(updated->at(1).answers.front().y.values == std::vector<double>{3.5, 5.5});
  CHECK(updated->at(2).answers.front().y.values == std::vector<double>{4.25, 4.25});
  CHECK_THAT(updated->at(0).answers[0].y.values[0], Catch::Matchers::WithinAbs(-2.5 / std::sqrt(5.0), 1e-12));
  CHECK(updated->at(0).answers[1].y.values[0] == 0);  // with its activation

  Array dy = make_array({2, 2, 1, 2}, 1);
  Array dbeta = make_array({2}, 4);
  call.set("dy", of(dy));
  call.set("dgamma", of(zeros));
  call.set("dbeta", of(dbeta));
  call.set("mean", of(updated->at(1).answers.front().y));
  call.set("variance", of(updated->at(2).answers.front().y));
  const auto gradient = find_kernel("bn_reduce_grad")->compute(call);
  REQUIRE(gradient);
  CHECK(gradient->at(0).answers.front().y.values == std::vector<double>(8, 0));  // a constant moves nothing
  call.set("dgamma", of(ones));
  CHECK_FALSE(find_kernel("bn_reduce_grad")->compute(call)->at(0).answers.front().y.values[0] == 0);
}

}  // namespace msdump::recompute
