#include "divergence/missed_update.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "divergence/dump_diff.h"
#include "support/catch.h"
#include "support/diff_side.h"
#include "support/made_calls.h"
#include "support/made_net.h"
#include "support/scratch_dir.h"

namespace msdump {
namespace {

// Two steps of a product with a weight, which a call of an optimizer may update on each side.
struct Update {
  bool of_candidate = true, of_reference = true;
  bool moves = false;  // the weight of a side without the call changes all the same
  float noise = 0;
};

std::string root_of(const Update& update) {
  const test::ScratchDir scratch;
  for (const bool bad : {false, true}) {
    const bool updates = bad ? update.of_candidate : update.of_reference;
    for (int step = 0; step < 2; ++step) {
      MadeCalls calls(bad);
      calls.as_statistics();
      const auto values = [&](float first) {
        std::vector<float> noisy = some_values(first);
        for (float& value : noisy) value *= bad ? 1 + update.noise : 1;
        return noisy;
      };
      const bool stays = step == 0 || (!updates && !update.moves);
      const std::vector<float> weight = stays ? some_values(2) : values(updates ? 3 : 3.5F);
      calls.ran("Functional.linear.0.forward", {values(1), weight}, {values(step == 0 ? 4.0F : updates ? 5.0F : 4.5F)});
      calls.ran("Functional.linear.0.backward", {values(6)}, {values(7)});
      if (updates) calls.ran("Tensor.add_.0.forward", {values(8)}, {values(step == 0 ? 3 : 9)});
      calls.write(scratch.path() / (bad ? "bad" : "ref"), fmt::format("step{}/rank0", step));
    }
  }
  WorkerPool pool(1);
  const CancelToken never;
  const auto side = [&](const char* name) { return test::open_diff_side(scratch.path() / name, {pool, never}, {}); };
  DiffRules rules;
  const auto run = diff_dumps(side("bad"), side("ref"), nullptr, rules, {}, {pool, never});
  REQUIRE(run);
  const std::vector<Divergence>& roots = run->divergence.roots;
  if (roots.empty() || roots[0].rule != RootRule::kUpdate) return {};
  return fmt::format("{} {} in step {}: {}", name_of(roots[0].kind), run->op_name(roots[0].op),
                     roots[0].place.step.value_or(-1), roots[0].reason);
}

TEST_CASE("an update that one side alone makes is found, whatever the noise") {
  for (const float noise : {0.0F, 1e-3F}) {
    CHECK(root_of({.of_candidate = false, .noise = noise}) ==
          "missing Tensor.add_.0.forward in step 0: only the reference has it: it writes what "
          "Functional.linear.0.forward reads in the next step; without it, that is the value of the step before");
    CHECK(root_of({.of_reference = false, .noise = noise}) ==
          "value Tensor.add_.0.forward in step 0: only the candidate has it: it writes what "
          "Functional.linear.0.forward reads in the next step; without it, that is the value of the step before");
    CHECK(root_of({.noise = noise}).empty());
    // Something else updates it, which was not dumped.
    CHECK(root_of({.of_candidate = false, .moves = true, .noise = noise}).empty());
    CHECK(root_of({.of_reference = false, .moves = true, .noise = noise}).empty());
  }
}

}  // namespace
}  // namespace msdump
