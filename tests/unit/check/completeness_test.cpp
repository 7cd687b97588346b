#include "check/tree/completeness.h"

#include <filesystem>
#include <set>
#include <string>

#include "small_dump.h"

namespace msdump::check {

namespace fs = std::filesystem;

namespace {

// Mul-op0 -> Mul-op1 -> .. , a chain of so many.
std::string chain(int count) {
  std::string body;
  for (int i = 0; i < count; ++i) {
    body += test::node_text(fmt::format("%{}", i + 1), "Mul", i == 0 ? "%para1_x" : fmt::format("%{}", i),
                            fmt::format("Default/Mul-op{}", i));
  }
  return test::ir_text(body);
}

void write_op(const test::ScratchDir& scratch, int op, int64_t step = 0, int64_t rank = 0) {
  const std::string name = fmt::format("Default/Mul-op{}", op);
  scratch.write(tensor_path(name, op, "input.0", step, rank), floats({1.0F + static_cast<float>(op), 2}));
  scratch.write(tensor_path(name, op, "output.0", step, rank), floats({3.0F + static_cast<float>(op), 2}));
}

std::string data_dump(std::string_view settings) {
  return fmt::format(R"({{"common_dump_settings":{{"dump_mode":0,{}}}}})", settings);
}

}  // namespace

TEST_CASE("a dump that stopped in the middle is recognised by what nothing has read") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir", chain(20));
  for (int op = 0; op < 12; ++op) write_op(scratch, op);
  const Finding& finding = Checked(scratch.path()).only("stopped");
  CHECK(finding.severity == Severity::kWarning);
  CHECK(
      finding.message ==
      "8 of 20 operators have no tensor, and nothing that was dumped has read them: from Default/Mul-op12 on; the last "
      "one dumped is Default/Mul-op11");
}

TEST_CASE("operators without a file between others are a note: a Reshape has no kernel") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir", chain(20));
  for (int op = 0; op < 20; ++op) {
    if (op % 4 != 1) write_op(scratch, op);
  }
  const Checked checked(scratch.path());
  CHECK(checked.reported() == std::vector<std::string>{"missing_files note"});
  CHECK(checked.findings().front().message ==
        "5 of 20 operators without a tensor: Default/Mul-op1, Default/Mul-op5, Default/Mul-op9, ..");
}

TEST_CASE("dump_mode 1 leaves operators out on purpose") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir", chain(20));
  scratch.write("rank_0/.dump_metadata/data_dump.json",
                R"({"common_dump_settings":{"dump_mode":1,"iteration":"0","kernels":["Mul"]}})");
  for (int op = 0; op < 3; ++op) write_op(scratch, op);
  CHECK(Checked(scratch.path()).reported() == std::vector<std::string>{"partial_dump note"});
}

TEST_CASE("without an IR the execution order says that the run ended") {
  const test::ScratchDir scratch;
  std::string order = "NodeExecutionOrder-FullNameWithScope\n";
  for (int op = 0; op < 20; ++op) order += fmt::format("Default/Mul-op{}\n", op + 7);  // other numbers in the files
  scratch.write("rank_0/execution_order/ms_execution_order_graph_0.csv", order);
  for (int op = 0; op < 12; ++op) write_op(scratch, op);
  CHECK(std::get<uint64_t>(Checked(scratch.path()).only("stopped").value.storage()) == 8);
}

TEST_CASE("a configuration and an execution order that cannot be read are failures, and are not believed") {
  const test::ScratchDir scratch;
  for (int op = 0; op < 3; ++op) write_op(scratch, op);
  const std::string settings = "rank_0/.dump_metadata/data_dump.json";
  const std::string operators = "rank_0/execution_order/ms_execution_order_graph_0.csv";
  const std::string steps = "rank_0/execution_order/ms_global_execution_order_graph_0.csv";
  scratch.write(settings, R"({"common_dump_settings":{"iteration":"all",)");
  scratch.write("rank_0/notes.json", "{");  // not msdump's business
  scratch.write(operators, "NodeExecutionOrder-FullNameWithScope\n" + std::string(size_t{2} << 20, 'x') + "\n");
  scratch.write(steps, "0\n" + std::string(size_t{2} << 20, '7') + "\n9\n");
  const Checked checked(scratch.path());
  std::set<std::string> unread;
  for (const Error& error : checked.report().failures) unread.insert(error.path);
  CHECK(unread == std::set{scratch.file(settings), scratch.file(operators), scratch.file(steps)});
  CHECK(checked.of("unreadable").size() == 3);
  CHECK(checked.of("missing_step").empty());
}

TEST_CASE("a later step that ends before the others did has stopped") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir", chain(6));
  for (int64_t step = 0; step < 3; ++step) {
    for (int op = 0; op < (step == 2 ? 4 : 6); ++op) write_op(scratch, op, step);
  }
  const Finding& finding = Checked(scratch.path()).only("stopped");
  CHECK(finding.step == 2);
  CHECK(finding.message ==
        "2 operators that other steps have are not here: Default/Mul-op4, Default/Mul-op5; the last one dumped is "
        "Default/Mul-op3");
}

TEST_CASE("files that one step lost are an incomplete step") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir", chain(6));
  for (int64_t step = 0; step < 3; ++step) {
    for (int op = 0; op < 6; ++op) {
      if (step != 1 || op != 2) write_op(scratch, op, step);
    }
  }
  const Finding& finding = Checked(scratch.path()).only("incomplete_step");
  CHECK(finding.step == 1);
  CHECK(finding.severity == Severity::kWarning);
}

TEST_CASE("a rank without a step of the others, and a step that ran and is not there, are missing") {
  const test::ScratchDir ranks, ran;
  for (const int64_t rank : {0, 1}) {
    for (const int64_t step : {0, 1}) {
      if (rank == 0 || step == 0) write_op(ranks, 0, step, rank);
    }
  }
  CHECK(Checked(ranks.path()).only("missing_step").message == "rank 1 lacks step 1, which other ranks have");
  write_op(ran, 0, 0);
  ran.write("rank_0/.dump_metadata/data_dump.json", data_dump(R"("iteration":"0|2-3")"));
  ran.write("rank_0/execution_order/ms_global_execution_order_graph_0.csv", "0\n1\n2\n3\n4\n");
  CHECK(Checked(ran.path()).only("missing_step").message ==
        "not there, although run and to be dumped (iteration \"0|2-3\"): steps 2, 3");
}

TEST_CASE("cut and empty files are errors, with what probably happened") {
  const test::ScratchDir scratch;
  for (int op = 0; op < 3; ++op) write_op(scratch, op);
  const std::string path = tensor_path("Default/Mul-op1", 1, "output.0");
  const std::string whole = scratch.read(path);
  scratch.write(path, whole.substr(0, whole.size() - 4));
  namespace fs = std::filesystem;
  fs::last_write_time(scratch.file(path), fs::file_time_type::clock::now() + std::chrono::seconds(5));
  const Checked checked(scratch.path());
  const Finding& cut = checked.only("unreadable");
  CHECK(cut.severity == Severity::kError);
  CHECK(cut.hint == "it is the last file that was written: the process ended, or the disk was full");
  CHECK(checked.only("unreadable").path == path);
  // The empty file is reported once.
  scratch.write(path, "");
  const Checked empty(scratch.path());
  CHECK(empty.of("unreadable").size() + empty.of("empty_file").size() == 1);
}

TEST_CASE("tensors that the IR does not explain are a note") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir", chain(3));
  for (int op = 0; op < 3; ++op) write_op(scratch, op);
  scratch.write(tensor_path("Default/Foo-op9", 9, "output.0"), floats({1, 2}));
  const Finding& finding = Checked(scratch.path()).only("unexplained_files");
  CHECK(finding.severity == Severity::kNote);
  CHECK(finding.message.find("Default_Foo-op9") != std::string::npos);
}

TEST_CASE("msprobe that was not stopped leaves tensors without entries") {
  const test::ScratchDir scratch;
  scratch.write("step7/rank3/dump.json",
                R"({"task":"tensor","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{}})");
  scratch.write("step7/rank3/dump_tensor_data/Functional.relu.0.forward.output.0.npy", floats({1, 2}));
  const Finding& finding = Checked(scratch.path()).only("stopped");
  CHECK(finding.path == "step7/rank3/dump.json");
  CHECK(finding.step == 7);
  CHECK(finding.rank == 3);
  CHECK(finding.message == "dump.json has no entries beside 1 tensor: the process ended before stop()");
}

TEST_CASE("an operator without its output, or without an input that the IR has, lost a file") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir", chain(6));
  for (int op = 0; op < 6; ++op) write_op(scratch, op);
  fs::remove(scratch.path() / tensor_path("Default/Mul-op2", 2, "output.0"));
  fs::remove(scratch.path() / tensor_path("Default/Mul-op4", 4, "input.0"));
  const Finding finding = Checked(scratch.path()).only("missing_slots");
  CHECK(finding.severity == Severity::kWarning);
  CHECK(finding.message ==
        "2 operators without a tensor that others have: Default/Mul-op2 (no output), Default/Mul-op4 (input 0)");
  CHECK(finding.path == "rank_0/Net/0/0");
}

TEST_CASE("where inputs or outputs were left out on purpose no slot is missing") {
  for (const char* const slot : {"input.0", "output.0"}) {
    const test::ScratchDir scratch;
    scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir", chain(6));
    for (int op = 0; op < 6; ++op) {
      write_op(scratch, op);
      fs::remove(scratch.path() / tensor_path(fmt::format("Default/Mul-op{}", op), op, slot));
    }
    INFO(slot);
    CHECK(Checked(scratch.path()).of("missing_slots").empty());
  }
}

TEST_CASE("branches and loops are not asked for the inputs that cross from one graph to another") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir", chain(6));
  for (int op = 0; op < 6; ++op) write_op(scratch, op);
  fs::remove(scratch.path() / tensor_path("Default/Mul-op4", 4, "input.0"));
  scratch.write("rank_0/Net/1/0/Neg.Default_Neg-op0.0.0.1700000000000099.output.0.DefaultFormat.npy", floats({1, 2}));
  CHECK(Checked(scratch.path()).of("missing_slots").empty());
}

TEST_CASE("a folder with notes only is not a step that lacks operators") {
  const test::ScratchDir scratch;
  for (int64_t step = 0; step < 3; ++step) write_op(scratch, 0, step);
  scratch.write("rank_0/Net/0/3/notes.txt", "looked at this one");
  CHECK(Checked(scratch.path()).reported().empty());
}

TEST_CASE("a table without rows is a step without tensors") {
  const test::ScratchDir scratch;
  const std::string header =
      "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value\n";
  for (int64_t step = 0; step < 3; ++step) {
    const std::string row = "Mul,Default_Mul-op1,0,0,1700000000000001,output,0,8,float32,\"(2)\",1\n";
    scratch.write(fmt::format("rank_0/Net/0/{}/statistic.csv", step), step == 1 ? header : header + row);
  }
  const Finding finding = Checked(scratch.path()).only("incomplete_step");
  CHECK(finding.step == 1);
  CHECK(finding.severity == Severity::kWarning);
  CHECK(finding.message == "1 operator that other steps have is not here: Default_Mul-op1");
}

TEST_CASE("a rank with folders and no tensor is missing") {
  const test::ScratchDir scratch;
  write_op(scratch, 0);
  scratch.write("rank_1/graphs/ms_output_trace_code_graph_0.ir", chain(1));
  const Finding finding = Checked(scratch.path()).only("missing_step");
  CHECK(finding.rank == 1);
  CHECK(finding.message == "rank 1 has no tensor; others have");
}

TEST_CASE("files that dump.json names and that are not there are missing, though statistics stand in for them") {
  const test::ScratchDir scratch;
  const std::string leaf = R"({"type":"torch.Tensor","dtype":"torch.float32","shape":[2],"Max":1,"Min":0,"Mean":0.5,)"
                           R"("Norm":1,"requires_grad":false,"data_name":"Functional.relu.0.forward.output.0.npy"})";
  scratch.write(
      "step0/rank0/dump.json",
      R"({"task":"tensor","level":"L1","framework":"pytorch","dump_data_dir":"d","data":{"Functional.relu.0.forward":)"
      R"({"input_args":[],"input_kwargs":{},"output":[)" +
          leaf + "]}}}");
  const Finding finding = Checked(scratch.path()).only("missing_files");
  CHECK(finding.message == "files of 1 tensor that dump.json names are not there: Functional.relu.0.forward");
  CHECK(finding.severity == Severity::kWarning);  // an operator without a kernel would be a note
  scratch.write("step0/rank0/dump_tensor_data/Functional.relu.0.forward.output.0.npy", floats({1, 2}));
  CHECK(Checked(scratch.path()).of("missing_files").empty());
}

TEST_CASE("a run that goes on after the gap has not stopped there") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir", chain(6));
  for (int64_t step = 0; step < 3; ++step) {
    for (int op = 0; op < (step == 1 ? 4 : 6); ++op) write_op(scratch, op, step);
  }
  const Checked checked(scratch.path());
  CHECK(checked.of("stopped").empty());
  CHECK(checked.only("incomplete_step").severity == Severity::kWarning);
}

TEST_CASE("an unreadable file has the identity that its name says, and its operator") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir", chain(2));
  write_op(scratch, 0);
  scratch.write(tensor_path("Default/Mul-op1", 1, "output.0"), floats({1, 2}).substr(0, 130));
  const Checked checked(scratch.path());
  const Finding finding = checked.only("unreadable");
  REQUIRE(finding.op != kNoId);
  CHECK(checked.dump().operators()[finding.op].name == "Default/Mul-op1");
  CHECK(finding.step == 0);
  CHECK(finding.file != kNoId);
}

TEST_CASE("a text where a number belongs makes the row unreadable") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/Net/0/0/statistic.csv",
                "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value\n"
                "Mul,Default_Mul-op1,0,0,1700000000000001,output,0,8,float32,\"(2)\",foo,1\n"
                "Mul,Default_Mul-op2,0,0,1700000000000002,output,0,8,float32,\"(2)\",null,1\n");
  const Finding finding = Checked(scratch.path()).only("unreadable");
  CHECK(finding.message == "Default_Mul-op1 output 0: 'foo' is not a number");
}

TEST_CASE("inputs that a graph with dynamic shapes does not dump are not missing") {
  for (const bool dynamic : {false, true}) {
    const test::ScratchDir scratch;
    std::string ir = test::ir_text(test::node_text("%1", "Mul", "%para1_x", "Default/Mul-op1") +
                                   test::node_text("%2", "Mul", "%1", "Default/Mul-op2") +
                                   test::node_text("%3", "Reshape", "%2, %1", "Default/Reshape-op3"));
    if (dynamic) ir.replace(ir.find("(2, 2)>) -> ("), 6, "(-1, 2)");
    scratch.write("rank_0/graphs/ms_output_trace_code_graph_0.ir", ir);
    for (int number = 1; number <= 3; ++number) {
      const std::string name = fmt::format("Default/{}-op{}", number == 3 ? "Reshape" : "Mul", number);
      scratch.write(tensor_path(name, number, "input.0"), floats({1, 2}));
      scratch.write(tensor_path(name, number, "output.0"), floats({1, 2}));
    }
    CHECK(Checked(scratch.path()).of("missing_slots").size() == (dynamic ? 0 : 1));
  }
}

TEST_CASE("execution orders of random bytes are failures, not orders of no operators") {
  const test::ScratchDir scratch;
  write_op(scratch, 0);
  const std::string bytes("\x93\x00\n\x01\xFF\n", 6);
  const std::string folder = "rank_0/execution_order/";
  scratch.write(folder + "ms_execution_order_graph_0.csv", bytes);
  scratch.write(folder + "ms_global_execution_order_graph_0.csv", bytes);
  const Checked checked(scratch.path());
  CHECK(checked.of("unreadable").size() == 2);
  REQUIRE(checked.report().failures.size() == 2);
  CHECK(checked.report().failures[0].message == "binary, not the text that its name promises");
}

}  // namespace msdump::check
