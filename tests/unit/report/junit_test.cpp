#include "report/junit.h"

#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "support/catch.h"

namespace msdump::report {
namespace {

struct Element {
  std::string name;
  std::vector<std::string> attributes, children;
};

// A reader of what such a file may hold, by the schema's rules: elements with their attributes and children, in order of
// their ends. Fails the test on anything that is not well-formed.
std::vector<Element> elements_of(std::string_view text) {
  std::vector<Element> open, closed;
  constexpr std::string_view kHead = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  REQUIRE(text.starts_with(kHead));
  text.remove_prefix(kHead.size());
  const auto close = [&](std::string_view name) {
    REQUIRE_FALSE(open.empty());
    REQUIRE(open.back().name == name);
    closed.push_back(open.back());
    open.pop_back();
    if (!open.empty()) open.back().children.emplace_back(name);
  };
  while (!text.empty()) {
    if (text.front() != '<') {
      const size_t end = std::min(text.find('<'), text.size());
      for (size_t at = text.find('&'); at < end; at = text.find('&', at + 1)) {
        const std::string_view entity = text.substr(at, text.find(';', at) - at + 1);
        CHECK((entity == "&amp;" || entity == "&lt;" || entity == "&gt;" || entity == "&quot;" ||
               entity.starts_with("&#")));
      }
      text.remove_prefix(end);
      continue;
    }
    const size_t end = text.find('>');
    REQUIRE(end != std::string_view::npos);
    std::string_view tag = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    if (tag.starts_with('/')) {
      close(tag.substr(1));
      continue;
    }
    const bool empty = tag.ends_with('/');
    if (empty) tag.remove_suffix(1);
    Element element{std::string(tag.substr(0, tag.find(' '))), {}, {}};
    for (size_t at = tag.find(' '); at != std::string_view::npos && at + 1 < tag.size();) {
      const size_t equals = tag.find("=\"", at);
      REQUIRE(equals != std::string_view::npos);
      element.attributes.emplace_back(tag.substr(at + 1, equals - at - 1));
      at = tag.find('"', equals + 2);
      REQUIRE(at != std::string_view::npos);
      ++at;
    }
    open.push_back(element);
    if (empty) close(element.name);
  }
  CHECK(open.empty());
  return closed;
}

std::vector<JunitSuite> example() {
  JunitCase good{"Conv2D", "msdump.check.nan", {}, {}, ""};
  JunitCase bad{"Pow", "msdump.check.inf", JunitProblem{"47 of 64", "inf", "a < b && \"c\"\n"}, {}, "a note\n"};
  JunitCase error{"tree", "msdump.check.unreadable", {}, JunitProblem{"cut", "unreadable", "x"}, ""};
  return {{"msdump check", {good, bad, error}}};
}

}  // namespace

TEST_CASE("a JUnit file is well-formed and has the elements and attributes of the schema") {
  using Names = std::vector<std::string>;
  const std::vector<Element> elements = elements_of(junit_text(example()));
  REQUIRE(elements.size() == 8);
  CHECK(elements[0].name == "testcase");
  CHECK(elements[1].name == "failure");
  CHECK(elements[1].attributes == Names{"message", "type"});
  CHECK(elements[2].name == "system-out");
  CHECK(elements[3].name == "testcase");
  CHECK(elements[3].attributes == Names{"name", "classname", "time"});
  CHECK(elements[3].children == Names{"failure", "system-out"});
  CHECK(elements[4].name == "error");
  CHECK(elements[6].name == "testsuite");
  CHECK(elements[6].attributes == Names{"name", "tests", "failures", "errors", "skipped", "time"});
  CHECK(elements[7].name == "testsuites");
  CHECK(elements[7].attributes == Names{"tests", "failures", "errors"});
}

TEST_CASE("suites count their cases, failures and errors") {
  const std::string text = junit_text(example());
  CHECK(text.find("<testsuites tests=\"3\" failures=\"1\" errors=\"1\">") != std::string::npos);
  CHECK(text.find("<testsuite name=\"msdump check\" tests=\"3\" failures=\"1\" errors=\"1\"") != std::string::npos);
  CHECK(elements_of(junit_text({})).size() == 1);
}

TEST_CASE("a JUnit file is the same text for the same findings") {
  CHECK(junit_text(example()) ==
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites tests=\"3\" failures=\"1\" errors=\"1\">\n"
        "  <testsuite name=\"msdump check\" tests=\"3\" failures=\"1\" errors=\"1\" skipped=\"0\" time=\"0\">\n"
        "    <testcase name=\"Conv2D\" classname=\"msdump.check.nan\" time=\"0\"/>\n"
        "    <testcase name=\"Pow\" classname=\"msdump.check.inf\" time=\"0\">\n"
        "      <failure message=\"47 of 64\" type=\"inf\">a &lt; b &amp;&amp; &quot;c&quot;&#10;</failure>\n"
        "      <system-out>a note&#10;</system-out>\n"
        "    </testcase>\n"
        "    <testcase name=\"tree\" classname=\"msdump.check.unreadable\" time=\"0\">\n"
        "      <error message=\"cut\" type=\"unreadable\">x</error>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n");
  JunitCase note{"Add", "msdump.check.nan", {}, {}, "a note"};
  CHECK(junit_text({{"one", {note}}, {"two", {}}})
            .ends_with("    <testcase name=\"Add\" classname=\"msdump.check.nan\" time=\"0\">\n"
                       "      <system-out>a note</system-out>\n"
                       "    </testcase>\n"
                       "  </testsuite>\n"
                       "  <testsuite name=\"two\" tests=\"0\" failures=\"0\" errors=\"0\" skipped=\"0\" time=\"0\">\n"
                       "  </testsuite>\n"
                       "</testsuites>\n"));
}

TEST_CASE("what XML cannot hold is written as \\xNN") {
  CHECK(xml_escaped("a<b>&\"c\"") == "a&lt;b&gt;&amp;&quot;c&quot;");
  CHECK(xml_escaped(std::string_view("a\0\x1b\x7f", 4)) == "a\\x00\\x1b\\x7f");
  CHECK(xml_escaped("\x1f ~\r\n\t") == "\\x1f ~\\x0d&#10;&#9;");
  CHECK(xml_escaped("\xEF\xBF\xBE\xEF\xBF\xBD") == "\\xef\\xbf\\xbe\xEF\xBF\xBD");
  CHECK(xml_escaped("\xff\xc3") == "\\xff\\xc3");
  CHECK(xml_escaped(std::string_view("long<er").substr(0, 4)) == "long");
  CHECK(xml_escaped("\xEF\xBF\xBF") == "\\xef\\xbf\\xbf");
  CHECK(xml_escaped("\xc3\xa4 \xe5\xad\x97") == "\xc3\xa4 \xe5\xad\x97");
}

}  // namespace msdump::report
