// A case: a folder of rounds, each a dump of the candidate and, where there is one, of the reference. Round 1 is the dump that
// the case began with; of each later round the folder has the configurations and, once they have run, the dumps:
//
//   case.json                             {"format": 1, "rounds": [{"candidate": PATH, "reference": PATH, "extent": "all"}, ...]}
//   round-2/candidate.json, reference.json   configurations; their dumps go to
//   round-2/candidate/, reference/
//   round-N/finding.json                  what `msdump next --json` said of round N
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "next/suspects.h"

namespace msdump {

inline constexpr size_t kMostRounds = 100;

struct CaseRound {
  std::string candidate, reference;  // absolute; `reference` may be empty
  DumpExtent extent = DumpExtent::kAll;
};

struct CaseFolder {
  std::string path;  // absolute
  std::vector<CaseRound> rounds;

  // Is there a case in this folder?
  [[nodiscard]] static bool is_one(const std::string& path);
  [[nodiscard]] static Result<CaseFolder> read(const std::string& path);
  // Writes case.json.
  [[nodiscard]] Status write() const;
  // Of a round, from 1.
  [[nodiscard]] std::string folder_of(size_t round) const;
};

}  // namespace msdump
