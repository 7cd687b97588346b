#include "graph/lines/line_search.h"

#include <string>
#include <vector>

#include "graph/lines/source_lines.h"
#include "ir/text/ir_text.h"
#include "support/catch.h"
#include "support/graph_run.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::graph_of;
using test::ir_text;
using test::node_text;
using test::ScratchDir;

const std::vector<std::string> kConvStack = {
    "/u/net.py:5~20, 4~16/def construct(self, x):", "/u/net.py:12, 8~20/x = self.conv(x)",
    "/lib/site-packages/mindspore/nn/layer/conv.py:373, 17~44/output = self.conv2d(x)"};

std::vector<LineHit> hits(const OpGraph& graph, const char* place) {
  const auto query = parse_line_query(place);
  REQUIRE(query);
  return find_line(graph, *query);
}

TEST_CASE("the innermost statement of the script is direct, a call further out is via") {
  const OpGraph graph =
      graph_of({{"graph_build_0_0001.ir",
                 ir_text(node_text("%0", "Conv2D", "%para1_x, %para2_w", "Default/Conv2D-op0", kConvStack) +
                         node_text("%1", "Add", "%0", "Default/Add-op0",
                                   {"/u/net.py:12, 8~20/x = self.conv(x)", "/u/blocks.py:3, 4~9/return x + 1"}))}});
  const auto found = hits(graph, "net.py:12");
  REQUIRE(found.size() == 2);
  CHECK(graph.op_type(found[0].op) == "Conv2D");
  CHECK(found[0].relation == Relation::kDirect);
  CHECK(graph.op_type(found[1].op) == "Add");
  CHECK(found[1].relation == Relation::kVia);
  CHECK(hits(graph, "blocks.py:3").at(0).relation == Relation::kDirect);
}

TEST_CASE("the lines of a def match only a query that covers it") {
  const OpGraph graph = graph_of(
      {{"graph_build_0_0001.ir", ir_text(node_text("%0", "Conv2D", "%para1_x", "Default/Conv2D-op0", kConvStack))}});
  CHECK(hits(graph, "net.py:6").empty());
  CHECK(hits(graph, "net.py:5-20").size() == 1);
}

TEST_CASE("a line inside a statement of several is a range") {
  const OpGraph graph =
      graph_of({{"graph_build_0_0001.ir",
                 ir_text(node_text("%0", "Add", "%para1_x", "Default/Add-op0", {"/u/net.py:37~39, 8~20/y = f("}))}});
  CHECK(hits(graph, "net.py:38").at(0).relation == Relation::kRange);
  CHECK(hits(graph, "net.py:37-39").at(0).relation == Relation::kDirect);
  CHECK(hits(graph, "net.py:40").empty());
}

TEST_CASE("operators of one type with the same stack may each be any of the calls") {
  const OpGraph graph =
      graph_of({{"graph_build_0_0001.ir", ir_text(node_text("%0", "ReLU", "%para1_x", "Default/ReLU-op0", kConvStack) +
                                                  node_text("%1", "ReLU", "%0", "Default/ReLU-op1", kConvStack) +
                                                  node_text("%2", "Add", "%1", "Default/Add-op0", kConvStack))}});
  for (const LineHit& hit : hits(graph, "net.py:12")) {
    INFO(graph.full_name(hit.op));
    CHECK(hit.one_of_several == (graph.op_type(hit.op) == "ReLU"));
    CHECK((hit.confidence < 1) == hit.one_of_several);
  }
}

TEST_CASE("operators expanded from calls with the same stack may each be of any of the calls") {
  const auto expanded = [](const char* id, const char* op, const std::string& name) {
    return node_text(id, op, "%para1_x", name) + "      # Corresponding code candidate:\n      # In file " +
           kConvStack[1] + "/\n";
  };
  const OpGraph graph = graph_of({{"graph_build_0_0001.ir", ir_text(expanded("%0", "Mul", "Expand/_Muls/Mul-op0") +
                                                                    expanded("%1", "Mul", "Expand/_Muls/Mul-op1") +
                                                                    expanded("%2", "Add", "Expand/_Adds/Add-op0"))}});
  const auto found = hits(graph, "net.py:12");
  REQUIRE(found.size() == 3);
  for (const LineHit& hit : found) {
    INFO(graph.full_name(hit.op));
    CHECK(hit.relation == Relation::kFused);
    CHECK(hit.one_of_several == (graph.op_type(hit.op) == "Mul"));
    CHECK(hit.confidence == Approx(hit.one_of_several ? 0.5 : 0.9));
  }
}

TEST_CASE("the text of a line is found whatever the blanks") {
  const OpGraph graph = graph_of(
      {{"graph_build_0_0001.ir", ir_text(node_text("%0", "Conv2D", "%para1_x", "Default/Conv2D-op0", kConvStack))}});
  CHECK(find_code(graph, "x  = self.conv(x)").size() == 1);
  CHECK(find_code(graph, "self.conv").size() == 1);
  CHECK(find_code(graph, "self.dense").empty());
  CHECK(find_code(graph, "  ").empty());
}

TEST_CASE("without a hit the nearest lines of the file are named, nearest first") {
  const OpGraph graph = graph_of(
      {{"graph_build_0_0001.ir", ir_text(node_text("%0", "A", "%para1_x", "Default/A-op0", {"/u/net.py:10, 1~2/a"}) +
                                         node_text("%1", "B", "%0", "Default/B-op0", {"/u/net.py:17, 1~2/b"}) +
                                         node_text("%2", "C", "%1", "Default/C-op0", {"/u/other.py:12, 1~2/c"}))}});
  const auto nearest = nearest_lines(graph, *parse_line_query("net.py:12"), 5);
  REQUIRE(nearest.size() == 2);
  CHECK(nearest[0]->line == 10);
  CHECK(nearest[1]->line == 17);
  CHECK(nearest_lines(graph, *parse_line_query("nothing.py:12"), 5).empty());
}

TEST_CASE("the files of the script are named once each, those of libraries after them") {
  const OpGraph graph = graph_of(
      {{"graph_build_0_0001.ir", ir_text(node_text("%0", "Conv2D", "%para1_x", "Default/Conv2D-op0", kConvStack) +
                                         node_text("%1", "Add", "%0", "Default/Add-op0", {"/u/a.py:3, 4~9/y"}))}});
  CHECK(script_files(graph) ==
        std::vector<std::string>{"/u/a.py", "/u/net.py", "/lib/site-packages/mindspore/nn/layer/conv.py"});
}

TEST_CASE("a frame that a copy wrapped over two lines is found without reading the whole IR") {
  const ScratchDir scratch;
  for (const char* frame : {"/u/net.py:12,\n8~20/x = y/", "/u/net.py\n(12)/x = y/", "/u/net.py:12, 8~\n20/x = y/"}) {
    INFO(frame);
    const std::string node = node_text("%0", "Add", "%para1_x", "Default/Add-op0");
    const auto file = File::open(scratch.write("any.ir", ir_text(node + "      # In file " + frame + "\n")));
    REQUIRE(file);
    IrTextOptions options;
    options.needle = needle_of({"net.py", 12, 12});
    const auto ir = read_ir_text(*file, options);
    REQUIRE(ir);
    CHECK(ir->nodes.size() == 1);
  }
}

TEST_CASE("what is left out for a line has no frame of it") {
  const auto accepts = [](const char* query, const char* behind) {
    const IrNeedle needle = needle_of(*parse_line_query(query));
    return !needle.accept || needle.accept(behind);
  };
  CHECK(needle_of(*parse_line_query("src/net.py:12")).text == "net.py");
  CHECK(needle_of(*parse_line_query("src/net.py")).text == "net.py");
  CHECK(needle_of(*parse_line_query("C:\\src\\net.py:12")).text == "net.py");
  CHECK(accepts("net.py", "anything"));
  CHECK(accepts("net.py:12", ":12, 8~20/x = y/"));
  CHECK(accepts("net.py:12", "(12)/x = y/"));
  CHECK(accepts("net.py:12", ":10~14, 8~20/x = f(/"));
  CHECK(!accepts("net.py:12", ":13, 8~20/x = y/"));
  CHECK(!accepts("net.py:12", ":120, 8~20/x = y/"));
  CHECK(!accepts("net.py:12", ":1~20, 4~16/    def construct(self, x):/"));
  CHECK(accepts("net.py:1-20", ":1~20, 4~16/    def construct(self, x):/"));
  CHECK(!accepts("net.py:12", ".txt"));
  CHECK(!accepts("net.py:12", "c"));
}

// Outermost first and without the frames of defs, as MindSpore 2.0 writes them.
OpGraph graph_of_2_0(const std::vector<std::string>& frames) {
  return graph_of({{"ms_output_trace_code_graph_0.ir",
                    ir_text(node_text("%0", "ReLU", "%para1_x", "Default/ReLU-op151", frames))}});
}

std::vector<uint32_t> lines_with(const OpGraph& graph, Relation relation, bool one_of_several) {
  std::vector<uint32_t> lines;
  for (uint32_t line = 1; line < 200; ++line) {
    for (const LineHit& hit : find_line(graph, {"net.py", line, line})) {
      if (hit.relation == relation && hit.one_of_several == one_of_several) lines.push_back(line);
    }
  }
  return lines;
}

TEST_CASE(
    "in 2.0 an operator of a cell that several calls share is direct for its own call, not for the last one alone") {
  const std::string relu = "/lib/site-packages/mindspore/nn/layer/activation.py:406/return self.relu(x)";
  const OpGraph graph = graph_of_2_0({"/lib/site-packages/mindspore/nn/wrap/cell_wrapper.py:119/out = self.net(data)",
                                      "/u/net.py:178/x = self.relu(x)", relu, "/u/net.py:176/y = self.relu(y)"});
  CHECK(lines_with(graph, Relation::kDirect, false) == std::vector<uint32_t>{178});
  CHECK(lines_with(graph, Relation::kDirect, true) == std::vector<uint32_t>{176});
  CHECK(hits(graph, "net.py:176").at(0).confidence < hits(graph, "net.py:178").at(0).confidence);
  CHECK(best_frame(graph, OpId(0))->line == 178);
  const std::string pool = "/lib/site-packages/mindspore/nn/layer/pooling.py:";
  const OpGraph between =
      graph_of_2_0({"/u/net.py:171/x = self.pool(x)", pool + "562/if x.ndim == 3:", "/u/net.py:181/x = self.pool(x)",
                    pool + "573/out = self.max_pool(x)"});
  CHECK(lines_with(between, Relation::kDirect, false) == std::vector<uint32_t>{171});
  CHECK(best_frame(between, OpId(0))->line == 171);
}

TEST_CASE("in 2.0 operators of a method that several calls share keep their innermost line") {
  const OpGraph graph = graph_of_2_0(
      {"/u/net.py:12/x = self.block(x)", "/u/net.py:5/return self.relu(x + 1)", "/u/net.py:10/h = self.block(h)"});
  CHECK(lines_with(graph, Relation::kDirect, false) == std::vector<uint32_t>{5});
  CHECK(lines_with(graph, Relation::kDirect, true) == std::vector<uint32_t>{10});
  CHECK(lines_with(graph, Relation::kVia, false) == std::vector<uint32_t>{12});
  CHECK(best_frame(graph, OpId(0))->line == 5);
}

TEST_CASE("a line inside a container is not the line of another call") {
  const std::string container = "/lib/site-packages/mindspore/nn/layer/container.py:";
  const auto is_direct = [](const OpGraph& graph, uint32_t line) {
    CHECK(lines_with(graph, Relation::kDirect, false) == std::vector<uint32_t>{line});
    CHECK(best_frame(graph, OpId(0))->line == line);
  };
  // It calls something else; the container calls it from the line that it was entered by; 2.3 writes defs.
  is_direct(graph_of_2_0({"/u/net.py:100/x = self.layers(x)",
                          container + "210/for cell in cells:", "/u/net.py:20/return self.relu(x)"}),
            20);
  is_direct(graph_of_2_0({"/u/net.py:100/x = self.layers(x)", container + "210/x = cell(x)",
                          "/u/net.py:20/x = self.layers(x)", container + "210/x = cell(x)"}),
            20);
  is_direct(graph_of_2_0({"/u/net.py:100/x = self.conv(x)", "/u/net.py:20/x = self.conv(x)"}), 20);
  is_direct(graph_of_2_0({"/u/net.py:100/x = self.conv(x)", container + "9/def construct(self, x):",
                          container + "210/x = cell(x)", "/u/net.py:20/x = self.conv(x)"}),
            20);
}

}  // namespace
}  // namespace msdump
