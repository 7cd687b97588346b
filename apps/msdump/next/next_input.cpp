#include "next/next_input.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "config/data_dump.h"
#include "config/lint.h"
#include "io/file.h"
#include "io/json.h"

namespace msdump::cli {
namespace {

constexpr uint64_t kMostHeadBytes = uint64_t{1} << 20;
constexpr std::string_view kBlanks = " \t\r\n";

Result<std::string> read_head(const std::string& path, uint64_t most) {
  MSDUMP_TRY(const File file, File::open(path));
  std::string head(static_cast<size_t>(std::min(file.size(), most)), '\0');
  MSDUMP_CHECK_OK(file.read_at(0, std::as_writable_bytes(std::span(head.data(), head.size()))));
  return head;
}

// The members before the rows. Inside a string a quote has a backslash before it, so no string hides the key.
Result<JsonValue> members_before_rows(std::string_view head) {
  constexpr std::string_view kRows = "\"rows\"";
  for (size_t at = head.find(kRows); at != std::string_view::npos; at = head.find(kRows, at + 1)) {
    const size_t after = head.find_first_not_of(kBlanks, at + kRows.size());
    const size_t comma = head.find_last_not_of(kBlanks, at - 1);
    if (after == std::string_view::npos || head[after] != ':' || head[comma] != ',') continue;
    return parse_json(std::string(head.substr(0, comma)) + "}");
  }
  return fail(ErrorCode::kUsage, "no document of msdump: its head has no rows");
}

Result<SavedDocument> document_in(const JsonValue& root) {
  const JsonValue* const command = root.find("command");
  const JsonValue* const dumps = root.find("dumps");
  const bool of_diff = command != nullptr && command->text == "diff";
  if (command == nullptr || dumps == nullptr || (!of_diff && command->text != "check"))
    return fail(ErrorCode::kUsage, "no document of diff or check");
  std::vector<std::string> paths;
  for (const JsonValue& path : dumps->items) paths.push_back(path.text);
  if (paths.size() != (of_diff ? 2U : 1U))
    return fail(make_error(ErrorCode::kUsage, "it is about {}, not {}", plural(paths.size(), "dump"), of_diff ? 2 : 1));
  return SavedDocument{paths.front(), of_diff ? paths.back() : std::string()};
}

}  // namespace

bool is_saved_document(const std::string& path) {
  constexpr uint64_t kMostBlanks = 64;
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  const Result<std::string> head = read_head(path, kMostBlanks);
  if (!head) return false;
  const size_t brace = head->find_first_not_of(kBlanks);
  if (brace == std::string::npos || (*head)[brace] != '{') return false;
  const size_t key = head->find_first_not_of(kBlanks, brace + 1);
  return key != std::string::npos && std::string_view(*head).substr(key).starts_with("\"schema\"");
}

Result<SavedDocument> read_saved_document(const std::string& path) {
  MSDUMP_TRY(const std::string head, read_head(path, kMostHeadBytes));
  MSDUMP_TRY(const JsonValue root, in_file(members_before_rows(head), path));
  return in_file(document_in(root), path);
}

namespace {

bool any_items(const JsonValue* object, std::string_view key) {
  const JsonValue* const list = object == nullptr ? nullptr : object->find(key);
  return list != nullptr && !list->items.empty();
}

// A model that is only named is dumped whole.
bool chooses_operators(const JsonValue& model) {
  constexpr std::array<std::string_view, 4> kKeys = {"layer", "opname_range", "optype_blacklist", "opname_blacklist"};
  return std::any_of(kKeys.begin(), kKeys.end(), [&](std::string_view key) { return any_items(&model, key); });
}

UsedConfig used_data_dump(const JsonValue& root) {
  UsedConfig used;
  const DataDump dump = read_data_dump(root);
  used.asynchronous = !dump.enable.value_or(dump.has_e2e);
  used.net_name = dump.net_name;
  if (dump.dump_mode.value_or(0) != 0) used.extent = DumpExtent::kList;
  return used;
}

UsedConfig used_msprobe(const JsonValue& root) {
  UsedConfig used;
  const JsonValue* const task = root.find("task");
  const JsonValue* const block = root.find(task == nullptr ? "statistics" : task->text);
  if (any_items(block, "scope")) used.extent = DumpExtent::kRange;
  if (any_items(block, "list")) used.extent = DumpExtent::kList;
  return used;
}

UsedConfig used_acl(const JsonValue& root) {
  UsedConfig used;
  const JsonValue* const dump = root.find("dump");
  const JsonValue* const models = dump == nullptr ? nullptr : dump->find("dump_list");
  if (models != nullptr && std::any_of(models->items.begin(), models->items.end(), chooses_operators))
    used.extent = DumpExtent::kList;
  return used;
}

Result<UsedConfig> used_config(const JsonValue& root) {
  const ConfigKind kind = kind_of_config(root);
  if (kind == ConfigKind::kUnknown)
    return fail(ErrorCode::kUsage, "neither a data_dump.json, a config.json of msprobe nor an acl.json");
  UsedConfig used = kind == ConfigKind::kDataDump  ? used_data_dump(root)
                    : kind == ConfigKind::kMsprobe ? used_msprobe(root)
                                                   : used_acl(root);
  used.kind = kind;
  return used;
}

}  // namespace

Result<UsedConfig> read_used_config(const std::string& path) {
  MSDUMP_TRY(const JsonValue root, in_file(read_json(path, kMostConfigBytes), path));
  return in_file(used_config(root), path);
}

}  // namespace msdump::cli
