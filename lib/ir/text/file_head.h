// The lines of IR text that are not operators: the head of the file and the heads of its graphs.
//
//   "#IR entry      : @NAME"  0.5 to 1.10, "# IR entry: @NAME"  2.0 and later
//   "#Total subgraph : N" to 1.10, "#Total subgraph: N" 2.0 previews, "# Total subgraphs: N"
//   "Total number of cnodes: N"  2.3 and later: operators with Return
//   "%para1_x : <T>[ : SYMBOLIC][  :  has_default][  :  <DEVICE>][  :  IsWeight:true]", "%para1 = x : <T>" to 1.0
//   "subgraph @NAME[ parent: [subgraph @PARENT]](%para3_x, %para4_y) {"; in sort mode of 2.0 with types
// Read loosely: blanks, case and a leading '#' do not matter, unless they show the version.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace msdump {

struct HeadLine {
  enum class Kind : uint8_t { kOther, kEntry, kGraphs, kNodes };
  Kind kind = Kind::kOther;
  std::string_view name;            // kEntry
  uint64_t count = 0;               // kGraphs, kNodes
  bool is_1 = false, is_2 = false;  // only MindSpore 1.x, only 2.x writes it so
};

[[nodiscard]] HeadLine parse_head_line(std::string_view text);

struct ParameterLine {
  std::string_view text;  // "para1_x"; "para1" when the name follows " = "
  std::string_view name;  // "x"
  uint32_t number = 0;
  std::string_view host, device;
  std::optional<bool> is_weight;
  bool has_default = false;
};

// Accepts a parameter with or without types. False if the text is no parameter.
bool parse_parameter(std::string_view text, ParameterLine& parameter);

struct GraphLine {
  std::string_view name, parent;
  std::vector<std::string_view> parameters;
};

[[nodiscard]] GraphLine parse_graph_line(std::string_view text);

}  // namespace msdump
