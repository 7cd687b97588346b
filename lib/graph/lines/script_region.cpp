#include "graph/lines/script_region.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "graph/lines/source_lines.h"

namespace msdump {
namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// The last character before `at` that is no blank; a blank if there is none.
char character_before(std::string_view code, size_t at) {
  while (at > 0 && code[at - 1] == ' ') --at;
  return at == 0 ? ' ' : code[at - 1];
}

bool ends_operand(char c) { return is_word(c) || c == ')' || c == ']' || c == '\'' || c == '"'; }

// "1e-6": the sign belongs to the number.
bool is_exponent(std::string_view code, size_t at) {
  return at >= 2 && (code[at - 1] == 'e' || code[at - 1] == 'E') && code[at - 2] >= '0' && code[at - 2] <= '9';
}

// True if the symbol at `at` is a whole operator between two operands, or for "neg" before one.
bool is_operator(std::string_view code, size_t at, std::string_view symbol, bool unary) {
  const char next = at + symbol.size() < code.size() ? code[at + symbol.size()] : ' ';
  const char previous = at == 0 ? ' ' : code[at - 1];
  constexpr std::string_view kDoubled = "*/<>=&|";
  if (kDoubled.find(symbol.back()) != std::string_view::npos && next == symbol.back()) return false;
  if (kDoubled.find(symbol.front()) != std::string_view::npos && previous == symbol.front()) return false;
  if (symbol == ">" && previous == '-') return false;                 // ->
  if ((symbol == "<" || symbol == ">") && next == '=') return false;  // <=
  if (symbol == "-" && is_exponent(code, at)) return false;           // 1e-6
  const std::string_view left = code.substr(0, at);
  const bool after_keyword = left.ends_with("return ") || left.ends_with("lambda ");
  const bool is_binary = ends_operand(character_before(code, at)) && !after_keyword;
  return unary ? !is_binary : is_binary;
}

bool has_symbol(std::string_view code, std::string_view symbol) {
  const bool unary = symbol == "neg";
  if (unary) symbol = "-";
  for (size_t at = code.find(symbol); at != std::string_view::npos; at = code.find(symbol, at + symbol.size())) {
    if (is_operator(code, at, symbol, unary)) return true;
  }
  return false;
}

// "sum(" of "x.sum(-1)", not of "cumsum(x)".
bool calls_function(std::string_view code, std::string_view name) {
  for (size_t at = code.find(name); at != std::string_view::npos; at = code.find(name, at + 1)) {
    if ((at == 0 || !is_word(code[at - 1])) && code.substr(at + name.size()).starts_with('(')) return true;
  }
  return false;
}

// The literals of a line that are no whole numbers, each once: 0.5 and 1e-6 of "x[1] * 0.5 + 1e-6".
std::set<float> fractions_in(std::string_view code) {
  std::set<float> fractions;
  for (size_t at = 0; at < code.size(); ++at) {
    const bool begins =
        (code[at] >= '0' && code[at] <= '9') && (at == 0 || (!is_word(code[at - 1]) && code[at - 1] != '.'));
    if (!begins) continue;
    float value = 0;
    const auto parsed = std::from_chars(code.data() + at, code.data() + code.size(), value);
    if (parsed.ec == std::errc() && std::isfinite(value) && value != std::floor(value)) fractions.insert(value);
  }
  return fractions;
}

// "scale" and "norm" of "self.norm(x * self.scale)", each once.
std::set<std::string_view> attributes_in(std::string_view code) {
  constexpr std::string_view kSelf = "self.";
  std::set<std::string_view> names;
  for (size_t at = code.find(kSelf); at != std::string_view::npos; at = code.find(kSelf, at + 1)) {
    const std::string_view rest = code.substr(at + kSelf.size());
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_word);
    if (at == 0 || !is_word(code[at - 1])) names.emplace(rest.substr(0, static_cast<size_t>(end - rest.begin())));
  }
  return names;
}

template <class Key>
std::vector<ScriptLine> lines_of(const std::multimap<Key, ScriptLine>& index, const Key& key) {
  std::vector<ScriptLine> lines;
  const auto [begin, end] = index.equal_range(key);
  for (auto at = begin; at != end; ++at) lines.push_back(at->second);
  return lines;
}

struct SymbolOfType {
  std::string_view type, symbol;
};
constexpr SymbolOfType kSymbols[] = {
    {"Add", "+"},         {"Sub", "-"},       {"Mul", "*"},        {"Div", "/"},           {"RealDiv", "/"},
    {"FloorDiv", "//"},   {"Mod", "%"},       {"FloorMod", "%"},   {"Pow", "**"},          {"MatMul", "@"},
    {"BatchMatMul", "@"}, {"Neg", "neg"},     {"Greater", ">"},    {"GreaterEqual", ">="}, {"Less", "<"},
    {"LessEqual", "<="},  {"Equal", "=="},    {"NotEqual", "!="},  {"BitwiseAnd", "&"},    {"LogicalAnd", "&"},
    {"BitwiseOr", "|"},   {"LogicalOr", "|"}, {"LogicalNot", "~"},
};

}  // namespace

QuotedScript::QuotedScript(const IrGraph& ir) {
  for (const SourceFrame& frame : ir.frames) {
    if (frame.line == 0 || frame.code.empty() || is_library_file(frame.file)) continue;
    const ScriptLine at = {frame.file, frame.line};
    if (!lines_.try_emplace(at, frame.code).second) continue;
    for (const float fraction : fractions_in(frame.code)) fractions_.emplace(fraction, at);
    for (const std::string_view name : attributes_in(frame.code)) attributes_.emplace(name, at);
  }
}

std::string_view QuotedScript::code(const ScriptLine& at) const {
  const auto found = lines_.find(at);
  return found == lines_.end() ? std::string_view() : found->second;
}

std::vector<ScriptLine> QuotedScript::lines_with(double fraction) const {
  return lines_of(fractions_, static_cast<float>(fraction));
}

std::vector<ScriptLine> QuotedScript::lines_with_attribute(std::string_view name) const {
  return lines_of(attributes_, name);
}

ScriptCalls calls_of(std::span<const SourceFrame* const> chain) {
  ScriptCalls calls;
  for (size_t i = 0; i + 1 < chain.size(); ++i) {
    const SourceFrame& frame = *chain[i];
    if (is_library_file(frame.file) || is_def_frame(frame)) continue;
    for (size_t outer = i + 1; outer < chain.size() && chain[outer]->file == frame.file; ++outer) {
      const SourceFrame& def = *chain[outer];
      if (!is_def_frame(def)) continue;
      const bool inside = def.line < frame.line && frame.line <= def.end_line;
      const ScriptCall call = {frame.file, def.line, def.end_line, frame.line};
      // The frames of one call name its line once for the call and once for its arguments.
      if (inside && (calls.empty() || !call.is_in_function_of(calls.back()))) calls.push_back(call);
      break;
    }
  }
  std::reverse(calls.begin(), calls.end());
  return calls;
}

std::vector<LineRange> lines_between(const ScriptCalls& before, const ScriptCalls& after) {
  const auto begin_of = [](const ScriptCall& call) { return LineRange{call.file, call.def + 1, call.line}; };
  const auto end_of = [](const ScriptCall& call) { return LineRange{call.file, call.line, call.end}; };
  if (before.empty()) return after.empty() ? std::vector<LineRange>() : std::vector{begin_of(after.back())};
  if (after.empty()) return {end_of(before.back())};
  size_t level = 0;  // the first where they are in other functions, or at other lines of one
  while (level < before.size() && level < after.size() && before[level].is_in_function_of(after[level]) &&
         before[level].line == after[level].line)
    ++level;
  const bool parts = level < before.size() && level < after.size() && before[level].is_in_function_of(after[level]);
  if (parts ? before[level].line > after[level].line : level == 0) return {};
  const size_t tail = parts ? level + 1 : level;
  std::vector<LineRange> region;
  for (size_t i = before.size(); i > tail; --i) region.push_back(end_of(before[i - 1]));
  const ScriptCall& common = before[tail - 1];
  region.push_back({common.file, common.line, after[tail - 1].line});
  for (size_t i = tail; i < after.size(); ++i) region.push_back(begin_of(after[i]));
  return region;
}

uint64_t lines_in(std::span<const LineRange> region) {
  uint64_t lines = 0;
  for (const LineRange& range : region) lines += uint64_t{range.last} - range.first + 1;
  return lines;
}

bool CallSpelling::occurs_in(std::string_view code) const {
  return (!symbol.empty() && has_symbol(code, symbol)) ||
         std::any_of(names.begin(), names.end(), [&](std::string_view name) { return calls_function(code, name); });
}

std::string_view python_symbol(std::string_view op_type) {
  const auto* const found = std::find_if(std::begin(kSymbols), std::end(kSymbols),
                                         [&](const SymbolOfType& one) { return one.type == op_type; });
  return found == std::end(kSymbols) ? std::string_view() : found->symbol;
}

std::string_view function_name(std::string_view def) {
  while (def.starts_with(' ')) def.remove_prefix(1);
  if (!def.starts_with("def ")) return {};
  def.remove_prefix(4);
  const std::string_view name = def.substr(0, def.find('('));
  const bool is_named = name.size() < def.size() && !name.empty() && name != "construct" && !name.starts_with("__");
  return is_named ? name : std::string_view();
}

}  // namespace msdump
