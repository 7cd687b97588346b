// The command line: the tree of commands and options, and the frame that runs a command. Only an ExitCode leaves here:
// errors of CLI11, of the library and our own bugs all become a message and a code.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frame/subcommand.h"

namespace msdump::cli {

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
