#include "report/row_sink.h"

#include <utility>

namespace msdump::report {
namespace {

void collect_columns(const Object& object, const std::string& prefix, std::vector<Column>& columns) {
  for (const Member& member : object.members()) {
    const std::string key = prefix + member.key;
    const Object* inner = member.value.get<Object>();
    if (inner != nullptr && !inner->empty()) {
      collect_columns(*inner, key + '.', columns);
    } else {
      columns.push_back({key, key});
    }
  }
}

}  // namespace

Status RowSink::begin_once() {
  if (std::exchange(begun_, true)) return {};
  return begin();
}

Status RowSink::row(const Row& row) {
  MSDUMP_CHECK_OK(begin_once());
  return add(row);
}

Status RowSink::finish(Closing closing) {
  MSDUMP_CHECK_OK(begin_once());
  return end(std::move(closing));
}

std::unique_ptr<RowSink> make_sink(Form form, TextOutput& out, Report report, const SinkOptions& options) {
  switch (form) {
    case Form::kTable: return make_table_sink(out, report, options);
    case Form::kCsv: return make_csv_sink(out, std::move(report), options);
    case Form::kJson: return make_json_sink(out, std::move(report), options);
    case Form::kJsonl: return make_jsonl_sink(out);
  }
  return nullptr;
}

Object failure_object(const Error& error) {
  Object object;
  object.reserve(6);  // there may be one for every file
  object.add("path", text_or_null(error.path))
      .add("tensor", text_or_null(error.tensor))
      .add("offset", error.offset)
      .add("code", code_word(error.code))
      .add("message", error.message)
      .add("hint", text_or_null(error.hint));
  return object;
}

std::vector<Column> columns_of(const Row& row) {
  std::vector<Column> columns;
  collect_columns(row, "", columns);
  return columns;
}

}  // namespace msdump::report
