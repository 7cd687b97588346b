#include "report/page/page.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/containers.h"
#include "base/text.h"
#include "report/junit.h"
#include "report/page/page_parts.h"

namespace msdump::report {
namespace {

// The escapes of XML are those of HTML. Controls would show a text in another order than it has (U+202E).
std::string html(std::string_view text) { return xml_escaped(escape_for_terminal(text)); }

std::string_view class_of(Tone tone) {
  static constexpr auto kNames = enum_table<Tone, std::string_view>("good", "neutral", "bad");
  return kNames[tone];
}

// 'sha256-...' as a content security policy has it.
std::string policy_hash(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return "'sha256-" + base64(bytes) + "'";
}

std::string facts_html(const std::vector<PageFact>& facts) {
  if (facts.empty()) return {};
  std::string text = "<dl>\n";
  for (const PageFact& fact : facts) {
    const std::string_view open = fact.is_code ? "<code>" : "", close = fact.is_code ? "</code>" : "";
    text += fmt::format("<dt>{}</dt><dd>{}{}{}</dd>\n", html(fact.label), open, html(fact.text), close);
  }
  return text + "</dl>\n";
}

std::string evidence_html(const PageCause& cause) {
  if (cause.evidence.empty()) return {};
  std::string text = fmt::format(
      "<table class=\"evidence\"><thead><tr><th scope=\"col\">Evidence</th><th scope=\"col\">tensor</th>"
      "<th scope=\"col\">verdict</th><th scope=\"col\" class=\"number\">{}</th></tr></thead><tbody>\n",
      html(cause.evidence_title));
  for (const PageEvidence& one : cause.evidence) {
    text += fmt::format(
        "<tr><td>{}</td><td class=\"name\">{}</td><td><span class=\"chip {}\">{}</span></td>"
        "<td class=\"number\">{}</td></tr>\n",
        html(one.side), html(one.name), html(one.verdict), html(one.verdict), html(one.value));
  }
  return text + "</tbody></table>\n";
}

// "11", "5200": two digits.
std::string times_text(double factor) {
  const double unit = std::pow(10, std::floor(std::log10(factor)) - 1);
  return factor >= 1e6 ? fmt::format("{:.1e}", factor) : fmt::format("{:g}", std::round(factor / unit) * unit);
}

// The measured and the expected error: their ratio in words, and two linear bars unless one would be too thin to be seen.
std::string gauge_html(const PageCause& cause) {
  constexpr double kMostTimes = 50, kLongest = 70;
  if (!cause.measured || !cause.expected || !(*cause.measured > 0) || !(*cause.expected > 0) ||
      !std::isfinite(*cause.measured / *cause.expected))
    return {};
  const double times = *cause.measured / *cause.expected, most = std::max(*cause.measured, *cause.expected);
  const bool drawn = std::max(times, 1 / times) <= kMostTimes;
  const auto entry = [&](std::string_view label, double error, std::string_view kind, const std::string& more) {
    const std::string bar =
        drawn ? fmt::format(" class=\"bar {}\" style=\"--wide:{:.1f}%\"", kind, kLongest * error / most) : "";
    return fmt::format("<dt>{}</dt><dd{}>{:.2g}{}</dd>\n", label, bar, error, more);
  };
  const std::string in_words =
      times > 1 ? fmt::format(": <b>{} times</b> what is expected", times_text(times)) : std::string();
  return "<dl class=\"gauge\">\n" + entry("error measured", *cause.measured, "measured", drawn ? "" : in_words) +
         entry("error expected", *cause.expected, "expected", "") + "</dl>\n";
}

// The tensor with rows downwards, and the box in it. Long axes are shortened, and nothing becomes thinner than it can be seen.
std::string region_html(const PageCause& cause) {
  if (!cause.region) return {};
  const PageRegion& region = *cause.region;
  constexpr double kLongest = 160, kShortest = 16, kThinnest = 2;
  std::array<double, 2> extent{}, begin{}, size{};
  const auto longest = static_cast<double>(std::max({region.shape[0], region.shape[1], int64_t{1}}));
  for (size_t axis = 0; axis < 2; ++axis) {
    const auto shape = static_cast<double>(std::max<int64_t>(region.shape[axis], 1));
    extent[axis] = std::max(kShortest, kLongest * shape / longest);
    size[axis] =
        std::max(kThinnest, extent[axis] * static_cast<double>(region.to[axis] - region.from[axis] + 1) / shape);
    begin[axis] = std::min(extent[axis] * static_cast<double>(region.from[axis]) / shape, extent[axis] - size[axis]);
  }
  return fmt::format(
      "<svg class=\"region\" role=\"img\" aria-label=\"rows {6}-{7} of {8}, columns {9}-{10} of {11}\" "
      "width=\"{0:.0f}\" "
      "height=\"{1:.0f}\"><rect width=\"{0:.0f}\" height=\"{1:.0f}\"/><rect class=\"wrong\" x=\"{2:.1f}\" "
      "y=\"{3:.1f}\" "
      "width=\"{4:.1f}\" height=\"{5:.1f}\"/></svg><span class=\"quiet\">the region that is wrong</span>\n",
      extent[1], extent[0], begin[1], begin[0], size[1], size[0], region.from[0], region.to[0], region.shape[0],
      region.from[1], region.to[1], region.shape[1]);
}

std::string cause_html(const PageCause& cause, bool is_first) {
  std::string text =
      fmt::format("<p class=\"who\"><span class=\"name\">{}</span> <span class=\"quiet\">{}</span></p>\n",
                  html(cause.name), html(cause.place));
  if (!cause.source.empty())
    text += fmt::format("<p class=\"source\"><span class=\"quiet\">{}</span> <code>{}</code></p>\n", html(cause.source),
                        html(cause.code));
  text += "<div class=\"pair\"><div>\n" + evidence_html(cause) + region_html(cause) + "</div><div>\n" +
          gauge_html(cause) + facts_html(cause.facts) + "</div></div>\n";
  if (is_first) {
    return fmt::format(
        "<section class=\"cause\" aria-labelledby=\"cause-title\"><h2 id=\"cause-title\">{}</h2>\n{}</section>\n",
        html(cause.title), text);
  }
  return fmt::format("<details class=\"cause\"><summary>{} <span class=\"name\">{}</span> {}</summary>\n{}</details>\n",
                     html(cause.title), html(cause.name), html(cause.source), text);
}

std::string causes_html(const std::vector<PageCause>& causes) {
  std::string text;
  for (size_t i = 0; i < causes.size(); ++i) text += cause_html(causes[i], i == 0);
  return text;
}

std::string dumps_html(const std::vector<PageDump>& dumps) {
  std::string text;
  for (const PageDump& dump : dumps) {
    text += fmt::format("<dt>{}</dt><dd><b>{}</b> ", html(dump.role), html(dump.name));
    if (!dump.facts.empty()) text += fmt::format("<span>{}</span> ", html(dump.facts));
    if (!dump.meaning.empty()) text += fmt::format("<span class=\"quiet\">{}</span>", html(dump.meaning));
    text += fmt::format("<br><code>{}</code>", html(dump.path));
    if (!dump.newest.empty()) text += fmt::format(" <span class=\"quiet\">newest file: {}</span>", html(dump.newest));
    text += "</dd>\n";
  }
  return dumps.empty() ? text : "<dl class=\"dumps\">\n" + text + "</dl>\n";
}

std::string counts_html(const std::vector<PageCount>& counts, std::string_view title) {
  if (counts.empty()) return {};
  std::string text = fmt::format("<ul class=\"counts\" aria-label=\"{}\">\n", title.empty() ? "Counts" : title);
  if (!title.empty()) text += fmt::format("<li class=\"quiet\">{}</li>\n", title);
  for (const PageCount& count : counts) {
    text += fmt::format("<li class=\"{}\" data-count=\"{}\"><b>{}</b> {}</li>\n", class_of(count.tone), html(count.key),
                        count.number, html(count.label));
  }
  return text + "</ul>\n";
}

std::string tokens_html(const std::vector<std::string>& sentences) {
  if (sentences.empty()) return {};
  std::string text = "<section aria-labelledby=\"tokens-title\">\n<h2 id=\"tokens-title\">Tokens and layers</h2>\n";
  for (const std::string& sentence : sentences) text += fmt::format("<p>{}</p>\n", html(sentence));
  return text + "<div id=\"tokens\"></div>\n</section>\n";
}

std::string words_html(const std::vector<PageWord>& words) {
  if (words.empty()) return {};
  std::string text = "<details class=\"words\"><summary>What the words mean</summary>\n<dl>\n";
  for (const PageWord& word : words) {
    const std::string forms =
        word.forms.empty() ? "" : fmt::format(" <span class=\"quiet\">Also: {}.</span>", html(word.forms));
    text += fmt::format("<dt>{}</dt><dd>{}{}</dd>\n", html(word.name), html(word.meaning), forms);
  }
  return text + "</dl>\n</details>\n";
}

std::string rows_html(const PageTable& rows, const std::vector<size_t>& first) {
  std::string text = "<div id=\"table\" class=\"table\"><table><thead><tr>";
  std::vector<size_t> shown;
  for (size_t i = 0; i < rows.columns().size(); ++i) {
    const PageColumn& column = rows.columns()[i];
    if (!column.shown) continue;
    shown.push_back(i);
    const std::string_view kind = column.kind == PageColumn::Kind::kNumber ? " class=\"number\"" : "";
    text += fmt::format("<th scope=\"col\"{}>{}</th>", kind, html(column.title));
  }
  text += "</tr></thead><tbody>\n";
  for (const size_t row : first) {
    text += "<tr>";
    for (const size_t i : shown) {
      const PageColumn& column = rows.columns()[i];
      const bool is_number = column.kind == PageColumn::Kind::kNumber;
      text += fmt::format("<td class=\"{} c-{}\">{}</td>", is_number ? "number" : "text", html(column.key),
                          html(rows.text(row, i)));
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string notes_html(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += fmt::format("<p class=\"note\">{}</p>\n", html(note));
  return text;
}

// Replaces each {{name}} in `text` by part(name), and does not search the replacement.
template <class Part>
std::string filled(std::string_view text, const Part& part) {
  std::string result;
  for (;;) {
    const size_t begin = text.find("{{"), end = text.find("}}", begin);
    result += text.substr(0, begin);
    if (begin == std::string_view::npos || end == std::string_view::npos) return result;
    result += part(text.substr(begin + 2, end - begin - 2));
    text.remove_prefix(end + 2);
  }
}

}  // namespace

std::string page_html(const Page& page, std::string_view data) {
  return filled(kPageSkeleton, [&](std::string_view name) -> std::string {
    if (name == "version") return html(page.version);
    if (name == "licence") return std::string(kChartLicence);
    if (name == "hashes") return policy_hash(kChartScriptHash) + " " + policy_hash(kPageScriptHash);
    if (name == "title") return html(fmt::format("{} - msdump {}", page.heading, page.command));
    if (name == "style") return fmt::format("{}{}", kChartStyle, kPageStyle);
    if (name == "command") return html(page.command);
    if (name == "heading") return html(page.heading);
    if (name == "tone") return std::string(class_of(page.tone));
    if (name == "sentence") return html(page.sentence);
    if (name == "more") return page.more.empty() ? "" : fmt::format("<p class=\"more\">{}</p>\n", html(page.more));
    if (name == "causes") return causes_html(page.causes);
    if (name == "dumps") return dumps_html(page.dumps);
    if (name == "counts") return counts_html(page.counts, "") + counts_html(page.reasons, "of these");
    if (name == "movers") return step_charts_html("What moved, over the steps", page.movers);
    if (name == "ranks") return page.ranks ? rank_map_html(*page.ranks) : std::string();
    if (name == "tokens") return tokens_html(page.tokens);
    if (name == "words") return words_html(page.words);
    if (name == "chart_title") return html(page.chart_title);
    if (name == "rows_title") return html(page.rows_title);
    if (name == "rows") return rows_html(*page.rows, page.first_rows);
    if (name == "about") return facts_html(page.about);
    if (name == "notes") return notes_html(page.notes);
    if (name == "data") return std::string(data);
    return std::string(name == "chart_script" ? kChartScript : kPageScript);
  });
}

}  // namespace msdump::report
