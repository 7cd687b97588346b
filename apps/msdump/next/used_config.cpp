#include "next/used_config.h"

#include "config/data_dump/data_dump.h"
#include "config/lint.h"
#include "io/json.h"

namespace msdump::cli {
namespace {

bool any_items(const JsonValue* object, std::string_view key) {
  const JsonValue* const list = object == nullptr ? nullptr : object->find(key);
  return list != nullptr && !list->items.empty();
}

Result<UsedConfig> used_config(const JsonValue& root) {
  UsedConfig used;
  used.kind = kind_of_config(root);
  if (used.kind == ConfigKind::kUnknown)
    return fail(ErrorCode::kUsage, "neither a data_dump.json, a config.json of msprobe nor an acl.json");
  if (used.kind == ConfigKind::kDataDump) {
    const DataDump dump = read_data_dump(root);
    used.asynchronous = dump.async_enable.value_or(false) || (dump.has_e2e && !dump.enable.value_or(true));
    used.net_name = dump.net_name;
    if (dump.dump_mode == 1U) used.extent = DumpExtent::kList;
  } else if (used.kind == ConfigKind::kMsprobe) {
    const JsonValue* const task = root.find("task");
    const JsonValue* const block = task == nullptr ? nullptr : root.find(task->text);
    if (any_items(block, "scope")) used.extent = DumpExtent::kRange;
    if (any_items(block, "list")) used.extent = DumpExtent::kList;
  } else if (any_items(root.find("dump"), "dump_list")) {
    used.extent = DumpExtent::kList;
  }
  return used;
}

}  // namespace

Result<UsedConfig> read_used_config(const std::string& path) {
  MSDUMP_TRY(const JsonValue root, in_file(read_json(path, kMostConfigBytes), path));
  return in_file(used_config(root), path);
}

}  // namespace msdump::cli
