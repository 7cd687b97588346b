#include "dump/index/list_order.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/growth.h"
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
        if (row) tensor.row_offset = i;
        if (!row) tensor.file = 1 - tensor.file, tensor.table = kNoTable;
        if (row) references_.push_back({tensors_.size(), {}});
        tensors_.push_back(tensor);
      }
    }
  }

  [[nodiscard]] std::vector<TensorRecord> joined() const {
    std::vector<TensorRecord> tensors = tensors_;
    join_tables(*index_, tensors, references_);
    return tensors;
  }

 private:
  test::ScratchDir scratch_;
  std::optional<DumpIndex> index_;
  TextArena times_;
  std::vector<TensorRecord> tensors_;
  std::vector<TableReference> references_;
};

TEST_CASE("rows whose time stamps fit no tensor are joined in order, and their cost does not grow with their square") {
  for (const TensorRecord& tensor : Loop(100, "1", "2").joined()) CHECK(tensor.table != kNoTable);
  const auto make = [](size_t count) { return std::make_unique<Loop>(count, "1", "2"); };
  const auto run = [](const std::unique_ptr<Loop>& loop) { CHECK_FALSE(loop->joined().empty()); };
  CHECK(test::growth(1000, make, run) < test::kNotQuadratic);
}

TEST_CASE("rows of other times than the tensors before them leave these to their own rows") {
  // Rows 0, 1, ... of times 10, 11, ...; tensors of times 0, 1, ..., 19.
  const std::vector<TensorRecord> joined = Loop(20, "", "1").joined();
  // Row i of time "1i" fits tensor "1i" where there is one; the others take those that are left, in order.
  REQUIRE(joined.size() == 20);
  for (size_t i = 0; i < 20; ++i) {
    CHECK(joined[i].table != kNoTable);
    CHECK(joined[i].row_offset == (i < 10 ? i + 10 : i - 10));
  }
}

}  // namespace
}  // namespace msdump
