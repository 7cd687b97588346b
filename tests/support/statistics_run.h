// Statistics of everything below some paths, made as msdump stats makes them, for tests to look at.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dump/index/dump_index.h"
#include "dump/index/tensor_list.h"
#include "stats/compute.h"
#include "stats/statistic_files.h"

namespace msdump::test {

struct StatisticsRequest {
  const stats::Dialect* dialect = &stats::newest_dialect();
  std::vector<StatisticColumn> columns = all_columns();
  stats::HostArch arch = stats::HostArch::kX86;
  bool exact = false;
  unsigned jobs = 2;  // several: what two threads disturb is for the thread sanitizer to see
  Headers headers = Headers::kWhereNeeded;

  static std::vector<StatisticColumn> all_columns();
};

// What a dump holds. Texts of the records live as long as this does.
struct ListedDump {
  DumpIndex index;
  TensorList list;

  [[nodiscard]] const std::vector<TensorRecord>& tensors() const { return list.tensors(); }
};
// The checks of Catch2 fail when there is nothing to list.
[[nodiscard]] ListedDump list_dump(const std::vector<std::filesystem::path>& paths, Headers headers = Headers::kAll,
                                   unsigned jobs = 2, const SelectionOptions& selection = {});

// By place in `tensors()`; an error for tensors without elements.
[[nodiscard]] std::vector<Result<TensorNumbers>> compute_statistics(const ListedDump& dump,
                                                                    const StatisticsRequest& request);

// All directories one after the other, each with its header; tensors that failed have no row.
[[nodiscard]] std::string statistic_csv(const ListedDump& dump, const StatisticsRequest& request);
// The same for a scratch directory.
[[nodiscard]] std::string statistic_csv(const std::filesystem::path& path, const StatisticsRequest& request);

// The statistics of one array, through a file.
[[nodiscard]] TensorNumbers statistics_of(std::string_view descr, const Shape& shape, std::string_view data,
                                          const StatisticsRequest& request);
template <class T>
[[nodiscard]] TensorNumbers statistics_of(std::string_view descr, const std::vector<T>& values,
                                          const StatisticsRequest& request) {
  return statistics_of(descr, {static_cast<int64_t>(values.size())},
                       {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)}, request);
}

[[nodiscard]] std::array<std::optional<StatisticNumber>, kExtrema> numbers_of(double max, double min, double mean,
                                                                              double norm);
[[nodiscard]] std::string checksum_of(const TensorNumbers& numbers, ChecksumKind kind);  // "" if it has none

// An .npy as numpy writes it; `descr` "<f4", "<E2", ...
[[nodiscard]] std::string npy_of(std::string_view descr, const Shape& shape, std::string_view data);

}  // namespace msdump::test
