// Judgements in parts: what is read is what was written, and nothing that no judge gives.
#include "recompute/kept_judgement.h"

#include <functional>
#include <optional>
#include <utility>

#include "support/catch.h"

namespace msdump::recompute {
namespace {

Question question() {
  Question question;
  question.row = find_row(Framework::kMindSpore, "Mul");
  question.type = "Mul";
  question.run = ExecutionId(3);
  question.outputs = {{TensorId(8), "", nullptr}, {TensorId(9), "", nullptr}};
  return question;
}

OperatorJudgement wrong() {
  OperatorJudgement judgement;
  judgement.run = ExecutionId(3);
  judgement.type = "Mul";
  Judgement output;
  output.verdict = Judgement::Verdict::kWrong;
  output.precision = Precision::kTensor;
  output.units = 1e30;
  output.limit = 4;
  output.elements = 6;
  output.wrong = 2;
  output.shape = {2, 3};
  output.worst = {1, 2};
  output.place = Box{{0, 1}, {1, 2}, 16};
  output.variant = "fused";
  output.format = DType::kBfloat16;
  output.units_of = {1, 2, 3};
  judgement.outputs.push_back({TensorId(9), "y", output, {}});
  judgement.asked.push_back({"b", "3", Value::From::kGraph});
  return judgement;
}

std::optional<OperatorJudgement> read_again(const KeptJudgement& kept) {
  auto decoded = decode_result<KeptJudgement>(encode_result(Result<KeptJudgement>(kept)));
  REQUIRE(decoded);
  return judgement_of(question(), std::move(*decoded));
}

}  // namespace

TEST_CASE("A judgement of a part is what the share found") {
  const auto read = read_again(kept_judgement(question(), wrong()));
  REQUIRE(read);
  CHECK(read->run == ExecutionId(3));
  CHECK(read->type == "Mul");
  CHECK(read->kernel.name == question().row->kernel->name);
  REQUIRE(read->outputs.size() == 1);
  CHECK(read->outputs[0].tensor == TensorId(9));
  CHECK(read->outputs[0].name == "y");
  const Judgement& judgement = read->outputs[0].judgement;
  CHECK(judgement.is_wrong());
  CHECK(judgement.precision == Precision::kTensor);
  CHECK(judgement.units == 1e30);
  CHECK(judgement.worst == std::vector<int64_t>{1, 2});
  CHECK(judgement.place->multiple_of == 16);
  CHECK(judgement.variant == "fused");
  CHECK(judgement.format == DType::kBfloat16);
  CHECK(judgement.units_of[2] == 3);
  REQUIRE(read->asked.size() == 1);
  CHECK(read->asked[0].from == Value::From::kGraph);
  CHECK(describe_wrong(read->outputs[0]) == describe_wrong(wrong().outputs[0]));
}

TEST_CASE("What no judge gives is no judgement") {
  const auto refuses = [](const std::function<void(KeptJudgement::Output & output)>& change) {
    KeptJudgement kept = kept_judgement(question(), wrong());
    change(kept.outputs[0]);
    return !read_again(kept);
  };
  CHECK_FALSE(refuses([](auto&) {}));
  CHECK(refuses([](auto& output) { output.place = 2; }));
  CHECK(refuses([](auto& output) { output.judgement.worst = {1}; }));
  CHECK(refuses([](auto& output) { output.judgement.worst = {1, 3}; }));
  CHECK(refuses([](auto& output) { output.judgement.worst = {-1, 0}; }));
  CHECK(refuses([](auto& output) { output.judgement.place->from = {2, 0}; }));
  CHECK(refuses([](auto& output) { output.judgement.place->to = {0, 0}; }));
  CHECK(refuses([](auto& output) { output.judgement.place->to.push_back(0); }));
  CHECK(refuses([](auto& output) { output.judgement.shape = {}; }));
  CHECK(refuses([](auto& output) { output.judgement.wrong = 7; }));
  CHECK(refuses([](auto& output) { output.judgement.elements = -1; }));
}

TEST_CASE("The key of a judgement has the traits of the device") {
  const FactKey plain = judgement_key(ExecutionId(3), {});
  CHECK(plain == FactKey{FactKind::kRecomputed, 3, 0});
  CHECK(judgement_key(ExecutionId(3), {true, DType::kUndefined}) != plain);
  CHECK(judgement_key(ExecutionId(3), {false, DType::kFloat16}) !=
        judgement_key(ExecutionId(3), {false, DType::kBfloat16}));
}

}  // namespace msdump::recompute
