#include "dump/elements/stored_elements.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "dump/elements/host_tensor.h"
#include "support/catch.h"
#include "support/format_oracle.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::DeviceLayout;
using test::ScratchDir;

// A device tensor of int32 that holds the number of each of its elements.
struct Numbered {
  explicit Numbered(const DeviceLayout& layout)
      : Numbered(test::device_shape(layout).value(),
                 test::host_shape(layout.extent, test::has_depth(layout.format) ? "NCDHW" : "NCHW"), layout.format) {
    stored.request.sub_format = layout.groups;
  }
  Numbered(const Shape& device, const Shape& host, Format format) {
    std::vector<int32_t> numbers(static_cast<size_t>(element_count(device).value()));
    std::iota(numbers.begin(), numbers.end(), 0);
    const std::string bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * 4);
    path = scratch.write("tensor", bytes);
    stored.bytes = stored.request.bytes = bytes.size();
    stored.request.dtype = DType::kInt32;
    stored.request.format_number = static_cast<int64_t>(format);
    stored.request.shape = device;
    stored.request.original_shape = host;
  }

  [[nodiscard]] HostTensor open() const {
    auto file = File::open(path);
    REQUIRE(file);
    auto tensor = HostTensor::make(std::move(*file), FileKind::kDumpFile, stored, {});
    REQUIRE(tensor);
    return std::move(*tensor);
  }

  ScratchDir scratch;
  std::string path;
  StoredTensor stored;
};

std::vector<int64_t> range_of(const Numbered& tensor, int64_t first, int64_t count) {
  auto file = File::open(tensor.path);
  REQUIRE(file);
  const auto plan = plan_stored(tensor.stored, Format::kNCHW);
  REQUIRE(plan);
  const StoredElements elements(tensor.stored.offset, plan->dtype);
  std::vector<int32_t> numbers(static_cast<size_t>(count), -1);
  REQUIRE(read_host_range({*file, elements, *plan}, first, count, reinterpret_cast<std::byte*>(numbers.data())));
  return {numbers.begin(), numbers.end()};
}

TEST_CASE("any run of host elements of any device format is what the formula of the reference says") {
  const auto layout = GENERATE(
      DeviceLayout{Format::kNC1HWC0, {2, 20, 1, 3, 2}}, DeviceLayout{Format::kFractalZ, {18, 20, 1, 1, 2}},
      DeviceLayout{Format::kFractalZ, {12, 3, 1, 2, 1}, 16, 6}, DeviceLayout{Format::kFractalZC04, {17, 3, 1, 3, 2}},
      DeviceLayout{Format::kNDC1HWC0, {2, 17, 2, 1, 2}}, DeviceLayout{Format::kC1HWNCoC0, {1, 6, 1, 2, 3}, 4});
  const Numbered tensor(layout);
  const std::vector<int64_t> all = test::sources_of(layout, test::has_depth(layout.format) ? "NCDHW" : "NCHW");
  const auto count = static_cast<int64_t>(all.size());
  INFO(name_of(layout.format));
  for (int64_t first = 0; first < count; first += 5) {
    for (int64_t size = 1; first + size <= count; size += 7) {
      const std::vector<int64_t> expected(all.begin() + first, all.begin() + first + size);
      if (range_of(tensor, first, size) != expected) FAIL("elements " << first << " to " << first + size);
    }
  }
  CHECK(range_of(tensor, 0, count) == all);
}

TEST_CASE("a tensor of one giant block is read in slabs of a fixed size") {
  // NC1HWC0 with blocks of 2^20 channels, of which the second is used for five.
  constexpr int64_t kBlock = int64_t{1} << 20, kPixels = 2, kChannels = kBlock + 5;
  const Numbered tensor({1, 2, 1, kPixels, kBlock}, {1, kChannels, 1, kPixels}, Format::kNC1HWC0);
  HostTensor host = tensor.open();
  CHECK(host.memory() <= int64_t{4} << 20);
  REQUIRE(host.count() == kChannels * kPixels);
  for (const int64_t first : {int64_t{0}, host.memory() / 4 - 7, kBlock * kPixels - 3, host.count() - 10}) {
    std::vector<int32_t> numbers(10);
    REQUIRE(host.read(first, 10, reinterpret_cast<std::byte*>(numbers.data())));
    for (int64_t i = 0; i < 10; ++i) {
      const int64_t c = (first + i) / kPixels, w = (first + i) % kPixels;
      CHECK(numbers[static_cast<size_t>(i)] == (c / kBlock * kPixels + w) * kBlock + c % kBlock);
    }
  }
}

TEST_CASE("a weight with groups that is larger than a slab is read in slabs, too") {
  const DeviceLayout layout{Format::kFractalZ, {512, 64, 1, 3, 16}, 16, 8};
  const Numbered tensor(layout);
  HostTensor host = tensor.open();
  REQUIRE(host.count() * 4 > host.memory());
  CHECK(host.memory() <= int64_t{4} << 20);
  std::vector<int32_t> numbers(static_cast<size_t>(host.count()));
  constexpr int64_t kPiece = 100'000;
  for (int64_t first = 0; first < host.count(); first += kPiece) {
    REQUIRE(
        host.read(first, std::min(kPiece, host.count() - first), reinterpret_cast<std::byte*>(numbers.data() + first)));
  }
  const std::vector<int64_t> expected = test::sources_of(layout, "NCHW");
  CHECK(std::equal(numbers.begin(), numbers.end(), expected.begin(), expected.end()));
}

}  // namespace
}  // namespace msdump
