#include "compare/match/rename/name_map_file.h"

#include <algorithm>
#include <unordered_map>

#include "base/enum_table.h"
#include "base/text.h"
#include "compare/match/msprobe/msprobe_items.h"
#include "compare/match/msprobe/msprobe_layers.h"
#include "compare/match/rename/name_map_csv.h"
#include "dump/layouts/msprobe_facts.h"
#include "io/file.h"
#include "io/json.h"
#include "io/read_text.h"
#include "io/yaml.h"
#include "msprobe/names.h"

namespace msdump {
namespace {

constexpr uint64_t kMostBytes = uint64_t{16} << 20;
constexpr std::string_view kNoPartner = "N/A";

// Lines of a text by the offset of a byte.
class Lines {
 public:
  explicit Lines(std::string_view text) {
    for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
      begins_.push_back(at + 1);
  }

  [[nodiscard]] size_t line_of(size_t offset) const {
    return static_cast<size_t>(std::upper_bound(begins_.begin(), begins_.end(), offset) - begins_.begin()) + 1;
  }

 private:
  std::vector<size_t> begins_;  // from the second line on
};

tl::unexpected<Error> at_line(size_t line, std::string_view what, std::string hint = {}) {
  return fail(make_error(ErrorCode::kUsage, "line {}: {}", line, what).with_hint(std::move(hint)));
}

// "op:output:0".
std::optional<TensorName> with_colons(std::string_view text) {
  const size_t slot = text.rfind(':');
  if (slot == std::string_view::npos || slot == 0) return std::nullopt;
  const size_t io = text.rfind(':', slot - 1);
  if (io == std::string_view::npos || io == 0) return std::nullopt;
  const std::optional<Io> named = io_named(text.substr(io + 1, slot - io - 1));
  if (!named) return std::nullopt;
  return TensorName{std::string(text.substr(0, io)), *named, std::string(text.substr(slot + 1))};
}

// The name of an entry or of an operator of a graph; anything else is a cell.
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
  YamlReader(std::string_view text, const NameMapDumps& dumps) : text_(text), lines_(text), dumps_(dumps) {}

  Result<NameMapContent> read() {
    MSDUMP_TRY(const JsonValue yaml, parse_yaml(text_));
    if (yaml.is(JsonKind::kArray)) {
      MSDUMP_CHECK_OK(apis(yaml));
    } else if (yaml.is(JsonKind::kObject) && !yaml.members.empty()) {
      const bool nested = yaml.members.front().value.is(JsonKind::kObject);
      MSDUMP_CHECK_OK(nested ? layers(yaml) : names(yaml));
    } else {
      return wrong(yaml.offset, "expected two columns of names, or one of msprobe's mappings in YAML");
    }
    return std::move(content_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(size_t offset, std::string_view what, std::string hint = {}) const {
    return at_line(lines_.line_of(offset), what, std::move(hint));
  }

  // A data or a cell mapping, by the first name.
  Status names(const JsonValue& yaml) {
    const auto is_cell = [](std::string_view name) { return !tensor_name(name) && !is_operator_name(name); };
    const bool cells = is_cell(yaml.members.front().key);
    content_.kind = cells ? NameMapKind::kCell : NameMapKind::kData;
    std::vector<NamePair> pairs;
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
      pairs.push_back({member.key, member.value.text, lines_.line_of(member.key_offset)});
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
      for (const auto& [slots, words] :
           {std::pair(&pair.input, std::pair("args", "args")), std::pair(&pair.output, std::pair("output", "outputs")),
            std::pair(&pair.parameters, std::pair("parameters", "parameters")),
            std::pair(&pair.parameters_grad, std::pair("parameters_grad", "parameters_grad"))}) {
        MSDUMP_TRY(*slots, slot_pairs(value, words.first, words.second));
      }
      content_.apis.push_back(std::move(pair));
    }
    return {};
  }

  Result<SlotPairs> slot_pairs(const JsonValue& rule, std::string_view word, std::string_view other) const {
    const JsonValue* lists[2] = {};
    for (const int side : {0, 1}) {
      const std::string prefix = side == 0 ? "ms_" : "pt_";
      const JsonValue* list = rule.find(prefix + std::string(word));
      lists[side] = list == nullptr ? rule.find(prefix + std::string(other)) : list;
    }
    const auto& [left, right] = lists;
    SlotPairs pairs;
    if (left == nullptr && right == nullptr) return pairs;
    const bool are_lists =
        left != nullptr && right != nullptr && left->is(JsonKind::kArray) && right->is(JsonKind::kArray);
    if (!are_lists || left->items.size() != right->items.size()) {
      return wrong(rule.offset, fmt::format("ms_{} and pt_{} of {} are not lists of the same length", word, word,
                                            excerpt(rule.find("ms_api")->text)));
    }
    pairs.slots.emplace();
    for (size_t i = 0; i < left->items.size(); ++i) {
      const JsonValue &from = left->items[i], &to = right->items[i];
      if (!from.is(JsonKind::kString) || !to.is(JsonKind::kString))
        return wrong(from.offset, "a slot is neither a number nor a name");
      pairs.slots->emplace_back(from.text, to.text);
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
                      .with_hint("for other dumps: two columns, candidate name, reference name"));
    }
    return layer_pairs(rules);
  }

  // Items without a partner by these rules may be paired otherwise: the user did not write N/A.
  Status layer_pairs(const MsprobeLayerRules& rules) {
    std::unordered_map<std::string, std::string> all;
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
                      .with_hint("it needs construct.json and stack.json of level mix on both sides"));
    }
    for (auto& [from, to] : all) content_.tensors.push_back({from, std::move(to), 0});
    std::sort(content_.tensors.begin(), content_.tensors.end(),
              [](const NamePair& a, const NamePair& b) { return a.candidate < b.candidate; });
    return {};
  }

  std::string_view text_;
  Lines lines_;
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
  if (looks_like_path_rules(text)) {
    NameMapContent content;
    content.kind = NameMapKind::kPaths;
    MSDUMP_TRY(content.paths, read_path_rules(text));
    return content;
  }
  if (!looks_like_name_csv(text)) return YamlReader(text, dumps).read();
  NameMapContent content;
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
