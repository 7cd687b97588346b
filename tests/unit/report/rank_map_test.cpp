#include "report/page/rank_map.h"

#include <cmath>
#include <limits>
#include <string>

#include "support/catch.h"

namespace msdump::report {
namespace {

// `layers` of `ranks` with an error that agrees; style 1 is that of a difference.
RankMap agreeing(uint32_t ranks, uint32_t layers) {
  RankMap map;
  map.styles = {"agrees", "culprit"};
  for (uint32_t layer = 0; layer < layers; ++layer) map.layers.push_back("layers." + std::to_string(layer));
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    map.ranks.push_back(rank);
    for (uint32_t layer = 0; layer < layers; ++layer) map.points.push_back({layer, rank, 0, false, 1e-4});
  }
  return map;
}

void set(RankMap& map, uint32_t rank, uint32_t layer, double error) {
  RankPoint& point = map.points[rank * map.layers.size() + layer];
  point.error = error;
  point.differs = true;
  point.style = 1;
}

size_t count_in(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_CASE("the first ranks to leave the others are those of the first layer, not of the largest error") {
  RankMap map = agreeing(8, 6);
  CHECK_FALSE(first_to_leave(map));
  set(map, 5, 3, 0.1);
  set(map, 6, 3, 0.2);
  set(map, 1, 4, 100);
  CHECK(first_to_leave(map) == LeavingRanks{{5, 6}, 3, 0.2, 1e-4});
  set(map, 7, 2, std::numeric_limits<double>::infinity());
  CHECK(first_to_leave(map) == LeavingRanks{{7}, 2, std::numeric_limits<double>::infinity(), 1e-4});
}

TEST_CASE("a rank does not leave if all are as far off, if it agrees, or if there are two ranks") {
  RankMap map = agreeing(4, 1);
  for (uint32_t rank = 0; rank < 4; ++rank) set(map, rank, 0, 0.5);
  CHECK_FALSE(first_to_leave(map));
  map = agreeing(4, 1);
  map.points[2].error = 1;
  CHECK_FALSE(first_to_leave(map));
  map = agreeing(2, 1);
  set(map, 1, 0, 1);
  CHECK_FALSE(first_to_leave(map));
  map = agreeing(4, 1);
  set(map, 1, 0, std::nan(""));
  CHECK_FALSE(first_to_leave(map));
}

TEST_CASE("ranks that agree and differ alike are one row, whatever their errors are") {
  RankMap map = agreeing(1000, 96);
  for (uint32_t rank = 500; rank < 600; ++rank) set(map, rank, 40, 0.1 + rank);
  const std::string text = rank_map_html(map);
  CHECK(count_in(text, "<tr><td>") == 2);
  CHECK(text.find("<td>0-499,600-999</td><td class=\"number\">900</td><td class=\"name\">-</td>") != std::string::npos);
  CHECK(text.find("<td>500-599</td><td class=\"number\">100</td><td class=\"name\">layers.40</td>") !=
        std::string::npos);
  CHECK(text.find(
            "Ranks 500-599 are the first to leave the others, in layer <code>layers.40</code>: error 6e+02, where the "
            "median of 1000 ranks is 0.0001.") != std::string::npos);
}

TEST_CASE("the map is bounded, and its last row has the ranks of rare kinds") {
  RankMap map = agreeing(1000, 500);
  for (uint32_t rank = 0; rank < 500; ++rank) set(map, rank, rank, 1);
  const std::string text = rank_map_html(map);
  CHECK(count_in(text, "<tr><td>") == kMostRankKinds);
  CHECK(count_in(text, "<rect") <= kMostRankKinds * kMostRankLayers);
  CHECK(text.size() < 100'000);
  CHECK(count_in(text, "<tr><td>others: ") == 1);
}

TEST_CASE("names of layers are no markup, and long ones are cut") {
  RankMap map = agreeing(4, 2);
  map.layers = {"<script>alert(1)</script>", std::string(500, 'x')};
  set(map, 3, 0, 1);
  const std::string text = rank_map_html(map);
  CHECK(text.find("<script") == std::string::npos);
  CHECK(text.find("&lt;script&gt;") != std::string::npos);
  CHECK(text.find(std::string(61, 'x')) == std::string::npos);
}

}  // namespace
}  // namespace msdump::report
