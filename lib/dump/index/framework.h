// Which framework wrote a dump, by what the tree itself says.
//
//   .dump_metadata/config.json   {"device_target":"CPU","ms_version":"2.10.0"}        (MindSpore 1.3 and later)
//   dump.json, debug.json        "framework": "mindspore" | "pytorch"                 (msprobe)
//   names of .npy files          with a dtype: 2.4 and later; "Default_..." without: 2.3; else 1.3 to 2.2
//   names of raw .bin files      1.0 to 1.2
// Source: reference/dump-layouts-and-statistics.md 1.4, 2.7.
#pragma once

#include <optional>
#include <string>

#include "base/version.h"
#include "dump/index/dump_index.h"

namespace msdump {

struct FrameworkFacts {
  std::string framework;            // "MindSpore", "msprobe"; empty: not known
  std::optional<Version> version;   // as config.json says it
  std::string text;                 // for people and for `framework_version`: "2.10.0", "2.4 or later"; may be empty
  std::optional<Version> from, to;  // what names leave open: from <= version < to
};

[[nodiscard]] FrameworkFacts framework_of(const DumpIndex& index);

}  // namespace msdump
