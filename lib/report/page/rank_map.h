// RankMap: the error of the ranks of a distributed run by layer, on the page of --report. Ranks whose layers agree and
// differ alike are of one kind and share a row, so that a thousand ranks fit on a screen.
//
// A rank leaves the others in a layer if its error there counts as a difference and is more than ten times the median of
// all ranks. The page names those that do so in the first such layer.
//
// Bounds: kMostRankKinds rows, the last one of all other ranks, and kMostRankLayers columns, which stand for several layers
// each if there are more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msdump::report {

inline constexpr size_t kMostRankKinds = 24, kMostRankLayers = 64;

// A tensor of a rank.
struct RankPoint {
  uint32_t layer = 0, rank = 0;  // places in RankMap::layers and ranks
  uint8_t style = 0;             // place in RankMap::styles
  bool differs = false;
  double error = 0;  // NaN: unknown
};

struct RankMap {
  std::vector<std::string> layers;       // in the order of execution
  std::vector<int64_t> ranks;            // ascending
  std::vector<std::string_view> styles;  // of page.css; the worst last
  std::vector<RankPoint> points;
};

struct LeavingRanks {
  std::vector<int64_t> ranks;
  uint32_t layer = 0;            // place in RankMap::layers
  double error = 0, median = 0;  // the largest of these ranks, and the median of all
  bool operator==(const LeavingRanks&) const = default;
};
// Needs three ranks with a known error in the layer.
[[nodiscard]] std::optional<LeavingRanks> first_to_leave(const RankMap& map);

// A section with the map and a table of the kinds.
[[nodiscard]] std::string rank_map_html(const RankMap& map);

}  // namespace msdump::report
