#include "dump/index/stated_ranks.h"

#include "io/file.h"
#include "torch/dtensor.h"
#include "torch/pt_file.h"

namespace msdump {
namespace {

std::optional<int64_t> rank_of_file(const std::string& path) {
  const auto file = File::open(path);
  if (!file) return std::nullopt;
  std::optional<int64_t> rank;
  const auto read = torch::read_pt(*file, [&](const torch::Pickle& pickle) { rank = torch::rank_of_meshes(pickle); });
  return read ? rank : std::nullopt;
}

}  // namespace

std::vector<std::optional<int64_t>> ranks_of_files(std::span<const std::string> paths) {
  constexpr size_t kLookedAt = 8;
  std::vector<std::optional<int64_t>> ranks(paths.size());
  bool any = false;
  for (size_t i = 0; i < paths.size() && (any || i < kLookedAt); ++i) {
    ranks[i] = rank_of_file(paths[i]);
    any = any || ranks[i].has_value();
  }
  return ranks;
}

}  // namespace msdump
