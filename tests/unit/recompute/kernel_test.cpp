// Each kernel against numbers that were worked out by hand or from the definition.
#include "recompute/kernel.h"

#include <cmath>
#include <initializer_list>

#include "support/catch.h"

namespace msdump::recompute {
namespace {

using Values = std::vector<double>;

Array array(Shape shape, Values values, DType dtype = DType::kFloat32) {
  Array x{std::move(shape), std::move(values), dtype, dtype};
  REQUIRE(size_of(x.shape) == x.size());
  return x;
}

Value tensor(Array x) {
  Value value;
  value.tensor = share(std::move(x));
  return value;
}

Value numbers(Values values, std::string text = {}) {
  Value value;
  value.numbers = std::move(values);
  value.text = std::move(text);
  return value;
}

class Asked {
 public:
  explicit Asked(std::string_view kernel) : kernel_(find_kernel(kernel)) { REQUIRE(kernel_ != nullptr); }

  Asked&& with(std::string name, Shape shape, Values values, DType dtype = DType::kFloat32) && {
    call_.set(std::move(name), tensor(array(std::move(shape), std::move(values), dtype)));
    return std::move(*this);
  }
  Asked&& more(std::string name, Shape shape, Values values) && {
    call_.append(std::move(name), tensor(array(std::move(shape), std::move(values))));
    return std::move(*this);
  }
  Asked&& with(std::string name, Values values) && {
    call_.set(std::move(name), numbers(std::move(values)));
    return std::move(*this);
  }
  Asked&& with_text(std::string name, std::string text) && {
    call_.set(std::move(name), numbers({}, std::move(text)));
    return std::move(*this);
  }
  Asked&& gives(Shape shape, std::string name = "y") && {
    call_.set_output(std::move(name), std::move(shape), DType::kFloat32);
    return std::move(*this);
  }

  [[nodiscard]] Maybe<Outputs> outputs() const { return kernel_->compute(call_); }
  // Of the first answer of an output.
  [[nodiscard]] Values values(std::string_view name = "y") const {
    const Maybe<Outputs> all = outputs();
    REQUIRE(all);
    for (const Output& output : *all) {
      if (output.name == name) return output.answers.front().y.values;
    }
    FAIL("no output " << name);
    return {};
  }
  [[nodiscard]] Reason reason() const {
    const Maybe<Outputs> all = outputs();
    REQUIRE_FALSE(all);
    return all.error().reason;
  }

 private:
  const Kernel* kernel_;
  Call call_;
};

void check_near(const Values& found, const Values& expected) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    INFO(i << ": " << found[i] << " against " << expected[i]);
    CHECK(std::fabs(found[i] - expected[i]) <= 1e-9 * (1 + std::fabs(expected[i])));
  }
}

}  // namespace

TEST_CASE("elementwise kernels") {
  const auto unary = [](std::string_view kernel, double x) {
    return Asked(kernel).with("x", {1}, {x}).values().front();
  };
  CHECK(unary("neg", 2) == -2);
  CHECK(unary("abs", -2) == 2);
  CHECK(unary("square", 3) == 9);
  CHECK(unary("sqrt", 9) == 3);
  CHECK(unary("rsqrt", 4) == 0.5);
  CHECK(unary("reciprocal", 4) == 0.25);
  CHECK(unary("relu", -1) == 0);
  CHECK(unary("relu6", 7) == 6);
  CHECK(unary("hard_swish", 1) == Approx(4.0 / 6));
  CHECK(unary("sigmoid", 0) == 0.5);
  CHECK(unary("sigmoid", -800) == 0);
  CHECK(unary("silu", 0) == 0);
  CHECK(unary("log1p", 0) == 0);
  CHECK(unary("softplus", 0) == Approx(std::log(2.0)));
  CHECK(std::isnan(unary("relu", std::nan(""))));
  const auto binary = [](std::string_view kernel, double a, double b) {
    return Asked(kernel).with("a", {1}, {a}).with("b", {1}, {b}).values().front();
  };
  CHECK(binary("mul", 2, 3) == 6);
  CHECK(binary("sub", 2, 3) == -1);
  CHECK(binary("div", 3, 2) == 1.5);
  CHECK(binary("pow", 2, 3) == 8);
  CHECK(binary("floor_div", -3, 2) == -2);
  CHECK(binary("floor_mod", -3, 2) == 1);
  CHECK(binary("maximum", 2, 3) == 3);
  CHECK(binary("less", 2, 3) == 1);
  CHECK(binary("logical_xor", 1, 1) == 0);
  CHECK(binary("sigmoid_grad", 0.5, 2) == 0.5);
  CHECK(binary("tanh_grad", 0.5, 2) == 1.5);
  CHECK(binary("relu_grad", 5, 2) == 5);
  CHECK(binary("relu_grad", 5, -2) == 0);
  CHECK(binary("rsqrt_grad", 2, 1) == -4);
  CHECK(Asked("add").with("a", {2}, {1, 2}).with("b", {2}, {3, 4}).with("alpha", {2}).values() == Values{7, 10});
  CHECK(Asked("div").with("a", {1}, {-3}).with("b", {1}, {2}).with_text("rounding_mode", "trunc").values() ==
        Values{-1});
  CHECK(Asked("add_n").more("x", {1}, {1}).more("x", {1}, {2}).more("x", {1}, {3}).values() == Values{6});
  CHECK(Asked("bias_add").with("a", {1, 2, 1}, {1, 2}).with("b", {2}, {10, 20}).values() == Values{11, 22});
  CHECK(Asked("clamp").with("x", {3}, {-1, 0.5, 3}).with("min", {0}).with("max", {1}).values() == Values{0, 0.5, 1});
  CHECK(Asked("select").with("condition", {2}, {1, 0}).with("a", {}, {5}).with("b", {2}, {1, 2}).values() ==
        Values{5, 2});
  CHECK(Asked("masked_fill").with("x", {2}, {1, 2}).with("mask", {2}, {0, 1}).with("value", {9}).values() ==
        Values{1, 9});
  CHECK(Asked("lerp").with("x", {1}, {1}).with("a", {1}, {3}).with("b", {0.25}).values() == Values{1.5});
  CHECK(Asked("addcdiv").with("x", {1}, {1}).with("a", {1}, {6}).with("b", {1}, {3}).with("value", {0.5}).values() ==
        Values{2});
  CHECK(Asked("gelu").with("x", {1}, {0}).values() == Values{0});
}

TEST_CASE("moves") {
  const Values six = {0, 1, 2, 3, 4, 5};
  CHECK(Asked("reshape").with("x", {2, 3}, six).gives({3, 2}).values() == six);
  CHECK(Asked("reshape").with("x", {2, 3}, six).gives({4}).reason() == Reason::kShape);
  CHECK(Asked("transpose").with("x", {2, 3}, six).with("perm", {1, 0}).values() == Values{0, 3, 1, 4, 2, 5});
  CHECK(Asked("swap_axes").with("x", {2, 3}, six).with("dim0", {0}).with("dim1", {-1}).values() ==
        Values{0, 3, 1, 4, 2, 5});
  CHECK(Asked("swap_axes").with("x", {2, 3}, six).reason() == Reason::kUnknownArgument);
  CHECK(Asked("concat").more("x", {1, 2}, {1, 2}).more("x", {1, 1}, {3}).with("axis", {1}).values() == Values{1, 2, 3});
  CHECK(Asked("split").with("x", {2, 2}, {1, 2, 3, 4}).with("axis", {1}).with("output_num", {2}).values("y1") ==
        Values{2, 4});
  CHECK(Asked("split_by_size").with("x", {3}, {1, 2, 3}).with("size", {2}).values("y1") == Values{3});
  CHECK(Asked("split_by_size").with("x", {3}, {1, 2, 3}).with("chunks", {2}).values("y0") == Values{1, 2});
  CHECK(Asked("stack").more("x", {2}, {1, 2}).more("x", {2}, {3, 4}).with("axis", {1}).values() == Values{1, 3, 2, 4});
  CHECK(Asked("unstack").with("x", {2, 2}, {1, 2, 3, 4}).with("axis", {0}).values("y1") == Values{3, 4});
  CHECK(Asked("tile").with("x", {2}, {1, 2}).with("multiples", {2, 2}).values() == Values{1, 2, 1, 2, 1, 2, 1, 2});
  CHECK(Asked("broadcast").with("x", {2, 1}, {1, 2}).gives({2, 2}).values() == Values{1, 1, 2, 2});
  CHECK(Asked("slice").with("x", {2, 3}, six).with("begin", {0, 1}).with("size", {2, -1}).values() ==
        Values{1, 2, 4, 5});
  CHECK(Asked("pad").with("x", {2}, {1, 2}).with("paddings", {1, 0}).values() == Values{0, 1, 2});
  CHECK(Asked("flip").with("x", {3}, {1, 2, 3}).with("axis", {0}).values() == Values{3, 2, 1});
  CHECK(Asked("tril").with("x", {2, 2}, {1, 2, 3, 4}).values() == Values{1, 0, 3, 4});
  CHECK(Asked("triu").with("x", {2, 2}, {1, 2, 3, 4}).with("diagonal", {1}).values() == Values{0, 2, 0, 0});
}

TEST_CASE("strided slices have numpy's rules and five masks") {
  const Values x = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const auto sliced = [&](Values begin, Values end, Values strides) {
    return Asked("strided_slice")
        .with("x", {3, 4}, x)
        .with("begin", std::move(begin))
        .with("end", std::move(end))
        .with("strides", std::move(strides));
  };
  CHECK(sliced({0, 1}, {2, 3}, {1, 1}).values() == Values{1, 2, 5, 6});
  CHECK(sliced({-1, 3}, {-4, 0}, {-1, -2}).values() == Values{11, 9, 7, 5, 3, 1});
  CHECK(sliced({1, 0}, {0, 2}, {1, 1}).with("end_mask", {1}).values() == Values{4, 5, 8, 9});
  CHECK(sliced({1, 0}, {9, 99}, {1, 2}).with("begin_mask", {1}).values() == Values{0, 2, 4, 6, 8, 10});
  CHECK(sliced({-1, 1}, {0, 2}, {1, 1}).with("shrink_axis_mask", {3}).values() == Values{9});
  CHECK(sliced({0, 1}, {0, 2}, {1, 1}).with("ellipsis_mask", {1}).values() == Values{1, 5, 9});
  CHECK(Asked("strided_slice_grad")
            .with("dy", {2}, {7, 8})
            .with("begin", {1})
            .with("end", {5})
            .with("strides", {2})
            .gives({5})
            .values() == Values{0, 7, 0, 8, 0});
}

TEST_CASE("indices") {
  CHECK(
      Asked("gather").with("x", {3, 2}, {0, 1, 2, 3, 4, 5}).with("indices", {2}, {2, -3}).with("axis", {0}).values() ==
      Values{4, 5, 0, 1});
  const auto beyond = Asked("gather").with("x", {2}, {1, 2}).with("indices", {1}, {9});
  CHECK(Asked(beyond).values() == Values{0});
  CHECK(Asked(beyond).with("max_norm", {1}).reason() == Reason::kUnknownArgument);  // rows are scaled in place
  CHECK(Asked("gather_elements")
            .with("x", {2, 2}, {1, 2, 3, 4})
            .with("indices", {2, 2}, {1, 0, 0, 0})
            .with("axis", {1})
            .values() == Values{2, 1, 3, 3});
  CHECK(Asked("gather_elements_grad")
            .with("indices", {1, 2}, {1, 1})
            .with("dy", {1, 2}, {5, 6})
            .with("axis", {1})
            .gives({1, 3})
            .values() == Values{0, 11, 0});
  CHECK(Asked("gather_nd").with("x", {2, 2}, {1, 2, 3, 4}).with("indices", {2, 2}, {1, 0, 0, 1}).values() ==
        Values{3, 2});
  CHECK(Asked("scatter_add_rows").with("indices", {2, 1}, {1, 1}).with("updates", {2}, {5, 6}).gives({3}).values() ==
        Values{0, 11, 0});
  CHECK(
      Asked("unsorted_segment_sum").with("x", {3, 1}, {1, 2, 4}).with("ids", {3}, {1, 1, -1}).gives({2, 1}).values() ==
      Values{0, 3});
  const Values largest =
      Asked("unsorted_segment_max").with("x", {3}, {1, 2, 4}).with("ids", {3}, {0, 0, 0}).gives({2}).values();
  CHECK(largest[0] == 4);
  CHECK(std::isnan(largest[1]));
  CHECK(Asked("one_hot").with("indices", {2}, {1, 5}).with("depth", {2}).values() == Values{0, 1, 0, 0});
}

TEST_CASE("reductions") {
  const Values six = {0, 1, 2, 3, 4, 5};
  CHECK(Asked("reduce_sum").with("x", {2, 3}, six).with("axis", {1}).values() == Values{3, 12});
  CHECK(Asked("reduce_mean").with("x", {2, 3}, six).values() == Values{2.5});
  CHECK(Asked("reduce_max").with("x", {2, 3}, six).with("axis", {0}).values() == Values{3, 4, 5});
  CHECK(Asked("reduce_all").with("x", {2}, {1, 0}).values() == Values{0});
  CHECK(Asked("argmax").with("x", {1, 3}, {1, 3, 2}).with("axis", {1}).values("index") == Values{1});
  CHECK(std::isnan(Asked("argmax").with("x", {2}, {1, 1}).with("axis", {0}).values("index").front()));
  CHECK(Asked("top_k").with("x", {3}, {1, 3, 2}).with("k", {2}).values("value") == Values{3, 2});
  CHECK(Asked("cumsum").with("x", {3}, {1, 2, 3}).with("axis", {0}).values() == Values{1, 3, 6});
  CHECK(Asked("cumsum")
            .with("x", {3}, {1, 2, 3})
            .with("axis", {0})
            .with("exclusive", {1})
            .with("reverse", {1})
            .values() == Values{5, 3, 0});
  CHECK(Asked("bias_add_grad").with("dy", {1, 2, 2}, {1, 2, 3, 4}).values() == Values{3, 7});
  CHECK(Asked("norm").with("x", {2}, {3, 4}).values() == Values{5});
}

TEST_CASE("products") {
  CHECK(Asked("matmul").with("a", {1, 2}, {1, 2}).with("b", {2, 2}, {1, 2, 3, 4}).values() == Values{7, 10});
  CHECK(Asked("matmul")
            .with("a", {2, 1}, {1, 2})
            .with("b", {2, 2}, {1, 2, 3, 4})
            .with("transpose_a", {1})
            .with("transpose_b", {1})
            .values() == Values{5, 11});
  CHECK(Asked("matmul").with("a", {2, 1, 2}, {1, 2, 3, 4}).with("b", {2, 1}, {1, 1}).values() == Values{3, 7});
  CHECK(Asked("matmul").with("a", {1, 2}, {1, 2}).with("b", {3, 1}, {1, 1, 1}).reason() == Reason::kShape);
  CHECK(Asked("linear").with("x", {1, 2}, {1, 2}).with("w", {1, 2}, {3, 4}).with("bias", {1}, {5}).values() ==
        Values{16});
  CHECK(Asked("addmm")
            .with("input", {1, 1}, {1})
            .with("a", {1, 1}, {2})
            .with("b", {1, 1}, {3})
            .with("beta", {10})
            .with("alpha", {2})
            .values() == Values{22});
  // A 2 x 2 filter over a 3 x 3 image.
  const Values image = {1, 2, 3, 4, 5, 6, 7, 8, 9}, filter = {1, 0, 0, 1};
  const auto conv = [&](Shape y) {
    return Asked("conv")
        .with("x", {1, 1, 3, 3}, image)
        .with("w", {1, 1, 2, 2}, filter)
        .with("stride", {1, 1})
        .gives(std::move(y));
  };
  CHECK(conv({1, 1, 2, 2}).with("padding", {0}).values() == Values{6, 8, 12, 14});
  CHECK(conv({1, 1, 3, 3}).with_text("pad_mode", "same").values() == Values{6, 8, 3, 12, 14, 6, 7, 8, 9});
  CHECK(conv({1, 1, 2, 2}).reason() == Reason::kUnknownArgument);
  CHECK(Asked("conv_input")
            .with("dy", {1, 1, 2, 2}, {1, 0, 0, 0})
            .with("w", {1, 1, 2, 2}, filter)
            .with("stride", {1})
            .with("padding", {0})
            .gives({1, 1, 3, 3})
            .values() == Values{1, 0, 0, 0, 1, 0, 0, 0, 0});
  CHECK(Asked("conv_filter")
            .with("dy", {1, 1, 2, 2}, {1, 0, 0, 1})
            .with("x", {1, 1, 3, 3}, image)
            .with("stride", {1})
            .with("padding", {0})
            .gives({1, 1, 2, 2})
            .values() == Values{6, 8, 12, 14});
  // Two groups, in one dimension.
  CHECK(Asked("conv")
            .with("x", {1, 2, 2}, {1, 2, 3, 4})
            .with("w", {2, 1, 1}, {10, 100})
            .with("stride", {1})
            .with("padding", {0})
            .with("group", {2})
            .gives({1, 2, 2})
            .values() == Values{10, 20, 300, 400});
  check_near(Asked("attention").with("q", {1, 1}, {0}).with("k", {2, 1}, {1, 2}).with("v", {2, 1}, {2, 4}).values(),
             {3});
}

TEST_CASE("normalisation") {
  const double r = 1 / std::sqrt(0.25);
  check_near(Asked("layer_norm").with("x", {1, 2}, {1, 2}).with("epsilon", {0}).values(), {-0.5 * r, 0.5 * r});
  check_near(Asked("layer_norm")
                 .with("x", {1, 2}, {1, 2})
                 .with("gamma", {2}, {2, 2})
                 .with("beta", {2}, {1, 1})
                 .with("epsilon", {0})
                 .values(),
             {-1, 3});
  CHECK(Asked("layer_norm").with("x", {1, 2}, {1, 2}).reason() == Reason::kUnknownArgument);
  check_near(Asked("rms_norm").with("x", {1, 2}, {3, 4}).with("gamma", {2}, {1, 1}).with("epsilon", {0}).values(),
             {3 / std::sqrt(12.5), 4 / std::sqrt(12.5)});
  check_near(Asked("batch_norm").with("x", {2, 1}, {1, 3}).with("epsilon", {0}).with("is_training", {1}).values(),
             {-1, 1});
  check_near(Asked("batch_norm")
                 .with("x", {2, 1}, {1, 3})
                 .with("epsilon", {0})
                 .with("is_training", {0})
                 .with("mean", {1}, {1})
                 .with("variance", {1}, {4})
                 .values(),
             {0, 1});
  check_near(Asked("group_norm").with("x", {1, 2, 1}, {1, 3}).with("num_groups", {1}).with("epsilon", {0}).values(),
             {-1, 1});
  // The gradient of a constant gradient is 0: the mean is taken away.
  const Maybe<Outputs> gradients = Asked("layer_norm_grad")
                                       .with("x", {1, 2}, {1, 2})
                                       .with("dy", {1, 2}, {1, 1})
                                       .with("mean", {1}, {1.5})
                                       .with("variance", {1}, {0.25})
                                       .with("gamma", {2}, {1, 1})
                                       .with("epsilon", {0})
                                       .outputs();
  REQUIRE(gradients);
  check_near((*gradients)[0].answers.front().y.values, {0, 0});
  check_near((*gradients)[1].answers.front().y.values, {-1, 1});
  check_near((*gradients)[2].answers.front().y.values, {1, 1});
}

TEST_CASE("softmax and losses") {
  check_near(Asked("softmax").with("x", {1, 2}, {0, std::log(3.0)}).values(), {0.25, 0.75});
  check_near(Asked("log_softmax").with("x", {1, 2}, {0, 0}).values(), {-std::log(2.0), -std::log(2.0)});
  check_near(Asked("softmax_grad").with("y", {1, 2}, {0.25, 0.75}).with("dy", {1, 2}, {1, 0}).values(),
             {0.1875, -0.1875});
  check_near(Asked("cross_entropy")
                 .with("x", {2, 2}, {0, 0, 9, 9})
                 .with("labels", {2}, {0, -100})
                 .with("ignore_index", {-100})
                 .values(),
             {std::log(2.0)});
  check_near(
      Asked("sparse_cross_entropy").with("x", {1, 2}, {0, 0}).with("labels", {1}, {1}).with("is_grad", {1}).values(),
      {0.5, -0.5});
  check_near(Asked("mse_loss").with("a", {2}, {1, 2}).with("b", {2}, {3, 2}).values(), {2});
  check_near(Asked("nll_loss").with("x", {1, 2}, {-3, -4}).with("labels", {1}, {1}).values(), {4});
  check_near(Asked("sigmoid_cross_entropy").with("x", {1}, {0}).with("labels", {1}, {1}).values(), {std::log(2.0)});
}

TEST_CASE("pools") {
  const Values image = {1, 2, 3, 4};
  CHECK(Asked("max_pool").with("x", {1, 1, 2, 2}, image).with("kernel_size", {2}).gives({1, 1, 1, 1}).values() ==
        Values{4});
  CHECK(Asked("avg_pool").with("x", {1, 1, 2, 2}, image).with("kernel_size", {2}).gives({1, 1, 1, 1}).values() ==
        Values{2.5});
  CHECK(Asked("max_pool_grad")
            .with("x", {1, 1, 2, 2}, image)
            .with("dy", {1, 1, 1, 1}, {5})
            .with("kernel_size", {2})
            .values() == Values{0, 0, 0, 5});
  CHECK(Asked("avg_pool_grad").with("dy", {1, 1, 1, 1}, {4}).with("kernel_size", {2}).gives({1, 1, 2, 2}).values() ==
        Values{1, 1, 1, 1});
  CHECK(Asked("adaptive_avg_pool").with("x", {1, 2, 2}, image).gives({1, 1, 1}).values() == Values{2.5});
}

TEST_CASE("optimizers compute the new value of their operands") {
  CHECK(Asked("assign_sub").with("ref", {1}, {3}).with("value", {1}, {1}).values("ref") == Values{2});
  const auto momentum = Asked("momentum")
                            .with("var", {1}, {1})
                            .with("acc", {1}, {2})
                            .with("grad", {1}, {3})
                            .with("lr", {0.5})
                            .with("momentum", {0.5});
  CHECK(momentum.values("acc") == Values{4});
  CHECK(momentum.values("var") == Values{-1});
  const auto adam = Asked("adam")
                        .with("var", {1}, {1})
                        .with("m", {1}, {0})
                        .with("v", {1}, {0})
                        .with("grad", {1}, {2})
                        .with("lr", {0.1})
                        .with("beta1", {0.5})
                        .with("beta2", {0.75})
                        .with("epsilon", {0})
                        .with("beta1_power", {0.5})
                        .with("beta2_power", {0.75});
  CHECK(adam.values("m") == Values{1});
  CHECK(adam.values("v") == Values{1});
  check_near(adam.values("var"), {0.9});
}

TEST_CASE("a new state decides the parameter where the old one is unknown") {
  Call call;
  const auto set = [&](const std::string& name, Values values) {
    call.set(name, tensor(array({2}, std::move(values))));
  };
  set("var", {1, 2});
  set("grad", {3, 4});
  set("new_acc", {10, 20});
  call.set("lr", numbers({0.5}));
  call.set("momentum", numbers({0.9}));
  call.set_unknown("acc", {Reason::kOldValue, "acc"});
  for (const std::string_view kernel : {"momentum", "sgd"}) {
    const Maybe<Outputs> outputs = find_kernel(kernel)->compute(call);
    REQUIRE(outputs);
    REQUIRE(outputs->size() == 1);  // nothing shows what the state should be
    CHECK(outputs->front().name == "var");
    CHECK(outputs->front().answers.front().y.values == Values{-4, -8});
  }
  set("new_m", {1, -1});
  set("new_v", {4, 16});
  for (const std::string name : {"m", "v"}) call.set_unknown(name, {Reason::kOldValue, name});
  for (const auto& [name, value] : std::initializer_list<std::pair<std::string, double>>{
           {"beta1", 0.9}, {"beta2", 0.99}, {"epsilon", 0}, {"beta1_power", 0}, {"beta2_power", 0}})
    call.set(name, numbers({value}));
  const Maybe<Outputs> adam = find_kernel("adam")->compute(call);
  REQUIRE(adam);
  REQUIRE(adam->size() == 1);
  CHECK(adam->front().answers.front().y.values == Values{0.75, 2.125});
  // A state that is missing for another reason is not made up for.
  call.set_unknown("m", {Reason::kNoInput, "m"});
  CHECK_FALSE(find_kernel("adam")->compute(call));
}

TEST_CASE("elu, fills, resizes and pools with indices") {
  CHECK(Asked("elu").with("x", {2}, {1, 0}).with("alpha", {1}).values() == Values{1, 0});
  check_near(Asked("elu").with("x", {1}, {-1}).with("alpha", {2}).values(), {2 * (std::exp(-1.0) - 1)});
  CHECK(Asked("elu_grad").with("a", {2}, {2, 2}).with("b", {2}, {3, -0.5}).values() == Values{2, 1});
  CHECK(Asked("fill").with("value", {7}).gives({2}).values() == Values{7, 7});
  const auto resize = [](bool corners, bool half) {
    return Asked("resize_bilinear")
        .with("x", {1, 1, 1, 2}, {0, 4})
        .with("align_corners", {corners ? 1.0 : 0.0})
        .with("half_pixel_centers", {half ? 1.0 : 0.0})
        .gives({1, 1, 1, 4})
        .values();
  };
  CHECK(resize(false, false) == Values{0, 2, 4, 4});
  CHECK(resize(false, true) == Values{0, 1, 3, 4});
  check_near(resize(true, false), {0, 4.0 / 3, 8.0 / 3, 4});
  CHECK(Asked("resize_bilinear_grad")
            .with("dy", {1, 1, 1, 4}, {1, 2, 4, 8})
            .with("half_pixel_centers", {1})
            .gives({1, 1, 1, 2})
            .values() == Values{1 + 1.5 + 1, 0.5 + 3 + 8});
  const auto pool = [] {
    return Asked("max_pool_argmax")
        .with("x", {1, 1, 2, 4}, {1, 5, 2, 0, 3, 4, 9, 7})
        .with("kernel_size", {1, 1, 2, 2})
        .with("strides", {1, 1, 2, 2})
        .gives({1, 1, 1, 2});
  };
  CHECK(pool().values() == Values{5, 9});
  CHECK(pool().values("index") == Values{1, 6});
  const auto back = [](Values index) {
    return Asked("max_pool_argmax_grad")
        .with("x", {1, 1, 2, 4}, Values(8))
        .with("dy", {1, 1, 1, 2}, {1, 2})
        .with("index", {1, 1, 1, 2}, std::move(index));
  };
  CHECK(back({1, 6}).values() == Values{0, 1, 0, 0, 0, 0, 2, 0});
  CHECK(back({1, 8}).reason() == Reason::kUnknownArgument);  // outside of the plane
}

TEST_CASE("a group norm's gradient is zero along its output's direction") {
  // Two groups of one channel each; dy is constant, so that only gamma and beta have a gradient.
  const auto of = [](std::string_view output) {
    return Asked("group_norm_grad")
        .with("dy", {1, 2, 2}, {1, 1, 1, 1})
        .with("x", {1, 2, 2}, {1, 3, 2, 6})
        .with("mean", {1, 2}, {2, 4})
        .with("variance", {1, 2}, {1, 0.5})
        .with("gamma", {2}, {1, 1})
        .with("epsilon", {0})
        .values(output);
  };
  for (const double value : of("dx")) CHECK(std::fabs(value) < 1e-12);
  CHECK(of("dbeta") == Values{2, 2});
}

TEST_CASE("a call that lacks arguments is answered for the usual ones") {
  Call call;
  call.fitted = true;
  call.set("a", tensor(array({2, 2}, {1, 2, 3, 4})));
  call.set("b", tensor(array({2, 2}, {1, 0, 1, 1})));
  const Maybe<Outputs> products = find_kernel("matmul")->compute(call);
  REQUIRE(products);
  CHECK(products->front().answers.size() == 4);  // each transposed or not
  Call norm;
  norm.set("x", tensor(array({1, 2}, {1, 3})));
  CHECK_FALSE(find_kernel("layer_norm")->compute(norm));
  norm.fitted = true;
  const Maybe<Outputs> outputs = find_kernel("layer_norm")->compute(norm);
  REQUIRE(outputs);
  CHECK(outputs->front().answers.size() > 1);
}

TEST_CASE("gradients of calls") {
  const auto mul = Asked("mul_back").with("a", {2}, {2, 3}).with("b", {1}, {5}).with("dy", {2}, {1, 1});
  CHECK(mul.values("d0") == Values{5, 5});
  CHECK(mul.values("d1") == Values{5});
  const auto linear = Asked("linear_back")
                          .with("x", {1, 2}, {1, 2})
                          .with("w", {1, 2}, {3, 4})
                          .with("bias", {1}, {0})
                          .with("dy", {1, 1}, {2});
  CHECK(linear.values("d0") == Values{6, 8});
  CHECK(linear.values("d1") == Values{2, 4});
  CHECK(linear.values("d2") == Values{2});
  CHECK(Asked("mean_back").with("x", {2}, {1, 2}).with("dy", {}, {4}).values("d0") == Values{2, 2});
  CHECK(Asked("embedding_back")
            .with("x", {2, 1}, {0, 0})
            .with("indices", {2}, {1, 1})
            .with("dy", {2, 1}, {3, 4})
            .values("d0") == Values{0, 7});
  const auto padded =
      Asked("embedding_back").with("x", {2, 1}, {0, 0}).with("indices", {3}, {1, 0, 1}).with("dy", {3, 1}, {3, 5, 4});
  for (const double padding : {0, -2}) CHECK(Asked(padded).with("padding_idx", {padding}).values("d0") == Values{0, 7});
  CHECK(Asked(padded).with("padding_idx", {1}).values("d0") == Values{5, 0});
  CHECK(Asked(padded).with("scale_grad_by_freq", {1}).reason() == Reason::kUnknownArgument);
  check_near(
      Asked("cross_entropy_back").with("x", {1, 2}, {0, 0}).with("labels", {1}, {0}).with("dy", {1}).values("d0"),
      {-0.5, 0.5});
}

TEST_CASE("an operand that is not known is named with its reason") {
  Call call;
  call.set_unknown("x", {Reason::kOldValue, "x"});
  const Maybe<Outputs> outputs = find_kernel("neg")->compute(call);
  REQUIRE_FALSE(outputs);
  CHECK(outputs.error().reason == Reason::kOldValue);
  CHECK(Asked("dropout").with("x", {1}, {1}).with("p", {0.5}).reason() == Reason::kRandom);
}

TEST_CASE("every row of the table has a kernel or a reason") {
  for (const std::string_view type : {"MatMul", "Conv2D", "Adam", "ReduceMean", "LayerNorm"}) {
    INFO(type);
    const KernelRow* const row = find_row(Framework::kMindSpore, type);
    REQUIRE(row != nullptr);
    CHECK(row->kernel != nullptr);
  }
  CHECK(find_row(Framework::kMindSpore, "MatMulV2")->kernel == find_kernel("matmul"));
  CHECK(find_row(Framework::kMindSpore, "NoSuchType") == nullptr);
  CHECK(find_row(Framework::kTorch, "MatMul") == nullptr);
  CHECK(find_row(Framework::kTorchBackward, "linear")->kernel == find_kernel("linear_back"));
  CHECK(find_row(Framework::kMindSpore, "Dropout")->reason == Reason::kRandom);
  size_t rows = 0;
  for_each_row([&](const KernelRow& row) {
    INFO(row.type);
    CHECK((row.kernel != nullptr || row.reason == Reason::kRandom));
    ++rows;
  });
  CHECK(rows > 300);
}

TEST_CASE("a mean of nothing is off by as much as its terms") {
  const Maybe<Outputs> outputs =
      Asked("layer_norm").with("x", {3}, {1, -1, 0}).with("normalized_shape", {3}).with("epsilon", {1e-5}).outputs();
  REQUIRE(outputs);
  CHECK(outputs->front().answers.front().terms[2] > 0.5);
}

TEST_CASE("gelu is that of erf where the call says nothing") {
  const KernelRow* const row = find_row(Framework::kTorch, "gelu");
  REQUIRE(row != nullptr);
  Call call;
  call.set("x", tensor(array({1}, {2})));
  for (const KernelRow::Input& input : row->inputs) {
    if (input.has_default) call.set(std::string(input.name), numbers({}, std::string(input.fallback)));
  }
  const Maybe<Outputs> outputs = row->kernel->compute(call);
  REQUIRE(outputs);
  REQUIRE(outputs->front().answers.size() == 1);
  CHECK(outputs->front().answers.front().variant == "erf");
}

TEST_CASE("a gradient is found by its slot and shape, though another has as many elements or none was asked for") {
  const Maybe<Outputs> two = Asked("conv_back")
                                 .with("x", {1, 2, 3}, {1, 2, 3, 4, 5, 6})
                                 .with("w", {3, 2, 1}, {1, 1, 1, 1, 1, 1})
                                 .with("dy", {1, 3, 3}, Values(9, 1))
                                 .with("stride", {1})
                                 .with("padding", {0})
                                 .outputs();
  REQUIRE(two);
  const auto place = [&](size_t next, uint32_t slot, const Shape& shape) {
    return find_output(*two, two->begin() + static_cast<std::ptrdiff_t>(next), {{}, slot, shape}) - two->begin();
  };
  CHECK(place(0, 1, {3, 2, 1}) == 1);
  CHECK(place(0, 0, {3, 2, 1}) == 0);  // a view of what the slot has
  CHECK(place(0, UINT32_MAX, {3, 2, 1}) == 1);
  CHECK(place(0, UINT32_MAX, {1, 2, 3}) == 0);
  CHECK(place(0, 1, {6}) == 1);
  CHECK(place(0, UINT32_MAX, {6}) == 0);
  CHECK(place(1, 0, {1, 2, 3}) == 1);  // only what comes after those that were found
  CHECK(place(0, 0, {5}) == 2);
}

TEST_CASE("gradients of NaN are not judged") {
  const double nan = std::nan("");
  for (const std::string_view kernel : {"abs_back", "relu6_back", "clamp_back"}) {
    INFO(kernel);
    CHECK(std::isnan(Asked(kernel).with("x", {1}, {nan}).with("dy", {1}, {2}).values("d0").front()));
  }
  CHECK(std::isnan(Asked("relu_back").with("y", {1}, {nan}).with("dy", {1}, {2}).values("d0").front()));
  CHECK(
      std::isnan(Asked("maximum_back").with("a", {1}, {nan}).with("b", {1}, {1}).with("dy", {1}, {2}).values("d0")[0]));
  CHECK(std::isnan(
      Asked("amax_back").with("x", {2}, {1, nan}).with("y", {}, {nan}).with("dy", {}, {2}).values("d0").front()));
  CHECK(std::isnan(
      Asked("smooth_l1_back").with("a", {1}, {nan}).with("b", {1}, {1}).with("dy", {}, {2}).values("d0").front()));
}

TEST_CASE("updates are added along an axis, and at each element") {
  CHECK(Asked("index_add")
            .with("x", {2, 2}, {1, 2, 3, 4})
            .with("indices", {3}, {1, 1, 0})
            .with("updates", {3, 2}, {10, 20, 30, 40, 50, 60})
            .with("axis", {0})
            .with("alpha", {2})
            .values() == Values{101, 122, 83, 124});
  CHECK(Asked("scatter_add")
            .with("x", {2, 2}, {1, 2, 3, 4})
            .with("indices", {1, 2}, {1, 1})
            .with("updates", {2, 3}, {10, 20, 0, 0, 0, 0})
            .with("axis", {0})
            .values() == Values{1, 2, 13, 24});
  CHECK(Asked("index_add")
            .with("x", {2, 2}, {1, 2, 3, 4})
            .with("indices", {2}, {0, 1})
            .with("updates", {3, 2}, {1, 1, 1, 1, 1, 1})
            .with("axis", {0})
            .reason() == Reason::kShape);
}

TEST_CASE("the last node of a linear call on a matrix has the weight transposed, and the bias first") {
  const auto linear = [] {
    return Asked("linear_back")
        .with("x", {2, 3}, {1, 2, 3, 4, 5, 6})
        .with("w", {1, 3}, {1, 1, 1})
        .with("dy", {2, 1}, {1, 10});
  };
  const Maybe<Outputs> plain = linear().outputs();
  REQUIRE(plain);
  CHECK((*plain)[1].answers.back().y.shape == Shape{3, 1});
  CHECK((*plain)[1].answers.back().y.values == Values{41, 52, 63});
  const Maybe<Outputs> biased = linear().with("bias", {1}, {0}).outputs();
  REQUIRE(biased);
  CHECK(biased->front().answers.front().y.values == Values{11});
  CHECK((*biased)[1].answers.front().y.shape == Shape{2, 3});
}

}  // namespace msdump::recompute
