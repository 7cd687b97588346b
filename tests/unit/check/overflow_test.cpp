#include "check/values/overflow.h"

#include "small_dump.h"
#include "support/dump_builder.h"

namespace msdump::check {
namespace {

using test::put_u32;
using test::put_u64;

// AI Core of an old record.
std::string old_record(uint64_t task, uint64_t stream, uint64_t status) {
  std::vector<uint64_t> words(256, 0);
  words[256 / 8 + 0] = 514;
  words[256 / 8 + 1] = stream;
  words[256 / 8 + 2] = task;
  words[1024 / 8 + 1] = 1;  // block
  words[1024 / 8 + 2] = status;
  std::string bytes;
  for (const uint64_t word : words) put_u64(bytes, word);
  return bytes;
}

std::string new_record(uint32_t type, uint64_t task, uint64_t stream, uint64_t status) {
  std::string bytes;
  for (const uint32_t head : {0x5A5A5A5AU, 0U, 1U, type, 0U, 88U}) put_u32(bytes, head);
  for (const uint64_t word : {uint64_t{1}, stream, task, uint64_t{0}, uint64_t{65535}, uint64_t{65535},
                              uint64_t{0x1000}, uint64_t{0x2000}, uint64_t{4}, uint64_t{2}, status})
    put_u64(bytes, word);
  bytes.resize(2048, '\0');
  return bytes;
}

std::string opdebug_file(const std::string& record) {
  test::TensorSpec tensor = test::output_of(DType::kUint8, Format::kND, {2048});
  tensor.data = record;
  return test::build_dump({.op_name = "Node_OpDebug", .tensors = {tensor}});
}

std::string op_file(std::string_view op, int task, int stream, int time) {
  return fmt::format("rank_0/Net/0/0/Mul.Default_{}.{}.{}.170000000000000{}", op, task, stream, time);
}

std::string good_file() {
  test::TensorSpec tensor = test::output_of(DType::kFloat32, Format::kND, {2});
  tensor.data.assign("\0\0\x80\x3f\0\0\0\x40", 8);
  return test::build_dump({.op_name = "", .tensors = {tensor}});
}

// Records of one section, as JSON, in a step of a graph.
std::string record_path(int64_t graph, int64_t step, std::string_view name_and_time) {
  return fmt::format("rank_0/Net/{}/{}/Opdebug.Node_OpDebug.{}.output.0.json", graph, step, name_and_time);
}
std::string ai_core(int task, int stream) {
  return fmt::format(R"({{"AI Core":{{"status":32,"task_id":{},"stream_id":{}}}}})", task, stream);
}
std::string op_path(int64_t graph, int64_t step, std::string_view op, int task, int stream, int64_t rank = 0) {
  return fmt::format("rank_{}/Net/{}/{}/Mul.Default_{}.{}.{}.1700000000000001.output.0.DefaultFormat.npy", rank, graph,
                     step, op, task, stream);
}
// The operator of the one record; empty: none.
std::string joined_op(const test::ScratchDir& scratch) {
  const Checked checked(scratch.path());
  const Finding finding = checked.only("operator_overflow");
  return finding.op == kNoId ? std::string() : std::string(checked.dump().operators()[finding.op].name);
}

}  // namespace

TEST_CASE("an old record is decoded and joined to the operator of its task and stream") {
  const test::ScratchDir scratch;
  scratch.write(op_file("Mul-op1", 57, 563, 1), good_file());
  scratch.write(op_file("Mul-op2", 58, 563, 2), good_file());
  scratch.write("rank_0/Net/0/0/Opdebug.Node_OpDebug.9.7.1700000000000003", opdebug_file(old_record(57, 563, 0x21)));
  const Checked checked(scratch.path());
  const Finding& finding = checked.only("operator_overflow");
  CHECK(checked.dump().operators()[finding.op].name.view().find("Mul-op1") != std::string::npos);
  CHECK(finding.message == "AI Core: status 0x21 (bits 0, 5), task 57, stream 563, model 514, block 1");
  REQUIRE(checked.report().first);
  CHECK(checked.report().first->kind == FirstNonfinite::Kind::kOverflow);
}

TEST_CASE("a new record names its core; 65535 is not a context") {
  const test::ScratchDir scratch;
  scratch.write(op_file("Mul-op1", 12, 3, 1), good_file());
  scratch.write("rank_0/Net/0/0/Opdebug.Node_OpDebug.9.7.1700000000000003", opdebug_file(new_record(1, 12, 3, 8)));
  const Finding& finding = Checked(scratch.path()).only("operator_overflow");
  CHECK(finding.message ==
        "vector core (AIV): status 0x8 (bit 3), task 12, stream 3, model 1, core 4, block 2, program at 0x1000");
}

TEST_CASE("records as JSON are the same, of both generations") {
  const test::ScratchDir scratch;
  scratch.write(op_file("Mul-op1", 57, 563, 1), good_file());
  scratch.write("rank_0/Net/0/0/Opdebug.Node_OpDebug.21.7.1700000000000002.output.0.json",
                R"({"AI Core":{"block_idx":1,"kernel_code":"0x10","model_id":514,"para_base":"0x0","pc_start":"0x0",)"
                R"("status":32,"stream_id":563,"task_id":57,"task_type":0},"DHA Atomic Add":{"model_id":0,"status":0,)"
                R"("stream_id":0,"task_id":0},"L2 Atomic Add":{"status":0,"stream_id":0,"task_id":0}})");
  scratch.write("rank_0/Net/0/0/Opdebug.Node_OpDebug.22.7.1700000000000001.output.0.json",
                R"({"magic":"0x5a5a5a5a","version":1,"acc_list":{"valid":1,"acc_type":"AIC","rsv":0,"data_len":112,)"
                R"("data":{"model_id":1,"stream_id":3,"task_id":99,"status":[0,8,0,0]}}})");
  const Checked checked(scratch.path());
  const auto found = checked.of("operator_overflow");
  REQUIRE(found.size() == 2);
  // In the order of time; the one without a file of its task has a hint.
  CHECK(checked.report().overflows.front().section == "AIC");
  CHECK(checked.report().overflows.front().op == kNoId);
  CHECK(checked.report().overflows.back().op != kNoId);
  CHECK(checked.first_op().find("Mul-op1") != std::string::npos);
  for (const Finding* const finding : found) {
    if (finding->op != kNoId) continue;
    CHECK(finding->message.find("status 0x0 0x8 0x0 0x0") != std::string::npos);
    CHECK(std::get<uint64_t>(finding->value.storage()) == 8);
    CHECK(finding->message.find("no dumped file has this task and stream id") != std::string::npos);
    CHECK_FALSE(finding->hint.empty());
  }
}

TEST_CASE("a record whose numbers no operator has is joined by its file name, as MindSpore did") {
  const test::ScratchDir scratch;
  scratch.write(op_file("Mul-op1", 21, 7, 1), good_file());
  scratch.write("rank_0/debug_files/0/Opdebug.Node_OpDebug.21.7.1700000000000003", opdebug_file(old_record(1, 1, 1)));
  const Checked checked(scratch.path());
  CHECK(checked.report().overflows.at(0).by_file_name);
  CHECK(checked.only("operator_overflow").op != kNoId);
}

TEST_CASE("a record without a status says nothing, and one that is cut is a failure") {
  const test::ScratchDir scratch;
  scratch.write(op_file("Mul-op1", 57, 563, 1), good_file());
  scratch.write("rank_0/Net/0/0/Opdebug.Node_OpDebug.9.7.1700000000000003", opdebug_file(old_record(57, 563, 0)));
  CHECK(Checked(scratch.path()).of("operator_overflow").empty());
  scratch.write("rank_0/Net/0/0/Opdebug.Node_OpDebug.9.7.1700000000000004",
                opdebug_file(old_record(57, 563, 1)).substr(0, 900));
  const Checked checked(scratch.path());
  CHECK(checked.of("operator_overflow").empty());
  CHECK(checked.of("unreadable").size() == 1);
}

TEST_CASE("what an overflow or exception dump holds is what overflowed or failed, but on a CPU") {
  const auto tree = [](const test::ScratchDir& scratch, int mode, std::string_view device) {
    scratch.write(
        "rank_0/.dump_metadata/data_dump.json",
        fmt::format(R"({{"common_dump_settings":{{"dump_mode":0,"iteration":"all","op_debug_mode":{}}}}})", mode));
    scratch.write("rank_0/.dump_metadata/config.json",
                  fmt::format(R"({{"device_target":"{}","ms_version":"2.5.0"}})", device));
    scratch.write(tensor_path("Default/Mul-op1", 1, "output.0"), floats({1, 2}));
    scratch.write(tensor_path("Default/Mul-op2", 2, "output.0"), floats({1, 2}));
  };
  const test::ScratchDir overflow, exception, cpu;
  tree(overflow, 3, "Ascend");
  tree(exception, 4, "Ascend");
  tree(cpu, 3, "CPU");
  const Checked overflowed(overflow.path());
  REQUIRE(overflowed.of("operator_overflow").size() == 2);
  CHECK(overflowed.of("operator_overflow").front()->message.find("the first of this step") != std::string::npos);
  CHECK(Checked(exception.path()).of("exception").size() == 2);
  CHECK(Checked(cpu.path()).of("operator_overflow").empty());
}

TEST_CASE("extra-info holds the operator that failed") {
  const test::ScratchDir scratch;
  scratch.write("extra-info/data-dump/0/Mul.Default_Mul-op1.57.563.1700000000000001", good_file());
  CHECK(Checked(scratch.path()).only("exception").op != kNoId);
}

TEST_CASE("a record that does not say its task is joined by its file name only") {
  const test::ScratchDir scratch;
  scratch.write("rank_0/Net/0/0/Add.Default_Add-op0.0.0.1700000000000001.output.0.DefaultFormat.npy", floats({1, 2}));
  scratch.write("rank_0/Net/0/0/Opdebug.Node_OpDebug.77.7.1700000000000002.output.0.json",
                R"({"AI Core":{"status":32}})");
  const Finding finding = Checked(scratch.path()).only("operator_overflow");
  CHECK(finding.op == kNoId);
  CHECK(finding.message.find("task unknown") != std::string::npos);
  // Half of it is not a task: another stream has the same one.
  scratch.write("rank_0/Net/0/0/Opdebug.Node_OpDebug.77.7.1700000000000002.output.0.json",
                R"({"AI Core":{"status":32,"task_id":0}})");
  CHECK(Checked(scratch.path()).only("operator_overflow").op == kNoId);
}

TEST_CASE("tasks are counted again in every graph, step and rank: a record is of the nearest") {
  const test::ScratchDir graphs, steps, ranks, other_folder;
  for (const int64_t graph : {0, 1, 2})
    graphs.write(op_path(graph, 0, fmt::format("Mul-op{}", graph), 57, 7), floats({1, 2}));
  graphs.write(record_path(1, 0, "9.9.1700000000000002"), ai_core(57, 7));
  CHECK(joined_op(graphs) == "Default_Mul-op1");
  steps.write(op_path(0, 0, "Mul-op0", 57, 7), floats({1, 2}));
  steps.write(op_path(0, 1, "Mul-op1", 58, 7), floats({1, 2}));
  steps.write(record_path(0, 1, "9.9.1700000000000002"), ai_core(57, 7));
  CHECK(joined_op(steps).empty());
  ranks.write(op_path(0, 0, "Mul-op0", 57, 7, 1), floats({1, 2}));
  ranks.write(op_path(0, 0, "Mul-op1", 58, 7, 0), floats({1, 2}));
  ranks.write(record_path(0, 0, "9.9.1700000000000002"), ai_core(57, 7));
  CHECK(joined_op(ranks).empty());
  other_folder.write(op_path(0, 3, "Mul-op3", 57, 7), floats({1, 2}));
  other_folder.write("rank_0/debug_files/3/Opdebug.Node_OpDebug.9.9.1700000000000002.output.0.json", ai_core(57, 7));
  CHECK(joined_op(other_folder) == "Default_Mul-op3");
}

TEST_CASE("the task that stands in a record goes before the one in its file name") {
  const test::ScratchDir scratch;
  scratch.write(op_path(0, 0, "Mul-op1", 57, 7), floats({1, 2}));
  scratch.write(op_path(0, 0, "Mul-op2", 21, 7), floats({1, 2}));
  scratch.write(record_path(0, 0, "21.7.1700000000000002"), ai_core(57, 7));
  CHECK(joined_op(scratch) == "Default_Mul-op1");
}

TEST_CASE("each step has its first overflow, and steps go before time stamps") {
  const test::ScratchDir scratch;
  for (const int64_t step : {0, 1}) {
    scratch.write(op_path(0, step, "Mul-op1", 57, 7), floats({1, 2}));
    scratch.write(op_path(0, step, "Mul-op2", 58, 7), floats({1, 2}));
    const int64_t time = 1700000000000009 - step * 4;
    scratch.write(record_path(0, step, fmt::format("9.9.{}", time)), ai_core(57, 7));
    scratch.write(record_path(0, step, fmt::format("9.9.{}", time + 1)), ai_core(58, 7));
  }
  const Checked checked(scratch.path());
  CHECK(checked.report().overflows.front().step == 0);
  REQUIRE(checked.of("operator_overflow").size() == 4);
  for (const Finding* const finding : checked.of("operator_overflow")) {
    const bool first = checked.dump().operators()[finding->op].name == "Default_Mul-op1";
    CHECK((finding->message.find("the first of this step") != std::string::npos) == first);
  }
}

TEST_CASE("up to eight bits of a status are listed") {
  OverflowHit hit;
  hit.section = "SDMA";
  hit.task_id = 1;
  hit.status = {0xFF};
  CHECK(describe(hit) == "data mover (SDMA): status 0xff (bits 0, 1, 2, 3, 4, 5, 6, 7), task 1, stream unknown");
  hit.status = {0x1FF};
  CHECK(describe(hit) == "data mover (SDMA): status 0x1ff, task 1, stream unknown");
}

TEST_CASE("a record that cannot be opened is reported once, although the list and the search for overflows both try") {
  const test::ScratchDir scratch;
  scratch.write(op_path(0, 0, "Mul-op1", 57, 7), floats({1, 2}));
  scratch.write("rank_0/Net/0/0/Opdebug.Node_OpDebug.9.7.1700000000000003",
                std::string("\x08\0\0\0\0\0\0\0", 8) + "garbage!");
  CHECK(Checked(scratch.path()).of("unreadable").size() == 1);
}

}  // namespace msdump::check
