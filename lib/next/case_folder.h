// A case: a folder of rounds, each a dump of the candidate and, if the case has one, of the reference. Round 1 is the dump that
// the case began with. Each later round has its configurations and, once they have run, the dumps:
//
//   case.json                             {"format": 1, "settings": {"kind": "msprobe", "framework_version": null,
//                                         "asynchronous": false, "net_name": "Net", "ir": []},
//                                         "rounds": [{"candidate": PATH, "reference": PATH, "extent": "all"}, ...]}
//   round-2/candidate.json, reference.json   configurations; their dumps go to
//   round-2/candidate/, reference/
//   round-N/finding.json                  what `msdump next --json` said of round N
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "config/setups.h"
#include "next/next_plan.h"

namespace msdump {

inline constexpr size_t kMostRounds = 100;

// Normalised, without a '/' at its end.
[[nodiscard]] std::string absolute_path(const std::string& path);

struct CaseRound {
  std::string candidate, reference;  // absolute; of a run that is checked on its own `reference` is empty
  DumpExtent extent = DumpExtent::kAll;
};

// The options that the case began with.
struct CaseSettings {
  ConfigKind kind = ConfigKind::kUnknown;  // of the configurations; kUnknown: that of the files
  std::string framework_version;           // may be empty
  bool asynchronous = false;
  std::string net_name = "Net";
  std::vector<std::string> ir;  // absolute
};

struct CaseFolder {
  std::string path;  // absolute
  CaseSettings settings;
  std::vector<CaseRound> rounds;

  // True if the folder has a case.
  [[nodiscard]] static bool is_one(const std::string& path);
  [[nodiscard]] static Result<CaseFolder> read(const std::string& path);
  // Writes case.json.
  [[nodiscard]] Status write() const;
  // The folder of a round, from 1.
  [[nodiscard]] std::string folder_of(size_t round) const;
};

}  // namespace msdump
