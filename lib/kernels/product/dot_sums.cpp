#include "kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/product/dot_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/judge/judge_block.h"
#include "kernels/product/dot_sums.h"

HWY_BEFORE_NAMESPACE();
namespace msdump::kernels::HWY_NAMESPACE {
#if MSDUMP_HAS_VECTORS

// Adds the elements that fill all lanes, and returns their number.
int64_t dot_sums_vectors(const double* a, const double* b, int64_t count, LaneSum& products, LaneSum& squares) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<double, kJudgeLanes> d;
  const auto lanes = static_cast<int64_t>(kJudgeLanes), whole = count - count % lanes;
  for (int64_t lane = 0; lane < lanes; lane += static_cast<int64_t>(hn::Lanes(d))) {
    auto product = hn::Zero(d), square = hn::Zero(d);
    for (int64_t i = lane; i < whole; i += lanes) {
      const auto left = hn::LoadU(d, a + i);
      product = hn::Add(product, hn::Mul(left, hn::LoadU(d, b + i)));
      square = hn::Add(square, hn::Mul(left, left));
    }
    hn::StoreU(product, d, products.lanes.data() + lane);
    hn::StoreU(square, d, squares.lanes.data() + lane);
  }
  return whole;
}

#else  // !MSDUMP_HAS_VECTORS: all is left to the portable loop

int64_t dot_sums_vectors(const double* /*a*/, const double* /*b*/, int64_t /*count*/, LaneSum& /*products*/,
                         LaneSum& /*squares*/) {
  return 0;
}

#endif
}  // namespace msdump::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace msdump::kernels {

HWY_EXPORT(dot_sums_vectors);

DotSums dot_sums(const double* a, const double* b, int64_t count) {
  LaneSum products, squares;
  int64_t i = portable_forced() ? 0 : HWY_DYNAMIC_DISPATCH(dot_sums_vectors)(a, b, count, products, squares);
  for (; i < count; ++i) {
    products.add(static_cast<size_t>(i), a[i] * b[i]);
    squares.add(static_cast<size_t>(i), a[i] * a[i]);
  }
  return {products.total(), squares.total()};
}

}  // namespace msdump::kernels
#endif
