// Any bytes as a file of layouts: either lines that state layouts within their bounds, or one error. A layout that was taken is
// written and taken again, and its boxes lie in the whole. So are lines as the dims of SGLang's dumper.
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "compare/match/placement/distribution.h"
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

// On the ranks of tp and cp, two each.
void check_dims(std::string_view line) {
  std::vector<JsonValue> locals;
  for (int rank = 0; rank < 4; ++rank) {
    const auto place = [](int at) { return R"({"rank":)" + std::to_string(at) + R"(,"size":2})"; };
    auto json = parse_json(R"({"dims":"","parallel":{"tp":)" + place(rank % 2) + R"(,"cp":)" + place(rank / 2) + "}}");
    require(json.has_value(), "the places are JSON");
    json->members.front().value.text = line;
    locals.push_back(std::move(*json));
  }
  for (size_t axes = 0; axes < 4; ++axes) {
    const auto placement = placement_of_dims(locals, axes);
    if (!placement) continue;
    require(placement->ranks() == 4, "a placement is of all ranks");
    for (const PlacementDim& dim : placement->dims) require(dim.axis < std::max<size_t>(axes, 1), "an axis is one");
    if (axes == 2) check_layout(*placement);
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
    check_dims(line);
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
