// The part of an msprobe dump that `compare` takes, from a path above or below it:
//
//   <dump>/step<N>/rank<R>/dump.json       also graph/ or pynative/ in between is a place of its own: name it
//
//   a file                                 itself
//   a folder with dump.json, debug.json    that file, dump.json first
//   a folder with step<N> folders          the requested one, or the only one; several are kUsage
//   with a requested rank                  its folder's file, below the step
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"

namespace msdump {

struct MsprobePlace {
  std::optional<int64_t> step, rank;
};

// A step folder or a file. kUsage when the step is not clear, kNotFound when there is no such step or rank.
Result<std::string> find_msprobe_place(const std::string& path, const MsprobePlace& place);

}  // namespace msdump
