#include "support/statistics_run.h"

#include <utility>

#include "base/text.h"
#include "support/must.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

namespace msdump::test {

namespace fs = std::filesystem;

std::vector<StatisticColumn> StatisticsRequest::all_columns() {
  std::vector<StatisticColumn> columns;
  for (const StatisticColumnInfo& one : all_statistic_columns()) columns.push_back(one.column);
  return columns;
}

ListedDump list_dump(const std::vector<fs::path>& paths, Headers headers, unsigned jobs,
                     const SelectionOptions& selection) {
  std::vector<std::string> names;
  for (const fs::path& path : paths) names.push_back(path.string());
  DumpIndex index = must(DumpIndex::build(names, {}));
  const Selection compiled = must(Selection::compile(selection));
  WorkerPool pool(jobs);
  const CancelToken never;
  TensorList list = must(TensorList::read(index, compiled, {headers}, {pool, never}));
  return {std::move(index), std::move(list)};
}

std::vector<Result<TensorNumbers>> compute_statistics(const ListedDump& dump, const StatisticsRequest& request) {
  std::vector<stats::ComputeItem> items;
  for (const TensorRecord& tensor : dump.tensors()) items.push_back({&tensor});
  const stats::ComputeOptions options{request.dialect, request.arch, request.exact, stats::wanted_for(request.columns)};
  WorkerPool pool(request.jobs);
  const CancelToken never;
  std::vector<Result<TensorNumbers>> results;
  stats::compute(dump.index, items, options, {pool, never}, [&](size_t item, Result<TensorNumbers>&& result) {
    if (item != results.size()) fail("statistics out of order");
    results.push_back(std::move(result));
  });
  if (results.size() != items.size()) fail("statistics are missing");
  return results;
}

std::string statistic_csv(const ListedDump& dump, const StatisticsRequest& request) {
  const auto results = compute_statistics(dump, request);
  const stats::TextStyle style{request.dialect, request.columns, request.exact};
  std::string text;
  for (const stats::StatisticDirectory& directory : stats::statistic_directories(dump.index, dump.tensors())) {
    text += stats::header_line(style);
    for (const size_t i : directory.tensors) {
      if (results[i]) text += stats::row_line(style, dump.index, dump.tensors()[i], *results[i]);
    }
  }
  return text;
}

std::string statistic_csv(const fs::path& path, const StatisticsRequest& request) {
  return statistic_csv(list_dump({path}, request.headers, request.jobs), request);
}

TensorNumbers statistics_of(std::string_view descr, const Shape& shape, std::string_view data,
                            const StatisticsRequest& request) {
  const ScratchDir scratch;
  scratch.write("array.npy", npy_of(descr, shape, data));
  const ListedDump dump = list_dump({scratch.path()}, request.headers);
  if (dump.tensors().size() != 1) fail("not one tensor");
  auto results = compute_statistics(dump, request);
  return must(std::move(results[0]));
}

std::string npy_of(std::string_view descr, const Shape& shape, std::string_view data) {
  NpySpec spec;
  spec.literal = npy_literal(descr, "(" + join_dims(shape, ",") + (shape.empty() ? ")" : ",)"));
  spec.data = data;
  return build_npy(spec);
}

std::array<std::optional<StatisticNumber>, kExtrema> numbers_of(double max, double min, double mean, double norm) {
  return {StatisticNumber{max}, StatisticNumber{min}, StatisticNumber{mean}, StatisticNumber{norm}};
}

std::string checksum_of(const TensorNumbers& numbers, ChecksumKind kind) {
  const Checksum* const checksum = numbers.find(kind);
  return checksum == nullptr ? "" : checksum->text;
}

}  // namespace msdump::test
