#include "report/row_type.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace msdump::report {
namespace {

// An object that CSV flattens; a list is one cell.
bool is_flattened(const Key& key) {
  const std::vector<std::string_view> alternatives = key.alternatives();
  return key.of != nullptr && std::find(alternatives.begin(), alternatives.end(), "object") != alternatives.end();
}

Column column_of(const Key& key, std::string path) {
  Column column{path, std::string(key.title), {}, key.drop};
  if (key.cell != nullptr)
    column.text = [cell = key.cell, path = std::move(path)](const Row& row) { return cell(row, path); };
  return column;
}

void add_columns(const ObjectType& type, const std::string& prefix, std::vector<Column>& columns) {
  for (const Key& key : type.keys) {
    const std::string path = prefix + std::string(key.key);
    if (is_flattened(key)) {
      add_columns(key.of(), path + ".", columns);
    } else {
      columns.push_back(column_of(key, path));
    }
  }
}

}  // namespace

std::vector<std::string_view> Key::alternatives() const {
  std::string_view rest = type;
  if (is_optional()) rest.remove_suffix(1);
  return split(rest, '|');
}

const Key* ObjectType::find(std::string_view path) const {
  const size_t dot = path.find('.');
  const auto found =
      std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.key == path.substr(0, dot); });
  if (found == keys.end()) return nullptr;
  if (dot == std::string_view::npos) return &*found;
  return found->of == nullptr ? nullptr : found->of().find(path.substr(dot + 1));
}

std::vector<Column> ObjectType::columns(std::initializer_list<std::string_view> paths) const {
  std::vector<Column> columns;
  if (paths.size() == 0) add_columns(*this, "", columns);
  for (const std::string_view path : paths) columns.push_back(column_of(*find(path), std::string(path)));
  return columns;
}

ObjectType ObjectType::with(std::string_view new_name, std::string_view new_text, const std::vector<Key>& more) const {
  ObjectType type{new_name, new_text, keys};
  for (const Key& key : more) {
    const auto same = [&](const Key& one) { return one.key == key.key; };
    const auto found = std::find_if(type.keys.begin(), type.keys.end(), same);
    if (found != type.keys.end()) {
      *found = key;
    } else {
      type.keys.push_back(key);
    }
  }
  return type;
}

void hide(std::vector<Column>& columns, std::initializer_list<std::string_view> keys) {
  for (Column& column : columns) {
    if (std::find(keys.begin(), keys.end(), column.key) != keys.end()) column.title.clear();
  }
}

std::string whole_cell(const Row& row, std::string_view key) { return row.text_or_number(key); }

}  // namespace msdump::report
