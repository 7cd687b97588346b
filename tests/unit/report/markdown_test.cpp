#include "report/markdown.h"

#include <string>

#include "base/text.h"
#include "support/catch.h"

namespace msdump::report {
namespace {

TEST_CASE("Markdown: a name is a code span, whatever it holds") {
  CHECK(markdown_code("Default/conv1-Conv2d/Conv2D-op12") == "`Default/conv1-Conv2d/Conv2D-op12`");
  CHECK(markdown_code("a<b>&*_[x](y)") == "`a<b>&*_[x](y)`");  // nothing in a span is markup
  CHECK(markdown_code("a`b") == "<code>a&#96;b</code>");
  CHECK(markdown_code("a|b") == "<code>a&#124;b</code>");
  CHECK(markdown_code("</code>`<script>") == "<code>&#60;&#47;code&#62;&#96;&#60;script&#62;</code>");
  CHECK(markdown_code("`x@y.zz") == "<code>&#96;x<span>&#64;</span>y&#46;zz</code>");
  CHECK(markdown_code("line\nend\r\x01\xff") == "`line\\nend\\r\\x01\\xff`");
  CHECK(markdown_code("") == "<code></code>");
  CHECK(markdown_code("  ") == "<code>  </code>");
  CHECK(markdown_code(" x ") == "<code> x </code>");
}

TEST_CASE("Markdown: prose has no markup, no mention, no reference and no link") {
  CHECK(markdown_text("its output is 0.52 off; 100 % of it") == "its output is 0.52 off; 100 % of it");
  CHECK(markdown_text("a_b *c* `d` [e](f) ~g~ h|i \\j") ==
        "a\\_b \\*c\\* \\`d\\` \\[e\\](f) <span>&#126;</span>g\\~ h\\|i \\\\j");
  CHECK(markdown_text("<b>&lt;") == "&#60;b&#62;&#38;lt;");
  CHECK(markdown_text("@all #12 !3 $4 %5") ==
        "<span>&#64;</span>all <span>&#35;</span>12 <span>&#33;</span>3 <span>&#36;</span>4 <span>&#37;</span>5");
  CHECK(markdown_text("https://a.b www.c.d WWW.e") == "https&#58;//a.b www&#46;c.d WWW&#46;e");
  CHECK(markdown_text("# heading") == "\\# heading");
  CHECK(markdown_text("- item") == "\\- item");
  CHECK(markdown_text("one\n# two") == "one\\\\n# two");
}

TEST_CASE("Markdown: long texts are cut between characters") {
  const std::string text = markdown_code(std::string(kMostMarkdownBytes - 1, 'a') + "\xe4\xb8\xad" + "tail");
  CHECK(text == "`" + std::string(kMostMarkdownBytes - 1, 'a') + "...`");
  CHECK(markdown_code(std::string(1 << 20, '\n')).size() < 2 * kMostMarkdownBytes);
  CHECK(is_utf8(markdown_text(std::string(1000, '\xe4'))));
}

TEST_CASE("Markdown: a summary has the answer, causes with their evidence, and a table whose rows stay rows") {
  Page page;
  page.command = "diff";
  page.heading = "bad against `ref`";
  page.sentence = "It went wrong first in Mul";
  PageCause cause;
  cause.title = "First divergence";
  cause.name = "Default/Mul-op0";
  cause.place = " (Mul, rank 0)";
  cause.source = "net.py:12";
  cause.code = "x = a | b";
  for (const char* const name : {"input 0", "input 1", "input 2", "input 3", "input 4"})
    cause.evidence.push_back({"in", name, "same", "-"});
  cause.evidence.push_back({"out", "output 0", "differ", "0.5"});
  cause.facts = {{"why", "computed: something *else*"}, {"dump", "\"kernels\": [\"a_b\"]", true}};
  page.causes = {cause, cause, cause, cause};
  page.notes = {"1 input could not be read"};
  const MarkdownTable table{
      {"verdict", "operator"}, {false, true}, {{"differ", "a|b\nc"}, {"nan", "-"}}, "3 rows differ"};
  CHECK(markdown_summary(page, "failed (exit code 1)", "8 tensors compared", {}).find("\n|") == std::string::npos);
  const std::string text = markdown_summary(page, "failed (exit code 1)", "8 tensors compared", table);
  const std::string first =
      "### msdump diff: failed (exit code 1)\n\n"
      "<code>bad against &#96;ref&#96;</code>: It went wrong first in Mul\n\n"
      "**First divergence**: `Default/Mul-op0` (Mul, rank 0)\n\n"
      "- **line**: `net.py:12` <code>x &#61; a &#124; b</code>\n"
      "- **in**: input 0 same; input 1 same; input 2 same; input 3 same; ..\n"
      "- **out**: output 0 differ (0.5)\n"
      "- **why**: computed: something \\*else\\*\n"
      "- **dump**: `\"kernels\": [\"a_b\"]`\n";
  CHECK(text.substr(0, first.size()) == first);
  const std::string last =
      "\n**First divergence**: `Default/Mul-op0` (Mul, rank 0), `net.py:12`\n\n"
      "| verdict | operator |\n|---|---|\n| differ | <code>a&#124;b&#92;nc</code> |\n| nan | - |\n\n"
      "3 rows differ\n\n8 tensors compared\n\n1 input could not be read\n";
  CHECK(text.substr(text.size() - last.size()) == last);
}

}  // namespace
}  // namespace msdump::report
