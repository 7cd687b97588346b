// msdump next: the configuration of the next dump, which would tell more about what a comparison found.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "config/data_dump/data_dump.h"
#include "config/lint.h"
#include "config/write/dump_request.h"
#include "frame/subcommand.h"
#include "frame/usage.h"
#include "io/atomic_file.h"
#include "io/json.h"
#include "next/case_folder.h"
#include "next/next_plan.h"
#include "next/next_text.h"
#include "report/json_text.h"
#include "shared/opened_graph.h"

namespace msdump::cli {
namespace {

constexpr uint64_t kMostConfig = uint64_t{4} << 20;

const CommandInfo& next_info() {
  static const CommandInfo info{
      .name = "next",
      .order = 53,
      .summary = "the configuration of the next dump, which tells more",
      .usage = "-d DUMP --ref REF [--config FILE] [-out DIR] | -d DIR",
      .description =
          "Compares a dump with its reference, and plans the next dump of both: the tensors of the suspicious "
          "operators "
          "where statistics blame them, calls that were not dumped, what made an input that differs already, the steps "
          "before. Prints or writes its configuration (msprobe's config.json, data_dump.json or acl.json, as the dump "
          "was made), its size, the question that it answers, and what each outcome would mean. With -out the rounds "
          "are kept in a folder: once the next dump has run, `msdump next -d DIR` goes on.",
      .examples = {{"msdump next -d bad --ref good", "what to dump next, printed"},
                   {"msdump next -d bad --ref good --config config.json -out case",
                    "begins a case; round-2 has what to run"},
                   {"msdump next -d case", "goes on with what round-2 dumped"}},
      .done = "a configuration was written or printed",
      .no = "nothing more to ask: the operator is pinned, or nothing stands out"};
  return info;
}

struct NextOptions {
  DumpOptions dump;
  std::string reference, config, out, version;
  std::vector<std::string> ir;
  report::Form form = report::Form::kTable;
};

std::string absolute(const std::string& path) {
  std::error_code none;
  std::string found = std::filesystem::absolute(path, none).lexically_normal().string();
  while (found.size() > 1 && found.back() == '/') found.pop_back();
  return found;
}

bool is_empty_folder(const std::string& path) {
  std::error_code none;
  return !std::filesystem::is_directory(path, none) || std::filesystem::is_empty(path, none);
}

// What the configuration that was used says of the next one.
struct UsedConfig {
  ConfigKind kind = ConfigKind::kUnknown;
  bool asynchronous = false;
  DumpExtent extent = DumpExtent::kAll;
};

bool any_items(const JsonValue* object, std::string_view key) {
  const JsonValue* const list = object == nullptr ? nullptr : object->find(key);
  return list != nullptr && !list->items.empty();
}

Result<UsedConfig> used_config(const std::string& path) {
  MSDUMP_TRY(const JsonValue root, in_file(read_json(path, kMostConfig), path));
  UsedConfig used;
  used.kind = kind_of_config(root);
  if (used.kind == ConfigKind::kUnknown) {
    Error error = make_error(ErrorCode::kUsage, "neither a data_dump.json, a config.json of msprobe nor an acl.json");
    error.path = path;
    return fail(std::move(error));
  }
  if (used.kind == ConfigKind::kDataDump) {
    const DataDump dump = read_data_dump(root);
    used.asynchronous = dump.async_enable.value_or(false) || (dump.has_e2e && !dump.enable.value_or(true));
    if (dump.dump_mode == 1U) used.extent = DumpExtent::kList;
  } else if (used.kind == ConfigKind::kMsprobe) {
    const JsonValue* const task = root.find("task");
    const JsonValue* const block = task == nullptr ? nullptr : root.find(task->text);
    if (any_items(block, "scope")) used.extent = DumpExtent::kRange;
    if (any_items(block, "list")) used.extent = DumpExtent::kList;
  } else if (any_items(root.find("dump"), "dump_list")) {
    used.extent = DumpExtent::kList;
  }
  return used;
}

// By how the dump lies.
ConfigKind kind_of_dump(const DumpIndex& index) {
  ConfigKind kind = ConfigKind::kDataDump;
  for (const auto& folder : index.folders()) {
    switch (folder.identity.layout) {
      case Layout::kMsprobe:
      case Layout::kAdump: return ConfigKind::kMsprobe;
      case Layout::kAcl:
      case Layout::kOfflineModel:
      case Layout::kTorchair: kind = ConfigKind::kAcl; break;
      default: break;
    }
  }
  const bool any_json = std::any_of(index.files().begin(), index.files().end(),
                                    [](const IndexedFile& file) { return file.kind == FileKind::kDumpJson; });
  return any_json ? ConfigKind::kMsprobe : kind;
}

class Next : public Command {
 public:
  [[nodiscard]] const CommandInfo& info() const override { return next_info(); }

  void declare(CLI::App& app) override {
    add_dump_options(app, options_.dump);
    app.add_option("--ref", options_.reference, "The dump of what it should be; a case knows its own")
        ->type_name("PATH");
    app.add_option("--config", options_.config,
                   "The configuration that the dump was made with; without it the kind of the next one is that of the "
                   "files, and the dump is taken for one of all operators")
        ->type_name("FILE");
    app.add_option("--framework-version", options_.version, "The release of MindSpore that will run: 2.7.1")
        ->type_name("VERSION");
    add_ir_option(app, options_.ir, "search in and next to the dump");
    add_output_option(app, options_.out, "The folder of a new case; without it the configuration is printed");
    add_report_options(app, options_.form);
  }

  ExitCode run(Session& session) override {
    if (!options_.version.empty() && !parse_release(options_.version))
      throw UsageError(fmt::format("'{}' is not a release of MindSpore", options_.version),
                       "--framework-version 2.7.1");
    const Result<std::vector<std::string>> dumps = resolve_dumps(options_.dump, session.cancel);
    if (!dumps) return session.end_with(dumps.error());
    if (dumps->size() != 1) throw UsageError("next takes one dump", "msdump next -d DUMP --ref REF");
    Result<CaseFolder> found = case_of(dumps->front());
    if (!found) return session.end_with(found.error());
    return go_on(session, *found);
  }

 private:
  // The case in the folder that was named, or one that begins with a dump.
  Result<CaseFolder> case_of(const std::string& dump) {
    in_folder_ = CaseFolder::is_one(dump);
    if (in_folder_) {
      if (!options_.reference.empty() || !options_.out.empty())
        throw UsageError("a case has its own reference and folder", "msdump next -d CASE");
      return CaseFolder::read(dump);
    }
    if (options_.reference.empty())
      throw UsageError("next compares with a reference: --ref is required", "msdump next -d DUMP --ref REF");
    CaseFolder begun;
    begun.rounds.push_back({absolute(dump), absolute(options_.reference), DumpExtent::kAll});
    if (!options_.config.empty()) {
      MSDUMP_TRY(used_, used_config(options_.config));
      begun.rounds.front().extent = used_.extent;
    }
    if (options_.out.empty()) return begun;
    if (CaseFolder::is_one(options_.out))
      return fail(
          make_error(ErrorCode::kUsage, "{} has a case already: msdump next -d {}", options_.out, options_.out));
    begun.path = absolute(options_.out);
    in_folder_ = true;
    return begun;
  }

  Result<std::unique_ptr<DiffSide>> open_side(Session& session, const std::string& path) const {
    const GraphOptions graph{.dump = {.options = {path}, .positionals = {}}, .ir = options_.ir, .selection = {}};
    MSDUMP_TRY(OpenedGraph opened, open_graph(session.context, graph, {{}, Headers::kAll}));
    return std::make_unique<DiffSide>(std::move(opened));
  }

  Result<DiffResult> compare(Session& session, const CaseRound& round) const {
    MSDUMP_TRY(auto candidate, open_side(session, round.candidate));
    MSDUMP_TRY(auto reference, open_side(session, round.reference));
    DiffRules rules;
    return diff_dumps(std::move(candidate), std::move(reference), nullptr, rules, {}, session.context,
                      {.explain = {}, .flow = true});
  }

  ExitCode go_on(Session& session, CaseFolder& found) {
    const CaseRound& last = found.rounds.back();
    for (const std::string& folder : {last.candidate, last.reference}) {
      if (found.rounds.size() > 1 && is_empty_folder(folder)) {
        return session.end_with(
            make_error(ErrorCode::kNotFound, "round {} has not run: {} has no dump", found.rounds.size(), folder));
      }
    }
    Result<DiffResult> newest = compare(session, last);
    if (!newest) return session.end_with(newest.error());
    for (const Error& error : newest->failures) session.messages.error(error);
    if (newest->rows.empty())
      return session.end_with(make_error(ErrorCode::kNotADump, "nothing to compare in {}", last.candidate));
    std::vector<ComparedRound> rounds(found.rounds.size());
    Result<DiffResult> oldest;
    if (rounds.size() > 1) {
      oldest = compare(session, found.rounds.front());
      if (!oldest) return session.end_with(oldest.error());
      rounds.front() = {&*oldest, found.rounds.front().extent};
    }
    rounds.back() = {&*newest, last.extent};
    NextPlan plan = plan_next(rounds, as_before(*newest));
    return answer(session, found, {plan.of_first ? *oldest : *newest, plan, rounds.size(), {}, {}}, plan);
  }

  [[nodiscard]] DumpRequest as_before(const DiffResult& run) const {
    DumpRequest request;
    request.kind = used_.kind == ConfigKind::kUnknown ? kind_of_dump(run.a->catalogue().index) : used_.kind;
    request.asynchronous = used_.asynchronous;
    if (request.kind == ConfigKind::kMsprobe)
      request.target.framework = is_pytorch(run.pairing.a) ? Framework::kPyTorch : Framework::kMindSpore;
    if (const auto release = parse_release(options_.version)) request.target.version = release->version;
    return request;
  }

  ExitCode answer(Session& session, CaseFolder& found, NextAnswer result, NextPlan& plan) {
    const bool asked = plan.state == PlanState::kAsked;
    if (asked) {
      const std::string folder =
          in_folder_ ? found.folder_of(found.rounds.size() + 1) : found.rounds.back().candidate + "-next";
      plan.candidate.path = in_folder_ ? folder + "/candidate" : folder;
      plan.reference.path = in_folder_ ? folder + "/reference" : found.rounds.back().reference + "-next";
      for (const auto& [request, text] :
           {std::pair(&plan.candidate, &result.candidate), std::pair(&plan.reference, &result.reference)}) {
        Result<std::string> written = write_config(*request);
        if (!written) return session.end_with(written.error());
        *text = std::move(*written);
      }
    }
    if (in_folder_) {
      if (const Status kept = keep(found, result, plan); !kept) return session.end_with(kept.error());
    }
    print(session, result);
    return asked ? ExitCode::kOk : ExitCode::kNo;
  }

  static Status keep(CaseFolder& found, NextAnswer& result, const NextPlan& plan) {
    const std::string now = found.folder_of(found.rounds.size());
    MSDUMP_CHECK_OK(make_directories(now));
    if (plan.state == PlanState::kAsked) MSDUMP_CHECK_OK(write_round(found, result, plan));
    std::string finding;
    report::append_json(finding, next_document(result));
    MSDUMP_CHECK_OK(write_file(now + "/finding.json", finding + "\n"));
    MSDUMP_CHECK_OK(write_file(now + "/finding.txt", next_text(result)));
    return found.write();
  }

  // The configurations of the next round.
  static Status write_round(CaseFolder& found, NextAnswer& result, const NextPlan& plan) {
    const std::string next = found.folder_of(found.rounds.size() + 1);
    for (const auto& [name, text] :
         {std::pair("/candidate", &result.candidate), std::pair("/reference", &result.reference)}) {
      MSDUMP_CHECK_OK(make_directories(next + name));
      MSDUMP_CHECK_OK(write_file(next + name + ".json", *text));
      result.written.push_back(next + name + ".json");
    }
    found.rounds.push_back({plan.candidate.path, plan.reference.path, plan.extent});
    return {};
  }

  void print(Session& session, const NextAnswer& result) const {
    if (options_.form == report::Form::kTable) return (void)session.out.write(next_text(result));
    const auto sink = session.open_report(options_.form, dumps_of(result.run.a->opened), next_columns());
    for (const Suspect& suspect : result.plan.suspects) (void)sink->row(suspect_row(result, suspect));
    std::vector<report::Object> failures;
    for (const Error& error : result.run.failures) failures.push_back(report::failure_object(error));
    report::Object summary;
    summary.add("suspects", static_cast<int64_t>(result.plan.suspects.size()));
    summary.add("failed", static_cast<int64_t>(failures.size()));
    (void)sink->finish({std::move(summary), std::move(failures), next_document(result)});
  }

  NextOptions options_;
  UsedConfig used_;
  bool in_folder_ = false;
};

const Registration kNextCommand{[] { return std::make_unique<Next>(); }};

}  // namespace
}  // namespace msdump::cli
