// The rules for data_dump.json, a group of them a file; lint_data_dump calls them all.
#pragma once

#include <string>
#include <string_view>

#include "config/data_dump.h"
#include "config/keys.h"

namespace msdump::data_dump {

inline constexpr Version kV11{1, 1, 0}, kV13{1, 3, 0}, kV15{1, 5, 0}, kV16{1, 6, 0}, kV18{1, 8, 0}, kV20{2, 0, 0},
    kV23{2, 3, 0}, kV24{2, 4, 0}, kV26{2, 6, 0}, kV271{2, 7, 1};

struct Rules {
  Findings& findings;
  const JsonValue& root;
  const LintTarget& target;
  DataDump dump;

  // The member of a section; null when it, or the section, is not there.
  [[nodiscard]] const JsonMember* common(std::string_view key) const;
  [[nodiscard]] const JsonMember* e2e(std::string_view key) const;
};

[[nodiscard]] Spot common_spot(const JsonMember& member);
[[nodiscard]] Spot e2e_spot(const JsonMember& member);
// "iteration is 'x'"
[[nodiscard]] std::string is_text(const JsonMember& member);

void check_keys(Rules& rules);       // what is missing, unknown or of the wrong type
void check_values(Rules& rules);     // each value on its own
void check_iteration(Rules& rules);  // the grammar, and whether any step is selected
void check_kernels(Rules& rules);    // whether any operator is selected
void check_modes(Rules& rules);      // what one key makes of another

}  // namespace msdump::data_dump
