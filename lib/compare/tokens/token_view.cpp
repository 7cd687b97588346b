#include "compare/tokens/token_view.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/limits.h"
#include "compare/match/placement/sharded_side.h"
#include "msprobe/module_path.h"

namespace msdump {
namespace {

int64_t tokens_of(const TokenRows& rows) {
  int64_t tokens = 0;
  for (const TokenSequence& one : rows.sequences) tokens += static_cast<int64_t>(one.ids.size());
  return tokens;
}

// True if a backward pass was dumped: the side trains.
bool has_gradients(const CompareSide& side) {
  return std::any_of(side.tensors->begin(), side.tensors->end(),
                     [](const TensorRecord& tensor) { return is_backward_operator(tensor.name.op_name); });
}

// ---- names of modules

// Paths of modules in Transformers, vLLM and SGLang, and in Megatron. Longer paths come before their parts. Routers have no row:
// Megatron's router returns probabilities, that of Transformers logits.
// Source: transformers and vLLM of 2024 to 2026; Megatron Core's GPTModel.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kNames = {{
    {"model.embed_tokens", "embedding.word_embeddings"},
    {"model.norm", "decoder.final_layernorm"},
    {"model.layers", "decoder.layers"},
    {"lm_head", "output_layer"},
    {"post_attention_layernorm", "pre_mlp_layernorm"},
    {"self_attn", "self_attention"},
    {"qkv_proj", "linear_qkv"},
    {"o_proj", "linear_proj"},
    {"attn", "core_attention"},
    {"q_norm", "q_layernorm"},
    {"k_norm", "k_layernorm"},
    {"gate_up_proj", "linear_fc1"},
    {"down_proj", "linear_fc2"},
}};

bool has_part(const std::vector<SequencedOp>& operators, std::string_view part) {
  return std::any_of(operators.begin(), operators.end(), [&](const SequencedOp& op) {
    const std::vector<std::string_view> parts = split(op.name, '.');
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  });
}

// A map of paths for the candidate's names; none if both sides have the names of one family.
std::optional<NameMap> module_names(const std::vector<SequencedOp>& candidate,
                                    const std::vector<SequencedOp>& reference) {
  const auto is_megatron = [](const std::vector<SequencedOp>& operators) { return has_part(operators, "linear_fc2"); };
  const auto is_transformers = [](const std::vector<SequencedOp>& operators) {
    return has_part(operators, "down_proj");
  };
  const bool to_megatron = is_transformers(candidate) && is_megatron(reference);
  if (!to_megatron && !(is_megatron(candidate) && is_transformers(reference))) return std::nullopt;
  std::string text;
  for (const auto& [transformers, megatron] : kNames) {
    text += to_megatron ? transformers : megatron;
    text += '=';
    text += to_megatron ? megatron : transformers;
    text += '\n';
  }
  NameMapContent content;
  content.kind = NameMapKind::kPaths;
  if (auto rules = read_path_rules(text)) content.paths = std::move(*rules);
  return NameMap(std::move(content));
}

// ---- fused modules

// The name of a forward call of a module: "Module.model.layers.0.self_attn." "qkv_proj" ".Linear.forward.0". Hooks have the path
// alone.
struct ModuleName {
  std::string_view parent, own, after;
};

std::optional<ModuleName> module_name(std::string_view name) {
  const auto path = module_path(name);
  const size_t dot = path ? path->rfind('.') : std::string_view::npos;
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view call = name.substr(path->size());
  if (call.find(".backward.") != std::string_view::npos) return std::nullopt;
  return ModuleName{path->substr(0, dot + 1), path->substr(dot + 1), call};
}

// The only output with rows; kNoId if there is none, or several.
RecordId output_of(const TokenSide& side, const SequencedOp& op) {
  RecordId found = kNoId;
  for (const RecordId tensor : op.tensors) {
    if (side.tensors()[tensor].name.io != Io::kOutput) continue;
    if (found != kNoId || !side.has_rows(tensor) || side.extents_of_row(tensor).empty()) return kNoId;
    found = tensor;
  }
  return found;
}

struct Module {
  std::string_view own;
  int64_t extent = 0;
};
using Modules = std::map<std::string_view, std::vector<Module>>;  // by parent

Modules modules_of(const TokenSide& side) {
  Modules modules;
  for (const SequencedOp& op : side.operators()) {
    const auto name = module_name(op.name);
    if (!name) continue;
    const RecordId output = output_of(side, op);
    modules[name->parent].push_back({name->own, output == kNoId ? 0 : side.extents_of_row(output).back()});
  }
  return modules;
}

// The parts that the name is made of, in its order: those with its suffix, one behind the other, with '_' between them or
// without.
std::vector<Module> parts_of(std::string_view own, const std::vector<Module>& others) {
  const size_t underscore = own.rfind('_');
  if (underscore == std::string_view::npos) return {};
  const std::string_view suffix = own.substr(underscore);
  std::string_view stem = own.substr(0, underscore);
  std::vector<Module> parts;
  while (!stem.empty() && parts.size() < kFewTried) {
    const auto part = std::find_if(others.begin(), others.end(), [&](const Module& other) {
      return other.own.size() > suffix.size() && other.own.ends_with(suffix) &&
             stem.starts_with(other.own.substr(0, other.own.size() - suffix.size()));
    });
    if (part == others.end()) return {};
    stem.remove_prefix(part->own.size() - suffix.size());
    if (stem.starts_with('_')) stem.remove_prefix(1);
    parts.push_back(*part);
  }
  return stem.empty() && parts.size() > 1 ? parts : std::vector<Module>();
}

std::string without_numbers(std::string_view name) {
  std::string result;
  for (const std::string_view part : split(name, '.')) {
    if (!result.empty()) result += '.';
    result += is_digits(part) ? std::string_view("*") : part;
  }
  return result;
}

// The modules of `side`, in the order of its operators, that compute what several modules of `other` do, by their names and the
// extents of their outputs: qkv_proj = concat(q_proj, k_proj, v_proj), gate_up_proj = concat(gate_proj, up_proj). The parts lie in
// the same module. Adds one relation for modules whose names differ only in numbers.
std::vector<TokenSide::Fused> fused_modules(const TokenSide& side, const TokenSide& other,
                                            std::vector<FoundRelation>& relations) {
  const Modules modules = modules_of(other);
  std::vector<TokenSide::Fused> found;
  for (size_t i = 0; i < side.operators().size(); ++i) {
    const SequencedOp& op = side.operators()[i];
    const auto name = module_name(op.name);
    const RecordId output = name ? output_of(side, op) : RecordId();
    if (output == kNoId) continue;
    const auto beside = modules.find(name->parent);
    if (beside == modules.end()) continue;
    const auto has_name = [&](const Module& one) { return one.own == name->own; };
    if (std::any_of(beside->second.begin(), beside->second.end(), has_name)) continue;
    const std::vector<Module> parts = parts_of(name->own, beside->second);
    int64_t extent = 0;
    for (const Module& part : parts) extent += part.extent;
    if (parts.empty() || extent != side.extents_of_row(output).back()) continue;
    TokenSide::Fused& fused = found.emplace_back();
    fused.op = i;
    std::string text;
    for (const Module& part : parts) {
      fused.names.push_back(std::string(name->parent) + std::string(part.own) + std::string(name->after));
      fused.extents.push_back(part.extent);
      text += fmt::format("{}{}", text.empty() ? "" : ", ", part.own);
    }
    text = fmt::format("{} = concat({})", without_numbers(std::string(name->parent) + std::string(name->own)), text);
    const auto known =
        std::find_if(relations.begin(), relations.end(), [&](const FoundRelation& one) { return one.text == text; });
    if (known != relations.end()) {
      ++known->count;
    } else {
      relations.push_back({"concatenated", std::move(text), 1});
    }
  }
  return found;
}

}  // namespace

std::string form_of(const TokenSide& side) {
  const std::vector<PassRows>& passes = side.rows().passes;
  const auto is_padded = [](const PassRows& pass) { return pass.batch > 1; };
  const bool padded = std::any_of(passes.begin(), passes.end(), is_padded);
  const uint32_t groups = side.passes().groups;
  const std::string of = groups > 1 ? fmt::format(" on {} groups of ranks", groups) : "";
  if (passes.size() > 1) return fmt::format("{} passes{}, {}", passes.size(), of, padded ? "padded" : "packed");
  const PassRows& only = passes.front();
  return padded ? fmt::format("padded {}x{}", only.batch, only.rows / only.batch) : fmt::format("packed {}", only.rows);
}

Result<std::unique_ptr<TokenView>> view_tokens(const CompareSide& a, const CompareSide& b, TokenUse use,
                                               const RunContext& context) {
  if (use == TokenUse::kNever) return nullptr;
  const bool asked = use == TokenUse::kAlways;
  const TokenIds ids_a = find_token_ids(a);
  if (ids_a.records.empty() && !asked) return nullptr;
  // Two trainings are compared by global tensors (match/placement): their ranks may well read different rows.
  if (!asked && sharding_differs(a, b) && has_gradients(a) && has_gradients(b)) return nullptr;
  const TokenIds ids_b = find_token_ids(b);
  if (!asked && (ids_b.records.empty() || !rows_differ(a, ids_a, b, ids_b))) return nullptr;
  const auto problem = [&](Side side, const Error& error) -> Result<std::unique_ptr<TokenView>> {
    if (error.code == ErrorCode::kCancelled) return fail(error);
    if (!asked) return nullptr;
    Error usage = error;
    usage.code = ErrorCode::kUsage;
    usage.message = fmt::format("--tokens: the tokens of the {} are not known: {}", name_of(side), error.message);
    return fail(std::move(usage));
  };
  Result<RunPasses> passes_a = run_passes(a, ids_a, context.cancel);
  if (!passes_a) return problem(Side::kCandidate, passes_a.error());
  Result<RunPasses> passes_b = run_passes(b, ids_b, context.cancel);
  if (!passes_b) return problem(Side::kReference, passes_b.error());
  // The ids of other things, such as the atoms of molecules, may have other shapes on the two sides as well.
  const auto tells_sequences = [](const RunPasses& passes) {
    return std::any_of(passes.inputs.begin(), passes.inputs.end(),
                       [](const TokenInputs& inputs) { return inputs.tells_sequences(); });
  };
  if (!asked && !tells_sequences(*passes_a) && !tells_sequences(*passes_b)) return nullptr;
  // The side with fewer passes has its sequences in one piece, and tells how those of the other join. If nothing tells where its
  // sequences begin, the other side does.
  const bool a_first = passes_a->inputs.size() < passes_b->inputs.size();
  const std::vector<TokenInputs>&first = (a_first ? *passes_a : *passes_b).inputs,
        &second = (a_first ? *passes_b : *passes_a).inputs;
  TokenRows of_first = token_rows(first, {});
  TokenRows of_second = token_rows(second, KnownBeginnings(of_first.sequences));
  if (!first.front().tells_sequences()) {
    of_second = token_rows(second, {});
    of_first = token_rows(first, KnownBeginnings(of_second.sequences));
  }
  TokenRows rows_a = std::move(a_first ? of_first : of_second), rows_b = std::move(a_first ? of_second : of_first);
  auto view = std::make_unique<TokenView>();
  view->match = match_sequences(rows_a.sequences, rows_b.sequences);
  const int64_t fewer = std::min(tokens_of(rows_a), tokens_of(rows_b));
  if (view->match.tokens == 0 || (!asked && 2 * view->match.tokens < fewer)) {
    if (!asked) return nullptr;
    return fail(ErrorCode::kUsage, "--tokens: the two sides have no tokens in common ({} and {} were looked at)",
                plural(rows_a.sequences.size(), "sequence"), rows_b.sequences.size());
  }
  if (rows_a.cut_short > 0 || rows_b.cut_short > 0) {
    view->limits.insert(
        {"token_sequences", kMostTried, "of the sequences that a token may continue, only the first were looked at"});
  }
  if (view->match.cut_short) {
    view->limits.insert({"cached_sequences", kMostCompared,
                         "not all sequences whose first tokens were cached were looked for on the other side"});
  }
  view->a = std::make_unique<TokenSide>(a, std::move(*passes_a), std::move(rows_a), view->match, Side::kCandidate);
  view->b = std::make_unique<TokenSide>(b, std::move(*passes_b), std::move(rows_b), view->match, Side::kReference);
  const std::vector<TokenSide::Fused> of_a = fused_modules(*view->a, *view->b, view->relations);
  const std::vector<TokenSide::Fused> of_b = fused_modules(*view->b, *view->a, view->relations);
  view->a->split(of_a);
  view->b->split(of_b);
  view->names = module_names(view->a->operators(), view->b->operators());
  return view;
}

void align_names(TokenView& view) {
  using Key = std::tuple<std::string, Io, std::string_view, uint32_t>;
  const auto by_name = [&](Side side) {
    std::map<Key, std::vector<RecordId>> found;
    const std::vector<TensorRecord>& tensors = view.of(side).tensors();
    for (RecordId i{0}; i < tensors.size(); ++i) {
      if (!view.of(side).has_rows(i)) continue;
      const NameFacts& name = tensors[i].name;
      const bool is_renamed = side == Side::kCandidate && view.names;
      std::string own = is_renamed ? view.names->path_renamed(name.op_name) : std::string(name.op_name);
      found[{std::move(own), name.io, name.slot, tensors[i].occurrence}].push_back(i);
    }
    return found;
  };
  const std::map<Key, std::vector<RecordId>> of_b = by_name(Side::kReference);
  for (const auto& [key, tensors] : by_name(Side::kCandidate)) {
    const auto other = of_b.find(key);
    if (other == of_b.end()) continue;
    const std::vector<CommonRows> rows =
        intersection(view.a->rows_of(tensors.front()), view.b->rows_of(other->second.front()));
    if (rows.empty()) continue;
    const auto has_same = [&](const TokenSide& side, const std::vector<RecordId>& all) {
      return std::all_of(all.begin(), all.end(),
                         [&](RecordId one) { return side.rows_of(one) == side.rows_of(all.front()); });
    };
    if (!has_same(*view.a, tensors) || !has_same(*view.b, other->second)) continue;
    for (const RecordId one : tensors) view.a->restrict_to(one, rows);
    for (const RecordId one : other->second) view.b->restrict_to(one, rows);
  }
}

void add_parted(const TensorPair& pair, Alone why, std::vector<TensorPair>& pairs) {
  pairs.push_back({{{pair.a, {}}}, pair.op, why});
  pairs.push_back({{{{}, pair.b}}, pair.op, why});
}

bool statistics_of_other_rows(const CompareSide& a, const CompareSide& b) {
  const TokenIds ids_a = find_token_ids(a, true);
  if (ids_a.records.empty() || !find_token_ids(a).records.empty()) return false;
  const TokenIds ids_b = find_token_ids(b, true);
  return !ids_b.records.empty() && rows_differ(a, ids_a, b, ids_b);
}

void part_other_rows(const CompareSide& a, const CompareSide& b, Pairing& pairing) {
  std::vector<TensorPair> parted;
  for (const TensorPair& pair : pairing.tensors) {
    const Shape* const shape_a = pair.a == kNoId ? nullptr : (*a.tensors)[pair.a].shape;
    const Shape* const shape_b = pair.b == kNoId ? nullptr : (*b.tensors)[pair.b].shape;
    if (shape_a == nullptr || shape_b == nullptr || without_ones(*shape_a) == without_ones(*shape_b)) {
      parted.push_back(pair);
    } else {
      add_parted(pair, Alone::kOtherStatistics, parted);
    }
  }
  pairing.tensors = std::move(parted);
}

}  // namespace msdump
