#include "dump/layout.h"

#include <utility>
#include <vector>

#include "base/text.h"

namespace msdump {
namespace {

using Parts = std::vector<std::string_view>;

std::optional<int64_t> number_behind(std::string_view part, std::string_view prefix) {
  if (!part.starts_with(prefix) || !is_digits(part.substr(prefix.size()))) return std::nullopt;
  return parse_i64(part.substr(prefix.size()));
}

std::optional<int64_t> number_at(const Parts& parts, size_t index) {
  if (index >= parts.size() || !is_digits(parts[index])) return std::nullopt;
  return parse_i64(parts[index]);
}

bool is_time(std::string_view part) { return part.size() == 14 && is_digits(part); }

// rank_R/net/G/S or device_R/...
void identify_under_rank(const Parts& parts, size_t rank_at, FolderIdentity& identity) {
  if (rank_at + 1 < parts.size()) {
    if (const auto step = number_behind(parts[rank_at + 1], "iteration_")) {
      identity.step = step;
      return;
    }
    if (parts[rank_at + 1] == "debug_files") {
      identity.step = number_at(parts, rank_at + 2);
      return;
    }
  }
  if (rank_at + 2 < parts.size()) {
    if (const auto step = number_behind(parts[rank_at + 2], "step_")) {
      identity.step = step;
      return;
    }
  }
  identity.graph = number_at(parts, rank_at + 2);
  if (identity.graph) identity.step = number_at(parts, rank_at + 3);
}

// TIME/R[/model]/G/S; in an ACL dump the step stands before TIME, and the last number repeats it or counts runs.
void identify_under_time(const Parts& parts, size_t time_at, FolderIdentity& identity) {
  identity.rank = number_at(parts, time_at + 1);
  if (!identity.rank) return;
  const bool has_model = time_at + 2 < parts.size() && !is_digits(parts[time_at + 2]);
  const size_t graph_at = time_at + (has_model ? 3 : 2);
  identity.graph = number_at(parts, graph_at);
  identity.step = number_at(parts, graph_at + 1);
  if (identity.graph && !identity.step && !has_model) std::swap(identity.graph, identity.step);  // jit_level O0
  if (time_at > 0 && is_digits(parts[time_at - 1])) identity.step = number_at(parts, time_at - 1);
}

}  // namespace

FolderIdentity identify_folder(std::string_view folder) {
  FolderIdentity identity;
  Parts parts;
  for (const std::string_view part : split(folder, '/')) {
    if (!part.empty() && part != ".") parts.push_back(part);
  }
  // From the inside out: the nearest folder that says something wins.
  for (size_t i = parts.size(); i-- > 0;) {
    for (const std::string_view prefix : {"rank_", "device_"}) {
      if (const auto rank = number_behind(parts[i], prefix)) {
        identity.rank = rank;
        identify_under_rank(parts, i, identity);
        return identity;
      }
    }
    if (const auto rank = number_behind(parts[i], "rank"); rank && i > 0) {
      if (const auto step = number_behind(parts[i - 1], "step")) return {rank, std::nullopt, step};
    }
    // Below a rank_R stands a time of msprobe's, which says nothing.
    if (is_time(parts[i])) {
      identify_under_time(parts, i, identity);
      if (identity.rank) return identity;
    }
  }
  // The CPU of 1.2 has no device folder.
  for (size_t i = parts.size(); i-- > 0;) {
    if (const auto step = number_behind(parts[i], "iteration_")) return {std::nullopt, std::nullopt, step};
  }
  return identity;
}

}  // namespace msdump
