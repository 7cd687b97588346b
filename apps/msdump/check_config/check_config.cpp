// msdump check-config: configurations of dumps, before the run.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"
#include "check_config/check_config_report.h"
#include "config/json_faults.h"
#include "config/lint.h"
#include "frame/subcommand.h"
#include "frame/usage.h"
#include "graph/load/load_graph.h"
#include "io/dir_walk.h"
#include "io/file.h"
#include "shared/dump_paths.h"

namespace msdump::cli {
namespace {

const CommandInfo& check_config_info() {
  static const CommandInfo info{
      .name = "check-config",
      .order = 61,
      .summary = "says what is wrong with a dump configuration before the run",
      .usage = "FILE... [--framework-version V] [--estimate IR] [OPTIONS] | --explain KEY",
      .description =
          "Reads MindSpore's data_dump.json, msprobe's config.json and the dump configuration of AscendCL, "
          "recognised by content, and reports with line and column (in characters) what the framework would do. An "
          "error: every release, framework and device that is not excluded would reject the run, abort, or write "
          "nothing. A warning: some of them would, or silently take the entry for something else. An empty path is "
          "judged by MS_DIAGNOSTIC_DATA_PATH; without FILE the file in MINDSPORE_DUMP_CONFIG is read. A FILE may be "
          "/dev/stdin or a pipe; '-' reads a list of files from stdin.",
      .examples = {{"msdump check-config data_dump.json --framework-version 2.7", "for the release that will run"},
                   {"msdump check-config config.json --framework pytorch --msprobe-version 8.3",
                    "msprobe's, for one framework and release"},
                   {"msdump check-config data_dump.json --estimate rank_0/graphs",
                    "what a step would write, from the IR of an earlier run"},
                   {"msdump check-config --explain saved_data", "what a key does, its values and versions"}},
      .done = "no errors, perhaps warnings",
      .no = "at least one error",
      .answers = true,
      .other_names = {{"lint config configuration validate"}}};
  return info;
}

Error too_large(const std::string& path, const std::string& size) {
  return make_error(ErrorCode::kTooLarge, "{}; msdump reads configurations up to {}", size,
                    human_bytes(kMostConfigBytes))
      .with_path(path);
}

Result<std::string> read_file(const std::string& path) {
  MSDUMP_TRY(const File file, File::open(path));
  if (file.size() > kMostConfigBytes) return fail(too_large(path, human_bytes(file.size())));
  return read_text(file, kMostConfigBytes, "a configuration");
}

// Non-blocking: a FIFO may never have a writer. A standard input that is a socket cannot be opened by name.
Descriptor open_stream(const std::string& path) {
  if (path == "/dev/stdin" || path == "/dev/fd/0") return Descriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  return Descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

Result<std::string> read_from_stream(const std::string& path, const CancelToken& cancel) {
  const Descriptor descriptor = open_stream(path);
  if (!descriptor.valid()) return fail(system_error(errno, "open", path, ErrorCode::kReadFailed));
  auto text = read_stream(descriptor.get(), path, kMostConfigBytes, cancel);
  if (!text && text.error().code == ErrorCode::kTooLarge) return fail(too_large(path, "a longer text"));
  return text;
}

// The text of a file or a stream (/dev/stdin, a FIFO, the <(...) of a shell), at most kMostConfigBytes. Waits until the writer
// of a pipe closes it, or `cancel` is set.
Result<std::string> read_config(const std::string& path, const CancelToken& cancel) {
  switch (path_kind(path)) {
    case PathKind::kOther: return read_from_stream(path, cancel);
    case PathKind::kDirectory:
      return fail(make_error(ErrorCode::kUsage, "is a folder, not a configuration")
                      .with_path(path)
                      .with_hint(fmt::format("name the file, such as {}{}data_dump.json", path,
                                             path.ends_with('/') ? "" : "/")));
    default: return read_file(path);
  }
}

class CheckConfig : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return check_config_info(); }

  void declare(OptionTable& options) override {
    const auto take_framework_version = [this](const std::string& typed) { take_version(typed); };
    const auto take_msprobe_version = [this](const std::string& typed) { take_msprobe(typed); };
    options.add(
        {arguments_option("FILE", files_.positionals, "The configurations"),
         {.names = "-d,--dump",
          .value = OptionValue::texts(files_.options, "FILE[,FILE...]"),
          .group = kInputGroup,
          .help = "The configurations, the same as FILE; may be repeated"},
         {.names = "--framework-version",
          .other_names = "mindspore-version",
          .is_common = true,
          .value = OptionValue::text(take_framework_version, "V"),
          .group = kInputGroup,
          .help = "Release of MindSpore that will run; default: all from 1.3 on (from 1.0 for files in their form)"},
         {.names = "--msprobe-version",
          .is_common = true,
          .value = OptionValue::text(take_msprobe_version, "V"),
          .group = kInputGroup,
          .help = fmt::format("Release of msprobe (mindstudio-probe) that will run; default: {}, but a task that only "
                              "others have is a warning",
                              short_text(kNewestMsprobe))},
         {.names = "--device",
          .is_common = true,
          .value = OptionValue::choice<Device>(
              target_.device, {{"cpu", Device::kCpu}, {"gpu", Device::kGpu}, {"ascend", Device::kAscend}},
              {"device", {{"npu", "MindSpore calls an NPU ascend", "--device ascend"}}}),
          .group = kInputGroup,
          .help = "Device of the run; default: any"},
         {.names = "--framework",
          .is_common = true,
          .value = OptionValue::choice<Framework>(
              target_.framework, {{"mindspore", Framework::kMindSpore}, {"pytorch", Framework::kPyTorch}},
              {"framework"}),
          .group = kInputGroup,
          .help = "Framework of msprobe; default: both"},
         {.names = "--estimate",
          .other_names = "size",
          .is_common = true,
          .value = OptionValue::texts(ir_, "IR"),
          .group = kOutputGroup,
          .help = "Estimate how many tensors and bytes a step of this data_dump.json would write, from IR files (text "
                  "or protobuf), folders or globs; may be repeated"},
         {.names = "--explain",
          .other_names = "key",
          .is_common = true,
          .value = OptionValue::text([this](const std::string& typed) { key_ = typed; }, "KEY"),
          .suggestions = key_names(),
          .group = kOutputGroup,
          .help = "Print what a key does, its values and versions; a name or a glob"}});
    options.add(report_options(form_));
  }

  [[nodiscard]] std::vector<report::DocumentType> documents() const override {
    return {{.name = "check-config",
             .text = "The findings.",
             .row = &config_finding_rows().type(),
             .summary = &lint_summary().type(),
             .further = {{.key = "estimate",
                          .type = "object[]|null",
                          .text = "with --estimate, for each data_dump.json",
                          .of = config_estimate_type}}},
            {.name = "check-config --explain", .text = "Keys of configurations.", .row = &key_rows().type()}};
  }

  ExitCode run(Session& session) override {
    if (key_) return explain(session);
    const auto resolved = resolve(session);
    if (!resolved) return session.end_with(resolved.error());
    std::optional<LoadedGraph> graph;
    if (!ir_.empty()) {
      auto loaded = load(session);
      if (!loaded) return session.end_with(loaded.error());
      graph = std::move(*loaded);
    }
    for (const Error& error : resolved->missing) fail(session, why_missing(error));
    for (const std::string& path : resolved->paths) {
      if (session.context.cancel.cancelled()) return ExitCode::kOk;  // the frame turns the signal into the code
      check(session, path, graph ? &graph->graph : nullptr);
    }
    print(session);
    return code_;
  }

 private:
  void take_version(const std::string& typed) {
    const auto release = parse_release(typed);
    if (!release || release->version < known_releases().front()) {
      throw UsageError(fmt::format("--framework-version: '{}' is not a release of MindSpore that dumps", typed),
                       fmt::format("known releases are {} to {}", short_text(known_releases().front()),
                                   short_text(known_releases().back())));
    }
    target_.version = release->version;
    if (!release->exact) inexact_version_ = typed;
  }

  void take_msprobe(const std::string& typed) {
    const auto release = parse_release(typed);
    if (!release || release->version < kFirstMsprobe) {
      throw UsageError(
          fmt::format("--msprobe-version: '{}' is not a release of msprobe", typed),
          fmt::format("known releases are {} to {}", short_text(kFirstMsprobe), short_text(kNewestMsprobe)));
    }
    target_.msprobe = release->version;
  }

  ExitCode explain(Session& session) const {
    if (names_files()) throw UsageError("--explain does not take a FILE");
    if (is_for_people(form_)) {
      const size_t width = session.terminal.out_tty ? std::max<size_t>(session.terminal.out_width, 60) : 100;
      (void)session.out.write(key_text(*key_, width));
      return ExitCode::kOk;
    }
    const std::vector<const ConfigKey*> keys = find_keys(*key_);
    const auto sink = session.open_report(form_, {}, key_rows().columns());
    for (const ConfigKey* const key : keys) {
      if (!sink->row(key_rows().row(*key))) break;  // the stream remembers why
    }
    (void)sink->finish({});
    return ExitCode::kOk;
  }

  Result<ResolvedPaths> resolve(Session& session) {
    target_.diagnostic_path = environment("MS_DIAGNOSTIC_DATA_PATH").value_or("");
    if (names_files()) {
      MSDUMP_TRY(ResolvedPaths resolved, resolve_existing(files_, session.context.cancel));
      MSDUMP_CHECK_OK(check_list(resolved));
      return resolved;
    }
    const std::string variable = environment("MINDSPORE_DUMP_CONFIG").value_or("");
    if (variable.empty()) throw UsageError("name a configuration", "msdump check-config data_dump.json");
    files_.positionals = {variable};
    return resolve_existing(files_, session.context.cancel);
  }

  [[nodiscard]] bool names_files() const { return !files_.options.empty() || !files_.positionals.empty(); }

  // A configuration on standard input would be an error for each of its lines.
  [[nodiscard]] Status check_list(const ResolvedPaths& resolved) const {
    const auto is_dash = [](const std::string& typed) { return typed == "-"; };
    if (std::none_of(files_.options.begin(), files_.options.end(), is_dash) &&
        std::none_of(files_.positionals.begin(), files_.positionals.end(), is_dash))
      return {};
    for (const std::string& path : resolved.paths) {
      if (!trimmed(path).starts_with('{') || path_kind(path) != PathKind::kMissing) continue;
      return msdump::fail(make_error(ErrorCode::kUsage, "'-' reads a list of files, but standard input has JSON")
                              .with_hint("name /dev/stdin for a configuration on standard input"));
    }
    return {};
  }

  Result<LoadedGraph> load(Session& session) const {
    MSDUMP_TRY(const IrSearch search, find_ir(nullptr, ir_));
    MSDUMP_TRY(LoadedGraph loaded, load_graph(search.files, {}, session.context));
    for (const Error& failure : loaded.failures) session.messages.warning(failure);
    if (loaded.graph.size() == 0) return fail_no_ir();
    return loaded;
  }
  [[nodiscard]] tl::unexpected<Error> fail_no_ir() const {
    return msdump::fail(make_error(ErrorCode::kNotFound, "no operators in '{}'", fmt::join(ir_, "', '"))
                            .with_hint("name an IR: rank_0/graphs of an earlier dump, or a folder of save_graphs"));
  }

  // A file in a folder without search permission seems to be missing.
  static Error why_missing(const Error& missing) {
    const auto opened = File::open(missing.path);
    return opened || opened.error().code != ErrorCode::kPermission ? missing : opened.error();
  }

  void fail(Session& session, const Error& error) {
    session.messages.error(error);
    // A file that exists is an input that failed; a missing one is a usage error.
    code_ = worse(code_, error.code == ErrorCode::kPermission ? ExitCode::kSomeFailed : exit_code_for(error.code));
    failures_.push_back(report::failure_object(error));
  }

  void check(Session& session, const std::string& path, const OpGraph* graph) {
    auto text = read_config(path, session.context.cancel);
    if (!text && text.error().code == ErrorCode::kCancelled) return;
    if (!text) return fail(session, text.error());
    CheckedFile file{path, std::move(*text), {}, {}, {}};
    file.report = lint_config(file.text, target_);
    if (file.report.errors > 0) code_ = worse(code_, ExitCode::kNo);
    note_unused(session, file);
    if (graph != nullptr) estimate(session, file, *graph);
    checked_.push_back(std::move(file));
  }

  // Options without effect on this file.
  void note_unused(Session& session, const CheckedFile& file) const {
    const ConfigKind kind = file.report.kind;
    if (kind == ConfigKind::kUnknown) return;
    if (target_.version && kind != ConfigKind::kDataDump)
      session.messages.note("--framework-version is for MindSpore's data_dump.json");
    if (target_.msprobe && kind != ConfigKind::kMsprobe)
      session.messages.note("--msprobe-version is for msprobe's config.json");
    if (target_.msprobe && kind == ConfigKind::kMsprobe && *target_.msprobe > kNewestMsprobe)
      session.messages.note(fmt::format("msprobe {} is judged as {}, the newest known release",
                                        short_text(*target_.msprobe), short_text(kNewestMsprobe)));
    if (target_.framework && kind != ConfigKind::kMsprobe)
      session.messages.note("--framework is for msprobe's config.json");
    note_version(session);
  }

  // A release that is judged as another one.
  void note_version(Session& session) const {
    if (!target_.version) return;
    const bool newer = *target_.version > known_releases().back();
    if (!newer && inexact_version_.empty()) return;
    session.messages.note(fmt::format(
        "MindSpore {} is judged as {}{}",
        inexact_version_.empty() ? short_text(*target_.version) : escape_for_terminal(inexact_version_),
        short_text(newer ? known_releases().back() : *target_.version), newer ? ", the newest known release" : ""));
  }

  void estimate(Session& session, CheckedFile& file, const OpGraph& graph) const {
    const auto root = parse_json(repair_json(file.text).text);
    if (file.report.kind != ConfigKind::kDataDump || !root) {
      session.messages.warning(fmt::format("{}: --estimate is for MindSpore's data_dump.json", file.path));
      return;
    }
    const Setup setup{target_.version.value_or(known_releases().back()), target_.device.value_or(Device::kAscend),
                      Framework::kMindSpore};
    file.estimate = estimate_dump(graph, read_data_dump(*root), setup);
    // An error for this release and device may be only a warning for others.
    LintTarget chosen = target_;
    chosen.version = setup.version;
    chosen.device = setup.device;
    if (lint_config(file.text, chosen).errors > 0)
      file.refused_by = fmt::format("MindSpore {} on {}", short_text(setup.version), in_words(setup.device));
  }

  void print(Session& session) const {
    if (is_for_people(form_)) {
      std::string text;
      for (const CheckedFile& file : checked_) {
        for (const Finding& finding : file.report.findings) text += finding_text(file, finding);
        text += estimate_text(file);
      }
      (void)session.out.write(text);
    } else {
      print_report(session);
    }
    if (!checked_.empty()) session.messages.summary(lint_summary_text(checked_));
  }

  void print_report(Session& session) const {
    std::vector<std::string> paths;
    report::List estimates;
    for (const CheckedFile& file : checked_) {
      paths.push_back(file.path);
      if (file.estimate) estimates.push_back(estimate_value(file));
    }
    const auto sink = session.open_report(form_, paths, config_finding_rows().columns());
    for (const CheckedFile& file : checked_) {
      for (const Finding& finding : file.report.findings) {
        if (!sink->row(config_finding_rows().row({file, finding}))) return;  // the stream remembers why
      }
    }
    report::Object further;
    further.add("estimate", ir_.empty() ? report::Value() : report::Value(std::move(estimates)));
    (void)sink->finish({lint_summary().row(checked_), failures_, std::move(further)});
  }

  DumpOptions files_;
  LintTarget target_;
  std::string inexact_version_;  // as typed, if it is more than numbers
  std::vector<std::string> ir_;
  std::optional<std::string> key_;  // to explain
  report::Form form_ = report::Form::kTable;
  std::vector<CheckedFile> checked_;
  std::vector<report::Object> failures_;
  ExitCode code_ = ExitCode::kOk;
};

const Registration kCheckConfigCommand{[] { return std::make_unique<CheckConfig>(); }};

}  // namespace
}  // namespace msdump::cli
