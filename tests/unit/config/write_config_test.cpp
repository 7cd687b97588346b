// Configurations that are written: each is judged by lint_config for its target, three are compared whole.
#include "config/write_config.h"
#include "config/lint.h"
#include "lint_run.h"
#include "support/catch.h"

namespace msdump {
namespace {

std::string fault_of(const DumpRequest& request) {
  const Result<std::string> text = write_config(request);
  return text ? "written" : text.error().message;
}

// What the configuration says of a key: the rest of its line. Empty if it does not have the key.
std::string said(const DumpRequest& request, const std::string& key) {
  const Result<std::string> text = write_config(request);
  REQUIRE(text);
  const std::string head = "\"" + key + "\": ";
  const size_t at = text->find(head);
  if (at == std::string::npos) return {};
  std::string rest = text->substr(at + head.size(), text->find('\n', at) - at - head.size());
  if (rest.ends_with(',')) rest.pop_back();
  return rest;
}

DumpRequest data_dump(const char* release, Device device = Device::kAscend) {
  DumpRequest request;
  request.kind = ConfigKind::kDataDump;
  request.target.version = parse_version(release);
  request.target.device = device;
  request.path = "/data/dump";
  return request;
}

DumpRequest msprobe(Framework framework, std::string level = "") {
  DumpRequest request;
  request.target.framework = framework;
  request.path = "/data/dump";
  request.level = std::move(level);
  return request;
}

DumpRequest acl() {
  DumpRequest request;
  request.kind = ConfigKind::kAcl;
  request.path = "/data/dump";
  return request;
}

bool statistics_exist(const Version& version, Device device, bool asynchronous) {
  if (version < Version{1, 6, 0} || device == Device::kCpu) return false;
  return device == Device::kGpu || asynchronous || version >= Version{2, 3, 0};
}

}  // namespace

TEST_CASE("every release and device gets a data_dump.json without a finding, or a reason") {
  for (const Version& version : known_releases()) {
    for (const Device device : {Device::kCpu, Device::kGpu, Device::kAscend}) {
      for (unsigned bits = 0; bits < 16; ++bits) {
        DumpRequest request = data_dump("1.0", device);
        request.target.version = version;
        request.statistics = (bits & 1) != 0;
        request.asynchronous = (bits & 2) != 0;
        if ((bits & 4) != 0) request.list = {"Default/conv/Conv2D-op3", "Default/conv/Conv2D-op3"};
        if ((bits & 8) != 0) request.steps = {3};
        INFO(to_string(version) << " " << in_words(device) << " " << bits);
        const Result<std::string> text = write_config(request);
        const bool asynchronous = request.asynchronous && device == Device::kAscend;
        REQUIRE(text.has_value() == (!request.statistics || statistics_exist(version, device, asynchronous)));
        if (text) CHECK(test::listing(*text, request.target) == "\n");
      }
    }
  }
}

TEST_CASE("every framework, level and task gets a config.json without a finding") {
  for (const Framework framework : {Framework::kPyTorch, Framework::kMindSpore}) {
    for (const char* level : {"", "L0", "L1", "mix", "L2"}) {
      for (unsigned bits = 0; bits < 8; ++bits) {
        DumpRequest request = msprobe(framework, level);
        request.statistics = (bits & 1) != 0;
        request.all_risks = true;
        const bool kernels = request.level == "L2";
        if ((bits & 2) != 0 || kernels) request.list = {"Functional.relu.0.forward"};
        if ((bits & 4) != 0) request.steps = {1, 2, 3, 7};
        INFO(level << " " << bits);
        const Result<std::string> text = write_config(request);
        REQUIRE(text.has_value() == !(kernels && request.statistics && framework == Framework::kPyTorch));
        if (!text) continue;
        CHECK(test::listing(*text, request.target) == "\n");
        const bool all = framework == Framework::kPyTorch && !kernels && request.level != "L0";
        CHECK((text->find("\"risk_level\": \"ALL\"") != std::string::npos) == all);
      }
    }
  }
}

TEST_CASE("operators of a data_dump.json, steps as ranges, devices of the ranks") {
  DumpRequest request = data_dump("2.7");
  request.statistics = true;
  request.list = {"Default/fc/MatMul-op1", "Add"};
  request.steps = {1, 3, 4, 4, 5, 9};
  request.ranks = {1, 9};
  CHECK(write_config(request).value() == R"({
  "common_dump_settings": {
    "dump_mode": 1,
    "path": "/data/dump",
    "net_name": "Net",
    "iteration": "1|3-5|9",
    "input_output": 0,
    "kernels": [
      "Default/fc/MatMul-op1",
      "Add"
    ],
    "support_device": [1,9],
    "op_debug_mode": 0,
    "saved_data": "statistic",
    "statistic_category": [
      "max",
      "min",
      "avg",
      "l2norm",
      "nan count",
      "negative inf count",
      "positive inf count"
    ]
  },
  "e2e_dump_settings": {
    "enable": true,
    "trans_flag": true
  }
}
)");
}

TEST_CASE("a scope between two calls, and names that JSON escapes") {
  DumpRequest request = msprobe(Framework::kPyTorch);
  request.scope = {"Module.fc.Linear.forward.0", "Functional.relu.1.forward"};
  request.steps = {4};
  request.ranks = {0, 1};
  request.all_risks = true;
  CHECK(write_config(request).value() == R"({
  "task": "tensor",
  "dump_path": "/data/dump",
  "rank": [
    "0-1"
  ],
  "step": [4],
  "level": "mix",
  "risk_level": "ALL",
  "tensor": {
    "scope": [
      "Module.fc.Linear.forward.0",
      "Functional.relu.1.forward"
    ],
    "list": [],
    "data_mode": [
      "all"
    ]
  }
}
)");
  request.scope.clear();
  request.list = {"a\"], \"task\": \"x\\\n"};
  CHECK(write_config(request).value().find(R"("a\"], \"task\": \"x\\\n")") != std::string::npos);
}

TEST_CASE("layers, statistics, overflow and watched operators of AscendCL") {
  DumpRequest request = acl();
  request.list = {"aten.mm.default"};
  request.steps = {0, 2};
  request.watched = {"buffer"};
  CHECK(write_config(request).value() == R"({
  "dump": {
    "dump_path": "/data/dump",
    "dump_step": "0|2",
    "dump_scene": "watcher",
    "dump_mode": "output",
    "dump_list": [
      {
        "layer": [
          "aten.mm.default"
        ],
        "watcher_nodes": [
          "buffer"
        ]
      }
    ]
  }
}
)");
  request.watched.clear();
  request.statistics = true;
  const std::string listed = write_config(request).value();
  CHECK(test::listing(listed) == "\n");
  CHECK(listed.find(R"("dump_op_switch": "off")") != std::string::npos);
  CHECK(listed.find(R"("dump_data": "stats")") != std::string::npos);
  const std::string all = write_config(acl()).value();
  CHECK(all.find(R"("dump_op_switch": "on")") != std::string::npos);
  CHECK(all.find(R"("dump_list": [])") != std::string::npos);
  CHECK(all.find(R"("dump_data": "tensor")") != std::string::npos);
  CHECK(all.find("dump_stats") == std::string::npos);
  request = acl();
  request.overflow = true;
  request.steps = {3};
  CHECK(write_config(request).value() == R"({
  "dump": {
    "dump_path": "/data/dump",
    "dump_step": "3",
    "dump_debug": "on"
  }
}
)");
}

TEST_CASE("config.json of msprobe: its level, its ranges and what statistics it counts") {
  DumpRequest request = msprobe(Framework::kMindSpore);
  CHECK(said(request, "level") == "\"L1\"");
  CHECK(said(request, "step") == "[]");
  CHECK(said(request, "rank") == "[]");
  CHECK(said(request, "risk_level").empty());
  CHECK(said(request, "summary_mode").empty());
  for (const char* const module : {"Module.fc.Linear.forward.0", "Cell.fc.Dense.forward.0"}) {
    request.list = {"Functional.relu.0.forward", module};
    CHECK(said(request, "level") == "\"mix\"");
  }
  request.list = {"Functional.relu.0.forward"};
  request.steps = {0, 2};
  request.ranks = {3};
  request.statistics = true;
  CHECK(said(request, "level") == "\"L1\"");
  CHECK(said(request, "step") == "[0,2]");
  CHECK(said(request, "rank") == "[3]");
  CHECK(said(request, "task") == "\"statistics\"");
  CHECK(said(request, "statistics") == "{");
  CHECK(said(request, "summary_mode") == "\"statistics\"");
  request.level = "L2";
  CHECK(write_config(request).value().find(R"("summary_mode": [
      "max",
      "min",
      "mean",
      "l2norm",
      "nan count",
      "negative inf count",
      "positive inf count"
    ])") != std::string::npos);
}

TEST_CASE("what data_dump.json cannot be asked for") {
  DumpRequest request = data_dump("1.2");
  request.statistics = true;
  CHECK(fault_of(request) == "MindSpore 1.2 saves no statistics: 1.6 is the first that does");
  request = data_dump("1.2");
  request.steps = {1, 2};
  CHECK(fault_of(request) == "MindSpore 1.2 dumps all steps or a single one, from 1 on");
  request.steps = {0};
  CHECK(fault_of(request) == "MindSpore 1.2 dumps all steps or a single one, from 1 on");
  request = data_dump("2.10");
  request.scope = {"a", "b"};
  CHECK(fault_of(request) == "MindSpore's data_dump.json has no scope: name the operators");
  request = data_dump("2.10");
  request.list = {"Default/a b-op1"};
  CHECK(fault_of(request) == "MindSpore cannot choose 'Default/a b-op1': a blank, quote or backslash never matches");
  for (const char* const name : {"a\"b", "a\\b", "a\tb", "a\x7f"}) {
    INFO(name);
    request.list = {name};
    CHECK(fault_of(request).starts_with("MindSpore cannot choose '"));
  }
  request.list = {"算子/!"};
  CHECK(fault_of(request) == "written");
  request.list.clear();
  request.watched = {"Add"};
  CHECK(fault_of(request) == "MindSpore's data_dump.json has no watched operators: name the operators");
  request.watched.clear();
  request.list = {"Add"};
  request.overflow = true;
  CHECK(fault_of(request) == "MindSpore dumps operators that overflow or those of a list, not both");
  request.list.clear();
  CHECK(write_config(request).value().find("\"op_debug_mode\": 3") != std::string::npos);
  request = data_dump("2.0");
  request.overflow = true;
  CHECK(fault_of(request) == "MindSpore 2.0 finds overflow in asynchronous dumps on Ascend only");
  request.asynchronous = true;
  request.target.device = Device::kGpu;
  CHECK(fault_of(request) == "MindSpore 2.0 finds overflow in asynchronous dumps on Ascend only");
  request.target.device = Device::kAscend;
  CHECK(write_config(request).value().find("\"op_debug_mode\": 3") != std::string::npos);
  request = data_dump("2.10");
  request.ranks = {-1};
  CHECK(fault_of(request) == "ranks are not negative");
  request = data_dump("2.10");
  request.steps = {-1};
  CHECK(fault_of(request) == "steps are not negative");
  request.steps.clear();
  for (int64_t step = 0; step < 2002; step += 2) request.steps.push_back(step);
  CHECK(fault_of(request) == "the steps are 1001 ranges: 1000 at most can be asked for");
  request.steps.pop_back();
  CHECK(fault_of(request) == "written");
  request.path = "out";
  CHECK(fault_of(request) == "path 'out' is not absolute: the run is refused");
}

TEST_CASE("a data_dump.json has the keys that its release knows") {
  struct Known {
    const char* release;
    bool asynchronous;
    const char *debug_mode, *saved_data, *file_format, *enable;
  };
  for (const Known& known : {Known{"1.2", false, "", "", "", "true"},
                             {"1.2", true, "0", "", "", "false"},
                             {"1.3", false, "", "", "", "true"},
                             {"1.3", true, "0", "", "", ""},
                             {"1.5", true, "0", "", "", ""},
                             {"1.6", true, "0", "\"tensor\"", "\"npy\"", ""},
                             {"1.6", false, "", "\"tensor\"", "", "true"},
                             {"2.2", false, "", "\"tensor\"", "", "true"},
                             {"2.3", false, "0", "\"tensor\"", "", "true"},
                             {"2.5", true, "0", "\"tensor\"", "\"npy\"", ""},
                             {"2.6", true, "0", "\"tensor\"", "", "false"}}) {
    INFO(known.release << " " << known.asynchronous);
    DumpRequest request = data_dump(known.release);
    request.asynchronous = known.asynchronous;
    CHECK(said(request, "op_debug_mode") == known.debug_mode);
    CHECK(said(request, "saved_data") == known.saved_data);
    CHECK(said(request, "file_format") == known.file_format);
    CHECK(said(request, "e2e_dump_settings").empty() == (known.enable[0] == '\0'));
    // The section of 1.2 comes last, and its key is another.
    CHECK(said(request, "enable") == known.enable);
    CHECK(said(request, "async_dump_settings").empty() == !(known.release == std::string("1.2") && known.asynchronous));
    CHECK(said(request, "dump_mode") == "0");
    request.overflow = known.asynchronous;
    if (known.asynchronous) CHECK(said(request, "op_debug_mode") == "3");
  }
  DumpRequest request = data_dump("2.2");
  request.statistics = request.asynchronous = true;
  CHECK(said(request, "saved_data") == "\"statistic\"");
  CHECK(said(request, "statistic_category").empty());
  request.target.version = parse_version("2.3");
  CHECK(said(request, "statistic_category") == "[");
  request = data_dump("2.10", Device::kCpu);
  request.asynchronous = true;
  CHECK(said(request, "enable") == "true");  // only Ascend has the other kind
}

TEST_CASE("up to 1.2 a data_dump.json has one step as a number, and 0 for all; later all is a word") {
  DumpRequest request = data_dump("1.2");
  CHECK(said(request, "iteration") == "0");
  request.steps = {1};
  CHECK(said(request, "iteration") == "1");
  request = data_dump("1.3");
  CHECK(said(request, "iteration") == "\"all\"");
  request.steps = {0};
  CHECK(said(request, "iteration") == "\"0\"");
}

TEST_CASE("the devices are those that the ranks have on hosts of 8 and of 16, and all where no rank is named") {
  DumpRequest request = data_dump("2.10");
  CHECK(said(request, "support_device") == "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]");
  for (const auto& [ranks, devices] : {std::pair<std::vector<int64_t>, const char*>({7}, "[7]"),
                                       {{8}, "[0,8]"},
                                       {{15}, "[7,15]"},
                                       {{16}, "[0]"},
                                       {{0, 17}, "[0,1]"}}) {
    request.ranks = ranks;
    CHECK(said(request, "support_device") == devices);
  }
}

TEST_CASE("a release that is not said is the newest, and a device Ascend") {
  DumpRequest request = data_dump("2.10"), open = request;
  open.target = {};
  request.asynchronous = open.asynchronous = true;
  CHECK(write_config(open).value() == write_config(request).value());
  CHECK(said(open, "enable") == "false");
}

TEST_CASE("2.3 finds overflow in every dump; from 1.3 to 2.5 an asynchronous dump has no section of the other kind") {
  DumpRequest request = data_dump("2.3");
  request.overflow = true;
  CHECK(write_config(request).value().find("\"op_debug_mode\": 3") != std::string::npos);
  request = data_dump("2.2");
  request.overflow = true;
  CHECK(fault_of(request) == "MindSpore 2.2 finds overflow in asynchronous dumps on Ascend only");
  for (const auto& [release, has_section] : {std::pair("1.2", true), {"1.3", false}, {"2.5", false}, {"2.6", true}}) {
    INFO(release);
    request = data_dump(release);
    request.asynchronous = true;
    CHECK((write_config(request).value().find("e2e_dump_settings") != std::string::npos) == has_section);
  }
}

TEST_CASE("a configuration is as large as one that is read, and no larger") {
  DumpRequest request = msprobe(Framework::kPyTorch);
  request.list = {"a"};
  const size_t others = write_config(request).value().size() - 1;
  request.list = {std::string(kMostConfigBytes - others, 'a')};
  CHECK(write_config(request).value().size() == kMostConfigBytes);
  request.list.front() += 'a';
  CHECK(fault_of(request) == "the configuration would have 4.0 MiB: name fewer operators");
  constexpr size_t kRoundedUp = 4246733;  // the least that is printed as 4.1 MiB
  request.list.front().append(kRoundedUp - kMostConfigBytes - 1, 'a');
  CHECK(fault_of(request) == "the configuration would have 4.1 MiB: name fewer operators");
}

TEST_CASE("what msprobe and AscendCL cannot be asked for") {
  DumpRequest request = msprobe(Framework::kMindSpore);
  request.overflow = true;
  CHECK(fault_of(request) == "msprobe has no task for overflow: ask for statistics, which count it");
  request = msprobe(Framework::kMindSpore, "debug");
  CHECK(fault_of(request) == "level debug dumps what the script saves, not calls");
  request = msprobe(Framework::kMindSpore, "L2");
  request.path = "out";
  CHECK(fault_of(request) == "level L2 of MindSpore needs an absolute path, not 'out'");
  request = msprobe(Framework::kPyTorch);
  request.list = {"\xff"};
  CHECK(fault_of(request) == "'\\xff' cannot be named in a configuration");
  request.list = {""};
  CHECK(fault_of(request) == "'' cannot be named in a configuration");
  request.list = {"a"};
  request.watched = {"\xff"};
  CHECK(fault_of(request) == "'\\xff' cannot be named in a configuration");
  request.watched = {"a"};
  CHECK(fault_of(request) == "msprobe has no watched operators");
  request.watched.clear();
  request.scope = {"a", "b"};
  CHECK(fault_of(request) == "msprobe takes a list or a scope, not both");
  request = msprobe(Framework::kPyTorch, "L2");
  request.list = {"Functional.relu.0.forward"};
  request.path = "out";
  CHECK(fault_of(request) == "written");
  request.path = "\xff";
  CHECK(fault_of(request) == "the path '\\xff' is not UTF-8");
  request = acl();
  request.scope = {"a", "b"};
  CHECK(fault_of(request) == "AscendCL takes a range of operators only with a model's name: name the operators");
  request = acl();
  request.watched = {"a"};
  CHECK(fault_of(request) == "AscendCL watches outputs as tensors, after the operators of a list");
  request.list = {"b"};
  request.statistics = true;
  CHECK(fault_of(request) == "AscendCL watches outputs as tensors, after the operators of a list");
  request = acl();
  request.watched = {"a"};
  request.overflow = true;
  CHECK(fault_of(request) == "AscendCL watches outputs as tensors, after the operators of a list");
  request.watched.clear();
  request.list = {"b"};
  CHECK(fault_of(request) == "AscendCL dumps tensors of all operators that overflow: no list with it");
  request = acl();
  for (int64_t step = 0; step < 202; step += 2) request.steps.push_back(step);
  CHECK(fault_of(request) == "the steps are 101 ranges: 100 at most can be asked for");
  request.steps.pop_back();
  CHECK(fault_of(request) == "written");
  request = acl();
  request.overflow = true;
  request.statistics = true;
  CHECK(fault_of(request) == "AscendCL dumps tensors of all operators that overflow: no statistics with it");
  request = DumpRequest{};
  request.kind = ConfigKind::kUnknown;
  CHECK(fault_of(request) == "no configuration of this kind can be written");
}

}  // namespace msdump
