// CodeLines: operators by the code of the lines that made them. Numbers of lines and calls mean nothing in another version of a
// script, the code of a line does. Of stack.json of msprobe alone: the frames of an IR may be those of another call.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/op_graph.h"

namespace msdump {

class CodeLines {
 public:
  CodeLines() = default;
  explicit CodeLines(const OpGraph& graph);  // which must outlive this

  // The lines of the user's script that lead to an operator, from the call outwards, as a number: their code without blanks and
  // comments. Those outermost lines are left out that lead to all operators: they only start the script. 0 if there are none.
  [[nodiscard]] uint64_t key_of(OpId op) const;
  // The first line of these, from the call outwards, whose code the other script does not have. Null if it has all, or none at all.
  [[nodiscard]] const SourceFrame* changed_line(OpId op, const CodeLines& other) const;

 private:
  // The codes of one stack.json, by frame and by stack. An IR has no stacks.
  struct Stacks {
    std::vector<uint64_t> codes;  // by frame; 0: not in the user's script, or without code
    std::unordered_map<List, uint64_t> keys;
  };

  const OpGraph* graph_ = nullptr;
  std::vector<Stacks> origins_;
  std::unordered_set<uint64_t> codes_;     // of all lines
  std::unordered_set<uint64_t> starting_;  // of those that lead to all operators
};

}  // namespace msdump
