// msdump history: one line a night, and since when it is red.
#include <fcntl.h>
#include <unistd.h>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/text.h"
#include "frame/subcommand.h"
#include "frame/usage.h"
#include "history/account.h"
#include "history/night.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "report/row_type.h"
#include "shared/dump_paths.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

using history::Account;
using history::Night;
using history::Outcome;

constexpr uint64_t kMostDocumentBytes = uint64_t{2} << 30;
constexpr size_t kNightsShown = 14;

const CommandInfo& history_info() {
  static const CommandInfo info{
      .name = "history",
      .order = 59,
      .summary = "since when a nightly comparison fails, and what moved first",
      .usage = "DIR [FILE | <FILE] [OPTIONS]",
      .description =
          "Reads what `msdump diff --json` printed, from FILE or standard input, and appends a line to "
          "DIR/history.jsonl: time, verdict, first root, error of each layer. Prints since when it is red, the first "
          "root, and the layer whose error moved first: the first along the data flow that has twice the error of "
          "every green night before, so that a drift is seen while it is still within the tolerance. Exits as that "
          "diff did, but for --exit-zero.",
      .examples = {{"msdump history nights <diff.json",
                    "at the end of a nightly job, after msdump diff bad ref --fail-on root --json >diff.json"},
                   {"msdump history nights --show", "what is there, and nothing appended"},
                   {"msdump history nights --show --jsonl | jq -c '[.time, .outcome]'", "for a plot"},
                   {"msdump history steps --bisect <diff.json",
                    "of a step of git bisect run: a commit whose dump is missing is skipped"}},
      .done = "the comparison passed",
      .no = "the comparison failed",
      .answers = true,
      .other_names = {{"nightly bisect log"}}};
  return info;
}

const report::ObjectType& night_root_type() {
  static const report::ObjectType type{
      "NightRoot",
      "The first root of a night.",
      {{.key = "op_name", .type = "string", .text = "operator, or the parameter or input that differs"},
       {.key = "op_type", .type = "string", .text = "type of the operator"},
       {.key = "rank", .type = "integer|null", .text = "process of a distributed run"},
       {.key = "step", .type = "integer|null", .text = "iteration of the training run"},
       {.key = "file", .type = "string|null", .text = "file of the script"},
       {.key = "line", .type = "integer|null", .text = "line in it"},
       {.key = "decided_by", .type = "string", .text = "the evidence: asked, computed, handed_on or estimate"},
       {.key = "confidence", .type = "number", .unit = "0..1", .text = "that it is the cause"},
       {.key = "reason", .type = "string", .text = "why, in words that may change"}}};
  return type;
}

const report::ObjectType& scope_type() {
  static const report::ObjectType type{
      "ScopeError",
      "The error of a layer in a night.",
      {{.key = "scope", .type = "string", .text = "name of the layer"},
       {.key = "error", .type = "number", .unit = "relative L2", .text = "largest of its outputs; inf for NaN"},
       {.key = "differ", .type = "integer", .text = "tensors that differ"},
       {.key = "first", .type = "integer", .text = "row of diff of the first tensor with half of the error"},
       {.key = "accepted",
        .type = "number",
        .unit = "relative L2",
        .text = "largest that --baseline accepts; 0 for none"}}};
  return type;
}

std::string root_cell(const report::Row& row, std::string_view) {
  const std::string_view name = row.text("root.op_name");
  return name.empty() ? "-" : std::string(name);
}

std::string place_cell(const report::Row& row, std::string_view) {
  const std::string_view file = row.text("root.file");
  if (file.empty()) return "-";
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return fmt::format("{}:{}", name, row.number("root.line").value_or(0));
}

const report::ObjectType& night_type() {
  static const report::ObjectType type{
      "Night",
      "A comparison, as history.jsonl has it.",
      {{.key = "time", .type = "string", .text = "when it was appended, or --date", .title = "time"},
       {.key = "version", .type = "string", .text = "of the msdump that compared"},
       {.key = "outcome", .type = "string", .text = "green, red or not_judged", .title = "outcome"},
       {.key = "exit_code", .type = "integer", .text = "exit code of diff, without --exit-zero"},
       {.key = "verdict", .type = "string|null", .text = "same, close or differ", .title = "verdict"},
       {.key = "compared", .type = "integer", .text = "tensors and arguments that were compared"},
       {.key = "differ", .type = "integer", .text = "that differ, accepted ones included", .title = "differ"},
       {.key = "accepted", .type = "integer", .text = "that --baseline accepts"},
       {.key = "failed", .type = "integer", .text = "inputs that could not be read"},
       {.key = "root",
        .type = "object|null",
        .text = "the first root",
        .of = night_root_type,
        .title = "root",
        .cell = root_cell},
       {.key = "scopes", .type = "object[]", .text = "layers along the data flow, at most 32", .of = scope_type}}};
  return type;
}

const report::ObjectType& moved_type() {
  static const report::ObjectType type{
      "Movement",
      "The layer whose error moved first.",
      {{.key = "scope", .type = "string", .text = "name of the layer"},
       {.key = "since", .type = "string", .text = "the first night with the larger error"},
       {.key = "error", .type = "number", .unit = "relative L2", .text = "in the last night"},
       {.key = "before", .type = "number", .unit = "relative L2", .text = "the largest of the green nights before"}}};
  return type;
}

const report::ObjectType& history_summary_type() {
  static const report::ObjectType type{
      "HistorySummary",
      "Counts of the nights, and since when they fail.",
      {{.key = "nights", .type = "integer", .text = "lines of the history"},
       {.key = "green", .type = "integer", .text = "nights that passed"},
       {.key = "red", .type = "integer", .text = "nights that failed"},
       {.key = "unreadable", .type = "integer", .text = "lines that cannot be read"},
       {.key = "outcome", .type = "string|null", .text = "of the last night"},
       {.key = "since", .type = "string|null", .text = "the first night in a row with the last judgement"},
       {.key = "in_a_row", .type = "integer", .text = "nights in a row with it"},
       {.key = "moved", .type = "object|null", .text = "the layer whose error moved first", .of = moved_type}}};
  return type;
}

std::vector<report::Column> night_columns() {
  std::vector<report::Column> columns = night_type().columns(
      {"time", "version", "outcome", "exit_code", "verdict", "compared", "differ", "accepted", "failed", "root.op_name",
       "root.file", "root.line", "root.decided_by", "root.confidence", "scopes"});
  for (report::Column& column : columns) {
    if (column.key == "root.op_name") {
      column.title = "root";
      column.text = [](const report::Row& row) { return root_cell(row, {}); };
    }
    if (column.key == "root.file") {
      column.title = "line";
      column.text = [](const report::Row& row) { return place_cell(row, {}); };
    }
  }
  return columns;
}

// "2026-11-29" or "2026-11-29T02:00:00Z"
bool is_date(std::string_view text) {
  const auto number = [&](size_t at, size_t length, uint64_t least, uint64_t most) {
    const std::string_view digits = text.substr(at, length);
    const std::optional<uint64_t> value = digits.size() == length ? parse_u64(digits) : std::nullopt;
    return value && *value >= least && *value <= most;
  };
  const auto is_at = [&](size_t at, char c) { return at < text.size() && text[at] == c; };
  const bool has_day =
      number(0, 4, 1970, 9999) && is_at(4, '-') && number(5, 2, 1, 12) && is_at(7, '-') && number(8, 2, 1, 31);
  if (!has_day || text.size() == 10) return has_day;
  return text.size() == 20 && is_at(10, 'T') && number(11, 2, 0, 23) && is_at(13, ':') && number(14, 2, 0, 59) &&
         is_at(16, ':') && number(17, 2, 0, 60) && is_at(19, 'Z');
}

std::string now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

std::string error_text_of(double error) { return fmt::format("{:.2g}", error); }

class History : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return history_info(); }

  void declare(OptionTable& options) override {
    options.add({arguments_option("DIR", arguments_, "The folder of the history, then the document of diff"),
                 {.names = "--date",
                  .other_names = "time when now",
                  .is_common = true,
                  .value = OptionValue::text(date_, "DATE"),
                  .group = kOtherGroup,
                  .help = "The time of the line: 2026-11-29 or 2026-11-29T02:00:00Z",
                  .otherwise = "now, in UTC"},
                 {.names = "--show",
                  .other_names = "print list no-append",
                  .is_common = true,
                  .value = OptionValue::flag(show_),
                  .group = kOtherGroup,
                  .help = "Read no document and append nothing",
                  .excludes = {{"date"}, {"bisect"}}},
                 {.names = "--bisect",
                  .is_common = true,
                  .value = OptionValue::flag(bisect_),
                  .group = kOtherGroup,
                  .help = "Exit with 125, for which git bisect run skips a commit, where nothing was judged: no or a "
                          "cut document, an input that could not be read, no tensor compared"}});
    options.add(report_options(form_));
  }

  [[nodiscard]] std::vector<report::DocumentType> documents() const override {
    return {{.name = "history", .text = "The nights.", .row = &night_type(), .summary = &history_summary_type()}};
  }

  ExitCode run(Session& session) override {
    if (arguments_.empty()) throw UsageError("the folder of the history is missing", "msdump history DIR <diff.json");
    if (arguments_.size() > (show_ ? 1U : 2U))
      throw UsageError(fmt::format("unexpected argument '{}'", arguments_.back()), "msdump history DIR FILE");
    if (!date_.empty() && !is_date(date_))
      throw UsageError(fmt::format("--date: '{}' is no date", excerpt(date_)), "2026-11-29 or 2026-11-29T02:00:00Z");
    const ExitCode code = go_on(session);
    const bool judged = code == ExitCode::kOk || (code == ExitCode::kNo && is_judged_);
    return bisect_ && !judged && !session.cancel.cancelled() ? ExitCode::kSkip : code;
  }

 private:
  ExitCode go_on(Session& session) {
    const std::string& folder = arguments_.front();
    std::optional<Night> tonight;
    if (!show_) {
      const Result<std::string> text = read_input(session);
      if (!text) return session.end_with(text.error());
      Result<Night> night = in_file(history::night_of_document(*text), input_name());
      if (!night) return session.end_with(night.error());
      tonight = std::move(*night);
      tonight->time = date_.empty() ? now() : date_;
    }
    const Result<history::Nights> nights = tonight ? append(session, folder, *tonight) : read(folder);
    if (!nights) return session.end_with(nights.error());
    if (nights->unreadable > 0)
      session.messages.warning(
          fmt::format("{}: {} cannot be read, and not counted", path_in(folder), plural(nights->unreadable, "line")));
    if (nights->nights.empty()) {
      session.messages.nothing_selected("the history is empty", "msdump history DIR <diff.json appends a night");
      return ExitCode::kNo;
    }
    print(session, *nights);
    const Night& last = nights->nights.back();
    is_judged_ = last.outcome != Outcome::kNotJudged;
    return static_cast<ExitCode>(last.exit_code);
  }

  static std::string path_in(const std::string& folder) {
    return folder + (folder.ends_with('/') ? "" : "/") + "history.jsonl";
  }

  [[nodiscard]] bool is_stdin() const { return arguments_.size() < 2 || arguments_[1] == "-"; }
  [[nodiscard]] std::string input_name() const { return is_stdin() ? "standard input" : arguments_[1]; }

  [[nodiscard]] Result<std::string> read_input(Session& session) const {
    if (!is_stdin()) return read_text(arguments_[1], kMostDocumentBytes, "a document of diff");
    if (::isatty(STDIN_FILENO) == 1)
      return fail(make_error(ErrorCode::kUsage, "no document: standard input is a terminal")
                      .with_hint("msdump diff CANDIDATE REFERENCE --json | msdump history DIR, or --show"));
    return read_stream(STDIN_FILENO, input_name(), kMostDocumentBytes, session.cancel);
  }

  static Result<history::Nights> read(const std::string& folder) {
    if (path_kind(folder) == PathKind::kMissing) return fail(missing_path(folder));
    return history::read_history(path_in(folder));
  }

  // The line as others will read it is the last of the nights.
  static Result<history::Nights> append(Session& session, const std::string& folder, const Night& tonight) {
    MSDUMP_CHECK_OK(make_directories(folder));
    MSDUMP_TRY(const DirectoryLock lock, DirectoryLock::acquire(folder, session.cancel));
    MSDUMP_TRY(history::Nights nights, history::read_history(path_in(folder)));
    const std::string line = history::line_of(tonight);
    MSDUMP_CHECK_OK(check_is_no_pipe(path_in(folder)));
    MSDUMP_CHECK_OK(append_to_file(path_in(folder), (nights.is_cut ? "\n" : "") + line));
    if (std::optional<Night> again = history::parse_line(trimmed(line))) nights.nights.push_back(std::move(*again));
    return nights;
  }

  void print(Session& session, const history::Nights& all) const {
    const Account account = history::account_of(all.nights);
    const bool table = is_for_people(form_);
    if (table) (void)session.out.write(account_text(all.nights, account));
    const auto sink = session.open_report(form_, {arguments_.front()}, night_columns());
    const size_t first = table && all.nights.size() > kNightsShown ? all.nights.size() - kNightsShown : 0;
    for (size_t i = first; i < all.nights.size(); ++i) {
      if (!sink->row(history::object_of(all.nights[i]))) break;
    }
    (void)sink->finish({summary_object(all, account), {}, {}});
    if (first > 0) session.messages.note(fmt::format("{} before; --csv and --json have all", plural(first, "night")));
  }

  static std::string place_of(const Night& night) {
    if (!night.root) return "no operator stands out";
    const std::string_view file = std::string_view(night.root->file).substr(night.root->file.rfind('/') + 1);
    return night.root->op_name + (file.empty() ? "" : fmt::format(" ({}:{})", file, night.root->line.value_or(0)));
  }

  static std::string account_text(const std::vector<Night>& nights, const Account& account) {
    const Night& last = nights.back();
    std::string text;
    const auto add = [&](const std::string& line) { text += escape_for_terminal(line) + "\n"; };
    if (last.outcome == Outcome::kNotJudged)
      add(fmt::format("not judged: {}",
                      last.compared == 0 ? "no tensor was compared"
                                         : plural(static_cast<uint64_t>(last.failed), "input") + " could not be read"));
    if (account.since) {
      const Night& first = nights[*account.since];
      const std::string_view color = name_of(first.outcome);
      add(fmt::format("{} since {}: {}{}; {} of {} green", color, first.time, plural(account.in_a_row, "night"),
                      account.in_a_row > 1 ? " in a row" : "", account.green, plural(account.nights, "night")));
    }
    if (last.outcome == Outcome::kRed) {
      add("  root   " + place_of(last));
      if (account.root_before)
        add(fmt::format("         until {}: {}", nights[*account.root_before].time,
                        place_of(nights[*account.root_before])));
    }
    if (account.moved)
      add(fmt::format("  moved  {} first, in the night of {}: error {}, at most {} in green nights before",
                      account.moved->scope, nights[account.moved->night].time, error_text_of(account.moved->error),
                      error_text_of(account.moved->before)));
    return text + "\n";
  }

  static report::Object summary_object(const history::Nights& all, const Account& account) {
    report::Object summary, moved;
    summary.add("nights", account.nights).add("green", account.green).add("red", account.red);
    summary.add("unreadable", all.unreadable).add("outcome", name_of(all.nights.back().outcome));
    summary.add("since", account.since ? report::Value(all.nights[*account.since].time) : report::Value());
    summary.add("in_a_row", account.in_a_row);
    if (account.moved) {
      moved.add("scope", account.moved->scope).add("since", all.nights[account.moved->night].time);
      moved.add("error", account.moved->error).add("before", account.moved->before);
    }
    return summary.add("moved", account.moved ? report::Value(std::move(moved)) : report::Value());
  }

  std::vector<std::string> arguments_;
  std::string date_;
  bool show_ = false, bisect_ = false;
  bool is_judged_ = false;
  report::Form form_ = report::Form::kTable;
};

const Registration kHistoryCommand{[] { return std::make_unique<History>(); }};

}  // namespace
}  // namespace msdump::cli
