#include "ir/text/text_blocks.h"

#include <fmt/format.h>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;
using Kind = IrEvent::Kind;

struct Reported {
  std::vector<std::string> events;
  std::string problems;
  uint64_t heads = 0;
  bool inside = false;
};

// "node 3@20: first line | second", "head 1@0: ..".
Reported events_of(const std::string& content, IrNeedle needle = {}) {
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("ir", content));
  REQUIRE(file);
  IrTextReader reader(*file, std::move(needle));
  Reported reported;
  for (;;) {
    const auto event = reader.next();
    REQUIRE(event);
    for (const IrProblem& problem : reader.take_problems()) {
      reported.problems += fmt::format("{}: {}\n", problem.line, problem.reason);
    }
    if (event->kind == Kind::kEnd) break;
    constexpr std::string_view kNames[] = {"end", "head", "graph", "close", "node"};
    std::string text(event->text.substr(0, 60));
    for (const IrEvent::Line& line : event->lines) {
      text.append(text.empty() ? "" : " | ").append(line.text.substr(0, 60));
    }
    reported.events.push_back(fmt::format("{} {}@{}: {}{}", kNames[static_cast<size_t>(event->kind)], event->line,
                                          event->offset, text, event->cut ? " CUT" : ""));
  }
  reported.heads = reader.node_heads();
  reported.inside = reader.inside_graph();
  return reported;
}

using Events = std::vector<std::string>;

constexpr std::string_view kSmall =
    "# IR entry: @g\n"
    "\n"
    "subgraph @g() {\n"
    "  %0(a) = A(%1)\n"
    "      : (<T>)\n"
    "\n"
    "  Return(%0)\n"
    "}\n"
    "# Order:\n";

TEST_CASE("a text is a sequence of heads and graphs and operators") {
  const Reported reported = events_of(std::string(kSmall));
  CHECK(reported.events == Events{"head 1@0: # IR entry: @g", "graph 3@16: subgraph @g() {",
                                  "node 4@32:   %0(a) = A(%1) |       : (<T>)", "node 7@63:   Return(%0)",
                                  "close 8@76: }", "head 9@78: # Order:"});
  CHECK(reported.heads == 2);
  CHECK_FALSE(reported.inside);
}

TEST_CASE("carriage returns and a byte order mark are not part of the text") {
  std::string text = "\xef\xbb\xbf";
  for (const char c : kSmall) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const Reported reported = events_of(text);
  REQUIRE(reported.events.size() == 6);
  CHECK(reported.events[0] == "head 1@3: # IR entry: @g");
  CHECK(reported.events[2] == "node 4@38:   %0(a) = A(%1) |       : (<T>)");
}

TEST_CASE("line numbers of a documentation page are skipped") {
  std::string text;
  int number = 0;
  for (size_t at = 0; at < kSmall.size();) {
    const size_t end = kSmall.find('\n', at);
    text += fmt::format("{:4} {}\n", ++number, kSmall.substr(at, end - at));
    at = end + 1;
  }
  const Reported reported = events_of(text);
  REQUIRE(reported.events.size() == 6);
  CHECK(reported.events[2] == "node 4@47:   %0(a) = A(%1) |       : (<T>)");
}

TEST_CASE("the head of a graph may take several lines") {
  const Reported reported =
      events_of("subgraph @g(\n        %para1_x : <T>\n        , %para2_y : <T>\n    ) {\n  Return(%1)\n");
  CHECK(reported.events[0] == "graph 1@0: subgraph @g( %para1_x : <T> , %para2_y : <T> ) {");
  CHECK(reported.inside);
  const Reported cut = events_of("subgraph @g(\n  %0(a) = A(%1)\n");
  CHECK(cut.events == Events{"graph 1@0: subgraph @g(", "node 2@13:   %0(a) = A(%1)"});
  CHECK(cut.problems == "1: the head of this graph does not end in '{'\n");
}

TEST_CASE("the head of a graph has an end, at the latest after as many bytes as a line may have") {
  std::string line = "subgraph @g(";
  line.resize(IrTextReader::kMaxLine, 'x');
  const Reported longest = events_of(line + "\n) {\n  Return()\n}\n");
  CHECK(longest.events.size() == 3);
  CHECK(longest.problems.empty());
  const Reported longer = events_of(line + "\nx\n) {\n  Return()\n}\n");
  CHECK(longer.events[0].starts_with("graph 1@0: subgraph @g(xxx"));
  CHECK(longer.problems == "1: the head of this graph does not end in '{'\n");
}

TEST_CASE("a file may end anywhere") {
  for (size_t size = 0; size <= kSmall.size(); ++size) {
    const Reported reported = events_of(std::string(kSmall.substr(0, size)));
    CHECK(reported.inside == (size >= 26 && size < 77));
  }
  CHECK(events_of("%0(a) = A(%1)\n  : (<T").events == Events{"node 1@0: %0(a) = A(%1) |   : (<T CUT"});
}

TEST_CASE("what a script says in a comment is not read") {
  const Reported reported =
      events_of("%0(a) = A(%1)\n      # Comment:\n        %1(b) = B(%2)\n        }\n  %2(c) = C()\n");
  CHECK(reported.events == Events{"node 1@0: %0(a) = A(%1) |       # Comment:", "node 5@63:   %2(c) = C()"});
}

TEST_CASE("a line that is too long is reported and skipped") {
  const std::string long_text(IrTextReader::kMaxLine + 10, 'x');
  const Reported types = events_of("%0(a) = A(%1)\n      : (<" + long_text + ">)\n      # b\n%1(c) = B()\n");
  CHECK(types.events == Events{"node 1@0: %0(a) = A(%1) |       # b",
                               fmt::format("node 4@{}: %1(c) = B()", 14 + long_text.size() + 23)});
  CHECK(types.problems == "2: a line of more than 1048576 bytes is skipped\n");
  const Reported head = events_of("%0(a) = A(%1)\n%1(b) = B(" + long_text + ")\n      # of b\n%2(c) = C()");
  REQUIRE(head.events.size() == 2);
  CHECK(head.events[0] == "node 1@0: %0(a) = A(%1)");
  CHECK(head.events[1].ends_with(": %2(c) = C() CUT"));
  CHECK(head.heads == 3);
  const Reported last = events_of("%0(a) = A(%1)\n# " + long_text);
  CHECK(last.events == Events{"node 1@0: %0(a) = A(%1)"});
}

TEST_CASE("the longest line that is allowed is read whole") {
  std::string line = "%0(a) = A(";
  line.resize(IrTextReader::kMaxLine, 'x');
  CHECK(events_of(line + "\r\n" + line + "\n" + line).heads == 3);
  CHECK(events_of(line + "\r\n" + line + "\n" + line).problems.empty());
}

TEST_CASE("an operator that is too large is left out") {
  std::string text = "%0(a) = A()\n";
  for (size_t i = 0; text.size() < IrTextReader::kMaxBlock + 100; ++i) text += std::string(500'000, '#') + "\n";
  const Reported reported = events_of("%9(z) = Z()\n" + text + "%1(b) = B()\n");
  REQUIRE(reported.events.size() == 2);
  CHECK(reported.events[1].ends_with(": %1(b) = B()"));
  CHECK(reported.problems == "2: an operator with more than 16777216 bytes of text is left out\n");
  std::string lines = "%0(a) = A()\n";
  for (size_t i = 0; i <= IrTextReader::kMaxBlockLines; ++i) lines += "#\n";
  CHECK(events_of(lines + "%1(b) = B()\n").problems == "1: an operator of more than 65536 lines is left out\n");
}

TEST_CASE("operators across the border of the buffer keep all their lines") {
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += fmt::format("  %{}(CNode_{}) = Add(%1, %2)\n      : (<A>) -> (<B>)\n      # In file a.py:{}/x/\n", i, i, i);
  }
  const Reported reported = events_of(text);
  REQUIRE(reported.events.size() == 20'000);
  size_t offset = 0;
  bool same = true;
  for (int i = 0; i < 20'000; ++i) {
    const std::string event =
        fmt::format("node {}@{}:   %{}(CNode_{}) = Add(%1, %2) |       : (<A>) -> (<B>) |       # In file a.py:{}/x/",
                    3 * i + 1, offset, i, i, i);
    same = same && reported.events[static_cast<size_t>(i)] == event;
    offset = text.find("\n  %", offset) + 1;
  }
  CHECK(same);
}

std::string many_operators(int count) {
  std::string text = "subgraph @g() {\n";
  for (int i = 0; i < count; ++i) {
    text +=
        fmt::format("  %{}(a) = Add(%1, %2)\n      # In file lib.py:1/x/\n      # In file net.py:{}/x/\n", i, i % 1000);
  }
  return text + "}\n";
}

TEST_CASE("with a needle only the operators that hold it are events and all are counted") {
  const Reported reported = events_of(many_operators(30'000), {"net.py:77/", {}});
  CHECK(reported.heads == 30'000);
  REQUIRE(reported.events.size() == 32);
  CHECK(reported.events[1].starts_with("node 233@"));
  CHECK(reported.events[30].find("%29077(a)") != std::string::npos);
}

TEST_CASE("a needle may be judged by what comes after it") {
  size_t asked = 0;
  const auto accept = [&](std::string_view behind) {
    ++asked;
    return behind.starts_with(":999/");
  };
  const Reported reported = events_of(many_operators(3'000), {"net.py", accept});
  CHECK(reported.events.size() == 2 + 3);
  CHECK(asked == 3'000);
}

TEST_CASE("a needle is found at every place of the buffer") {
  // Operators of a hundred bytes, with a needle at the very end of one: each place at which a read may end.
  std::string text;
  while (text.size() < 1'200'000)
    text += "%0(a) = Add(" + std::string(text.size() % 97, 'x') + ")\n# here\n%1(b) = B()\n";
  const size_t count = events_of(text).heads / 2;
  CHECK(events_of(text, {"# here", {}}).events.size() == count);
  CHECK(events_of(text, {"# here\n", {}}).events.size() == count);
  CHECK(events_of(text, {"nowhere", {}}).events.empty());
}

}  // namespace
}  // namespace msdump
