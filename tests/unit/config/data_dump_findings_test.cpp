// Whole findings about a data_dump.json: places, what becomes of the run with which release and device, hints.
#include "lint_run.h"
#include "support/catch.h"

namespace msdump {

using test::listing;

TEST_CASE("values of a data_dump.json that no release takes for what they say") {
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 3, "path": "/o ut", "net_name": "N t",
"iteration": "all", "input_output": 3, "kernels": [], "support_device": [0, "1", -1, true],
"saved_data": "npy", "file_format": "bim", "op_debug_mode": 5},
"e2e_dump_settings": {"enable": true, "trans_flag": true, "sample_mode": 2, "sample_num": 3,
"stat_calc_mode": "divice", "device_stat_precision_mode": "lo"}})") == R"(
1:40 error dump-mode common_dump_settings.dump_mode: dump_mode is 3: the run is refused -> use 0, 1 or 2
1:40 warning overridden common_dump_settings.dump_mode: dump_mode is 3: it is treated as 0 (MindSpore 2.3 and later) -> op_debug_mode decides
1:51 error path-characters common_dump_settings.path: path '/o ut' has ' ' in it: the run is refused -> only letters, digits, '-', '_' and '/' are accepted
1:72 error net-name common_dump_settings.net_name: net_name is 'N t': the run is refused -> only letters, digits, '-' and '_' are accepted, at least one
2:37 error bad-value common_dump_settings.input_output: input_output is 3: the run is refused -> 0 is both, 1 inputs, 2 outputs
2:77 error support-device common_dump_settings.support_device[1]: support_device[1] is '1': the run is refused -> numbers are wanted
2:82 warning support-device common_dump_settings.support_device[2]: support_device[2] is -1: it is read as another number -> non-negative whole numbers are wanted
2:86 warning support-device common_dump_settings.support_device[3]: support_device[3] is true: it is read as another number -> non-negative whole numbers are wanted
3:1 warning not-in-version common_dump_settings.saved_data: saved_data is for MindSpore 1.6 and later: it is not read (MindSpore 1.3 to 1.5)
3:15 warning bad-value common_dump_settings.saved_data: saved_data is 'npy': the run is refused (MindSpore 1.6 and later) -> use one of tensor, statistic, full
3:22 warning not-in-version common_dump_settings.file_format: file_format is for MindSpore 1.6 and later: it is not read (MindSpore 1.3 to 1.5)
3:37 warning bad-value common_dump_settings.file_format: file_format is 'bim': a synchronous dump writes .npy anyway (MindSpore 1.6 and later) -> use npy or bin
3:61 warning op-debug-mode common_dump_settings.op_debug_mode: op_debug_mode is 5: a synchronous dump does not read it (MindSpore 1.3 to 2.2); the run is refused (MindSpore 2.3 and later) -> 0 is off, 3 dumps operators that overflow, 4 operators that fail (2.3 and later)
4:59 warning not-in-version e2e_dump_settings.sample_mode: sample_mode is for MindSpore 2.3 and later: it is not read (MindSpore 1.3 to 2.2)
4:74 warning bad-value e2e_dump_settings.sample_mode: sample_mode is 2: the run is refused (MindSpore 2.3 and later) -> 0 saves whole tensors, 1 a part
4:77 warning not-in-version e2e_dump_settings.sample_num: sample_num is for MindSpore 2.3 and later: it is not read (MindSpore 1.3 to 2.2)
4:91 warning sample-num e2e_dump_settings.sample_num: sample_num is 3: it is read with sample_mode 1 only (MindSpore 2.3 and later) -> set sample_mode to 1
5:1 warning not-in-version e2e_dump_settings.stat_calc_mode: stat_calc_mode is for MindSpore 2.3 and later: it is not read (MindSpore 1.3 to 2.2)
5:19 warning bad-value e2e_dump_settings.stat_calc_mode: stat_calc_mode is 'divice': the run is refused (MindSpore 2.3 and later) -> did you mean 'device'?
5:29 warning not-in-version e2e_dump_settings.device_stat_precision_mode: device_stat_precision_mode is for MindSpore 2.4 and later: it is not read (MindSpore 1.3 to 2.3)
5:59 warning bad-value e2e_dump_settings.device_stat_precision_mode: device_stat_precision_mode is 'lo': the run is refused (MindSpore 2.4 and later) -> use one of high, low
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 2, "path": "out", "net_name": "", "iteration": "all",
"input_output": 0, "kernels": [], "support_device": []}, "e2e_dump_settings": {"enable": true,
"trans_flag": true}})") == R"(
1:40 warning dump-mode common_dump_settings.dump_mode: dump_mode is 2: the run is refused (on a CPU or a GPU; MindSpore 1.3 to 2.2 on Ascend) -> 2 dumps what the script chooses with mindspore.set_dump, on Ascend
1:51 error path-not-absolute common_dump_settings.path: path 'out' is not absolute: the run is refused -> begin it with '/'; 'out' is not expanded
1:70 error net-name common_dump_settings.net_name: net_name is '': the run is refused -> only letters, digits, '-' and '_' are accepted, at least one
2:53 warning support-device common_dump_settings.support_device: support_device is an empty list: nothing is written (on a GPU or Ascend) -> name the ids of the devices
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "", "net_name": "Net", "iteration": "all",
"input_output": 0, "kernels": [], "support_device": [0], "op_debug_mode": 1,
"overflow_number": 1}, "e2e_dump_settings": {"enable": true, "trans_flag": true}})") == R"(
1:51 error path-empty common_dump_settings.path: path is empty: the run is refused -> MindSpore 1.5 and later then take $MS_DIAGNOSTIC_DATA_PATH, which is not set here
2:75 warning op-debug-mode common_dump_settings.op_debug_mode: op_debug_mode is 1: a synchronous dump does not read it (MindSpore 1.3 to 2.2); the run is refused (MindSpore 2.3); it is treated as 3 (MindSpore 2.4 and later) -> 0 is off, 3 dumps operators that overflow, 4 operators that fail (2.3 and later)
3:1 warning not-in-version common_dump_settings.overflow_number: overflow_number is for MindSpore 2.4 and later: it is not read (MindSpore 1.3 to 2.3)
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "net_name": "Net", "iteration": "all",
"input_output": 4294967297, "kernels": [], "support_device": [0]},
"e2e_dump_settings": {"enable": true, "trans_flag": true}})") == R"(
1:26 error path-empty common_dump_settings.path: path is missing: the run is refused -> MindSpore 1.5 and later then take $MS_DIAGNOSTIC_DATA_PATH, which is not set here
2:17 warning bad-value common_dump_settings.input_output: input_output is 4294967297: only its lower 32 bits are kept, 1
)");
}

TEST_CASE("statistics are judged by where they are computed") {
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net",
"iteration": "all", "input_output": 0, "kernels": [], "support_device": [0],
"saved_data": "statistic", "statistic_category": ["max", "hash", "medain", "md5", 3]},
"e2e_dump_settings": {"enable": true, "trans_flag": true, "stat_calc_mode": "device"}})") == R"(
3:1 warning not-in-version common_dump_settings.saved_data: saved_data is for MindSpore 1.6 and later: it is not read (MindSpore 1.3 to 1.5)
3:15 warning saved-data common_dump_settings.saved_data: saved_data is 'statistic': the run is refused (MindSpore 1.6 and later on a CPU; MindSpore 1.6 to 2.2 on Ascend) -> a CPU saves tensors only; Ascend saves statistics in synchronous dumps from 2.3 on, and with file_format npy
3:28 warning not-in-version common_dump_settings.statistic_category: statistic_category is for MindSpore 2.3 and later: it is not read (MindSpore 1.3 to 2.2)
3:58 warning statistic-category common_dump_settings.statistic_category[1]: statistic_category[1] is 'hash': the run is refused (MindSpore 2.3 to 2.7); not computed on the device (MindSpore 2.7.1 and later on Ascend)
3:66 warning statistic-category common_dump_settings.statistic_category[2]: statistic_category[2] is 'medain': the run is refused (MindSpore 2.3 and later) -> use one of max, min, avg, count, negative zero count, positive zero count, nan count, negative inf count, positive inf count, zero count, md5, l2norm, hash, hash:sha1, hash:md5
3:76 warning statistic-category common_dump_settings.statistic_category[3]: statistic_category[3] is 'md5': not computed on the device (MindSpore 2.3 and later on Ascend)
3:83 warning statistic-category common_dump_settings.statistic_category[4]: statistic_category[4] is 3: the run is refused (MindSpore 2.3 and later) -> use one of max, min, avg, count, negative zero count, positive zero count, nan count, negative inf count, positive inf count, zero count, md5, l2norm, hash, hash:sha1, hash:md5
4:59 warning not-in-version e2e_dump_settings.stat_calc_mode: stat_calc_mode is for MindSpore 2.3 and later: it is not read (MindSpore 1.3 to 2.2)
4:77 warning stat-calc-mode e2e_dump_settings.stat_calc_mode: stat_calc_mode is 'device': the host computes them (MindSpore 2.3 and later on a CPU or a GPU) -> the device computes statistics on Ascend, with saved_data statistic
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net",
"iteration": "all", "input_output": 0, "kernels": [], "support_device": [0],
"saved_data": "full", "statistic_category": []}, "e2e_dump_settings": {"enable": false,
"trans_flag": true, "stat_calc_mode": "device", "device_stat_precision_mode": "low"}})") == R"(
1:2 warning missing-key common_dump_settings.op_debug_mode: op_debug_mode is missing: the run is refused (MindSpore 1.3 to 1.7 on a CPU; MindSpore 1.3 to 2.3 on Ascend)
3:1 warning not-in-version common_dump_settings.saved_data: saved_data is for MindSpore 1.6 and later: it is not read (MindSpore 1.3 to 1.5)
3:15 warning saved-data common_dump_settings.saved_data: saved_data is 'full': the run is refused (MindSpore 1.6 and later on a CPU; MindSpore 1.6 to 2.3 on Ascend) -> a CPU saves tensors only; Ascend saves statistics in synchronous dumps from 2.3 on, and with file_format npy
3:45 warning statistic-category common_dump_settings.statistic_category: statistic_category is an empty list: statistic.csv has no statistics (MindSpore 2.3 and later)
3:82 warning not-enabled e2e_dump_settings.enable: enable is false: nothing is written (MindSpore 1.3 to 1.7 on a CPU); the dump is on anyway (MindSpore 1.8 and later on a CPU; on a GPU)
4:21 warning not-in-version e2e_dump_settings.stat_calc_mode: stat_calc_mode is for MindSpore 2.3 and later: it is not read (MindSpore 1.3 to 2.2)
4:39 warning stat-calc-mode e2e_dump_settings.stat_calc_mode: stat_calc_mode is 'device': the host computes them (MindSpore 2.3 and later) -> the device computes statistics on Ascend, with saved_data statistic
4:49 warning not-in-version e2e_dump_settings.device_stat_precision_mode: device_stat_precision_mode is for MindSpore 2.4 and later: it is not read (MindSpore 1.3 to 2.3)
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net",
"iteration": "all", "input_output": 0, "kernels": [], "support_device": [0],
"saved_data": "tensor", "statistic_category": ["max"], "file_format": "npy"},
"e2e_dump_settings": {"enable": true, "trans_flag": true, "device_stat_precision_mode": "low",
"sample_mode": 1, "sample_num": 0}})") == R"(
3:25 warning not-in-version common_dump_settings.statistic_category: statistic_category is for MindSpore 2.3 and later: it is not read (MindSpore 1.3 to 2.2)
3:47 warning statistic-category common_dump_settings.statistic_category: statistic_category without statistics: it is not read (MindSpore 2.3 and later) -> set saved_data to statistic or full
3:56 warning not-in-version common_dump_settings.file_format: file_format is for MindSpore 1.6 and later: it is not read (MindSpore 1.3 to 1.5)
4:59 warning not-in-version e2e_dump_settings.device_stat_precision_mode: device_stat_precision_mode is for MindSpore 2.4 and later: it is not read (MindSpore 1.3 to 2.3)
4:89 warning stat-calc-mode e2e_dump_settings.device_stat_precision_mode: device_stat_precision_mode is 'low': it is for statistics of the device (MindSpore 2.4 and later) -> set stat_calc_mode to device
5:1 warning not-in-version e2e_dump_settings.sample_mode: sample_mode is for MindSpore 2.3 and later: it is not read (MindSpore 1.3 to 2.2)
5:19 warning not-in-version e2e_dump_settings.sample_num: sample_num is for MindSpore 2.3 and later: it is not read (MindSpore 1.3 to 2.2)
5:33 warning sample-num e2e_dump_settings.sample_num: sample_num is 0: the run is refused (MindSpore 2.3 and later) -> 1 or more is wanted
)");
}

TEST_CASE("a debug mode decides over the keys beside it") {
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 1, "path": "/out", "net_name": "Net", "iteration": "3",
"input_output": 1, "kernels": ["Add"], "support_device": [0], "op_debug_mode": 4,
"saved_data": "statistic"}, "e2e_dump_settings": {"enable": true, "trans_flag": true,
"sample_mode": 1, "sample_num": 7}})") == R"(
1:40 warning overridden common_dump_settings.dump_mode: dump_mode is 1: it is treated as 0 (MindSpore 2.3 and later) -> op_debug_mode decides
1:91 warning overridden common_dump_settings.iteration: iteration is '3': every step counts (MindSpore 2.3 and later) -> op_debug_mode decides
2:31 warning kernels common_dump_settings.kernels: no item of kernels can name an operator: no operator is selected, nothing is written (MindSpore 1.3 to 1.10) -> types are taken from MindSpore 2.0 on, blanks in them from 2.3 on
2:80 warning op-debug-mode common_dump_settings.op_debug_mode: op_debug_mode is 4: a synchronous dump does not read it (MindSpore 1.3 to 2.2); no operator is dumped (MindSpore 2.3 and later on a CPU or a GPU) -> 0 is off, 3 dumps operators that overflow, 4 operators that fail (2.3 and later)
3:1 warning not-in-version common_dump_settings.saved_data: saved_data is for MindSpore 1.6 and later: it is not read (MindSpore 1.3 to 1.5)
3:15 warning saved-data common_dump_settings.saved_data: saved_data is 'statistic': the run is refused (MindSpore 1.6 and later on a CPU; MindSpore 1.6 to 2.2 on Ascend) -> a CPU saves tensors only; Ascend saves statistics in synchronous dumps from 2.3 on, and with file_format npy
3:15 warning overridden common_dump_settings.saved_data: saved_data is 'statistic': tensors are saved (MindSpore 2.3 and later) -> op_debug_mode decides
4:1 warning not-in-version e2e_dump_settings.sample_mode: sample_mode is for MindSpore 2.3 and later: it is not read (MindSpore 1.3 to 2.2)
4:16 warning overridden e2e_dump_settings.sample_mode: sample_mode is 1: whole tensors are saved (MindSpore 2.3 and later) -> op_debug_mode decides
4:19 warning not-in-version e2e_dump_settings.sample_num: sample_num is for MindSpore 2.3 and later: it is not read (MindSpore 1.3 to 2.2)
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 1, "path": "/out", "net_name": "Net", "iteration": "3",
"input_output": 1, "kernels": ["Add"], "support_device": [0], "op_debug_mode": 3},
"e2e_dump_settings": {"enable": false, "trans_flag": true}})") == R"(
1:40 warning overridden common_dump_settings.dump_mode: dump_mode is 1: it is treated as 0 (MindSpore 2.3 and later) -> op_debug_mode decides
2:17 warning overridden common_dump_settings.input_output: input_output is 1: it is treated as 0 (MindSpore 2.3 and later) -> op_debug_mode decides
2:31 warning kernels common_dump_settings.kernels: no item of kernels can name an operator: no operator is selected, nothing is written (MindSpore 1.3 to 1.10) -> types are taken from MindSpore 2.0 on, blanks in them from 2.3 on
2:80 warning op-debug-mode common_dump_settings.op_debug_mode: op_debug_mode is 3: a synchronous dump does not read it (MindSpore 1.8 to 2.2 on a CPU; MindSpore 1.3 to 2.2 on a GPU); a CPU dumps everything, overflow or not (MindSpore 2.3 and later on a CPU) -> 0 is off, 3 dumps operators that overflow, 4 operators that fail (2.3 and later)
3:33 warning not-enabled e2e_dump_settings.enable: enable is false: nothing is written (MindSpore 1.3 to 1.7 on a CPU); the dump is on anyway (MindSpore 1.8 and later on a CPU; on a GPU)
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net",
"iteration": "all", "input_output": 0, "kernels": [], "support_device": [0],
"op_debug_mode": 2}, "e2e_dump_settings": {"enable": true, "trans_flag": true}})") == R"(
3:18 warning op-debug-mode common_dump_settings.op_debug_mode: op_debug_mode is 2: a synchronous dump does not read it (MindSpore 1.3 to 2.2); the run is refused (MindSpore 2.3); it is treated as 3 (MindSpore 2.4 and later) -> 0 is off, 3 dumps operators that overflow, 4 operators that fail (2.3 and later)
)");
}

TEST_CASE("items of iteration are named one by one, with what is wrong with each") {
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net",
"iteration": "7|5-|8-5|3--4|99999999999999999999|", "input_output": 0, "kernels": [],
"support_device": [0]}, "e2e_dump_settings": {"enable": true, "trans_flag": true}})") == R"(
2:14 warning iteration-nothing common_dump_settings.iteration: iteration is '7|5-|8-5|3--4|99999999999999999999|': the process ends at the first step (MindSpore 1.3) -> a range needs both its ends
2:17 warning iteration-item common_dump_settings.iteration: '5-' in iteration: it selects no step (MindSpore 1.5 and later) -> a range needs both its ends
2:20 warning iteration-item common_dump_settings.iteration: '8-5' in iteration: it selects no step (MindSpore 1.5 and later) -> write the smaller step first
2:24 warning iteration-item common_dump_settings.iteration: '3--4' in iteration: it selects no step (MindSpore 1.5 and later) -> a range is two steps and one '-'
2:29 warning iteration-item common_dump_settings.iteration: '99999999999999999999' in iteration: it selects no step (MindSpore 1.5 and later) -> the number is larger than 64 bits hold
2:50 warning iteration-item common_dump_settings.iteration: '' in iteration: it selects no step (MindSpore 1.5 and later) -> there is nothing between the '|'
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net",
"iteration": "5-|8-5", "input_output": 0, "kernels": [], "support_device": [0]},
"e2e_dump_settings": {"enable": true, "trans_flag": true}})") == R"(
2:14 error iteration-nothing common_dump_settings.iteration: iteration is '5-|8-5': the process ends at the first step (MindSpore 1.3); no step is selected, nothing is written (MindSpore 1.5 and later) -> a range needs both its ends
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net",
"iteration": "1, 2", "input_output": 0, "kernels": [], "support_device": [0]},
"e2e_dump_settings": {"enable": true, "trans_flag": true}})") == R"(
2:14 error iteration-grammar common_dump_settings.iteration: iteration is '1, 2': the run is refused -> write "1|2"
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net",
"iteration": "All ", "input_output": 0, "kernels": [], "support_device": [0]},
"e2e_dump_settings": {"enable": true, "trans_flag": true}})") == R"(
2:14 error iteration-grammar common_dump_settings.iteration: iteration is 'All ': the run is refused -> write "all"
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net",
"iteration": "steps", "input_output": 0, "kernels": [], "support_device": [0]},
"e2e_dump_settings": {"enable": true, "trans_flag": true}})") == R"(
2:14 error iteration-grammar common_dump_settings.iteration: iteration is 'steps': the run is refused -> "all", or steps and ranges between '|': "0|5-8|100-120"
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net",
"iteration": "2|9", "input_output": 0, "kernels": [], "support_device": [0],
"initial_iteration": 5}, "e2e_dump_settings": {"enable": true, "trans_flag": true}})") == R"(
2:15 warning iteration-item common_dump_settings.iteration: '2' in iteration: it is before initial_iteration and selects no step (MindSpore 2.6 and later)
3:1 warning not-in-version common_dump_settings.initial_iteration: initial_iteration is for MindSpore 2.6 and later: it is not read (MindSpore 1.3 to 2.5)
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net",
"iteration": "2|3", "input_output": 0, "kernels": [], "support_device": [0],
"initial_iteration": 5}, "e2e_dump_settings": {"enable": true, "trans_flag": true}})") == R"(
2:14 warning iteration-nothing common_dump_settings.iteration: iteration is '2|3': no step is selected, nothing is written (MindSpore 2.6 and later) -> steps count from initial_iteration 5
3:1 warning not-in-version common_dump_settings.initial_iteration: initial_iteration is for MindSpore 2.6 and later: it is not read (MindSpore 1.3 to 2.5)
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net", "iteration": 3,
"input_output": 0, "kernels": [], "support_device": [0]},
"e2e_dump_settings": {"enable": true, "trans_flag": true}})") == R"(
1:91 warning wrong-type common_dump_settings.iteration: iteration is 3: the run is refused (MindSpore 1.3 and later) -> a string is wanted from 1.3 on, a non-negative whole number before
)");
}

TEST_CASE("items of kernels are named one by one, and the list as a whole") {
  CHECK(listing(R"x({"common_dump_settings": {"dump_mode": 1, "path": "/out", "net_name": "Net",
"iteration": "all", "input_output": 0, "kernels": ["Add", 5, "Mat Mul", "Add",
"name-regex([)", "name-regex(.*a\\d)", "Default/x y-op1", "", " "], "support_device": [0]},
"e2e_dump_settings": {"enable": true, "trans_flag": true}})x") == R"(
2:51 warning kernels common_dump_settings.kernels: no item of kernels can name an operator: no operator is selected, nothing is written (MindSpore 1.3 to 1.10); every operator is dumped (MindSpore 2.0 to 2.2)
2:59 warning kernel-item common_dump_settings.kernels[1]: kernels[1] is 5: it selects no operator (MindSpore 2.0 and later) -> operators are named by strings
2:62 warning kernel-item common_dump_settings.kernels[2]: kernels[2] is 'Mat Mul': it selects no operator (MindSpore 2.0 to 2.2) -> types are taken from MindSpore 2.0 on, blanks in them from 2.3 on
2:73 warning kernel-duplicate common_dump_settings.kernels[3]: kernels[3] is a duplicate: MindSpore warns about it
3:1 warning kernel-regex common_dump_settings.kernels[4]: kernels[4] is 'name-regex([)': it selects no operator (MindSpore 2.0 to 2.2); the process ends, the expression cannot be read (MindSpore 2.3 and later) -> the bracket '[' is not closed
3:18 warning kernel-item common_dump_settings.kernels[5]: kernels[5] is 'name-regex(.*a\d)': it selects no operator (MindSpore 2.0 to 2.2) -> MindSpore 2.3 and later; it has to match the whole name: name-regex(.*.*a\\d.*)
3:18 warning kernel-regex common_dump_settings.kernels[5]: kernels[5] is 'name-regex(.*a\d)': MindSpore doubles the backslash, which then matches itself (MindSpore 2.3 and later) -> use [0-9] for \d, [.] for \.
3:40 warning kernel-item common_dump_settings.kernels[6]: kernels[6] is 'Default/x y-op1': it selects no operator (MindSpore 2.0 to 2.2) -> blanks in it are taken out from MindSpore 2.3 on
3:63 warning kernel-item common_dump_settings.kernels[8]: kernels[8] is ' ': it selects no operator (MindSpore 2.0 to 2.2) -> remove it
)");
  CHECK(listing(R"x({"common_dump_settings": {"dump_mode": 1, "path": "/out", "net_name": "Net",
"iteration": "all", "input_output": 0, "kernels": ["name-regex(MatMul)"],
"support_device": [0]}, "e2e_dump_settings": {"enable": true, "trans_flag": true}})x") == R"(
2:51 error kernels common_dump_settings.kernels: no item of kernels can name an operator: no operator is selected, nothing is written -> MindSpore 2.3 and later; it has to match the whole name: name-regex(.*MatMul.*)
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 1, "path": "/out", "net_name": "Net",
"iteration": "all", "input_output": 0, "kernels": ["Default/x y-op1"], "support_device": [0]},
"e2e_dump_settings": {"enable": true, "trans_flag": true}})") == R"(
2:51 warning kernels common_dump_settings.kernels: no item of kernels can name an operator: no operator is selected, nothing is written (MindSpore 1.3 to 2.2) -> blanks in it are taken out from MindSpore 2.3 on
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 1, "path": "/out", "net_name": "Net",
"iteration": "all", "input_output": 0, "kernels": [7], "support_device": [0]},
"e2e_dump_settings": {"enable": true, "trans_flag": true}})") == R"(
2:51 error kernels common_dump_settings.kernels: no item of kernels can name an operator: no operator is selected, nothing is written -> operators are named by strings
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 1, "path": "/out", "net_name": "Net",
"iteration": "all", "input_output": 0, "kernels": [""], "support_device": [0]},
"e2e_dump_settings": {"enable": true, "trans_flag": true}})") == R"(
2:51 warning kernels common_dump_settings.kernels: no item of kernels can name an operator: no operator is selected, nothing is written (MindSpore 1.3 to 1.10); every operator is dumped (MindSpore 2.0 and later) -> remove it
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 1, "path": "/out", "net_name": "Net",
"iteration": "all", "input_output": 0, "kernels": ["Add"], "support_device": [0]},
"e2e_dump_settings": {"enable": true, "trans_flag": true}})") == R"(
2:51 warning kernels common_dump_settings.kernels: no item of kernels can name an operator: no operator is selected, nothing is written (MindSpore 1.3 to 1.10) -> types are taken from MindSpore 2.0 on, blanks in them from 2.3 on
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 1, "path": "/out", "net_name": "Net",
"iteration": "all", "input_output": 0, "kernels": [], "support_device": [0]},
"e2e_dump_settings": {"enable": true, "trans_flag": true}})") == R"(
2:51 warning kernels common_dump_settings.kernels: kernels is empty: no operator is selected, nothing is written (MindSpore 1.3 to 2.2); every operator is dumped (MindSpore 2.3 and later)
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net",
"iteration": "all", "input_output": 0, "kernels": ["Add"], "support_device": [0]},
"e2e_dump_settings": {"enable": true, "trans_flag": true}})") == R"(
2:51 warning kernels-unused common_dump_settings.kernels: kernels is not read with dump_mode 0: every operator is dumped -> set dump_mode to 1
)");
}

TEST_CASE("keys that are missing, misspelt or in the wrong place are named with the right one") {
  CHECK(listing(R"({"comon_dump_settings": {}})") == R"(
1:1 error missing-key common_dump_settings: common_dump_settings is missing: the run is refused -> 'comon_dump_settings' is present; did you mean 'common_dump_settings'?
1:1 warning e2e-missing e2e_dump_settings: e2e_dump_settings is missing: nothing is written (MindSpore 1.3 to 1.7 on a CPU); MindSpore warns that its ms_backend writes nothing (MindSpore 2.6 and later) -> add "e2e_dump_settings": {"enable": true, "trans_flag": true}, unless the dump is asynchronous on Ascend
1:2 warning unknown-key comon_dump_settings: 'comon_dump_settings' is not a key: it is ignored -> did you mean 'common_dump_settings'?
)");
  CHECK(listing(R"({"common_dump_settings": {"dumpmode": 0, "path": "/out", "net_nmae": "Net",
"saved_data": "full", "enable": true}})") == R"(
1:1 warning e2e-missing e2e_dump_settings: e2e_dump_settings is missing: nothing is written (MindSpore 1.3 to 1.7 on a CPU); MindSpore warns that its ms_backend writes nothing (MindSpore 2.6 and later) -> add "e2e_dump_settings": {"enable": true, "trans_flag": true}, unless the dump is asynchronous on Ascend
1:2 error missing-key common_dump_settings.dump_mode: dump_mode is missing: the run is refused -> 'dumpmode' is present; did you mean 'dump_mode'?
1:2 error missing-key common_dump_settings.net_name: net_name is missing: the run is refused -> 'net_nmae' is present; did you mean 'net_name'?
1:2 error missing-key common_dump_settings.iteration: iteration is missing: the run is refused
1:2 error missing-key common_dump_settings.input_output: input_output is missing: the run is refused
1:2 error missing-key common_dump_settings.kernels: kernels is missing: the run is refused
1:2 error missing-key common_dump_settings.support_device: support_device is missing: the run is refused
1:2 warning missing-key common_dump_settings.op_debug_mode: op_debug_mode is missing: the run is refused (MindSpore 1.3 to 1.7 on a CPU; on Ascend)
1:27 warning unknown-key common_dump_settings.dumpmode: 'dumpmode' is not a key: it is ignored -> did you mean 'dump_mode'?
1:58 warning unknown-key common_dump_settings.net_nmae: 'net_nmae' is not a key: it is ignored -> did you mean 'net_name'?
2:1 warning not-in-version common_dump_settings.saved_data: saved_data is for MindSpore 1.6 and later: it is not read (MindSpore 1.3 to 1.5)
2:15 warning saved-data common_dump_settings.saved_data: saved_data is 'full': the run is refused (MindSpore 1.6 and later on a CPU or Ascend) -> a CPU saves tensors only; Ascend saves statistics in synchronous dumps from 2.3 on, and with file_format npy
2:23 warning wrong-section common_dump_settings.enable: enable is not a key of common_dump_settings: it is ignored -> it belongs in e2e_dump_settings
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": 7, "net_name": "Net", "iteration": null,
"input_output": 0, "kernels": 3, "support_device": [0], "op_debug_mode": 0, "saved_data": 1},
"e2e_dump_settings": {"trans_flg": true, "sample_mode": 0, "path": "/x"}, "extra": {"a": 1}})") == R"(
1:51 error wrong-type common_dump_settings.path: path is 7: the run is refused -> a string is wanted
1:86 error wrong-type common_dump_settings.iteration: iteration is null: the run is refused -> a string is wanted from 1.3 on, a non-negative whole number before
2:31 error wrong-type common_dump_settings.kernels: kernels is 3: the run is refused -> a list is wanted
2:77 warning not-in-version common_dump_settings.saved_data: saved_data is for MindSpore 1.6 and later: it is not read (MindSpore 1.3 to 1.5)
2:91 warning wrong-type common_dump_settings.saved_data: saved_data is 1: the run is refused (MindSpore 1.6 and later) -> a string is wanted
3:1 warning missing-key e2e_dump_settings.enable: enable is missing: the run is refused (MindSpore 1.3 to 2.3)
3:1 warning missing-key e2e_dump_settings.trans_flag: trans_flag is missing: the run is refused (MindSpore 1.3 to 2.3) -> 'trans_flg' is present; did you mean 'trans_flag'?
3:23 warning unknown-key e2e_dump_settings.trans_flg: 'trans_flg' is not a key: it is ignored -> did you mean 'trans_flag'?
3:60 warning wrong-section e2e_dump_settings.path: path is not a key of e2e_dump_settings: it is ignored -> it belongs in common_dump_settings
3:75 warning unknown-key extra: 'extra' is not a key: it is ignored
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net", "iteration": 0,
"input_output": 0, "kernels": [], "support_device": [0]},
"async_dump_settings": {"enable": true}})") == R"(
1:1 warning e2e-missing e2e_dump_settings: e2e_dump_settings is missing: the run is refused (MindSpore 1.0); nothing is written (MindSpore 1.1 to 1.7 on a CPU; MindSpore 1.1 to 1.2 on a GPU); MindSpore warns that its ms_backend writes nothing (MindSpore 2.6 and later) -> add "e2e_dump_settings": {"enable": true, "trans_flag": true}, unless the dump is asynchronous on Ascend
1:2 warning missing-key common_dump_settings.op_debug_mode: op_debug_mode is missing: the run is refused (MindSpore 1.3 to 1.7 on a CPU; MindSpore 1.3 and later on Ascend)
1:91 warning wrong-type common_dump_settings.iteration: iteration is 0: the run is refused (MindSpore 1.3 and later) -> a string is wanted from 1.3 on, a non-negative whole number before
3:1 warning not-in-version async_dump_settings: async_dump_settings is for MindSpore 1.0 to 1.2: it is not read (MindSpore 1.3 and later)
3:1 warning missing-key async_dump_settings.op_debug_mode: op_debug_mode is missing: the run is refused (MindSpore 1.0 to 1.2)
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net",
"iteration": "all", "input_output": 0, "kernels": [], "support_device": [0]},
"e2e_dump_settings": 3})") == R"(
1:2 warning missing-key common_dump_settings.op_debug_mode: op_debug_mode is missing: the run is refused (MindSpore 1.3 to 1.7 on a CPU; MindSpore 1.3 to 2.3 on Ascend)
3:1 warning missing-key e2e_dump_settings.enable: enable is missing: the run is refused (MindSpore 1.3 to 2.3)
3:1 warning missing-key e2e_dump_settings.trans_flag: trans_flag is missing: the run is refused (MindSpore 1.3 to 2.3)
3:22 warning wrong-type e2e_dump_settings: e2e_dump_settings is 3, not an object
)");
}

TEST_CASE("findings say on which device the dump is on") {
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net",
"iteration": "all", "input_output": 0, "kernels": [], "support_device": [0],
"op_debug_mode": 0}})") == R"(
1:1 warning e2e-missing e2e_dump_settings: e2e_dump_settings is missing: nothing is written (MindSpore 1.3 to 1.7 on a CPU); MindSpore warns that its ms_backend writes nothing (MindSpore 2.6 and later) -> add "e2e_dump_settings": {"enable": true, "trans_flag": true}, unless the dump is asynchronous on Ascend
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net",
"iteration": "all", "input_output": 0, "kernels": [], "support_device": [0],
"op_debug_mode": 0}, "e2e_dump_settings": {"enable": false, "trans_flag": true}})") == R"(
3:54 warning not-enabled e2e_dump_settings.enable: enable is false: nothing is written (MindSpore 1.3 to 1.7 on a CPU); the dump is on anyway (MindSpore 1.8 and later on a CPU; on a GPU)
)");
  CHECK(listing(R"({"common_dump_settings": {"dump_mode": 0, "path": "/out", "net_name": "Net",
"iteration": "all", "input_output": 0, "kernels": [], "support_device": [0],
"op_debug_mode": 0, "file_format": "npy"}, "e2e_dump_settings": {"enable": false,
"trans_flag": true}})") == R"(
3:21 warning not-in-version common_dump_settings.file_format: file_format is for MindSpore 1.6 and later: it is not read (MindSpore 1.3 to 1.5)
3:76 warning not-enabled e2e_dump_settings.enable: enable is false: nothing is written (MindSpore 1.3 to 1.7 on a CPU); the dump is on anyway (MindSpore 1.8 and later on a CPU; on a GPU)
)");
}

}  // namespace msdump
