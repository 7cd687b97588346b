#include "compare/pair/error_picture.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/pair/pair_distance.h"
#include "compare/pair/pair_reader.h"

namespace msdump {
namespace {

class PicturePainter {
 public:
  explicit PicturePainter(const Shape& shape) {
    const size_t axes = shape.size();
    if (axes > 0) picture_.columns = std::max<int64_t>(shape[axes - 1], 1);
    if (axes > 1) picture_.rows = std::max<int64_t>(shape[axes - 2], 1);
    const auto cut = [](int64_t extent, int64_t& size, int64_t& cells) {
      size = (extent + kMostMapCells - 1) / kMostMapCells;
      cells = (extent + size - 1) / size;
    };
    cut(picture_.rows, picture_.cell_height, picture_.cells_down);
    cut(picture_.columns, picture_.cell_width, picture_.cells_across);
    picture_.cells.resize(static_cast<size_t>(picture_.cells_down * picture_.cells_across));
  }

  // The distances of the next elements in C order, without a division for each.
  void add(std::span<const double> distances) {
    for (const double distance : distances) {
      double& cell = picture_.cells[row_cell_ + cell_];
      count(distance);
      cell = std::max(cell, std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance);
      if (++in_cell_ == picture_.cell_width) {
        in_cell_ = 0;
        ++cell_;
      }
      if (++column_ == picture_.columns) next_row();
    }
  }

  ErrorPicture finish() && {
    for (size_t i = 0; i < bins_.size(); ++i) {
      if (bins_[i] > 0) picture_.bins[static_cast<int>(i) - kZeroBin] = bins_[i];
    }
    return std::move(picture_);
  }

 private:
  void count(double distance) {
    if (distance == 0) {
      ++picture_.equal;
    } else if (!std::isfinite(distance)) {
      ++picture_.mismatches;
    } else {
      ++bins_[static_cast<size_t>(static_cast<int>(std::floor(std::log10(distance) * kBinsPerDecade)) + kZeroBin)];
    }
  }

  void next_row() {
    column_ = in_cell_ = 0;
    cell_ = 0;
    row_ = row_ + 1 == picture_.rows ? 0 : row_ + 1;
    row_cell_ = static_cast<size_t>(row_ / picture_.cell_height * picture_.cells_across);
  }

  // Doubles have decades from -324 to 308.
  static constexpr int kZeroBin = 325 * kBinsPerDecade, kBins = 640 * kBinsPerDecade;

  ErrorPicture picture_;
  std::vector<uint64_t> bins_ = std::vector<uint64_t>(kBins);
  int64_t column_ = 0, row_ = 0, in_cell_ = 0;  // of the next element
  size_t cell_ = 0, row_cell_ = 0;
};

}  // namespace

Result<ErrorPicture> picture_error(HostTensor& a, HostTensor& b, double scale, const CancelToken& cancel) {
  MSDUMP_TRY(PairReader reader, PairReader::open(a, b));
  PairDistances distances(reader.dtype(), scale);
  PicturePainter painter(a.shape());
  const int64_t bytes = std::max(info(reader.dtype()).bits / 8, 1);
  MSDUMP_CHECK_OK(reader.for_each(cancel, [&](const PairSlab& slab) {
    for (int64_t from = 0; from < slab.count; from += kernels::kPairBlock) {
      const int64_t count = std::min(kernels::kPairBlock, slab.count - from);
      painter.add(distances.of(slab.a + from * bytes, slab.b + from * bytes, count));
    }
  }));
  return std::move(painter).finish();
}

}  // namespace msdump
