// What PyTorch itself computed, forward and backward, of each API with a kernel: testdata/recorded/vectors.tar.zst.
#include <iostream>
#include <set>
#include <string>

#include <fmt/format.h>

#include "io/json.h"
#include "recompute/kernel.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/program/run_program.h"

using namespace msdump;
using namespace msdump::test;

TEST_CASE("kernels compute what PyTorch computes, within half their limit") {
  const auto vectors = corpus_or_skip("vectors");
  if (!vectors) return;
  const cli::Outcome outcome =
      cli::run_program({"check", "--json", vectors->string(), "--rule", "none", "--rule", "wrong_output"});
  auto document = parse_json(outcome.out);
  REQUIRE(document);
  for (const JsonValue& wrong : document->find("recompute")->items) {
    INFO(wrong.find("op_name")->text << ": " << wrong.find("reason")->text);
    CHECK(false);
  }
  const JsonValue* const counts = document->find("summary")->find("recompute");
  std::set<std::string> seen, lacking;
  double outputs = 0;
  for (const JsonValue& kernel : counts->find("kernels")->items) {
    const std::string& name = kernel.find("kernel")->text;
    const double units = kernel.find("largest_right")->as_double().value_or(-1);
    INFO(name << ": " << units << " units");
    CHECK(units >= 0);
    CHECK(units <= kernel.find("limit")->as_double().value_or(0) / 2);
    seen.insert(name);
    outputs += kernel.find("outputs")->as_double().value_or(0);
  }
  recompute::for_each_row([&](const recompute::KernelRow& row) {
    if (row.kernel == nullptr) return;
    const std::string name(row.kernel->name);
    const bool of_torch = recompute::find_row(recompute::Framework::kTorch, row.type) == &row ||
                          recompute::find_row(recompute::Framework::kTorchBackward, row.type) == &row;
    if (of_torch && seen.count(name) == 0) lacking.insert(name);
  });
  std::cout << fmt::format("{} outputs of {} kernels; without a vector:", outputs, seen.size());
  for (const std::string& name : lacking) std::cout << ' ' << name;
  std::cout << '\n';
  CHECK(outputs >= 450);
  // msprobe 26.2 does not wrap these.
  CHECK(lacking == std::set<std::string>{"ones_like", "rms_norm", "zeros_like"});
}
