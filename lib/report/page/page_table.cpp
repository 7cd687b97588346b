#include "report/page/page_table.h"

#include <cmath>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "base/text.h"
#include "report/json_text.h"

namespace msdump::report {
namespace {

std::string short_text(double number) {
  if (std::isnan(number)) return "\"nan\"";
  if (std::isinf(number)) return number < 0 ? "\"-inf\"" : "\"inf\"";
  return fmt::format(FMT_COMPILE("{:.5g}"), number);
}

// A list as people write a shape or an index: [2, 3].
std::string cell_text(const Value& value) {
  if (value.is_null()) return {};
  std::string text;
  if (const auto* const own = value.get<std::string>()) {
    text = *own;
  } else {
    append_json(text, value);
  }
  if (text.size() > kMostPageText) text = text.substr(0, kMostPageText) + "...";
  return text;
}

}  // namespace

std::string short_number(const Value& value) {
  if (const auto* const number = value.get<double>()) return short_text(*number);
  if (const auto* const number = value.get<float>()) return short_text(double{*number});
  if (!value.is_number()) return "null";
  std::string whole;
  append_json(whole, value);
  return whole;
}

PageTable::PageTable(std::vector<PageColumn> columns) : columns_(std::move(columns)), contents_(columns_.size()) {}

PageTable::Cells PageTable::cells_of(const Row& row) const {
  Cells cells;
  cells.reserve(columns_.size());
  for (const PageColumn& column : columns_) {
    const Value* const plain = column.value ? nullptr : row.find_path(column.key);
    const Value value = column.value ? column.value(row) : plain == nullptr ? Value() : *plain;
    cells.push_back(column.kind == PageColumn::Kind::kNumber ? short_number(value) : cell_text(value));
  }
  return cells;
}

void PageTable::add(const Cells& cells) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    Content& content = contents_[i];
    const std::string& text = cells[i];
    if (columns_[i].kind == PageColumn::Kind::kNumber) {
      if (rows_ > 0) content.numbers += ',';
      content.numbers += text;
      content.ends.push_back(content.numbers.size());
      continue;
    }
    if (text.empty()) {
      content.cells.push_back(0);
      continue;
    }
    const auto [place, is_new] = content.places.try_emplace(text, static_cast<uint32_t>(content.words.size()));
    if (is_new) content.words.push_back(escape_for_terminal(text));
    content.cells.push_back(place->second);
  }
  ++rows_;
}

std::string PageTable::text(size_t row, size_t column) const {
  const Content& content = contents_[column];
  if (columns_[column].kind == PageColumn::Kind::kText) return content.words[content.cells[row]];
  const size_t begin = row == 0 ? 0 : content.ends[row - 1] + 1;
  std::string_view number(content.numbers);
  number = number.substr(begin, content.ends[row] - begin);
  if (number == "null") return {};
  std::string text(number.front() == '"' ? number.substr(1, number.size() - 2) : number);
  const auto note = std::find_if(columns_.begin(), columns_.end(),
                                 [&](const PageColumn& other) { return other.key == columns_[column].key + "_note"; });
  if (note == columns_.end()) return text;
  const std::string beside = this->text(row, static_cast<size_t>(note - columns_.begin()));
  return beside.empty() ? text : text + " " + beside;
}

void PageTable::append_json(std::string& into) const {
  const auto add_list = [&](std::string_view key, const auto& items, const auto& add_item) {
    into += fmt::format(R"(,"{}":[)", key);
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) into += ',';
      add_item(items[i]);
    }
    into += ']';
  };
  into += fmt::format(R"({{"count":{},"columns":[)", rows_);
  for (size_t i = 0; i < columns_.size(); ++i) {
    into += fmt::format(R"({}{{"key":"{}","title":"{}","shown":{})", i == 0 ? "" : ",", columns_[i].key,
                        columns_[i].title, columns_[i].shown);
    const Content& content = contents_[i];
    if (columns_[i].kind == PageColumn::Kind::kNumber) {
      into += R"(,"numbers":[)" + content.numbers + "]";
    } else {
      add_list("words", content.words, [&](const std::string& word) { append_json_string(into, word); });
      add_list("cells", content.cells, [&](uint32_t cell) { into += fmt::format_int(cell).c_str(); });
    }
    into += '}';
  }
  into += "]}";
}

}  // namespace msdump::report
