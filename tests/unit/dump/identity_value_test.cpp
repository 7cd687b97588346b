#include "dump/names/identity.h"

#include "report/json.h"
#include "support/catch.h"

namespace msdump {
namespace {

std::string json_of(const Identity& identity) {
  std::string text;
  report::append_json(text, identity_value(identity));
  return text;
}

}  // namespace

TEST_CASE("an identity is an object of what is known, with a slot that is a number where it can be one") {
  Identity identity;
  CHECK(json_of(identity) ==
        R"({"rank":null,"graph":null,"step":null,"op_name":null,"op_type":null,"io":null,"slot":null,)"
        R"("task_id":null,"stream_id":null,"timestamp":null})");
  identity.rank = 3;
  identity.graph = 4;
  identity.step = 5;
  identity.name.op_name = "Default/Add-op1";
  identity.name.op_type = "Add";
  identity.name.io = Io::kInput;
  identity.name.slot = "12";
  identity.name.task_id = 6;
  identity.name.stream_id = 7;
  identity.name.timestamp = "1700000000000001";
  CHECK(json_of(identity) ==
        R"({"rank":3,"graph":4,"step":5,"op_name":"Default/Add-op1","op_type":"Add","io":"input","slot":12,)"
        R"("task_id":6,"stream_id":7,"timestamp":"1700000000000001"})");
  std::string slots;
  for (const char* const text : {"0", "weight", "0.1", "-1", "99999999999999999999"})
    report::append_json(slots, slot_value(text));
  CHECK(slots == R"(0"weight""0.1""-1""99999999999999999999")");
}

}  // namespace msdump
