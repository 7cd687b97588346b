#include "compare/match/rename/name_map_file.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/containers.h"
#include "base/error.h"
#include "base/text.h"
#include "compare/match/msprobe/msprobe_items.h"
#include "compare/match/msprobe/msprobe_layers.h"
#include "dump/layouts/name_facts.h"
#include "io/file.h"
#include "io/json.h"
#include "io/rule_file.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

constexpr std::string_view kEndsComponent = "./-";

struct Component {
  size_t begin, end;
};

std::vector<Component> components_of(std::string_view name) {
  std::vector<Component> components;
  for (size_t begin = 0;;) {
    const size_t end = std::min(name.find_first_of(kEndsComponent, begin), name.size());
    components.push_back({begin, end});
    if (end == name.size()) return components;
    begin = end + 1;
  }
}

// The text that the star of a pattern with at most one star stands for; no value if the text does not match.
std::optional<std::string_view> star_of(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text ? std::optional(std::string_view()) : std::nullopt;
  const std::string_view before = pattern.substr(0, star), after = pattern.substr(star + 1);
  if (text.size() < before.size() + after.size() || !text.starts_with(before) || !text.ends_with(after))
    return std::nullopt;
  return text.substr(star, text.size() - before.size() - after.size());
}

// The right side with the texts of its stars. No value if the components from `first` on do not match.
std::optional<std::string> replacement_at(const PathRule& rule, std::string_view name,
                                          const std::vector<Component>& components, size_t first) {
  if (first + rule.from.size() > components.size()) return std::nullopt;
  std::string result = rule.to;
  size_t star = result.find('*');
  for (size_t i = 0; i < rule.from.size(); ++i) {
    const Component& one = components[first + i];
    const auto text = star_of(rule.from[i], name.substr(one.begin, one.end - one.begin));
    if (!text) return std::nullopt;
    if (rule.from[i].find('*') == std::string::npos || star == std::string::npos) continue;
    result.replace(star, 1, *text);
    star = result.find('*', star + text->size());
  }
  return result;
}

std::string renamed_by(const PathRule& rule, std::string_view name) {
  const std::vector<Component> components = components_of(name);
  std::string result;
  size_t done = 0;  // of the name
  for (size_t i = 0; i < components.size();) {
    const auto replacement = replacement_at(rule, name, components, i);
    if (!replacement) {
      ++i;
      continue;
    }
    result += name.substr(done, components[i].begin - done);
    result += *replacement;
    i += rule.from.size();
    done = components[i - 1].end;
    if (replacement->empty() && done < name.size()) ++done;  // with what ends the component
  }
  return result + std::string(name.substr(done));
}

constexpr uint64_t kMostBytes = uint64_t{16} << 20;
constexpr RuleFormat kMapLines = {
    .content = "names", .rule = "names", .most_bytes = kMostBytes, .trailing_comments = false};

tl::unexpected<Error> at_line(size_t line, std::string_view what, std::string hint = {}) {
  return fail(make_error(ErrorCode::kUsage, "line {}: {}", line, what).with_hint(std::move(hint)));
}

Result<PathRule> path_rule_in(const RuleLine& line) {
  const auto wrong_rule = [&](std::string_view what) {
    return at_line(line.number, what, "write: part of the candidate's path = part of the reference's");
  };
  const auto stars_in = [](std::string_view text) { return std::count(text.begin(), text.end(), '*'); };
  const auto [from, to] = key_value_of(line.text);
  if (!to) return wrong_rule(fmt::format("'{}' has no '='", excerpt(line.text)));
  if (from.empty()) return wrong_rule("the left side is empty");
  if (stars_in(*to) > stars_in(from)) return wrong_rule("more stars on the right than on the left");
  PathRule rule{{}, std::string(*to)};
  for (const Component& one : components_of(from)) {
    rule.from.emplace_back(from.substr(one.begin, one.end - one.begin));
    if (stars_in(rule.from.back()) > 1) return wrong_rule("two stars in one component");
  }
  return rule;
}

}  // namespace

Result<std::vector<PathRule>> read_path_rules(std::string_view text) {
  std::vector<PathRule> rules;
  MSDUMP_CHECK_OK(for_each_rule(text, kMapLines, [&](const RuleLine& line) -> Status {
    MSDUMP_TRY(rules.emplace_back(), path_rule_in(line));
    return {};
  }));
  return rules;
}

std::string renamed_by(const std::vector<PathRule>& rules, std::string_view name) {
  std::string result(name);
  for (const PathRule& rule : rules) result = renamed_by(rule, result);
  return result;
}

namespace {

// Replaces each quoted part by its quotes.
std::string without_quoted(std::string_view line) {
  std::string result;
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (!quoted) result += c;
  }
  return result;
}

tl::unexpected<Error> wrong_pair(const RuleLine& line, std::string_view what) {
  return at_line(line.number, what, "a line is: candidate name, reference name");
}

// Splits a line into fields. Quotes may hold commas and, doubled, quotes.
Result<std::vector<std::string>> fields_of(const RuleLine& rule) {
  const std::string_view line = rule.text;
  std::vector<std::string> fields;
  for (size_t at = 0;; ++at) {
    std::string field;
    at = std::min(line.find_first_not_of(" \t\r", at), line.size());
    const bool is_quoted = at < line.size() && line[at] == '"';
    if (is_quoted) {
      for (++at; at < line.size() && (line[at] != '"' || line.substr(at).starts_with("\"\"")); ++at) {
        if (line[at] == '"') ++at;
        field += line[at];
      }
      if (at++ == line.size()) return wrong_pair(rule, "a quote is not closed");
    }
    const size_t comma = std::min(line.find(',', at), line.size());
    const std::string_view rest = trimmed(line.substr(at, comma - at));
    if (is_quoted && !rest.empty()) return wrong_pair(rule, "text after a closing quote");
    fields.push_back(is_quoted ? std::move(field) : std::string(rest));
    at = comma;
    if (at == line.size()) return fields;
  }
}

bool is_header(const std::vector<std::string>& fields) {
  static constexpr std::array<std::string_view, 7> kLeft = {"candidate", "candidate name", "a",     "target",
                                                            "npu",       "npu name",       "actual"};
  static constexpr std::array<std::string_view, 7> kRight = {"reference", "reference name", "b",      "golden",
                                                             "bench",     "bench name",     "desired"};
  const std::string left = to_lower(fields[0]), right = to_lower(fields[1]);
  return std::find(kLeft.begin(), kLeft.end(), left) != kLeft.end() &&
         std::find(kRight.begin(), kRight.end(), right) != kRight.end();
}

enum class MapForm : uint8_t { kYaml, kCsv, kPaths };

// By the first line with content: CSV has a comma, path rules a '=' and no comma, and neither looks like YAML.
MapForm form_of(std::string_view text) {
  const auto looks_like_yaml = [](std::string_view line) {
    return line.starts_with("- ") || line.starts_with('{') || line.starts_with('[') || line.ends_with(':') ||
           line.find(": ") != std::string_view::npos;
  };
  const auto has = [](std::string_view line, char c) { return line.find(c) != std::string_view::npos; };
  const auto line = RuleReader(text, kMapLines).next();
  if (!line || !*line) return MapForm::kYaml;
  const std::string_view whole = (*line)->text;
  const std::string plain = without_quoted(whole);
  if (!looks_like_yaml(whole) && has(whole, '=') && !has(whole, ',')) return MapForm::kPaths;
  return !looks_like_yaml(plain) && has(plain, ',') ? MapForm::kCsv : MapForm::kYaml;
}

// kUsage with the line for an unclosed quote, a wrong number of columns, an empty name.
Result<std::vector<NamePair>> read_name_csv(std::string_view text) {
  std::vector<NamePair> pairs;
  bool is_first = true;
  MSDUMP_CHECK_OK(for_each_rule(text, kMapLines, [&](const RuleLine& line) -> Status {
    MSDUMP_TRY(std::vector<std::string> fields, fields_of(line));
    if (fields.size() != 2) return wrong_pair(line, fmt::format("{} columns; expected 2", fields.size()));
    if (fields[0].empty() || fields[1].empty())
      return wrong_pair(line, "a name is missing; 'N/A' says that there is none");
    if (!(is_first && is_header(fields))) pairs.push_back({std::move(fields[0]), std::move(fields[1]), line.number});
    is_first = false;
    return {};
  }));
  return pairs;
}

constexpr std::string_view kNoPartner = "N/A";

// Parses a name such as "op:output:0".
std::optional<TensorName> with_colons(std::string_view text) {
  const size_t slot = text.rfind(':');
  if (slot == std::string_view::npos || slot == 0) return std::nullopt;
  const size_t io = text.rfind(':', slot - 1);
  if (io == std::string_view::npos || io == 0) return std::nullopt;
  const std::optional<Io> named = io_named(text.substr(io + 1, slot - io - 1));
  if (!named) return std::nullopt;
  return TensorName{std::string(text.substr(0, io)), *named, std::string(text.substr(slot + 1))};
}

// True for the name of an entry, or of an operator of a graph. Anything else is a cell.
bool is_operator_name(std::string_view text) {
  return parse_msprobe_entry(text) || text.find('/') != std::string_view::npos ||
         text.find("-op") != std::string_view::npos;
}

// Sorts the pairs into operators and tensors.
Status take_pairs(std::vector<NamePair> pairs, NameMapContent& content) {
  std::unordered_map<std::string, const NamePair*> known;
  known.reserve(pairs.size());
  for (const NamePair& pair : pairs) {
    const auto [before, added] = known.try_emplace(pair.candidate, &pair);
    if (!added && before->second->reference != pair.reference) {
      return at_line(pair.line,
                     fmt::format("{} is {} here and {} on line {}", excerpt(pair.candidate), excerpt(pair.reference),
                                 excerpt(before->second->reference), before->second->line));
    }
  }
  for (NamePair& pair : pairs) {
    const bool of_tensor = tensor_name(pair.candidate).has_value();
    if (pair.reference == kNoPartner) {
      pair.reference.clear();
    } else if (of_tensor != tensor_name(pair.reference).has_value()) {
      return at_line(pair.line, fmt::format("{} is {} and {} is {}", excerpt(pair.candidate),
                                            of_tensor ? "a tensor" : "an operator", excerpt(pair.reference),
                                            of_tensor ? "an operator" : "a tensor"));
    }
    (of_tensor ? content.tensors : content.operators).push_back(std::move(pair));
  }
  return {};
}

class YamlReader {
 public:
  YamlReader(std::string_view text, const NameMapDumps& dumps) : text_(text), dumps_(dumps) {}

  Result<NameMapContent> read() {
    MSDUMP_TRY(const JsonValue yaml, parse_yaml(text_));
    const bool is_list = yaml.is(JsonKind::kArray);
    if (!is_list && (!yaml.is(JsonKind::kObject) || yaml.members.empty()))
      return wrong(yaml.offset, "expected two columns of names, or one of msprobe's mappings in YAML");
    const bool nested = !is_list && yaml.members.front().value.is(JsonKind::kObject);
    MSDUMP_CHECK_OK(is_list ? apis(yaml) : nested ? layers(yaml) : names(yaml));
    return std::move(content_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(size_t offset, std::string_view what, std::string hint = {}) const {
    return at_line(position_in(text_, offset).line, what, std::move(hint));
  }

  // A data or a cell mapping, by the first name.
  Status names(const JsonValue& yaml) {
    const auto is_cell = [](std::string_view name) { return !tensor_name(name) && !is_operator_name(name); };
    const bool cells = is_cell(yaml.members.front().key);
    content_.kind = cells ? NameMapKind::kCell : NameMapKind::kData;
    std::vector<NamePair> pairs;
    TextPositions positions(text_);
    for (const JsonMember& member : yaml.members) {
      if (!member.value.is(JsonKind::kString)) {
        return wrong(member.key_offset, fmt::format("{} is not mapped to a name", excerpt(member.key)),
                     "'N/A' says that it has no partner");
      }
      if (is_cell(member.key) != cells) {
        return wrong(member.key_offset,
                     fmt::format("{} does not belong into a {}", excerpt(member.key), name_of(content_.kind)),
                     "a data mapping has whole names, a cell mapping name.Class");
      }
      pairs.push_back({member.key, member.value.text, positions.at(member.key_offset).line});
    }
    if (!cells) return take_pairs(std::move(pairs), content_);
    for (NamePair& pair : pairs) content_.cells.emplace_back(std::move(pair.candidate), std::move(pair.reference));
    return {};
  }

  Status apis(const JsonValue& yaml) {
    content_.kind = NameMapKind::kApi;
    for (const JsonValue& value : yaml.items) {
      ApiPair pair;
      for (const auto& [text, key] : {std::pair(&pair.candidate, "ms_api"), std::pair(&pair.reference, "pt_api")}) {
        const JsonValue* name = value.find(key);
        if (name == nullptr || !name->is(JsonKind::kString) || name->text.empty()) {
          return wrong(value.offset, fmt::format("an api mapping without {}", key));
        }
        *text = name->text;
      }
      MSDUMP_TRY(pair.input, slot_pairs(value, "args", "args"));
      MSDUMP_TRY(pair.output, slot_pairs(value, "output", "outputs"));
      MSDUMP_TRY(pair.parameters, slot_pairs(value, "parameters", "parameters"));
      MSDUMP_TRY(pair.parameters_grad, slot_pairs(value, "parameters_grad", "parameters_grad"));
      content_.apis.push_back(std::move(pair));
    }
    return {};
  }

  Result<SlotPairs> slot_pairs(const JsonValue& rule, std::string_view word, std::string_view other) const {
    const auto list_of = [&](const std::string& prefix) {
      const JsonValue* const list = rule.find(prefix + std::string(word));
      return list == nullptr ? rule.find(prefix + std::string(other)) : list;
    };
    const JsonValue *const left = list_of("ms_"), *const right = list_of("pt_");
    SlotPairs pairs;
    if (left == nullptr && right == nullptr) return pairs;
    const bool are_lists =
        left != nullptr && right != nullptr && left->is(JsonKind::kArray) && right->is(JsonKind::kArray);
    if (!are_lists || left->items.size() != right->items.size()) {
      return wrong(rule.offset, fmt::format("ms_{} and pt_{} of {} are not lists of the same length", word, word,
                                            excerpt(rule.find("ms_api")->text)));
    }
    pairs.emplace();
    for (size_t i = 0; i < left->items.size(); ++i) {
      const JsonValue &from = left->items[i], &to = right->items[i];
      if (!from.is(JsonKind::kString) || !to.is(JsonKind::kString))
        return wrong(from.offset, "a slot is neither a number nor a name");
      pairs->emplace_back(from.text, to.text);
    }
    return pairs;
  }

  Status layers(const JsonValue& yaml) {
    content_.kind = NameMapKind::kLayers;
    for (const JsonMember& layer : yaml.members) {
      if (!layer.value.is(JsonKind::kObject)) {
        return wrong(layer.key_offset, fmt::format("{} has no 'layer: layer' lines", excerpt(layer.key)));
      }
      for (const JsonMember& rule : layer.value.members) {
        if (!rule.value.is(JsonKind::kString)) {
          return wrong(rule.key_offset, fmt::format("{} is not mapped to a layer", excerpt(rule.key)));
        }
      }
    }
    MSDUMP_TRY(const MsprobeLayerRules rules, read_layer_rules(yaml));
    if (dumps_.dump_jsons.empty()) {
      return fail(make_error(ErrorCode::kUsage, "a mapping of layers needs a dump.json on both sides")
                      .with_hint("write two columns for other dumps: candidate name, reference name"));
    }
    // Items without a partner by these rules may be paired otherwise: the user did not write N/A.
    std::map<std::string, std::string> all;
    for (const auto& [candidate, reference] : dumps_.dump_jsons) {
      MSDUMP_TRY(const File candidate_file, File::open(candidate));
      MSDUMP_TRY(const File reference_file, File::open(reference));
      MSDUMP_TRY(const MsprobeItems items, read_msprobe_items(candidate_file, {}));
      MSDUMP_TRY(const MsprobeItems reference_items, read_msprobe_items(reference_file, {}));
      MSDUMP_TRY(auto mapping, msprobe_layer_mapping({items, candidate}, {reference_items, reference}, rules));
      for (auto& [from, to] : mapping) {
        if (to != kNoPartner && tensor_name(from) && tensor_name(to)) all.try_emplace(from, std::move(to));
      }
    }
    if (all.empty()) {
      return fail(make_error(ErrorCode::kUsage, "the mapping of layers matches nothing in these dumps")
                      .with_hint("dump both sides with level mix, for construct.json and stack.json"));
    }
    for (auto& [from, to] : all) content_.tensors.push_back({from, std::move(to), 0});
    return {};
  }

  std::string_view text_;
  const NameMapDumps& dumps_;
  NameMapContent content_;
};

}  // namespace

std::string_view name_of(NameMapKind kind) {
  static constexpr auto kNames = enum_table<NameMapKind, std::string_view>(
      "csv", "data mapping", "cell mapping", "api mapping", "layer mapping", "path rules");
  return kNames[kind];
}

std::optional<TensorName> tensor_name(std::string_view text) {
  if (auto name = with_colons(text)) return name;
  const bool has_suffix = text.ends_with(".npy") || text.ends_with(".pt");
  const std::string file = std::string(text) + (has_suffix ? "" : ".npy");
  const auto name = parse_msprobe_file_name(file);
  if (!name || !name->unfinished.empty()) return std::nullopt;
  return TensorName{std::string(name->op_name), io_of(name->io), std::string(name->slot)};
}

Result<NameMapContent> parse_name_map(std::string_view text, const NameMapDumps& dumps) {
  if (text.size() > kMostBytes)
    return fail(ErrorCode::kTooLarge, "{} bytes of names; at most {}", text.size(), kMostBytes);
  const MapForm form = form_of(text);
  if (form == MapForm::kYaml) return YamlReader(text, dumps).read();
  NameMapContent content;
  if (form == MapForm::kPaths) {
    content.kind = NameMapKind::kPaths;
    MSDUMP_TRY(content.paths, read_path_rules(text));
    return content;
  }
  MSDUMP_TRY(std::vector<NamePair> pairs, read_name_csv(text));
  MSDUMP_CHECK_OK(take_pairs(std::move(pairs), content));
  return content;
}

Result<NameMapContent> read_name_map(const std::string& path, const NameMapDumps& dumps) {
  MSDUMP_TRY(const std::string text, read_text(path, kMostBytes, "a list of names"));
  auto content = parse_name_map(text, dumps);
  if (!content && content.error().path.empty()) return fail(std::move(content.error()).with_path(path));
  return content;
}

}  // namespace msdump
