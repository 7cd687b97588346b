#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "dump/elements/host_tensor.h"
#include "dump/elements/stored_elements.h"
#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/format_oracle.h"
#include "support/ms_ckpt_builder.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

using test::ScratchDir;

constexpr const char* kDump = "Add.Default_Add-op1.1.2.1700000000000000";

// The tensors of one file, opened one after the other.
struct Opened {
  test::ListedDump dump;
  explicit Opened(const std::string& path, Headers headers = Headers::kAll) : dump(test::list_dump({path}, headers)) {}

  [[nodiscard]] HostTensor tensor(size_t place, const HostOptions& options = {}) const {
    auto opened = HostTensor::open(dump.index, dump.tensors().at(place), options);
    REQUIRE(opened);
    return std::move(*opened);
  }
};

std::string read_all(HostTensor& tensor, int64_t piece) {
  const size_t width = tensor.element_bytes();
  std::string data(static_cast<size_t>(tensor.count()) * width, '\0');
  for (int64_t at = 0; at < tensor.count(); at += piece) {
    const int64_t count = std::min(piece, tensor.count() - at);
    REQUIRE(tensor.read(at, count, reinterpret_cast<std::byte*>(data.data()) + static_cast<size_t>(at) * width));
  }
  return data;
}

TEST_CASE("a dump file in device format is read in the order of its host shape, in pieces of any size") {
  const ScratchDir scratch;
  // NC1HWC0 [1,2,3,2,16] of NCHW [1,20,3,2]: channel c of the host is channel c%16 of block c/16.
  std::string device(2 * 3 * 2 * 16 * 2, '\0');
  std::string host;
  for (int c = 0; c < 20; ++c) {
    for (int hw = 0; hw < 6; ++hw) {
      const auto value = static_cast<uint16_t>(c * 100 + hw);
      std::memcpy(&device[static_cast<size_t>(((c / 16 * 6 + hw) * 16 + c % 16) * 2)], &value, 2);
      host.append(reinterpret_cast<const char*>(&value), 2);
    }
  }
  test::TensorSpec spec = test::output_of(DType::kFloat16, Format::kNC1HWC0, {1, 2, 3, 2, 16}, test::Dims{1, 20, 3, 2});
  spec.data = device;
  const Opened opened(scratch.write(kDump, test::build_dump({.tensors = {spec}})));
  for (const int64_t piece : {1, 7, 119, 120, 1000}) {
    HostTensor tensor = opened.tensor(0);
    CHECK(tensor.shape() == Shape{1, 20, 3, 2});
    CHECK(!tensor.direct());
    CHECK(read_all(tensor, piece) == host);
  }
}

TEST_CASE("without a target the device layout stays") {
  const ScratchDir scratch;
  const Opened opened(
      scratch.write(kDump, test::build_dump({.tensors = {test::output_of(DType::kFloat16, Format::kNC1HWC0,
                                                                         {1, 1, 2, 2, 16}, test::Dims{1, 3, 2, 2})}})));
  HostTensor tensor = opened.tensor(0, {.target = std::nullopt});
  CHECK(tensor.shape() == Shape{1, 1, 2, 2, 16});
  CHECK(tensor.count() == 64);
}

TEST_CASE("arrays are read as they lie, big-endian and Fortran order made ordinary") {
  const ScratchDir scratch;
  const std::string big = test::build_npy(
      {.literal = test::npy_literal(">i2", "(2, 3)"), .data = std::string("\0\1\0\2\0\3\0\4\0\5\0\6", 12)});
  const std::string fortran =
      test::build_npy({.literal = test::npy_literal("|u1", "(2, 3)", true), .data = "\1\4\2\5\3\6"});
  HostTensor a = Opened(scratch.write("big.npy", big)).tensor(0);
  CHECK(read_all(a, 4) == std::string("\1\0\2\0\3\0\4\0\5\0\6\0", 12));
  HostTensor b = Opened(scratch.write("fortran.npy", fortran)).tensor(0);
  CHECK(b.shape() == Shape{2, 3});
  CHECK(read_all(b, 2) == "\1\2\3\4\5\6");
}

TEST_CASE("a parameter in pieces is read over their ends, from any place") {
  const ScratchDir scratch;
  const auto piece = [](const std::string& bytes) { return test::parameter("w", "Int16", {5}, bytes); };
  const std::string path = scratch.write("m.ckpt", piece("ab") + piece("cde") + piece("fghij"));
  for (const int64_t count : {1, 2, 5}) {
    HostTensor tensor = Opened(path).tensor(0);
    CHECK(read_all(tensor, count) == "abcdefghij");
  }
  std::string middle(4, '\0');
  REQUIRE(Opened(path).tensor(0).read(1, 2, reinterpret_cast<std::byte*>(middle.data())));
  CHECK(middle == "cdef");
}

TEST_CASE("an array in Fortran order whose axes are not those of the tensor is read in its device shape, with a note") {
  const ScratchDir scratch;
  std::string fortran(64, '\0'), c_order(64, '\0');
  for (size_t i = 0; i < 64; ++i) fortran[i] = static_cast<char>(i);
  for (size_t i = 0; i < 64; ++i) {  // [1, 1, 2, 2, 16]: h, w, c0
    const size_t h = i / 32, w = i / 16 % 2, c = i % 16;
    c_order[i] = fortran[h + 2 * w + 4 * c];
  }
  StoredTensor stored;
  stored.request.shape = Shape{1, 1, 2, 2, 16};
  stored.request.dtype = DType::kUint8;
  stored.request.format_number = static_cast<int64_t>(Format::kNC1HWC0);
  stored.request.original_shape = Shape{1, 5, 2, 2};
  stored.request.bytes = stored.bytes = 64;
  stored.fortran_order = true;
  auto file = File::open(scratch.write("a", fortran));
  REQUIRE(file);
  auto tensor = HostTensor::make(std::move(*file), FileKind::kNpy, stored, {.convert_arrays = true});
  REQUIRE(tensor);
  CHECK(tensor->shape() == Shape{1, 1, 2, 2, 16});
  CHECK(tensor->plan().note == "a Fortran-ordered array stays in its device format");
  CHECK(read_all(*tensor, 7) == c_order);
}

// A table whose only row is of the first output of Add.
std::string table_with(const std::string& dtype, const std::string& shape) {
  return "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n"
         "Add,Default_a-op1,0,0,1700000000000002,output,0,24," +
         dtype + ",\"" + shape + "\",0,\n";
}
const std::string kFolder = "rank_0/Net/0/0/", kFirstOutput = "Add.Default_a-op1.0.0.1700000000000002.output.0.";

TEST_CASE("a table says what a wider copy was, and nothing about an array that is not a copy of it") {
  const auto original = [](const std::string& said) {
    const ScratchDir scratch;
    scratch.write(kFolder + kFirstOutput + "DefaultFormat.npy", test::npy_of("<f4", {6}, std::string(24, '\1')));
    scratch.write(kFolder + "statistic.csv", table_with(said, "[6]"));
    const Opened opened(scratch.path().string());
    REQUIRE(opened.dump.tensors().size() == 1);
    const HostTensor tensor = opened.tensor(0);
    CHECK(tensor.dtype() == DType::kFloat32);
    return tensor.original_dtype();
  };
  CHECK(original("bfloat16") == DType::kBfloat16);
  CHECK(original("int32") == DType::kFloat32);
  CHECK(original("float32") == DType::kFloat32);
  CHECK(original("what") == DType::kFloat32);
}

TEST_CASE("a raw file has the shape that a table says, and without one it is a vector") {
  const ScratchDir scratch;
  scratch.write(kFolder + kFirstOutput + "ND.BF16", std::string(24, '\1'));
  CHECK(Opened(scratch.path().string()).tensor(0).shape() == Shape{12});
  scratch.write(kFolder + "statistic.csv", table_with("bfloat16", "[3,4]"));
  HostTensor tensor = Opened(scratch.path().string()).tensor(0);
  CHECK(tensor.shape() == Shape{3, 4});
  CHECK(tensor.dtype() == DType::kBfloat16);
  CHECK(read_all(tensor, 5) == std::string(24, '\1'));
}

TEST_CASE("a row of a table has no elements to open") {
  const ScratchDir scratch;
  scratch.write(kFolder + "statistic.csv", table_with("float32", "[6]"));
  const Opened opened(scratch.path().string());
  const auto tensor = HostTensor::open(opened.dump.index, opened.dump.tensors().at(0), {});
  REQUIRE_FALSE(tensor);
  CHECK(tensor.error().code == ErrorCode::kNotFound);
  CHECK(tensor.error().message == "only statistics of this tensor were dumped");
  CHECK(tensor.error().path == scratch.file(kFolder + "statistic.csv"));
}

TEST_CASE("what an array says of its shape counts, not what a table says") {
  const ScratchDir scratch;
  scratch.write(kFolder + kFirstOutput + "DefaultFormat.npy", test::npy_of("<f4", {2, 3}, std::string(24, '\1')));
  scratch.write(kFolder + "statistic.csv", table_with("float32", "[6]"));
  for (const Headers headers : {Headers::kAll, Headers::kWhereNeeded}) {
    const Opened opened(scratch.path().string(), headers);
    REQUIRE(opened.dump.tensors().size() == 1);
    CHECK(opened.tensor(0).shape() == Shape{2, 3});
  }
}

TEST_CASE("a file that changed after it was listed is noticed") {
  const ScratchDir scratch;
  const std::string path = scratch.write("a.npy", build_faulty_npy(test::NpyFault::kNone));
  const Opened opened(path);
  scratch.write("a.npy", build_faulty_npy(test::NpyFault::kDataCut));
  const auto tensor = HostTensor::open(opened.dump.index, opened.dump.tensors().at(0), {});
  CHECK(!tensor);
}

TEST_CASE("of a pair, an array in device format gets the shape of the other tensor if it can have it") {
  const ScratchDir scratch;
  const auto dump_of = [&](const std::string& folder, std::string_view format, const Shape& shape) {
    const auto count = static_cast<size_t>(element_count(shape).value());
    std::string data;
    for (size_t i = 0; i < count; ++i) data += static_cast<char>('a' + i);
    scratch.write(folder + "/Add.a.1.0.1700000000000000.output.0." + std::string(format) + ".npy",
                  test::npy_of("|i1", shape, data));
    return Opened(scratch.file(folder));
  };
  const auto pair = [](const Opened& a, const Opened& b) {
    auto opened = open_pair(a.dump.index, a.dump.tensors().at(0), b.dump.index, b.dump.tensors().at(0));
    REQUIRE(opened);
    return std::move(*opened);
  };
  const Opened device = dump_of("device", "NC1HWC0", {1, 2, 1, 2, 2});
  HostPair left = pair(device, dump_of("host", "DefaultFormat", {1, 3, 1, 2}));
  CHECK(left.left.shape() == Shape{1, 3, 1, 2});
  CHECK(read_all(left.left, 6) == "acbdeg");
  HostPair right = pair(dump_of("host", "DefaultFormat", {1, 3, 1, 2}), device);
  CHECK(read_all(right.right, 6) == "acbdeg");
  CHECK(read_all(right.left, 6) == "abcdef");
  // Not these: a shape that does not fit, the same shape, an order of axes that conversion would change, no device format.
  CHECK(pair(device, dump_of("five", "DefaultFormat", {1, 5, 1, 2})).left.shape() == Shape{1, 2, 1, 2, 2});
  CHECK(pair(device, dump_of("same", "NC1HWC0", {1, 2, 1, 2, 2})).left.plan().from == Format::kNC1HWC0);
  CHECK(pair(device, dump_of("nhwc", "DefaultFormat", {1, 1, 2, 3})).left.shape() == Shape{1, 2, 1, 2, 2});
  CHECK(pair(dump_of("plain", "DefaultFormat", {1, 2, 1, 2, 2}), dump_of("host", "DefaultFormat", {1, 3, 1, 2}))
            .left.shape() == Shape{1, 2, 1, 2, 2});
}

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
