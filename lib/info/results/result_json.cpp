#include "info/results/result_json.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "info/results/result_tally.h"
#include "io/json.h"
#include "io/read_text.h"
#include "msprobe/json_text.h"

#include "msprobe/stack_json.h"
#include "tables/monitor_csv.h"

namespace msdump {
namespace {

constexpr uint64_t kMostText = uint64_t{1} << 30, kMostEntry = uint64_t{64} << 20;

std::string_view text_at(const JsonValue& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  return value != nullptr && value->is(JsonKind::kString) ? std::string_view(value->text) : std::string_view();
}

std::optional<int64_t> number_at(const JsonValue& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  return value == nullptr ? std::nullopt : value->as_int();
}

// "a.py:3  CODE" of the first frame; empty without one.
std::string source_of(const JsonValue& node) {
  const JsonValue* stack = node.find("stack_info");
  if (stack == nullptr || !stack->is(JsonKind::kArray) || stack->items.empty()) return {};
  const MsprobeFrame frame = parse_msprobe_frame(stack->items.front().text);
  return frame.file.empty() ? std::string() : fmt::format("{}:{}  {}", frame.file, frame.line, one_line(frame.code));
}

// "0:layers.0.input:2/rank0/actv"
void take_tag(std::string_view tag, ResultRow& row) {
  const auto parts = split(tag, '/');
  const auto names = split(parts.front(), ':');
  const std::string_view name = names.size() > 1 ? names[1] : names.front();
  row.op_name = name;
  if (parts.size() < 2) return;
  row.op_type = parts.back();
  const bool staged = parse_i64(names.front()).value_or(0) > 0;
  const auto activation = row.op_type.starts_with("actv") ? parse_activation_name(name) : std::nullopt;
  if (activation) {
    row.op_name = activation->module.empty() ? "." : activation->module;
    row.io = activation->input ? "input" : "output";
    row.slot = activation->slot;
  }
  if (staged) row.op_name = fmt::format("{}:{}", names.front(), row.op_name);
}

class ResultJsonReader {
 public:
  ResultJsonReader(std::string_view text, const ResultVisitor& visit)
      : text_(text), problems_(text), tally_(result_, visit) {}

  Result<ResultFile> read(const std::string& path) {
    int64_t entries = 0;
    MSDUMP_CHECK_OK(read_json_entries(text_, kMostEntry, problems_, entries,
                                      [this](const JsonMemberPlace& member, const JsonValue& value) {
                                        return value.is(JsonKind::kArray) ? nodes(member, value) : alert(member, value);
                                      }));
    result_.problems = problems_.take(path);
    return std::move(result_);
  }

 private:
  // {"rank_3": [{"op_name": ..}, ..]}
  Status nodes(const JsonMemberPlace& member, const JsonValue& list) {
    constexpr std::string_view kRank = "rank_";
    const auto rank =
        member.key.starts_with(kRank) ? parse_i64(std::string_view(member.key).substr(kRank.size())) : std::nullopt;
    for (const JsonValue& node : list.items) {
      ResultRow row;
      row.op_name = text_at(node, "op_name");
      if (row.op_name.empty()) return problems_.add(member, node, "no \"op_name\"");
      row.verdict = ResultVerdict::kError;
      row.rank = rank;
      row.source = source_of(node);
      row.offset = member.begin + node.offset;
      add(row);
    }
    return {};
  }

  Status alert(const JsonMemberPlace& member, const JsonValue& value) {
    ResultRow row;
    take_tag(text_at(value, "tag_name"), row);
    if (row.op_name.empty()) return problems_.add(member, value, "neither a list of operators nor an alert of monitor");
    row.verdict = ResultVerdict::kWarning;
    row.rank = number_at(value, "rank");
    row.step = number_at(value, "step");
    row.message = one_line(text_at(value, "message"));
    row.offset = member.begin;
    add(row);
    return {};
  }

  void add(const ResultRow& row) {
    tally_.take(row);
    tally_.end_row();
  }

  std::string_view text_;
  ResultFile result_;
  JsonProblems problems_;
  ResultTally tally_;
};

}  // namespace

Result<ResultFile> read_result_json(const File& file, const ResultVisitor& visit) {
  MSDUMP_TRY(const auto text, read_large_text(file, kMostText, "a file of results"));
  return in_file(ResultJsonReader(text.view(), visit).read(file.path()), file.path());
}

}  // namespace msdump
