// Mistakes that were planted in outputs of random operands are named, and damage of one element is not.
#include "recompute/instead.h"

#include <cmath>
#include <functional>
#include <random>
#include <set>

#include "support/catch.h"

namespace msdump::recompute {
namespace {

constexpr DType kStored = DType::kFloat32;
constexpr int kCases = 40;

void store(Array& x) {
  for (double& value : x.values) value = static_cast<double>(static_cast<float>(value));
  x.dtype = kStored;
  find_effective_format(x);
}

class Bench {
 public:
  explicit Bench(uint32_t seed) : random_(seed) {}

  Array normal(Shape shape) {
    std::normal_distribution<double> normal;
    Array x = make_array(std::move(shape));
    for (double& value : x.values) value = normal(random_);
    store(x);
    return x;
  }
  Array whole(Shape shape, int below) {
    Array x = make_array(std::move(shape));
    x.dtype = x.effective = DType::kInt32;
    for (double& value : x.values) value = static_cast<double>(random_() % static_cast<uint32_t>(below));
    return x;
  }
  size_t below(size_t end) { return random_() % end; }

 private:
  std::mt19937 random_;
};

Value held(Array x) {
  Value value;
  value.tensor = share(std::move(x));
  return value;
}

Value given(double number, std::string text = {}) {
  Value value;
  value.from = Value::From::kAttribute;
  value.numbers = {number};
  value.text = std::move(text);
  return value;
}

struct Posed {
  std::string_view kernel;
  Call call;

  [[nodiscard]] Output output(std::string_view by = {}) const {
    const Maybe<Outputs> outputs = find_kernel(by.empty() ? kernel : by)->compute(call);
    REQUIRE(outputs);
    return outputs->front();
  }
  // The kernel with one operand or argument changed.
  [[nodiscard]] Array with(const std::string& name, Value value) const {
    Posed changed = *this;
    changed.call.set(name, std::move(value));
    return changed.output().answers.front().y;
  }
  [[nodiscard]] Array y() const { return output().answers.front().y; }
};

Posed asked(std::string_view kernel, std::initializer_list<std::pair<std::string, Value>> values, Shape y = {}) {
  Posed asked{kernel, {}};
  for (const auto& [name, value] : values) asked.call.set(name, value);
  if (!y.empty()) asked.call.set_output("y", std::move(y), kStored);
  return asked;
}

// What is named for an output that holds `y`: "operand_transposed b", or nothing.
std::string named(const Posed& asked, Array y) {
  store(y);
  const Kernel& kernel = *find_kernel(asked.kernel);
  const Output output = asked.output();
  const OperandFormats formats = formats_of(asked.call);
  const Judgement judgement = judge(y, kernel, output, formats, {});
  if (!judgement.is_wrong()) return "right";
  const std::vector<Instead> found = find_instead({y, kernel, asked.call, output, formats, {}, judgement});
  if (found.empty()) return "nothing";
  const std::string value = found.front().value;
  return std::string(name_of(found.front().what)) + (value.empty() ? "" : " ") + value;
}

Posed product(Bench& bench) {
  return asked("matmul", {{"a", held(bench.normal({12, 12}))},
                          {"b", held(bench.normal({12, 12}))},
                          {"transpose_a", given(0, "false")},
                          {"transpose_b", given(0, "false")}});
}
Posed sum(Bench& bench, std::string_view kernel = "add") {
  return asked(kernel, {{"a", held(bench.normal({8, 16}))}, {"b", held(bench.normal({8, 16}))}});
}
Posed biased(Bench& bench) {
  return asked("bias_add", {{"a", held(bench.normal({8, 16}))}, {"b", held(bench.normal({16}))}});
}
Posed activation(Bench& bench, std::string_view kernel) { return asked(kernel, {{"x", held(bench.normal({8, 16}))}}); }
Posed norm(Bench& bench) {
  Array x = bench.normal({8, 32});
  for (double& value : x.values) value /= 16;
  store(x);
  return asked("layer_norm", {{"x", held(std::move(x))},
                              {"gamma", held(bench.normal({32}))},
                              {"beta", held(bench.normal({32}))},
                              {"begin_norm_axis", given(1)},
                              {"epsilon", given(1e-5)}});
}
Posed scatter(Bench& bench) {
  return asked("scatter_add_rows",
               {{"indices", held(bench.whole({24, 1}, 6))}, {"updates", held(bench.normal({24, 5}))}}, {6, 5});
}
Posed segments(Bench& bench) {
  return asked("unsorted_segment_sum", {{"x", held(bench.normal({24, 5}))}, {"ids", held(bench.whole({24}, 6))}},
               {6, 5});
}
Posed transposed(Bench& bench) {
  Value perm;
  perm.numbers = {1, 2, 0};
  return asked("transpose", {{"x", held(bench.normal({6, 6, 6}))}, {"perm", std::move(perm)}});
}
Posed mean(Bench& bench) { return asked("reduce_mean", {{"x", held(bench.normal({16, 16}))}, {"axis", given(0)}}); }

Array scaled(Array x, double factor) {
  for (double& value : x.values) value *= factor;
  return x;
}

// The updates that are no longer the first, or the last, of their place are 0.
Array lost(const Posed& asked, const std::string& what, const std::string& where, bool last) {
  Array updates = *asked.call.values().at(what).front().tensor;
  const std::vector<double>& places = asked.call.values().at(where).front().tensor->values;
  const size_t block = updates.values.size() / places.size();
  std::set<double> seen;
  for (size_t i = 0; i < places.size(); ++i) {
    const size_t row = last ? places.size() - 1 - i : i;
    if (seen.insert(places[row]).second) continue;
    for (size_t k = 0; k < block; ++k) updates.values[row * block + k] = 0;
  }
  return asked.with(what, held(std::move(updates)));
}

struct Plant {
  std::string named;
  std::function<Posed(Bench&)> ask;
  std::function<Array(const Posed&)> plant;
};

std::vector<Plant> plants() {
  const auto operand = [](const Posed& one, const std::string& name) {
    return *one.call.values().at(name).front().tensor;
  };
  const auto turned = [operand](const std::string& name) {
    return [=](const Posed& one) {
      const int64_t permutation[] = {1, 0};
      return one.with(name, held(*transpose(operand(one, name), permutation)));
    };
  };
  const auto rounded = [operand](int bits, std::initializer_list<const char*> names) {
    const std::vector<const char*> all(names);
    return [=](const Posed& one) {
      Posed coarse = one;
      for (const char* const name : all) {
        coarse.call.set(name, held(map(operand(one, name), [=](double x) {
                          int exponent = 0;
                          const double mantissa = std::frexp(x, &exponent);
                          return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits + 1)), exponent - bits - 1);
                        })));
      }
      return coarse.y();
    };
  };
  const auto changed = [](auto change) {
    return [=](const Posed& one) {
      Array y = one.y();
      change(y);
      return y;
    };
  };
  const auto product_of = [](Bench& bench) { return product(bench); };
  const auto sum_of = [](Bench& bench) { return sum(bench); };
  const auto relu = [](Bench& bench) { return activation(bench, "relu"); };
  return {
      {"output_rolled 1 along axis 1", product_of, changed([](Array& y) {
         for (auto row = y.values.begin(); row != y.values.end(); row += 12) std::rotate(row, row + 11, row + 12);
       })},
      {"output_reversed axis 0", relu, changed([](Array& y) {
         for (auto row = y.values.begin(), last = y.values.end() - 16; row < last; row += 16, last -= 16)
           std::swap_ranges(row, row + 16, last);
       })},
      {"output_transposed axes 0 and 1", product_of, changed([](Array& y) {
         const int64_t permutation[] = {1, 0};
         y = *transpose(y, permutation);
       })},
      {"operand_transposed a",
       [](Bench& bench) {
         return asked("add", {{"a", held(bench.normal({12, 12}))}, {"b", held(bench.normal({12, 12}))}});
       },
       turned("a")},
      {"other_argument transpose_b = true", product_of,
       [](const Posed& one) { return one.with("transpose_b", given(1)); }},
      {"other_argument perm = 2, 1, 0", transposed,
       [](const Posed& one) {
         Value perm;
         perm.numbers = {2, 1, 0};
         return one.with("perm", perm);
       }},
      {"other_argument axis = 1", mean, [](const Posed& one) { return one.with("axis", given(1)); }},
      {"other_operator reduce_sum", mean, [](const Posed& one) { return one.output("reduce_sum").answers.front().y; }},
      {"input_handed_on a", biased, [=](const Posed& one) { return operand(one, "a"); }},
      {"operand_twice b", biased, [=](const Posed& one) { return one.with("b", held(scaled(operand(one, "b"), 2))); }},
      {"operand_negated b", biased,
       [=](const Posed& one) { return one.with("b", held(scaled(operand(one, "b"), -1))); }},
      {"operand_left_out beta", norm,
       [=](const Posed& one) { return one.with("beta", held(scaled(operand(one, "beta"), 0))); }},
      {"last_left_out axis 0 of x", mean,
       [=](const Posed& one) {
         Array x = operand(one, "x");
         std::fill(x.values.end() - x.shape.back(), x.values.end(), 0);
         return one.with("x", held(std::move(x)));
       }},
      {"operands_exchanged a and b", [](Bench& bench) { return sum(bench, "div"); },
       [=](const Posed& one) {
         Posed exchanged = one;
         exchanged.call.set("a", held(operand(one, "b")));
         exchanged.call.set("b", held(operand(one, "a")));
         return exchanged.y();
       }},
      {"other_operator silu", [](Bench& bench) { return activation(bench, "gelu"); },
       [](const Posed& one) { return one.output("silu").answers.front().y; }},
      {"other_operator mul", sum_of, [](const Posed& one) { return one.output("mul").answers.front().y; }},
      {"one_writer last", scatter, [](const Posed& one) { return lost(one, "updates", "indices", true); }},
      {"one_writer first", segments, [](const Posed& one) { return lost(one, "x", "ids", false); }},
      {"lower_precision 10", product_of, rounded(10, {"a", "b"})},
      {"lower_precision 4", sum_of, rounded(4, {"a", "b"})},
      {"other_constant epsilon = 0.003", norm, [](const Posed& one) { return one.with("epsilon", given(3e-3)); }},
      {"other_constant epsilon = 0.0003",
       [](Bench& bench) {
         Posed one = norm(bench);
         one.call.set("x", held(bench.normal({8, 32})));
         return one;
       },
       [](const Posed& one) { return one.with("epsilon", given(3e-4)); }},
      {"other_constant b = 0.37",
       [](Bench& bench) {
         return asked("mul", {{"a", held(bench.normal({8, 16}))}, {"b", given(0.35)}});
       },
       [](const Posed& one) { return one.with("b", given(0.37)); }},
      {"offset 0.125", relu, changed([](Array& y) {
         for (double& value : y.values) value += 0.125;
       })},
      {"factor 1.03", product_of, [](const Posed& one) { return scaled(one.y(), 1.03); }},
      {"factor 1/12", product_of, [](const Posed& one) { return scaled(one.y(), 1.0 / 12); }},
      {"tail_not_written 126", product_of,
       changed([](Array& y) { std::fill(y.values.begin() + 126, y.values.end(), 0); })},
      {"not_finite 12", product_of, changed([](Array& y) {
         for (size_t i = 0; i < 12; ++i) y.values[i * 11] = std::nan("");
       })},
      {"all_zero", product_of, [](const Posed& one) { return scaled(one.y(), 0); }},
  };
}

}  // namespace

TEST_CASE("mistakes of every kind are named") {
  for (const Plant& plant : plants()) {
    int right = 0;
    std::string other;
    for (int seed = 0; seed < kCases; ++seed) {
      Bench bench(static_cast<uint32_t>(seed));
      const Posed one = plant.ask(bench);
      const std::string found = named(one, plant.plant(one));
      right += found == plant.named ? 1 : 0;
      if (found != plant.named) other = found;
    }
    INFO(plant.named << " became " << other);
    CHECK(right >= kCases * 9 / 10);
  }
}

TEST_CASE("damage of one element is no mistake of the operator") {
  for (const Plant& plant : plants()) {
    for (int seed = 0; seed < kCases; ++seed) {
      Bench bench(static_cast<uint32_t>(seed));
      const Posed one = plant.ask(bench);
      Array y = one.y();
      double& damaged = y.values[seed == 0 ? y.values.size() - 1 : bench.below(y.values.size())];
      const double values[] = {damaged + 1.25, -damaged - 0.5, 0.0, std::nan(""), HUGE_VAL};
      damaged = values[bench.below(5)];
      const std::string found = named(one, std::move(y));
      INFO(plant.named << ": " << found);
      CHECK((found == "nothing" || found == "right"));
    }
  }
}

TEST_CASE("an output whose elements are all within the limit, but not together, is explained as well") {
  Bench bench(3);
  Array a = bench.normal({64, 64});
  for (double& value : a.values) value = std::fabs(value) + 1;
  store(a);
  // A bias of one roundoff.
  const Posed one = asked("bias_add", {{"a", held(a)}, {"b", held(make_array({64}, 0x1p-22))}});
  CHECK(named(one, a) == "input_handed_on a");
}

TEST_CASE("what holds fewer bits than the description explains nothing") {
  Bench bench(1);
  const Posed one = asked("add", {{"a", held(bench.normal({1}))}, {"b", held(bench.normal({1}))}});
  CHECK(named(one, scaled(one.y(), 1.03)) == "nothing");
}

TEST_CASE("an output is stale if it has many values and all are those of an earlier one") {
  Bench bench(2);
  const Array earlier = bench.normal({4, 4});
  Array y = earlier;
  CHECK(is_stale(y, earlier));
  y.values[3] += 1;
  CHECK_FALSE(is_stale(y, earlier));
  CHECK_FALSE(is_stale(make_array({64}, 1), make_array({64}, 1)));
}

TEST_CASE("mistakes are told in words") {
  CHECK(describe({Mistake::kTransposed, "b", 0, 0}) == "as if b were transposed");
  CHECK(describe({Mistake::kNonFinite, "12", 0, 0}) == "12 elements are NaN or infinite, the others right");
  for (size_t i = 0; i <= static_cast<size_t>(last_of(Mistake())); ++i)
    CHECK_FALSE(describe({static_cast<Mistake>(i), "3", 0, 0}).empty());
}

}  // namespace msdump::recompute
