#include "report/page/page_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "base/text.h"
#include "report/json.h"

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

namespace {

constexpr size_t kSampleParts = 2000;

class Sampler {
 public:
  Sampler(const std::vector<PagePoint>& points, size_t most) : points_(points), most_(most), taken_(points.size()) {}

  std::vector<size_t> run() {
    take_where(most_ / 2, &PagePoint::marked);
    const size_t parts = std::min(kSampleParts, std::max<size_t>(most_ / 50, 1));
    for (size_t part = 0; part < parts; ++part)
      take_extremes(points_.size() * part / parts, points_.size() * (part + 1) / parts);
    take_where(most_, &PagePoint::differs);
    std::vector<size_t> rows;
    rows.reserve(count_);
    for (size_t i = 0; i < taken_.size(); ++i) {
      if (taken_[i]) rows.push_back(i);
    }
    return rows;
  }

 private:
  void take(size_t point) {
    if (taken_[point]) return;
    taken_[point] = true;
    ++count_;
  }

  void take_where(size_t most, bool PagePoint::*wanted) {
    for (size_t i = 0; i < points_.size() && count_ < most; ++i) {
      if (points_[i].*wanted) take(i);
    }
  }

  // A point without an error stands for its kind only if no other does.
  void take_extremes(size_t begin, size_t end) {
    constexpr size_t kKinds = 16, kNoPoint = SIZE_MAX;
    std::array<size_t, kKinds> largest, smallest;
    largest.fill(kNoPoint);
    smallest.fill(kNoPoint);
    for (size_t i = begin; i < end; ++i) {
      const size_t kind = points_[i].kind % kKinds;
      const double error = points_[i].error;
      const auto replaces = [&](size_t best, bool better) {
        return best == kNoPoint || better || (std::isnan(points_[best].error) && !std::isnan(error));
      };
      if (replaces(largest[kind], largest[kind] != kNoPoint && error > points_[largest[kind]].error)) largest[kind] = i;
      if (replaces(smallest[kind], smallest[kind] != kNoPoint && error < points_[smallest[kind]].error))
        smallest[kind] = i;
    }
    for (size_t kind = 0; kind < kKinds && count_ + 2 <= most_; ++kind) {
      if (largest[kind] != kNoPoint) take(largest[kind]);
      if (smallest[kind] != kNoPoint) take(smallest[kind]);
    }
  }

  const std::vector<PagePoint>& points_;
  const size_t most_;
  std::vector<bool> taken_;
  size_t count_ = 0;
};

}  // namespace

std::vector<size_t> page_sample(const std::vector<PagePoint>& points, size_t most) {
  if (points.size() > most) return Sampler(points, most).run();
  std::vector<size_t> all(points.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

std::string page_json(const PageData& data) {
  std::string text = "{\"kind\":";
  append_json_string(text, data.kind);
  text += ",\"command\":";
  append_json(text, list_of(data.command));
  text += fmt::format(",\"all\":{},\"rows\":", data.all);
  data.rows->append_json(text);
  text += ",\"points\":";
  if (data.points == nullptr) {
    text += "null";
  } else {
    data.points->append_json(text);
  }
  List classes, dumps;
  for (const PageClass& one : data.classes) {
    Object object;
    object.add("key", one.key).add("style", one.style).add("text", one.text).add("count", one.count);
    classes.emplace_back(std::move(object));
  }
  for (const PageSide& one : data.dumps) {
    List several;
    if (one.several_ranks) several.emplace_back("rank");
    if (one.several_steps) several.emplace_back("step");
    Object object;
    object.add("role", one.role).add("paths", list_of(one.paths)).add("at", one.at).add("several", std::move(several));
    dumps.emplace_back(std::move(object));
  }
  text += ",\"classes\":";
  append_json(text, classes);
  text += ",\"dumps\":";
  append_json(text, dumps);
  text += fmt::format(",\"flow\":{},\"edges\":[", data.has_flow);
  for (size_t i = 0; i < data.edges.size(); ++i) {
    const PageEdge& edge = data.edges[i];
    text += fmt::format("{}{},{},{},{}", i == 0 ? "" : ",", edge.from, edge.to,
                        edge.row ? std::to_string(*edge.row) : "null", edge.gap ? 1 : 0);
  }
  text += "],\"causes\":";
  append_json(text, data.causes);
  text += ",\"pictures\":";
  append_json(text, data.pictures);
  text += ",\"tokens\":";
  append_json(text, data.tokens);
  return text + "}";
}

}  // namespace msdump::report
