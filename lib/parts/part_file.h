// A part: what one process found out about its share of a run (--shard), for the process that merges.
//
//   1. lines of text, "word rest": first "msdump-part 1", the version of this format; then `version` (of msdump),
//      `command`, `shard` (2/8), `inputs` (a digest of the catalogue), `units` (all of the run), `facts` (of this part),
//      a `problem` for each folder that could not be read, and an `option` for each option of the command, in the order
//      of --help. Control characters and % are %XX.
//   2. an empty line
//   3. the facts, by kind and numbers: kind, first, second, length as numbers of fact_codec.h, then that many bytes
//   4. "end ", the number of facts, a space, the SHA-1 of all bytes before, and a line end
//
// A part without its last line was cut. The bytes do not depend on the number of threads that found the facts.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "parts/fact_store.h"
#include "parts/shard.h"

namespace msdump {

// What the parts of one run have in common, and which of them this is.
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

}  // namespace msdump
