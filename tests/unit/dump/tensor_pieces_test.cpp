#include "dump/elements/host_tensor.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "support/catch.h"
#include "support/sharded_tensors.h"

namespace msdump {
namespace {

using test::MadeLocal;
using test::MadeLocals;

using namespace test::roles;

// All pieces of a layout, as boxes.
TensorPieces pieces_of(const MadeLocals& made, const Placement& layout, const Shape& whole) {
  TensorPieces pieces;
  pieces.shape = whole;
  pieces.records = made.records();
  pieces.factor = layout.factor;
  std::vector<Shape> shapes;
  for (const TensorRecord* const record : made.records()) shapes.push_back(*record->shape);
  for (int64_t rank = 0; rank < layout.ranks(); ++rank) {
    if (layout.copy_of(rank) != 0) continue;
    for (PieceBox& box : boxes_of(layout, rank, shapes, whole)) pieces.boxes.push_back(std::move(box));
  }
  if (layout.has(kSum) || layout.has(kAverage)) pieces.overlap = PieceOverlap::kAdded;
  if (layout.has(kLargest)) pieces.overlap = PieceOverlap::kLargest;
  return pieces;
}

template <class T>
std::vector<T> read_range(PiecesReader& reader, int64_t first, int64_t count) {
  std::vector<T> values(static_cast<size_t>(count), T(-77));
  REQUIRE(reader.read(first, count, reinterpret_cast<std::byte*>(values.data())));
  return values;
}

// Reads the whole in one piece and in pieces of many sizes: each begins and ends inside runs.
void check_reads(const Placement& layout, const Shape& whole) {
  const int64_t count = *element_count(whole);
  const std::vector<float> values = test::numbers(count, 3);
  const MadeLocals made(test::shard_tensor(layout, whole, values));
  auto reader = PiecesReader::open(made.index(), pieces_of(made, layout, whole));
  REQUIRE(reader);
  CHECK(reader->dtype() == DType::kFloat32);
  CHECK(read_range<float>(*reader, 0, count) == values);
  for (const int64_t step : {int64_t{1}, int64_t{5}, int64_t{7}, count - 1}) {
    std::vector<float> read;
    for (int64_t at = 0; at < count; at += step) {
      const std::vector<float> some = read_range<float>(*reader, at, std::min(step, count - at));
      read.insert(read.end(), some.begin(), some.end());
    }
    CHECK(read == values);
  }
}

TEST_CASE("pieces along each axis, in blocks and in zigzags are read as the whole, in ranges of any size") {
  const Shape whole = {4, 6, 8};
  for (uint32_t axis = 0; axis < 3; ++axis) check_reads({{{2, kConcat, axis}}}, whole);
  check_reads({{{2, kZigzag, 2}}}, whole);
  check_reads({{{2, kConcat, 2, {2, 1, 1}}}}, whole);
  check_reads({{{2, kConcat, 0}, {3, kConcat, 1}}}, whole);
  check_reads({{{2, kCopy}, {2, kConcat, 2}}}, whole);
}

TEST_CASE("one-dimensional and narrow pieces are read as the whole") {
  check_reads({{{4, kConcat, 0}}}, {64});
  check_reads({{{8, kConcat, 1}}}, {33, 8});
}

TEST_CASE("a large tensor is read as a plain loop reads it, through runs that lie far apart") {
  const Shape whole = {700, 1200};  // more than the reader covers at once
  const int64_t count = *element_count(whole);
  const std::vector<float> values = test::numbers(count);
  const Placement layout{{{2, kConcat, 1}}};
  const MadeLocals made(test::shard_tensor(layout, whole, values));
  auto reader = PiecesReader::open(made.index(), pieces_of(made, layout, whole));
  REQUIRE(reader);
  CHECK((read_range<float>(*reader, 0, count) == values));
  const std::vector<float> middle(values.begin() + 599, values.begin() + 599 + 777'777);
  CHECK((read_range<float>(*reader, 599, 777'777) == middle));
}

TEST_CASE("parts of different extents and a padded last part are read as the whole") {
  const MadeLocal tensor{{7, 4}, test::numbers(28)};
  const MadeLocals uneven({part_of(tensor, 0, 0, 3), part_of(tensor, 0, 3, 2), part_of(tensor, 0, 5, 2)});
  auto rows = PiecesReader::open(uneven.index(), pieces_of(uneven, {{{3, kConcat, 0}}}, {7, 4}));
  REQUIRE(rows);
  CHECK(read_range<float>(*rows, 0, 28) == tensor.values);
  const MadeLocals padded(test::shard_tensor({{{2, kConcat, 0}}}, {8, 4}, test::padded(tensor, 0, 8).values));
  auto without = PiecesReader::open(padded.index(), pieces_of(padded, {{{2, kConcat, 0}}}, {7, 4}));
  REQUIRE(without);
  CHECK(read_range<float>(*without, 0, 28) == tensor.values);
}

TEST_CASE("terms are added up in float64: what float32 would lose stays") {
  const std::vector<float> large = {0x1p30F, 1, 5}, small = {1, 2, -5}, opposite = {-0x1p30F, 3, 0};
  const MadeLocals made({{{3}, large}, {{3}, small}, {{3}, opposite}});
  auto reader = PiecesReader::open(made.index(), pieces_of(made, {{{3, kSum}}}, {3}));
  REQUIRE(reader);
  CHECK(reader->dtype() == DType::kFloat32);
  CHECK(read_range<float>(*reader, 0, 3) == std::vector<float>{1, 6, 0});
  CHECK(read_range<float>(*reader, 1, 1) == std::vector<float>{6});  // nothing is left of an earlier read
  TensorPieces scaled = pieces_of(made, {{{3, kSum}}, 0.5}, {3});
  auto half = PiecesReader::open(made.index(), scaled);
  REQUIRE(half);
  CHECK(read_range<float>(*half, 0, 3) == std::vector<float>{0.5, 3, 0});
}

TEST_CASE("sums of parts are put where they belong") {
  const Shape whole = {4, 6};
  const Placement layout{{{2, kSum}, {2, kConcat, 1}}};
  const std::vector<float> values = test::numbers(24);
  const MadeLocals made(test::shard_tensor(layout, whole, values));
  auto reader = PiecesReader::open(made.index(), pieces_of(made, layout, whole));
  REQUIRE(reader);
  const std::vector<float> read = read_range<float>(*reader, 0, 24);
  for (size_t i = 0; i < read.size(); ++i) CHECK(std::abs(read[i] - values[i]) < 1e-6F);
}

TEST_CASE("of maxima the largest is read, and NaN where one is") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
  const std::vector<MadeLocal> pieces = {
      {{5}, {-3, 1, kNan, -kInf, 2}}, {{5}, {-4, 5, 1, -kInf, kNan}}, {{5}, {-9, 2, 0, -7, 0}}};
  const MadeLocals made(pieces);
  auto reader = PiecesReader::open(made.index(), pieces_of(made, {{{3, kLargest}}}, {5}));
  REQUIRE(reader);
  const std::vector<float> read = read_range<float>(*reader, 0, 5);
  CHECK(read[0] == -3);
  CHECK(read[1] == 5);
  CHECK(std::isnan(read[2]));
  CHECK(read[3] == -7);
  CHECK(std::isnan(read[4]));
  CHECK(read_range<float>(*reader, 0, 2) == std::vector<float>{-3, 5});  // nothing is left of an earlier read
  auto doubled = PiecesReader::open(made.index(), pieces_of(made, {{{3, kLargest}}, 2}, {5}));
  REQUIRE(doubled);
  CHECK(read_range<float>(*doubled, 0, 2) == std::vector<float>{-6, 10});
}

TEST_CASE("the largest of parts are put where they belong") {
  check_reads({{{2, kLargest}}}, {4, 6});
  check_reads({{{3, kLargest}, {2, kConcat, 1}}}, {4, 6});
  check_reads({{{2, kConcat, 0}, {2, kLargest}, {2, kCopy}}}, {4, 6});
}

std::string halves(std::initializer_list<uint16_t> values) {
  std::string data;
  for (const uint16_t value : values) data.append(reinterpret_cast<const char*>(&value), 2);
  return data;
}

template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

TEST_CASE("narrow floats keep their dtype where they follow each other, and are float32 where they are added up") {
  const std::string one = halves({0x3C00, 0x4000}), other = halves({0x3C00, 0x3800});  // float16: 1, 2 and 1, 0.5
  const MadeLocals half({{"<f2", one, {2}}, {"<f2", other, {2}}});
  auto row = PiecesReader::open(half.index(), pieces_of(half, {{{2, kConcat, 0}}}, {4}));
  REQUIRE(row);
  CHECK(row->dtype() == DType::kFloat16);
  CHECK(read_range<uint16_t>(*row, 1, 3) == std::vector<uint16_t>{0x4000, 0x3C00, 0x3800});
  auto sum = PiecesReader::open(half.index(), pieces_of(half, {{{2, kSum}}}, {2}));
  REQUIRE(sum);
  CHECK(sum->dtype() == DType::kFloat32);
  CHECK(sum->original_dtype() == DType::kFloat16);
  CHECK(read_range<float>(*sum, 0, 2) == std::vector<float>{2, 2.5});
  const MadeLocals brain({{"<E2", halves({0x3F80, 0x4000}), {2}}, {"<E2", halves({0x3F00, 0xBF80}), {2}}});
  auto of_brain = PiecesReader::open(brain.index(), pieces_of(brain, {{{2, kSum}}}, {2}));
  REQUIRE(of_brain);
  CHECK(of_brain->dtype() == DType::kFloat32);
  CHECK(read_range<float>(*of_brain, 0, 2) == std::vector<float>{1.5, 1});
}

TEST_CASE("float64 and integers are added up as float64") {
  const MadeLocals wide({{"<f8", bytes_of({1.0, 1e300}), {2}}, {"<f8", bytes_of({0x1p-52, 1e300}), {2}}});
  auto reader = PiecesReader::open(wide.index(), pieces_of(wide, {{{2, kSum}}}, {2}));
  REQUIRE(reader);
  CHECK(reader->dtype() == DType::kFloat64);
  CHECK(read_range<double>(*reader, 0, 2) == std::vector<double>{1 + 0x1p-52, 2e300});
  const MadeLocals whole({{"<i4", bytes_of({INT32_MAX, -3}), {2}}, {"<i4", bytes_of({INT32_MAX, 1}), {2}}});
  auto integers = PiecesReader::open(whole.index(), pieces_of(whole, {{{2, kSum}}}, {2}));
  REQUIRE(integers);
  CHECK(integers->dtype() == DType::kFloat64);
  CHECK(read_range<double>(*integers, 0, 2) == std::vector<double>{2.0 * INT32_MAX, -2});
  auto row = PiecesReader::open(whole.index(), pieces_of(whole, {{{2, kConcat, 0}}}, {4}));
  REQUIRE(row);
  CHECK(row->dtype() == DType::kInt32);
  CHECK(read_range<int32_t>(*row, 0, 4) == std::vector<int32_t>{INT32_MAX, -3, INT32_MAX, 1});
}

TEST_CASE("a box that does not lie in its piece or in the whole is refused") {
  const MadeLocals made({{{4}, test::numbers(4)}, {{4}, test::numbers(4, 2)}});
  const TensorPieces good = pieces_of(made, {{{2, kConcat, 0}}}, {8});
  REQUIRE(PiecesReader::open(made.index(), good));
  const auto refused = [&](const auto& spoil) {
    TensorPieces pieces = good;
    spoil(pieces);
    const auto opened = PiecesReader::open(made.index(), pieces);
    return !opened && opened.error().code == ErrorCode::kShapeMismatch && !opened.error().path.empty();
  };
  CHECK_FALSE(refused([](TensorPieces&) {}));
  CHECK(refused([](TensorPieces& pieces) { pieces.boxes[1].piece = 2; }));
  CHECK(refused([](TensorPieces& pieces) { pieces.boxes[1].from[0] = 1; }));
  CHECK(refused([](TensorPieces& pieces) { pieces.boxes[1].from[0] = -1; }));
  CHECK(refused([](TensorPieces& pieces) { pieces.boxes[1].to[0] = 5; }));
  CHECK(refused([](TensorPieces& pieces) { pieces.boxes[1].size[0] = -1; }));
  CHECK(refused([](TensorPieces& pieces) { pieces.boxes[1].size[0] = INT64_MAX; }));
  CHECK(refused([](TensorPieces& pieces) { pieces.boxes[1].size.clear(); }));
  CHECK(refused([](TensorPieces& pieces) { pieces.shape = {7}; }));
  CHECK(refused([](TensorPieces& pieces) { pieces.shape = {8, 1}; }));
}

TEST_CASE("dtypes that do not go together are refused") {
  const MadeLocals mixed({{"<f4", bytes_of({1.0F, 2.0F}), {2}}, {"<f8", bytes_of({1.0, 2.0}), {2}}});
  const auto opened = PiecesReader::open(mixed.index(), pieces_of(mixed, {{{2, kConcat, 0}}}, {4}));
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == ErrorCode::kUnsupportedDtype);
  const MadeLocals complex({{"<c8", bytes_of({1.0F, 2.0F}), {1}}, {"<c8", bytes_of({1.0F, 2.0F}), {1}}});
  CHECK(PiecesReader::open(complex.index(), pieces_of(complex, {{{2, kConcat, 0}}}, {2})));
  CHECK_FALSE(PiecesReader::open(complex.index(), pieces_of(complex, {{{2, kSum}}}, {1})));
}

TEST_CASE("a piece whose file has changed since it was listed is an error with its path") {
  const MadeLocals made({{{4}, test::numbers(4)}, {{4}, test::numbers(4, 2)}});
  const TensorPieces pieces = pieces_of(made, {{{2, kConcat, 0}}}, {8});
  made.scratch().write("piece001.npy", test::npy_of("<f4", {3}, std::string(12, '\0')));
  const auto opened = PiecesReader::open(made.index(), pieces);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().path.find("piece001.npy") != std::string::npos);
}

TEST_CASE("a piece that shrinks while it is read is an error, and not zeros") {
  constexpr int64_t kMany = int64_t{1} << 20;  // small files are kept
  const MadeLocals made({{{kMany}, test::numbers(kMany)}, {{kMany}, test::numbers(kMany, 2)}});
  auto reader = PiecesReader::open(made.index(), pieces_of(made, {{{2, kConcat, 0}}}, {2 * kMany}));
  REQUIRE(reader);
  std::filesystem::resize_file(made.scratch().path() / "piece001.npy", 500);
  std::vector<float> values(2 * kMany);
  CHECK(reader->read(0, kMany, reinterpret_cast<std::byte*>(values.data())));
  CHECK_FALSE(reader->read(0, 2 * kMany, reinterpret_cast<std::byte*>(values.data())));
  CHECK_FALSE(reader->check_unchanged());
}

TEST_CASE("a record of pieces is opened as a tensor of the whole shape, and one piece that is the whole as itself") {
  const Shape whole = {6, 8};
  const std::vector<float> values = test::numbers(48);
  const Placement layout{{{2, kConcat, 1}}};
  const MadeLocals made(test::shard_tensor(layout, whole, values));
  const TensorPieces pieces = pieces_of(made, layout, whole);
  TensorRecord record = *made.records().front();
  TensorView view;
  view.pieces = &pieces;
  record.view = &view;
  auto tensor = HostTensor::open(made.index(), record, {});
  REQUIRE(tensor);
  CHECK(tensor->shape() == whole);
  CHECK(tensor->count() == 48);
  CHECK_FALSE(tensor->direct());
  std::vector<float> read(48);
  REQUIRE(tensor->read(0, 48, reinterpret_cast<std::byte*>(read.data())));
  CHECK(read == values);
  CHECK(tensor->check_unchanged());
  // Views of the whole: its transposed matrix, and rows of it.
  TensorView turned = view_of({8, 6});
  turned.axes = {{8, 1}, {6, 8}};
  turned.pieces = &pieces;
  record.view = &turned;
  auto transposed = HostTensor::open(made.index(), record, {});
  REQUIRE(transposed);
  CHECK(transposed->shape() == Shape{8, 6});
  REQUIRE(transposed->read(0, 48, reinterpret_cast<std::byte*>(read.data())));
  for (size_t i = 0; i < read.size(); ++i) CHECK(read[i] == values[i % 6 * 8 + i / 6]);
  TensorView rows = view_of({2, 8});
  rows.first = 24;
  rows.pieces = &pieces;
  record.view = &rows;
  auto some = HostTensor::open(made.index(), record, {});
  REQUIRE(some);
  REQUIRE(some->count() == 16);
  REQUIRE(some->read(3, 13, reinterpret_cast<std::byte*>(read.data())));
  CHECK(std::equal(read.begin(), read.begin() + 13, values.begin() + 27));
  rows.first = 40;  // beyond the last row
  CHECK_FALSE(HostTensor::open(made.index(), record, {}));
  record.view = &view;
  const TensorPieces plain{{6, 4}, {made.records().front()}, {}, PieceOverlap::kNone, 1};
  CHECK(plain.is_plain());
  view.pieces = &plain;
  auto one = HostTensor::open(made.index(), record, {});
  REQUIRE(one);
  CHECK(one->direct());
  CHECK(one->shape() == Shape{6, 4});
}

}  // namespace
}  // namespace msdump
