#include "dump/index/table_join.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

// `count` tensors of one operator in a folder, and as many rows of the table there.
class Loop {
 public:
  Loop(size_t count, const std::string& time_of_tensors, const std::string& time_of_rows) {
    scratch_.write("Add.a.1.2.3.output.0.npy", test::build_npy({}));
    scratch_.write("statistic.csv", "");
    index_.emplace(DumpIndex::build({scratch_.path().string()}, {}).value());
    for (const bool row : {false, true}) {
      for (size_t i = 0; i < count; ++i) {
        times_.keep(std::to_string(i));
        TensorRecord tensor;
        tensor.file = tensor.table = index_->files()[0].kind == FileKind::kStatistic ? 0U : 1U;
        tensor.name.op_type = "Add", tensor.name.op_name = "a", tensor.name.slot = "0";
        tensor.name.timestamp = times_.keep((row ? time_of_rows : time_of_tensors) + std::to_string(i));
        tensor.has_elements = !row;
        tensor.item = static_cast<uint32_t>(i);
        if (!row) tensor.file = 1 - tensor.file, tensor.table = kNoTable;
        if (row) references_.push_back({tensors_.size(), {}});
        tensors_.push_back(tensor);
      }
    }
  }

  std::vector<TensorRecord> joined() {
    std::vector<TensorRecord> tensors = tensors_;
    join_tables(*index_, tensors, references_);
    return tensors;
  }

  [[nodiscard]] double seconds() {
    double best = 1e9;
    for (int round = 0; round < 3; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      REQUIRE(joined().size() == tensors_.size() / 2);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return best;
  }

 private:
  test::ScratchDir scratch_;
  std::optional<DumpIndex> index_;
  TextArena times_;
  std::vector<TensorRecord> tensors_;
  std::vector<TableReference> references_;
};

TEST_CASE(
    "rows whose time stamps fit no tensor are joined in order, and eight times as many take no sixty-four times as "
    "long") {
  for (const TensorRecord& tensor : Loop(100, "1", "2").joined()) CHECK(tensor.table != kNoTable);
  const double few = Loop(2000, "1", "2").seconds(), many = Loop(16000, "1", "2").seconds();
  CHECK(many < 30 * few);
}

TEST_CASE("rows of other times than the tensors before them leave these to their own rows") {
  // Rows 0, 1, ... of times 10, 11, ...; tensors of times 0, 1, ..., 19.
  const std::vector<TensorRecord> joined = Loop(20, "", "1").joined();
  // Row i of time "1i" fits tensor "1i" where there is one; the others take those that are left, in order.
  REQUIRE(joined.size() == 20);
  for (const TensorRecord& tensor : joined) CHECK(tensor.table != kNoTable);
}

}  // namespace
}  // namespace msdump
