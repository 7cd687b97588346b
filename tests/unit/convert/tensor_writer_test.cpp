// The tensor writer: whole or in windows, unpacked, moved and widened, the bytes are those of the slow way.
#include "convert/tensor_writer.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <fmt/format.h>

#include "kernels/widen/widen.h"
#include "support/catch.h"
#include "support/convert_run.h"
#include "support/dump_builder.h"
#include "support/format_oracle.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;

namespace {

constexpr size_t kOffset = 37;  // of the tensor in its file: nothing is aligned

struct Sample {
  Plan plan;
  std::vector<int64_t> sources;  // of the elements in the order of the output
};

Sample sample_of(Format format, const Shape& device, const Shape& original, Format target, DType dtype,
                 std::vector<int64_t> sources) {
  PlanRequest request;
  request.dtype = dtype;
  request.format_number = static_cast<int64_t>(format);
  request.shape = device;
  request.original_shape = original;
  request.bytes = bytes_of(dtype, element_count(device).value()).value();
  request.target = target;
  return {make_plan(request).value(), std::move(sources)};
}

Sample device_sample(const Coordinates& extent, int64_t c0, Format target, DType dtype) {
  const DeviceLayout layout{Format::kNC1HWC0, extent, c0, 0};
  const std::string_view axes = name_of(target);
  return sample_of(layout.format, *device_shape(layout), host_shape(extent, "NCHW"), target, dtype,
                   sources_of(layout, axes));
}

Sample permuted_sample(const Coordinates& extent, DType dtype) {
  std::vector<int64_t> sources;
  for_each_element(extent, "NCHW", [&](const Coordinates& at) { sources.push_back(plain_index(extent, at, "NHWC")); });
  return sample_of(Format::kNHWC, host_shape(extent, "NHWC"), {}, Format::kNCHW, dtype, std::move(sources));
}

Sample identity_sample(int64_t count, DType dtype) {
  std::vector<int64_t> sources;
  for (int64_t i = 0; i < count; ++i) sources.push_back(i);
  return sample_of(Format::kND, {count}, {count}, Format::kNCHW, dtype, std::move(sources));
}

void append_float(std::string& to, float value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  to.append(bytes, sizeof value);
}

// Element `index` of `data` as the .npy holds it, one at a time.
void append_element(std::string& to, DType dtype, const std::string& data, int64_t index) {
  const auto byte = [&](int64_t at) { return static_cast<uint8_t>(data[static_cast<size_t>(at)]); };
  const auto half = [&](int64_t at) { return static_cast<uint16_t>(byte(2 * at) | byte(2 * at + 1) << 8); };
  const auto bits = [&](int width) { return byte(index * width / 8) >> (index * width % 8) & ((1 << width) - 1); };
  const auto signed_bits = [&](int width) {
    return static_cast<char>(bits(width) < 1 << (width - 1) ? bits(width) : bits(width) - (1 << width));
  };
  switch (dtype) {
    case DType::kInt4: to += signed_bits(4); return;
    case DType::kInt2: to += signed_bits(2); return;
    case DType::kUint2: to += static_cast<char>(bits(2)); return;
    case DType::kUint1: to += static_cast<char>(byte(index / 8) >> (7 - index % 8) & 1); return;
    case DType::kFloat4E2m1:
    case DType::kFloat4E1m2: append_float(to, narrow_value(dtype, static_cast<uint8_t>(bits(4)))); return;
    case DType::kHifloat8:
    case DType::kFloat8E5m2:
    case DType::kFloat8E4m3fn:
    case DType::kFloat8E8m0: append_float(to, narrow_value(dtype, byte(index))); return;
    case DType::kBfloat16: append_float(to, kernels::decode_bfloat16(half(index))); return;
    case DType::kComplex32:
      append_float(to, kernels::decode_float16(half(2 * index)));
      append_float(to, kernels::decode_float16(half(2 * index + 1)));
      return;
    default:
      to.append(data, static_cast<size_t>(index) * static_cast<size_t>(info(dtype).bits / 8),
                static_cast<size_t>(info(dtype).bits / 8));
  }
}

std::string expected_body(const Sample& sample, const std::string& data) {
  std::string body;
  for (const int64_t source : sample.sources) append_element(body, sample.plan.dtype, data, source);
  return body;
}

void check_written(const Sample& sample, bool large) {
  const ScratchDir scratch;
  const Plan& plan = sample.plan;
  const std::string data = pattern_bytes(bytes_of(plan.dtype, plan.src_elements).value(), 5);
  const std::string input = scratch.write("input", std::string(kOffset, '\x55') + data + "behind");
  const std::string expected = "a header" + expected_body(sample, data);
  CHECK((std::max(expected.size(), data.size()) > (1U << 20)) == large);
  for (const unsigned jobs : {1U, 3U}) {
    INFO(name_of(plan.dtype) << " " << name_of(plan.from) << " to " << name_of(plan.to) << " " << describe(plan.shape)
                             << ", " << jobs << " jobs");
    WorkerPool pool(jobs);
    const CancelToken never;
    const auto file = File::open(input).value();
    const auto written = write_tensor({file, StoredElements(kOffset, plan.dtype), plan}, "a header",
                                      scratch.file("output"), {pool, never, nullptr});
    REQUIRE(written);
    CHECK(*written == expected.size());
    CHECK(output_bytes(plan) + 8 == expected.size());
    CHECK((scratch.read("output") == expected));
    CHECK(files_below(scratch.path()).size() == 2);
  }
}

const std::vector<DType> kDtypes = {DType::kInt8,       DType::kBool,       DType::kFloat16,      DType::kInt32,
                                    DType::kFloat64,    DType::kComplex128, DType::kInt4,         DType::kUint1,
                                    DType::kInt2,       DType::kUint2,      DType::kBfloat16,     DType::kComplex32,
                                    DType::kHifloat8,   DType::kFloat8E5m2, DType::kFloat8E4m3fn, DType::kFloat8E8m0,
                                    DType::kFloat4E2m1, DType::kFloat4E1m2};

// Extents that make about `bytes` of output, all odd.
Coordinates extents_for(DType dtype, int64_t bytes) {
  const int64_t width = std::max(info(info(dtype).npy_dtype).bits, 8) / 8;
  return {3, 35, 1, std::max<int64_t>(bytes / width / (3 * 35 * 21), 1) | 1, 21};
}

}  // namespace

TEST_CASE("small tensors of every kind of dtype are written in one piece") {
  for (const DType dtype : kDtypes) {
    const Coordinates extent = extents_for(dtype, 40'000);
    check_written(device_sample(extent, 16, Format::kNCHW, dtype), false);
    check_written(permuted_sample(extent, dtype), false);
    check_written(identity_sample(1237, dtype), false);
    check_written(identity_sample(1, dtype), false);
  }
}

TEST_CASE("large tensors of every kind of dtype are written in windows with the same bytes") {
  for (const DType dtype : kDtypes) {
    const Coordinates extent = extents_for(dtype, 1'200'000);
    check_written(device_sample(extent, 16, Format::kNCHW, dtype), true);
    check_written(permuted_sample(extent, dtype), true);
  }
}

TEST_CASE("large tensors whose elements keep their order are written in windows that need not begin on a byte") {
  for (const DType dtype : kDtypes) {
    const int64_t width = std::max(info(info(dtype).npy_dtype).bits, 8) / 8;
    check_written(identity_sample(1'200'007 / width, dtype), true);
  }
}

TEST_CASE("a tensor whose output is small and whose input is large goes through windows") {
  // One channel of 16 is real.
  check_written(device_sample({1, 1, 1, 201, 199}, 16, Format::kNCHW, DType::kFloat16), true);
  check_written(device_sample({1, 1, 1, 201, 199}, 16, Format::kNHWC, DType::kFloat16), true);
}

TEST_CASE("a large tensor goes through in windows of at most a mebibyte") {
  class Windows final : public ProgressSink {
   public:
    void start(uint64_t, uint64_t) override {}
    void add_bytes(uint64_t bytes) override { sizes.push_back(bytes); }
    void unit_done(std::string_view) override {}
    std::vector<uint64_t> sizes;
  };
  const ScratchDir scratch;
  const Sample sample = identity_sample(2'500'000, DType::kFloat16);
  const std::string input = scratch.write("input", pattern_bytes(5'000'000, 1));
  WorkerPool pool(1);
  const CancelToken never;
  Windows windows;
  const auto file = File::open(input).value();
  REQUIRE(write_tensor({file, StoredElements(0, sample.plan.dtype), sample.plan}, "", scratch.file("output"),
                       {pool, never, &windows}));
  CHECK(std::accumulate(windows.sizes.begin(), windows.sizes.end(), uint64_t{0}) == 5'000'000);
  CHECK(*std::max_element(windows.sizes.begin(), windows.sizes.end()) <= 1 << 20);
  CHECK(windows.sizes.size() < 20);
}

TEST_CASE("an empty tensor is its header") {
  const ScratchDir scratch;
  const std::string input = scratch.write("input", "bytes");
  WorkerPool pool(1);
  const CancelToken never;
  const Sample sample =
      sample_of(Format::kNC1HWC0, {0, 2, 3, 3, 16}, {0, 20, 3, 3}, Format::kNCHW, DType::kFloat16, {});
  const auto file = File::open(input).value();
  REQUIRE(write_tensor({file, StoredElements(0, sample.plan.dtype), sample.plan}, "header", scratch.file("output"),
                       {pool, never, nullptr}));
  CHECK(scratch.read("output") == "header");
}

TEST_CASE("an input that changes while it is read fails and leaves nothing behind") {
  for (const bool large : {false, true}) {
    for (const std::string change : {"grows", "shrinks", "is written to"}) {
      INFO(change << (large ? ", large" : ", small"));
      const ScratchDir scratch;
      const Sample sample = identity_sample(large ? 3'000'000 : 200'000, DType::kInt8);
      const std::string data = pattern_bytes(static_cast<size_t>(sample.plan.src_elements), 1);
      const std::string input = scratch.write("input", data);
      std::filesystem::last_write_time(input, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
      WorkerPool pool(2);
      const CancelToken never;
      const auto file = File::open(input).value();
      scratch.write("input", change == "grows"     ? data + "x"
                             : change == "shrinks" ? data.substr(0, data.size() / 2)
                                                   : data);
      const auto written = write_tensor({file, StoredElements(0, sample.plan.dtype), sample.plan}, "header",
                                        scratch.file("output"), {pool, never, nullptr});
      REQUIRE_FALSE(written);
      CHECK(written.error().code == ErrorCode::kChangedWhileReading);
      CHECK(files_below(scratch.path()).size() == 1);
    }
  }
}

TEST_CASE("a cancelled write leaves nothing behind") {
  class CancelAtFirstBytes final : public ProgressSink {
   public:
    explicit CancelAtFirstBytes(CancelToken& token) : token_(token) {}
    void start(uint64_t, uint64_t) override {}
    void add_bytes(uint64_t) override { token_.cancel(); }
    void unit_done(std::string_view) override {}

   private:
    CancelToken& token_;
  };
  const ScratchDir scratch;
  const Sample sample = identity_sample(5'000'000, DType::kInt8);
  const std::string input = scratch.write("input", pattern_bytes(5'000'000, 1));
  for (const unsigned jobs : {1U, 3U}) {
    WorkerPool pool(jobs);
    CancelToken token;
    CancelAtFirstBytes progress(token);
    const auto file = File::open(input).value();
    const auto written = write_tensor({file, StoredElements(0, sample.plan.dtype), sample.plan}, "",
                                      scratch.file("output"), {pool, token, &progress});
    REQUIRE_FALSE(written);
    CHECK(written.error().code == ErrorCode::kCancelled);
    CHECK(files_below(scratch.path()).size() == 1);
  }
}

TEST_CASE("a directory in the place of the output is an error that leaves nothing behind") {
  const ScratchDir scratch;
  const std::string input = scratch.write("input", "12345678");
  scratch.write("output/keep", "this");
  WorkerPool pool(1);
  const CancelToken never;
  const auto file = File::open(input).value();
  const auto written = write_tensor({file, StoredElements(0, DType::kInt8), identity_sample(8, DType::kInt8).plan}, "",
                                    scratch.file("output"), {pool, never, nullptr});
  REQUIRE_FALSE(written);
  CHECK(written.error().code == ErrorCode::kWriteFailed);
  CHECK(files_below(scratch.path()).size() == 2);
}
