#include "diff/diff_files.h"

#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "diff/diff_roots.h"
#include "diff/diff_rows.h"
#include "diff/diff_text.h"
#include "graph/scope_name.h"
#include "io/atomic_file.h"
#include "report/junit.h"
#include "shared/ci_files.h"
#include "shared/rows.h"

namespace msdump::cli {
namespace {

// "rank 0, step 1: "
std::string place_before(const Identity& identity) {
  const std::string text = place_text(identity.dump, identity.rank, identity.step);
  return text.empty() ? text : text.substr(2) + ": ";
}

class JunitCases {
 public:
  JunitCases(const DiffResult& run, const DiffOptions& options)
      : run_(run), options_(options), fails_(fails(run, options.fail_level) && !options.exit_zero) {
    for (const DiffRow& row : all_rows(run)) add(row);
    for (const Divergence& root : run.divergence.roots) case_at(place_of(root)).roots.push_back(&root);
  }

  [[nodiscard]] report::JunitSuite suite() const {
    report::JunitSuite suite{"msdump diff", {}};
    bool any = false;
    for (const auto& [place, one] : cases_) {
      suite.cases.push_back(case_of(place, one));
      any = any || suite.cases.back().failure.has_value();
    }
    if (fails_ && !any) {
      report::JunitCase& all = suite.cases.emplace_back();
      all.name = "verdict";
      all.class_name = "msdump.diff";
      all.failure = report::JunitProblem{summary_text(run_), "differ", {}};
    }
    suite.cases.push_back(case_of_errors("msdump.diff.unreadable", "inputs", run_.failures));
    return suite;
  }

 private:
  using Place = std::pair<std::string, std::string_view>;  // scope, kind of tensor
  struct Case {
    std::vector<const Divergence*> roots;
    std::vector<DiffRow> failing, others;
  };

  [[nodiscard]] Place place_of(const Divergence& root) const {
    const bool named = !root.parameter.empty();
    const std::string_view kind = !enters(root)                             ? name_of(Io::kOutput)
                                  : root.kind == DivergenceKind::kParameter ? name_of(Io::kParameter)
                                                                            : name_of(Io::kInput);
    return {scope_of_op(named ? std::string_view(root.parameter) : std::string_view(run_.op_name(root.op))), kind};
  }

  // In the order of the data flow, as far as rows are.
  Case& case_at(Place place) {
    const auto [found, is_new] = numbers_.try_emplace(place, cases_.size());
    if (is_new) cases_.emplace_back(std::move(place), Case());
    return cases_[found->second].second;
  }

  void add(const DiffRow& row) {
    const bool is_argument = row.tensor == kNoId;
    const Io io = is_argument ? run_.key(run_.arguments[row.argument]).io : run_.identity(row.tensor).name.io;
    Case& one = case_at({scope_of_op(run_.op_name(operator_of(run_, row))), name_of(io)});
    const FailLevel level = options_.fail_level;
    if (is_argument ? argument_fails(run_, row.argument, level) : tensor_fails(run_, row.tensor, level)) {
      one.failing.push_back(row);
    } else if (is_difference(verdict_of(run_, row))) {
      one.others.push_back(row);
    }
  }

  [[nodiscard]] report::JunitCase case_of(const Place& place, const Case& one) const {
    report::JunitCase made{place.first, fmt::format("msdump.diff.{}", place.second), {}, {}, {}};
    const auto lines_of = [&](const std::vector<DiffRow>& rows) {
      return report::junit_lines(rows.size(), [&](size_t i) { return line_of(rows[i]); });
    };
    made.output = (fails_ ? "" : lines_of(one.failing)) + lines_of(one.others);
    const size_t roots = one.roots.size(), count = roots + one.failing.size();
    if (!fails_ || count == 0) return made;
    const std::string type(roots > 0 ? std::string_view("root") : name_of(verdict_of(run_, one.failing.front())));
    made.failure = report::junit_problem(type, "differences", count, [&](size_t i) {
      return i < roots ? root_line(*one.roots[i]) : line_of(one.failing[i - roots]);
    });
    if (roots == 0 && !run_.divergence.roots.empty()) {
      const Divergence& first = run_.divergence.roots.front();
      const std::string cause =
          fmt::format("the first root: {}{}", root_name(run_, first), source_note(run_.frame(first.op)));
      made.failure->message += "; " + cause;
      made.failure->text += cause + "\n";
    }
    return made;
  }

  [[nodiscard]] std::string root_line(const Divergence& root) const {
    return fmt::format("root: {}{}{}: {}: {}", root_name(run_, root), root_place(run_, root),
                       source_note(run_.frame(root.op)), name_of(decided_by(root.rule)), root.reason);
  }

  [[nodiscard]] std::string line_of(const DiffRow& row) const {
    if (row.tensor == kNoId) {
      const ArgumentDiff& argument = run_.arguments[row.argument];
      const std::string_view accepted = run_.accepted_arguments[row.argument] ? "; accepted" : "";
      return fmt::format("{}: argument {}: {}{}", run_.op_name(argument.op), argument.name,
                         reason_of(argument, run_.pairing), accepted);
    }
    const TensorDiff& diff = run_.diffs[row.tensor];
    std::string text = fmt::format("{}{}: {}", place_before(run_.identity(row.tensor)),
                                   run_.op_name(run_.pairing.tensors[row.tensor].op), tensors_text(run_, {row.tensor}));
    if (diff.verdict == Verdict::kUnmatched && !diff.reason->empty()) text += ": " + *diff.reason;
    if (run_.accepted[row.tensor]) return text + "; accepted";
    if (const std::string_view explained = run_.explained(row.tensor); !explained.empty())
      text += fmt::format("; {}", explained);
    return text;
  }

  const DiffResult& run_;
  const DiffOptions& options_;
  const bool fails_;  // the exit code is 1, unless inputs failed
  std::vector<std::pair<Place, Case>> cases_;
  std::map<Place, size_t> numbers_;  // in `cases_`
};

}  // namespace

Status write_diff_junit(const DiffResult& run, const DiffOptions& options) {
  return write_named_file(options.junit, report::junit_text({JunitCases(run, options).suite()}));
}

Status write_empty_junit(const std::string& path, const std::vector<Error>& errors) {
  report::JunitCase one = case_of_errors("msdump.diff", errors.empty() ? "selection" : "inputs", errors);
  if (errors.empty())
    one.error = report::JunitProblem{"nothing was compared: the selection matches no tensor", "empty_selection", {}};
  return write_lone_case("diff", path, std::move(one));
}

}  // namespace msdump::cli
