#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "report/json_text.h"
#include "report/row_sink.h"

namespace msdump::report {
namespace {

constexpr std::string_view kGap = "  ";

struct Cell {
  std::string text;
  bool number = false, absent = false;
};

// Six significant digits are for eyes; scripts take the exact number from --json or --csv.
template <class T>
std::string rounded(T value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : number_text(value);
}

Cell cell_of(const Value* value) {
  Cell cell;
  if (value == nullptr || value->is_null()) {
    cell = {"-", false, true};
  } else if (const std::string* text = std::get_if<std::string>(&value->storage())) {
    cell.text = escape_for_terminal(*text);
  } else if (const double* wide = std::get_if<double>(&value->storage())) {
    cell = {rounded(*wide), true};
  } else if (const float* narrow = std::get_if<float>(&value->storage())) {
    cell = {rounded(*narrow), true};
  } else {
    append_json(cell.text, *value);
    cell.number = value->is_number();
  }
  return cell;
}

// The longest prefix that leaves room for the sign that something is missing.
std::string cut_to_width(const std::string& line, size_t width) {
  if (display_width(line) <= width) return line;
  size_t used = 0, end = 0;
  while (end < line.size()) {
    const size_t length = std::max<size_t>(utf8_sequence_length(line, end), 1);
    const size_t columns = display_width(std::string_view(line).substr(end, length));
    if (used + columns > width - 1) break;
    used += columns;
    end += length;
  }
  return line.substr(0, end) + "…";
}

class TableSink : public RowSink {
 public:
  TableSink(TextOutput& out, Report report, const SinkOptions& options)
      : out_(out), columns_(std::move(report.columns)), max_width_(options.max_width) {}

 private:
  TextOutput& output() override { return out_; }
  Status begin() override { return {}; }

  Status add(const Row& row) override {
    if (columns_.empty()) columns_ = columns_of(row);
    std::vector<Cell> cells;
    for (const Column& column : columns_) {
      if (column.title.empty()) continue;
      if (column.text) {
        cells.push_back({escape_for_terminal(column.text(row))});
      } else {
        cells.push_back(cell_of(row.find_path(column.key)));
      }
    }
    if (measured_) return print(cells);
    waiting_.push_back(std::move(cells));
    return waiting_.size() < kTableLookahead ? Status() : print_waiting();
  }

  Status end(const Closing&) override { return waiting_.empty() ? Status() : print_waiting(); }

  Status print_waiting() {
    std::vector<Cell> titles;
    for (const Column& column : columns_) {
      if (!column.title.empty()) titles.push_back({column.title});
    }
    widths_.assign(titles.size(), 0);
    right_.assign(titles.size(), true);
    std::vector<bool> any_number(titles.size(), false);
    for (const std::vector<Cell>& cells : waiting_) {
      for (size_t i = 0; i < cells.size(); ++i) {
        widths_[i] = std::max(widths_[i], display_width(cells[i].text));
        if (cells[i].number) any_number[i] = true;
        if (!cells[i].number && !cells[i].absent) right_[i] = false;
      }
    }
    for (size_t i = 0; i < titles.size(); ++i) {
      widths_[i] = std::max(widths_[i], display_width(titles[i].text));
      right_[i] = right_[i] && any_number[i];
    }
    measured_ = true;
    MSDUMP_CHECK_OK(print(titles));
    for (const std::vector<Cell>& cells : waiting_) MSDUMP_CHECK_OK(print(cells));
    waiting_.clear();
    waiting_.shrink_to_fit();
    return {};
  }

  Status print(const std::vector<Cell>& cells) {
    line_.clear();
    for (size_t i = 0; i < cells.size(); ++i) {
      const size_t width = display_width(cells[i].text);
      const std::string padding(width < widths_[i] ? widths_[i] - width : 0, ' ');
      if (i > 0) line_ += kGap;
      line_ += right_[i] ? padding + cells[i].text : cells[i].text + padding;
    }
    line_.erase(line_.find_last_not_of(' ') + 1);
    if (max_width_ > 0) line_ = cut_to_width(line_, max_width_);
    line_ += '\n';
    return out_.write(line_);
  }

  TextOutput& out_;
  std::vector<Column> columns_;
  size_t max_width_;
  bool measured_ = false;
  std::vector<std::vector<Cell>> waiting_;
  std::vector<size_t> widths_;
  std::vector<bool> right_;  // columns of numbers are aligned to the right
  std::string line_;
};

}  // namespace

std::unique_ptr<RowSink> make_table_sink(TextOutput& out, Report report, const SinkOptions& options) {
  return std::make_unique<TableSink>(out, std::move(report), options);
}

}  // namespace msdump::report
