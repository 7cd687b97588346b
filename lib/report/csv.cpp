#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "report/json.h"
#include "report/row_sink.h"

namespace msdump::report {
namespace {

// Whether a text needs quotes or escapes. Eight bytes are looked at a time, because most texts need neither.
struct Care {
  bool quotes = false;   // it has a comma, a quote or the end of a line
  bool escapes = false;  // a byte above 0x7F, or 0
};

constexpr uint64_t kOnes = 0x0101'0101'0101'0101, kHighs = kOnes * 0x80;

// The high bit of each byte of `word` that equals `c`. Valid if no byte is above 0x7F.
constexpr uint64_t equal_bytes(uint64_t word, char c) {
  return (word ^ kOnes * static_cast<uint8_t>(c)) - kOnes;  // borrows only above a byte that is equal
}

Care care_of(std::string_view text) {
  uint64_t high = 0, special = 0, nul = 0;
  for (size_t at = 0; at < text.size(); at += 8) {
    uint64_t word = kOnes * 'x';
    std::memcpy(&word, text.data() + at, std::min<size_t>(8, text.size() - at));
    high |= word;
    special |= equal_bytes(word, ',') | equal_bytes(word, '"') | equal_bytes(word, '\r') | equal_bytes(word, '\n');
    nul |= equal_bytes(word, '\0');
  }
  Care care;
  const bool ascii = (high & kHighs) == 0;
  care.escapes = !ascii || (nul & kHighs) != 0;
  care.quotes = !ascii ? text.find_first_of(",\"\r\n") != std::string_view::npos : (special & kHighs) != 0;
  return care;
}

class CsvFormatter : public RowFormatter {
 public:
  CsvFormatter(const std::vector<Column>& columns, bool for_terminal) : for_terminal_(for_terminal) {
    for (const Column& column : columns) {
      Path& path = paths_.emplace_back();
      for (const std::string_view key : split(column.key, '.')) path.steps.push_back({key, 0});
      path.same_parent = paths_.size() > 1 && same_parent(path, paths_[paths_.size() - 2]);
    }
  }

  void append(const Row& row, std::string& text) override {
    const size_t begin = text.size();
    const Object* parent = nullptr;
    for (Path& path : paths_) {
      if (!path.same_parent) parent = find_parent(row, path);
      append_value(parent == nullptr ? nullptr : parent->find(path.steps.back().key, path.steps.back().place), text);
    }
    finish_line(begin, text);
  }

  static void append_titles(const std::vector<Column>& columns, std::string& text) {
    const size_t begin = text.size();
    for (const Column& column : columns) append_cell(column.key, care_of(column.key).quotes, text);
    finish_line(begin, text);
  }

 private:
  struct Step {
    std::string_view key;
    size_t place = 0;  // its index in the previous row
  };
  struct Path {
    std::vector<Step> steps;
    bool same_parent = false;  // as the column before, which is usual: a.rank, a.step
  };

  static bool same_parent(const Path& one, const Path& other) {
    return one.steps.size() == other.steps.size() &&
           std::equal(one.steps.begin(), one.steps.end() - 1, other.steps.begin(),
                      [](const Step& left, const Step& right) { return left.key == right.key; });
  }

  // The object that has the last key of a path.
  static const Object* find_parent(const Row& row, Path& path) {
    const Object* object = &row;
    for (auto step = path.steps.begin(); object != nullptr && step + 1 != path.steps.end(); ++step) {
      const Value* const value = object->find(step->key, step->place);
      object = value == nullptr ? nullptr : value->get<Object>();
    }
    return object;
  }

  void append_value(const Value* value, std::string& text) const {
    if (value == nullptr || value->is_null()) {
      text += ',';
    } else if (const std::string* words = value->get<std::string>()) {
      append_text(*words, text);
    } else if (const int64_t* number = value->get<int64_t>()) {
      append_number(*number, text);
    } else if (const uint64_t* natural = value->get<uint64_t>()) {
      append_number(*natural, text);
    } else if (const double* real = value->get<double>()) {
      append_number_text(text, *real);  // only JSON quotes numbers that are not finite
      text += ',';
    } else if (const float* single = value->get<float>()) {
      append_number_text(text, *single);
      text += ',';
    } else {
      std::string json;
      append_json(json, *value);
      append_cell(json, care_of(json).quotes, text);
    }
  }

  template <class T>
  static void append_number(T number, std::string& text) {
    const fmt::format_int digits(number);
    text.append(digits.data(), digits.size());
    text += ',';
  }

  void append_text(const std::string& words, std::string& text) const {
    const Care care = care_of(words);
    if (for_terminal_ || care.escapes) {
      const std::string escaped = for_terminal_ ? escape_for_terminal(words) : surrogate_escaped(words);
      append_cell(escaped, care_of(escaped).quotes, text);
    } else {
      append_cell(words, care.quotes, text);
    }
  }

  // Every cell ends in a comma; finish_line replaces the last comma by the end of the line.
  static void append_cell(std::string_view cell, bool needs_quotes, std::string& text) {
    if (!needs_quotes && !cell.empty() && cell.front() != ' ' && cell.back() != ' ') {
      text.append(cell);
    } else {
      text += '"';
      for (const char c : cell) {
        if (c == '"') text += '"';
        text += c;
      }
      text += '"';
    }
    text += ',';
  }

  static void finish_line(size_t begin, std::string& text) {
    if (text.size() > begin) text.back() = '\n';
  }

  std::vector<Path> paths_;
  bool for_terminal_;
};

class CsvSink : public RowSink {
 public:
  CsvSink(TextOutput& out, Report report, const SinkOptions& options)
      : out_(out), columns_(std::move(report.columns)), for_terminal_(options.for_terminal) {}

  std::unique_ptr<RowFormatter> formatter() const override {
    return columns_.empty() ? nullptr : std::make_unique<CsvFormatter>(columns_, for_terminal_);
  }

 private:
  TextOutput& output() override { return out_; }

  // Declared columns are printed even if no row follows; otherwise the first row defines them.
  Status begin() override { return columns_.empty() ? Status() : header(); }

  Status header() {
    line_.clear();
    CsvFormatter::append_titles(columns_, line_);
    return line_.empty() ? Status() : out_.write(line_);
  }

  Status add(const Row& row) override {
    if (columns_.empty()) {
      columns_ = columns_of(row);
      MSDUMP_CHECK_OK(header());
    }
    if (!own_) own_ = std::make_unique<CsvFormatter>(columns_, for_terminal_);
    line_.clear();
    own_->append(row, line_);
    return line_.empty() ? Status() : out_.write(line_);
  }

  Status end(Closing&&) override { return {}; }

  TextOutput& out_;
  std::vector<Column> columns_;
  bool for_terminal_;
  std::unique_ptr<RowFormatter> own_;
  std::string line_;
};

}  // namespace

std::unique_ptr<RowSink> make_csv_sink(TextOutput& out, Report&& report, const SinkOptions& options) {
  return std::make_unique<CsvSink>(out, std::move(report), options);
}

}  // namespace msdump::report
