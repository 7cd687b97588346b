#include "shared/sharding.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "frame/cli.h"
#include "frame/usage.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "kernels/digest/digest.h"
#include "shared/options.h"

namespace msdump::cli {
namespace {

constexpr uint64_t kMostPartBytes = uint64_t{64} << 30;
constexpr size_t kMostProblems = 8;  // named in a part

const OptionTable& options_of(const Session& session) { return *session.tree.find(session.command.name)->options; }

// The arguments that give a command the options it has now, whatever order they were typed in.
std::vector<std::string> normalised_options(const OptionTable& table) {
  std::vector<std::string> options, arguments;
  for (const Option& option : table.options()) {
    if (option.use == OptionUse::kGeneral || option.use == OptionUse::kShard) continue;
    for (const std::string& value : option.typed) {
      if (option.is_argument()) {
        arguments.push_back(value);
      } else {
        options.push_back(option.value.is_flag() ? option.spelling() : fmt::format("{}={}", option.spelling(), value));
      }
    }
  }
  const Option* const dump = table.find("dump");
  if (dump != nullptr && !dump->is_given() && arguments.empty()) {
    const std::string variable = environment("MSDUMP_DUMP").value_or("");
    options.push_back("--dump=" + (variable.empty() ? "." : variable));
  }
  if (!arguments.empty()) options.emplace_back("--");
  options.insert(options.end(), arguments.begin(), arguments.end());
  return options;
}

void refuse_list_on_stdin(const OptionTable& options) {
  for (const char* const name : {"dump", "DUMP"}) {
    const Option* const option = options.find(name);
    if (option != nullptr && std::find(option->typed.begin(), option->typed.end(), "-") != option->typed.end())
      throw UsageError("--shard reads no list on standard input: msdump merge has to find the same dump",
                       "name the folder that holds the files");
  }
}

}  // namespace

Option shard_option(ShardOptions& options) {
  const auto take = [&options](const std::string& typed) {
    const Result<Shard> shard = parse_shard(typed);
    if (!shard) throw UsageError("--shard: " + shard.error().message, shard.error().hint);
    options.shard = *shard;
  };
  return {.names = "--shard",
          .value = OptionValue::text(take, "I/N"),
          .group = kOutputGroup,
          .help =
              "Do only the I-th of N shares of the work, and write what was found out to --out as a part. msdump "
              "merge makes of all parts what one run would have written",
          .use = OptionUse::kShard};
}

Option part_resume_option(ShardOptions& options) {
  return {.names = "--resume",
          .value = OptionValue::flag(options.resume),
          .group = kOutputGroup,
          .help = "With --shard: leave a part that is there already",
          .use = OptionUse::kShard,
          .needs = {{"shard"}}};
}

std::vector<Option> part_options(ShardOptions& options, std::string& part) {
  Option out = output_option(part, "With --shard: the part");
  out.is_common = false;
  out.needs = {{"shard", "--out names the part; results go to standard output"}};
  return {shard_option(options), part_resume_option(options), std::move(out)};
}

void check_shard_options(const Session& session) {
  const OptionTable& options = options_of(session);
  for (const Option& option : options.options()) {
    if (!option.is_given()) continue;
    if (option.use == OptionUse::kOutput)
      throw UsageError(fmt::format("{} does not go with --shard", option.spelling()),
                       "give it to msdump merge, if it takes it");
    if (option.use == OptionUse::kWholeRun)
      throw UsageError(fmt::format("{} needs the whole run, without --shard", option.spelling()));
  }
  refuse_list_on_stdin(options);
  if (!options.is_given("out"))
    throw UsageError("--shard writes a part: --out is needed", "--shard 1/4 -out part-1-of-4");
}

std::string catalogue_digest(std::initializer_list<const DumpIndex*> indexes) {
  std::string text;
  for (const DumpIndex* const index : indexes) {
    text += "dump\n";
    for (const IndexedFile& file : index->files()) {
      const bool counts = (file.family != nullptr && !file.by_content) || is_read(file.kind);
      if (!counts) continue;  // logs grow, and a part may lie beside the dump
      text += fmt::format("{} {} {}/{}\n", index->folders()[file.folder].root, file.size, index->folder_of(file),
                          std::string_view(file.name));
    }
  }
  return kernels::hex(kernels::sha1(std::as_bytes(std::span(text.data(), text.size()))));
}

Status check_inputs(const Session& session, std::initializer_list<const DumpIndex*> indexes) {
  if (session.parts == nullptr || session.parts->header().inputs == catalogue_digest(indexes)) return {};
  return fail(make_error(ErrorCode::kUsage, "the dump has other files now than when the parts were made")
                  .with_hint("merge from the same folder, or run all shards again"));
}

PartRun::PartRun(Session& session, const ShardOptions& options, std::string path,
                 std::initializer_list<const DumpIndex*> indexes)
    : session_(session), options_(options), path_(std::move(path)) {
  header_.version = version_number();
  header_.command = session.command.name;
  header_.shard = *options.shard;
  header_.inputs = catalogue_digest(indexes);
  header_.options = normalised_options(options_of(session));
  for (const DumpIndex* const index : indexes) {
    for (const Error& problem : index->problems()) {
      session.messages.warning(problem);  // merge says whether it is an error
      if (header_.problems.size() < kMostProblems)
        header_.problems.push_back(fmt::format("{}: {}", problem.path, problem.message));
    }
  }
}

bool PartRun::is_done() const {
  if (!options_.resume) return false;
  const Result<File> file = File::open(path_);
  if (!file) return false;
  const auto head = file->head();
  if (file->size() > 0 && !looks_like_part({reinterpret_cast<const char*>(head.data()), head.size()}))
    throw UsageError(fmt::format("--resume: {} is not a part of a run", path_),
                     "name the part with --out, or another file that is not there yet");
  const Result<LargeText> text = read_large_text(*file, kMostPartBytes, "a part");
  const Result<ReadPart> part = text ? read_part(text->view(), path_) : fail(text.error());
  if (!part) return false;
  const PartHeader& there = part->header;
  const bool same = there.version == header_.version && there.command == header_.command &&
                    there.shard == header_.shard && there.inputs == header_.inputs && there.options == header_.options;
  if (same) session_.messages.summary(fmt::format("part {} is there already: {}", to_string(there.shard), path_));
  return same;
}

std::vector<bool> PartRun::share(std::span<const uint64_t> bytes) const {
  const std::vector<uint32_t> shares = shares_of(bytes, header_.shard.count);
  std::vector<bool> own(shares.size());
  for (size_t i = 0; i < own.size(); ++i) own[i] = shares[i] == header_.shard.index;
  return own;
}

std::vector<bool> PartRun::take(std::span<const uint64_t> bytes) {
  std::vector<bool> own = share(bytes);
  count(own.size(), static_cast<uint64_t>(std::count(own.begin(), own.end(), true)));
  return own;
}

void PartRun::count(uint64_t units, uint64_t own) {
  header_.units = units;
  own_ = own;
}

RunContext PartRun::context() {
  RunContext context = session_.context;
  context.facts = &facts_;
  return context;
}

ExitCode PartRun::finish(std::string_view unit) {
  session_.context.progress->stop();
  if (session_.cancel.cancelled()) return ExitCode::kOk;  // the frame turns the signal into the code
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  if (const Status made = make_directories(folder); !made) return session_.end_with(made.error());
  if (const Status possible = check_is_no_pipe(path_); !possible) return session_.end_with(possible.error());
  if (const Status written = write_file(path_, part_text(header_, facts_.facts())); !written)
    return session_.end_with(written.error());
  session_.messages.summary(
      fmt::format("part {}: {} of {}", to_string(header_.shard), own_, plural(header_.units, unit)));
  return ExitCode::kOk;
}

}  // namespace msdump::cli
