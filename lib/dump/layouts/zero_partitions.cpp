#include "dump/layouts/zero_partitions.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <re2/re2.h>

#include "base/text.h"
#include "io/dir_walk.h"
#include "io/file.h"
#include "torch/pt_file.h"

namespace msdump {
namespace {

constexpr size_t kMostRanks = 16'384, kMostPartitions = 4'000'000;

// Adds the partitions of one rank: the tensors of its file, in the order of the groups.
Status add_rank(const File& file, const std::vector<const torch::PtTensor*>& tensors, size_t& count,
                ZeroPartitions& all) {
  ZeroPartitions::Rank rank{file.path(), file.mtime_ns(), {}};
  count += tensors.size();
  if (count > kMostPartitions) return fail(ErrorCode::kTooLarge, "more than {} partitions", kMostPartitions);
  for (const torch::PtTensor* const tensor : tensors) {
    if (tensor->problem) return fail(*tensor->problem);
    if (all.dtype == DType::kUndefined) all.dtype = tensor->dtype;
    if (tensor->dtype != all.dtype || tensor->big_endian || info(tensor->dtype).bits < 8)
      return fail(ErrorCode::kUnsupportedDtype, "partitions of {}, or of several dtypes", name_of(tensor->dtype));
    rank.groups.push_back({tensor->offset, element_count(tensor->shape).value_or(0)});
  }
  const bool is_alike = all.ranks.empty() || all.ranks.front().groups.size() == rank.groups.size();
  if (!is_alike) return fail(ErrorCode::kBadHeader, "the ranks have partitions of different groups");
  all.ranks.push_back(std::move(rank));
  return {};
}

// The tensors PREFIX0, PREFIX1, .. of a file.
std::vector<const torch::PtTensor*> numbered(const torch::PtFile& file, std::string_view prefix) {
  std::vector<const torch::PtTensor*> tensors;
  for (const torch::PtTensor& tensor : file.tensors) {
    if (tensor.key == std::string(prefix) + std::to_string(tensors.size())) tensors.push_back(&tensor);
  }
  return tensors;
}

// Adds the partitions of the rank whose file this is; `files`: how many there are.
Status add_optim_states(const std::string& path, size_t files, size_t& count, ZeroPartitions& all) {
  MSDUMP_TRY(const File file, File::open(path));
  std::optional<int64_t> ranks;
  MSDUMP_TRY(const torch::PtFile found,
             torch::read_pt(file, [&](const torch::Pickle& pickle) { ranks = torch::zero_ranks_of(pickle); }));
  auto tensors = numbered(found, "optimizer_state_dict.fp32_flat_groups.");
  const bool of_parameters = !tensors.empty();
  if (!of_parameters) tensors = numbered(found, "optimizer_state_dict.single_partition_of_fp32_groups.");
  if (tensors.empty()) return fail(ErrorCode::kBadHeader, "no partitions of parameters");
  if (ranks && *ranks != static_cast<int64_t>(files))
    return fail(ErrorCode::kNotFound, "expected the optim_states of {} ranks, found those of {}", *ranks, files);
  if (!all.ranks.empty() && of_parameters != all.of_parameters)
    return fail(ErrorCode::kBadHeader, "the ranks have partitions of different stages");
  all.of_parameters = of_parameters;
  return add_rank(file, tensors, count, all);
}

}  // namespace

// Elements [first, first + count) of a group of a rank, which are those from `at` on of the tensor.
StoredShard ZeroPartitions::shard(size_t rank, size_t group, int64_t first, int64_t count, int64_t at) const {
  const auto width = static_cast<uint64_t>(info(dtype).bits / 8);
  const Partition& partition = ranks[rank].groups[group];
  return {ranks[rank].path,
          partition.offset + static_cast<uint64_t>(first) * width,
          static_cast<uint64_t>(count) * width,
          {at},
          {count},
          ranks[rank].mtime_ns};
}

std::vector<StoredShard> ZeroPartitions::ranges_of_parts(int64_t first, int64_t each, int64_t count) const {
  std::vector<StoredShard> ranges;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const int64_t at = static_cast<int64_t>(rank) * each, end = first + std::min(each, count - at);
    int64_t begin = 0;
    for (size_t group = 0; group < ranks[rank].groups.size() && at < count; ++group) {
      const int64_t size = ranks[rank].groups[group].count;
      const int64_t from = std::max(first, begin), to = std::min(end, begin + size);
      if (from < to) ranges.push_back(shard(rank, group, from - begin, to - from, at + from - first));
      begin += size;
    }
  }
  return ranges;
}

std::vector<StoredShard> ZeroPartitions::ranges_of_group(size_t group, int64_t first, int64_t count) const {
  std::vector<StoredShard> ranges;
  int64_t begin = 0;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const int64_t size = ranks[rank].groups[group].count;
    const int64_t from = std::max(first, begin), to = std::min(first + count, begin + size);
    if (from < to) ranges.push_back(shard(rank, group, from - begin, to - from, from - first));
    begin += size;
  }
  return ranges;
}

Result<std::vector<std::string>> files_of_ranks(const std::string& folder, const std::string& pattern) {
  const re2::RE2 name_of_file(pattern);
  std::map<int64_t, std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    int64_t rank = 0;
    if (!re2::RE2::FullMatch(name, name_of_file, &rank)) continue;
    if (!found.try_emplace(rank, name).second)
      return fail(ErrorCode::kBadHeader, "{} and {} are of one rank", excerpt(found[rank]), excerpt(name));
    if (found.size() > kMostRanks) return fail(ErrorCode::kTooLarge, "more than {} ranks", kMostRanks);
  }
  std::vector<std::string> paths;
  for (const auto& [rank, name] : found) {
    if (rank != static_cast<int64_t>(paths.size()))
      return fail(ErrorCode::kNotFound, "the partition of rank {} is missing", paths.size());
    paths.push_back(join_path(folder, name));
  }
  return paths;
}

Result<ZeroPartitions> read_optim_states(const std::vector<std::string>& paths) {
  ZeroPartitions all;
  size_t count = 0;
  for (const std::string& path : paths)
    MSDUMP_CHECK_OK(in_file(add_optim_states(path, paths.size(), count, all), path));
  return all;
}

Result<ZeroPartitions> read_fragments(const std::vector<std::string>& paths, const torch::ZeroShapes::Group& shapes) {
  ZeroPartitions all{{}, true, DType::kUndefined};
  size_t count = 0;
  for (const std::string& path : paths) {
    MSDUMP_TRY(const File file, File::open(path));
    MSDUMP_TRY(const torch::PtFile found, torch::read_pt(file));
    std::map<std::string_view, const torch::PtTensor*> by_key;
    for (const torch::PtTensor& tensor : found.tensors) by_key.try_emplace(tensor.key, &tensor);
    std::vector<const torch::PtTensor*> tensors;
    for (const auto& [name, shape] : shapes) {
      const auto fragment = by_key.find("frozen_param_fragments." + name);
      if (fragment == by_key.end())
        return fail(make_error(ErrorCode::kNotFound, "no fragment of {}", excerpt(name)).with_path(path));
      tensors.push_back(fragment->second);
    }
    MSDUMP_CHECK_OK(in_file(add_rank(file, tensors, count, all), path));
  }
  return all;
}

}  // namespace msdump
