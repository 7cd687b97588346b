#include "config/lint.h"

#include "lint_run.h"
#include "support/catch.h"

namespace msdump {
namespace {

using test::lint_lines;
using Lines = std::vector<std::string>;

const LintTarget kPyTorch{{}, Device::kCpu, Framework::kPyTorch, ""},
    kMindSpore{{}, Device::kCpu, Framework::kMindSpore, ""}, kEither{{}, Device::kCpu, {}, ""};

std::string probe(const std::string& top, const std::string& block = "") {
  return R"({"dump_path": "/d")" + (top.empty() ? "" : ", " + top) + R"(, "statistics": {)" + block + "}}";
}

}  // namespace

TEST_CASE("the kind of a configuration follows from its content") {
  CHECK(lint_config(R"({"common_dump_settings": {}})", {}).kind == ConfigKind::kDataDump);
  CHECK(lint_config(R"({"comon_dump_setting": {}})", {}).kind == ConfigKind::kDataDump);
  CHECK(lint_config(R"({"task": "tensor"})", {}).kind == ConfigKind::kMsprobe);
  CHECK(lint_config(R"({"dump": {}})", {}).kind == ConfigKind::kAcl);
  CHECK(lint_lines(R"({"name": "x"})") == Lines{"error not-a-config "});
  CHECK(lint_lines("[]") == Lines{"error not-a-config "});
  CHECK(lint_lines("3") == Lines{"error not-a-config "});
}

TEST_CASE("text that is not JSON is one error at its place") {
  const LintReport report = lint_config("{\"task\": \"tensor\",\n  \"level\" \"L1\"}", {});
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].rule == "json-syntax");
  CHECK(report.findings[0].line == 2);
  CHECK(report.findings[0].column == 11);
  CHECK(report.errors == 1);
  CHECK(lint_lines("") == Lines{"error json-syntax "});
  CHECK(lint_lines(std::string("{}\0{", 4)) == Lines{"error json-syntax "});
}

TEST_CASE("slips of the hand are reported one by one and the rest is judged") {
  const Lines lines = lint_lines(R"({ // all
    'task': "tensor", "level": "L3", "dump_path": "/d", "async_dump": True,
    "tensor": {"data_mode": ["all"],}})",
                                 kEither);
  CHECK(lines == Lines{"error json-comment ", "error json-single-quotes ", "error level level",
                       "error json-python-word ", "error async-dump async_dump", "error json-trailing-comma "});
}

TEST_CASE("a byte order mark and NaN are for some readers only") {
  CHECK(lint_lines("\xEF\xBB\xBF" + probe("")) == Lines{"error json-bom "});
  CHECK(lint_lines("\xEF\xBB\xBF{\"dump\": {\"dump_path\": \"/d\", \"dump_list\": []}}") == Lines{"warning json-bom "});
  CHECK(lint_lines(R"({"dump": {"dump_path": "/d", "dump_list": [], "dump_step": NaN}})") ==
        Lines{"error json-nan ", "error wrong-type dump.dump_step"});
  CHECK(lint_lines(probe(R"("extra": NaN)"), kEither) == Lines{"warning unknown-key extra"});
  CHECK(lint_lines(probe("\"\xFF\": 1"), kEither) == Lines{"warning unknown-key \xFF", "error json-utf8 "});
}

TEST_CASE("msprobe's frameworks differ in tasks and options") {
  CHECK(lint_lines(probe(""), kEither).empty());
  CHECK(lint_lines(R"({"dump_path": "/d", "task": "diff_check"})", kPyTorch).empty());
  CHECK(lint_lines(R"({"dump_path": "/d", "task": "diff_check"})", kMindSpore) == Lines{"error task task"});
  CHECK(lint_lines(R"({"dump_path": "/d", "task": "diff_check"})", kEither) == Lines{"warning task task"});
  CHECK(lint_lines(probe("", R"("summary_mode": ["max"])"), kPyTorch) ==
        Lines{"error summary-mode statistics.summary_mode"});
  CHECK(lint_lines(probe("", R"("summary_mode": ["max"])"), kMindSpore).empty());
  CHECK(lint_lines(probe("", R"("summary_mode": "xor")"), kMindSpore) ==
        Lines{"warning summary-mode statistics.summary_mode"});
  CHECK(lint_lines(probe(R"("dump_enable": false)"), kMindSpore).size() == 1);
}

TEST_CASE("ranks and steps are lists of numbers and ranges") {
  for (const char* fine : {"[]", "null", "[0, \"2-3\", \"4\"]", "[1000000]", "[\" 3 - 5 \"]", "[1, 1]"}) {
    INFO(fine);
    CHECK(lint_lines(probe(std::string("\"step\": ") + fine), kEither).empty());
  }
  for (const char* bad : {"[-1]", "[1000001]", "[1.5]", "[true]", "[null]", "[\"\"]", "[\"3-2\"]", "[\"1-2-3\"]",
                          "[\"a\"]", "[NaN]", "[\"0-1000001\"]", "[[0]]", "[99999999999999999999]"}) {
    INFO(bad);
    CHECK(lint_lines(probe(std::string("\"step\": ") + bad), kEither) == Lines{"error rank-step step[0]"});
  }
  for (const char* bad : {"\"0\"", "0", "true", "{}"}) {
    INFO(bad);
    CHECK(lint_lines(probe(std::string("\"rank\": ") + bad), kEither) == Lines{"error rank-step rank"});
  }
}

TEST_CASE("a scope is two full names of what the level hooks") {
  const auto scope = [](const std::string& level, const std::string& names) {
    return lint_lines(probe("\"level\": \"" + level + "\"", "\"scope\": [" + names + "]"), kEither);
  };
  const std::string api = R"("Functional.relu.0.forward", "Tensor.add.1.backward")",
                    module = R"("Module.fc.Linear.forward.0", "Cell.a.b.C.backward.1")";
  CHECK(scope("L1", api).empty());
  CHECK(scope("L0", module).empty());
  CHECK(scope("mix", api).empty());
  CHECK(scope("mix", module).empty());
  CHECK(scope("debug", R"("a", "b")").empty());
  CHECK(scope("L1", module).size() == 2);
  CHECK(scope("L0", api).size() == 2);
  CHECK(scope("L1", R"("Functional.relu.0.forward")") == Lines{"error scope statistics.scope"});
  CHECK(scope("L1", "").empty());
}

TEST_CASE("level L2 takes tensors of one call on PyTorch and kernels on MindSpore") {
  const auto at = [](const std::string& block) {
    return R"({"dump_path": "/d", "task": "tensor", "level": "L2", "tensor": {)" + block + "}}";
  };
  CHECK(lint_lines(at(R"("list": ["Functional.relu.0.forward"])"), kPyTorch).empty());
  CHECK(lint_lines(at(""), kPyTorch) == Lines{"error level level"});
  CHECK(lint_lines(at(""), kMindSpore).empty());
  CHECK(lint_lines(at(R"("list": ["a"], "data_mode": ["forward"])"), kMindSpore) ==
        Lines{"error data-mode tensor.data_mode"});
  CHECK(lint_lines(at(R"x("list": ["name-regex([)"])x"), kMindSpore) == Lines{"error list-regex tensor.list[0]"});
  CHECK(lint_lines(R"({"dump_path": "/d", "task": "exception_dump", "level": "L2"})", kMindSpore).empty());
}

TEST_CASE("task structure is for L0 and mix and takes every other level for mix") {
  const auto at = [](const std::string& level) {
    return lint_lines(R"({"dump_path": "/d", "task": "structure", "level": ")" + level + R"("})", kEither);
  };
  CHECK(at("L0").empty());
  CHECK(at("mix").empty());
  CHECK(at("L2") == Lines{"warning level level"});
  CHECK(lint_lines(R"({"dump_path": "/d", "task": "structure"})", kEither) == Lines{"warning level level"});
}

TEST_CASE("keys of older releases and of other tasks are not read") {
  CHECK(lint_lines(probe(R"("seed": 1)"), kEither) == Lines{"warning old-key seed"});
  CHECK(lint_lines(probe("", R"("file_format": "npy")"), kEither) == Lines{"warning old-key statistics.file_format"});
  CHECK(lint_lines(R"({"dump_path": "/d", "task": "tensor", "tensor": {"tensor_list": ["a"]}})", kEither) ==
        Lines{"warning not-read tensor.tensor_list"});
  CHECK(lint_lines(R"({"dump_path": "/d", "task": "tensor", "statistics": {"list": ["a"]}})", kEither) ==
        Lines{"warning other-block statistics"});
  CHECK(lint_lines(probe(R"("dumppath": "/x")"), kEither) == Lines{"warning unknown-key dumppath"});
}

TEST_CASE("a key in the wrong place is named with the right one") {
  const auto said = [](const std::string& text) {
    const LintReport report = lint_config(text, kEither);
    for (const Finding& finding : report.findings) {
      if (finding.rule == "wrong-section") return finding.key + ": " + finding.message + ", " + finding.hint;
    }
    return std::string();
  };
  CHECK(said(R"({"common_dump_settings": {}, "enable": true})") ==
        "enable: enable is not a key of the top level: it is ignored, it belongs in e2e_dump_settings");
  CHECK(said(probe(R"("data_mode": ["all"])")) ==
        "data_mode: data_mode is not a key of the top level: it is ignored, it belongs in the block of a task");
  CHECK(said(probe("", R"("dim": 0)")) ==
        "statistics.dim: dim is not a key of the block of a task: it is ignored, it belongs in an item of slice");
  CHECK(said(probe("", R"("level": "L1")")) ==
        "statistics.level: level is not a key of the block of a task: it is ignored, it belongs in the top level");
}

TEST_CASE("modules to load are full names of forward calls, each once") {
  const auto load = [](const std::string& modules) {
    return lint_lines(probe(R"("load": {"path": "/old", "modules": )" + modules + "}"), kEither);
  };
  CHECK(load(R"(["Module.fc.Linear.forward.0"])").empty());
  CHECK(load("[]") == Lines{"error load-modules load.modules"});
  CHECK(load(R"(["fc"])") == Lines{"error load-modules load.modules[0]"});
  CHECK(load(R"(["Module.fc.Linear.backward.0"])") == Lines{"error load-modules load.modules[0]"});
  CHECK(load(R"(["Module.a.forward.0", "Module.a.forward.0"])") == Lines{"error load-modules load.modules[1]"});
}

TEST_CASE("a dump of AscendCL asks for one thing") {
  const auto acl = [](const std::string& more) { return lint_lines(R"({"dump": {"dump_path": "/d")" + more + "}}"); };
  CHECK(acl(R"(, "dump_list": [])").empty());
  CHECK(acl(R"(, "dump_op_switch": "on", "dump_mode": "all")").empty());
  CHECK(acl(R"(, "dump_debug": "on")").empty());
  CHECK(lint_lines(R"({"dump": {"dump_scene": "lite_exception"}})").empty());
  CHECK(acl("") == Lines{"error nothing-asked dump"});
  CHECK(lint_lines(R"({"dump": {"dump_list": []}})") == Lines{"error missing-key dump.dump_path"});
  CHECK(acl(R"(, "dump_debug": "on", "dump_list": [{"model_name": "m"}])") == Lines{"error exclusive dump.dump_list"});
  CHECK(acl(R"(, "dump_scene": "watcher", "dump_mode": "all")") == Lines{"error exclusive dump.dump_mode"});
  CHECK(acl(R"(, "dump_scene": "aic_err_norm_dump", "dump_op_switch": "on")") ==
        Lines{"error exclusive dump.dump_op_switch"});
  CHECK(acl(R"(, "dump_list": [], "dump_mode": "inputs")") == Lines{"error bad-value dump.dump_mode"});
  CHECK(acl(R"(, "dump_list": [], "dump_step": "1-2-3")") == Lines{"error dump-step dump.dump_step"});
  CHECK(acl(R"(, "dump_list": [], "dump_step": "0|5-10")").empty());
  CHECK(lint_lines(R"({"dump": {"dump_path": "azAZ09-=[];,./!@#$%^&*()_+{}:?", "dump_list": []}})").empty());
  for (const char* const bad : {"`", "|", "~", "<", " ", "\xC3\xA4"}) {
    INFO(bad);
    CHECK(lint_lines(fmt::format(R"({{"dump": {{"dump_path": "/d{}", "dump_list": []}}}})", bad)) ==
          Lines{"error path-characters dump.dump_path"});
  }
  CHECK(acl(R"(, "dump_list": [], "dump_stats": ["Max"])") == Lines{"error dump-stats dump.dump_stats"});
  CHECK(acl(R"(, "dump_list": [{"layers": ["a"]}])") == Lines{"warning unknown-key dump.dump_list[0].layers"});
  CHECK(lint_lines(R"({"dump": []})") == Lines{"error wrong-type dump"});
}

TEST_CASE("a key that comes twice is reported where it comes again") {
  const LintReport report = lint_config("{\"dump_path\": \"/d\",\n \"dump_path\": \"/e\"}", kEither);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].rule == "duplicate-key");
  CHECK(report.findings[0].line == 2);
  const LintReport often =
      lint_config("{\"dump_path\": \"/d\",\n \"dump_path\": \"/e\",\n \"dump_path\": \"/f\"}", kEither);
  REQUIRE(often.findings.size() == 1);
  CHECK(often.findings[0].message == "dump_path appears 3 times: the last one counts");
  CHECK(often.findings[0].line == 3);
}

}  // namespace msdump
