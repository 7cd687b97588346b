#include "config/data_dump.h"

#include "support/catch.h"

namespace msdump {

TEST_CASE("steps and ranges are distinguished and counted once") {
  const Iteration iteration = parse_iteration("0|5-8|7-10|100");
  REQUIRE(iteration.accepted);
  CHECK(iteration.items.size() == 4);
  CHECK(iteration.items[1].first == 5);
  CHECK(iteration.items[1].last == 8);
  CHECK(iteration.items[2].at == 6);
  CHECK(iteration.count() == 8U);
  CHECK(iteration.count(8) == 4U);
  CHECK(parse_iteration("all").all);
  CHECK_FALSE(parse_iteration("all").count().has_value());
}

TEST_CASE("items that are neither a step nor a range select nothing") {
  for (const char* text : {"5-", "-5", "|", "||", "-", "--", "1-2-3", "8-5", "99999999999999999999"}) {
    const Iteration iteration = parse_iteration(text);
    INFO(text);
    CHECK(iteration.accepted);
    CHECK_FALSE(iteration.selects_any());
    CHECK(iteration.count() == 0U);
  }
  CHECK(parse_iteration("5-|3").selects_any());
}

TEST_CASE("only digits, dashes and bars are accepted, or all") {
  for (const char* text : {"", "x", "1 | 2", "all|1", "ALL", "0,1", "1.5"}) {
    INFO(text);
    CHECK_FALSE(parse_iteration(text).accepted);
  }
}

TEST_CASE("steps in front of the first one do not count") {
  CHECK_FALSE(parse_iteration("0-4").selects_any(5));
  CHECK(parse_iteration("0-5").selects_any(5));
}

TEST_CASE("more steps than 64 bits hold are not a number") {
  CHECK_FALSE(parse_iteration("0-18446744073709551615").count().has_value());
  CHECK(parse_iteration("1-18446744073709551615").count() == UINT64_MAX);
}

}  // namespace msdump
