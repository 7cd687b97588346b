// The planted faults of corpus/diagnosis, dumped by MindSpore and rewritten as Ascend dump files in device formats: the
// roots are those of truth.json, with their lines, and device formats alone are no difference.
#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include "conformance/diff_answer.h"
#include "conformance/planted_truth.h"
#include "support/catch.h"
#include "support/paths.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

void check_roots(const DiffAnswer& answer, const std::vector<JsonValue>& faults) {
  const std::vector<NamedRoot> roots = answer.roots();
  CHECK(roots.size() == faults.size());
  for (const JsonValue& fault : faults) {
    INFO("fault: " << fault.find("any_of")->items.front().find("op")->text);
    CHECK(std::any_of(roots.begin(), roots.end(), [&](const NamedRoot& root) { return answers(root, fault); }));
  }
  for (const NamedRoot& root : roots) {
    INFO("named: " << root.op_name << " " << root.place());
    CHECK(std::any_of(faults.begin(), faults.end(), [&](const JsonValue& fault) { return answers(root, fault); }));
  }
}

}  // namespace

TEST_CASE("the roots of a faulty run are those of the truth, in npy files and in device formats") {
  const auto corpus = corpus_or_skip("diagnosis");
  if (!corpus) return;
  size_t checked = 0;
  for (const fs::path& folder : planted_cases(*corpus, "diff")) {
    INFO(folder.filename().string());
    const PlantedCase one(folder);
    const DiffAnswer plain = ask_diff(one.tree("bad"), one.tree("ref"));
    check_roots(plain, one.roots());
    CHECK(one.expects_exit("expect_exit", plain.exit_code));
    INFO("bad_device");
    const DiffAnswer device = ask_diff(one.tree("bad_device"), one.tree("ref"));
    check_roots(device, one.roots());
    CHECK(one.expects_exit("expect_exit_device", device.exit_code));
    ++checked;
  }
  CHECK(checked >= 2);
}

TEST_CASE("the same run in device formats and float16 is close in every tensor that both have") {
  const auto corpus = corpus_or_skip("diagnosis");
  if (!corpus) return;
  int64_t compared = 0;
  for (const fs::path& folder : planted_cases(*corpus)) {
    INFO(folder.filename().string());
    const PlantedCase one(folder);
    const DiffAnswer answer = ask_diff(one.tree("bad_device"), one.tree("bad"));
    CHECK(answer.roots().empty());
    CHECK(answer.count("same") + answer.count("close") == answer.count("compared"));
    for (const JsonValue& row : answer.document.find("rows")->items) {
      // What was left out on the way; nothing was added. Constants are in the IR.
      const std::string& verdict = row.find("verdict")->text;
      if (verdict == "unmatched" || verdict == "skipped") CHECK(row.find("a")->is(JsonKind::kNull));
      if (verdict == "skipped") CHECK(row.find("reason")->text.starts_with("equal to the constant "));
    }
    compared += answer.count("compared");
  }
  CHECK(compared > 600);
  std::cout << fmt::format("{} tensors in device formats are close to those in npy files\n", compared);
}
