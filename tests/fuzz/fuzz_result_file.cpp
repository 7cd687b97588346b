// Any bytes as results of msprobe's tools, as a table and as JSON.
#include "fuzz_file.h"
#include "info/results/result_file.h"

namespace {

using namespace msdump;
using fuzz::require;

template <class Read>
void check(size_t size, const Read& read) {
  int64_t bad = 0, all = 0;
  const Result<ResultFile> result = read([&](const ResultRow& row) {
    ++all;
    bad += row.verdict >= ResultVerdict::kWarning ? 1 : 0;
    require(!row.op_name.empty(), "a verdict is about something");
    require(row.message.find('\n') == row.message.npos && row.message.size() <= 1000, "a message is a line");
    require(row.offset < size, "the offset is inside the file");
  });
  if (!result) return fuzz::require_good_error(result.error());
  require(result->failed + result->warnings + result->skipped <= result->rows, "a row counts once");
  require(all <= 2 * result->rows, "a row has at most two verdicts");
  require(result->first_failed.has_value() == (bad > 0), "the first that failed is named");
  require(result->problems.size() <= result->problems.count(), "problems are counted");
  for (const Error& problem : result->problems) fuzz::require_good_error(problem);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::FuzzFile input(data, size);
  const File file = input.open();
  check(size, [&](const ResultVisitor& visit) { return read_result_csv(file, CancelToken(), visit); });
  check(size, [&](const ResultVisitor& visit) { return read_result_json(file, visit); });
  return 0;
}
