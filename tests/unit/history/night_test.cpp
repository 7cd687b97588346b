#include "history/night.h"

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/scratch_dir.h"

namespace msdump::history {
namespace {

std::string row(const std::string& op, const std::string& verdict, const std::string& more) {
  return fmt::format(R"({{"op_name":"{}","io":"output","verdict":"{}",{},"accepted":false,"metrics":{{}}}})", op,
                     verdict, more);
}

std::string document(const std::string& rows, const std::string& summary, const std::string& further = "") {
  return R"({"schema":1,"command":"diff","version":"0.1.0","dumps":["a","b"],"rows":[)" + rows + R"(],"summary":{)" +
         summary + R"(},"failures":[])" + further + "}";
}

const char* const kRed = R"("compared":3,"same":1,"differ":2,"nan":1,"accepted":1,"verdict":"differ","fails":true)";
const char* const kRoot =
    R"(,"first_divergence":[{"op_name":"A/Mul-op1","op_type":"Mul","rank":0,"step":3,"source":{"file":"/x/net.py","line":7,)"
    R"("code":"y"},"decided_by":"computed","confidence":0.95,"reason":"why"},{"op_name":"other"}])";

TEST_CASE("a night has the verdict, the first root and the error of each layer of a document") {
  const std::string rows = row("A/Mul-op1", "differ", R"("measured_error":0.25)") + "," +
                           row("A/Add-op2", "close", R"("measured_error":0.5)") + "," +
                           row("B/Add-op3", "nan", R"("measured_error":null)") + "," +
                           row("C/Add-op4", "same", R"("measured_error":null)") + "," +
                           row("D/Add-op5", "unmatched", R"("measured_error":null)");
  const Result<Night> night = night_of_document(document(rows, kRed, kRoot));
  REQUIRE(night);
  CHECK(night->outcome == Outcome::kRed);
  CHECK(night->exit_code == 1);
  CHECK(night->version == "0.1.0");
  CHECK(night->verdict == "differ");
  CHECK(night->differ == 3);
  CHECK(night->accepted == 1);
  REQUIRE(night->root);
  CHECK(night->root->op_name == "A/Mul-op1");
  CHECK(night->root->file == "/x/net.py");
  CHECK(night->root->line == 7);
  CHECK(night->root->step == 3);
  CHECK(night->root->decided_by == "computed");
  CHECK(night->root->confidence == 0.95);
  REQUIRE(night->scopes.size() == 3);
  CHECK(night->scopes[0].scope == "A");
  CHECK(night->scopes[0].error == 0.5);
  CHECK(night->scopes[0].differ == 1);
  CHECK(std::isinf(night->scopes[1].error));
  CHECK(night->scopes[2].error == 0);
}

TEST_CASE("what is random and what is read do not make the error of a layer; what is accepted is told apart") {
  const std::string rows =
      R"({"op_name":"A/x-op1","io":"output","verdict":"differ","accepted":true,"measured_error":0.25},)"
      R"({"op_name":"A/x-op2","io":"output","verdict":"differ","explained":"random","measured_error":8},)"
      R"({"op_name":"A/x-op3","io":"output","verdict":"differ","explained":"unwritten","measured_error":7},)"
      R"({"op_name":"A/x-op4","io":"input","verdict":"differ","measured_error":6},)"
      R"({"op_name":"A/x-op5","io":"output","verdict":"differ","measured_error":null,"metrics":{"relative_l2":0.5}},)"
      R"({"op_name":"B/x-op6","io":"input","verdict":"differ","measured_error":"inf"})";
  const Result<Night> night = night_of_document(document(rows, kRed));
  REQUIRE(night);
  REQUIRE(night->scopes.size() == 2);
  CHECK(night->scopes[0].error == 0.5);
  CHECK(night->scopes[0].accepted == 0.25);
  CHECK(std::isinf(night->scopes[1].error));  // nothing else is known of B
}

TEST_CASE("layers are joined until there are few enough") {
  std::string rows;
  for (int layer = 0; layer < 40; ++layer) {
    for (const char* const part : {"attention", "mlp"})
      rows += (rows.empty() ? "" : ",") + row(fmt::format("Net/block{}/layer{}/{}/Mul-op1", layer / 4, layer, part),
                                              "differ", fmt::format(R"("measured_error":{})", layer));
  }
  const Result<Night> night = night_of_document(document(rows, kRed));
  REQUIRE(night);
  REQUIRE(night->scopes.size() == 10);
  CHECK(night->scopes[9].scope == "Net/block9");
  CHECK(night->scopes[9].error == 39);
  CHECK(night->scopes[9].differ == 8);
  rows.clear();
  for (int layer = 0; layer < 100; ++layer)
    rows += (rows.empty() ? "" : ",") + row(fmt::format("layer{}/Mul-op1", layer), "differ", R"("measured_error":1)");
  const Result<Night> flat = night_of_document(document(rows, kRed));
  REQUIRE(flat);
  REQUIRE(flat->scopes.size() == kMostScopes);
  CHECK(flat->scopes.back().scope == "(others)");
  CHECK(flat->scopes.back().differ == 69);
}

TEST_CASE("a layer that is called before and after a fault begins where its error does") {
  const std::string rows = row("Functional.linear.0.forward", "same", R"("measured_error":0)") + "," +
                           row("Functional.norm.0.forward", "differ", R"("measured_error":0.5)") + "," +
                           row("Functional.linear.1.forward", "differ", R"("measured_error":0.1)") + "," +
                           row("Functional.linear.2.forward", "differ", R"("measured_error":0.6)") + "," +
                           row("Functional.linear.3.forward", "differ", R"("measured_error":1)");
  const Result<Night> night = night_of_document(document(rows, kRed));
  REQUIRE(night);
  REQUIRE(night->scopes.size() == 2);
  CHECK(night->scopes[0].scope == "Functional.linear");
  CHECK(night->scopes[0].error == 1);
  CHECK(night->scopes[0].first == 3);
  CHECK(night->scopes[1].first == 1);
}

TEST_CASE("the exit code and the outcome of a night are those of diff") {
  const auto night = [](const std::string& summary, const std::string& failures) {
    const Result<Night> read = night_of_document(R"({"command":"diff","rows":[],"summary":{)" + summary +
                                                 R"(},"failures":[)" + failures + "]}");
    REQUIRE(read);
    return std::pair(read->exit_code, read->outcome);
  };
  CHECK(night(R"("compared":3,"verdict":"same","fails":false)", "") == std::pair(int64_t{0}, Outcome::kGreen));
  CHECK(night(R"("compared":3,"verdict":"differ","fails":false)", "") == std::pair(int64_t{0}, Outcome::kGreen));
  CHECK(night(R"("compared":3,"verdict":"differ","fails":true)", "") == std::pair(int64_t{1}, Outcome::kRed));
  CHECK(night(R"("compared":3,"verdict":"differ")", "") == std::pair(int64_t{1}, Outcome::kRed));
  CHECK(night(R"("compared":3,"verdict":"differ","fails":true)", "{}") == std::pair(int64_t{3}, Outcome::kNotJudged));
  CHECK(night(R"("compared":0,"verdict":"differ","fails":true)", "{}") == std::pair(int64_t{2}, Outcome::kNotJudged));
  CHECK(night(R"("compared":0,"verdict":null)", R"({"code":"empty_selection"})") ==
        std::pair(int64_t{1}, Outcome::kNotJudged));
}

TEST_CASE("a document that is cut anywhere is refused, with the place") {
  const std::string text = document(row("A/Mul-op1", "differ", R"("measured_error":0.25)"), kRed, kRoot);
  REQUIRE(night_of_document(text));
  for (size_t size = 0; size < text.size(); ++size) {
    CAPTURE(size);
    const Result<Night> cut = night_of_document(std::string_view(text).substr(0, size));
    REQUIRE_FALSE(cut);
    CHECK(cut.error().code == ErrorCode::kBadJson);
    CHECK(cut.error().offset.value_or(size + 1) <= size);
  }
  CHECK_FALSE(night_of_document(text + "x"));
  const Result<Night> deep = night_of_document(R"({"command":"diff","rows":[)" + std::string(1'000'000, '['));
  REQUIRE_FALSE(deep);
  CHECK_FALSE(night_of_document(std::string(1'000'000, '{')));
  CHECK(night_of_document(R"({"command":"check","rows":[]})").error().code == ErrorCode::kUsage);
  CHECK(night_of_document("{}").error().code == ErrorCode::kUsage);
  // Members of the wrong kind are as good as missing.
  const Result<Night> odd =
      night_of_document(R"({"command":"diff","rows":7,"summary":[],"failures":{},"first_divergence":[3],"version":1})");
  REQUIRE(odd);
  CHECK(odd->outcome == Outcome::kNotJudged);
}

TEST_CASE("brackets, commas and quotes in names end no value") {
  const std::string rows = row(R"(A\"],}{[\\/Mul-op1)", "differ", R"("measured_error":0.25)") + "," +
                           row(R"(B:,/Add-op2)", "differ", R"("measured_error":0.5)");
  const Result<Night> night = night_of_document(document(rows, kRed, kRoot));
  REQUIRE(night);
  REQUIRE(night->scopes.size() == 2);
  CHECK(night->scopes[0].scope == "A\"],}{[\\");
  CHECK(night->scopes[1].error == 0.5);
  CHECK(night->root);
}

TEST_CASE("a line says the same when it is read again, and a line that does not is passed over") {
  const std::string rows =
      row("A/Mul-op1", "differ", R"("measured_error":0.1)") + "," + row("B/x-op2", "nan", R"("measured_error":null)");
  Result<Night> night = night_of_document(document(rows, kRed, kRoot));
  REQUIRE(night);
  night->time = "2026-11-29";
  night->scopes[0].accepted = 0.05;
  night->root->reason = std::string(kMostNameBytes - 1, 'a') + "\xe4\xb8\xad\n\xff";
  const std::string line = line_of(*night);
  CHECK(line.find('\n') == line.size() - 1);
  const std::optional<Night> again = parse_line(line.substr(0, line.size() - 1));
  REQUIRE(again);
  CHECK(again->root->reason == std::string(kMostNameBytes - 1, 'a') + "...");
  night->root->reason = again->root->reason;
  CHECK(line_of(*again) == line_of(*night));
  const Nights nights = parse_history(line + line.substr(0, 40) + "\n\nnull\n{}\n" + line + line.substr(0, 30));
  CHECK(nights.nights.size() == 2);
  CHECK(nights.unreadable == 4);
  CHECK(nights.is_cut);
  CHECK_FALSE(parse_history(line).is_cut);
  CHECK_FALSE(parse_history("").is_cut);
  for (size_t size = 0; size + 1 < line.size(); ++size) CHECK_FALSE(parse_line(std::string_view(line).substr(0, size)));
}

TEST_CASE("of a long history the end is read") {
  const test::ScratchDir scratch;
  Night night;
  night.time = "2026-11-29";
  const std::string line = line_of(night);
  std::string text;
  while (text.size() < (size_t{33} << 20)) text += line;
  scratch.write("history.jsonl", text);
  const Result<Nights> nights = read_history(scratch.file("history.jsonl"));
  REQUIRE(nights);
  CHECK(nights->unreadable == 0);
  CHECK(nights->nights.size() == (size_t{32} << 20) / line.size());
  CHECK(read_history(scratch.file("none"))->nights.empty());
  CHECK_FALSE(read_history(scratch.path().string()));
}

}  // namespace
}  // namespace msdump::history
