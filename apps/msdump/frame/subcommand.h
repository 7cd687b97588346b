// A subcommand. One file of its folder defines a Command and registers it:
//
//   class Stats : public Command { ... };
//   const Registration kStatsCommand{[] { return std::make_unique<Stats>(); }};
//
// and nothing else in this folder needs to know. All sources here are linked as objects, never through an archive, so the
// linker cannot drop the registration. The frame (cli.cpp) parses, prepares a Session, calls run and maps the outcome.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frame/messages.h"
#include "frame/options.h"
#include "frame/progress.h"
#include "frame/terminal.h"
#include "frame/usage.h"
#include "io/run_context.h"
#include "parts/part_file.h"
#include "report/row_type.h"
#include "shared/options.h"

namespace msdump::cli {

class CommandTree;

struct Example {
  std::string_view line;     // "msdump convert -d dump -out npy"
  std::string_view meaning;  // "all dump files below ./dump, as they are on the device"
};

// Names that other tools have for a command, and the options that go with them: "nan" stands for check --first.
struct OtherName {
  std::string_view words;  // separated by blanks
  std::string_view options = {};
};

struct CommandInfo {
  std::string_view name;
  int order = 0;                       // place in the list of commands
  std::string_view summary = {};       // one line of that list
  std::string_view usage = {};         // what follows "msdump NAME"
  std::string_view description = {};   // one paragraph
  std::vector<Example> examples = {};  // for --help and the manual page
  std::string_view done = {};          // what exit code 0 means, if it says more than "done"
  std::string_view no = {};            // what exit code 1 means; empty if it never comes
  bool answers = false;                // exit codes 0 and 1 are what the command was asked for
  bool works = true;                   // false: prints text only (help, completion) and takes no general options
  std::vector<OtherName> other_names = {};
};

// An option of other tools that is refused with an explanation.
struct RefusedOption {
  char letter;
  std::string_view message;
  std::string_view hint;
};

// --json: what a command leaves to the frame of its document (frame/cli.h).
struct PendingDocument {
  std::optional<report::Closing> closing;  // its end, once the command has finished the rows
  bool answered = false;                   // what it would say was written elsewhere
};

// The streams a command prints to, and the context that it passes to its work.
struct Session {
  const CommandInfo& command;
  const CommandTree& tree;
  const GeneralOptions& general;
  const TerminalFacts& terminal;
  Output& out;
  Messages& messages;
  CancelToken& cancel;
  RunContext context;                         // the pool is made once, from -j; the progress display is never null
  const std::vector<std::string>& arguments;  // as they were typed, the command first
  PendingDocument& document;
  const PartSet* parts = nullptr;  // that are merged; they are context.facts, too

  // The sink for the command's rows: heading, version and terminal filled in.
  [[nodiscard]] std::unique_ptr<report::RowSink> open_report(report::Form form, std::vector<std::string> dumps,
                                                             std::vector<report::Column> columns) const;
  // Prints an error that ends the command and returns its exit code; an interruption is not printed.
  [[nodiscard]] ExitCode end_with(const Error& error) const;
};

class Command {
 public:
  virtual ~Command() = default;
  [[nodiscard]] virtual const CommandInfo& info() const = 0;
  // Options bind to members of the command.
  virtual void declare(OptionTable& options) = 0;
  // The documents of --json, for docs/output.md and docs/schema.
  [[nodiscard]] virtual std::vector<report::DocumentType> documents() const { return {}; }
  // `-o` is refused everywhere; a command may add others, or a text of its own for `-o`.
  [[nodiscard]] virtual std::span<const RefusedOption> refused() const { return {}; }
  // How many of the remaining arguments, which begin with an option, to ignore for the sake of old scripts.
  virtual size_t ignored(std::span<const std::string> arguments);
  // May throw UsageError (usage.h); all other failures are a message and an exit code.
  virtual ExitCode run(Session& session) = 0;
};

using CommandMaker = std::function<std::unique_ptr<Command>()>;

struct Registration {
  explicit Registration(CommandMaker maker);
};

// Fresh commands, in their order.
[[nodiscard]] std::vector<std::unique_ptr<Command>> make_commands();

}  // namespace msdump::cli
