// Rows as msprobe 26.2.0 wrote them for a small net on a CPU, and the names its writers give.
#include "tables/monitor_csv.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using Lines = std::vector<std::string>;
using enum StatisticColumn;

struct MonitorTable {
  std::vector<StatisticColumn> columns;
  Lines rows;  // "NAME SCOPE STAGE STEP: VALUE|VALUE DTYPE SHAPE"
};

MonitorTable read_monitor(const std::string& content) {
  const test::ScratchDir scratch;
  const auto file = File::open(scratch.write("a.csv", content));
  REQUIRE(file);
  auto reader = MonitorReader::open(*file);
  if (!reader) return {{}, {reader.error().message}};
  MonitorTable table{reader->columns(), {}};
  for (;;) {
    const auto row = reader->next();
    if (!row) {
      CHECK(row.error().path == file->path());
      table.rows.push_back(row.error().message);
      continue;
    }
    if (*row == nullptr) return table;
    std::string text = fmt::format("{} {} {} {}:", (*row)->name, (*row)->scope, (*row)->vpp_stage, (*row)->step);
    for (const auto value : (*row)->values) text.append(" ").append(value.empty() ? "-" : value);
    if ((*row)->dtype) text.append(" ").append(name_of(*(*row)->dtype));
    if ((*row)->shape) text += fmt::format(" {} dims", (*row)->shape->size());
    table.rows.push_back(text);
  }
}

TEST_CASE("a row of monitor has the statistics that were chosen, in any order") {
  const MonitorTable table = read_monitor(
      "vpp_stage,name,step,micro_step,norm,min,max,mean,nans,zeros,shape,dtype\n"
      "0,0.input,2,0,2.929281,-1.123594,1.734012,0.163964,0,0.0,\"[3, 4]\",torch.float32\n"
      "0,2.bias,2,0,1.087359,-1.057651,0.252438,-0.402606,2.0,0.0,[2],torch.bfloat16\n"
      "1,s,3,0,nan,nan,nan,nan,1,0.0,[],torch.float32\n");
  CHECK(table.columns == std::vector{kMax, kMin, kAvg, kL2Norm, kNan});
  CHECK(table.rows == Lines{"0.input  0 2: 1.734012 -1.123594 0.163964 2.929281 0 float32 2 dims",
                            "2.bias  0 2: 0.252438 -1.057651 -0.402606 1.087359 2 bfloat16 1 dims",
                            "s  1 3: nan nan nan nan 1 float32 0 dims"});
}

TEST_CASE("a tensor that monitor did not get has no values, a tensor of NaN has") {
  CHECK(read_monitor("vpp_stage,name,step,norm,nans\n0,a,0,nan,nan\n0,b,0,nan,4\n").rows ==
        Lines{"a  0 0: - -", "b  0 0: nan 4"});
  CHECK(read_monitor("vpp_stage,name,step,norm,shape\n0,a,0,nan,nan\n").rows == Lines{"a  0 0: -"});
  CHECK(read_monitor("vpp_stage,name,step,norm\n0,a,0,nan\n").rows == Lines{"a  0 0: nan"});
}

TEST_CASE("a row of monitor_v2 says what was monitored") {
  const MonitorTable table = read_monitor(
      "vpp_stage,step,module_name,scope,min,max\n-1,0,0.weight.exp_avg,exp_avg,-0.02,0.04\n"
      "1,7,1:w,reduced,0,inf\n");
  CHECK(table.columns == std::vector{kMax, kMin});
  CHECK(table.rows == Lines{"0.weight.exp_avg exp_avg -1 0: 0.04 -0.02", "1:w reduced 1 7: inf 0"});
}

TEST_CASE("a row without a step or name is one error, a short row has empty values") {
  CHECK(read_monitor("vpp_stage,name,step,max,min\n0,a,x,1,2\n0,a,-1,1,2\n0,,3,1,2\n0,b,3\n0,c,4,5,6\n").rows ==
        Lines{"line 2: the step is not a number", "line 3: the step is not a number", "line 4: no name of a tensor",
              "b  0 3: - -", "c  0 4: 5 6"});
  CHECK(read_monitor("name,step,max\na,0,1\n").rows == Lines{"a  0 0: 1"});
  CHECK(read_monitor("a,b\n1,2\n").rows == Lines{"line 1: not the columns of a table of msprobe's monitor"});
  CHECK(read_monitor("").rows == Lines{"line 1: not the columns of a table of msprobe's monitor"});
  CHECK(read_monitor("vpp_stage,name,step,shape\n0,a,0,\"[1, -2]\"\n0,b,0,\"[1,x]\"\n0,c,0,7\n").rows ==
        Lines{"a  0 0:", "b  0 0:", "c  0 0:"});
}

TEST_CASE("names of tables of monitor say what was monitored") {
  const auto name = [](std::string_view file) {
    const auto parsed = parse_monitor_name(file);
    return parsed ? std::string(parsed->metric) + (parsed->second ? " 2" : "") : "-";
  };
  CHECK(name("grad_reduced_0-1.csv") == "grad_reduced");
  CHECK(name("exp_avg_sq_10-19.csv") == "exp_avg_sq");
  CHECK(name("weight_grad_step0-1.csv") == "weight_grad 2");
  CHECK(name("cc_step7-7.csv") == "cc 2");
  for (const char* const other : {"grad_reduced_0-1.txt", "grad_reduced_0.csv", "grad_reduced_a-1.csv", "other_0-1.csv",
                                  "module_0-1.csv", "actv_step0-1.csv", "0-1.csv", "grad_reduced_0-.csv", ".csv"})
    CHECK(name(other) == "-");
}

TEST_CASE("the name of an activation is that of its module and side") {
  const auto name = [](std::string_view text) {
    const auto parsed = parse_activation_name(text);
    if (!parsed) return std::string("-");
    return fmt::format("{}|{}|{}", parsed->module, parsed->input ? "in" : "out", parsed->slot);
  };
  CHECK(name("layers.0.input") == "layers.0|in|0");
  CHECK(name("layers.0.output.12") == "layers.0|out|12");
  CHECK(name("fc.grad_input.0") == "fc|out|0");
  CHECK(name("fc.grad_output.1") == "fc|in|1");
  CHECK(name(".input") == "|in|0");
  CHECK(name("layers.0.weight") == "-");
  CHECK(name("input") == "-");
  CHECK(name("3") == "-");
}

TEST_CASE("a table of monitor is recognised by its first line") {
  CHECK(looks_like_monitor_csv("vpp_stage,name,step,norm\n"));
  CHECK(looks_like_monitor_csv("vpp_stage,step,module_name,scope,min\n"));
  CHECK_FALSE(looks_like_monitor_csv("vpp_stage,name\n"));
}

}  // namespace
TEST_CASE("a shape of more axes than a tensor has is not known") {
  const auto row = [](size_t axes) {
    std::string shape = "1";
    for (size_t axis = 1; axis < axes; ++axis) shape += ", 1";
    return read_monitor(fmt::format("vpp_stage,name,step,shape\n0,a,0,\"[{}]\"\n", shape)).rows;
  };
  CHECK(row(kMaxRank) == Lines{fmt::format("a  0 0: {} dims", kMaxRank)});
  CHECK(row(kMaxRank + 1) == Lines{"a  0 0:"});
}

}  // namespace msdump
