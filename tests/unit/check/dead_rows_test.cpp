#include "check/values/weight_rules.h"

#include "small_dump.h"
#include "support/safetensors_builder.h"

namespace msdump::check {
namespace {

std::string bytes_of_floats(const std::vector<float>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(float)};
}

// The findings about one parameter of a checkpoint: "RULE SEVERITY: MESSAGE".
Lines of_parameter(std::string_view name, const std::string& shape, const std::string& bytes, const char* dtype = "F32",
                   const RuleSet& rules = RuleSet::defaults()) {
  const test::ScratchDir scratch;
  scratch.write("model.safetensors",
                test::safetensors_file(
                    "{" + test::safetensors_entry(std::string(name), dtype, shape, 0, bytes.size()) + "}", bytes));
  Lines lines;
  const Checked checked(scratch.path(), rules);
  for (const Finding& finding : checked.findings())
    lines.push_back(fmt::format("{} {}: {}", name_of(finding.rule), name_of(finding.severity), finding.message));
  return lines;
}

Lines of_floats(std::string_view name, const std::string& shape, const std::vector<float>& elements) {
  return of_parameter(name, shape, bytes_of_floats(elements));
}

const std::vector<float> kOneDeadRow = {1, 2, 0, -0.0F, 3, 4};

}  // namespace

TEST_CASE("a row of a weight that is all zero is a note with its number; a zero may be negative") {
  CHECK(of_floats("fc.weight", "[3,2]", kOneDeadRow) == Lines{"dead_rows note: 1 of 3 rows are all zero: 1"});
  CHECK(of_floats("fc.weight", "[2,3]", kOneDeadRow).empty());
}

TEST_CASE("a column is what one place of the second dimension holds, over all rows and all further dimensions") {
  CHECK(of_floats("fc.weight", "[2,3]", {1, 0, 2, 3, 0, 4}) == Lines{"dead_rows note: 1 of 3 columns are all zero: 1"});
  CHECK(of_floats("conv.weight", "[2,2,2]", {0, 0, 1, 2, 0, 0, 3, 4}) ==
        Lines{"dead_rows note: 1 of 2 columns are all zero: 0"});
  CHECK(of_floats("conv.weight", "[2,2,2]", {0, 0, 1, 2, 0, 5, 3, 4}).empty());
  CHECK(of_floats("conv.weight", "[2,2,2]", {0, 0, 0, 0, 1, 0, 0, 4}) ==
        Lines{"dead_rows note: 1 of 2 rows are all zero: 0"});
}

TEST_CASE("rows and columns are one finding, with their ranges") {
  std::vector<float> elements(12 * 2, 0);
  for (const size_t row : {3U, 5U, 8U, 10U}) elements[row * 2] = 1;
  CHECK(of_floats("fc.weight", "[12,2]", elements) ==
        Lines{"dead_rows note: 8 of 12 rows are all zero: 0-2, 4, 6-7, 9, ..; 1 of 2 columns are all zero: 1"});
}

TEST_CASE("weights of every width are searched") {
  using namespace std::string_literals;
  CHECK(of_parameter("w.weight", "[2,2]", "\x01\x00\x00\x80"s, "F8_E5M2") ==
        Lines{"dead_rows note: 1 of 2 rows are all zero: 1; 1 of 2 columns are all zero: 1"});
  CHECK(of_parameter("w.weight", "[2,2]", "\x80\x3f\x80\x3f\x00\x00\x00\x80"s, "BF16").size() == 1);
  const std::vector<double> doubles = {0, 0, 1, 2};
  CHECK(of_parameter("w.weight", "[2,2]", {reinterpret_cast<const char*>(doubles.data()), 32}, "F64").size() == 1);
}

TEST_CASE("padding of an embedding, vectors, states of an optimizer and integers have no dead rows") {
  CHECK(of_floats("model.embed_tokens.weight", "[3,2]", kOneDeadRow).empty());
  CHECK(of_floats("model.embed_tokens.weight", "[2,3]", {1, 0, 2, 3, 0, 4}).size() == 1);
  CHECK(of_floats("fc.bias", "[6]", {0, 0, 0, 0, 0, 0}).empty());
  CHECK(of_floats("state.0.exp_avg", "[3,2]", kOneDeadRow).empty());
  CHECK(of_floats("mask.weight", "[1,6]", kOneDeadRow).empty());
  CHECK(of_parameter("fc.weight", "[3,2]", std::string("\1\1\0\0\1\1", 6), "I8").empty());
}

TEST_CASE("a matrix without any variety is a note of its own, a vector is not") {
  CHECK(of_floats("lora.weight", "[2,2]", {0, 0, 0, 0}) == Lines{"all_zero note: every element is zero"});
  CHECK(of_floats("fc.weight", "[2,2]", {7, 7, 7, 7}) == Lines{"constant note: every element is 7"});
  CHECK(of_floats("norm.weight", "[4]", {1, 1, 1, 1}).empty());
}

TEST_CASE("a share of the rows may be asked for") {
  RuleSet rules = only("dead_rows:percentage_ge=34");
  CHECK(of_parameter("fc.weight", "[3,2]", bytes_of_floats(kOneDeadRow), "F32", rules).empty());
  rules = only("dead_rows:percentage_ge=33");
  CHECK(of_parameter("fc.weight", "[3,2]", bytes_of_floats(kOneDeadRow), "F32", rules).size() == 1);
}

TEST_CASE("rows of the last step are judged, and rows longer than a slab") {
  constexpr size_t kLong = 300'000;
  std::vector<float> elements(3 * kLong, 1);
  std::fill(elements.begin() + kLong, elements.begin() + 2 * kLong, 0.0F);
  elements[5] = elements[2 * kLong + 5] = 0;
  CHECK(of_floats("fc.weight", "[3,300000]", elements) ==
        Lines{"dead_rows note: 1 of 3 rows are all zero: 1; 1 of 300000 columns are all zero: 5"});
  const test::ScratchDir scratch;
  const auto path = [](int step) {
    return fmt::format("rank_0/Net/0/{}/Parameter.fc_weight.0.0.1700000000000009.output.0.DefaultFormat.npy", step);
  };
  scratch.write(path(0), matrix({0, 0, 1, 2}, 2));
  scratch.write(path(1), matrix({3, 4, 1, 2}, 2));
  CHECK(Checked(scratch.path(), only("dead_rows")).reported().empty());
  scratch.write(path(2), matrix({3, 4, 0, 0}, 2));
  CHECK(Checked(scratch.path(), only("dead_rows")).reported().size() == 1);
}

}  // namespace msdump::check
