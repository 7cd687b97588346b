#include "check/tree/tool_results.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "check/tree/completeness.h"
#include "info/results/result_file.h"
#include "io/file.h"

namespace msdump::check {
namespace {

constexpr size_t kMostRows = 1000, kMostProblems = 3;

RuleId rule_of(FileKind kind, ResultVerdict verdict) {
  switch (kind) {
    case FileKind::kFreeBenchmark: return RuleId::kFreeBenchmark;
    case FileKind::kAccCheck: return RuleId::kAccCheck;
    case FileKind::kPrecisionCompare: return RuleId::kPrecisionCompare;
    default: return verdict == ResultVerdict::kError ? RuleId::kAnomaly : RuleId::kMonitorAlert;
  }
}

std::string_view tool_of(RuleId id, const IndexedFile& file) {
  switch (id) {
    case RuleId::kFreeBenchmark: return "free_benchmark";
    case RuleId::kAccCheck: return "acc_check";
    case RuleId::kPrecisionCompare: return "api_precision_compare";
    case RuleId::kMonitorAlert: return "monitor";
    default: return file.shown_name().starts_with("diff_") ? "compare" : "overflow_check";
  }
}

// The name of a table without what differs between the results and the details of one run; its folder before it.
std::string run_of(const DumpIndex& index, const IndexedFile& file) {
  std::string name(file.shown_name());
  for (const std::string_view part : {"_result_", "_details_"}) {
    const size_t at = name.find(part);
    if (at != std::string::npos) name.erase(at, part.size());
  }
  return fmt::format("{}\n{}", index.path_of_folder(file.folder), name);
}

class ToolResults {
 public:
  ToolResults(RuleContext& context, const Selection& selection)
      : context_(context), dump_(context.dump), selection_(selection) {
    for (OperatorId op{0}; op < dump_.operators().size(); ++op) {
      const SequencedOp& one = dump_.operators()[op];
      ops_.try_emplace(std::pair(one.name, std::string()), op);
      ops_.try_emplace(std::pair(one.name, std::string(one.type)), op);
    }
  }

  void read(FileId number) {
    std::vector<Error>& failures = context_.failures;
    const IndexedFile& file = dump_.index().files()[number];
    const auto opened = File::open(dump_.index().path_of(file));
    if (!opened) return failures.push_back(opened.error());
    size_t rows = 0;
    const ResultVisitor visit = [&](const ResultRow& row) {
      if (row.verdict < ResultVerdict::kWarning || !is_asked(file, row)) return;
      if (++rows <= kMostRows) return rows_.push_back({number, row});
      more_[number] = {rows - kMostRows, row.verdict};
    };
    const bool json = file.kind == FileKind::kAnomalies;
    const auto result = json ? read_result_json(*opened, visit) : read_result_csv(*opened, context_.run.cancel, visit);
    if (!result) return failures.push_back(result.error());
    for (Error& problem : errors_of(result->problems, kMostProblems)) failures.push_back(std::move(problem));
  }

  void judge() {
    const std::set<std::pair<std::string, std::string>> detailed = with_details();
    std::set<std::string> seen;  // monitor writes its worst alerts once more
    for (const Row& one : rows_) {
      const IndexedFile& file = dump_.index().files()[one.file];
      const bool has_details = one.row.io.empty() && detailed.contains({run_of(dump_.index(), file), one.row.op_name});
      const bool alert = rule_of(file.kind, one.row.verdict) == RuleId::kMonitorAlert;
      const bool again = alert && !seen.insert(key_of(one.row)).second;
      if (!has_details && !again) report(file, one.row);
    }
    for (const auto& [number, more] : more_) {
      const IndexedFile& file = dump_.index().files()[number];
      context_.report_place(rule_of(file.kind, more.verdict), {.path = dump_.index().relative_path_of(file)}, {},
                            fmt::format("{} more rows of this file failed", more.rows));
    }
  }

 private:
  struct Row {
    FileId file;
    ResultRow row;
  };

  struct More {
    size_t rows = 0;
    ResultVerdict verdict = ResultVerdict::kError;  // of the last one
  };

  [[nodiscard]] bool is_asked(const IndexedFile& file, const ResultRow& row) const {
    const RuleId id = rule_of(file.kind, row.verdict);
    const Identity place = dump_.index().identity_of(file);
    return context_.judges(id, row.op_name) &&
           selection_.matches_folder({row.rank ? row.rank : place.rank, {}, row.step ? row.step : place.step, {}, 0});
  }

  [[nodiscard]] std::set<std::pair<std::string, std::string>> with_details() const {
    std::set<std::pair<std::string, std::string>> found;
    for (const Row& one : rows_) {
      if (!one.row.io.empty()) found.emplace(run_of(dump_.index(), dump_.index().files()[one.file]), one.row.op_name);
    }
    return found;
  }

  static std::string key_of(const ResultRow& row) {
    return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", row.op_name, row.op_type, row.io, row.rank.value_or(-1),
                       row.step.value_or(-1), row.message);
  }

  void report(const IndexedFile& file, const ResultRow& row) {
    const RuleId id = rule_of(file.kind, row.verdict);
    const Identity place = dump_.index().identity_of(file);
    std::string message = fmt::format("msprobe's {}", tool_of(id, file));
    if (id == RuleId::kAnomaly) message += " names it";
    for (const std::string* const part : {&row.message, &row.source}) {
      if (!part->empty()) message += ": " + *part;
    }
    Finding& finding =
        context_.report_place(id,
                              {.rank = row.rank ? row.rank : place.rank,
                               .step = row.step ? row.step : place.step,
                               .path = dump_.index().relative_path_of(file)},
                              row.value ? report::Value(*row.value) : report::Value(), std::move(message));
    if (row.verdict == ResultVerdict::kWarning) finding.limit_severity(Severity::kWarning);
    const auto op = ops_.find({row.op_name, row.op_type});
    if (op != ops_.end()) finding.op = op->second;
    finding.op_name = row.op_name;
    finding.op_type = row.op_type;
    finding.io = row.io;
    finding.slot = row.slot;
  }

  RuleContext& context_;
  const CheckedDump& dump_;
  const Selection& selection_;
  std::map<std::pair<std::string, std::string>, OperatorId> ops_;  // by name and type; by name alone the first
  std::vector<Row> rows_;
  std::map<FileId, More> more_;  // by file
};

}  // namespace

bool has_tool_results(FileKind kind) {
  return kind == FileKind::kFreeBenchmark || kind == FileKind::kAccCheck || kind == FileKind::kPrecisionCompare ||
         kind == FileKind::kAnomalies;
}

void judge_tool_results(RuleContext& context, const Selection& selection) {
  const auto& files = context.dump.index().files();
  if (std::none_of(files.begin(), files.end(), [](const IndexedFile& file) { return has_tool_results(file.kind); }))
    return;
  ToolResults results(context, selection);
  for (FileId i{0}; i < files.size(); ++i) {
    if (has_tool_results(files[i].kind)) results.read(i);
  }
  results.judge();
}

}  // namespace msdump::check
