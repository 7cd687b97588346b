// Any bytes as a file of layouts: either lines that state layouts within their bounds, or one error. A layout that was taken is
// written and taken again, and its boxes lie in the whole.
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "compare/match/placement/placement_file.h"
#include "compare/match/placement/placement_search.h"
#include "fuzz_file.h"

namespace {

using namespace msdump;
using fuzz::require;

constexpr int64_t kMostRanks = 16;

void check_layout(const Placement& layout) {
  const std::string text = "x = " + stated_text(layout);
  const Result<PlacementRules> again = PlacementRules::parse(text);
  require(again.has_value() || text.size() > 4096, "what is written can be read");
  const std::vector<int64_t> ranks = {0, 1};
  if (!again) return;
  const StatedPlacement* const line = again->placement_of({"x", Io::kOutput, "0", ranks, false});
  require(line != nullptr && placement_for(*line, layout.ranks()) == layout, "a layout is read as it was written");
  const std::vector<Shape> pieces(static_cast<size_t>(layout.ranks()), Shape{8, 12});
  for (const Shape& whole : {Shape{8, 12}, Shape{16, 12}, Shape{32, 24}}) {
    for (int64_t rank = 0; rank < layout.ranks(); ++rank) {
      for (const PieceBox& box : boxes_of(layout, rank, pieces, whole)) {
        for (size_t axis = 0; axis < whole.size(); ++axis) {
          require(box.size[axis] > 0 && box.from[axis] >= 0 && box.from[axis] + box.size[axis] <= pieces[0][axis],
                  "a box lies in its piece");
          require(box.to[axis] >= 0 && box.to[axis] + box.size[axis] <= whole[axis], "a box lies in the whole");
        }
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<PlacementRules> file = PlacementRules::parse(text);
  if (!file) {
    require(!file.error().message.empty() && file.error().message.find('\n') == std::string::npos,
            "an error is one line");
    require(file.error().message.size() < 1000, "an error quotes little");
  }
  for (const std::string_view line : split(text.substr(0, 4096), '\n')) {
    const Result<PlacementRules> one =
        PlacementRules::parse("* " + std::string(line.substr(std::min(line.find('='), line.size()))));
    if (!one) continue;
    const std::vector<int64_t> any = {0, 1, 2, 3};
    const StatedPlacement* const stated = one->placement_of({"x", Io::kOutput, "0", any, false});
    if (stated == nullptr) continue;
    for (int64_t ranks = 1; ranks <= kMostRanks; ++ranks) {
      if (const auto layout = placement_for(*stated, ranks)) check_layout(*layout);
    }
  }
  return 0;
}
