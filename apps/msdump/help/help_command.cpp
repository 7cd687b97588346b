// msdump help [COMMAND]
#include <algorithm>

#include <CLI/CLI.hpp>

#include "frame/cli.h"
#include "help/help.h"

namespace msdump::cli {
namespace {

class Help : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override {
    static const CommandInfo info{.name = "help",
                                  .order = 100,
                                  .summary = "this screen, or the help of one command",
                                  .usage = "[COMMAND] [--man]",
                                  .description = "Prints the first screen, or what COMMAND --help prints.",
                                  .examples = {{"msdump help convert", "the same as msdump convert --help"},
                                               {"msdump help --man | man -l -", "the manual page"}},
                                  .done = {},
                                  .no = {},
                                  .works = false};
    return info;
  }

  void declare(CLI::App& app) override {
    app.add_option("COMMAND", command_, "The command")->group("");
    app.add_flag("--man", man_, "The manual page, for man -l -")->group(kGeneralGroup);
  }

  ExitCode run(Session& session) override {
    if (man_) {
      (void)session.out.write(man_page(session.tree));
      return ExitCode::kOk;
    }
    if (command_.empty()) {
      (void)session.out.write(overview(session.tree));
      return ExitCode::kOk;
    }
    const CommandTree::Entry& entry = session.tree.find(command_);
    const size_t width = std::clamp<size_t>(session.terminal.out_width, 60, 100);
    (void)session.out.write(command_help(entry.info(), *entry.app, width));
    return ExitCode::kOk;
  }

 private:
  std::string command_;
  bool man_ = false;
};

const Registration kHelpCommand{[] { return std::make_unique<Help>(); }};

}  // namespace
}  // namespace msdump::cli
