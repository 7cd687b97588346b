#include "compare/accept/baseline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "compare/limits.h"
#include "dump/names/identity.h"
#include "io/atomic_file.h"
#include "io/file.h"
#include "io/json.h"
#include "io/rule_file.h"
#include "report/json.h"

namespace msdump {
namespace {

constexpr uint64_t kMostBaselineBytes = uint64_t{32} << 20;
constexpr int64_t kSchema = 1;
constexpr double kLarger = 1.01;
constexpr std::string_view kCommand = "diff-baseline";
constexpr std::array kDifferences = {Verdict::kDiffer, Verdict::kNan, Verdict::kShape, Verdict::kDtype,
                                     Verdict::kUnmatched};

std::optional<double> recorded(std::optional<double> value) {
  return value ? std::optional(rounded_up(*value)) : std::nullopt;
}

// For statistics: the difference of the counts of NaN, if both sides have one.
uint64_t mismatches_of(const TensorDiff& diff) {
  const kernels::PairMetrics metrics = diff.metrics;
  if (!diff.by_statistics) return metrics.nan_mismatch + metrics.inf_mismatch;
  if (!diff.nan_counted_a || !diff.nan_counted_b) return 0;
  return std::max(metrics.nan_a, metrics.nan_b) - std::min(metrics.nan_a, metrics.nan_b);
}

AcceptedDifference difference_of(const TensorDiff& diff) {
  AcceptedDifference result;
  result.verdict = diff.verdict;
  if (!has_metrics(diff.verdict)) return result;
  result.relative_l2 = recorded(diff.error());
  result.max_abs = recorded(diff.metrics->max_abs);
  result.mismatches = mismatches_of(diff);
  return result;
}

bool is_within(std::optional<double> value, std::optional<double> accepted) {
  return !accepted || (value && *value <= *accepted * kLarger);
}

// Turns lone surrogates, as the JSON reader leaves them, back into the bytes that \udcXX stands for.
std::string without_surrogates(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    const auto byte = [&](size_t offset) { return static_cast<uint8_t>(text[at + offset]); };
    const bool escaped = at + 2 < text.size() && byte(0) == 0xED && (byte(1) == 0xB2 || byte(1) == 0xB3);
    if (!escaped) {
      result += text[at];
      continue;
    }
    result += static_cast<char>((byte(1) == 0xB2 ? 0x80 : 0xC0) | (byte(2) & 0x3F));
    at += 2;
  }
  return result;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  struct Content {
    std::map<TensorKey, AcceptedDifference> accepted;
    std::optional<BaselineOrigin> origin;
  };

  Result<Content> read() const {
    MSDUMP_TRY(const JsonValue root, parse_json(text_));
    if (!root.is(JsonKind::kObject)) return wrong(root, "expected an object");
    MSDUMP_TRY(const JsonValue* schema, member(root, "schema"));
    if (schema->as_int() != kSchema) return wrong(*schema, fmt::format("unknown schema; {} is expected", kSchema));
    MSDUMP_TRY(const JsonValue* list, member(root, "accepted"));
    if (!list->is(JsonKind::kArray)) return wrong(*list, "expected a list of accepted differences");
    if (list->items.size() > kMostStated) {
      return fail(ErrorCode::kTooLarge, "{} accepted differences; at most {}", list->items.size(), kMostStated);
    }
    Content content;
    if (const JsonValue* const made_of = root.find("made_of"); made_of != nullptr) {
      MSDUMP_TRY(content.origin, origin(*made_of));
    }
    for (const JsonValue& item : list->items) {
      MSDUMP_TRY(TensorKey key, key_of(item));
      MSDUMP_TRY(const AcceptedDifference difference, difference_of_item(item));
      const std::string name = excerpt(key.op_name);
      if (!content.accepted.try_emplace(std::move(key), difference).second) {
        return wrong(item, fmt::format("a second entry for this tensor of {}", name));
      }
    }
    return content;
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(const JsonValue& value, std::string_view what) const {
    const TextPosition position = position_in(text_, value.offset);
    return fail(make_error(ErrorCode::kBadJson, "line {}, column {}: {}", position.line, position.column, what)
                    .with_offset(value.offset));
  }

  Result<const JsonValue*> member(const JsonValue& object, std::string_view key) const {
    if (!object.is(JsonKind::kObject)) return wrong(object, "expected an object");
    const JsonValue* value = object.find(key);
    if (value == nullptr) return wrong(object, fmt::format("'{}' is missing", key));
    return value;
  }

  Result<std::string> text(const JsonValue& object, std::string_view key) const {
    MSDUMP_TRY(const JsonValue* value, member(object, key));
    if (!value->is(JsonKind::kString)) return wrong(*value, fmt::format("{} is not a text", key));
    return without_surrogates(value->text);
  }

  Result<std::optional<int64_t>> integer(const JsonValue& object, std::string_view key) const {
    MSDUMP_TRY(const JsonValue* value, member(object, key));
    if (value->is(JsonKind::kNull)) return std::nullopt;
    const auto number = value->as_int();
    if (!number) return wrong(*value, fmt::format("{} is not an integer", key));
    return number;
  }

  Result<int64_t> count(const JsonValue& object, std::string_view key, int64_t most) const {
    MSDUMP_TRY(const std::optional<int64_t> number, integer(object, key));
    if (!number || *number < 0 || *number > most) {
      return wrong(*object.find(key), fmt::format("{} is not a number from 0 to {}", key, most));
    }
    return *number;
  }

  // Empty for one that is missing or null.
  Result<std::string> known(const JsonValue& object, std::string_view key) const {
    const JsonValue* const value = object.find(key);
    if (value == nullptr || value->is(JsonKind::kNull)) return std::string();
    return text(object, key);
  }

  Result<int64_t> known_count(const JsonValue& object, std::string_view key) const {
    const JsonValue* const value = object.find(key);
    if (value == nullptr || value->is(JsonKind::kNull)) return 0;
    return count(object, key, std::numeric_limits<int64_t>::max());
  }

  Result<BaselineSide> side(const JsonValue& made_of, Side which) const {
    BaselineSide side;
    const JsonValue* const value = made_of.find(name_of(which));
    if (value == nullptr) return side;
    if (!value->is(JsonKind::kObject)) return wrong(*value, "expected an object");
    MSDUMP_TRY(side.writer, known(*value, "writer"));
    MSDUMP_TRY(side.content, known(*value, "content"));
    MSDUMP_TRY(side.ranks, known_count(*value, "ranks"));
    MSDUMP_TRY(side.operators, known_count(*value, "operators"));
    MSDUMP_TRY(side.graph, known(*value, "graph"));
    MSDUMP_TRY(side.configuration, known(*value, "configuration"));
    return side;
  }

  Result<BaselineOrigin> origin(const JsonValue& made_of) const {
    BaselineOrigin origin;
    if (!made_of.is(JsonKind::kObject)) return wrong(made_of, "expected an object");
    MSDUMP_TRY(origin.version, known(made_of, "version"));
    MSDUMP_TRY(origin.sides.a, side(made_of, Side::kCandidate));
    MSDUMP_TRY(origin.sides.b, side(made_of, Side::kReference));
    return origin;
  }

  // A number of 0 or more, or "inf".
  Result<std::optional<double>> measure(const JsonValue& object, std::string_view key) const {
    MSDUMP_TRY(const JsonValue* value, member(object, key));
    if (value->is(JsonKind::kNull)) return std::nullopt;
    if (value->is(JsonKind::kString) && value->text == "inf") return std::numeric_limits<double>::infinity();
    const auto number = value->as_double();
    if (!number || std::isnan(*number) || *number < 0) {
      return wrong(*value, fmt::format("{} is not a number of 0 or more", key));
    }
    return number;
  }

  Result<std::string> slot(const JsonValue& object) const {
    MSDUMP_TRY(const JsonValue* value, member(object, "slot"));
    if (value->is(JsonKind::kNull)) return std::string();
    if (value->is(JsonKind::kString)) return without_surrogates(value->text);
    if (value->as_int()) return value->text;
    return wrong(*value, "slot is neither a number nor a text");
  }

  // The value with this name.
  template <class T, size_t kCount>
  Result<T> word(const JsonValue& object, std::string_view key, const std::array<T, kCount>& values) const {
    MSDUMP_TRY(const std::string name, text(object, key));
    std::vector<std::string> names;
    for (const T value : values) {
      if (name_of(value) == name) return value;
      names.emplace_back(name_of(value));
    }
    auto error = wrong(*object.find(key), fmt::format("'{}' is not a valid {} of a difference", excerpt(name), key));
    error.value().hint = did_you_mean(name, names);
    return error;
  }

  Result<TensorKey> key_of(const JsonValue& item) const {
    TensorKey key;
    MSDUMP_TRY(key.rank, integer(item, "rank"));
    MSDUMP_TRY(key.graph, integer(item, "graph"));
    MSDUMP_TRY(key.step, integer(item, "step"));
    MSDUMP_TRY(key.op_name, text(item, "op_name"));
    MSDUMP_TRY(key.io, word(item, "io", kIos));
    MSDUMP_TRY(key.slot, slot(item));
    MSDUMP_TRY(const int64_t occurrence, count(item, "occurrence", std::numeric_limits<uint32_t>::max()));
    key.occurrence = static_cast<uint32_t>(occurrence);
    if (item.find("dump") != nullptr) {
      MSDUMP_TRY(key.dump, text(item, "dump"));
    }
    return key;
  }

  Result<AcceptedDifference> difference_of_item(const JsonValue& item) const {
    AcceptedDifference difference;
    MSDUMP_TRY(difference.verdict, word(item, "verdict", kDifferences));
    MSDUMP_TRY(difference.relative_l2, measure(item, "relative_l2"));
    MSDUMP_TRY(difference.max_abs, measure(item, "max_abs"));
    MSDUMP_TRY(const int64_t mismatches, count(item, "mismatches", std::numeric_limits<int64_t>::max()));
    difference.mismatches = static_cast<uint64_t>(mismatches);
    return difference;
  }

  std::string_view text_;
};

std::string line_of(const TensorKey& key, const AcceptedDifference& difference) {
  report::Object object;
  object.add("rank", key.rank).add("graph", key.graph).add("step", key.step).add("op_name", key.op_name);
  object.add("io", name_of(key.io)).add("slot", slot_value(key.slot)).add("occurrence", key.occurrence);
  if (!key.dump.empty()) object.add("dump", key.dump);
  object.add("verdict", name_of(difference.verdict)).add("relative_l2", difference.relative_l2);
  object.add("max_abs", difference.max_abs).add("mismatches", difference.mismatches);
  std::string line;
  report::append_json(line, object);
  return line;
}

report::Object object_of(const BaselineSide& side) {
  const auto known = [](int64_t number) { return number > 0 ? report::Value(number) : report::Value(); };
  report::Object object;
  object.add("writer", report::text_or_null(side.writer)).add("content", report::text_or_null(side.content));
  object.add("ranks", known(side.ranks)).add("operators", known(side.operators));
  object.add("graph", report::text_or_null(side.graph));
  if (!side.configuration.empty()) object.add("configuration", side.configuration);
  return object;
}

std::string line_of(const BaselineOrigin& origin) {
  report::Object object;
  object.add("version", report::text_or_null(origin.version));
  for (const Side side : kBothSides) object.add(name_of(side), object_of(origin.sides[side]));
  std::string line;
  report::append_json(line, object);
  return line;
}

}  // namespace

std::string why_stale(const BaselineOrigin& then, const BaselineOrigin& now) {
  std::string why;
  const auto add = [&](Side side, std::string_view what, const std::string& before, const std::string& after) {
    why += fmt::format("{}{} of the {}: {} then, {} now", why.empty() ? "" : "; ", what, name_of(side), before, after);
  };
  for (const Side side : kBothSides) {
    const BaselineSide &a = then.sides[side], &b = now.sides[side];
    const auto differ = [](const std::string& x, const std::string& y) { return !x.empty() && !y.empty() && x != y; };
    if (differ(a.writer, b.writer)) add(side, "writer", a.writer, b.writer);
    if (differ(a.content, b.content)) add(side, "content", a.content, b.content);
    if (differ(a.configuration, b.configuration)) add(side, "configuration", a.configuration, b.configuration);
    if (a.ranks > 0 && b.ranks > 0 && a.ranks != b.ranks)
      add(side, "ranks", std::to_string(a.ranks), std::to_string(b.ranks));
    if (side == Side::kReference && differ(a.graph, b.graph))
      add(side, "operators", std::to_string(a.operators),
          a.operators == b.operators ? "as many others" : std::to_string(b.operators));
  }
  return why;
}

Result<Baseline> Baseline::parse(std::string_view text) {
  if (text.size() > kMostBaselineBytes) {
    return fail(ErrorCode::kTooLarge, "a baseline of {} bytes; at most {}", text.size(), kMostBaselineBytes);
  }
  if (std::count(text.begin(), text.end(), ',') > int64_t{16 * kMostStated}) {  // bounds the memory of the parsed tree
    return fail(ErrorCode::kTooLarge, "a baseline of more than {} differences", kMostStated);
  }
  Baseline baseline;
  MSDUMP_TRY(Reader::Content content, Reader(text).read());
  baseline.accepted_ = std::move(content.accepted);
  baseline.origin_ = std::move(content.origin);
  return baseline;
}

Result<Baseline> Baseline::read(const std::string& path) {
  MSDUMP_TRY(const std::string text, read_text(path, kMostBaselineBytes, "a baseline"));
  return in_file(parse(text), path);
}

void Baseline::add(const TensorKey& key, const TensorDiff& diff) {
  if (is_difference(diff.verdict)) accepted_.insert_or_assign(key, difference_of(diff));
}

bool Baseline::accepts(const TensorKey& key, const TensorDiff& diff) {
  const auto found = accepted_.find(key);
  if (found == accepted_.end() || found->second.verdict != diff.verdict) return false;
  AcceptedDifference& difference = found->second;
  if (has_metrics(diff.verdict)) {
    if (!is_within(diff.error(), difference.relative_l2) || !is_within(diff.metrics->max_abs, difference.max_abs) ||
        !is_within(static_cast<double>(mismatches_of(diff)), static_cast<double>(difference.mismatches))) {
      return false;
    }
  }
  difference.used = true;
  return true;
}

Result<std::string> Baseline::text() const {
  const auto too_large = [&] {
    return fail(make_error(ErrorCode::kTooLarge, "{} differences are too many for a baseline", accepted_.size())
                    .with_hint("choose fewer tensors, or give tolerances instead"));
  };
  if (accepted_.size() > kMostStated) return too_large();
  std::string result = fmt::format("{{\"schema\": {}, \"command\": \"{}\", ", kSchema, kCommand);
  if (origin_) result += fmt::format("\"made_of\":\n{},\n", line_of(*origin_));
  result += "\"accepted\": [";
  bool first = true;
  for (const auto& [key, difference] : accepted_) {
    result += (first ? "\n" : ",\n") + line_of(key, difference);
    first = false;
  }
  result += "\n]}\n";
  if (result.size() > kMostBaselineBytes) return too_large();
  return result;
}

Status Baseline::write(const std::string& path) const {
  auto content = text();
  if (!content) return fail(std::move(content.error()).with_path(path));
  return write_named_file(path, *content);
}

std::vector<const TensorKey*> Baseline::unused() const {
  std::vector<const TensorKey*> keys;
  for (const auto& [key, difference] : accepted_) {
    if (!difference.used) keys.push_back(&key);
  }
  return keys;
}

}  // namespace msdump
