// Oddities of a dump tree that names and sizes show.
//
//   empty files         of a kind that is never empty
//   size against name   a raw file that holds more or less than the shape and dtype in its name
//   empty steps         a step's folder without anything in it
//   incomplete steps    fewer tensor files than most steps of the same rank and graph: the run was killed, or the disk full
//   lacking steps       a rank without some steps that the others have
//   missing shards      files that the index of a checkpoint names; the index is read
//   problems            what kept the index from being complete: unreadable folders, dangling links, a damaged mapping.csv
// Time stamps out of order are not odd: threads write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dump/index/dump_index.h"

namespace msdump {

enum class OddityKind : uint8_t {
  kProblem,
  kEmptyFile,
  kTooSmall,
  kSizeAgainstName,
  kEmptyStep,
  kIncompleteStep,
  kLackingSteps,
  kMissingShards,
};

struct Oddity {
  OddityKind kind = OddityKind::kEmptyFile;
  uint32_t place = 0;     // in DumpIndex: of a problem in problems(), of a step or rank in folders(), else in files()
  std::string text;       // what is odd, where kind and place do not say it
  std::string path = {};  // of a rank: the folder that all of its folders lie in
};

// By kind; inside one in the order of the index.
[[nodiscard]] std::vector<Oddity> find_oddities(const DumpIndex& index);

// Below the path of the index; "." for the whole tree.
[[nodiscard]] std::string path_of(const DumpIndex& index, const Oddity& oddity);
// "empty", "8 tensor files; others of this rank and graph have 10"
[[nodiscard]] std::string describe(const DumpIndex& index, const Oddity& oddity);
// How many of one kind: "1 empty file", "3 empty files".
[[nodiscard]] std::string heading(OddityKind kind, uint64_t count);

}  // namespace msdump
