#include "graph/load/load_graph.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/graph_run.h"
#include "support/ir_pb_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ir_text;
using test::node_text;
using test::ScratchDir;

LoadedGraph load_all(const std::vector<IrFile>& files) {
  WorkerPool pool(1);
  const CancelToken cancel;
  auto loaded = load_graph(files, {}, {pool, cancel});
  REQUIRE(loaded);
  return std::move(*loaded);
}

IrFile file_named(const std::string& path) {
  const auto file = ir_file_of_name(path);
  REQUIRE(file);
  return *file;
}

const std::string kGoodIr = ir_text(node_text("%0", "Add", "%para1_x", "Default/Add-op0"));

TEST_CASE("an IR that was found beside the dump and cannot be read is a note, one that was named a failure") {
  const ScratchDir scratch;
  for (const std::string& text : {kGoodIr.substr(0, kGoodIr.size() - 4), std::string("no IR")}) {
    IrFile file = file_named(scratch.write("graph_build_0_0001.ir", text));
    const LoadedGraph asked = load_all({file});
    CHECK(!asked.failures.empty());
    CHECK(asked.notes.empty());
    file.outside = true;
    const LoadedGraph found = load_all({file});
    CHECK(found.failures.empty());
    CHECK(found.notes.size() == asked.failures.size());
    CHECK(found.graph.size() == asked.graph.size());
  }
}

TEST_CASE("a .pb beside the IR that cannot be read is reported, and the IR is used without it") {
  const ScratchDir scratch;
  const IrFile ir = file_named(scratch.write("graphs/ms_output_trace_code_graph_0.ir", kGoodIr));
  CHECK(load_all({ir}).failures.empty());
  const std::string pb = scratch.write("graphs/ms_output_trace_code_graph_0.pb", build_ir_pb(test::small_ir_pb()));
  const LoadedGraph both = load_all({ir});
  CHECK(both.failures.empty());
  CHECK(both.graph.origins()[0].second != nullptr);
  scratch.write("graphs/ms_output_trace_code_graph_0.pb", "\xff\xff random bytes");
  const LoadedGraph damaged = load_all({ir});
  REQUIRE(damaged.failures.size() == 1);
  CHECK(damaged.failures[0].path == pb);
  CHECK(damaged.graph.size() == 1);
  CHECK(damaged.graph.origins()[0].second == nullptr);
}

TEST_CASE("a damaged construct.json beside a stack.json is reported") {
  const ScratchDir scratch;
  const IrFile stack = file_named(scratch.write("step0/rank0/stack.json", R"({"Functional.add.0.forward": []})"));
  scratch.write("step0/rank0/construct.json", R"({"Functional.add.0.forward": null})");
  CHECK(load_all({stack}).failures.empty());
  for (const char* text :
       {R"({"Functional.add.0.forw)", R"({"a": null} more)", R"({"a": null "b": null})", R"({"a": 1})"}) {
    INFO(text);
    const std::string path = scratch.write("step0/rank0/construct.json", text);
    const LoadedGraph loaded = load_all({stack});
    REQUIRE(loaded.failures.size() == 1);
    CHECK(loaded.failures[0].path == path);
    CHECK(loaded.graph.size() == 1);
  }
}

TEST_CASE("an IR whose graph has no id in its name has that of its entry") {
  const ScratchDir scratch;
  for (const char* entry : {"kernel_graph_3", "kernel_graph3", "kernel_graph3.1"}) {
    const std::string text = "# IR entry: @" + std::string(entry) + "\nsubgraph @g() {\n  %0(a) = Add(%1)\n}\n";
    CHECK(load_all({file_named(scratch.write("trace_code_graph_0092", text))}).graph.origins()[0].graph_id == 3);
  }
  const std::string other = "# IR entry: @construct.3\nsubgraph @g() {\n  %0(a) = Add(%1)\n}\n";
  CHECK(!load_all({file_named(scratch.write("trace_code_graph_0092", other))}).graph.origins()[0].graph_id);
}

}  // namespace
}  // namespace msdump
