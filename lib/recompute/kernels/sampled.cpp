// Products and convolutions that are too large to compute in full: some rows, and a projection of all (projection.h). Operands are
// read in blocks.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include <Eigen/Core>

#include "recompute/kernels/kernels.h"
#include "recompute/kernels/products.h"

namespace msdump::recompute {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMap = Eigen::Map<const Matrix>;
using Eigen::VectorXd;

// Doubles that a projection holds beside the block that it reads.
constexpr int64_t kMostHeld = int64_t{1} << 24;
// Multiplications that are left of a projected convolution.
constexpr double kMostProjected = 0x1p33;

// Columns of `from`, each with its sign, summed by part.
Matrix project_columns(const ConstMap& from, const VectorXd& signs) {
  Matrix to(from.rows(), kProjectedParts);
  for (int64_t part = 0; part < kProjectedParts; ++part) {
    const int64_t begin = first_column(part, from.cols()), count = first_column(part + 1, from.cols()) - begin;
    to.col(part).noalias() = from.middleCols(begin, count) * signs.segment(begin, count);
  }
  return to;
}

VectorXd signs_of(int64_t columns) {
  const std::vector<double> signs = signs_of_columns(columns);
  return Eigen::Map<const VectorXd>(signs.data(), columns);
}

// alpha a b + beta bias, for the matrices of a batch.
class SampledProduct {
 public:
  // A bias has an element for each column.
  SampledProduct(Tensor a, Tensor b, Batch batch, Tensor bias, double alpha, double beta)
      : a_(std::move(a)),
        b_(std::move(b)),
        bias_(std::move(bias)),
        batch_(std::move(batch)),
        block_(batch_.block),
        alpha_(alpha),
        beta_(beta),
        signs_(signs_of(block_.columns)) {
    walk<2>(batch_.batch, {batch_.at_a, batch_.at_b},
            [&](const std::array<int64_t, 2>& at) { places_.emplace_back(at[0], at[1]); });
  }

  [[nodiscard]] static Maybe<SampledOutput> make(std::string name, Tensor a, Tensor b, bool transpose_a,
                                                 bool transpose_b, Tensor bias = nullptr, double alpha = 1,
                                                 double beta = 1) {
    // The rows of all matrices, if they have one factor in common.
    if (a->rank() > 2 && b->rank() == 2 && !transpose_a) {
      const int64_t inner = std::max<int64_t>(a->shape.back(), 1);
      a = share(with_shape(*a, {size_of(a->shape) / inner, inner}));
    }
    MSDUMP_TRY(Batch batch, batch_of(a->shape, b->shape, transpose_a, transpose_b));
    const Block& block = batch.block;
    const int64_t batches = size_of(batch.batch), rows = batches * block.rows;
    if (rows * block.columns * block.inner == 0) return unjudged(Reason::kShape);
    if (bias && bias->size() != block.columns) return unjudged(Reason::kTooLarge);
    if (2 * kProjectedParts * (block.rows + block.inner) + batches > kMostHeld) return unjudged(Reason::kTooLarge);
    SampledOutput output;
    output.name = std::move(name);
    output.multiplications = batch.multiplications;
    output.rows = {rows, block.columns, 1};
    output.length = static_cast<double>(block.inner);
    const auto product = std::make_shared<const SampledProduct>(std::move(a), std::move(b), std::move(batch),
                                                                std::move(bias), alpha, beta);
    output.compute = [product](const auto& rows_wanted, const auto& visit) {
      return product->compute(rows_wanted, visit);
    };
    output.project = [product](const auto& visit) { return product->project(visit); };
    return output;
  }

 private:
  using Rows = std::vector<int64_t>;

  // Calls visit(first stored row, matrix) for blocks of stored rows of the matrix at `place`.
  template <class Visit>
  static Maybe<void> for_each_block(const Array& x, int64_t place, int64_t rows, int64_t columns, const Visit& visit) {
    std::vector<double> buffer;
    const int64_t most = std::max<int64_t>(1, kBlockElements / columns);
    for (int64_t row = 0; row < rows; row += most) {
      const int64_t count = std::min(most, rows - row);
      const double* const elements = elements_of(x, (place * rows + row) * columns, count * columns, buffer);
      if (elements == nullptr) return unjudged(Reason::kUnreadable);
      MSDUMP_CHECK_OK(visit(row, ConstMap(elements, count, columns)));
    }
    return {};
  }
  template <class Visit>
  Maybe<void> for_each_block_of_a(size_t item, const Visit& visit) const {
    return for_each_block(*a_, places_[item].first, block_.transpose_a ? block_.inner : block_.rows,
                          block_.transpose_a ? block_.rows : block_.inner, visit);
  }
  template <class Visit>
  Maybe<void> for_each_block_of_b(size_t item, const Visit& visit) const {
    return for_each_block(*b_, places_[item].second, block_.transpose_b ? block_.columns : block_.inner,
                          block_.transpose_b ? block_.inner : block_.columns, visit);
  }

  Maybe<void> compute(const Rows& wanted, const SampledOutput::VisitRow& visit) const {
    for (auto first = wanted.begin(); first != wanted.end();) {
      const auto item = static_cast<size_t>(*first / block_.rows);
      const auto last = std::find_if(first, wanted.end(),
                                     [&](int64_t row) { return static_cast<size_t>(row / block_.rows) != item; });
      MSDUMP_CHECK_OK(compute_item(item, Rows(first, last), visit));
      first = last;
    }
    return {};
  }

  Maybe<void> compute_item(size_t item, const Rows& wanted, const SampledOutput::VisitRow& visit) const {
    const auto count = static_cast<int64_t>(wanted.size());
    Matrix rows(count, block_.inner);
    const auto row_of = [&](int64_t i) { return wanted[static_cast<size_t>(i)] % block_.rows; };
    if (block_.transpose_a) {
      MSDUMP_CHECK_OK(for_each_block_of_a(item, [&](int64_t first, const ConstMap& elements) -> Maybe<void> {
        for (int64_t i = 0; i < count; ++i) rows.row(i).segment(first, elements.rows()) = elements.col(row_of(i));
        return {};
      }));
    } else {
      std::vector<double> buffer;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t place = (places_[item].first * block_.rows + row_of(i)) * block_.inner;
        const double* const elements = elements_of(*a_, place, block_.inner, buffer);
        if (elements == nullptr) return unjudged(Reason::kUnreadable);
        rows.row(i) = Eigen::Map<const Eigen::RowVectorXd>(elements, block_.inner);
      }
    }
    const Matrix sizes = rows.cwiseAbs();
    Matrix y = Matrix::Zero(count, block_.columns), terms = y;
    MSDUMP_CHECK_OK(for_each_block_of_b(item, [&](int64_t first, const ConstMap& elements) -> Maybe<void> {
      if (block_.transpose_b) {
        y.middleCols(first, elements.rows()).noalias() = rows * elements.transpose();
        terms.middleCols(first, elements.rows()).noalias() = sizes * elements.cwiseAbs().transpose();
      } else {
        y.noalias() += rows.middleCols(first, elements.rows()) * elements;
        terms.noalias() += sizes.middleCols(first, elements.rows()) * elements.cwiseAbs();
      }
      return {};
    }));
    for (int64_t i = 0; i < count; ++i) {
      std::vector<double> values(static_cast<size_t>(block_.columns)), of_terms(values.size());
      for (size_t j = 0; j < values.size(); ++j) {
        const auto column = static_cast<int64_t>(j);
        const double bias = bias_ ? beta_ * bias_->values[j] : 0;
        values[j] = alpha_ * y(i, column) + bias;
        of_terms[j] = std::fabs(alpha_) * terms(i, column) + std::fabs(bias);
      }
      MSDUMP_CHECK_OK(visit(wanted[static_cast<size_t>(i)], std::move(values), std::move(of_terms)));
    }
    return {};
  }

  struct Projected {
    Matrix b;        // inner x parts
    VectorXd sizes;  // by part: squares of b
    VectorXd bias, bias_squares;
  };

  Maybe<void> project_b(size_t item, Projected& projected) const {
    projected.b = Matrix::Zero(block_.inner, kProjectedParts);
    projected.sizes = VectorXd::Zero(kProjectedParts);
    return for_each_block_of_b(item, [&](int64_t first, const ConstMap& elements) -> Maybe<void> {
      if (!block_.transpose_b) {
        projected.b.middleRows(first, elements.rows()) = project_columns(elements, signs_);
        for (int64_t part = 0; part < kProjectedParts; ++part) {
          const int64_t begin = first_column(part, block_.columns);
          const int64_t count = first_column(part + 1, block_.columns) - begin;
          projected.sizes(part) += elements.middleCols(begin, count).squaredNorm();
        }
        return {};
      }
      int64_t part = 0;
      for (int64_t i = 0; i < elements.rows(); ++i) {
        while (first + i >= first_column(part + 1, block_.columns)) ++part;
        projected.b.col(part) += signs_(first + i) * elements.row(i).transpose();
        projected.sizes(part) += elements.row(i).squaredNorm();
      }
      return {};
    });
  }

  // Rows first, first + 1, .. of an item, from a times the projection, and the squares of the rows of a.
  [[nodiscard]] Maybe<void> hand_on(const Projected& projected, size_t item, int64_t first, Matrix expected,
                                    const VectorXd& sizes, const SampledOutput::VisitBlock& visit) const {
    Matrix squares = alpha_ * alpha_ * sizes * projected.sizes.transpose();
    expected *= alpha_;
    if (bias_) {
      expected.rowwise() += projected.bias.transpose();
      squares.rowwise() += projected.bias_squares.transpose();
    }
    return visit({static_cast<int64_t>(item) * block_.rows + first, expected.rows(), expected.data(), squares.data()});
  }

  Maybe<void> project(const SampledOutput::VisitBlock& visit) const {
    Projected projected;
    projected.bias = projected.bias_squares = VectorXd::Zero(kProjectedParts);
    for (int64_t part = 0; bias_ && part < kProjectedParts; ++part) {
      for (int64_t j = first_column(part, block_.columns); j < first_column(part + 1, block_.columns); ++j) {
        const double value = beta_ * bias_->values[static_cast<size_t>(j)];
        projected.bias(part) += signs_(j) * value;
        projected.bias_squares(part) += value * value;
      }
    }
    for (size_t item = 0; item < places_.size(); ++item) {
      if (item == 0 || places_[item].second != places_[item - 1].second) MSDUMP_CHECK_OK(project_b(item, projected));
      if (!block_.transpose_a) {
        MSDUMP_CHECK_OK(for_each_block_of_a(item, [&](int64_t first, const ConstMap& elements) {
          return hand_on(projected, item, first, elements * projected.b, elements.rowwise().squaredNorm(), visit);
        }));
        continue;
      }
      Matrix expected = Matrix::Zero(block_.rows, kProjectedParts);
      VectorXd sizes = VectorXd::Zero(block_.rows);
      MSDUMP_CHECK_OK(for_each_block_of_a(item, [&](int64_t first, const ConstMap& elements) -> Maybe<void> {
        expected.noalias() += elements.transpose() * projected.b.middleRows(first, elements.rows());
        sizes += elements.colwise().squaredNorm().transpose();
        return {};
      }));
      const int64_t most = std::max<int64_t>(1, kBlockElements / block_.columns);
      for (int64_t first = 0; first < block_.rows; first += most) {
        const int64_t count = std::min(most, block_.rows - first);
        MSDUMP_CHECK_OK(
            hand_on(projected, item, first, expected.middleRows(first, count), sizes.segment(first, count), visit));
      }
    }
    return {};
  }

  Tensor a_, b_, bias_;
  Batch batch_;
  Block block_;
  double alpha_, beta_;
  VectorXd signs_;
  std::vector<std::pair<int64_t, int64_t>> places_;  // by item of the batch: the matrices
};

// A convolution without groups, or its gradient. Images are read one by one.
class SampledConvolution {
 public:
  // x, w, dy: the result is null.
  SampledConvolution(const Geometry& g, ConvolutionPart part, Tensor x, Tensor w, Tensor dy, Tensor bias)
      : g_(g), part_(part), x_(std::move(x)), w_(std::move(w)), dy_(std::move(dy)), bias_(std::move(bias)) {}

  [[nodiscard]] static Maybe<SampledOutput> make(std::string name, const Geometry& g, ConvolutionPart part, Tensor x,
                                                 Tensor w, Tensor dy, Tensor bias = nullptr) {
    if (g.groups != 1) return unjudged(Reason::kTooLarge);
    const bool forward = part == ConvolutionPart::kForward, input = part == ConvolutionPart::kInput;
    const int64_t columns = input ? g.c : g.o;
    if (bias && bias->size() != columns) return unjudged(Reason::kShape);
    if (g.multiplications() / static_cast<double>(columns) * (kProjectedParts + 1) > kMostProjected)
      return unjudged(Reason::kTooLarge);
    const int64_t held = std::max({g.c * g.h * g.w, g.o * g.places(), g.o * g.patch()});
    if (held > kMostHeld || kProjectedParts * std::max(g.h * g.w, g.places()) > kMostHeld)
      return unjudged(Reason::kTooLarge);
    SampledOutput output;
    output.name = std::move(name);
    output.multiplications = g.multiplications();
    output.rows = {part == ConvolutionPart::kFilter ? 1 : g.n, columns,
                   forward ? g.places()
                   : input ? g.h * g.w
                           : g.patch()};
    output.length = static_cast<double>(forward ? g.patch() : input ? g.o * g.kh * g.kw : g.n * g.places());
    const auto convolution =
        std::make_shared<const SampledConvolution>(g, part, std::move(x), std::move(w), std::move(dy), std::move(bias));
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
    const double* const elements = elements_of(*x, n * size, size, buffer);
    if (elements == nullptr) return unjudged(Reason::kUnreadable);
    return elements;
  }
  [[nodiscard]] Maybe<std::vector<double>> filter() const {
    std::vector<double> buffer;
    const int64_t size = size_of(w_->shape);
    const double* const elements = elements_of(*w_, 0, size, buffer);
    if (elements == nullptr) return unjudged(Reason::kUnreadable);
    return std::vector<double>(elements, elements + size);
  }
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
      std::vector<double> y(static_cast<size_t>(columns)), terms(y.size());
      const auto add = [&](int64_t column, double left, double right) {
        y[static_cast<size_t>(column)] += left * right;
        terms[static_cast<size_t>(column)] += std::fabs(left * right);
      };
      const int64_t at = row % inner;
      for_each_row_pair([&](const RowPair& pair) {
        if (forward) {
          const int64_t x = at % g_.wo;
          if (pair.out_row != at / g_.wo || x < pair.begin || x >= pair.end) return;
          for (int64_t c = 0; c < g_.c; ++c) {
            const double value = image[(c * g_.h + pair.in_row) * g_.w + pair.in(g_, x)];
            for (int64_t o = 0; o < g_.o; ++o)
              add(o, value, w[static_cast<size_t>(o * g_.patch() + tap(c, pair.i, pair.j))]);
          }
          return;
        }
        if (pair.in_row != at / g_.w) return;
        const int64_t from = at % g_.w - pair.in(g_, 0);
        if (from % g_.sw != 0 || from / g_.sw < pair.begin || from / g_.sw >= pair.end) return;
        for (int64_t o = 0; o < g_.o; ++o) {
          const double value = image[(o * g_.ho + pair.out_row) * g_.wo + from / g_.sw];
          for (int64_t c = 0; c < g_.c; ++c)
            add(c, value, w[static_cast<size_t>(o * g_.patch() + tap(c, pair.i, pair.j))]);
        }
      });
      for (size_t o = 0; bias_ && o < y.size(); ++o) {
        y[o] += bias_->values[o];
        terms[o] += std::fabs(bias_->values[o]);
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
          const int64_t c = rows[k] / (g_.kh * g_.kw);
          if (rows[k] != tap(c, pair.i, pair.j)) continue;
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

  // Sums over the columns of a part, in the place of the columns: rows of `inner` elements that begin at row * stride.
  struct Parts {
    std::vector<double> sums;     // parts x inner
    std::vector<double> squares;  // by part
  };
  [[nodiscard]] static Parts parts_of(const double* elements, int64_t outer, int64_t columns, int64_t inner) {
    // outer x columns x inner -> outer x parts x inner
    Parts parts{std::vector<double>(static_cast<size_t>(outer * kProjectedParts * inner)),
                std::vector<double>(static_cast<size_t>(kProjectedParts))};
    const std::vector<double> signs = signs_of_columns(columns);
    for (int64_t at = 0; at < outer; ++at) {
      for (int64_t part = 0; part < kProjectedParts; ++part) {
        double* const sums = parts.sums.data() + (at * kProjectedParts + part) * inner;
        for (int64_t column = first_column(part, columns); column < first_column(part + 1, columns); ++column) {
          const double* const from = elements + (at * columns + column) * inner;
          for (int64_t i = 0; i < inner; ++i) {
            sums[i] += signs[static_cast<size_t>(column)] * from[i];
            parts.squares[static_cast<size_t>(part)] += from[i] * from[i];
          }
        }
      }
    }
    return parts;
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
    std::vector<double> expected(static_cast<size_t>(inner * kProjectedParts)), bounds(expected.size());
    std::vector<double> bias(static_cast<size_t>(kProjectedParts)), bias_squares = bias;
    for (int64_t part = 0; bias_ && part < kProjectedParts; ++part) {
      for (int64_t o = first_column(part, g_.o); o < first_column(part + 1, g_.o); ++o) {
        const double value = bias_->values[static_cast<size_t>(o)];
        bias[static_cast<size_t>(part)] += sign_of_column(o) * value;
        bias_squares[static_cast<size_t>(part)] += value * value;
      }
    }
    for (int64_t i = 0; i < inner; ++i) {
      for (int64_t part = 0; part < kProjectedParts; ++part) {
        const auto at = static_cast<size_t>(i * kProjectedParts + part), own = static_cast<size_t>(part);
        expected[at] = sums[static_cast<size_t>(part * inner + i)] + bias[own];
        bounds[at] = sizes[static_cast<size_t>(i)] * squares[own] + bias_squares[own];
      }
    }
    return visit({n, 1, expected.data(), bounds.data()});
  }

  Maybe<void> project_forward(const SampledOutput::VisitBlock& visit) const {
    MSDUMP_TRY(const std::vector<double> w, filter());
    const Parts filters = parts_of(w.data(), 1, g_.o, g_.patch());  // parts x patch
    const int64_t inner = g_.places();
    std::vector<double> buffer;
    for (int64_t n = 0; n < g_.n; ++n) {
      MSDUMP_TRY(const double* const x, image_of(x_, n, buffer));
      std::vector<double> sums(static_cast<size_t>(inner * kProjectedParts)), sizes(static_cast<size_t>(inner));
      for_each_row_pair([&](const RowPair& pair) {
        for (int64_t c = 0; c < g_.c; ++c) {
          const double* const in = x + (c * g_.h + pair.in_row) * g_.w;
          double* const size = sizes.data() + pair.out_row * g_.wo;
          for (int64_t at = pair.begin; at < pair.end; ++at) size[at] += in[pair.in(g_, at)] * in[pair.in(g_, at)];
          for (int64_t part = 0; part < kProjectedParts; ++part) {
            const double factor = filters.sums[static_cast<size_t>(part * g_.patch() + tap(c, pair.i, pair.j))];
            double* const out = sums.data() + part * inner + pair.out_row * g_.wo;
            for (int64_t at = pair.begin; at < pair.end; ++at) out[at] += factor * in[pair.in(g_, at)];
          }
        }
      });
      MSDUMP_CHECK_OK(hand_on(n, inner, sums, sizes, filters.squares, visit));
    }
    return {};
  }

  Maybe<void> project_input(const SampledOutput::VisitBlock& visit) const {
    MSDUMP_TRY(const std::vector<double> w, filter());
    const int64_t taps = g_.kh * g_.kw, inner = g_.h * g_.w;
    const Parts filters = parts_of(w.data(), g_.o, g_.c, taps);  // o x parts x taps
    std::vector<double> buffer;
    for (int64_t n = 0; n < g_.n; ++n) {
      MSDUMP_TRY(const double* const dy, image_of(dy_, n, buffer));
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
    std::vector<double> sums(static_cast<size_t>(inner * kProjectedParts)), sizes(static_cast<size_t>(inner));
    std::vector<double> squares(static_cast<size_t>(kProjectedParts)), of_x, of_dy;
    for (int64_t n = 0; n < g_.n; ++n) {
      MSDUMP_TRY(const double* const x, image_of(x_, n, of_x));
      MSDUMP_TRY(const double* const dy, image_of(dy_, n, of_dy));
      const Parts gradients = parts_of(dy, 1, g_.o, g_.places());  // parts x places
      for (size_t part = 0; part < squares.size(); ++part) squares[part] += gradients.squares[part];
      for_each_row_pair([&](const RowPair& pair) {
        for (int64_t c = 0; c < g_.c; ++c) {
          const double* const in = x + (c * g_.h + pair.in_row) * g_.w;
          const int64_t row = tap(c, pair.i, pair.j);
          for (int64_t at = pair.begin; at < pair.end; ++at)
            sizes[static_cast<size_t>(row)] += in[pair.in(g_, at)] * in[pair.in(g_, at)];
          for (int64_t part = 0; part < kProjectedParts; ++part) {
            const double* const out = gradients.sums.data() + part * g_.places() + pair.out_row * g_.wo;
            double sum = 0;
            for (int64_t at = pair.begin; at < pair.end; ++at) sum += out[at] * in[pair.in(g_, at)];
            sums[static_cast<size_t>(part * inner + row)] += sum;
          }
        }
      });
    }
    return hand_on(0, inner, sums, sizes, squares, visit);
  }

  Geometry g_;
  ConvolutionPart part_;
  Tensor x_, w_, dy_, bias_;
};

Maybe<Samples> one_sample(Maybe<SampledOutput> sample) {
  if (!sample) return fail(sample.error());
  Samples samples;
  samples.push_back(std::move(*sample));
  return samples;
}

}  // namespace

Maybe<Samples> sample_mat_mul(const Call& call) {
  if (call.fitted) return unjudged(Reason::kTooLarge);
  MSDUMP_TRY(Tensor a, call.tensor("a"));
  MSDUMP_TRY(Tensor b, call.tensor("b"));
  MSDUMP_TRY(const Tensor bias, call.tensor_if("bias"));
  const bool transpose_a = call.flag_or("transpose_a", false), transpose_b = call.flag_or("transpose_b", false);
  const Shape* const y = call.output_shape("y");
  if (call.type.starts_with("MatMul") && y != nullptr && y->size() == 2) {
    a = folded(a, (*y)[0], transpose_a);
    b = folded(b, (*y)[1], !transpose_b);
  }
  return one_sample(SampledProduct::make("y", a, b, transpose_a, transpose_b, bias));
}

Maybe<Samples> sample_linear(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor w, call.tensor("w"));
  MSDUMP_TRY(const Tensor bias, call.tensor_if("bias"));
  return one_sample(SampledProduct::make("y", x, w, false, w->rank() == 2, bias));
}

Maybe<Samples> sample_add_mm(const Call& call) {
  MSDUMP_TRY(const Tensor input, call.tensor("input"));
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  return one_sample(
      SampledProduct::make("y", a, b, false, false, input, call.number_or("alpha", 1), call.number_or("beta", 1)));
}

Maybe<Samples> sample_linear_back(const Call& call) {
  MSDUMP_TRY(const Tensor x, call.tensor("x"));
  MSDUMP_TRY(const Tensor w, call.tensor("w"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  const Tensor rows = as_rows(dy), in = as_rows(x);
  if (w->rank() != 2 || rows->shape[0] != in->shape[0]) return unjudged(Reason::kShape);
  Samples samples(2);
  MSDUMP_TRY(samples[0], SampledProduct::make("d0", rows, w, false, false));
  MSDUMP_TRY(samples[1], SampledProduct::make("d1", rows, in, true, false));
  samples[0].view = dy;
  return samples;
}

Maybe<Samples> sample_matmul_back(const Call& call) {
  MSDUMP_TRY(const Tensor a, call.tensor("a"));
  MSDUMP_TRY(const Tensor b, call.tensor("b"));
  MSDUMP_TRY(const Tensor dy, call.tensor("dy"));
  Samples samples(2);
  MSDUMP_TRY(samples[0], SampledProduct::make("d0", dy, b, false, true));
  MSDUMP_TRY(samples[1], SampledProduct::make("d1", a, dy, true, false));
  samples[0].view = dy;
  return samples;
}

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
