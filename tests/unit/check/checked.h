// A small dump, checked as msdump check does, for tests to look at: arrays by name, an IR if there is one.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "check/check.h"
#include "graph/load_graph.h"
#include "graph/numbering.h"
#include "support/catch.h"
#include "support/graph_run.h"
#include "support/npy_builder.h"
#include "support/scratch_dir.h"
#include "support/statistics_run.h"

namespace msdump::check {

[[nodiscard]] std::string floats(const std::vector<float>& elements);
// By their codes: 0x3C00 is 1, 0x7BFF 65504.
[[nodiscard]] std::string halves(const std::vector<uint16_t>& codes);
// Of any dtype that .npy has.
template <class T>
[[nodiscard]] std::string npy_of(std::string_view descr, const std::vector<T>& elements) {
  return test::npy_of(descr, Shape{static_cast<int64_t>(elements.size())},
                      {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)});
}

// "rank_0/Net/0/STEP/TYPE.NAME.0.0.TIME.output.0.DefaultFormat.npy"
[[nodiscard]] std::string tensor_path(std::string_view op, int64_t time, std::string_view io_slot, int64_t step = 0,
                                      int64_t rank = 0);

class Checked {
 public:
  explicit Checked(const std::filesystem::path& path, const RuleSet& rules = RuleSet::defaults(),
                   bool only_first = false);

  [[nodiscard]] const std::vector<Finding>& findings() const { return report_.findings; }
  [[nodiscard]] const CheckReport& report() const { return report_; }
  [[nodiscard]] const OpRuns& runs() const { return *runs_; }
  [[nodiscard]] const FactsReader& facts() const { return *facts_; }

  [[nodiscard]] std::vector<const Finding*> of(std::string_view kind) const;
  [[nodiscard]] Finding only(std::string_view kind) const;  // the one of a kind
  // "nan error Log-op1 output 0", one a finding.
  [[nodiscard]] std::vector<std::string> told() const;
  [[nodiscard]] std::string first_op() const;

 private:
  void load_ir();

  test::ListedDump dump_;
  WorkerPool pool_;
  CancelToken cancel_;
  LoadedGraph loaded_;
  std::unique_ptr<Joined> joined_;
  std::unique_ptr<OpRuns> runs_;
  std::unique_ptr<FactsReader> facts_;
  CheckReport report_;
};

}  // namespace msdump::check
