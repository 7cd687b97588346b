// Names as ge runtime/v1/common/dump/data_dumper.cc makes them: iter.op_desc->GetName() + "_To_" + op_desc->GetName(), with
// the type of the watched operator. "Less_To_add_n" is what its own test expects
// (tests/ge/st/testcase/test_davinci_model_execute.cc).
#include "dump/index/watched_outputs.h"

#include "support/catch.h"
#include "support/dump_builder.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump {
namespace {

using Begins = std::vector<size_t>;

Begins begins_of(const std::vector<DumpedName>& names, const std::vector<std::string>& watched = {}) {
  return find_watched(names, watched);
}

}  // namespace

TEST_CASE("snapshots are told by the name of an operator with an output of its own and of the same type") {
  CHECK(begins_of({{0, "AddN", "add_n"}, {0, "AddN", "Less_To_add_n"}, {0, "AddN", "cond/pow_To_add_n"}}) ==
        Begins{0, 8, 12});
  CHECK(begins_of({{0, "AddN", "add_n"}, {0, "Cast", "Less_To_add_n"}}) == Begins{kNotWatched, kNotWatched});
  CHECK(begins_of({{0, "AddN", "Less_To_add_n"}}) == Begins{kNotWatched});
  CHECK(begins_of({{0, "AddN", "add_n"}, {0, "AddN", "_To_add_n"}}) == Begins{kNotWatched, kNotWatched});
  CHECK(begins_of({}).empty());
}

TEST_CASE("an operator with _To_ in its name does not make a dump of others a watcher dump") {
  CHECK(begins_of({{0, "Cast", "x"}, {0, "Cast", "Cast_To_x"}, {0, "Mul", "mul"}}) == Begins(3, kNotWatched));
  CHECK(begins_of({{0, "Cast", "x"}, {0, "Cast", "a_To_x"}, {1, "Mul", "mul"}}) == Begins{0, 5, kNotWatched});
}

TEST_CASE("a step without the operator's own output counts by the other steps") {
  CHECK(begins_of({{0, "Mul", "w"}, {0, "Mul", "a_To_w"}, {1, "Mul", "a_To_w"}}) == Begins{0, 5, 5});
}

TEST_CASE("_To_ in the names of operators is told from the mark") {
  // Of the layer, of the watched operator, of both.
  CHECK(begins_of({{0, "Mul", "w"}, {0, "Mul", "Cast_To_Half_To_w"}}) == Begins{0, 16});
  CHECK(begins_of({{0, "Mul", "Half_To_w"}, {0, "Mul", "a_To_Half_To_w"}}) == Begins{0, 5});
  // The snapshot of one may look like the output of another.
  CHECK(begins_of({{0, "Mul", "w"}, {0, "Mul", "b_To_w"}, {0, "Mul", "a_To_b_To_w"}}) == Begins{0, 5, 10});
}

TEST_CASE("a name of many marks costs a few searches") {
  std::string name = "w";
  for (int i = 0; i < 20000; ++i) name = "a_To_" + name.substr(0, 60000);
  CHECK(begins_of({{0, "Mul", "a_To_w"}, {0, "Mul", name}}) == Begins(2, kNotWatched));
}

TEST_CASE("globs name watched operators that were not dumped, or lie among others") {
  CHECK(begins_of({{0, "Mul", "a_To_w"}, {0, "Add", "other"}}, {"w"}) == Begins{5, kNotWatched});
  CHECK(begins_of({{0, "Mul", "a_To_w1"}, {0, "Mul", "w2"}, {0, "Mul", "a_To_v"}}, {"w*", "v"}) == Begins{5, 0, 5});
}

TEST_CASE("an output and its snapshots follow each other in the order of time") {
  const test::ScratchDir scratch;
  const auto write = [&](const std::string& name, const std::string& op_name) {
    scratch.write(name, test::build_dump({.op_name = op_name,
                                          .tensors = {test::output_of(DType::kFloat32, Format::kND, {2}),
                                                      test::output_of(DType::kFloat32, Format::kND, {3})}}));
  };
  write("Mul.net_w.4.1.1700000000000004", "net/w");
  write("Mul.net_b_To_net_w.7.1.1700000000000007", "net/b_To_net/w");
  write("Mul.net_c_To_net_w.10.1.1700000000000010", "net/c_To_net/w");
  write("Mul.net_a_To_net_w.2.1.1700000000000002", "net/a_To_net/w");
  const test::ListedDump dump = test::list_dump({scratch.path()}, Headers::kWhereNeeded, 1);
  const std::vector<WatchedOutput> outputs = watched_outputs(dump.index, dump.tensors(), {});
  REQUIRE(outputs.size() == 2);
  CHECK(outputs[1].op_name == "net/w");
  CHECK(std::string(outputs[0].slot) + std::string(outputs[1].slot) == "01");
  std::vector<std::string> after;
  for (const auto& one : outputs[0].snapshots) after.emplace_back(one.after);
  CHECK(after == std::vector<std::string>{"net/a", "", "net/b", "net/c"});

  const WatcherFiles files = watcher_files(dump.index);
  CHECK(files.operators == std::set<std::string_view>{"net_w"});
  CHECK(files.snapshots == 3);
}

}  // namespace msdump
