// Where the findings about what is missing begin and end, and what is missing on purpose.
#include "check/tree/completeness.h"

#include <filesystem>

#include "small_dump.h"

namespace msdump::check {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigPath = "rank_0/.dump_metadata/data_dump.json";

// Mul-op0 -> Mul-op1 -> .. , a chain of so many.
std::string row_of(int count) {
  std::string body;
  for (int i = 0; i < count; ++i) {
    body += test::node_text(fmt::format("%{}", i + 1), "Mul", i == 0 ? "%para1_x" : fmt::format("%{}", i),
                            fmt::format("Default/Mul-op{}", i));
  }
  return test::ir_text(body);
}

void put(const test::ScratchDir& scratch, int op, int64_t step = 0, int64_t rank = 0) {
  const std::string name = fmt::format("Default/Mul-op{}", op);
  scratch.write(tensor_path(name, op, "input.0", step, rank), floats({1.0F + static_cast<float>(op), 2}));
  scratch.write(tensor_path(name, op, "output.0", step, rank), floats({3.0F + static_cast<float>(op), 2}));
}

// A chain with an IR, of which these operators were dumped.
std::vector<std::string> reported_of_chain(int count, const std::function<bool(int)>& dumped,
                                           std::string_view settings = {}) {
  const test::ScratchDir scratch;
  scratch.write(kIrPath, row_of(count));
  if (!settings.empty()) scratch.write(kConfigPath, fmt::format(R"({{"common_dump_settings":{{{}}}}})", settings));
  for (int op = 0; op < count; ++op) {
    if (dumped(op)) put(scratch, op);
  }
  return Checked(scratch.path()).reported();
}

// Two graphs of one rank and four steps, each of some operators that a step may leave out.
Severity severity_of_branch(int operators, int missing) {
  const test::ScratchDir scratch;
  for (int64_t step = 0; step < 4; ++step) {
    for (int op = 0; op < operators; ++op) {
      if (step == 1 && op < missing) continue;
      put(scratch, op, step);
    }
    scratch.write(
        fmt::format("rank_0/Net/1/{}/Neg.Default_Neg-op0.0.0.1700000000000099.output.0.DefaultFormat.npy", step),
        floats({1, 2}));
  }
  return Checked(scratch.path()).only("incomplete_step").severity;
}

}  // namespace

TEST_CASE("a dump has stopped from four operators after its end on") {
  CHECK(reported_of_chain(20, [](int op) { return op < 16; }) == std::vector<std::string>{"stopped warning"});
  CHECK(reported_of_chain(20, [](int op) { return op < 17; }) == std::vector<std::string>{"missing_files note"});
  CHECK(reported_of_chain(20, [](int op) { return op < 1; }) == std::vector<std::string>{"stopped warning"});
}

TEST_CASE("a tail that is short beside the graph, or one after many gaps, is not an end") {
  CHECK(reported_of_chain(201, [](int op) { return op < 197; }) == std::vector<std::string>{"missing_files note"});
  CHECK(reported_of_chain(200, [](int op) { return op < 196; }) == std::vector<std::string>{"stopped warning"});
  CHECK(reported_of_chain(20, [](int op) { return op < 14 && op % 4 != 1; }) ==
        std::vector<std::string>{"missing_files note"});
}

TEST_CASE("where dump_mode 0 is known a fifth of the operators missing is a warning") {
  const auto every = [](int nth) { return [nth](int op) { return op % nth != 1; }; };
  constexpr std::string_view kAll = R"("dump_mode":0,"iteration":"0")";
  CHECK(reported_of_chain(20, every(5), kAll) == std::vector<std::string>{"missing_files warning"});
  CHECK(reported_of_chain(20, every(6), kAll) == std::vector<std::string>{"missing_files warning"});
  CHECK(reported_of_chain(21, every(7), kAll) == std::vector<std::string>{"missing_files note"});
  CHECK(reported_of_chain(20, every(5)) == std::vector<std::string>{"missing_files note"});
}

TEST_CASE("dump_mode 2 is a part of the dump, and so is a debug mode") {
  CHECK(reported_of_chain(
            20, [](int op) { return op < 4; }, R"("dump_mode":2,"iteration":"0")") ==
        std::vector<std::string>{"partial_dump note"});
}

TEST_CASE("two operators of a name are two, of which one may be missing") {
  const test::ScratchDir scratch;
  std::string order = "NodeExecutionOrder-FullNameWithScope\n";
  for (int op = 0; op < 8; ++op) order += fmt::format("Default/Mul-op{}\n", op);
  for (int op = 0; op < 4; ++op) order += fmt::format("Default/Neg-op{}\n", op);
  scratch.write("rank_0/execution_order/ms_execution_order_graph_0.csv", order);
  for (int op = 0; op < 8; ++op) {
    if (op != 3) put(scratch, op);
  }
  for (int op = 0; op < 4; ++op)
    scratch.write(tensor_path(fmt::format("Default/Neg-op{}", op), 50 + op, "output.0"), floats({1, 2}));
  const Finding finding = Checked(scratch.path()).only("missing_files");
  CHECK(finding.message == "1 of 12 operators without a tensor: Default/Mul-op7");
}

TEST_CASE("what two of three steps have the third should have; of two steps nobody knows which is right") {
  const auto reported = [](std::initializer_list<int> with, int steps) {
    const test::ScratchDir scratch;
    for (int step = 0; step < steps; ++step) {
      for (int op = 0; op < 3; ++op) put(scratch, op, step);
      if (std::find(with.begin(), with.end(), step) != with.end()) put(scratch, 3, step);
    }
    return Checked(scratch.path()).reported();
  };
  CHECK(reported({0, 2}, 3) == std::vector<std::string>{"incomplete_step warning"});
  // Half of the others: a branch.
  CHECK(reported({0, 2}, 5).empty());
  CHECK(reported({1}, 2).empty());
}

TEST_CASE("one operator that the last step lacks is not an end") {
  const test::ScratchDir scratch;
  for (int64_t step = 0; step < 3; ++step) {
    for (int op = 0; op < (step == 2 ? 5 : 6); ++op) put(scratch, op, step);
  }
  CHECK(Checked(scratch.path()).reported() == std::vector<std::string>{"incomplete_step warning"});
}

TEST_CASE("where a rank has several graphs a tenth of a graph may be a branch not taken") {
  CHECK(severity_of_branch(12, 1) == Severity::kNote);
  CHECK(severity_of_branch(12, 2) == Severity::kWarning);
  CHECK(severity_of_branch(11, 1) == Severity::kWarning);
}

TEST_CASE("a script that calls a function less often in one step is a note") {
  const test::ScratchDir scratch;
  for (int step = 0; step < 4; ++step) {
    for (const char* const name : {"mul", "neg", "relu"}) {
      if (step == 2 && std::string_view(name) == "neg") continue;
      scratch.write(fmt::format("step{}/rank0/dump_tensor_data/Functional.{}.0.forward.output.0.npy", step, name),
                    floats({1, static_cast<float>(step)}));
    }
  }
  CHECK(Checked(scratch.path()).only("incomplete_step").severity == Severity::kNote);
}

TEST_CASE("the first of two steps may lack something, unless it is one compiled graph") {
  const auto reported = [](bool compiled) {
    const test::ScratchDir scratch;
    if (compiled) scratch.write(kIrPath, row_of(6));
    for (int64_t step = 0; step < 2; ++step) {
      for (int op = 0; op < 6; ++op) {
        if (step == 1 || op != 2) put(scratch, op, step);
      }
    }
    return Checked(scratch.path()).reported();
  };
  CHECK(reported(false).empty());
  CHECK(reported(true) == std::vector<std::string>{"incomplete_step warning"});
}

TEST_CASE("a step with fewer files is reported once, by what is missing") {
  const test::ScratchDir scratch;
  scratch.write(kIrPath, row_of(6));
  for (int64_t step = 0; step < 3; ++step) {
    for (int op = 0; op < 6; ++op) put(scratch, op, step);
  }
  fs::remove(scratch.path() / tensor_path("Default/Mul-op2", 2, "output.0", 1));
  CHECK(Checked(scratch.path()).reported() == std::vector<std::string>{"missing_slots warning"});
}

TEST_CASE("where an operator runs several times in a step a smaller number of files is a note") {
  const auto severity = [](int times) {
    const test::ScratchDir scratch;
    for (int64_t step = 0; step < 3; ++step) {
      for (int i = 0; i < (step == 1 ? times - 1 : times); ++i)
        scratch.write(tensor_path("Default/Mul-op1", 10 + i, "output.0", step), floats({1, 2}));
    }
    return Checked(scratch.path()).only("incomplete_step").severity;
  };
  CHECK(severity(3) == Severity::kNote);
}

TEST_CASE("without any tensor no rank is missing") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir", row_of(1));
  scratch.write("rank_1/graphs/ms_output_trace_code_graph_0.ir", row_of(1));
  CHECK(Checked(scratch.path()).of("missing_step").empty());
}

TEST_CASE("steps that ran are missed where all were to be dumped, and some were") {
  const auto reported = [](std::string_view settings, bool with_tensor = true) {
    const test::ScratchDir scratch;
    if (with_tensor) put(scratch, 0, 0);
    if (!with_tensor) put(scratch, 0, 0, 1);
    scratch.write(kConfigPath, fmt::format(R"({{"common_dump_settings":{{"dump_mode":0,{}}}}})", settings));
    scratch.write("rank_0/execution_order/ms_global_execution_order_graph_0.csv", "0\n1\n2\n");
    Lines messages;
    const Checked checked(scratch.path());
    for (const Finding* const finding : checked.of("missing_step")) messages.push_back(finding->message);
    return messages;
  };
  CHECK(reported(R"("iteration":"all")") ==
        Lines{"not there, although run and to be dumped (iteration \"all\"): steps 1, 2"});
  CHECK(reported(R"("iteration":0)") ==
        Lines{"not there, although run and to be dumped (iteration \"all\"): steps 1, 2"});
  CHECK(reported(R"("iteration":"0")").empty());
  CHECK(reported(R"("iteration":"all","op_debug_mode":3)").empty());
  CHECK(reported(R"("iteration":"all")", false) == Lines{"rank 0 has no tensor; others have"});
}

TEST_CASE("an output that the kernel never writes is not missing, and what it updates came in") {
  const test::ScratchDir scratch;
  scratch.write(kIrPath, test::ir_text(test::node_text("%1", "Mul", "%para1_x", "Default/Mul-op1") +
                                       test::node_text("%2", "Assign", "%para2_w, %1", "Default/Assign-op2")));
  for (const char* const slot : {"input.0", "output.0"})
    scratch.write(tensor_path("Default/Mul-op1", 1, slot), floats({1, 2}));
  scratch.write(tensor_path("Default/Assign-op2", 2, "input.0"), floats({1, 2}));
  scratch.write(tensor_path("Default/Assign-op2", 2, "input.1"), floats({1, 2}));
  scratch.write(tensor_path("Default/Assign-op2", 2, "output.0"), floats({1, 2}));
  CHECK(Checked(scratch.path()).of("missing_slots").empty());
}

TEST_CASE("an operator of which nothing but what it updates is there lacks its output") {
  const test::ScratchDir scratch;
  std::string body;
  for (int op = 1; op < 4; ++op) {
    body += test::node_text(fmt::format("%{}", op), "Mul", op == 1 ? "%para1_x" : fmt::format("%{}", op - 1),
                            fmt::format("Default/Mul-op{}", op));
    put(scratch, op);
  }
  scratch.write(kIrPath, test::ir_text(body + test::node_text("%4", "Assign", "%para2_w, %3", "Default/Assign-op4")));
  scratch.write(tensor_path("Default/Assign-op4", 4, "input.0"), floats({1, 2}));
  CHECK(Checked(scratch.path()).only("missing_slots").message ==
        "1 operator without a tensor that others have: Default/Assign-op4 (no output)");
}

TEST_CASE("functions of a script may return nothing") {
  const test::ScratchDir scratch;
  const std::string folder = "step0/rank0/dump_tensor_data/Functional.";
  for (const char* const name : {"mul", "neg"}) {
    scratch.write(folder + name + ".0.forward.input.0.npy", floats({1, 2}));
    scratch.write(folder + name + ".0.forward.output.0.npy", floats({1, 2}));
  }
  scratch.write(folder + "print.0.forward.input.0.npy", floats({1, 2}));
  CHECK(Checked(scratch.path()).of("missing_slots").empty());
}

TEST_CASE("cut files: the last one written, many of them, and those of a copy") {
  const auto hints = [](int cut, bool newest) {
    const test::ScratchDir scratch;
    for (int op = 0; op < 8; ++op) put(scratch, op);
    const auto now = fs::file_time_type::clock::now();
    for (const auto& entry : fs::recursive_directory_iterator(scratch.path())) {
      if (entry.is_regular_file()) fs::last_write_time(entry.path(), now);
    }
    for (int op = 0; op < cut; ++op) {
      const std::string path = tensor_path(fmt::format("Default/Mul-op{}", op), op, "output.0");
      scratch.write(path, scratch.read(path).substr(0, 130));
      fs::last_write_time(scratch.file(path), newest ? now + std::chrono::seconds(5) : now);
    }
    std::set<std::string> words;
    const Checked checked(scratch.path());
    for (const Finding* const finding : checked.of("unreadable"))
      words.insert(finding->hint.substr(0, finding->hint.find(' ', 8)));
    return words;
  };
  using Words = std::set<std::string>;
  CHECK(hints(3, true) == Words{"it is the"});
  CHECK(hints(2, false) == Words{"it was cut"});
  CHECK(hints(3, false) == Words{"several files"});
}

TEST_CASE("an empty file is reported once, and a raw file against its name") {
  const test::ScratchDir scratch;
  put(scratch, 0);
  put(scratch, 1);
  scratch.write(tensor_path("Default/Mul-op1", 1, "output.0"), "");
  scratch.write("rank_0/Net/0/0/Loss-op1_output_0_shape_4_Float32_DefaultFormat.bin", "12345678901234567890");
  const Checked checked(scratch.path());
  const Finding empty = checked.only("empty_file"), raw = checked.only("size_against_name");
  CHECK(empty.message == "a file without a byte");
  CHECK(empty.severity == Severity::kError);
  CHECK(raw.message == "20 bytes; 4 of float32, as its name says, takes 16");
  CHECK(raw.severity == Severity::kError);
  // Nothing cuts a file so that it becomes longer.
  CHECK(raw.hint.find("ended") == std::string::npos);
}

TEST_CASE("an empty file of which several errors came is reported once") {
  const test::ScratchDir scratch;
  put(scratch, 0);
  const std::string path = tensor_path("Default/Mul-op1", 1, "output.0");
  scratch.write(path, "");
  const Checked checked(scratch.path());
  const std::string whole = (scratch.path() / path).string();
  const std::vector<Error> failures = {make_error(ErrorCode::kTruncated, "no header").with_path(whole),
                                       make_error(ErrorCode::kTruncated, "no data").with_path(whole)};
  const Selection everything;
  std::vector<const Error*> listed;
  for (const Error& failure : failures) listed.push_back(&failure);
  WorkerPool pool(1);
  const CancelToken never;
  const RuleSet rules = RuleSet::defaults();
  RuleContext context(checked.dump(), checked.facts(), rules, {pool, never});
  judge_files(context, {{}, {}, everything, listed, {}});
  REQUIRE(context.findings.size() == 1);
  CHECK(context.findings.front().rule == RuleId::kEmptyFile);
}

TEST_CASE("an exception dump of a CPU holds operators that did not fail") {
  const test::ScratchDir scratch;
  scratch.write(kConfigPath, R"({"common_dump_settings":{"dump_mode":0,"iteration":"all","op_debug_mode":4}})");
  scratch.write("rank_0/.dump_metadata/config.json", R"({"device_target":"CPU","ms_version":"2.5.0"})");
  put(scratch, 0);
  CHECK(Checked(scratch.path()).of("exception").empty());
}

TEST_CASE("a gap in the middle is not an end, however long it is") {
  CHECK(reported_of_chain(20, [](int op) { return op < 5 || op > 9; }) ==
        std::vector<std::string>{"missing_files note"});
}

TEST_CASE("a graph of which the IR explains little is not asked for what the IR has") {
  const test::ScratchDir scratch;
  scratch.write(kIrPath, row_of(8));
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_1.ir",
                test::ir_text(test::node_text("%1", "Neg", "%para1_x", "Default/Neg-op0") +
                              test::node_text("%2", "Tanh", "%1", "Default/Tanh-op1") +
                              test::node_text("%3", "Tanh", "%2", "Default/Tanh-op2")));
  for (int op = 0; op < 8; ++op) put(scratch, op);
  for (const char* const op : {"Neg-op0", "Foo-op1", "Bar-op2", "Baz-op3"}) {
    const std::string name = op;
    scratch.write(fmt::format("rank_0/Net/1/0/{}.Default_{}.0.0.1700000000000050.output.0.DefaultFormat.npy",
                              name.substr(0, 3), name),
                  floats({1, 2}));
  }
  const Checked checked(scratch.path());
  CHECK(checked.of("missing_files").empty());
  CHECK(checked.of("unexplained_files").size() == 1);
}

}  // namespace msdump::check
