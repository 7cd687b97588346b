#include "io/json.h"

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

// "{a:[1,2],b:~}" of the tree; null is ~, texts as they are.
std::string print(const JsonValue& value) {
  std::string text;
  switch (value.kind) {
    case JsonKind::kNull: return "~";
    case JsonKind::kString: return value.text;
    case JsonKind::kArray:
      for (const JsonValue& item : value.items) text += (text.empty() ? "" : ",") + print(item);
      return "[" + text + "]";
    case JsonKind::kObject:
      for (const JsonMember& member : value.members) {
        text += (text.empty() ? "" : ",") + member.key + ":" + print(member.value);
      }
      return "{" + text + "}";
    default: return "?";
  }
}

std::string read(std::string_view text) {
  const auto value = parse_yaml(text);
  return value ? print(*value) : "error: " + value.error().message;
}

TEST_CASE("block and flow forms of YAML give the same tree of texts") {
  CHECK(read("a: 1\nb: 'two words'\n") == "{a:1,b:two words}");
  CHECK(read("{a: 1, b: \"two words\"}") == "{a:1,b:two words}");
  CHECK(read("- x: [0, 1]\n  y: true\n- z\n") == "[{x:[0,1],y:true},z]");
  CHECK(read("Top:\n  fc1.Dense: fc1\n  head: head(Linear)\n") == "{Top:{fc1.Dense:fc1,head:head(Linear)}}");
  CHECK(read("# only a comment\n") == "~");
  CHECK(read("") == "~");
  CHECK(read({}) == "~");
  CHECK(read("a:\nb: ''\n") == "{a:~,b:}");
  CHECK(read("- \n- {}\n- []\n") == "[~,{},[]]");
}

TEST_CASE("values of all kinds under successive keys are distinguished") {
  CHECK(read("a: {b: {c: d}}\ne: [[f], {g: h}]\ni: j\n") == "{a:{b:{c:d}},e:[[f],{g:h}],i:j}");
  CHECK(read("a: {}\nb: []\nc:\nd: x\n") == "{a:{},b:[],c:~,d:x}");
}

TEST_CASE("text that is not YAML is refused with its place") {
  CHECK(read("a: [1, 2") == "error: line 2, column 1: did not find expected ',' or ']'");
  CHECK(read("a: b\n\tc: d\n").starts_with("error: line 2, column 1: found "));
  CHECK(read("a: b\n---\nc: d\n") == "error: line 2, column 1: a second document");
  CHECK(read("[a]: b\n") == "error: line 1, column 1: a key that is not a text");
  CHECK(read("?\n: b\n") == "error: line 1, column 2: a key that is not a text");
  CHECK(parse_yaml("a: [").error().code == ErrorCode::kUsage);
}

TEST_CASE("YAML made to exhaust memory or the stack is refused") {
  CHECK(read("a: &x [1]\nb: *x\n") == "error: line 2, column 4: aliases are not read");
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  CHECK(read(deep) == deep);
  CHECK(read("[" + deep + "]") == "error: line 1, column 101: nested deeper than 100, the most that msdump reads");
  CHECK(parse_yaml(std::string((size_t{16} << 20) + 1, ' ')).error().code == ErrorCode::kTooLarge);
  std::string many = "[";
  for (size_t i = 0; i < 900'000; ++i) many += "1,";
  CHECK(read(many + "1]").ends_with("its values take more than 67 MiB of memory, the most that msdump allows"));
}

TEST_CASE("offsets in YAML count bytes, not characters") {
  const std::string text = "\xE6\x95\xB0: \xF0\x9F\x98\x80\nb: [c, d\xC3\xA9]\n";
  const auto value = parse_yaml(text);
  REQUIRE(value);
  CHECK(value->members.at(0).key_offset == 0);
  CHECK(value->members.at(0).value.offset == text.find("\xF0"));
  CHECK(value->members.at(1).key_offset == text.find('b'));
  CHECK(value->members.at(1).value.items.at(1).offset == text.find('d'));
  const std::string bad = "\xE6\x95\xB0: \xF0\x9F\x98\x80\nb: [c, &x d]\ne: *x\n";
  CHECK(parse_yaml(bad).error().offset == bad.find('*'));
  const std::string unclosed = "\xE6\x95\xB0: 'open";
  CHECK(parse_yaml(unclosed).error().offset == unclosed.size());
}

TEST_CASE("an error of a YAML file names it") {
  const test::ScratchDir scratch;
  const auto value = read_yaml_file(scratch.write("good.yaml", "a: b\n"));
  REQUIRE(value);
  CHECK(print(*value) == "{a:b}");
  const std::string path = scratch.write("bad.yaml", "{");
  CHECK(read_yaml_file(path).error().path == path);
  CHECK(read_yaml_file(scratch.file("none.yaml")).error().code == ErrorCode::kNotFound);
}

}  // namespace
}  // namespace msdump
