// RowSink: writes the rows of a report, in order, in one of these forms. A further form is a row of all_forms() and a writer.
//
//   table   aligned columns for people; control characters escaped, wide characters counted as two columns
//   csv     one header line, then the same rows as JSON: an object as dotted columns, a list as one cell of compact JSON.
//           Quoting as RFC 4180; lines end in "\n" alone, as statistic.csv's do. null is an empty cell, "" an empty text.
//   json    one document: {"schema":1,"command":..,"version":..,"dumps":[..],"rows":[..],"summary":{..},"failures":[..]}
//           and further keys. Rows are streamed, so `summary` follows them; the order of keys may change.
//   jsonl   only the rows, one object per line
//
// Memory does not grow with the number of rows: the table measures its columns over the first kTableLookahead rows and
// goes on with those widths. Without rows a document is still valid: CSV has its header, a table prints nothing.
// Not thread-safe, except for the formatters. A write that fails is returned at once and ends the report.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "report/value.h"

namespace msdump::report {

constexpr int64_t kSchema = 1;
constexpr size_t kTableLookahead = 4096;

// The target of the writers; lib never touches stdout itself.
class TextOutput {
 public:
  virtual ~TextOutput() = default;
  virtual Status write(std::string_view text) = 0;
};

class StringOutput : public TextOutput {
 public:
  Status write(std::string_view text) override {
    text_.append(text);
    return {};
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class JsonObject;  // json.h
class RowSink;
struct Report;
struct SinkOptions;

enum class Form : uint8_t { kTable, kJson, kJsonl, kCsv };

struct FormInfo {
  Form form = Form::kTable;
  std::string_view option, help;  // the flag that asks for it; empty: the default
  bool is_for_people = false;     // may leave out, shorten and round; its layout is not an interface
  bool has_document = false;      // has the summary, the failures and the further keys, too
  bool is_nested = false;         // keeps objects and lists; no columns are known before the first row
  std::unique_ptr<RowSink> (*make)(TextOutput& out, Report&& report, const SinkOptions& options) = nullptr;
};
[[nodiscard]] std::span<const FormInfo> all_forms();
[[nodiscard]] const FormInfo& info(Form form);
[[nodiscard]] inline bool is_for_people(Form form) { return info(form).is_for_people; }
[[nodiscard]] inline bool has_document(Form form) { return info(form).has_document; }
[[nodiscard]] inline bool is_nested(Form form) { return info(form).is_nested; }
// True if the rows are all that is written.
[[nodiscard]] inline bool is_stream(Form form) { return !is_for_people(form) && !has_document(form); }

struct Column {
  std::string key;    // dotted path into the row: "source.line"
  std::string title;  // head of the table's column; empty: not in the table
  // The text of the cell if it is not the value itself; CSV never uses it.
  std::function<std::string(const Row&)> text = {};
  // If a table is wider than the terminal, columns of nothing but "-" are dropped first. Then columns with the highest
  // `drop` follow, one at a time, until the rest fits. A column with 0 stays.
  uint8_t drop = 0;
};

// The order in which common columns are dropped; the line and the message of a finding stay.
constexpr uint8_t kDropOpType = 4, kDropRank = 3, kDropGraph = 2, kDropStep = 1;

struct Report {
  std::string command, version;
  std::vector<std::string> dumps;
  // CSV needs its columns before the first row and in an empty report. Empty: the first row defines them.
  std::vector<Column> columns;
};

// The end of a document.
struct Closing {
  Object summary;
  std::vector<Object> failures;  // failure_object(error)
  Object further;                // keys beside the common ones: "first_divergence"
};

struct SinkOptions {
  // Tables: the width in display columns; long names are cut in the middle, lines at their end. 0: no limit.
  size_t max_width = 0;
  bool for_terminal = false;  // CSV: escape control characters, which would drive the terminal
  // JSON: finish() leaves the end of the document here, for write_json_end(); what fails later can still be added.
  std::optional<Closing>* held = nullptr;
};

// The rows of a report by number. Several threads may ask.
struct RowSource {
  std::function<Row(size_t)> row;
  std::function<void(size_t, JsonObject&)> json = {};  // the same as JSON, at half the cost; may be missing
};

// Turns rows into text, for one thread.
class RowFormatter {
 public:
  virtual ~RowFormatter() = default;
  virtual void append(const Row& row, std::string& text) = 0;
  virtual void append_row(const RowSource& source, size_t row, std::string& text) { append(source.row(row), text); }
};

class RowSink {
 public:
  virtual ~RowSink() = default;
  Status row(const Row& row);

  // Several threads may turn rows into text, each with its own formatter; the texts are then written in order. Null for
  // a table, and before the first row.
  [[nodiscard]] virtual std::unique_ptr<RowFormatter> formatter() const { return nullptr; }
  Status write_formatted(std::string_view rows) { return output().write(rows); }

  // Once, after the last row, also when there was none.
  Status finish(Closing closing);

 protected:
  virtual Status begin() = 0;
  virtual Status add(const Row& row) = 0;
  virtual Status end(Closing&& closing) = 0;
  virtual TextOutput& output() = 0;

 private:
  Status begin_once();
  bool begun_ = false;
};

// `out` must outlive the sink.
[[nodiscard]] std::unique_ptr<RowSink> make_sink(Form form, TextOutput& out, Report report,
                                                 const SinkOptions& options = {});

// The end of a document that was held.
Status write_json_end(TextOutput& out, const Closing& closing);

// {"path","tensor","offset","code","message","hint"}; null for what the error does not have.
[[nodiscard]] Object failure_object(const Error& error);

// A column for every cell of `row`, objects flattened: for reports without declared columns.
[[nodiscard]] std::vector<Column> columns_of(const Row& row);

// The writers, for all_forms().
[[nodiscard]] std::unique_ptr<RowSink> make_table_sink(TextOutput& out, Report&& report, const SinkOptions& options);
[[nodiscard]] std::unique_ptr<RowSink> make_csv_sink(TextOutput& out, Report&& report, const SinkOptions& options);
[[nodiscard]] std::unique_ptr<RowSink> make_json_sink(TextOutput& out, Report&& report, const SinkOptions& options);
[[nodiscard]] std::unique_ptr<RowSink> make_jsonl_sink(TextOutput& out, Report&& report, const SinkOptions& options);

}  // namespace msdump::report
