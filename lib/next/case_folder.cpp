#include "next/case_folder.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "io/atomic_file.h"
#include "io/json.h"
#include "report/json_text.h"

namespace msdump {
namespace {

constexpr uint64_t kMostCaseBytes = uint64_t{1} << 20;
constexpr int64_t kFormat = 1;

std::string file_of(const std::string& folder) { return folder + "/case.json"; }

tl::unexpected<Error> fault(const std::string& file, std::string_view what) {
  Error error = make_error(ErrorCode::kUsage, "{}", what);
  error.path = file;
  return fail(std::move(error));
}

std::string text_at(const JsonValue& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  return value != nullptr && value->is(JsonKind::kString) ? value->text : std::string();
}

DumpExtent extent_named(std::string_view name) {
  for (const DumpExtent extent : {DumpExtent::kRange, DumpExtent::kList}) {
    if (name == name_of(extent)) return extent;
  }
  return DumpExtent::kAll;
}

}  // namespace

bool CaseFolder::is_one(const std::string& path) {
  std::error_code none;
  return std::filesystem::is_regular_file(file_of(path), none);
}

Result<CaseFolder> CaseFolder::read(const std::string& path) {
  const std::string file = file_of(path);
  MSDUMP_TRY(const JsonValue root, in_file(read_json(file, kMostCaseBytes), file));
  const JsonValue* const format = root.find("format");
  const JsonValue* const rounds = root.find("rounds");
  if (format == nullptr || format->as_int() != kFormat) return fault(file, "a case of another version of msdump");
  CaseFolder found;
  std::error_code none;
  found.path = std::filesystem::absolute(path, none).lexically_normal().string();
  for (const JsonValue& round : rounds == nullptr ? std::vector<JsonValue>() : rounds->items)
    found.rounds.push_back(
        {text_at(round, "candidate"), text_at(round, "reference"), extent_named(text_at(round, "extent"))});
  if (found.rounds.empty() || found.rounds.size() > kMostRounds || found.rounds.front().candidate.empty())
    return fault(file, "no list of rounds");
  return found;
}

Status CaseFolder::write() const {
  report::List list;
  for (const CaseRound& round : rounds) {
    report::Object one;
    one.add("candidate", round.candidate);
    one.add("reference", round.reference.empty() ? report::Value() : report::Value(round.reference));
    one.add("extent", name_of(round.extent));
    list.emplace_back(std::move(one));
  }
  report::Object document;
  document.add("format", kFormat).add("rounds", std::move(list));
  std::string text;
  report::append_json(text, document);
  return write_file(file_of(path), text + "\n");
}

std::string CaseFolder::folder_of(size_t round) const { return fmt::format("{}/round-{}", path, round); }

}  // namespace msdump
