// copy_strided against its definition, on every CPU target. Both write into buffers with the same canary bytes, which are
// compared as a whole: a byte written between or beside the elements is as wrong as a wrong element. The source has the
// exact size, so that the address sanitizer sees a load beyond it.
#include "kernels/copy/copy_strided.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "support/catch.h"
#include "unit/kernels/each_target.h"

namespace msdump::kernels {
namespace {

using Bytes = std::vector<std::byte>;
using Random = std::mt19937;

constexpr std::array<size_t, 5> kElementSizes = {1, 2, 4, 8, 16};
constexpr int64_t kMargin = 80;

int64_t pick(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

// Elements from the first to the last that the axes touch.
int64_t span_of(const std::vector<CopyDim>& dims, int64_t CopyDim::*stride) {
  int64_t span = 1;
  for (const CopyDim& dim : dims) {
    if (dim.extent == 0) return 0;
    span += (dim.extent - 1) * dim.*stride;
  }
  return span;
}

Bytes random_bytes(size_t size, Random& random) {
  Bytes bytes(size);
  for (size_t at = 0; at < size; at += 4) {
    const auto four = static_cast<uint32_t>(random());
    std::memcpy(bytes.data() + at, &four, std::min<size_t>(4, size - at));
  }
  return bytes;
}

std::string describe(const std::vector<CopyDim>& dims, size_t element_size) {
  std::string text = std::to_string(element_size) + " bytes:";
  for (const CopyDim& dim : dims) {
    text += " " + std::to_string(dim.extent) + "x(" + std::to_string(dim.src_stride) + "," +
            std::to_string(dim.dst_stride) + ")";
  }
  return text;
}

// Source and destination begin `src_shift` and `dst_shift` bytes into their buffers.
void check_copy(const std::vector<CopyDim>& dims, size_t element_size, Random& random, int64_t src_shift = 0,
                int64_t dst_shift = 0) {
  const auto element = static_cast<int64_t>(element_size);
  const int64_t src_bytes = src_shift + span_of(dims, &CopyDim::src_stride) * element;
  const int64_t dst_bytes = kMargin + dst_shift + span_of(dims, &CopyDim::dst_stride) * element + kMargin;
  const Bytes src = random_bytes(static_cast<size_t>(src_bytes), random);
  const Bytes canary = random_bytes(static_cast<size_t>(dst_bytes), random);
  Bytes expected = canary, actual = canary;
  copy_strided_reference(dims, src.data() + src_shift, expected.data() + kMargin + dst_shift, element_size);
  copy_strided(dims, src.data() + src_shift, actual.data() + kMargin + dst_shift, element_size);
  if (std::memcmp(actual.data(), expected.data(), actual.size()) != 0) {
    INFO(describe(dims, element_size) << ", shifted by " << src_shift << " and " << dst_shift);
    const auto wrong = std::mismatch(actual.begin(), actual.end(), expected.begin()).first - actual.begin();
    FAIL_CHECK("first wrong byte at " << wrong - kMargin - dst_shift);
  }
}

// Strides of a tensor whose axes lie in the order given (first is nearest), sometimes with room between them.
void lay_out(std::vector<CopyDim>& dims, int64_t CopyDim::*stride, Random& random) {
  std::vector<size_t> order(dims.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  int64_t next = pick(random, 0, 9) == 0 ? pick(random, 2, 5) : 1;
  for (const size_t axis : order) {
    dims[axis].*stride = next;
    next *= dims[axis].extent;
    if (pick(random, 0, 5) == 0) next += pick(random, 1, 20);
  }
}

std::vector<CopyDim> random_dims(Random& random) {
  std::vector<CopyDim> dims(static_cast<size_t>(pick(random, 0, 6)));
  int64_t elements = 1;
  for (CopyDim& dim : dims) {
    const int64_t limit = std::max<int64_t>(1, std::min<int64_t>(pick(random, 0, 3) == 0 ? 300 : 20, 6000 / elements));
    dim.extent = pick(random, 1, limit);
    elements *= dim.extent;
  }
  lay_out(dims, &CopyDim::src_stride, random);
  lay_out(dims, &CopyDim::dst_stride, random);
  // A source may be read twice: repeated elements, or windows that overlap.
  if (!dims.empty() && pick(random, 0, 7) == 0) dims[0].src_stride = pick(random, 0, 3);
  return dims;
}

// n, c1, c0 (first `inner` of it), hw: NC1HWC0 -> NCHW.
std::vector<CopyDim> nc1hwc0(int64_t n, int64_t c1, int64_t c0, int64_t inner, int64_t hw) {
  const int64_t c = (c1 - 1) * c0 + inner;
  return {{n, c1 * hw * c0, c * hw}, {c1, hw * c0, c0 * hw}, {inner, 1, hw}, {hw, c0, 1}};
}

}  // namespace

TEST_CASE("Random boxes of every element size come out as the definition says, on every CPU target") {
  for_each_target([] {
    Random random(20250101);
    for (int round = 0; round < 400; ++round) {
      const std::vector<CopyDim> dims = random_dims(random);
      for (const size_t element_size : kElementSizes)
        check_copy(dims, element_size, random, pick(random, 0, 15), pick(random, 0, 63));
    }
  });
}

TEST_CASE("Every matrix up to 40 x 40 is transposed, dense and with room around it") {
  for_each_target([] {
    Random random(7);
    for (int64_t rows = 1; rows <= 40; ++rows) {
      for (int64_t columns = 1; columns <= 40; ++columns) {
        for (const size_t element_size : kElementSizes) {
          check_copy({{rows, columns, 1}, {columns, 1, rows}}, element_size, random, 1, 3);
          check_copy({{rows, columns + 3, 1}, {columns, 1, rows + 5}}, element_size, random);
        }
      }
    }
  });
}

TEST_CASE("Matrices beyond one tile are transposed, also those whose rows are a power of two apart") {
  for_each_target([] {
    Random random(8);
    for (const size_t element_size : kElementSizes) {
      check_copy({{300, 270, 1}, {270, 1, 300}}, element_size, random, 5, 9);
      check_copy({{256, 512, 1}, {512, 1, 256}}, element_size, random);
      check_copy({{130, 1024, 1}, {129, 1, 1024}}, element_size, random, 3, 50);
    }
  });
}

TEST_CASE("NC1HWC0 to NCHW is right for every tail of C0 and every small HW") {
  for_each_target([] {
    Random random(9);
    for (const int64_t c0 : {4, 8, 16, 32}) {
      for (int64_t inner = 1; inner <= c0; ++inner) {
        for (const int64_t hw : {1, 2, 3, 4, 6, 7, 8, 9, 15, 16, 17, 25, 31, 32, 33, 49, 63, 64, 65, 100, 129}) {
          for (const size_t element_size : {size_t{1}, size_t{2}, size_t{4}, size_t{8}}) {
            check_copy(nc1hwc0(2, inner == c0 ? 2 : 1, c0, inner, hw), element_size, random, 2, 1);
          }
        }
      }
    }
  });
}

TEST_CASE("FRACTAL_NZ rows of every width are put together") {
  for_each_target([] {
    Random random(10);
    for (int64_t inner = 1; inner <= 33; ++inner) {
      for (const size_t element_size : kElementSizes) {
        // batch, h, w1, w0 of a device tensor with C0 = 33 and 3 x 16 rows
        check_copy({{2, 4 * 48 * 33, 40 * 4 * 33}, {40, 33, 4 * 33}, {4, 48 * 33, 33}, {inner, 1, 1}}, element_size,
                   random, 7, 11);
      }
    }
  });
}

TEST_CASE("FRACTAL_Z to NCHW is right for kernels of every size up to 5 x 5") {
  for_each_target([] {
    Random random(11);
    for (int64_t hw = 1; hw <= 25; ++hw) {
      for (const int64_t c0 : {16, 32}) {
        const int64_t c1 = 2, n = 20, rows = 32, c = c1 * c0;
        for (const size_t element_size : {size_t{1}, size_t{2}, size_t{4}}) {
          check_copy({{c1, hw * rows * c0, c0 * hw}, {c0, 1, hw}, {hw, rows * c0, 1}, {n, c0, c * hw}}, element_size,
                     random, 3, 5);
        }
      }
    }
  });
}

TEST_CASE("Channels last become channels first and back, for few channels") {
  for_each_target([] {
    Random random(12);
    for (int64_t channels = 1; channels <= 18; ++channels) {
      for (const size_t element_size : kElementSizes) {
        check_copy({{3, 150 * channels, 150 * channels}, {150, channels, 1}, {channels, 1, 150}}, element_size, random,
                   1, 2);
        check_copy({{3, 150 * channels, 150 * channels}, {150, 1, channels}, {channels, 150, 1}}, element_size, random,
                   2, 1);
      }
    }
  });
}

TEST_CASE("Rows of every length up to 300 bytes are copied whole, long ones too") {
  Random random(13);
  for (int64_t length = 1; length <= 300; ++length)
    check_copy({{5, length + 1, length + 2}, {length, 1, 1}}, 1, random, 1, 1);
  check_copy({{3, 5000, 4099}, {4097, 1, 1}}, 4, random, 3, 2);
}

TEST_CASE("A copy without axes moves one element, and an extent of zero moves none") {
  Random random(14);
  for (const size_t element_size : kElementSizes) {
    check_copy({}, element_size, random, 1, 1);
    check_copy({{1, 1000, 1000}}, element_size, random);
    const Bytes src = random_bytes(16, random);
    Bytes dst(16);
    const std::vector<CopyDim> none = {{7, 1, 1}, {0, 5, 5}};
    copy_strided(none, src.data(), dst.data(), element_size);
    copy_strided_reference(none, src.data(), dst.data(), element_size);
    CHECK(dst == Bytes(16));
  }
}

TEST_CASE("Axes of extent one may have any stride") {
  Random random(15);
  const int64_t far = std::numeric_limits<int64_t>::max();
  const Bytes src = random_bytes(12, random);
  Bytes dst(12);
  copy_strided(std::vector<CopyDim>{{1, far, far}, {3, 1, 2}, {1, far, 0}, {2, 3, 1}}, src.data(), dst.data(), 2);
  Bytes expected(12);
  copy_strided_reference(std::vector<CopyDim>{{3, 1, 2}, {2, 3, 1}}, src.data(), expected.data(), 2);
  CHECK(dst == expected);
}

TEST_CASE("sixteen axes of two elements are copied") {
  Random random(16);
  std::vector<CopyDim> dims;
  for (int64_t axis = 0; axis < 16; ++axis)
    dims.push_back({2, int64_t{1} << axis, int64_t{1} << ((axis * 7 + 3) % 16)});
  check_copy(dims, 2, random);
}

}  // namespace msdump::kernels
