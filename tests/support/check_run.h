// Checked: a dump, checked as msdump check does: by its path, with its IR if there is one that matches.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "check/check.h"
#include "graph/join/numbering.h"
#include "graph/load/load_graph.h"
#include "support/statistics_run.h"

namespace msdump::test {

// The default rules without wrong_output: tests make up the outputs of operators.
[[nodiscard]] inline check::RuleSet rules_for_made_up_values() {
  check::RuleSet rules = check::RuleSet::defaults();
  (void)rules.apply("wrong_output:off");
  return rules;
}

class Checked {
 public:
  explicit Checked(const std::filesystem::path& path, const check::RuleSet& rules = rules_for_made_up_values(),
                   bool only_first = false);

  [[nodiscard]] const std::vector<check::Finding>& findings() const { return run_->report.findings; }
  [[nodiscard]] const check::CheckReport& report() const { return run_->report; }
  [[nodiscard]] const check::CheckRun& run() const { return *run_; }
  [[nodiscard]] const check::CheckedDump& dump() const { return run_->dump; }
  [[nodiscard]] const check::FactsReader& facts() const { return run_->facts; }

  [[nodiscard]] std::vector<const check::Finding*> of(std::string_view kind) const;
  [[nodiscard]] check::Finding only(std::string_view kind) const;  // the one of a kind
  // "nan error Log-op1 output 0", one a finding.
  [[nodiscard]] std::vector<std::string> reported() const;
  // What is named as the first, and its line as "FILE:LINE"; empty where there is none.
  [[nodiscard]] std::string first_op() const;
  [[nodiscard]] std::string first_line() const;

 private:
  void load_ir();

  ListedDump dump_;
  WorkerPool pool_;
  CancelToken cancel_;
  LoadedGraph loaded_;
  std::unique_ptr<Joined> joined_;
  std::unique_ptr<check::CheckRun> run_;
};

}  // namespace msdump::test
