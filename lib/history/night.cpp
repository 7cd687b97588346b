#include "history/night.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "base/text.h"
#include "graph/scope_name.h"
#include "history/document.h"
#include "io/file.h"
#include "io/json.h"
#include "report/json.h"

namespace msdump::history {
namespace {

constexpr int64_t kSchema = 1;
constexpr size_t kMostLineBytes = size_t{1} << 18;
constexpr uint64_t kMostHistoryBytes = uint64_t{32} << 20;
constexpr size_t kMostKnownScopes = 200'000;
constexpr std::string_view kOtherScopes = "(others)";

// Cut between characters.
std::string bounded(std::string_view text) {
  if (text.size() <= kMostNameBytes) return std::string(text);
  size_t end = kMostNameBytes;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

// ---- members, of any kind or missing

std::string text_at(const JsonValue& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  return value == nullptr || !value->is(JsonKind::kString) ? std::string() : bounded(value->text);
}

std::optional<int64_t> integer_at(const JsonValue& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  return value == nullptr || !value->is(JsonKind::kNumber) ? std::nullopt : value->as_int();
}

int64_t count_at(const JsonValue& object, std::string_view key) {
  return std::max<int64_t>(0, integer_at(object, key).value_or(0));
}

bool flag_at(const JsonValue& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  return value != nullptr && value->is(JsonKind::kBool) && value->boolean;
}

// "inf" and "nan" are texts. NaN, as the error of a tensor, is as bad as infinity.
std::optional<double> number_at(const JsonValue& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is(JsonKind::kString) && (value->text == "inf" || value->text == "nan"))
    return std::numeric_limits<double>::infinity();
  const std::optional<double> number = value->is(JsonKind::kNumber) ? value->as_double() : std::nullopt;
  if (number && std::isnan(*number)) return std::numeric_limits<double>::infinity();
  return number;
}

NightRoot root_of(const JsonValue& value) {
  NightRoot root;
  root.op_name = text_at(value, "op_name");
  root.op_type = text_at(value, "op_type");
  root.rank = integer_at(value, "rank");
  root.step = integer_at(value, "step");
  root.decided_by = text_at(value, "decided_by");
  root.reason = text_at(value, "reason");
  root.confidence = number_at(value, "confidence").value_or(0);
  // In a document the line is in an object of its own.
  const JsonValue* const source = value.find("source");
  const JsonValue& place = source != nullptr && source->is(JsonKind::kObject) ? *source : value;
  root.file = text_at(place, "file");
  root.line = integer_at(place, "line");
  return root;
}

// ---- scopes

class Scopes {
 public:
  void add(const JsonValue& row) {
    const int64_t number = rows_++;
    const JsonValue* const name = row.find("op_name");
    if (name == nullptr || !name->is(JsonKind::kString)) return;
    const std::string verdict = text_at(row, "verdict"), explained = text_at(row, "explained");
    if (explained == "unwritten" || explained == "random") return;
    std::optional<double> error;
    if (verdict == "nan" || verdict == "shape") {
      error = std::numeric_limits<double>::infinity();
    } else if (verdict == "same") {
      error = 0;
    } else if (verdict == "close" || verdict == "differ") {
      error = number_at(row, "measured_error");
      const JsonValue* const metrics = row.find("metrics");
      if (!error && metrics != nullptr && metrics->is(JsonKind::kObject)) error = number_at(*metrics, "relative_l2");
    }
    if (!error) return;
    const std::string scope = scope_of_op(name->text);
    const auto [found, is_new] = numbers_.try_emplace(scope, found_.size());
    if (is_new && found_.size() >= kMostKnownScopes) {
      numbers_.erase(found);
      return;
    }
    if (is_new) found_.push_back({scope, {}, {}, 0, 0});
    Found& one = found_[found->second];
    // What an operator reads is what another one wrote.
    std::vector<Record>& records = text_at(row, "io") == "input" ? one.read : one.written;
    if (records.empty() || records.back().error < *error) records.push_back({number, *error});
    if (flag_at(row, "accepted")) one.accepted = std::max(one.accepted, *error);
    one.differ += verdict == "differ" || verdict == "nan" || verdict == "shape" ? 1 : 0;
  }

  [[nodiscard]] std::vector<ScopeError> errors() const {
    size_t deepest = 1;
    for (const Found& one : found_) deepest = std::max(deepest, depth_of(one.scope));
    for (size_t depth = std::min(deepest, kMostDepth); depth > 1; --depth) {
      std::vector<ScopeError> at_depth = errors_at(depth, kMostScopes + 1);
      if (at_depth.size() <= kMostScopes) return at_depth;
    }
    return errors_at(1, kMostScopes);
  }

 private:
  static constexpr size_t kMostDepth = 64;
  struct Record {
    int64_t row;
    double error;
  };
  struct Found {
    std::string scope;
    std::vector<Record> written, read;  // rows with more error than all before them
    int64_t differ = 0;
    double accepted = 0;

    [[nodiscard]] const std::vector<Record>& records() const { return written.empty() ? read : written; }
  };

  static char separator_of(std::string_view scope) { return scope.find('/') == std::string_view::npos ? '.' : '/'; }
  static size_t depth_of(std::string_view scope) {
    return 1 + static_cast<size_t>(std::count(scope.begin(), scope.end(), separator_of(scope)));
  }
  static std::string_view cut(std::string_view scope, size_t depth) {
    const char separator = separator_of(scope);
    for (size_t at = 0; at < scope.size(); ++at) {
      if (scope[at] == separator && --depth == 0) return scope.substr(0, at);
    }
    return scope;
  }

  // At most `most`, of which the last then stands for all others.
  [[nodiscard]] std::vector<ScopeError> errors_at(size_t depth, size_t most) const {
    std::vector<ScopeError> errors;
    std::map<std::string, size_t> numbers;
    std::vector<size_t> joined;  // by place in `found_`: in `errors`
    for (const Found& one : found_) {
      std::string scope = bounded(cut(one.scope, depth));
      if (numbers.count(scope) == 0 && numbers.size() + 1 >= most) scope = kOtherScopes;
      const auto [found, is_new] = numbers.try_emplace(scope, errors.size());
      if (is_new) errors.push_back({scope, 0, 0, rows_, 0});
      joined.push_back(found->second);
      ScopeError& error = errors[found->second];
      error.error = std::max(error.error, one.records().back().error);
      error.differ += one.differ;
      error.accepted = std::max(error.accepted, one.accepted);
    }
    for (size_t i = 0; i < found_.size(); ++i) {
      ScopeError& error = errors[joined[i]];
      for (const Record& record : found_[i].records()) {
        if (record.error >= error.error / 2) error.first = std::min(error.first, record.row);
      }
    }
    return errors;
  }

  int64_t rows_ = 0;
  std::vector<Found> found_;
  std::map<std::string, size_t> numbers_;  // in `found_`
};

// The exit code of diff, whether or not it had --exit-zero.
int64_t exit_code_of(const Night& night, bool fails, bool empty_selection) {
  if (night.compared == 0) return empty_selection ? 1 : 2;
  if (night.failed > 0) return 3;
  return fails ? 1 : 0;
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kGreen: return "green";
    case Outcome::kRed: return "red";
    case Outcome::kNotJudged: break;
  }
  return "not_judged";
}

Result<Night> night_of_document(std::string_view text) {
  Night night;
  Scopes scopes;
  std::string command;
  bool fails = false, empty_selection = false;
  const auto take_summary = [&](const JsonValue& summary) {
    night.compared = count_at(summary, "compared");
    night.accepted = count_at(summary, "accepted");
    for (const char* const verdict : {"differ", "nan", "shape", "dtype", "unmatched"})
      night.differ += std::min<int64_t>(count_at(summary, verdict), int64_t{1} << 40);
    night.verdict = text_at(summary, "verdict");
    const JsonValue* const said = summary.find("fails");
    fails = said != nullptr && said->is(JsonKind::kBool) ? said->boolean : night.verdict == "differ";
  };
  const auto take = [&](std::string_view key, const JsonValue& value) {
    if (key == "command") command = value.text;
    if (key == "version" && value.is(JsonKind::kString)) night.version = bounded(value.text);
    if (key == "summary" && value.is(JsonKind::kObject)) take_summary(value);
    if (key == "failures" && value.is(JsonKind::kArray)) {
      night.failed = static_cast<int64_t>(value.items.size());
      for (const JsonValue& failure : value.items)
        empty_selection = empty_selection || text_at(failure, "code") == "empty_selection";
    }
    if (key == "first_divergence" && value.is(JsonKind::kArray) && !value.items.empty())
      night.root = root_of(value.items.front());
  };
  MSDUMP_CHECK_OK(read_document(text, take, [&](const JsonValue& row) { scopes.add(row); }));
  if (command != "diff")
    return fail(make_error(ErrorCode::kUsage, "no document of msdump diff")
                    .with_hint("msdump diff CANDIDATE REFERENCE --json | msdump history DIR"));
  night.exit_code = exit_code_of(night, fails, empty_selection);
  night.outcome = night.compared == 0 || night.failed > 0 ? Outcome::kNotJudged
                  : fails                                 ? Outcome::kRed
                                                          : Outcome::kGreen;
  night.scopes = scopes.errors();
  return night;
}

report::Object object_of(const Night& night) {
  report::Object object;
  object.add("time", night.time).add("version", night.version).add("outcome", name_of(night.outcome));
  object.add("exit_code", night.exit_code).add("verdict", report::text_or_null(night.verdict));
  object.add("compared", night.compared).add("differ", night.differ).add("accepted", night.accepted);
  object.add("failed", night.failed);
  report::Object root;
  if (night.root) {
    root.add("op_name", night.root->op_name).add("op_type", night.root->op_type);
    root.add("rank", night.root->rank).add("step", night.root->step);
    root.add("file", report::text_or_null(night.root->file)).add("line", night.root->line);
    root.add("decided_by", night.root->decided_by).add("confidence", night.root->confidence);
    root.add("reason", night.root->reason);
  }
  object.add("root", night.root ? report::Value(std::move(root)) : report::Value());
  report::List scopes;
  for (const ScopeError& one : night.scopes) {
    report::Object scope;
    scope.add("scope", one.scope).add("error", one.error).add("differ", one.differ);
    scope.add("first", one.first).add("accepted", one.accepted);
    scopes.emplace_back(std::move(scope));
  }
  return object.add("scopes", std::move(scopes));
}

std::string line_of(const Night& night) {
  std::string line, members;
  report::append_json(members, object_of(night));
  return fmt::format("{{\"schema\":{},{}\n", kSchema, std::string_view(members).substr(1));
}

std::optional<Night> parse_line(std::string_view line) {
  if (line.size() > kMostLineBytes) return std::nullopt;
  const Result<JsonValue> value = parse_json(line);
  if (!value || !value->is(JsonKind::kObject) || integer_at(*value, "schema") != kSchema) return std::nullopt;
  Night night;
  night.time = text_at(*value, "time");
  night.version = text_at(*value, "version");
  const std::string outcome = text_at(*value, "outcome");
  night.outcome = outcome == name_of(Outcome::kGreen) ? Outcome::kGreen
                  : outcome == name_of(Outcome::kRed) ? Outcome::kRed
                                                      : Outcome::kNotJudged;
  night.exit_code = std::clamp<int64_t>(count_at(*value, "exit_code"), 0, 3);
  night.verdict = text_at(*value, "verdict");
  night.compared = count_at(*value, "compared");
  night.differ = count_at(*value, "differ");
  night.accepted = count_at(*value, "accepted");
  night.failed = count_at(*value, "failed");
  if (const JsonValue* const root = value->find("root"); root != nullptr && root->is(JsonKind::kObject))
    night.root = root_of(*root);
  const JsonValue* const scopes = value->find("scopes");
  if (scopes == nullptr || !scopes->is(JsonKind::kArray) || night.time.empty()) return std::nullopt;
  for (const JsonValue& scope : scopes->items) {
    const std::optional<double> error = scope.is(JsonKind::kObject) ? number_at(scope, "error") : std::nullopt;
    if (error && night.scopes.size() < kMostScopes)
      night.scopes.push_back({text_at(scope, "scope"), std::max(*error, 0.0), count_at(scope, "differ"),
                              count_at(scope, "first"), std::max(number_at(scope, "accepted").value_or(0), 0.0)});
  }
  return night;
}

Nights parse_history(std::string_view text) {
  Nights nights;
  nights.is_cut = !text.empty() && text.back() != '\n';
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    if (line.empty()) continue;
    if (std::optional<Night> night = parse_line(line)) {
      nights.nights.push_back(std::move(*night));
    } else {
      ++nights.unreadable;
    }
  }
  return nights;
}

Result<Nights> read_history(const std::string& path) {
  Result<File> file = File::open(path);
  if (!file && file.error().code == ErrorCode::kNotFound) return Nights();
  if (!file) return fail(file.error());
  const uint64_t size = std::min(file->size(), kMostHistoryBytes);
  std::string text(static_cast<size_t>(size), '\0');
  MSDUMP_CHECK_OK(file->read_at(file->size() - size, std::as_writable_bytes(std::span(text.data(), text.size()))));
  // The first line of a part may be the end of another.
  const size_t begin = size == file->size() ? 0 : std::min(text.find('\n'), text.size() - 1) + 1;
  return parse_history(std::string_view(text).substr(begin));
}

}  // namespace msdump::history
