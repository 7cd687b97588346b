#include "frame/cli.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "frame/command_line.h"
#include "frame/messages.h"
#include "frame/signals.h"
#include "frame/usage.h"
#include "help/help.h"
#include "help/other_names.h"
#include "io/dir_walk.h"
#include "kernels/cpu.h"

namespace msdump::cli {
namespace {

// The failures that a command has put into its document. Their paths are relative to a dump or to OUT, so an error is
// known by any end of its path.
class KnownFailures {
 public:
  explicit KnownFailures(const std::vector<report::Object>& failures) {
    for (const report::Object& failure : failures) known_.emplace(failure.text("path"), key_of(failure));
  }
  [[nodiscard]] bool have(const Error& error) const {
    const std::string key = key_of(report::failure_object(error));
    const std::string_view path = error.path;
    if (known_.contains({std::string(path), key})) return true;
    for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
      if (known_.contains({std::string(path.substr(slash + 1)), key})) return true;
    }
    return false;
  }

 private:
  static std::string key_of(const report::Object& failure) {
    return fmt::format("{}\n{}\n{}", failure.text("code"), failure.text("tensor"), failure.text("message"));
  }
  std::set<std::pair<std::string, std::string>> known_;  // path and the rest
};

}  // namespace

std::vector<std::string> typed_dumps(const OptionTable& options) {
  std::vector<std::string> dumps;
  for (const char* const name : {"dump", "DUMP", "PATH", "FILE", "PART"}) {
    const Option* const option = options.find(name);
    if (option != nullptr) dumps.insert(dumps.end(), option->typed.begin(), option->typed.end());
  }
  return dumps;
}

void finish_document(PendingDocument& document, Output& out, const Messages& messages, const CancelToken& cancel,
                     const std::string& command, const std::vector<std::string>& dumps) {
  if (!document.closing) {
    if (out.used() || document.answered || cancel.cancelled()) return;
    report::Report report{command, std::string(version_number()), dumps, {}};
    (void)report::make_sink(report::Form::kJson, out, std::move(report), {.held = &document.closing})->finish({});
  }
  report::Closing closing = std::move(*document.closing);
  document.closing.reset();
  const KnownFailures known(closing.failures);
  const RelativePaths relative(dumps);
  for (Error error : messages.errors()) {
    if (known.have(error)) continue;
    error.path = relative.of(error.path);
    closing.failures.push_back(report::failure_object(error));
  }
  (void)report::write_json_end(out, closing);
}

namespace {

constexpr size_t kNarrowestHelp = 60, kWidestHelp = 100;

// The last --color of a command line that may be invalid.
When typed_color(const std::vector<std::string>& arguments) {
  When chosen = When::kAuto;
  for (size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    std::string_view word = arguments[i];
    word.remove_prefix(word.starts_with("--") ? 2 : word.starts_with("-") ? 1 : word.size());
    if (!word.starts_with("color")) continue;
    word.remove_prefix(std::string_view("color").size());
    if (word.empty() && i + 1 < arguments.size()) word = arguments[i + 1];
    if (word.starts_with('=')) word.remove_prefix(1);
    const std::string lower = to_lower(word);
    if (lower == "never") chosen = When::kNever;
    if (lower == "always") chosen = When::kAlways;
    if (lower == "auto") chosen = When::kAuto;
  }
  return chosen;
}

// Whether a command line that may be invalid asks a command for JSON.
bool types_json(const std::vector<std::string>& arguments) {
  for (size_t i = 1; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (arguments[i] == "--json" || arguments[i] == "-json") return true;
  }
  return false;
}

// The process from arguments to exit code, with its streams.
class Program {
 public:
  Program(const std::vector<std::string>& arguments, const Streams& streams)
      : arguments_(arguments),
        facts_(terminal_facts(streams.out, streams.err)),
        out_(streams.out, facts_.out_tty, &process_cancel_token()),
        console_(streams.err, &process_cancel_token()),
        messages_(console_),
        progress_(console_) {
    out_.before_write([this] {
      if (facts_.out_tty) console_.status("");
    });
    out_.when_reader_gone([] { process_cancel_token().cancel(); });
    GeneralOptions early;  // --color applies even to errors of the command line
    early.color = typed_color(arguments);
    json_ = types_json(arguments);
    configure_messages(early);
  }

  ExitCode guarded() {
    ExitCode code = ExitCode::kInternal;
    try {
      code = dispatch();
    } catch (const UsageError& error) {
      messages_.error(ErrorCode::kUsage, speaker_.empty() ? error.message() : speaker_ + ": " + error.message(),
                      error.hint());
      code = ExitCode::kUsage;
    } catch (const std::bad_alloc&) {
      messages_.error(ErrorCode::kInternal, "out of memory", "fewer threads (-j) or a selection take less");
    } catch (const std::exception& error) {
      report_bug(error.what());
    } catch (...) {
      report_bug("an exception of an unknown kind");
    }
    if (json_) finish_document(document_, out_, messages_, process_cancel_token(), command_, dumps_);
    return finish(code);
  }

 private:
  ExitCode dispatch() {
    choose_cpu();
    if (arguments_.empty()) {
      std::string text = overview(tree_, kFewStarts);
      text.pop_back();
      console_.line(text);
      return ExitCode::kUsage;
    }
    const std::string& first = arguments_.front();
    if (first == "-h") return print(overview(tree_));
    if (first == "--help" || first == "-help") return print(program_help(tree_, help_width()));
    if (first == "--version" || first == "-V" || first == "-version") return print(version_text());
    const CommandTree::Entry* const entry = tree_.find(first);
    if (!first.starts_with('-')) command_ = first;
    if (entry == nullptr) throw unknown_command(tree_, arguments_);
    return run_command(*entry);
  }

  ExitCode run_command(const CommandTree::Entry& entry) {
    const CommandInfo& info = entry.info();
    speaker_ = info.name;
    answers_ = info.answers;
    OptionTable& options = *entry.options;
    json_ = json_ && options.find("json") != nullptr;
    const std::vector<std::string> rest(arguments_.begin() + 1, arguments_.end());
    Prepared prepared = prepare_arguments(rest, OptionNames(options), *entry.command);
    if (prepared.help) return print(command_help(info, options, help_width()));
    if (prepared.short_help) return print(short_help(info, options, help_width()));
    if (prepared.version) return print(version_text());
    parse_options(options, info.name, std::move(prepared.arguments),
                  [this](const std::string& name) { return commands_with(tree_, name); });

    const GeneralOptions& general = *entry.general;
    json_ = options.is_given("json");
    dumps_ = typed_dumps(options);
    check_option_rules(options);
    configure_messages(general);
    progress_.enable(use_progress(general.progress, general.quiet, facts_), facts_.err_width);
    const Log log(console_, general.verbosity);
    const Result<unsigned> jobs = jobs_of(general.jobs);
    if (!jobs) throw UsageError(jobs.error().message, jobs.error().hint);
    WorkerPool pool(info.works ? *jobs : 1);
    Session session{info,
                    tree_,
                    general,
                    facts_,
                    out_,
                    messages_,
                    process_cancel_token(),
                    {pool, process_cancel_token(), &progress_},
                    arguments_,
                    document_};
    log_step(fmt::format("msdump {} {}, kernels for {}", version_number(), info.name, kernels::cpu_target()));
    const Progress::Clock::time_point started = Progress::Clock::now();
    const ExitCode code = entry.command->run(session);
    const std::chrono::duration<double> taken = Progress::Clock::now() - started;
    log_step(fmt::format("finished in {:.3f} s", taken.count()));
    return code;
  }

  void choose_cpu() {
    const Status status = kernels::choose_cpu_target(environment("MSDUMP_CPU").value_or(""));
    if (!status) throw UsageError("MSDUMP_CPU: " + status.error().message, status.error().hint);
  }

  void configure_messages(const GeneralOptions& general) {
    const bool color = use_color(general.color, facts_.err_tty, facts_);
    messages_.configure({general.quiet, general.verbosity, color, json_});
  }

  [[nodiscard]] size_t help_width() const { return std::clamp(facts_.out_width, kNarrowestHelp, kWidestHelp); }

  ExitCode print(const std::string& text) {
    (void)out_.write(text);  // the stream keeps its error for finish()
    return ExitCode::kOk;
  }

  void report_bug(std::string_view what) {
    std::string line = "msdump";
    for (const std::string& argument : arguments_) line += " " + argument;
    messages_.error(ErrorCode::kInternal, fmt::format("internal error: {}", what),
                    fmt::format("this is a bug in msdump; please report it with this line and these two: version {}, "
                                "command line: {}",
                                version_number(), line));
  }

  ExitCode finish(ExitCode code) {
    progress_.finish();
    const bool ended_early = out_.reader_gone();
    const Status flushed = out_.flush();
    messages_.finish();
    // An interruption is reported as its signal, not through the errors that it caused.
    if (const std::optional<ExitCode> signal = signal_exit_code()) return *signal;
    if (out_.reader_gone()) return code_without_reader(code, ended_early);
    if (flushed) return code;
    messages_.error(flushed.error());
    return worse(code == ExitCode::kUsage ? ExitCode::kOk : code, ExitCode::kSomeFailed);
  }

  // A reader that has seen enough is no failure. A run that it ended early knows no answer, unless what it saw until then
  // is one: that it found something.
  [[nodiscard]] ExitCode code_without_reader(ExitCode code, bool ended_early) const {
    if (!answers_) return ExitCode::kOk;
    return ended_early && code == ExitCode::kOk ? ExitCode::kReaderGone : code;
  }

  const std::vector<std::string>& arguments_;
  bool answers_ = false;  // CommandInfo
  std::string speaker_;   // the subcommand, once it is known
  // For --json, which the command line may ask for before it is understood.
  bool json_ = false;
  std::string command_;
  std::vector<std::string> dumps_;
  PendingDocument document_;
  TerminalFacts facts_;
  Output out_;
  Console console_;
  Messages messages_;
  Progress progress_;
  CommandTree tree_;
};

}  // namespace

CommandTree::CommandTree() {
  for (std::unique_ptr<Command>& command : make_commands()) {
    Entry entry{std::move(command), std::make_unique<OptionTable>(), std::make_unique<GeneralOptions>()};
    entry.command->declare(*entry.options);
    if (entry.info().works) entry.options->add(general_options(*entry.general));
    entry.options->add(text_options());
    entries_.push_back(std::move(entry));
  }
}

CommandTree::~CommandTree() = default;

const CommandTree::Entry* CommandTree::find(std::string_view name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.info().name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

ExitCode run(const std::vector<std::string>& arguments, const Streams& streams) {
  return Program(arguments, streams).guarded();
}

}  // namespace msdump::cli
