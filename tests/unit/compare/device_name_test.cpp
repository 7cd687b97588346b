#include "compare/match/device/device_name.h"

#include <fmt/format.h>

#include "support/catch.h"

namespace msdump {
namespace {

// "SCOPE TYPE NUMBER, ...", with "+" where it is a part.
std::string parsed(std::string_view name) {
  const DeviceName device = parse_device_name(name);
  std::string text;
  for (const OriginalName& one : device.originals)
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", one.scope, one.type, one.number);
  return text + (device.is_part ? "+" : "");
}

TEST_CASE("the name of one operator of the network has its scope, type and number") {
  CHECK(parsed("Default/conv1-Conv2d/Conv2D-op12") == "Default_conv1-Conv2d Conv2D 12");
  CHECK(parsed("Default_conv1-Conv2d_Conv2D-op12") == "Default_conv1-Conv2d Conv2D 12");
  CHECK(parsed("Default/a.b c/Add-op0") == "Default_a_b_c Add 0");
  CHECK(parsed("Conv2D-op12") == " Conv2D 12");
}

TEST_CASE("the number after a reset of the compiler's cache belongs to the name of an operator") {
  CHECK(parsed("Default/a/Add-op12_3") == "Default_a Add 12");
  CHECK(parsed("Default_a_Add-op12_3") == "Default_a Add 12");
  CHECK(parsed("Default/a/MatMul-op3_2Default/a/BiasAdd-op4_2") == "Default_a MatMul 3, Default_a BiasAdd 4");
}

TEST_CASE("concatenated names are those of several operators, in their order") {
  const std::string both = "Default_a MatMul 3, Default_a BiasAdd 4";
  CHECK(parsed("Default/a/MatMul-op3Default/a/BiasAdd-op4") == both);
  CHECK(parsed("Default_a_MatMul-op3Default_a_BiasAdd-op4") == both);
  CHECK(parsed("FusedX_0_Default/a/MatMul-op3_Default/a/BiasAdd-op4_1") == both);
  CHECK(parsed("FusedX_0_Default_a_MatMul-op3_Default_a_BiasAdd-op4_1") == both);
  CHECK(parsed("Default/a/MatMul-op3/Default/a/BiasAdd-op4") == both);
  CHECK(parsed("Gradients/Default/a/Mul-op1Default/b/Add-op2Default/c/ReLU-op3") ==
        "Gradients_Default_a Mul 1, Default_b Add 2, Default_c ReLU 3");
}

TEST_CASE("only a number in the middle of a pass's name ends it") {
  CHECK(parsed("FusedX_0_Default/a/Add-op1") == "Default_a Add 1");
  CHECK(parsed("net_block_Default/a/Add-op1") == "net_block_Default_a Add 1");
  CHECK(parsed("net_Add-op1") == "net Add 1");
  CHECK(parsed("Default_0_a_Add-op1") == "Default_0_a Add 1");
  CHECK(parsed("Gradients_0_a_Add-op1") == "Gradients_0_a Add 1");
}

TEST_CASE("a fusion that names types has one operator of each in the scope") {
  CHECK(parsed("Default/a/FusionOp_MatMul_BiasAdd-op7") == "Default_a MatMul 7, Default_a BiasAdd 7");
  CHECK(parsed("Default_a_FusionOp_MatMul_BiasAdd-op7") == "Default_a MatMul 7, Default_a BiasAdd 7");
  CHECK(parsed("FusionOp_Mul_Add_ReLU-op1") == " Mul 1,  Add 1,  ReLU 1");
  CHECK(parsed("Default/a/FusionOp_Mul__Add_-op1") == "Default_a Mul 1, Default_a Add 1");
  CHECK(parsed("Default/a/FusionOp_-op1").empty());
}

TEST_CASE("what follows the last number makes a part of an operator") {
  CHECK(parsed("Default/a/BatchNorm-op4_Reduce") == "Default_a BatchNorm 4+");
  CHECK(parsed("Default/a/BatchNorm-op4/BNTrainingReduce") == "Default_a BatchNorm 4+");
  CHECK(parsed("Default_a_ReLU-op3_MemSet") == "Default_a ReLU 3+");
  CHECK(parsed("Default/a/MatMul-op3Default/a/BiasAdd-op4_Part") == "Default_a MatMul 3, Default_a BiasAdd 4+");
}

TEST_CASE("a name without a number names no operator of the network") {
  for (const char* const name : {"trans_TransData_5", "Relu", "", "_", "/", "Default/a/Relu-op", "a-opx", "-o", "op12"})
    CHECK(parse_device_name(name).originals.empty());
  CHECK_FALSE(parse_device_name("").is_part);
  CHECK(parse_device_name("trans_TransData_5").is_part);
}

TEST_CASE("a number without a name, or one that is too large, names nothing") {
  CHECK(parse_device_name("-op1").originals.empty());
  CHECK(parse_device_name("-op1-op2-op3").originals.empty());
  CHECK(parse_device_name("Default/a/Add-op99999999999999999999999").originals.empty());
  CHECK(parsed("Default/a/Add-op18446744073709551615") == "Default_a Add 18446744073709551615");
  for (const char* const name : {"/-op1", "_-op1", "//__-op1", "Default/-op2"})
    CHECK(parse_device_name(name).originals.empty());
}

TEST_CASE("long names are read in the time of their length") {
  std::string marks, names;
  while (marks.size() < size_t{1} << 20) marks += "-op1";
  while (names.size() < size_t{1} << 20) names += "Default/a/Add-op1";
  CHECK(parse_device_name(marks).originals.empty());
  CHECK(parse_device_name(names).originals.size() == names.size() / 17);
  CHECK(parse_device_name(std::string(size_t{1} << 20, '_')).originals.empty());
  const std::string one = std::string(size_t{1} << 20, 'a') + "-op1";
  CHECK(parse_device_name(one).originals.at(0).type.size() == size_t{1} << 20);
  std::string unfinished;
  while (unfinished.size() < size_t{1} << 20) unfinished += "-op";
  CHECK(parse_device_name(unfinished).originals.empty());
  std::string passes;
  while (passes.size() < size_t{1} << 20) passes += "X_0_";
  CHECK(parse_device_name(passes + "Add-op1").originals.size() == 1);
}

}  // namespace
}  // namespace msdump
