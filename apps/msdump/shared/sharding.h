// --shard I/N: a run that does its share of the work and writes what it found out as a part (parts/part_file.h), for
// msdump merge, which runs the command again over the parts.
//
// How the result looks and where it goes is said to merge; all other options are those of the shards, and stand in the
// part. So no file that is read decides where something is written.
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

namespace CLI {
class App;
}

namespace msdump::cli {

struct ShardOptions {
  std::optional<Shard> shard;
  bool resume = false;  // a part that is there is left as it is
};
void add_shard_option(CLI::App& app, ShardOptions& options);
// --resume, for commands that have none of their own.
void add_part_resume(CLI::App& app, ShardOptions& options);

// All three, for a command that prints: --out is the part.
void add_part_options(CLI::App& app, ShardOptions& options, std::string& part);

// Throws UsageError for options that do not go with --shard: those of the output, and `further` of the command.
void check_shard_options(const Session& session, std::initializer_list<std::string_view> further);
// Without --shard there is no part to --resume.
void check_part_resume(const ShardOptions& options);
// All of it for a command that prints; --out goes with --shard alone.
void check_part_options(const Session& session, const ShardOptions& options, const std::string& part,
                        std::initializer_list<std::string_view> further);
// The options of the output, which merge takes in place of the shards.
[[nodiscard]] bool is_output_option(std::string_view name);

// A digest of the names and sizes of the files that msdump reads; it does not depend on where the dump lies.
[[nodiscard]] std::string catalogue_digest(std::initializer_list<const DumpIndex*> indexes);
// In a merge: an error if the dump is no longer that of the parts.
[[nodiscard]] Status check_inputs(const Session& session, std::initializer_list<const DumpIndex*> indexes);

// One run with --shard.
class PartRun {
 public:
  PartRun(Session& session, const ShardOptions& options, std::string path,
          std::initializer_list<const DumpIndex*> indexes);

  // True with --resume if the part is there, whole and of this run; says so. Throws UsageError if another file is there.
  [[nodiscard]] bool is_done() const;
  // Which of the units are this run's.
  [[nodiscard]] std::vector<bool> take(std::span<const uint64_t> bytes);
  // The same where the work itself chose them.
  void count(uint64_t units, uint64_t own);
  // The session's, with the store for what is found out.
  [[nodiscard]] RunContext context();
  // Writes the part. What went wrong with single tensors stands in it, and merge tells it.
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
