// Bytes become a box; copy_strided on every CPU target against copy_strided_reference. Both write into buffers with the
// same canary bytes, compared as a whole. The source has the exact size: a load beyond it is the sanitizer's.
//
//   byte 0     log2 of the element size (mod 5)
//   byte 1, 2  shift of the source and of the destination against alignment
//   then per axis, up to 6 of them: extent, place in the source, gap in the source, place in the destination, gap there
//
// A "place" sorts the axes by how near their neighbours are; a gap is room after the axis, in elements.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/copy/copy_strided.h"
#include "kernels/cpu.h"

namespace {

using msdump::kernels::CopyDim;
using Bytes = std::vector<std::byte>;

constexpr size_t kMaxAxes = 6;
constexpr size_t kMargin = 64;
constexpr int64_t kMaxElements = 1 << 14;  // on either side

struct Axis {
  int64_t extent = 1;
  std::array<uint8_t, 2> place{}, gap{};
  std::array<int64_t, 2> stride{};
};

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  [[nodiscard]] bool empty() const { return at_ >= size_; }
  uint8_t next() { return empty() ? uint8_t{0} : data_[at_++]; }

 private:
  const uint8_t* data_;
  size_t size_, at_ = 0;
};

// Gives the axes their strides on one side; elements from the first to the last.
int64_t lay_out(std::vector<Axis>& axes, size_t side) {
  std::stable_sort(axes.begin(), axes.end(),
                   [side](const Axis& a, const Axis& b) { return a.place[side] < b.place[side]; });
  int64_t next = 1, span = 1;
  for (Axis& axis : axes) {
    axis.stride[side] = next;
    span += (axis.extent - 1) * next;
    next = next * axis.extent + (axis.gap[side] < 200 ? 0 : axis.gap[side] - 199);
  }
  return span;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  const size_t element = size_t{1} << (input.next() % 5);
  const size_t src_shift = input.next() % 64, dst_shift = input.next() % 64;
  std::vector<Axis> axes;
  while (!input.empty() && axes.size() < kMaxAxes) {
    Axis& axis = axes.emplace_back();
    axis.extent = input.next();
    for (size_t side = 0; side < 2; ++side) {
      axis.place[side] = input.next();
      axis.gap[side] = input.next();
    }
  }
  const int64_t src_span = lay_out(axes, 0), dst_span = lay_out(axes, 1);
  if (src_span > kMaxElements || dst_span > kMaxElements) return 0;
  std::vector<CopyDim> dims;
  bool is_empty = false;
  for (const Axis& axis : axes) {
    dims.push_back({axis.extent, axis.stride[0], axis.stride[1]});
    is_empty = is_empty || axis.extent == 0;
  }

  Bytes src(src_shift + (is_empty ? 0 : static_cast<size_t>(src_span) * element));
  for (size_t i = 0; i < src.size(); ++i) src[i] = static_cast<std::byte>((i * 2654435761U) >> 13);
  const Bytes canary(kMargin + dst_shift + (is_empty ? 0 : static_cast<size_t>(dst_span) * element) + kMargin,
                     std::byte{0xA5});
  Bytes expected = canary;
  msdump::kernels::copy_strided_reference(dims, src.data() + src_shift, expected.data() + kMargin + dst_shift, element);
  for (const std::string& target : msdump::kernels::available_cpu_targets()) {
    if (!msdump::kernels::choose_cpu_target(target)) std::abort();
    Bytes actual = canary;
    msdump::kernels::copy_strided(dims, src.data() + src_shift, actual.data() + kMargin + dst_shift, element);
    if (actual != expected) {
      std::fprintf(stderr, "%s differs from the reference\n", target.c_str());
      std::abort();
    }
  }
  return 0;
}
