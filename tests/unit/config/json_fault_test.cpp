#include "config/json_faults.h"

#include <string>

#include "support/catch.h"

namespace msdump {
namespace {

std::string explained(const std::string& text) {
  const auto value = parse_json_or_fault(text);
  REQUIRE_FALSE(value);
  return explain_fault(text, value.error());
}

}  // namespace

TEST_CASE("what the reader stopped at is explained") {
  CHECK(explained("") == "the file is empty");
  CHECK(explained(" \n") == "the file is empty");
  CHECK(explained("{\"a\": [1") == "the text ends here; a bracket or a quote is not closed");
  CHECK(explained("{\"a\": 1 \"b\": 2}") == "a comma is missing before it");
  CHECK(explained("{\"a\" \"b\"}") == "a colon is missing before it");
  CHECK(explained("{a: 1}") == "'a' needs double quotes");
  for (const std::string word : {"A", "Z", "z", "_", "aZ09_"})
    CHECK(explained("{" + word + ": 1}") == "'" + word + "' needs double quotes");
  CHECK(explained("{\xE2\x80\x9C"
                  "a\": 1}") == "typographic quotes; JSON has \"");
  CHECK(explained("{\"a\" = 1}") == "JSON has : between a key and its value");
}

TEST_CASE("a control character in a string is named, with the quote that may be missing") {
  CHECK(explained("{\"a\": \"b\tc\"}") ==
        "a control character (tab, byte 0x09) inside a string; a quote is missing before it, or write \\t");
  CHECK(explained("[\"\x1b[2J\"]") ==
        "a control character (ESC, byte 0x1B) inside a string; a quote is missing before it, or write \\u001b");
  CHECK(explained("{\"a\": \"all,\n \"b\": 1}") ==
        "a line end inside a string; a quote is missing before it, or write \\n");
  CHECK(explained(R"(["C:\dump"])") == "'\\d' is not a JSON escape; a backslash is written \\\\");
  CHECK(explained("[\x1b]") == "a control character (ESC, byte 0x1B)");
}

TEST_CASE("text after the value and numbers of other languages are called that") {
  CHECK(explained("{}xyz") == "text after the end of the JSON value");
  CHECK(explained("{}{}") == "text after the end of the JSON value");
  CHECK(explained("{\"a\": 0x1}") == "JSON has no hexadecimal numbers");
  CHECK(explained("0XFF") == "JSON has no hexadecimal numbers");
  CHECK(explained("[0xg]") == "'xg' needs double quotes");
  CHECK(explained("[0a]") == "'a' needs double quotes");
  CHECK(explained("[-01]") == "JSON numbers do not begin with 0");
  CHECK(explained("[+1]") == "JSON has no plus sign before a number");
  CHECK(explained("[10 x1]") == "'x1' needs double quotes");
  CHECK(explained("[10x1]") == "'x1' needs double quotes");
}

TEST_CASE("characters that only look like those of JSON are named") {
  CHECK(explained("[\xC2\xA0 1]") == "a no-break space (U+00A0)");
  CHECK(explained("[1\xE3\x80\x80]") == "an ideographic space (U+3000)");
  CHECK(explained("[1\xE2\x80\x83]") == "a space that JSON does not have (U+2003)");
  CHECK(explained("{\"a\"\xEF\xBC\x9A 1}") == "a full-width ':' (U+FF1A); JSON has :");
  CHECK(explained("[\xE4\xB8\xAD]") == "'\xE4\xB8\xAD' (U+4E2D) outside of double quotes");
}

TEST_CASE("UTF-16 is recognised by its mark or its zero bytes") {
  CHECK(is_utf16("\xFF\xFE{"));
  CHECK(is_utf16("\xFE\xFF"));
  CHECK(is_utf16(std::string("{\0\"\0", 4)));
  CHECK(is_utf16(std::string("\0{\0\"", 4)));
  CHECK_FALSE(is_utf16(std::string("{\0\0\0", 4)));
  CHECK_FALSE(is_utf16(std::string("{\0", 2)));
  CHECK_FALSE(is_utf16("{}  "));
}

}  // namespace msdump
