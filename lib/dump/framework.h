// Which framework wrote a dump, as far as the tree itself says it.
//
//   .dump_metadata/config.json   {"device_target":"CPU","ms_version":"2.10.0"}        (MindSpore 1.3 and later)
//   dump.json, debug.json        "framework": "mindspore" | "pytorch"                 (msprobe)
//   names of .npy files          with a dtype: 2.4 and later; "Default_..." without: 2.3; else 1.3 to 2.2
//   names of raw .bin files      1.0 to 1.2
// Source: reference/dump-layouts-and-statistics.md 1.4, 2.7.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dump/dump_index.h"

namespace msdump {

// A version as numbers: {2, 10, 0}. Missing parts are 0.
struct Version {
  int major = 0, minor = 0, patch = 0;
  auto operator<=>(const Version&) const = default;
};
// "2.5", "2.5.0", "2.3.0rc2": the numbers in front; no value when the text does not begin with one.
[[nodiscard]] std::optional<Version> parse_version(std::string_view text);
[[nodiscard]] std::string to_string(const Version& version);

struct FrameworkFacts {
  std::string framework;            // "MindSpore", "msprobe"; empty: not known
  std::optional<Version> version;   // as config.json says it
  std::string text;                 // for people and for `framework_version`: "2.10.0", "2.4 or later"; may be empty
  std::optional<Version> from, to;  // what names leave open: from <= version < to
};

[[nodiscard]] FrameworkFacts framework_of(const DumpIndex& index);

}  // namespace msdump
