// The nets of support/noisy_net are real nets: their float32 agrees with double, their gradients with differences.
#include <cmath>
#include <map>
#include <set>

#include "support/catch.h"
#include "support/compare_run.h"
#include "support/diff_side.h"
#include "support/noisy_net/judge.h"
#include "support/noisy_net/net_dump.h"
#include "support/sanitized.h"
#include "support/scratch_dir.h"

namespace msdump::noisy {
namespace {

double loss_with(const Net& net, uint64_t seed, Ref parameter, const Numbers& values) {
  Run run{exact_arithmetic(), seed};
  run.parameters[parameter] = values;
  return evaluate(net, run)[0].values[net.loss].v[0];
}

// Along a direction of all elements, so that one evaluation checks all.
void check_gradient(const Net& net, uint64_t seed, Ref parameter, const Numbers& gradient) {
  const Numbers& at = net.values[parameter].initial;
  double expected = 0;
  Numbers ahead = at, back = at;
  const double step = 1e-5;
  for (size_t i = 0; i < at.size(); ++i) {
    const double along = std::sin(1.3 * static_cast<double>(i) + 0.4);
    expected += gradient[i] * along;
    ahead[i] += step * along;
    back[i] -= step * along;
  }
  const double slope = (loss_with(net, seed, parameter, ahead) - loss_with(net, seed, parameter, back)) / (2 * step);
  INFO("seed " << seed << ", " << net.values[parameter].name << ": " << slope << " against " << expected);
  CHECK(std::fabs(slope - expected) <= 1e-5 * (std::fabs(slope) + std::fabs(expected)) + 1e-9);
}

// The first operator whose result the fault changes is a right answer, or alone on its side.
void check_first_change(const Candidate& healthy, const Candidate& wrong) {
  std::map<std::string, Numbers> before;
  for (const NetNode& node : healthy.net.nodes) before[node.key] = healthy.values[0].values[node.outputs[0]].v;
  for (const NetNode& node : wrong.net.nodes) {
    const auto found = before.find(node.key);
    if (found != before.end() && found->second == wrong.values[0].values[node.outputs[0]].v) continue;
    INFO(node.name << " of " << wrong.faults.at(0).kind << " of " << wrong.faults.at(0).where);
    CHECK(wrong.faults.at(0).in_candidate.contains(node.name));
    return;
  }
}

}  // namespace

TEST_CASE("the gradients of noisy nets are those of finite differences") {
  for (uint64_t seed = 0; seed < (test::kIsSanitized ? 6 : 60); ++seed) {
    const Net net = random_net({seed, true, true});
    const auto values = evaluate(net, {exact_arithmetic(), seed});
    size_t checked = 0;
    for (const NetNode& node : net.nodes) {
      const bool momentum = node.type == "ApplyMomentum";
      if (!momentum && !node.type.starts_with("Adam")) continue;
      check_gradient(net, seed, node.inputs[0], values[0].values[momentum ? node.inputs[3] : node.inputs.back()].v);
      ++checked;
    }
    CHECK(checked >= 2);
  }
}

TEST_CASE("noisy nets in float32 agree with double arithmetic") {
  for (uint64_t seed = 0; seed < (test::kIsSanitized ? 4 : 40); ++seed) {
    const Net net = random_net({seed});
    const auto exact = evaluate(net, {exact_arithmetic(), seed});
    const auto single = evaluate(net, {reference_arithmetic(seed), seed});
    for (const NetNode& node : net.nodes) {
      if (node.backward) break;  // after a ReLU, one element that changes its sign changes a gradient
      const Ref output = node.outputs[0];
      INFO("seed " << seed << ", " << node.name);
      CHECK(relative_error(single[0].values[output].v, exact[0].values[output].v) < 1e-5);
    }
    CHECK(net.nodes.size() >= 9);
    CHECK(net.nodes.size() <= 450);
  }
}

TEST_CASE("a planted fault is as large as it says, and nothing before it changes") {
  for (uint64_t seed = 0; seed < (test::kIsSanitized ? 4 : 40); ++seed) {
    const NoisyNet noisy(seed);
    const auto graded = noisy.graded(20), full = noisy.full();
    if (graded) {
      const Planted& fault = graded->faults.at(0);
      INFO("seed " << seed << ", " << fault.kind << " of " << fault.where);
      CHECK(fault.ratio() > 14);
      CHECK(fault.ratio() < 30);
      check_first_change(noisy.clean(), *graded);
    }
    if (full) check_first_change(noisy.clean(), *full);
  }
}

TEST_CASE("the dump of a noisy net equals itself, and its IR says where everything comes from") {
  for (uint64_t seed = 0; seed < (test::kIsSanitized ? 3 : 10); ++seed) {
    const NoisyNet noisy(seed);
    const test::ScratchDir scratch;
    for (const char* side : {"a", "b"})
      write_dump(scratch.path() / side, noisy.net(), noisy.reference(), noisy.setting().reference, {});
    const test::ComparedDumps compared(scratch.path() / "a", scratch.path() / "b");
    CHECK(compared.count(Verdict::kSame) == compared.diffs().size());
    CHECK(compared.roots().empty());
    CHECK(compared.report().flow == (noisy.net().loops ? FlowKind::kValues : FlowKind::kIr));
  }
}

namespace {

// The roots of a candidate against the reference of its net, and what they were planted as.
std::pair<std::vector<Divergence>, std::vector<Named>> roots_of(const NoisyNet& noisy, const Candidate& candidate) {
  const test::ScratchDir scratch;
  const Setting& setting = noisy.setting();
  const DumpForm form{setting.ir, setting.statistics, setting.half_files};
  write_dump(scratch.path() / "reference", noisy.net(), noisy.reference(), setting.reference, form);
  write_dump(scratch.path() / "candidate", candidate.net, candidate.values, setting.candidate, form);
  WorkerPool pool(1);
  const CancelToken never;
  const RunContext context{pool, never};
  DiffRules rules;
  auto run = diff_dumps(test::open_diff_side(scratch.path() / "candidate", context),
                        test::open_diff_side(scratch.path() / "reference", context), nullptr, rules, {}, context);
  REQUIRE(run);
  return {run->divergence.roots, judge(*run, candidate.faults)};
}

}  // namespace

TEST_CASE("a fault of twice the noise, within the limit of its kernel, is found among similar operators") {
  const NoisyNet noisy(static_cast<uint64_t>(GENERATE(1316, 1324, 1340)));
  const auto candidate = noisy.graded(2);
  REQUIRE(candidate);
  const auto [roots, named] = roots_of(noisy, *candidate);
  REQUIRE(roots.size() == 1);
  CHECK(roots.front().rule == RootRule::kOutlier);
  CHECK(named.front().fault == 0);
  CHECK(roots_of(noisy, noisy.clean()).first.empty());
}

TEST_CASE("a running mean whose batch normalisation is right by its own inputs makes no root") {
  const NoisyNet noisy(522);
  CHECK(roots_of(noisy, noisy.clean()).first.empty());
}

}  // namespace msdump::noisy
