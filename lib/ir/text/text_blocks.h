// The kind of a line of IR text, by its first characters alone. Indentation is not trusted: copies of IR lose it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "io/file.h"
#include "ir/model/ir_graph.h"
#include "ir/model/scan.h"

namespace msdump {

enum class LineKind : uint8_t {
  kBlank,
  kEllipsis,   // "...": something was left out by whoever made the copy
  kNode,       // "%4(x) = Conv2D(..", "%4 = Assign(.."
  kReturn,     // "Return(..", "return(..", "Primitive::Return{prim_type=1}(.."
  kParameter,  // "%para1_x : <..>"; without a type it is the rest of a wrapped line
  kColon,      // ": (..": types, or a full name up to 1.6
  kHash,       // "# ..": name, scope, source line, banner
  kStrategy,   // "{in_strategy: ..}     : (..": before the types, up to 1.6
  kGraph,      // "subgraph @g(..) {"
  kGraphNote,  // "subgraph attr:", "subgraph instance: .."
  kClose,      // "}"
  kText,  // anything else: the rest of a line that was wrapped, a value on a line of its own (1.3), the file's head
};

[[nodiscard]] LineKind line_kind(std::string_view line);

// The length of a line number that a documentation page puts before the line, "  12 " or "124:"; 0 if there is none.
[[nodiscard]] size_t gutter_length(std::string_view line);

// IrTextReader: IR text from beginning to end as a sequence of events. Memory is bounded: a buffer of 512 KiB, which grows
// to 16 MiB for an operator that needs it.
//
//   kHead      a line outside of the graphs: the head of the file, attributes and order of graphs
//   kGraph     "subgraph @g parent: [subgraph @p](%para3_x, %para4_y) {", which may take several lines
//   kNode      an operator: the line that defines it and everything up to the next definition or the end of its graph
//   kGraphEnd  "}"
//
// Lines end in "\n" or "\r\n". A byte order mark is not part of the first line. The line numbers of a documentation page are
// skipped if most lines have one. A line longer than 1 MiB is a problem and skipped, with its operator if it defines one.
//
// A needle makes events only of operators whose text holds it. The others are only counted, as fast as line ends are
// found, so searching a gigabyte for a source line is quick.

struct IrNeedle {
  std::string text;  // empty: every operator
  // Whether an occurrence of `text` counts, by what follows it on its line; nothing: every occurrence does.
  std::function<bool(std::string_view rest)> accept;
};

struct IrEvent {
  enum class Kind : uint8_t { kEnd, kHead, kGraph, kGraphEnd, kNode };
  Kind kind = Kind::kEnd;
  LineKind line_kind = LineKind::kText;  // of kHead
  uint64_t line = 0;                     // number of the first line, from 1
  uint64_t offset = 0;                   // of its first byte
  std::string_view text;                 // kHead: the line; kGraph: the lines, joined
  struct Line {
    std::string_view text;
    LineKind kind = LineKind::kText;
    uint64_t number = 0;
  };
  std::span<const Line> lines;  // kNode
  bool cut = false;             // kNode: the last line of the file, and it has no line end
};

class IrTextReader {
 public:
  static constexpr size_t kMaxLine = size_t{1} << 20;
  static constexpr size_t kMaxBlock = size_t{16} << 20;  // bytes of an operator
  static constexpr size_t kMaxBlockLines = size_t{1} << 16;

  explicit IrTextReader(const File& file, IrNeedle needle = {});  // the file outlives the reader

  // Views are valid until the next call. An error is one of reading the file.
  Result<IrEvent> next();

  [[nodiscard]] uint64_t node_heads() const { return node_heads_; }
  [[nodiscard]] bool inside_graph() const { return inside_graph_; }  // also at the end, if "}" is missing

  // Lines that were skipped since the last call.
  IrProblems take_problems() { return std::exchange(problems_, {}); }

 private:
  struct BlockLine {
    uint32_t begin = 0, size = 0, number = 0;  // from block_begin_ and block_line_
    LineKind kind = LineKind::kText;
  };
  struct CurrentLine {
    size_t begin = 0, size = 0, end = 0;  // in the buffer; end is after the line end
    LineKind kind = LineKind::kText;
    bool complete = true;  // it has a line end
    bool too_long = false;
  };

  // Reading.
  Result<bool> find_line();
  bool use_line(size_t length, bool has_end);
  void take_line();
  Status refill();
  Status make_room(size_t held);
  bool step_over_rest();
  void detect_gutters();
  void add_problem(uint64_t line, std::string reason);

  // Interprets a line; no value while no event is complete.
  std::optional<IrEvent> step();
  std::optional<IrEvent> step_over_long_line();
  std::optional<IrEvent> outside_node();
  std::optional<IrEvent> continue_graph_head();
  IrEvent simple_event(IrEvent::Kind kind);
  void start_node();
  void append_to_node();
  void lose_node(std::string reason);
  std::optional<IrEvent> finish_node();
  bool block_is_wanted();

  static constexpr size_t kNowhere = SIZE_MAX;

  const File* file_;
  IrNeedle needle_;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0, end_ = 0;
  uint64_t file_offset_ = 0;  // of buffer_[end_]
  size_t position_ = 0;       // of the first line that is not taken yet
  size_t scanned_ = 0;        // of that: known to hold no line feed
  CurrentLine line_;
  bool have_line_ = false;
  uint64_t line_number_ = 1;  // of the line at position_
  bool skipping_ = false;     // the rest of a line that is too long
  bool gutters_ = false;
  bool in_comment_ = false;  // after "# Comment:"

  bool inside_graph_ = false, ended_ = false;
  bool node_open_ = false;  // block_ is one
  bool node_lost_ = false;  // what follows belongs to an operator that could not be kept
  size_t block_begin_ = 0, block_end_ = 0;
  uint64_t block_line_ = 0;
  bool block_cut_ = false;
  std::vector<BlockLine> block_;
  std::vector<IrEvent::Line> lines_;
  size_t searched_ = 0, hit_ = kNowhere;  // no needle in the buffer before searched_, but one at hit_
  std::string graph_head_;
  uint64_t graph_line_ = 0, graph_offset_ = 0;
  bool in_graph_head_ = false;
  uint64_t node_heads_ = 0;
  IrProblems problems_;
};

}  // namespace msdump
