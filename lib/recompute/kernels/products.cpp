// Matrix products and convolutions, by Eigen in double precision. `terms` are the same products of absolute values.
#include "recompute/kernels/products.h"

#include <algorithm>
#include <numeric>

#include <Eigen/Core>

#include "recompute/kernels/kernels.h"

namespace msdump::recompute {

Maybe<Batch> batch_of(const Shape& a, const Shape& b, bool transpose_a, bool transpose_b) {
  if (a.size() < 2 || b.size() < 2) return unjudged(Reason::kShape);
  const Shape batch_a(a.begin(), a.end() - 2), batch_b(b.begin(), b.end() - 2);
  MSDUMP_TRY(Shape batch, fitted(broadcast_shape(batch_a, batch_b)));
  Block block{.transpose_a = transpose_a, .transpose_b = transpose_b};
  block.rows = a[a.size() - (transpose_a ? 1 : 2)];
  block.inner = a[a.size() - (transpose_a ? 2 : 1)];
  block.columns = b[b.size() - (transpose_b ? 2 : 1)];
  if (b[b.size() - (transpose_b ? 1 : 2)] != block.inner) return unjudged(Reason::kShape);
  Shape shape = batch;
  shape.insert(shape.end(), {block.rows, block.columns});
  const auto elements = element_count(shape);
  if (!elements) return unjudged(Reason::kTooLarge);
  Batch result{block, std::move(shape), batch, *broadcast_strides(batch_a, batch), *broadcast_strides(batch_b, batch)};
  result.multiplications = static_cast<double>(*elements) * static_cast<double>(block.inner);
  return result;
}

Tensor as_rows(const Tensor& x) {
  const int64_t last = x->shape.empty() ? 1 : std::max<int64_t>(x->shape.back(), 1);
  return share(with_shape(*x, {size_of(x->shape) / last, last}));
}

namespace {

// Files of an operand of MindSpore's MatMul may have the shape of their producer; the output tells the two axes.
Tensor folded(const Tensor& x, int64_t rows, bool transposed) {
  const int64_t elements = size_of(x->shape);
  if (x->rank() == 2 || rows <= 0 || elements % rows != 0) return x;
  const int64_t columns = elements / rows;
  return share(with_shape(*x, transposed ? Shape{columns, rows} : Shape{rows, columns}));
}

}  // namespace

Maybe<ProductOperands> product_operands(const Call& call) {
  ProductOperands operands;
  MSDUMP_TRY(operands.a, call.tensor("a"));
  MSDUMP_TRY(operands.b, call.tensor("b"));
  MSDUMP_TRY(operands.bias, call.tensor_if("bias"));
  operands.transpose_a = call.flag_or("transpose_a", false);
  operands.transpose_b = call.flag_or("transpose_b", false);
  const Shape* const y = call.output_shape("y");
  if (call.type.starts_with("MatMul") && y != nullptr && y->size() == 2) {
    operands.a = folded(operands.a, (*y)[0], operands.transpose_a);
    operands.b = folded(operands.b, (*y)[1], !operands.transpose_b);
  }
  return operands;
}

namespace {

// The last two numbers, the last one if there is one for both.
std::pair<int64_t, int64_t> last_two(const std::vector<int64_t>& numbers, bool one_dimension) {
  if (numbers.empty()) return {1, 1};
  if (one_dimension) return {1, numbers.back()};
  return numbers.size() == 1 ? std::pair(numbers[0], numbers[0])
                             : std::pair(numbers[numbers.size() - 2], numbers.back());
}

}  // namespace

Maybe<Geometry> geometry_of(const Call& call, const Shape& x, const Shape& w, const Shape& y) {
  if (x.size() != w.size() || x.size() != y.size() || x.size() < 3 || x.size() > 4) return unjudged(Reason::kShape);
  if (const std::string format = call.text("format") + call.text("data_format");
      format.find("nhwc") != std::string::npos)
    return unjudged(Reason::kUnknownArgument, "data_format");
  Geometry g;
  g.one_dimension = x.size() == 3;
  const auto height = [&](const Shape& shape) { return g.one_dimension ? 1 : shape[2]; };
  g.n = x[0], g.c = x[1], g.h = height(x), g.w = x.back();
  g.o = w[0], g.kh = height(w), g.kw = w.back();
  g.ho = height(y), g.wo = y.back();
  MSDUMP_TRY(const std::vector<int64_t> strides, call.integers("stride"));
  std::tie(g.sh, g.sw) = last_two(strides, g.one_dimension);
  std::tie(g.dh, g.dw) = last_two(call.integers_if("dilation").value_or(std::vector<int64_t>{1}), g.one_dimension);
  g.groups = call.integer_or("group", 1);
  if (std::min({g.sh, g.sw, g.dh, g.dw, g.groups, g.kh, g.kw, g.ho, g.wo}) < 1) return unjudged(Reason::kShape);
  // Numbers of a real network; larger ones would overflow.
  constexpr int64_t kMostExtent = int64_t{1} << 20;
  if (std::max({g.sh, g.sw, g.dh, g.dw}) > kMostExtent) return unjudged(Reason::kShape);
  if (g.c % g.groups != 0 || g.o % g.groups != 0) return unjudged(Reason::kShape);
  // A depthwise filter of MindSpore is 1 x C x kh x kw.
  const bool depthwise = g.groups > 1 && w[0] == 1 && w[1] == g.c;
  if (depthwise) g.o = g.c;
  if (!depthwise && w[1] != g.c / g.groups) return unjudged(Reason::kShape);
  if (y[0] != g.n || y[1] != g.o) return unjudged(Reason::kShape);
  // The padding: a list of four (top, bottom, left, right), of two, one number, or the text "same" or "valid".
  const int64_t need_h = std::max<int64_t>(0, (g.ho - 1) * g.sh + (g.kh - 1) * g.dh + 1 - g.h);
  const int64_t need_w = std::max<int64_t>(0, (g.wo - 1) * g.sw + (g.kw - 1) * g.dw + 1 - g.w);
  if (const auto pads = call.integers_if("pad_list"); pads && pads->size() == 4) {
    g.top = (*pads)[0];
    g.left = (*pads)[2];
  } else if (const auto pad = call.integers_if("padding"); pad && !pad->empty()) {
    std::tie(g.top, g.left) = last_two(*pad, g.one_dimension);
    if (g.one_dimension) g.top = 0;
  } else {
    const std::string mode = call.text("padding") + call.text("pad_mode");
    if (mode == "same" || mode == "1")
      g.top = need_h / 2, g.left = need_w / 2;
    else if (mode != "valid" && mode != "2")
      return unjudged(Reason::kUnknownArgument, "padding");
  }
  if (g.top < 0 || g.left < 0 || g.top > g.h + g.kh * g.dh || g.left > g.w + g.kw * g.dw)
    return unjudged(Reason::kShape);
  return g;
}

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMap = Eigen::Map<const Matrix>;
using Map = Eigen::Map<Matrix>;

void multiply(const Block& block, const double* a, const double* b, double* y) {
  const ConstMap left(a, block.transpose_a ? block.inner : block.rows, block.transpose_a ? block.rows : block.inner);
  const ConstMap right(b, block.transpose_b ? block.columns : block.inner,
                       block.transpose_b ? block.inner : block.columns);
  Map result(y, block.rows, block.columns);
  if (block.transpose_a && block.transpose_b)
    result.noalias() = left.transpose() * right.transpose();
  else if (block.transpose_a)
    result.noalias() = left.transpose() * right;
  else if (block.transpose_b)
    result.noalias() = left * right.transpose();
  else
    result.noalias() = left * right;
}

// Calls visit(matrix of a, matrix of b, number of the product).
template <class Visit>
void for_each_product(const Batch& batch, const Array& a, const Array& b, const Visit& visit) {
  const int64_t size_a = batch.block.rows * batch.block.inner, size_b = batch.block.inner * batch.block.columns;
  int64_t number = 0;
  walk<2>(batch.batch, {batch.at_a, batch.at_b}, [&](const std::array<int64_t, 2>& at) {
    visit(a.values.data() + at[0] * size_a, b.values.data() + at[1] * size_b, number++);
  });
}

// Vectors are rows or columns whose axis is dropped.
Maybe<Array> matmul(Array a, Array b, bool transpose_a, bool transpose_b) {
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if (row) a.shape.insert(a.shape.begin(), 1), transpose_a = false;
  if (column) b.shape.push_back(1), transpose_b = false;
  MSDUMP_TRY(const Batch batch, batch_of(a.shape, b.shape, transpose_a, transpose_b));
  if (batch.multiplications > kMostMultiplications || !bounded_count(batch.shape)) return unjudged(Reason::kTooLarge);
  Array y = make_array(batch.shape);
  const int64_t size = batch.block.rows * batch.block.columns;
  for_each_product(batch, a, b, [&](const double* left, const double* right, int64_t number) {
    multiply(batch.block, left, right, y.values.data() + number * size);
  });
  if (column) y.shape.pop_back();
  if (row) y.shape.erase(y.shape.end() - (column ? 1 : 2));
  return y;
}

// a b + bias, where the bias may lack.
Maybe<Outputs> product(const Array& a, const Array& b, bool transpose_a, bool transpose_b, const Tensor& bias,
                       double alpha = 1, double beta = 1) {
  MSDUMP_TRY(Array y, matmul(a, b, transpose_a, transpose_b));
  MSDUMP_TRY(Array terms, matmul(absolute(a), absolute(b), transpose_a, transpose_b));
  const double length =
      a.rank() == 0 ? 1 : static_cast<double>(a.shape[a.rank() - (transpose_a && a.rank() > 1 ? 2 : 1)]);
  if (alpha != 1) {
    y = map(y, [=](double v) { return alpha * v; });
    terms = map(terms, [=](double v) { return std::fabs(alpha) * v; });
  }
  if (bias) {
    MSDUMP_TRY(y, fitted(combine(y, *bias, [=](double u, double v) { return u + beta * v; })));
    MSDUMP_TRY(terms, fitted(combine(terms, *bias, [=](double u, double v) { return u + std::fabs(beta * v); })));
  }
  return one_output(std::move(y), std::move(terms.values), length);
}

Maybe<Outputs> mat_mul(const Call& call) {
  MSDUMP_TRY(const ProductOperands operands, product_operands(call));
  const auto& [a, b, bias, transpose_a, transpose_b] = operands;
  if (!call.fitted) return product(*a, *b, transpose_a, transpose_b, bias);
  Outputs outputs;
  for (const bool first : {false, true}) {
    for (const bool second : {false, true}) {
      Maybe<Outputs> one = product(*a, *b, first, second, bias);
      if (!one) continue;
      if (outputs.empty())
        outputs = std::move(*one);
      else
        outputs.front().answers.push_back(std::move(one->front().answers.front()));
    }
  }
  if (outputs.empty()) return unjudged(Reason::kShape);
  return outputs;
}

// x w^T + b.
Maybe<Outputs> linear(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor w, call.tensor("w"));
  MSDUMP_TRY(const Tensor bias, call.tensor_if("bias"));
  return product(*x, *w, false, w->rank() == 2, bias);
}

// beta input + alpha a b.
Maybe<Outputs> add_mm(const Call& call) {
  MSDUMP_TRY(const Tensor input, call.tensor("input"));
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  return product(*a, *b, false, false, input, call.number_or("alpha", 1), call.number_or("beta", 1));
}

Maybe<Outputs> outer(const Call& call) {
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  return product(with_shape(*a, {a->size(), 1}), with_shape(*b, {1, b->size()}), false, false, nullptr);
}

constexpr int64_t kMostPatch = kMostElements;  // elements of one im2col matrix

// Visits each place of x that an element of the patch matrix (channel, kh, kw) x (ho, wo) is read from.
template <class Visit>
void for_each_patch(const Geometry& g, const Visit& visit) {
  for (int64_t row = 0; row < g.patch(); ++row) {
    const int64_t channel = row / (g.kh * g.kw), i = row / g.kw % g.kh, j = row % g.kw;
    for (int64_t y = 0; y < g.ho; ++y) {
      const int64_t in_y = y * g.sh - g.top + i * g.dh;
      if (in_y < 0 || in_y >= g.h) continue;
      for (int64_t x = 0; x < g.wo; ++x) {
        const int64_t in_x = x * g.sw - g.left + j * g.dw;
        if (in_x < 0 || in_x >= g.w) continue;
        visit(static_cast<size_t>(row * g.places() + y * g.wo + x),
              static_cast<size_t>((channel * g.h + in_y) * g.w + in_x));
      }
    }
  }
}

void read_patches(const Geometry& g, const double* x, std::vector<double>& patches) {
  patches.assign(static_cast<size_t>(g.patch() * g.places()), 0);
  for_each_patch(g, [&](size_t patch, size_t place) { patches[patch] = x[place]; });
}

// y = conv(x, w), or the gradient of x or w where that is the result. All three are given as arrays; the result is zero.
void convolve(const Geometry& g, ConvolutionPart part, double* x, double* w, double* y) {
  const int64_t size_x = g.channels() * g.h * g.w, size_w = g.filters() * g.patch(), size_y = g.filters() * g.places();
  std::vector<double> patches(static_cast<size_t>(g.patch() * g.places()));
  for (int64_t n = 0; n < g.n; ++n) {
    for (int64_t group = 0; group < g.groups; ++group) {
      double* const own_x = x + (n * g.groups + group) * size_x;
      double* const own_y = y + (n * g.groups + group) * size_y;
      Map filter(w + group * size_w, g.filters(), g.patch());
      Map output(own_y, g.filters(), g.places());
      Map patch(patches.data(), g.patch(), g.places());
      switch (part) {
        case ConvolutionPart::kForward:
          read_patches(g, own_x, patches);
          output.noalias() = filter * patch;
          break;
        case ConvolutionPart::kFilter:
          read_patches(g, own_x, patches);
          filter.noalias() += output * patch.transpose();
          break;
        case ConvolutionPart::kInput:
          patch.noalias() = filter.transpose() * output;
          for_each_patch(g, [&](size_t from, size_t place) { own_x[place] += patches[from]; });
          break;
      }
    }
  }
}

Maybe<Outputs> convolution(const Call& call, ConvolutionPart part, const Tensor& x, const Tensor& w, const Tensor& dy,
                           const Shape& result) {
  Shape shape_x = x ? x->shape : result, shape_w = w ? w->shape : result, shape_y = dy ? dy->shape : result;
  MSDUMP_TRY(const Geometry g, geometry_of(call, shape_x, shape_w, shape_y));
  if (const auto patches = element_count({g.patch(), g.places()}); !patches || *patches > kMostPatch)
    return unjudged(Reason::kTooLarge);
  if (g.multiplications() > kMostMultiplications) return unjudged(Reason::kTooLarge);
  Array parts[2][3];  // of values and of absolute values: x, w, y
  for (const bool terms : {false, true}) {
    const auto part_of = [&](const Tensor& given, const Shape& shape) {
      return given ? (terms ? absolute(*given) : *given) : make_array(shape);
    };
    Array* const own = parts[terms ? 1 : 0];
    own[0] = part_of(x, shape_x), own[1] = part_of(w, shape_w), own[2] = part_of(dy, shape_y);
    convolve(g, part, own[0].values.data(), own[1].values.data(), own[2].values.data());
  }
  const size_t wanted = part == ConvolutionPart::kInput ? 0 : part == ConvolutionPart::kFilter ? 1 : 2;
  const int64_t length = part == ConvolutionPart::kForward  ? g.patch()
                         : part == ConvolutionPart::kFilter ? g.n * g.places()
                                                            : g.filters() * g.kh * g.kw;
  return one_output(std::move(parts[0][wanted]), std::move(parts[1][wanted].values), static_cast<double>(length));
}

Maybe<Outputs> conv(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor w, call.tensor("w"));
  MSDUMP_TRY(const Tensor bias, call.tensor_if("bias"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr) return unjudged(Reason::kShape);
  MSDUMP_TRY(Outputs outputs, convolution(call, ConvolutionPart::kForward, x, w, nullptr, *shape));
  if (!bias) return outputs;
  Answer& answer = outputs.front().answers.front();
  if (shape->size() < 2 || bias->size() != (*shape)[1]) return unjudged(Reason::kShape);
  const int64_t inner = size_of(Shape(shape->begin() + 2, shape->end()));
  for (size_t i = 0; i < answer.y.values.size(); ++i) {
    const double value = bias->values[i / static_cast<size_t>(inner) % bias->values.size()];
    answer.y.values[i] += value;
    answer.terms[i] += std::fabs(value);
  }
  return outputs;
}

Maybe<Outputs> conv_input(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Tensor w, call.tensor("w"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr) return unjudged(Reason::kShape);
  return convolution(call, ConvolutionPart::kInput, nullptr, w, dy, *shape);
}

Maybe<Outputs> conv_filter(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr) return unjudged(Reason::kShape);
  return convolution(call, ConvolutionPart::kFilter, x, nullptr, dy, *shape);
}

// softmax(q k^T scale + mask) v over the last two axes.
Maybe<Outputs> attention(const Call& call) {
  MSDUMP_TRY(const Tensor q, call.tensor("q"));
  MSDUMP_TRY(const Tensor k, call.tensor("k"));
  MSDUMP_TRY(const Tensor v, call.tensor("v"));
  MSDUMP_TRY(const Tensor mask, call.tensor_if("mask"));
  if (call.number_or("dropout_p", 0) != 0) return unjudged(Reason::kRandom);
  if (call.flag_or("enable_gqa", false)) return unjudged(Reason::kUnknownArgument, "enable_gqa");
  if (q->rank() < 2 || k->rank() != q->rank() || v->rank() != q->rank()) return unjudged(Reason::kShape);
  const double scale = call.number_or("scale", 1 / std::sqrt(static_cast<double>(q->shape.back())));
  MSDUMP_TRY(Array scores, matmul(*q, *k, false, true));
  MSDUMP_TRY(Array size, matmul(absolute(*q), absolute(*k), false, true));
  const int64_t keys = scores.shape.back(), queries = scores.shape[scores.rank() - 2];
  for (double& value : scores.values) value *= scale;
  if (mask) {
    const bool chooses = mask->dtype == DType::kBool;
    MSDUMP_TRY(scores, fitted(combine(scores, *mask, [=](double s, double m) {
                 return chooses ? (m != 0 ? s : -std::numeric_limits<double>::infinity()) : s + m;
               })));
  }
  if (size.shape != scores.shape) return unjudged(Reason::kShape);  // the mask has more axes
  const bool causal = call.flag_or("is_causal", false);
  for (int64_t row = 0; row < scores.size() / std::max<int64_t>(keys, 1); ++row) {
    double* const begin = scores.values.data() + row * keys;
    if (causal) {
      for (int64_t i = row % queries + 1; i < keys; ++i) begin[i] = -std::numeric_limits<double>::infinity();
    }
    const double most = *std::max_element(begin, begin + keys);
    double total = 0;
    for (int64_t i = 0; i < keys; ++i) total += begin[i] = std::exp(begin[i] - most);
    double reach = 0;  // the largest |q k| of the row, which the exponent multiplies
    for (int64_t i = 0; i < keys; ++i) {
      begin[i] /= total;
      if (begin[i] > 0) reach = std::max(reach, size.values[static_cast<size_t>(row * keys + i)] * std::fabs(scale));
    }
    for (int64_t i = 0; i < keys; ++i) size.values[static_cast<size_t>(row * keys + i)] = begin[i] * (2 + reach);
  }
  MSDUMP_TRY(Array y, matmul(scores, *v, false, false));
  MSDUMP_TRY(Array terms, matmul(size, absolute(*v), false, false));
  return one_output(std::move(y), std::move(terms.values), static_cast<double>(keys));
}

constexpr Kernel kProductsKernels[] = {
    {"matmul", Arithmetic::kProduct, 4, mat_mul, nullptr, sample_mat_mul},
    {"linear", Arithmetic::kProduct, 4, linear, nullptr, sample_linear},
    {"addmm", Arithmetic::kProduct, 4, add_mm, nullptr, sample_add_mm},
    {"outer", Arithmetic::kProduct, 4, outer},
    {"conv", Arithmetic::kProduct, 4, conv, nullptr, sample_conv},
    {"conv_input", Arithmetic::kProduct, 4, conv_input, nullptr, sample_conv_input},
    {"conv_filter", Arithmetic::kProduct, 4, conv_filter, nullptr, sample_conv_filter},
    {"attention", Arithmetic::kProduct, 16, attention},
};

}  // namespace

std::span<const Kernel> product_kernels() { return kProductsKernels; }

}  // namespace msdump::recompute
