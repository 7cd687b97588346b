// msdump next: the configuration of the next dump, which would tell more about what a comparison found.
#include <algorithm>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "config/setups.h"
#include "config/write_config.h"
#include "divergence/dump_diff.h"
#include "frame/subcommand.h"
#include "frame/usage.h"
#include "io/atomic_file.h"
#include "next/case_folder.h"
#include "next/next_input.h"
#include "next/next_plan.h"
#include "next/next_text.h"
#include "report/json.h"
#include "shared/opened_graph.h"

namespace msdump::cli {
namespace {

const CommandInfo& next_info() {
  static const CommandInfo info{
      .name = "next",
      .order = 53,
      .summary = "the configuration of the next dump, which tells more",
      .usage = "-d DUMP [--ref REF] [--config FILE] [-out DIR] | -d DIR | -d FILE",
      .description =
          "Compares a dump with its reference, or checks it on its own, and plans the next dump: the tensors of the "
          "suspicious operators where statistics blame them, calls that were not dumped, what made an input that is "
          "wrong already, what a difference needs to be judged, the steps before. Prints or writes its configuration "
          "(msprobe's config.json, data_dump.json "
          "or acl.json, as the dump was made), its size, the question that it answers, and what each outcome would "
          "mean. FILE, the --json document of diff or check, stands for the dumps that it names. With -out the rounds "
          "are kept in a folder: once the next dump has run, `msdump next -d DIR` goes on.",
      .examples = {{"msdump next -d bad --ref good", "what to dump next, printed"},
                   {"msdump next -d bad", "the same without a reference: what makes NaN, or explodes"},
                   {"msdump next -d bad --ref good --config config.json -out case",
                    "begins a case; round-2 has what to run"},
                   {"msdump next -d case", "goes on with what round-2 dumped"}},
      .done = "a configuration was written or printed",
      .no = "nothing more to ask: the operator is pinned, or nothing stands out",
      .answers = true,
      .other_names = {{"plan suggest redump advise advisor generate gen"}}};
  return info;
}

struct NextOptions {
  DumpOptions dump;
  std::string reference, config, out, version;
  std::vector<std::string> ir;
  report::Form form = report::Form::kTable;
};

bool is_empty_folder(const std::string& path) {
  std::error_code none;
  return !std::filesystem::is_directory(path, none) || std::filesystem::is_empty(path, none);
}

// The kind of configuration that such a dump is made with.
ConfigKind kind_of_dump(const DumpIndex& index) {
  ConfigKind kind = ConfigKind::kDataDump;
  for (const auto& folder : index.folders()) {
    switch (folder.identity.layout) {
      case Layout::kMsprobe:
      case Layout::kPtdbg:
      case Layout::kAdump: return ConfigKind::kMsprobe;
      case Layout::kAcl:
      case Layout::kOfflineModel:
      case Layout::kTorchair: kind = ConfigKind::kAcl; break;
      default: break;
    }
  }
  const bool any_table = std::any_of(index.files().begin(), index.files().end(), [](const IndexedFile& file) {
    return file.kind == FileKind::kDumpJson || file.kind == FileKind::kMonitor;
  });
  return any_table ? ConfigKind::kMsprobe : kind;
}

// Tables of msprobe's monitor do not say whose they are; most are of PyTorch.
bool is_of_monitor(const DumpIndex& index) {
  return std::any_of(index.files().begin(), index.files().end(),
                     [](const IndexedFile& file) { return file.kind == FileKind::kMonitor; });
}

class Next : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return next_info(); }

  void declare(OptionTable& options) override {
    options.add(dump_options(options_.dump));
    options.add({{.names = "--ref",
                  .other_names = "reference golden good",
                  .is_common = true,
                  .value = OptionValue::text(options_.reference, "PATH"),
                  .group = kOtherGroup,
                  .help = "The dump of what it should be; without it the dump is checked on its own"},
                 {.names = "--config",
                  .is_common = true,
                  .value = OptionValue::text(options_.config, "FILE"),
                  .group = kOtherGroup,
                  .help = "The configuration that the dump was made with; without it the kind of the next one is that "
                          "of the files, and a dump that does not begin inside a step is taken for one of all "
                          "operators"},
                 {.names = "--framework-version",
                  .other_names = "mindspore-version",
                  .is_common = true,
                  .value = OptionValue::text(options_.version, "VERSION"),
                  .group = kOtherGroup,
                  .help = "The release of MindSpore that will run: 2.7.1"},
                 ir_option(options_.ir, "search in and next to the dump"),
                 output_option(options_.out, "The folder of a new case; without it the configuration is printed")});
    options.add(report_options(options_.form));
  }

  [[nodiscard]] std::vector<report::DocumentType> documents() const override { return next_documents(); }

  ExitCode run(Session& session) override {
    if (!options_.version.empty() && !parse_release(options_.version))
      throw UsageError(fmt::format("'{}' is not a release of MindSpore", options_.version),
                       "--framework-version 2.7.1");
    const Result<ExitCode> code = plan_dump(session);
    return code ? *code : session.end_with(code.error());
  }

 private:
  Result<ExitCode> plan_dump(Session& session) {
    MSDUMP_TRY(const std::vector<std::string> dumps, resolve_dumps(options_.dump, session.cancel));
    if (dumps.size() != 1) throw UsageError("next takes one dump", "msdump next -d DUMP");
    MSDUMP_TRY(CaseFolder found, case_of(dumps.front()));
    return go_on(session, found);
  }

  // The case in the folder that was named, or one that begins with a dump.
  Result<CaseFolder> case_of(const std::string& dump) {
    in_folder_ = CaseFolder::is_one(dump);
    if (in_folder_) {
      if (!options_.reference.empty() || !options_.out.empty() || !options_.config.empty())
        throw UsageError("a case has its own reference, configuration and folder", "msdump next -d CASE");
      MSDUMP_TRY(CaseFolder found, CaseFolder::read(dump));
      add_options(found.settings);
      return found;
    }
    CaseFolder begun;
    add_options(begun.settings);
    MSDUMP_TRY(const SavedDocument dumps, dumps_named(dump));
    const std::string reference = dumps.reference.empty() ? std::string() : absolute_path(dumps.reference);
    begun.rounds.push_back({absolute_path(dumps.candidate), reference, DumpExtent::kAll});
    if (!options_.config.empty()) {
      MSDUMP_TRY(const UsedConfig used, read_used_config(options_.config));
      begun.rounds.front().extent = used.extent;
      begun.settings.kind = used.kind;
      begun.settings.asynchronous = used.asynchronous;
      begun.settings.net_name = used.net_name.value_or(begun.settings.net_name);
    }
    if (options_.out.empty()) return begun;
    if (CaseFolder::is_one(options_.out))
      return fail(
          make_error(ErrorCode::kUsage, "{} has a case already: msdump next -d {}", options_.out, options_.out));
    begun.path = absolute_path(options_.out);
    in_folder_ = true;
    return begun;
  }

  // The dump and its reference, by their paths or by the document of a comparison or check.
  [[nodiscard]] Result<SavedDocument> dumps_named(const std::string& path) const {
    if (!is_saved_document(path)) return SavedDocument{path, options_.reference};
    if (!options_.reference.empty())
      throw UsageError(fmt::format("{} says which dumps it is about", path), "msdump next -d FILE");
    MSDUMP_TRY(SavedDocument saved, read_saved_document(path));
    std::error_code none;
    for (const std::string& dump : {saved.candidate, saved.reference}) {
      if (!dump.empty() && !std::filesystem::exists(dump, none))
        return fail(make_error(ErrorCode::kNotFound, "{} is not there; {} names it so: run next where that was written",
                               dump, path));
    }
    return saved;
  }

  // Options that are given now replace those of the case.
  void add_options(CaseSettings& settings) const {
    if (!options_.version.empty()) settings.framework_version = options_.version;
    if (options_.ir.empty()) return;
    settings.ir.clear();
    for (const std::string& path : options_.ir) settings.ir.push_back(absolute_path(path));
  }

  Result<ExitCode> go_on(Session& session, CaseFolder& found) {
    const CaseRound& last = found.rounds.back();
    for (const std::string& folder : {last.candidate, last.reference}) {
      if (found.rounds.size() > 1 && !folder.empty() && is_empty_folder(folder)) {
        return fail(
            make_error(ErrorCode::kNotFound, "round {} has not run: {} has no dump", found.rounds.size(), folder));
      }
    }
    MSDUMP_TRY(NextPlan plan, last.reference.empty() ? plan_checked(session, found) : plan_compared(session, found));
    for (const Error* const error : failures_) session.messages.error(*error);
    return answer(session, found, {std::move(plan), found.rounds.size()});
  }

  static GraphOptions graph_options(const CaseFolder& found, const std::string& path) {
    return {.dump = {.options = {path}, .positionals = {}}, .ir = found.settings.ir, .selection = {}};
  }

  static Result<std::unique_ptr<DiffSide>> open_side(Session& session, const CaseFolder& found,
                                                     const std::string& path) {
    MSDUMP_TRY(OpenedGraph opened, open_graph(session.context, graph_options(found, path), {{}, Headers::kAll}));
    return std::make_unique<DiffSide>(std::move(opened));
  }

  static Result<DiffResult> compare(Session& session, const CaseFolder& found, const CaseRound& round) {
    MSDUMP_TRY(auto candidate, open_side(session, found, round.candidate));
    MSDUMP_TRY(auto reference, open_side(session, found, round.reference));
    DiffRules rules;
    return diff_dumps(std::move(candidate), std::move(reference), nullptr, rules, {}, session.context,
                      {.explain = {}, .flow = true});
  }

  Result<NextPlan> plan_compared(Session& session, CaseFolder& found) {
    MSDUMP_TRY(compared_.emplace_back(), compare(session, found, found.rounds.back()));
    const DiffResult& newest = compared_.back();
    if (newest.rows.empty())
      return fail(make_error(ErrorCode::kNotADump, "nothing to compare in {}", found.rounds.back().candidate)
                      .with_hint(std::string(hint_without_tensors(newest.a->catalogue().index.files()))));
    const auto& pairs = newest.pairing.tensors;
    if (std::none_of(pairs.begin(), pairs.end(), [](const TensorPair& pair) { return pair.is_paired(); }))
      return fail(make_error(ErrorCode::kNotADump, "{} has no tensor of {}", found.rounds.back().reference,
                             found.rounds.back().candidate)
                      .with_hint("both must be of one network"));
    for (const Error& error : newest.failures) failures_.push_back(&error);
    dumps_ = dumps_of(newest.a->opened);
    dump_names_ = newest.pairing.dumps;
    return plan(found, newest, as_before(found.settings, newest.a->catalogue().index, newest.pairing.a),
                [&](const CaseRound& round) -> Result<const DiffResult*> {
                  MSDUMP_TRY(compared_.emplace_back(), compare(session, found, round));
                  return &compared_.back();
                });
  }

  // The plan after the newest round; `open` reads another one.
  template <class Run, class Open>
  Result<NextPlan> plan(CaseFolder& found, const Run& newest, const DumpRequest& as_before, const Open& open) const {
    if (found.rounds.size() == 1 && options_.config.empty() && found.rounds.front().extent == DumpExtent::kAll)
      found.rounds.front().extent = extent_of(newest);
    std::vector<CaseDump<Run>> dumps;
    for (const CaseRound& round : found.rounds) dumps.push_back({nullptr, round.extent});
    dumps.back().run = &newest;
    if (const size_t whole = whole_dump(dumps); whole + 1 < dumps.size()) {
      MSDUMP_TRY(dumps[whole].run, open(found.rounds[whole]));
    }
    return plan_next(dumps, as_before);
  }

  static Result<std::unique_ptr<OpenedCheck>> check_dump(Session& session, const CaseFolder& found,
                                                         const CaseRound& round) {
    MSDUMP_TRY(auto opened, open_check(session, graph_options(found, round.candidate), check::RuleSet::defaults(), {},
                                       Headers::kAll));
    if (!opened->has_tensors())
      return fail(make_error(ErrorCode::kNotADump, "nothing to check in {}", round.candidate)
                      .with_hint(std::string(hint_without_tensors(opened->catalogue().index.files()))));
    MSDUMP_TRY(const Selection everything, Selection::compile({}));
    MSDUMP_CHECK_OK(check::check_all(*opened->run, everything, session.context));
    return opened;
  }

  Result<NextPlan> plan_checked(Session& session, CaseFolder& found) {
    MSDUMP_TRY(checked_.emplace_back(), check_dump(session, found, found.rounds.back()));
    const OpenedCheck& newest = *checked_.back();
    failures_ = newest.run->listing_failures;
    for (const Error& error : newest.run->report.failures) failures_.push_back(&error);
    dumps_ = dumps_of(newest.opened);
    dump_names_ = newest.catalogue().index.dumps();
    return plan(found, *newest.run, as_before(found.settings, newest.catalogue().index, newest.run->dump.operators()),
                [&](const CaseRound& round) -> Result<const check::CheckRun*> {
                  MSDUMP_TRY(checked_.emplace_back(), check_dump(session, found, round));
                  return checked_.back()->run.get();
                });
  }

  static DumpRequest as_before(const CaseSettings& settings, const DumpIndex& index,
                               const std::vector<SequencedOp>& operators) {
    DumpRequest request;
    request.kind = settings.kind == ConfigKind::kUnknown ? kind_of_dump(index) : settings.kind;
    request.asynchronous = settings.asynchronous;
    request.net_name = settings.net_name;
    if (request.kind == ConfigKind::kMsprobe)
      request.target.framework =
          is_pytorch(operators) || is_of_monitor(index) ? Framework::kPyTorch : Framework::kMindSpore;
    if (const auto release = parse_release(settings.framework_version)) request.target.version = release->version;
    return request;
  }

  Result<ExitCode> answer(Session& session, CaseFolder& found, NextAnswer result) {
    NextPlan& plan = result.plan;
    const bool asked = plan.state == PlanState::kAsked;
    const CaseRound& last = found.rounds.back();
    if (asked) {
      const std::string folder = found.folder_of(found.rounds.size() + 1);
      const auto beside = [&](const std::string& dump) { return accepted_path(plan.candidate.kind, dump + "-next"); };
      plan.candidate.path = in_folder_ ? folder + "/candidate" : beside(last.candidate);
      plan.reference.path = in_folder_ ? folder + "/reference" : beside(last.reference);
      std::vector<std::pair<DumpRequest*, std::string*>> sides = {{&plan.candidate, &result.candidate}};
      if (!last.reference.empty()) sides.emplace_back(&plan.reference, &result.reference);
      for (const auto& [request, text] : sides) {
        MSDUMP_TRY(*text, write_config(*request));
      }
    }
    if (in_folder_) MSDUMP_CHECK_OK(keep(found, result));
    print(session, result);
    if (!failures_.empty()) return ExitCode::kSomeFailed;
    return asked ? ExitCode::kOk : ExitCode::kNo;
  }

  static Status keep(CaseFolder& found, NextAnswer& result) {
    const std::string now = found.folder_of(found.rounds.size());
    MSDUMP_CHECK_OK(make_directories(now));
    if (result.plan.state == PlanState::kAsked) MSDUMP_CHECK_OK(write_round(found, result));
    std::string finding;
    report::append_json(finding, next_document(result));
    MSDUMP_CHECK_OK(write_file(now + "/finding.json", finding + "\n"));
    MSDUMP_CHECK_OK(write_file(now + "/finding.txt", next_text(result)));
    return found.write();
  }

  // The configurations of the next round.
  static Status write_round(CaseFolder& found, NextAnswer& result) {
    const std::string next = found.folder_of(found.rounds.size() + 1);
    for (const auto& [name, text] :
         {std::pair("/candidate", &result.candidate), std::pair("/reference", &result.reference)}) {
      if (text->empty()) continue;
      MSDUMP_CHECK_OK(make_directories(next + name));
      MSDUMP_CHECK_OK(write_file(next + name + ".json", *text));
      result.written.push_back(next + name + ".json");
    }
    const std::string reference = result.reference.empty() ? std::string() : result.plan.reference.path;
    found.rounds.push_back({result.plan.candidate.path, reference, result.plan.extent});
    return {};
  }

  void print(Session& session, const NextAnswer& result) const {
    if (is_for_people(options_.form)) return (void)session.out.write(next_text(result));
    const auto sink = session.open_report(options_.form, dumps_, next_columns(dump_names_));
    for (const Suspect& suspect : result.plan.suspects) (void)sink->row(suspect_rows().row(suspect));
    std::vector<report::Object> failures;
    for (const Error* const error : failures_) failures.push_back(report::failure_object(*error));
    report::Object summary;
    summary.add("suspects", static_cast<int64_t>(result.plan.suspects.size()));
    summary.add("failed", static_cast<int64_t>(failures.size()));
    (void)sink->finish({std::move(summary), std::move(failures), next_document(result)});
  }

  NextOptions options_;
  bool in_folder_ = false;
  // The rounds that plans point into.
  std::deque<DiffResult> compared_;
  std::deque<std::unique_ptr<OpenedCheck>> checked_;
  std::vector<const Error*> failures_;
  std::vector<std::string> dumps_, dump_names_;  // paths; of several below one path
};

const Registration kNextCommand{[] { return std::make_unique<Next>(); }};

}  // namespace
}  // namespace msdump::cli
