// The command line: the tree of commands and options, and the frame that runs a command.
//
// The frame writes the end of every document of --json, because `failures` has all errors of the run, whenever a command
// reported them. A command that ended before it had rows prints a document, too.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frame/subcommand.h"

namespace msdump::cli {

// The dumps, or the files that a command takes instead, as typed.
[[nodiscard]] std::vector<std::string> typed_dumps(const OptionTable& options);

// Ends a document that was begun. Else prints one, unless anything was printed, or the run was interrupted.
void finish_document(PendingDocument& document, Output& out, const Messages& messages, const CancelToken& cancel,
                     const std::string& command, const std::vector<std::string>& dumps);

class CommandTree {
 public:
  struct Entry {
    std::unique_ptr<Command> command;
    std::unique_ptr<OptionTable> options;
    std::unique_ptr<GeneralOptions> general;
    [[nodiscard]] const CommandInfo& info() const { return command->info(); }
  };

  CommandTree();
  ~CommandTree();
  CommandTree(const CommandTree&) = delete;
  CommandTree& operator=(const CommandTree&) = delete;

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  // Null if there is no such command.
  [[nodiscard]] const Entry* find(std::string_view name) const;

 private:
  std::vector<Entry> entries_;
};

// The program, on any descriptors: main and the tests call it. Errors of CLI11, of the library and our own bugs all
// become a message and a code.
struct Streams {
  int out = 1, err = 2;
};
[[nodiscard]] ExitCode run(const std::vector<std::string>& arguments, const Streams& streams);

// Text of --version.
[[nodiscard]] std::string version_text();
[[nodiscard]] std::string_view version_number();

}  // namespace msdump::cli
