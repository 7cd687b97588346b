// The call stacks of a stack.json as msprobe's result file prints them: str() of the list of frames, once per stack.
// (msprobe/stack_json.h parses the frames and describes the two forms of the file.)
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "io/file.h"

namespace msdump {

struct MsprobeStacks {
  std::vector<std::string> texts;
  std::unordered_map<std::string, size_t> by_name;  // index in texts
  // The older form of the file has operators as its keys; only that form matters to the layer mapping.
  bool older_form = false;
  std::vector<std::vector<std::string>> frames;  // by text; older form only

  [[nodiscard]] const std::string* find(const std::string& entry) const;
};

// kBadJson with offset, line and column if it is not a JSON object; kTooLarge for more than 4 GiB.
Result<MsprobeStacks> read_msprobe_stacks(const File& file);

}  // namespace msdump
