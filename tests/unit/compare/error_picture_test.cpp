#include "compare/pair/element_errors.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "support/made_tensors.h"

namespace msdump {
namespace {

ErrorPicture picture_of(HostTensor a, HostTensor b, double scale = 1) {
  const CancelToken cancel;
  auto picture = picture_error(a, b, scale, cancel);
  REQUIRE(picture);
  return std::move(*picture);
}

TEST_CASE("a picture counts elements by the size of their error") {
  MadeTensors made;
  const std::vector<double> zeros(6), a{0, 0.5, 5, 5.5, 1e-30, std::nan("")};
  const ErrorPicture picture = picture_of(made.make(DType::kFloat64, {6}, a), made.make(DType::kFloat64, {6}, zeros));
  CHECK(picture.equal == 1);
  CHECK(picture.mismatches == 1);
  CHECK(picture.bins == std::map<int, uint64_t>{{-120, 1}, {-2, 1}, {2, 2}});
}

TEST_CASE("a small tensor has a cell for each element of its last two axes, with the largest over the others") {
  MadeTensors made;
  const std::vector<double> zeros(12), a{0, 1, 0, 0, 0, 2, 3, 0, 0, 0, 0, -4};
  const ErrorPicture picture =
      picture_of(made.make(DType::kFloat64, {2, 2, 3}, a), made.make(DType::kFloat64, {2, 2, 3}, zeros));
  CHECK(picture.rows == 2);
  CHECK(picture.columns == 3);
  CHECK(picture.cells == std::vector<double>{3, 1, 0, 0, 0, 4});
}

TEST_CASE("a large tensor has cells of several elements, the last ones narrower") {
  MadeTensors made;
  constexpr int64_t kRows = 130, kColumns = 65;
  std::vector<double> a(kRows * kColumns), zeros(kRows * kColumns);
  a[0] = 1;
  a[2 * kColumns + 3] = 2;                // row 2, column 3
  a[129 * kColumns + 64] = 3;             // the last element
  a[100 * kColumns + 10] = std::nan("");  // row 100, column 10
  const ErrorPicture picture = picture_of(made.make(DType::kFloat64, {kRows, kColumns}, a),
                                          made.make(DType::kFloat64, {kRows, kColumns}, zeros));
  CHECK(picture.cell_height == 3);
  CHECK(picture.cell_width == 2);
  CHECK(picture.cells_down == 44);
  CHECK(picture.cells_across == 33);
  const auto cell = [&](int64_t row, int64_t column) {
    return picture.cells[static_cast<size_t>(row * picture.cells_across + column)];
  };
  CHECK(cell(0, 0) == 1);
  CHECK(cell(0, 1) == 2);
  CHECK(cell(43, 32) == 3);
  CHECK(std::isinf(cell(33, 5)));
}

TEST_CASE("scalars and tensors of one axis have a picture") {
  MadeTensors made;
  const ErrorPicture scalar =
      picture_of(made.make<double>(DType::kFloat64, {}, {2}), made.make<double>(DType::kFloat64, {}, {1}));
  CHECK(scalar.cells == std::vector<double>{1});
  const ErrorPicture row = picture_of(made.floats({1, 2, 3}), made.floats({1, 2, 4}));
  CHECK(row.cells == std::vector<double>{0, 0, 1});
  CHECK(row.rows == 1);
}

}  // namespace
}  // namespace msdump
