#include "plan_check.h"

#include <algorithm>
#include <cstring>

#include "format/window.h"
#include "support/catch.h"

namespace msdump::test {
namespace {

using Bytes = std::vector<std::byte>;

constexpr auto kPoison = std::byte{0xE7};   // padding of the source
constexpr auto kNothing = std::byte{0xD1};  // what nobody has written yet

// What element `index` of a source looks like; differs between neighbours in every byte.
void put_element(Bytes& bytes, int64_t index, size_t size) {
  auto value = static_cast<uint64_t>(index + 1) * 0x9E3779B97F4A7C15ULL;
  for (size_t i = 0; i < size; ++i) {
    if (i == 8) value *= 31;
    bytes[static_cast<size_t>(index) * size + i] = static_cast<std::byte>(value >> (8 * (i % 8)));
  }
}

Bytes make_source(const Plan& plan, const std::vector<int64_t>& sources, size_t size) {
  Bytes bytes(static_cast<size_t>(plan.src_elements) * size, kPoison);
  for (const int64_t source : sources) put_element(bytes, source, size);
  return bytes;
}

Bytes expected_result(const Bytes& src, const std::vector<int64_t>& sources, size_t size) {
  Bytes bytes(sources.size() * size);
  for (size_t i = 0; i < sources.size(); ++i) {
    std::memcpy(bytes.data() + i * size, src.data() + static_cast<size_t>(sources[i]) * size, size);
  }
  return bytes;
}

// One element after the other, through a buffer of exactly the announced size: too much or too little is an error.
void run_one_window(const PlanPart& part, const Window& window, const Bytes& src, Bytes& dst, size_t size) {
  Bytes in(static_cast<size_t>(window.src.elements()) * size, kPoison);
  Bytes out(static_cast<size_t>(window.dst.elements()) * size, kNothing);
  const auto run_bytes = [&](const Region& region) { return static_cast<size_t>(region.run) * size; };
  size_t at = 0;
  for_each_run(window.src, [&](int64_t first) {
    const size_t from = static_cast<size_t>(first) * size;
    if (first < 0 || from + run_bytes(window.src) > src.size()) FAIL("reads past the source at " << first);
    std::copy_n(src.begin() + static_cast<std::ptrdiff_t>(from), run_bytes(window.src),
                in.begin() + static_cast<std::ptrdiff_t>(at));
    at += run_bytes(window.src);
    return true;
  });
  if (at != in.size()) FAIL("the runs read do not fill the buffer");
  run_window(part, window, in.data(), out.data(), size);
  at = 0;
  for_each_run(window.dst, [&](int64_t first) {
    const size_t to = static_cast<size_t>(first) * size;
    if (first < 0 || to + run_bytes(window.dst) > dst.size()) FAIL("writes past the result at " << first);
    std::copy_n(out.begin() + static_cast<std::ptrdiff_t>(at), run_bytes(window.dst),
                dst.begin() + static_cast<std::ptrdiff_t>(to));
    at += run_bytes(window.dst);
    return true;
  });
  if (at != out.size()) FAIL("the runs written do not empty the buffer");
}

Bytes run_windows(const Plan& plan, const Bytes& src, size_t size, int64_t budget, int64_t gap) {
  Bytes dst(static_cast<size_t>(plan.dst_elements) * size, kNothing);
  int64_t written = 0;
  for (const PlanPart& part : plan.parts) {
    const Tiling tiling = choose_tiling(part, budget, gap);
    for (int64_t i = 0; i < tiling.windows; ++i) {
      const Window window = make_window(part, tiling, i, gap);
      run_one_window(part, window, src, dst, size);
      written += window.dst.elements();
    }
  }
  REQUIRE(written == plan.dst_elements);  // with the result right, nothing was written twice
  return dst;
}

// source_index_of for all elements of all parts, put where the destination strides say.
std::vector<int64_t> sources_by_formula(const Plan& plan) {
  std::vector<int64_t> sources(static_cast<size_t>(plan.dst_elements), -1);
  for (const PlanPart& part : plan.parts) {
    int64_t count = 1;
    for (const PlanAxis& axis : part.axes) count *= axis.extent;
    for (int64_t flat = 0; flat < count; ++flat) {
      std::vector<int64_t> index(part.axes.size());
      int64_t rest = flat, dst = part.dst_base;
      for (size_t i = part.axes.size(); i-- > 0;) {
        index[i] = rest % part.axes[i].extent;
        rest /= part.axes[i].extent;
        dst += index[i] * part.axes[i].dst_stride;
      }
      sources.at(static_cast<size_t>(dst)) = source_index_of(part, index);
    }
  }
  return sources;
}

}  // namespace

PlanRequest request_for(Format format, const Shape& device, std::optional<Shape> original, std::optional<Format> target,
                        DType dtype) {
  PlanRequest request;
  request.dtype = dtype;
  request.format_number = static_cast<int64_t>(format);
  request.shape = device;
  request.original_shape = std::move(original);
  request.bytes = element_count(device) ? bytes_of(dtype, *element_count(device)).value_or(0) : 0;
  request.target = target;
  return request;
}

PlanRequest request_for(const DeviceLayout& layout, std::optional<Shape> original, std::optional<Format> target) {
  PlanRequest request = request_for(layout.format, device_shape(layout).value(), std::move(original), target);
  request.sub_format = layout.groups;
  return request;
}

Plan plan_of(const PlanRequest& request) {
  auto plan = make_plan(request);
  if (!plan) FAIL(plan.error().message);
  return std::move(plan).value();
}

Error refusal_of(const PlanRequest& request) {
  const auto plan = make_plan(request);
  if (plan) FAIL("not refused: " << describe(plan->shape) << " " << name_of(plan->policy) << " " << plan->note);
  return plan.error();
}

void check_plan(const Plan& plan, const std::vector<int64_t>& sources) {
  REQUIRE(plan.dst_elements == static_cast<int64_t>(sources.size()));
  REQUIRE(element_count(plan.shape) == plan.dst_elements);
  if (sources.empty()) return;
  REQUIRE(*std::max_element(sources.begin(), sources.end()) < plan.src_elements);
  REQUIRE((sources_by_formula(plan) == sources));
  for (const size_t size : {1U, 2U, 4U, 8U, 16U}) {
    INFO("elements of " << size << " bytes");
    const Bytes src = make_source(plan, sources, size);
    const Bytes expected = expected_result(src, sources, size);
    Bytes dst(expected.size(), kNothing);
    for (const PlanPart& part : plan.parts) run_part(part, src.data(), dst.data(), size);
    REQUIRE((dst == expected));
    if (size != 2 && size != 16) continue;
    for (const int64_t budget : {1, 20, 500, 1 << 20}) {
      // Tiny windows are many: once, and single elements only where there are few.
      if (budget < 500 && (size != 2 || plan.dst_elements > 1000 * budget)) continue;
      const int64_t gap = budget == 20 ? 3 : budget == 500 ? 100 : budget == 1 ? 0 : 4096;
      INFO("windows of " << budget << " elements, gap " << gap);
      REQUIRE((run_windows(plan, src, size, budget, gap) == expected));
    }
  }
}

}  // namespace msdump::test
