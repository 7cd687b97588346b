// Runs a check under every SIMD form this CPU has, and leaves the best one chosen.
#pragma once

#include <string>

#include "kernels/cpu.h"
#include "support/catch.h"

namespace msdump::kernels {

template <class Check>
void for_each_target(Check check) {
  for (const std::string& target : available_cpu_targets()) {
    INFO("target " << target);
    REQUIRE(choose_cpu_target(target).has_value());
    REQUIRE(cpu_target() == target);
    check();
  }
  REQUIRE(choose_cpu_target("").has_value());
}

}  // namespace msdump::kernels
