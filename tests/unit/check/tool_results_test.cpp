// Files as the tools of msprobe write them (info/results/result_file.h).
#include "check/tree/tool_results.h"

#include <algorithm>

#include <string>
#include <vector>

#include "small_dump.h"

namespace msdump::check {
namespace {

using test::ScratchDir;

// "KIND SEVERITY OP [TYPE] IO:SLOT rR sS PATH: MESSAGE"
Lines findings_in(const ScratchDir& scratch, const RuleSet& rules = RuleSet::defaults()) {
  const Checked checked(scratch.path(), rules);
  Lines lines;
  for (const Finding& finding : checked.findings()) {
    std::string text = fmt::format("{} {} {}", name_of(finding.rule), name_of(finding.severity), finding.op_name);
    if (!finding.op_type.empty()) text += " [" + finding.op_type + "]";
    if (!finding.io.empty()) text += " " + finding.io + ":" + finding.slot;
    if (finding.rank) text += fmt::format(" r{}", *finding.rank);
    if (finding.step) text += fmt::format(" s{}", *finding.step);
    lines.push_back(text + " " + finding.path + ": " + finding.message);
  }
  return lines;
}

const std::string kResult = "API name,Forward Test Success,Backward Test Success,Message\n";
const std::string kDetails = "API Name,Status,Message\n";

TEST_CASE("rows of each tool are findings of its rule") {
  const ScratchDir scratch;
  scratch.write(
      "a/accuracy_checking_details_1.csv",
      kDetails + "T.f.0.forward.output.1,error,bad\nT.g.0.forward.output.0,warning,\nT.h.0.forward.output.0,pass,\n");
  CHECK(findings_in(scratch) ==
        Lines{"acc_check error T.f.0.forward output:1 a/accuracy_checking_details_1.csv: msprobe's acc_check: bad",
              "acc_check warning T.g.0.forward output:0 a/accuracy_checking_details_1.csv: msprobe's acc_check"});
  const ScratchDir other;
  other.write("api_precision_compare_result_1.csv",
              "API Name,Forward Test Success,Backward Test Success,Message\nT.f.0,pass,error,x\n");
  other.write("step3/rank2/free_benchmark.csv",
              "rank,pert_mode,stage,step,api_name,max_rel,dtype,shape,output_index\n,no,f,,T.f.0.forward,0.5,,,0\n");
  other.write("anomaly_analyze_1.json",
              R"({"rank_1": [{"op_name": "T.log.0.forward", "stack_info": ["File a.py, line 3, in f, \n c"]}]})");
  other.write("diff_analyze_1.json", R"({"rank_1": [{"op_name": "T.log.0.forward"}]})");
  CHECK(findings_in(other) ==
        Lines{"anomaly error T.log.0.forward r1 anomaly_analyze_1.json: msprobe's overflow_check names it: a.py:3  c",
              "anomaly error T.log.0.forward r1 diff_analyze_1.json: msprobe's compare names it",
              "free_benchmark warning T.f.0.forward output:0 r2 s3 step3/rank2/free_benchmark.csv: msprobe's "
              "free_benchmark: the perturbation no changes the output by 0.5 relative",
              "precision_compare error T.f.0.backward api_precision_compare_result_1.csv: msprobe's "
              "api_precision_compare: x"});
}

TEST_CASE("a result is left out where the details of the same run say which output failed") {
  const ScratchDir scratch;
  scratch.write("accuracy_checking_result_1.csv", kResult + "T.f.0,error,error\nT.g.0,error, \n");
  scratch.write("accuracy_checking_result_2.csv", kResult + "T.f.0,error, \n");
  scratch.write("accuracy_checking_details_1.csv", kDetails + "T.f.0.forward.output.0,error,\n");
  Lines found = findings_in(scratch);
  std::sort(found.begin(), found.end());
  CHECK(found == Lines{"acc_check error T.f.0.backward accuracy_checking_result_1.csv: msprobe's acc_check",
                       "acc_check error T.f.0.forward accuracy_checking_result_2.csv: msprobe's acc_check",
                       "acc_check error T.f.0.forward output:0 accuracy_checking_details_1.csv: msprobe's acc_check",
                       "acc_check error T.g.0.forward accuracy_checking_result_1.csv: msprobe's acc_check"});
}

TEST_CASE("an alert that monitor wrote twice is one finding") {
  const ScratchDir scratch;
  const std::string alert = R"({"k": {"rank": 1, "step": 4, "tag_name": "0:fc.weight/rank1/exp_avg", "message": "m"}})";
  scratch.write("rank1/anomaly.json", alert);
  scratch.write("anomaly_analyse.json", alert);
  const Lines found = findings_in(scratch);
  REQUIRE(found.size() == 1);
  CHECK(found[0].starts_with("monitor_alert warning fc.weight [exp_avg] r1 s4 "));
  CHECK(found[0].ends_with(": msprobe's monitor: m"));
}

TEST_CASE("a finding is about the operator of the dump that it names, of the type that was monitored") {
  const ScratchDir scratch;
  const std::string header = "vpp_stage,name,step,max,min,norm\n";
  scratch.write("t-rank1-0123abcd/exp_avg_0-1.csv", header + "0,fc.weight,4,1,0,1\n");
  scratch.write("t-rank1-0123abcd/grad_reduced_0-1.csv", header + "0,fc.weight,4,1,0,1\n");
  scratch.write("anomaly.json",
                R"({"k": {"rank": 1, "step": 4, "tag_name": "0:fc.weight/rank1/grad_reduced", "message": "m"}})");
  const Checked checked(scratch.path());
  const Finding alert = checked.only("monitor_alert");
  REQUIRE(alert.op != kNoId);
  CHECK(checked.dump().operators()[alert.op].type == "grad_reduced");
}

TEST_CASE("after a thousand rows of a file the others are counted") {
  const ScratchDir scratch;
  std::string rows = kDetails;
  for (int i = 0; i < 1003; ++i) rows += "T.f." + std::to_string(i) + ".forward.output.0,error,\n";
  scratch.write("accuracy_checking_details_1.csv", rows);
  const Checked checked(scratch.path());
  REQUIRE(checked.of("acc_check").size() == 1001);
  CHECK(checked.findings().back().message == "3 more rows of this file failed");
}

TEST_CASE("a rule that is off, of other operators or of another severity holds for results, too") {
  const ScratchDir scratch;
  scratch.write("accuracy_checking_details_1.csv",
                kDetails + "T.f.0.forward.output.0,error,\nT.g.0.forward.output.0,warning,\n");
  RuleSet rules = RuleSet::defaults();
  REQUIRE(rules.apply("acc_check:op=*.g.*,severity=note"));
  const Checked checked(scratch.path(), rules);
  REQUIRE(checked.findings().size() == 1);
  CHECK(checked.findings()[0].op_name == "T.g.0.forward");
  CHECK(checked.findings()[0].severity == Severity::kNote);
  REQUIRE(rules.apply("acc_check:off"));
  CHECK(Checked(scratch.path(), rules).findings().empty());
}

TEST_CASE("a table that cannot be read, and bad rows, are failures") {
  const ScratchDir scratch;
  scratch.write("accuracy_checking_details_1.csv", "x\n");
  scratch.write("accuracy_checking_details_2.csv",
                kDetails + ",error,\n,error,\n,error,\n,error,\nT.f.0.output.0,error,\n");
  const Checked checked(scratch.path());
  REQUIRE(checked.report().failures.size() == 5);
  for (size_t i = 1; i < 4; ++i) {
    INFO(checked.report().failures[i].message);
    CHECK(checked.report().failures[i].message.starts_with(fmt::format("line {}", i + 1)));
  }
  CHECK(checked.report().failures[4].message == "1 more like these");
  CHECK(checked.of("unreadable").size() == 5);
  CHECK(checked.of("acc_check").size() == 1);
}

TEST_CASE("a row with a number has it as the value of its finding, others have none") {
  const ScratchDir scratch;
  scratch.write("free_benchmark.csv",
                "rank,pert_mode,stage,step,api_name,max_rel,dtype,shape,output_index\n,no,f,,T.f.0.forward,0.5,,,0\n");
  CHECK(std::get<double>(Checked(scratch.path()).only("free_benchmark").value.storage()) == 0.5);
  const ScratchDir other;
  other.write("accuracy_checking_details_1.csv", kDetails + "T.f.0.forward.output.1,error,bad\n");
  CHECK(Checked(other.path()).only("acc_check").value.is_null());
}

TEST_CASE("results of compare are about two dumps: no finding") {
  const ScratchDir scratch;
  scratch.write("compare_result_1.csv", "NPU Name,Bench Name,Result\na.output.0,b,error\n");
  CHECK(findings_in(scratch).empty());
  CHECK_FALSE(has_tool_results(FileKind::kCompareResult));
}

TEST_CASE("what monitor did not record is not missing") {
  const ScratchDir scratch;
  const std::string header = "vpp_stage,step,module_name,scope,max,min\n";
  scratch.write("rank_0/module_step0-1.csv", header +
                                                 "-1,0,fc.input.0,forward,1,0\n-1,0,a.input.0,forward,1,0\n"
                                                 "-1,0,a.output.0,forward,1,0\n-1,1,a.input.0,forward,1,0\n");
  CHECK(findings_in(scratch).empty());
}

}  // namespace
}  // namespace msdump::check
