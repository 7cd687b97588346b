// Any bytes as names and messages of a summary in Markdown: UTF-8, bounded, and as many lines and cells as the summary has,
// because no text ends its line, its cell or its code span.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "fuzz_file.h"
#include "report/markdown.h"

namespace {

using namespace msdump;
using namespace msdump::report;
using fuzz::require;

// Characters of the text that Markdown would take for markup: those without a backslash, outside of code spans.
size_t count_bare(std::string_view text, char wanted) {
  size_t count = 0;
  bool in_span = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!in_span && text[i] == '\\') {
      ++i;
    } else if (text[i] == '`') {
      in_span = !in_span;
    } else if (text[i] == wanted && !in_span) {
      ++count;
    }
  }
  require(!in_span, "every code span ends");
  return count;
}

void require_plain(std::string_view text, bool is_code) {
  require(is_utf8(text), "Markdown is UTF-8");
  require(text.find_first_of("\n\r") == std::string_view::npos, "a text is one line");
  require(text.size() <= 32 * kMostMarkdownBytes, "a text is bounded");
  for (const char c : {'|', '*', '_', '['}) require(count_bare(text, c) == 0, "no markup");
  if (is_code) require(!text.starts_with("<") || text.ends_with("</code>"), "code ends as it begins");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  require_plain(markdown_code(text), true);
  require_plain(markdown_text(text), false);
  const std::vector<std::string_view> lines = split(text, '\n');
  const auto line = [&](size_t i) { return std::string(lines[i % lines.size()]); };
  Page page;
  page.command = "diff";
  page.heading = line(0);
  page.sentence = text;
  PageCause& cause = page.causes.emplace_back();
  cause.title = line(1);
  cause.name = line(2);
  cause.place = line(3);
  cause.source = line(4);
  cause.code = line(5);
  cause.evidence.push_back({"in", line(6), line(7), line(8)});
  cause.facts = {{"why", line(9)}, {"dump", line(10), true}};
  MarkdownTable table{{"a", "b"}, {false, true}, {}, line(11)};
  for (size_t i = 0; i < 3; ++i) table.rows.push_back({line(i), line(i + 1)});
  const std::string summary = markdown_summary(page, "failed", line(12), table);
  size_t rows = 0;
  for (const std::string_view one : split(summary, '\n')) {
    if (!one.starts_with('|')) continue;
    ++rows;
    require(count_bare(one, '|') == 3, "a row has two cells");
  }
  require(rows == 5, "a head, a rule and three rows");
  return 0;
}
