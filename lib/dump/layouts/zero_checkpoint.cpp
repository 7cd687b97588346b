#include "dump/layouts/zero_checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include <re2/re2.h>

#include "base/numbers.h"
#include "base/text.h"
#include "io/dir_walk.h"

namespace msdump {
namespace {

constexpr size_t kMostRanks = 16'384, kMostPartitions = 4'000'000;
constexpr std::string_view kModule = "module.";

// The elements that a rank has of a group.
struct Partition {
  uint64_t offset = 0;  // in the file
  int64_t count = 0;
};

struct Partitions {
  struct Rank {
    std::string path;
    int64_t mtime_ns = 0;
    std::vector<Partition> groups;
  };
  std::vector<Rank> ranks;
  bool of_parameters = false;  // each parameter is divided (stage 3), and not each group
  DType dtype = DType::kUndefined;

  // Elements [first, first + count) of a group of a rank, which are those from `at` on of the tensor.
  [[nodiscard]] StoredShard shard(size_t rank, size_t group, int64_t first, int64_t count, int64_t at) const {
    const auto width = static_cast<uint64_t>(info(dtype).bits / 8);
    const Partition& partition = ranks[rank].groups[group];
    return {ranks[rank].path,
            partition.offset + static_cast<uint64_t>(first) * width,
            static_cast<uint64_t>(count) * width,
            {at},
            {count},
            ranks[rank].mtime_ns};
  }
};

// Stage 3: `each` elements of each rank, from `first` on in the run of its groups; `count` of them all.
std::vector<StoredShard> ranges_of_parts(const Partitions& all, int64_t first, int64_t each, int64_t count) {
  std::vector<StoredShard> ranges;
  for (size_t rank = 0; rank < all.ranks.size(); ++rank) {
    const int64_t at = static_cast<int64_t>(rank) * each, end = first + std::min(each, count - at);
    int64_t begin = 0;
    for (size_t group = 0; group < all.ranks[rank].groups.size() && at < count; ++group) {
      const int64_t size = all.ranks[rank].groups[group].count;
      const int64_t from = std::max(first, begin), to = std::min(end, begin + size);
      if (from < to) ranges.push_back(all.shard(rank, group, from - begin, to - from, at + from - first));
      begin += size;
    }
  }
  return ranges;
}

// Stage 1 and 2: elements [first, first + count) of the run of all ranks' partitions of a group.
std::vector<StoredShard> ranges_of_group(const Partitions& all, size_t group, int64_t first, int64_t count) {
  std::vector<StoredShard> ranges;
  int64_t begin = 0;
  for (size_t rank = 0; rank < all.ranks.size(); ++rank) {
    const int64_t size = all.ranks[rank].groups[group].count;
    const int64_t from = std::max(first, begin), to = std::min(first + count, begin + size);
    if (from < to) ranges.push_back(all.shard(rank, group, from - begin, to - from, from - first));
    begin += size;
  }
  return ranges;
}

// The files of a folder that `pattern` matches, by the rank in their names, which must be 0, 1, ..
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

// Adds the partitions of one rank: the tensors of its file, in the order of the groups.
Status add_rank(const File& file, const std::vector<const torch::PtTensor*>& tensors, size_t& count, Partitions& all) {
  Partitions::Rank rank{file.path(), file.mtime_ns(), {}};
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
Status add_optim_states(const std::string& path, size_t files, size_t& count, Partitions& all) {
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

Result<Partitions> read_optim_states(const std::vector<std::string>& paths) {
  Partitions all;
  size_t count = 0;
  for (const std::string& path : paths)
    MSDUMP_CHECK_OK(in_file(add_optim_states(path, paths.size(), count, all), path));
  return all;
}

// Those of frozen_param_fragments, in the order of `shapes`.
Result<Partitions> read_fragments(const std::vector<std::string>& paths, const torch::ZeroShapes::Group& shapes) {
  Partitions all{{}, true, DType::kUndefined};
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

class Assembly {
 public:
  Assembly(std::string path, const torch::ZeroShapes& shapes, ZeroParameters& result)
      : path_(std::move(path)), shapes_(shapes), result_(result) {}

  // Each parameter is divided over the ranks; all partitions are used up.
  Status add_parts(Partitions read, const std::vector<torch::ZeroShapes::Group>& groups) {
    const auto all = std::make_shared<const Partitions>(std::move(read));
    const auto ranks = static_cast<int64_t>(all->ranks.size());
    MSDUMP_TRY(const int64_t available, elements_of(all->ranks.front()));
    for (const Partitions::Rank& rank : all->ranks) {
      MSDUMP_TRY(const int64_t own, elements_of(rank));
      if (own != available) return fail(ErrorCode::kShapeMismatch, "partitions of {} and {} elements", available, own);
    }
    int64_t first = 0;
    for (const auto& group : groups) {
      for (const auto& [name, shape] : group) {
        const auto count = element_count(shape);
        const int64_t each = !count ? 0 : *count / ranks + (*count % ranks == 0 ? 0 : 1);
        if (!count || each > available - first) return too_many(available, name);
        add(name, shape, *all,
            [all, begin = first, each, count = *count] { return ranges_of_parts(*all, begin, each, count); });
        first += each;
      }
    }
    if (first != available)
      return fail(ErrorCode::kShapeMismatch, "the parameters have {} of {} elements of a rank", first, available);
    return {};
  }

  // Each group is divided over the ranks.
  Status add_groups(Partitions read) {
    const auto all = std::make_shared<const Partitions>(std::move(read));
    if (shapes_.groups.size() != all->ranks.front().groups.size())
      return fail(ErrorCode::kShapeMismatch, "{} groups and partitions of {}", shapes_.groups.size(),
                  all->ranks.front().groups.size());
    for (size_t group = 0; group < shapes_.groups.size(); ++group) {
      int64_t available = 0, first = 0;
      for (const Partitions::Rank& rank : all->ranks) {
        const auto sum = checked_add(available, rank.groups[group].count);
        if (!sum) return fail(ErrorCode::kTooLarge, "too many elements");
        available = *sum;
      }
      for (const auto& [name, shape] : shapes_.groups[group]) {
        const auto count = element_count(shape);
        if (!count || *count > available - first) return too_many(available, name);
        add(name, shape, *all,
            [all, group, begin = first, count = *count] { return ranges_of_group(*all, group, begin, count); });
        first += *count;
      }
      if (available - first >= 2 * static_cast<int64_t>(all->ranks.size()))
        return fail(ErrorCode::kShapeMismatch, "the parameters have {} of {} elements of a group", first, available);
    }
    return {};
  }

  // All parameters of stage 3 lack their values.
  void set_problem(const Error& why) {
    const auto add_all = [&](const torch::ZeroShapes::Group& group) {
      for (const auto& [name, shape] : group) {
        StoredTensor stored = described(name, shape, DType::kFloat32);
        stored.problem = why;
        stored.problem->path = path_;
        if (!why.path.empty() && why.path != path_)
          stored.problem->message = why.path.substr(why.path.rfind('/') + 1) + ": " + why.message;
        stored.problem->tensor = stored.op_name;
        result_.by_name.insert_or_assign(stored.op_name, std::move(stored));
      }
    };
    for (const auto& group : shapes_.groups) add_all(group);
    add_all(shapes_.frozen);
  }

  // Parameters that several modules share have one of the names.
  void add_aliases() {
    for (const auto& [alias, name] : shapes_.shared) {
      const auto found = result_.by_name.find(name);
      if (found == result_.by_name.end()) continue;
      StoredTensor same = found->second;
      same.op_name = alias;
      if (same.problem) same.problem->tensor = same.op_name;
      result_.by_name.try_emplace(same.op_name, std::move(same));
    }
  }

 private:
  static Result<int64_t> elements_of(const Partitions::Rank& rank) {
    int64_t all = 0;
    for (const Partition& partition : rank.groups) {
      const auto sum = checked_add(all, partition.count);
      if (!sum) return fail(ErrorCode::kTooLarge, "too many elements");
      all = *sum;
    }
    return all;
  }

  static tl::unexpected<Error> too_many(int64_t available, std::string_view name) {
    return fail(ErrorCode::kShapeMismatch, "the partitions end before {}, after {} elements", excerpt(name), available);
  }

  [[nodiscard]] StoredTensor described(const std::string& name, const Shape& shape, DType dtype) const {
    StoredTensor stored;
    stored.io = Io::kParameter;
    stored.slot = "0";
    stored.op_name = name;
    stored.request.dtype = dtype;
    stored.request.shape = shape;
    stored.request.format_number = static_cast<int64_t>(Format::kND);
    stored.bytes = stored.request.bytes = bytes_of(dtype, element_count(shape).value_or(0)).value_or(0);
    return stored;
  }

  void add(const std::string& name, const Shape& shape, const Partitions& all,
           std::function<std::vector<StoredShard>()> ranges) {
    StoredTensor stored = described(name, shape, all.dtype);
    stored.ranges = std::move(ranges);
    result_.by_name.insert_or_assign(stored.op_name, std::move(stored));
  }

  const std::string path_;
  const torch::ZeroShapes& shapes_;
  ZeroParameters& result_;
};

Error without_parameters(Error why, const std::string& path) {
  why.message = "no float32 parameters of DeepSpeed's ZeRO: " + why.message;
  if (why.path.empty()) why.path = path;
  why.tensor.clear();
  why.hint = "the parameters of the model itself are there as module.NAME";
  return why;
}

}  // namespace

std::optional<ZeroModelFile> parse_zero_model_file(std::string_view name) {
  static const re2::RE2 kName(R"((?:zero_pp_rank_(\d+)_)?mp_rank_(\d+)_model_states\.pt)");
  re2::StringPiece rank, model_rank;
  if (!re2::RE2::FullMatch(re2::StringPiece(name.data(), name.size()), kName, &rank, &model_rank)) return std::nullopt;
  return ZeroModelFile{{model_rank.data(), model_rank.size()}, parse_i64({rank.data(), rank.size()})};
}

std::optional<std::string_view> zero3_placeholder_of(const ZeroModelFile& file, const torch::PtTensor& tensor) {
  if (!file.rank || !tensor.key.starts_with(kModule) || tensor.shape != Shape{0} || tensor.problem) return std::nullopt;
  return std::string_view(tensor.key).substr(kModule.size());
}

ZeroParameters zero_parameters(const std::string& path, const ZeroModelFile& file, const torch::ZeroShapes& shapes) {
  ZeroParameters result;
  if (shapes.groups.empty()) return result;
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  const std::string of_model = "_mp_rank_" + std::string(file.model_rank);
  if (file.rank.value_or(0) > 0) {
    result.are_elsewhere = !is_missing(join_path(folder, "zero_pp_rank_0" + of_model + "_model_states.pt"));
    return result;
  }
  Assembly assembly(path, shapes, result);
  const auto assemble = [&]() -> Status {
    MSDUMP_TRY(const auto paths,
               files_of_ranks(folder, R"((?:bf16_|fp16_)?zero_pp_rank_(\d+))" + of_model + R"(_optim_states\.pt)"));
    if (paths.empty()) return {};
    MSDUMP_TRY(Partitions all, read_optim_states(paths));
    if (all.of_parameters != file.rank.has_value())
      return fail(ErrorCode::kBadHeader, "model_states and optim_states are of different stages of ZeRO");
    if (!all.of_parameters) return assembly.add_groups(std::move(all));
    const size_t ranks = all.ranks.size();
    MSDUMP_CHECK_OK(assembly.add_parts(std::move(all), shapes.groups));
    if (shapes.frozen.empty()) return {};
    MSDUMP_TRY(const auto models, files_of_ranks(folder, R"(zero_pp_rank_(\d+))" + of_model + R"(_model_states\.pt)"));
    if (models.size() != ranks)
      return fail(ErrorCode::kNotFound, "{} ranks have optim_states, and {} model_states", ranks, models.size());
    MSDUMP_TRY(Partitions fragments, read_fragments(models, shapes.frozen));
    return assembly.add_parts(std::move(fragments), {shapes.frozen});
  };
  if (Status status = assemble(); !status) {
    result.by_name.clear();
    if (file.rank) {
      assembly.set_problem(status.error());
    } else {
      result.problem = without_parameters(std::move(status).error(), path);
    }
  }
  assembly.add_aliases();
  return result;
}

}  // namespace msdump
