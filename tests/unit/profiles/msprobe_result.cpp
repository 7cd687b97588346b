#include "profiles/msprobe/result.h"

#include <fmt/format.h>

#include "base/text.h"
#include "support/catch.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;
using Strings = std::vector<std::string>;

std::string dump_json(const std::string& data, const std::string& task = "statistics",
                      const std::string& framework = "mindspore") {
  return fmt::format(R"({{"task": "{}", "framework": "{}", "data": {{{}}}}})", task, framework, data);
}

std::string leaf(const std::string& max, const std::string& more = "") {
  return fmt::format(R"({{"type": "mindspore.Tensor", "dtype": "Float32", "shape": [2], "Max": {0}, "Min": {0}, )"
                     R"("Mean": {0}, "Norm": {0}{1}}})",
                     max, more);
}

std::string call(const std::string& name, const std::string& input, const std::string& output = "") {
  return fmt::format(R"("{}": {{"input_args": [{}]{}}})", name, input,
                     output.empty() ? "" : fmt::format(R"(, "output": [{}])", output));
}

struct Outcome {
  std::string csv;
  Result<MsprobeCompareCounts> counts = MsprobeCompareCounts{};

  [[nodiscard]] Strings lines() const {
    Strings all;
    for (const std::string_view line : split(csv, '\n')) all.emplace_back(line);
    if (!all.empty()) all.pop_back();
    return all;
  }
};

Outcome compare_files(const std::string& a, const std::string& b, const MsprobeCompareOptions& options = {},
                      unsigned jobs = 1) {
  WorkerPool pool(jobs);
  const CancelToken cancel;
  Outcome outcome;
  outcome.counts = write_msprobe_result(a, b, options, {pool, cancel}, [&](std::string_view lines) -> Status {
    outcome.csv += lines;
    return {};
  });
  return outcome;
}

Outcome result_of(const std::string& a, const std::string& b, const MsprobeCompareOptions& options = {}) {
  const ScratchDir scratch;
  return compare_files(scratch.write("a/dump.json", a), scratch.write("b/dump.json", b), options);
}

std::string refusal(const std::string& a, const std::string& b, const MsprobeCompareOptions& options = {}) {
  const Outcome outcome = result_of(a, b, options);
  REQUIRE_FALSE(outcome.counts);
  CHECK(outcome.counts.error().code == ErrorCode::kUsage);
  CHECK(outcome.csv.empty());
  return outcome.counts.error().message;
}

TEST_CASE("statistics are written as msprobe writes them") {
  const Outcome outcome = result_of(dump_json(call("T.f.0.forward", leaf("2.0"), leaf("3.0"))),
                                    dump_json(call("T.f.0.forward", leaf("2.0"), leaf("1.5"))));
  REQUIRE(outcome.counts);
  CHECK(outcome.counts->rows == 2);
  CHECK(outcome.counts->error == 1);
  CHECK(outcome.lines() ==
        Strings{"NPU Name,Bench Name,NPU Dtype,Bench Dtype,NPU Tensor Shape,Bench Tensor Shape,NPU Requires_grad,"
                "Bench Requires_grad,Max diff,Min diff,Mean diff,L2norm diff,MaxRelativeErr,MinRelativeErr,"
                "MeanRelativeErr,NormRelativeErr,NPU max,NPU min,NPU mean,NPU l2norm,Bench max,Bench min,Bench mean,"
                "Bench l2norm,Requires_grad Consistent,Result,Err_message",
                "T.f.0.forward.input.0,T.f.0.forward.input.0,Float32,Float32,[2],[2],N/A,N/A,0,0,0,0,0,0,0,0,"
                "2.0,2.0,2.0,2.0,2.0,2.0,2.0,2.0,True,pass,[]",
                "T.f.0.forward.output.0,T.f.0.forward.output.0,Float32,Float32,[2],[2],N/A,N/A,1.5,1.5,1.5,1.5,"
                "100.0%,100.0%,100.0%,100.0%,3.0,3.0,3.0,3.0,1.5,1.5,1.5,1.5,True,error,"
                "\"[\"\"error: The NormRelativeErr of output is greater than 0.5.\"\", "
                "\"\"warning: The norm relative error of output is 10 times that of input.\"\"]\""});
}

TEST_CASE("checksums and stacks have columns of their own") {
  const ScratchDir scratch;
  const std::string json = dump_json(call("T.f.0.forward", leaf("1", R"(, "md5": "9331d5e6")")));
  const std::string a = scratch.write("a/dump.json", json), b = scratch.write("b/dump.json", json);
  scratch.write("a/stack.json", R"({"0": [["T.f.0.forward"], ["File x, line 1, in f, \n y"]]})");
  const Outcome outcome = compare_files(a, b);
  CHECK(outcome.csv ==
        "NPU Name,Bench Name,NPU Dtype,Bench Dtype,NPU Tensor Shape,Bench Tensor Shape,NPU Requires_grad,"
        "Bench Requires_grad,NPU MD5,BENCH MD5,Requires_grad Consistent,Result,Err_message,NPU_Stack_Info\n"
        "T.f.0.forward.input.0,T.f.0.forward.input.0,Float32,Float32,[2],[2],N/A,N/A,9331d5e6,9331d5e6,True,pass,[],"
        "\"['File x, line 1, in f, \\n y']\"\n");
}

TEST_CASE("tensors are compared by their files, and what cannot be read is unsupported and reported") {
  const ScratchDir scratch;
  const auto json = [](const std::string& file) {
    return dump_json(call("T.f.0.forward", leaf("1.0", fmt::format(R"(, "data_name": "{}")", file))), "tensor");
  };
  const std::string npy = test::build_npy({});
  const std::string a = scratch.write("a/dump.json", json("T.f.0.forward.input.0.npy"));
  const std::string b = scratch.write("b/dump.json", json("T.f.0.forward.input.0.npy"));
  scratch.write("a/dump_tensor_data/T.f.0.forward.input.0.npy", npy);
  const std::string metrics = ",N/A,N/A,unsupported,unsupported,unsupported,unsupported,unsupported,unsupported,1.0";
  const Outcome missing = compare_files(a, b);
  CHECK(missing.lines()[1].find(metrics) != std::string::npos);
  REQUIRE(missing.counts);
  REQUIRE(missing.counts->failures.kept.size() == 1);
  CHECK(missing.counts->failures.count == 1);
  CHECK(missing.counts->failures.kept[0].path == scratch.file("b/dump_tensor_data/T.f.0.forward.input.0.npy"));

  scratch.write("b/dump_tensor_data/T.f.0.forward.input.0.npy", npy);
  const Outcome equal = compare_files(a, b);
  CHECK(equal.counts->failures.count == 0);
  CHECK(
      equal.lines()[1] ==
      "T.f.0.forward.input.0,T.f.0.forward.input.0,Float32,Float32,[2],[2],N/A,N/A,1.0,0.0,0.0,0.0,1.0,1.0,1.0,1.0,1.0,"
      "1.0,1.0,1.0,1.0,1.0,True,pass,[],\"['T.f.0.forward.input.0.npy', 'T.f.0.forward.input.0.npy']\"");

  const Outcome unsafe = compare_files(scratch.write("a/dump.json", json("../secret.npy")), b);
  REQUIRE(unsafe.counts);
  REQUIRE(unsafe.counts->failures.count == 0);  // named otherwise, it has no partner
  const std::string same = scratch.write("b/dump.json", json("../secret.npy"));
  const Outcome both = compare_files(a, same);
  REQUIRE(both.counts->failures.kept.size() == 1);
  CHECK(both.counts->failures.kept[0].code == ErrorCode::kUnsafeName);
}

TEST_CASE("infinite numbers have a blank in front, null arguments depend on pandas") {
  const std::string json = dump_json(call("T.f.0.forward", leaf("-Infinity") + ", null"));
  const Outcome three = result_of(json, json), two = result_of(json, json, {.pandas2 = true});
  CHECK(three.lines()[1].find(", -inf, -inf,") != std::string::npos);
  CHECK(three.lines()[2].starts_with("T.f.0.forward.input.1,T.f.0.forward.input.1,N/A,N/A,N/A,N/A,N/A,N/A,0,"));
  CHECK(two.lines()[2].starts_with("T.f.0.forward.input.1,T.f.0.forward.input.1,None,None,None,None,N/A,N/A,0,"));
}

TEST_CASE("dumps that msprobe does not compare are refused with the reason") {
  const std::string good = dump_json(call("T.f.0.forward", leaf("1")));
  CHECK(refusal(good, dump_json(call("T.f.0.forward", leaf("1")), "tensor")) ==
        "task statistics against task tensor: msprobe does not compare them");
  CHECK(refusal(dump_json(call("T.f.0.forward", leaf("1")), "statistics", "pytorch"), good) ==
        "msprobe does not compare a PyTorch target with a MindSpore dump");
  CHECK(refusal(dump_json("", "structure"), dump_json("", "structure")) ==
        "nothing in the target to compare: msprobe writes no result");
  CHECK(refusal(good, dump_json(call("T.f.0.forward", leaf("1", R"(, "md5": "0")")))) ==
        "checksums on one side only: msprobe does not compare them");
  CHECK(refusal(dump_json(call("T.f.0.forward", leaf("1")), "nan_check"),
                dump_json(call("T.f.0.forward", leaf("1")), "nan_check")) ==
        "msprobe does not compare dumps of task nan_check");
  const std::string torch = dump_json(call("T.f.0.forward", leaf("1")), "statistics", "pytorch");
  MsprobeCompareOptions apis;
  apis.api_mapping = "";
  CHECK(refusal(torch, torch, apis) == "msprobe maps the APIs of MindSpore targets only");
}

TEST_CASE("a layer mapping of PyTorch dumps is ignored, as msprobe ignores it") {
  const std::string torch = dump_json(call("T.f.0.forward", leaf("1")), "statistics", "pytorch");
  MsprobeCompareOptions layers;
  layers.layer_mapping = "no such file";
  const Outcome outcome = result_of(torch, torch, layers);
  REQUIRE(outcome.counts);
  CHECK(outcome.csv == result_of(torch, torch).csv);
}

TEST_CASE("a mapping file that cannot be used is a usage error, whatever is wrong with it") {
  const ScratchDir scratch;
  const std::string json = dump_json(call("T.f.0.forward", leaf("1")));
  for (const std::string& path : {scratch.write("binary", std::string("\0\1\xFF", 3)), scratch.write("list", "- a"),
                                  scratch.path().string(), scratch.file("missing")}) {
    MsprobeCompareOptions cells;
    cells.cell_mapping = path;
    const Outcome outcome = result_of(json, json, cells);
    REQUIRE_FALSE(outcome.counts);
    CHECK(outcome.counts.error().code == ErrorCode::kUsage);
  }
}

TEST_CASE("statistics are matched fuzzily as tensors are") {
  const std::string json = dump_json(call("T.f.0.forward", leaf("1.0"), leaf("2.0")));
  const std::string later = dump_json(call("T.f.3.forward", leaf("1.0"), leaf("2.0")));
  const Outcome outcome = result_of(json, later, {.fuzzy = true});
  REQUIRE(outcome.counts);
  CHECK(outcome.lines()[1].starts_with("T.f.0.forward.input.0,T.f.3.forward.input.0,Float32,Float32,[2],[2],"));
  CHECK(outcome.counts->pass == 2);
  const Outcome other = result_of(json, dump_json(call("T.g.0.forward", leaf("1.0"))), {.fuzzy = true});
  CHECK(other.lines()[1].starts_with("T.f.0.forward.input.0,N/A,"));
}

TEST_CASE("a mapping of cells is read from its file, and a bad one is named") {
  const ScratchDir scratch;
  const std::string a = scratch.write("a/dump.json", dump_json(call("Cell.a.Dense.forward.0", leaf("1.0"))));
  const std::string b =
      scratch.write("b/dump.json", dump_json(call("Module.a.Linear.forward.0", leaf("1.0")), "statistics", "pytorch"));
  MsprobeCompareOptions options;
  options.cell_mapping = scratch.write("cells.yaml", "Dense: Linear\n");
  CHECK(compare_files(a, b, options)
            .lines()[1]
            .starts_with("Cell.a.Dense.forward.0.input.0,Module.a.Linear.forward.0.input.0,"));
  options.cell_mapping = "";
  CHECK(compare_files(a, b, options).lines()[1].starts_with("Cell.a.Dense.forward.0.input.0,N/A,"));
  options.cell_mapping = scratch.write("bad.yaml", "- a\n");
  CHECK(compare_files(a, b, options).counts.error().path == *options.cell_mapping);
}

TEST_CASE("the result does not depend on the number of jobs") {
  std::string data;
  for (int i = 0; i < 200; ++i) data += (i == 0 ? "" : ",") + call(fmt::format("T.f.{}.forward", i), leaf("1.5"));
  const ScratchDir scratch;
  const std::string a = scratch.write("a/dump.json", dump_json(data)),
                    b = scratch.write("b/dump.json", dump_json(data));
  const Outcome one = compare_files(a, b, {}, 1);
  CHECK(one.counts->rows == 200);
  CHECK(one.counts->pass == 200);
  CHECK(one.counts->error == 0);
  CHECK(compare_files(a, b, {}, 4).csv == one.csv);
}

TEST_CASE("a sink that fails and an interruption end the comparison") {
  const ScratchDir scratch;
  const std::string json = dump_json(call("T.f.0.forward", leaf("1")));
  const std::string a = scratch.write("a/dump.json", json), b = scratch.write("b/dump.json", json);
  WorkerPool pool(2);
  CancelToken cancel;
  const auto full = [](std::string_view) -> Status { return fail(ErrorCode::kWriteFailed, "full"); };
  CHECK(write_msprobe_result(a, b, {}, {pool, cancel}, full).error().code == ErrorCode::kWriteFailed);
  cancel.cancel();
  const auto good = [](std::string_view) -> Status { return {}; };
  CHECK(write_msprobe_result(a, b, {}, {pool, cancel}, good).error().code == ErrorCode::kCancelled);
}

// "NAME: TARGET GOLDEN", the paths below the scratch folder.
Strings pairs(const ScratchDir& scratch, const std::string& a, const std::string& b) {
  const auto found = find_msprobe_pairs(scratch.file(a), scratch.file(b));
  if (!found) return {"error: " + found.error().message};
  Strings all;
  const size_t root = scratch.path().string().size() + 1;
  for (const MsprobeJsonPair& pair : *found) {
    all.push_back(pair.result_name + ": " + pair.target.substr(root) + " " + pair.golden.substr(root));
  }
  return all;
}

TEST_CASE("ranks of two step folders are compared in their order") {
  const ScratchDir scratch;
  for (const std::string rank : {"rank10", "rank9", "rank07", "other"}) scratch.write("a/" + rank + "/dump.json", "");
  for (const std::string rank : {"rank", "rank1"}) scratch.write("b/" + rank + "/dump.json", "");
  CHECK(pairs(scratch, "a", "b") == Strings{"compare_result_rank9: a/rank9/dump.json b/rank/dump.json",
                                            "compare_result_rank10: a/rank10/dump.json b/rank1/dump.json"});
  scratch.write("b/rank2/dump.json", "");
  CHECK(pairs(scratch, "a", "b")[0].starts_with("error: 2 ranks here, 3 in "));
}

TEST_CASE("a single process is compared with a single process, and debug.json with debug.json") {
  const ScratchDir scratch;
  scratch.write("a/proc12/debug.json", "");
  scratch.write("b/proc7/debug.json", "");
  CHECK(pairs(scratch, "a", "b") == Strings{"debug_compare_result_proc12: a/proc12/debug.json b/proc7/debug.json"});
  CHECK(pairs(scratch, "a/proc12/debug.json", "b/proc7/debug.json") ==
        Strings{"debug_compare_result: a/proc12/debug.json b/proc7/debug.json"});
  CHECK(pairs(scratch, "a", "b/proc7/debug.json") == Strings{"error: msprobe compares two files or two folders"});
  scratch.write("a/proc13/dump.json", "");
  CHECK(pairs(scratch, "a", "b")[0].starts_with("error: 2 proc folders where msprobe expects "));
  scratch.write("c/some.json", "");
  CHECK(pairs(scratch, "c/some.json", "c/some.json") ==
        Strings{"error: msprobe compares two dump.json or two debug.json"});
}

TEST_CASE("an API mapping that does not fit the target is named") {
  const ScratchDir scratch;
  const std::string json = scratch.write("dump.json", dump_json(call("Functional.f.0.forward", leaf("1.0"))));
  MsprobeCompareOptions options;
  options.api_mapping = scratch.write("apis.yaml", "- {ms_api: Functional.f, pt_api: Functional.f}\n");
  const Outcome outcome = compare_files(json, json, options);
  REQUIRE_FALSE(outcome.counts);
  CHECK(outcome.counts.error().message.starts_with("the api mapping of Functional.f has no ms_args"));
  CHECK(outcome.counts.error().path == *options.api_mapping);
}

}  // namespace
}  // namespace msdump
