#include "compare/dumps/compare_dumps.h"

#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "support/catch.h"
#include "support/made_calls.h"
#include "support/made_net.h"

namespace msdump {
namespace {

constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

struct Asked {
  std::vector<TensorId> chosen = {};  // empty: all
  DiffRules rules = {};
  SecondLookOptions look = {};
  std::vector<Error> failures_a = {}, failures_b = {};
  unsigned jobs = 2;
};

ComparedTensors compared(const test::ComparedDumps& dumps, const Asked& asked = {}) {
  StatisticTables tables_a(*dumps.a().index), tables_b(*dumps.b().index);
  std::vector<TensorId> chosen = asked.chosen;
  if (chosen.empty()) {
    chosen.resize(dumps.pairing().tensors.size());
    std::iota(chosen.begin(), chosen.end(), TensorId(0));
  }
  WorkerPool pool(asked.jobs);
  const CancelToken never;
  return compare_dumps({{dumps.a(), tables_a, asked.failures_a}, {dumps.b(), tables_b, asked.failures_b}},
                       dumps.pairing(), chosen, asked.rules, asked.look, {pool, never});
}

std::string describe(const TensorDiff& diff) { return fmt::format("{}: {}", name_of(diff.verdict), *diff.reason); }

// "unmatched: not in the candidate" of each pair without a partner, in order.
Texts alone(const test::ComparedDumps& dumps, const ComparedTensors& result) {
  Texts texts;
  for (size_t i = 0; i < result.diffs.size(); ++i) {
    const TensorPair& pair = dumps.pairing().tensors[i];
    if (!pair.is_paired()) texts.push_back(describe(result.diffs[i]));
  }
  return texts;
}

// Pairs of one product: x, the factor, the output.
void product(MadeNet& net) {
  Values x = some_values();
  if (net.bad()) x[3] = 7;
  net.op("Mul", {net.input("x", x), net.constant(2)});
}

// The verdict on the output of an operator on 16 elements, which each side dumps in a shape.
std::string verdict_on_output(const std::string& type, const Shape& of_input, const Shape& a, const Shape& b) {
  const Trial trial([&](MadeNet& net) {
    const auto y = net.op(type, {net.input("x")});
    net.shape_input(y, 0, of_input);
    net.shape_output(y, net.bad() ? a : b);
  });
  const ComparedTensors result = compared(trial.compared());
  return describe(result.diffs.back());
}

// Dumps of the two sides, each written by `write`.
template <class Write>
void with_dumps(const Write& write,
                const std::function<void(const test::ComparedDumps&, const std::filesystem::path&)>& look) {
  const test::ScratchDir scratch;
  for (const bool bad : {false, true}) write(bad, scratch.path() / (bad ? "bad" : "ref"));
  look(test::ComparedDumps(scratch.path() / "bad", scratch.path() / "ref"), scratch.path());
}

}  // namespace

TEST_CASE("the output of a Reshape may be dumped in the shape of its input") {
  CHECK(verdict_on_output("Reshape", {2, 8}, {2, 8}, {4, 4}) ==
        "same: dumped in the shape of what wrote it: 2x8 against 4x4");
  CHECK(verdict_on_output("Reshape", {2, 8}, {4, 4}, {2, 8}) ==
        "same: dumped in the shape of what wrote it: 4x4 against 2x8");
  CHECK(verdict_on_output("Reshape", {2, 8}, {8, 2}, {4, 4}) == "shape: 8x2 against 4x4");
  CHECK(verdict_on_output("ReLU", {2, 8}, {2, 8}, {4, 4}) == "shape: 2x8 against 4x4");
}

TEST_CASE("the chosen pairs are compared, with the worst element of those that differ, and no others") {
  const Trial trial(product);
  const ComparedTensors all = compared(trial.compared());
  REQUIRE(all.diffs.size() == 3);
  CHECK(all.failures.empty());
  CHECK(all.diffs[0].verdict == Verdict::kDiffer);
  CHECK(all.diffs[1].verdict == Verdict::kSame);
  REQUIRE(all.details[TensorId{0}].worst);
  CHECK(all.details[TensorId{0}].worst->index == std::vector<int64_t>{3});
  CHECK(all.details[TensorId{0}].look.worst.empty());
  CHECK_FALSE(all.details[TensorId{1}].worst);
  const ComparedTensors one = compared(trial.compared(), {.chosen = {TensorId(2)}, .look = {.worst = 5}});
  CHECK(one.diffs[0].verdict == Verdict::kSkipped);
  CHECK(one.diffs[2].verdict == Verdict::kDiffer);
  CHECK(one.details[TensorId{2}].look.worst.size() == 1);
}

TEST_CASE("where one side alone is NaN that element is the worst one") {
  const Trial trial([](MadeNet& net) {
    Values x = some_values();
    x[2] = net.bad() ? x[2] + 100 : x[2];
    if (net.bad()) x[5] = kNotANumber;
    net.op("Neg", {net.input("x", x)});
  });
  const ComparedTensors result = compared(trial.compared());
  CHECK(result.diffs[0].verdict == Verdict::kNan);
  REQUIRE(result.details[TensorId{0}].worst);
  CHECK(result.details[TensorId{0}].worst->index == std::vector<int64_t>{5});
  CHECK(result.details[TensorId{0}].look.worst.empty());
  for (const size_t worst : {size_t{1}, size_t{2}})
    CHECK(compared(trial.compared(), {.look = {.worst = worst}}).details[TensorId{0}].look.worst.size() == worst);
}

TEST_CASE("a rule for a tensor stands in the place of the tolerance and the limits of all") {
  const Trial trial(product);
  DiffRules rules;
  rules.tolerance.atol = 100;
  CHECK(compared(trial.compared(), {.rules = rules}).diffs[0].verdict == Verdict::kClose);
  rules.by_tensor = ToleranceRules::parse("*:input:0 atol=1e-9\n").value();
  const ComparedTensors by_tensor = compared(trial.compared(), {.rules = rules});
  CHECK(by_tensor.diffs[0].verdict == Verdict::kDiffer);
  CHECK(by_tensor.diffs[2].verdict == Verdict::kClose);
  rules.by_tensor.reset();
  rules.limits = {parse_metric_limit("max_abs<=0.1").value()};
  CHECK(compared(trial.compared(), {.rules = rules}).diffs[0].verdict == Verdict::kDiffer);
  rules.on_request = true;
  CHECK(compared(trial.compared(), {.rules = rules}).diffs[0].kl);
}

TEST_CASE("an operator without a partner says what there is instead") {
  const Trial trial([](MadeNet& net) {
    const auto x = net.input("x");
    net.op(net.bad() ? "MatMulOther" : "MatMul", {x});
    net.op("Exp", {x});
    const auto y = net.op("Neg", {x});
    if (net.bad()) net.hide_input(y, 0);
  });
  const ComparedTensors result = compared(trial.compared());
  CHECK(alone(trial.compared(), result) ==
        Texts{"unmatched: not in the reference; the nearest name there is Default/MatMul-op0",
              "unmatched: not in the reference; the nearest name there is Default/MatMul-op0",
              "unmatched: not in the candidate; the nearest name there is Default/MatMulOther-op0",
              "unmatched: not in the candidate; the nearest name there is Default/MatMulOther-op0",
              "unmatched: not in the candidate"});
}

TEST_CASE("where an operator of the same name has another partner, this is named") {
  const NameMap map(parse_name_map("Default/Mul-op0,Default/Mul-op1\nDefault/Mul-op1,N/A\n", {}).value());
  const Trial trial(
      [](MadeNet& net) {
        const auto x = net.input("x");
        for (int i = 0; i < 2; ++i) net.hide_input(net.op("Mul", {x}), 0);
      },
      {.map = &map});
  CHECK(alone(trial.compared(), compared(trial.compared())) ==
        Texts{"unmatched: not in the candidate; the operator of this name there is paired with Default/Mul-op1",
              "unmatched: not in the reference; the operator of this name there is paired with Default/Mul-op0"});
}

TEST_CASE("where the operator of this name has no partner either, this is said") {
  const test::ScratchDir scratch;
  for (const bool bad : {false, true}) {
    MadeCalls calls(bad);
    calls.ran("Torch.exp.0.forward", {{1, 2}}, {{3, 4}});
    calls.write(scratch.path() / (bad ? "candidate" : "reference"));
  }
  const NameMap map = NameMap::read(scratch.write("map.csv", "Torch.exp.0.forward,N/A\n")).value();
  const test::ComparedDumps dumps(scratch.path() / "candidate", scratch.path() / "reference", &map);
  const Texts reasons = alone(dumps, compared(dumps));
  REQUIRE(reasons.size() == 4);
  CHECK(reasons[0] == "unmatched: not in the reference; the operator of this name there has no partner either");
  CHECK(reasons[3] == "unmatched: not in the candidate; the operator of this name there has no partner either");
}

TEST_CASE("a step or a rank that the other side does not have is named") {
  const auto net_at = [](const MadePlace& place, const std::filesystem::path& dump) {
    MadeNet net(place, false);
    net.op("Neg", {net.input("x")});
    net.write(dump, false);
  };
  with_dumps(
      [&](bool bad, const auto& dump) {
        for (const int step : {1, bad ? 3 : 2}) net_at({bad, 0, step}, dump);
      },
      [](const test::ComparedDumps& dumps, const auto&) {
        CHECK(alone(dumps, compared(dumps)) ==
              Texts{"unmatched: the candidate has no step 2", "unmatched: the candidate has no step 2",
                    "unmatched: the reference has no step 3", "unmatched: the reference has no step 3"});
      });
  with_dumps(
      [&](bool bad, const auto& dump) {
        for (const int rank : {0, bad ? 2 : 1}) net_at({bad, rank, 0}, dump);
      },
      [](const test::ComparedDumps& dumps, const auto&) {
        CHECK(alone(dumps, compared(dumps)) ==
              Texts{"unmatched: the reference has no rank 2", "unmatched: the reference has no rank 2",
                    "unmatched: the candidate has no rank 1", "unmatched: the candidate has no rank 1"});
      });
}

TEST_CASE("a file that could not be listed makes its partner one that is skipped") {
  with_dumps(
      [](bool bad, const auto& dump) {
        MadeNet net({bad, 0, 0}, false);
        net.op("Neg", {net.input("x")});
        net.write(dump, false);
        if (!bad) return;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(dump)) {
          if (entry.path().string().find("output") != std::string::npos) std::filesystem::resize_file(entry.path(), 90);
        }
      },
      [](const test::ComparedDumps& dumps, const auto&) {
        REQUIRE(dumps.a().tensors->size() == 1);
        Asked asked;
        for (const IndexedFile& file : dumps.a().index->files()) {
          const std::string path = dumps.a().index->path_of(file);
          if (path.find("output") != std::string::npos)
            asked.failures_a.push_back(make_error(ErrorCode::kTruncated, "it is cut").with_path(path));
        }
        CHECK(alone(dumps, compared(dumps, asked)) == Texts{"skipped: cannot be read in the candidate: it is cut"});
        CHECK(alone(dumps, compared(dumps)) == Texts{"unmatched: not in the candidate"});
      });
}

TEST_CASE("a tensor that cannot be read any more is a failure, and the others are compared") {
  with_dumps(
      [](bool bad, const auto& dump) {
        MadeNet net({bad, 0, 0}, false);
        net.op("Neg", {net.input("x")});
        net.write(dump, false);
      },
      [](const test::ComparedDumps& dumps, const auto& folder) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "bad")) {
          if (entry.path().string().find("input") != std::string::npos) std::filesystem::resize_file(entry.path(), 90);
        }
        const ComparedTensors result = compared(dumps);
        REQUIRE(result.failures.size() == 1);
        CHECK(result.failures[0].code == ErrorCode::kTruncated);
        CHECK(result.diffs[0].verdict == Verdict::kSkipped);
        CHECK(result.diffs[0].reason == result.failures[0].message);
        CHECK(result.diffs[1].verdict == Verdict::kSame);
      });
}

TEST_CASE("the result does not depend on the number of threads, of more pairs than one thread takes at once") {
  const Trial trial(
      [](MadeNet& net) {
        auto x = net.input("x");
        for (int i = 0; i < 50; ++i) x = net.op(i % 2 == 0 ? "Neg" : "Exp", {x});
        if (net.bad()) net.hide_output(x);
        if (net.bad()) net.show_input(x, 0, some_values(3));
      },
      {.ir = false});
  const ComparedTensors one = compared(trial.compared(), {.jobs = 1}), four = compared(trial.compared(), {.jobs = 4});
  REQUIRE(one.diffs.size() == 100);
  for (size_t i = 0; i < one.diffs.size(); ++i) {
    CHECK(describe(one.diffs[i]) == describe(four.diffs[i]));
    CHECK(one.diffs[i].verdict == (i == 98 ? Verdict::kDiffer : i == 99 ? Verdict::kUnmatched : Verdict::kSame));
  }
}

}  // namespace msdump
