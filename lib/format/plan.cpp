#include "format/plan.h"

#include <algorithm>
#include <limits>

#include "format/device_formats.h"

namespace msdump {
namespace {

bool is_nz(Format format) {
  return format == Format::kFractalNZ || (format >= Format::kFractalNzC016 && format <= Format::kFractalNzC08);
}

// Row-major strides of a shape without zeros whose product does not overflow.
std::vector<int64_t> strides_of(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// Elements in their order: one axis, stride 1 on both sides.
void set_identity(Plan& plan, Shape shape, int64_t count) {
  plan.shape = std::move(shape);
  plan.identity = true;
  plan.src_elements = plan.dst_elements = count;
  plan.parts = {PlanPart{{plain_axis(count, 1, 1)}, 0, 0}};
}

// Checks that do not depend on the format.
struct Checked {
  DType dtype;
  Format format;
  int64_t groups;
  Shape shape;
  int64_t elements;
};

Status check_dims(const Shape& shape, std::string_view what) {
  if (shape.size() > kMaxRank)
    return fail(ErrorCode::kShapeMismatch, "{} of rank {}, more than {}", what, shape.size(), kMaxRank);
  for (const int64_t dim : shape) {
    if (dim < 0) return fail(ErrorCode::kShapeMismatch, "{} has an unknown dimension", what);
  }
  // If a dimension is 0, the product is 0, but strides are products of the others.
  Shape largest = shape;
  std::replace(largest.begin(), largest.end(), int64_t{0}, int64_t{1});
  if (!element_count(largest))
    return fail(ErrorCode::kTooLarge, "dimension product of {} {} overflows", what, describe(shape));
  return {};
}

Result<Checked> check(const PlanRequest& request) {
  const auto packed = unpack_format(request.format_number, request.sub_format);
  if (!packed) return fail(ErrorCode::kUnsupportedFormat, "unknown format {}", request.format_number);
  const Shape& shape = *request.shape;
  MSDUMP_CHECK_OK(check_dims(shape, "shape"));
  const int64_t elements = *element_count(shape);
  const auto needed = bytes_of(*request.dtype, elements);
  if (!needed) return fail(ErrorCode::kTooLarge, "dimension product of shape {} overflows", describe(shape));
  if (*needed > request.bytes) {
    return fail(make_error(ErrorCode::kShapeMismatch, "size {} is less than the shape needs ({} bytes for {} of {})",
                           request.bytes, *needed, describe(shape), name_of(*request.dtype)));
  }
  return Checked{*request.dtype, packed->format, packed->groups, shape, elements};
}

// Writes the bytes as a vector, because the dtype has no known width or there is no shape.
Result<Plan> plan_raw(const PlanRequest& request) {
  Plan plan;
  plan.policy = PlanPolicy::kRaw;
  const auto packed = unpack_format(request.format_number, request.sub_format);
  if (!packed) return fail(ErrorCode::kUnsupportedFormat, "unknown format {}", request.format_number);
  plan.from = plan.to = packed->format;
  constexpr auto kMostBytes = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / 8;  // eight elements in each
  if (request.bytes > kMostBytes) return fail(ErrorCode::kTooLarge, "a tensor of {} bytes", request.bytes);
  if (is_raw(*request.dtype)) {
    plan.dtype = plan.npy_dtype = info(*request.dtype).npy_dtype;
    const auto count = static_cast<int64_t>(request.bytes);
    set_identity(plan, {count}, count);
    plan.note = fmt::format("{} elements are not decoded: written as bytes", name_of(*request.dtype));
    return plan;
  }
  const DTypeInfo& dtype = info(*request.dtype);
  plan.dtype = dtype.dtype;
  plan.npy_dtype = dtype.npy_dtype;
  const uint64_t bits = request.bytes * 8;
  const auto width = static_cast<uint64_t>(dtype.bits);
  if (bits % width != 0) {
    return fail(ErrorCode::kShapeMismatch, "no shape, and {} bytes are not a whole number of {} elements",
                request.bytes, dtype.name);
  }
  const auto count = static_cast<int64_t>(bits / width);
  set_identity(plan, {count}, count);
  plan.note = fmt::format("the file has no shape: written as a vector of {}", count);
  return plan;
}

bool differs_by_ones_only(Shape a, Shape b) {
  std::erase(a, 1);
  std::erase(b, 1);
  return a == b;
}

// The shape of a tensor whose elements keep their order. If the format names axes, the original shape may have another order
// of axes (NCHW of an NHWC tensor). It then counts only if it differs in axes of length 1.
Shape shape_as_is(const PlanRequest& request, const Checked& checked) {
  const auto original = usable_original_shape(request);
  if (!original || element_count(*original) != checked.elements) return checked.shape;
  const std::string_view axes = host_axes(checked.format);
  const bool has_layout = !axes.empty() && axes.size() == checked.shape.size();
  const bool same_tensor = original->size() != checked.shape.size() && differs_by_ones_only(*original, checked.shape);
  return has_layout && !same_tensor ? checked.shape : *original;
}

// A tensor whose format names no axes, or whose order is not to change.
void plan_as_is(const PlanRequest& request, const Checked& checked, Plan& plan) {
  set_identity(plan, shape_as_is(request, checked), checked.elements);
  plan.to = plan.from;
}

void keep_device_layout(const Checked& checked, Plan& plan, std::string note) {
  plan.policy = PlanPolicy::kKept;
  plan.to = plan.from;
  set_identity(plan, checked.shape, checked.elements);
  plan.note = std::move(note);
}

// NHWC, HWCN, ...: a permutation of axes, without padding.
void plan_permutation(const Checked& checked, Format target, Plan& plan) {
  const std::string_view from = host_axes(checked.format), to = host_axes(target);
  const std::vector<int64_t> src_strides = strides_of(checked.shape);
  std::vector<size_t> source_of;
  for (const char axis : to) source_of.push_back(from.find(axis));
  plan.shape.clear();
  for (const size_t source : source_of) plan.shape.push_back(checked.shape[source]);
  const std::vector<int64_t> dst_strides = strides_of(plan.shape);
  PlanPart part;
  for (size_t i = 0; i < to.size(); ++i)
    part.axes.push_back(plain_axis(plan.shape[i], src_strides[source_of[i]], dst_strides[i]));
  plan.parts = {part};
  plan.src_elements = plan.dst_elements = checked.elements;
  plan.to = target;
}

// ...,W1,H1,H0,C0 -> ...,H,W. Rows of the host matrix consist of blocks of C0.
Status plan_nz(const PlanRequest& request, const Checked& checked, Plan& plan) {
  const Shape& s = checked.shape;
  const size_t rank = s.size();
  if (rank < 4) return fail(ErrorCode::kShapeMismatch, "FRACTAL_NZ needs at least 4 dimensions, has {}", rank);
  const int64_t w1 = s[rank - 4], h1 = s[rank - 3], h0 = s[rank - 2], c0 = s[rank - 1];
  if (c0 == 0 || h0 == 0)
    return fail(ErrorCode::kShapeMismatch, "empty tensor (C0 = {}) in FRACTAL_NZ", c0 == 0 ? c0 : h0);
  const auto original = usable_original_shape(request);
  if (!original) {
    keep_device_layout(checked, plan, std::string(kNoOriginalShape));
    return {};
  }
  // A vector is a matrix of one row, a scalar one of one element.
  Shape host = *original;
  while (host.size() < 2) host.insert(host.begin(), 1);
  const int64_t h = host[host.size() - 2], w = host.back();
  const Shape lead(host.begin(), host.end() - 2), device_lead(s.begin(), s.end() - 4);
  if (lead != device_lead || ceil_div(h, h0) != h1 || ceil_div(w, c0) != w1) {
    // Writers use the empty shape for "unknown".
    if (original->empty()) {
      keep_device_layout(checked, plan, std::string(kNoOriginalShape));
      return {};
    }
    return fail(ErrorCode::kShapeMismatch, "original shape {} does not fit FRACTAL_NZ {}", describe(*original),
                describe(s));
  }
  plan.shape = *original;
  plan.to = Format::kND;
  plan.src_elements = checked.elements;
  plan.dst_elements = *element_count(host);
  if (plan.dst_elements == 0) return {};
  PlanPart part;
  const int64_t batches = *element_count(lead), padded_rows = h1 * h0 * c0;
  part.axes = {plain_axis(batches, w1 * padded_rows, h * w), plain_axis(h, c0, w),
               PlanAxis{.extent = w, .block = c0, .src_outer = padded_rows, .src_inner = 1, .dst_stride = 1}};
  plan.parts = {part};
  return {};
}

PlanAxis place_axis(const SourceAxis& source, const std::vector<int64_t>& dst_strides, std::string_view axes) {
  // 'P' is H and W as one axis with the stride of W: all host orders have H directly outside W.
  const char letter = source.letter == 'P' ? 'W' : source.letter;
  const size_t position = axes.find(letter);
  PlanAxis placed = source.axis;
  placed.dst_stride *= position == std::string_view::npos ? 0 : dst_strides[position];
  return placed;
}

Status plan_device(const PlanRequest& request, const Checked& checked, Format target, Plan& plan) {
  const auto original = usable_original_shape(request);
  MSDUMP_TRY(const DeviceReading reading,
             read_device_tensor({checked.format, checked.groups, checked.shape, original, request.original_format}));
  if (!reading.kept_reason.empty()) {
    keep_device_layout(checked, plan, reading.kept_reason);
    return {};
  }
  if (reading.padding_kept) plan.note = "the original shape is not in the file: the channels are still padded to C1*C0";
  const bool with_depth = checked.format == Format::kNDC1HWC0 || checked.format == Format::kFractalZ3D;
  const auto order = target_for_rank(target, with_depth);
  if (!order) {
    keep_device_layout(checked, plan,
                       fmt::format("{} has no {}-dimensional form", name_of(target), with_depth ? 5 : 4));
    return {};
  }
  // A bias or a matrix keeps its own shape, with axes in NC(D)HW order.
  const Format written = reading.host.own_shape ? (with_depth ? Format::kNCDHW : Format::kNCHW) : *order;
  const std::string_view axes = host_axes(written);
  const Shape in_order = shape_in_order(reading.host.dims, axes);
  plan.shape = reading.host.own_shape.value_or(in_order);
  plan.to = reading.host.own_shape ? Format::kND : written;
  plan.src_elements = checked.elements;
  plan.dst_elements = *element_count(plan.shape);
  if (plan.dst_elements == 0) return {};
  const std::vector<int64_t> dst_strides = strides_of(in_order);
  for (const SourcePart& source : reading.parts) {
    PlanPart part;
    part.src_base = source.src_base;
    part.dst_base = source.n_base * dst_strides[axes.find('N')];
    for (const SourceAxis& axis : source.axes) part.axes.push_back(place_axis(axis, dst_strides, axes));
    plan.parts.push_back(std::move(part));
  }
  return {};
}

Status plan_host(const PlanRequest& request, const Checked& checked, Format target, Plan& plan) {
  const std::string_view axes = host_axes(checked.format);
  const bool has_layout = !axes.empty() && axes.size() == checked.shape.size();
  const auto order = has_layout && target != Format::kND ? target_for_rank(target, axes.size() == 5) : std::nullopt;
  if (!has_layout || !order || *order == checked.format || checked.elements == 0) {
    // An empty tensor still gets the permuted shape.
    if (order && *order != checked.format) {
      plan_permutation(checked, *order, plan);
      plan.parts.clear();
      return {};
    }
    plan_as_is(request, checked, plan);
    // A format with named axes does not apply to another number of dimensions.
    if (!has_layout && checked.format != Format::kReserved) plan.to = axes.empty() ? checked.format : Format::kND;
    if (has_layout && target != Format::kND && !order) {
      plan.note =
          fmt::format("{} has no form of rank {}: left as {}", name_of(target), axes.size(), name_of(checked.format));
    }
    return {};
  }
  plan_permutation(checked, *order, plan);
  return {};
}

}  // namespace

PlanAxis plain_axis(int64_t extent, int64_t src_stride, int64_t dst_stride) {
  return {.extent = extent, .block = std::max<int64_t>(extent, 1), .src_inner = src_stride, .dst_stride = dst_stride};
}

std::string_view name_of(PlanPolicy policy) {
  switch (policy) {
    case PlanPolicy::kConverted: return "converted";
    case PlanPolicy::kKept: return "kept";
    case PlanPolicy::kRaw: return "raw";
  }
  return "raw";
}

Result<Plan> make_plan(const PlanRequest& request) {
  if (!request.dtype) return fail(ErrorCode::kUnsupportedDtype, "unknown data type {}", request.dtype_number);
  if (is_raw(*request.dtype) || !request.shape) return plan_raw(request);
  MSDUMP_TRY(const Checked checked, check(request));
  if (request.original_shape) {
    Shape known = *request.original_shape;
    std::replace(known.begin(), known.end(), kUnknownDim, int64_t{1});
    MSDUMP_CHECK_OK(check_dims(known, "original shape"));
  }
  Plan plan;
  plan.dtype = checked.dtype;
  plan.npy_dtype = info(checked.dtype).npy_dtype;
  plan.from = checked.format;
  const Support support = info(checked.format).support;
  if (!request.target) {
    keep_device_layout(checked, plan, "");
  } else if (support == Support::kKept) {
    keep_device_layout(checked, plan, fmt::format("{} is {}", name_of(checked.format), info(checked.format).note));
  } else if (support == Support::kHost) {
    MSDUMP_CHECK_OK(plan_host(request, checked, *request.target, plan));
  } else if (is_nz(checked.format)) {
    MSDUMP_CHECK_OK(plan_nz(request, checked, plan));
  } else {
    MSDUMP_CHECK_OK(plan_device(request, checked, *request.target, plan));
  }
  return plan;
}

}  // namespace msdump
