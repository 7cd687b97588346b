// Matrix products that are too large to compute in full: some rows, and a projection of all (projection.h). Operands are read in
// blocks.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <Eigen/Core>

#include "kernels/product/add_product.h"
#include "kernels/product/dot_sums.h"
#include "recompute/kernels/kernels.h"
#include "recompute/kernels/products.h"

namespace msdump::recompute {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMap = Eigen::Map<const Matrix>;
using Eigen::VectorXd;

// The squares of each row.
VectorXd squares_of(const ConstMap& rows) {
  VectorXd squares(rows.rows());
  for (int64_t i = 0; i < rows.rows(); ++i) {
    const double* const row = rows.data() + i * rows.cols();
    squares(i) = kernels::dot_sums(row, row, rows.cols()).squares;
  }
  return squares;
}

template <class Rows>
kernels::MatrixRows rows_of(const Rows& x) {
  return {x.data(), x.rows(), x.cols(), x.outerStride()};
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
    const auto product =
        std::make_shared<SampledProduct>(std::move(a), std::move(b), std::move(batch), std::move(bias), alpha, beta);
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
      MSDUMP_TRY(const double* const elements, elements_of(x, (place * rows + row) * columns, count * columns, buffer));
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

  Maybe<void> compute(const Rows& wanted, const SampledOutput::VisitRow& visit) {
    for (auto first = wanted.begin(); first != wanted.end();) {
      const auto item = static_cast<size_t>(*first / block_.rows);
      const auto last = std::find_if(first, wanted.end(),
                                     [&](int64_t row) { return static_cast<size_t>(row / block_.rows) != item; });
      MSDUMP_CHECK_OK(compute_item(item, Rows(first, last), visit));
      first = last;
    }
    return {};
  }

  Maybe<void> compute_item(size_t item, const Rows& wanted, const SampledOutput::VisitRow& visit) {
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
        MSDUMP_TRY(const double* const elements, elements_of(*a_, place, block_.inner, buffer));
        rows.row(i) = Eigen::Map<const Eigen::RowVectorXd>(elements, block_.inner);
      }
    }
    Matrix y = Matrix::Zero(count, block_.columns), terms = y;
    const bool projects = has_one_b() && projected_.b.size() == 0;
    if (projects) begin_projection();
    MSDUMP_CHECK_OK(for_each_block_of_b(item, [&](int64_t first, const ConstMap& elements) -> Maybe<void> {
      if (projects) project_block_of_b(first, elements);
      if (block_.transpose_b) {
        const Matrix columns = elements.transpose();
        kernels::add_product(rows_of(rows), rows_of(columns), y.data() + first, terms.data() + first, block_.columns);
      } else {
        kernels::add_product(rows_of(rows.middleCols(first, elements.rows())), rows_of(elements), y.data(),
                             terms.data(), block_.columns);
      }
      return {};
    }));
    const auto columns = static_cast<size_t>(block_.columns);
    for (int64_t i = 0; i < count; ++i) {
      std::vector<double> values(columns), of_terms(columns);
      for (size_t j = 0; j < columns; ++j) {
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

  void begin_projection() {
    projected_.b = Matrix::Zero(block_.inner, kProjectedParts);
    projected_.sizes = VectorXd::Zero(kProjectedParts);
  }
  void project_block_of_b(int64_t first, const ConstMap& elements) {
    if (!block_.transpose_b) {
      for (int64_t i = 0; i < elements.rows(); ++i) {
        for (int64_t part = 0; part < kProjectedParts; ++part) {
          const int64_t begin = first_column(part, block_.columns);
          const kernels::DotSums dot =
              kernels::dot_sums(elements.data() + i * block_.columns + begin, signs_.data() + begin,
                                first_column(part + 1, block_.columns) - begin);
          projected_.b(first + i, part) = dot.products;
          projected_.sizes(part) += dot.squares;
        }
      }
      return;
    }
    int64_t part = 0;
    for (int64_t i = 0; i < elements.rows(); ++i) {
      while (first + i >= first_column(part + 1, block_.columns)) ++part;
      projected_.b.col(part) += signs_(first + i) * elements.row(i).transpose();
      projected_.sizes(part) += elements.row(i).squaredNorm();
    }
  }
  Maybe<void> project_b(size_t item) {
    begin_projection();
    return for_each_block_of_b(item, [&](int64_t first, const ConstMap& elements) -> Maybe<void> {
      project_block_of_b(first, elements);
      return {};
    });
  }
  // Then its projection is made where rows are computed: b is read once.
  [[nodiscard]] bool has_one_b() const { return places_.front().second == places_.back().second; }

  // Rows first, first + 1, .. of an item, from a times the projection, and the squares of the rows of a.
  [[nodiscard]] Maybe<void> hand_on(size_t item, int64_t first, Matrix expected, const VectorXd& sizes,
                                    const SampledOutput::VisitBlock& visit) const {
    Matrix squares = alpha_ * alpha_ * sizes * projected_.sizes.transpose();
    expected *= alpha_;
    if (bias_) {
      expected.rowwise() += projected_.bias.transpose();
      squares.rowwise() += projected_.bias_squares.transpose();
    }
    return visit({static_cast<int64_t>(item) * block_.rows + first, expected.rows(), expected.data(), squares.data()});
  }

  Maybe<void> project(const SampledOutput::VisitBlock& visit) {
    if (bias_) {
      const ProjectedColumns columns = project_columns(bias_->values.data(), 1, block_.columns, 1);
      projected_.bias = beta_ * Eigen::Map<const VectorXd>(columns.sums.data(), kProjectedParts);
      projected_.bias_squares = beta_ * beta_ * Eigen::Map<const VectorXd>(columns.squares.data(), kProjectedParts);
    }
    for (size_t item = 0; item < places_.size(); ++item) {
      const bool is_projected =
          item > 0 ? places_[item].second == places_[item - 1].second : has_one_b() && projected_.b.size() > 0;
      if (!is_projected) MSDUMP_CHECK_OK(project_b(item));
      if (!block_.transpose_a) {
        MSDUMP_CHECK_OK(for_each_block_of_a(item, [&](int64_t first, const ConstMap& elements) {
          Matrix expected = Matrix::Zero(elements.rows(), kProjectedParts);
          kernels::add_product(rows_of(elements), rows_of(projected_.b), expected.data(), nullptr, kProjectedParts);
          return hand_on(item, first, std::move(expected), squares_of(elements), visit);
        }));
        continue;
      }
      Matrix expected = Matrix::Zero(block_.rows, kProjectedParts);
      VectorXd sizes = VectorXd::Zero(block_.rows);
      MSDUMP_CHECK_OK(for_each_block_of_a(item, [&](int64_t first, const ConstMap& elements) -> Maybe<void> {
        const Matrix rows = elements.transpose();
        kernels::add_product(rows_of(rows), rows_of(projected_.b.middleRows(first, elements.rows())), expected.data(),
                             nullptr, kProjectedParts);
        sizes += elements.colwise().squaredNorm().transpose();
        return {};
      }));
      const int64_t most = std::max<int64_t>(1, kBlockElements / block_.columns);
      for (int64_t first = 0; first < block_.rows; first += most) {
        const int64_t count = std::min(most, block_.rows - first);
        MSDUMP_CHECK_OK(hand_on(item, first, expected.middleRows(first, count), sizes.segment(first, count), visit));
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
  Projected projected_;                              // of the b that was read last
};

}  // namespace

Maybe<Samples> sample_mat_mul(const Call& call) {
  if (call.fitted) return unjudged(Reason::kTooLarge);
  MSDUMP_TRY(ProductOperands one, product_operands(call));
  return one_sample(SampledProduct::make("y", one.a, one.b, one.transpose_a, one.transpose_b, one.bias));
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

}  // namespace msdump::recompute
