#include "stats/tensor_numbers.h"

#include <cmath>

#include "stats/dialect.h"
#include "support/catch.h"

namespace msdump {
namespace {

using enum StatisticColumn;
using Columns = std::vector<StatisticColumn>;

TensorNumbers csv(const Columns& columns, std::string_view values, DType dtype = DType::kFloat32,
                  const std::optional<Shape>& shape = Shape{4}, const stats::DialectChoice* dialects = nullptr) {
  return stored_numbers({StatisticOrigin::kCsv, columns, values, dialects}, dtype, shape);
}

TensorNumbers json(StatisticOrigin origin, std::string_view values, DType dtype = DType::kFloat32,
                   const Shape& shape = {4}) {
  return stored_numbers({origin, json_columns(), values, nullptr}, dtype, shape);
}

stats::DialectChoice dialect(std::string_view version) { return {{*stats::dialect_from_text(version)}, "", false}; }

double slack(const TensorNumbers& values, Extremum which) { return values.number(which).value().slack; }
double value(const TensorNumbers& values, Extremum which) { return values.number(which).value().value; }

}  // namespace

TEST_CASE("a number of six digits stands for half a unit of the last one") {
  const TensorNumbers values = csv({kMax, kMin}, "1.23457,-1234.5");
  CHECK(value(values, Extremum::kMax) == 1.23457);
  CHECK(slack(values, Extremum::kMax) == Approx(5e-6));
  CHECK(slack(values, Extremum::kMin) == Approx(5e-3));
  // 1 may have been 1.0000004.
  CHECK(slack(csv({kMax}, "1"), Extremum::kMax) == Approx(5e-6));
  CHECK(slack(csv({kMax}, "4.94066e-324"), Extremum::kMax) > 0);
}

TEST_CASE("zero, whole numbers of integers and bool are exact") {
  CHECK(slack(csv({kMax}, "0"), Extremum::kMax) == 0);
  CHECK(slack(csv({kMax}, "-123456", DType::kInt32), Extremum::kMax) == 0);
  CHECK(slack(csv({kMax}, "1.23457e+08", DType::kInt32), Extremum::kMax) == Approx(500));
  CHECK(value(csv({kMax}, "True", DType::kBool), Extremum::kMax) == 1);
  CHECK(slack(csv({kMax}, "True", DType::kBool), Extremum::kMax) == 0);
}

TEST_CASE("a mean may be off by what a sum in single precision loses of the scale") {
  const TensorNumbers values = csv({kAvg, kL2Norm}, "0,200");
  CHECK(values.scale() == 100.0);  // 200 over the root of 4 elements
  CHECK(slack(values, Extremum::kMean) == Approx(1e-3));
  CHECK(slack(values, Extremum::kNorm) == Approx(2e-3 + 5e-4));
}

TEST_CASE("the scale is the root of the mean square, else the larger extreme, else the mean") {
  CHECK(csv({kMax, kMin, kL2Norm}, "9,-9,8").scale() == 4.0);
  CHECK(csv({kMax, kMin}, "3,-5").scale() == 5.0);
  CHECK(csv({kAvg}, "-2").scale() == 2.0);
  CHECK_FALSE(csv({kMd5}, "0cc175b9c0f1b6a831c399e269772661").scale());
}

TEST_CASE("what dump.json says is exact but for conversions and sums in the tensor's precision") {
  using enum StatisticOrigin;
  CHECK(slack(json(kTorchJson, "2.4307711124420166,-1,0,2,"), Extremum::kMax) == 0);
  CHECK(slack(json(kTorchJson, "2,-1,0,4,", DType::kFloat16), Extremum::kNorm) == 4 * 0x1p-10);
  CHECK(slack(json(kTorchJson, "2,-1,0,4,", DType::kBfloat16), Extremum::kMean) == 2 * 0x1p-7);
  CHECK(slack(json(kTorchJson, "16777219,0,,,", DType::kInt64), Extremum::kMax) == 0);
  // MindSpore goes through float32.
  CHECK(slack(json(kMindSporeJson, "16777220.0,0,,,", DType::kInt64), Extremum::kMax) > 0.9);
  CHECK(slack(json(kMindSporeJson, "97.0,0,,,", DType::kInt64), Extremum::kMax) == 0);
  CHECK(slack(json(kMindSporeJson, "2,-1,0,2,", DType::kFloat64), Extremum::kMax) == 2 * 0x1p-24);
}

TEST_CASE("what is missing or not a number has no value") {
  const TensorNumbers values = json(StatisticOrigin::kTorchJson, "true,false,,,", DType::kBool);
  CHECK(value(values, Extremum::kMax) == 1);
  CHECK(value(values, Extremum::kMin) == 0);
  CHECK_FALSE(values.number(Extremum::kMean));
  CHECK_FALSE(csv({kMax, kNan}, "null,x").number(Extremum::kMax));
  CHECK_FALSE(csv({kMax, kNan}, "null,x").nan);
  CHECK_FALSE(csv({kMax, kMin}, "1").number(Extremum::kMin));
  CHECK_FALSE(csv({kMax}, "1e999").number(Extremum::kMax));
}

TEST_CASE("the first text that is not a number is kept, and a missing number is not one") {
  CHECK(csv({kMax, kMin, kAvg, kL2Norm}, "null,1_0,None,zwei").bad_number == "1_0");
  CHECK(csv({kMax, kMin, kAvg, kL2Norm}, "null,N/A,None,").bad_number.empty());
}

TEST_CASE("NaN and infinities are read in every spelling") {
  const TensorNumbers python = json(StatisticOrigin::kTorchJson, "Infinity,-Infinity,NaN,Infinity,");
  CHECK(std::isinf(value(python, Extremum::kMax)));
  CHECK(value(python, Extremum::kMin) == -HUGE_VAL);
  CHECK(std::isnan(value(python, Extremum::kMean)));
  CHECK(std::isnan(value(csv({kMax}, "-nan"), Extremum::kMax)));
}

TEST_CASE("a norm that overflowed and extremes of nothing are dropped") {
  const TensorNumbers overflow = json(StatisticOrigin::kTorchJson, "300,-300,0,Infinity,", DType::kFloat16);
  CHECK_FALSE(overflow.number(Extremum::kNorm));
  CHECK(overflow.number(Extremum::kMax));
  // What MindSpore prints of a dtype that it cannot analyse, and of no elements.
  CHECK_FALSE(csv({kMax, kMin, kL2Norm}, "-1.79769e+308,1.79769e+308,0").number(Extremum::kNorm));
  CHECK_FALSE(csv({kMax, kMin}, "-inf,inf").number(Extremum::kMax));
  // An infinite element is none of these.
  CHECK(csv({kMax, kMin, kL2Norm}, "inf,0,inf").number(Extremum::kNorm));
}

TEST_CASE("the norm of a tensor without dimensions has no sign, though dump.json writes the value") {
  CHECK(value(json(StatisticOrigin::kTorchJson, "-2,-2,-2,-2,", DType::kFloat32, {}), Extremum::kNorm) == 2);
}

TEST_CASE("NaN is said by a count, by the norm, or by a mean that no infinities explain") {
  CHECK(csv({kNan}, "3").has(Special::kNan) == true);
  CHECK(csv({kNan}, "0").has(Special::kNan) == false);
  CHECK(csv({kMax, kMin, kL2Norm}, "1,0,nan").has(Special::kNan) == true);
  CHECK(csv({kMax, kMin, kAvg}, "1,0,nan").has(Special::kNan) == true);
  CHECK_FALSE(csv({kMax, kMin, kAvg}, "inf,-inf,nan").has(Special::kNan));
  CHECK(csv({kMax, kMin, kAvg, kL2Norm}, "inf,-inf,nan,inf").has(Special::kNan) == false);
  CHECK_FALSE(csv({kMax, kMin}, "1,0").has(Special::kNan));
  CHECK(csv({kMax, kMin, kL2Norm}, "1,0,1").has(Special::kNan) == false);
  CHECK(csv({kMax}, "inf").has(Special::kPositiveInf) == true);
  CHECK(csv({kMin, kL2Norm}, "0,1").has(Special::kNegativeInf) == false);
}

TEST_CASE("versions that leave NaN out, or take the mean of the first chunk, are marked") {
  const auto old = dialect("2.0.0"), running = dialect("2.3.1"), plain = dialect("2.5.0");
  const Shape large{20000}, small{19999};
  CHECK(csv({kMax}, "1", DType::kFloat32, small, &old).finite_only);
  CHECK_FALSE(csv({kMax}, "1", DType::kFloat32, small, &old).mean_of_first_chunk);
  CHECK(csv({kMax}, "1", DType::kFloat32, large, &old).mean_of_first_chunk);
  CHECK(csv({kMax}, "1", DType::kFloat32, large, &running).mean_of_first_chunk);
  CHECK_FALSE(csv({kMax}, "1", DType::kFloat32, large, &running).finite_only);
  CHECK_FALSE(csv({kMax}, "1", DType::kFloat32, large, &plain).mean_of_first_chunk);
}

TEST_CASE("a hash of a log is a finite norm, or says nothing of the elements") {
  using enum StatisticOrigin;
  const auto log = [](const std::string& md5) { return json(kTorchLog, ",,,," + md5, DType::kUndefined); };
  CHECK(log("hash:33.5").find(ChecksumKind::kHash)->text == "33.5");
  CHECK(log("hash:33.5").has(Special::kNan) == false);
  CHECK(log("weak-hash:3.35e+01").find(ChecksumKind::kWeakHash)->text == "3.35e+01");
  CHECK_FALSE(log("weak-hash:12345678").has(Special::kNan));
  CHECK_FALSE(log("hash:[1.5, 7]").has(Special::kNan));
  CHECK_FALSE(log("hash:\"Infinity\"").has(Special::kNan));
}

TEST_CASE("the log of torchtitan has seven digits") {
  const TensorNumbers log = json(StatisticOrigin::kTorchLog, "2.000001e+00,0,1,3,", DType::kBfloat16);
  CHECK(log.number(Extremum::kMax)->slack == Approx(5e-7));
  CHECK(log.number(Extremum::kMin)->slack == 0);
  CHECK(log.number(Extremum::kNorm)->slack < 1e-4);
}

TEST_CASE("a checksum of dump.json is known by its length, and an xor of no dimension is the value") {
  using enum StatisticOrigin;
  const auto kind = [](std::string_view text, const Shape& shape = {4}) {
    const TensorNumbers values = json(kTorchJson, ",,,," + std::string(text), DType::kFloat32, shape);
    return values.checksums.empty() ? std::nullopt : std::optional(values.checksums[0].kind);
  };
  CHECK(kind("9331D5E6") == ChecksumKind::kCrc32);
  CHECK(kind("0x80f14ea07f7dddde") == ChecksumKind::kXor);
  CHECK(kind("0cc175b9c0f1b6a831c399e269772661") == ChecksumKind::kMd5);
  CHECK(kind("86f7e437faa5a7fce15d1ddcb9eaeaea377667b8") == ChecksumKind::kSha1);
  CHECK_FALSE(kind("what, is this"));
  CHECK_FALSE(kind("1.5", {}));
  const TensorNumbers scalar = json(kTorchJson, ",,,,1.6769356727600098", DType::kFloat32, {});
  CHECK(value(scalar, Extremum::kMax) == 1.6769356727600098);
  CHECK(slack(scalar, Extremum::kMin) == 0);
  CHECK(json(kTorchJson, ",,,,9331D5E6").checksums[0].text == "9331d5e6");
}

TEST_CASE("checksums of bfloat16 say whether they are those of a float32 copy") {
  using enum StatisticOrigin;
  CHECK(json(kMindSporeJson, ",,,,9331d5e6", DType::kBfloat16).checksums[0].widened);
  CHECK_FALSE(json(kMindSporeJson, ",,,,9331d5e6", DType::kFloat16).checksums[0].widened);
  CHECK_FALSE(json(kTorchJson, ",,,,9331d5e6", DType::kBfloat16).checksums[0].widened);
  const auto widening = dialect("2.2.14"), plain = dialect("2.5.0");
  const std::string_view md5 = "0cc175b9c0f1b6a831c399e269772661";
  CHECK(csv({kMd5}, md5, DType::kBfloat16, Shape{4}, &widening).checksums[0].widened);
  CHECK_FALSE(csv({kMd5}, md5, DType::kBfloat16, Shape{4}, &plain).checksums[0].widened);
}

}  // namespace msdump
