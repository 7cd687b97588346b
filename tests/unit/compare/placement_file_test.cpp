#include "compare/match/placement/placement_file.h"

#include <string>

#include "support/catch.h"
#include "support/must.h"
#include "support/sharded_tensors.h"

namespace msdump {
namespace {

using namespace test::roles;
const std::vector<int64_t> kFourRanks = {0, 1, 2, 3};

PlacementSubject subject_of(std::string_view op, std::span<const int64_t> ranks = kFourRanks,
                            bool of_reference = false) {
  return {op, Io::kOutput, "0", ranks, of_reference};
}

// The layout of four ranks that a line states.
std::optional<Placement> stated(const std::string& parts) {
  const PlacementRules rules = test::must(PlacementRules::parse("* = " + parts));
  const StatedPlacement* const line = rules.placement_of(subject_of("x"));
  REQUIRE(line != nullptr);
  return placement_for(*line, 4);
}

std::string error_of(const std::string& text) {
  const auto rules = PlacementRules::parse(text);
  return rules ? std::string("none") : rules.error().message;
}

TEST_CASE("a line states a layout of every kind, and its text is that line again") {
  const std::vector<Placement> layouts = {
      {{{4, kCopy}}},
      {{{4, kSum}}},
      {{{4, kAverage}}},
      {{{4, kLargest}}},
      {{{2, kLargest}, {2, kConcat, 1}}},
      {{{4, kConcat, 1}}},
      {{{4, kConcat, 0, {1, 1, 1}}}},
      {{{4, kConcat, 2, {2, 1, 1}}}},
      {{{4, kZigzag, 1}}},
      {{{4, kZigzag, 1, {1, 1}}}},
      {{{4, kCopy}, {1, kGathered, 1, {4}}}},
      {{{2, kConcat, 0}, {2, kCopy}}},
      {{{2, kSum}, {2, kConcat, 1, {1, 1}}}, 0.5},
      {{{4, kConcat, 1}}, 1.0 / 3},
  };
  for (const Placement& layout : layouts) {
    INFO(stated_text(layout));
    CHECK(stated(stated_text(layout)) == layout);
  }
  CHECK(stated_text({{{2, kConcat, 0, {2, 1, 1}}, {2, kCopy}}, 0.5}) ==
        "concat(axis=0; by=2; blocks=2:1:1), copy(by=2), times=0.5");
  CHECK(stated_text({}).empty());
}

TEST_CASE("one dimension may go without its ranks") {
  CHECK(stated("copy") == Placement{{{4, kCopy}}});
  CHECK(stated("concat( axis=1 ; ranks=0-3 )") == Placement{{{4, kConcat, 1}}});
  CHECK(stated("concat(axis=0; by=2), copy") == Placement{{{2, kConcat, 0}, {2, kCopy}}});
  CHECK(stated("concat(axis=0), sum(by=2)") == Placement{{{2, kConcat, 0}, {2, kSum}}});
  CHECK(stated("concat(axis=0; blocks=1)") == Placement{{{4, kConcat, 0}}});
  CHECK_FALSE(stated("concat(axis=0; by=3)"));
  CHECK_FALSE(stated("concat(axis=0; by=2)"));
  CHECK_FALSE(stated("concat(axis=0; by=8)"));
}

TEST_CASE("the last line that matches name, slot, side and ranks applies") {
  const PlacementRules rules =
      test::must(PlacementRules::parse("# what is known\n"
                                       "*weight* = concat(axis=0)   # of all\n"
                                       "*/up.weight:output:0 = concat(axis=1)\n"
                                       "*up?weight:input:* = copy\n"
                                       "reference:*weight* = sum\n"
                                       "reference: *b = copy\n"
                                       "*down.weight = concat(axis=1; ranks=4-5,7)\n"));
  CHECK(rules.size() == 6);
  const auto line_of = [&](const PlacementSubject& subject) {
    const StatedPlacement* const found = rules.placement_of(subject);
    return found == nullptr ? 0 : found->line;
  };
  const std::vector<int64_t> others = {4, 5, 7};
  CHECK(line_of(subject_of("net/q.weight")) == 2);
  CHECK(line_of(subject_of("net/up.weight")) == 3);
  CHECK(line_of(subject_of("net.up_weight")) == 3);
  CHECK(line_of({"net/up.weight", Io::kInput, "0", kFourRanks, false}) == 4);
  CHECK(line_of({"net/up.weight", Io::kOutput, "1", kFourRanks, false}) == 2);
  CHECK(line_of(subject_of("net/up.weight", kFourRanks, true)) == 5);
  CHECK(line_of(subject_of("b", kFourRanks, true)) == 6);
  CHECK(line_of(subject_of("b")) == 0);
  CHECK(line_of(subject_of("down.weight")) == 2);
  CHECK(line_of(subject_of("down.weight", others)) == 7);
  CHECK(test::must(PlacementRules::parse("")).placement_of(subject_of("x")) == nullptr);
}

TEST_CASE("an error names its line and what is wrong") {
  const auto has = [](const std::string& text, std::string_view part) {
    const std::string error = error_of("\n" + text);
    INFO(error);
    return error.starts_with("line 2: ") && error.find(part) != std::string::npos;
  };
  CHECK(has("*", "is not GLOB = LAYOUT"));
  CHECK(has("= copy", "is not GLOB = LAYOUT"));
  CHECK(has("a b = copy", "is not GLOB = LAYOUT"));
  CHECK(has("* = ", "is not a kind of layout"));
  CHECK(has("* = concats(axis=1)", "'concats' is not a kind of layout"));
  CHECK(has("* = concat", "concat needs axis=N"));
  CHECK(has("* = concat(by=2)", "concat needs axis=N"));
  CHECK(has("* = concat(axis=1", "closing parenthesis"));
  CHECK(has("* = concat(axis=-1)", "must be a number from 0 to 63"));
  CHECK(has("* = concat(axis=64)", "must be a number from 0 to 63"));
  CHECK(has("* = copy(axis=1)", "copy takes no 'axis'"));
  CHECK(has("* = sum(blocks=2)", "sum takes no 'blocks'"));
  CHECK(has("* = concat(axis=1; by=0)", "must be a number from 1"));
  CHECK(has("* = concat(axis=1; blocks=2:0)", "must be a number from 1"));
  CHECK(has("* = zigzag(axis=1; blocks=2:1)", "of one size"));
  CHECK(has("* = gathered(axis=1)", "gathered needs of=N"));
  CHECK(has("* = gathered(axis=1; of=2; by=2)", "gathered takes no 'by'"));
  CHECK(has("* = max(axis=1)", "max takes no 'axis'"));
  CHECK(has("* = max(by=2), sum(by=2)", "max does not go together with sum or mean"));
  CHECK(has("* = mean(by=2), max(by=2)", "max does not go together with sum or mean"));
  CHECK(has("* = copy, sum", "only one may go without by=N"));
  CHECK(has("* = concat(axis=0; ranks=3-1)", "must be as 0-3,8"));
  CHECK(has("* = concat(axis=0; ranks=0-999999999)", "must be as 0-3,8"));
  CHECK(has("* = copy, times=0", "other than 0"));
  CHECK(has("* = copy, times=nan", "other than 0"));
  CHECK(has("* = copy, times=1x", "other than 0"));
  CHECK(has("* = concat(axis=0; by=2; blocks=4000), zigzag(axis=1; blocks=4000)", "more than 8192 blocks"));
  CHECK(has("* = copy(by=1)" + std::string(9, ',') + "copy", "more than 8 dimensions"));
  CHECK(has("* = " + std::string(5000, 'x'), "5004 bytes; at most 4096"));
  const auto unknown = PlacementRules::parse("* = concta(axis=1)");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == ErrorCode::kUsage);
  CHECK(unknown.error().hint.find("concat") != std::string::npos);
  CHECK_FALSE(PlacementRules::read("/nonexistent/layouts"));
}

TEST_CASE("what is written has one line for calls that agree, and gives each tensor its layout again") {
  const Placement rows{{{4, kConcat, 0}}}, columns{{{2, kConcat, 1}, {2, kCopy}}}, sum{{{4, kSum}}, 0.5}, one{};
  const std::vector<int64_t> single = {0}, later = {4, 5, 6, 7};
  const std::vector<FoundPlacement> found = {
      {subject_of("layers.0.up.forward.0"), &rows, true},
      {subject_of("layers.1.up.forward.0"), &rows, true},
      {subject_of("layers.11.up.forward.0"), &rows, true},
      {subject_of("layers.0.down.forward.0"), &columns, true},
      {subject_of("layers.1.down.forward.0"), &rows, true},  // disagrees
      {subject_of("layers.0.attn.2.norm.forward.0"), &sum, false},
      {subject_of("layers.0.norm.forward.0"), &columns, true},  // also of the glob of the line above it
      {subject_of("pipe.forward.0"), &rows, true},
      {subject_of("pipe.forward.0", later), &columns, true},  // another stage under one name
      {subject_of("alone.forward.0", single), &one, true},
      {subject_of("a b=c#d.forward.0"), &rows, true},
      {subject_of("layers.0.up.forward.0", kFourRanks, true), &columns, true},
  };
  const std::string text = placement_file_text(found);
  INFO(text);
  CHECK(text.find("layers.*.up.forward.*:output:0 = concat(axis=0; by=4)\n") != std::string::npos);
  CHECK(text.find("reference:layers.*.up.forward.*:output:0 = concat(axis=1; by=2), copy(by=2)\n") !=
        std::string::npos);
  CHECK(text.find("layers.0.down.forward.0:output:0 = concat(axis=1; by=2; ranks=0-3), copy(by=2)\n") !=
        std::string::npos);
  CHECK(text.find("sum(by=4), times=0.5  # not sure\n") != std::string::npos);
  CHECK(text.find("layers.1.up") == std::string::npos);
  CHECK(text.find("alone") == std::string::npos);
  const PlacementRules rules = test::must(PlacementRules::parse(text));
  for (const FoundPlacement& tensor : found) {
    if (tensor.placement->dims.empty()) continue;
    INFO(tensor.subject.op_name);
    const StatedPlacement* const line = rules.placement_of(tensor.subject);
    REQUIRE(line != nullptr);
    CHECK(placement_for(*line, 4) == *tensor.placement);
  }
  CHECK(placement_file_text({}).empty());
}

}  // namespace
}  // namespace msdump
