#include "config/data_dump.h"

#include <algorithm>

#include "lint_run.h"
#include "support/catch.h"
#include "support/growth.h"

namespace msdump {
namespace {

using test::lint_lines;
using Lines = std::vector<std::string>;

// A configuration that nothing can be said of; `common` and `e2e` are put in front of the end of their sections.
std::string config(const std::string& common = "", const std::string& e2e = "") {
  return R"({
"common_dump_settings": {
"dump_mode": 0,
"path": "/out",
"net_name": "Net",
"iteration": "all",
"input_output": 0,
"kernels": [],
"support_device": [0]
)" + (common.empty() ? "" : ", " + common) +
         R"(},
"e2e_dump_settings": {"enable": true, "trans_flag": true)" +
         (e2e.empty() ? "" : ", " + e2e) + "}}";
}

LintTarget on(Device device, const Version& version) { return {version, device, {}, ""}; }
const LintTarget kCpu27 = on(Device::kCpu, {2, 7, 0}), kAscend27 = on(Device::kAscend, {2, 7, 0}),
                 kAscend20 = on(Device::kAscend, {2, 0, 0});

// A key that comes twice says so; that is not what these tests are about.
Lines lines_of(const std::string& common, const LintTarget& target, const std::string& e2e = "") {
  Lines lines = lint_lines(config(common, e2e), target);
  lines.erase(std::remove_if(lines.begin(), lines.end(),
                             [](const std::string& line) { return line.find(" duplicate-key ") != std::string::npos; }),
              lines.end());
  return lines;
}

TEST_CASE("sections that come again and again are not searched for each time") {
  const auto sections = [](size_t n) {
    std::string text = "{";
    for (size_t i = 0; i < n; ++i) text += "\"x" + std::to_string(i) + "\": 1, \"e2e_dump_settings\": {}, ";
    return text + "\"common_dump_settings\": {}}";
  };
  const auto run = [](const std::string& text) { CHECK(!lint_config(text, {}).findings.empty()); };
  CHECK(test::growth(100, sections, run) < test::kNotQuadratic);
}

}  // namespace

TEST_CASE("an ordinary configuration is clean for all releases and devices") {
  CHECK(lint_lines(config()).empty());
  CHECK(lint_config(config(), {}).kind == ConfigKind::kDataDump);
  CHECK(lint_config(config(), {}).version == "1.3 to 2.10");
}

TEST_CASE("findings stand where the key or the value does") {
  const LintReport report = lint_config(config(R"("dump_mod": 1)"), kCpu27);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].line == 10);
  CHECK(report.findings[0].column == 3);
  CHECK(report.findings[0].hint == "did you mean 'dump_mode'?");
}

TEST_CASE("what a CPU refuses is a warning until the device is known") {
  const std::string key = "common_dump_settings.saved_data";
  CHECK(lines_of(R"("saved_data": "statistic")", kCpu27) == Lines{"error saved-data " + key});
  CHECK(lines_of(R"("saved_data": "statistic")", kAscend27).empty());
  CHECK(lines_of(R"("saved_data": "statistic")", {Version{2, 7, 0}, {}, {}, ""}) == Lines{"warning saved-data " + key});
}

TEST_CASE("statistics on Ascend need npy where the dump is asynchronous") {
  const auto async = [](const std::string& more) {
    return R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net", "iteration": "all",
      "input_output": 0, "kernels": [], "support_device": [0], "op_debug_mode": 0, "saved_data": "statistic")" +
           more + "}}";
  };
  CHECK(lint_lines(async(""), kAscend20) == Lines{"error saved-data common_dump_settings.saved_data"});
  CHECK(lint_lines(async(R"(, "file_format": "npy")"), kAscend20).empty());
  CHECK(lines_of(R"("saved_data": "statistic")", kAscend20) ==
        Lines{"error saved-data common_dump_settings.saved_data"});
}

TEST_CASE("without e2e_dump_settings op_debug_mode has to be there on Ascend") {
  const std::string text = R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net",
    "iteration": "all", "input_output": 0, "kernels": [], "support_device": [0]}})";
  CHECK(lint_lines(text, kAscend20) == Lines{"error missing-key common_dump_settings.op_debug_mode"});
  CHECK(lint_lines(text, on(Device::kCpu, {2, 0, 0})).empty());
}

TEST_CASE("an empty path is judged by the variable") {
  LintTarget target = kAscend27;
  CHECK(lines_of(R"("path": "")", target) == Lines{"error path-empty common_dump_settings.path"});
  target.diagnostic_path = "/home/user";
  CHECK(lines_of(R"("path": "")", target).empty());
  target.diagnostic_path = "relative";
  CHECK(lines_of(R"("path": "")", target) == Lines{"error path-not-absolute common_dump_settings.path"});
  target.version = Version{1, 3, 0};
  target.diagnostic_path = "/home/user";
  CHECK(lines_of(R"("path": "")", target) == Lines{"error path-empty common_dump_settings.path"});
}

TEST_CASE("paths and net names have few characters") {
  CHECK(lines_of(R"("path": "out")", kAscend27) == Lines{"error path-not-absolute common_dump_settings.path"});
  CHECK(lines_of(R"("path": "/a b")", kAscend27) == Lines{"error path-characters common_dump_settings.path"});
  CHECK(lines_of(R"("net_name": "a/b")", kAscend27) == Lines{"error net-name common_dump_settings.net_name"});
  CHECK(lines_of(R"("net_name": "")", kAscend27) == Lines{"error net-name common_dump_settings.net_name"});
}

TEST_CASE("an iteration that selects nothing is an error, one with a dead item a warning") {
  const std::string key = "common_dump_settings.iteration";
  CHECK(lines_of(R"("iteration": "5-")", kAscend27) == Lines{"error iteration-nothing " + key});
  CHECK(lines_of(R"("iteration": "0|5-")", kAscend27) == Lines{"warning iteration-item " + key});
  CHECK(lines_of(R"("iteration": "0|5-")", on(Device::kCpu, {1, 3, 0})) == Lines{"error iteration-nothing " + key});
  CHECK(lines_of(R"("iteration": "1 | 2")", kAscend27) == Lines{"error iteration-grammar " + key});
  CHECK(lines_of(R"("iteration": "0-3", "initial_iteration": 5)", kAscend27) ==
        Lines{"error iteration-nothing " + key});
  CHECK(lines_of(R"("iteration": "0-3|7", "initial_iteration": 5)", kAscend27) ==
        Lines{"warning iteration-item " + key});
  const LintReport report = lint_config(config(R"("iteration": "1 | 2")"), kAscend27);
  CHECK(report.findings.at(1).hint == "write \"1|2\"");
}

TEST_CASE("kernels are looked at with dump_mode 1 only") {
  const std::string key = "common_dump_settings.kernels";
  CHECK(lines_of(R"("kernels": ["Add"])", kAscend27) == Lines{"warning kernels-unused " + key});
  CHECK(lines_of(R"("kernels": [""])", kAscend27).empty());
  CHECK(lines_of(R"("dump_mode": 1, "kernels": ["Add"])", kAscend27).empty());
  CHECK(lines_of(R"("dump_mode": 1, "kernels": [])", kAscend27) == Lines{"warning kernels " + key});
  CHECK(lines_of(R"("dump_mode": 1, "kernels": [])", kAscend20) == Lines{"error kernels " + key});
  CHECK(lines_of(R"("dump_mode": 1, "kernels": [1])", kAscend27) == Lines{"error kernels " + key});
  CHECK(lines_of(R"("dump_mode": 1, "kernels": ["Add", 1])", kAscend27) == Lines{"warning kernel-item " + key + "[1]"});
  CHECK(lines_of(R"x("dump_mode": 1, "kernels": ["name-regex([)"])x", kAscend27) ==
        Lines{"error kernel-regex " + key + "[0]"});
  CHECK(lines_of(R"x("dump_mode": 1, "kernels": ["name-regex(.*\\d)"])x", kAscend27) ==
        Lines{"warning kernel-regex " + key + "[0]"});
  CHECK(lines_of(R"("dump_mode": 1, "kernels": ["Add", "Add"])", kAscend27) ==
        Lines{"warning kernel-duplicate " + key + "[1]"});
}

TEST_CASE("a debug mode decides over other keys") {
  CHECK(lines_of(R"("op_debug_mode": 3)", kAscend27).empty());
  CHECK(lines_of(R"("op_debug_mode": 3, "dump_mode": 1, "kernels": ["Add"], "input_output": 1)", kAscend27) ==
        Lines{"warning overridden common_dump_settings.dump_mode",
              "warning overridden common_dump_settings.input_output"});
  CHECK(lines_of(R"("op_debug_mode": 4, "iteration": "0")", kAscend27) ==
        Lines{"warning overridden common_dump_settings.iteration"});
  CHECK(lines_of(R"("op_debug_mode": 1)", kAscend27) ==
        Lines{"warning op-debug-mode common_dump_settings.op_debug_mode"});
  CHECK(lines_of(R"("op_debug_mode": 5)", kAscend27) ==
        Lines{"error op-debug-mode common_dump_settings.op_debug_mode"});
  CHECK(lines_of(R"("op_debug_mode": "3")", kAscend27) == Lines{"error wrong-type common_dump_settings.op_debug_mode"});
  CHECK(lines_of(R"("overflow_number": 1)", kAscend27) ==
        Lines{"error overflow-number common_dump_settings.overflow_number"});
  CHECK(lines_of(R"("overflow_number": 1, "op_debug_mode": 3)", kAscend27).empty());
}

TEST_CASE("a key is judged by the section and the release it belongs to") {
  CHECK(lines_of(R"("sample_mode": 1)", kAscend27) == Lines{"warning wrong-section common_dump_settings.sample_mode"});
  CHECK(lines_of("", kAscend20, R"("sample_mode": 1)") ==
        Lines{"warning not-in-version e2e_dump_settings.sample_mode"});
  CHECK(lines_of("", kAscend20, R"("sample_mode": 0)").empty());
  CHECK(lines_of("", kAscend27, R"("sample_num": 3)") == Lines{"warning sample-num e2e_dump_settings.sample_num"});
  CHECK(lines_of("", kAscend27, R"("sample_mode": 1, "sample_num": 0)") ==
        Lines{"error sample-num e2e_dump_settings.sample_num"});
}

TEST_CASE("statistics of the device need Ascend and saved_data statistic") {
  const std::string device = R"("stat_calc_mode": "device")";
  CHECK(lines_of(R"("saved_data": "statistic")", kAscend27, device).empty());
  CHECK(lines_of("", kAscend27, device) == Lines{"warning stat-calc-mode e2e_dump_settings.stat_calc_mode"});
  CHECK(lines_of(R"("saved_data": "statistic", "statistic_category": ["max", "md5", "median"])", kAscend27, device) ==
        Lines{"warning statistic-category common_dump_settings.statistic_category[1]",
              "error statistic-category common_dump_settings.statistic_category[2]"});
  CHECK(lines_of(R"("saved_data": "statistic", "statistic_category": ["hash"])", kAscend27) ==
        Lines{"error statistic-category common_dump_settings.statistic_category[0]"});
  CHECK(
      lines_of(R"("saved_data": "statistic", "statistic_category": ["hash"])", on(Device::kAscend, {2, 7, 1})).empty());
}

TEST_CASE("sections that are not objects have no keys") {
  const Lines lines = lint_lines(R"({"common_dump_settings": [], "e2e_dump_settings": {"enable": true}})", kAscend27);
  CHECK(lines.size() == 7);
  CHECK(lines.back() == "warning wrong-type common_dump_settings");
  CHECK(lines.front() == "error missing-key common_dump_settings.dump_mode");
}

TEST_CASE("the form of 1.0 to 1.2 is judged for these releases, too") {
  const std::string text = R"({"common_dump_settings": {"dump_mode": 0, "path": "/test", "net_name": "ResNet50",
    "iteration": 0, "input_output": 2, "kernels": [], "support_device": [0]},
    "e2e_dump_settings": {"enable": true, "trans_flag": false}})";
  CHECK(lint_lines(text, {Version{1, 2, 0}, Device::kCpu, {}, ""}).empty());
  CHECK(lint_lines(text) == Lines{"warning wrong-type common_dump_settings.iteration"});
  CHECK(lint_lines(text, kCpu27) == Lines{"error wrong-type common_dump_settings.iteration"});
}

TEST_CASE("numbers beyond 32 bits are cut as MindSpore cuts them") {
  CHECK(lines_of(R"("input_output": 4294967296)", kAscend27) ==
        Lines{"warning bad-value common_dump_settings.input_output"});
  CHECK(lines_of(R"("input_output": 1.0)", kAscend27) == Lines{"error wrong-type common_dump_settings.input_output"});
}

TEST_CASE("long lists and texts are judged in linear time") {
  const auto repeated = [](std::string_view first, std::string_view more, std::string_view end) {
    return [=](size_t n) {
      std::string text(first);
      for (size_t i = 0; i < n; ++i) text += more;
      return text + std::string(end);
    };
  };
  const auto kernels = repeated(R"("dump_mode": 1, "kernels": [1)", R"(, "Add", 1)", "]");
  const auto iteration = repeated(R"("iteration": "0|5-)", "|5-", "\"");
  CHECK(test::growth(300, kernels, [](const std::string& text) { CHECK(lines_of(text, kAscend27).size() == 202); }) <
        test::kNotQuadratic);
  CHECK(test::growth(300, iteration, [](const std::string& text) { CHECK(lines_of(text, kAscend27).size() == 101); }) <
        test::kNotQuadratic);
}

TEST_CASE("paths and names of nets take letters, digits, '-' and '_', a path also '/'") {
  CHECK(lines_of(R"("path": "/azAZ09-_/x", "net_name": "azAZ09-_")", kAscend27).empty());
  for (const char bad : {'`', '{', '@', '[', ':', '.', '~'}) {
    INFO(bad);
    CHECK(lines_of(fmt::format(R"("path": "/a{0}", "net_name": "a{0}")", bad), kAscend27) ==
          Lines{"error path-characters common_dump_settings.path", "error net-name common_dump_settings.net_name"});
  }
}

}  // namespace msdump
