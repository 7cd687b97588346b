#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "report/json.h"
#include "report/row_sink.h"

namespace msdump::report {
namespace {

constexpr std::string_view kGap = "  ";
constexpr size_t kNarrowestName = 24;  // a name cut in the middle keeps at least this much,
constexpr size_t kShortestName = 20;   // or this if the last column has no room otherwise
constexpr size_t kNarrowestLast = 24;  // the last column, which is cut at its end

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
  } else if (const std::string* text = value->get<std::string>()) {
    cell.text = escape_for_terminal(*text);
  } else if (const double* wide = value->get<double>()) {
    cell = {rounded(*wide), true};
  } else if (const float* narrow = value->get<float>()) {
    cell = {rounded(*narrow), true};
  } else {
    append_json(cell.text, *value);
    cell.number = value->is_number();
  }
  return cell;
}

// The end of the longest prefix that is at most `width` wide.
size_t end_of_prefix(std::string_view text, size_t width) {
  size_t used = 0, end = 0;
  while (end < text.size()) {
    const size_t length = std::max<size_t>(utf8_sequence_length(text, end), 1);
    used += display_width(text.substr(end, length));
    if (used > width) break;
    end += length;
  }
  return end;
}

// The longest prefix that leaves room for the ellipsis.
std::string cut_to_width(const std::string& line, size_t width) {
  if (display_width(line) <= width) return line;
  return line.substr(0, end_of_prefix(line, width - 1)) + "…";
}

// The end of a name says more than its beginning.
std::string cut_in_the_middle(const std::string& text, size_t width) {
  const size_t whole = display_width(text);
  if (whole <= width) return text;
  const size_t head = (width - 1) / 3, tail = width - 1 - head;
  const std::string_view begin = std::string_view(text).substr(0, end_of_prefix(text, head));
  size_t rest = end_of_prefix(text, whole - tail);
  while (display_width(std::string_view(text).substr(rest)) > tail)
    rest += std::max<size_t>(utf8_sequence_length(text, rest), 1);
  return fmt::format("{}…{}", begin, std::string_view(text).substr(rest));
}

// The end of the scope that all names have in common: "a/b" of "a/b/c" and "a/b/d".
size_t end_of_scope(const std::set<std::string>& names) {
  // Between the first and the last of an order, no name has less of their beginning.
  const std::string &first = *names.begin(), &last = *names.rbegin();
  const auto differ = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first;
  const size_t end = first.substr(0, static_cast<size_t>(differ - first.begin())).find_last_of("/.-_");
  return end == std::string::npos ? 0 : end;
}

// Names that are cut in the middle and remain different: without the scope that they have in common, else with the number of
// characters that are left out.
class CutNames {
 public:
  CutNames() = default;
  CutNames(const std::set<std::string>& names, size_t width) : width_(width) {
    if (names.empty()) return;
    add(names, kMostRounds);
    std::map<std::string, size_t> uses;
    for (const auto& [name, cut] : cuts_) ++uses[cut];
    for (auto& [name, cut] : cuts_) {
      if (uses[cut] > 1) cut = cut_with_count(name);
    }
  }
  [[nodiscard]] std::string of(const std::string& name) const {
    const auto found = cuts_.find(name);
    return found == cuts_.end() ? cut_in_the_middle(name, width_) : found->second;
  }

 private:
  static constexpr int kMostRounds = 16;

  void add(const std::set<std::string>& names, int rounds) {
    const size_t scope = names.size() > 1 ? end_of_scope(names) : 0;
    std::map<std::string, std::set<std::string>> by_cut;
    for (const std::string& name : names) {
      const bool keeps = scope <= 1 || display_width(name) <= width_;
      by_cut[keeps ? cut_in_the_middle(name, width_) : without_scope(name, scope)].insert(name);
    }
    for (const auto& [cut, alike] : by_cut) {
      for (const std::string& name : alike) cuts_[name] = cut;
      if (alike.size() > 1 && alike.size() < names.size() && rounds > 0) add(alike, rounds - 1);
    }
  }

  // Keeps as many of the last scopes as fit: "…/Residual/Mul-op0"
  [[nodiscard]] std::string without_scope(const std::string& name, size_t scope) const {
    const size_t first = end_of_prefix(name, display_width(name) - (width_ - 1));
    size_t begin = name.find_first_of("/.", first);
    if (begin > scope) begin = name.find_first_of("_-", first);  // names as files have them
    return cut_in_the_middle("…" + name.substr(std::min(begin, scope)), width_);
  }

  // "…312…Tanh-op0"
  [[nodiscard]] std::string cut_with_count(const std::string& name) const {
    const size_t whole = display_width(name);
    if (whole <= width_) return name;
    const std::string count = fmt::format("…{}…", whole - width_);
    const size_t room = width_ - std::min(display_width(count), width_);
    return count + name.substr(end_of_prefix(name, whole - room));
  }

  size_t width_ = 0;
  std::map<std::string, std::string> cuts_;
};

class TableSink : public RowSink {
 public:
  TableSink(TextOutput& out, const Report& report, const SinkOptions& options)
      : out_(out), max_width_(options.max_width) {
    show(report.columns);
  }

 private:
  TextOutput& output() override { return out_; }
  Status begin() override { return {}; }

  Status add(const Row& row) override {
    if (columns_.empty()) show(columns_of(row));
    std::vector<Cell> cells;
    for (const Column& column : columns_) {
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

  Status end(Closing&&) override {
    if (!waiting_.empty()) MSDUMP_CHECK_OK(print_waiting());
    if (dropped_.empty()) return {};
    return out_.write(fmt::format("(columns that do not fit: {})\n", dropped_));
  }

  // Columns without a title are for CSV.
  void show(const std::vector<Column>& columns) {
    for (const Column& column : columns) {
      if (!column.title.empty()) columns_.push_back(column);
    }
  }

  Status print_waiting() {
    measure();
    measured_ = true;
    drop_columns();
    shrink_names();
    cut_names();
    std::vector<Cell> titles;
    for (const Column& column : columns_) titles.push_back({column.title});
    MSDUMP_CHECK_OK(print(titles));
    for (const std::vector<Cell>& cells : waiting_) MSDUMP_CHECK_OK(print(cells));
    waiting_.clear();
    waiting_.shrink_to_fit();
    return {};
  }

  void measure() {
    widths_.clear();
    for (const Column& column : columns_) widths_.push_back(display_width(column.title));
    right_.assign(columns_.size(), true);
    filled_.assign(columns_.size(), false);
    std::vector<bool> any_number(columns_.size(), false);
    for (const std::vector<Cell>& cells : waiting_) {
      for (size_t i = 0; i < cells.size(); ++i) {
        widths_[i] = std::max(widths_[i], display_width(cells[i].text));
        if (cells[i].number) any_number[i] = true;
        if (!cells[i].number && !cells[i].absent) right_[i] = false;
        if (cells[i].text != "-") filled_[i] = true;
      }
    }
    for (size_t i = 0; i < columns_.size(); ++i) right_[i] = right_[i] && any_number[i];
  }

  // The width of a line when every name is cut as far as allowed.
  [[nodiscard]] size_t narrowest() const {
    size_t all = kGap.size() * (widths_.size() - 1);
    for (size_t i = 0; i < widths_.size(); ++i) {
      const bool last = i + 1 == widths_.size();
      all += right_[i] ? widths_[i] : std::min(widths_[i], last ? kNarrowestLast : kNarrowestName);
    }
    return all;
  }

  void drop_columns() {
    if (max_width_ == 0) return;
    for (size_t i = columns_.size(); i-- > 0 && narrowest() > max_width_;) {
      if (!filled_[i] && columns_.size() > 1) drop(i);
    }
    while (narrowest() > max_width_) {
      const auto least = std::max_element(columns_.begin(), columns_.end(),
                                          [](const Column& a, const Column& b) { return a.drop < b.drop; });
      if (least->drop == 0 || columns_.size() == 1) return;
      drop(static_cast<size_t>(least - columns_.begin()));
    }
  }

  void drop(size_t column) {
    if (filled_[column]) dropped_ += (dropped_.empty() ? "" : ", ") + columns_[column].title;
    const auto place = static_cast<std::ptrdiff_t>(column);
    columns_.erase(columns_.begin() + place);
    widths_.erase(widths_.begin() + place);
    right_.erase(right_.begin() + place);
    filled_.erase(filled_.begin() + place);
    for (std::vector<Cell>& cells : waiting_) cells.erase(cells.begin() + place);
  }

  // When lines are wider than the terminal, the widest texts are shortened first; the last one is cut at its end.
  void shrink_names() {
    shrunk_.assign(widths_.size(), false);
    if (max_width_ == 0) return;
    shrink_to(kNarrowestName, widths_.back());
    shrink_to(kShortestName, std::min(widths_.back(), kNarrowestLast));
  }

  // Narrows names down to `shortest` until the line fits with `last` columns for its last cell.
  void shrink_to(size_t shortest, size_t last) {
    size_t all = kGap.size() * (widths_.size() - 1) + last;
    for (size_t i = 0; i + 1 < widths_.size(); ++i) all += widths_[i];
    for (; all > max_width_; --all) {
      size_t widest = widths_.size();
      for (size_t i = 0; i + 1 < widths_.size(); ++i) {
        const bool can = !right_[i] && widths_[i] > shortest;
        if (can && (widest == widths_.size() || widths_[i] > widths_[widest])) widest = i;
      }
      if (widest == widths_.size()) return;
      --widths_[widest];
      shrunk_[widest] = true;
    }
  }

  void cut_names() {
    names_.assign(widths_.size(), {});
    for (size_t i = 0; i < widths_.size(); ++i) {
      if (!shrunk_[i]) continue;
      std::set<std::string> names;
      for (const std::vector<Cell>& cells : waiting_) names.insert(cells[i].text);
      names_[i] = CutNames(names, widths_[i]);
    }
  }

  Status print(const std::vector<Cell>& cells) {
    line_.clear();
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string text = shrunk_[i] ? names_[i].of(cells[i].text) : cells[i].text;
      const size_t width = display_width(text);
      const std::string padding(width < widths_[i] ? widths_[i] - width : 0, ' ');
      if (i > 0) line_ += kGap;
      line_ += right_[i] ? padding + text : text + padding;
    }
    line_.erase(line_.find_last_not_of(' ') + 1);
    if (max_width_ > 0) line_ = cut_to_width(line_, max_width_);
    line_ += '\n';
    return out_.write(line_);
  }

  TextOutput& out_;
  std::vector<Column> columns_;  // those of the table
  size_t max_width_;
  bool measured_ = false;
  std::vector<std::vector<Cell>> waiting_;
  std::vector<size_t> widths_;
  std::vector<bool> right_;   // columns of numbers are aligned to the right
  std::vector<bool> filled_;  // some row has more than "-"
  std::vector<bool> shrunk_;  // their texts are cut in the middle
  std::vector<CutNames> names_;
  std::string dropped_;  // titles of columns that some row fills
  std::string line_;
};

}  // namespace

std::unique_ptr<RowSink> make_table_sink(TextOutput& out, Report&& report, const SinkOptions& options) {
  return std::make_unique<TableSink>(out, report, options);
}

}  // namespace msdump::report
