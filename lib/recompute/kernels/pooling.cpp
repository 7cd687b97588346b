#include <algorithm>
#include <cmath>
#include <limits>

#include "recompute/kernels/kernels.h"

namespace msdump::recompute {
namespace {

// The windows of a pool over the last one or two axes.
struct Windows {
  int64_t planes = 1, h = 1, w = 1, ho = 1, wo = 1;
  int64_t kh = 1, kw = 1, sh = 1, sw = 1, top = 0, left = 0;

  struct Window {
    int64_t y0, y1, x0, x1;
    int64_t area;    // of the elements inside
    int64_t padded;  // with padding, up to its end
  };
  [[nodiscard]] Window at(int64_t y, int64_t x) const {
    const int64_t begin_y = y * sh - top, begin_x = x * sw - left;
    Window window{std::max<int64_t>(0, begin_y),
                  std::min(h, begin_y + kh),
                  std::max<int64_t>(0, begin_x),
                  std::min(w, begin_x + kw),
                  0,
                  0};
    window.area = std::max<int64_t>(0, window.y1 - window.y0) * std::max<int64_t>(0, window.x1 - window.x0);
    window.padded = (std::min(begin_y + kh, h + top) - begin_y) * (std::min(begin_x + kw, w + left) - begin_x);
    return window;
  }
};

std::pair<int64_t, int64_t> last_pair(const std::vector<int64_t>& numbers, bool one_dimension) {
  if (one_dimension) return {1, numbers.back()};
  return numbers.size() == 1 ? std::pair(numbers[0], numbers[0])
                             : std::pair(numbers[numbers.size() - 2], numbers.back());
}

Maybe<Windows> windows_of(const Call& call, const Shape& x, const Shape& y) {
  const bool one_dimension = call.has("one_dimension");
  const size_t axes = one_dimension ? 1 : 2;
  if (x.size() < axes + 1 || x.size() != y.size()) return unjudged(Reason::kShape);
  if (const std::string format = call.text("format") + call.text("data_format");
      format.find("nhwc") != std::string::npos)
    return unjudged(Reason::kUnknownArgument, "data_format");
  if (const auto dilation = call.integers_if("dilation")) {
    if (std::any_of(dilation->begin(), dilation->end(), [](int64_t d) { return d != 1; }))
      return unjudged(Reason::kUnknownArgument, "dilation");
  }
  Windows windows;
  MSDUMP_TRY(const std::vector<int64_t> kernel, call.integers("kernel_size"));
  if (kernel.empty()) return unjudged(Reason::kUnknownArgument, "kernel_size");
  const auto strides = call.integers_if("strides");
  std::tie(windows.kh, windows.kw) = last_pair(kernel, one_dimension);
  std::tie(windows.sh, windows.sw) = last_pair(strides && !strides->empty() ? *strides : kernel, one_dimension);
  windows.w = x.back(), windows.wo = y.back();
  if (!one_dimension) windows.h = x[x.size() - 2], windows.ho = y[y.size() - 2];
  windows.planes = size_of(Shape(x.begin(), x.end() - static_cast<std::ptrdiff_t>(axes)));
  if (windows.planes != size_of(Shape(y.begin(), y.end() - static_cast<std::ptrdiff_t>(axes))))
    return unjudged(Reason::kShape);
  if (std::min({windows.kh, windows.kw, windows.sh, windows.sw}) < 1) return unjudged(Reason::kShape);
  constexpr int64_t kMostExtent = int64_t{1} << 20;  // of a real network; larger ones would overflow
  if (std::max({windows.kh, windows.kw, windows.sh, windows.sw}) > kMostExtent) return unjudged(Reason::kShape);
  const std::string mode = call.text("pad_mode");
  if (const auto pad = call.integers_if("padding"); pad && !pad->empty()) {
    std::tie(windows.top, windows.left) = last_pair(*pad, one_dimension);
    if (one_dimension) windows.top = 0;
  } else if (mode == "same" || mode == "1") {
    windows.top = std::max<int64_t>(0, (windows.ho - 1) * windows.sh + windows.kh - windows.h) / 2;
    windows.left = std::max<int64_t>(0, (windows.wo - 1) * windows.sw + windows.kw - windows.w) / 2;
  } else if (mode != "valid" && mode != "2" && !mode.empty()) {
    return unjudged(Reason::kUnknownArgument, "pad_mode");
  }
  if (windows.top < 0 || windows.left < 0 || windows.top >= windows.kh + windows.h ||
      windows.left >= windows.kw + windows.w)
    return unjudged(Reason::kShape);
  return windows;
}

Maybe<Outputs> max_pool(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr) return unjudged(Reason::kShape);
  MSDUMP_TRY(const Windows windows, windows_of(call, x->shape, *shape));
  Array y = make_array(*shape);
  double* out = y.values.data();
  for (int64_t plane = 0; plane < windows.planes; ++plane) {
    const double* const in = x->values.data() + plane * windows.h * windows.w;
    for (int64_t i = 0; i < windows.ho; ++i) {
      for (int64_t j = 0; j < windows.wo; ++j) {
        const Windows::Window window = windows.at(i, j);
        double most = -std::numeric_limits<double>::infinity();
        for (int64_t row = window.y0; row < window.y1; ++row) {
          for (int64_t column = window.x0; column < window.x1; ++column) {
            const double value = in[row * windows.w + column];
            most = std::isnan(most) || most > value ? most : value;
          }
        }
        *out++ = most;
      }
    }
  }
  return one_output(std::move(y));
}

// The largest element of a window: the first of equal ones, or the last. -1: the window is empty.
int64_t largest_of(const Windows& windows, const Windows::Window& window, const double* plane, bool last) {
  int64_t best = -1;
  for (int64_t row = window.y0; row < window.y1; ++row) {
    for (int64_t column = window.x0; column < window.x1; ++column) {
      const int64_t at = row * windows.w + column;
      if (best < 0 || plane[at] > plane[best] || (last && plane[at] == plane[best])) best = at;
    }
  }
  return best;
}

// The largest elements, and where they are in their plane.
Maybe<Outputs> max_pool_argmax(const Call& call) {
  MSDUMP_TRY(Outputs outputs, max_pool(call));
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  const Array& y = outputs.front().answers.front().y;
  MSDUMP_TRY(const Windows windows, windows_of(call, x->shape, y.shape));
  Output index{"index", {}};
  for (const bool last : {false, true}) {
    Array places = make_array(y.shape);
    for (size_t i = 0; i < places.values.size(); ++i) {
      const auto place = static_cast<int64_t>(i);
      const int64_t plane = place / (windows.ho * windows.wo);
      const Windows::Window window = windows.at(place / windows.wo % windows.ho, place % windows.wo);
      const double* const in = x->values.data() + plane * windows.h * windows.w;
      // Of a window with a NaN the kernel says anything.
      places.values[i] =
          std::isnan(y.values[i]) ? y.values[i] : static_cast<double>(largest_of(windows, window, in, last));
    }
    index.answers.push_back({std::move(places), {}, 0, last ? "last of equals" : ""});
  }
  outputs.push_back(std::move(index));
  return outputs;
}

// dy goes to the place in its plane that the forward operator saved.
Maybe<Outputs> max_pool_argmax_grad(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Tensor index, call.tensor("index"));
  if (x->rank() < 3 || dy->rank() != x->rank() || index->size() != dy->size() || dy->size() == 0)
    return unjudged(Reason::kShape);
  const int64_t plane = x->shape[x->rank() - 2] * x->shape.back();
  const int64_t windows = dy->shape[dy->rank() - 2] * dy->shape.back();
  if (x->size() / std::max<int64_t>(plane, 1) != dy->size() / std::max<int64_t>(windows, 1))
    return unjudged(Reason::kShape);
  Array y = make_array(x->shape), terms = y;
  for (size_t i = 0; i < dy->values.size(); ++i) {
    const double place = index->values[i];
    if (!(place >= 0 && place < static_cast<double>(plane))) return unjudged(Reason::kUnknownArgument, "index");
    const auto at = static_cast<size_t>(static_cast<int64_t>(i) / windows * plane + static_cast<int64_t>(place));
    y.values[at] += dy->values[i];
    terms.values[at] += std::fabs(dy->values[i]);
  }
  return one_output(std::move(y), std::move(terms.values), 4);
}

// The gradient goes to the largest element of a window.
Maybe<Outputs> max_pool_grad(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Windows windows, windows_of(call, x->shape, dy->shape));
  Output output{"y", {}};
  for (const bool last : {false, true}) {
    Array y = make_array(x->shape), terms = make_array(x->shape);
    const double* in_dy = dy->values.data();
    for (int64_t plane = 0; plane < windows.planes; ++plane) {
      const int64_t base = plane * windows.h * windows.w;
      for (int64_t i = 0; i < windows.ho; ++i) {
        for (int64_t j = 0; j < windows.wo; ++j) {
          const double gradient = *in_dy++;
          const Windows::Window window = windows.at(i, j);
          int64_t best = largest_of(windows, window, x->values.data() + base, last);
          if (best < 0) continue;
          best += base;
          y.values[static_cast<size_t>(best)] += gradient;
          terms.values[static_cast<size_t>(best)] += std::fabs(gradient);
        }
      }
    }
    output.answers.push_back({std::move(y), std::move(terms.values), 4, last ? "last of equals" : ""});
  }
  Outputs outputs;
  outputs.push_back(std::move(output));
  return outputs;
}

// The number that the sum of a window is divided by.
double divisor_of(const Windows& windows, const Windows::Window& window, bool count_include_pad, int64_t override) {
  if (override > 0) return static_cast<double>(override);
  (void)windows;
  return static_cast<double>(std::max<int64_t>(1, count_include_pad ? window.padded : window.area));
}

Maybe<Outputs> avg_pool(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr) return unjudged(Reason::kShape);
  MSDUMP_TRY(const Windows windows, windows_of(call, x->shape, *shape));
  const bool include = call.flag_or("count_include_pad", false);
  const int64_t override = call.integer_or("divisor_override", 0);
  Array y = make_array(*shape);
  std::vector<double> terms(y.values.size());
  size_t out = 0;
  for (int64_t plane = 0; plane < windows.planes; ++plane) {
    const double* const in = x->values.data() + plane * windows.h * windows.w;
    for (int64_t i = 0; i < windows.ho; ++i) {
      for (int64_t j = 0; j < windows.wo; ++j, ++out) {
        const Windows::Window window = windows.at(i, j);
        double sum = 0, size = 0;
        for (int64_t row = window.y0; row < window.y1; ++row) {
          for (int64_t column = window.x0; column < window.x1; ++column) {
            sum += in[row * windows.w + column];
            size += std::fabs(in[row * windows.w + column]);
          }
        }
        const double divisor = divisor_of(windows, window, include, override);
        y.values[out] = sum / divisor;
        terms[out] = size / divisor;
      }
    }
  }
  return one_output(std::move(y), std::move(terms), static_cast<double>(windows.kh * windows.kw));
}

Maybe<Outputs> avg_pool_grad(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr) return unjudged(Reason::kShape);
  MSDUMP_TRY(const Windows windows, windows_of(call, *shape, dy->shape));
  const bool include = call.flag_or("count_include_pad", false);
  const int64_t override = call.integer_or("divisor_override", 0);
  Array y = make_array(*shape), terms = y;
  size_t in = 0;
  for (int64_t plane = 0; plane < windows.planes; ++plane) {
    const int64_t base = plane * windows.h * windows.w;
    for (int64_t i = 0; i < windows.ho; ++i) {
      for (int64_t j = 0; j < windows.wo; ++j) {
        const Windows::Window window = windows.at(i, j);
        const double part = dy->values[in++] / divisor_of(windows, window, include, override);
        for (int64_t row = window.y0; row < window.y1; ++row) {
          for (int64_t column = window.x0; column < window.x1; ++column) {
            y.values[static_cast<size_t>(base + row * windows.w + column)] += part;
            terms.values[static_cast<size_t>(base + row * windows.w + column)] += std::fabs(part);
          }
        }
      }
    }
  }
  return one_output(std::move(y), std::move(terms.values), 4);
}

// The bounds of output i of an adaptive pool.
std::pair<int64_t, int64_t> adaptive_bounds(int64_t i, int64_t out, int64_t in) {
  return {i * in / out, ((i + 1) * in + out - 1) / out};
}

Maybe<Outputs> adaptive_avg_pool(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr || shape->size() != x->rank() || x->rank() < 3) return unjudged(Reason::kShape);
  const int64_t h = x->shape[x->rank() - 2], w = x->shape.back(), ho = (*shape)[x->rank() - 2], wo = shape->back();
  if (h < 1 || w < 1 || ho < 1 || wo < 1 || x->size() / (h * w) != size_of(*shape) / (ho * wo))
    return unjudged(Reason::kShape);
  Array y = make_array(*shape);
  std::vector<double> terms(y.values.size());
  double length = 0;
  size_t out = 0;
  for (int64_t plane = 0; plane < x->size() / (h * w); ++plane) {
    for (int64_t i = 0; i < ho; ++i) {
      for (int64_t j = 0; j < wo; ++j, ++out) {
        const auto [y0, y1] = adaptive_bounds(i, ho, h);
        const auto [x0, x1] = adaptive_bounds(j, wo, w);
        const auto area = static_cast<double>((y1 - y0) * (x1 - x0));
        for (int64_t row = y0; row < y1; ++row) {
          for (int64_t column = x0; column < x1; ++column) {
            const double value = x->values[static_cast<size_t>((plane * h + row) * w + column)] / area;
            y.values[out] += value;
            terms[out] += std::fabs(value);
          }
        }
        length = std::max(length, area);
      }
    }
  }
  return one_output(std::move(y), std::move(terms), length);
}

// Where the samples of a resized axis lie: between `lower` and `upper`, `share` of the way.
struct ResizedAxis {
  std::vector<int64_t> lower, upper;
  std::vector<double> share;
};

ResizedAxis resized_axis(int64_t in, int64_t out, bool align_corners, bool half_pixel) {
  const bool corners = align_corners && out > 1;
  const double scale = corners ? static_cast<double>(in - 1) / static_cast<double>(out - 1)
                               : static_cast<double>(in) / static_cast<double>(out);
  ResizedAxis axis;
  for (int64_t i = 0; i < out; ++i) {
    const double at =
        half_pixel && !align_corners ? (static_cast<double>(i) + 0.5) * scale - 0.5 : static_cast<double>(i) * scale;
    const double inside = std::clamp(at, 0.0, static_cast<double>(in - 1));
    axis.lower.push_back(static_cast<int64_t>(inside));
    axis.upper.push_back(std::min(axis.lower.back() + 1, in - 1));
    axis.share.push_back(inside - std::floor(inside));
  }
  return axis;
}

// Visits (from, to, weight, reach) for each sample of the two last axes: element `from` of x enters element `to` of y.
// Places are computed in float32: a weight is off by `reach` roundoffs.
template <class Visit>
void visit_samples(const Call& call, const Shape& x, const Shape& y, const Visit& visit) {
  const int64_t h = x[x.size() - 2], w = x.back(), ho = y[y.size() - 2], wo = y.back();
  const bool corners = call.flag_or("align_corners", false), half = call.flag_or("half_pixel_centers", false);
  const ResizedAxis rows = resized_axis(h, ho, corners, half), columns = resized_axis(w, wo, corners, half);
  for (int64_t plane = 0; plane < size_of(x) / (h * w); ++plane) {
    for (int64_t i = 0; i < ho; ++i) {
      for (int64_t j = 0; j < wo; ++j) {
        const auto at_i = static_cast<size_t>(i), at_j = static_cast<size_t>(j);
        const auto to = static_cast<size_t>((plane * ho + i) * wo + j);
        const double reach = static_cast<double>(rows.upper[at_i] + columns.upper[at_j]);
        for (const bool lower : {false, true}) {
          for (const bool right : {false, true}) {
            const int64_t row = lower ? rows.upper[at_i] : rows.lower[at_i];
            const int64_t column = right ? columns.upper[at_j] : columns.lower[at_j];
            const double weight = (lower ? rows.share[at_i] : 1 - rows.share[at_i]) *
                                  (right ? columns.share[at_j] : 1 - columns.share[at_j]);
            visit(static_cast<size_t>((plane * h + row) * w + column), to, weight, reach);
          }
        }
      }
    }
  }
}

bool resizes(const Shape& x, const Shape& y) {
  if (x.size() != 4 || y.size() != 4 || x[0] != y[0] || x[1] != y[1]) return false;
  return std::min({x[2], x[3], y[2], y[3]}) > 0;
}

Maybe<Outputs> resize_bilinear(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr || !resizes(x->shape, *shape)) return unjudged(Reason::kShape);
  Array y = make_array(*shape), terms = y;
  visit_samples(call, x->shape, *shape, [&](size_t from, size_t to, double weight, double reach) {
    y.values[to] += weight * x->values[from];
    terms.values[to] += (weight + reach * 0x1p-2) * std::fabs(x->values[from]);
  });
  return one_output(std::move(y), std::move(terms.values), 4);
}

Maybe<Outputs> resize_bilinear_grad(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr || !resizes(*shape, dy->shape)) return unjudged(Reason::kShape);
  Array y = make_array(*shape), terms = y;
  visit_samples(call, *shape, dy->shape, [&](size_t to, size_t from, double weight, double reach) {
    y.values[to] += weight * dy->values[from];
    terms.values[to] += (weight + reach * 0x1p-2) * std::fabs(dy->values[from]);
  });
  return one_output(std::move(y), std::move(terms.values), 16);
}

constexpr Kernel kPoolingKernels[] = {
    {"max_pool", Arithmetic::kExact, 0, max_pool},
    {"max_pool_argmax", Arithmetic::kExact, 0, max_pool_argmax},
    {"max_pool_argmax_grad", Arithmetic::kReduction, 4, max_pool_argmax_grad},
    {"resize_bilinear", Arithmetic::kReduction, 4, resize_bilinear},
    {"resize_bilinear_grad", Arithmetic::kReduction, 4, resize_bilinear_grad},
    {"max_pool_grad", Arithmetic::kReduction, 4, max_pool_grad},
    {"avg_pool", Arithmetic::kReduction, 4, avg_pool},
    {"avg_pool_grad", Arithmetic::kReduction, 4, avg_pool_grad},
    {"adaptive_avg_pool", Arithmetic::kReduction, 4, adaptive_avg_pool},
};

}  // namespace

std::span<const Kernel> pooling_kernels() { return kPoolingKernels; }

}  // namespace msdump::recompute
