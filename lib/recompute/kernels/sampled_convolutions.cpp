// Convolutions and their gradients that are too large to compute in full: some rows, and a projection of all (projection.h). A row is
// a place of the output, or of the filter; its columns are channels.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "kernels/product/add_product.h"
#include "recompute/kernels/kernels.h"
#include "recompute/kernels/products.h"

namespace msdump::recompute {
namespace {

// Multiplications that are left of a projected convolution.
constexpr double kMostProjected = 0x1p33;

// A convolution or its gradient. Images are read one by one; each group of channels is an image of its own, with its own filters.
class SampledConvolution {
 public:
  // x, w, dy: the result is null.
  SampledConvolution(const Geometry& g, int64_t groups, ConvolutionPart part, Tensor x, Tensor w, Tensor dy,
                     Tensor bias)
      : g_(g),
        groups_(groups),
        part_(part),
        x_(std::move(x)),
        w_(std::move(w)),
        dy_(std::move(dy)),
        bias_(std::move(bias)) {
    for (int64_t group = 0; group < groups_; ++group)
      projected_bias_.push_back(
          project_columns(bias_ ? bias_->values.data() + group * g_.o : nullptr, 1, bias_ ? g_.o : 0, 1));
  }

  [[nodiscard]] static Maybe<SampledOutput> make(std::string name, Geometry g, ConvolutionPart part, Tensor x, Tensor w,
                                                 Tensor dy, Tensor bias = nullptr) {
    const bool forward = part == ConvolutionPart::kForward, input = part == ConvolutionPart::kInput;
    if (bias && bias->size() != g.o) return unjudged(Reason::kShape);
    const int64_t groups = g.groups;
    g.n *= groups, g.c /= groups, g.o /= groups, g.groups = 1;
    const int64_t columns = input ? g.c : g.o;
    if (g.multiplications() / static_cast<double>(columns) * (kProjectedParts + 1) > kMostProjected)
      return unjudged(Reason::kTooLarge);
    const int64_t held =
        std::max({g.c * g.h * g.w, g.o * g.places(), groups * std::max(g.o, 2 * kProjectedParts) * g.patch()});
    if (held > kMostHeld || kProjectedParts * std::max(g.h * g.w, g.places()) > kMostHeld)
      return unjudged(Reason::kTooLarge);
    SampledOutput output;
    output.name = std::move(name);
    // Rows of a group are short, and a projection of them costs as much as the output: only what cannot be computed in full is sampled.
    const bool is_short = groups > 1 && g.multiplications() <= kMostMultiplications;
    output.multiplications = is_short ? 1 : g.multiplications();
    output.rows = {part == ConvolutionPart::kFilter ? groups : g.n, columns,
                   forward ? g.places()
                   : input ? g.h * g.w
                           : g.patch()};
    output.length = static_cast<double>(forward ? g.patch() : input ? g.o * g.kh * g.kw : g.n * g.places());
    const auto convolution = std::make_shared<const SampledConvolution>(g, groups, part, std::move(x), std::move(w),
                                                                        std::move(dy), std::move(bias));
    output.compute = [convolution](const auto& rows, const auto& visit) { return convolution->compute(rows, visit); };
    output.project = [convolution](const auto& visit) { return convolution->project(visit); };
    return output;
  }

 private:
  // The places of a row of y that read a row of x under row i, column j of the filter: y from `begin` to `end`, x from `in`.
  struct RowPair {
    int64_t i = 0, j = 0, out_row = 0, in_row = 0, begin = 0, end = 0;
    [[nodiscard]] int64_t in(const Geometry& g, int64_t x) const { return x * g.sw - g.left + j * g.dw; }
  };
  template <class Visit>
  void for_each_row_pair(const Visit& visit) const {
    for (int64_t i = 0; i < g_.kh; ++i) {
      for (int64_t j = 0; j < g_.kw; ++j) {
        const int64_t shift = j * g_.dw - g_.left;
        const int64_t begin = shift < 0 ? (-shift + g_.sw - 1) / g_.sw : 0;
        const int64_t end = g_.w <= shift ? 0 : std::min(g_.wo, (g_.w - shift + g_.sw - 1) / g_.sw);
        for (int64_t out_row = 0; begin < end && out_row < g_.ho; ++out_row) {
          const int64_t in_row = out_row * g_.sh - g_.top + i * g_.dh;
          if (in_row >= 0 && in_row < g_.h) visit(RowPair{i, j, out_row, in_row, begin, end});
        }
      }
    }
  }

  [[nodiscard]] Maybe<const double*> image_of(const Tensor& x, int64_t n, std::vector<double>& buffer) const {
    const int64_t size = size_of(x->shape) / g_.n;
    return elements_of(*x, n * size, size, buffer);
  }
  [[nodiscard]] Maybe<std::vector<double>> filter() const {
    std::vector<double> buffer;
    const int64_t size = size_of(w_->shape);
    MSDUMP_TRY(const double* const elements, elements_of(*w_, 0, size, buffer));
    return std::vector<double>(elements, elements + size);
  }
  // Filters of a group, columns by parts: by group.
  [[nodiscard]] std::vector<ProjectedColumns> project_filters(const std::vector<double>& w, int64_t outer,
                                                              int64_t columns, int64_t inner) const {
    std::vector<ProjectedColumns> filters;
    for (int64_t group = 0; group < groups_; ++group)
      filters.push_back(project_columns(w.data() + group * g_.o * g_.patch(), outer, columns, inner));
    return filters;
  }
  [[nodiscard]] size_t group_of(int64_t image) const { return static_cast<size_t>(image % groups_); }
  [[nodiscard]] int64_t tap(int64_t c, int64_t i, int64_t j) const { return (c * g_.kh + i) * g_.kw + j; }

  // All columns of some rows.
  Maybe<void> compute(const std::vector<int64_t>& rows, const SampledOutput::VisitRow& visit) const {
    if (part_ == ConvolutionPart::kFilter) return compute_filter(rows, visit);
    MSDUMP_TRY(const std::vector<double> w, filter());
    const bool forward = part_ == ConvolutionPart::kForward;
    const int64_t inner = forward ? g_.places() : g_.h * g_.w, columns = forward ? g_.o : g_.c;
    std::vector<double> buffer;
    const double* image = nullptr;
    int64_t opened = -1;
    for (const int64_t row : rows) {
      if (row / inner != opened) {
        opened = row / inner;
        MSDUMP_TRY(image, image_of(forward ? x_ : dy_, opened, buffer));
      }
      std::vector<double> y(static_cast<size_t>(columns)), terms(static_cast<size_t>(columns));
      const auto add = [&](int64_t column, double left, double right) {
        y[static_cast<size_t>(column)] += left * right;
        terms[static_cast<size_t>(column)] += std::fabs(left * right);
      };
      const int64_t at = row % inner, group = opened % groups_;
      const double* const filters = w.data() + group * g_.o * g_.patch();
      for_each_row_pair([&](const RowPair& pair) {
        if (forward) {
          const int64_t x = at % g_.wo;
          if (pair.out_row != at / g_.wo || x < pair.begin || x >= pair.end) return;
          for (int64_t c = 0; c < g_.c; ++c) {
            const double value = image[(c * g_.h + pair.in_row) * g_.w + pair.in(g_, x)];
            for (int64_t o = 0; o < g_.o; ++o) add(o, value, filters[o * g_.patch() + tap(c, pair.i, pair.j)]);
          }
          return;
        }
        if (pair.in_row != at / g_.w) return;
        const int64_t from = at % g_.w - pair.in(g_, 0);
        if (from % g_.sw != 0 || from / g_.sw < pair.begin || from / g_.sw >= pair.end) return;
        for (int64_t o = 0; o < g_.o; ++o) {
          const double value = image[(o * g_.ho + pair.out_row) * g_.wo + from / g_.sw];
          for (int64_t c = 0; c < g_.c; ++c) add(c, value, filters[o * g_.patch() + tap(c, pair.i, pair.j)]);
        }
      });
      for (size_t o = 0; bias_ && o < y.size(); ++o) {
        const double bias = bias_->values[static_cast<size_t>(group * g_.o) + o];
        y[o] += bias;
        terms[o] += std::fabs(bias);
      }
      MSDUMP_CHECK_OK(visit(row, std::move(y), std::move(terms)));
    }
    return {};
  }

  Maybe<void> compute_filter(const std::vector<int64_t>& rows, const SampledOutput::VisitRow& visit) const {
    std::vector<std::vector<double>> y(rows.size(), std::vector<double>(static_cast<size_t>(g_.o))), terms = y;
    std::vector<double> of_x, of_dy;
    for (int64_t n = 0; n < g_.n; ++n) {
      MSDUMP_TRY(const double* const x, image_of(x_, n, of_x));
      MSDUMP_TRY(const double* const dy, image_of(dy_, n, of_dy));
      for_each_row_pair([&](const RowPair& pair) {
        for (size_t k = 0; k < rows.size(); ++k) {
          const int64_t row = rows[k] % g_.patch(), c = row / (g_.kh * g_.kw);
          if (rows[k] / g_.patch() != n % groups_ || row != tap(c, pair.i, pair.j)) continue;
          for (int64_t o = 0; o < g_.o; ++o) {
            const double* const out = dy + (o * g_.ho + pair.out_row) * g_.wo;
            const double* const in = x + (c * g_.h + pair.in_row) * g_.w;
            double sum = 0, size = 0;
            for (int64_t at = pair.begin; at < pair.end; ++at) {
              const double value = out[at] * in[pair.in(g_, at)];
              sum += value;
              size += std::fabs(value);
            }
            y[k][static_cast<size_t>(o)] += sum;
            terms[k][static_cast<size_t>(o)] += size;
          }
        }
      });
    }
    for (size_t k = 0; k < rows.size(); ++k) MSDUMP_CHECK_OK(visit(rows[k], std::move(y[k]), std::move(terms[k])));
    return {};
  }

  Maybe<void> project(const SampledOutput::VisitBlock& visit) const {
    switch (part_) {
      case ConvolutionPart::kForward: return project_forward(visit);
      case ConvolutionPart::kInput: return project_input(visit);
      case ConvolutionPart::kFilter: break;
    }
    return project_filter(visit);
  }

  // The block of one image: `sums` has parts x inner, `sizes` inner elements.
  Maybe<void> hand_on(int64_t n, int64_t inner, const std::vector<double>& sums, const std::vector<double>& sizes,
                      const std::vector<double>& squares, const SampledOutput::VisitBlock& visit) const {
    const ProjectedColumns& bias = projected_bias_[group_of(n)];
    std::vector<double> expected(static_cast<size_t>(inner * kProjectedParts)), bounds(expected.size());
    for (int64_t i = 0; i < inner; ++i) {
      for (int64_t part = 0; part < kProjectedParts; ++part) {
        const auto at = static_cast<size_t>(i * kProjectedParts + part), own = static_cast<size_t>(part);
        expected[at] = sums[static_cast<size_t>(part * inner + i)] + bias.sums[own];
        bounds[at] = sizes[static_cast<size_t>(i)] * squares[own] + bias.squares[own];
      }
    }
    return visit({n, 1, expected.data(), bounds.data()});
  }

  Maybe<void> project_forward(const SampledOutput::VisitBlock& visit) const {
    MSDUMP_TRY(const std::vector<double> w, filter());
    const std::vector<ProjectedColumns> projected = project_filters(w, 1, g_.o, g_.patch());  // parts x patch
    const int64_t inner = g_.places();
    std::vector<double> buffer, row(static_cast<size_t>(g_.wo));
    for (int64_t n = 0; n < g_.n; ++n) {
      MSDUMP_TRY(const double* const x, image_of(x_, n, buffer));
      const ProjectedColumns& filters = projected[group_of(n)];
      std::vector<double> sums(static_cast<size_t>(inner * kProjectedParts)), sizes(static_cast<size_t>(inner));
      for_each_row_pair([&](const RowPair& pair) {
        const int64_t count = pair.end - pair.begin, place = pair.out_row * g_.wo + pair.begin;
        for (int64_t c = 0; c < g_.c; ++c) {
          const double* const in = x + (c * g_.h + pair.in_row) * g_.w + pair.in(g_, pair.begin);
          for (int64_t i = 0; i < count; ++i) {
            const double value = row[static_cast<size_t>(i)] = in[i * g_.sw];
            sizes[static_cast<size_t>(place + i)] += value * value;
          }
          const double* const factors = filters.sums.data() + tap(c, pair.i, pair.j);
          kernels::add_product({factors, kProjectedParts, 1, g_.patch()}, {row.data(), 1, count, count},
                               sums.data() + place, nullptr, inner);
        }
      });
      MSDUMP_CHECK_OK(hand_on(n, inner, sums, sizes, filters.squares, visit));
    }
    return {};
  }

  Maybe<void> project_input(const SampledOutput::VisitBlock& visit) const {
    MSDUMP_TRY(const std::vector<double> w, filter());
    const int64_t taps = g_.kh * g_.kw, inner = g_.h * g_.w;
    const std::vector<ProjectedColumns> projected = project_filters(w, g_.o, g_.c, taps);  // o x parts x taps
    std::vector<double> buffer;
    for (int64_t n = 0; n < g_.n; ++n) {
      MSDUMP_TRY(const double* const dy, image_of(dy_, n, buffer));
      const ProjectedColumns& filters = projected[group_of(n)];
      std::vector<double> sums(static_cast<size_t>(inner * kProjectedParts)), sizes(static_cast<size_t>(inner));
      for_each_row_pair([&](const RowPair& pair) {
        for (int64_t o = 0; o < g_.o; ++o) {
          const double* const from = dy + (o * g_.ho + pair.out_row) * g_.wo;
          double* const size = sizes.data() + pair.in_row * g_.w;
          for (int64_t at = pair.begin; at < pair.end; ++at) size[pair.in(g_, at)] += from[at] * from[at];
          for (int64_t part = 0; part < kProjectedParts; ++part) {
            const double factor =
                filters.sums[static_cast<size_t>((o * kProjectedParts + part) * taps + pair.i * g_.kw + pair.j)];
            double* const out = sums.data() + part * inner + pair.in_row * g_.w;
            for (int64_t at = pair.begin; at < pair.end; ++at) out[pair.in(g_, at)] += factor * from[at];
          }
        }
      });
      MSDUMP_CHECK_OK(hand_on(n, inner, sums, sizes, filters.squares, visit));
    }
    return {};
  }

  Maybe<void> project_filter(const SampledOutput::VisitBlock& visit) const {
    const int64_t inner = g_.patch();
    struct OfGroup {
      std::vector<double> sums, sizes, squares;
    };
    const auto zeros = [](int64_t count) { return std::vector<double>(static_cast<size_t>(count)); };
    std::vector<OfGroup> groups(static_cast<size_t>(groups_),
                                {zeros(inner * kProjectedParts), zeros(inner), zeros(kProjectedParts)});
    std::vector<double> of_x, of_dy;
    for (int64_t n = 0; n < g_.n; ++n) {
      MSDUMP_TRY(const double* const x, image_of(x_, n, of_x));
      MSDUMP_TRY(const double* const dy, image_of(dy_, n, of_dy));
      OfGroup& of = groups[group_of(n)];
      const ProjectedColumns gradients = project_columns(dy, 1, g_.o, g_.places());  // parts x places
      for (size_t part = 0; part < of.squares.size(); ++part) of.squares[part] += gradients.squares[part];
      for_each_row_pair([&](const RowPair& pair) {
        for (int64_t c = 0; c < g_.c; ++c) {
          const double* const in = x + (c * g_.h + pair.in_row) * g_.w;
          const int64_t row = tap(c, pair.i, pair.j);
          for (int64_t at = pair.begin; at < pair.end; ++at)
            of.sizes[static_cast<size_t>(row)] += in[pair.in(g_, at)] * in[pair.in(g_, at)];
          for (int64_t part = 0; part < kProjectedParts; ++part) {
            const double* const out = gradients.sums.data() + part * g_.places() + pair.out_row * g_.wo;
            double sum = 0;
            for (int64_t at = pair.begin; at < pair.end; ++at) sum += out[at] * in[pair.in(g_, at)];
            of.sums[static_cast<size_t>(part * inner + row)] += sum;
          }
        }
      });
    }
    for (int64_t group = 0; group < groups_; ++group) {
      const OfGroup& of = groups[static_cast<size_t>(group)];
      MSDUMP_CHECK_OK(hand_on(group, inner, of.sums, of.sizes, of.squares, visit));
    }
    return {};
  }

  Geometry g_;  // of a group
  int64_t groups_;
  ConvolutionPart part_;
  Tensor x_, w_, dy_, bias_;
  std::vector<ProjectedColumns> projected_bias_;  // by group
};

}  // namespace

Maybe<Samples> sample_conv(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor w, call.tensor("w"));
  MSDUMP_TRY(const Tensor bias, call.tensor_if("bias"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr) return unjudged(Reason::kShape);
  MSDUMP_TRY(const Geometry g, geometry_of(call, x->shape, w->shape, *shape));
  return one_sample(SampledConvolution::make("y", g, ConvolutionPart::kForward, x, w, nullptr, bias));
}

Maybe<Samples> sample_conv_input(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Tensor w, call.tensor("w"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr) return unjudged(Reason::kShape);
  MSDUMP_TRY(const Geometry g, geometry_of(call, *shape, w->shape, dy->shape));
  return one_sample(SampledConvolution::make("y", g, ConvolutionPart::kInput, nullptr, w, dy));
}

Maybe<Samples> sample_conv_filter(const Call& call) {
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  const Shape* const shape = call.output_shape("y");
  if (shape == nullptr) return unjudged(Reason::kShape);
  MSDUMP_TRY(const Geometry g, geometry_of(call, x->shape, *shape, dy->shape));
  return one_sample(SampledConvolution::make("y", g, ConvolutionPart::kFilter, x, nullptr, dy));
}

Maybe<Samples> sample_conv_back(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor w, call.tensor("w"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  MSDUMP_TRY(const Geometry g, geometry_of(call, x->shape, w->shape, dy->shape));
  Samples samples(2);
  MSDUMP_TRY(samples[0], SampledConvolution::make("d0", g, ConvolutionPart::kInput, nullptr, w, dy));
  MSDUMP_TRY(samples[1], SampledConvolution::make("d1", g, ConvolutionPart::kFilter, x, nullptr, dy));
  return samples;
}

}  // namespace msdump::recompute
