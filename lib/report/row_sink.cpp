#include "report/row_sink.h"

#include <algorithm>
#include <array>
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
  return info(form).make(out, std::move(report), options);
}

std::span<const FormInfo> all_forms() {
  static constexpr std::array kForms = {
      FormInfo{.form = Form::kTable, .option = {}, .help = {}, .is_for_people = true, .make = make_table_sink},
      FormInfo{.form = Form::kJson,
               .option = "json",
               .help = "Results as one JSON document",
               .has_document = true,
               .is_nested = true,
               .make = make_json_sink},
      FormInfo{.form = Form::kJsonl,
               .option = "jsonl",
               .help = "Results as JSON lines, one row per line",
               .is_nested = true,
               .make = make_jsonl_sink},
      FormInfo{.form = Form::kCsv, .option = "csv", .help = "Results as CSV", .make = make_csv_sink},
  };
  return kForms;
}

const FormInfo& info(Form form) {
  const std::span<const FormInfo> forms = all_forms();
  return *std::find_if(forms.begin(), forms.end(), [form](const FormInfo& one) { return one.form == form; });
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
