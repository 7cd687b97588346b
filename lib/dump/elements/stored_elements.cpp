#include "dump/elements/stored_elements.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "dump/elements/host_tensor.h"
#include "kernels/widen/widen.h"
#include "tensor/dtype.h"

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

// Turns a plan for an array in C order into one for the same array in Fortran order. False if the plan has other axes than
// the array, because it is in device format.
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

StoredElements::StoredElements(std::shared_ptr<PiecesReader> assembled) : StoredElements(0, assembled->dtype()) {
  assembled_ = std::move(assembled);
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
  if (assembled_ != nullptr)
    return assembled_->read(first + static_cast<int64_t>(skipped_ / element_bytes()), count, into);
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

namespace {

// Bytes of elements that are read and moved at once.
constexpr int64_t kWindowBytes = int64_t{1} << 20;

// Indices [begin, begin + count) of an axis.
struct AxisRange {
  int64_t begin = 0, count = 0;
};

// True if a range of an axis lies in more than one of its blocks.
bool crosses_blocks(const PlanAxis& axis, const AxisRange& range) {
  return (range.begin + axis.phase) / axis.block != (range.begin + range.count - 1 + axis.phase) / axis.block;
}

void restrict_axis(const AxisRange& range, PlanAxis& axis, PlanPart& part) {
  const int64_t shifted = range.begin + axis.phase;
  const bool crosses = crosses_blocks(axis, range);
  part.src_base += shifted / axis.block * axis.src_outer;
  part.dst_base += range.begin * axis.dst_stride;
  axis.extent = range.count;
  axis.phase = shifted % axis.block;
  if (crosses) return;
  part.src_base += axis.phase * axis.src_inner;
  axis.block = range.count;
  axis.phase = axis.src_outer = 0;
}

class RangeReader {
 public:
  RangeReader(const PlannedTensor& tensor, int64_t first, int64_t count, std::byte* into)
      : tensor_(tensor),
        begin_(first),
        end_(first + count),
        into_(into),
        width_(tensor.elements.element_bytes()),
        window_elements_(kWindowBytes / static_cast<int64_t>(width_)) {}

  Status run() {
    for (PlanPart part : tensor_.plan.parts) {
      std::stable_sort(part.axes.begin(), part.axes.end(),
                       [](const PlanAxis& a, const PlanAxis& b) { return a.dst_stride > b.dst_stride; });
      part_ = std::move(part);
      spans_.assign(part_.axes.size() + 1, 1);
      for (size_t i = part_.axes.size(); i-- > 0;)
        spans_[i] = spans_[i + 1] + (part_.axes[i].extent - 1) * part_.axes[i].dst_stride;
      ranges_.clear();
      MSDUMP_CHECK_OK(cut(part_.dst_base));
    }
    return {};
  }

 private:
  // Reads the host elements of the range box by box. The indices of the outer axes are chosen and lead to host element
  // `at`. With all indices of the inner axes the elements are [at, at + span).
  Status cut(int64_t at) {
    const size_t level = ranges_.size();
    const int64_t span = spans_[level];
    if (at >= end_ || at + span <= begin_) return {};
    if (at >= begin_ && at + span <= end_) {
      for (size_t i = level; i < part_.axes.size(); ++i) ranges_.push_back({0, part_.axes[i].extent});
      Status status = read_box(0);
      ranges_.resize(level);
      return status;
    }
    const PlanAxis& axis = part_.axes[level];
    const int64_t inner = spans_[level + 1];
    const auto host = [&](int64_t index) { return at + index * axis.dst_stride; };
    for (int64_t index = first_reaching(at, axis, inner); index < axis.extent && host(index) < end_;) {
      int64_t next = index + 1;
      if (host(index) >= begin_ && host(index) + inner <= end_) {
        // Takes the following indices, too, as long as they end inside the range.
        if (axis.dst_stride > 0) next = std::min(axis.extent, (end_ - inner - at) / axis.dst_stride + 1);
        ranges_.push_back({index, next - index});
        for (size_t i = level + 1; i < part_.axes.size(); ++i) ranges_.push_back({0, part_.axes[i].extent});
        MSDUMP_CHECK_OK(read_box(0));
      } else {
        ranges_.push_back({index, 1});
        MSDUMP_CHECK_OK(cut(host(index)));
      }
      ranges_.resize(level);
      index = next;
    }
    return {};
  }

  // The first index with an element in the range.
  [[nodiscard]] int64_t first_reaching(int64_t at, const PlanAxis& axis, int64_t inner) const {
    if (axis.dst_stride <= 0 || at + inner > begin_) return 0;
    return (begin_ - at - inner) / axis.dst_stride + 1;
  }

  // Splits ranges at the borders of blocks that are larger than a window.
  Status read_box(size_t axis_number) {
    for (size_t i = axis_number; i < part_.axes.size(); ++i) {
      const PlanAxis& axis = part_.axes[i];
      const AxisRange whole = ranges_[i];
      if (axis.block <= window_elements_ || !crosses_blocks(axis, whole)) continue;
      for (int64_t at = whole.begin; at < whole.begin + whole.count;) {
        const int64_t border = ((at + axis.phase) / axis.block + 1) * axis.block - axis.phase;
        const int64_t stop = std::min(border, whole.begin + whole.count);
        ranges_[i] = {at, stop - at};
        MSDUMP_CHECK_OK(read_box(i + 1));
        at = stop;
      }
      ranges_[i] = whole;
      return {};
    }
    PlanPart box = part_;
    for (size_t i = 0; i < box.axes.size(); ++i) restrict_axis(ranges_[i], box.axes[i], box);
    return read_part(box);
  }

  Status read_part(const PlanPart& part) {
    const int64_t gap = tensor_.elements.gap();
    const Tiling tiling = choose_tiling(part, window_elements_, gap);
    for (int64_t i = 0; i < tiling.windows; ++i) {
      const Window window = make_window(part, tiling, i, gap);
      stored_.resize(static_cast<size_t>(window.src.elements()) * width_);
      moved_.resize(static_cast<size_t>(window.dst.elements()) * width_);
      MSDUMP_CHECK_OK(tensor_.elements.read(tensor_.file, window.src, stored_.data()));
      run_window(part, window, stored_.data(), moved_.data(), width_);
      const std::byte* from = moved_.data();
      const size_t bytes = static_cast<size_t>(window.dst.run) * width_;
      for_each_run(window.dst, [&](int64_t first) {
        std::memcpy(into_ + static_cast<size_t>(first - begin_) * width_, from, bytes);
        from += bytes;
        return true;
      });
    }
    return {};
  }

  const PlannedTensor& tensor_;
  const int64_t begin_, end_;
  std::byte* const into_;
  const size_t width_;
  const int64_t window_elements_;
  PlanPart part_;               // its axes in host order, the outermost first
  std::vector<int64_t> spans_;  // by axis: host elements between the first and the last index of it and the inner axes
  std::vector<AxisRange> ranges_;
  std::vector<std::byte> stored_, moved_;
};

}  // namespace

Status read_host_range(const PlannedTensor& tensor, int64_t first, int64_t count, std::byte* into) {
  return RangeReader(tensor, first, count, into).run();
}

}  // namespace msdump
