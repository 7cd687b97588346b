#include "torch/pickle.h"

#include "support/catch.h"
#include "support/pt_builder.h"

using namespace msdump;
using namespace msdump::torch;
using namespace std::string_literals;
namespace build = msdump::test::pickle;

namespace {

struct Parsed {
  std::string bytes;
  Result<Pickle> pickle = tl::unexpected(Error{});

  [[nodiscard]] const PickleValue& root() const { return (*pickle)[pickle->root]; }
  [[nodiscard]] const PickleValue& item(const PickleValue& of, size_t i) const { return (*pickle)[of.items[i]]; }
};

std::unique_ptr<Parsed> parse(std::string opcodes) {
  auto parsed = std::make_unique<Parsed>();
  parsed->bytes = build::whole(opcodes);
  parsed->pickle = parse_pickle(std::as_bytes(std::span(parsed->bytes)), 100);
  INFO((parsed->pickle ? "" : parsed->pickle.error().message));
  REQUIRE(parsed->pickle);
  return parsed;
}

int64_t number(const std::string& opcodes) {
  const auto parsed = parse(opcodes);
  REQUIRE(parsed->root().kind == PickleKind::kInt);
  return parsed->root().number;
}

PickleKind kind(const std::string& opcodes) { return parse(opcodes)->root().kind; }

std::string text(const std::string& opcodes) {
  const auto parsed = parse(opcodes);
  REQUIRE(parsed->root().kind == PickleKind::kText);
  return std::string(parsed->root().text);
}

Error refused(const std::string& bytes) {
  auto pickle = parse_pickle(std::as_bytes(std::span(bytes)), 100);
  REQUIRE_FALSE(pickle);
  return std::move(pickle).error();
}

}  // namespace

TEST_CASE("Pickled integers of every width") {
  CHECK(number("K\xff") == 255);
  CHECK(number("M\x34\x12") == 0x1234);
  CHECK(number("J\xfe\xff\xff\xff") == -2);
  CHECK(number("\x8a\x00"s) == 0);
  CHECK(number("\x8a\x01\xff") == -1);
  CHECK(number("\x8a\x02\xff\x00"s) == 255);
  CHECK(number("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80"s) == INT64_MIN);
  CHECK(kind("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01"s) == PickleKind::kOther);
}

TEST_CASE("Pickled texts, bytes and other scalars") {
  CHECK(text("X\x02\x00\x00\x00hi"s) == "hi");
  CHECK(text("\x8c\x02hi") == "hi");
  CHECK(text("\x8d\x02\x00\x00\x00\x00\x00\x00\x00hi"s) == "hi");
  CHECK(text("U\x02hi") == "hi");
  CHECK(text("T\x02\x00\x00\x00hi"s) == "hi");
  CHECK(kind("U\x01\xff") == PickleKind::kOther);
  CHECK(kind("C\x01\xff") == PickleKind::kOther);
  CHECK(kind("B\x01\x00\x00\x00\xff"s) == PickleKind::kOther);
  CHECK(kind("\x8e\x01\x00\x00\x00\x00\x00\x00\x00\xff"s) == PickleKind::kOther);
  CHECK(kind(build::real(1.5)) == PickleKind::kOther);
  CHECK(kind("N") == PickleKind::kNone);
  CHECK(parse("\x88")->root().number == 1);
  CHECK(parse("\x89")->root().kind == PickleKind::kBool);
}

TEST_CASE("Pickled containers keep their items in order") {
  for (const std::string& opcodes : {"(K\x01K\x02K\x03t"s, "K\x01K\x02K\x03\x87"s,
                                     "](K\x01K\x02K\x03"
                                     "e"s,
                                     "]K\x01"
                                     "aK\x02"
                                     "aK\x03"
                                     "a"s,
                                     "(K\x01K\x02K\x03l"s, "\x8f(K\x01K\x02K\x03\x90"s, "(K\x01K\x02K\x03\x91"s}) {
    const auto parsed = parse(opcodes);
    REQUIRE(parsed->root().items.size() == 3);
    for (size_t i = 0; i < 3; ++i) CHECK(parsed->item(parsed->root(), i).number == static_cast<int64_t>(i) + 1);
  }
  CHECK(kind(")") == PickleKind::kTuple);
  CHECK(kind("]") == PickleKind::kList);
  CHECK(kind("\x8f") == PickleKind::kSet);
}

TEST_CASE("A pickled dict is its keys and values in turn, however it is written") {
  for (const std::string& opcodes : {"}K\x01Ns"s, "}(K\x01Nu"s, "(K\x01Nd"s}) {
    const auto parsed = parse(opcodes);
    CHECK(parsed->root().kind == PickleKind::kDict);
    REQUIRE(parsed->root().items.size() == 2);
    CHECK(parsed->item(parsed->root(), 0).number == 1);
    CHECK(parsed->item(parsed->root(), 1).kind == PickleKind::kNone);
  }
}

TEST_CASE("The memo gives the same value again") {
  for (const std::string& opcodes :
       {"]q\x05h\x05\x86"s, "]r\x05\x00\x00\x00j\x05\x00\x00\x00\x86"s, "]\x94h\x00\x86"s, "]2\x86"s}) {
    const auto parsed = parse(opcodes);
    REQUIRE(parsed->root().items.size() == 2);
    CHECK(parsed->root().items[0] == parsed->root().items[1]);
  }
}

TEST_CASE("A call is a name with arguments, and what is put into it afterwards") {
  const auto parsed = parse(build::ordered_dict({{build::text("a"), build::integer(7)}}) + "}b");
  const PickleValue& call = parsed->root();
  REQUIRE(call.kind == PickleKind::kCall);
  CHECK(parsed->pickle->global_of((*parsed->pickle)[call.callable]) == "collections.OrderedDict");
  CHECK((*parsed->pickle)[call.argument].items.empty());
  REQUIRE(call.items.size() == 2);
  CHECK(parsed->item(call, 1).number == 7);
  REQUIRE(call.state != 0);
  CHECK((*parsed->pickle)[call.state].kind == PickleKind::kDict);
}

TEST_CASE("A persistent id keeps what it stands for") {
  const auto parsed = parse("K\x07Q");
  REQUIRE(parsed->root().kind == PickleKind::kPersistent);
  CHECK((*parsed->pickle)[parsed->root().argument].number == 7);
}

TEST_CASE("Names are kept once, from both opcodes") {
  const auto parsed = parse(
      "ctorch\nFloatStorage\n\x8c\x05torch\x8c\x0c"
      "FloatStorage\x93\x86");
  CHECK(parsed->pickle->globals == std::vector<std::string>{"torch.FloatStorage"});
  CHECK(parsed->item(parsed->root(), 1).kind == PickleKind::kGlobal);
}

TEST_CASE("A pickle has at most a hundred different names, each as often as it likes") {
  const auto names = [](int count) {
    std::string opcodes = "(";
    for (int i = 0; i < count; ++i) opcodes += "cmodule\nname" + std::to_string(i) + "\ncmodule\nname0\n";
    const std::string bytes = build::whole(opcodes + "t");
    return parse_pickle(std::as_bytes(std::span(bytes)), 0);
  };
  const auto most = names(100);
  REQUIRE(most);
  CHECK(most->globals.size() == 100);
  CHECK(names(101).error().message == "damaged pickle: too many different names");
}

TEST_CASE("Frames and protocols up to 5 are stepped over, and POP takes a value or a mark") {
  CHECK(number("\x95\x02\x00\x00\x00\x00\x00\x00\x00K\x07"s) == 7);
  CHECK(number("\x80\x05K\x07") == 7);
  CHECK(number("K\x07N0") == 7);
  CHECK(number("K\x07(0") == 7);
  CHECK(number("K\x07(NN1") == 7);
}

TEST_CASE("A call of the result of a call has the name of the first") {
  const auto parsed = parse(build::call(build::call(build::global("builtins", "getattr"), {}), {build::integer(7)}));
  REQUIRE(parsed->root().kind == PickleKind::kCall);
  CHECK(parsed->pickle->global_of((*parsed->pickle)[parsed->root().callable]) == "builtins.getattr");
  CHECK(parsed->item((*parsed->pickle)[parsed->root().argument], 0).number == 7);
}

TEST_CASE("A name of a module or in it has at most 200 bytes") {
  const auto refusal = [](const std::string& opcodes) {
    const std::string bytes = build::whole(opcodes);
    const auto pickle = parse_pickle(std::as_bytes(std::span(bytes)), 0);
    return pickle ? "none" : pickle.error().message;
  };
  const std::string longest(200, 'n');
  CHECK(refusal("c" + longest + "\n" + longest + "\n") == "none");
  CHECK(refusal(build::text(longest) + build::text(longest) + "\x93") == "none");
  CHECK(refusal(build::text(longest + "n") + build::text("x") + "\x93") == "damaged pickle: a name that is too long");
  CHECK(refusal(build::text("x") + build::text(longest + "n") + "\x93") == "damaged pickle: a name that is too long");
  CHECK(refused(build::whole("c" + longest + "n\nx\n")).message == "damaged pickle: a name that does not end");
  CHECK(refused(build::whole("cx\n" + longest + "n\n")).message == "damaged pickle: a name that does not end");
}

TEST_CASE("What contradicts itself is damaged, with what is wrong") {
  const auto message = [](const std::string& opcodes) { return refused(build::whole(opcodes)).message; };
  CHECK(message("(K\x01"
                "d") == "damaged pickle: a key without a value");
  CHECK(message("}(K\x01u") == "damaged pickle: a key without a value");
  CHECK(message("](K\x01Nu") == "damaged pickle: items for a value that is not their container");
  CHECK(message("}K\x01"
                "a") == "damaged pickle: items for a value that is not their container");
  CHECK(message("h\x00"s) == "damaged pickle: nothing is memorized there");
  CHECK(message("Nq\x02h\x01") == "damaged pickle: nothing is memorized there");
  CHECK(message("NN") == "damaged pickle: values are left over at its end");
  CHECK(message("N(") == "damaged pickle: a value is missing on the stack");
  CHECK(message("t") == "damaged pickle: a mark is missing on the stack");
  CHECK(message("N\x86") == "damaged pickle: values are missing on the stack");
  CHECK(message("K\x01)R") == "damaged pickle: a call of a value that is not a name");
  CHECK(message("K\x01K\x02\x93") == "damaged pickle: a name that is not a text");
  CHECK(refused("\x80\x01N.").message == "damaged pickle: protocol 1");
  CHECK(refused("\x80\x06N.").message == "damaged pickle: protocol 6");
}

TEST_CASE("A mark protects what is below it") {
  CHECK(refused(build::whole("N(\x85")).code == ErrorCode::kBadHeader);
  CHECK(refused(build::whole("](K\x01"
                             "a"))
            .code == ErrorCode::kBadHeader);
  CHECK(refused(build::whole("N(")).code == ErrorCode::kBadHeader);
}

TEST_CASE("A pickle that ends anywhere before its end is truncated") {
  const std::string whole = build::whole(build::dict({{build::text("a"), build::integers({1, 300, 70000})}}));
  for (size_t size = 0; size < whole.size(); ++size) {
    const Error error = refused(whole.substr(0, size));
    if (error.code != ErrorCode::kTruncated) FAIL_CHECK("cut to " << size << ": " << error.message);
    CHECK(error.offset.value_or(0) >= 100);
  }
}
