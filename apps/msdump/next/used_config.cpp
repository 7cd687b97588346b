#include "next/used_config.h"

#include <algorithm>
#include <array>

#include "config/data_dump/data_dump.h"
#include "config/lint.h"
#include "io/json.h"

namespace msdump::cli {
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
