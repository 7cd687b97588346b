// What check-config says of a configuration against what the frameworks did with it:
//
//   real/config-behaviour.csv    380 runs of MindSpore 1.3.0 to 2.10.0 on a CPU, each with one change to a base file
//   msprobe/configs              70 files and the answers of msprobe 26.2.0 on PyTorch and on MindSpore, on a CPU
//
// An error means: the run was refused, ended, or wrote no tensor. What a file cannot tell is listed here, with the reason.
#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "base/text.h"
#include "config/lint.h"
#include "io/json.h"
#include "support/catch.h"
#include "support/csv_rows.h"
#include "support/paths.h"
#include "support/scratch_dir.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

enum class Level { kClean, kWarning, kError };

Level level_of(const LintReport& report) {
  if (report.errors > 0) return Level::kError;
  return report.warnings > 0 ? Level::kWarning : Level::kClean;
}

std::string words_of(const LintReport& report) {
  std::string text;
  for (const Finding& finding : report.findings)
    text += fmt::format("\n  {}: {} [{}]", name_of(finding.severity), finding.message, finding.rule);
  return text;
}

// One row of config-behaviour.csv.
struct FrameworkRun {
  std::string version, name, change, message;
  int exit_code = 0, files = 0;
  std::string text;             // the configuration
  std::string diagnostic_path;  // $MS_DIAGNOSTIC_DATA_PATH of the run

  // A tree without tensors has the IR, its protobuf, two csv files and two of metadata at most.
  [[nodiscard]] bool stopped() const { return exit_code != 0 || files <= 6; }
  [[nodiscard]] bool warned() const { return message.find("WARNING") != std::string::npos; }
};

const std::set<std::string> kE2eKeys = {"enable",          "trans_flag",     "sample_mode",
                                        "sample_num",      "stat_calc_mode", "device_stat_precision_mode",
                                        "save_kernel_args"};

rapidjson::Value& section_of(rapidjson::Document& base, const std::string& key) {
  return base[kE2eKeys.count(key) > 0 ? "e2e_dump_settings" : "common_dump_settings"];
}

void set_key(rapidjson::Document& base, const std::string& key, const std::string& json) {
  rapidjson::Document value(&base.GetAllocator());
  value.Parse(json.c_str(), json.size());
  REQUIRE_FALSE(value.HasParseError());
  rapidjson::Value& section = section_of(base, key);
  section.RemoveMember(key.c_str());
  section.AddMember(rapidjson::Value(key.c_str(), base.GetAllocator()), value.Move(), base.GetAllocator());
}

// "without K", "K=JSON; K=JSON", "... unset|set" of the variable, or the whole text in single quotes.
void apply_change(FrameworkRun& run, const std::string& base_text) {
  if (run.change.starts_with('\'')) {
    run.text = run.change.substr(1, run.change.size() - 2);
    if (const size_t end = run.text.find("\\n"); end != std::string::npos) run.text.replace(end, 2, "\n");
    return;
  }
  rapidjson::Document base;
  base.Parse(base_text.c_str(), base_text.size());
  REQUIRE_FALSE(base.HasParseError());
  for (size_t at = 0; at < run.change.size();) {
    const size_t end = std::min(run.change.find("; ", at), run.change.size());
    const std::string part = run.change.substr(at, end - at);
    at = end + 2;
    if (part == "without e2e_dump_settings") {
      base.RemoveMember("e2e_dump_settings");
    } else if (part.starts_with("without ")) {
      const std::string key = part.substr(8);
      section_of(base, key).RemoveMember(key.c_str());
    } else if (part.starts_with("MS_DIAGNOSTIC_DATA_PATH")) {
      run.diagnostic_path = part.ends_with("unset") ? "" : "/home/user/diagnostics";
    } else {
      const size_t equals = part.find('=');
      REQUIRE(equals != std::string::npos);
      set_key(base, part.substr(0, equals), part.substr(equals + 1));
    }
  }
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  base.Accept(writer);
  run.text.assign(buffer.GetString(), buffer.GetSize());
}

std::vector<FrameworkRun> framework_runs(const fs::path& folder) {
  const std::string base = read_bytes(folder / "config-behaviour.base.json");
  std::vector<FrameworkRun> runs;
  for (const std::vector<std::string>& row : csv_rows(folder / "config-behaviour.csv")) {
    REQUIRE(row.size() == 6);
    FrameworkRun run{row[0], row[1], row[2], row[5], std::stoi(row[3]), std::stoi(row[4]), "", ""};
    apply_change(run, base);
    runs.push_back(std::move(run));
  }
  return runs;
}

// The operators of that net have other numbers before MindSpore 2.7: the names in `kernels` are good names, of no operator
// there. Only the IR can tell (--estimate does).
bool depends_on_the_net(const FrameworkRun& run) { return run.name == "dump_mode_1_full" && run.version != "2.10.0"; }

LintReport lint(const FrameworkRun& run, std::optional<Version> version, std::optional<Device> device) {
  return lint_config(run.text, {version, device, std::nullopt, run.diagnostic_path});
}

}  // namespace

TEST_CASE("what MindSpore refuses or leaves empty is an error, and nothing else is") {
  const auto folder = corpus_or_skip("real");
  if (!folder) return;
  size_t runs = 0, errors = 0, warnings = 0, unknowable = 0;
  for (const FrameworkRun& run : framework_runs(*folder)) {
    ++runs;
    const LintReport report = lint(run, parse_version(run.version), Device::kCpu);
    INFO(run.version << " " << run.name << ": exit " << run.exit_code << ", " << run.files << " files, "
                     << run.message);
    INFO(run.text << words_of(report));
    const Level level = level_of(report);
    errors += level == Level::kError ? 1U : 0U;
    warnings += level == Level::kWarning ? 1U : 0U;
    if (depends_on_the_net(run)) {
      ++unknowable;
      CHECK(level == Level::kClean);
      continue;
    }
    CHECK((level == Level::kError) == run.stopped());
    if (run.warned()) CHECK(level != Level::kClean);
  }
  CHECK(runs == 380);
  CHECK(unknowable == 4);
  std::cout << fmt::format("data_dump.json: {} runs, {} errors, {} warnings only, {} left to the net\n", runs, errors,
                           warnings, unknowable);
}

TEST_CASE("without a version only what all releases refuse is an error") {
  const auto folder = corpus_or_skip("real");
  if (!folder) return;
  std::map<std::string, std::vector<FrameworkRun>> cases;
  for (FrameworkRun& run : framework_runs(*folder)) cases[run.name].push_back(std::move(run));
  for (const auto& [name, runs] : cases) {
    if (std::any_of(runs.begin(), runs.end(), depends_on_the_net)) continue;
    const LintReport report = lint(runs.front(), std::nullopt, Device::kCpu);
    const auto stopped = std::count_if(runs.begin(), runs.end(), [](const FrameworkRun& run) { return run.stopped(); });
    INFO(name << ": " << stopped << " of " << runs.size() << " stopped" << words_of(report));
    CHECK((level_of(report) == Level::kError) == (stopped == static_cast<std::ptrdiff_t>(runs.size())));
    if (stopped > 0) CHECK(level_of(report) != Level::kClean);
  }
}

TEST_CASE("without a device nothing is an error that some run survived, and what a CPU refuses is a warning") {
  const auto folder = corpus_or_skip("real");
  if (!folder) return;
  size_t only_cpu = 0;
  for (const FrameworkRun& run : framework_runs(*folder)) {
    if (depends_on_the_net(run)) continue;
    const LintReport report = lint(run, parse_version(run.version), std::nullopt);
    INFO(run.version << " " << run.name << words_of(report));
    if (level_of(report) == Level::kError) CHECK(run.stopped());
    if (run.stopped()) CHECK(level_of(report) != Level::kClean);
    only_cpu += run.stopped() && level_of(report) == Level::kWarning ? 1U : 0U;
  }
  std::cout << fmt::format("data_dump.json: {} runs stopped for the sake of the CPU alone\n", only_cpu);
}

TEST_CASE("configurations that worked and ask for nothing odd are clean") {
  const auto folder = corpus_or_skip("real");
  if (!folder) return;
  const std::set<std::string> ordinary = {
      "base",     "missing_op_debug_mode", "missing_saved_data", "trans_false", "io_1",         "io_2",
      "iter_0_0", "iter_1_0|1-2",          "iter_2_0-1",         "path_empty",  "support_other"};
  for (const FrameworkRun& run : framework_runs(*folder)) {
    if (ordinary.count(run.name) == 0 || run.stopped()) continue;
    const LintReport report = lint(run, parse_version(run.version), Device::kCpu);
    INFO(run.version << " " << run.name << words_of(report));
    CHECK(level_of(report) == Level::kClean);
  }
  for (const auto& entry : fs::directory_iterator(*folder)) {
    const fs::path config = entry.path() / "data_dump.json";
    if (!fs::exists(config)) continue;
    const std::string version = entry.path().filename().string();
    const LintReport report = lint_config(read_bytes(config), {parse_version(version), Device::kCpu, std::nullopt, ""});
    INFO(config.string() << words_of(report));
    CHECK(report.kind == ConfigKind::kDataDump);
    CHECK(level_of(report) == Level::kClean);
  }
}

namespace {

struct LintAnswer {
  bool accepted = false;
  std::string text;
};

std::map<std::string, LintAnswer> answers_of(const fs::path& path) {
  const auto json = parse_json(read_bytes(path));
  REQUIRE(json);
  std::map<std::string, LintAnswer> answers;
  for (const JsonValue& one : json->items)
    answers[one.find("file")->text] = {one.find("accepted")->boolean, one.find("answer")->text};
  return answers;
}

}  // namespace

TEST_CASE("what msprobe refuses is an error, and nothing else is") {
  const auto folder = corpus_or_skip("msprobe/configs");
  if (!folder) return;
  const auto pytorch = answers_of(*folder / "answers.pytorch.json"),
             mindspore = answers_of(*folder / "answers.mindspore.json");
  size_t files = 0;
  for (const auto& [name, answer] : pytorch) {
    ++files;
    const std::string text = read_bytes(*folder / name);
    const auto report_for = [&](std::optional<Framework> framework, std::optional<Device> device) {
      return lint_config(text, {std::nullopt, device, framework, "", parse_version("26.2")});
    };
    const bool accepted_there = mindspore.at(name).accepted;
    {
      const LintReport report = report_for(Framework::kPyTorch, Device::kCpu);
      INFO(name << " on PyTorch: " << answer.text << words_of(report));
      CHECK((level_of(report) == Level::kError) == !answer.accepted);
    }
    {
      const LintReport report = report_for(Framework::kMindSpore, Device::kCpu);
      INFO(name << " on MindSpore: " << mindspore.at(name).text << words_of(report));
      CHECK((level_of(report) == Level::kError) == !accepted_there);
    }
    const LintReport report = report_for(std::nullopt, Device::kCpu);
    INFO(name << " on either" << words_of(report));
    CHECK((level_of(report) == Level::kError) == (!answer.accepted && !accepted_there));
    if (!answer.accepted || !accepted_there) CHECK(level_of(report) != Level::kClean);
    // Without a device: nan_check was refused for the want of an NPU alone.
    const LintReport anywhere = report_for(std::nullopt, std::nullopt);
    if (name != "task_nan_check.json") CHECK(level_of(anywhere) == level_of(report));
  }
  CHECK(files == 70);
  std::cout << fmt::format("msprobe: {} configurations on two frameworks\n", files);
}

TEST_CASE("configurations that msprobe ran are not errors") {
  const auto folder = corpus_or_skip("msprobe/trees");
  if (!folder) return;
  size_t configs = 0;
  for (const auto& entry : fs::directory_iterator(*folder)) {
    const auto run = parse_json(read_bytes(entry.path() / "run.json"));
    REQUIRE(run);
    const JsonValue* exit_status = run->find("exit_status");
    const JsonValue* config = run->find("config.json");
    const JsonValue* framework = run->find("framework");
    if (exit_status == nullptr || config == nullptr || framework == nullptr || exit_status->as_int() != 0) continue;
    ++configs;
    // The object as it stands in run.json: from its bracket to the one that closes it.
    const std::string all = read_bytes(entry.path() / "run.json");
    size_t end = config->offset;
    int depth = 0;
    do {
      depth += all[end] == '{' ? 1 : all[end] == '}' ? -1 : 0;
      ++end;
    } while (depth > 0);
    const std::string text = all.substr(config->offset, end - config->offset);
    const Framework which = framework->text == "pytorch" ? Framework::kPyTorch : Framework::kMindSpore;
    const LintReport report = lint_config(text, {std::nullopt, Device::kCpu, which, ""});
    INFO(entry.path().string() << "\n" << text << words_of(report));
    CHECK(report.kind == ConfigKind::kMsprobe);
    CHECK(report.errors == 0);
  }
  CHECK(configs > 100);
}
