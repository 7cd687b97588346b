#include "ge/graph/proto_text.h"

#include <string>
#include <string_view>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using Kind = ProtoText::Kind;

// "a=1 b{c='x'} " of every item; "!" of what is too long.
std::string items_of(ProtoText text) {
  std::string all;
  for (;;) {
    const ProtoText::Item item = text.next();
    const std::string quote = item.quoted ? "'" : "";
    switch (item.kind) {
      case Kind::kEnd: return all + std::string(text.depth(), '~');
      case Kind::kField:
        all += std::string(item.name) + "=" + (item.too_long ? "!" : quote + std::string(item.value) + quote) + " ";
        break;
      case Kind::kOpen: all += std::string(item.name) + "{"; break;
      case Kind::kClose: all += "} "; break;
    }
  }
}
std::string items_of(std::string_view text) { return items_of(ProtoText(text)); }

std::string problems_of(std::string_view content) {
  ProtoText text(content);
  while (text.next().kind != Kind::kEnd) {
  }
  std::string all;
  const IrProblems problems = text.take_problems();
  for (const IrProblem& problem : problems) all += std::to_string(problem.line) + ": " + problem.reason + "\n";
  return all;
}

TEST_CASE("protobuf text is the same however its lines are laid out") {
  const std::string usual = "graph {\n  name: \"net\"\n  op {\n    type: \"Add\"\n    id: 3\n  }\n}\n";
  const std::string expected = "graph{name='net' op{type='Add' id=3 } } ";
  CHECK(items_of(usual) == expected);
  CHECK(items_of("graph{name:\"net\" op{type:\"Add\" id:3}}") == expected);
  CHECK(items_of("graph: < name: 'net'; op < type : 'Add', id : 3 > >") == expected);
  CHECK(items_of("# a {\ngraph { # b }\n name: # c\n \"net\" op{type:\"Add\"#\"\nid:3}}") == expected);
  CHECK(items_of("\xef\xbb\xbf" + usual) == expected);
}

// Away from the end of the text nothing is copied.
std::string followed(std::string_view text) {
  return std::string(text) + std::string(2 * ProtoText::kMaxText, ' ') + "z: 0";
}

TEST_CASE("the same texts in the middle of a long file") {
  const auto items = [](std::string_view text) {
    const std::string all = items_of(followed(text));
    REQUIRE(all.ends_with("z=0 "));
    return all.substr(0, all.size() - 4);
  };
  CHECK(items("a: \"xyz\" b: ''") == "a='xyz' b='' ");
  CHECK(items("a: \"x\" \"y\"") == "a='xy' ");
  CHECK(items("a: \"x\" # c\n 'y'") == "a='xy' ");
  CHECK(items("a: \"x\\n\\\"\" b: 1") == "a='x\n\"' b=1 ");
  const std::string most(ProtoText::kMaxText, 'x');
  CHECK(items("a: \"" + most + "\" b: 1") == "a='" + most + "' b=1 ");
  CHECK(items("a: \"x" + most + "\" b: 1") == "a=! b=1 ");
}

TEST_CASE("strings are unescaped and joined") {
  CHECK(items_of(R"(a: "x\n\"\'\\y" )") == "a='x\n\"'\\y' ");
  CHECK(items_of(R"(a: "\101\x42\7z\x4G\x414\1234\x4:")") == "a='AB\7z\4GA4S4\4:' ");
  CHECK(items_of("a: \"x\" 'y'\n  # no\n  \"z\" b: 1") == "a='xyz' b=1 ");
  CHECK(items_of(R"(a: '"' b: "'")") == "a='\"' b=''' ");
  CHECK(items_of(R"(a: "x\\" b: "\\\"")") == "a='x\\' b='\\\"' ");
}

TEST_CASE("numbers that do not fit become the nearest that do") {
  CHECK(number_of("12") == 12);
  CHECK(number_of("-12") == -12);
  CHECK(number_of("99999999999999999999") == INT64_MAX);
  CHECK(number_of("-99999999999999999999") == INT64_MIN);
  for (const char* other : {"", "-", "x", "1.5", "-x"}) CHECK(number_of(other) == 0);
}

TEST_CASE("a list is a field, or a message, for each element") {
  CHECK(items_of("dim: [1, -2,3] x: []") == "dim=1 dim=-2 dim=3 ");
  CHECK(items_of("op: [{a: 1 b: [2]}, < a: 3 >] c: 4") == "op{a=1 b=2 } op{a=3 } c=4 ");
  CHECK(items_of("[ge.x/y] { a: 1.5e-3 } f: inf") == "[ge.x/y]{a=1.5e-3 } f=inf ");
}

TEST_CASE("skip passes a message with everything in it") {
  ProtoText text("a { b: \"}\\\"}\" c { d: '{' } # }\n e: [{}, {}] } f: 1");
  CHECK(text.next().kind == Kind::kOpen);
  text.skip();
  CHECK(text.depth() == 0);
  const ProtoText::Item after = text.next();
  CHECK(after.name == "f");
  CHECK(text.line() == 2);
}

TEST_CASE("skip in the middle of a list ends the list, too") {
  ProtoText text("a { b: [1, 2] c: 3 } d { e: 4 }");
  CHECK(text.next().kind == Kind::kOpen);
  CHECK(text.next().value == "1");
  text.skip();
  CHECK(text.next().name == "d");
  CHECK(text.next().name == "e");
  CHECK(text.next().kind == Kind::kClose);
}

TEST_CASE("an item knows its line after it was skipped over several buffers, whatever the buffers end with") {
  const test::ScratchDir scratch;
  for (const size_t pad : {0U, 1U, 2U, 3U}) {
    const std::string content =
        "\n" + std::string(pad, ' ') + "a {\n b: \"" + std::string(size_t{3} << 20, '\\') + "\"\n c: 1\n}\nd: 2\n";
    const auto file = File::open(scratch.write("graph.txt", content));
    REQUIRE(file);
    ProtoText text(*file);
    CHECK(text.next().kind == Kind::kOpen);
    text.skip();
    CHECK(text.line() == 2);
    CHECK(text.depth() == 0);
    CHECK(text.next().name == "d");
    CHECK(text.line() == 6);
    CHECK(text.take_problems().count() == 0);
  }
}

TEST_CASE("text that is not protobuf is a problem with its line, and reading continues after it") {
  CHECK(problems_of("a: 1\n$%& b: 2\nc: 3\n") == "2: this is not protobuf text: $%& b: 2\n");
  CHECK(items_of("a: 1\n$%& b: 2\nc: 3\n") == "a=1 c=3 ");
  CHECK(problems_of("a: 1\n}\nb: 2\n") == "2: a bracket closes nothing\n");
  CHECK(items_of("a: 1\n}\nb: 2\n") == "a=1 b=2 ");
  CHECK(problems_of("a: \"x\nb: 2\n") == "1: a text in quotes has no end\n");
  CHECK(items_of("a: \"x\nb: 2\n") == "a='x' b=2 ");
  CHECK(problems_of("a: 1\nb: }\n") == "2: 'b' has no value\n");
}

TEST_CASE("a file that ends inside messages leaves them open") {
  CHECK(items_of("a { b { c: 1") == "a{b{c=1 ~~");
  CHECK(items_of("") == "");
  ProtoText text("a { b: \"x");
  CHECK(text.next().kind == Kind::kOpen);
  text.skip();
  CHECK(text.depth() == 1);
  CHECK(text.next().kind == Kind::kEnd);
  // The open message says it all.
  for (const char* cut : {"a { b: \"x", "a { b:", "a { b"}) CHECK(problems_of(cut).empty());
  CHECK(problems_of("b: \"x") == "1: a text in quotes has no end\n");
}

TEST_CASE("texts longer than any name have no value, and what follows is read") {
  const std::string most(ProtoText::kMaxText, 'x');
  CHECK(items_of("a: \"" + most + "\" b: 1") == "a='" + most + "' b=1 ");
  CHECK(items_of("a: \"" + most + "x\" b: 1") == "a=! b=1 ");
  CHECK(items_of("a: \"" + most + "\" \"x\" b: 1") == "a=! b=1 ");
  CHECK(items_of("a: \"" + std::string(5 * ProtoText::kMaxText, 'x') + "\" b: 1") == "a=! b=1 ");
}

// Parts of every kind at every place relative to the ends of the reader's buffer.
TEST_CASE("a file that is larger than the buffer is read as the same text in memory") {
  const test::ScratchDir scratch;
  std::string unit = "op {\n  name: \"Default/a\\\\b\\101\" \"c\"\n  # {\n  kernel { bt: \"";
  for (int i = 0; i < 3000; ++i) unit += "\\000\\\"\\\\";
  unit += "\" }\n  dim: [1, 2]\n}\n" + std::string(777, ' ');
  std::string whole;
  while (whole.size() < (size_t{3} << 20)) whole += unit;
  const std::string long_text = "tail: \"" + std::string((size_t{1} << 20) + 3, '\\') + "\\\" z: \" end: 1\n";
  for (const std::string& content : {whole, whole + long_text, std::string((size_t{2} << 20), ' ') + "a: 1"}) {
    const auto file = File::open(scratch.write("graph.txt", content));
    REQUIRE(file);
    CHECK(items_of(ProtoText(*file)) == items_of(content));
    ProtoText skipping(*file);
    uint64_t line = 0;
    for (ProtoText::Item item = skipping.next(); item.kind != Kind::kEnd; item = skipping.next()) {
      if (item.kind == Kind::kOpen) {
        line = skipping.line();
        skipping.skip();
      }
    }
    CHECK(skipping.depth() == 0);
    CHECK((line == 0 || line == 1 + 6 * (whole.size() / unit.size() - 1)));
  }
}

}  // namespace
}  // namespace msdump
