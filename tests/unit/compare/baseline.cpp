#include "compare/accept/baseline.h"

#include <limits>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

TensorKey key_of(const std::string& name, std::optional<int64_t> step = 1, const std::string& slot = "0") {
  TensorKey key;
  key.rank = 0;
  key.step = step;
  key.op_name = name;
  key.slot = slot;
  return key;
}

TensorDiff differing(double relative_l2, double max_abs, uint64_t mismatches = 0) {
  TensorDiff diff;
  diff.verdict = mismatches > 0 ? Verdict::kNan : Verdict::kDiffer;
  kernels::PairMetrics metrics;
  metrics.relative_l2 = relative_l2;
  metrics.max_abs = max_abs;
  metrics.nan_mismatch = mismatches;
  diff.metrics = metrics;
  return diff;
}

TensorDiff without_metrics(Verdict verdict) {
  TensorDiff diff;
  diff.verdict = verdict;
  return diff;
}

Baseline again(const Baseline& baseline) {
  auto read = Baseline::parse(baseline.text().value());
  if (!read) FAIL(read.error().message);
  return std::move(*read);
}

TEST_CASE("a baseline is a line for each difference, sorted, with numbers rounded up") {
  Baseline baseline;
  baseline.add(key_of("b"), differing(0.01234, 1.5));
  baseline.add(key_of("a", 2), without_metrics(Verdict::kShape));
  baseline.add(key_of("a", std::nullopt, "0.1"), differing(std::numeric_limits<double>::infinity(), 2, 3));
  baseline.add(key_of("c"), without_metrics(Verdict::kSame));
  baseline.add(key_of("c"), without_metrics(Verdict::kClose));
  baseline.add(key_of("c"), without_metrics(Verdict::kSkipped));
  const std::string expected =
      R"({"schema": 1, "command": "diff-baseline", "accepted": [
{"rank":0,"graph":null,"step":null,"op_name":"a","io":"output","slot":"0.1","occurrence":0,"verdict":"nan","relative_l2":"inf","max_abs":2.0,"mismatches":3},
{"rank":0,"graph":null,"step":1,"op_name":"b","io":"output","slot":0,"occurrence":0,"verdict":"differ","relative_l2":0.0124,"max_abs":1.5,"mismatches":0},
{"rank":0,"graph":null,"step":2,"op_name":"a","io":"output","slot":0,"occurrence":0,"verdict":"shape","relative_l2":null,"max_abs":null,"mismatches":0}
]}
)";
  CHECK(baseline.text().value() == expected);
  CHECK(again(baseline).text().value() == expected);
}

TEST_CASE("a baseline says what it was made of, and is stale where that has changed") {
  Baseline baseline;
  BaselineOrigin then{"0.1.0",
                      {{"MindSpore 2.9.0", "tensors, float32", 2, 12, "abc", "data_dump.json 12ab"},
                       {"", "tensors, float32", 1, 12, "abc", ""}}};
  baseline.set_origin(then);
  baseline.add(key_of("b"), differing(0.01, 1));
  const std::optional<BaselineOrigin> read = again(baseline).origin();
  REQUIRE(read);
  CHECK(again(baseline).text().value() == baseline.text().value());
  CHECK(read->sides.a.writer == "MindSpore 2.9.0");
  CHECK(read->sides.b.operators == 12);
  CHECK(read->sides.a.configuration == "data_dump.json 12ab");
  CHECK(read->sides.b.configuration.empty());
  BaselineOrigin now = then;
  now.version = "9";
  now.sides.b.writer = "msprobe 1";   // it was not known
  now.sides.a.graph = "candidate's";  // it is what is tested
  now.sides.a.configuration = "";     // it is not known any more
  CHECK(why_stale(*read, now).empty());
  now.sides.a.writer = "MindSpore 2.10.0";
  CHECK(why_stale(*read, now) == "writer of the candidate: MindSpore 2.9.0 then, MindSpore 2.10.0 now");
  now = then;
  now.sides.b = {"", "tensors, bfloat16", 4, 13, "def", "config.json 1"};
  CHECK(
      why_stale(*read, now) ==
      "content of the reference: tensors, float32 then, tensors, bfloat16 now; ranks of the reference: 1 then, 4 now; "
      "operators of the reference: 12 then, 13 now");
  now = then;
  now.sides.a.configuration = "data_dump.json 34cd";
  CHECK(why_stale(*read, now) == "configuration of the candidate: data_dump.json 12ab then, data_dump.json 34cd now");
  now = then;
  now.sides.b = {};
  CHECK(why_stale(*read, now).empty());
  now.sides.b.graph = "def";
  now.sides.b.operators = 12;
  CHECK(why_stale(*read, now) == "operators of the reference: 12 then, as many others now");
}

TEST_CASE("what a baseline was made of may be missing, and must be what it is") {
  const auto parse = [](const std::string& made_of) {
    return Baseline::parse(R"({"schema": 1, "made_of": )" + made_of + R"(, "accepted": []})");
  };
  REQUIRE(parse("{}"));
  CHECK(parse("{}")->origin()->sides.a.writer.empty());
  CHECK(parse(R"({"version": null, "candidate": {"ranks": null, "more": 1}})"));
  for (const char* const bad : {"3", "null", R"({"version": 1})", R"({"candidate": []})",
                                R"({"reference": {"ranks": -1}})", R"({"reference": {"graph": {}}})"}) {
    CAPTURE(bad);
    const auto read = parse(bad);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::kBadJson);
  }
  CHECK_FALSE(Baseline::parse(R"({"schema": 1, "accepted": []})")->origin());
}

TEST_CASE("a difference is accepted that is no larger than the one recorded, give or take a percent") {
  Baseline baseline;
  baseline.add(key_of("a"), differing(0.1, 2));
  baseline = again(baseline);
  CHECK(baseline.accepts(key_of("a"), differing(0.1, 2)));
  CHECK(baseline.accepts(key_of("a"), differing(0.1009, 2.019)));
  CHECK(baseline.accepts(key_of("a"), differing(0, 0)));
  CHECK_FALSE(baseline.accepts(key_of("a"), differing(0.102, 2)));
  CHECK_FALSE(baseline.accepts(key_of("a"), differing(0.1, 2.03)));
  CHECK_FALSE(baseline.accepts(key_of("a"), differing(0.1, 2, 1)));
  CHECK_FALSE(baseline.accepts(key_of("a"), without_metrics(Verdict::kShape)));
  CHECK_FALSE(baseline.accepts(key_of("b"), differing(0.1, 2)));
  CHECK_FALSE(baseline.accepts(key_of("a", 2), differing(0.1, 2)));
  CHECK_FALSE(baseline.accepts(key_of("a", 1, "1"), differing(0.1, 2)));
  TensorKey other = key_of("a");
  other.occurrence = 1;
  CHECK_FALSE(baseline.accepts(other, differing(0.1, 2)));
  other = key_of("a");
  other.io = Io::kInput;
  CHECK_FALSE(baseline.accepts(other, differing(0.1, 2)));
}

TEST_CASE("more mismatches than recorded are not accepted, and other shapes are") {
  Baseline baseline;
  baseline.add(key_of("nan"), differing(0, 0, 10));
  baseline.add(key_of("shape"), without_metrics(Verdict::kShape));
  baseline.add(key_of("alone"), without_metrics(Verdict::kUnmatched));
  CHECK(baseline.accepts(key_of("nan"), differing(0, 0, 10)));
  CHECK(baseline.accepts(key_of("nan"), differing(0, 0, 2)));
  CHECK_FALSE(baseline.accepts(key_of("nan"), differing(0, 0, 11)));
  CHECK(baseline.accepts(key_of("shape"), without_metrics(Verdict::kShape)));
  CHECK(baseline.accepts(key_of("alone"), without_metrics(Verdict::kUnmatched)));
}

// Of statistics: how far they are apart is in relative_error alone.
TensorDiff by_statistics(double error, uint64_t nan_a = 0, uint64_t nan_b = 0) {
  TensorDiff diff;
  diff.verdict = nan_a == nan_b ? Verdict::kDiffer : Verdict::kNan;
  diff.by_statistics = diff.nan_counted_a = diff.nan_counted_b = true;
  diff.relative_error = error;
  kernels::PairMetrics metrics;
  metrics.nan_a = nan_a;
  metrics.nan_b = nan_b;
  diff.metrics = metrics;
  return diff;
}

TEST_CASE("a difference between statistics that has grown is not accepted") {
  Baseline baseline;
  baseline.add(key_of("a"), by_statistics(0.1));
  baseline.add(key_of("nan"), by_statistics(0, 3, 7));
  CHECK(baseline.text()->find("\"relative_l2\":0.1,\"max_abs\":null,\"mismatches\":0") != std::string::npos);
  baseline = again(baseline);
  CHECK(baseline.accepts(key_of("a"), by_statistics(0.1)));
  CHECK(baseline.accepts(key_of("a"), by_statistics(0.05)));
  CHECK_FALSE(baseline.accepts(key_of("a"), by_statistics(0.2)));
  CHECK(baseline.accepts(key_of("nan"), by_statistics(0, 7, 3)));
  CHECK_FALSE(baseline.accepts(key_of("nan"), by_statistics(0, 3, 8)));
  TensorDiff uncounted = by_statistics(0, 3, 8);
  uncounted.nan_counted_b = false;
  CHECK(baseline.accepts(key_of("nan"), uncounted));
}

TEST_CASE("what has accepted nothing is unused") {
  Baseline baseline;
  for (const char* name : {"gone", "grown", "there"}) baseline.add(key_of(name), differing(0.1, 2));
  CHECK(baseline.unused().size() == 3);
  CHECK(baseline.accepts(key_of("there"), differing(0.1, 2)));
  CHECK_FALSE(baseline.accepts(key_of("grown"), differing(0.2, 2)));
  const auto unused = baseline.unused();
  REQUIRE(unused.size() == 2);
  CHECK(unused[0]->op_name == "gone");
  CHECK(unused[1]->op_name == "grown");
}

TEST_CASE("any name and slot comes back from the file") {
  const test::ScratchDir scratch;
  for (const std::string& name :
       {std::string("\xFF\xED\xB2\x80x"), std::string("a\"b\\c\n\x01"), std::string("\xE7\xBD\x91"), std::string()}) {
    Baseline baseline;
    baseline.add(key_of(name, 1, "0" + name), differing(0.1, 2));
    REQUIRE(baseline.write(scratch.file("b.json")));
    auto read = Baseline::read(scratch.file("b.json"));
    REQUIRE(read);
    CHECK(read->accepts(key_of(name, 1, "0" + name), differing(0.1, 2)));
  }
}

std::string baseline_error(const std::string& text) {
  const auto baseline = Baseline::parse(text);
  if (baseline) return "none";
  return baseline.error().message + (baseline.error().hint.empty() ? "" : "; " + baseline.error().hint);
}

TEST_CASE("a file that is not a baseline is refused with line and column") {
  const std::string good =
      R"({"rank":0,"graph":null,"step":1,"op_name":"b","io":"output","slot":0,"occurrence":0,"verdict":"differ",)"
      R"("relative_l2":0.1,"max_abs":1.5,"mismatches":0,"note":"seen by Li"})";
  const auto file = [](const std::string& item) { return "{\"schema\":1,\"accepted\":[\n" + item + "]}"; };
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string item = good;
    item.replace(item.find(from), from.size(), to);
    return baseline_error(file(item));
  };
  CHECK(baseline_error(file(good)) == "none");
  CHECK(baseline_error(file("")) == "none");
  CHECK(baseline_error(file(good + ",\n" + good)) == "line 3, column 1: a second entry for this tensor of b");
  CHECK(baseline_error("[]") == "line 1, column 1: expected an object");
  CHECK(baseline_error("{") != "none");
  CHECK(baseline_error(R"({"schema":2,"accepted":[]})") == "line 1, column 11: unknown schema; 1 is expected");
  CHECK(baseline_error(R"({"schema":1})") == "line 1, column 1: 'accepted' is missing");
  CHECK(baseline_error(R"({"schema":1,"accepted":{}})") ==
        "line 1, column 24: expected a list of accepted differences");
  CHECK(baseline_error(file("7")) == "line 2, column 1: expected an object");
  CHECK(with("\"rank\":0,", "") == "line 2, column 1: 'rank' is missing");
  CHECK(with("\"rank\":0", "\"rank\":0.5") == "line 2, column 9: rank is not an integer");
  CHECK(with("\"b\"", "1").ends_with("op_name is not a text"));
  CHECK(with("output", "outptu").ends_with("'outptu' is not a valid io of a difference; did you mean 'output'?"));
  CHECK(with("differ\"", "same\"").ends_with("'same' is not a valid verdict of a difference"));
  CHECK(with("\"slot\":0", "\"slot\":[]").ends_with("slot is neither a number nor a text"));
  CHECK(with("\"occurrence\":0", "\"occurrence\":-1").ends_with("occurrence is not a number from 0 to 4294967295"));
  CHECK(with("0.1", "-0.1").ends_with("relative_l2 is not a number of 0 or more"));
  CHECK(with("1.5", "NaN").ends_with("max_abs is not a number of 0 or more"));
  CHECK(with("1.5", "\"inf\"") == "none");
  CHECK(with("\"mismatches\":0", "\"mismatches\":null")
            .ends_with("mismatches is not a number from 0 to 9223372036854775807"));
}

TEST_CASE("a baseline has a largest size") {
  Baseline many;
  for (int i = 0; i <= 100'000; ++i) many.add(key_of(std::to_string(i)), without_metrics(Verdict::kUnmatched));
  CHECK(many.text().error().code == ErrorCode::kTooLarge);
  const test::ScratchDir scratch;
  CHECK(many.write(scratch.file("b")).error().path == scratch.file("b"));
  CHECK_FALSE(scratch.exists("b"));
  CHECK(Baseline::read(scratch.write("large", std::string((32 << 20) + 1, ' '))).error().code == ErrorCode::kTooLarge);
  CHECK(Baseline::parse("[" + std::string(2'000'000, ',') + "]").error().code == ErrorCode::kTooLarge);
  CHECK_FALSE(Baseline::read(scratch.file("none")));
}

}  // namespace
}  // namespace msdump
