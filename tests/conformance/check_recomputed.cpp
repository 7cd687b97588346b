// Operators of recorded runs are computed again: nothing that MindSpore or PyTorch computed rightly is called wrong, and what was
// planted is.
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "io/json.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/program/run_program.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

struct Recomputed {
  double operators = 0, right = 0, wrong = 0;
  std::map<std::string, double> largest;  // right error by kernel, in units

  void add(const fs::path& dump) {
    const cli::Outcome outcome =
        cli::run_program({"check", "--json", dump.string(), "--rule", "none", "--rule", "wrong_output"});
    auto document = parse_json(outcome.out);
    REQUIRE(document);
    const JsonValue* const counts = document->find("summary")->find("recompute");
    if (counts == nullptr || counts->is(JsonKind::kNull)) return;
    operators += counts->find("operators")->as_double().value_or(0);
    right += counts->find("right")->as_double().value_or(0);
    wrong += counts->find("wrong")->as_double().value_or(0);
    for (const JsonValue& kernel : counts->find("kernels")->items) {
      double& most = largest[kernel.find("kernel")->text];
      most = std::max(most, kernel.find("largest_right")->as_double().value_or(0));
    }
  }
};

}  // namespace

TEST_CASE("no operator of a right run is wrong") {
  const auto corpus = corpus_or_skip("real");
  if (!corpus) return;
  Recomputed all;
  for (const fs::directory_entry& entry : fs::directory_iterator(*corpus)) {
    if (!entry.is_directory()) continue;
    INFO(entry.path().filename().string());
    all.add(entry.path());
    CHECK(all.wrong == 0);
  }
  for (const auto& [kernel, units] : all.largest) std::cout << fmt::format("{:24} {:8.3g} units\n", kernel, units);
  std::cout << fmt::format("{} of {} operators are right\n", all.right, all.operators);
  CHECK(all.right >= 1000);
}

TEST_CASE("calls of msprobe are wrong where a fault was planted, and nowhere else") {
  const auto corpus = corpus_or_skip("msprobe");
  if (!corpus) return;
  size_t planted = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(*corpus / "trees")) {
    const std::string name = entry.path().filename().string();
    const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
    // Values of these were changed after the call.
    const bool changed = has("tensor-element") || has("tensor-nan") || has("tensor-scale") || has("tensor-step1") ||
                         has("ranks-tensor-rank1");
    INFO(name);
    Recomputed own;
    own.add(entry.path());
    if (!changed) CHECK(own.wrong == 0);
    if (own.wrong > 0) ++planted;
  }
  CHECK(planted >= 5);
}
