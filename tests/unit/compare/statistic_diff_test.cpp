#include "compare/statistics/statistic_diff.h"

#include <cmath>
#include <functional>

#include "support/catch.h"

namespace msdump {
namespace {

using enum StatisticColumn;
using Columns = std::vector<StatisticColumn>;

const Columns kFour = {kMax, kMin, kAvg, kL2Norm};

TensorNumbers row(std::string_view values, DType dtype = DType::kFloat32, const std::optional<Shape>& shape = Shape{4},
                  const Columns& columns = kFour) {
  return stored_numbers({StatisticOrigin::kCsv, columns, values, nullptr}, dtype, shape);
}

TensorNumbers leaf(std::string_view values, DType dtype = DType::kFloat32, const std::optional<Shape>& shape = Shape{4},
                   StatisticOrigin origin = StatisticOrigin::kTorchJson) {
  return stored_numbers({origin, json_columns(), values, nullptr}, dtype, shape);
}

TensorDiff diff(const TensorNumbers& a, const TensorNumbers& b, const Tolerance& tolerance = {}) {
  TensorDiff result = diff_statistics(a, b, tolerance);
  CHECK(result.by_statistics);
  return result;
}

Verdict verdict(const TensorNumbers& a, const TensorNumbers& b, const Tolerance& tolerance = {}) {
  return diff(a, b, tolerance).verdict;
}

}  // namespace

TEST_CASE("equal statistics are close, not the same: they do not see which value stands where") {
  const TensorDiff result = diff(row("2,-1,0.5,3"), row("2,-1,0.5,3"));
  CHECK(result.verdict == Verdict::kClose);
  CHECK(result.reason == "statistics agree");
  CHECK(result.relative_error == 0.0);
}

TEST_CASE("numbers that six digits do not tell apart are equal") {
  CHECK(diff(leaf("1.234567,-1,0.5,3,"), row("1.23457,-1,0.5,3")).reason == "statistics agree");
  CHECK(diff(leaf("1.234567,-1,0.5,3,", DType::kFloat64), row("1.23457,-1,0.5,3", DType::kFloat64)).verdict ==
        Verdict::kClose);
  CHECK(verdict(leaf("1.234567,-1,0.5,3,", DType::kFloat64), row("1.23458,-1,0.5,3", DType::kFloat64)) ==
        Verdict::kDiffer);
}

TEST_CASE("a norm off by more than elements within the tolerance can make it is a difference") {
  // rtol of float32 is 1e-3, and as much for the scale.
  const TensorDiff close = diff(leaf("2,-1,0.5,3,"), leaf("2,-1,0.5,3.0005,"));
  CHECK(close.verdict == Verdict::kClose);
  CHECK(close.reason == "statistics agree within the tolerance");
  CHECK(*close.relative_error == Approx(0.00044 / 3).epsilon(0.01));  // less what the sums may be off
  const TensorDiff far = diff(leaf("2,-1,0.5,3.03,"), leaf("2,-1,0.5,3,"));
  CHECK(far.verdict == Verdict::kDiffer);
  CHECK(far.reason == "l2norm 3.03 against 3");
  CHECK(far.limits.rtol == 1e-3);
  CHECK(*far.relative_error == Approx(0.01).epsilon(0.01));
  CHECK(verdict(leaf("2,-1,0.5,3.03,", DType::kBfloat16), leaf("2,-1,0.5,3,")) == Verdict::kClose);
}

TEST_CASE("an extreme may be off three times as far, by default") {
  CHECK(verdict(leaf("2.009,-1,0.5,3,"), leaf("2,-1,0.5,3,")) == Verdict::kClose);
  CHECK(verdict(leaf("2.011,-1,0.5,3,"), leaf("2,-1,0.5,3,")) == Verdict::kDiffer);
  CHECK(verdict(leaf("2.009,-1,0.5,3,"), leaf("2,-1,0.5,3,"), {1e-3, 0.0, {}}) == Verdict::kDiffer);
  CHECK(verdict(leaf("2.009,-1,0.5,3,"), leaf("2,-1,0.5,3,"), {0.0, 0.0091, {}}) == Verdict::kClose);
}

TEST_CASE("a mean near zero is measured against the scale of the elements") {
  CHECK(verdict(leaf("2,-2,1e-9,200,", DType::kFloat32, Shape{10000}),
                leaf("2,-2,-3e-8,200,", DType::kFloat32, Shape{10000})) == Verdict::kClose);
  const TensorDiff far = diff(leaf("2,-2,1e-2,200,", DType::kFloat32, Shape{10000}),
                              leaf("2,-2,-3e-8,200,", DType::kFloat32, Shape{10000}));
  CHECK(far.verdict == Verdict::kDiffer);
  CHECK(far.reason == "mean 0.01 against -3e-08");
}

TEST_CASE("the elements are at least as far apart as means and norms are, but not as extremes are") {
  const auto least = [](std::string_view a) { return diff(row(a), row("2,-1,0.5,3")).least_error; };
  CHECK(least("2,-1,0.5,3") == 0);
  CHECK(least("2.5,-1,0.5,3") == 0);
  CHECK(least("2,-1,0.5,3.3") == Approx(0.1).epsilon(0.01));
  const double of_mean = least("2,-1,0.7,3");
  CHECK(of_mean > 0.05);
  CHECK(least("2,-1,0.7,3.001") == Approx(of_mean));
}

TEST_CASE("equal checksums are the same tensor; other dtypes and other checksums prove nothing") {
  const TensorDiff same = diff(leaf("2,-1,0.5,3,9331d5e6"), leaf("2,-1,0.5,3,9331D5E6"));
  CHECK(same.verdict == Verdict::kSame);
  CHECK(same.reason == "equal CRC-32");
  CHECK(verdict(leaf("2,-1,0.5,3,9331d5e6"), leaf("2,-1,0.5,3,9331d5e6", DType::kFloat16)) == Verdict::kClose);
  CHECK(verdict(leaf("2,-1,0.5,3,9331d5e6"), leaf("2,-1,0.5,3,0cc175b9c0f1b6a831c399e269772661")) == Verdict::kClose);
  CHECK(verdict(leaf(",,,,9331d5e6"), leaf(",,,,0cc175b9c0f1b6a831c399e269772661")) == Verdict::kSkipped);
}

TEST_CASE("checksums that differ say no more than that") {
  const TensorDiff alone = diff(leaf(",,,,9331d5e6"), leaf(",,,,9331d5e7"));
  CHECK(alone.verdict == Verdict::kDiffer);
  CHECK(alone.reason == "checksums differ; by how much is not known");
  CHECK_FALSE(alone.relative_error);
  const TensorDiff close = diff(leaf("2,-1,0.5,3,9331d5e6"), leaf("2,-1,0.5,3,9331d5e7"));
  CHECK(close.verdict == Verdict::kClose);
  CHECK(close.reason == "checksums differ; statistics agree");
  CHECK(diff(leaf("2,-1,0.5,4,9331d5e6"), leaf("2,-1,0.5,3,9331d5e7")).reason ==
        "checksums differ; l2norm 4 against 3");
  // MindSpore takes that of bfloat16 from a float32 copy.
  CHECK(verdict(leaf(",,,,9331d5e6", DType::kBfloat16, Shape{4}, StatisticOrigin::kMindSporeJson),
                leaf(",,,,9331d5e7", DType::kBfloat16)) == Verdict::kSkipped);
}

TEST_CASE("a checksum taken at another time than the statistics does not hide that these differ") {
  const TensorDiff result = diff(leaf("2,-1,0.5,4,9331d5e6"), leaf("2,-1,0.5,3,9331d5e6"));
  CHECK(result.verdict == Verdict::kDiffer);
  CHECK(result.reason == "equal CRC-32, and yet l2norm 4 against 3");
}

TEST_CASE("equal xors prove nothing, different ones prove a difference") {
  const TensorDiff equal = diff(leaf(",,,,0x0000000000000000"), leaf(",,,,0x0000000000000000"));
  CHECK(equal.verdict == Verdict::kClose);
  CHECK(equal.reason == "equal xors, which other tensors may share");
  CHECK(verdict(leaf(",,,,0x0000000000000000"), leaf(",,,,0x0000000000000001")) == Verdict::kDiffer);
}

TEST_CASE("hashes of values are compared without a dtype, and are equal or not") {
  const auto log = [](const std::string& md5, std::string_view norm = "", DType dtype = DType::kUndefined) {
    return leaf(fmt::format(",,,{},{}", norm, md5), dtype, std::nullopt, StatisticOrigin::kTorchLog);
  };
  const TensorDiff equal = diff(log("hash:33.5"), log("hash:33.5"));
  CHECK(equal.verdict == Verdict::kSame);
  CHECK(equal.reason == "equal hash");
  const TensorDiff other = diff(log("hash:33.5"), log("hash:33.500000000000007"));
  CHECK(other.verdict == Verdict::kDiffer);
  CHECK(other.reason == "hashes differ: 33.5 against 33.500000000000007");
  CHECK(verdict(log("hash:33.5", "", DType::kBfloat16), log("hash:33.5", "", DType::kFloat32)) == Verdict::kSame);
  const TensorDiff weak = diff(log("weak-hash:3.35e+01"), log("weak-hash:3.35e+01"));
  CHECK(weak.verdict == Verdict::kClose);
  CHECK(weak.reason == "equal hashes, which other tensors may share");
  CHECK(verdict(log("weak-hash:3.35e+01"), log("weak-hash:3.36e+01")) == Verdict::kDiffer);
  CHECK(verdict(log("hash:33.5"), log("weak-hash:33.5")) == Verdict::kSkipped);
  CHECK(verdict(log("", "NaN"), log("hash:33.5")) == Verdict::kNan);
  CHECK(verdict(log("", "NaN"), log("", "NaN")) == Verdict::kSkipped);
  CHECK(verdict(log("hash:\"Infinity\"", "Infinity"), log("hash:\"Infinity\"", "Infinity")) == Verdict::kClose);
  // Checksums of bytes need one dtype.
  CHECK(verdict(leaf(",,,,9331d5e6", DType::kUndefined), leaf(",,,,9331d5e7", DType::kUndefined)) == Verdict::kSkipped);
}

TEST_CASE("one element, or max equal to min, leaves nothing open") {
  const TensorDiff one =
      diff(leaf("2.5,2.5,2.5,2.5,", DType::kFloat32, Shape{}), leaf("2.5,2.5,2.5,2.5,", DType::kFloat32, Shape{}));
  CHECK(one.verdict == Verdict::kSame);
  CHECK(one.reason == "every element is 2.5");
  CHECK(verdict(leaf("1,1,1,2,"), leaf("1,1,1,2,")) == Verdict::kSame);
  CHECK(verdict(leaf("true,true,,,", DType::kBool), leaf("true,true,,,", DType::kBool)) == Verdict::kSame);
  CHECK(verdict(leaf("true,false,,,", DType::kBool), leaf("true,false,,,", DType::kBool)) == Verdict::kClose);
  // Printed with six digits, 1 need not be 1, but 0 is 0 and so are whole numbers of integers.
  CHECK(verdict(row("1,1,1,2"), row("1,1,1,2")) == Verdict::kClose);
  CHECK(verdict(row("0,0,0,0"), row("0,0,0,0")) == Verdict::kSame);
  CHECK(verdict(row("7,7,7,14", DType::kInt32), row("7,7,7,14", DType::kInt32)) == Verdict::kSame);
  // A NaN that max and min do not show.
  CHECK(verdict(leaf("1,1,NaN,NaN,"), leaf("1,1,NaN,NaN,")) == Verdict::kClose);
  // Of zeros the sign may differ.
  CHECK(verdict(leaf("0,0,0,0,9331d5e6"), leaf("0,0,0,0,9331d5e7")) == Verdict::kSame);
  CHECK(verdict(leaf("1,1,1,2,9331d5e6"), leaf("1,1,1,2,9331d5e7")) == Verdict::kClose);
}

TEST_CASE("integers have no tolerance but what they are printed with") {
  CHECK(verdict(row("7,0,3,14", DType::kInt32), row("8,0,3,14", DType::kInt32)) == Verdict::kDiffer);
  CHECK(verdict(row("1.23457e+08,0,3,14", DType::kInt32), leaf("123456789,0,,,", DType::kInt32)) == Verdict::kClose);
  const Columns zeros = {kMax, kZero};
  CHECK(diff(row("7,3", DType::kInt32, Shape{4}, zeros), row("7,2", DType::kInt32, Shape{4}, zeros)).reason ==
        "zero count 3 against 2");
  CHECK(verdict(row("7,3", DType::kFloat32, Shape{4}, zeros), row("7,2", DType::kFloat32, Shape{4}, zeros)) ==
        Verdict::kClose);
}

TEST_CASE("NaN or an infinity on one side only is said") {
  const TensorDiff mean = diff(leaf("1,0,NaN,NaN,"), leaf("1,0,0.5,1,"));
  CHECK(mean.verdict == Verdict::kNan);
  CHECK(mean.reason == "mean nan against 0.5");
  CHECK_FALSE(mean.relative_error);
  CHECK(diff(leaf("Infinity,0,Infinity,Infinity,"), leaf("1,0,0.5,1,")).reason == "max inf against 1");
  const Columns counts = {kMax, kNan, kPositiveInf, kNegativeInf};
  CHECK(diff(row("1,3,0,0", DType::kFloat32, Shape{4}, counts), row("1,2,0,0", DType::kFloat32, Shape{4}, counts))
            .reason == "NaN count 3 against 2");
  // A count on one side, statistics that no NaN has passed through on the other.
  CHECK(diff(row("1,3,0,0", DType::kFloat32, Shape{4}, counts), leaf("1,0,0.5,1,")).reason == "NaN in a only");
  CHECK(verdict(row("1,0,0,0", DType::kFloat32, Shape{4}, counts), leaf("1,0,0.5,1,")) == Verdict::kClose);
}

TEST_CASE("NaN on both sides is not a difference, also where one side loses it in max and min") {
  const TensorDiff lost =
      diff(leaf("1,0,NaN,NaN,", DType::kFloat32, Shape{4}, StatisticOrigin::kMindSporeJson), leaf("NaN,NaN,NaN,NaN,"));
  CHECK(lost.verdict == Verdict::kSkipped);
  CHECK(lost.reason == "all statistics are NaN on both sides");
  const Columns counted = {kMax, kMin, kAvg, kL2Norm, kNan, kZero};
  CHECK(verdict(row("1,0,nan,nan,3,1", DType::kFloat32, Shape{8}, counted),
                row("nan,nan,nan,nan,3,1", DType::kFloat32, Shape{8}, counted)) == Verdict::kClose);
  CHECK(verdict(leaf("1,-Infinity,-Infinity,Infinity,"), leaf("1,-Infinity,-Infinity,Infinity,")) == Verdict::kClose);
}

TEST_CASE("statistics that prove nothing are close without a relative error") {
  const TensorDiff masked = diff(leaf("2,-Infinity,-Infinity,Infinity,"), leaf("2,-Infinity,-Infinity,Infinity,"));
  CHECK(masked.verdict == Verdict::kClose);
  CHECK_FALSE(masked.relative_error);
  const TensorDiff off = diff(leaf("2.004,-Infinity,-Infinity,Infinity,"), leaf("2,-Infinity,-Infinity,Infinity,"));
  CHECK(off.verdict == Verdict::kClose);
  CHECK(*off.relative_error > 0);
  const TensorDiff one_infinity = diff(row("2,-inf", DType::kFloat32, Shape{4}, {kMax, kMin}),
                                       row("2,-inf", DType::kFloat32, Shape{4}, {kMax, kMin}));
  CHECK(one_infinity.relative_error == 0.0);  // that is all these dumps have

  const TensorDiff flags = diff(leaf("true,false,,,", DType::kBool), leaf("true,false,,,", DType::kBool));
  CHECK(flags.verdict == Verdict::kClose);
  CHECK_FALSE(flags.relative_error);
  const TensorDiff all_true = diff(leaf("true,true,,,", DType::kBool), leaf("true,true,,,", DType::kBool));
  CHECK(all_true.verdict == Verdict::kSame);
  CHECK(all_true.relative_error == 0.0);
  const Columns counts = {kMax, kMin, kZero};
  const TensorDiff counted =
      diff(row("1,0,3", DType::kBool, Shape{4}, counts), row("1,0,3", DType::kBool, Shape{4}, counts));
  CHECK(counted.relative_error == 0.0);
  const TensorDiff checksums =
      diff(leaf("true,false,,,9331d5e6", DType::kBool), leaf("true,false,,,9331d5e6", DType::kBool));
  CHECK(checksums.verdict == Verdict::kSame);
  CHECK(checksums.relative_error == 0.0);
}

TEST_CASE("extremes alone are compared where mean or norm are not finite on both sides") {
  const auto only = [](std::string_view a, std::string_view b) { return diff(row(a), row(b)).extremes_only; };
  CHECK(only("2,-inf,-inf,inf", "3,-inf,-inf,inf"));
  CHECK(only("2,-1,nan,3", "3,-1,nan,3"));
  CHECK_FALSE(only("2,-inf,0.5,3", "3,-inf,0.5,3"));
  CHECK_FALSE(only("2,-1,0.5,3", "3,-1,0.5,3"));
}

TEST_CASE("a version that leaves infinities out is compared by its counts") {
  const stats::DialectChoice old{{*stats::dialect_from_text("2.0.0")}, "", false};
  const auto values = [&](std::string_view text) {
    const Columns columns = {kMax, kMin, kAvg, kNan, kPositiveInf, kNegativeInf};
    return stored_numbers({StatisticOrigin::kCsv, columns, text, &old}, DType::kFloat32, Shape{4});
  };
  CHECK(verdict(values("1,0,0.5,0,1,0"), leaf("Infinity,0,Infinity,Infinity,")) == Verdict::kClose);
  CHECK(diff(values("1,0,0.5,0,0,0"), leaf("Infinity,0,Infinity,Infinity,")).reason == "inf in b only");
  CHECK(diff(values("1,0,0.5,0,0,0"), leaf("1,0,NaN,NaN,")).reason == "NaN in b only");
}

TEST_CASE("shapes, kinds of dtype and empty tensors") {
  CHECK(diff(leaf("1,0,,,"), leaf("1,0,,,", DType::kFloat32, Shape{2, 3})).reason == "4 against 2x3");
  CHECK(verdict(leaf("1,0,,,"), leaf("1,0,,,", DType::kFloat32, Shape{2, 3})) == Verdict::kShape);
  const TensorDiff ones = diff(leaf("1,0,,,"), leaf("1,0,,,", DType::kFloat32, Shape{1, 4}));
  CHECK(ones.verdict == Verdict::kClose);
  CHECK(ones.reason == "dimensions of 1 ignored: 4 against 1x4; statistics agree");
  CHECK(verdict(leaf("1,0,,,"), leaf("1,0,,,", DType::kInt32)) == Verdict::kDtype);
  CHECK(verdict(leaf("1,0,,,", DType::kInt64), leaf("1,0,,,", DType::kInt32)) == Verdict::kClose);
  CHECK(verdict(leaf(",,,,", DType::kFloat32, Shape{0, 4}), leaf(",,,,", DType::kFloat32, Shape{0, 4})) ==
        Verdict::kEmpty);
  CHECK(verdict(leaf("1,0,,,", DType::kFloat32, std::nullopt), leaf("1,0,,,")) == Verdict::kClose);
  CHECK(verdict(leaf("1,0,,,", DType::kFloat32, Shape{kUnknownDim}), leaf("1,0,,,")) == Verdict::kClose);
  const Columns counted = {kMax, kCount};
  CHECK(verdict(row("1,4", DType::kFloat32, std::nullopt, counted),
                row("1,5", DType::kFloat32, std::nullopt, counted)) == Verdict::kShape);
}

TEST_CASE("counts of integers that differ are named, each its own") {
  const auto reason = [](std::string_view a, std::string_view b) {
    const Columns counts = {kZero, kNegativeZero, kPositiveZero};
    return *diff(row(a, DType::kInt32, Shape{9}, counts), row(b, DType::kInt32, Shape{9}, counts)).reason;
  };
  CHECK(reason("2,3,4", "2,3,4") == "statistics agree");
  CHECK(reason("2,3,4", "3,3,4") == "zero count 2 against 3");
  CHECK(reason("2,3,4", "2,5,4") == "count below 0 3 against 5");
  CHECK(reason("2,3,4", "2,3,1") == "count above 0 4 against 1");
}

TEST_CASE("equal counts of zeros alone agree, but counts of nothing say nothing") {
  const auto zeros = [](std::string_view count) { return row(count, DType::kFloat32, Shape{4}, {kZero}); };
  CHECK(diff(zeros("3"), zeros("3")).reason == "statistics agree");
  CHECK(verdict(zeros("0"), zeros("0")) == Verdict::kSkipped);
}

TEST_CASE("nothing in common is skipped, and the reason says what is missing") {
  CHECK(diff(leaf(",,,,"), leaf(",,,,")).reason == "no statistics on either side");
  CHECK(diff(leaf("1,0,,,"), leaf(",,,,")).reason == "no statistics of b");
  CHECK(diff(leaf("1,0,,,"), leaf(",,,,9331d5e6")).reason == "no statistic that both sides have");
  CHECK(verdict(leaf("1,0,,,"), leaf(",,,,9331d5e6")) == Verdict::kSkipped);
}

TEST_CASE("metrics hold what statistics tell, and nothing else") {
  const Columns columns = {kMax, kMin, kAvg, kL2Norm, kNan};
  const TensorDiff result = diff(row("2,-1,0.5,3,0", DType::kFloat32, Shape{4}, columns), leaf("2,-1,0.5,3,"));
  CHECK(result.metrics->max_a == 2.0);
  CHECK(result.metrics->min_b == -1.0);
  CHECK(result.metrics->mean_a == 0.5);
  CHECK_FALSE(result.metrics->max_abs);
  CHECK_FALSE(result.metrics->relative_l2);
  CHECK(result.nan_counted_a);
  CHECK_FALSE(result.nan_counted_b);
  // Of finite values only, which statistics with a NaN in them do not tell.
  const TensorDiff nan = diff(row("2,-1,nan,nan,3", DType::kFloat32, Shape{4}, columns), leaf("2,-1,NaN,NaN,"));
  CHECK_FALSE(nan.metrics->max_a);
  CHECK(nan.metrics->nan_a == 3);
}

}  // namespace msdump
