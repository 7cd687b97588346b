// check-config --explain KEY.
#include <fmt/format.h>

#include "check_config/check_config_report.h"
#include "config/rules/schema.h"
#include "frame/usage.h"
#include "help/help.h"

namespace msdump::cli {
namespace {

std::string section_text(const ConfigKey& key) {
  if (key.section.empty()) return "top level";
  if (key.section == kTaskSection)
    return key.tasks.empty() ? "block of the task" : fmt::format("block of {}", key.tasks);
  if (key.section == kSliceSection || key.section == kAclListSection) return fmt::format("items of {}", key.section);
  return std::string(key.section);
}

std::vector<const ConfigKey*> find_keys(const std::string& wanted) {
  std::vector<const ConfigKey*> keys = keys_named(wanted);
  if (!keys.empty()) return keys;
  std::vector<std::string> names;
  for (const ConfigKind kind : {ConfigKind::kDataDump, ConfigKind::kMsprobe, ConfigKind::kAcl}) {
    for (const ConfigKey& key : keys_of(kind)) names.emplace_back(key.name);
  }
  throw UsageError(unknown_word("key", wanted, names), "--explain '*' explains all keys");
}

std::string paragraph(const ConfigKey& key, size_t width) {
  std::string text = fmt::format("{}  ({}, {})\n", key.name, title_of(key.kind), section_text(key));
  const auto line = [&](std::string_view label, std::string_view value) {
    if (!value.empty()) text += fmt::format("  {:<13}{}", label, wrapped(value, 15, width));
  };
  line("what", key.meaning);
  line("type", name_of(key.type));
  line("values", key.values);
  line("default", key.required ? "none, the key is required" : default_text(key));
  line("known to", availability(key));
  return text;
}

}  // namespace

std::vector<report::Column> key_columns() {
  return {{"family", "family"},     {"section", "section"},   {"key", "key"},
          {"type", "type"},         {"values", "values"},     {"default", "default"},
          {"required", "required"}, {"versions", "versions"}, {"meaning", "meaning"}};
}

std::vector<report::Row> key_rows(const std::string& wanted) {
  std::vector<report::Row> rows;
  for (const ConfigKey* key : find_keys(wanted)) {
    report::Row row;
    row.add("family", name_of(key->kind)).add("section", section_text(*key)).add("key", key->name);
    row.add("type", name_of(key->type)).add("values", report::text_or_null(key->values));
    row.add("default", report::text_or_null(default_text(*key))).add("required", key->required);
    row.add("versions", report::text_or_null(availability(*key))).add("meaning", key->meaning);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string key_text(const std::string& wanted, size_t width) {
  std::string text;
  for (const ConfigKey* key : find_keys(wanted)) text += (text.empty() ? "" : "\n") + paragraph(*key, width);
  return text;
}

}  // namespace msdump::cli
