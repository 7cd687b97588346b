// --layout FILE: the placements of tensors that the user knows. --write-layout FILE: the placements that were found, in the
// same form.
//
//   line      [reference:]GLOB = PART[, PART ..]     of the reference's tensors, else of the candidate's
//   glob      *.up.*                the operator's name; '/' and '.' match the '_' that file names have instead
//             *.up.*:output:0       name, io and slot
//   part      ROLE or ROLE(KEY=N; ..), as in copy and concat(axis=1); the roles and their keys are those of placement.cpp
//             times=0.5             the factor of the tensor
//             by=2                  how many ranks; one of several dimensions may go without
//             blocks=3, blocks=2:1:1   of concat; blocks=3 of zigzag: parts of a fused tensor, each sharded by itself
//             ranks=0-3             in any part: the line applies to tensors on these ranks alone
//   #         begins a comment, at the start of a line or after a blank
//
// The parts are the dimensions of the mesh, the fastest first (placement.h). The last line that matches a tensor applies.
// Bounds: 4 MiB, 10,000 lines, 4096 bytes a line, 8 dimensions, 8192 blocks in all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "compare/match/placement/placement.h"
#include "dump/names/identity.h"
#include "io/rule_file.h"

namespace msdump {

struct StatedPlacement {
  size_t line = 0;
  Placement placement;         // an extent of 0: the ranks that are left
  std::string text;            // the parts, as they are written
  std::vector<int64_t> ranks;  // ascending; empty: any
  bool of_reference = false;
};

// The placement for this number of ranks. No value if the stated extents do not divide it.
[[nodiscard]] std::optional<Placement> placement_for(const StatedPlacement& stated, int64_t ranks);

// The tensor that lines are matched against.
struct PlacementSubject {
  std::string_view op_name;
  Io io = Io::kOutput;
  std::string_view slot;
  std::span<const int64_t> ranks;
  bool of_reference = false;
};

class PlacementRules {
 public:
  // kUsage with "line L: ..", kTooLarge beyond the bounds (io/rule_file.h).
  static Result<PlacementRules> parse(std::string_view text);
  static Result<PlacementRules> read(const std::string& path);

  // The last line that matches; null if none does. Thread-safe.
  [[nodiscard]] const StatedPlacement* placement_of(const PlacementSubject& subject) const;
  [[nodiscard]] size_t size() const { return lines_.size(); }
  // The path of the file; empty unless it was read.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Line {
    QuickGlob glob;
    bool of_tensor = false;  // the glob has io and slot
    StatedPlacement stated;
  };
  Status add_line(const RuleLine& line);

  std::vector<Line> lines_;
  std::string path_;
};

// A tensor with the placement that was found.
struct FoundPlacement {
  PlacementSubject subject;
  const Placement* placement = nullptr;
  bool is_sure = true;
};

// The text of a --layout file with these placements. Tensors whose names differ only in numbers have one line if all agree,
// else one each. parse() gives each tensor its placement again, unless two of one name, io, slot and ranks differ.
[[nodiscard]] std::string placement_file_text(std::span<const FoundPlacement> found);
// The parts of a line: "concat(axis=0; by=2), copy(by=2)". Empty for a tensor on one rank.
[[nodiscard]] std::string stated_text(const Placement& placement);

}  // namespace msdump
