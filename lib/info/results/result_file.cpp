#include "info/results/result_file.h"

#include <charconv>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "io/file.h"
#include "io/json.h"
#include "msprobe/json_text.h"
#include "msprobe/stack_json.h"
#include "tables/csv_records.h"
#include "tables/monitor_csv.h"

namespace msdump {

std::string one_line(std::string_view text) {
  constexpr size_t kLongestMessage = 400;
  size_t end = std::min(text.size(), kLongestMessage);
  while (end > 0 && end < text.size() && (static_cast<uint8_t>(text[end]) & 0xC0U) == 0x80U)
    --end;  // not in a character
  std::string line;
  for (const std::string_view part : split(text.substr(0, end), '\n')) {
    if (trimmed(part).empty()) continue;
    line.append(line.empty() ? "" : "; ").append(trimmed(part));
  }
  return line;
}

namespace {

constexpr uint64_t kRowsBetweenChecks = 4096, kMostBytes = uint64_t{1} << 30;

struct Columns {
  using Place = std::optional<size_t>;
  Place name, forward, backward, status, message;
  Place rank, step, max_rel, perturbation, output;  // of free_benchmark
  bool unequal = false;                             // each row is a failure

  static Result<Columns> of(const std::vector<std::string>& titles) {
    const auto first_of = [&](std::initializer_list<std::string_view> names) -> Place {
      for (const std::string_view name : names) {
        if (const auto place = column_of(titles, name)) return place;
      }
      return std::nullopt;
    };
    Columns columns;
    columns.name = first_of({"API name", "API Name", "NPU Name", "api_name"});
    columns.forward = first_of({"Forward Test Success"});
    columns.backward = first_of({"Backward Test Success"});
    columns.status = first_of({"Status", "比对结果", "Result", "Accuracy Reached or Not"});
    columns.message = first_of({"Message", "Err_message"});
    columns.rank = first_of({"rank"});
    columns.step = first_of({"step"});
    columns.max_rel = first_of({"max_rel"});
    columns.perturbation = first_of({"pert_mode", "pert_type"});
    columns.output = first_of({"output_index"});
    columns.unequal = columns.perturbation && columns.max_rel;
    const bool judged = columns.forward || columns.backward || columns.status || columns.unequal;
    if (columns.name && judged) return columns;
    return fail(ErrorCode::kBadCsv, "line 1: no columns of a table of msprobe's results (a name and a verdict)");
  }
};

std::optional<ResultVerdict> verdict_of(std::string_view text) {
  using enum ResultVerdict;
  static constexpr std::pair<std::string_view, ResultVerdict> kWords[] = {
      {"pass", kPassed}, {"true", kPassed}, {"yes", kPassed},   {"warning", kWarning},     {"error", kError},
      {"false", kError}, {"no", kError},    {"skip", kSkipped}, {"unsupported", kSkipped},
  };
  for (const auto& [word, verdict] : kWords) {
    if (equals_ignoring_case(trimmed(text), word)) return verdict;
  }
  return std::nullopt;
}

// Torch.sqrt.0.forward.output.1 is output 1 of Torch.sqrt.0.forward.
void take_name(std::string_view name, ResultRow& row) {
  row.op_name = name;
  for (const std::string_view io : {"output", "input", "parameters"}) {
    const size_t at = name.rfind("." + std::string(io) + ".");
    if (at == std::string_view::npos || at == 0) continue;
    row.op_name = name.substr(0, at);
    row.io = io == "parameters" ? "parameter" : io;
    row.slot = name.substr(at + io.size() + 2);
    return;
  }
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

class ResultCsvReader {
 public:
  ResultCsvReader(const File& file, const ResultVisitor& visit) : records_(file), tally_(result_, visit) {}

  Result<ResultFile> read(const CancelToken& cancel) {
    MSDUMP_TRY(const CsvRecord* const header, records_.next());
    if (header == nullptr) return fail(ErrorCode::kBadCsv, "an empty table");
    for (const std::string_view title : header->fields) result_.columns.emplace_back(trimmed(title));
    MSDUMP_TRY(columns_, Columns::of(result_.columns));
    for (uint64_t seen = 0; seen % kRowsBetweenChecks != 0 || !cancel.cancelled(); ++seen) {
      const auto record = records_.next();
      if (record && *record == nullptr) break;
      if (record) {
        take(**record);
      } else {
        result_.problems.add(record.error());
      }
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string_view at(const Columns::Place& place) const {
    return place && *place < record_->fields.size() ? record_->fields[*place] : std::string_view();
  }

  void take(const CsvRecord& record) {
    record_ = &record;
    const std::string_view name = trimmed(at(columns_.name));
    if (name.empty()) return result_.problems.add(records_.bad("no name of an operator").value());
    ResultRow row;
    row.offset = record.offset;
    row.message = one_line(at(columns_.message));
    row.rank = parse_i64(at(columns_.rank));
    row.step = parse_i64(at(columns_.step));
    take_name(name, row);
    if (columns_.unequal) {
      take_unequal(row);
    } else if (columns_.status) {
      take_verdict(columns_.status, row);
    } else {
      take_direction(columns_.forward, name, ".forward", row);
      take_direction(columns_.backward, name, ".backward", row);
    }
    tally_.end_row();
  }

  void take_verdict(const Columns::Place& place, ResultRow& row) {
    const auto verdict = verdict_of(at(place));
    if (!verdict) return;
    row.verdict = *verdict;
    tally_.take(row);
  }

  void take_direction(const Columns::Place& place, std::string_view api, std::string_view direction, ResultRow& row) {
    row.op_name = std::string(api) + std::string(direction);
    take_verdict(place, row);
  }

  void take_unequal(ResultRow& row) {
    row.verdict = ResultVerdict::kError;
    row.value = number_of(at(columns_.max_rel));
    const std::string_view output = at(columns_.output);
    if (is_digits(output)) {
      row.io = "output";
      row.slot = output;
    }
    row.message = fmt::format("the perturbation {} changes the output by {} relative",
                              one_line(at(columns_.perturbation)), one_line(at(columns_.max_rel)));
    tally_.take(row);
  }

  CsvRecords records_;
  ResultFile result_;
  ResultTally tally_;
  Columns columns_;
  const CsvRecord* record_ = nullptr;
};

}  // namespace

Result<ResultFile> read_result_csv(const File& file, const CancelToken& cancel, const ResultVisitor& visit) {
  if (file.size() > kMostBytes)
    return fail(make_error(ErrorCode::kTooLarge, "a table of {}; of at most {} the rows are read",
                           human_bytes(file.size()), human_bytes(kMostBytes))
                    .with_path(file.path()));
  return in_file(ResultCsvReader(file, visit).read(cancel), file.path());
}

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
