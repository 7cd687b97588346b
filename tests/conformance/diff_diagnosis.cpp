// The planted faults of corpus/diagnosis, dumped by MindSpore and rewritten as Ascend dump files in device formats: the
// roots are those of truth.json, with their lines, and device formats alone are no difference.
#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include "conformance/diff_answer.h"
#include "support/catch.h"
#include "support/paths.h"
#include "support/scratch_dir.h"
#include "support/tar.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

// Unpacked beside each other, as the README has it.
class Case {
 public:
  explicit Case(const fs::path& folder) {
    auto truth = parse_json(read_bytes(folder / "truth.json"));
    REQUIRE(truth);
    truth_ = std::move(*truth);
    for (const char* const name : {"ref", "bad", "bad_device"}) {
      if (fs::exists(folder / (std::string(name) + ".tar.gz")))
        unpack_tar(folder / (std::string(name) + ".tar.gz"), scratch_.make_dir(name));
    }
  }

  [[nodiscard]] fs::path tree(const char* name) const { return scratch_.path() / name; }
  [[nodiscard]] const std::vector<JsonValue>& roots() const { return truth_.find("roots")->items; }
  [[nodiscard]] bool is_for_diff() const { return truth_.find("command")->text == "diff"; }
  [[nodiscard]] bool expects_exit(const char* key, int code) const {
    const auto& codes = truth_.find(key)->items;
    return std::any_of(codes.begin(), codes.end(), [&](const JsonValue& one) { return one.as_int() == code; });
  }

 private:
  const ScratchDir scratch_;
  JsonValue truth_;
};

bool holds(const JsonValue& list, const std::string& text) {
  return std::any_of(list.items.begin(), list.items.end(), [&](const JsonValue& one) { return one.text == text; });
}

// Is it an operator of this fault, with a line that is right for it? An empty `source`: the IR names no line.
bool answers(const NamedRoot& named, const JsonValue& fault) {
  const auto& any_of = fault.find("any_of")->items;
  return std::any_of(any_of.begin(), any_of.end(), [&](const JsonValue& right) {
    const auto& names = right.find("names")->items;
    const bool is_op = std::any_of(names.begin(), names.end(),
                                   [&](const JsonValue& name) { return same_op_name(name.text, named.op_name); });
    const JsonValue& lines = *right.find("source");
    return is_op && (lines.items.empty() || holds(lines, named.place()) || holds(*fault.find("source"), named.place()));
  });
}

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

std::vector<fs::path> cases_of(const fs::path& corpus) {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(corpus)) {
    if (fs::exists(entry.path() / "truth.json")) cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

}  // namespace

TEST_CASE("the roots of a faulty run are those of the truth, in npy files and in device formats") {
  const auto corpus = corpus_or_skip("diagnosis");
  if (!corpus) return;
  size_t checked = 0;
  for (const fs::path& folder : cases_of(*corpus)) {
    INFO(folder.filename().string());
    const Case one(folder);
    if (!one.is_for_diff()) continue;
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
  for (const fs::path& folder : cases_of(*corpus)) {
    INFO(folder.filename().string());
    const Case one(folder);
    const DiffAnswer answer = ask_diff(one.tree("bad_device"), one.tree("bad"));
    CHECK(answer.roots().empty());
    CHECK(answer.count("same") + answer.count("close") == answer.count("compared"));
    CHECK(answer.count("skipped") == 0);
    for (const JsonValue& row : answer.document.find("rows")->items) {
      // What was left out on the way; nothing was added.
      if (row.find("verdict")->text == "unmatched") CHECK(row.find("a")->is(JsonKind::kNull));
    }
    compared += answer.count("compared");
  }
  CHECK(compared > 600);
  std::cout << fmt::format("{} tensors in device formats are close to those in npy files\n", compared);
}
