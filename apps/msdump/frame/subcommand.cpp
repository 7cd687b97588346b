#include "frame/subcommand.h"

#include <algorithm>

#include "frame/cli.h"

namespace msdump::cli {
namespace {

// A function's static, since registrations of other files run before this file's own statics are set up.
std::vector<CommandMaker>& makers() {
  static std::vector<CommandMaker> list;
  return list;
}

}  // namespace

Registration::Registration(CommandMaker maker) { makers().push_back(std::move(maker)); }

std::vector<std::unique_ptr<Command>> make_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  for (const CommandMaker& make : makers()) commands.push_back(make());
  // The order of registration is the linker's, which must not show.
  std::sort(commands.begin(), commands.end(), [](const std::unique_ptr<Command>& a, const std::unique_ptr<Command>& b) {
    return std::pair(a->info().order, a->info().name) < std::pair(b->info().order, b->info().name);
  });
  return commands;
}

size_t Command::ignored(std::span<const std::string>) { return 0; }

std::unique_ptr<report::RowSink> Session::open_report(report::Form form, std::vector<std::string> dumps,
                                                      std::vector<report::Column> columns) const {
  report::Report report{std::string(command.name), std::string(version_number()), std::move(dumps), std::move(columns)};
  report::SinkOptions options;
  options.max_width = terminal.out_tty ? terminal.out_width : 0;
  options.for_terminal = terminal.out_tty;
  options.held = &document.closing;
  return report::make_sink(form, out, std::move(report), options);
}

ExitCode Session::end_with(const Error& error) const {
  if (error.code != ErrorCode::kCancelled) messages.error(error);
  return exit_code_for(error.code);
}

}  // namespace msdump::cli
