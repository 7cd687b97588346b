// Format conversion plans. Half of the inputs are requests of any numbers at all: make_plan may refuse them, and what it
// accepts must stay inside both tensors, reach every host element once, and do the same in whole parts and in windows.
// The other half are tensors that exist: their plan must be the formula of the reference, element by element.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "../support/format_oracle.h"
#include "format/plan.h"
#include "format/window.h"

using namespace msdump;
using namespace msdump::test;

namespace {

constexpr int64_t kMostElements = 1 << 11;  // of a plan that is carried out
constexpr int64_t kMostWindows = 1 << 9;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

// The input, read from the front; zeros when it is used up.
class Input {
 public:
  explicit Input(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint8_t byte() {
    if (bytes_.empty()) return 0;
    const uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }
  int64_t below(int64_t end) { return byte() % end; }
  uint64_t word() {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return value;
  }
  // Small numbers mostly, else those at which arithmetic breaks.
  int64_t number() {
    const uint8_t kind = byte();
    if (kind < 200) return kind % 40;
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    switch (kind % 8) {
      case 0: return kMost - below(32);
      case 1: return int64_t{1} << below(63);
      case 2: return (int64_t{1} << below(63)) + below(256) - 128;
      case 3: return kUnknownDim;
      case 4: return kMost / (1 + below(200));
      case 5: return static_cast<int64_t>(word());
      case 6: return 256 * below(256) + below(256);
      default: return 0;
    }
  }
  Shape shape(int64_t most) {
    Shape dims;
    for (int64_t rank = below(most); rank > 0; --rank) dims.push_back(number());
    return dims;
  }
  Format format() {
    return all_formats()[static_cast<size_t>(below(static_cast<int64_t>(all_formats().size())))].format;
  }

 private:
  std::span<const uint8_t> bytes_;
};

PlanRequest any_request(Input& in) {
  PlanRequest request;
  const uint8_t choices = in.byte();
  if ((choices & 1) != 0 || in.byte() != 0)
    request.dtype = all_dtypes()[static_cast<size_t>(in.byte()) % all_dtypes().size()].dtype;
  request.format_number = (choices & 2) != 0 ? static_cast<int64_t>(in.format()) : in.number();
  request.sub_format = (choices & 4) != 0 ? in.number() : 0;
  if ((choices & 8) != 0 || in.byte() % 8 != 0) request.shape = in.shape(9);
  if ((choices & 16) != 0) request.original_shape = in.shape(8);
  if ((choices & 32) != 0) request.original_format = in.format();
  if ((choices & 64) != 0 || in.byte() % 8 != 0) request.target = in.format();
  request.bytes = in.word();
  const auto count = request.shape ? element_count(*request.shape) : std::nullopt;
  const auto needed =
      count && request.dtype && !is_raw(*request.dtype) ? bytes_of(*request.dtype, *count) : std::nullopt;
  if ((choices & 128) != 0 && needed) request.bytes = *needed;
  return request;
}

// What the elements are by source_index_of, with every claim of the plan checked on the way.
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
      const int64_t source = source_index_of(part, index);
      require(dst >= 0 && dst < plan.dst_elements, "a destination outside the tensor");
      require(source >= 0 && source < plan.src_elements, "a source outside the tensor");
      require(sources[static_cast<size_t>(dst)] < 0, "a destination reached twice");
      sources[static_cast<size_t>(dst)] = source;
    }
  }
  require(std::find(sources.begin(), sources.end(), -1) == sources.end(), "a destination never reached");
  return sources;
}

using Bytes = std::vector<std::byte>;

Bytes make_source(int64_t elements, size_t size) {
  Bytes bytes(static_cast<size_t>(elements) * size);
  uint64_t state = 88172645463325252ULL;
  for (std::byte& byte : bytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<std::byte>(state >> 24);
  }
  return bytes;
}

// Calls copy(place in the tensor, place in the buffer, bytes) for every run of a region.
template <class Copy>
void for_runs(const Region& region, size_t size, size_t tensor_bytes, Copy copy) {
  const size_t run = static_cast<size_t>(region.run) * size;
  size_t in_buffer = 0;
  for_each_run(region, [&](int64_t first) {
    const size_t in_tensor = static_cast<size_t>(first) * size;
    require(first >= 0 && in_tensor + run <= tensor_bytes, "a run outside the tensor");
    copy(in_tensor, in_buffer, run);
    in_buffer += run;
    return true;
  });
}

void check_windows(const Plan& plan, const Bytes& src, const Bytes& expected, size_t size, int64_t budget,
                   int64_t gap) {
  Bytes dst(expected.size());
  for (const PlanPart& part : plan.parts) {
    const Tiling tiling = choose_tiling(part, budget, gap);
    if (tiling.windows > kMostWindows) return;
    for (int64_t i = 0; i < tiling.windows; ++i) {
      const Window window = make_window(part, tiling, i, gap);
      Bytes in(static_cast<size_t>(window.src.elements()) * size),
          out(static_cast<size_t>(window.dst.elements()) * size);
      for_runs(window.src, size, src.size(),
               [&](size_t at, size_t to, size_t n) { std::memcpy(in.data() + to, src.data() + at, n); });
      run_window(part, window, in.data(), out.data(), size);
      for_runs(window.dst, size, dst.size(),
               [&](size_t at, size_t from, size_t n) { std::memcpy(dst.data() + at, out.data() + from, n); });
    }
  }
  require(dst == expected, "windows and formula differ");
}

void carry_out(const Plan& plan, const std::vector<int64_t>& sources, Input& in) {
  const size_t size = size_t{1} << in.below(5);
  const Bytes src = make_source(plan.src_elements, size);
  Bytes expected(sources.size() * size), dst(sources.size() * size);
  for (size_t i = 0; i < sources.size(); ++i) {
    std::memcpy(expected.data() + i * size, src.data() + static_cast<size_t>(sources[i]) * size, size);
  }
  for (const PlanPart& part : plan.parts) run_part(part, src.data(), dst.data(), size);
  require(dst == expected, "run_part and formula differ");
  const int64_t budget = 1 + in.below(256) * in.below(64), gap = in.below(8) * in.below(64);
  check_windows(plan, src, expected, size, budget, gap);
}

// A plan too large to be carried out: its windows must still be inside the tensors.
void look_at_windows(const Plan& plan, Input& in) {
  for (size_t i = 0; i < plan.parts.size(); i += 1 + plan.parts.size() / 4) {
    const PlanPart& part = plan.parts[i];
    const int64_t gap = 16 * in.below(256);
    const Tiling tiling = choose_tiling(part, 1 << 16, gap);
    for (const int64_t index : {int64_t{0}, tiling.windows / 3, tiling.windows - 1}) {
      const Window window = make_window(part, tiling, index, gap);
      require(window.src.base >= 0 && window.src.base + window.src.run <= plan.src_elements,
              "a window outside the source");
      require(window.dst.base >= 0 && window.dst.base + window.dst.run <= plan.dst_elements,
              "a window outside the result");
    }
  }
}

void fuzz_any(Input& in) {
  const PlanRequest request = any_request(in);
  const auto plan = make_plan(request);
  if (!plan) {
    require(!plan.error().message.empty(), "a refusal without a word");
    require(plan.error().code != ErrorCode::kInternal, "an internal error");
    return;
  }
  require(plan->dst_elements == element_count(plan->shape), "as many elements as the shape says");
  const auto read = bytes_of(plan->dtype, plan->src_elements);
  require(is_raw(plan->dtype) || (read && *read <= request.bytes), "no more bytes than there are");
  if (plan->dst_elements == 0) return;
  if (plan->src_elements > kMostElements || plan->dst_elements > kMostElements) return look_at_windows(*plan, in);
  carry_out(*plan, sources_by_formula(*plan), in);
}

std::optional<DeviceLayout> first_reading(DeviceLayout layout, const Shape& device, const Shape& original) {
  const bool deep = has_depth(layout.format);
  for (const std::string_view axes : {deep ? "NCDHW" : "NCHW", deep ? "NDHWC" : "NHWC", deep ? "DHWCN" : "HWCN"}) {
    layout.extent = extents_from(original, axes);
    if (device_shape(layout) == device) return layout;
  }
  return std::nullopt;
}

void fuzz_real(Input& in) {
  constexpr Format kFormats[] = {Format::kNC1HWC0,     Format::kNC1HWC0C04, Format::kFractalZ,   Format::kFractalZG,
                                 Format::kFractalZC04, Format::kNDC1HWC0,   Format::kFractalZ3D, Format::kC1HWNCoC0};
  DeviceLayout layout;
  layout.format = kFormats[in.below(8)];
  const bool c04 = layout.format == Format::kFractalZC04;
  layout.c0 = layout.format == Format::kNC1HWC0C04 ? 4 : int64_t{c04 ? 16 : 1} << in.below(c04 ? 2 : 6);
  const bool deep = has_depth(layout.format);
  layout.extent = {1 + in.below(20), 1 + in.below(c04 ? 4 : 40), deep ? 1 + in.below(3) : 1, 1 + in.below(5),
                   1 + in.below(4)};
  layout.groups = in.below(24);
  if (is_grouped(layout)) layout.extent.n = layout.groups * (1 + in.below(6));
  const auto device = device_shape(layout);
  if (!device || *element_count(*device) > 8 * kMostElements) return;
  const uint8_t order = in.byte() % 3;
  const Shape original = host_shape(layout.extent, order == 0   ? (deep ? "NCDHW" : "NCHW")
                                                   : order == 1 ? (deep ? "NDHWC" : "NHWC")
                                                                : (deep ? "DHWCN" : "HWCN"));
  PlanRequest request;
  request.dtype = DType::kInt8;
  request.format_number = static_cast<int64_t>(layout.format);
  request.sub_format = layout.groups;
  request.shape = device;
  request.original_shape = original;
  request.bytes = static_cast<uint64_t>(*element_count(*device));
  constexpr Format kTargets[] = {Format::kNCHW, Format::kNHWC, Format::kHWCN, Format::kCHWN};
  constexpr Format kDeepTargets[] = {Format::kNCDHW, Format::kNDHWC, Format::kDHWCN, Format::kDHWNC};
  request.target = deep ? kDeepTargets[in.below(4)] : kTargets[in.below(4)];
  const auto plan = make_plan(request);
  require(plan.has_value(), "a real tensor is refused");
  const DeviceLayout reading = first_reading(layout, *device, original).value_or(layout);
  const std::string_view axes = name_of(*request.target);
  require(plan->shape == host_shape(reading.extent, axes), "another shape than the formula's");
  const std::vector<int64_t> sources = sources_of(reading, axes);
  require(sources_by_formula(*plan) == sources, "another element than the formula's");
  carry_out(*plan, sources, in);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input in({data, size});
  if (in.byte() % 2 == 0) {
    fuzz_any(in);
  } else {
    fuzz_real(in);
  }
  return 0;
}
