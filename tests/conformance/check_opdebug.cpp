// The overflow records of corpus/layouts, as MindSpore, msaccucmp and CANN's documentation print them: each is decoded,
// and joined to the operator with its task and stream.
#include <algorithm>

#include <fmt/format.h>

#include "io/json.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/program/run_program.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

struct Expected {
  int64_t task = 0, stream = 0, status = 0;
};

Expected expected_of(const JsonValue& section) {
  return {section.find("task_id")->as_int().value(), section.find("stream_id")->as_int().value(),
          section.find("status")->as_int().value()};
}

// The one section that was hit.
Expected expected_of_record(const JsonValue& record) {
  if (const JsonValue* const list = record.find("acc_list")) return expected_of(*list->find("data"));
  for (const JsonMember& member : record.members) {
    if (member.value.find("status")->as_int() != 0) return expected_of(member.value);
  }
  FAIL("no section was hit");
  return {};
}

std::vector<fs::path> records_of(const fs::path& corpus) {
  std::vector<fs::path> records;
  for (const fs::path& folder : {corpus / "examples", corpus / "real" / "opdebug"}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".json") && (name.starts_with("Opdebug.") || folder.filename() == "opdebug"))
        records.push_back(entry.path());
    }
  }
  std::sort(records.begin(), records.end());
  return records;
}

}  // namespace

TEST_CASE("overflow records are decoded and joined to the operator with their task and stream") {
  const auto corpus = corpus_or_skip("layouts");
  if (!corpus) return;
  const std::vector<fs::path> records = records_of(*corpus);
  CHECK(records.size() >= 3);
  for (const fs::path& file : records) {
    INFO(file.filename().string());
    const std::string text = read_bytes(file);
    const auto record = parse_json(text);
    REQUIRE(record);
    const Expected expected = expected_of_record(*record);
    const ScratchDir scratch;
    const fs::path step = scratch.make_dir("rank_0/Net/0/0");
    write_bytes(step / "Opdebug.Node_OpDebug.9001.9002.1600000000000005.output.0.json", text);
    for (const int64_t task : {expected.task + 1, expected.task}) {
      const std::string name =
          fmt::format("Mul.Default_Mul-op{}.{}.{}.1600000000000001.output.0.DefaultFormat.float32.npy", task, task,
                      expected.stream);
      write_bytes(step / name, npy_of("<f4", Shape{2}, std::string(8, '\0')));
    }
    const cli::Outcome outcome = cli::run_program({"check", "--json", scratch.path().string()});
    CHECK(outcome.code == cli::ExitCode::kNo);
    const auto document = parse_json(outcome.out);
    REQUIRE(document);
    const auto& rows = document->find("rows")->items;
    const auto is_overflow = [](const JsonValue& row) { return row.find("kind")->text == "operator_overflow"; };
    CHECK(std::count_if(rows.begin(), rows.end(), is_overflow) == 1);
    const auto row = std::find_if(rows.begin(), rows.end(), is_overflow);
    REQUIRE(row != rows.end());
    CHECK(row->find("value")->as_int() == expected.status);
    CHECK(row->find("op_name")->text == fmt::format("Default_Mul-op{}", expected.task));
    CHECK(document->find("first")->find("kind")->text == "overflow");
  }
}
