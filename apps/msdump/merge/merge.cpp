// msdump merge: combines the parts that a command wrote with --shard into the result of one run.
//
// The command runs again with the options of the parts. It takes the outcomes of the parts (parts/facts.h) in place of reading the
// tensors, and judges, orders and prints as always. So the bytes are the same.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

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
          "written, to the byte, with its exit code. Reads the names and headers of the dump; its tensors only for "
          "rules of "
          "check that compare several, and for operators that are wrong or differ. Refuses a part that is cut, given "
          "twice, or of another version, other options "
          "or "
          "another dump, and names those that are missing. Runs in the folder that the shards ran in, as their paths "
          "may be relative to it.",
      .examples = {{"msdump merge part1 part2 part3 part4 --json -out check.json",
                    "after msdump check -d dump --shard 1/4 -out part1, on another machine 2/4, ..."},
                   {"msdump merge parts/* --junit check.xml --report check.html", "in CI"},
                   {"msdump merge parts/* -out statistics", "of stats: a tree of statistic.csv"}},
      .done = "as for the command that wrote the parts",
      .no = "as for the command that wrote the parts",
      .answers = true,
      .other_names = {{"combine join collect"}}};
  return info;
}

class Merge : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return merge_info(); }

  void declare(OptionTable& options) override {
    // Options of the output that are passed to the command of the parts.
    const auto file = [](const char* name, std::string& path, const char* help) {
      return Option{.names = name,
                    .value = OptionValue::text(path, "FILE"),
                    .group = kOutputGroup,
                    .help = help,
                    .use = OptionUse::kOutput};
    };
    options.add({arguments_option("PART", parts_, "Parts of one run, in any order"),
                 output_option(out_,
                               "Where the result goes: a file; of stats without --json, --jsonl and --csv the folder "
                               "for a tree of statistic.csv; of convert the folder that its shards wrote to")});
    options.add(report_options(form_));
    options.add(
        {file("--junit", junit_, "Of check and diff: also write the findings as JUnit XML"),
         file("--summary", summary_, "Of check and diff: also write the answer as Markdown, for the page of a CI job"),
         file("--report", report_, "Of check and diff: also write one HTML page"),
         file("--write-baseline", baseline_, "Of diff: write all differences as accepted ones"),
         {.names = "--all",
          .is_common = true,
          .value = OptionValue::flag(all_),
          .group = kOutputGroup,
          .help = "Of check and diff: every row in the table",
          .use = OptionUse::kOutput}});
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
    const CommandTree::Entry* const entry = tree.find(header.command);
    if (entry == nullptr || entry->options->find("shard") == nullptr)
      throw UsageError(fmt::format("the parts are of '{}', which has no parts", header.command));
    return *entry;
  }

  // The options of the parts, then those of the output that were typed here.
  std::vector<std::string> arguments_of(const PartHeader& header, const OptionTable& typed,
                                        const OptionTable& options) const {
    std::vector<std::string> arguments, positionals;
    for (const std::string& word : header.options) {
      const Option* const option =
          word.starts_with("--") ? options.find(word.substr(2, std::min(word.find('='), word.size()) - 2)) : nullptr;
      const bool is_recorded = option == nullptr || option->use == OptionUse::kWork;
      if (positionals.empty() && !is_recorded)
        throw UsageError(fmt::format("the parts have {}, which no shard takes", word));
      (positionals.empty() && word != "--" ? arguments : positionals).push_back(word);
    }
    for (const Option& option : typed.options()) {
      const bool is_passed = option.use == OptionUse::kOutput || (option.key() == "out" && passes_out(header));
      if (!option.is_given() || !is_passed) continue;
      if (options.find(option.key()) == nullptr)
        throw UsageError(fmt::format("{} has no {}", header.command, option.spelling()));
      arguments.push_back(option.value.is_flag() ? option.spelling()
                                                 : fmt::format("{}={}", option.spelling(), option.typed.front()));
    }
    arguments.insert(arguments.end(), positionals.begin(), positionals.end());
    return arguments;
  }

  // The command as it is mostly typed: what it works on, then options in the order of --help. Pages show it.
  static std::vector<std::string> shown_arguments(const std::string& command, const OptionTable& table) {
    std::vector<std::string> arguments = {command}, options;
    for (const Option& option : table.options()) {
      const std::string name = option.letters().empty() ? option.spelling() : "-" + option.letters().front();
      for (const std::string& value : option.typed) {
        std::vector<std::string>& words = option.is_argument() ? arguments : options;
        if (!option.is_argument()) words.push_back(name);
        if (!option.value.is_flag()) words.push_back(value);
      }
    }
    arguments.insert(arguments.end(), options.begin(), options.end());
    return arguments;
  }

  // True if --out goes to the command, which writes a tree there. Else it is a file for the output of the command.
  [[nodiscard]] bool passes_out(const PartHeader& header) const {
    return header.command == "convert" || (header.command == "stats" && is_for_people(form_));
  }

  ExitCode run_again(Session& session, PartSet& parts) const {
    const PartHeader& header = parts.header();
    const CommandTree::Entry& entry = entry_of(session.tree, header);
    const OptionTable& typed = *session.tree.find(info().name)->options;
    parse_options(*entry.options, header.command, arguments_of(header, typed, *entry.options));
    check_option_rules(*entry.options);
    const std::vector<std::string> arguments = shown_arguments(header.command, *entry.options);
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
    if (entry.options->is_given("json"))
      finish_document(document, out, session.messages, session.cancel, std::string(inner.command.name),
                      typed_dumps(*entry.options));
    return code;
  }

  std::vector<std::string> parts_;
  std::string out_;
  std::string junit_, summary_, report_, baseline_;  // read from the parsed options, by their names
  bool all_ = false;
  report::Form form_ = report::Form::kTable;
};

const Registration kMergeCommand{[] { return std::make_unique<Merge>(); }};

}  // namespace
}  // namespace msdump::cli
