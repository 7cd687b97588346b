#include "diff/diff_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace msdump::cli {
namespace {

constexpr size_t kRowsShown = 20;  // if --top does not say
constexpr size_t kTypesShown = 3;
constexpr size_t kLargestShown = 5;  // of differences that are explained, and of tensors without a partner below others

enum class RowClass : uint8_t { kCause, kReader, kUnexplained, kUnmatched, kExplained, kAgrees };

class TableOfRows {
 public:
  TableOfRows(const DiffResult& run, const DiffOptions& options)
      : run_(run), options_(options), of_cause_(rows_of_causes(run)) {
    for (const Divergence& root : run.divergence.roots) causes_.insert(root.op);
    find_readers();
  }

  DiffTable table() && {
    std::vector<DiffRow> rows = all_rows(run_);
    const bool answers = is_for_people(options_.form) && !options_.rows;
    const RowsShown wanted = options_.rows.value_or(answers ? RowsShown::kDiffer : RowsShown::kAll);
    std::erase_if(rows, [&](const DiffRow& row) { return !is_wanted(wanted, row); });
    if (answers || options_.sort == RowOrder::kSize) sort(rows, answers);
    const size_t most = options_.top > 0 ? options_.top : answers ? kRowsShown : rows.size();
    size_t shown = std::min(rows.size(), most);
    if (answers && options_.top == 0 && shown < rows.size()) {
      size_t judged = 0, alone = 0;
      for (const DiffRow& row : rows) {
        const RowClass is = class_of(row);
        judged += is < RowClass::kUnmatched ? 1 : 0;
        alone += is == RowClass::kUnmatched ? 1 : 0;
      }
      const size_t telling = judged + (judged == 0 ? alone : std::min(alone, kLargestShown));
      shown = std::min(telling == 0 ? kLargestShown : telling, shown);
    }
    DiffTable table;
    if (is_for_people(options_.form))
      table.left_out = left_out({rows.begin() + static_cast<std::ptrdiff_t>(shown), rows.end()});
    rows.resize(shown);
    table.rows = std::move(rows);
    for (DiffRow& row : table.rows) row.of_cause = is_for_people(options_.form) && class_of(row) == RowClass::kCause;
    return table;
  }

 private:
  void find_readers() {
    const DivergenceReport& report = run_.divergence;
    std::set<ExecutionId> roots, readers;
    for (const Divergence& root : report.roots) roots.insert(root.run);
    for (const FlowEdge& edge : report.edges) {
      if (roots.count(edge.from) > 0) readers.insert(edge.to);
    }
    readers_.assign(run_.pairing.tensors.size(), false);
    for (size_t i = 0; i < report.runs.size(); ++i) readers_[i] = readers.count(report.runs[i]) > 0;
  }

  [[nodiscard]] RowClass class_of(const DiffRow& row) const {
    if (!counts_as_difference(run_, row)) return RowClass::kAgrees;
    if (row.tensor == kNoId)
      return causes_.count(operator_of(run_, row)) > 0 ? RowClass::kCause : RowClass::kUnexplained;
    if (of_cause_[row.tensor]) return RowClass::kCause;
    if (readers_[row.tensor]) return RowClass::kReader;
    if (run_.divergence.explained[row.tensor] != Explanation::kNone) return RowClass::kExplained;
    return run_.diffs[row.tensor].verdict == Verdict::kUnmatched ? RowClass::kUnmatched : RowClass::kUnexplained;
  }

  [[nodiscard]] bool is_wanted(RowsShown wanted, const DiffRow& row) const {
    switch (wanted) {
      case RowsShown::kRoots: return class_of(row) == RowClass::kCause;
      case RowsShown::kUnexplained: {
        const RowClass is = class_of(row);
        return is == RowClass::kCause || is == RowClass::kUnexplained || is == RowClass::kUnmatched;
      }
      case RowsShown::kDiffer: return counts_as_difference(run_, row);
      case RowsShown::kAll: break;
    }
    return true;
  }

  // NaN on one side and another shape are beyond any number.
  [[nodiscard]] double size_of(const DiffRow& row) const {
    const Verdict verdict = verdict_of(run_, row);
    if (row.tensor == kNoId || verdict == Verdict::kNan || verdict == Verdict::kShape)
      return std::numeric_limits<double>::infinity();
    const double error = judged_error(run_, row.tensor).value_or(-1);
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  }

  // Rows of causes and their readers stay in the order of reports.
  void sort(std::vector<DiffRow>& rows, bool by_class) const {
    std::vector<std::pair<std::pair<RowClass, double>, DiffRow>> keyed;
    keyed.reserve(rows.size());
    for (const DiffRow& row : rows) {
      const RowClass is = by_class ? class_of(row) : RowClass::kCause;
      const bool by_size = !by_class || (options_.sort != RowOrder::kOrder && is > RowClass::kReader);
      keyed.push_back({{is, by_size ? -size_of(row) : 0}, row});
    }
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = keyed[i].second;
  }

  [[nodiscard]] std::string left_out(const std::vector<DiffRow>& rows) const {
    std::map<std::pair<RowClass, std::string_view>, uint64_t> counts;
    for (const DiffRow& row : rows) {
      const bool explained = class_of(row) >= RowClass::kExplained && row.tensor != kNoId;
      ++counts[{std::min(class_of(row), RowClass::kExplained),
                explained ? run_.explained(row.tensor) : std::string_view()}];
    }
    std::string text;
    for (const auto& [of, count] : counts) {
      const auto& [is, name] = of;
      std::string_view what;
      switch (is) {
        case RowClass::kCause: what = "of the causes"; break;
        case RowClass::kReader: what = "that read a cause"; break;
        case RowClass::kUnexplained: what = "unexplained"; break;
        case RowClass::kUnmatched: what = "without a partner"; break;
        default: what = name.empty() ? "that agree" : name;
      }
      text += fmt::format("{:>9}  {}{}\n", count, what, is == RowClass::kUnmatched ? owner_of(rows) : meaning_of(name));
    }
    return text.empty() ? text
                        : fmt::format("\nnot shown{}\n{}",
                                      !options_.rows ? " (--rows differ shows all that differs)" : "", text);
  }

  // ": only the candidate has their operators (79 Mul)" of tensors without a partner; empty if that is not true of all.
  [[nodiscard]] std::string owner_of(const std::vector<DiffRow>& rows) const {
    std::map<std::string_view, std::set<OperatorId>> by_type;
    bool any_of_a = false, any_of_b = false, any_of_both = false;
    for (const DiffRow& row : rows) {
      if (class_of(row) != RowClass::kUnmatched) continue;
      const OperatorId op = run_.pairing.tensors[row.tensor].op;
      const OpPair& pair = run_.pairing.operators[op];
      (pair.b == kNoId ? any_of_a : pair.a == kNoId ? any_of_b : any_of_both) = true;
      by_type[run_.op_type(op)].insert(op);
    }
    if (any_of_both || any_of_a == any_of_b) return {};
    std::vector<std::pair<std::string_view, size_t>> types;
    for (const auto& [type, operators] : by_type) types.emplace_back(type, operators.size());
    std::stable_sort(types.begin(), types.end(), [](const auto& x, const auto& y) { return x.second > y.second; });
    std::string some;
    for (size_t i = 0; i < std::min(types.size(), kTypesShown); ++i)
      some += fmt::format("{}{} {}", i == 0 ? "" : ", ", types[i].second, types[i].first);
    if (types.size() > kTypesShown) some += ", ...";
    // Whether an operator applies the scale only its values could say, which are not read without a partner.
    const double scale = run_.divergence.loss_scale;
    const bool scales = scale != 1 && (scale > 1) == any_of_a;
    return fmt::format(": only the {} has their operators ({}){}", any_of_a ? "candidate" : "reference", some,
                       scales ? ", and only it has a loss scale" : "");
  }

  static std::string_view meaning_of(std::string_view explanation) {
    static constexpr std::pair<Explanation, std::string_view> kMeanings[] = {
        {Explanation::kNoise, ": harmless, what rounding leads to"},
        {Explanation::kDownstream, ": they follow from a cause"},
        {Explanation::kUnwritten, ": harmless, memory that no kernel wrote and nothing reads"},
        {Explanation::kRandom, ": they follow from random numbers that were drawn differently"},
        {Explanation::kInert, ": written in another way, and what follows agrees"},
        {Explanation::kElsewhere, ": the other side has no such rank or step"}};
    for (const auto& [one, text] : kMeanings) {
      if (name_of(one) == explanation) return text;
    }
    return {};
  }

  const DiffResult& run_;
  const DiffOptions& options_;
  const std::vector<bool> of_cause_;
  std::set<OperatorId> causes_;
  std::vector<bool> readers_;  // by Pairing::tensors
};

}  // namespace

std::vector<bool> rows_of_causes(const DiffResult& run) {
  using Place = std::pair<std::optional<int64_t>, std::optional<int64_t>>;  // rank, step
  std::map<OperatorId, std::set<Place>> causes;
  std::set<TensorId> evidence;
  for (const Divergence& root : run.divergence.roots) {
    evidence.insert(root.outputs.begin(), root.outputs.end());
    if (enters(root)) {
      evidence.insert(root.inputs.begin(), root.inputs.end());
      continue;
    }
    causes[root.op].insert({root.place.rank, root.place.step});
    for (const DivergencePlace& other : root.places) causes[other.op].insert({other.place.rank, other.place.step});
  }
  std::vector<bool> of_cause(run.pairing.tensors.size(), false);
  for (const TensorId row : run.rows) {
    if (!counts_as_difference(run, row)) continue;
    of_cause[row] = evidence.count(row) > 0;
    const auto places = causes.find(run.pairing.tensors[row].op);
    if (places == causes.end()) continue;
    const Identity identity = run.identity(row);
    of_cause[row] = of_cause[row] || places->second.count({identity.rank, identity.step}) > 0;
  }
  return of_cause;
}

DiffTable diff_table(const DiffResult& run, const DiffOptions& options) {
  const bool every = options.rows.value_or(RowsShown::kAll) == RowsShown::kAll;
  if (!is_for_people(options.form) && every && options.top == 0 && options.sort != RowOrder::kSize)
    return {all_rows(run), {}};
  return TableOfRows(run, options).table();
}

}  // namespace msdump::cli
