// Names of operators, in the IR and in file names.
//
//   IR       Default/network-WithLossCell/_backbone-AlexNet/conv1-Conv2d/Conv2D-op12
//   files    Default_network-WithLossCell__backbone-AlexNet_conv1-Conv2d_Conv2D-op12     (2.3 and later; GE)
//            Conv2D-op12                                                                  (1.3 to 2.2)
//   number   "-op12", after a reset of the compiler's cache "-op12_3"
// Source: IR and file names of MindSpore 1.3 to 2.10 and of GE.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msdump {

// The character that file names have: '/', '\', '.' and blanks become '_'.
[[nodiscard]] constexpr char normal_char(char c) { return c == '/' || c == '\\' || c == '.' || c == ' ' ? '_' : c; }
void normalise_op_name(std::string& name);
[[nodiscard]] std::string normalised_op_name(std::string_view name);

// True if a glob is for the operator of this full name: for the name, for its last part, or for the name in files.
// `in_files`: the names there; empty if they are not known, so that the normalised name stands for them.
[[nodiscard]] bool matches_op_name(const std::vector<std::string>& globs, std::string_view full_name,
                                   const std::vector<std::string>& in_files = {});

inline constexpr std::string_view kNumberMark = "-op";

struct NumberedName {
  std::string_view prefix;  // before "-op"
  uint64_t number = 0;
  std::string_view suffix;  // "_3"
};
// No value when the name does not end in a number.
[[nodiscard]] std::optional<NumberedName> split_number(std::string_view name);

// The ends of all "-op<digits>[_<digits>]" in a name that no further digit follows: where concatenated names (fused
// operators) may be split.
[[nodiscard]] std::vector<size_t> number_ends(std::string_view name);

}  // namespace msdump
