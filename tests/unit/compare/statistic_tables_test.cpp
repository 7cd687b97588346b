#include "compare/statistics/statistic_tables.h"

#include <atomic>

#include <fmt/format.h>

#include "io/worker_pool.h"
#include "support/catch.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

using test::ScratchDir;

constexpr std::string_view kFields = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape";

std::string row(int number, std::string_view values) {
  return fmt::format("Add,Default_Add-op{},0,0,17,output,0,16,float32,\"[4]\",{},\n", number, values);
}

double max_of(const Result<TensorNumbers>& values) {
  REQUIRE(values);
  return values->number(Extremum::kMax).value().value;
}

}  // namespace

TEST_CASE("each row is found by its place, under the header that it stands below") {
  const ScratchDir scratch;
  scratch.write("statistic.csv", fmt::format("{0},Max Value,Min Value\n{1}{0},L2Norm Value,Max Value\n{2}{3}", kFields,
                                             row(0, "10,-10"), row(1, "99,11"), row(2, "99,12")));
  const test::ListedDump dump = test::list_dump({scratch.path()});
  REQUIRE(dump.tensors().size() == 3);
  StatisticTables tables(dump.index);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(max_of(tables.values_of(dump.tensors()[i])) == 10.0 + static_cast<double>(i));
  }
  CHECK(tables.values_of(dump.tensors()[0])->number(Extremum::kMin)->value == -10);
  CHECK(tables.values_of(dump.tensors()[2])->number(Extremum::kNorm)->value == 99);
}

TEST_CASE("a tensor with a file of its own has the statistics of its row, wherever this stands in the table") {
  const ScratchDir scratch;
  scratch.write("Add.Default_Add-op1.0.0.17.output.0.DefaultFormat.npy", test::npy_of("<f4", {4}, std::string(16, 0)));
  scratch.write("statistic.csv",
                fmt::format("{},Max Value\n{}{}{}", kFields, row(0, "10"), row(1, "11"), row(2, "12")));
  const test::ListedDump dump = test::list_dump({scratch.path()});
  REQUIRE(dump.tensors().size() == 3);
  CHECK(dump.tensors()[1].has_elements);
  StatisticTables tables(dump.index);
  for (size_t i = 0; i < 3; ++i) CHECK(max_of(tables.values_of(dump.tensors()[i])) == 10.0 + static_cast<double>(i));
}

TEST_CASE("a table is read once, whatever threads ask for it") {
  const ScratchDir scratch;
  std::string text = fmt::format("{},Max Value\n", kFields);
  for (int i = 0; i < 2000; ++i) text += row(i, std::to_string(i));
  scratch.write("statistic.csv", text);
  const test::ListedDump dump = test::list_dump({scratch.path()});
  StatisticTables tables(dump.index);
  WorkerPool pool(4);
  std::atomic<int> wrong = 0;
  pool.parallel_for(2000, [&](int64_t i) {
    const TensorRecord& tensor = dump.tensors()[static_cast<size_t>(i)];
    const auto values = tables.values_of(tensor);
    const std::string name = values ? fmt::format("Default_Add-op{}", values->number(Extremum::kMax)->value) : "";
    if (name != tensor.name.op_name) ++wrong;
  });
  CHECK(wrong == 0);
  // What happens to the file afterwards does not matter.
  scratch.write("statistic.csv", "");
  CHECK(tables.values_of(dump.tensors()[0]));
}

TEST_CASE("a row that is not there any more is an error") {
  const ScratchDir scratch;
  scratch.write("statistic.csv", fmt::format("{},Max Value\n{}{}", kFields, row(0, "1"), row(1, "2")));
  const test::ListedDump dump = test::list_dump({scratch.path()});
  scratch.write("statistic.csv", fmt::format("{},Max Value\n{}", kFields, row(0, "1")));
  StatisticTables tables(dump.index);
  CHECK(tables.values_of(dump.tensors()[0]));
  const auto gone = tables.values_of(dump.tensors()[1]);
  REQUIRE_FALSE(gone);
  CHECK(gone.error().code == ErrorCode::kChangedWhileReading);
  CHECK(gone.error().path.ends_with("statistic.csv"));
}

TEST_CASE("a table that cannot be read is the same error each time") {
  const ScratchDir scratch;
  const std::string path = scratch.write("statistic.csv", fmt::format("{},Max Value\n{}", kFields, row(0, "1")));
  const test::ListedDump dump = test::list_dump({scratch.path()});
  std::filesystem::remove(path);
  StatisticTables tables(dump.index);
  for (int i = 0; i < 2; ++i) {
    const auto values = tables.values_of(dump.tensors()[0]);
    REQUIRE_FALSE(values);
    CHECK(values.error().code == ErrorCode::kNotFound);
  }
}

TEST_CASE("rows of msprobe's monitor, of which the first one rounds to six decimals") {
  const ScratchDir scratch;
  const std::string first = "vpp_stage,name,step,norm,max,mean,nans,shape\n";
  scratch.write(
      "a-rank0-00000000/grad_reduced_0-1.csv",
      first + "0,w,0,3.25,1.5,0.0,2.0,\"[2, 2]\"\n0,w,1,nan,nan,nan,nan,nan\n0,w,x,1,1,1,1,[1]\n0,w,3,7.5,2,1,0,[4]\n");
  scratch.write("rank_1/param_step0-1.csv", "vpp_stage,step,module_name,scope,max\n-1,0,w,param_origin,1.5\n");
  const test::ListedDump dump = test::list_dump({scratch.path()});
  REQUIRE(dump.tensors().size() == 4);
  StatisticTables tables(dump.index);
  const TensorNumbers values = tables.values_of(dump.tensors()[0]).value();
  CHECK(values.origin == StatisticOrigin::kMonitorCsv);
  CHECK(values.number(Extremum::kMax)->value == 1.5);
  CHECK(values.number(Extremum::kMax)->slack == Approx(0.5e-6));
  CHECK(values.number(Extremum::kNorm)->value == 3.25);
  CHECK(values.number(Extremum::kMean)->slack >= 0.5e-6);
  CHECK_FALSE(values.number(Extremum::kMin));
  CHECK(values.nan == 2);
  const TensorNumbers none = tables.values_of(dump.tensors()[1]).value();
  CHECK_FALSE(none.number(Extremum::kMax));
  CHECK_FALSE(none.nan);
  CHECK(none.bad_number.empty());
  CHECK(max_of(tables.values_of(dump.tensors()[2])) == 2);
  const TensorNumbers second = tables.values_of(dump.tensors()[3]).value();
  CHECK(second.origin == StatisticOrigin::kTorchJson);
  CHECK(second.number(Extremum::kMax)->slack == 0);
}

TEST_CASE("leaves of dump.json, each by its framework") {
  const ScratchDir scratch;
  scratch.write("dump.json",
                R"({"task":"statistics","level":"L1","framework":"mindspore","dump_data_dir":null,"data":{)"
                R"("Functional.relu.0.forward":{"input_args":[{"type":"mindspore.Tensor","dtype":"BFloat16",)"
                R"("shape":[4],"Max":1.5,"Min":NaN,"Mean":null,"Norm":2,"md5":"9331d5e6"}],"output":[)"
                R"({"type":"torch.Tensor","dtype":"torch.int64","shape":[],"Max":4,"Min":4,"Mean":4,"Norm":4}]}}})");
  const test::ListedDump dump = test::list_dump({scratch.path()});
  REQUIRE(dump.tensors().size() == 2);
  StatisticTables tables(dump.index);
  const auto first = tables.values_of(dump.tensors()[0]), second = tables.values_of(dump.tensors()[1]);
  CHECK(max_of(first) == 1.5);
  CHECK(first->origin == StatisticOrigin::kMindSporeJson);
  CHECK_FALSE(first->number(Extremum::kMean));
  CHECK(first->checksums.at(0).widened);
  CHECK(max_of(second) == 4);
  CHECK(second->origin == StatisticOrigin::kTorchJson);
}

}  // namespace msdump
