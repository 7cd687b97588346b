// Facts of JSON files, and of the other formats of configurations.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "dump/layouts/dump_json_kinds.h"
#include "dump/names/file_name.h"
#include "info/fact_readers.h"
#include "io/file.h"
#include "io/json.h"
#include "msprobe/construct_json.h"
#include "msprobe/dump_json.h"
#include "msprobe/json_text.h"
#include "msprobe/stack_json.h"
#include "msprobe/tensor_log.h"
#include "tables/csv_records.h"

namespace msdump {
namespace {

// Files up to this size are read whole; of a larger dump.json only the front is read.
constexpr uint64_t kMostText = uint64_t{256} << 20, kMostConfig = uint64_t{1} << 20;
constexpr DumpJsonLimits kLimits{kMostText, uint64_t{4} << 20, uint64_t{512} << 20};
constexpr size_t kMostKeys = 100;

report::Value value_of(const JsonValue& json);

report::List list_of_items(const JsonValue& json) {
  report::List list;
  for (const JsonValue& item : json.items) list.push_back(value_of(item));
  return list;
}

// Nested at most as deep as parse_json allows.
report::Value value_of(const JsonValue& json) {
  switch (json.kind) {
    case JsonKind::kNull: return {};
    case JsonKind::kBool: return json.boolean;
    case JsonKind::kString: return json.text;
    case JsonKind::kArray: return list_of_items(json);
    case JsonKind::kNumber: {
      if (const auto number = json.as_int()) return *number;
      if (const auto number = parse_u64(json.text)) return *number;
      return json.as_double();
    }
    case JsonKind::kObject: {
      report::Object object;
      for (const JsonMember& member : json.members) object.add(member.key, value_of(member.value));
      return object;
    }
  }
  return {};
}

// The texts before "data" in a dump.json that is too large to be read.
DumpJson read_front(std::string_view text) {
  DumpJson front;
  JsonMemberReader members(text, skip_json_space(text, 0));
  for (;;) {
    const auto member = members.next();
    if (!member || !*member) return front;
    const auto value = parse_json_at(text, (*member)->begin, (*member)->end);
    if (!value || !value->is(JsonKind::kString)) continue;
    if ((*member)->key == "task") front.task = value->text;
    if ((*member)->key == "level") front.level = value->text;
    if ((*member)->key == "framework") front.framework = value->text;
  }
}

// stack.json and construct.json: the members of an object, counted.
template <class Json>
void add_entries(const Result<Json>& json, FileFacts& facts) {
  facts.add("entries", json ? report::Value(json->entries) : report::Value());
  if (!json) return facts.problems.push_back(json.error());
  for (Error& problem : errors_of(json->problems)) facts.problems.push_back(std::move(problem));
}

std::string_view tool_of(const JsonValue& json) {
  const auto has = [&](std::string_view key) { return json.find(key) != nullptr; };
  if (has("common_dump_settings") || has("DumpSettings")) return "MindSpore (data_dump.json)";
  if (has("device_target") && has("ms_version")) return "MindSpore (who wrote the dump)";
  if (has("server_list")) return "MindSpore (rank table)";
  if (has("dump")) return "CANN (acl_dump.json)";
  if (has("task") && (has("dump_path") || has("level") || has("step") || has("rank"))) return "msprobe (config.json)";
  return {};
}

void add_config_json(std::string_view name, const JsonValue& json, FileFacts& facts) {
  report::List keys;
  for (size_t i = 0; i < std::min(json.members.size(), kMostKeys); ++i) keys.emplace_back(json.members[i].key);
  const JsonValue* version = json.find("ms_version");
  const std::string_view tool = tool_of(json);
  if (!tool.empty()) facts.title = fmt::format("{}, {}", name_of(facts.kind), explanation(facts.kind, name));
  facts.add("tool", report::text_or_null(tool));
  facts.add("version", version == nullptr ? report::Value() : report::text_or_null(version->text));
  facts.add("keys", std::move(keys));
}

// KEY: at the beginning of a line.
void add_config_yaml(const FactSource& source, FileFacts& facts) {
  constexpr std::string_view kOfKeys = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  report::List keys;
  for (const std::string_view line : split(head_text(source), '\n')) {
    const size_t end = line.find_first_not_of(kOfKeys);
    const bool key = end != std::string_view::npos && end > 0 && line[end] == ':' && keys.size() < kMostKeys;
    if (key) keys.emplace_back(line.substr(0, end));
  }
  facts.add("tool", nullptr).add("version", nullptr).add("keys", std::move(keys));
}

void add_kernel_args(const FactSource& source, const JsonValue& json, FileFacts& facts) {
  const auto fields = split(source.indexed.shown_name(), '.');
  const bool named = fields.size() == 3;
  facts.add("op_type", named ? report::Value(fields[0]) : report::Value());
  facts.add("op_name", named ? report::Value(fields[1]) : report::Value());
  facts.add("arguments", value_of(json));
}

// Null if it cannot be read; adds the problem.
JsonValue parsed_or_null(const FactSource& source, FileFacts& facts) {
  const auto text = read_text(source.file, kMostConfig, "a JSON file");
  auto json = text ? parse_json(*text) : Result<JsonValue>(fail(text.error()));
  if (json) return std::move(*json);
  facts.problems.push_back(std::move(json).error());
  return {};
}

}  // namespace

Result<report::Value> json_value(std::string_view text) {
  MSDUMP_TRY(const JsonValue json, parse_json(text));
  return value_of(json);
}

void add_dump_json_facts(const FactSource& source, FileFacts& facts) {
  const bool is_json = facts.kind == FileKind::kDumpJson || facts.kind == FileKind::kDebugJson;
  auto json = read_like_dump_json(facts.kind, source.file, kLimits);
  const bool too_large = !json && json.error().code == ErrorCode::kTooLarge;
  if (!json && !too_large) facts.problems.push_back(json.error());
  const bool counted = json.has_value();
  const DumpJson known = counted ? std::move(*json) : is_json ? read_front(head_text(source)) : DumpJson();
  const std::string_view head = head_text(source);
  if (const auto writer = tensor_log_writer(head.substr(0, head.find('\n')))) facts.add("written_by", name_of(*writer));
  facts.add("framework", report::text_or_null(known.framework)).add("level", report::text_or_null(known.level));
  facts.add("task", report::text_or_null(known.task));
  const auto number = [&](int64_t value) { return counted ? report::Value(value) : report::Value(); };
  const auto in_files = std::count_if(known.tensors.begin(), known.tensors.end(),
                                      [](const MsprobeTensor& tensor) { return tensor.data_name.has_value(); });
  facts.add("entries", number(known.entries));
  facts.add("tensors", number(static_cast<int64_t>(known.tensors.size())));
  // A dump.pkl does not say whether elements were dumped.
  facts.add("in_files", is_json ? number(in_files) : report::Value()).add_count("other_values", number(known.others));
  const auto parts = std::count_if(known.tensors.begin(), known.tensors.end(),
                                   [](const MsprobeTensor& tensor) { return tensor.distribution != nullptr; });
  facts.add_count("bad_entries", number(static_cast<int64_t>(known.problems.count())))
      .add_count("distributed", number(parts));
  for (Error& problem : errors_of(known.problems)) facts.problems.push_back(std::move(problem));
  facts.tensor_count = known.tensors.size();
  for (const MsprobeTensor& tensor : known.tensors) {
    const auto count = tensor.shape ? element_count(*tensor.shape) : std::nullopt;
    if (count && tensor.dtype) facts.tensor_bytes += bytes_of(*tensor.dtype, *count).value_or(0);
  }
}

void add_json_facts(const FactSource& source, FileFacts& facts) {
  const bool json = has_suffix(source.indexed.shown_name(), ".json");
  if (facts.kind == FileKind::kKernelArgs) return add_kernel_args(source, parsed_or_null(source, facts), facts);
  if (facts.kind == FileKind::kConfig && !json) return add_config_yaml(source, facts);
  if (facts.kind == FileKind::kConfig)
    return add_config_json(source.indexed.shown_name(), parsed_or_null(source, facts), facts);
  constexpr uint64_t kMostEntry = uint64_t{16} << 20, kMostKept = uint64_t{512} << 20;
  if (facts.kind == FileKind::kStackJson)
    return add_entries(read_stack_json(source.file, {kMostText, kMostEntry, kMostKept}), facts);
  add_entries(read_construct_json(source.file, {kMostText, kMostEntry, kMostKept}), facts);
}

}  // namespace msdump
