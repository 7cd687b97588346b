// What a match looks at: match_evidence.h.
#include <cmath>

#include <Eigen/Core>

#include "compare/match/device/match_evidence.h"
#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

// Tensors of two dumps: TYPE.input.0 of one value list each, found by the type.
class ProbedTensors {
 public:
  void add(bool b, const std::string& type, const std::vector<double>& values, std::string_view descr = "<f4") {
    std::string bytes;
    for (const double value : values) {
      if (descr == "<f4") put(bytes, static_cast<float>(value));
      if (descr == "<f2") put(bytes, Eigen::half(static_cast<float>(value)));
      if (descr == "<i4") put(bytes, static_cast<int32_t>(value));
      if (descr == "<c8") bytes.append(8, '\1');
    }
    write(b, type, test::npy_of(descr, {static_cast<int64_t>(values.size())}, bytes));
  }
  void write(bool b, const std::string& type, std::string_view content) {
    scratch_.write((b ? "b/" : "a/") + type + ".Default_x-op1.0.0.1700000000000000.output.0.DefaultFormat.Float32.npy",
                   content);
  }
  void table(bool b, const std::string& rows) {
    scratch_.write(b ? "b/statistic.csv" : "a/statistic.csv",
                   "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n" + rows);
  }

  [[nodiscard]] std::optional<double> similarity(const std::string& a, const std::string& b,
                                                 Headers headers = Headers::kAll) {
    const test::ListedDump left = test::list_dump({scratch_.path() / "a"}, headers),
                           right = test::list_dump({scratch_.path() / "b"}, headers);
    const std::vector<SequencedOp> none;
    const DumpWithGraph of_a = side_of(left), of_b = side_of(right);
    const MatchSide device{of_a, none}, host{of_b, none};
    return MatchEvidence(device, host).likeness_of(place(left, a), place(right, b));
  }

 private:
  template <class T>
  static void put(std::string& bytes, T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  static DumpWithGraph side_of(const test::ListedDump& dump) {
    DumpWithGraph side;
    side.index = &dump.index;
    side.tensors = &dump.tensors();
    return side;
  }
  static RecordId place(const test::ListedDump& dump, const std::string& type) {
    for (RecordId i{0}; i < dump.tensors().size(); ++i) {
      if (dump.tensors()[i].name.op_type == type) return i;
    }
    FAIL("no tensor of " << type);
    return kNoId;
  }

  test::ScratchDir scratch_;
};

// `count` numbers between -1 and 1 that no others correlate with.
std::vector<double> noise(int64_t count, uint64_t seed, double factor = 1) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    values.push_back(factor * (static_cast<double>(seed >> 40) / 8388608.0 - 1));
  }
  return values;
}

}  // namespace

TEST_CASE("the same values are alike, others are not, whatever the factor and the precision") {
  ProbedTensors probed;
  probed.add(false, "X", noise(100, 1));
  probed.add(false, "Scaled", noise(100, 1, 1024));
  probed.add(false, "Half", noise(100, 1), "<f2");
  probed.add(false, "Negative", noise(100, 1, -1));
  probed.add(true, "X", noise(100, 1));
  probed.add(true, "Y", noise(100, 2));
  CHECK(*probed.similarity("X", "X") == Approx(1));
  CHECK(*probed.similarity("Scaled", "X") == Approx(1));
  CHECK(*probed.similarity("Half", "X") > 0.999);
  CHECK(*probed.similarity("Negative", "X") == 0);
  CHECK(*probed.similarity("X", "Y") < 0.5);
  CHECK(*probed.similarity("Half", "Y") < 0.5);
}

TEST_CASE("large tensors are compared in elements that are spread over them") {
  constexpr size_t kMany = 10000;
  const auto other = noise(int64_t{kMany}, 2);
  ProbedTensors probed;
  probed.add(false, "X", noise(int64_t{kMany}, 1));
  for (const size_t begin : {size_t{0}, kMany / 3, kMany * 2 / 3}) {
    auto third = noise(int64_t{kMany}, 1);
    std::copy_n(other.begin(), kMany / 3, third.begin() + static_cast<std::ptrdiff_t>(begin));
    const std::string name = "Third" + std::to_string(begin);
    probed.add(true, name, third);
    CHECK(*probed.similarity("X", name) == Approx(0.67).margin(0.15));
  }
}

TEST_CASE("all of a tensor of up to 192 elements is compared") {
  auto changed = noise(192, 1);
  changed[100] = 1e6;
  ProbedTensors probed;
  probed.add(false, "X", noise(192, 1));
  probed.add(true, "X", changed);
  CHECK(*probed.similarity("X", "X") < 0.5);
}

TEST_CASE("for few values nearness counts more than correlation") {
  ProbedTensors probed;
  for (const bool b : {false, true}) {
    const double more = b ? 0 : 0.01;
    probed.add(b, "Two", {1 + more, 2});
    probed.add(b, "Scaled", b ? std::vector<double>{1, 2} : std::vector<double>{1024, 2048});
    probed.add(b, "Limit", noise(16, 1, b ? 1 : 2));
    probed.add(b, "Below", noise(15, 1, b ? 1 : 2));
  }
  CHECK(*probed.similarity("Two", "Two") == Approx(0.986).margin(0.001));
  CHECK(*probed.similarity("Scaled", "Scaled") == kUnlike);
  CHECK(*probed.similarity("Limit", "Limit") == Approx(1));
  CHECK(*probed.similarity("Below", "Below") == kUnlike);
}

TEST_CASE("constants are alike when they are near; zeros say nothing") {
  ProbedTensors probed;
  for (const bool b : {false, true}) {
    probed.add(b, "Zeros", std::vector<double>(50, 0));
    probed.add(b, "Ones", std::vector<double>(50, 1));
    probed.add(b, "Twos", std::vector<double>(50, 2));
    probed.add(b, "X", noise(50, 1));
  }
  CHECK(probed.similarity("Zeros", "Zeros") == std::nullopt);
  CHECK(*probed.similarity("Ones", "Ones") == Approx(1));
  CHECK(*probed.similarity("Ones", "Twos") == Approx(0.5));
  CHECK(*probed.similarity("Twos", "Ones") == 0);
  CHECK(*probed.similarity("Ones", "Zeros") == 0);
  CHECK(*probed.similarity("Zeros", "Ones") == 0);
  CHECK(probed.similarity("Ones", "X") == std::nullopt);
  CHECK(probed.similarity("X", "Zeros") == std::nullopt);
}

TEST_CASE("numbers that are not finite on one side are left out") {
  auto a = noise(64, 1), b = a;
  a[3] = std::nan("");
  b[7] = HUGE_VAL;
  ProbedTensors probed;
  probed.add(false, "X", a);
  probed.add(true, "X", b);
  probed.add(false, "Nan", std::vector<double>(64, std::nan("")));
  CHECK(*probed.similarity("X", "X") == Approx(1));
  CHECK(probed.similarity("Nan", "X") == std::nullopt);
}

TEST_CASE("tensors of which nothing is known have no similarity") {
  ProbedTensors probed;
  probed.add(false, "X", noise(50, 1));
  probed.add(false, "Long", noise(51, 1));
  probed.add(false, "Int", {1, 2, 3, 4}, "<i4");
  probed.add(false, "Complex", std::vector<double>(50, 0), "<c8");
  probed.add(false, "None", {});
  probed.write(false, "Damaged", test::npy_of("<f4", {50}, "cut"));
  probed.add(true, "X", noise(50, 1));
  probed.add(true, "Int", {1, 2, 3, 4}, "<i4");
  probed.add(true, "None", {});
  probed.write(true, "Damaged", test::npy_of("<f4", {50}, "cut"));
  CHECK(probed.similarity("Long", "X") == std::nullopt);
  CHECK(probed.similarity("Long", "X", Headers::kNone) == 0);
  CHECK(*probed.similarity("Int", "Int") == Approx(1));
  CHECK(probed.similarity("Complex", "X") == std::nullopt);
  CHECK(probed.similarity("Damaged", "X", Headers::kNone) == std::nullopt);
  CHECK(probed.similarity("X", "Damaged", Headers::kNone) == std::nullopt);
  CHECK(probed.similarity("None", "None") == std::nullopt);
}

TEST_CASE("statistics alone have no similarity") {
  ProbedTensors probed;
  probed.table(false, "X,Default_x-op1,0,0,1,output,0,200,float32,\"(50)\",1,\n");
  probed.add(true, "X", noise(50, 1));
  CHECK(probed.similarity("X", "X") == std::nullopt);
}

namespace {

TensorRecord tensor_of(DType dtype, const Shape* shape, std::optional<Format> format = {}) {
  TensorRecord record;
  record.name.dtype = dtype;
  record.name.format = format;
  record.shape = shape;
  return record;
}

}  // namespace

TEST_CASE("elements on the host are those of the shape, unless it may be padded") {
  const Shape shape = {2, 3}, scalar = {}, other = {7};
  CHECK(host_elements(tensor_of(DType::kFloat32, &shape)) == 6);
  CHECK(host_elements(tensor_of(DType::kFloat32, &scalar)) == 1);
  CHECK(host_elements(tensor_of(DType::kFloat32, nullptr)) == std::nullopt);
  CHECK(host_elements(tensor_of(DType::kFloat32, &shape, Format::kND)) == 6);
  CHECK(host_elements(tensor_of(DType::kFloat32, &shape, Format::kNC1HWC0)) == std::nullopt);
  CHECK(same_elements(tensor_of(DType::kFloat32, &shape), tensor_of(DType::kFloat32, nullptr)));
  CHECK(same_elements(tensor_of(DType::kFloat32, nullptr), tensor_of(DType::kFloat32, &shape)));
  CHECK(same_elements(tensor_of(DType::kFloat32, &shape), tensor_of(DType::kInt8, &shape)));
  CHECK_FALSE(same_elements(tensor_of(DType::kFloat32, &shape), tensor_of(DType::kFloat32, &other)));
}

TEST_CASE("an attribute of a device operator is a short list of integers or a single number") {
  const Shape scalar = {}, one = {1}, four = {4}, limit = {64}, past = {65}, matrix = {2, 2}, endless = {INT64_MAX, 4};
  for (const DType dtype : {DType::kInt64, DType::kInt32, DType::kBool}) {
    for (const Shape* const shape : {&scalar, &one, &four, &limit}) CHECK(may_be_attribute(tensor_of(dtype, shape)));
    for (const Shape* const shape : {&past, &matrix, &endless}) CHECK_FALSE(may_be_attribute(tensor_of(dtype, shape)));
    CHECK_FALSE(may_be_attribute(tensor_of(dtype, nullptr)));
  }
  CHECK(may_be_attribute(tensor_of(DType::kFloat32, &scalar)));
  CHECK(may_be_attribute(tensor_of(DType::kFloat16, &one)));
  CHECK_FALSE(may_be_attribute(tensor_of(DType::kFloat32, &four)));
}

TEST_CASE("a match looks at the first run of an operator and at its largest tensors") {
  test::ScratchDir scratch;
  std::string rows = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n";
  const auto row = [&](int time, const char* io, int slot, const char* dtype, const char* shape) {
    rows += "X,Default_x-op1,0,0," + std::to_string(time) + "," + io + "," + std::to_string(slot) + ",4," + dtype +
            ",\"(" + shape + ")\",1,\n";
  };
  row(1, "input", 0, "float32", "3");
  row(1, "input", 1, "float32", "2,4");
  row(1, "input", 2, "int64", "2");
  row(1, "input", 3, "float32", "8");
  row(1, "output", 0, "float32", "5");
  row(1, "output", 1, "float32", "6");
  row(2, "output", 0, "float32", "1000");
  scratch.write("rank_0/Net/0/0/statistic.csv", rows);
  const test::ListedDump dump = test::list_dump({scratch.path()});
  DumpWithGraph side;
  side.index = &dump.index;
  side.tensors = &dump.tensors();
  std::vector<SequencedOp> operators = operators_of(side);
  REQUIRE(operators.size() == 1);
  operators.emplace_back();  // without tensors
  const OpTensors tensors(side, operators);
  const auto slot = [&](Io io) { return dump.tensors()[*tensors.largest(SequencedOpId(0), io)].name.slot; };
  CHECK(slot(Io::kInput) == "1");
  CHECK(slot(Io::kOutput) == "1");
  CHECK(tensors.count(SequencedOpId(0), Io::kInput) == 4);
  CHECK(tensors.count(SequencedOpId(0), Io::kOutput) == 2);
  CHECK(tensors.tensor_inputs(SequencedOpId(0)) == 3);
  CHECK(tensors.largest(SequencedOpId(1), Io::kOutput) == std::nullopt);
  CHECK(tensors.largest(SequencedOpId(1), Io::kInput) == std::nullopt);
  CHECK(tensors.count(SequencedOpId(1), Io::kInput) == 0);
}

}  // namespace msdump
