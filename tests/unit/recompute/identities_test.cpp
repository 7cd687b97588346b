// What statistics of inputs say about those of an output.
#include "recompute/identities.h"

#include <map>

#include "support/catch.h"

namespace msdump::recompute {
namespace {

const Shape kShape = {2, 5};

TensorStatistics numbers(double max, double min, double mean, double norm, double elements = 10) {
  return {DType::kFloat32, max, min, mean, norm, elements, &kShape};
}

class Operator {
 public:
  explicit Operator(std::string_view type) { question_.row = find_row(Framework::kMindSpore, type); }

  Operator&& with(std::string_view name, const TensorStatistics& statistics) && {
    Operand operand;
    operand.name = name;
    operand.tensor = add(statistics);
    question_.operands.push_back(std::move(operand));
    return std::move(*this);
  }
  Operator&& with_number(std::string_view name, double value) && {
    Operand operand;
    operand.name = name;
    operand.value.numbers = {value};
    question_.operands.push_back(std::move(operand));
    return std::move(*this);
  }
  // The statistic that is broken, "" if one holds, "none" if there is no identity.
  [[nodiscard]] std::string gives(const TensorStatistics& statistics) && {
    question_.outputs.push_back({add(statistics), std::string(question_.row->outputs.front()), nullptr});
    const auto worst = worst_identity(question_, [&](TensorId tensor) -> std::optional<TensorStatistics> {
      const auto found = tensors_.find(tensor);
      return found == tensors_.end() ? std::nullopt : std::optional(found->second);
    });
    if (!worst) return "none";
    return worst->is_broken() ? std::string(worst->statistic) : "";
  }

 private:
  TensorId add(const TensorStatistics& statistics) {
    const TensorId tensor(static_cast<uint32_t>(tensors_.size()));
    tensors_[tensor] = statistics;
    return tensor;
  }

  Question question_;
  std::map<TensorId, TensorStatistics> tensors_;
};

const TensorStatistics kX = numbers(3, -2, 0.5, 5);

}  // namespace

TEST_CASE("a copy keeps all four numbers") {
  CHECK(Operator("Reshape").with("x", kX).gives(kX).empty());
  CHECK(Operator("Reshape").with("x", kX).gives(numbers(3.00001, -2, 0.5, 5)).empty());  // the sixth digit
  CHECK(Operator("Reshape").with("x", kX).gives(numbers(3.001, -2, 0.5, 5)) == "max");
  CHECK(Operator("Cast").with("x", kX).gives(numbers(3, -2, 0.51, 5)) == "mean");
  CHECK(Operator("Transpose").with("x", kX).gives(numbers(3, -2, 0.5, 5.01)) == "norm");
  CHECK(Operator("Neg").with("x", kX).gives(numbers(2, -3, -0.5, 5)).empty());
  CHECK(Operator("Neg").with("x", kX).gives(kX) != "");
}

TEST_CASE("monotone maps keep the largest and smallest") {
  const TensorStatistics positive = numbers(4, 1, 2, 7);
  CHECK(Operator("ReLU").with("x", kX).gives(numbers(3, 0, 1, 4)).empty());
  CHECK(Operator("ReLU").with("x", kX).gives(numbers(3, -2, 1, 4)) == "min");
  CHECK(Operator("Sqrt").with("x", positive).gives(numbers(2, 1, 1.4, 4.5)).empty());
  CHECK(Operator("Rsqrt").with("x", positive).gives(numbers(1, 0.5, 0.7, 2.3)).empty());
  CHECK(Operator("Rsqrt").with("x", positive).gives(numbers(1.01, 0.5, 0.7, 2.3)) == "max");
  CHECK(Operator("Rsqrt").with("x", kX).gives(numbers(1, 0.5, 0.7, 2.3)) == "none");  // not of negative numbers
}

TEST_CASE("sums, means and scales") {
  const TensorStatistics scalar = numbers(2, 2, 2, 2, 1);
  CHECK(Operator("Add").with("a", kX).with("b", kX).gives(numbers(6, -4, 1, 9)).empty());
  CHECK(Operator("Add").with("a", kX).with("b", kX).gives(numbers(6, -4, 1.01, 9)) == "mean");
  CHECK(Operator("Sub").with("a", kX).with("b", scalar).gives(numbers(1, -4, -1.5, 7)).empty());
  CHECK(Operator("Mul").with("a", kX).with("b", scalar).gives(numbers(6, -4, 1, 10)).empty());
  CHECK(Operator("Mul").with("a", kX).with("b", scalar).gives(numbers(6, -4, 1, 10.1)) == "norm");
  CHECK(Operator("Mul").with("a", kX).with_number("b", -2).gives(numbers(4, -6, -1, 10)).empty());
  CHECK(Operator("Mul").with("a", kX).with("b", kX).gives(numbers(6, -4, 9, 10)) == "none");
  CHECK(Operator("ReduceMean").with("x", kX).gives(numbers(1, 0, 0.5, 1, 2)).empty());
  CHECK(Operator("ReduceSum").with("x", kX).gives(numbers(4, 1, 2.5, 4, 2)).empty());
  CHECK(Operator("ReduceSum").with("x", kX).gives(numbers(4, 1, 2.6, 4, 2)) == "mean");
  CHECK(Operator("Concat").with("x", kX).with("x", scalar).gives(numbers(3, -2, 7.0 / 11, 6, 11)).empty());
  CHECK(Operator("Concat").with("x", kX).with("x", scalar).gives(numbers(3, -1, 7.0 / 11, 6, 11)) == "min");
  CHECK(Operator("Softmax").with("x", kX).with_number("axis", -1).gives(numbers(0.4, 0.1, 0.2, 1)).empty());
  CHECK(Operator("Softmax").with("x", kX).with_number("axis", -1).gives(numbers(0.4, 0.1, 0.3, 1)) == "mean");
}

TEST_CASE("what many operators of a kernel break is how the device computes") {
  std::vector<Identity> identities;
  const auto add = [&](std::string_view kernel, double units) {
    Identity one;
    one.kernel = kernel;
    one.units = units;
    identities.push_back(one);
  };
  for (int i = 0; i < 10; ++i) add("rsqrt", 100);
  for (int i = 0; i < 9; ++i) add("relu", 0.1);
  add("relu", 50);
  add("softmax", 20);
  add("softmax", 0.5);
  const std::vector<Identity> alone = broken_alone(identities);
  REQUIRE(alone.size() == 2);
  CHECK(alone[0].kernel == "relu");
  CHECK(alone[1].kernel == "softmax");
}

}  // namespace msdump::recompute
