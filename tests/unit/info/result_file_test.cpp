// Results as msprobe 26.2.0 wrote them on a CPU (acc_check, api_precision_compare, compare, overflow_check, monitor), and as
// mstt's free_benchmark does by its source.
#include "info/results/result_file.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using Lines = std::vector<std::string>;

struct Read {
  ResultFile file;
  Lines rows;  // "VERDICT OP [TYPE] IO SLOT rR sS =VALUE: MESSAGE @SOURCE"
  std::string error;
};

std::string line_of(const ResultRow& row) {
  static constexpr const char* kVerdicts[] = {"passed", "skipped", "warning", "error"};
  std::string text = fmt::format("{} {}", kVerdicts[static_cast<size_t>(row.verdict)], row.op_name);
  if (!row.op_type.empty()) text += " [" + row.op_type + "]";
  if (!row.io.empty()) text += " " + row.io + " " + row.slot;
  if (row.rank) text += fmt::format(" r{}", *row.rank);
  if (row.step) text += fmt::format(" s{}", *row.step);
  if (row.value) text += fmt::format(" ={}", *row.value);
  if (!row.message.empty()) text += ": " + row.message;
  return row.source.empty() ? text : text + " @" + row.source;
}

Read read(const std::string& content, bool json = false) {
  const test::ScratchDir scratch;
  const auto file = File::open(scratch.write("results", content));
  REQUIRE(file);
  Read read;
  const ResultVisitor visit = [&](const ResultRow& row) { read.rows.push_back(line_of(row)); };
  auto result = json ? read_result_json(*file, visit) : read_result_csv(*file, CancelToken(), visit);
  if (result) {
    read.file = std::move(*result);
  } else {
    CHECK(result.error().path == file->path());
    read.error = result.error().message;
  }
  for (const Error& problem : read.file.problems) CHECK(problem.path == file->path());
  return read;
}

TEST_CASE("acc_check says what became of each API, forward and backward") {
  const Read results = read(
      "\xEF\xBB\xBF"
      "API name,Forward Test Success,Backward Test Success,Message\n"
      "Tensor.__add__.0,pass, \nTorch.sqrt.0,error,warning\nFunctional.linear.0,pass,pass\n"
      "Functional.relu.0,SKIP,SKIP,no driver\n");
  CHECK(results.rows == Lines{"passed Tensor.__add__.0.forward", "error Torch.sqrt.0.forward",
                              "warning Torch.sqrt.0.backward", "passed Functional.linear.0.forward",
                              "passed Functional.linear.0.backward", "skipped Functional.relu.0.forward: no driver",
                              "skipped Functional.relu.0.backward: no driver"});
  CHECK(results.file.rows == 4);
  CHECK(results.file.failed == 1);
  CHECK(results.file.warnings == 0);
  CHECK(results.file.skipped == 1);
  CHECK(results.file.columns.front() == "API name");
  REQUIRE(results.file.first_failed);
  CHECK(results.file.first_failed->op_name == "Torch.sqrt.0.forward");
}

TEST_CASE("the details of acc_check name the output, and say why on several lines") {
  const Read details = read(
      "API Name,Shape,Status,Message\n"
      "Torch.sqrt.0.forward.output.1,\"(4, 8)\",error,\"\nRelative error is greater.\n\n  Skip others.\n\"\n"
      "Functional.linear.0.backward.output.0, ,SKIP,None\nNo.name.0.forward, ,warning,\n");
  CHECK(details.rows == Lines{"error Torch.sqrt.0.forward output 1: Relative error is greater.; Skip others.",
                              "skipped Functional.linear.0.backward output 0: None", "warning No.name.0.forward"});
  CHECK(details.file.warnings == 1);
  CHECK(read("API Name,Status\n.output.0,error\n").rows == Lines{"error .output.0"});
}

TEST_CASE("api_precision_compare and compare have columns of their own") {
  CHECK(read("API Name,小值域错误比值,比对结果,比对算法,Message\nTorch.sqrt.0.forward.output.0,0,error,x,\"ERROR: "
             "均\n\"\n")
            .rows == Lines{"error Torch.sqrt.0.forward output 0: ERROR: 均"});
  CHECK(read("NPU Name,Bench Name,Max diff,Result,Err_message\n"
             "F.linear.0.forward.input.0,F.linear.0.forward.input.0,0,pass,[]\n"
             "Module.fc.Linear.forward.0.parameters.weight,N/A,0,Warning,x\nF.a.0.forward.output.0,b,,unsupported,\n")
            .rows == Lines{"passed F.linear.0.forward input 0: []",
                           "warning Module.fc.Linear.forward.0 parameter weight: x", "skipped F.a.0.forward output 0"});
  CHECK(read("NPU Name,Accuracy Reached or Not\nF.a.0.forward.output.0,No\nF.b.0.forward.output.0,Yes\n").rows ==
        Lines{"error F.a.0.forward output 0", "passed F.b.0.forward output 0"});
}

TEST_CASE("each row of free_benchmark is an output that changed too much") {
  const Read results = read(
      "rank,pert_mode,stage,step,api_name,max_rel,dtype,shape,output_index\n"
      "3,improve_precision,forward,2,Torch.mul.0.forward,0.25,torch.float16,\"torch.Size([4])\",1\n"
      ",add_noise,forward,,Torch.add.0.forward,nan,,,\n");
  CHECK(
      results.rows ==
      Lines{"error Torch.mul.0.forward output 1 r3 s2 =0.25: the perturbation improve_precision changes the output by "
            "0.25 relative",
            "error Torch.add.0.forward =nan: the perturbation add_noise changes the output by nan relative"});
  CHECK(results.file.failed == 2);
  CHECK(read("rank,pert_type,stage,step,api_name,max_rel\n0,x,f,1,a,no\n").rows ==
        Lines{"error a r0 s1: the perturbation x changes the output by no relative"});
}

TEST_CASE("a table without a name and a verdict is not one of results") {
  const std::string message = "line 1: no columns of a table of msprobe's results (a name and a verdict)";
  CHECK(read("a,b\n1,2\n").error == message);
  CHECK(read("API Name,Message\n").error == message);
  CHECK(read("Status,Message\n").error == message);
  CHECK(read("").error == "an empty table");
}

TEST_CASE("a row without a name is bad, and the rest is read") {
  const Read results = read("API Name,Status\n,error\na.output.0,error\n \nb.output.0,what\n\"c\n");
  CHECK(results.rows == Lines{"error a output 0"});
  CHECK(results.file.rows == 2);
  CHECK(results.file.problems.count() == 3);
  REQUIRE(results.file.problems.size() == 3);
  CHECK(results.file.problems[0].message == "line 2: no name of an operator");
  CHECK(results.file.problems[2].message == "line 6: a quote is not closed");
}

TEST_CASE("a long message is cut between characters") {
  const Read results = read("API Name,Status,Message\na,error,x" + std::string(399, 'y') + "\nb,error,xx" + [] {
    std::string text;
    for (int i = 0; i < 200; ++i) text += "均";
    return text;
  }() + "\n");
  REQUIRE(results.rows.size() == 2);
  CHECK(results.rows[0].size() == std::string("error a: ").size() + 400);
  CHECK(results.rows[1].size() == std::string("error b: ").size() + 2 + 132 * 3);
}

TEST_CASE("a row says where it stands in its file") {
  const std::string table = "API Name,Status\na,pass\nb,error\n";
  CHECK(read(table).file.first_failed.value().offset == table.find("b,"));
  const std::string nodes = R"({"a": 1, "rank_0": [{"op": "x"}]})";
  CHECK(read(nodes, true).file.problems.first().at(0).offset == nodes.find("1,"));
  const std::string json = R"({"rank_0": [{"op_name": "x"}]})";
  CHECK(read(json, true).file.first_failed.value().offset == json.find("{\"op_name"));
  const std::string alert = R"({"k": {"tag_name": "x"}})";
  CHECK(read(alert, true).file.first_failed.value().offset == alert.find("{\"tag"));
}

TEST_CASE("an error comes before a warning that stands earlier") {
  const Read results = read("API Name,Status\na,warning\nb,error\nc,error\n");
  REQUIRE(results.file.first_failed);
  CHECK(results.file.first_failed->op_name == "b");
  CHECK(read("API Name,Status\na,warning\nb,pass\n").file.first_failed->op_name == "a");
  CHECK_FALSE(read("API Name,Status\na,pass\n").file.first_failed);
}

TEST_CASE("overflow_check names operators by rank, with the line that called them") {
  const Read results = read(
      R"j({"rank_1": [{"op_name": "Torch.log.0.forward", "data_info": {"output": [{"Max": NaN}]},
          "construct_info": ["Torch.log.0.forward"],
          "stack_info": ["File /a/net.py, line 14, in forward, \n y = torch.log(x)", "File b.py, line 2, in g, \n z"]}],
          "rank_x": [{"op_name": "b", "stack_info": []}, {"op_name": "c", "stack_info": ["nothing"]}]})j",
      true);
  CHECK(results.rows == Lines{"error Torch.log.0.forward r1 @/a/net.py:14  y = torch.log(x)", "error b", "error c"});
  CHECK(results.file.failed == 3);
  CHECK(results.file.columns.empty());
}

TEST_CASE("an alert of monitor names a tensor as its tables do") {
  const auto alert = [](const std::string& tag) {
    const Read results = read(R"({"k": {"rank": 2, "step": 5, "micro_step": 0, "tag_name": ")" + tag +
                                  R"(", "message": "Rule x", "group_mates": [0]}})",
                              true);
    return results.rows.empty() ? results.file.problems.first().at(0).message : results.rows[0];
  };
  CHECK(alert("0:layers.0.input:3/rank2/actv") == "warning layers.0 [actv] input 0 r2 s5: Rule x");
  CHECK(alert("0:.output:0/rank2/actv_grad") == "warning . [actv_grad] output 0 r2 s5: Rule x");
  CHECK(alert("0:fc.weight/rank2/grad_reduced") == "warning fc.weight [grad_reduced] r2 s5: Rule x");
  CHECK(alert("2:fc.weight/rank2/exp_avg") == "warning 2:fc.weight [exp_avg] r2 s5: Rule x");
  CHECK(alert("plain") == "warning plain r2 s5: Rule x");
  CHECK(alert("").find("neither a list of operators nor an alert of monitor") != std::string::npos);
}

TEST_CASE("JSON that holds no results is a problem or an error, never a row") {
  const Read odd =
      read(R"({"rank_0": [{"op": "x"}], "b": 7, "c": {"tag_name": 3}, "rank_1": [{"op_name": "y"}]})", true);
  CHECK(odd.rows == Lines{"error y r1"});
  CHECK(odd.file.problems.count() == 3);
  CHECK(odd.file.problems.size() == 3);
  CHECK_FALSE(read("[1]", true).error.empty());
  CHECK_FALSE(read("{\"a\": ", true).error.empty());
  CHECK(read("{}", true).file.rows == 0);
}

}  // namespace
}  // namespace msdump
