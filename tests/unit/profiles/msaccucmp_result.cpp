// Whole result files, of dumps made here. What the tool itself writes for such dumps was compared with it
// (tests/conformance/msaccucmp_compare.cpp); these tests hold on to the rules.
#include "profiles/msaccucmp/result.h"

#include <algorithm>

#include "base/text.h"
#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;

namespace {

using Rows = std::vector<std::string>;

std::string bytes_of_floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

TensorSpec floats(TensorSpec::Part part, Dims device, const std::vector<float>& values, Format format = Format::kND,
                  std::optional<Dims> host = {}) {
  TensorSpec spec;
  spec.part = part;
  spec.format = static_cast<int32_t>(format);
  spec.shape = std::move(device);
  spec.original_shape = std::move(host);
  spec.data = bytes_of_floats(values);
  return spec;
}

class Dumps {
 public:
  // The header has the name that the file name has with '/'.
  void add(const std::string& path, std::vector<TensorSpec> tensors) {
    std::string name = path.substr(path.find('.') + 1);
    name.resize(name.find('.'));
    std::replace(name.begin(), name.end(), '_', '/');
    scratch_.write(path, build_dump({.op_name = name, .tensors = std::move(tensors)}));
  }
  void add_output(const std::string& path, const std::vector<float>& values) {
    add(path, {floats(TensorSpec::kOutput, {values.size()}, values)});
  }
  void add_array(const std::string& path, const std::string& shape, const std::vector<float>& values) {
    scratch_.write(path, build_npy({.literal = npy_literal("<f4", shape), .data = bytes_of_floats(values)}));
  }
  [[nodiscard]] const ScratchDir& scratch() const { return scratch_; }

  Result<MsaccucmpCounts> compare(const std::string& a = "a", const std::string& b = "b") {
    rows.clear();
    WorkerPool pool(2);
    const CancelToken cancel;
    const Side of_a(scratch_.file(a), pool, cancel), of_b(scratch_.file(b), pool, cancel);
    std::string text;
    auto counts = write_msaccucmp_result(of_a.side, of_b.side, {pool, cancel}, [&](std::string_view lines) -> Status {
      text += lines;
      return {};
    });
    for (const std::string_view line : split(text, '\n')) {
      if (line.empty()) continue;
      CHECK(line.ends_with('\r'));
      rows.emplace_back(line.substr(0, line.size() - 1));
    }
    return counts;
  }

  // The fields of a row before the algorithms.
  [[nodiscard]] std::string head(size_t row) const {
    size_t end = 0;
    bool quoted = false;
    for (int commas = 0; end < rows.at(row).size(); ++end) {
      if (rows[row][end] == '"') quoted = !quoted;
      if (rows[row][end] == ',' && !quoted && ++commas == 10) break;
    }
    return rows[row].substr(0, end);
  }

  Rows rows;  // of the last comparison, the header first

 private:
  struct Side {
    Side(const std::string& path, WorkerPool& pool, const CancelToken& cancel)
        : index(*DumpIndex::build({path}, {})), list(*TensorList::read(index, Selection(), {}, {pool, cancel})) {
      side.side.index = &index;
      side.side.tensors = &list.tensors();
    }
    DumpIndex index;
    TensorList list;
    MsaccucmpSide side;
  };
  ScratchDir scratch_;
};

const std::string kNaNs = "NaN,NaN,NaN,NaN,NaN,NaN,NaN,NaN,NaN,NaN";

}  // namespace

TEST_CASE("dump files: the operators of the candidate by their time, then those of the reference alone") {
  Dumps dumps;
  dumps.add_output("a/Add.late.1.0.1700000000000009", {1, 2});
  dumps.add_output("a/Add.early.2.0.1700000000000001", {1, 2});
  dumps.add_output("a/Mul.mine.3.0.1700000000000005", {1});
  dumps.add_output("b/Add.late.8.0.1700000000000002", {1, 2});
  dumps.add_output("b/Add.early.9.0.1700000000000003", {1, 2});
  dumps.add_output("b/Mul.yours.7.0.1700000000000001", {1});
  const auto counts = dumps.compare();
  REQUIRE(counts);
  REQUIRE(dumps.rows.size() == 5);
  CHECK(dumps.rows[0] ==
        "Index,OpType,NPUDump,DataType,Address,GroundTruth,DataType,Address,TensorIndex,Shape,CosineSimilarity,"
        "MaxAbsoluteError,AccumulatedRelativeError,RelativeEuclideanDistance,KullbackLeiblerDivergence,"
        "StandardDeviation,MeanAbsoluteError,RootMeanSquareError,MaxRelativeError,MeanRelativeError,CompareFailReason");
  CHECK(dumps.head(1) == "0,Add,early,float32,NaN,early,float32,NaN,early:output:0,[2]");
  CHECK(dumps.rows[2] == "1,NaN,mine,NaN,NaN,*,NaN,NaN,NaN,NaN," + kNaNs +
                             R"(,"[mine] There is no the ground truth dump file for the op ""mine"".")");
  CHECK(dumps.head(3) == "2,Add,late,float32,NaN,late,float32,NaN,late:output:0,[2]");
  CHECK(dumps.rows[4] == "3,NaN,*,NaN,NaN,yours,NaN,NaN,NaN,NaN," + kNaNs +
                             R"(,"[yours] There is no the my output dump file for the op ""yours"".")");
  CHECK(counts->rows == 4);
  CHECK(counts->unmatched == 2);
  CHECK(counts->beyond == 0);
}

TEST_CASE("dump files: the last of several files of an operator counts") {
  Dumps dumps;
  dumps.add_output("a/Add.x.1.0.1700000000000009", {3});
  dumps.add_output("a/Add.x.1.0.1700000000000001", {7});
  dumps.add_output("a/Add.x.1.0.99", {8});  // no time stamp of 16 digits
  dumps.add_output("a/Add.x.1.0.17000000000000100", {8});
  dumps.add_output("b/Add.x.1.0.1700000000000001", {3});
  REQUIRE(dumps.compare());
  REQUIRE(dumps.rows.size() == 2);
  CHECK(dumps.rows[1].find(",1.000000,0.000000,") != std::string::npos);
}

TEST_CASE("dump files: of inputs or outputs that do not fit there is no row; of both, one row") {
  Dumps dumps;
  const auto input = [](Dims dims, const std::vector<float>& v) {
    return floats(TensorSpec::kInput, std::move(dims), v);
  };
  const auto output = [](Dims dims, const std::vector<float>& v) {
    return floats(TensorSpec::kOutput, std::move(dims), v);
  };
  dumps.add("a/Add.half.1.0.1700000000000001", {input({2}, {1, 2}), output({1}, {1})});
  dumps.add("b/Add.half.1.0.1700000000000001", {input({2}, {1, 2}), input({1}, {1}), output({1}, {1})});
  dumps.add("a/Add.none.1.0.1700000000000002", {input({2}, {1, 2}), output({2, 1}, {1, 2})});
  dumps.add("b/Add.none.1.0.1700000000000002", {output({1, 2}, {1, 2})});
  dumps.add("a/Add.bare.1.0.1700000000000003", {});
  dumps.add("b/Add.bare.1.0.1700000000000003", {});
  const auto counts = dumps.compare();
  REQUIRE(counts);
  REQUIRE(dumps.rows.size() == 4);
  CHECK(dumps.head(1) == "0,Add,half,float32,NaN,half,float32,NaN,half:output:0,[1]");
  CHECK(counts->left_out == 2);
  CHECK(dumps.rows[2] == "1,NaN,none,NaN,NaN,none,NaN,NaN,NaN,NaN," + kNaNs +
                             ",\"[none] The number of input does not match (1 vs 0).,[none] The shape does not match "
                             "((2, 1) vs (1, 2)) for none:output:0.\"");
  CHECK(dumps.rows[3] == "2,NaN,bare,NaN,NaN,bare,NaN,NaN,NaN,NaN," + kNaNs +
                             ",\"[bare] There is no input. Skip the bare:input.,[bare] There is no output. Skip the "
                             "bare:output.\"");
  CHECK(counts->not_compared == 2);
}

TEST_CASE("dump files: padding counts only where the tool cannot take it off") {
  std::vector<float> padded(16, 100);
  padded[0] = 1;
  std::vector<float> other = padded;
  other[9] = 0;
  const auto tensor = [&](const std::vector<float>& values, Dims host) {
    return floats(TensorSpec::kOutput, {1, 1, 1, 1, 16}, values, Format::kNC1HWC0, std::move(host));
  };
  Dumps dumps;
  dumps.add("a/Bias.four.1.0.1700000000000001", {tensor(padded, {1, 1, 1, 1})});
  dumps.add("b/Bias.four.1.0.1700000000000001", {tensor(other, {1, 1, 1, 1})});
  dumps.add("a/Bias.flat.1.0.1700000000000002", {tensor(padded, {1})});
  dumps.add("b/Bias.flat.1.0.1700000000000002", {tensor(other, {1})});
  REQUIRE(dumps.compare());
  REQUIRE(dumps.rows.size() == 3);
  CHECK(dumps.rows[1].find(",\"[1,1,1,1,16]\",1.000000,0.000000,") != std::string::npos);
  CHECK(dumps.rows[2].find(",100.000000,") != std::string::npos);
}

TEST_CASE("what the tool converts depends on the format and on the host's shape alone") {
  const auto restored = [](Format format, Shape device, std::optional<Shape> host, int64_t groups = 0) {
    PlanRequest request;
    request.format_number = static_cast<int64_t>(format);
    request.shape = std::move(device);
    request.original_shape = std::move(host);
    request.sub_format = groups;
    return is_restored(request);
  };
  CHECK(restored(Format::kNC1HWC0, {1, 1, 2, 2, 16}, Shape{1, 3, 2, 2}));
  CHECK_FALSE(restored(Format::kNC1HWC0, {1, 1, 2, 2, 16}, Shape{3, 2, 2}));
  CHECK_FALSE(restored(Format::kNC1HWC0, {1, 1, 2, 2, 16}, std::nullopt));
  CHECK_FALSE(restored(Format::kNC1HWC0, {1, 1, 2, 2, 16}, Shape{1, 3, 2, 2}, 2));
  CHECK(restored(Format::kFractalNZ, {1, 1, 16, 16}, Shape{3, 4}));
  CHECK_FALSE(restored(Format::kFractalNZ, {1, 1, 16, 16}, Shape{4}));
  CHECK(restored(Format::kFractalZ, {1, 1, 16, 16}, Shape{3, 4, 1, 1}));
  CHECK(restored(Format::kNHWC, {1, 2, 2, 3}, Shape{1, 3, 2, 2}));
  CHECK_FALSE(restored(Format::kNHWC, {12}, Shape{1, 3, 2, 2}));
  CHECK(restored(Format::kHWCN, {2, 2, 3, 1}, Shape{1, 3, 2, 2}));
  CHECK_FALSE(restored(Format::kHWCN, {2, 2, 3, 1}, Shape{1, 1, 3, 2, 2}));
  CHECK_FALSE(restored(Format::kFractalZ, {1, 1, 16, 16}, Shape{3, 4, 1}));
  CHECK(restored(Format::kFractalNZ, {1, 1, 16, 16}, Shape{1, 1, 3, 4}));
  CHECK_FALSE(restored(Format::kFractalNZ, {1, 1, 16, 16}, Shape{1, 1, 1, 3, 4}));
  CHECK(restored(Format::kFractalZ, {1, 1, 16, 16}, Shape{3, 4, 1, 1}, 1));
  CHECK_FALSE(restored(Format::kNDC1HWC0, {1, 1, 1, 2, 2, 16}, Shape{1, 3, 1, 2, 2}));
}

TEST_CASE("dump files: dtypes have numpy's names, those that the tool adds their own, all others NaN") {
  Dumps dumps;
  const auto tensor = [](DType dtype, size_t bytes) {
    TensorSpec spec;
    spec.dtype = info(dtype).proto_number;
    spec.shape = Dims{2};
    spec.data = std::string(bytes, '\0');
    return spec;
  };
  const std::vector<std::pair<DType, std::string>> dtypes = {
      {DType::kFloat16, "float16"}, {DType::kFloat64, "float64"},   {DType::kInt8, "int8"},
      {DType::kBool, "bool"},       {DType::kBfloat16, "bfloat16"}, {DType::kComplex32, "NaN"},
      {DType::kInt4, "NaN"},        {DType::kUint1, "uint1"},       {DType::kFloat8E5m2, "float8_e5m2"}};
  std::vector<TensorSpec> tensors;
  for (const auto& [dtype, name] : dtypes)
    tensors.push_back(tensor(dtype, static_cast<size_t>(std::max(1, info(dtype).bits * 2 / 8))));
  for (const char* const side : {"a", "b"}) dumps.add(std::string(side) + "/Add.x.1.0.1700000000000001", tensors);
  REQUIRE(dumps.compare());
  REQUIRE(dumps.rows.size() == 1 + dtypes.size());
  for (size_t i = 0; i < dtypes.size(); ++i) {
    const std::string& name = dtypes[i].second;
    CHECK(dumps.head(i + 1) == "0,Add,x," + name + ",NaN,x," + name + ",NaN,x:output:" + std::to_string(i) + ",[2]");
  }
}

TEST_CASE("dump files: a tensor that cannot be compared has a row, and the others of its operator theirs") {
  Dumps dumps;
  const auto padded = [](Dims host) {
    return floats(TensorSpec::kOutput, {1, 1, 1, 1, 16}, std::vector<float>(16, 1), Format::kNC1HWC0, std::move(host));
  };
  const TensorSpec last = floats(TensorSpec::kOutput, {1}, {3});
  dumps.add("a/Add.x.1.0.1700000000000001", {padded({1, 2, 1, 1}), last});
  dumps.add("b/Add.x.1.0.1700000000000001", {padded({1, 5, 1, 1}), last});
  const auto counts = dumps.compare();
  REQUIRE(counts);
  REQUIRE(dumps.rows.size() == 3);
  CHECK(dumps.rows[1] == "0,Add,x,float32,NaN,x,float32,NaN,x:output:0,\"[1,1,1,1,16]\"," + kNaNs +
                             ",\"[x_TENSOR] Shape mismatch after restore: (2,) vs (5,)\"");
  CHECK(dumps.head(2) == "0,Add,x,float32,NaN,x,float32,NaN,x:output:1,[1]");
  CHECK((counts->rows == 2 && counts->not_compared == 1 && counts->failures.kept.empty()));
}

TEST_CASE("dump files: one that cannot be read has a row that says so") {
  Dumps dumps;
  dumps.add_output("a/Add.x.1.0.1700000000000001", {1});
  dumps.scratch().write("a/Add.y.1.0.1700000000000002", build_faulty_dump(DumpFault::kLengthPastEnd));
  dumps.add_output("b/Add.x.1.0.1700000000000001", {1});
  dumps.add_output("b/Add.y.1.0.1700000000000002", {1});
  const auto counts = dumps.compare();
  REQUIRE(counts);
  REQUIRE(dumps.rows.size() == 3);
  CHECK(dumps.head(2) == "1,NaN,y,NaN,NaN,y,NaN,NaN,NaN,NaN");
  CHECK(counts->not_compared == 1);
  REQUIRE(counts->failures.kept.size() == 1);
  CHECK(counts->failures.kept[0].path == dumps.scratch().file("a/Add.y.1.0.1700000000000002"));
}

TEST_CASE("the address of a tensor is the one in its header") {
  Dumps dumps;
  // An OpOutput of two float32 with address 4096, by hand: the builder knows no addresses.
  const std::string output = std::string("\x08\x01\x10\x02\x1a\x03\x0a\x01\x02\x30\x08\x48\x80\x20", 14);
  const std::string header = "\x1a" + std::string(1, static_cast<char>(output.size())) + output;
  for (const char* const side : {"a", "b"}) {
    dumps.scratch().write(std::string(side) + "/Add.x.1.0.1700000000000001",
                          with_length(header, bytes_of_floats({1, 2})));
  }
  REQUIRE(dumps.compare());
  CHECK(dumps.head(1) == "0,Add,x,float32,4096,x,float32,4096,x:output:0,[2]");
}

TEST_CASE("two single dump files are a pair whatever their names are") {
  Dumps dumps;
  dumps.add_output("Add.x.1.0.1700000000000001", {1});
  dumps.add_output("Add.y.1.0.1700000000000002", {1});
  REQUIRE(dumps.compare("Add.x.1.0.1700000000000001", "Add.y.1.0.1700000000000002"));
  REQUIRE(dumps.rows.size() == 2);
  CHECK(dumps.head(1) == "0,Add,x,float32,NaN,y,float32,NaN,x:output:0,[1]");
}

TEST_CASE("arrays have no address, and tensors without a partner a row each") {
  Dumps dumps;
  dumps.add("a/Add.Net_Add-op1.1.0.1700000000000001",
            {floats(TensorSpec::kOutput, {2}, {1, 2}), floats(TensorSpec::kOutput, {3}, {1, 2, 3})});
  dumps.add_output("a/Mul.Net_Mul-op2.1.0.1700000000000002", {1});
  dumps.add_array("b/Add.Net_Add-op9.1.0.1700000000000001.output.0.ND.npy", "(2, 1)", {1, 2});
  dumps.add_array("b/Sub.Net_Sub-op3.1.0.1700000000000003.output.0.ND.npy", "(1,)", {1});
  dumps.add_array("b/Div.Net_Div-op4.1.0.1700000000000004.output.0.ND.npy", "(1,)", {1});
  const auto counts = dumps.compare();
  REQUIRE(counts);
  REQUIRE(dumps.rows.size() == 6);
  CHECK(dumps.rows[0].starts_with("Index,OpType,NPUDump,DataType,Address,GroundTruth,DataType,TensorIndex,Shape,Cos"));
  CHECK(dumps.rows[1].starts_with(
      "0,Add,Net/Add-op1,float32,NaN,Net_Add-op9,float32,Net/Add-op1:output:0,[2],1.000000,"));
  CHECK(dumps.rows[2] == "0,Add,Net/Add-op1,NaN,NaN,Net_Add-op9,NaN,Net/Add-op1:output:1,[3]," + kNaNs +
                             ",[Net/Add-op1] There is no the ground truth dump file for Net/Add-op1:output:1.");
  CHECK(dumps.rows[3].starts_with("1,Mul,Net/Mul-op2,NaN,NaN,*,NaN,Net/Mul-op2:output:0,[1],NaN"));
  CHECK(dumps.rows[4].starts_with("2,NaN,*,NaN,NaN,Net_Sub-op3,NaN,NaN,NaN,NaN"));
  CHECK(dumps.rows[5].starts_with("3,NaN,*,NaN,NaN,Net_Div-op4,NaN,NaN,NaN,NaN"));
  CHECK(counts->unmatched == 4);
}

TEST_CASE("two arrays are compared when they have as many elements") {
  Dumps dumps;
  dumps.add_array("x.npy", "(2, 3)", {1, 2, 3, 4, 5, 6});
  dumps.add_array("y.npy", "(3, 2)", {1, 2, 3, 4, 5, 6});
  dumps.add_array("z.npy", "(5,)", {1, 2, 3, 4, 5});
  REQUIRE(dumps.compare("x.npy", "y.npy"));
  REQUIRE(dumps.rows.size() == 2);
  CHECK(dumps.rows[1].find(",\"[2,3]\",1.000000,0.000000,") != std::string::npos);
  const auto counts = dumps.compare("x.npy", "z.npy");
  REQUIRE(counts);
  CHECK(counts->not_compared == 1);
  CHECK(counts->failures.kept.empty());
  CHECK(dumps.rows[1].find("the left dump data(6) can not be compared to the right dump data(5)") != std::string::npos);
}

TEST_CASE("statistics are not compared: the tool compares elements") {
  Dumps dumps;
  dumps.add_output("a/Add.x.1.0.1700000000000001", {1});
  dumps.scratch().write("b/statistic.csv",
                        "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n"
                        "Add,x,1,0,1700000000000001,output,0,4,float32,\"[1]\",1,\n");
  for (const auto& [a, b] : {std::pair("a", "b"), {"b", "a"}}) {
    const auto counts = dumps.compare(a, b);
    REQUIRE_FALSE(counts);
    CHECK(counts.error().code == ErrorCode::kUsage);
    CHECK(counts.error().path == dumps.scratch().file("b"));
  }
}

TEST_CASE("only one folder is compared with one") {
  Dumps dumps;
  dumps.add_output("a/0/Add.x.1.0.1700000000000001", {1});
  dumps.add_output("a/1/Add.x.1.0.1700000000000001", {1});
  dumps.add_output("b/Add.x.1.0.1700000000000001", {1});
  const auto counts = dumps.compare();
  REQUIRE_FALSE(counts);
  CHECK(counts.error().code == ErrorCode::kUsage);
  CHECK(counts.error().message == "tensors of 2 folders, such as 0 and 1; msaccucmp compares one with one");
  CHECK(dumps.rows.empty());
  CHECK(dumps.compare("a/0"));
}

TEST_CASE("a sink that refuses ends the comparison with its error") {
  Dumps dumps;
  dumps.add_output("a/Add.x.1.0.1700000000000001", {1});
  WorkerPool pool(1);
  const CancelToken cancel;
  const DumpIndex index = *DumpIndex::build({dumps.scratch().file("a")}, {});
  const TensorList list = *TensorList::read(index, Selection(), {}, {pool, cancel});
  MsaccucmpSide side;
  side.side.index = &index;
  side.side.tensors = &list.tensors();
  const auto counts = write_msaccucmp_result(side, side, {pool, cancel}, [](std::string_view) -> Status {
    return fail(ErrorCode::kWriteFailed, "the disk is full");
  });
  REQUIRE_FALSE(counts);
  CHECK(counts.error().message == "the disk is full");
}
