#include "check/tree/dump_settings.h"

#include "io/json.h"

namespace msdump::check {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 20;

std::optional<int64_t> number(const JsonValue& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  return value == nullptr ? std::nullopt : value->as_int();
}

// Up to 1.2 iteration is a number, and 0 is all.
std::string iteration_of(const JsonValue& common) {
  const JsonValue* const value = common.find("iteration");
  if (value == nullptr || !(value->is(JsonKind::kString) || value->is(JsonKind::kNumber))) return {};
  return value->is(JsonKind::kNumber) && value->text == "0" ? "all" : value->text;
}

}  // namespace

DumpSettings settings_of(const DumpIndex& index, std::vector<Error>& failures) {
  DumpSettings settings;
  for (const IndexedFile& file : index.files()) {
    if (file.kind != FileKind::kConfig) continue;
    auto json = read_json(index.path_of(file), kMostBytes);
    if (!json) {
      if (file.name == "data_dump.json") failures.push_back(std::move(json).error().with_path(index.path_of(file)));
      continue;
    }
    const JsonValue* const target = json->find("device_target");
    if (target != nullptr && settings.device_target.empty()) settings.device_target = target->text;
    const JsonValue* const common = json->find("common_dump_settings");
    if (common == nullptr || !settings.path.empty()) continue;
    settings.path = index.relative_path_of(file);
    settings.dump_mode = number(*common, "dump_mode");
    settings.input_output = number(*common, "input_output");
    settings.op_debug_mode = number(*common, "op_debug_mode");
    settings.iteration = iteration_of(*common);
  }
  return settings;
}

}  // namespace msdump::check
