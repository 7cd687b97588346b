// Whole findings about a config.json of msprobe.
#include "lint_run.h"
#include "support/catch.h"

namespace msdump {

using test::listing;

TEST_CASE("the top level of a config.json of msprobe") {
  CHECK(listing(R"({"task": "run_ut", "level": "L3", "dump_path": 3, "rank": 0, "step": ["5-2",
"a", -1, 1000001, true, 1.5, " 1_0 - 2_0 ", "_1", "1_", "+3"], "precision": "mid",
"risk_level": "ALLL", "dump_enable": 1, "extra_info": null, "async_dump": "x",
"custom_op_namespaces": [1], "seed": 1, "dump_pth": "/x"})") == R"(
1:10 warning task task: task is 'run_ut': msprobe 26.2 refuses the run -> msprobe has this task from 1.0.3 to before 26.0; --msprobe-version says which one will run
1:29 error level level: level is 'L3': the run is refused -> use one of L0, L1, L2, mix, debug
1:48 error wrong-type dump_path: dump_path is 3: the run is refused -> a string is wanted
1:59 error rank-step rank: rank is 0: the run is refused -> a list is wanted: [0, "2-5"]
1:71 error rank-step step[0]: step[0] is '5-2': the run is refused -> write the smaller one first
2:1 error rank-step step[1]: step[1] is 'a': the run is refused -> write "3" or "3-5"
2:6 error rank-step step[2]: step[2] is -1: the run is refused -> numbers go from 0 to 1000000
2:10 error rank-step step[3]: step[3] is 1000001: the run is refused -> numbers go from 0 to 1000000
2:19 error rank-step step[4]: step[4] is true: the run is refused -> whole numbers and "a-b" are wanted
2:25 error rank-step step[5]: step[5] is 1.5: the run is refused -> whole numbers and "a-b" are wanted
2:45 error rank-step step[7]: step[7] is '_1': the run is refused -> write "3" or "3-5"
2:51 error rank-step step[8]: step[8] is '1_': the run is refused -> write "3" or "3-5"
2:77 error bad-value precision: precision is 'mid': the run is refused -> use one of low, high
3:1 warning not-read risk_level: risk_level is 'ALLL': MindSpore does not read it (MindSpore)
3:15 error bad-value risk_level: risk_level is 'ALLL': the run is refused -> did you mean 'ALL'?
3:38 error wrong-type dump_enable: dump_enable is 1: the run is refused -> true or false is wanted
3:55 error wrong-type extra_info: extra_info is null: the run is refused -> true or false is wanted
3:75 error wrong-type async_dump: async_dump is 'x': the run is refused -> true or false is wanted
4:1 warning not-read custom_op_namespaces: custom_op_namespaces is a list: MindSpore does not read it (MindSpore)
4:25 error wrong-type custom_op_namespaces: custom_op_namespaces is a list: the run is refused -> a list of strings is wanted
4:41 warning unknown-key dump_pth: 'dump_pth' is not a key: it is ignored -> did you mean 'dump_path'?
)");
  CHECK(listing(R"({"task": "tensr", "level": "", "rank": null, "risk_level": "CORE", "dump_enable": false,
"dump_pth": "/x"})") == R"(
1:1 error missing-key dump_path: dump_path is missing: the run is refused -> 'dump_pth' is present; did you mean 'dump_path'?
1:10 error task task: task is 'tensr': the run is refused -> did you mean 'tensor'?
1:46 warning not-read risk_level: risk_level is 'CORE': MindSpore does not read it (MindSpore)
1:83 warning dump-enable dump_enable: dump_enable is false: nothing is written until it is true (PyTorch); MindSpore does not read it and dumps (MindSpore) -> PyTorch dumps once it is set to true in the file
2:1 warning unknown-key dump_pth: 'dump_pth' is not a key: it is ignored -> did you mean 'dump_path'?
)");
  CHECK(listing(R"({"task": "acc_check", "dump_path": ""})") == R"(
1:10 error task task: task is 'acc_check': the run is refused -> use the command msprobe acc_check on a finished dump
1:36 error missing-key dump_path: dump_path is empty: the run is refused -> name a folder, here or as PrecisionDebugger(dump_path=...)
)");
  CHECK(listing(R"({"task": "diff_check", "dump_path": "/d", "diff_check": {"diff_nums": 0, "bench_path": 3}})") == R"(
1:10 warning task task: task is 'diff_check': the run is refused (MindSpore) -> diff_check is for PyTorch
1:71 error bad-value diff_check.diff_nums: diff_nums is 0: the run is refused -> -1 means no limit, otherwise 1 or more
1:74 warning not-read diff_check.bench_path: task diff_check does not read bench_path -> it is for tensor
)");
  CHECK(listing(R"({"task": "exception_dump", "dump_path": "/d"})") == R"(
1:10 error task task: task is 'exception_dump': the run is refused -> exception_dump is for MindSpore at level L2
)");
  CHECK(listing(R"({"task": "nan_check", "dump_path": "/d", "nan_check": {"data_mode": ["input"],
"tensor_list": [3], "list": [1]}})") == R"(
1:10 warning task task: task is 'nan_check': the run is refused (on a CPU or a GPU; MindSpore on Ascend) -> nan_check is for PyTorch with torch_npu at level L1
1:69 error data-mode nan_check.data_mode: data_mode without output: the run is refused -> nan_check examines outputs
2:16 error wrong-type nan_check.tensor_list: tensor_list is a list: the run is refused -> a list of strings is wanted
2:29 error wrong-type nan_check.list: list is a list: the run is refused -> a list of strings is wanted
)");
  CHECK(listing(R"({"task": 5, "dump_path": null})") == R"(
1:10 error task task: task is 5: the run is refused -> use one of tensor, statistics, structure, exception_dump, diff_check, nan_check
1:26 error missing-key dump_path: dump_path is empty: the run is refused -> name a folder, here or as PrecisionDebugger(dump_path=...)
)");
}

LintTarget under_msprobe(const std::optional<Version>& release, std::optional<Framework> framework = std::nullopt) {
  LintTarget target;
  target.msprobe = release;
  target.framework = framework;
  return target;
}

// What becomes of a task under a release of msprobe, on PyTorch and on MindSpore: ".", "w" or "E".
std::string outcome_of(const std::string& task, const std::optional<Version>& release) {
  std::string outcomes;
  for (const Framework framework : {Framework::kPyTorch, Framework::kMindSpore}) {
    LintTarget target = under_msprobe(release, framework);
    target.device = Device::kAscend;
    const LintReport report = lint_config(fmt::format(R"({{"task": "{}", "dump_path": "/d"}})", task), target);
    outcomes += report.errors > 0 ? 'E' : report.warnings > 0 ? 'w' : '.';
  }
  return outcomes;
}

TEST_CASE("a task is judged by the release of msprobe; without one, what an older release takes is a warning") {
  struct Row {
    std::string task;
    std::vector<std::string> outcomes;  // 1.0.1, 1.0.3, 1.2.2, 8.2, 8.3, 26.0, 26.1, none said
  };
  const std::vector<std::optional<Version>> releases = {Version{1, 0, 1},  Version{1, 0, 3}, Version{1, 2, 2},
                                                        Version{8, 2, 0},  Version{8, 3, 3}, Version{26, 0, 0},
                                                        Version{26, 1, 0}, std::nullopt};
  const std::vector<Row> rows = {
      {"tensor", {"..", "..", "..", "..", "..", "..", "..", ".."}},
      {"free_benchmark", {".E", "..", "..", "..", "..", "EE", "EE", "ww"}},
      {"run_ut", {"EE", ".E", ".E", ".E", ".E", "EE", "EE", "wE"}},
      {"grad_probe", {"EE", "..", "..", "..", "..", "EE", "EE", "ww"}},
      {"overflow_check", {"..", "..", "..", "..", "..", "E.", "EE", "ww"}},
      {"structure", {"EE", "EE", "ww", "ww", "ww", "ww", "ww", "ww"}},  // its level is another one than the default
      {"diff_check", {"EE", "EE", "EE", "EE", "EE", ".E", ".E", ".E"}},
      {"nan_check", {"EE", "EE", "EE", "EE", "EE", "EE", ".E", ".E"}},
      {"acc_check", {"EE", "EE", "EE", "EE", "EE", "EE", "EE", "EE"}},
  };
  for (const Row& row : rows) {
    INFO(row.task);
    for (size_t i = 0; i < releases.size(); ++i) {
      INFO(i);
      CHECK(outcome_of(row.task, releases[i]) == row.outcomes[i]);
    }
  }
  const auto exception = [](const Version& release) {
    return lint_config(R"({"task": "exception_dump", "level": "L2", "dump_path": "/d"})",
                       under_msprobe(release, Framework::kMindSpore))
        .errors;
  };
  CHECK(exception({8, 1, 2}) == 1);
  CHECK(exception({8, 2, 0}) == 0);
}

TEST_CASE("options of an old task are read by the releases that have the task") {
  const std::string text =
      R"({"task": "free_benchmark", "dump_path": "/d", "seed": 1, "free_benchmark": {"fuzz_level": "L1", "bounds": [1]}})";
  const std::string of_grad =
      "1:97 warning not-read free_benchmark.bounds: task free_benchmark does not read bounds -> it is for "
      "grad_probe\n";
  CHECK(listing(text, under_msprobe(Version{8, 3, 0})) == "\n" + of_grad);
  CHECK(
      listing(text) ==
      "\n1:10 warning task task: task is 'free_benchmark': msprobe 26.2 refuses the run -> msprobe has this task from "
      "1.0.1 to before 26.0; --msprobe-version says which one will run\n" +
          of_grad);
  CHECK(
      listing(R"({"task": "overflow_check", "dump_path": "/d"})", under_msprobe(Version{26, 0, 0})) ==
      "\n1:10 warning task task: task is 'overflow_check': the run is refused (PyTorch) -> msprobe has this task from "
      "1.0.1 to before 26.0\n");
  CHECK(lint_config(text, under_msprobe(Version{8, 3, 0})).version == "PyTorch and MindSpore under msprobe 8.3");
}

TEST_CASE("the block of a task of msprobe") {
  CHECK(listing(R"({"task": "statistics", "dump_path": "/d", "statistics": {"scope": ["a", 3], "list": "x",
"data_mode": ["all", "input", "inptu"], "summary_mode": "xor", "device": "gpu",
"precision": "mid", "request_id": 3, "tensor_list": ["a"], "file_format": "npy", "lst": []}})") == R"(
1:67 error wrong-type statistics.scope: scope is a list: the run is refused -> a list of strings is wanted
1:85 error wrong-type statistics.list: list is 'x': the run is refused -> a list of strings is wanted
2:14 error data-mode statistics.data_mode: data_mode is a list: the run is refused -> 'all' must be the only item
2:31 error data-mode statistics.data_mode[2]: data_mode[2] is 'inptu': the run is refused -> did you mean 'input'?
2:57 warning summary-mode statistics.summary_mode: summary_mode is 'xor': MindSpore writes null for every checksum (MindSpore) -> xor is for PyTorch; md5 works on both
2:64 warning not-read statistics.device: device is 'gpu': PyTorch does not read it (PyTorch)
2:74 warning bad-value statistics.device: device is 'gpu': the run is refused (MindSpore) -> use one of device, host
3:1 warning not-read statistics.precision: precision is 'mid': PyTorch does not read it (PyTorch)
3:14 warning bad-value statistics.precision: precision is 'mid': the run is refused (MindSpore) -> use one of high, low
3:35 error wrong-type statistics.request_id: request_id is 3: the run is refused -> a string is wanted
3:60 warning old-key statistics.file_format: file_format is for older releases of msprobe: it is not read -> The format of level L2's files.
3:82 warning unknown-key statistics.lst: 'lst' is not a key: it is ignored -> did you mean 'list'?
)");
  CHECK(listing(R"x({"task": "statistics", "dump_path": "/d", "async_dump": true,
"statistics": {"data_mode": "all", "summary_mode": ["max", "md5", "medain", 3],
"device": "device", "list": ["name-regex([)", "name-regex(a)", "b"]}})x") == R"(
1:57 warning async-dump async_dump: async_dump with summary_mode md5: the run is refused (MindSpore) -> use statistics
2:29 error data-mode statistics.data_mode: data_mode is 'all': the run is refused -> a list of strings is wanted
2:52 warning summary-mode statistics.summary_mode: summary_mode is a list: the run is refused (PyTorch) -> lists are for MindSpore's task statistics
2:67 error summary-mode statistics.summary_mode[2]: summary_mode[2] is 'medain': the run is refused -> did you mean 'mean'?
2:77 error summary-mode statistics.summary_mode[3]: summary_mode[3] is 3: the run is refused -> use one of max, min, mean, count, negative zero count, positive zero count, nan count, negative inf count, positive inf count, zero count, l2norm, hash, md5
3:1 warning not-read statistics.device: device is 'device': PyTorch does not read it (PyTorch)
3:11 warning not-read statistics.device: device is 'device': the host computes statistics at this level (MindSpore) -> it is for level L2
3:30 warning list-regex statistics.list[0]: list[0] is 'name-regex([)': it is treated as part of a name, and no name contains it -> the bracket '[' is not closed
3:47 warning list-regex statistics.list[1]: list[1] is 'name-regex(a)': it is treated as part of a name, and no name contains it -> expressions are for MindSpore's level L2
)");
  CHECK(listing(R"({"task": "tensor", "dump_path": "/d", "async_dump": true, "tensor": {"summary_mode": ["md5"],
"bench_path": 3, "diff_nums": 0, "slice": [{"dim": -1, "size": 1.5, "bgin": 0}, 3,
{"begin": -2, "end": "x"}, {"dim": 0, "size": 2, "begin": -1, "end": 4}]}})") == R"(
1:53 error async-dump async_dump: async_dump with task tensor and no list: the run is refused -> name API calls in tensor.list
1:53 warning async-dump async_dump: async_dump with summary_mode md5: the run is refused (MindSpore) -> use statistics
1:86 error summary-mode tensor.summary_mode: summary_mode is a list: the run is refused -> lists are for MindSpore's task statistics
2:1 warning not-read tensor.bench_path: bench_path is 3: MindSpore does not read it (MindSpore)
2:15 warning wrong-type tensor.bench_path: bench_path is 3: the run is refused (PyTorch) -> a string is wanted
2:44 error slice tensor.slice[0]: slice[0]: dim is negative: the run is refused
2:69 warning unknown-key tensor.slice[0].bgin: 'bgin' is not a key: it is ignored -> did you mean 'begin'?
2:81 error slice tensor.slice[1]: slice[1]: an object is wanted: the run is refused
3:1 error slice tensor.slice[2]: slice[2]: end is 'x', not a whole number: the run is refused
)");
  CHECK(listing(R"({"task": "tensor", "dump_path": "/d", "async_dump": true, "tensor": {"summary_mode": "md5",
"slice": 3, "list": []}})") == R"(
1:53 error async-dump async_dump: async_dump with task tensor and no list: the run is refused -> name API calls in tensor.list
1:53 error async-dump async_dump: async_dump with summary_mode md5: the run is refused -> use statistics
2:10 error slice tensor.slice: slice is 3: the run is refused -> a list of objects is wanted
)");
  CHECK(listing(R"({"task": "tensor", "dump_path": "/d", "statistics": {"list": ["a"]}})") == R"(
1:39 warning other-block statistics: the block of task tensor is missing, statistics is not read -> name it 'tensor', or set task
)");
  CHECK(listing(R"({"task": "tensor", "dump_path": "/d", "tensor": 3})") == R"(
1:49 error wrong-type tensor: tensor is 3: the run is refused -> an object is wanted
)");
  CHECK(listing(R"({"task": "tensor", "dump_path": "/d", "tensor": []})") == R"(
1:49 warning wrong-type tensor: tensor is an empty list: the run is refused (PyTorch) -> an object is wanted
)");
}

TEST_CASE("levels of msprobe and what they take") {
  CHECK(listing(R"({"dump_path": "/d", "level": "L1", "statistics": {"scope": ["Functional.relu.0.forward",
"Module.fc.Linear.forward.0"], "device": "device"}})") == R"(
2:1 error scope statistics.scope[1]: scope[1] is 'Module.fc.Linear.forward.0': the run is refused -> an API call is wanted: Functional.NAME.N.forward
2:32 warning not-read statistics.device: device is 'device': PyTorch does not read it (PyTorch)
2:42 warning not-read statistics.device: device is 'device': the host computes statistics at this level (MindSpore) -> it is for level L2
)");
  CHECK(listing(R"({"dump_path": "/d", "level": "L0", "statistics": {"scope": ["Functional.relu.0.forward",
"Cell.fc.Dense.backward.1", "Cell.fc.backward.1", "Cell.fc.Dense.sideways.1"]}})") == R"(
1:60 error scope statistics.scope: scope has 4 names, not two: the run is refused -> name the first and the last call
1:61 error scope statistics.scope[0]: scope[0] is 'Functional.relu.0.forward': the run is refused -> a module is wanted: Module.NAME.CLASS.forward.N (Cell on MindSpore)
2:51 error scope statistics.scope[3]: scope[3] is 'Cell.fc.Dense.sideways.1': the run is refused -> a module is wanted: Module.NAME.CLASS.forward.N (Cell on MindSpore)
)");
  CHECK(listing(R"({"dump_path": "/d", "level": "mix", "statistics": {"scope": ["Functional.relu.0.forward",
"relu"]}})") == R"(
2:1 error scope statistics.scope[1]: scope[1] is 'relu': the run is refused -> an API call or a module is wanted, with its full name
)");
  CHECK(listing(R"({"dump_path": "/d", "level": "L2", "statistics": {"scope": ["a", "b"], "list": ["a", "b"],
"data_mode": ["input", "output"], "device": "device"}})") == R"(
1:30 warning level level: level L2 without a list of one API call: the run is refused (PyTorch) -> name one in the task's list
1:30 warning level level: level L2 without task tensor: the run is refused (PyTorch) -> PyTorch takes task tensor only
1:60 warning scope statistics.scope: scope at level L2: the run is refused (PyTorch); it is not read (MindSpore) -> use list
2:14 warning data-mode statistics.data_mode: data_mode at level L2: the run is refused (MindSpore) -> one of all, input, output
2:35 warning not-read statistics.device: device is 'device': PyTorch does not read it (PyTorch)
)");
  CHECK(listing(R"({"dump_path": "/d", "level": "L2", "task": "tensor",
"tensor": {"list": ["Functional.relu.0.forward"], "tensor_list": ["a"],
"data_mode": ["input"]}})") == R"(
2:51 warning not-read tensor.tensor_list: task tensor does not read tensor_list -> it is for statistics,nan_check
2:66 warning not-read tensor.tensor_list: tensor_list at level L2: MindSpore does not read it (MindSpore)
)");
  CHECK(listing(R"({"dump_path": "/d", "level": "debug", "statistics": {"tensor_list": ["a"], "scope": ["a",
"b"]}})") == R"(
1:69 warning not-read statistics.tensor_list: tensor_list at level debug: it is not read
)");
  CHECK(listing(R"({"dump_path": "/d", "level": "L1", "task": "structure"})") == R"(
1:30 warning level level: level is 'L1': task structure treats it as mix -> set level to L0 or mix
)");
  CHECK(listing(R"({"dump_path": "/d", "level": "L2", "task": "acc_check"})") == R"(
1:30 warning level level: level L2 without a list of one API call: the run is refused (PyTorch) -> name one in the task's list
1:44 error task task: task is 'acc_check': the run is refused -> use the command msprobe acc_check on a finished dump
)");
}

TEST_CASE("what msprobe loads from an earlier dump") {
  CHECK(listing(R"({"dump_path": "/d", "load": {"path": 3, "modules": ["Module.a.forward.0",
"Module.a.forward.0", "Module.a.backward.0", "Cell.a.forward.0", "Module.a.forward.x"],
"dump_after_load": 1, "rank": [0, -3], "step": 1, "pth": 1}})") == R"(
1:38 error load-path load.path: path is 3: the run is refused -> name the folder of an earlier dump
2:1 error load-modules load.modules[1]: modules[1] is 'Module.a.forward.0': the run is refused -> it is a duplicate
2:23 error load-modules load.modules[2]: modules[2] is 'Module.a.backward.0': the run is refused -> backward calls are not loaded
2:46 error load-modules load.modules[3]: modules[3] is 'Cell.a.forward.0': the run is refused -> it has to begin with 'Module.'
2:66 error load-modules load.modules[4]: modules[4] is 'Module.a.forward.x': the run is refused -> it has to end with '.forward.N'
3:20 error wrong-type load.dump_after_load: dump_after_load is 1: the run is refused -> true or false is wanted
3:35 error rank-step load.rank[1]: rank[1] is -3: the run is refused -> numbers go from 0 to 1000000
3:48 error rank-step load.step: step is 1: the run is refused -> a list is wanted: [0, "2-5"]
3:51 warning unknown-key load.pth: 'pth' is not a key: it is ignored -> did you mean 'path'?
)");
  CHECK(listing(R"({"dump_path": "/d", "load": {}})") == R"(
1:29 error load-modules load.modules: modules is missing: the run is refused -> a list of strings is wanted, at least one
1:29 error load-path load.path: path is missing: the run is refused -> name the folder of an earlier dump
)");
  CHECK(listing(R"({"dump_path": "/d", "load": null})") == R"(
1:29 error load-modules load.modules: modules is missing: the run is refused -> a list of strings is wanted, at least one
1:29 error load-path load.path: path is missing: the run is refused -> name the folder of an earlier dump
)");
  CHECK(listing(R"({"dump_path": "/d", "load": {"path": "", "modules": [3]}})") == R"(
1:38 error load-path load.path: path is '': the run is refused -> name the folder of an earlier dump
1:53 error load-modules load.modules: modules is a list: the run is refused -> a list of strings is wanted, at least one
)");
  CHECK(listing(R"({"dump_path": "/d", "load": 3})") == R"(
1:29 error wrong-type load: load is 3: the run is refused -> an object is wanted
)");
}

}  // namespace msdump
