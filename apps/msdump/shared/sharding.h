// --shard I/N: the command does its share of the work and writes a partial result, a "part" (parts/part_file.h). msdump
// merge runs the command again over all parts.
//
// Merge takes the options of the output; a part records all others (OptionUse). So no file that is read decides which
// file is written.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dump/index/dump_index.h"
#include "frame/subcommand.h"
#include "frame/usage.h"
#include "parts/part_file.h"

namespace msdump::cli {

struct ShardOptions {
  std::optional<Shard> shard;
  bool resume = false;  // a part that is there is left as it is
};
[[nodiscard]] Option shard_option(ShardOptions& options);
// --resume, for commands that have none of their own.
[[nodiscard]] Option part_resume_option(ShardOptions& options);
// All three, for a command that prints: --out is the part.
[[nodiscard]] std::vector<Option> part_options(ShardOptions& options, std::string& part);

// Throws UsageError for options that a shard does not take (OptionUse), and if --out is missing.
void check_shard_options(const Session& session);

// A digest of the names and sizes of the files that msdump reads. Equal for a copy of the dump in another folder.
[[nodiscard]] std::string catalogue_digest(std::initializer_list<const DumpIndex*> indexes);
// In a merge: an error if the dump is no longer that of the parts.
[[nodiscard]] Status check_inputs(const Session& session, std::initializer_list<const DumpIndex*> indexes);

// A run with --shard.
class PartRun {
 public:
  PartRun(Session& session, const ShardOptions& options, std::string path,
          std::initializer_list<const DumpIndex*> indexes);

  // True with --resume if the part is there, whole and of this run; says so. Throws UsageError if another file is there.
  [[nodiscard]] bool is_done() const;
  // True for each unit that this run has to do.
  [[nodiscard]] std::vector<bool> take(std::span<const uint64_t> bytes);
  // The same of other work on the units, which does not count.
  [[nodiscard]] std::vector<bool> share(std::span<const uint64_t> bytes) const;
  // The same if the work itself chose its units.
  void count(uint64_t units, uint64_t own);
  // The session's, with the store for what is found out.
  [[nodiscard]] RunContext context();
  // Writes the part. It records failures of single tensors; merge reports them.
  [[nodiscard]] ExitCode finish(std::string_view unit);

 private:
  Session& session_;
  const ShardOptions& options_;
  std::string path_;
  PartHeader header_;
  KeptFacts facts_;
  uint64_t own_ = 0;
};

}  // namespace msdump::cli
