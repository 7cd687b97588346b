#include "report/page/rank_map.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "report/junit.h"

namespace msdump::report {
namespace {

constexpr size_t kMostLabel = 60;  // bytes of a name or a list of ranks

// The end of a name tells layers apart.
std::string label_of(std::string_view text) {
  if (text.size() <= kMostLabel) return xml_escaped(escape_for_terminal(text));
  text.remove_prefix(text.size() - kMostLabel);
  while (!text.empty() && (static_cast<uint8_t>(text.front()) & 0xC0) == 0x80)
    text.remove_prefix(1);  // inside a character
  return ".." + xml_escaped(escape_for_terminal(text));
}

// "0-136,138-499,..": the first ones of many.
std::string ranks_label(const std::vector<int64_t>& ranks) {
  const std::string text = ranges_text(ranks);
  return text.size() <= kMostLabel ? text : text.substr(0, text.rfind(',', kMostLabel)) + ",..";
}

std::string error_text(double error) { return std::isinf(error) ? "not finite" : fmt::format("{:.2g}", error); }

// The largest error of a rank in a column, and the worst style.
struct Cell {
  uint8_t style = 0;
  bool known = false, differs = false;
  double error = -1;  // below 0: unknown

  void add(const RankPoint& point) {
    style = std::max(style, point.style);
    known = true;
    differs = differs || point.differs;
    if (!std::isnan(point.error)) error = std::max(error, point.error);
  }
  void add(const Cell& other) {
    if (!other.known) return;
    style = std::max(style, other.style);
    known = true;
    differs = differs || other.differs;
    error = std::max(error, other.error);
  }
  // Cells that look alike are drawn as one.
  [[nodiscard]] int shade() const { return error <= 0 ? 0 : std::clamp(static_cast<int>(std::log10(error)) + 6, 0, 6); }
  [[nodiscard]] bool looks_like(const Cell& other) const {
    return known == other.known && style == other.style && shade() == other.shade();
  }
};

// Ranks of one kind: the same style in each column.
struct Kind {
  std::vector<int64_t> ranks;
  std::vector<Cell> cells;            // by column
  std::optional<uint32_t> differing;  // the first layer in which one of them differs

  void add(const Kind& other) {
    ranks.insert(ranks.end(), other.ranks.begin(), other.ranks.end());
    for (size_t i = 0; i < cells.size(); ++i) cells[i].add(other.cells[i]);
    if (other.differing) differing = std::min(differing.value_or(*other.differing), *other.differing);
  }
};

class Grid {
 public:
  explicit Grid(const RankMap& map) : map_(map), columns_(std::min(map.layers.size(), kMostRankLayers)) {
    std::vector<Kind> of_rank;
    for (const int64_t rank : map.ranks) of_rank.push_back({{rank}, std::vector<Cell>(columns_), {}});
    for (const RankPoint& point : map.points) {
      Kind& rank = of_rank[point.rank];
      rank.cells[point.layer * columns_ / map.layers.size()].add(point);
      if (point.differs) rank.differing = std::min(rank.differing.value_or(point.layer), point.layer);
    }
    std::map<std::string, size_t> places;  // by the styles
    for (const Kind& rank : of_rank) {
      std::string key;
      for (const Cell& cell : rank.cells) key += static_cast<char>(cell.known ? cell.style + 1 : 0);
      const auto [place, is_new] = places.try_emplace(std::move(key), kinds_.size());
      if (is_new) {
        kinds_.push_back(rank);
      } else {
        kinds_[place->second].add(rank);
      }
    }
    join_rare_kinds();
  }

  [[nodiscard]] const std::vector<Kind>& kinds() const { return kinds_; }  // by their first rank
  [[nodiscard]] size_t columns() const { return columns_; }
  [[nodiscard]] bool has_others() const { return has_others_; }  // the last one is of several kinds
  // The layers of a column.
  [[nodiscard]] std::string_view first_layer(size_t column) const {
    return map_.layers[(column * map_.layers.size() + columns_ - 1) / columns_];
  }

 private:
  // Those of the fewest ranks become one.
  void join_rare_kinds() {
    if (kinds_.size() <= kMostRankKinds) return;
    has_others_ = true;
    std::stable_sort(kinds_.begin(), kinds_.end(),
                     [](const Kind& a, const Kind& b) { return a.ranks.size() > b.ranks.size(); });
    const auto rare = kinds_.begin() + static_cast<std::ptrdiff_t>(kMostRankKinds - 1);
    for (auto kind = rare + 1; kind != kinds_.end(); ++kind) rare->add(*kind);
    std::sort(rare->ranks.begin(), rare->ranks.end());
    kinds_.erase(rare + 1, kinds_.end());
    std::sort(kinds_.begin(), rare, [](const Kind& a, const Kind& b) { return a.ranks.front() < b.ranks.front(); });
  }

  const RankMap& map_;
  const size_t columns_;
  std::vector<Kind> kinds_;
  bool has_others_ = false;
};

class MapText {
 public:
  explicit MapText(const RankMap& map) : map_(map), grid_(map) {}

  [[nodiscard]] std::string html() const {
    std::string text =
        "<section class=\"ranks\" aria-labelledby=\"ranks-title\">\n<h2 id=\"ranks-title\">Ranks and layers</h2>\n";
    return text + sentence() + drawing() + table() + "</section>\n";
  }

 private:
  [[nodiscard]] std::string ranks_of(size_t kind) const {
    const std::string text = ranks_label(grid_.kinds()[kind].ranks);
    return is_others(kind) ? "others: " + text : text;
  }
  [[nodiscard]] bool is_others(size_t kind) const { return grid_.has_others() && kind + 1 == grid_.kinds().size(); }

  [[nodiscard]] std::string sentence() const {
    const std::optional<LeavingRanks> first = first_to_leave(map_);
    if (!first) return "<p>No rank leaves the others.</p>\n";
    const bool one = first->ranks.size() == 1;
    return fmt::format(
        "<p>{} {} {} the first to leave the others, in layer <code>{}</code>: error {}, where the median of {} "
        "ranks is {}.</p>\n",
        one ? "Rank" : "Ranks", ranks_label(first->ranks), one ? "is" : "are", label_of(map_.layers[first->layer]),
        error_text(first->error), map_.ranks.size(), error_text(first->median));
  }

  // A row for each kind, a column for each layer or few of them: the color is the class, its strength the error.
  [[nodiscard]] std::string drawing() const {
    constexpr size_t kLeft = 150, kWide = 15, kHigh = 18;
    const std::vector<Kind>& kinds = grid_.kinds();
    std::string text = fmt::format(
        "<div class=\"scroll\"><svg class=\"ranks\" role=\"img\" aria-label=\"{} of {} in {}\" width=\"{}\" "
        "height=\"{}\">\n",
        plural(kinds.size(), "kind"), plural(map_.ranks.size(), "rank"), plural(map_.layers.size(), "layer"),
        kLeft + kWide * grid_.columns(), kHigh * kinds.size());
    for (size_t i = 0; i < kinds.size(); ++i) {
      const std::string ranks = ranks_of(i);
      text += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", kLeft - 6, kHigh * i + 13,
                          ranks.size() > 22 ? plural(kinds[i].ranks.size(), "rank") : ranks);
      const std::vector<Cell>& cells = kinds[i].cells;
      for (size_t begin = 0, end = 0; begin < cells.size(); begin = end) {
        Cell all = cells[begin];
        for (end = begin + 1; end < cells.size() && cells[end].looks_like(cells[begin]); ++end) all.add(cells[end]);
        if (!all.known) continue;
        const std::string to = end - begin > 1 ? fmt::format(" to {}", label_of(grid_.first_layer(end - 1))) : "";
        text += fmt::format(
            "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill-opacity=\"{:.2g}\"><title>{}{}: "
            "{}</title></rect>\n",
            map_.styles[all.style], kLeft + kWide * begin, kHigh * i, kWide * (end - begin) - 1, kHigh - 1,
            0.4 + 0.1 * all.shade(), label_of(grid_.first_layer(begin)), to,
            all.error < 0 ? "no error is known" : "error " + error_text(all.error));
      }
    }
    return text + "</svg></div>\n";
  }

  [[nodiscard]] std::string table() const {
    std::string text =
        "<table><thead><tr><th scope=\"col\">ranks</th><th scope=\"col\" class=\"number\">number</th><th "
        "scope=\"col\">first "
        "layer that differs</th><th scope=\"col\" class=\"number\">largest error</th></tr></thead><tbody>\n";
    for (size_t i = 0; i < grid_.kinds().size(); ++i) {
      const Kind& kind = grid_.kinds()[i];
      Cell all;
      for (const Cell& cell : kind.cells) all.add(cell);
      text += fmt::format(
          "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"name\">{}</td><td class=\"number\">{}</td></tr>\n",
          ranks_of(i), kind.ranks.size(), kind.differing ? label_of(map_.layers[*kind.differing]) : "-",
          all.error < 0 ? "-" : error_text(all.error));
    }
    return text + "</tbody></table>\n";
  }

  const RankMap& map_;
  const Grid grid_;
};

}  // namespace

std::optional<LeavingRanks> first_to_leave(const RankMap& map) {
  constexpr double kTimes = 10;
  constexpr size_t kFewest = 3;
  std::vector<const RankPoint*> points;
  for (const RankPoint& point : map.points) {
    if (!std::isnan(point.error)) points.push_back(&point);
  }
  std::stable_sort(points.begin(), points.end(), [](const RankPoint* a, const RankPoint* b) {
    return a->layer != b->layer ? a->layer < b->layer : a->rank < b->rank;
  });
  for (size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    std::vector<std::pair<uint32_t, Cell>> of_rank;
    for (end = begin; end < points.size() && points[end]->layer == points[begin]->layer; ++end) {
      if (of_rank.empty() || of_rank.back().first != points[end]->rank) of_rank.emplace_back(points[end]->rank, Cell());
      of_rank.back().second.add(*points[end]);
    }
    if (of_rank.size() < kFewest) continue;
    std::vector<double> errors;
    for (const auto& [rank, cell] : of_rank) errors.push_back(cell.error);
    LeavingRanks leaving{{}, points[begin]->layer, 0, quantile_of_unsorted(errors, 0.5)};
    for (const auto& [rank, cell] : of_rank) {
      if (!cell.differs || !(cell.error > kTimes * leaving.median)) continue;
      leaving.ranks.push_back(map.ranks[rank]);
      leaving.error = std::max(leaving.error, cell.error);
    }
    if (!leaving.ranks.empty()) return leaving;
  }
  return std::nullopt;
}

std::string rank_map_html(const RankMap& map) { return MapText(map).html(); }

}  // namespace msdump::report
