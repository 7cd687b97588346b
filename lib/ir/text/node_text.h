// The line that defines an operator:
//
//   "%" NUMBER ["(" DEBUG ")"] " = " OP "(" OPERANDS ")" {" " GROUP}     or     "Return(" OPERANDS ")" {" " GROUP}
//   1. DEBUG     free text up to ") = ": "[CNode]8", "CNode_310$a", "equiv[CNode]707"
//   2. OP        "Conv2D", "PrimFunc_Add", "call @g", "%5[@FuncUnion(@a, @b)]", "$(@g:x)[@f]", "f{(Tensor, Tensor)}"
//                In sort mode of 2.0 and in analyze_fail "PrimitivePy::Sub{prim_type=2}[output_names=..]": Sub
//   3. OPERANDS  "%3", "%para1_x", "$(@g:para4_x)", "@g", or a literal, which may hold brackets and quotes
//   4. GROUP     attributes: ir/text/attributes.h
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ir/model/ir_graph.h"
#include "ir/text/text_blocks.h"

namespace msdump {

struct NodeHead {
  uint32_t number = kNoIndex;  // kNoIndex: Return
  std::string_view debug_name, op;
  std::string_view operands;    // between the brackets
  std::string_view attributes;  // the rest of the line
  bool operands_closed = true;
};

// Returns what is wrong with it, or nullptr.
[[nodiscard]] const char* parse_node_head(std::string_view text, NodeHead& head);

// True if no bracket is open at its end, and no group announced: "primitive_attrs:".
[[nodiscard]] bool is_complete_head(std::string_view text);

// NodeText: an operator of IR text, whose lines are joined if they were wrapped, and sorted by meaning. The lines after the
// definition are, in the order of writing (indentation, and blanks around them, do not count):
//
//   1. ": (..) -> (..)"                          types on the host; of Return only ": (..)"
//   2. ": (S:[..]V:..) -> (..)"                  symbolic shapes, 2.3: not kept
//   3. ": (<Float16xNC1HWC0..>) -> (..)"         types on the device
//   4. ": (Tensor, Scalar) -> (TupleUnfold)"     kernel objects, 2.0 and later: not kept
//   5. ": (FULL)" to 1.6, "# fullname_with_scope: (FULL)" to 2.0 previews, "# Fullname with scope: (FULL)", and
//      ": full_name_with_scope: (FULL)" in the documentation; or "# scope: (S)", "# Scope: (S)", "#scope: S"
//   6. "# Corresponding forward node candidate:", "# Corresponding code candidate:": source lines of other operators
//      follow; "#  - In file .." is the first of the next one
//   7. "# In file ..": ir/model/source_frame.h
// Any other line continues the previous one if that one is open: a bracket is missing, or a source line has no end. If
// nothing is open, it is a value that 1.3 prints on a line of its own, or is not understood.

// The label of the name, which differs between versions.
enum class NameLabel : uint8_t { kNone, kPlain, kLower, kUpper, kSort };

struct FrameLine {
  std::string_view text;  // "In file .."
  FrameKind kind = FrameKind::kOwn;
  bool begins_chain = false;  // as written: the first line of a stack, in whichever order
  uint64_t line = 0;
};

struct NodeText {
  NodeHead head;
  std::string_view host, device;  // "(..) -> (..)"
  std::string_view full_name, scope;
  NameLabel label = NameLabel::kNone;
  std::vector<FrameLine> frames;  // in the order of the file
  const char* wrong = nullptr;    // why it could not be read
  bool whole = true;              // its last line is complete
};

// True for a line that holds only a value. 1.3 prints constants before the operator that uses them: "[ValueNode]10(U)",
// "success(Tensor(shape=[], dtype=Bool, value= True))".
[[nodiscard]] bool is_value_node(std::string_view line);

class NodeTextParser {
 public:
  static constexpr size_t kMaxJoined = 64;  // lines of one operator that are joined

  // Valid until the next call, and as long as the event. Faults that do not matter are added to `problems`.
  const NodeText& parse(const IrEvent& event, IrProblems& problems);

 private:
  enum class Last : uint8_t { kNone, kHead, kTypes, kName, kFrame };

  void add_line(const IrEvent::Line& line);
  void add_colon(std::string_view text);
  void add_types(std::string_view text);
  void add_hash(std::string_view text);
  bool add_label(std::string_view text, bool blank_after_sharp);
  void add_name(std::string_view text, bool is_scope, NameLabel label);
  void add_frame(std::string_view text, bool begins_chain);
  void add_strategy(std::string_view text);
  void continue_last(std::string_view text);
  [[nodiscard]] bool last_continues_with(std::string_view text) const;
  [[nodiscard]] bool last_is_open() const;
  void join(std::string_view text);
  void problem(std::string reason);
  void finish(bool cut);

  NodeText node_;
  std::string_view head_;
  std::string_view name_;  // with its brackets
  std::string_view objects_;
  bool name_is_scope_ = false;
  Last last_ = Last::kNone;
  std::string_view* last_text_ = nullptr;  // what a continuation is appended to
  std::deque<std::string> joined_;
  size_t joined_lines_ = 0;
  FrameKind frame_kind_ = FrameKind::kOwn;
  bool next_begins_chain_ = true;
  uint64_t line_number_ = 0;
  IrProblems* problems_ = nullptr;
};

}  // namespace msdump
