#include "ir/model/source_frame.h"

#include <string>

#include <fmt/format.h>

#include "support/catch.h"

namespace msdump {
namespace {

// "FILE|LINE-END|CODE".
std::string frame_text(std::string_view text) {
  const auto parsed = parse_source_frame(text);
  if (!parsed) return "none";
  const SourceFrame& frame = parsed->frame;
  return fmt::format("{}|{}-{}|{}", frame.file, frame.line, frame.end_line, frame.code);
}

TEST_CASE("source lines of every version are read") {
  CHECK(frame_text("In file ./train.py(175)/        x = self.conv3(x)/") == "./train.py|175-175|x = self.conv3(x)");
  CHECK(frame_text("In file train.py:175/        x = self.conv3(x)/") == "train.py|175-175|x = self.conv3(x)");
  CHECK(frame_text("In file t6.py:16, 12~25/        a = ops.sub(x, 1)/") == "t6.py|16-16|a = ops.sub(x, 1)");
  CHECK(frame_text("In file t6.py:15~20, 4~16/    def f(self):/") == "t6.py|15-20|def f(self):");
  CHECK(frame_text("In file gen_ops_def.py:8462~8466/def muls(input, other):/") ==
        "gen_ops_def.py|8462-8466|def muls(input, other):");
  CHECK(frame_text("inlined:In file a.py:11/    return x/") == "a.py|11-11|return x");
  CHECK(frame_text("In file a.py:16, 12~19/  f(x)/<~~This line of code can be shared by multiple nodes, and may be "
                   "duplicated./") == "a.py|16-16|f(x)");
}

TEST_CASE("the style of the place is recognised") {
  CHECK(parse_source_frame("In file a.py(1)/x/")->style == PlaceStyle::kParentheses);
  CHECK(parse_source_frame("In file a.py:1/x/")->style == PlaceStyle::kLine);
  CHECK(parse_source_frame("In file a.py:1, 0~3/x/")->style == PlaceStyle::kRange);
  CHECK(parse_source_frame("In file a.py:1~4/x/")->style == PlaceStyle::kRange);
}

TEST_CASE("code may hold what looks like a place and paths may hold anything") {
  CHECK(frame_text("In file a.py(3)/ y = f(175)/ # b.py:9/") == "a.py|3-3|y = f(175)/ # b.py:9");
  CHECK(frame_text("In file C:\\my code(2)\\a.py:12/x = {1: 2}/") == "C:\\my code(2)\\a.py|12-12|x = {1: 2}");
  CHECK(frame_text("In file /home/\xe7\xbd\x91/a b.py:7, 1~2/ \xff/") == "/home/\xe7\xbd\x91/a b.py|7-7|\xff");
}

TEST_CASE("code and the end of the line may be missing") {
  CHECK(frame_text("In file control.py:0/") == "control.py|0-0|");
  CHECK(frame_text("In file a.py:12") == "a.py|12-12|");
  CHECK(frame_text("In file a.py(31)/        return x/#[CNode]20") == "a.py|31-31|return x");
  CHECK(frame_text("In file a.py:16, -1~25/x/") == "a.py|16-16|x");
  CHECK(frame_text("In file a.py(3)/ a/#b/c") == "a.py|3-3|a/#b/c");
}

TEST_CASE("a text without a place is no frame") {
  CHECK(frame_text("In file a.py/x/") == "none");
  CHECK(frame_text("In file :12/x/") == "none");
  CHECK(frame_text("In file a.py:x/x/") == "none");
  CHECK(frame_text("In file a.py(12345678901)/x/") == "none");
  CHECK(frame_text("In file a.py(12/x/") == "none");
  CHECK(frame_text("In file a.py(12)x/") == "none");
  CHECK(frame_text("Corresponding code candidate:") == "none");
}

TEST_CASE("a frame is whole when it ends as the writer ends one") {
  CHECK(is_whole_frame("In file a.py(1)/x/"));
  CHECK(is_whole_frame("In file a.py(1)/x/#[CNode]20"));
  CHECK(
      is_whole_frame("In file a.py:1/x/<~~This line of code can be shared by multiple nodes, and may be duplicated./"));
  CHECK_FALSE(is_whole_frame("In file a.py(1"));
  CHECK_FALSE(is_whole_frame("In file a.py:1/x/<~~This line of code can be sha"));
}

TEST_CASE("the place after a path is read on its own") {
  using Lines = std::pair<uint32_t, uint32_t>;
  CHECK(parse_place(":175, 12~25/    x/") == Lines{175, 175});
  CHECK(parse_place(":168~186, 4~16/    def construct(self, x):/") == Lines{168, 186});
  CHECK(parse_place("(175)/x/") == Lines{175, 175});
  CHECK_FALSE(parse_place("c:175/x/"));
  CHECK_FALSE(parse_place(""));
}

}  // namespace
}  // namespace msdump
