#include "compare/match/placement/placement_search.h"

#include <cmath>
#include <filesystem>
#include <limits>

#include "compare/match/placement/placement_samples.h"
#include "support/catch.h"
#include "support/sharded_tensors.h"

namespace msdump {
namespace {

using test::MadeLocal;
using test::MadeLocals;
using test::shard_tensor;

using namespace test::roles;
constexpr double kNoise = 1e-4;

std::optional<PlacementFit> fit_of(const std::vector<MadeLocal>& a, const std::vector<MadeLocal>& b,
                                   const PlacementQuery& question = {}, const PlacementPrior& prior = {}) {
  const MadeLocals made_a(a), made_b(b);
  LocalValues values_a = made_a.values(), values_b = made_b.values();
  return find_placement(values_a, values_b, question, prior);
}

// The same by the statistics of the pieces.
std::optional<PlacementFit> fit_by_statistics(const std::vector<MadeLocal>& a, const std::vector<MadeLocal>& b,
                                              const PlacementQuery& question = {}) {
  const MadeLocals made_a(a), made_b(b);
  StatisticTables tables_a(made_a.index()), tables_b(made_b.index());
  WorkerPool pool(1);
  const CancelToken never;
  LocalStatistics values_a(tables_a, made_a.records(), {pool, never}),
      values_b(tables_b, made_b.records(), {pool, never});
  return find_placement(values_a, values_b, question, {});
}

int64_t count_of(const Shape& shape) { return *element_count(shape); }

// The candidate has the tensor in such pieces, with noise; the reference has it whole.
std::optional<PlacementFit> fit_against_whole(const Placement& layout, const Shape& whole,
                                              const PlacementQuery& question = {}) {
  const std::vector<float> values = test::numbers(count_of(whole));
  return fit_of(shard_tensor(layout, whole, test::with_noise(values, kNoise)), {{whole, values}}, question);
}

void check_found(const Placement& layout, const Shape& whole) {
  INFO(text_of(layout, std::vector<int64_t>{0, 1}));
  const auto fit = fit_against_whole(layout, whole);
  REQUIRE(fit);
  INFO(text_of(fit->a, std::vector<int64_t>{0, 1}));
  CHECK(fit->a == layout);
  CHECK(fit->b == Placement{});
  CHECK(fit->global == whole);
  CHECK(fit->agreement > 0.99);
  CHECK(fit->error < 2 * kNoise);
  CHECK(fit->confidence > 0.8);
  CHECK(fit->is_informative);
  CHECK(fit->is_established);
}

TEST_CASE("every role is found from the values, with noise") {
  for (const int64_t ranks : {2, 4}) {
    check_found({{{ranks, kCopy}}}, {8, 16});
    check_found({{{ranks, kSum}}}, {8, 16});
    check_found({{{ranks, kAverage}}}, {8, 16});
    check_found({{{ranks, kLargest}}}, {8, 16});
    check_found({{{ranks, kConcat, 0}}}, {8, 16});
    check_found({{{ranks, kConcat, 1}}}, {8, 16});
    check_found({{{ranks, kZigzag, 1}}}, {8, 16});
  }
  check_found({{{2, kConcat, 0}}}, {64});
}

TEST_CASE("plain roles are found from statistics alone, with noise; what they cannot tell makes them less sure") {
  const Shape whole = {8, 16};
  const std::vector<float> values = test::numbers(count_of(whole));
  for (const int64_t ranks : {2, 4}) {
    for (const Placement& layout :
         {Placement{{{ranks, kCopy}}}, Placement{{{ranks, kSum}}}, Placement{{{ranks, kAverage}}},
          Placement{{{ranks, kConcat, 0}}}, Placement{{{ranks, kConcat, 1}}}}) {
      INFO(text_of(layout, std::vector<int64_t>{0, 1}));
      const auto fit =
          fit_by_statistics(shard_tensor(layout, whole, test::with_noise(values, kNoise)), {{whole, values}});
      REQUIRE(fit);
      INFO(text_of(fit->a, std::vector<int64_t>{0, 1}));
      CHECK(fit->a == layout);
      CHECK(fit->b == Placement{});
      CHECK(fit->agreement == 1);
      CHECK(fit->confidence > 0.3);
      CHECK(fit->confidence <= 0.8);
      CHECK(fit->is_informative);
    }
  }
}

TEST_CASE("a layout that is stated on one side, of a whole on the other, is certain") {
  PlacementQuery question;
  question.stated.a = Placement{{{2, kConcat, 0}}};
  const auto fit = fit_against_whole({{{2, kConcat, 0}}}, {8, 4}, question);
  REQUIRE(fit);
  CHECK(fit->confidence == 1);
  // The other side is cut, too, and searched.
  const std::vector<float> values = test::numbers(32);
  const auto both = fit_of(shard_tensor({{{2, kConcat, 0}}}, {8, 4}, values),
                           shard_tensor({{{2, kConcat, 1}}}, {8, 4}, test::numbers(32, 9)), question);
  REQUIRE(both);
  CHECK(both->confidence < 1);
}

TEST_CASE("where no layout fits, the simplest is told") {
  const auto fit = fit_of(shard_tensor({{{2, kCopy}}}, {4, 6}, test::numbers(24)), {{{4, 6}, test::numbers(24, 5)}});
  REQUIRE(fit);
  CHECK(fit->a == Placement{{{2, kCopy}}});
  CHECK_FALSE(fit->is_established);
  CHECK(fit->confidence < 0.3);
}

std::vector<MadeLocal> multiplied(std::vector<MadeLocal> pieces, float factor) {
  for (MadeLocal& piece : pieces) {
    for (float& value : piece.values) value *= factor;
  }
  return pieces;
}

TEST_CASE(
    "values that are too large by a factor that no layout explains have their layout, and are not made to agree") {
  const Shape whole = {4, 6};
  for (const Placement& layout : {Placement{{{2, kConcat, 1}}}, Placement{{{2, kCopy}}}}) {
    const auto fit =
        fit_of(multiplied(shard_tensor(layout, whole, test::numbers(24)), -3), {{whole, test::numbers(24)}});
    REQUIRE(fit);
    CHECK(fit->a == layout);
    CHECK(fit->is_established);
    CHECK(fit->agreement < 0.6);
    CHECK(fit->confidence == Approx(0.45));
  }
  // Of few elements, of others, or of copies of which one is too large, a factor tells nothing.
  const Shape small = {2, 6};
  for (const auto& fit : {fit_of(multiplied(shard_tensor({{{2, kConcat, 1}}}, small, test::numbers(12)), 3),
                                 {{small, test::numbers(12)}}),
                          fit_of(multiplied(shard_tensor({{{2, kConcat, 1}}}, whole, test::numbers(24, 8)), 3),
                                 {{whole, test::numbers(24)}}),
                          fit_of(multiplied(shard_tensor({{{2, kConcat, 1}}}, whole, test::numbers(24)), 0),
                                 {{whole, test::numbers(24)}}),
                          fit_of({{whole, test::numbers(24)}, multiplied({{whole, test::numbers(24)}}, 3).front()},
                                 {{whole, test::numbers(24)}})}) {
    REQUIRE(fit);
    CHECK_FALSE(fit->is_established);
  }
}

TEST_CASE("terms of a sum that are off are terms of a sum, where all else is much further off") {
  const Shape whole = {8, 12};
  const std::vector<float> values = test::numbers(96), other = test::numbers(96, 5);
  const auto off_by = [&](float share) {
    std::vector<float> wrong = values;
    for (size_t i = 0; i < wrong.size(); ++i) wrong[i] += share * other[i];
    return fit_of(shard_tensor({{{2, kSum}}}, whole, wrong), {{whole, values}});
  };
  const auto near = off_by(0.4F), far = off_by(1);
  REQUIRE(near);
  CHECK(near->a == Placement{{{2, kSum}}});
  CHECK(near->is_established);
  CHECK(near->confidence < 0.3);
  REQUIRE(far);
  CHECK(far->a == Placement{{{2, kCopy}}});
  CHECK_FALSE(far->is_established);
}

TEST_CASE("of statistics what one side does not know is not compared") {
  const Shape whole = {4};
  const LocalStatistics::Target target({2, 2, -1, -1, NAN, NAN, 3, 3}, 1e-6, whole);
  CHECK(target.similarity({2, 2, -1, -1, 5, 5, 3, 3}, 1).agreement == 1);
  CHECK(target.similarity({2, 2, -1, -1, 5, 5, NAN, NAN}, 1).agreement == 1);
  CHECK(target.similarity({2, 2, -1, -1, 5, 5, 4, 4}, 1).agreement == Approx(2.0 / 3));
  CHECK(target.similarity({NAN, 2, -1, -1, 5, 5, 3, 3}, 1).agreement == 1);
  CHECK(target.similarity({1, 1, -0.5, -0.5, 5, 5, 1.5, 1.5}, 2).agreement == 1);
  CHECK(target.similarity({NAN, NAN, NAN, NAN, 5, 5, NAN, NAN}, 1).agreement == 0);
  // Whole numbers are equal or not.
  const LocalStatistics::Target numbers({47, 47, 0, 0, 20, 20, 60, 60}, 0, whole);
  CHECK(numbers.similarity({46, 46, 0, 0, 20, 20, 60, 60}, 1).agreement == Approx(0.75));
}

TEST_CASE("statistics of other elements do not fit") {
  const Shape whole = {8, 16};
  const auto other = test::numbers(count_of(whole), 7);
  std::vector<float> twice;
  for (const float value : other) twice.push_back(2 * value);
  const auto fit =
      fit_by_statistics(shard_tensor({{{2, kConcat, 0}}}, whole, test::numbers(count_of(whole))), {{whole, twice}});
  CHECK((!fit || fit->agreement < 0.6));
  const auto constant = fit_by_statistics({{{4}, {1, 1, 1, 1}}, {{4}, {1, 1, 1, 1}}}, {{{4}, {1, 1, 1, 1}}});
  REQUIRE(constant);
  CHECK_FALSE(constant->is_informative);
}

TEST_CASE("the parts of a fused tensor are told apart") {
  check_found({{{2, kConcat, 0, {1, 1, 1}}}}, {24, 5});
  check_found({{{2, kConcat, 0, {2, 1, 1}}}}, {32, 5});
  check_found({{{2, kConcat, 1, {4, 1, 1}}}}, {5, 48});
}

// Heads of each sample where both are one axis, and the blocks of a fused tensor.
TEST_CASE("both sides may be cut in groups: of one axis the same ones, over other numbers of ranks, or of two axes") {
  const auto groups = [](int64_t count) { return std::vector<int64_t>(static_cast<size_t>(count), 1); };
  const auto check = [&](const Placement& a, const Placement& b, const Shape& whole) {
    const std::vector<float> values = test::numbers(count_of(whole));
    const auto fit = fit_of(shard_tensor(a, whole, test::with_noise(values, kNoise)), shard_tensor(b, whole, values));
    REQUIRE(fit);
    const auto text = [](const Placement& layout) { return text_of(layout, std::vector<int64_t>{0, 1, 2, 3}); };
    CHECK(text(fit->a) == text(a));
    CHECK(text(fit->b) == text(b));
  };
  check({{{2, kConcat, 0, groups(8)}}}, {{{4, kConcat, 0, groups(8)}}}, {32, 8});
  check({{{2, kConcat, 0, groups(8)}}}, {{{2, kConcat, 1, groups(2)}}}, {32, 12});
  // Four of eight samples for two ranks each.
  check({{{2, kConcat, 0, groups(4)}, {2, kConcat, 0}}}, {{{4, kConcat, 0, groups(8)}}}, {128});
}

TEST_CASE("elements that are off do not hide a layout among many") {
  const Shape whole = {32, 12};
  const Placement rows = {{{2, kConcat, 0, std::vector<int64_t>(8, 1)}}}, columns = {{{2, kConcat, 1, {1, 1}}}};
  const std::vector<float> values = test::numbers(count_of(whole));
  std::vector<float> off = values;
  for (size_t i = 0; i < off.size(); i += 13) off[i] += 3;
  const auto fit = fit_of(shard_tensor(rows, whole, off), shard_tensor(columns, whole, values));
  REQUIRE(fit);
  CHECK(fit->a == rows);
  CHECK(fit->b == columns);
  CHECK(fit->agreement == Approx(12.0 / 13).margin(0.03));
}

TEST_CASE("an axis in groups and another that was gathered from a zigzag are found together") {
  const Shape whole = {32, 8};
  const std::vector<float> values = test::numbers(256);
  const Placement gathered = {{{2, kCopy}, {1, kGathered, 1, {2}}}};
  const Placement in_groups = {{{2, kConcat, 0, std::vector<int64_t>(8, 1)}}};
  const auto fit =
      fit_of(shard_tensor(gathered, whole, test::with_noise(values, kNoise)), shard_tensor(in_groups, whole, values));
  REQUIRE(fit);
  CHECK(fit->a == gathered);
  CHECK(fit->b == in_groups);
}

TEST_CASE("what was gathered from a zigzag is told from a copy") {
  check_found({{{2, kCopy}, {1, kGathered, 1, {2}}}}, {4, 16});
  check_found({{{4, kCopy}, {1, kGathered, 0, {4}}}}, {16, 4});
}

TEST_CASE("meshes of two dimensions are found, the faster one first") {
  check_found({{{2, kConcat, 1}, {2, kCopy}}}, {8, 12});
  check_found({{{2, kCopy}, {2, kConcat, 1}}}, {8, 12});
  check_found({{{2, kConcat, 0}, {2, kConcat, 1}}}, {8, 12});
  check_found({{{2, kSum}, {2, kConcat, 0}}}, {8, 12});
  check_found({{{2, kLargest}, {2, kConcat, 0}}}, {8, 12});
  check_found({{{2, kConcat, 1}, {3, kLargest}}}, {8, 12});
  check_found({{{2, kConcat, 1}, {2, kZigzag, 0}}}, {8, 12});
}

TEST_CASE("copies are not taken for parts of a sum") {
  const Shape shape = {6, 7};
  const std::vector<float> values = test::numbers(42);
  const auto copies = fit_of({{shape, values}, {shape, values}, {shape, values}}, {{shape, values}});
  REQUIRE(copies);
  CHECK(copies->a == Placement{{{3, kCopy}}});
  CHECK(copies->error == 0);
  // One is the tensor, the other nothing: a sum.
  const auto with_zeros = fit_of({{shape, values}, {shape, std::vector<float>(42)}}, {{shape, values}});
  REQUIRE(with_zeros);
  CHECK(with_zeros->a == Placement{{{2, kSum}}});
}

TEST_CASE("maxima are found on the side that has them, or on both") {
  const Shape whole = {8, 12};
  const std::vector<float> values = test::numbers(96);
  const auto of_reference = fit_of({{whole, values}}, shard_tensor({{{2, kLargest}}}, whole, values));
  REQUIRE(of_reference);
  CHECK(of_reference->b == Placement{{{2, kLargest}}});
  CHECK(of_reference->agreement == 1);
  const auto against_rows =
      fit_of(shard_tensor({{{2, kLargest}}}, whole, values), shard_tensor({{{2, kConcat, 0}}}, whole, values));
  REQUIRE(against_rows);
  CHECK(against_rows->a == Placement{{{2, kLargest}}});
  CHECK(against_rows->b == Placement{{{2, kConcat, 0}}});
  const auto of_both =
      fit_of(shard_tensor({{{4, kLargest}}}, whole, values), shard_tensor({{{2, kLargest}}}, whole, values));
  REQUIRE(of_both);
  CHECK(of_both->a == Placement{{{4, kLargest}}});
  CHECK(of_both->b == Placement{{{2, kLargest}}});
}

TEST_CASE("a copy that is off is not taken for maxima, even where it is less everywhere") {
  const Shape whole = {8, 12};
  const std::vector<float> values = test::numbers(96);
  std::vector<float> less, half_less = values;
  for (const float value : values) less.push_back(value - 1);
  for (size_t i = 0; i < values.size(); i += 2) half_less[i] -= 1;
  const std::vector<MadeLocal> good = {{whole, values}};
  for (const std::vector<float>& off : {less, half_less}) {
    const std::vector<MadeLocal> pieces = {{whole, values}, {whole, off}}, more = {pieces[0], pieces[1], pieces[0]};
    const auto of_candidate = fit_of(pieces, good), of_reference = fit_of(good, pieces), of_three = fit_of(more, good);
    REQUIRE((of_candidate && of_reference && of_three));
    CHECK_FALSE(of_candidate->a.has(kLargest));
    CHECK_FALSE(of_reference->b.has(kLargest));
    CHECK_FALSE(of_three->a.has(kLargest));
  }
  // What is too small for most of its elements by one rank and for the others by the other is neither.
  std::vector<float> largest_is_off = values;
  for (size_t i = 0; i < 20; ++i) largest_is_off[i * 4] -= 2;
  const auto wrong = fit_of(shard_tensor({{{2, kLargest}}}, whole, largest_is_off), good);
  REQUIRE(wrong);
  CHECK_FALSE(wrong->a.has(kLargest));
}

TEST_CASE("maxima that are stated are compared, also by statistics, which are not searched for them") {
  const Shape whole = {8, 12};
  const std::vector<float> values = test::numbers(96);
  const std::vector<MadeLocal> pieces = shard_tensor({{{2, kLargest}}}, whole, values);
  PlacementQuery question;
  question.stated.a = Placement{{{2, kLargest}}};
  const auto by_values = fit_of(pieces, {{whole, values}}, question);
  const auto by_statistics = fit_by_statistics(pieces, {{whole, values}}, question);
  REQUIRE((by_values && by_statistics));
  for (const PlacementFit& fit : {*by_values, *by_statistics}) {
    CHECK(fit.a == Placement{{{2, kLargest}}});
    CHECK(fit.agreement == 1);
    CHECK(fit.confidence == 1);
  }
  const auto searched = fit_by_statistics(pieces, {{whole, values}});
  REQUIRE(searched);
  CHECK_FALSE(searched->a.has(kLargest));
}

TEST_CASE("parts of different extents are found") {
  const MadeLocal tensor{{7, 6}, test::numbers(42)};
  const auto fit = fit_of({part_of(tensor, 0, 0, 3), part_of(tensor, 0, 3, 2), part_of(tensor, 0, 5, 2)}, {tensor});
  REQUIRE(fit);
  CHECK(fit->a == Placement{{{3, kConcat, 0}}});
  CHECK(fit->agreement == 1);
}

TEST_CASE("a vocabulary that was padded is found") {
  const MadeLocal tensor{{13, 6}, test::numbers(78)};
  const auto fit = fit_of(shard_tensor({{{4, kConcat, 0}}}, {16, 6}, padded(tensor, 0, 16).values), {tensor});
  REQUIRE(fit);
  CHECK(fit->a == Placement{{{4, kConcat, 0}}});
  CHECK(fit->global == Shape{13, 6});
  CHECK(fit->agreement == 1);
}

TEST_CASE("either side may be the one that is cut, or both") {
  const Shape whole = {8, 12};
  const std::vector<float> values = test::numbers(96);
  const Placement rows{{{2, kConcat, 0}}}, columns{{{2, kConcat, 1}}};
  const auto of_reference = fit_of({{whole, values}}, shard_tensor(columns, whole, values));
  REQUIRE(of_reference);
  CHECK(of_reference->a == Placement{});
  CHECK(of_reference->b == columns);
  const auto of_both = fit_of(shard_tensor(rows, whole, values), shard_tensor(columns, whole, values));
  REQUIRE(of_both);
  CHECK(of_both->a == rows);
  CHECK(of_both->b == columns);
  CHECK(of_both->global == whole);
}

TEST_CASE("NaN and infinities in the same places do not hide a layout") {
  const Shape whole = {8, 12};
  std::vector<float> values = test::numbers(96);
  for (size_t i = 0; i < values.size(); i += 5) values[i] = std::numeric_limits<float>::quiet_NaN();
  values[7] = std::numeric_limits<float>::infinity();
  const auto fit = fit_of(shard_tensor({{{2, kConcat, 1}}}, whole, values), {{whole, values}});
  REQUIRE(fit);
  CHECK(fit->a == Placement{{{2, kConcat, 1}}});
  CHECK(fit->agreement == 1);
}

TEST_CASE("of two cut sides that both are joined, a factor says more than sums on both") {
  const Shape whole = {8, 12};
  const std::vector<float> values = test::numbers(96);
  std::vector<float> doubled = values;
  for (float& value : doubled) value *= 2;
  PlacementQuery question;
  question.factors.a = {0.5};
  const Placement of_four{{{4, kConcat, 0}}, 0.5}, of_two{{{2, kConcat, 0}}};
  const auto fit =
      fit_of(shard_tensor({{{4, kConcat, 0}}}, whole, doubled), shard_tensor(of_two, whole, values), question);
  REQUIRE(fit);
  CHECK(fit->a == of_four);
  CHECK(fit->b == of_two);
  const Placement sum4{{{4, kSum}}}, sum2{{{2, kSum}}};
  std::vector<MadeLocal> terms = shard_tensor(sum4, whole, values), of_pairs = {terms[0], terms[2]};
  for (size_t pair = 0; pair < 2; ++pair) {
    std::vector<float>& sum = of_pairs[pair].values;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += terms[2 * pair + 1].values[i];
  }
  const auto partial = fit_of(terms, of_pairs);
  REQUIRE(partial);
  CHECK(partial->a == sum4);
  CHECK(partial->b == sum2);
}

TEST_CASE("two sides that are cut in the same blocks are not taken for one of blocks of blocks") {
  const Shape whole = {24, 6};
  const std::vector<float> values = test::numbers(144);
  const Placement of_four{{{4, kConcat, 0, {1, 1, 1}}}}, of_two{{{2, kConcat, 0, {1, 1, 1}}}};
  const auto fit = fit_of(shard_tensor(of_four, whole, values), shard_tensor(of_two, whole, values));
  REQUIRE(fit);
  CHECK(fit->a == of_four);
  CHECK(fit->b == of_two);
}

TEST_CASE("a single number of coarser arithmetic is the mean of those of the ranks, or a copy") {
  const auto mean = fit_of({{{1}, {4.2541F}}, {{1}, {4.1318F}}}, {{{1}, {4.1912F}}});
  REQUIRE(mean);
  CHECK(mean->a == Placement{{{2, kAverage}}});
  CHECK(mean->is_established);
  const auto copy = fit_of({{{1}, {4.1929F}}, {{1}, {4.1929F}}}, {{{1}, {4.1912F}}});
  REQUIRE(copy);
  CHECK(copy->a == Placement{{{2, kCopy}}});
  CHECK(copy->confidence > 0);
}

TEST_CASE("a single number that all ranks have, and that is not a multiple or a part of the other, is another number") {
  const auto fit = [](float first, float second, float whole) {
    const auto found = fit_of({{{}, {first}}, {{}, {second}}}, {{{}, {whole}}});
    REQUIRE(found);
    return *found;
  };
  for (const float other : {2.35F, 1 / 2.35F, -1.0F, 0.5F * -1.7F})
    CHECK(fit(4.4F * other, 4.4F * other, 4.4F).is_established);
  for (const float factor : {8.0F, 0.125F, 3.001F}) CHECK_FALSE(fit(4.4F * factor, 4.4F * factor, 4.4F).is_established);
  // Each rank has its own, as the loss of its part of the batch.
  CHECK_FALSE(fit(4.4F, 9.1F, 2.9F).is_established);
  CHECK_FALSE(fit(0, 0, 4.4F).is_established);
  CHECK_FALSE(fit(4.4F, 4.4F, 0).is_established);
}

TEST_CASE("constants tell nothing, and the simplest of what fits is taken without being sure") {
  const Shape half = {4, 8}, whole = {8, 8};
  const std::vector<float> ones(32, 1.0F);
  const auto fit = fit_of({{half, ones}, {half, ones}}, {{whole, std::vector<float>(64, 1.0F)}});
  REQUIRE(fit);
  CHECK(fit->a == Placement{{{2, kConcat, 0}}});
  CHECK_FALSE(fit->is_informative);
  const std::vector<float> zeros(32);
  const auto copies = fit_of({{half, zeros}, {half, zeros}}, {{half, zeros}});
  REQUIRE(copies);
  CHECK(copies->a == Placement{{{2, kCopy}}});
  CHECK_FALSE(copies->is_informative);
}

TEST_CASE("what tensors had is remembered by their kind") {
  const Shape whole = {8, 4};
  PlacementPrior prior;
  const std::vector<float> values = test::numbers(32);
  const auto certain = fit_of(shard_tensor({{{2, kConcat, 0}}}, whole, values), {{whole, values}});
  REQUIRE(certain);
  CHECK(prior.of_kind("weight") == nullptr);
  prior.add("weight", *certain);
  prior.add("weight", *certain);
  CHECK(prior.of_kind("bias") == nullptr);
  REQUIRE(prior.of_kind("weight") != nullptr);
  CHECK(prior.of_kind("weight")->a == certain->a);
}

TEST_CASE("a rank with other values keeps the layout of its kind, and is not explained away by another layout") {
  const Shape whole = {8, 12};
  const Placement columns{{{2, kConcat, 1}}};
  const std::vector<float> values = test::numbers(96);
  const auto good = fit_of(shard_tensor(columns, whole, values), {{whole, values}});
  REQUIRE(good);
  PlacementPrior prior;
  prior.add("up", *good);
  std::vector<MadeLocal> pieces = shard_tensor(columns, whole, values);
  pieces[0].values = test::numbers(48, 5);
  pieces[1].values = test::numbers(48, 6);
  PlacementQuery question;
  question.kind = "up";
  const auto faulty = fit_of(pieces, {{whole, values}}, question, prior);
  REQUIRE(faulty);
  CHECK(faulty->a == columns);
  CHECK(faulty->agreement < 0.6);
  CHECK(faulty->is_established);
  CHECK(faulty->confidence <= 0.5);
  question.kind = "another";
  const auto unknown = fit_of(pieces, {{whole, values}}, question, prior);
  REQUIRE(unknown);
  CHECK_FALSE(unknown->is_established);
}

TEST_CASE("gradients are too large by a factor only where the question allows it") {
  const Shape whole = {8, 12};
  const Placement halved{{{2, kConcat, 0}}, 0.5};
  PlacementQuery question;
  question.factors.a = {0.5};
  const auto fit = fit_against_whole(halved, whole, question);
  REQUIRE(fit);
  CHECK(fit->a == halved);
  CHECK(fit->agreement > 0.99);
  const auto other = fit_against_whole(halved, whole);
  REQUIRE(other);
  CHECK(other->a.factor == 1);
  CHECK(other->error > 0.5);
}

TEST_CASE("shapes that no layout makes one whole of have none, and neither has what cannot be read") {
  CHECK_FALSE(fit_of({{{4, 4}, test::numbers(16)}, {{4, 4}, test::numbers(16)}}, {{{9, 9}, test::numbers(81)}}));
  CHECK_FALSE(fit_of({{{4, 4}, test::numbers(16)}, {{4, 4}, test::numbers(16)}}, {{{16}, test::numbers(16)}}));
  CHECK_FALSE(fit_of({{{0, 4}, {}}, {{0, 4}, {}}}, {{{0, 4}, {}}}));
  const MadeLocals made({{{4}, test::numbers(4)}});
  const std::vector<const TensorRecord*> missing = {made.records().front(), nullptr};
  LocalValues holes(made.index(), missing), whole = made.values();
  CHECK_FALSE(holes.ok());
  CHECK_FALSE(find_placement(holes, whole, {}, {}));
}

TEST_CASE("the pieces that are equal to the bit have one digest") {
  const std::vector<float> values = test::numbers(40);
  std::vector<float> other = values;
  other[39] = std::nextafter(other[39], 2.0F);
  const MadeLocals made({{{40}, values}, {{40}, other}, {{40}, values}});
  LocalValues pieces = made.values();
  const CancelToken never;
  const auto digests = pieces.digests(never);
  REQUIRE(digests);
  CHECK((*digests)[0] == (*digests)[2]);
  CHECK((*digests)[0] != (*digests)[1]);
  CHECK(pieces.at(0, 3) == values[3]);
  CHECK(pieces.at(1, 39) == other[39]);
}

TEST_CASE("a piece that cannot be read fits nothing, and its file is told") {
  const std::vector<float> values = test::numbers(64);
  const MadeLocals made(shard_tensor({{{2, kConcat, 0}}}, {8, 8}, values)), whole({{{8, 8}, values}});
  std::filesystem::remove(made.scratch().path() / "piece001.npy");
  ReadFailures failures;
  LocalValues a(made.index(), made.records(), &failures), b = whole.values();
  CHECK_FALSE(find_placement(a, b, {}, {}));
  REQUIRE(failures.all().size() == 1);
  CHECK(failures.all().front().path.ends_with("piece001.npy"));
}

TEST_CASE("values of large pieces are read as they are asked for, and those of a piece that shrinks fit nothing") {
  constexpr int64_t kRows = 1024, kColumns = 600;  // of a piece: more than are kept of two
  const std::vector<float> values = test::numbers(2 * kRows * kColumns);
  const MadeLocals made(shard_tensor({{{2, kConcat, 0}}}, {2 * kRows, kColumns}, values));
  const MadeLocals whole({{{2 * kRows, kColumns}, values}});
  LocalValues b = whole.values();
  {
    LocalValues a = made.values();
    REQUIRE_FALSE(a.are_kept());
    const auto fit = find_placement(a, b, {}, {});
    REQUIRE(fit);
    CHECK(fit->a == Placement{{{2, kConcat, 0}}});
    CHECK(a.at(1, 7) == values[kRows * kColumns + 7]);
  }
  ReadFailures failures;
  LocalValues a(made.index(), made.records(), &failures);
  std::filesystem::resize_file(made.scratch().path() / "piece001.npy", 100'000);
  CHECK_FALSE(find_placement(a, b, {}, {}));
  REQUIRE(failures.all().size() == 1);
  CHECK(failures.all().front().path.ends_with("piece001.npy"));
}

TEST_CASE("ranks without an element of the tensor hold no part of it") {
  for (const int64_t columns : {int64_t{4}, int64_t{400'000}}) {  // kept in memory, or read as they are asked for
    const MadeLocal whole{{3, columns}, test::numbers(3 * columns)}, none{{0, columns}, {}};
    std::vector<MadeLocal> rows;
    for (int64_t row = 0; row < 3; ++row) rows.push_back(test::part_of(whole, 0, row, 1));
    const auto last = fit_of({rows[0], rows[1], rows[2], none}, {whole});
    REQUIRE(last);
    CHECK(last->a == Placement{{{4, kConcat, 0}}});
    CHECK(last->agreement == 1);
    const auto first = fit_of({whole}, {none, rows[0], rows[1], rows[2]});
    REQUIRE(first);
    CHECK(first->b == Placement{{{4, kConcat, 0}}});
    CHECK(first->agreement == 1);
  }
}

TEST_CASE("more layouts than are tried count only where none of them fits") {
  const std::vector<float> values = test::numbers(24);
  const std::vector<MadeLocal> copies(192, {{4, 6}, values});
  const auto same = fit_of(copies, {{{4, 6}, values}});
  REQUIRE(same);
  CHECK_FALSE(same->cut_off);
  const auto other = fit_of(copies, {{{4, 6}, test::numbers(24, 5)}});
  REQUIRE(other);
  CHECK(other->cut_off);
}

}  // namespace
}  // namespace msdump
