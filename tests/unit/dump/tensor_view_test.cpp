#include "dump/index/tensor_list.h"

#include <cstring>

#include "dump/elements/host_tensor.h"
#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

// The elements 0, 1, 2, .. of a shape, through a view.
class Viewed {
 public:
  explicit Viewed(const Shape& shape, std::string_view descr = "<f4") : dump_(test::list_dump({file(shape, descr)})) {}

  [[nodiscard]] Result<HostTensor> open(const TensorView& view) const {
    TensorRecord record = dump_.tensors().front();
    record.view = &view;
    return HostTensor::open(dump_.index, record, {});
  }
  [[nodiscard]] std::vector<float> read(const TensorView& view, int64_t piece) const {
    auto tensor = open(view);
    REQUIRE(tensor);
    CHECK(tensor->shape() == view.shape);
    std::vector<float> values(static_cast<size_t>(tensor->count()));
    for (int64_t at = 0; at < tensor->count(); at += piece) {
      const int64_t count = std::min(piece, tensor->count() - at);
      REQUIRE(tensor->read(at, count, reinterpret_cast<std::byte*>(&values[static_cast<size_t>(at)])));
    }
    return values;
  }

 private:
  std::string file(const Shape& shape, std::string_view descr) const {
    std::vector<float> values;
    for (int64_t i = 0; i < *element_count(shape); ++i) values.push_back(static_cast<float>(i));
    return scratch_.write(
        "a.npy", test::npy_of(descr, shape, {reinterpret_cast<const char*>(values.data()), values.size() * 4}));
  }

  test::ScratchDir scratch_;
  test::ListedDump dump_;
};

std::vector<float> expected(const TensorView& view) {
  std::vector<float> values;
  for (int64_t i = 0; i < view.count(); ++i) values.push_back(static_cast<float>(view.element(i)));
  return values;
}

}  // namespace

TEST_CASE("the elements of a view are read in its order, in pieces of any size") {
  const Viewed tensor({6, 5});
  const TensorView rows{{2, 5}, {{2, 5}, {5, 1}}, 10}, turned{{5, 6}, {{5, 1}, {6, 5}}, 0},
      groups{{4, 5}, {{2, 15}, {2, 5}, {5, 1}}, 5}, one{{1, 1}, {{1, 5}, {1, 1}}, 29};
  for (const TensorView* const view : {&rows, &turned, &groups, &one}) {
    for (const int64_t piece : {1, 4, 100}) CHECK(tensor.read(*view, piece) == expected(*view));
  }
  CHECK(tensor.open(rows)->direct());
  CHECK(!tensor.open(turned)->direct());
  CHECK(tensor.read(turned, 100)[1] == 5);
  CHECK(tensor.read(rows, 100)[0] == 10);
}

TEST_CASE("a large matrix is transposed in slabs") {
  const Viewed tensor({3000, 3000});
  const TensorView turned{{3000, 3000}, {{3000, 1}, {3000, 3000}}, 0};
  CHECK(tensor.read(turned, 1 << 17) == expected(turned));
}

TEST_CASE("a view of elements that a tensor does not have is an error") {
  const Viewed tensor({6, 5});
  CHECK(tensor.open({{2, 5}, {{2, 5}, {5, 1}}, 20}));
  const auto beyond = tensor.open({{2, 5}, {{2, 5}, {5, 1}}, 21});
  REQUIRE(!beyond);
  CHECK(beyond.error().code == ErrorCode::kShapeMismatch);
}

TEST_CASE("a view of elements that change places, or are narrower than a byte, is an error") {
  test::TensorSpec device =
      test::output_of(DType::kFloat16, Format::kNC1HWC0, {1, 1, 2, 2, 16}, test::Dims{1, 16, 2, 2});
  device.data.assign(64 * 2, 'x');
  test::TensorSpec narrow = test::output_of(DType::kInt4, Format::kND, {64}, test::Dims{64});
  narrow.data.assign(32, 'x');
  test::TensorSpec plain = test::output_of(DType::kFloat16, Format::kND, {64}, test::Dims{64});
  plain.data.assign(64 * 2, 'x');
  for (const test::TensorSpec* const spec : {&device, &narrow, &plain}) {
    const test::ScratchDir scratch;
    const auto dump = test::list_dump(
        {scratch.write("Add.Default_Add-op1.1.2.1700000000000000", test::build_dump({.tensors = {*spec}}))});
    const TensorView view{{2, 5}, {{2, 5}, {5, 1}}, 10};
    TensorRecord record = dump.tensors().front();
    record.view = &view;
    const auto opened = HostTensor::open(dump.index, record, {});
    CHECK(opened.has_value() == (spec == &plain));
    if (!opened) CHECK(opened.error().code == ErrorCode::kShapeMismatch);
  }
}

TEST_CASE("a view is a run if its elements follow each other, whatever its axes are") {
  CHECK(view_of({2, 3}).is_run());
  CHECK(view_of({}).is_run());
  CHECK(view_of({2, 3}).last() == 5);
  CHECK(TensorView{{2, 1, 3}, {{2, 3}, {1, 77}, {3, 1}}, 4}.is_run());
  CHECK(!TensorView{{2, 3}, {{2, 4}, {3, 1}}, 0}.is_run());
  CHECK(!TensorView{{3, 2}, {{3, 1}, {2, 3}}, 0}.is_run());
}

}  // namespace msdump
