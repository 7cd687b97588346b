// Large operators: products are sampled, others judged in blocks; right ones pass, and wrong elements are found and placed.
#include "recompute/in_parts.h"

#include <cmath>
#include <random>
#include <utility>

#include "support/catch.h"

namespace msdump::recompute {
namespace {

Array random_matrix(int64_t rows, int64_t columns, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Array x = make_array({rows, columns});
  for (double& value : x.values) value = normal(random);
  x.dtype = x.effective = DType::kFloat32;
  return x;
}

// a b as a device has it: summed in float32.
Array float_product(const Array& a, const Array& b) {
  const int64_t rows = a.shape[0], inner = a.shape[1], columns = b.shape[1];
  std::vector<float> right(b.values.begin(), b.values.end()), sums(static_cast<size_t>(columns));
  Array y = make_array({rows, columns});
  for (int64_t i = 0; i < rows; ++i) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (int64_t k = 0; k < inner; ++k) {
      const auto factor = static_cast<float>(a.values[static_cast<size_t>(i * inner + k)]);
      const float* const row = right.data() + k * columns;
      for (int64_t j = 0; j < columns; ++j) sums[static_cast<size_t>(j)] += factor * row[j];
    }
    std::copy(sums.begin(), sums.end(), y.values.begin() + i * columns);
  }
  y.dtype = y.effective = DType::kFloat32;
  return y;
}

Call product_call(const Array& a, const Array& b) {
  Call call;
  Value left, right;
  left.tensor = share(a);
  right.tensor = share(b);
  call.set("a", left);
  call.set("b", right);
  return call;
}

std::vector<int64_t> index_from(int64_t place, const Shape& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; place /= shape[axis]) index[axis] = place % shape[axis];
  return index;
}

}  // namespace

namespace {

// A large product, whose operands and output are read in blocks.
struct LargeProduct {
  Array a, b, y;
  const Kernel& kernel = *find_kernel("matmul");

  [[nodiscard]] Judgement judged() const {
    const Call call = product_call(a, b);
    const auto judgements = judge_in_parts(kernel, call, {{"y", share(y)}}, {}, 0x1p24);
    REQUIRE(judgements);
    return judgements->front();
  }
};

LargeProduct large_product(int64_t rows, int64_t inner, int64_t columns, uint32_t seed) {
  LargeProduct product{random_matrix(rows, inner, seed), random_matrix(inner, columns, seed + 100), {}};
  product.y = float_product(product.a, product.b);
  return product;
}

}  // namespace

TEST_CASE("a large product is right by some rows and a projection of all") {
  LargeProduct product = large_product(700, 650, 700, 1);
  const Judgement right = product.judged();
  CHECK(right.is_right());
  CHECK(right.elements == 10 * 700);
  REQUIRE(right.sampled);
  CHECK(*right.sampled > 0);
  CHECK(*right.sampled < 1e-3);

  // An error that is said to be found surely. No row that is computed anyway has it.
  product.y.values[333 * 700 + 17] += *right.sampled * std::sqrt(650.0);
  const Judgement wrong = product.judged();
  CHECK(wrong.is_wrong());
  CHECK(wrong.elements == 11 * 700);
  CHECK(wrong.wrong == 1);
  CHECK(wrong.worst == std::vector<int64_t>{333, 17});
}

TEST_CASE("right products are never suspected, whatever the scales of their rows and columns") {
  std::mt19937 random(3);
  std::lognormal_distribution<double> scale(0, 2);
  for (uint32_t seed = 10; seed < 16; ++seed) {
    Array a = random_matrix(700, 650, seed), b = random_matrix(650, 700, seed + 100);
    for (int64_t i = 0; i < 700; ++i) {
      const double row = scale(random), column = scale(random);
      for (int64_t k = 0; k < 650; ++k) {
        auto& left = a.values[static_cast<size_t>(i * 650 + k)];
        auto& right = b.values[static_cast<size_t>(k * 700 + i)];
        left = static_cast<float>(left * row);
        right = static_cast<float>(right * column);
      }
    }
    const Array y = float_product(a, b);
    const Call call = product_call(a, b);
    const auto samples = find_kernel("matmul")->sample(call);
    REQUIRE(samples);
    const SampledOutput& sample = samples->front();
    ProjectionCheck check(sample.rows, 0x1p-24, 0x1p-24, 4);
    const auto projected = sample.project([&](const ProjectedBlock& block) -> Maybe<void> {
      check.add(block, y.values.data() + block.first_outer * 700);
      return {};
    });
    REQUIRE(projected);
    CHECK(check.suspects().empty());
    CHECK(check.units() > 0);
    CHECK(check.units() < 2);  // smallest_certain counts on half the limit
  }
}

namespace {

// Hands its elements out in blocks.
class Elements : public ElementSource {
 public:
  explicit Elements(std::vector<double> values) : values_(std::move(values)) {}
  Status read(int64_t first, int64_t count, double* into) override {
    if (first < 0 || first + count > static_cast<int64_t>(values_.size()))
      return fail(make_error(ErrorCode::kTruncated, "y.npy: ends early"));
    std::copy_n(values_.begin() + first, count, into);
    return {};
  }

 private:
  std::vector<double> values_;
};

Array streamed(const Array& x) {
  Array result = x;
  result.source = std::make_shared<Elements>(std::exchange(result.values, {}));
  return result;
}

Value given(Array x) {
  Value value;
  value.tensor = share(std::move(x));
  return value;
}

Value given(std::vector<double> numbers) {
  Value value;
  value.numbers = std::move(numbers);
  return value;
}

Array random_array(Shape shape, uint32_t seed) {
  Array x = random_matrix(1, size_of(shape), seed);
  x.shape = std::move(shape);
  return x;
}

// The same call with all but vectors and scalars read in blocks.
Call streamed(const Call& call) {
  Call result = call;
  for (auto& [name, values] : result.values()) {
    for (Value& value : values) {
      if (value.tensor && value.tensor->rank() > 1) value.tensor = share(streamed(*value.tensor));
    }
  }
  return result;
}

// What the kernel computes, stored as float32; an element off by a tenth of the whole.
void check_sample(std::string_view name, const Call& call, const std::vector<std::string>& outputs) {
  const Kernel& kernel = *find_kernel(name);
  const Maybe<Outputs> computed = kernel.compute(call);
  REQUIRE(computed);
  for (const bool damaged : {false, true}) {
    std::vector<WrittenOutput> written;
    for (const std::string& output : outputs) {
      const auto found =
          std::find_if(computed->begin(), computed->end(), [&](const Output& one) { return one.name == output; });
      REQUIRE(found != computed->end());
      Array y = found->answers.front().y;
      double largest = 0;
      for (double& value : y.values) {
        value = static_cast<float>(value);
        largest = std::max(largest, std::fabs(value));
      }
      if (damaged) y.values[y.values.size() / 3] += largest;
      y.dtype = y.effective = DType::kFloat32;
      written.push_back({output, share(streamed(y))});
    }
    const auto judgements = judge_in_parts(kernel, streamed(call), written, {}, 0);
    REQUIRE(judgements);
    const Call blocks = streamed(call);
    const auto samples = kernel.sample(blocks);
    REQUIRE(samples);
    for (size_t i = 0; i < outputs.size(); ++i) {
      INFO(name << " " << outputs[i] << (damaged ? " damaged" : ""));
      const Judgement& judgement = (*judgements)[i];
      REQUIRE(judgement.verdict != Judgement::Verdict::kNotJudged);
      CHECK(judgement.is_wrong() == damaged);
      CHECK(judgement.sampled.has_value());
      // The projection suspects no row of a right output: only those are computed that always are.
      const AxisView rows = (*samples)[i].rows;
      const auto usual = static_cast<int64_t>(sampled_rows(rows.outer * rows.inner).size());
      CHECK(judgement.elements >= usual * rows.length);
      CHECK(judgement.elements <= (usual + (damaged ? 1 : 0)) * rows.length);
      CHECK(judgement.wrong == (damaged ? 1 : 0));
      const Array& y = *written[i].y;
      if (damaged) CHECK(judgement.worst == index_from(size_of(y.shape) / 3, y.shape));
    }
  }
}

}  // namespace

TEST_CASE("products in all layouts are sampled as they are computed") {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      Call call;
      call.set("a", given(random_array(transpose_a ? Shape{3, 40, 50} : Shape{3, 50, 40}, 1)));
      call.set("b", given(random_array(transpose_b ? Shape{3, 30, 40} : Shape{3, 40, 30}, 2)));
      call.set("transpose_a", given(std::vector<double>{transpose_a ? 1.0 : 0.0}));
      call.set("transpose_b", given(std::vector<double>{transpose_b ? 1.0 : 0.0}));
      check_sample("matmul", call, {"y"});
    }
  }
  Call linear;
  linear.set("x", given(random_array({2, 25, 40}, 3)));
  linear.set("w", given(random_array({30, 40}, 4)));
  linear.set("bias", given(random_array({30}, 5)));
  check_sample("linear", linear, {"y"});
  Call sum;
  sum.set("a", given(random_array({50, 40}, 6)));
  sum.set("b", given(random_array({40, 30}, 7)));
  sum.set("input", given(random_array({30}, 8)));
  sum.set("alpha", given(std::vector<double>{0.5}));
  sum.set("beta", given(std::vector<double>{2}));
  check_sample("addmm", sum, {"y"});
  linear.erase("bias");
  linear.set("dy", given(random_array({2, 25, 30}, 9)));
  check_sample("linear_back", linear, {"d0", "d1"});
}

TEST_CASE("convolutions and their gradients are sampled as they are computed") {
  const auto geometry = [](Call& call, int64_t stride, int64_t dilation, int64_t pad, int64_t groups) {
    call.set("group", given(std::vector<double>{double(groups)}));
    call.set("stride", given(std::vector<double>{double(stride), double(stride)}));
    call.set("dilation", given(std::vector<double>{double(dilation), double(dilation)}));
    call.set("padding", given(std::vector<double>{double(pad), double(pad)}));
  };
  for (const auto& [stride, dilation, groups] : std::vector<std::array<int64_t, 3>>{
           {1, 1, 1}, {1, 2, 1}, {2, 1, 1}, {2, 2, 1}, {1, 1, 3}, {2, 2, 3}, {1, 1, 12}}) {
    const int64_t pad = 1, out = (12 + 2 * pad - dilation * 2 - 1) / stride + 1;
    INFO("stride " << stride << ", dilation " << dilation << ", " << groups << " groups");
    const Array x = random_array({4, 12, 12, 12}, 1), w = random_array({12, 12 / groups, 3, 3}, 2);
    const Array dy = random_array({4, 12, out, out}, 3);
    Call forward;
    geometry(forward, stride, dilation, pad, groups);
    forward.set("x", given(x));
    forward.set("w", given(w));
    forward.set("bias", given(random_array({12}, 4)));
    forward.set_output("y", {4, 12, out, out}, DType::kFloat32);
    check_sample("conv", forward, {"y"});
    Call input;
    geometry(input, stride, dilation, pad, groups);
    input.set("dy", given(dy));
    input.set("w", given(w));
    input.set_output("y", x.shape, DType::kFloat32);
    check_sample("conv_input", input, {"y"});
    Call filter;
    geometry(filter, stride, dilation, pad, groups);
    filter.set("dy", given(dy));
    filter.set("x", given(x));
    filter.set_output("y", w.shape, DType::kFloat32);
    check_sample("conv_filter", filter, {"y"});
    forward.erase("bias");
    forward.set("dy", given(dy));
    check_sample("conv_back", forward, {"d0", "d1"});
  }
}

namespace {

// Judges what the kernel itself computed: as a whole and in blocks.
void check_blocks(std::string_view name, const Call& call) {
  const Kernel& kernel = *find_kernel(name);
  const Maybe<Outputs> computed = kernel.compute(call);
  REQUIRE(computed);
  std::vector<WrittenOutput> written;
  std::vector<Judgement> whole;
  for (const Output& output : *computed) {
    Array y = output.answers.front().y;
    y.dtype = y.effective = DType::kFloat32;
    if (y.rank() == 1) y.shape = {37, 5, 1};  // as frameworks have the moments of rows
    for (double& value : y.values) value = static_cast<float>(value);
    for (size_t i = y.values.size() / 2; i < y.values.size() / 2 + 3; ++i) y.values[i] = 7.25;
    whole.push_back(judge(y, kernel, output, formats_of(call), {}));
    written.push_back({output.name, share(streamed(y))});
  }
  const auto parts = judge_in_parts(kernel, streamed(call), written, {}, 0x1p60);
  REQUIRE(parts);
  for (size_t i = 0; i < whole.size(); ++i) {
    INFO(name << " " << written[i].name);
    const Judgement& part = (*parts)[i];
    CHECK(whole[i].is_wrong());
    CHECK(part.verdict == whole[i].verdict);
    CHECK(part.units == whole[i].units);
    CHECK(part.wrong == whole[i].wrong);
    CHECK(part.elements == whole[i].elements);
    CHECK(part.worst == whole[i].worst);
    CHECK(part.place->from == whole[i].place->from);
    CHECK(part.place->to == whole[i].place->to);
    CHECK(part.relative_error == Approx(whole[i].relative_error));
  }
}

}  // namespace

TEST_CASE("large operators are judged in blocks as a whole") {
  const Shape shape{37, 5, 999};
  REQUIRE(size_of(shape) > 2 * kBlockElements);
  const Array x = random_array(shape, 1), y = random_array(shape, 2);
  for (const char* const name : {"mul", "add", "sub"}) {
    for (const Shape& other : {shape, Shape{999}, Shape{5, 1}, Shape{37, 1, 1}, Shape{37, 1, 999}, Shape{}}) {
      Call call;
      call.set("a", given(x));
      call.set("b", given(random_array(other, 3)));
      INFO(other.size() << " axes");
      check_blocks(name, call);
    }
  }
  Call softmax;
  softmax.set("x", given(x));
  softmax.set("axis", given(std::vector<double>{-1}));
  check_blocks("softmax", softmax);
  softmax.set("axis", given(std::vector<double>{1}));
  check_blocks("log_softmax", softmax);
  Call norm;
  norm.set("x", given(x));
  norm.set("gamma", given(random_array({999}, 4)));
  norm.set("beta", given(random_array({999}, 5)));
  norm.set("epsilon", given(std::vector<double>{1e-5}));
  norm.set("begin_norm_axis", given(std::vector<double>{-1}));
  check_blocks("layer_norm", norm);
  Call bias;
  bias.set("a", given(x));
  bias.set("b", given(random_array({5}, 6)));
  check_blocks("bias_add", bias);
  Call list;
  list.append("x", given(x));
  list.append("x", given(y));
  check_blocks("add_n", list);
}

TEST_CASE("reductions and moves that leave the axes in front are judged in blocks as a whole") {
  const auto numbers = [](std::vector<double> values) { return given(std::move(values)); };
  Call call;
  call.set("x", given(random_array({37, 5, 999}, 1)));
  call.set("axis", numbers({-1}));
  for (const char* const name : {"reduce_sum", "reduce_mean", "reduce_max", "norm", "cumsum", "argmax"})
    check_blocks(name, call);
  call.set("keep_dims", numbers({1}));
  check_blocks("reduce_mean", call);
  call.set("k", numbers({3}));
  check_blocks("top_k", call);
  call.set("axis", numbers({2}));
  call.set("output_num", numbers({3}));
  check_blocks("split", call);
  call.append("x", given(random_array({37, 5, 2}, 2)));
  check_blocks("concat", call);
  Call move;
  move.set("x", given(random_array({37, 5, 999}, 1)));
  for (const std::vector<double>& perm : {std::vector<double>{0, 2, 1}, {0, 1, 2}}) {
    Array list{{3}, perm};
    move.set("perm", given(std::move(list)));
    check_blocks("transpose", move);
  }
  for (const Shape& shape : {Shape{37, 999, 5}, {37, 5, 999}, {37, 5, 999, 1}}) {
    move.set_output("y", shape, DType::kFloat32);
    check_blocks("reshape", move);
  }
}

TEST_CASE("what needs all of its operands is not cut") {
  const Array x = random_array({400, 400}, 1);
  const auto cut = [&](const Call& call, std::string_view name, const Shape& shape) {
    return judge_in_parts(*find_kernel(name), call, {{"d1", share(random_array(shape, 2))}}, {}, 0x1p60).has_value();
  };
  // The gradient of an operand that was broadcast along the first axis is a sum.
  Call call;
  call.set("a", given(x));
  call.set("b", given(random_array({400}, 3)));
  call.set("dy", given(x));
  CHECK(!cut(call, "add_back", {400}));
  call.set("b", given(x));
  CHECK(cut(call, "add_back", {400, 400}));
  Call softmax;
  softmax.set("x", given(x));
  softmax.set("axis", given(std::vector<double>{0}));
  CHECK(!cut(softmax, "softmax", {400, 400}));
  Call sum;
  sum.set("x", given(x));
  CHECK(!cut(sum, "reduce_sum", {1}));
  sum.set("axis", given(std::vector<double>{0}));
  CHECK(!cut(sum, "reduce_sum", {400}));
  // A flat array has no axes in front.
  Call flat;
  flat.set("x", given(random_array({160000}, 1)));
  flat.set_output("y", {160000, 1}, DType::kFloat32);
  CHECK(!cut(flat, "reshape", {160000, 1}));
}

TEST_CASE("a source that ends early leaves no judgement, and says why") {
  Call call;
  Array x = random_array({400, 400}, 1);
  x.values.resize(100000);
  call.set("a", given(streamed(x)));
  call.set("b", given(random_array({}, 2)));
  const auto judgements = judge_in_parts(*find_kernel("mul"), call, {{"y", share(random_array({400, 400}, 3))}}, {}, 0);
  REQUIRE(judgements);
  CHECK(judgements->front().verdict == Judgement::Verdict::kNotJudged);
  CHECK(judgements->front().why.reason == Reason::kUnreadable);
  CHECK(judgements->front().why.what == "y.npy: ends early");
}

TEST_CASE("signs are random, and the same in every run") {
  double sum = 0;
  for (int64_t column = 0; column < 4096; ++column) sum += sign_of_column(column);
  CHECK(std::fabs(sum) < 4 * 64);
  CHECK(sampled_rows(1000).front() == 0);
  CHECK(sampled_rows(1000).back() == 999);
  CHECK(sampled_rows(1000).size() == 10);
  CHECK(sampled_rows(2) == std::vector<int64_t>{0, 1});
  CHECK(sampled_rows(0).empty());
}

}  // namespace msdump::recompute
