// The options of msdump diff, and the rules that follow from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "compare/accept/diff_rules.h"
#include "divergence/dump_diff.h"
#include "shared/options.h"
#include "shared/sharding.h"
#include "shared/values.h"

namespace msdump::cli {

enum class RowsShown : uint8_t { kRoots, kUnexplained, kDiffer, kAll };
enum class RowOrder : uint8_t { kUsual, kOrder, kSize };

struct DiffOptions {
  std::vector<std::string> paths;  // CANDIDATE and REFERENCE, or one dump for both
  bool weights = false;
  std::vector<std::string> versions;  // --weights: the references, if there are several
  std::string rank_a, rank_b, step_a, step_b;
  std::vector<std::string> ir;
  std::string map, layout_file, new_layout_file, tokenizer_file;
  TokenUse tokens = TokenUse::kWhereNeeded;
  SelectionOptions selection;
  std::optional<double> rtol, atol;
  std::vector<std::string> metric_limits, more_metrics;
  std::string tolerance_file, baseline, new_baseline;
  bool require_rule = false;
  std::string explain;  // the operator to account for
  recompute::Extent recompute = recompute::Extent::kIfCheap;
  bool no_recompute = false;
  std::string report, junit, summary;  // files for the page and for CI
  FailLevel fail_level = FailLevel::kAny;
  ShardOptions sharding;
  ValuesOption values;
  uint32_t worst = 0;
  std::optional<RowsShown> rows;  // none: those that answer the question, or all for machines
  RowOrder sort = RowOrder::kUsual;
  uint32_t top = 0;  // rows at most; 0: the table has its own limit
  bool by_axis = false, exit_zero = false, list_metrics = false, use_stale = false;
  report::Form form = report::Form::kTable;
};
void declare_diff_options(OptionTable& table, DiffOptions& options);

// An unusable file that an option names is an error of the command line, whatever is wrong with the file.
template <class T>
[[nodiscard]] Result<T> option_file(Result<T> read) {
  if (!read) read.error().code = ErrorCode::kUsage;
  return read;
}

Result<DiffRules> diff_rules(const DiffOptions& options);

// May throw UsageError. Afterwards `paths` has both sides.
void check_diff_options(DiffOptions& options);

}  // namespace msdump::cli
