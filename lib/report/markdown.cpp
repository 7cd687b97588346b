#include "report/markdown.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump::report {
namespace {

constexpr size_t kCausesInFull = 3, kEvidence = 4;

// Printable, on one line, and not too long. The cut leaves whole characters, and no half of an escape.
std::string plain(std::string_view text) {
  std::string escaped = escape_for_terminal(text.substr(0, 4 * kMostMarkdownBytes));
  if (escaped.size() <= kMostMarkdownBytes) return escaped;
  size_t end = kMostMarkdownBytes;
  while (end > 0 && (static_cast<uint8_t>(escaped[end]) & 0xC0) == 0x80) --end;
  escaped.resize(end);
  return escaped + "...";
}

bool is_word_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<uint8_t>(c) >= 0x80;
}

// GitHub, GitLab and Gitee look for references in the text that Markdown has made, where a backslash no longer helps.
bool begins_reference(std::string_view text, size_t at) {
  constexpr std::string_view kMarks = "#!$%~^";
  if (text[at] == '@') return true;
  if (kMarks.find(text[at]) == std::string_view::npos || at + 1 >= text.size()) return false;
  return is_word_character(text[at + 1]) || text[at + 1] == '"' || text[at + 1] == '{';
}

// The ':' of "https://", or the first '.' of "www.", which make a link of what follows.
bool is_in_address(std::string_view text, size_t at) {
  if (text[at] == ':') return text.substr(at + 1).starts_with("//");
  return text[at] == '.' && at >= 3 && equals_ignoring_case(text.substr(at - 3, 3), "www");
}

void append_entity(std::string& into, char c) {
  fmt::format_to(std::back_inserter(into), "&#{};", static_cast<unsigned>(static_cast<uint8_t>(c)));
}

void append_apart(std::string& into, char c) {
  into += "<span>";
  append_entity(into, c);
  into += "</span>";
}

}  // namespace

std::string markdown_code(std::string_view text) {
  const std::string shown = plain(text);
  const bool is_span = !shown.empty() && shown.find_first_of("`|") == std::string::npos &&
                       shown.find_first_not_of(' ') != std::string::npos;
  // A blank at both ends would be taken away.
  if (is_span && (shown.front() != ' ' || shown.back() != ' ')) return "`" + shown + "`";
  std::string code = "<code>";
  for (const char c : shown) {
    if (is_word_character(c) || c == ' ') {
      code += c;
    } else if (c == '@') {
      append_apart(code, c);  // an address becomes a link even here
    } else {
      append_entity(code, c);
    }
  }
  return code + "</code>";
}

std::string markdown_text(std::string_view text) {
  constexpr std::string_view kMarkup = "\\`*_{}[]|~", kBlocks = "#+-=";  // begin a heading or a list
  const std::string shown = plain(text);
  std::string result;
  for (size_t at = 0; at < shown.size(); ++at) {
    const char c = shown[at];
    if (c == '<' || c == '>' || c == '&') {
      append_entity(result, c);
    } else if (begins_reference(shown, at)) {
      append_apart(result, c);
    } else if (kMarkup.find(c) != std::string_view::npos ||
               (at == 0 && shown.size() > 1 && kBlocks.find(c) != std::string_view::npos)) {
      result += '\\';
      result += c;
    } else if (is_in_address(shown, at)) {
      append_entity(result, c);
    } else {
      result += c;
    }
  }
  return result;
}

namespace {

void add_item(std::string& text, std::string_view label, const std::string& value) {
  text += fmt::format("- **{}**: {}\n", label, value);
}

std::string evidence_text(const PageCause& cause, std::string_view side) {
  std::string text;
  size_t count = 0;
  for (const PageEvidence& one : cause.evidence) {
    if (one.side != side || ++count > kEvidence) continue;
    std::string_view value = one.value;
    if (value == "-") value = {};
    text += fmt::format("{}{}{}{}{}{}", text.empty() ? "" : "; ", one.name, one.verdict.empty() ? "" : " ", one.verdict,
                        value.empty() ? "" : " ", value.empty() ? "" : fmt::format("({})", value));
  }
  return count > kEvidence ? text + "; .." : text;
}

void add_cause(std::string& text, const PageCause& cause, bool in_full) {
  text += fmt::format("\n**{}**: {} {}", markdown_text(cause.title), markdown_code(cause.name),
                      markdown_text(trimmed(cause.place)));
  if (!in_full) {
    text += cause.source.empty() ? "\n" : fmt::format(", {}\n", markdown_code(cause.source));
    return;
  }
  text += "\n\n";
  if (!cause.source.empty())
    add_item(text, "line", markdown_code(cause.source) + (cause.code.empty() ? "" : " " + markdown_code(cause.code)));
  std::vector<std::string_view> sides;
  for (const PageEvidence& one : cause.evidence) {
    if (std::find(sides.begin(), sides.end(), one.side) == sides.end()) sides.push_back(one.side);
  }
  for (const std::string_view side : sides) add_item(text, side, markdown_text(evidence_text(cause, side)));
  for (const PageFact& fact : cause.facts)
    add_item(text, fact.label, fact.is_code ? markdown_code(fact.text) : markdown_text(fact.text));
}

void add_table(std::string& text, const MarkdownTable& table) {
  if (!table.rows.empty()) {
    text += "\n|";
    for (const std::string& head : table.heads) text += fmt::format(" {} |", head);
    text += "\n|";
    for (size_t i = 0; i < table.heads.size(); ++i) text += "---|";
    for (const std::vector<std::string>& row : table.rows) {
      text += "\n|";
      for (size_t i = 0; i < row.size(); ++i)
        text += fmt::format(" {} |", table.is_code[i] && row[i] != "-" ? markdown_code(row[i]) : markdown_text(row[i]));
    }
    text += "\n";
  }
  if (!table.below.empty()) text += fmt::format("\n{}\n", markdown_text(table.below));
}

}  // namespace

std::string markdown_summary(const Page& page, std::string_view result, std::string_view counts,
                             const MarkdownTable& table) {
  std::string text = fmt::format("### msdump {}: {}\n\n", page.command, markdown_text(result));
  if (!page.heading.empty()) text += markdown_code(page.heading) + ": ";
  text += markdown_text(page.sentence);
  if (!page.more.empty()) text += "; " + markdown_text(page.more);
  text += "\n";
  for (size_t i = 0; i < page.causes.size(); ++i) add_cause(text, page.causes[i], i < kCausesInFull);
  add_table(text, table);
  if (!counts.empty()) text += fmt::format("\n{}\n", markdown_text(counts));
  for (const std::string& note : page.notes) text += fmt::format("\n{}\n", markdown_text(note));
  return text;
}

}  // namespace msdump::report
