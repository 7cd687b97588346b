#include "compare/pair/pair_reader.h"

#include <algorithm>

#include "kernels/pair/pair_dtype.h"

namespace msdump {

Result<PairReader> PairReader::open(HostTensor& a, HostTensor& b) { return open(a, b, 0, a.count()); }

Result<PairReader> PairReader::open(HostTensor& a, HostTensor& b, int64_t first, int64_t count) {
  if (a.count() != b.count()) {
    return fail(make_error(ErrorCode::kShapeMismatch, "{} against {}", describe(a.shape()), describe(b.shape()))
                    .with_path(a.path()));
  }
  const auto common = kernels::common_dtype(a.dtype(), b.dtype());
  if (!common) {
    return fail(make_error(ErrorCode::kUnsupportedDtype, "{} against {}", name_of(a.dtype()), name_of(b.dtype()))
                    .with_path(a.path()));
  }
  return PairReader(a, b, *common, first, count);
}

PairReader::PairReader(HostTensor& a, HostTensor& b, DType common, int64_t first, int64_t count)
    : common_(common),
      slab_(std::min(kPairSlab, count)),
      a_(side_of(a)),
      b_(side_of(b)),
      next_(first),
      end_(first + count) {}

PairReader::Side PairReader::side_of(HostTensor& tensor) const {
  const auto elements = static_cast<size_t>(slab_);
  Side side{&tensor, std::vector<std::byte>(elements * tensor.element_bytes()), {}};
  if (tensor.dtype() != common_) side.widened.resize(elements * (static_cast<size_t>(info(common_).bits) / 8));
  return side;
}

Result<const std::byte*> PairReader::read(Side& side, int64_t first, int64_t count) const {
  MSDUMP_CHECK_OK(side.tensor->read(first, count, side.stored.data()));
  if (side.widened.empty()) return side.stored.data();
  kernels::widen_to(side.tensor->dtype(), common_, side.stored.data(), count, side.widened.data());
  return side.widened.data();
}

Result<std::optional<PairSlab>> PairReader::next(const CancelToken& cancel) {
  MSDUMP_CHECK_OK(cancel.check());
  const int64_t count = std::min(slab_, end_ - next_);
  if (count == 0) {
    MSDUMP_CHECK_OK(a_.tensor->check_unchanged());
    MSDUMP_CHECK_OK(b_.tensor->check_unchanged());
    return std::nullopt;
  }
  PairSlab slab;
  slab.first = next_;
  slab.count = count;
  MSDUMP_TRY(slab.a, read(a_, next_, count));
  MSDUMP_TRY(slab.b, read(b_, next_, count));
  slab.stored_a = a_.stored.data();
  slab.stored_b = b_.stored.data();
  next_ += count;
  return slab;
}

}  // namespace msdump
