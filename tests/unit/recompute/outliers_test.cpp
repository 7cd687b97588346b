#include "recompute/outliers.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "support/catch.h"

namespace msdump::recompute {
namespace {

// Operators of one output each; execution, operator and tensor have the same number.
class Judgements {
 public:
  Judgement& add(std::string_view type, double error, DType format = DType::kFloat16) {
    const auto number = static_cast<uint32_t>(all_.size());
    OperatorJudgement& of = all_.emplace_back();
    of.run = ExecutionId(number);
    of.type = type;
    of.kernel.arithmetic = Arithmetic::kElementwise;
    Judgement& output = of.outputs.emplace_back(OutputJudgement{TensorId(number), "y", {}, {}}).judgement;
    output.verdict = Judgement::Verdict::kRight;
    output.format = format;
    output.relative_error = error * unit_roundoff(format);
    output.rounding_of[0] = unit_roundoff(format);
    return output;
  }
  void add_usual(size_t count, std::string_view type, DType format = DType::kFloat16) {
    for (size_t i = 0; i < count; ++i) add(type, 0.4, format);
  }
  // `executions` follow each other as steps of one operator.
  [[nodiscard]] std::map<TensorId, Outlier> find(uint32_t executions = 1) const {
    return find_outliers(all_, [executions](ExecutionId run) { return OperatorId(uint32_t{run} / executions); });
  }

 private:
  std::vector<OperatorJudgement> all_;
};

}  // namespace

TEST_CASE("an outlier has three times the error of every similar operator, of which there are at least four") {
  const double error = GENERATE(1.1, 1.3);
  const auto similar = static_cast<size_t>(GENERATE(3, 4));
  Judgements judgements;
  judgements.add_usual(similar, "Exp", DType::kFloat32);
  judgements.add("Exp", error, DType::kFloat32);
  const auto outliers = judgements.find();
  REQUIRE(outliers.size() == (similar == 4 && error > 1.2 ? 1 : 0));
  if (outliers.empty()) return;
  const Outlier& outlier = outliers.at(TensorId(4));
  CHECK(outlier.similar == 4);
  CHECK(outlier.of_type);
  CHECK(outlier.error == Approx(1.3));
  CHECK(outlier.times == Approx(1.3 / 0.4));
}

TEST_CASE("an error below the roundoff of the format makes no outlier") {
  Judgements judgements;
  for (int i = 0; i < 5; ++i) judgements.add("Exp", 0.1);
  judgements.add("Exp", 0.9);
  CHECK(judgements.find().empty());
  judgements.add("Exp", 3.0);
  CHECK(judgements.find().size() == 1);
}

TEST_CASE("outputs of 16 bits have all outputs of their format beside them, if few are of their type") {
  const DType format = GENERATE(DType::kFloat16, DType::kFloat32);
  Judgements judgements;
  judgements.add_usual(4, "Mul", format);
  judgements.add("Exp", 5, format);
  const auto outliers = judgements.find();
  REQUIRE(outliers.size() == (format == DType::kFloat16 ? 1 : 0));
  if (!outliers.empty()) CHECK_FALSE(outliers.at(TensorId(4)).of_type);
}

TEST_CASE("an output is an outlier if it alone of its type is rounded to fewer bits than its operands have") {
  Judgements judgements;
  judgements.add_usual(4, "MatMul");
  Judgement& output = judgements.add("MatMul", 0.4, DType::kBfloat16);
  output.coarser = true;
  SECTION("of fewer bits") {
    const auto outliers = judgements.find();
    REQUIRE(outliers.size() == 1);
    CHECK(outliers.at(TensorId(4)).format == DType::kBfloat16);
    CHECK(outliers.at(TensorId(4)).similar == 4);
    Judgement other;
    other.format = DType::kFloat16;
    CHECK_FALSE(shares(outliers.at(TensorId(4)), other));
    other.format = DType::kBfloat16;
    CHECK(shares(outliers.at(TensorId(4)), other));
  }
  SECTION("as its operands have") {
    output.coarser = false;
    CHECK(judgements.find().empty());
  }
  SECTION("few values") {
    output.rounding_of[0] = 0;
    CHECK(judgements.find().empty());
  }
  SECTION("exact but for what float16 rounds") {
    output.relative_error = 0.9 * unit_roundoff(DType::kFloat16);
    CHECK(judgements.find().empty());
  }
  SECTION("terms that cancel") {
    output.rounding_of[0] = 4 * unit_roundoff(DType::kBfloat16);
    CHECK(judgements.find().empty());
  }
  SECTION("another one, too") {
    judgements.add("MatMul", 0.4, DType::kBfloat16);
    CHECK(judgements.find().empty());
  }
  SECTION("another one may be") {
    judgements.add("MatMul", 0.4).fits_bfloat16 = true;
    CHECK(judgements.find().empty());
  }
}

TEST_CASE("of fewer than four similar operators none shows the format of the others") {
  Judgements judgements;
  judgements.add_usual(3, "MatMul");
  judgements.add("MatMul", 0.4, DType::kBfloat16).coarser = true;
  CHECK(judgements.find().empty());
}

TEST_CASE("an operator is not similar to itself in another step, nor to one that is wrong or exact") {
  Judgements judgements;
  judgements.add_usual(8, "Exp");
  SECTION("steps") {
    judgements.add("Exp", 5);
    judgements.add("Exp", 5);
    CHECK(judgements.find(2).size() == 2);
    CHECK(judgements.find().empty());
  }
  SECTION("wrong") {
    judgements.add("Exp", 100).verdict = Judgement::Verdict::kWrong;
    judgements.add("Exp", 5);
    const auto outliers = judgements.find();
    CHECK(outliers.size() == 1);
    CHECK(outliers.count(TensorId(9)) == 1);
  }
  SECTION("exact") {
    judgements.add("Exp", 5).rounding_of[0] = 0;
    CHECK(judgements.find().empty());
  }
  SECTION("without any error") {
    Judgements exact;
    for (int i = 0; i < 4; ++i) exact.add("Exp", 0);
    exact.add("Exp", 5);
    CHECK(exact.find().empty());
  }
}

TEST_CASE("of an operator that is off by more in one step the largest error counts") {
  const bool first = GENERATE(true, false);
  Judgements judgements;
  judgements.add_usual(8, "Exp");
  judgements.add("Exp", first ? 3 : 0.4);
  judgements.add("Exp", first ? 0.4 : 3);
  judgements.add("Exp", 5);
  CHECK(judgements.find(2).empty());
}

TEST_CASE("an outlier is one in every precision that the device may have") {
  const double low = GENERATE(1.0, 2.0, 20.0);  // what rounding of the operands leads to
  Judgements judgements;
  for (int i = 0; i < 4; ++i) judgements.add("MatMul", 0.4).rounding_of[1] = unit_roundoff(DType::kFloat16);
  judgements.add("MatMul", 5).rounding_of[1] = low * unit_roundoff(DType::kFloat16);
  const auto outliers = judgements.find();
  REQUIRE(outliers.size() == (low < 20 ? 1 : 0));
  if (!outliers.empty()) CHECK(outliers.at(TensorId(4)).times == Approx(5 / 0.4 / low));
}

TEST_CASE("an operator of the reference that is as far off shares what makes an outlier") {
  const Outlier outlier{.error = 6, .times = 10, .similar = 4, .of_type = true};
  Judgements reference;
  CHECK(shares(outlier, reference.add("Exp", 2.1, DType::kFloat32)));
  CHECK_FALSE(shares(outlier, reference.add("Exp", 1.9, DType::kFloat32)));
  Judgement exact;
  CHECK(shares(outlier, exact));
}

}  // namespace msdump::recompute
