#include "graph/op_graph.h"

#include <string>

#include "support/catch.h"
#include "support/graph_run.h"

namespace msdump {
namespace {

using test::graph_of;
using test::ir_text;
using test::node_text;

TEST_CASE("a name is made as files have it, with its own number or another") {
  const OpGraph graph =
      graph_of({{"graph_build_0_0001.ir", ir_text(node_text("%0", "Add", "%para1_x", "Default/net.a-Net/Add B-op12_3") +
                                                  node_text("%1", "Add", "%para1_x", "Add-op7") +
                                                  node_text("%2", "Add", "%para1_x", "Default/Add"))}});
  NormalName name;
  name.assign(graph, OpId(0), kNoIndex);
  CHECK(name.full() == "Default_net_a-Net_Add_B-op12_3");
  CHECK(name.leaf() == "Add_B-op12_3");
  name.assign(graph, OpId(0), 4);
  CHECK(name.full() == "Default_net_a-Net_Add_B-op4");
  name.assign(graph, OpId(1), kNoIndex);
  CHECK(name.full() == "Add-op7");
  CHECK(name.leaf() == name.full());
  name.assign(graph, OpId(2), 4);
  CHECK(name.full() == "Default_Add");
}

TEST_CASE("names are equal that differ in what files replace only") {
  CHECK(is_name("a_b_c", "a/b.c"));
  CHECK(!is_name("a_b_c", "a/b-c"));
  CHECK(!is_name("a_b", "a/b/"));
  CHECK(same_name("a b\\c", "a.b/c"));
  CHECK(!same_name("a", "b"));
  CHECK(name_hash(NormalName("a/b c").full()) == name_hash("a_b_c"));
}

TEST_CASE("a hash differs by length, end and order") {
  std::string name = "Default_network_Conv2D-op1";
  for (size_t i = 0; i < name.size(); ++i) {
    std::string other = name;
    other[i] ^= 1;
    INFO(i);
    CHECK(name_hash(other) != name_hash(name));
    CHECK(name_hash(name.substr(0, i)) != name_hash(name));
  }
  CHECK(name_hash(std::string(8, '\0')) != name_hash(std::string(9, '\0')));
}

}  // namespace
}  // namespace msdump
