#include "compare/statistics/statistic_diff.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

using test::ListedDump;
using test::ScratchDir;

constexpr std::string_view kHeader =
    "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,"
    "Max Value,Min Value,Avg Value,NaN Count,L2Norm Value,MD5";

template <class T>
std::string bytes_of_values(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

void write_array(const ScratchDir& scratch, const std::vector<float>& values) {
  scratch.write("Add.Default_Add-op0.0.0.17.output.0.DefaultFormat.float32.npy",
                test::npy_of("<f4", {static_cast<int64_t>(values.size())}, bytes_of_values(values)));
}

void write_row(const ScratchDir& scratch, std::string_view shape, std::string_view values) {
  scratch.write("statistic.csv",
                fmt::format("{}\nAdd,Default_Add-op0,0,0,17,output,0,16,float32,\"{}\",{},\n", kHeader, shape, values));
}

std::string leaf_text(std::string_view more) {
  return fmt::format(R"({{"task":"statistics","level":"L1","framework":"pytorch","dump_data_dir":null,"data":)"
                     R"({{"Functional.relu.0.forward":{{"input_args":[],"input_kwargs":{{}},"output":[{{)"
                     R"("type":"torch.Tensor","dtype":"torch.float32",{}}}]}}}}}})",
                     more);
}

Result<TensorDiff> try_diff(const ScratchDir& a, const ScratchDir& b) {
  const ListedDump left = test::list_dump({a.path()}), right = test::list_dump({b.path()});
  REQUIRE(left.tensors().size() == 1);
  REQUIRE(right.tensors().size() == 1);
  StatisticTables tables_a(left.index), tables_b(right.index);
  WorkerPool pool(2);
  const CancelToken never;
  return diff_records({left.index, tables_a}, left.tensors()[0], {right.index, tables_b}, right.tensors()[0], {},
                      {pool, never});
}

TensorDiff diff(const ScratchDir& a, const ScratchDir& b) {
  auto result = try_diff(a, b);
  REQUIRE(result);
  return std::move(*result);
}

}  // namespace

TEST_CASE("elements on both sides are compared one by one") {
  const ScratchDir a, b;
  write_array(a, {1, 2, 3});
  write_array(b, {1, 2, 3});
  CHECK(diff(a, b).verdict == Verdict::kSame);
  CHECK_FALSE(diff(a, b).by_statistics);
}

TEST_CASE("elements against a row are compared by what the row's writer would have computed") {
  const ScratchDir a, b;
  write_array(a, {1, 2, 3, -4});
  write_row(b, "[4]", "3,-4,0.5,0,5.47723,");
  CHECK(diff(a, b).verdict == Verdict::kClose);
  CHECK(diff(a, b).reason == "statistics agree");
  CHECK(diff(b, a).verdict == Verdict::kClose);
  CHECK(diff(a, b).metrics->max_a == 3.0);
  CHECK(diff(a, b).nan_counted_a);
  write_row(b, "[4]", "3,-4,0.5,0,6,");
  CHECK(diff(a, b).reason == "l2norm 5.47723 against 6");
  CHECK(diff(b, a).reason == "l2norm 6 against 5.47723");
}

TEST_CASE("an MD5 in the row is computed of the elements, too") {
  const ScratchDir a, b;
  write_array(a, {0, 0, 0, 0});
  write_row(b, "[4]", "0,0,0,0,0,4ae71336e44bf9bf79d2752e234818a5");
  CHECK(diff(a, b).reason == "equal MD5");
  write_row(b, "[4]", "0,0,0,0,0,4ae71336e44bf9bf79d2752e234818a6");
  CHECK(diff(a, b).reason == "every element is 0");
}

TEST_CASE("rows against rows, without any elements") {
  const ScratchDir a, b;
  write_row(a, "[4]", "3,-4,0.5,0,5.47723,");
  write_row(b, "[4]", "3,-4,0.5,0,5.47723,");
  CHECK(diff(a, b).verdict == Verdict::kClose);
  write_row(b, "[4]", "3,-4,0.5,1,nan,");
  CHECK(diff(a, b).verdict == Verdict::kNan);
}

TEST_CASE("elements against a leaf of dump.json: its statistics and its CRC-32") {
  const ScratchDir a, b;
  a.write("dump_tensor_data/Functional.relu.0.forward.output.0.npy",
          test::npy_of("<f4", {4}, bytes_of_values<float>({1, 2, 3, -4})));
  b.write("dump.json", leaf_text(R"("shape":[4],"Max":3.0,"Min":-4.0,"Mean":0.5,"Norm":5.4772257804870605)"));
  CHECK(diff(a, b).reason == "statistics agree");
  b.write("dump.json",
          leaf_text(R"("shape":[4],"Max":3.0,"Min":-4.0,"Mean":0.5,"Norm":5.4772257804870605,"md5":"661f9774")"));
  CHECK(diff(a, b).reason == "equal CRC-32");
  b.write("dump.json", leaf_text(R"("shape":[4],"md5":"0x00004040c0c00000")"));
  CHECK(diff(a, b).verdict == Verdict::kDiffer);
  b.write("dump.json", leaf_text(R"("shape":[2,3],"Max":3.0,"Min":-4.0)"));
  CHECK(diff(a, b).verdict == Verdict::kShape);
}

TEST_CASE("complex elements are compared by their moduli") {
  const ScratchDir a, b;
  a.write("dump_tensor_data/Functional.relu.0.forward.output.0.npy",
          test::npy_of("<c8", {2}, bytes_of_values<float>({3, 4, 0, -1})));
  std::string text = leaf_text(R"("shape":[2],"Max":5.0,"Min":1.0,"Mean":3.0,"Norm":null)");
  text.replace(text.find("torch.float32"), std::strlen("torch.float32"), "torch.complex64");
  b.write("dump.json", text);
  CHECK(diff(a, b).reason == "statistics agree");
  b.write("dump.json", text.replace(text.find("5.0"), 3, "6.0"));
  CHECK(diff(a, b).reason == "max 5 against 6");
}

TEST_CASE("of a sampled dump the first elements are compared; what only looks like one has another shape") {
  const ScratchDir a, b;
  write_array(a, {1, 2, 300, 400});
  write_row(b, "[2]", "2,1,1.5,0,2.23607,");
  CHECK(diff(a, b).verdict == Verdict::kClose);
  CHECK(diff(a, b).reason == "statistics agree; of the first 2 elements only: a sampled dump");
  write_row(b, "[1]", "1,1,1,0,1,");
  CHECK(diff(a, b).verdict == Verdict::kClose);
  CHECK(diff(a, b).reason == "statistics agree; of the first element only: a sampled dump");
  write_row(b, "[2]", "7,1,4,0,7.07107,");
  CHECK(diff(a, b).verdict == Verdict::kShape);
  CHECK(diff(a, b).reason == "4 against 2");
  CHECK(diff(b, a).reason == "2 against 4");
}

TEST_CASE("a NaN that one of the versions in question loses is not a difference") {
  // 20001 elements are two chunks of 2.4, whose merge forgets the NaN of max and min. Nothing tells 2.4 from 2.5.
  const ScratchDir a, b;
  std::vector<float> values(20001, 1.0F);
  values[3] = std::nanf("");
  write_array(a, values);
  write_row(b, "(20001)", "1,1,nan,1,nan,");
  CHECK_FALSE(is_difference(diff(a, b).verdict));
}

TEST_CASE("broken elements are replaced by what a table says of them") {
  const ScratchDir a, b;
  write_row(a, "[4]", "3,-4,0.5,0,5.47723,");
  write_row(b, "[4]", "3,-4,0.5,0,5.47723,");
  const ListedDump left = test::list_dump({a.path()}), right = test::list_dump({b.path()});
  TensorRecord broken = left.tensors()[0];
  broken.has_elements = broken.broken = true;
  StatisticTables tables_a(left.index), tables_b(right.index);
  WorkerPool pool(1);
  const CancelToken never;
  const auto result =
      diff_records({left.index, tables_a}, broken, {right.index, tables_b}, right.tensors()[0], {}, {pool, never});
  REQUIRE(result);
  CHECK(result->verdict == Verdict::kClose);
}

TEST_CASE("an array that cannot be read and an interruption are errors") {
  const ScratchDir a, b;
  write_array(a, {1, 2, 3, 4});
  write_row(b, "[4]", "4,1,2.5,0,5.47723,");
  const ListedDump left = test::list_dump({a.path()}), right = test::list_dump({b.path()});
  StatisticTables tables_a(left.index), tables_b(right.index);
  WorkerPool pool(1);
  CancelToken token;
  const auto compare = [&] {
    return diff_records({left.index, tables_a}, left.tensors()[0], {right.index, tables_b}, right.tensors()[0], {},
                        {pool, token});
  };
  CHECK(compare());
  a.write("Add.Default_Add-op0.0.0.17.output.0.DefaultFormat.float32.npy", "cut");
  CHECK_FALSE(compare());
  token.cancel();
  const auto interrupted = compare();
  REQUIRE_FALSE(interrupted);
  CHECK(interrupted.error().code == ErrorCode::kCancelled);
}

}  // namespace msdump
