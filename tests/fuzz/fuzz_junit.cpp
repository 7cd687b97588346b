// Any bytes as the names and messages of a JUnit document: always UTF-8, well-formed XML, and nothing is lost.
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "fuzz_file.h"
#include "report/junit.h"

namespace {

using namespace msdump;
using namespace msdump::report;
using fuzz::require;

// Elements open and close in pairs; outside of quotes there is no '<' or '&' but of tags and references.
void require_well_formed(std::string_view text) {
  require(is_utf8(text), "a JUnit document is UTF-8");
  for (const char c : text) require(static_cast<unsigned char>(c) >= 0x20 || c == '\n', "no control characters");
  std::vector<std::string_view> open;
  text.remove_prefix(text.find("?>") + 2);
  require(text.find("]]>") == std::string_view::npos, "no end of a CDATA section");
  for (size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at)) {
    size_t end = at;
    for (bool quoted = false; end < text.size() && (quoted || text[end] != '>'); ++end) quoted ^= text[end] == '"';
    require(end < text.size(), "every tag ends");
    const std::string_view tag = text.substr(at + 1, end - at - 1);
    require(tag.find('<') == std::string_view::npos, "no tag inside a tag");
    std::string_view name = tag.substr(tag.starts_with('/') ? 1 : 0);
    name = name.substr(0, name.find_first_of(" /"));
    if (tag.starts_with('/')) {
      require(!open.empty() && open.back() == name, "tags close in order");
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(name);
    }
    at = end;
  }
  require(open.empty(), "every element is closed");
}

void require_escaped(std::string_view text) {
  const std::string escaped = xml_escaped(text);
  require(escaped.find_first_of("<>\"") == std::string::npos, "markup is escaped");
  require(xml_escaped("<" + std::string(text) + "\"") == "&lt;" + escaped + "&quot;",
          "each character is escaped by itself");
  for (size_t at = escaped.find('&'); at != std::string::npos; at = escaped.find('&', at + 1)) {
    const std::string_view rest = std::string_view(escaped).substr(at);
    bool known = false;
    for (const char* reference : {"&amp;", "&lt;", "&gt;", "&quot;", "&#10;", "&#9;"}) {
      known = known || rest.starts_with(reference);
    }
    require(known, "every '&' begins a reference");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  require_escaped(text);
  // The lines are the texts in turn; their number decides what there is.
  const std::vector<std::string_view> lines = split(text, '\n');
  const auto line = [&](size_t i) { return std::string(lines[i % lines.size()]); };
  JunitSuite suite{line(0), {}};
  for (size_t i = 0; i < lines.size() && i < 8; ++i) {
    JunitCase one{line(i), line(i + 1), {}, {}, i % 2 == 0 ? line(i + 2) : ""};
    if (i % 3 == 1) one.failure = JunitProblem{line(i + 3), line(i + 4), std::string(text)};
    if (i % 3 == 2) one.error = JunitProblem{line(i + 3), line(i + 4), line(i + 5)};
    suite.cases.push_back(std::move(one));
  }
  require_well_formed(junit_text({suite, JunitSuite{line(1), {}}}));
  return 0;
}
