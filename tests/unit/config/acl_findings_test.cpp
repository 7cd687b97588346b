// Whole findings about a configuration of AscendCL, and about texts that are not JSON.
#include "lint_run.h"
#include "support/catch.h"

namespace msdump {

using test::listing;

TEST_CASE("a dump of AscendCL") {
  CHECK(listing(R"({"dump": {"dump_path": "/o ut", "dump_mode": "inputs", "dump_level": "kernl",
"dump_op_switch": 3, "dump_debug": "yes", "dump_scene": "watchr", "dump_step": "1-2-3|x",
"dump_data": "stat", "dump_stats": []}})") == R"(
1:24 error path-characters dump.dump_path: dump_path has ' ' in it: the configuration is refused -> blanks, quotes, '<', '>', '|', '~' and anything beyond ASCII are not accepted
1:46 error bad-value dump.dump_mode: dump_mode is 'inputs': the configuration is refused -> did you mean 'input'?
1:70 error bad-value dump.dump_level: dump_level is 'kernl': the configuration is refused -> did you mean 'kernel'?
2:19 error wrong-type dump.dump_op_switch: dump_op_switch is 3: the configuration is refused -> a string is wanted
2:36 warning bad-value dump.dump_debug: dump_debug is 'yes': it is treated as off -> use on or off
2:57 error bad-value dump.dump_scene: dump_scene is 'watchr': the configuration is refused -> did you mean 'watcher'?
2:80 error dump-step dump.dump_step: '1-2-3' in dump_step: the configuration is refused -> steps and ranges between '|': "0|5-10"
3:14 warning bad-value dump.dump_data: dump_data is 'stat': it is not known -> use tensor or stats
3:36 error dump-stats dump.dump_stats: dump_stats is an empty list: the configuration is refused -> a list of strings is wanted, at least one
)");
  CHECK(listing(R"({"dump": {"dump_path": "/d", "dump_scene": "watcher", "dump_mode": "all", "dump_debug": "on",
"dump_op_switch": "on"}})") == R"(
1:68 error exclusive dump.dump_mode: dump_scene watcher with another dump_mode than output: the configuration is refused -> set dump_mode to output
1:89 error exclusive dump.dump_debug: dump_debug on with dump_scene: the configuration is refused -> remove one of them
2:19 error exclusive dump.dump_op_switch: dump_op_switch on with dump_scene: the configuration is refused -> remove one of them
)");
  CHECK(listing(R"({"dump": {"dump_path": "/d", "dump_debug": "on", "dump_op_switch": "on",
"dump_list": [{"model_name": "m"}]}})") == R"(
1:68 warning exclusive dump.dump_op_switch: dump_op_switch on with dump_debug on: only overflow is dumped
2:14 error exclusive dump.dump_list: dump_debug on with a dump_list: the configuration is refused -> make dump_list empty
)");
  CHECK(listing(R"({"dump": {"dump_list": 3, "dump_pth": "/d"}})") == R"(
1:10 error missing-key dump.dump_path: dump_path is missing: the configuration is refused -> 'dump_pth' is present; did you mean 'dump_path'?
1:24 warning wrong-type dump.dump_list: dump_list is 3: no model is dumped -> a list of objects is wanted
1:27 warning unknown-key dump.dump_pth: 'dump_pth' is not a key: it is ignored -> did you mean 'dump_path'?
)");
  CHECK(listing(R"({"dump": {"dump_path": "", "dump_list": [3, {"model_name": ""}, {"model_name": "m",
"layer": []}, {"model_name": "m", "opname_range": []}, {"model_nme": "m", "opname_range": [],
"layer": ["a"], "dump_mode": "all"}]}})") == R"(
1:24 error missing-key dump.dump_path: dump_path is empty: the configuration is refused
1:42 warning wrong-type dump.dump_list[0]: an item of dump_list is 3: it is skipped -> an object is wanted: {"model_name": NAME}
1:45 warning dump-list dump.dump_list[1]: an empty model_name: the item is skipped
1:65 warning dump-list dump.dump_list[2]: an empty layer: the item is skipped -> without layer all operators are dumped
2:15 error dump-list dump.dump_list[3]: opname_range without dump_level op and a model_name: the configuration is refused
2:56 error dump-list dump.dump_list[4]: opname_range without dump_level op and a model_name: the configuration is refused
2:57 warning unknown-key dump.dump_list[4].model_nme: 'model_nme' is not a key: it is ignored -> did you mean 'model_name'?
3:17 warning wrong-section dump.dump_list[4].dump_mode: dump_mode is not a key of an item of dump_list: it is ignored -> it belongs in dump
)");
  CHECK(listing(R"({"dump": {"dump_path": "/d", "dump_level": "op", "dump_list": [{"model_name": "m",
"opname_range": []}, {"opname_range": []}], "dump_stats": ["Max"], "dump_data": "stats"}})") == R"(
2:22 error dump-list dump.dump_list[1]: opname_range without dump_level op and a model_name: the configuration is refused
)");
  CHECK(listing(R"({"dump": {"dump_path": "/d", "dump_debug": "off"}})") == R"(
1:10 error nothing-asked dump: neither dump_list nor dump_op_switch, dump_debug or dump_scene: nothing is written -> "dump_list": [] dumps all models, "dump_op_switch": "on" single operators
)");
  CHECK(listing(R"({"dump": 3, "dump_mode": "all"})") == R"(
1:10 error wrong-type dump: dump is 3: the configuration is refused -> an object is wanted
)");
}

TEST_CASE("text that is not JSON, and slips in it") {
  CHECK(listing(R"({"task": 01})") == R"(
1:11 error json-syntax -: not JSON: JSON numbers do not begin with 0
)");
  CHECK(listing(R"({"task" 1})") == R"(
1:9 error json-syntax -: not JSON: missing a colon after a name of object member
)");
  CHECK(listing(R"([nul])") == R"(
1:5 error json-syntax -: not JSON: invalid value
)");
  CHECK(listing(R"({"name": "x"})") == R"(
1:1 error not-a-config -: no key of a dump configuration -> MindSpore's has common_dump_settings, msprobe's task and dump_path, AscendCL's dump
)");
  CHECK(listing("\xEF\xBB\xBF{\"dump\": 0x1}") == R"(
1:1 warning json-bom -: a byte order mark before the text -> save the file as UTF-8 without it
1:11 error json-syntax -: not JSON: JSON has no hexadecimal numbers
)");
  CHECK(listing(R"({'dump': {/* c */ 'dump_list': [],}})") == R"(
1:2 error json-single-quotes -: a text in single quotes -> JSON has double quotes only
1:10 error missing-key dump.dump_path: dump_path is missing: the configuration is refused
1:11 error json-comment -: a comment: JSON has none -> remove it
1:19 error json-single-quotes -: a text in single quotes -> JSON has double quotes only
1:34 error json-trailing-comma -: a comma after the last item -> remove it
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": NaN, "path": -Infinity}})") == R"(
1:1 warning e2e-missing e2e_dump_settings: e2e_dump_settings is missing: nothing is written (MindSpore 1.3 to 1.7 on a CPU); MindSpore warns that its ms_backend writes nothing (MindSpore 2.6 and later) -> add "e2e_dump_settings": {"enable": true, "trans_flag": true}, unless the dump is asynchronous on Ascend
1:2 error missing-key common_dump_settings.net_name: net_name is missing: the run is refused
1:2 error missing-key common_dump_settings.iteration: iteration is missing: the run is refused
1:2 error missing-key common_dump_settings.input_output: input_output is missing: the run is refused
1:2 error missing-key common_dump_settings.kernels: kernels is missing: the run is refused
1:2 error missing-key common_dump_settings.support_device: support_device is missing: the run is refused
1:2 warning missing-key common_dump_settings.op_debug_mode: op_debug_mode is missing: the run is refused (MindSpore 1.3 to 1.7 on a CPU; on Ascend)
1:40 error json-nan -: 'NaN' is not JSON -> write a number
1:40 error wrong-type common_dump_settings.dump_mode: dump_mode is NaN: the run is refused -> a non-negative whole number is wanted
1:53 error json-nan -: '-Infinity' is not JSON -> write a number
1:53 error wrong-type common_dump_settings.path: path is -Infinity: the run is refused -> a string is wanted
)");
}

}  // namespace msdump
