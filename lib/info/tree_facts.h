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
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dump/index/dump_index.h"
#include "dump/index/watched_outputs.h"

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

// What a dump tree is, from its DumpIndex alone: names, folders and sizes. No file that holds tensors is opened, so it
// costs little more than the index, however large the dump is.
//
// Oddities (tree_oddities.h) are found on the way. Nothing here is a failure: an odd tree may be what the user wanted.

struct KindCount {
  FileKind kind = FileKind::kUnknown;
  uint64_t files = 0, bytes = 0;
};

struct TreeFacts {
  FrameworkFacts framework;
  std::vector<std::pair<Layout, uint64_t>> layouts;  // with the number of files in each, the largest first
  std::set<int64_t> ranks, graphs, steps;            // of folders that hold tensors or tables of them
  uint64_t folders = 0, files = 0, bytes = 0;
  uint64_t tensor_files = 0, tensor_bytes = 0;  // files whose names say that they hold elements of tensors
  std::vector<KindCount> kinds;                 // in the order of the enum; those with a file
  // For tensor files whose names say it; that of a dump file, which may hold several tensors, says none of these.
  std::map<DType, uint64_t> dtypes;
  std::map<Format, uint64_t> formats;
  uint64_t inputs = 0, outputs = 0, parameters = 0;
  // By name; of tensor files that carry one.
  std::map<std::string_view, uint64_t> op_types;
  WatcherFiles watcher;  // without operators: not a dump of CANN's watcher mode
  std::vector<Oddity> odd;
  std::vector<uint32_t> not_understood;  // files that no part of msdump reads
};

[[nodiscard]] TreeFacts tree_facts_of(const DumpIndex& index);

// What a file in a tree is, by its name.
[[nodiscard]] FileKind kind_in_tree(const IndexedFile& file);

// May it be a dump file nevertheless? Only its content can tell.
[[nodiscard]] bool is_open_question(const IndexedFile& file);

// The layouts and how many files that may hold tensors lie in each, the largest number first.
[[nodiscard]] std::vector<std::pair<Layout, uint64_t>> layouts_of(const DumpIndex& index);

}  // namespace msdump
