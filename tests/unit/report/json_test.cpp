#include <cmath>
#include <limits>

#include "report/json.h"
#include "report/row_sink.h"
#include "support/catch.h"

namespace msdump::report {
namespace {

std::string json(const Value& value) {
  std::string text;
  append_json(text, value);
  return text;
}

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST_CASE("numbers are the shortest text that reads back as the same number") {
  CHECK(json(0.1) == "0.1");
  CHECK(json(0.1F) == "0.1");
  CHECK(json(static_cast<double>(0.1F)) == "0.10000000149011612");
  CHECK(json(1.0) == "1.0");
  CHECK(json(-0.0) == "-0.0");
  CHECK(json(1e300) == "1e+300");
  CHECK(json(3.4028235e38F) == "3.4028235e+38");
  CHECK(json(5e-324) == "5e-324");
}

TEST_CASE("integers are exact to their ends") {
  CHECK(json(std::numeric_limits<int64_t>::min()) == "-9223372036854775808");
  CHECK(json(std::numeric_limits<uint64_t>::max()) == "18446744073709551615");
  CHECK(json(uint8_t{200}) == "200");
  CHECK(json(int8_t{-3}) == "-3");
}

TEST_CASE("non-finite numbers are strings") {
  CHECK(json(std::nan("")) == "\"nan\"");
  CHECK(json(kInf) == "\"inf\"");
  CHECK(json(-kInf) == "\"-inf\"");
  CHECK(json(-std::numeric_limits<float>::infinity()) == "\"-inf\"");
}

TEST_CASE("null, bool and optional") {
  CHECK(json(nullptr) == "null");
  CHECK(json(true) == "true");
  CHECK(json(std::optional<int64_t>{}) == "null");
  CHECK(json(std::optional<std::string>{"x"}) == "\"x\"");
}

TEST_CASE("strings: quotes, control characters and bytes that are not UTF-8") {
  CHECK(json("a\"b\\c\n\t\r\x01\x7f") == "\"a\\\"b\\\\c\\n\\t\\r\\u0001\\u007f\"");
  CHECK(json("\x1f !~\xc2\x80\xc2\x9f\xc2\xa0\xc3\x9b") == "\"\\u001f !~\\u0080\\u009f\xc2\xa0\xc3\x9b\"");
  CHECK(json("\xc2\x9b[31m") == "\"\\u009b[31m\"");
  CHECK(json("算子") == "\"算子\"");
  CHECK(json("a\xff\x80") == "\"a\\udcff\\udc80\"");
  CHECK(json("\xed\xa0\x80") == "\"\\udced\\udca0\\udc80\"");  // an encoded surrogate is not UTF-8
  CHECK(json(std::string("\0x", 2)) == "\"\\u0000x\"");
}

TEST_CASE("strings: characters that hide or reorder what a terminal shows are escaped") {
  CHECK(json("a\u202Eb") == "\"a\\u202eb\"");
  CHECK(json("\u200B\uFEFF\u00AD") == "\"\\u200b\\ufeff\\u00ad\"");
  CHECK(json("\U000E0041") == "\"\\udb40\\udc41\"");
  CHECK(json("\u6F22\U0001F600") == "\"\u6F22\U0001F600\"");  // all others stay
}

TEST_CASE("a text ends where it ends, whatever bytes follow") {
  const std::string_view longer = "a\xff\xc3\xa4";
  CHECK(surrogate_escaped(longer.substr(0, 1)) == "a");
  CHECK(surrogate_escaped(longer.substr(0, 3)) == "a\\udcff\\udcc3");
  CHECK(json(longer.substr(0, 3)) == "\"a\\udcff\\udcc3\"");
}

TEST_CASE("keys keep their order, lists and objects nest") {
  Object inner, row;
  inner.add("z", 1).add("a", list_of(std::vector<int64_t>{1, 2}));
  row.add("b", inner).add("empty", List()).add("none", Object());
  CHECK(json(row) == R"({"b":{"z":1,"a":[1,2]},"empty":[],"none":{}})");
}

TEST_CASE("a json document has every common key, also without rows") {
  StringOutput out;
  const std::unique_ptr<RowSink> sink = make_sink(Form::kJson, out, {"convert", "1.2.3", {"dump"}, {}});
  REQUIRE(sink->finish({}));
  CHECK(out.text() ==
        "{\"schema\":1,\"command\":\"convert\",\"version\":\"1.2.3\",\"dumps\":[\"dump\"],\"rows\":[],\n"
        "\"summary\":{},\n\"failures\":[]}\n");
}

TEST_CASE("a json document streams rows, then says what is known at the end") {
  StringOutput out;
  const std::unique_ptr<RowSink> sink = make_sink(Form::kJson, out, {"diff", "1", {}, {}});
  Row row;
  row.add("x", 1);
  REQUIRE(sink->row(row));
  REQUIRE(sink->row(row));
  Closing closing;
  closing.summary.add("compared", 2);
  closing.failures.push_back(failure_object(make_error(ErrorCode::kTruncated, "short").with_path("a.bin")));
  closing.further.add("first_divergence", List());
  REQUIRE(sink->finish(closing));
  CHECK(
      out.text().ends_with("\"rows\":[\n{\"x\":1},\n{\"x\":1}\n],\n\"summary\":{\"compared\":2},\n"
                           "\"failures\":[{\"path\":\"a.bin\",\"tensor\":null,\"offset\":null,\"code\":\"truncated\","
                           "\"message\":\"short\",\"hint\":null}],\n\"first_divergence\":[]}\n"));
}

TEST_CASE("json lines are the rows and nothing else") {
  StringOutput out;
  const std::unique_ptr<RowSink> sink = make_sink(Form::kJsonl, out, {"ls", "1", {}, {}});
  Row row;
  row.add("x", "1\n2");
  REQUIRE(sink->row(row));
  REQUIRE(sink->row(row));
  REQUIRE(sink->finish({}));
  CHECK(out.text() == "{\"x\":\"1\\n2\"}\n{\"x\":\"1\\n2\"}\n");
}

class FullDisk : public TextOutput {
 public:
  Status write(std::string_view) override {
    ++calls;
    return fail(ErrorCode::kWriteFailed, "no space left");
  }
  int calls = 0;
};

TEST_CASE("a write that fails comes back from each form") {
  for (const Form form : {Form::kCsv, Form::kJson, Form::kJsonl}) {
    FullDisk disk;
    const std::unique_ptr<RowSink> sink = make_sink(form, disk, {"ls", "1", {}, {}});
    Row row;
    row.add("x", 1);
    const Status status = sink->row(row);
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::kWriteFailed);
    CHECK(disk.calls == 1);
  }
}

}  // namespace
}  // namespace msdump::report
