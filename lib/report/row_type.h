// A row type: the keys of one kind of row, each declared once. JSON rows, the heads of CSV, tables and pages, docs/output.md
// and docs/schema are made of the declaration.
//
//   struct Line { const std::string& path; uint64_t bytes; };
//
//   const RowType<Line>& line_rows() {
//     static const auto rows =
//         RowType<Line>("Line", "A file.")
//             .add({.key = "path", .type = "string", .text = "path relative to the dump", .title = "path"},
//                  [](const Line& line) -> Value { return line.path; })
//             .add({.key = "bytes", .type = "integer", .unit = "bytes", .text = "size of the file"},
//                  [](const Line& line) -> Value { return line.bytes; });
//     return rows;
//   }
//
//   line_rows().row(line)      the row
//   line_rows().columns()      its columns, in the order of the keys
//   line_rows().type()         for Key::of of other types, and for DocumentType
//
// Command::documents() lists the documents of a command. tests/unit/apps/output_docs_test.cpp writes docs/output.md and
// docs/schema from them. It fails if they are stale.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/row_sink.h"
#include "report/value.h"

namespace msdump::report {

struct ObjectType;

// A key of an object, and the column that shows it.
//
// `type` is what JSON has, alternatives separated by '|': null, boolean, integer, number, string, object, any, each with
// [] for a list of it. `number` includes the texts "nan", "inf" and "-inf". A '?' at the end: the key may be missing.
struct Key {
  std::string_view key, type;
  std::string_view unit = {};           // "bytes"; empty: none, or the text says it
  std::string_view text = {};           // the value, and the meaning of null
  const ObjectType& (*of)() = nullptr;  // the type of `object`; null: any keys
  std::string_view title = {};          // of the column; empty: not in the table
  // The text of the cell if it is not the value itself; CSV never has it.
  std::string (*cell)(const Row& row, std::string_view key) = nullptr;
  uint8_t drop = 0;  // see Column

  [[nodiscard]] bool is_optional() const { return type.ends_with('?'); }
  // "object", "integer[]", "null": the alternatives of `type`.
  [[nodiscard]] std::vector<std::string_view> alternatives() const;
};

struct ObjectType {
  std::string_view name;  // "Tensor", in the schema
  std::string_view text;
  std::vector<Key> keys;

  // The key at a dotted path into nested objects. Null if there is none.
  [[nodiscard]] const Key* find(std::string_view path) const;
  // A column for each key, those of nested objects dotted ("source.line"); of `paths` alone if there are any.
  [[nodiscard]] std::vector<Column> columns(std::initializer_list<std::string_view> paths = {}) const;
  // The same keys, of which `more` replaces some and adds others.
  [[nodiscard]] ObjectType with(std::string_view new_name, std::string_view new_text,
                                const std::vector<Key>& more) const;
};

template <class Source>
class RowType {
 public:
  struct Field {
    Key key;
    std::function<Value(const Source&)> get;
  };

  RowType(std::string_view name, std::string_view text) : type_{name, text, {}} {}

  RowType& add(const Key& key, Value (*get)(const Source&)) {
    type_.keys.push_back(key);
    fields_.push_back({key, get});
    return *this;
  }
  // The keys of another type, whose source Source is derived from.
  template <class Base>
  RowType& include(const RowType<Base>& base) {
    for (const typename RowType<Base>::Field& field : base.fields()) {
      type_.keys.push_back(field.key);
      fields_.push_back({field.key, field.get});
    }
    return *this;
  }

  // Adds the keys to an Object or a JsonObject.
  template <class Into>
  void fill(const Source& source, Into& into) const {
    into.reserve(fields_.size());
    for (const Field& field : fields_) {
      Value value = field.get(source);
      if (!field.key.is_optional() || !value.is_null()) into.add(field.key.key, std::move(value));
    }
  }
  [[nodiscard]] Row row(const Source& source) const {
    Row row;
    fill(source, row);
    return row;
  }
  [[nodiscard]] std::vector<Column> columns(std::initializer_list<std::string_view> paths = {}) const {
    return type_.columns(paths);
  }
  [[nodiscard]] const ObjectType& type() const { return type_; }
  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }

 private:
  ObjectType type_;
  std::vector<Field> fields_;
};

// Takes columns out of the table; CSV keeps them.
void hide(std::vector<Column>& columns, std::initializer_list<std::string_view> keys);

// A document that a command prints with --json: its rows, and its keys beside the common ones.
struct DocumentType {
  std::string_view name;  // "ls"; "stats-verify"
  std::string_view text;
  const ObjectType* row = nullptr;      // null: no rows
  const ObjectType* summary = nullptr;  // null: an empty summary
  std::vector<Key> further = {};
};

// Cells.
// A whole number or a text; "-" for null, which most numbers of most dumps are.
[[nodiscard]] std::string whole_cell(const Row& row, std::string_view key);

}  // namespace msdump::report
