#include "dump/layouts/zero_checkpoint.h"

#include <memory>
#include <utility>

#include <re2/re2.h>

#include "base/numbers.h"
#include "base/text.h"
#include "dump/layouts/zero_partitions.h"
#include "io/dir_walk.h"

namespace msdump {
namespace {

constexpr std::string_view kModule = "module.";

class Assembly {
 public:
  Assembly(std::string path, const torch::ZeroShapes& shapes, ZeroParameters& result)
      : path_(std::move(path)), shapes_(shapes), result_(result) {}

  // Each parameter is divided over the ranks; all partitions are used up.
  Status add_parts(ZeroPartitions read, const std::vector<torch::ZeroShapes::Group>& groups) {
    const auto all = std::make_shared<const ZeroPartitions>(std::move(read));
    const auto ranks = static_cast<int64_t>(all->ranks.size());
    MSDUMP_TRY(const int64_t available, elements_of(all->ranks.front()));
    for (const ZeroPartitions::Rank& rank : all->ranks) {
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
            [all, begin = first, each, count = *count] { return all->ranges_of_parts(begin, each, count); });
        first += each;
      }
    }
    if (first != available)
      return fail(ErrorCode::kShapeMismatch, "the parameters have {} of {} elements of a rank", first, available);
    return {};
  }

  // Each group is divided over the ranks.
  Status add_groups(ZeroPartitions read) {
    const auto all = std::make_shared<const ZeroPartitions>(std::move(read));
    if (shapes_.groups.size() != all->ranks.front().groups.size())
      return fail(ErrorCode::kShapeMismatch, "{} groups and partitions of {}", shapes_.groups.size(),
                  all->ranks.front().groups.size());
    for (size_t group = 0; group < shapes_.groups.size(); ++group) {
      int64_t available = 0, first = 0;
      for (const ZeroPartitions::Rank& rank : all->ranks) {
        const auto sum = checked_add(available, rank.groups[group].count);
        if (!sum) return fail(ErrorCode::kTooLarge, "too many elements");
        available = *sum;
      }
      for (const auto& [name, shape] : shapes_.groups[group]) {
        const auto count = element_count(shape);
        if (!count || *count > available - first) return too_many(available, name);
        add(name, shape, *all,
            [all, group, begin = first, count = *count] { return all->ranges_of_group(group, begin, count); });
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
  static Result<int64_t> elements_of(const ZeroPartitions::Rank& rank) {
    int64_t all = 0;
    for (const ZeroPartitions::Partition& partition : rank.groups) {
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

  void add(const std::string& name, const Shape& shape, const ZeroPartitions& all,
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
    MSDUMP_TRY(ZeroPartitions all, read_optim_states(paths));
    if (all.of_parameters != file.rank.has_value())
      return fail(ErrorCode::kBadHeader, "model_states and optim_states are of different stages of ZeRO");
    if (!all.of_parameters) return assembly.add_groups(std::move(all));
    const size_t ranks = all.ranks.size();
    MSDUMP_CHECK_OK(assembly.add_parts(std::move(all), shapes.groups));
    if (shapes.frozen.empty()) return {};
    MSDUMP_TRY(const auto models, files_of_ranks(folder, R"(zero_pp_rank_(\d+))" + of_model + R"(_model_states\.pt)"));
    if (models.size() != ranks)
      return fail(ErrorCode::kNotFound, "{} ranks have optim_states, and {} model_states", ranks, models.size());
    MSDUMP_TRY(ZeroPartitions fragments, read_fragments(models, shapes.frozen));
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
