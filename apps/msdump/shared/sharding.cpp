#include "shared/sharding.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "frame/cli.h"
#include "frame/usage.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "kernels/digest/digest.h"
#include "shared/options.h"

namespace msdump::cli {
namespace {

constexpr std::array<std::string_view, 11> kOutputOptions = {
    "json", "jsonl", "csv", "junit", "report", "all", "write-baseline", "write-layout", "in-place", "force", "out"};
constexpr std::array<std::string_view, 3> kOwnOptions = {"shard", "resume", "out"};
constexpr uint64_t kMostPartBytes = uint64_t{64} << 30;
constexpr size_t kMostProblems = 8;  // named in a part

bool is_general(const CLI::Option& option) { return option.get_group() == kGeneralGroup; }

template <class Names>
bool is_among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const CLI::App& app_of(const Session& session) { return *session.tree.find(session.command.name).app; }

// The arguments that give a command the options it has now, whatever order they were typed in.
std::vector<std::string> normalised_options(const CLI::App& app) {
  std::vector<std::string> options, positionals;
  for (const CLI::Option* const option : app.get_options()) {
    if (option->count() == 0 || is_general(*option)) continue;
    const std::string name = option->get_lnames().empty() ? "" : option->get_lnames().front();
    if (is_among(kOwnOptions, name)) continue;
    const bool flag = option->get_items_expected_max() == 0;
    for (const std::string& value : option->results()) {
      if (name.empty()) {
        positionals.push_back(value);
      } else {
        options.push_back(flag ? "--" + name : fmt::format("--{}={}", name, value));
      }
    }
  }
  const CLI::Option* const dump = app.get_option_no_throw("--dump");
  if (dump != nullptr && dump->count() == 0 && positionals.empty()) {
    const std::string variable = environment("MSDUMP_DUMP").value_or("");
    options.push_back("--dump=" + (variable.empty() ? "." : variable));
  }
  if (!positionals.empty()) options.emplace_back("--");
  options.insert(options.end(), positionals.begin(), positionals.end());
  return options;
}

void refuse_list_on_stdin(const CLI::App& app) {
  for (const char* const name : {"--dump", "DUMP"}) {
    const CLI::Option* const option = app.get_option_no_throw(name);
    if (option != nullptr && is_among(option->results(), "-"))
      throw UsageError("--shard reads no list on standard input: msdump merge has to find the same dump",
                       "name the folder that holds the files");
  }
}

}  // namespace

void add_shard_option(CLI::App& app, ShardOptions& options) {
  app.add_option_function<std::string>(
         "--shard",
         [&options](const std::string& typed) {
           const Result<Shard> shard = parse_shard(typed);
           if (!shard) throw UsageError("--shard: " + shard.error().message, shard.error().hint);
           options.shard = *shard;
         },
         "Do only the I-th of N shares of the work, and write what was found out to --out as a part. msdump merge "
         "makes "
         "of all parts what one run would have written")
      ->type_name("I/N")
      ->group(kOutputGroup);
}

void add_part_resume(CLI::App& app, ShardOptions& options) {
  app.add_flag("--resume", options.resume, "With --shard: leave a part that is there already")->group(kOutputGroup);
}

void add_part_options(CLI::App& app, ShardOptions& options, std::string& part) {
  add_shard_option(app, options);
  add_part_resume(app, options);
  add_output_option(app, part, "With --shard: the part");
}

void check_part_options(const Session& session, const ShardOptions& options, const std::string& part,
                        std::initializer_list<std::string_view> further) {
  if (options.shard) return check_shard_options(session, further);
  check_part_resume(options);
  if (!part.empty()) throw UsageError("--out is the part that --shard writes; results go to standard output");
}

void check_part_resume(const ShardOptions& options) {
  if (options.resume && !options.shard) throw UsageError("--resume leaves a part that is there: it goes with --shard");
}

bool is_output_option(std::string_view name) { return is_among(kOutputOptions, name); }

void check_shard_options(const Session& session, std::initializer_list<std::string_view> further) {
  const CLI::App& app = app_of(session);
  for (const CLI::Option* const option : app.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const std::string& name = option->get_lnames().front();
    if (is_output_option(name) && name != "out")
      throw UsageError(fmt::format("--{} does not go with --shard", name), "give it to msdump merge, if it takes it");
    if (is_among(further, name)) throw UsageError(fmt::format("--{} needs the whole run, without --shard", name));
  }
  refuse_list_on_stdin(app);
  const CLI::Option* const out = app.get_option_no_throw("--out");
  if (out == nullptr || out->count() == 0)
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
  header_.options = normalised_options(app_of(session));
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

std::vector<bool> PartRun::take(std::span<const uint64_t> bytes) {
  const std::vector<uint32_t> shares = shares_of(bytes, header_.shard.count);
  std::vector<bool> own(shares.size());
  for (size_t i = 0; i < own.size(); ++i) own[i] = shares[i] == header_.shard.index;
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
