// The names and numbers of the files are those of ge runtime/v1/common/dump/data_dumper.cc (BuildTaskInfoForDumpOutput):
// the copy of the watched operator's task, with the name "LAYER_To_WATCHED" and the task and stream of LAYER.
#include "check/watch/memory_stomp.h"

#include "support/dump_builder.h"
#include "support/ge_builder.h"

#include "small_dump.h"

namespace msdump::check {
namespace {

std::string raw_floats(const std::vector<float>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(float)};
}

// A watcher dump in one folder of a GE dump.
struct WatcherDump {
  // `after` empty: the output of the operator itself.
  void add(std::string_view after, std::string_view op, int time, const std::string& bytes, test::Dims shape = {}) {
    const std::string name = after.empty() ? std::string(op) : fmt::format("{}_To_{}", after, op);
    if (shape.empty()) shape = {bytes.size() / 4};
    test::TensorSpec tensor = test::output_of(DType::kFloat32, Format::kND, shape);
    tensor.data = bytes;
    scratch.write(
        fmt::format("20260801120000/0/ge_default/1/{}/AddN.{}.{}.1.{}", step, name, time, 1700000000000000 + time),
        test::build_dump({.op_name = name, .tensors = {tensor}}));
  }
  [[nodiscard]] Checked checked() const { return Checked(scratch.path()); }
  [[nodiscard]] Lines messages() const {
    Lines lines;
    const Checked run = checked();
    for (const Finding* const finding : run.of("memory_stomp"))
      lines.push_back(fmt::format("{}: {}", name_of(finding->severity), finding->message));
    return lines;
  }

  test::ScratchDir scratch;
  int step = 0;
};

const std::string kFirst = raw_floats({1, 2, 3, 4, 5, 6, 7, 8});

// Of the first eight floats, `count` from `at` on are others.
std::string changed(size_t at, const std::string& to) { return std::string(kFirst).replace(at * 4, to.size(), to); }

}  // namespace

TEST_CASE("an output that stays as it was written is no finding, and its snapshots are counted") {
  WatcherDump dump;
  dump.add("", "add_n", 1, kFirst);
  dump.add("Less", "add_n", 2, kFirst);
  dump.add("pow", "add_n", 3, kFirst);
  const Checked checked = dump.checked();
  CHECK(checked.findings().empty());
  const WatchedCounts& counts = checked.report().watched;
  CHECK(counts.outputs == 1);
  CHECK(counts.compared == 2);
  CHECK(counts.changed + counts.before + counts.not_compared == 0);
}

TEST_CASE("the operator after which an output has other bytes is told, with the place and the number") {
  WatcherDump dump;
  dump.add("", "add_n", 1, kFirst, {4, 2});
  dump.add("Less", "add_n", 2, kFirst, {4, 2});
  dump.add("pow", "add_n", 3, changed(3, raw_floats({9})), {4, 2});
  dump.add("mul", "add_n", 4, changed(3, raw_floats({9})), {4, 2});
  CHECK(dump.messages() == Lines{"warning: output 0 of add_n changed after pow (not yet after Less): 1 of 8 elements, "
                                 "bytes 12-15 of 32, rows 1 of 4"});
  const Checked checked = dump.checked();
  const Finding finding = checked.only("memory_stomp");
  CHECK(checked.dump().record(finding.tensor).name.op_name == "pow_To_add_n");
  CHECK(std::get<uint64_t>(finding.value.storage()) == 1);
  CHECK(checked.report().watched.compared == 3);
  CHECK(checked.report().watched.changed == 1);
}

TEST_CASE("what memory held before the operator ran is not compared, and not judged") {
  WatcherDump dump;
  dump.add("early", "add_n", 1, raw_floats({kNan, kNan, kInf, 0, 0, 0, 0, 0}));
  dump.add("", "add_n", 2, kFirst);
  dump.add("Less", "add_n", 3, kFirst);
  const Checked checked = dump.checked();
  CHECK(checked.findings().empty());
  CHECK(checked.first_op().empty());
  CHECK(checked.report().watched.before == 1);
  CHECK(checked.report().watched.compared == 1);
  CHECK(Checked(dump.scratch.path(), RuleSet::defaults(), true).first_op().empty());
}

TEST_CASE("each run of the operator begins anew, and so does each step") {
  WatcherDump dump;
  for (dump.step = 0; dump.step < 2; ++dump.step) {
    dump.add("", "add_n", 1 + 10 * dump.step, raw_floats({1, 1.0F + static_cast<float>(dump.step)}));
    dump.add("Less", "add_n", 2 + 10 * dump.step, raw_floats({1, 1.0F + static_cast<float>(dump.step)}));
  }
  dump.step = 0;
  dump.add("", "add_n", 5, raw_floats({3, 4}));
  dump.add("Less", "add_n", 6, raw_floats({3, 4}));
  CHECK(dump.messages().empty());
  CHECK(dump.checked().report().watched.compared == 3);
}

TEST_CASE("later changes are told up to a number, then counted") {
  WatcherDump dump;
  dump.add("", "add_n", 1, kFirst);
  for (int i = 0; i < 11; ++i)
    dump.add(fmt::format("op{}", i), "add_n", 2 + i, changed(0, raw_floats({100.0F + static_cast<float>(i)})));
  const Lines messages = dump.messages();
  REQUIRE(messages.size() == kChangesReported + 1);
  CHECK(messages[1].find("output 0 of add_n changed again after op1 (not yet after op0): 1 of 8") != std::string::npos);
  CHECK(messages.back() == "warning: output 0 of add_n: 3 more changes, the last after op10");
}

TEST_CASE("the new bytes are told if they repeat a pattern") {
  const auto message = [](const std::string& bytes) {
    WatcherDump dump;
    dump.add("", "add_n", 1, kFirst);
    dump.add("pow", "add_n", 2, bytes);
    return dump.messages().at(0);
  };
  CHECK(message(changed(2, std::string(16, '\0'))) ==
        "warning: output 0 of add_n changed after pow: 4 of 8 elements, bytes 8-23 of 32; the new bytes are zeros");
  CHECK(message(changed(2, raw_floats({1, 1, 1, 1}))).ends_with("the new bytes are a repetition of 0000803f"));
}

TEST_CASE("the new bytes are told if another tensor has them") {
  WatcherDump dump;
  const std::string values = raw_floats({11, 12, 13, 14, 15, 16, 17, 18});
  dump.add("", "add_n", 1, kFirst);
  dump.add("", "mul", 2, values);
  dump.add("pow", "add_n", 3, changed(2, values.substr(4, 20)));
  dump.add("pow", "mul", 3, values);
  CHECK(dump.messages() == Lines{"warning: output 0 of add_n changed after pow: 5 of 8 elements, bytes 8-27 of 32; the "
                                 "new bytes are those of output 0 of mul, from byte 4 on"});
}

TEST_CASE("an output of the operator that lies beside the dump comes first") {
  WatcherDump dump;
  const std::string values = raw_floats({11, 12, 13, 14, 15, 16, 17, 18});
  dump.add("", "add_n", 1, kFirst);
  dump.add("pow", "add_n", 3, values);
  test::TensorSpec tensor = test::output_of(DType::kFloat32, Format::kND, {8});
  tensor.data = values;
  dump.scratch.write("20260801130000/0/ge_default/1/0/Pow.pow.3.1.1700000000000103",
                     test::build_dump({.op_name = "pow", .tensors = {tensor}}));
  CHECK(dump.messages() == Lines{"warning: output 0 of add_n changed after pow: 8 of 8 elements, bytes 0-31 of 32; "
                                 "the new bytes are those of output 0 of pow"});
}

TEST_CASE("bytes come from the same step, or from a file that says none") {
  const auto ends_with_origin = [](std::string_view file) {
    WatcherDump dump;
    const std::string values = raw_floats({11, 12, 13, 14, 15, 16, 17, 18});
    dump.add("", "add_n", 1, kFirst);
    dump.add("pow", "add_n", 3, values);
    test::TensorSpec tensor = test::output_of(DType::kFloat32, Format::kND, {8});
    tensor.data = values;
    dump.scratch.write(std::string(file), test::build_dump({.op_name = "pow", .tensors = {tensor}}));
    return dump.messages().at(0).ends_with("those of output 0 of pow");
  };
  CHECK(ends_with_origin("Pow.pow.3.1.1700000000000103"));
  CHECK(ends_with_origin("20260801130000/0/ge_default/1/0/Pow.pow.3.1.1700000000000103"));
  CHECK_FALSE(ends_with_origin("20260801130000/0/ge_default/1/7/Pow.pow.3.1.1700000000000103"));
}

TEST_CASE("several pieces are told, and where the bytes of the largest come from") {
  WatcherDump dump;
  const std::string zeros(4000, '\0');
  std::string bytes = zeros;
  for (const size_t at : {size_t{0}, size_t{400}, size_t{800}, size_t{2000}}) bytes.replace(at, 4, "abcd");
  bytes.replace(1200, 32, std::string(32, 'x'));
  dump.add("", "add_n", 1, zeros);
  dump.add("pow", "add_n", 2, bytes);
  CHECK(dump.messages() ==
        Lines{"warning: output 0 of add_n changed after pow: 12 of 1000 elements, bytes 0-3, 400-403, "
              "800-803, .. of 4000; the new bytes at 1200-1231 are a repetition of 78"});
}

TEST_CASE("a snapshot of another size is counted and not compared") {
  WatcherDump dump;
  dump.add("", "hcom", 1, kFirst);
  dump.add("Less", "hcom", 2, kFirst + kFirst);
  dump.add("pow", "hcom", 3, kFirst + kFirst);
  const Checked checked = dump.checked();
  CHECK(checked.of("memory_stomp").empty());
  CHECK(checked.report().watched.not_compared == 1);
  CHECK(checked.report().watched.compared == 1);
}

TEST_CASE("padding after the elements is not compared") {
  WatcherDump dump;
  dump.add("", "add_n", 1, kFirst + "abcd", {8});
  dump.add("pow", "add_n", 2, kFirst + "efgh", {8});
  CHECK(dump.messages().empty());
  CHECK(dump.checked().report().watched.compared == 1);
}

TEST_CASE("with a graph, a change matters if an operator reads the output later") {
  test::GeDesc desc;
  desc.shape = {8};
  const test::GeNet net{"ge_default",
                        {{"x", "Data", {}, {}, {}, {desc}, {}, {}},
                         {"add_n", "AddN", {"x:0"}, {}, {desc}, {desc}, {}, {}},
                         {"Less", "Less", {"x:0"}, {}, {desc}, {desc}, {}, {}},
                         {"reader", "Mul", {"add_n:0", "Less:0"}, {}, {desc, desc}, {desc}, {}, {}},
                         {"pow", "Pow", {"reader:0"}, {}, {desc}, {desc}, {}, {}},
                         {"out", "NetOutput", {"pow:0"}, {}, {desc}, {}, {}, {}}}};
  const auto lines = [&](std::string_view stomper) {
    WatcherDump dump;
    std::string bytes = kFirst;
    dump.add("", "add_n", 1, bytes);
    int time = 2;
    for (const char* const op : {"Less", "reader", "pow"}) {
      if (op == stomper) bytes = changed(1, raw_floats({50}));
      dump.add(op, "add_n", time++, bytes);
    }
    dump.scratch.write("ge_proto_00000001_graph_0_Build.txt", test::ge_proto_text({net}));
    const Checked run = dump.checked();
    Lines all = run.reported();
    for (const Finding& finding : run.findings())
      all.push_back(finding.message.substr(finding.message.find("of 32") + 5));
    return all;
  };
  CHECK(lines("Less") == Lines{"memory_stomp error Less_To_add_n output 0", "; reader reads it after that"});
  const std::string past = "; all operators that read it have run, its memory may be another output's by then";
  CHECK(lines("reader") == Lines{"memory_stomp note reader_To_add_n output 0", past});
  CHECK(lines("pow") == Lines{"memory_stomp note pow_To_add_n output 0", past});
}

TEST_CASE("a snapshot that cannot be read is a failure, and the others are compared") {
  WatcherDump dump;
  dump.add("", "add_n", 1, kFirst);
  dump.add("Less", "add_n", 2, kFirst);
  dump.add("mul", "add_n", 4, changed(0, raw_floats({50})));
  dump.scratch.write(
      "20260801120000/0/ge_default/1/0/AddN.pow_To_add_n.3.1.1700000000000003",
      test::build_dump({.op_name = "pow_To_add_n", .tensors = {test::output_of(DType::kFloat32, Format::kND, {8})}})
          .substr(0, 40));
  CHECK(dump.messages() == Lines{"warning: output 0 of add_n changed after mul (not yet after Less): 1 of 8 elements, "
                                 "bytes 0-3 of 32"});
}

}  // namespace msdump::check
