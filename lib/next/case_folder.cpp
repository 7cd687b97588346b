#include "next/case_folder.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "io/atomic_file.h"
#include "io/json.h"
#include "report/json.h"

namespace msdump {
namespace {

constexpr uint64_t kMostCaseBytes = uint64_t{1} << 20;
constexpr int64_t kFormat = 1;

std::string file_of(const std::string& folder) { return folder + "/case.json"; }

std::string text_at(const JsonValue& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  return value != nullptr && value->is(JsonKind::kString) ? value->text : std::string();
}

// The one of `kinds` with this name, else `otherwise`.
template <class Kind>
Kind kind_named(std::string_view name, std::initializer_list<Kind> kinds, Kind otherwise) {
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](Kind kind) { return name == name_of(kind); });
  return found == kinds.end() ? otherwise : *found;
}

std::vector<JsonValue> items_at(const JsonValue& object, std::string_view key) {
  const JsonValue* const list = object.find(key);
  return list == nullptr ? std::vector<JsonValue>() : list->items;
}

CaseSettings settings_in(const JsonValue& object) {
  CaseSettings settings;
  settings.kind = kind_named(text_at(object, "kind"), {ConfigKind::kDataDump, ConfigKind::kMsprobe, ConfigKind::kAcl},
                             ConfigKind::kUnknown);
  settings.framework_version = text_at(object, "framework_version");
  const JsonValue* const asynchronous = object.find("asynchronous");
  settings.asynchronous = asynchronous != nullptr && asynchronous->boolean;
  if (std::string name = text_at(object, "net_name"); !name.empty()) settings.net_name = std::move(name);
  for (const JsonValue& path : items_at(object, "ir")) settings.ir.push_back(path.text);
  return settings;
}

Result<CaseFolder> case_in(const JsonValue& root) {
  const JsonValue* const format = root.find("format");
  if (format == nullptr || format->as_int() != kFormat)
    return fail(ErrorCode::kUsage, "a case of another version of msdump");
  CaseFolder found;
  if (const JsonValue* const settings = root.find("settings")) found.settings = settings_in(*settings);
  for (const JsonValue& round : items_at(root, "rounds"))
    found.rounds.push_back(
        {text_at(round, "candidate"), text_at(round, "reference"),
         kind_named(text_at(round, "extent"), {DumpExtent::kRange, DumpExtent::kList}, DumpExtent::kAll)});
  if (found.rounds.empty() || found.rounds.size() > kMostRounds || found.rounds.front().candidate.empty())
    return fail(ErrorCode::kUsage, "no list of rounds");
  return found;
}

report::Object object_of(const CaseSettings& settings) {
  report::Object object;
  object.add("kind", name_of(settings.kind));
  object.add("framework_version", report::text_or_null(settings.framework_version));
  object.add("asynchronous", settings.asynchronous);
  object.add("net_name", settings.net_name);
  object.add("ir", report::list_of(settings.ir));
  return object;
}

}  // namespace

std::string absolute_path(const std::string& path) {
  std::error_code none;
  std::string found = std::filesystem::absolute(path, none).lexically_normal().string();
  while (found.size() > 1 && found.back() == '/') found.pop_back();
  return found;
}

bool CaseFolder::is_one(const std::string& path) {
  std::error_code none;
  return std::filesystem::is_regular_file(file_of(path), none);
}

Result<CaseFolder> CaseFolder::read(const std::string& path) {
  const std::string file = file_of(path);
  MSDUMP_TRY(const JsonValue root, in_file(read_json(file, kMostCaseBytes), file));
  MSDUMP_TRY(CaseFolder found, in_file(case_in(root), file));
  found.path = absolute_path(path);
  return found;
}

Status CaseFolder::write() const {
  report::List list;
  for (const CaseRound& round : rounds) {
    report::Object one;
    one.add("candidate", round.candidate);
    one.add("reference", report::text_or_null(round.reference));
    one.add("extent", name_of(round.extent));
    list.emplace_back(std::move(one));
  }
  report::Object document;
  document.add("format", kFormat).add("settings", object_of(settings)).add("rounds", std::move(list));
  std::string text;
  report::append_json(text, document);
  return write_file(file_of(path), text + "\n");
}

std::string CaseFolder::folder_of(size_t round) const { return fmt::format("{}/round-{}", path, round); }

}  // namespace msdump
