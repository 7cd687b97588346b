#include <algorithm>

#include "support/noisy_net/kernels.h"

namespace msdump::noisy {
namespace {

Numbers factors(const Tensor& tensor, const Arithmetic& how) {
  Numbers result = tensor.v;
  if (how.product_bits != 0) {
    for (double& x : result) x = how.factor(x);
  }
  return result;
}

// A product of two float32 is rounded before it is added; one of two float16 is exact in float32.
double product(const Arithmetic& how, double a, double b) { return how.inner(a * b); }

void matmul(KernelCall& call) {
  const Arithmetic& how = *call.how;
  const Tensor &a = *call.in[0], &b = *call.in[1];
  const bool ta = call.scalar(2) != 0, tb = (call.scalar(3) != 0) != call.twist.transposed;
  Tensor& out = call.out[0];
  const int64_t rows = out.shape[out.shape.size() - 2], columns = out.shape.back();
  const int64_t length = ta ? a.shape[a.shape.size() - 2] : a.shape.back();
  const int64_t summed = call.twist.part ? length - std::max<int64_t>(1, length / 8) : length;
  const Numbers x = factors(a, how), y = factors(b, how);
  const int64_t batches = elements(out.shape) / (rows * columns);
  for (int64_t batch = 0; batch < batches; ++batch) {
    const double* left = x.data() + batch * rows * length;
    const double* right = y.data() + batch * length * columns;
    for (int64_t i = 0; i < rows; ++i) {
      const double* row = left + (ta ? i : i * length);
      const int64_t along_row = ta ? rows : 1;
      for (int64_t j = 0; j < columns; ++j) {
        const double* column = right + (tb ? j * length : j);
        const int64_t along_column = tb ? 1 : columns;
        out.v[static_cast<size_t>((batch * rows + i) * columns + j)] =
            how.sum(summed, [&](int64_t k) { return product(how, row[k * along_row], column[k * along_column]); });
      }
    }
  }
}

struct Window {
  int64_t batch, from, to, height, width, kernel;

  Window(const Shape& x, const Shape& filter)
      : batch(x[0]), from(filter[1]), to(filter[0]), height(x[2]), width(x[3]), kernel(filter[2]) {}
  [[nodiscard]] bool inside(int64_t row, int64_t column) const {
    return row >= 0 && row < height && column >= 0 && column < width;
  }
  [[nodiscard]] size_t at(int64_t image, int64_t channels, int64_t channel, int64_t row, int64_t column) const {
    return static_cast<size_t>(((image * channels + channel) * height + row) * width + column);
  }
  [[nodiscard]] size_t weight(int64_t out, int64_t in, int64_t row, int64_t column) const {
    return static_cast<size_t>(((out * from + in) * kernel + row) * kernel + column);
  }
};

// y[o] = sum over i and the window of x[i] w[o, i]; `backward`: x and y change places, and the window turns.
void convolve(KernelCall& call, const Window& window, bool backward) {
  const Arithmetic& how = *call.how;
  const Numbers x = factors(*call.in[0], how), w = factors(*call.in[1], how);
  Numbers& out = call.out[0].v;
  const int64_t sources = backward ? window.to : window.from, targets = backward ? window.from : window.to;
  const int64_t size = window.kernel, margin = size / 2;
  std::vector<double> terms;
  for (int64_t image = 0; image < window.batch; ++image) {
    for (int64_t target = 0; target < targets; ++target) {
      for (int64_t row = 0; row < window.height; ++row) {
        for (int64_t column = 0; column < window.width; ++column) {
          terms.clear();
          for (int64_t source = 0; source < sources; ++source) {
            for (int64_t k = 0; k < size * size; ++k) {
              const int64_t down = k / size, right = k % size;
              const int64_t r = backward ? row - down + margin : row + down - margin;
              const int64_t c = backward ? column - right + margin : column + right - margin;
              if (!window.inside(r, c)) continue;
              const size_t weight =
                  backward ? window.weight(source, target, down, right) : window.weight(target, source, down, right);
              terms.push_back(product(how, x[window.at(image, sources, source, r, c)], w[weight]));
            }
          }
          out[window.at(image, targets, target, row, column)] =
              how.sum(static_cast<int64_t>(terms.size()), [&](int64_t i) { return terms[static_cast<size_t>(i)]; });
        }
      }
    }
  }
}

void filter_gradient(KernelCall& call) {
  const Arithmetic& how = *call.how;
  const Window window(call.in[1]->shape, call.out[0].shape);
  const Numbers dy = factors(*call.in[0], how), x = factors(*call.in[1], how);
  const int64_t images = call.twist.part ? window.batch - std::max<int64_t>(1, window.batch / 8) : window.batch;
  const int64_t margin = window.kernel / 2;
  for (int64_t out = 0; out < window.to; ++out) {
    for (int64_t in = 0; in < window.from; ++in) {
      for (int64_t k = 0; k < window.kernel * window.kernel; ++k) {
        const int64_t down = k / window.kernel, right = k % window.kernel;
        call.out[0].v[window.weight(out, in, down, right)] =
            how.sum(images * window.height * window.width, [&](int64_t i) {
              const int64_t image = i / (window.height * window.width);
              const int64_t row = i / window.width % window.height, column = i % window.width;
              const int64_t r = row + down - margin, c = column + right - margin;
              if (!window.inside(r, c)) return 0.0;
              return product(how, dy[window.at(image, window.to, out, row, column)],
                             x[window.at(image, window.from, in, r, c)]);
            });
      }
    }
  }
}

}  // namespace

bool compute_products(KernelCall& call) {
  const std::string& type = call.node->type;
  if (type == "MatMul" || type == "BatchMatMul") {
    matmul(call);
  } else if (type == "Conv2D") {
    convolve(call, Window(call.in[0]->shape, call.in[1]->shape), false);
  } else if (type == "Conv2DBackpropInput") {
    convolve(call, Window(call.in[0]->shape, call.in[1]->shape), true);
  } else if (type == "Conv2DBackpropFilter") {
    filter_gradient(call);
  } else {
    return false;
  }
  return true;
}

}  // namespace msdump::noisy
