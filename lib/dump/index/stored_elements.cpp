#include "dump/index/stored_elements.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/widen/widen.h"

namespace msdump {
namespace {

constexpr int64_t kGapBytes = 4096;
constexpr int64_t kPackedBytes = int64_t{64} << 10;

size_t number_width(DType dtype) {
  if (dtype == DType::kComplex64) return 4;
  if (dtype == DType::kComplex128) return 8;
  return static_cast<size_t>(info(dtype).bits) / 8;
}

// The first axis of a Fortran-ordered array runs fastest: a plan that puts the last one first.
void plan_fortran_order(Plan& plan) {
  PlanPart part;
  int64_t src = 1, dst = plan.dst_elements;
  for (const int64_t extent : plan.shape) {
    if (extent == 0) return;
    dst /= extent;
    part.axes.push_back({extent, extent, 0, 0, src, dst});
    src *= extent;
  }
  plan.parts = {std::move(part)};
  plan.identity = plan.shape.size() < 2;
}

}  // namespace

StoredElements::StoredElements(const StoredTensor& tensor, const Plan& plan)
    : offset_(tensor.offset),
      dtype_(plan.dtype),
      bits_(info(plan.dtype).bits == 0 ? 8 : info(plan.dtype).bits),
      swap_width_(tensor.big_endian ? number_width(plan.dtype) : 0) {}

int64_t StoredElements::gap() const { return kGapBytes * 8 / bits_; }

Status StoredElements::read(const File& file, int64_t first, int64_t count, std::byte* into) const {
  if (count == 0) return {};
  if (kernels::needs_unpacking(dtype_)) return read_packed(file, first, count, into);
  const size_t bytes = static_cast<size_t>(count) * element_bytes();
  MSDUMP_CHECK_OK(file.read_at(offset_ + static_cast<uint64_t>(first) * element_bytes(), {into, bytes}));
  for (size_t at = 0; swap_width_ > 1 && at < bytes; at += swap_width_)
    std::reverse(into + at, into + at + swap_width_);
  return {};
}

Status StoredElements::read_packed(const File& file, int64_t first, int64_t count, std::byte* into) const {
  const int64_t per_byte = 8 / bits_;
  const int64_t all = (first + count + per_byte - 1) / per_byte - first / per_byte;
  const auto packed = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(std::min(all, kPackedBytes)));
  while (count > 0) {
    const int64_t begin = first / per_byte, skipped = first % per_byte;
    const int64_t taken = std::min(count, kPackedBytes * per_byte - skipped);
    const auto bytes = static_cast<size_t>((skipped + taken + per_byte - 1) / per_byte);
    MSDUMP_CHECK_OK(file.read_at(offset_ + static_cast<uint64_t>(begin), {packed.get(), bytes}));
    kernels::unpack(dtype_, packed.get(), skipped, taken, into);
    first += taken;
    count -= taken;
    into += taken;
  }
  return {};
}

Status StoredElements::read(const File& file, const Region& region, std::byte* into) const {
  Status status;
  for_each_run(region, [&](int64_t first) {
    status = read(file, first, region.run, into);
    into += static_cast<size_t>(region.run) * element_bytes();
    return status.has_value();
  });
  return status;
}

Result<Plan> plan_stored(const StoredTensor& tensor, std::optional<Format> target) {
  PlanRequest request = tensor.request;
  request.target = target;
  MSDUMP_TRY(Plan plan, make_plan(request));
  if (!tensor.fortran_order) return plan;
  if (!plan.identity) {
    request.target = std::nullopt;
    MSDUMP_TRY(plan, make_plan(request));
    plan.note = "a Fortran-ordered array stays in its device format";
  }
  plan_fortran_order(plan);
  return plan;
}

}  // namespace msdump
