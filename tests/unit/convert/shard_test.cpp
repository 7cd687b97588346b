// Inputs that several processes share, and the run over what became of them.
#include "convert/convert.h"
#include "parts/part_file.h"
#include "support/catch.h"
#include "support/convert_run.h"
#include "support/dump_builder.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;

namespace {

// What parts hold, as a merge reads it.
class Known : public FactStore {
 public:
  void add(const KeptFacts& part) {
    for (const auto& [key, bytes] : part.facts()) CHECK(facts_.emplace(key, bytes).second);
  }
  void remove(uint32_t input) { facts_.erase({FactKind::kConverted, input}); }
  [[nodiscard]] std::optional<std::string_view> find(const FactKey& key) const override {
    const auto found = facts_.find(key);
    return found == facts_.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  }
  void keep(const FactKey&, std::string) override { FAIL("a merge finds out nothing"); }
  [[nodiscard]] size_t size() const { return facts_.size(); }

 private:
  std::map<FactKey, std::string> facts_;
};

void write_dump(const ScratchDir& scratch) {
  for (const char* const op : {"a", "b", "c", "d"}) {
    TensorSpec output = output_of(DType::kFloat32, Format::kND, {2}, Dims{2});
    output.data = std::string(8, *op);
    scratch.write(fmt::format("dump/Add.{}.1.2.1700000000000000", op), build_dump({.tensors = {output}}));
  }
  TensorSpec cut = output_of(DType::kFloat32, Format::kND, {2}, Dims{2});
  cut.size = 4000;
  scratch.write("dump/Add.e.1.2.1700000000000000", build_dump({.tensors = {cut}}));
  scratch.write("dump/notes.log", "no tensors");
}

struct Shards {
  explicit Shards(const ScratchDir& scratch, uint32_t count, bool resume = false) {
    for (uint32_t i = 1; i <= count; ++i) {
      KeptFacts part;
      ConvertOptions options;
      options.out = scratch.file("out");
      options.shard = Shard{i, count};
      options.resume = resume;
      const ConvertRun run = run_convert({scratch.file("dump")}, options, {.facts = &part});
      CHECK(run.rows.empty());  // they are told by the merge
      CHECK(run.failures.empty());
      CHECK(run.summary.units == 5);
      units += run.summary.own_units;
      known.add(part);
    }
  }

  int64_t units = 0;
  Known known;
};

}  // namespace

TEST_CASE("Shards convert each input once, and the run over their outcomes says what one run says") {
  const ScratchDir scratch;
  write_dump(scratch);
  ConvertOptions options;
  options.out = scratch.file("whole");
  const ConvertRun whole = run_convert({scratch.file("dump")}, options);
  for (const uint32_t count : {1U, 2U, 7U}) {
    Shards shards(scratch, count);
    CHECK(shards.units == 5);
    CHECK(shards.known.size() == 5);
    CHECK(files_below(scratch.file("out")) == files_below(scratch.file("whole")));
    options.out = scratch.file("out");
    const ConvertRun merged = run_convert({scratch.file("dump")}, options, {.facts = &shards.known});
    CHECK(merged.transcript() == whole.transcript());
    CHECK(merged.summary.failed == 1);
  }
}

TEST_CASE("Shards that were interrupted and resumed merge to what one run says") {
  const ScratchDir scratch;
  write_dump(scratch);
  ConvertOptions options;
  options.out = scratch.file("whole");
  const ConvertRun whole = run_convert({scratch.file("dump")}, options);
  { const Shards interrupted(scratch, 2); }  // their arrays stay, their outcomes are lost
  std::filesystem::remove(scratch.file("out/Add.b.1.2.1700000000000000.output.0.npy"));
  const Shards resumed(scratch, 2, true);
  options.out = scratch.file("out");
  Known known = resumed.known;
  CHECK(run_convert({scratch.file("dump")}, options, {.facts = &known}).transcript() == whole.transcript());
  CHECK(files_below(scratch.file("out")) == files_below(scratch.file("whole")));
}

TEST_CASE("An input that no part knows is a failure, and is not converted") {
  const ScratchDir scratch;
  write_dump(scratch);
  Shards shards(scratch, 2);
  shards.known.remove(0);
  std::filesystem::remove_all(scratch.path() / "out");
  ConvertOptions options;
  options.out = scratch.file("out");
  const ConvertRun merged = run_convert({scratch.file("dump")}, options, {.facts = &shards.known});
  REQUIRE(merged.failures.size() == 2);
  CHECK(merged.failures[0].path.ends_with("Add.a.1.2.1700000000000000"));
  CHECK(merged.failures[0].message == "no part says what became of it");
  CHECK(files_below(scratch.file("out")).empty());
}

TEST_CASE("A name that two inputs share belongs to the first of them, whichever shards they are in") {
  const ScratchDir scratch;
  TensorSpec output = output_of(DType::kFloat32, Format::kND, {2}, Dims{2});
  for (const char* const net : {"net1", "net2", "net3"}) {
    output.data = std::string(8, net[3]);
    scratch.write(fmt::format("dump/Add.{}_Add-op1.1.2.1700000000000000", net),
                  build_dump({.op_name = fmt::format("{}/Add-op1", net), .tensors = {output}}));
  }
  ConvertOptions options;
  options.type = OutputType::kMsnpy;
  options.out = scratch.file("whole");
  (void)run_convert({scratch.file("dump")}, options);
  options.out = scratch.file("out");
  for (uint32_t i = 3; i >= 1; --i) {
    KeptFacts part;
    options.shard = Shard{i, 3};
    (void)run_convert({scratch.file("dump")}, options, {.facts = &part});
  }
  CHECK(files_below(scratch.file("out")) == files_below(scratch.file("whole")));
}

TEST_CASE("All that became of a file comes back") {
  FileOutcome outcome;
  outcome.path = "p";
  outcome.not_a_dump = outcome.interrupted = true;
  ConvertRow row;
  row.input = "i", row.tensor = "t", row.output = "o", row.from_format = "f", row.to_format = "g", row.dtype = "d";
  row.npy_dtype = "n", row.shape = Shape{1, 2}, row.policy = PlanPolicy::kRaw, row.status = ConvertStatus::kSkipped;
  outcome.rows = {row, ConvertRow()};
  outcome.failures.push_back(make_error(ErrorCode::kTooLarge, "large"));
  outcome.warnings = {{"a", "b"}};
  outcome.long_names = {{"c", "d", "e"}};
  outcome.bytes_in = 3, outcome.bytes_out = 4;
  const auto read = decode_result<FileOutcome>(encode_result(Result<FileOutcome>(outcome)));
  REQUIRE(read);
  CHECK(read->path == "p");
  CHECK(read->not_a_dump);
  CHECK(read->interrupted);
  REQUIRE(read->rows.size() == 2);
  const ConvertRow& one = read->rows[0];
  CHECK(std::tie(one.input, one.tensor, one.output, one.from_format, one.to_format, one.dtype, one.npy_dtype) ==
        std::tie(row.input, row.tensor, row.output, row.from_format, row.to_format, row.dtype, row.npy_dtype));
  CHECK(one.shape == row.shape);
  CHECK(one.policy == row.policy);
  CHECK(one.status == row.status);
  CHECK_FALSE(read->rows[1].output);
  CHECK(read->failures.at(0).code == ErrorCode::kTooLarge);
  CHECK(read->warnings.at(0).text == "b");
  CHECK(read->long_names.at(0).mapped == "d");
  CHECK(read->long_names.at(0).original == "e");
  CHECK(read->bytes_in == 3);
  CHECK(read->bytes_out == 4);
}
