// --shard I/N divides the units of work among N processes. Each writes a part, and merge reads the set of parts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "parts/facts.h"

namespace msdump {

inline constexpr uint32_t kMostShards = 100'000;

struct Shard {
  uint32_t index = 1, count = 1;  // 1 <= index <= count <= kMostShards
  bool operator==(const Shard&) const = default;
};

// "2/8"; kUsage for anything else.
[[nodiscard]] Result<Shard> parse_shard(std::string_view text);
[[nodiscard]] std::string to_string(const Shard& shard);

// For each unit the index of its shard, from 1. The largest units go first, each to the share with the fewest bytes so far.
// No share has more than 4/3 of the largest one of the best distribution (Graham 1969). The result depends on the sizes and
// the order of the units alone. Units without bytes count as one byte, so that they are spread, too.
[[nodiscard]] std::vector<uint32_t> shares_of(std::span<const uint64_t> bytes, uint32_t count);

// A part: what one process found out about its share of a run (--shard), for the process that merges.
//
//   1. lines of text, "word rest": first "msdump-part 1", the version of this format; then `version` (of msdump),
//      `command`, `shard` (2/8), `inputs` (a digest of the catalogue), `units` (all of the run), `facts` (of this part),
//      a `problem` for each folder that could not be read, and an `option` for each option of the command, in the order
//      of --help. Control characters and % are %XX.
//   2. an empty line
//   3. the facts, by kind and numbers: kind, first, second, length as numbers of facts.h, then that many bytes
//   4. "end ", the number of facts, a space, the SHA-1 of all bytes before, and a line end
//
// A part without its last line was cut. The bytes do not depend on the number of threads that found the facts.

// The facts that the parts of one run have in common, and the index of this one.
struct PartHeader {
  std::string version, command;
  Shard shard;
  std::string inputs;
  uint64_t units = 0;
  std::vector<std::string> options;        // arguments of the command without what is each part's own
  std::vector<std::string> problems = {};  // folders and tables of the dump that could not be read; the first few
};

// The facts of a share, from several threads.
class KeptFacts : public FactStore {
 public:
  [[nodiscard]] std::optional<std::string_view> find(const FactKey&) const override { return std::nullopt; }
  void keep(const FactKey& key, std::string bytes) override;
  [[nodiscard]] const std::map<FactKey, std::string>& facts() const { return facts_; }

 private:
  std::mutex mutex_;
  std::map<FactKey, std::string> facts_;
};

[[nodiscard]] std::string part_text(const PartHeader& header, const std::map<FactKey, std::string>& facts);

// A part as it was read. Facts are views of the text, which the caller keeps.
struct ReadPart {
  PartHeader header;
  std::vector<std::pair<FactKey, std::string_view>> facts;  // in ascending order
};
// True if a file that begins so is meant to be a part, of whatever version.
[[nodiscard]] bool looks_like_part(std::string_view head);
// kTruncated for a part that was cut, kBadHeader for other texts; `path` is for messages.
[[nodiscard]] Result<ReadPart> read_part(std::string_view text, const std::string& path);

// PartSet: all parts of one run, checked to be all, each once, and of one run; their facts as a FactStore.
//
// Holds the bytes of all parts: some 150 bytes a tensor for stats and check, 600 a pair for diff.

class PartSet : public FactStore {
 public:
  // Reads parts in any order. Each error names the part that is cut, doubled, or of another version, command, run or input,
  // or those that are missing. `version` is this program's.
  static Result<PartSet> read(const std::vector<std::string>& paths, std::string_view version);

  // The header of the first part; `shard` is its own.
  [[nodiscard]] const PartHeader& header() const { return parts_.front().header; }
  [[nodiscard]] size_t facts() const { return facts_.size(); }

  [[nodiscard]] std::optional<std::string_view> find(const FactKey& key) const override;
  void keep(const FactKey&, std::string) override {}

 private:
  struct Part {
    std::string path;
    std::unique_ptr<char[]> bytes;
    PartHeader header;
  };
  Status add(const std::string& path, std::string_view version);
  [[nodiscard]] Status check_alike(const Part& part) const;
  [[nodiscard]] Status check_complete() const;

  std::vector<Part> parts_;
  std::map<uint32_t, size_t> by_index_;                      // of the shard: in `parts_`
  std::vector<std::pair<FactKey, std::string_view>> facts_;  // in ascending order
};

}  // namespace msdump
