// Faults that make a regular expression unreadable in C++'s ECMAScript grammar and in Python's alike: MindSpore ends the
// process over one in `kernels`, msprobe drops the whole list. Expressions that only one of them reads pass.
#pragma once

#include <string>
#include <string_view>

namespace msdump {

// "the bracket '[' is not closed"; empty when there is no fault.
[[nodiscard]] std::string regex_fault(std::string_view expression);

}  // namespace msdump
