#include "graph/join/numbering.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/graph_run.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::find_operator;
using test::ir_text;
using test::JoinedDump;
using test::node_text;
using test::ScratchDir;

constexpr const char* kGraph = "rank_0/graphs/ms_output_trace_code_graph_0.ir";

// Two operators of one type, numbered the other way round than in the order of the graph: the first is op0 in new
// numbers.
std::string crossed() {
  return ir_text(node_text("%0", "Add", "%para1_x", "Default/Add-op1") +
                 node_text("%1", "Add", "%0", "Default/Add-op0") + node_text("%2", "Mul", "%1", "Default/Mul-op0"));
}

std::string value(char of) { return test::npy_of("<f4", {2}, std::string(8, of)); }

void put(const ScratchDir& scratch, const std::string& type_and_name, const char* io, const std::string& content) {
  scratch.write("rank_0/Net/0/0/" + type_and_name + ".0.0.1700000000000001." + io + ".0.DefaultFormat.Float32.npy",
                content);
}

// The values along %0 -> %1 -> %2 are 'a', 'b' and 'c'.
void put_chain(const ScratchDir& scratch, const char* first, const char* second) {
  put(scratch, std::string("Add.Default_Add-op") + first, "output", value('a'));
  put(scratch, std::string("Add.Default_Add-op") + second, "input", value('a'));
  put(scratch, std::string("Add.Default_Add-op") + second, "output", value('b'));
  put(scratch, "Mul.Default_Mul-op0", "input", value('b'));
}

TEST_CASE("the bytes decide that operators have new numbers, or that they have not") {
  for (const bool renumbered : {true, false}) {
    const ScratchDir scratch;
    scratch.write(kGraph, crossed());
    put_chain(scratch, renumbered ? "0" : "1", renumbered ? "1" : "0");
    const JoinedDump dump = test::join_dump(scratch.path());
    INFO(dump.joined->join.numbering().evidence);
    CHECK(dump.joined->join.numbering().renumbered == renumbered);
    CHECK(dump.joined->join.numbering().confidence == 1);
    CHECK(dump.joined->join.numbering().agreeing == 2);
    CHECK(dump.joined->join.numbering().contradicting == 0);
    const auto files = dump.files_of(find_operator(dump.graph(), "Default/Add-op1"));
    REQUIRE(files.size() == 1);
    CHECK((files[0].find("Add-op0") != std::string::npos) == renumbered);
  }
}

TEST_CASE("without bytes the version decides, and pairs that depend on it are less sure") {
  const ScratchDir scratch;
  scratch.write(kGraph, crossed());
  scratch.write("rank_0/.dump_metadata/config.json", R"({"ms_version":"2.10.0"})");
  for (const char* name : {"Add.Default_Add-op0", "Add.Default_Add-op1", "Mul.Default_Mul-op0"})
    put(scratch, name, "output", "");
  const JoinedDump dump = test::join_dump(scratch.path());
  CHECK(dump.joined->join.numbering().renumbered);
  CHECK(dump.join().pairs_of(find_operator(dump.graph(), "Default/Add-op1"))[0].confidence == Approx(0.9));
  CHECK(dump.join().pairs_of(find_operator(dump.graph(), "Default/Mul-op0"))[0].confidence == 1);
}

TEST_CASE(
    "files have the numbers of the graph before 2.3 and new ones from 2.7 on; between, the version does not say") {
  const auto chosen = [](const char* version) {
    const ScratchDir scratch;
    scratch.write(kGraph, ir_text(node_text("%0", "Add", "%para1_x", "Default/Add-op7") +
                                  node_text("%1", "Add", "%0", "Default/Add-op8")));
    scratch.write("rank_0/.dump_metadata/config.json", fmt::format(R"({{"ms_version":"{}"}})", version));
    put(scratch, "Add.Default_Add-op0", "output", "");
    const Numbering numbering = test::join_dump(scratch.path()).join().numbering();
    return std::pair(numbering.renumbered, numbering.confidence);
  };
  CHECK(chosen("2.2.14") == std::pair(false, 0.9));
  CHECK(chosen("2.3.0") == std::pair(true, 0.5));
  CHECK(chosen("2.6.0") == std::pair(true, 0.5));
  CHECK(chosen("2.7.0") == std::pair(true, 0.9));
}

TEST_CASE("where new numbers are those of the graph nothing has to be decided") {
  const ScratchDir scratch;
  scratch.write(kGraph, ir_text(node_text("%0", "Add", "%para1_x", "Default/Add-op0") +
                                node_text("%1", "Add", "%0", "Default/Add-op1")));
  put(scratch, "Add.Default_Add-op1", "output", value('a'));
  const JoinedDump dump = test::join_dump(scratch.path());
  const Numbering& numbering = dump.join().numbering();
  CHECK_FALSE(numbering.renumbered);
  CHECK(numbering.evidence.empty());
  CHECK(dump.join().pairs_of(find_operator(dump.graph(), "Default/Add-op1")).size() == 1);
}

TEST_CASE("without bytes and version the numbers are those with which more operators have files") {
  const ScratchDir scratch;
  scratch.write(kGraph, ir_text(node_text("%0", "Add", "%para1_x", "Default/Add-op7") +
                                node_text("%1", "Add", "%0", "Default/Add-op8")));
  put(scratch, "Add.Default_Add-op0", "output", "");
  const JoinedDump dump = test::join_dump(scratch.path());
  CHECK(dump.joined->join.numbering().renumbered);
  CHECK(dump.join().pairs_of(find_operator(dump.graph(), "Default/Add-op7"))[0].confidence == Approx(0.5));
}

TEST_CASE("a join that is interrupted says so") {
  const ScratchDir scratch;
  scratch.write(kGraph, crossed());
  put_chain(scratch, "0", "1");
  const JoinedDump dump = test::join_dump(scratch.path());
  WorkerPool pool(1);
  CancelToken cancel;
  cancel.cancel();
  const auto joined = join_files(dump.dump.index, dump.dump.tensors(), dump.graph(), {pool, cancel});
  REQUIRE(!joined);
  CHECK(joined.error().code == ErrorCode::kCancelled);
}

}  // namespace
}  // namespace msdump
