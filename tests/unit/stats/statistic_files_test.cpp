#include "stats/statistic_files.h"

#include <filesystem>

#include "support/catch.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump::stats {
namespace {

namespace fs = std::filesystem;
using test::ListedDump;
using test::ScratchDir;

// Two directories of two tensors each.
class TwoDirectories {
 public:
  TwoDirectories() {
    for (const char* name : {"0/Add.a.1.1.10.output.0.DefaultFormat.npy", "0/Add.b.1.1.11.output.0.DefaultFormat.npy",
                             "1/Add.a.1.1.20.output.0.DefaultFormat.npy", "1/Add.b.1.1.21.output.0.DefaultFormat.npy"})
      scratch_.write(std::string("in/") + name, test::npy_of("<f4", {1}, std::string_view("\0\0\x80\x3f", 4)));
    dump_ = std::make_unique<ListedDump>(test::list_dump({scratch_.path() / "in"}));
    REQUIRE(dump_->tensors().size() == 4);
  }

  [[nodiscard]] std::string target(size_t tensor) const {
    return (scratch_.path() / "out" / (tensor < 2 ? "0" : "1") / "statistic.csv").string();
  }
  [[nodiscard]] bool exists(size_t tensor) const { return fs::exists(target(tensor)); }
  // Also temporary files.
  [[nodiscard]] size_t files() const {
    size_t count = 0;
    if (!fs::exists(scratch_.path() / "out")) return 0;
    for (const auto& entry : fs::recursive_directory_iterator(scratch_.path() / "out"))
      count += entry.is_regular_file() ? 1U : 0U;
    return count;
  }

  Status take(StatisticFileWriter& writer, size_t tensor) const { return take(writer, tensor, TensorStatistics()); }
  Status take(StatisticFileWriter& writer, size_t tensor, const Result<TensorStatistics>& result) const {
    return writer.take(target(tensor), dump_->tensors()[tensor], result);
  }
  Status leave_out(StatisticFileWriter& writer, size_t tensor) const {
    return take(writer, tensor, fail(ErrorCode::kCancelled, "interrupted"));
  }
  [[nodiscard]] StatisticFileWriter writer() const { return {dump_->index, {&newest_dialect(), {}}, cancel}; }

  CancelToken cancel;

 private:
  ScratchDir scratch_;
  std::unique_ptr<ListedDump> dump_;
};

TEST_CASE("each directory gets its statistic.csv with all its rows") {
  const TwoDirectories dump;
  StatisticFileWriter writer = dump.writer();
  for (size_t tensor = 0; tensor < 4; ++tensor) {
    CHECK_FALSE(dump.exists(tensor));
    REQUIRE(dump.take(writer, tensor));
  }
  REQUIRE(writer.finish());
  CHECK(writer.files() == 2);
  CHECK(writer.rows() == 4);
  CHECK(dump.exists(0));
  CHECK(dump.exists(3));
  CHECK(dump.files() == 2);
}

TEST_CASE("a tensor of the next directory does not commit a file that an interruption cut") {
  TwoDirectories dump;
  StatisticFileWriter writer = dump.writer();
  REQUIRE(dump.take(writer, 0));
  REQUIRE(dump.leave_out(writer, 1));
  // Another worker had finished these before the interruption.
  REQUIRE(dump.take(writer, 2));
  REQUIRE(dump.take(writer, 3));
  REQUIRE(writer.finish());
  CHECK(dump.files() == 0);
  CHECK(writer.rows() == 0);
}

TEST_CASE("after a cancel no statistic.csv is committed, complete or not") {
  TwoDirectories dump;
  StatisticFileWriter writer = dump.writer();
  REQUIRE(dump.take(writer, 0));
  REQUIRE(dump.take(writer, 1));
  dump.cancel.cancel();
  SECTION("a tensor of the next directory comes") { REQUIRE(dump.take(writer, 2)); }
  SECTION("no tensor comes") {}
  REQUIRE(writer.finish());
  CHECK(dump.files() == 0);
}

TEST_CASE("files that are complete before an interruption stay") {
  TwoDirectories dump;
  StatisticFileWriter writer = dump.writer();
  REQUIRE(dump.take(writer, 0));
  REQUIRE(dump.take(writer, 1));
  REQUIRE(dump.take(writer, 2));
  REQUIRE(dump.leave_out(writer, 3));
  REQUIRE(writer.finish());
  CHECK(dump.exists(0));
  CHECK(dump.files() == 1);
  CHECK(writer.rows() == 2);
}

TEST_CASE("a tensor that failed costs its row and no other") {
  TwoDirectories dump;
  StatisticFileWriter writer = dump.writer();
  REQUIRE(dump.take(writer, 0, fail(ErrorCode::kTruncated, "cut")));
  REQUIRE(dump.take(writer, 1));
  TensorStatistics unsupported;
  unsupported.supported = false;
  REQUIRE(dump.take(writer, 2, unsupported));
  REQUIRE(writer.finish());
  CHECK(writer.rows() == 1);
  CHECK(dump.files() == 1);
}

TEST_CASE("after a write that fails nothing more is written") {
  TwoDirectories dump;
  StatisticFileWriter writer = dump.writer();
  fs::create_directories(dump.target(0));
  REQUIRE(dump.take(writer, 0));
  const Status status = dump.take(writer, 2);
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::kWriteFailed);
  REQUIRE(dump.take(writer, 3));
  REQUIRE(writer.finish());
  CHECK(dump.files() == 0);
}

TEST_CASE("directories come in natural order; each has its tensors in order, Parameters last") {
  const ScratchDir scratch;
  const std::string array = test::npy_of("<f4", {1}, std::string(4, '\0'));
  const auto npy = [](const char* op, const char* time) {
    return std::string(op) + ".1.1." + time + ".output.0.DefaultFormat.float32.npy";
  };
  scratch.write("a/10/" + npy("Add.x", "1700000000000001"), array);
  scratch.write("a/9/" + npy("Parameter.w", "1700000000000002"), array);
  scratch.write("a/9/" + npy("Add.y", "1700000000000004"), array);
  scratch.write("a/9/" + npy("Add.z", "1700000000000003"), array);
  scratch.write("a/9/" + npy("Add.damaged", "1700000000000001"), "no array");
  scratch.write("b/1/" + npy("Add.v", "1700000000000000"), array);
  scratch.write("b/2/statistic.csv",
                "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n"
                "Add,no_elements,1,1,1700000000000001,output,0,4,float32,\"[1]\",1,\n");
  scratch.write("c/dump_tensor_data/" + npy("Add.m", "1700000000000000"), array);
  scratch.write("c/step1/dump_tensor_data/" + npy("Add.n", "1700000000000000"), array);
  scratch.write("c/step1/my_dump_tensor_data/" + npy("Add.o", "1700000000000000"), array);
  const ListedDump dump = test::list_dump({scratch.path() / "a", scratch.path() / "b", scratch.path() / "c"});
  std::vector<std::string> lines;
  for (const StatisticDirectory& directory : statistic_directories(dump.index, dump.tensors())) {
    lines.push_back(dump.index.paths()[directory.root].substr(scratch.path().string().size() + 1) + "|" +
                    directory.relative + ":");
    for (const size_t i : directory.tensors) lines.back() += " " + std::string(dump.tensors()[i].name.op_name);
  }
  CHECK(lines == std::vector<std::string>{"a|9: z y w", "a|10: x", "b|1: v", "c|: m", "c|step1: n",
                                          "c|step1/my_dump_tensor_data: o"});
}

}  // namespace
}  // namespace msdump::stats
