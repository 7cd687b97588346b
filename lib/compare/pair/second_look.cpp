#include "compare/pair/second_look.h"

#include <algorithm>

#include "compare/pair/pair_distance.h"
#include "compare/pair/pair_reader.h"

namespace msdump {

Result<SecondLook> look_again(HostTensor& a, HostTensor& b, const TensorDiff& diff, const SecondLookOptions& options,
                              const CancelToken& cancel) {
  SecondLook look;
  const bool differs =
      diff.verdict == Verdict::kClose || diff.verdict == Verdict::kDiffer || diff.verdict == Verdict::kNan;
  if (!differs || (options.worst == 0 && !options.by_axis)) return look;
  MSDUMP_TRY(PairReader reader, PairReader::open(a, b));
  PairDistances distances(reader.dtype(), options.scale);
  WorstElements worst(options.worst, a.dtype(), b.dtype());
  AxisErrors axes(a.shape(), diff.metrics.max_abs.value_or(0) / options.scale);
  const int64_t bytes = std::max(info(reader.dtype()).bits / 8, 1);
  MSDUMP_CHECK_OK(reader.for_each(cancel, [&](const PairSlab& slab) {
    for (int64_t from = 0; from < slab.count; from += kernels::kPairBlock) {
      const int64_t count = std::min(kernels::kPairBlock, slab.count - from);
      const auto block = distances.of(slab.a + from * bytes, slab.b + from * bytes, count);
      worst.add(slab, from, block);
      if (options.by_axis) axes.add(block);
    }
  }));
  look.worst = std::move(worst).finish(a.shape());
  if (options.by_axis) look.axes = axes.finish();
  return look;
}

}  // namespace msdump
