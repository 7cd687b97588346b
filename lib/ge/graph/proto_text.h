// ProtoText: protobuf's text form from beginning to end as a sequence of items, in bounded memory and without a schema.
//
//   kField  name: value        "x", 'x', "x" "y" (one text), 12, -1.5e3, true, DT_FLOAT, [1, 2] (a field for each)
//   kOpen   name {, name: {, name <      also for each element of [{..}, {..}]
//   kClose  } or >
//   kEnd    the end of the file, also inside a message: depth() is then not 0
//
// Fields may share a line, ',' and ';' may separate them, '#' begins a comment. A name in brackets ([type.url/x]) is a name.
// What fits none of this is a problem with its line; reading continues on the next line. A line end inside quotes ends
// the text: one missing quote costs one line, not the rest of the file.
//
// A text longer than kMaxText is an item without a value (`too_long`). A message may hold kernels of many megabytes, so
// skip() looks only for brackets and quotes.
// Source: protobuf's text format specification (protobuf.dev/reference/protobuf/textformat-spec).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/file.h"
#include "ir/model/ir_graph.h"

namespace msdump {

class ProtoText {
 public:
  static constexpr size_t kMaxText = size_t{16} << 10;

  enum class Kind : uint8_t { kEnd, kField, kOpen, kClose };
  // Views are valid until the next call.
  struct Item {
    Kind kind = Kind::kEnd;
    std::string_view name;
    std::string_view value;  // of kField, unescaped
    bool quoted = false;
    bool too_long = false;
  };

  explicit ProtoText(const File& file);
  // Reads a text in memory, which outlives this.
  explicit ProtoText(std::string_view text);

  Item next();
  // Inside a message: continues after its kClose.
  void skip();
  // Why the file could not be read to its end; next() is then kEnd.
  [[nodiscard]] const Status& status() const { return status_; }

  // The line of the item that next() returned last, from 1.
  [[nodiscard]] uint64_t line();
  [[nodiscard]] size_t depth() const { return depth_; }  // open messages
  [[nodiscard]] uint64_t offset() const { return base_ + at_; }
  // The problems since the last call.
  [[nodiscard]] IrProblems take_problems();
  [[nodiscard]] bool has_problems() const { return !problems_.empty(); }

 private:
  struct OpenList {  // "name: [", whose elements are items
    std::string name;
    size_t depth = 0;
  };

  // The file ends inside a message. The caller learns that from depth(); it is not a problem of the last line.
  [[nodiscard]] bool is_cut() const { return at_ == end_ && all_read_ && depth_ > 0; }
  void refill();
  void skip_blank();
  void skip_line();
  [[nodiscard]] size_t string_end(size_t begin, char quote) const;
  // After the opening quote. Without `kept` the text is only skipped.
  void pass_string(char quote, std::string* kept);
  bool read_name(Item& item);
  Item read_value(Item item);
  void pass_colon(Item& item);
  void read_strings(Item& item);
  Item open(Item item);
  Item close();
  void append_unescaped(std::string_view raw, std::string& to) const;
  void problem(std::string reason);
  uint64_t line_at(size_t at);

  const File* file_ = nullptr;
  std::unique_ptr<char[]> buffer_;
  const char* data_ = nullptr;
  size_t at_ = 0, end_ = 0;  // in data_
  uint64_t base_ = 0;        // of data_ in the file
  bool all_read_ = false;
  size_t depth_ = 0;
  std::vector<OpenList> lists_;
  std::string scratch_, name_;
  size_t item_ = 0, counted_ = 0;  // in data_
  uint64_t lines_ = 1;             // before counted_
  uint64_t item_line_ = 0;         // of an item that is no longer in data_; else 0
  IrProblems problems_;
  Status status_;
};

// Walks the messages of a ProtoText.

// Calls visit(item) for each field and message of the open message. visit reads a message to its end: with this function
// or with skip(). False if the file ends inside the message.
template <class Visit>
bool for_each_item(ProtoText& text, const Visit& visit) {
  for (;;) {
    const ProtoText::Item item = text.next();
    if (item.kind == ProtoText::Kind::kEnd) return false;
    if (item.kind == ProtoText::Kind::kClose) return true;
    visit(item);
  }
}

// 0 for a text that is not a number. A number that does not fit becomes the nearest that does.
[[nodiscard]] int64_t number_of(std::string_view value);

}  // namespace msdump
