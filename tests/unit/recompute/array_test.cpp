#include "recompute/array.h"

#include "support/catch.h"

namespace msdump::recompute {
namespace {

Array count_up(Shape shape) {
  Array array = make_array(std::move(shape));
  for (size_t i = 0; i < array.values.size(); ++i) array.values[i] = static_cast<double>(i);
  return array;
}

}  // namespace

TEST_CASE("shapes broadcast as in numpy") {
  CHECK(broadcast_shape({2, 1, 3}, {4, 1}) == Shape{2, 4, 3});
  CHECK(broadcast_shape({}, {2}) == Shape{2});
  CHECK(broadcast_shape({2}, {3}) == std::nullopt);
  const auto y = combine(count_up({2, 1}), count_up({3}), [](double a, double b) { return 10 * a + b; });
  REQUIRE(y);
  CHECK(y->shape == Shape{2, 3});
  CHECK(y->values == std::vector<double>{0, 1, 2, 10, 11, 12});
  CHECK_FALSE(combine(count_up({2}), count_up({3}), [](double a, double) { return a; }));
  CHECK(broadcast_to(count_up({2, 1}), {2, 2})->values == std::vector<double>{0, 0, 1, 1});
}

TEST_CASE("a reduction folds the axes that it names, or all") {
  const Array x = count_up({2, 3});
  CHECK(sum(x, *reduced_axes(std::vector<int64_t>{1}, 2, false)).values == std::vector<double>{3, 12});
  CHECK(sum(x, *reduced_axes(std::vector<int64_t>{0}, 2, true)).shape == Shape{1, 3});
  CHECK(sum(x, *reduced_axes(std::vector<int64_t>{-2}, 2, false)).values == std::vector<double>{3, 5, 7});
  const Array all = sum(x, *reduced_axes({}, 2, false));
  CHECK(all.shape.empty());
  CHECK(all.values == std::vector<double>{15});
  CHECK(mean(x, *reduced_axes({}, 2, false)).values == std::vector<double>{2.5});
  CHECK_FALSE(reduced_axes(std::vector<int64_t>{2}, 2, false));
}

TEST_CASE("a sum over what was broadcast gives the gradient its shape") {
  CHECK(sum_to(count_up({2, 3}), {3})->values == std::vector<double>{3, 5, 7});
  CHECK(sum_to(count_up({2, 3}), {2, 1})->values == std::vector<double>{3, 12});
  CHECK_FALSE(sum_to(count_up({2, 3}), {4}));
}

TEST_CASE("a permutation moves axes") {
  const auto y = transpose(count_up({2, 3}), std::vector<int64_t>{1, 0});
  REQUIRE(y);
  CHECK(y->shape == Shape{3, 2});
  CHECK(y->values == std::vector<double>{0, 3, 1, 4, 2, 5});
  CHECK_FALSE(transpose(count_up({2, 3}), std::vector<int64_t>{0, 0}));
  CHECK_FALSE(transpose(count_up({2, 3}), std::vector<int64_t>{0}));
}

TEST_CASE("a slice reads, and writes back, a box with steps") {
  const std::vector<AxisSlice> box = {{1, 1, 1}, {2, -2, 2}};
  const Array part = slice(count_up({2, 3}), box);
  CHECK(part.values == std::vector<double>{5, 3});
  Array into = make_array({2, 3});
  scatter_slice(into, part, box);
  CHECK(into.values == std::vector<double>{0, 0, 0, 3, 0, 5});
}

TEST_CASE("loops over no elements visit none") {
  CHECK(sum(make_array({0, 3}), *reduced_axes(std::vector<int64_t>{0}, 2, false)).values ==
        std::vector<double>{0, 0, 0});
  CHECK(map(make_array({0}), [](double x) { return x; }).values.empty());
}

}  // namespace msdump::recompute
