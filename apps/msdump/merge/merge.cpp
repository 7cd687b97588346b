// msdump merge: of the parts that a command wrote with --shard, what one run of it would have written.
//
// The command runs again with the options of the parts. It finds in them what it would find out by reading tensors
// (parts/fact_store.h), and judges, orders and prints as always: that is why the bytes are the same.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "frame/cli.h"
#include "frame/command_line.h"
#include "frame/subcommand.h"
#include "frame/usage.h"
#include "io/atomic_file.h"
#include "parts/part_file.h"
#include "shared/sharding.h"

namespace msdump::cli {
namespace {

const CommandInfo& merge_info() {
  static const CommandInfo info{
      .name = "merge",
      .order = 58,
      .summary = "one result of the parts that runs with --shard wrote",
      .usage = "PART... [-out PATH] [OPTIONS]",
      .description =
          "Makes of all parts of a run of stats, check, diff or convert what one run without --shard would have "
          "written, to the byte, with its exit code. Needs the names and headers of the dump, not its tensors. Refuses "
          "a "
          "part that is cut, given twice, or of another version, other options or another dump, and names those that "
          "are missing. Runs in the folder that the shards ran in, as their paths may be relative to it.",
      .examples = {{"msdump merge part1 part2 part3 part4 --json -out check.json",
                    "after msdump check -d dump --shard 1/4 -out part1, on another machine 2/4, ..."},
                   {"msdump merge parts/* --junit check.xml --report check.html", "in CI"},
                   {"msdump merge parts/* -out statistics", "of stats: a tree of statistic.csv"}},
      .done = "what it means for the command of the parts",
      .no = "what it means for the command of the parts",
      .answers = true};
  return info;
}

class Merge : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return merge_info(); }

  void declare(CLI::App& app) override {
    add_positionals(app, "PART", parts_, "Parts of one run, in any order");
    add_output_option(app, out_,
                      "Where the result goes: a file; of stats without --json, --jsonl and --csv the folder for a tree "
                      "of statistic.csv; of convert the folder that its shards wrote to");
    add_report_options(app, form_);
    // Those of the command that are typed here.
    const auto add_file = [&](const char* name, std::string& path, const char* description) {
      app.add_option(name, path, description)->type_name("FILE")->group(kOutputGroup);
    };
    add_file("--junit", junit_, "Of check: also write the findings as JUnit XML");
    add_file("--report", report_, "Of check and diff: also write one HTML page");
    add_file("--write-baseline", baseline_, "Of diff: write all differences as accepted ones");
    app.add_flag("--all", all_, "Of check and diff: every row in the table")->group(kOutputGroup);
  }

  ExitCode run(Session& session) override {
    if (parts_.empty()) throw UsageError("no parts are given", "msdump merge parts/*");
    Result<PartSet> parts = PartSet::read(parts_, version_number());
    if (!parts) {
      Error error = parts.error();
      error.code = ErrorCode::kUsage;  // a set with such a part is refused
      return session.end_with(error);
    }
    return run_again(session, *parts);
  }

 private:
  static const CommandTree::Entry& entry_of(const CommandTree& tree, const PartHeader& header) {
    const CommandTree::Entry& entry = tree.find(header.command);
    if (entry.app->get_option_no_throw("--shard") == nullptr)
      throw UsageError(fmt::format("the parts are of '{}', which has no parts", header.command));
    return entry;
  }

  // Of the parts, then those of the output that were typed here.
  std::vector<std::string> arguments_of(const PartHeader& header, const CLI::App& typed, const CLI::App& app) const {
    std::vector<std::string> arguments, positionals;
    for (const std::string& option : header.options) {
      const std::string name = option.substr(0, option.find('=')).substr(std::min<size_t>(option.size(), 2));
      if (positionals.empty() && option.starts_with("--") && is_output_option(name))
        throw UsageError(fmt::format("the parts have {}, which no shard takes", option));
      (positionals.empty() && option != "--" ? arguments : positionals).push_back(option);
    }
    for (const CLI::Option* const option : typed.get_options()) {
      const std::string name = option->get_lnames().empty() ? "" : option->get_lnames().front();
      if (option->count() == 0 || !is_output_option(name) || (name == "out" && !passes_out(header))) continue;
      if (app.get_option_no_throw("--" + name) == nullptr)
        throw UsageError(fmt::format("{} has no --{}", header.command, name));
      const bool flag = option->get_items_expected_max() == 0;
      arguments.push_back(flag ? "--" + name : fmt::format("--{}={}", name, option->results().front()));
    }
    arguments.insert(arguments.end(), positionals.begin(), positionals.end());
    return arguments;
  }

  // The command as it is mostly typed: what it works on, then options in the order of --help. Pages show it.
  static std::vector<std::string> shown_arguments(const std::string& command, const CLI::App& app) {
    std::vector<std::string> arguments = {command}, options;
    for (const CLI::Option* const option : app.get_options()) {
      const auto &letters = option->get_snames(), &names = option->get_lnames();
      const std::string name = !letters.empty() ? "-" + letters.front() : names.empty() ? "" : "--" + names.front();
      const bool flag = option->get_items_expected_max() == 0;
      for (const std::string& value : option->results()) {
        std::vector<std::string>& words = name.empty() ? arguments : options;
        if (!name.empty()) words.push_back(name);
        if (!flag) words.push_back(value);
      }
    }
    arguments.insert(arguments.end(), options.begin(), options.end());
    return arguments;
  }

  // To the command, which writes a tree there. Else it is a file for what the command prints.
  [[nodiscard]] bool passes_out(const PartHeader& header) const {
    return header.command == "convert" || (header.command == "stats" && form_ == report::Form::kTable);
  }

  ExitCode run_again(Session& session, PartSet& parts) const {
    const PartHeader& header = parts.header();
    const CommandTree::Entry& entry = entry_of(session.tree, header);
    const CLI::App& typed = *session.tree.find(info().name).app;
    const std::vector<std::string> options = arguments_of(header, typed, *entry.app);
    parse_options(*entry.app, OptionNames(*entry.app), options);
    const std::vector<std::string> arguments = shown_arguments(header.command, *entry.app);
    if (out_.empty() || passes_out(header)) return run_on(session, session.out, entry, arguments, parts);

    if (const Status possible = check_is_no_pipe(out_); !possible) return session.end_with(possible.error());
    Result<AtomicFile> file = AtomicFile::create(out_);
    if (!file) return session.end_with(file.error());
    Output out(file->descriptor(), false, &session.cancel);
    const ExitCode code = run_on(session, out, entry, arguments, parts);
    session.document.answered = true;
    Status written = out.flush();
    if (session.cancel.cancelled() || !out.used()) return code;
    if (written) written = file->commit();
    return written ? code : session.end_with(written.error());
  }

  static ExitCode run_on(Session& session, Output& out, const CommandTree::Entry& entry,
                         const std::vector<std::string>& arguments, PartSet& parts) {
    TerminalFacts terminal = session.terminal;
    terminal.out_tty = terminal.out_tty && &out == &session.out;
    RunContext context = session.context;
    context.facts = &parts;
    PendingDocument document;
    Session inner{entry.info(),   session.tree, session.general, terminal, out,   session.messages,
                  session.cancel, context,      arguments,       document, &parts};
    const ExitCode code = entry.command->run(inner);
    if (asks_for_json(*entry.app))
      finish_document(document, out, session.messages, session.cancel, std::string(inner.command.name),
                      typed_dumps(*entry.app));
    return code;
  }

  std::vector<std::string> parts_;
  std::string out_, junit_, report_, baseline_;  // but for `out_` read from the parsed options, by their names
  bool all_ = false;
  report::Form form_ = report::Form::kTable;
};

const Registration kMergeCommand{[] { return std::make_unique<Merge>(); }};

}  // namespace
}  // namespace msdump::cli
