// Runs the program on an input of N units and on one of 2N, and checks what both cost: the peak of resident memory
// against a stated bound, and that twice the input takes at most some three times the CPU time. Nothing is checked
// against a clock: the two runs are compared with each other, again when the machine was disturbed.
//
// Under a sanitizer memory and time mean nothing. There only the exit code is checked, on a small input.
//
// The program is $MSDUMP, or the one that was built beside this test.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "limits/bounds.h"

namespace msdump::limits {

// Writes an input of `units` units into an empty folder. Runs in a process of its own: what it needs is not measured.
using Build = std::function<void(const std::filesystem::path& folder, int64_t units)>;

struct Command {
  std::vector<std::string> words;  // "@" at the beginning of a word stands for the folder of the input
  Bound bound;
  int exit_code = 0;
  std::string standard_input = {};  // a file; "@" as above
  bool is_linear = true;            // false: a size that is only claimed (a sparse file); memory alone is checked
};

// Checks each command. The exit code belongs to it: a run that refuses its input at once proves nothing.
void check_growth(std::string_view input, int64_t units, const Build& build, const std::vector<Command>& commands);

}  // namespace msdump::limits
