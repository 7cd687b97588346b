#include "msprobe/stack_json.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using test::ScratchDir;
using Strings = std::vector<std::string>;

Result<StackJson> try_stack(const std::string& text, const StackJsonLimits& limits = {}) {
  const ScratchDir scratch;
  const auto file = File::open(scratch.write("stack.json", text));
  REQUIRE(file);
  auto result = read_stack_json(*file, limits);
  if (!result) CHECK(result.error().path == file->path());
  return result;
}

StackJson read_stack(const std::string& text) {
  auto result = try_stack(text);
  if (result) return std::move(*result);
  FAIL(result.error().message);
  return {};
}

// As json has it: the line feed escaped.
std::string frame(const std::string& file, int line, const std::string& code) {
  return R"("File )" + file + ", line " + std::to_string(line) + R"(, in construct, \n )" + code + '"';
}

// "FILE:LINE CODE" of each frame of an operator's stack.
Strings stack(const StackJson& json, std::string_view op_name) {
  const StackJson::Op* op = json.find(op_name);
  if (op == nullptr) return {"no such operator"};
  Strings all;
  for (const uint32_t id : json.stack_of(*op)) {
    const MsprobeFrame& frame = json.frames.at(id);
    all.push_back(std::string(frame.file) + ":" + std::to_string(frame.line) + " " + std::string(frame.code));
  }
  return all;
}

TEST_CASE("a stack.json of 2024 has one stack an operator") {
  const StackJson json = read_stack(R"({"Tensor.add.0.forward":[)" + frame("/net.py", 7, "a + b") + "," +
                                    frame("/train.py", 40, "net(x)") + R"(],"Mint.relu.0.forward":[)" +
                                    frame("/net.py", 8, "relu(c)") + "," + frame("/train.py", 40, "net(x)") + "]}");
  CHECK(json.entries == 2);
  CHECK(stack(json, "Tensor.add.0.forward") == Strings{"/net.py:7 a + b", "/train.py:40 net(x)"});
  CHECK(stack(json, "Mint.relu.0.forward") == Strings{"/net.py:8 relu(c)", "/train.py:40 net(x)"});
  CHECK(json.frames.size() == 3);
  CHECK(json.find("Tensor.add.1.forward") == nullptr);
}

TEST_CASE("from 2025 on operators called from the same place share a stack") {
  const std::string text = R"({"0": [["Tensor.add.0.forward","Tensor.add.1.forward"], [)" +
                           frame("/net.py", 7, "a + b + c") + R"(]], "1": [["Mint.relu.0.forward"], [)" +
                           frame("/net.py", 8, "relu(c)") + "]]}";
  const StackJson json = read_stack(text);
  CHECK(json.entries == 2);
  REQUIRE(json.ops.size() == 3);
  CHECK(json.ops[1].name == "Tensor.add.1.forward");
  CHECK(json.ops[1].offset == text.find("\"Tensor.add.1"));
  CHECK(stack(json, "Tensor.add.0.forward") == Strings{"/net.py:7 a + b + c"});
  CHECK(stack(json, "Tensor.add.1.forward") == Strings{"/net.py:7 a + b + c"});
  CHECK(stack(json, "Mint.relu.0.forward") == Strings{"/net.py:8 relu(c)"});
  CHECK(json.frame_ids.size() == 2);
}

TEST_CASE("two forms in one file, and an operator that is called 0, are distinguished entry by entry") {
  const StackJson json = read_stack(R"({"0":[)" + frame("/a.py", 1, "x") + "," + frame("/b.py", 2, "y") +
                                    R"(],"1":[["op"],[)" + frame("/c.py", 3, "z") + "]]}");
  CHECK(stack(json, "0") == Strings{"/a.py:1 x", "/b.py:2 y"});
  CHECK(stack(json, "op") == Strings{"/c.py:3 z"});
}

TEST_CASE("a file of a killed process, and stacks that msprobe could not get, are empty") {
  CHECK(read_stack("{}").ops.empty());
  const StackJson json = read_stack(
      R"({"a":["The call stack retrieval failed."],"0":[["b"],["The call stack retrieval failed."]],"c":[],"d":[]})");
  CHECK(json.problems.empty());
  CHECK(json.ops.size() == 4);
  CHECK(json.frames.empty());
  for (const char* name : {"a", "b", "c", "d"}) CHECK(stack(json, name).empty());
}

TEST_CASE("of two stacks of one operator the later one counts") {
  const StackJson json =
      read_stack(R"({"a":[)" + frame("/a.py", 1, "x") + R"(],"b":[],"a":[)" + frame("/a.py", 2, "y") + "]}");
  CHECK(stack(json, "a") == Strings{"/a.py:2 y"});
  CHECK(json.ops.size() == 2);
}

struct FrameCase {
  std::string text;
  std::string file;
  int64_t line;
  std::string function, code;
};

TEST_CASE("a frame is taken apart into file, line, function and code") {
  const auto c = GENERATE(values<FrameCase>({
      {"File /net.py, line 16, in <module>, \n out = net(x, y)", "/net.py", 16, "<module>", "out = net(x, y)"},
      {"File /a, line 3, in b/net, in x.py, line 7, in f, \n g()", "/a, line 3, in b/net, in x.py", 7, "f", "g()"},
      {"File C:\\net.py, line 1, in <lambda>, \n a, line 5, in b, \n c \n", "C:\\net.py", 1, "<lambda>",
       "a, line 5, in b, \n c"},
      {"File /net.py, line 2, in f", "/net.py", 2, "f", ""},
      {"File /net.py, line 2, in f, \n ", "/net.py", 2, "f", ""},
      {"File \xe7\xbd\x91.py, line 2, in \xe5\x87\xbd, \n \xe4\xb8\x80", "\xe7\xbd\x91.py", 2, "\xe5\x87\xbd",
       "\xe4\xb8\x80"},
  }));
  const MsprobeFrame frame = parse_msprobe_frame(c.text);
  CHECK(frame.file == c.file);
  CHECK(frame.line == c.line);
  CHECK(frame.function == c.function);
  CHECK(frame.code == c.code);
}

TEST_CASE("a frame of another form is its text") {
  for (const std::string text :
       {"", "File ", "file /net.py, line 2, in f", "File /net.py, line , in f", "File /net.py, line -2, in f",
        "File /net.py, line 99999999999, in f", "File , line 2, in f", "File /net.py, line 2", "File, line 2, in f",
        "File /net.py, in f, line 2", "File /net.py, line, in 2, in f", "see the log"}) {
    INFO(text);
    const MsprobeFrame frame = parse_msprobe_frame(text);
    CHECK(frame.file.empty());
    CHECK(frame.function.empty());
    CHECK(frame.code == text.substr(0, text.find_last_not_of(' ') + 1));
  }
  CHECK(stack(read_stack(R"({"a":["see the log"]})"), "a") == Strings{":0 see the log"});
}

TEST_CASE("an entry that is not understood is a problem with its place, and the rest is read") {
  struct Fault {
    std::string entry, message;
  };
  const auto fault = GENERATE(values<Fault>({
      {R"("x":null)", "line 2, column 7: x: expected a list of frames"},
      {R"("x":"File a.py")", "line 2, column 7: x: expected a list of frames"},
      {R"("x":{"a":[]})", "line 2, column 7: x: expected a list of frames"},
      {R"("x":["a",1])", "line 2, column 12: x: a frame that is not a string"},
      {R"("x":[["a"],null])", "line 2, column 14: x: expected a list of frames"},
      {R"("x":[["a"],["b",[]]])", "line 2, column 19: x: a frame that is not a string"},
      {R"("x":[["a",2],["b"]])", "line 2, column 13: x: the name of an operator is not a string"},
      {R"("x":[["a"],["b"],["c"]])", "line 2, column 8: x: a frame that is not a string"},
      {R"("x":[["a"]])", "line 2, column 8: x: a frame that is not a string"},
  }));
  const StackJson json = read_stack("{\"y\":[],\n  " + fault.entry + ",\n \"z\":[7]}");
  CHECK(json.entries == 3);
  CHECK(json.problems.count() == 2);
  REQUIRE(json.problems.size() == 2);
  CHECK(json.problems[0].message == fault.message);
  CHECK(json.problems[0].code == ErrorCode::kBadJson);
  CHECK_FALSE(json.problems[0].path.empty());
  CHECK(json.problems[1].message == "line 3, column 7: z: a frame that is not a string");
  CHECK(json.ops.size() == 1);
  CHECK(json.frames.empty());
}

TEST_CASE("text that is not an object is refused with its place, and so is a stack.json cut anywhere") {
  const auto refusal = [](const std::string& text) {
    const auto result = try_stack(text);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::kBadJson);
    CHECK(result.error().offset <= text.size());
    return result.error().message;
  };
  CHECK(refusal("[]") == "line 1, column 1: expected '{'");
  CHECK(refusal("{}\n{}") == "line 2, column 1: more text after the object");
  CHECK(refusal("{\"a\":[\n\"b\\q\"]}").starts_with("line 2, column "));
  const std::string text = R"({"0": [["a"], [)" + frame("/net.py", 7, "a + b") + R"(]], "1": [["b"], []]})";
  CHECK(read_stack(text).ops.size() == 2);
  for (size_t length = 0; length < text.size(); ++length) {
    INFO(length);
    refusal(text.substr(0, length));
  }
}

TEST_CASE("limits hold against a stack.json made to exhaust memory") {
  const std::string text = R"({"a":[)" + frame("/net.py", 7, "a + b") + R"(],"b":[)" + frame("/net.py", 8, "c") + "]}";
  const auto too_large = [](const Result<StackJson>& result) {
    return !result && result.error().code == ErrorCode::kTooLarge;
  };
  CHECK(too_large(try_stack(text, {.text = text.size() - 1})));
  CHECK(try_stack(text, {.text = text.size()}));
  CHECK(too_large(try_stack(text, {.kept = 200})));
  CHECK(try_stack(text, {.kept = 1000}));
  const auto entry = try_stack(text, {.entry = 45});
  REQUIRE(entry);
  CHECK(entry->ops.size() == 1);
  REQUIRE(entry->problems.size() == 1);
  CHECK(entry->problems[0].code == ErrorCode::kTooLarge);
  CHECK(entry->problems[0].message.starts_with("line 1, column 6: a: takes "));
  const StackJson deep = read_stack("{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}");
  REQUIRE(deep.problems.size() == 1);
  CHECK(deep.problems[0].message == "line 1, column 6: a: nested deeper than 90");
}

}  // namespace
}  // namespace msdump
