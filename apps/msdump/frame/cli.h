// --json: `failures` of the document has everything that was said to have failed, whenever a command said it, and a command
// that ended before it had rows prints a document nevertheless. So the frame writes the end of every document.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frame/subcommand.h"

namespace CLI {
class App;
}  // namespace CLI

namespace msdump::cli {

[[nodiscard]] bool asks_for_json(const CLI::App& app);  // that has parsed its options
// The dumps, or what a command has instead, as typed.
[[nodiscard]] std::vector<std::string> typed_dumps(const CLI::App& app);

// Ends a document that was begun. Else prints one, unless anything was printed, or the run was interrupted.
void finish_document(PendingDocument& document, Output& out, const Messages& messages, const CancelToken& cancel,
                     const std::string& command, const std::vector<std::string>& dumps);

// The command line: the tree of commands and options, and the frame that runs a command. Only an ExitCode leaves here:
// errors of CLI11, of the library and our own bugs all become a message and a code.

class CommandTree {
 public:
  struct Entry {
    std::unique_ptr<Command> command;
    std::unique_ptr<CLI::App> app;
    std::unique_ptr<GeneralOptions> general;
    [[nodiscard]] const CommandInfo& info() const { return command->info(); }
  };

  CommandTree();
  ~CommandTree();
  CommandTree(const CommandTree&) = delete;
  CommandTree& operator=(const CommandTree&) = delete;

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  // Throws UsageError with did-you-mean.
  [[nodiscard]] const Entry& find(std::string_view name) const;

 private:
  std::vector<Entry> entries_;
};

// Everything main does, on any descriptors: the tests call it too.
struct Streams {
  int out = 1, err = 2;
};
[[nodiscard]] ExitCode run(const std::vector<std::string>& arguments, const Streams& streams);

// Text of --version.
[[nodiscard]] std::string version_text();
[[nodiscard]] std::string_view version_number();

}  // namespace msdump::cli
