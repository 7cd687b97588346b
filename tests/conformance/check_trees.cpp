// msdump check over real dumps: healthy ones say nothing above a note, planted faults name their operator. What every tree
// of the conformance data gives is printed.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/text.h"
#include "support/catch.h"
#include "support/check_run.h"
#include "support/paths.h"

using namespace msdump;
using namespace msdump::test;
namespace fs = std::filesystem;

namespace {

// What the whole check says of a dump. The search alone names the same first and never reads more.
class TreeCheck {
 public:
  explicit TreeCheck(const fs::path& tree) : all_(tree) {
    const Checked first(tree, check::RuleSet::defaults(), true);
    CHECK(first.first_op() == all_.first_op());
    CHECK(first.facts().count_read() <= all_.facts().count_read());
    for (const check::Finding& finding : all_.findings())
      ++kinds_[static_cast<size_t>(finding.severity)][check::name_of(finding.rule)];
  }

  [[nodiscard]] bool has_tensors() const { return all_.dump().tensors() > 0; }
  [[nodiscard]] bool quiet() const {
    return of(Severity::kWarning).empty() && of(Severity::kError).empty() && first_op().empty();
  }
  [[nodiscard]] const std::map<std::string_view, size_t>& of(Severity severity) const {
    return kinds_[static_cast<size_t>(severity)];
  }
  [[nodiscard]] std::string first_op() const { return all_.first_op(); }
  [[nodiscard]] std::string first_line() const { return all_.first_line(); }
  [[nodiscard]] std::string first_kind() const {
    return all_.report().first ? std::string(check::name_of(all_.report().first->kind)) : std::string();
  }

  [[nodiscard]] std::string text() const {
    std::string text = plural(all_.dump().tensors(), "tensor");
    for (const auto severity : {Severity::kError, Severity::kWarning, Severity::kNote}) {
      for (const auto& [word, count] : of(severity)) text += fmt::format(", {} {} {}", count, word, name_of(severity));
    }
    return first_op().empty() ? text
                              : fmt::format("{}; first {}: {} ({})", text, first_kind(), first_op(), first_line());
  }

 private:
  Checked all_;
  std::map<std::string_view, size_t> kinds_[3];  // by severity
};

std::vector<fs::path> folders_of(const fs::path& folder) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

// Null where there are no tensors.
std::unique_ptr<TreeCheck> checked(const fs::path& tree) {
  auto check = std::make_unique<TreeCheck>(tree);
  if (!check->has_tensors()) return nullptr;
  std::cout << tree.filename().string() << ": " << check->text() << std::endl;
  return check;
}

bool has_planted_nan(const std::string& name) { return name.ends_with("-nan"); }
// Processes that ended early; the zoo, which holds NaN and infinities on purpose.
bool is_faulty(const std::string& name) {
  return has_planted_nan(name) || name.ends_with("-killed") || name.find("-zoo-") != std::string::npos;
}

}  // namespace

TEST_CASE("check says nothing above a note about MindSpore's healthy dumps") {
  const auto real = corpus_or_skip("real");
  if (!real) return;
  size_t trees = 0;
  for (const fs::path& tree : folders_of(*real)) {
    const std::string name = tree.filename().string();
    if (name.find('-') == std::string::npos || name == "npy-headers") continue;
    const auto check = checked(tree);
    if (!check) continue;
    INFO(name);
    if (name.ends_with("-dtypes-all")) {
      CHECK(check->first_op().find("Log-op") != std::string::npos);
      CHECK(check->first_kind() == "nan");
    } else {
      CHECK(check->quiet());
    }
    ++trees;
  }
  CHECK(trees >= 25);
}

TEST_CASE("check says nothing above a note about msprobe's healthy dumps, and names what makes NaN in the others") {
  const auto trees = corpus_or_skip("msprobe/trees");
  if (!trees) return;
  size_t healthy = 0, planted = 0;
  for (const fs::path& tree : folders_of(*trees)) {
    const std::string name = tree.filename().string();
    const auto check = checked(tree);
    if (!check) continue;
    INFO(name);
    if (!is_faulty(name)) {
      CHECK(check->quiet());
      ++healthy;
    } else if (has_planted_nan(name)) {
      CHECK(check->first_kind() == "nan");
      const std::string op = check->first_op(), line = check->first_line();
      CHECK((op == "Torch.softmax.0.forward" || op == "Functional.softmax.0.forward"));
      CHECK((line.ends_with("nets_pt.py:66") || line.ends_with("nets_ms.py:65")));
      ++planted;
    } else if (name.ends_with("-killed")) {
      CHECK(check->of(Severity::kWarning).count("stopped") == 1);
    } else {
      CHECK_FALSE(check->first_op().empty());
    }
  }
  CHECK(healthy >= 90);
  CHECK(planted == 4);
}
