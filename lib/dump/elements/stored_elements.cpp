#include "dump/elements/stored_elements.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/widen/widen.h"
#include "tensor/dtype_kind.h"

namespace msdump {
namespace {

constexpr int64_t kGapBytes = 4096;
constexpr int64_t kPackedBytes = int64_t{64} << 10;

// Fortran order is C order with the axes reversed: the first one runs fastest.
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

// Turns a plan for an array in C order into one for the same array in Fortran order. False if its axes are not those of
// the array, which is then in device format.
bool use_fortran_strides(const Shape& shape, Plan& plan) {
  if (plan.parts.size() != 1) return false;
  for (PlanAxis& axis : plan.parts.front().axes) {
    int64_t c_stride = 1, fortran_stride = plan.src_elements;
    bool found = axis.extent == 1;
    for (size_t i = shape.size(); i-- > 0 && !found;) {
      fortran_stride /= shape[i];
      found = axis.extent == shape[i] && axis.src_outer == 0 && axis.src_inner == c_stride;
      c_stride *= shape[i];
    }
    if (!found) return false;
    if (axis.extent > 1) axis.src_inner = fortran_stride;
  }
  return plan.parts.front().src_base == 0;
}

}  // namespace

StoredElements::StoredElements(uint64_t offset, DType dtype, bool big_endian)
    : offset_(offset),
      dtype_(dtype),
      bits_(info(dtype).bits == 0 ? 8 : info(dtype).bits),
      swap_width_(big_endian ? static_cast<size_t>(info(part_of(dtype)).bits) / 8 : 0) {}

StoredElements::StoredElements(const StoredTensor& tensor, DType dtype)
    : StoredElements(tensor.offset, dtype, tensor.big_endian) {
  pieces_ = tensor.pieces;
  if (tensor.zip != nullptr) zip_ = std::make_shared<ZipDataReader>(tensor.zip);
}

// `first` counts from the first byte of the tensor.
Status StoredElements::read_bytes(const File& file, uint64_t first, std::span<std::byte> into) const {
  first += skipped_;
  if (zip_ != nullptr) return zip_->read(file, first, into);
  if (pieces_ == nullptr) return file.read_at(offset_ + first, into);
  auto next = std::upper_bound(pieces_->begin(), pieces_->end(), first,
                               [](uint64_t place, const FilePiece& piece) { return place < piece.begin; });
  while (!into.empty()) {
    const FilePiece& piece = *std::prev(next);
    const uint64_t left = next == pieces_->end() ? into.size() : next->begin - first;
    const auto count = static_cast<size_t>(std::min<uint64_t>(left, into.size()));
    MSDUMP_CHECK_OK(file.read_at(piece.offset + (first - piece.begin), into.first(count)));
    first += count;
    into = into.subspan(count);
    if (next != pieces_->end()) ++next;
  }
  return {};
}

int64_t StoredElements::gap() const { return kGapBytes * 8 / bits_; }

Status StoredElements::read(const File& file, int64_t first, int64_t count, std::byte* into) const {
  if (count == 0) return {};
  if (kernels::needs_unpacking(dtype_)) return read_packed(file, first, count, into);
  const size_t bytes = static_cast<size_t>(count) * element_bytes();
  MSDUMP_CHECK_OK(read_bytes(file, static_cast<uint64_t>(first) * element_bytes(), {into, bytes}));
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
    MSDUMP_CHECK_OK(read_bytes(file, static_cast<uint64_t>(begin), {packed.get(), bytes}));
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
  if (!tensor.fortran_order || plan.dst_elements == 0) return plan;
  if (!plan.identity && use_fortran_strides(*tensor.request.shape, plan)) return plan;
  if (!plan.identity) {
    request.target = std::nullopt;
    MSDUMP_TRY(plan, make_plan(request));
    plan.note = "a Fortran-ordered array stays in its device format";
  }
  plan_fortran_order(plan);
  return plan;
}

}  // namespace msdump
