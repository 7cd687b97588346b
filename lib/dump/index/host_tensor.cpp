#include "dump/index/host_tensor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "format/window.h"
#include "kernels/widen/widen.h"

namespace msdump {
namespace {

// What a slab holds at most, in bytes of host elements; a tensor of no more is moved at once.
constexpr int64_t kSlabBytes = int64_t{8} << 20;
// A tensor that has to be taken whole.
constexpr int64_t kWholeBytes = int64_t{1} << 30;
// Reading this much between two runs is cheaper than a second system call.
constexpr int64_t kGapBytes = 4096;

// An array whose first axis runs fastest, as a plan that puts the last one first.
void plan_fortran_order(Plan& plan) {
  PlanPart part;
  int64_t src = 1, dst = plan.dst_elements;
  for (const int64_t extent : plan.shape) {
    if (extent == 0) return;
    dst /= extent;
    part.axes.push_back({extent, std::max<int64_t>(extent, 1), 0, 0, src, dst});
    src *= extent;
  }
  plan.parts = {std::move(part)};
  plan.identity = plan.shape.size() < 2;
}

size_t swap_width(DType dtype) {
  if (dtype == DType::kComplex64) return 4;
  if (dtype == DType::kComplex128) return 8;
  return static_cast<size_t>(info(dtype).bits) / 8;
}

void swap_bytes(std::byte* data, size_t bytes, size_t width) {
  for (size_t at = 0; width > 1 && at + width <= bytes; at += width) std::reverse(data + at, data + at + width);
}

}  // namespace

Result<HostTensor> HostTensor::open(const DumpIndex& index, const TensorRecord& tensor, const HostOptions& options) {
  const IndexedFile& indexed = index.files()[tensor.file];
  if (!tensor.has_elements) {
    return fail(make_error(ErrorCode::kNotFound, "only statistics of this tensor were dumped")
                    .with_path(index.path_of(indexed)));
  }
  MSDUMP_TRY(OpenedFile opened, index.open_tensors(indexed));
  if (tensor.item >= opened.tensors.size()) {
    return fail(make_error(ErrorCode::kChangedWhileReading, "the file holds other tensors than before")
                    .with_path(index.path_of(indexed)));
  }
  StoredTensor& stored = opened.tensors[tensor.item];
  if (!stored.request.shape && tensor.shape != nullptr) stored.request.shape = *tensor.shape;
  if (!stored.request.dtype && tensor.name.dtype != DType::kUndefined) stored.request.dtype = tensor.name.dtype;
  // A table may know what the file cannot say: that its float32 were bfloat16.
  const DType stored_dtype = stored.request.dtype.value_or(DType::kUndefined);
  const DType said = tensor.name.dtype;
  if (!stored.original_dtype && said != stored_dtype && said != DType::kUndefined &&
      info(said).npy_dtype == stored_dtype) {
    stored.original_dtype = said;
  }
  return open(std::move(opened), tensor.item, options);
}

Result<HostTensor> HostTensor::open(OpenedFile opened, size_t item, const HostOptions& options) {
  StoredTensor& stored = opened.tensors[item];
  // Elements whose shape nobody knows are a vector.
  const DType element = stored.request.dtype.value_or(DType::kUndefined);
  if (opened.container == ContainerKind::kRawBin && !stored.request.shape && info(element).bits >= 8) {
    stored.request.shape = Shape{static_cast<int64_t>(stored.bytes * 8 / static_cast<uint64_t>(info(element).bits))};
  }
  const std::string path = opened.file.path();
  auto made = make(std::move(opened.file), opened.container, stored, options);
  if (made) return made;
  Error error = std::move(made).error();
  if (error.path.empty()) error.path = path;
  if (error.tensor.empty()) error.tensor = stored.label();
  return fail(std::move(error));
}

Result<HostTensor> HostTensor::make(File file, ContainerKind container, const StoredTensor& stored,
                                    const HostOptions& options) {
  if (stored.problem) return fail(*stored.problem);
  HostTensor tensor(std::move(file));
  PlanRequest request = stored.request;
  const bool as_it_lies = container == ContainerKind::kNpy && !options.convert_arrays;
  request.target = as_it_lies ? std::nullopt : options.target;
  MSDUMP_TRY(tensor.plan_, make_plan(request));
  tensor.offset_ = stored.offset;
  tensor.original_dtype_ = stored.original_dtype;
  tensor.big_endian_ = stored.big_endian;
  if (stored.fortran_order) plan_fortran_order(tensor.plan_);
  const int bits = info(tensor.plan_.dtype).bits;
  tensor.element_bytes_ = bits < 8 ? 1 : static_cast<size_t>(bits / 8);
  tensor.direct_ = tensor.plan_.identity;
  if (tensor.direct_) return tensor;
  tensor.cut_into_slabs();
  const int64_t width = static_cast<int64_t>(tensor.element_bytes_);
  if (tensor.slab_elements_ > kWholeBytes / width) {
    return fail(ErrorCode::kTooLarge, "a {} of {} elements in device format cannot be read piece by piece",
                name_of(tensor.plan_.from), tensor.plan_.dst_elements);
  }
  return tensor;
}

// One slab is a run of host elements: the whole of the inner axes, a tile of one axis, a single index of the outer ones.
void HostTensor::cut_into_slabs() {
  const int64_t most = kSlabBytes / static_cast<int64_t>(element_bytes_);
  slab_elements_ = plan_.dst_elements;
  if (plan_.parts.size() != 1 || plan_.dst_elements <= most) return;
  ordered_ = plan_.parts.front();
  std::stable_sort(ordered_.axes.begin(), ordered_.axes.end(),
                   [](const PlanAxis& a, const PlanAxis& b) { return a.dst_stride > b.dst_stride; });
  tile_.assign(ordered_.axes.size(), 1);
  int64_t inner = 1;
  for (size_t i = ordered_.axes.size(); i-- > 0;) {
    const PlanAxis& axis = ordered_.axes[i];
    tile_[i] = axis.extent;
    if (inner * axis.extent <= most) {
      inner *= axis.extent;
      continue;
    }
    // A blocked axis is cut between its blocks; one whose blocks are shifted is not cut.
    const bool blocked = axis.block < axis.extent || axis.phase != 0;
    if (!blocked) {
      tile_[i] = std::max<int64_t>(1, most / inner);
    } else if (axis.phase == 0) {
      tile_[i] = std::max<int64_t>(1, most / inner / axis.block) * axis.block;
    }
    tile_[i] = std::min(tile_[i], axis.extent);
    inner *= tile_[i];
    cut_axis_ = i;
    break;
  }
  slab_elements_ = inner;
}

// Slabs lie one behind the other; the last tile of the cut axis may be a smaller one.
HostTensor::Slab HostTensor::slab_at(int64_t element) const {
  if (tile_.empty()) return {0, 0, plan_.dst_elements};
  const int64_t extent = ordered_.axes[cut_axis_].extent, tile = tile_[cut_axis_];
  const int64_t unit = slab_elements_ / tile, tiles = ceil_div(extent, tile);
  const int64_t outer = element / (extent * unit), at = element % (extent * unit) / (tile * unit);
  const int64_t begin = (outer * extent + at * tile) * unit;
  return {outer * tiles + at, begin, std::min(tile, extent - at * tile) * unit};
}

Status HostTensor::load_slab(int64_t slab) {
  if (loaded_ == slab) return {};
  loaded_ = -1;
  if (tile_.empty()) {
    stored_.resize(static_cast<size_t>(plan_.src_elements) * element_bytes_);
    slab_.resize(static_cast<size_t>(plan_.dst_elements) * element_bytes_);
    MSDUMP_CHECK_OK(read_stored(0, plan_.src_elements, stored_.data()));
    for (const PlanPart& part : plan_.parts) run_part(part, stored_.data(), slab_.data(), element_bytes_);
    loaded_ = slab;
    return {};
  }
  Tiling tiling{tile_, 1};
  for (size_t i = 0; i < tile_.size(); ++i) tiling.windows *= ceil_div(ordered_.axes[i].extent, tile_[i]);
  const int64_t gap = kGapBytes / static_cast<int64_t>(element_bytes_);
  const Window window = make_window(ordered_, tiling, slab, gap);
  stored_.resize(static_cast<size_t>(window.src.elements()) * element_bytes_);
  slab_.resize(static_cast<size_t>(window.dst.elements()) * element_bytes_);
  Status status;
  std::byte* into = stored_.data();
  for_each_run(window.src, [&](int64_t first) {
    status = read_stored(first, window.src.run, into);
    into += static_cast<size_t>(window.src.run) * element_bytes_;
    return status.has_value();
  });
  MSDUMP_CHECK_OK(std::move(status));
  run_window(ordered_, window, stored_.data(), slab_.data(), element_bytes_);
  loaded_ = slab;
  return {};
}

Status HostTensor::read_stored(int64_t first, int64_t count, std::byte* into) const {
  if (count == 0) return {};
  if (kernels::needs_unpacking(plan_.dtype)) {
    const int64_t per_byte = 8 / info(plan_.dtype).bits;
    const int64_t begin = first / per_byte, end = (first + count + per_byte - 1) / per_byte;
    std::vector<std::byte> packed(static_cast<size_t>(end - begin));
    MSDUMP_CHECK_OK(file_.read_at(offset_ + static_cast<uint64_t>(begin), packed));
    kernels::unpack(plan_.dtype, packed.data(), first - begin * per_byte, count, into);
    return {};
  }
  const size_t bytes = static_cast<size_t>(count) * element_bytes_;
  MSDUMP_CHECK_OK(file_.read_at(offset_ + static_cast<uint64_t>(first) * element_bytes_, {into, bytes}));
  if (big_endian_) swap_bytes(into, bytes, swap_width(plan_.dtype));
  return {};
}

Status HostTensor::read(int64_t first, int64_t count, std::byte* into) {
  if (direct_) return read_stored(first, count, into);
  while (count > 0) {
    const Slab slab = slab_at(first);
    MSDUMP_CHECK_OK(load_slab(slab.index));
    const int64_t take = std::min(count, slab.begin + slab.elements - first);
    std::memcpy(into, slab_.data() + static_cast<size_t>(first - slab.begin) * element_bytes_,
                static_cast<size_t>(take) * element_bytes_);
    into += static_cast<size_t>(take) * element_bytes_;
    first += take;
    count -= take;
  }
  return {};
}

}  // namespace msdump
