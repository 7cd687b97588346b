#include "base/text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "support/catch.h"

namespace msdump {
namespace {

TEST_CASE("a glob without wildcards is equality") {
  CHECK(glob_match("Conv2D", "Conv2D"));
  CHECK_FALSE(glob_match("Conv2D", "Conv2D-op1"));
  CHECK_FALSE(glob_match("Conv2D", "conv2d"));
  CHECK(glob_match("", ""));
  CHECK_FALSE(glob_match("", "a"));
  CHECK(glob_match("a[b]\\c", "a[b]\\c"));
}

TEST_CASE("a glob's star also matches slashes and nothing at all") {
  CHECK(glob_match("Default/*-op1", "Default/network/conv-Conv2d/Conv2D-op1"));
  CHECK(glob_match("*", ""));
  CHECK(glob_match("a*", "a"));
  CHECK(glob_match("**a**", "a"));
  CHECK(glob_match("*ab*ab", "abab"));
  CHECK_FALSE(glob_match("*ab*ab", "aab"));
  CHECK_FALSE(glob_match("abb*bbc", "abbc"));
  CHECK(glob_match("a?c", "abc"));
  CHECK_FALSE(glob_match("a?c", "ac"));
  CHECK_FALSE(glob_match("?", ""));
}

TEST_CASE("a glob of many stars does not blow up") {
  std::string pattern;
  for (int i = 0; i < 2000; ++i) pattern += "*a";
  CHECK_FALSE(glob_match(pattern + "b", std::string(4000, 'a')));
}

// All texts of at most `longest` of these letters.
std::vector<std::string> all_texts(std::string_view letters, size_t longest) {
  std::vector<std::string> texts = {""};
  for (size_t begin = 0, length = 0; length < longest; ++length) {
    const size_t end = texts.size();
    for (; begin < end; ++begin) {
      for (const char letter : letters) texts.push_back(texts[begin] + letter);
    }
  }
  return texts;
}

TEST_CASE("a glob for many texts matches what the glob matches") {
  const std::vector<std::string> texts = all_texts("ab", 4);
  std::vector<std::string> different;
  for (const std::string& pattern : all_texts("a*?b", 5)) {
    const QuickGlob quick(pattern);
    for (const std::string& text : texts) {
      if (quick.matches(text) != glob_match(pattern, text)) different.push_back(pattern + " on " + text);
    }
  }
  CHECK(different == std::vector<std::string>{});
  CHECK(QuickGlob("a/b").is_plain());
  CHECK_FALSE(QuickGlob("a/?").is_plain());
  CHECK(QuickGlob("a*b").pattern() == "a*b");
}

TEST_CASE("edit distance counts a swap of neighbours once and folds case") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("convert", "CONVERT") == 0);
  CHECK(edit_distance("covnert", "convert") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("kabx", "zbay") == 3);
  CHECK(edit_distance("ab", "xyba") == 3);
  CHECK(edit_distance("ca", "abc") == 3);  // optimal string alignment, not Damerau-Levenshtein
}

TEST_CASE("the closest match is near enough or none and the first of equals") {
  const std::vector<std::string> words = {"convert", "stats", "info", "state"};
  CHECK(closest_match("covert", words) == "convert");
  CHECK(closest_match("stat", words) == "stats");
  CHECK(closest_match("inof", words) == "info");
  CHECK_FALSE(closest_match("diff", words));
  CHECK_FALSE(closest_match("", words));
  // One letter in three may be wrong, and three at most.
  const std::vector<std::string> option = {"--abcdefghijk"};
  CHECK(closest_match("--abcdefgh", option) == "--abcdefghijk");
  CHECK(closest_match("--xyzdefghijk", option) == "--abcdefghijk");
  CHECK_FALSE(closest_match("--wxyzefghijk", option));
  CHECK_FALSE(closest_match("--abcdefghijklmno", option));
  CHECK_FALSE(closest_match("abcde", std::vector<std::string>{"abxyz"}));
  CHECK(closest_match("abcdef", std::vector<std::string>{"abcdxy"}) == "abcdxy");
  CHECK_FALSE(closest_match("abcdef", std::vector<std::string>{"abcxyz"}));
}

TEST_CASE("escaping leaves ordinary and wide text alone") {
  CHECK(escape_for_terminal("Default/网络-op1 ü \\") == "Default/网络-op1 ü \\");
}

TEST_CASE("escaping disarms control characters and bytes that are not UTF-8") {
  CHECK(escape_for_terminal("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  CHECK(escape_for_terminal("\x1b[31mred") == "\\x1b[31mred");
  CHECK(escape_for_terminal(std::string("\0\x7f", 2)) == "\\x00\\x7f");
  CHECK(escape_for_terminal("\xff\xc3") == "\\xff\\xc3");
  CHECK(escape_for_terminal("\xc2\x9b") == "\\xc2\\x9b");           // the 8-bit CSI
  CHECK(escape_for_terminal("\xe2\x80\xae") == "\\xe2\\x80\\xae");  // right-to-left override
}

TEST_CASE("escaping shows characters that hide, reorder or break a line") {
  for (const char* hidden : {"\u001f",     "\u007f",     "\u0080", "\u009f", "\u180e", "\u202e", "\u206f",    "\ufffb",
                             "\U000e0000", "\U000e007f", "\u061c", "\u200b", "\u200f", "\u2028", "\u2029",    "\u202a",
                             "\u2060",     "\u2066",     "\u2069", "\ufeff", "\u00ad", "\ufff9", "\U000e0041"}) {
    CAPTURE(escape_for_terminal(hidden));
    CHECK(escape_for_terminal(hidden).starts_with("\\x"));
  }
  for (const char* shown : {" ",      "~",          "\u00a0",     "\u061d", "\u180d", "\u180f", "\u205f", "\uff00",
                            "\ufffc", "\U000dffff", "\U000e0080", "\u00ac", "\u00ae", "\u061b", "\u200a", "\u2010",
                            "\u2027", "\u202f",     "\u2070",     "\ufefe", "\ufff8", "\u05d0", "\u0627"}) {
    CHECK(escape_for_terminal(shown) == shown);
  }
}

TEST_CASE("an excerpt is the first 60 bytes, escaped") {
  CHECK(excerpt(std::string(59, 'a') + "\n") == std::string(59, 'a') + "\\n");
  CHECK(excerpt(std::string(59, 'a') + "\nb") == std::string(59, 'a') + "\\n...");
}

TEST_CASE("UTF-8 as RFC 3629 has it") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("\xf4\x8f\xbf\xbf"));        // U+10FFFF
  CHECK_FALSE(is_utf8("\xf4\x90\x80\x80"));  // above it
  CHECK_FALSE(is_utf8("\xed\xa0\x80"));      // a surrogate
  CHECK_FALSE(is_utf8("\xc0\xaf"));          // overlong
  CHECK_FALSE(is_utf8("\xe0\x80\xaf"));
  CHECK_FALSE(is_utf8("\xf0\x80\x80\xaf"));
  CHECK_FALSE(is_utf8("\xe4\xb8"));  // cut
  CHECK_FALSE(is_utf8("\x80"));
  CHECK_FALSE(is_utf8("\xf5\x80\x80\x80"));
  CHECK_FALSE(is_utf8(std::string_view("\xe4\xb8\xad").substr(0, 2)));
  CHECK(utf8_sequence_length("a\xe4\xb8\xad", 1) == 3);
  for (const char* border : {"\u007f", "\u0080", "\u07ff", "\u0800", "\u0fff", "\u1000", "\ud7ff", "\ue000", "\uffff",
                             "\U00010000", "\U0003ffff", "\U00040000", "\U000fffff", "\U00100000"}) {
    CAPTURE(escape_for_terminal(border));
    CHECK(utf8_sequence_length(border, 0) == std::string_view(border).size());
  }
  for (const char* bad : {"\xc2\x7f", "\xc2\xc0", "\xe1\x7f\x80", "\xe1\x80\xc0", "\xf1\x80\x7f\x80",
                          "\xf1\x80\x80\xc0", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xc1\xbf"}) {
    CAPTURE(escape_for_terminal(bad));
    CHECK(utf8_sequence_length(bad, 0) == 0);
  }
}

TEST_CASE("display width counts wide characters twice and combining marks not at all") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("网络") == 4);
  CHECK(display_width("e\xcc\x81") == 1);
  CHECK(display_width("\xff") == 1);
}

TEST_CASE("the blocks of wide and of combining characters begin and end where Unicode has them") {
  for (const char* wide :
       {"\u1100",     "\u115f",     "\u2e80",     "\u303e",     "\u3041",     "\u33ff",    "\u3400", "\u4dbf",
        "\u4e00",     "\u9fff",     "\ua000",     "\ua4cf",     "\ua960",     "\ua97f",    "\uac00", "\ud7a3",
        "\uf900",     "\ufaff",     "\ufe30",     "\ufe6f",     "\uff00",     "\uff60",    "\uffe0", "\uffe6",
        "\U0001f300", "\U0001f64f", "\U0001f900", "\U0001f9ff", "\U00020000", "\U0003fffd"}) {
    CAPTURE(wide);
    CHECK(display_width(wide) == 2);
  }
  for (const char* narrow :
       {"\u10ff",     "\u1160", "\u2e7f", "\u303f",     "\u3040",     "\u4dc0",     "\ua4d0",     "\ua95f",
        "\ua980",     "\uabff", "\ud7a4", "\uf8ff",     "\ufb00",     "\ufe2f",     "\ufe70",     "\ufeff",
        "\uff61",     "\uffdf", "\uffe7", "\U0001f2ff", "\U0001f650", "\U0001f8ff", "\U0001fa00", "\U0001ffff",
        "\U0003fffe", "\u02ff", "\u0370", "\u200a",     "\u2010",     "\u20cf",     "\u2100",     "\ufdff"}) {
    CAPTURE(narrow);
    CHECK(display_width(narrow) == 1);
  }
  for (const char* none : {"\u0300", "\u036f", "\u200b", "\u200f", "\u20d0", "\u20ff", "\ufe00", "\ufe0f"}) {
    CAPTURE(escape_for_terminal(none));
    CHECK(display_width(none) == 0);
  }
}

TEST_CASE("numbers are the whole text or nothing") {
  CHECK(parse_u64("18446744073709551615") == 18446744073709551615U);
  CHECK_FALSE(parse_u64("18446744073709551616"));
  CHECK(parse_i64("-9223372036854775808") == INT64_MIN);
  for (const char* text : {"", " 1", "1 ", "+1", "0x1", "1.0", "-"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_u64(text));
    CHECK_FALSE(parse_i64(text));
  }
  CHECK_FALSE(parse_u64("-1"));
  CHECK(is_digits("007"));
  CHECK_FALSE(is_digits(""));
  CHECK_FALSE(is_digits("1a"));
}

TEST_CASE("split keeps empty parts") {
  CHECK(split("a..b.", '.') == std::vector<std::string_view>{"a", "", "b", ""});
  CHECK(split("", '.') == std::vector<std::string_view>{""});
}

TEST_CASE("natural order is what people expect") {
  std::vector<std::string> names = {"file10", "file2", "File1", "file02", "file", "file2a", "a1b10", "a1b9", "file1"};
  std::sort(names.begin(), names.end(), natural_less);
  CHECK(names ==
        std::vector<std::string>{"File1", "a1b9", "a1b10", "file", "file1", "file02", "file2", "file2a", "file10"});
}

TEST_CASE("leading zeros decide the natural order only when nothing else does") {
  CHECK(natural_less("a1", "a01a"));
  CHECK_FALSE(natural_less("a01a", "a1"));
  CHECK(natural_less("a01a", "a1b"));
  CHECK(natural_less("a01", "a1"));
}

TEST_CASE("natural order of parts of a text does not see what stands around them") {
  const std::string_view ten = "7x10", nine = "7x9", zeros = "a0001";
  CHECK(natural_less(nine.substr(1), ten.substr(1)));
  CHECK_FALSE(natural_less(ten.substr(1), nine.substr(1)));
  CHECK(natural_less(zeros.substr(0, 3), "a1"));
  CHECK_FALSE(natural_less(zeros.substr(0, 3), "a0"));
  CHECK(natural_less("a0", zeros.substr(0, 3)));
  CHECK(natural_less(ten.substr(0, 3), "7x2"));
}

TEST_CASE("natural order is a strict weak order") {
  const std::vector<std::string> names = {"",    "0",    "00", "a",    "a0",   "a00",
                                          "a0b", "a00b", "a1", "a01",  "a1a",  "a01a",
                                          "ab",  "a-1",  "a:", "a1b2", "\xff", "99999999999999999999999"};
  for (const auto& a : names) {
    CHECK_FALSE(natural_less(a, a));
    for (const auto& b : names) {
      CAPTURE(a, b);
      if (a != b) CHECK(natural_less(a, b) != natural_less(b, a));
      for (const auto& c : names) {
        if (natural_less(a, b) && natural_less(b, c)) CHECK(natural_less(a, c));
      }
    }
  }
}

TEST_CASE("natural keys agree with natural order") {
  const std::string longest(300, '7');
  const std::vector<std::string> names = {"",
                                          "0",
                                          "00",
                                          "a",
                                          "a0",
                                          "a00",
                                          "a0b",
                                          "a00b",
                                          "a1",
                                          "a01",
                                          "a1a",
                                          "a-1",
                                          "a:",
                                          "a1b2",
                                          "\xff",
                                          "a" + longest,
                                          "a" + longest + "b",
                                          "a10",
                                          "a9",
                                          "MatMul.layer9-x",
                                          "MatMul.layer10-x",
                                          "MatMul.layer1234567890123",
                                          "a 1",
                                          "a/1",
                                          "ab"};
  for (const auto& a : names) {
    for (const auto& b : names) {
      CAPTURE(a, b);
      if (natural_key(a) < natural_key(b)) CHECK(natural_less(a, b));
    }
  }
  CHECK(natural_key("layer9") < natural_key("layer10"));
  CHECK(natural_key("abcdefga") < natural_key("abcdefgb"));
  CHECK(natural_key("abcdefgha") < natural_key("abcdefghb"));
  CHECK(natural_key("abcdefghijklmnop") < natural_key("abcdefghijklmnoq"));
  CHECK(natural_key("abcdefghijklmnopA") == natural_key("abcdefghijklmnopB"));
  CHECK(natural_key("12-a") < natural_key("12-b"));
  CHECK(natural_key("layer07") == natural_key("layer7"));
}

TEST_CASE("case is folded for ASCII letters only") {
  CHECK(equals_ignoring_case("FracZ", "FRACZ"));
  CHECK(equals_ignoring_case("", ""));
  CHECK_FALSE(equals_ignoring_case("ab", "abc"));
  CHECK_FALSE(equals_ignoring_case("a[", "a{"));
  CHECK_FALSE(equals_ignoring_case("\xc4", "\xe4"));
  CHECK(to_lower("AZaz@[09\xc4") == "azaz@[09\xc4");
  CHECK(to_upper("AZaz`{09\xe4") == "AZAZ`{09\xe4");
}

TEST_CASE("bytes for people") {
  CHECK(human_bytes(0) == "0 B");
  CHECK(human_bytes(1023) == "1023 B");
  CHECK(human_bytes(1024) == "1.0 KiB");
  CHECK(human_bytes(1536) == "1.5 KiB");
  CHECK(human_bytes((uint64_t{1} << 20) - 1) == "1.0 MiB");
  CHECK(human_bytes(1023 * 1024 + 921) == "1023.9 KiB");
  CHECK(human_bytes(uint64_t{5} << 30) == "5.0 GiB");
  CHECK(human_bytes(uint64_t{7} << 40) == "7.0 TiB");
  CHECK(human_bytes(UINT64_MAX) == "16777216.0 TiB");
}

TEST_CASE("a count of things has a noun in the right number") {
  CHECK(plural(0, "file") == "0 files");
  CHECK(plural(1, "file") == "1 file");
  CHECK(plural(2, "file") == "2 files");
}

TEST_CASE("texts in an arena stay where they are when it grows, is moved and is absorbed") {
  TextArena first, second;
  std::vector<std::string> texts = {"", std::string(1000, 'x'), std::string(100'000, 'y')};
  for (size_t i = 0; i < 3000; ++i) texts.push_back("operator-" + std::to_string(i));
  std::vector<std::string_view> kept;
  for (size_t i = 0; i < texts.size(); ++i) kept.push_back((i % 2 == 0 ? first : second).keep(texts[i]));
  TextArena all = std::move(first);
  all.absorb(std::move(second));
  texts.emplace_back("one more");
  kept.push_back(all.keep(texts.back()));
  CHECK(std::equal(kept.begin(), kept.end(), texts.begin(), texts.end()));
}

}  // namespace
}  // namespace msdump
