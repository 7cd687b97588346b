#include "kernels/cpu.h"

#include <algorithm>

#include "support/catch.h"
#include "unit/kernels/each_target.h"

namespace msdump::kernels {
namespace {

bool available(const std::string& name) {
  const auto names = available_cpu_targets();
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("The portable form is available everywhere and named last") {
  const auto names = available_cpu_targets();
  REQUIRE(!names.empty());
  CHECK(names.back() == "scalar");
  CHECK(std::count(names.begin(), names.end(), "scalar") == 1);
}

TEST_CASE("Every available target can be chosen and is then the one reported") {
  for_each_target([] { CHECK(available(cpu_target())); });
}

TEST_CASE("No name chooses the best target again after a lower one") {
  REQUIRE(choose_cpu_target("scalar").has_value());
  CHECK(cpu_target() == "scalar");
  REQUIRE(choose_cpu_target("").has_value());
  CHECK(cpu_target() == available_cpu_targets().front());
}

TEST_CASE("A choice does not change which targets are available") {
  const auto before = available_cpu_targets();
  REQUIRE(choose_cpu_target("scalar").has_value());
  CHECK(available_cpu_targets() == before);
  REQUIRE(choose_cpu_target(before.front()).has_value());
  CHECK(available_cpu_targets() == before);
  REQUIRE(choose_cpu_target("").has_value());
}

TEST_CASE("Names of targets are case-insensitive and avx512 is another name of avx3") {
  CHECK(choose_cpu_target("SCALAR").has_value());
  CHECK(choose_cpu_target("avx512").has_value() == available("avx3"));
  if (available("avx3")) CHECK(cpu_target() == "avx3");
  REQUIRE(choose_cpu_target("").has_value());
}

TEST_CASE("An unknown target is a usage error that lists the known ones, and changes nothing") {
  REQUIRE(choose_cpu_target("scalar").has_value());
  const Status status = choose_cpu_target("mmx");
  REQUIRE(!status.has_value());
  CHECK(status.error().code == ErrorCode::kUsage);
  CHECK(status.error().message.find("mmx") != std::string::npos);
  CHECK(status.error().hint.find("scalar") != std::string::npos);
  CHECK(cpu_target() == "scalar");
  REQUIRE(choose_cpu_target("").has_value());
}

}  // namespace msdump::kernels
