// stack.json of msprobe: where in the user's program each call was made, of MindSpore and PyTorch alike.
//
//   1. {OP: [FRAME, ..], ..}                      until 2025
//   2. {"0": [[OP, ..], [FRAME, ..]], "1": ..}    since: operators that were called from the same place share a stack
//   3. OP     the name of a call or module (msprobe/names.h), forward ones only; a backward call has the stack of its
//             forward call (forward_entry_of)
//   4. FRAME  "File PATH, line N, in FUNCTION, \n CODE": CODE is that line without its indent.
//             Innermost first; the framework's own files are among them, most of msprobe's are not
// Each entry has its own form; a file may mix both. A frame of any other form is kept as its text. When msprobe could
// not get a stack, it wrote the single text "The call stack retrieval failed.": such a stack is empty. A killed process
// leaves {}.
// Source: msprobe's files, msprobe's own writers of 2024 to 2026.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/containers.h"
#include "base/error.h"
#include "base/text.h"
#include "io/file.h"

namespace msdump {

inline constexpr std::string_view kNoStack = "The call stack retrieval failed.";

struct MsprobeFrame {
  std::string_view file;  // empty: the text had another form and is all in `code`
  int64_t line = 0;
  std::string_view function;
  std::string_view code;
  std::string_view text = {};  // as written
};

struct StackJson {
  struct Op {
    std::string_view name;
    size_t offset = 0;            // of its name in the text (form 1: of its frames)
    size_t begin = 0, count = 0;  // of its stack in frame_ids
    bool is_retrieved = true;     // false: msprobe could not retrieve the stack
  };

  std::vector<Op> ops;               // in the order of the text; of two of one name the later stack counts
  std::vector<uint32_t> frame_ids;   // the concatenated stacks, each innermost first
  std::vector<MsprobeFrame> frames;  // each different frame once; their texts and the names live in `texts`
  int64_t entries = 0;
  bool is_shared = false;  // an entry has form 2
  ProblemList problems;    // entries that were not understood
  TextArena texts;
  std::unordered_map<std::string_view, size_t> by_name;  // index in ops

  [[nodiscard]] const Op* find(std::string_view op_name) const;
  [[nodiscard]] std::span<const uint32_t> stack_of(const Op& op) const {
    return std::span(frame_ids).subspan(op.begin, op.count);
  }
  // The stack as written, frame by frame.
  [[nodiscard]] std::vector<std::string_view> texts_of(const Op& op) const;
};

// A frame as the file has it; views into `text`.
[[nodiscard]] MsprobeFrame parse_msprobe_frame(std::string_view text);

struct StackJsonLimits {
  uint64_t text = uint64_t{4} << 30;    // bytes of the file
  uint64_t entry = uint64_t{16} << 20;  // of one entry, whose tree takes some forty times that at worst
  uint64_t kept = uint64_t{4} << 30;    // memory that names, frames and stacks may take
};

// bad_json with offset, line and column for what is not a JSON object; too_large beyond the limits.
Result<StackJson> read_stack_json(const File& file, const StackJsonLimits& limits = {});

}  // namespace msdump
