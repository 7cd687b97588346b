#include "compare/match/msprobe/msprobe_keys.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/text.h"

namespace msdump {
namespace {

// msprobe's own table for -am: functions with the same name in mindspore.ops and torch, and a few with other names. All
// others keep their names.
// Source: the public interfaces of both frameworks; checked against what msprobe 26.2.0 maps.
constexpr std::string_view kTorchFunctions =
    " "
    "abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv angle arange arccos arccosh arcsinh arctan "
    "arctanh argmax asin asinh atan atan2 atanh baddbmm bartlett_window bincount bitwise_and bitwise_or "
    "bitwise_xor blackman_window ceil cholesky_solve clamp clip column_stack conj cosh cross cumprod diag_embed "
    "diagflat diagonal digamma dist div divide einsum erf erfc exp exp2 expm1 eye flip fliplr flipud floor_divide "
    "fmax fmod full full_like gcd geqrf greater greater_equal hamming_window hann_window heaviside histc hsplit "
    "hstack hypot i0 igamma igammac imag inner inverse is_nonzero is_tensor isinf isneginf isposinf isreal "
    "kaiser_window kron lcm lerp log1p logaddexp logaddexp2 logdet logical_and logical_not logical_or logical_xor "
    "logit logspace lt lu_solve lu_unpack masked_select matmul mm moveaxis movedim msort mul multiply nan_to_num "
    "nansum neg negative nextafter nonzero not_equal numel ones_like orgqr outer permute polar pow rand rand_like "
    "randn randn_like ravel real reciprocal remainder reshape roll rot90 round row_stack rsqrt searchsorted sgn "
    "sign signbit sin sinc sinh slogdet square subtract sum swapdims t tan topk trace trapz tril tril_indices "
    "triu_indices true_divide trunc unbind unsqueeze vander view_as_real vsplit where xlogy zeros_like ";

using Renamed = std::pair<std::string_view, std::string_view>;
constexpr std::array<Renamed, 10> kRenamed{{{"Functional.bidense", "Functional.bilinear"},
                                            {"Functional.dense", "Functional.linear"},
                                            {"Functional.equal", "Torch.eq"},
                                            {"Functional.swapaxes", "Torch.transpose"},
                                            {"Tensor.asnumpy", "Tensor.numpy"},
                                            {"Tensor.cauchy", "Tensor.cauchy_"},
                                            {"Tensor.equal", "Tensor.eq"},
                                            {"Tensor.fill_diagonal", "Tensor.fill_diagonal_"},
                                            {"Tensor.gather_elements", "Tensor.gather"},
                                            {"Tensor.swapaxes", "Tensor.transpose"}}};

// True if "Functional.<function>" becomes "Torch.<function>".
bool is_torch_function(std::string_view function) {
  if (function.empty() || function.find(' ') != std::string_view::npos) return false;
  for (size_t at = kTorchFunctions.find(function); at != std::string_view::npos;
       at = kTorchFunctions.find(function, at + 1)) {
    if (kTorchFunctions[at - 1] == ' ' && kTorchFunctions[at + function.size()] == ' ') return true;
  }
  return false;
}

void replace_first(std::string& text, std::string_view from, std::string_view to) {
  if (const size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
}

bool is_gradient(std::string_view name) {
  const auto parts = split(name, '.');
  return std::find(parts.begin(), parts.end(), "parameters_grad") != parts.end();
}

// The slots of a rule by state, and what msprobe calls them in names and in rules.
struct Term {
  MsprobeState state;
  MsprobeApiRule::Slots MsprobeApiRule::*slots;
  std::string_view part, word;
};
constexpr std::array<Term, 4> kTerms = {
    {{MsprobeState::kInput, &MsprobeApiRule::input, ".input.", "args"},
     {MsprobeState::kParameters, &MsprobeApiRule::parameters, ".parameters.", "parameters"},
     {MsprobeState::kOutput, &MsprobeApiRule::output, ".output.", "output"},
     {MsprobeState::kParametersGrad, &MsprobeApiRule::parameters_grad, ".parameters_grad.", "parameters_grad"}}};

Result<std::string> rule_key(const MsprobeApiRule& rule, const MsprobeItem& item, std::string entry) {
  std::string name = item.name;
  replace_first(name, rule.target_api, rule.golden_api);
  replace_first(entry, rule.target_api, rule.golden_api);
  const auto term =
      std::find_if(kTerms.begin(), kTerms.end(), [&](const Term& one) { return one.state == item.state; });
  const MsprobeApiRule::Slots none, &slots = term == kTerms.end() ? none : rule.*term->slots;
  if (!slots.target) {
    return fail(make_error(ErrorCode::kUsage, "the api mapping of {} has no ms_{}, which {} needs",
                           excerpt(rule.target_api), term == kTerms.end() ? "debug" : term->word, excerpt(item.name))
                    .with_hint("msprobe stops here too (TypeError); it reads ms_output, not ms_outputs"));
  }
  const std::string part(term->part), before = entry + part;
  std::string_view slot = name;
  if (slot.starts_with(before)) slot.remove_prefix(before.size());
  std::string key = name + "abandoned";
  for (size_t i = 0; i < slots.target->size(); ++i) {
    const std::string& from = (*slots.target)[i];
    if (slot != from) continue;
    if (!slots.golden || i >= slots.golden->size()) {
      return fail(make_error(ErrorCode::kUsage, "the api mapping of {} has fewer pt_{} than ms_{}",
                             excerpt(rule.target_api), term->word, term->word));
    }
    key = replaced(name, part + from, part + (*slots.golden)[i]);
  }
  return key;
}

Status apply_rules(const MsprobeItems& target, const MsprobeItems& golden, const std::vector<MsprobeApiRule>& rules,
                   std::vector<std::string>& keys) {
  std::unordered_map<std::string_view, std::vector<size_t>> by_api;
  for (size_t i = 0; i < target.items.size(); ++i) {
    if (const auto api = msprobe_api_of(target.items[i].name)) by_api[*api].push_back(i);
  }
  std::unordered_set<std::string_view> golden_apis;
  for (const MsprobeItem& item : golden.items) {
    if (const auto api = msprobe_api_of(item.name)) golden_apis.insert(*api);
  }
  for (const MsprobeApiRule& rule : rules) {
    const auto items = by_api.find(rule.target_api);
    if (items == by_api.end() || !golden_apis.contains(rule.golden_api)) continue;
    for (const size_t i : items->second) {
      const MsprobeItem& item = target.items[i];
      MSDUMP_TRY(keys[i], rule_key(rule, item, target.entries[item.entry]));
    }
  }
  return {};
}

Result<std::optional<std::vector<std::string>>> slot_list(const JsonValue& rule, const std::string& key) {
  const JsonValue* list = rule.find(key);
  if (list == nullptr) return std::nullopt;
  if (!list->is(JsonKind::kArray)) return fail(ErrorCode::kUsage, "{} of an api mapping is not a list", key);
  std::vector<std::string> slots;
  for (const JsonValue& item : list->items) {
    MSDUMP_CHECK_OK(check_mapped_name(item.text));
    slots.push_back(item.text);
  }
  return slots;
}

size_t size_of(const JsonValue& rule, const std::string& key) {
  const JsonValue* list = rule.find(key);
  return list == nullptr ? 0 : list->items.size();
}

}  // namespace

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  size_t begin = 0;
  for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from, begin)) {
    result.append(text.substr(begin, at - begin)).append(to);
    begin = at + from.size();
  }
  return result.append(text.substr(begin));
}

std::optional<std::string_view> msprobe_api_of(std::string_view name) {
  const size_t first = name.find('.');
  if (first == std::string_view::npos) return std::nullopt;
  return name.substr(0, name.find('.', first + 1));
}

Status check_mapped_name(std::string_view name) {
  if (name.size() <= kLongestMappedName) return {};
  return fail(ErrorCode::kUsage, "a name of {} bytes ('{}'); at most {}", name.size(), excerpt(name),
              kLongestMappedName);
}

MsprobeCells::MsprobeCells(std::vector<std::pair<std::string, std::string>> cells) : cells_(std::move(cells)) {
  for (size_t i = 0; i < cells_.size(); ++i) sorted_.push_back(i);
  std::stable_sort(sorted_.begin(), sorted_.end(),
                   [&](size_t left, size_t right) { return cells_[left].first < cells_[right].first; });
  for (size_t place = 0; place < sorted_.size(); ++place) {
    size_t begin = place == 0 ? kNone : place - 1;
    while (begin != kNone && !cells_[sorted_[place]].first.starts_with(cells_[sorted_[begin]].first))
      begin = shorter_[begin];
    shorter_.push_back(begin);
  }
}

// The lowest index from `from` on whose name occurs in the text. The names that begin at a position are prefixes of one
// name: the last that does not sort after the text there.
std::optional<size_t> MsprobeCells::first_inside(std::string_view text, size_t from) const {
  std::optional<size_t> first;
  for (size_t at = 0; at <= text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    const auto after = std::upper_bound(sorted_.begin(), sorted_.end(), rest,
                                        [&](std::string_view value, size_t i) { return value < cells_[i].first; });
    if (after == sorted_.begin()) continue;
    for (size_t place = static_cast<size_t>(after - sorted_.begin()) - 1; place != kNone; place = shorter_[place]) {
      const size_t index = sorted_[place];
      if (index >= from && (!first || index < *first) && rest.starts_with(cells_[index].first)) first = index;
    }
  }
  return first;
}

std::string MsprobeCells::renamed(const std::string& cell) const {
  const auto whole = std::lower_bound(sorted_.begin(), sorted_.end(), cell,
                                      [&](size_t i, const std::string& value) { return cells_[i].first < value; });
  if (whole != sorted_.end() && cells_[*whole].first == cell) return cells_[*whole].second;
  std::string mapped = cell;
  for (auto next = first_inside(mapped, 0); next; next = first_inside(mapped, *next + 1))
    replace_first(mapped, cells_[*next].first, cells_[*next].second);
  return mapped;
}

std::string msprobe_cell_key(std::string name, const MsprobeCells& cells) {
  const bool call = name.find(".forward.") != std::string::npos || name.find(".backward.") != std::string::npos;
  if (!call && !is_gradient(name)) return "N/A";
  replace_first(name, "Cell", "Module");
  const size_t dot = name.find('.');
  const std::string_view rest = std::string_view(name).substr(dot == std::string::npos ? 0 : dot + 1);
  size_t end = rest.size();
  for (const std::string_view part : {".forward.", ".backward.", ".parameters_grad."}) {
    end = std::min(end, rest.find(part));
  }
  const std::string cell(rest.substr(0, end));
  replace_first(name, cell, cells.renamed(cell));
  return name;
}

std::string msprobe_table_key(const std::string& name) {
  const auto found = msprobe_api_of(name);
  if (!found) return name;
  const std::string_view api = *found;
  const std::string_view prefix = api.substr(0, api.find('.'));
  if (prefix == "Mint") return replaced(name, "Mint", "Torch");
  if (prefix == "MintFunctional") return replaced(name, "MintFunctional", "Functional");
  for (const auto& [from, to] : kRenamed) {
    if (from == api) return replaced(name, api, to);
  }
  if (prefix == "Functional" && is_torch_function(api.substr(api.find('.') + 1))) {
    return replaced(name, api, "Torch" + std::string(api.substr(prefix.size())));
  }
  return name;
}

Result<std::vector<std::pair<std::string, std::string>>> read_name_pairs(const JsonValue& yaml) {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::unordered_map<std::string_view, size_t> known;
  if (!yaml.is(JsonKind::kObject)) return fail(ErrorCode::kUsage, "expected 'name: name' lines");
  for (const JsonMember& member : yaml.members) {
    if (!member.value.is(JsonKind::kString)) {
      return fail(ErrorCode::kUsage, "'{}' is not mapped to a name", excerpt(member.key));
    }
    MSDUMP_CHECK_OK(check_mapped_name(member.key));
    MSDUMP_CHECK_OK(check_mapped_name(member.value.text));
    const auto [found, is_new] = known.try_emplace(member.key, pairs.size());
    if (is_new) pairs.emplace_back(member.key, std::string());
    pairs[found->second].second = member.value.text;
  }
  return pairs;
}

Result<std::vector<MsprobeApiRule>> read_api_rules(const JsonValue& yaml) {
  if (!yaml.is(JsonKind::kArray)) return fail(ErrorCode::kUsage, "expected a list of api mappings");
  std::vector<MsprobeApiRule> rules;
  for (const JsonValue& value : yaml.items) {
    const JsonValue *target = value.find("ms_api"), *golden = value.find("pt_api");
    if (target == nullptr || golden == nullptr || !target->is(JsonKind::kString) || !golden->is(JsonKind::kString)) {
      return fail(ErrorCode::kUsage, "an api mapping without ms_api and pt_api");
    }
    MSDUMP_CHECK_OK(check_mapped_name(target->text));
    MSDUMP_CHECK_OK(check_mapped_name(golden->text));
    const auto same_size = [&](const std::string& term) {
      return size_of(value, "ms_" + term) == size_of(value, "pt_" + term);
    };
    // msprobe skips a rule whose lists differ in length; it counts ms_outputs and reads ms_output.
    if (!same_size("args") || !same_size("outputs") || !same_size("parameters") || !same_size("parameters_grad")) {
      continue;
    }
    MsprobeApiRule rule{target->text, golden->text, {}, {}, {}, {}};
    for (const Term& term : kTerms) {
      MSDUMP_TRY((rule.*term.slots).target, slot_list(value, "ms_" + std::string(term.word)));
      MSDUMP_TRY((rule.*term.slots).golden, slot_list(value, "pt_" + std::string(term.word)));
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

Result<std::vector<std::string>> msprobe_keys(const MsprobeItems& target, const MsprobeItems& golden,
                                              const MsprobeMappings& mappings) {
  std::vector<std::string> keys;
  keys.reserve(target.items.size());
  std::optional<MsprobeCells> cells;
  if (mappings.cell) cells.emplace(*mappings.cell);
  for (const MsprobeItem& item : target.items) {
    if (mappings.api) {
      if (!msprobe_api_of(item.name))
        return fail(ErrorCode::kUsage, "'{}' is not the name of an API: msprobe -am stops here", excerpt(item.name));
      keys.push_back(msprobe_table_key(item.name));
    } else if (cells) {
      keys.push_back(msprobe_cell_key(item.name, *cells));
    } else if (mappings.data) {
      const auto found = mappings.data->find(item.name);
      keys.push_back(found == mappings.data->end() ? item.name : found->second);
    } else {
      keys.push_back(item.key);
    }
  }
  if (mappings.api) MSDUMP_CHECK_OK(apply_rules(target, golden, *mappings.api, keys));
  return keys;
}

}  // namespace msdump
