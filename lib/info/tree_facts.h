// The facts of a dump tree, from its DumpIndex: names, folders and sizes. No file of tensors is opened, so the facts cost
// little more than the index, however large the dump is.
//
// Findings are no failures: the user may have wanted the tree as it is. Names and sizes show:
//   problems            unreadable folders, dangling links, a damaged mapping.csv: the index is incomplete
//   empty files         of a kind that is never empty
//   too small           smaller than the header of the kind
//   size against name   a raw file with more or less bytes than the shape and dtype in its name need
//   empty steps         the folder of a step with nothing in it
//   incomplete steps    fewer tensor files than most steps of the same rank and graph: the run was killed, or the disk full
//   lacking steps       a rank without some steps that other ranks have
//   missing shards      files that the index of a checkpoint names; the index is read
// Time stamps out of order are no finding: threads write them.
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

enum class TreeFindingKind : uint8_t {
  kProblem,
  kEmptyFile,
  kTooSmall,
  kSizeAgainstName,
  kEmptyStep,
  kIncompleteStep,
  kLackingSteps,
  kMissingShards,
};

struct TreeFinding {
  TreeFindingKind kind = TreeFindingKind::kEmptyFile;
  uint32_t item = 0;  // in DumpIndex: a problem in problems(), a step or rank in folders(), else in files()
  std::string path;   // below the path of the index; "." for the tree. Of a rank: the folder above all of its folders
  std::string text;   // "empty", "8 tensor files; others of this rank and graph have 10"
};

// Sorted by kind; findings of a kind have the order of the index.
[[nodiscard]] std::vector<TreeFinding> find_in_tree(const DumpIndex& index);
// Files that the index of a checkpoint names and that are missing (kMissingShards).
[[nodiscard]] std::vector<TreeFinding> find_missing_shards(const DumpIndex& index);
// The number of findings of a kind in words: "1 empty file", "3 empty files".
[[nodiscard]] std::string heading(TreeFindingKind kind, uint64_t count);

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
  // Counts of tensor files whose names have it. The name of a dump file, which may hold several tensors, has none of these.
  std::map<DType, uint64_t> dtypes;
  std::map<Format, uint64_t> formats;
  uint64_t inputs = 0, outputs = 0, parameters = 0;
  std::map<std::string_view, uint64_t> op_types;  // of tensor files whose names have one
  WatcherFiles watcher;                           // without operators: not a dump of CANN's watcher mode
  std::vector<TreeFinding> findings;
  std::vector<uint32_t> not_understood;  // files that no part of msdump reads
};

[[nodiscard]] TreeFacts tree_facts_of(const DumpIndex& index);

// The kind of a file in a tree, by its name.
[[nodiscard]] FileKind kind_in_tree(const IndexedFile& file);

// True if only the content tells whether the file has tensors.
[[nodiscard]] bool is_open_question(const IndexedFile& file);

// The layouts and how many files that may hold tensors lie in each, the largest number first.
[[nodiscard]] std::vector<std::pair<Layout, uint64_t>> layouts_of(const DumpIndex& index);

}  // namespace msdump
