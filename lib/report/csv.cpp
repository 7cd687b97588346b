#include "base/text.h"
#include "report/json_text.h"
#include "report/row_sink.h"

namespace msdump::report {
namespace {

class CsvSink : public RowSink {
 public:
  CsvSink(TextOutput& out, Report report, const SinkOptions& options)
      : out_(out), columns_(std::move(report.columns)), for_terminal_(options.for_terminal) {}

 private:
  // Declared columns are printed even if no row follows; otherwise the first row brings them.
  Status begin() override { return columns_.empty() ? Status() : header(); }

  Status header() {
    line_.clear();
    for (const Column& column : columns_) append_cell(column.key);
    return finish_line();
  }

  Status add(const Row& row) override {
    if (columns_.empty()) {
      columns_ = columns_of(row);
      MSDUMP_CHECK_OK(header());
    }
    line_.clear();
    for (const Column& column : columns_) append_value(row.find_path(column.key));
    return finish_line();
  }

  Status end(const Closing&) override { return {}; }

  void append_value(const Value* value) {
    if (value == nullptr || value->is_null()) {
      line_ += ',';
      return;
    }
    if (const std::string* text = std::get_if<std::string>(&value->storage())) {
      append_cell(for_terminal_ ? escape_for_terminal(*text) : surrogate_escaped(*text));
      return;
    }
    std::string text;
    append_json(text, *value);
    // Non-finite numbers are quoted in JSON only.
    if (value->is_number() && text.front() == '"') text = text.substr(1, text.size() - 2);
    append_cell(text);
  }

  // Every cell ends in a comma; finish_line turns the last one into the end of the line.
  void append_cell(std::string_view text) {
    const bool quoted = text.empty() || text.find_first_of(",\"\r\n") != std::string_view::npos ||
                        text.front() == ' ' || text.back() == ' ';
    if (!quoted) {
      line_.append(text);
    } else {
      line_ += '"';
      for (const char c : text) {
        if (c == '"') line_ += '"';
        line_ += c;
      }
      line_ += '"';
    }
    line_ += ',';
  }

  Status finish_line() {
    if (line_.empty()) return {};
    line_.back() = '\n';
    return out_.write(line_);
  }

  TextOutput& out_;
  std::vector<Column> columns_;
  bool for_terminal_;
  std::string line_;
};

}  // namespace

std::unique_ptr<RowSink> make_csv_sink(TextOutput& out, Report report, const SinkOptions& options) {
  return std::make_unique<CsvSink>(out, std::move(report), options);
}

}  // namespace msdump::report
