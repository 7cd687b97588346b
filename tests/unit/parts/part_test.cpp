// Parts as files, and sets of them: complete, of one run, each once.
#include "parts/part_file.h"

#include "kernels/digest/digest.h"
#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

using Facts = std::map<FactKey, std::string>;
constexpr FactKey kFirst{FactKind::kStatistics, 3, 0}, kSecond{FactKind::kPair, 1, 70000};

PartHeader header_of(uint32_t index = 1, uint32_t count = 2) {
  return {"1.2", "stats", {index, count}, "digest", 9, {"--columns=max", "--", "a b"}};
}

std::string text_of(const PartHeader& header, const Facts& facts = {{kFirst, "one"}, {kSecond, ""}}) {
  return part_text(header, facts);
}

Error error_of(std::string_view text) {
  const auto part = read_part(text, "p");
  REQUIRE_FALSE(part);
  CHECK(part.error().path == "p");
  return part.error();
}

TEST_CASE("A part is read as it was written") {
  PartHeader header = header_of();
  header.options = {"--op=100%\n\x01", "-- x", ""};
  header.problems = {"dump/rank_1: cannot open the directory", "two\nlines"};
  const std::string text = text_of(header);
  const auto part = read_part(text, "p");
  REQUIRE(part);
  CHECK(part->header.version == "1.2");
  CHECK(part->header.command == "stats");
  CHECK(part->header.shard == Shard{1, 2});
  CHECK(part->header.inputs == "digest");
  CHECK(part->header.units == 9);
  CHECK(part->header.options == header.options);
  CHECK(part->header.problems == header.problems);
  REQUIRE(part->facts.size() == 2);
  CHECK(part->facts[0] == std::pair(kFirst, std::string_view("one")));
  CHECK(part->facts[1] == std::pair(kSecond, std::string_view()));
}

TEST_CASE("What is meant to be a part is known by its first bytes") {
  CHECK(looks_like_part(text_of(header_of())));
  CHECK(looks_like_part("msdump-part 2"));  // of another version
  for (const char* const other : {"", "msdump-par", "MSDUMP-PART 1", "a msdump-part 1"})
    CHECK_FALSE(looks_like_part(other));
}

TEST_CASE("Of parts of two dumps that is named which could not be read whole, whichever comes first") {
  const test::ScratchDir scratch;
  PartHeader whole = header_of(1), cut = header_of(2);
  cut.inputs = "of fewer files";
  cut.problems = {"dump/rank_1: cannot open the directory: Permission denied"};
  const std::string one = scratch.write("one", text_of(whole)), two = scratch.write("two", text_of(cut));
  for (const auto& paths : {std::vector{one, two}, std::vector{two, one}}) {
    const auto set = PartSet::read(paths, "1.2");
    REQUIRE_FALSE(set);
    CHECK(set.error().path == two);
    CHECK(set.error().message ==
          "is of a dump that could not be read whole: dump/rank_1: cannot open the directory: Permission denied");
  }
}

TEST_CASE("The first lines are text") {
  CHECK(text_of(header_of())
            .starts_with("msdump-part 1\nversion 1.2\ncommand stats\nshard 1/2\ninputs digest\nunits 9\nfacts 2\n"
                         "option --columns=max\noption --\noption a b\n\n"));
}

TEST_CASE("A part that was cut, or has another byte, is refused wherever that is") {
  const std::string text = text_of(header_of());
  for (size_t length = 0; length < text.size(); ++length) {
    CAPTURE(length);
    const Error error = error_of(std::string_view(text).substr(0, length));
    CHECK((error.code == ErrorCode::kTruncated || error.code == ErrorCode::kBadHeader));
  }
  for (size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    CAPTURE(at);
    (void)error_of(damaged);
  }
  CHECK(error_of(text + "x").code == ErrorCode::kTruncated);
}

TEST_CASE("Another file is no part, and one of a later format says so") {
  CHECK(error_of("").message.find("begins otherwise") != std::string::npos);
  CHECK(error_of("a,b\n1,2\n").code == ErrorCode::kBadHeader);
  std::string later = text_of(header_of());
  later.replace(later.find(" 1\n"), 3, " 2\n");
  CHECK(error_of(later).message.find("format 2") != std::string::npos);
}

// The text with the last line that belongs to it.
std::string with_end(std::string text, int facts) {
  const auto digest = kernels::hex(kernels::sha1(std::as_bytes(std::span(text.data(), text.size()))));
  return text + fmt::format("end {} {}\n", facts, digest);
}

TEST_CASE("An escape that is cut, and facts that are none, are refused though the digest is right") {
  const std::string head = "msdump-part 1\nversion 1\ncommand c\nshard 1/1\ninputs x\nunits 1\nfacts 1\n";
  for (const std::string_view escape : {"%", "%4", "%G1", "%1g"}) {
    CAPTURE(escape);
    const Error error = error_of(with_end(fmt::format("{}option a{}\n\n", head, escape), 1));
    CHECK(error.message.find("an option cannot be read") != std::string::npos);
  }
  const Error error = error_of(with_end(head + "\n\x09", 1));
  CHECK(error.message.find("its facts cannot be read") != std::string::npos);
  CHECK(error.offset.value_or(0) >= head.size() + 1);
}

TEST_CASE("A line that is missing, is another, or has no number is named") {
  const std::vector<std::string> lines = {"msdump-part 1", "version 1", "command c", "shard 1/1",
                                          "inputs x",      "units 1",   "facts 0",   ""};
  const auto with = [&](size_t changed, const std::string& line) {
    std::string text;
    for (size_t i = 0; i < lines.size(); ++i) text += (i == changed ? line : lines[i]) + "\n";
    return with_end(text, 0);
  };
  REQUIRE(read_part(with(lines.size(), ""), "p"));
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    const std::string word = lines[i].substr(0, lines[i].find(' '));
    CAPTURE(word);
    CHECK(error_of(with(i, "other 1")).message.find(fmt::format("no line '{}'", word)) != std::string::npos);
    CHECK(error_of(with(i, word)).message.find(fmt::format("no line '{}'", word)) != std::string::npos);
  }
  CHECK(error_of(with(5, "units x")).message.find("line 'units' without a number") != std::string::npos);
  CHECK(error_of(with(6, "facts -1")).message.find("line 'facts' without a number") != std::string::npos);
  CHECK(error_of(with(3, "shard 2/1")).code == ErrorCode::kUsage);
  CHECK(error_of(with(7, "more")).message.find("its first lines do not end") != std::string::npos);
  CHECK(error_of(with(6, "facts 1")).code == ErrorCode::kTruncated);  // the last line says 0
}

TEST_CASE("Facts come in ascending order, each once, and are of known kinds") {
  const std::string head = "msdump-part 1\nversion 1\ncommand c\nshard 1/1\ninputs x\nunits 1\nfacts 2\n\n";
  const auto fact = [](int kind, int first, int second) {
    return std::string{static_cast<char>(kind), static_cast<char>(first), static_cast<char>(second), '\0'};
  };
  const auto is_read = [&](const std::string& facts) { return read_part(with_end(head + facts, 2), "p").has_value(); };
  CHECK(is_read(fact(1, 2, 3) + fact(1, 2, 4)));
  CHECK(is_read(fact(1, 2, 3) + fact(3, 0, 0)));
  CHECK(is_read(fact(3, 2, 3) + fact(4, 0, 0)));
  CHECK_FALSE(is_read(fact(1, 2, 3) + fact(1, 2, 3)));
  CHECK_FALSE(is_read(fact(1, 2, 4) + fact(1, 2, 3)));
  CHECK_FALSE(is_read(fact(3, 0, 0) + fact(1, 9, 9)));
  CHECK_FALSE(is_read(fact(0, 0, 0) + fact(1, 0, 0)));
  CHECK_FALSE(is_read(fact(1, 0, 0) + fact(2, 0, 0)));
  CHECK_FALSE(is_read(fact(1, 0, 0)));
  CHECK_FALSE(is_read(fact(1, 0, 0) + fact(1, 0, 1) + fact(1, 0, 2)));
}

TEST_CASE("A fact that is kept twice is the later one") {
  KeptFacts facts;
  facts.keep(kFirst, "old");
  facts.keep(kFirst, "new");
  CHECK(facts.facts() == Facts{{kFirst, "new"}});
  CHECK_FALSE(facts.find(kFirst));  // a shard finds out everything itself
}

class Parts {
 public:
  std::string write(const std::string& name, const PartHeader& header, const Facts& facts = {}) {
    return scratch_.write(name, part_text(header, facts));
  }
  [[nodiscard]] std::string file(const std::string& name) const { return scratch_.file(name); }
  [[nodiscard]] const test::ScratchDir& scratch() const { return scratch_; }

 private:
  test::ScratchDir scratch_;
};

TEST_CASE("A set has the facts of all parts") {
  Parts parts;
  const auto set = PartSet::read(
      {parts.write("2", header_of(2), {{kSecond, "two"}}), parts.write("1", header_of(1), {{kFirst, "one"}})}, "1.2");
  REQUIRE(set);
  CHECK(set->find(kFirst) == "one");
  CHECK(set->find(kSecond) == "two");
  CHECK_FALSE(set->find({FactKind::kStatistics, 3, 1}));
  CHECK(set->header().command == "stats");
  CHECK(set->facts() == 2);
}

TEST_CASE("A set that is not whole, or not of one run, is refused by the name of its part") {
  Parts parts;
  const std::string first = parts.write("1", header_of(1));
  const auto refused = [&](const std::vector<std::string>& paths, const std::string& version = "1.2") {
    auto set = PartSet::read(paths, version);
    REQUIRE_FALSE(set);
    return set.error();
  };
  const auto with = [&](const auto& change) {
    PartHeader header = header_of(2);
    change(header);
    return refused({first, parts.write("2", header)});
  };
  CHECK(refused({}).message == "no parts are given");
  CHECK(refused({first}).message.find("2/2 is missing") != std::string::npos);
  CHECK(refused({parts.write("20", header_of(2, 20))}).message.find("10/20, 11/20") == std::string::npos);
  CHECK(refused({parts.write("20", header_of(2, 20))}).message.find("and 11 more are missing") != std::string::npos);
  CHECK(refused({parts.write("of 3", header_of(2, 3))}).message.find("1/3, 3/3 are missing") != std::string::npos);
  const Error twice = refused({first, parts.write("again", header_of(1))});
  CHECK(twice.path == parts.file("again"));
  CHECK(twice.message == "is part 1/2, like " + first);
  CHECK(refused({first}, "1.3").message == "was made by msdump 1.2, and this is 1.3");
  CHECK(with([](PartHeader& one) { one.command = "check"; }).message.find("command check") != std::string::npos);
  CHECK(with([](PartHeader& one) { one.shard.count = 3; }).message.find("N 3") != std::string::npos);
  CHECK(with([](PartHeader& one) { one.options.pop_back(); }).message.find("options") != std::string::npos);
  CHECK(with([](PartHeader& one) { one.inputs = "other"; }).message.find("other") != std::string::npos);
  CHECK(with([](PartHeader& one) { ++one.units; }).path == parts.file("2"));
  CHECK(refused({parts.file("none")}).code == ErrorCode::kNotFound);
  CHECK(refused({first, parts.scratch().write("cut", "msdump-part 1\n")}).path == parts.file("cut"));
}

TEST_CASE("Work is done once: where its result is known, it is not done") {
  KeptFacts kept;
  int done = 0;
  const auto work = [&]() -> Result<uint64_t> { return ++done; };
  CHECK(recorded<uint64_t>(nullptr, kFirst, work) == 1U);
  CHECK(recorded<uint64_t>(&kept, kFirst, work) == 2U);
  const auto failing = [&]() -> Result<uint64_t> { return fail(ErrorCode::kTruncated, "cut"); };
  CHECK_FALSE(recorded<uint64_t>(&kept, kSecond, failing));
  const auto interrupted = [&]() -> Result<uint64_t> { return fail(ErrorCode::kCancelled, "interrupted"); };
  CHECK_FALSE(recorded<uint64_t>(&kept, {FactKind::kPair, 9, 9}, interrupted));
  Parts parts;
  PartHeader header = header_of(1, 1);
  auto set = PartSet::read({parts.write("1", header, kept.facts())}, "1.2");
  REQUIRE(set);
  CHECK(recorded<uint64_t>(&*set, kFirst, work) == 2U);
  CHECK(done == 2);
  CHECK(recorded<uint64_t>(&*set, kSecond, work).error().message == "cut");
  CHECK(recorded<uint64_t>(&*set, {FactKind::kPair, 9, 9}, work) == 3U);
}

}  // namespace
}  // namespace msdump
