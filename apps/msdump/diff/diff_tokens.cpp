#include "diff/diff_tokens.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/text.h"
#include "compare/tokens/token_errors.h"
#include "compare/tokens/token_texts.h"
#include "compare/tokens/token_view.h"
#include "diff/diff_rows.h"
#include "diff/diff_text.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

using report::ObjectType;

uint64_t count_sequences(const TokenView& view) {
  std::set<uint32_t> sequences;
  for (const MatchedSequence& one : view.match.sequences) sequences.insert(one.b);
  return sequences.size();
}

report::Object side_value(const TokenSide& side) {
  report::Object object;
  object.add("form", form_of(side)).add("steps", uint64_t{side.rows().passes.size()});
  object.add("sequences", uint64_t{side.rows().sequences.size()}).add("rows", side.rows().rows);
  return std::move(object.add("pads", side.rows().pads).add("undecided", side.rows().undecided));
}

const ObjectType& token_side_type() {
  static const ObjectType type{"TokenSide",
                               "How one side computes its tokens.",
                               {{.key = "form", .type = "string", .text = "padded or packed, in words that may change"},
                                {.key = "steps", .type = "integer", .text = "forward passes"},
                                {.key = "sequences", .type = "integer", .text = "sequences that it has"},
                                {.key = "rows", .type = "integer", .text = "rows of all passes"},
                                {.key = "pads", .type = "integer", .text = "of these, rows that are no tokens"},
                                {.key = "undecided",
                                 .type = "integer",
                                 .text = "tokens of which several sequences had the length, and nothing told which"}}};
  return type;
}

const ObjectType& wrong_token_type() {
  static const ObjectType type{
      "WrongToken",
      "Where the error of a token first jumps, and the first such token in the order in which they were computed.",
      {{.key = "layer", .type = "integer|null", .text = "number of the layer in the operator's name"},
       {.key = "op_name", .type = "string", .text = "operator of the tensor in which it jumps"},
       {.key = "io", .type = "string", .text = "input or output"},
       {.key = "slot", .type = "integer|string|null", .text = "which of them"},
       {.key = "sequence", .type = "integer", .text = "sequence, counted in the reference"},
       {.key = "position", .type = "integer", .text = "position of the token in it"},
       {.key = "token_id", .type = "integer", .text = "id of the token"},
       {.key = "text", .type = "string|null", .text = "what --tokenizer has for it"},
       {.key = "candidate_rank", .type = "integer|null", .text = "rank that computed it, if others read other tokens"},
       {.key = "candidate_step", .type = "integer|null", .text = "step of the candidate that computed it"},
       {.key = "candidate_pass", .type = "integer", .text = "forward pass of the candidate, from 0"},
       {.key = "candidate_row", .type = "integer", .text = "its row in that pass"},
       {.key = "error", .type = "number", .text = "largest difference in its row over the row's largest element"},
       {.key = "wrong", .type = "integer", .text = "tokens that differ beyond rounding"},
       {.key = "tokens", .type = "integer", .text = "tokens that were compared there"}}};
  return type;
}

const ObjectType& log_probs_type() {
  static const ObjectType type{
      "LogProbs",
      "How far the log-probabilities of the two sides are apart; r is the probability of the reference over that of "
      "the candidate.",
      {{.key = "op_name", .type = "string", .text = "operator that returns them"},
       {.key = "tokens", .type = "integer", .text = "tokens that no mask made 0"},
       {.key = "k1", .type = "number", .text = "mean of -log r: an estimate of the KL divergence"},
       {.key = "k3", .type = "number", .text = "mean of r - 1 - log r: another one, of less variance"},
       {.key = "largest_ratio", .type = "number", .text = "largest r or 1 / r"},
       {.key = "clipped", .type = "integer", .text = "tokens with r beyond 0.8 to 1.2"}}};
  return type;
}

report::Value log_probs_value(const DiffResult& run) {
  if (run.tokens->errors == nullptr || !run.tokens->errors->log_probs) return {};
  const LogProbs& found = *run.tokens->errors->log_probs;
  report::Object object;
  object.add("op_name", run.op_name(run.pairing.tensors[found.tensor].op)).add("tokens", found.tokens);
  object.add("k1", rounded(found.k1)).add("k3", rounded(found.k3));
  return std::move(object.add("largest_ratio", rounded(found.largest_ratio)).add("clipped", found.clipped));
}

// The first 60 bytes of a token's text, with control characters and parts of characters as \xNN; null if it is not known.
report::Value text_of(const TokenView& view, int64_t id) {
  const auto text = view.texts == nullptr ? std::nullopt : view.texts->of(id);
  return text ? report::Value(excerpt(*text)) : report::Value();
}

// The number behind "layers" or the like in a name.
std::optional<int64_t> layer_of(std::string_view name) {
  for (const std::string_view part : split(name, '.')) {
    if (const auto number = is_digits(part) ? parse_i64(part) : std::nullopt) return number;
  }
  return std::nullopt;
}

}  // namespace

std::string tokens_text(const DiffResult& run) {
  if (run.tokens == nullptr) return {};
  const TokenView& view = *run.tokens;
  std::string text;
  add_line(text, "tokens: {}, {} are compared (candidate: {}; reference: {})",
           plural(count_sequences(view), "sequence"), plural(static_cast<uint64_t>(view.match.tokens), "token"),
           form_of(*view.a), form_of(*view.b));
  for (const FoundRelation& one : view.relations)
    add_line(text, "  {}{}", one.text, one.count > 1 ? fmt::format(" ({})", one.count) : "");
  if (view.errors != nullptr && view.errors->log_probs) {
    const LogProbs& found = *view.errors->log_probs;
    add_line(text, "  log-probabilities of {}: KL {:.3g} (K3; K1 {:.3g}), largest ratio {:.3g}, {} beyond 0.8 to 1.2",
             plural(found.tokens, "token"), found.k3, found.k1, found.largest_ratio, found.clipped);
  }
  return text;
}

std::string wrong_tokens_text(const DiffResult& run) {
  if (run.tokens == nullptr || run.tokens->errors == nullptr || !run.tokens->errors->jump) return {};
  const TokenJump& jump = *run.tokens->errors->jump;
  const WrongToken& first = jump.first;
  const TokenSummary& summary = *run.tokens->errors->of_tensor[jump.tensor];
  const std::string step = first.step ? fmt::format("step {}", *first.step) : fmt::format("pass {}", first.pass);
  const std::string rank = first.rank ? fmt::format("rank {}, ", *first.rank) : "";
  const report::Value text = text_of(*run.tokens, first.id);
  const std::string quoted = text.is_null() ? "" : fmt::format(" \"{}\"", *text.get<std::string>());
  return fmt::format(
      "first at sequence {}, position {} (token {}{}; candidate: {}{}, row {}); {} of {} {} beyond rounding",
      first.sequence, first.position, first.id, quoted, rank, step, first.row, summary.wrong,
      plural(summary.tokens, "token"), summary.wrong == 1 ? "is" : "are");
}

report::Value tokens_value(const DiffResult& run) {
  if (run.tokens == nullptr) return {};
  const TokenView& view = *run.tokens;
  report::Object object;
  object.add("sequences", count_sequences(view)).add("tokens", view.match.tokens);
  object.add("rows_mapped", view.rows_mapped).add("rows_unmapped", view.rows_unmapped);
  object.add("sides", list_of(kBothSides, [&](Side side) { return side_value(view.of(side)); }));
  object.add("relations", list_of(view.relations, [](const FoundRelation& one) { return one.text; }));
  object.add("routing_flips", view.errors == nullptr ? report::Value() : report::Value(view.errors->flipped));
  object.add("log_probs", log_probs_value(run));
  if (view.errors == nullptr || !view.errors->jump) return std::move(object.add("first", report::Value()));
  const TokenJump& jump = *view.errors->jump;
  const TensorPair& pair = run.pairing.tensors[jump.tensor];
  const NameFacts& name = run.record_of(pair).name;
  const WrongToken& wrong = jump.first;
  const TokenSummary& summary = *view.errors->of_tensor[jump.tensor];
  report::Object first;
  first.add("layer", layer_of(run.op_name(pair.op))).add("op_name", run.op_name(pair.op));
  first.add("io", name_of(name.io)).add("slot", slot_value(name.slot));
  first.add("sequence", uint64_t{wrong.sequence}).add("position", wrong.position).add("token_id", wrong.id);
  first.add("text", text_of(view, wrong.id));
  first.add("candidate_rank", wrong.rank)
      .add("candidate_step", wrong.step)
      .add("candidate_pass", uint64_t{wrong.pass})
      .add("candidate_row", wrong.row);
  first.add("error", rounded(wrong.error)).add("wrong", summary.wrong).add("tokens", summary.tokens);
  return std::move(object.add("first", std::move(first)));
}

report::Value token_map_value(const DiffResult& run) {
  if (run.tokens == nullptr || run.tokens->errors == nullptr) return {};
  const TokenView& view = *run.tokens;
  const TokenErrors& errors = *view.errors;
  const TokenHeat& heat = errors.heat;
  const auto name_of_output = [&](size_t output) {
    const TensorPair& pair = run.pairing.tensors[errors.outputs[output]];
    return fmt::format("{} {}", run.op_name(pair.op), run.record_of(pair).name.slot);
  };
  report::List rows, columns, cells;
  for (size_t row = 0; row < heat.rows(); ++row) {
    const auto [first, end] = heat.outputs_of(row);
    rows.emplace_back(report::List{name_of_output(first), name_of_output(end - 1), uint64_t{end - first}});
    for (size_t column = 0; column < heat.columns(); ++column) {
      const float error = heat.error(row, column);
      cells.emplace_back();
      if (error >= 0) cells.back() = rounded(double{error});
    }
  }
  for (size_t column = 0; column < heat.columns(); ++column) {
    const auto [first, end] = heat.tokens_of(column);
    const auto token = view.b->place_of_row(static_cast<int64_t>(first));
    if (!token) {
      columns.emplace_back(report::Value());
      continue;
    }
    columns.emplace_back(report::List{uint64_t{token->sequence}, token->position, token->id, uint64_t{end - first},
                                      text_of(view, token->id)});
  }
  report::Object object;
  object.add("rows", std::move(rows)).add("columns", std::move(columns)).add("cells", std::move(cells));
  if (!errors.jump) return std::move(object.add("first", report::Value()));
  // The map has rows for outputs alone: a jump in an input is marked at the next output.
  const auto at = std::find(errors.order.begin(), errors.order.end(), errors.jump->tensor);
  const auto output = std::find_if(at, errors.order.end(), [&](TensorId tensor) {
    return std::find(errors.outputs.begin(), errors.outputs.end(), tensor) != errors.outputs.end();
  });
  if (output == errors.order.end()) return std::move(object.add("first", report::Value()));
  const auto place =
      static_cast<size_t>(std::find(errors.outputs.begin(), errors.outputs.end(), *output) - errors.outputs.begin());
  return std::move(object.add(
      "first", report::List{uint64_t{heat.row_of(place)}, uint64_t{heat.column_of(errors.jump->first.common)}}));
}

std::vector<std::string> token_map_texts(const DiffResult& run) {
  std::vector<std::string> texts;
  if (run.tokens == nullptr || run.tokens->errors == nullptr) return texts;
  const TokenErrors& errors = *run.tokens->errors;
  const std::string wrong = wrong_tokens_text(run);
  texts.push_back(wrong.empty() ? "The error of no token jumps."
                                : fmt::format("The error of a token jumps {}.", wrong));
  const TokenHeat& heat = errors.heat;
  if (errors.outputs.size() > heat.rows())
    texts.push_back(fmt::format("A row has the largest error of up to {} outputs, of {} in all.",
                                (errors.outputs.size() + heat.rows() - 1) / heat.rows(), errors.outputs.size()));
  const auto tokens = static_cast<uint64_t>(run.tokens->match.tokens);
  if (tokens > heat.columns())
    texts.push_back(fmt::format("A column has the largest error of up to {} tokens, of {} in all.",
                                (tokens + heat.columns() - 1) / heat.columns(), tokens));
  return texts;
}

report::Value row_tokens_value(const DiffResult& run, TensorId tensor) {
  if (run.tokens == nullptr || run.tokens->errors == nullptr) return {};
  const std::optional<TokenSummary>& summary = run.tokens->errors->of_tensor[tensor];
  if (!summary) return {};
  report::Object object;
  object.add("tokens", summary->tokens).add("wrong", summary->wrong);
  return std::move(
      object.add("median_error", rounded(summary->median)).add("largest_error", rounded(summary->largest)));
}

const ObjectType& row_tokens_type() {
  static const ObjectType type{
      "RowTokens",
      "The errors of the tokens in a tensor: the largest difference in a row over its largest element.",
      {{.key = "tokens", .type = "integer", .text = "tokens that have a row"},
       {.key = "wrong", .type = "integer", .text = "of these, whose error jumps here; 0 behind the first such tensor"},
       {.key = "median_error", .type = "number", .text = "error of a usual token"},
       {.key = "largest_error", .type = "number", .text = "largest error of a token"}}};
  return type;
}

const ObjectType& tokens_type() {
  static const ObjectType type{
      "Tokens",
      "Of two runs whose rows are compared by the tokens that they are of.",
      {{.key = "sequences", .type = "integer", .text = "sequences that both sides have"},
       {.key = "tokens", .type = "integer", .text = "tokens of these that both sides computed"},
       {.key = "rows_mapped", .type = "integer", .text = "pairs of tensors that are compared token by token"},
       {.key = "rows_unmapped", .type = "integer", .text = "pairs that are not compared: their rows are no tokens"},
       {.key = "sides", .type = "object[]", .text = "the candidate, then the reference", .of = token_side_type},
       {.key = "relations", .type = "string[]", .text = "modules of one side that are several of the other"},
       {.key = "routing_flips",
        .type = "integer|null",
        .text = "tokens for which rounding changed the order of a router's largest logits; their errors are no fault"},
       {.key = "log_probs",
        .type = "object|null",
        .text = "of the last output with one number a token, if none is above 0",
        .of = log_probs_type},
       {.key = "first",
        .type = "object|null",
        .text = "the first wrong token; null if the error of no token jumps",
        .of = wrong_token_type}}};
  return type;
}

}  // namespace msdump::cli
