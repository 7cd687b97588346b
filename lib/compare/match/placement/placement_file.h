// --layout FILE: how tensors lie on the ranks, where that is known; --write-layout FILE: what was found, in the same form.
//
//   line      [reference:]GLOB = PART[, PART ..]     of the reference's tensors, else of the candidate's
//   glob      *.up.*                the operator's name; '/' and '.' match the '_' that file names have instead
//             *.up.*:output:0       name, io and slot
//   part      copy, sum, mean, max, concat(axis=1), zigzag(axis=1), gathered(axis=1; of=4), times=0.5
//             by=2                  how many ranks; where there are several dimensions, one may go without
//             blocks=3, blocks=2:1:1   of concat; blocks=3 of zigzag: parts of a fused tensor, each cut by itself
//             ranks=0-3             in any part: the line is for tensors on these ranks alone
//   #         begins a comment, at the start of a line or after a blank
//
// The parts are the dimensions of the mesh, the fastest first (cut_layout.h). The last line that matches a tensor applies.
// Bounds: 4 MiB, 10,000 lines, 4096 bytes a line, 8 dimensions, kMostBlocks blocks in all.
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

namespace msdump {

struct StatedLayout {
  size_t line = 0;
  CutLayout layout;            // an extent of 0: the ranks that are left
  std::string text;            // the parts, as they are written
  std::vector<int64_t> ranks;  // ascending; empty: any
  bool of_reference = false;
};

// With the extents that so many ranks give; nothing if they do not go into them.
[[nodiscard]] std::optional<CutLayout> layout_for(const StatedLayout& stated, int64_t ranks);

// What a line is matched against.
struct LayoutSubject {
  std::string_view op_name;
  Io io = Io::kOutput;
  std::string_view slot;
  std::span<const int64_t> ranks;
  bool of_reference = false;
};

class LayoutRules {
 public:
  // kUsage with "line L: ..", kTooLarge beyond the bounds.
  static Result<LayoutRules> parse(std::string_view text);
  static Result<LayoutRules> read(const std::string& path);

  // The last line that matches; null when none does. Thread-safe.
  [[nodiscard]] const StatedLayout* layout_of(const LayoutSubject& subject) const;
  [[nodiscard]] size_t size() const { return lines_.size(); }
  // Empty unless it was read.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Line {
    QuickGlob glob;
    bool of_tensor = false;  // the glob has io and slot
    StatedLayout stated;
  };
  Status add_line(std::string_view line, size_t number);

  std::vector<Line> lines_;
  std::string path_;
};

// A tensor with what was found of it.
struct FoundLayout {
  LayoutSubject subject;
  const CutLayout* layout = nullptr;
  bool sure = true;
};

// The file that says so: a line for the tensors whose names differ in numbers alone, where all agree, else one for each.
// parse() of it gives each tensor its layout, unless two tensors of one name, io, slot and ranks have different ones.
[[nodiscard]] std::string layout_file_text(std::span<const FoundLayout> found);
// "concat(axis=0; by=2), copy(by=2)"; empty: the tensor lies on one rank, as it is.
[[nodiscard]] std::string stated_text(const CutLayout& layout);

}  // namespace msdump
