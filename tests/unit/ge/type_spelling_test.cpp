// What is left of a type's spelling where no table has the type, and which types the tables leave apart.
#include <string>
#include <string_view>
#include <utility>

#include "ge/operators/operator_table.h"
#include "support/catch.h"

namespace msdump::ge {
namespace {

std::string family_of(std::string_view type) { return OperatorTable::get().family(type); }

TEST_CASE("prefixes and suffixes that do not count are cut from the shortest names, too") {
  CHECK(family_of("aclnnQ") == "q");
  CHECK(family_of("CustQ") == "q");
  CHECK(family_of("QaD") == "qa");
  CHECK(family_of("QzD") == "qz");
  CHECK(family_of("QaExt") == "qa");
  CHECK(family_of("QaV2D") == "qa");
}

TEST_CASE("what would leave nothing, or a part of a word, stays") {
  CHECK(family_of("aclnn") == "aclnn");
  CHECK(family_of("Cust") == "cust");
  CHECK(family_of("Custard") == "custard");
  CHECK(family_of("qD") == "qd");
  CHECK(family_of("QExt") == "qext");
  CHECK(family_of("V2") == "v2");
  CHECK(family_of("Q3D") == "q3d");
}

TEST_CASE("types that a table pairs with an identity or a container are not one family") {
  for (const auto& [one, other] :
       {std::pair{"Load", "Identity"}, {"Load", "TupleGetItem"}, {"Depend", "Return"}, {"UpdateState", "NoOp"}}) {
    INFO(one << " and " << other);
    CHECK(family_of(one) != family_of(other));
  }
}

TEST_CASE("a type of the device that is MindSpore's without a suffix may be MindSpore's") {
  for (const char* const type : {"", "ReduceSum", "Transpose", "GatherNd"})
    CHECK_FALSE(OperatorTable::get().is_of_device(type));
}

InputRule rule_of_slots(const std::vector<uint32_t>& slots) {
  InputRule rule;
  for (const uint32_t slot : slots) {
    rule.slots.emplace_back();
    rule.slots.back().operand = static_cast<uint32_t>(rule.slots.size()) - 1;
    rule.slots.back().slot = slot;
  }
  return rule;
}

TEST_CASE("what comes after a list on the device has the slot after its last tensor") {
  InputRule rule = rule_of_slots({0, 1, 0});
  rule.slots[0].list = true;
  rule.slots[1].after = rule.slots[2].after = {0};
  CHECK(slot_map(rule, 5, 5) == SlotMap{0, 1, 2, 4, 3});
  CHECK(slot_map(rule, 3, 3) == SlotMap{0, 2, 1});
}

TEST_CASE("slots that the device leaves out do not count") {
  CHECK(slot_map(rule_of_slots({3, 0, 7}), 3, 3) == SlotMap{1, 0, 2});
  CHECK(slot_map(rule_of_slots({3, 3}), 2, 2) == std::nullopt);
  CHECK(slot_map(rule_of_slots({0, 1}), 3, 2) == std::nullopt);
}

}  // namespace
}  // namespace msdump::ge
