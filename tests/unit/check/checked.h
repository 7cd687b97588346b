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

template <class T>
std::string npy_of(std::string_view descr, const std::vector<T>& elements) {
  test::NpySpec spec;
  spec.literal = test::npy_literal(descr, fmt::format("({},)", elements.size()));
  spec.data.assign(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
  return test::build_npy(spec);
}
inline std::string floats(const std::vector<float>& elements) { return npy_of("<f4", elements); }
// By their codes: 0x3C00 is 1, 0x7BFF 65504.
inline std::string halves(const std::vector<uint16_t>& codes) { return npy_of("<f2", codes); }

// "rank_0/Net/0/STEP/TYPE.NAME.0.0.TIME.output.0.DefaultFormat.npy"
inline std::string tensor_path(std::string_view op, int64_t time, std::string_view io_slot, int64_t step = 0,
                               int64_t rank = 0) {
  const size_t slash = op.rfind('/');
  const std::string_view leaf = slash == std::string_view::npos ? op : op.substr(slash + 1);
  const std::string_view type = leaf.substr(0, leaf.find("-op"));
  std::string name(op);
  for (char& c : name) c = c == '/' ? '_' : c;
  return fmt::format("rank_{}/Net/0/{}/{}.{}.0.0.{}.{}.DefaultFormat.npy", rank, step, type, name,
                     1700000000000000 + time, io_slot);
}

class Checked {
 public:
  explicit Checked(const std::filesystem::path& path, const RuleSet& rules = RuleSet::defaults(),
                   bool only_first = false)
      : dump_(test::list_dump({path}, Headers::kWhereNeeded, 2)), pool_(2) {
    load(path);
    CompareSide side{&dump_.index, &dump_.tensors(), joined_ ? &loaded_.graph : nullptr,
                     joined_ ? &joined_->join : nullptr};
    runs_ = std::make_unique<OpRuns>(side);
    facts_ = std::make_unique<FactsReader>(dump_.index, dump_.tensors(), rules.any_given("abs_mean_gt"));
    const Selection everything;
    const std::vector<bool> chosen(dump_.tensors().size(), true);
    const CheckInput input{*runs_, rules, everything, dump_.list.failures(), chosen};
    const ReadContext context{pool_, cancel_};
    auto report = only_first ? check_first(input, *facts_, context) : check_all(input, *facts_, context);
    REQUIRE(report);
    report_ = std::move(*report);
  }

  [[nodiscard]] const std::vector<Finding>& findings() const { return report_.findings; }
  [[nodiscard]] const CheckReport& report() const { return report_; }
  [[nodiscard]] const OpRuns& runs() const { return *runs_; }
  [[nodiscard]] const FactsReader& facts() const { return *facts_; }

  [[nodiscard]] std::vector<const Finding*> of(std::string_view kind) const {
    std::vector<const Finding*> found;
    for (const Finding& finding : report_.findings) {
      if (finding.kind == kind) found.push_back(&finding);
    }
    return found;
  }
  // The one finding of a kind.
  [[nodiscard]] Finding only(std::string_view kind) const {
    const auto found = of(kind);
    INFO(kind);
    REQUIRE(found.size() == 1);
    return *found.front();
  }
  // "nan error Log-op1 output 0", one a finding.
  [[nodiscard]] std::vector<std::string> told() const {
    std::vector<std::string> lines;
    for (const Finding& finding : report_.findings) {
      std::string line = fmt::format("{} {}", finding.kind, name_of(finding.severity));
      if (finding.op != kNone) line += " " + runs_->operators()[finding.op].name;
      if (finding.tensor != kNone) {
        const NameFacts& name = runs_->record(finding.tensor).name;
        line += fmt::format(" {} {}", name_of(name.io), name.slot);
      }
      lines.push_back(std::move(line));
    }
    return lines;
  }
  [[nodiscard]] std::string first_op() const {
    return report_.first ? runs_->operators()[report_.first->op].name : std::string();
  }

 private:
  void load(const std::filesystem::path& path) {
    (void)path;
    const auto search = find_ir(&dump_.index, {});
    REQUIRE(search);
    auto loaded = load_graph(search->files, {}, {pool_, cancel_});
    REQUIRE(loaded);
    loaded_ = std::move(*loaded);
    if (loaded_.graph.size() == 0) return;
    auto joined = join_files(dump_.index, dump_.tensors(), loaded_.graph, {pool_, cancel_});
    REQUIRE(joined);
    joined_ = std::make_unique<Joined>(std::move(*joined));
    if (joined_->join.matched_operators() == 0) joined_.reset();
  }

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
