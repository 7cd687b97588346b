#include "graph/op_name.h"

#include <vector>

#include "support/catch.h"

namespace msdump {
namespace {

TEST_CASE("names are normalised as file names have them") {
  CHECK(normalised_op_name("Default/net-Net/_backbone-A B/conv.1/Conv2D-op0") ==
        "Default_net-Net__backbone-A_B_conv_1_Conv2D-op0");
}

TEST_CASE("a name that is typed is the full one, its last part or that of files, or a glob of these") {
  const std::string full = "Default/net-Net/Add-op12";
  for (const char* typed :
       {"Default/net-Net/Add-op12", "Add-op12", "Default_net-Net_Add-op12", "*/Add-*", "Add-op1?"}) {
    INFO(typed);
    CHECK(matches_op_name({"Mul-op1", typed}, full));
  }
  for (const char* typed : {"Add", "net-Net/Add-op12", "op12"}) {
    INFO(typed);
    CHECK_FALSE(matches_op_name({typed}, full));
  }
  CHECK_FALSE(matches_op_name({}, full));
  // The names in files are known, and others than the normalised one.
  CHECK(matches_op_name({"Add-op7"}, full, {"Neg-op1", "Add-op7"}));
  CHECK(matches_op_name({"Add-op12"}, full, {"Add-op7"}));
  CHECK_FALSE(matches_op_name({"Default_net-Net_Add-op12"}, full, {"Add-op7"}));
}

TEST_CASE("the number of an operator follows its last -op") {
  const auto name = split_number("Default/x-op1/Add-op12");
  REQUIRE(name);
  CHECK(name->prefix == "Default/x-op1/Add");
  CHECK(name->number == 12);
  CHECK(name->suffix.empty());
  CHECK(split_number("Add-op3_2")->suffix == "_2");
  for (const char* text : {"", "Add", "Add-op", "Add-opx", "Add-op1x", "Add-op1_", "Add-op99999999999999999999"}) {
    INFO(text);
    CHECK(!split_number(text));
  }
}

TEST_CASE("concatenated names can be split after each number") {
  CHECK(number_ends("A-op1B-op22") == std::vector<size_t>{5, 11});
  CHECK(number_ends("A-op1_2_lxslice") == std::vector<size_t>{5, 7});
  CHECK(number_ends("A-opB").empty());
}

}  // namespace
}  // namespace msdump
