// Files of what a graph of GE has without a kernel: its inputs and results.
#include <string>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/ge_builder.h"
#include "support/graph_run.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

test::GeOp ge_op(const std::string& name, const std::string& type, const std::vector<std::string>& inputs) {
  test::GeOp op;
  op.name = name;
  op.type = type;
  op.inputs = inputs;
  op.in.assign(inputs.size(), {});
  op.out.assign(1, {});
  return op;
}

void write_file(const test::ScratchDir& scratch, const std::string& type, const std::string& name, int time) {
  test::DumpSpec spec;
  spec.op_name = name;
  spec.tensors = {test::output_of(DType::kFloat32, Format::kND, {4}, test::Dims{4})};
  scratch.write(fmt::format("dump/20260101000000/0/net/1/0/{}.{}.{}.3.170000000000000{}", type, name, time, time),
                test::build_dump(spec));
}

void write_graph(const test::ScratchDir& scratch) {
  const test::GeNet net{"net",
                        {ge_op("net_x", "Data", {}), ge_op("net_w", "Variable", {}),
                         ge_op("net/Neg", "Neg", {"net_x:0"}), ge_op("Node_Output", "NetOutput", {"net/Neg:0"})}};
  scratch.write("ge_proto_00000002_Build.txt", test::ge_proto_text({net}));
}

TEST_CASE("files of the inputs and results of a graph of GE belong to its operators") {
  const test::ScratchDir scratch;
  write_graph(scratch);
  write_file(scratch, "Data", "net_x", 1);
  write_file(scratch, "Neg", "net_Neg", 2);
  write_file(scratch, "NetOutput", "Node_Output", 3);
  const test::JoinedDump dump = test::join_dump(scratch.file("dump"), Headers::kAll);
  for (const TensorGroup& group : dump.join().groups()) CHECK(dump.join().rule_of(group) == JoinRule::kFullName);
  CHECK(dump.join().matched_operators() == 1);  // of those with a kernel
  for (const char* const name : {"net_x", "net/Neg", "Node_Output"})
    CHECK(dump.files_of(test::find_operator(dump.graph(), name)).size() == 1);
  CHECK(dump.files_of(test::find_operator(dump.graph(), "net_w")).empty());
}

TEST_CASE("a dump of inputs alone does not say that it is of this graph") {
  const test::ScratchDir scratch;
  write_graph(scratch);
  write_file(scratch, "Data", "net_x", 1);
  write_file(scratch, "Add", "other_Add", 2);
  const test::JoinedDump dump = test::join_dump(scratch.file("dump"), Headers::kAll);
  CHECK(dump.join().matched_operators() == 0);
}

}  // namespace
}  // namespace msdump
