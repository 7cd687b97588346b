#include <limits>

#include "check/rules/rules.h"

#include "base/containers.h"

namespace msdump::check {
namespace {

constexpr double kNotGiven = std::numeric_limits<double>::quiet_NaN();
constexpr double kMost = std::numeric_limits<double>::max();

RuleParameter number(std::string_view name, double standard = kNotGiven) { return {name, standard, -kMost, kMost}; }
RuleParameter positive(std::string_view name, double standard = kNotGiven) { return {name, standard, 0, kMost}; }
RuleParameter percentage(std::string_view name, double standard = kNotGiven) { return {name, standard, 0, 100}; }

std::vector<RuleParameter> large_parameters() {
  return {positive("abs_mean_gt"), number("max_gt"), number("min_gt"), number("mean_gt")};
}
std::vector<RuleParameter> small_parameters() {
  return {positive("abs_mean_lt"), number("max_lt"), number("min_lt"), number("mean_lt")};
}
std::vector<RuleParameter> range_parameters() {
  return {number("range_start_inclusive"),   number("range_end_inclusive"), percentage("range_percentage_lt"),
          percentage("range_percentage_gt"), positive("max_min_lt"),        positive("max_min_gt")};
}

constexpr std::string_view kLarge = "mean |x|, max, min or mean is above its parameter";
constexpr std::string_view kSmall = "mean |x|, max, min or mean is below its parameter";
constexpr std::string_view kRange =
    "the share of elements in [start, end], or max - min, is below or above its parameter";

std::vector<RuleInfo> make_rules() {
  using enum RuleId;
  using enum Severity;
  constexpr bool kOn = true, kOff = false;
  return {
      {kNan,
       "nan",
       "TO WO GE",
       Target::kTensor,
       kError,
       Needs::kNumbers,
       kOn,
       {percentage("percentage_ge", 0)},
       "an element is NaN. A note for outputs that nothing reads: the kernel may never have written them",
       "elements that are NaN; null from a table that does not count them"},
      {kInf,
       "inf",
       "TO WO GE",
       Target::kTensor,
       kError,
       Needs::kNumbers,
       kOn,
       {percentage("percentage_ge", 0)},
       "an element is infinite. -inf alone is a note if it masks: beside one other value, made by a select or fill, "
       "or passed on from an input",
       "elements that are infinite; null from a table that does not count them"},
      {kSaturation,
       "saturation",
       "",
       Target::kTensor,
       kWarning,
       Needs::kNumbers,
       kOn,
       {percentage("percentage_ge", 0), percentage("fp8_percentage_ge", 1)},
       "elements are the largest of their type (65504 of float16): too large, and clipped. Masks as in inf; for 8-bit "
       "floats, whose scales use the edge, from fp8_percentage_ge on",
       "elements at the edge; null from a table"},
      {kSubnormal,
       "subnormal",
       "",
       Target::kTensor,
       kNote,
       Needs::kElements,
       kOn,
       {percentage("percentage_ge", 50)},
       "this share of the non-zero elements is subnormal: they are about to vanish",
       "percent of the non-zero elements"},
      {kAllZero,
       "all_zero",
       "TZ",
       Target::kTensor,
       kNote,
       Needs::kNumbers,
       kOn,
       {percentage("zero_percentage_ge", 100)},
       "this share of the elements is zero, in an output with an input that has other values, or in a weight of two or "
       "more dimensions",
       "percent of the elements"},
      {kConstant,
       "constant",
       "",
       Target::kTensor,
       kNote,
       Needs::kNumbers,
       kOn,
       {},
       "max = min, not zero, at least two elements, in an output with an input that has several values, or in a weight "
       "of two or more dimensions",
       "the element"},
      {kTooLarge, "too_large", "TL", Target::kTensor, kWarning, Needs::kNumbers, kOff, large_parameters(), kLarge,
       "the number that is above its parameter"},
      {kTooSmall, "too_small", "TS", Target::kTensor, kWarning, Needs::kNumbers, kOff, small_parameters(), kSmall,
       "the number that is below its parameter"},
      {kTensorRange, "tensor_range", "TR", Target::kTensor, kWarning, Needs::kElements, kOff, range_parameters(),
       kRange, "percent of the elements in the range, or max - min"},
      {kActivationRange, "activation_range", "AR", Target::kActivation, kWarning, Needs::kElements, kOff,
       range_parameters(), kRange, "percent of the elements in the range, or max - min"},
      {kWeightInitialization,
       "weight_initialization",
       "WI",
       Target::kWeight,
       kWarning,
       Needs::kNumbers,
       kOff,
       {percentage("zero_percentage_ge", 100), number("max_gt"), number("min_lt")},
       "in the first step this share of the elements is zero, or max or min is beyond its parameter",
       "percent of the elements that are zero, or max, or min"},
      {kWeightTooLarge, "weight_too_large", "WL", Target::kWeight, kWarning, Needs::kNumbers, kOff, large_parameters(),
       kLarge, "the number that is above its parameter"},
      {kWeightTooSmall, "weight_too_small", "WS", Target::kWeight, kWarning, Needs::kNumbers, kOff, small_parameters(),
       kSmall, "the number that is below its parameter"},
      {kDeadRows,
       "dead_rows",
       "",
       Target::kWeight,
       kNote,
       Needs::kElements,
       kOn,
       {percentage("percentage_ge", 0)},
       "this share of the rows, or of the columns, of a weight of two or more dimensions is all zero, but not all of "
       "them (rows: the first dimension; columns: the second). Not rows of embedding tables, which pad with zeros",
       "rows, or columns"},
      {kWeightUnchanged,
       "weight_unchanged",
       "WNC",
       Target::kWeight,
       kNote,
       Needs::kNumbers,
       kOn,
       {positive("rtol", 1e-5), positive("atol", 1e-8)},
       "|x - x of the step before| <= atol + rtol |x of the step before| for all elements; from statistics: all "
       "numbers are equal. A warning if it holds for every weight of the step",
       "null"},
      {kWeightChangeLarge,
       "weight_change_large",
       "WCL",
       Target::kWeight,
       kWarning,
       Needs::kElements,
       kOff,
       {positive("abs_mean_update_ratio_gt", 0.1), positive("epsilon", 1e-9)},
       "mean |x - p| / (mean |p| + epsilon) is above its parameter; p is the step before",
       "mean |x - p| / (mean |p| + epsilon)"},
      {kWeightChangeSmall,
       "weight_change_small",
       "WCS",
       Target::kWeight,
       kWarning,
       Needs::kElements,
       kOff,
       {positive("abs_mean_update_ratio_lt", 1e-4), positive("epsilon", 1e-9)},
       "mean |x - p| / (mean |p| + epsilon) is below its parameter; p is the step before",
       "mean |x - p| / (mean |p| + epsilon)"},
      {kGradientTooLarge, "gradient_too_large", "GL", Target::kGradient, kWarning, Needs::kNumbers, kOff,
       large_parameters(), kLarge, "the number that is above its parameter"},
      {kGradientExploding,
       "gradient_exploding",
       "",
       Target::kGradient,
       kWarning,
       Needs::kNumbers,
       kOn,
       {positive("rms_gt", 1e6)},
       "the root mean square of a weight's gradient is above its parameter (loss scaling included)",
       "root mean square"},
      {kGradientVanishing, "gradient_vanishing", "GV", Target::kGradient, kWarning, Needs::kNumbers, kOn,
       [] {
         std::vector<RuleParameter> parameters = small_parameters();
         parameters.push_back(positive("layer_ratio_lt", 1e-8));
         return parameters;
       }(),
       "mean |x|, max, min or mean is below its parameter; or by layer: the root mean square of a weight's gradient is "
       "smaller by layer_ratio_lt than the largest of the step (not for vectors, whose gradients may cancel out; a "
       "note if it is exactly 0, unless most are)",
       "root mean square relative to the largest of the step, or the number that is below its parameter"},
      {kOperatorOverflow,
       "operator_overflow",
       "OO",
       Target::kOperator,
       kError,
       Needs::kTree,
       kOn,
       {},
       "the device recorded an overflow (Opdebug), or the dump was set to overflowing operators (op_debug_mode 3)",
       "status word of the device; null with op_debug_mode 3"},
      {kException,
       "exception",
       "",
       Target::kOperator,
       kError,
       Needs::kTree,
       kOn,
       {},
       "the operator failed: extra-info of CANN, or a dump set to failing operators (op_debug_mode 4)",
       "null"},
      {kMemoryStomp,
       "memory_stomp",
       "",
       Target::kTensor,
       kWarning,
       Needs::kElements,
       kOn,
       {},
       "an output that CANN's watcher mode watched has other bytes than before, after another operator ran. With a "
       "graph "
       "an error if an operator that reads it runs later, and a note if all have run",
       "elements that changed; of the row that sums up further changes: how many"},
      {kUnreadable,
       "unreadable",
       "",
       Target::kTree,
       kError,
       Needs::kTree,
       kOn,
       {},
       "a file, or a tensor of it, cannot be read: cut off, damaged, no permission",
       "code of the failure, as in failures"},
      {kEmptyFile,
       "empty_file",
       "",
       Target::kTree,
       kError,
       Needs::kTree,
       kOn,
       {},
       "an empty file, of a kind that is never empty",
       "code of the failure, as in failures"},
      {kSizeAgainstName,
       "size_against_name",
       "",
       Target::kTree,
       kError,
       Needs::kTree,
       kOn,
       {},
       "a raw file that holds more or less than the shape and dtype in its name",
       "null"},
      {kIncompleteCheckpoint,
       "incomplete_checkpoint",
       "",
       Target::kTree,
       kError,
       Needs::kTree,
       kOn,
       {},
       "the index of a checkpoint in several files does not fit: a file is missing, a parameter is only in the index "
       "or "
       "only in the files; a warning if only total_size differs",
       "code of the failure where the index cannot be read, else null"},
      {kIncompleteStep,
       "incomplete_step",
       "",
       Target::kTree,
       kWarning,
       Needs::kTree,
       kOn,
       {},
       "a step with fewer tensors than others of the same rank and graph, or than the same step of other ranks, or "
       "with none; a note if scripts may branch",
       "operators; null where only files were counted"},
      {kMissingStep,
       "missing_step",
       "",
       Target::kTree,
       kWarning,
       Needs::kTree,
       kOn,
       {},
       "a rank without steps that others have, or that ran and were to be dumped",
       "steps; null where other ranks have them"},
      {kStopped,
       "stopped",
       "",
       Target::kTree,
       kWarning,
       Needs::kTree,
       kOn,
       {},
       "from one operator on nothing was dumped, or msprobe was not stopped: the process ended in between",
       "operators that are missing, or tensors without an entry in dump.json"},
      {kMissingFiles,
       "missing_files",
       "",
       Target::kTree,
       kNote,
       Needs::kTree,
       kOn,
       {},
       "operators with a kernel, by the IR or the execution order, without a tensor if others of their graph have "
       "some; a warning if a fifth of all or more are missing",
       "operators; tensors where dump.json names files that are not there"},
      {kMissingSlots,
       "missing_slots",
       "",
       Target::kTree,
       kWarning,
       Needs::kTree,
       kOn,
       {},
       "operators with inputs and no output, or without an input that the IR has, in a dump that has both",
       "operators"},
      {kUnexplainedFiles,
       "unexplained_files",
       "",
       Target::kTree,
       kNote,
       Needs::kTree,
       kOn,
       {},
       "tensors of operators that the IR does not have",
       "operators"},
      {kPartialDump,
       "partial_dump",
       "",
       Target::kTree,
       kNote,
       Needs::kTree,
       kOn,
       {},
       "only inputs, only outputs or only some operators were dumped: what this hides",
       "null"},
      {kAccCheck,
       "acc_check",
       "",
       Target::kOperator,
       kError,
       Needs::kResults,
       kOn,
       {},
       "msprobe's acc_check says error of an API (accuracy_checking_*.csv); a warning where it says warning",
       "null"},
      {kPrecisionCompare,
       "precision_compare",
       "",
       Target::kOperator,
       kError,
       Needs::kResults,
       kOn,
       {},
       "msprobe's api_precision_compare says error of an API; a warning where it says warning",
       "null"},
      {kFreeBenchmark,
       "free_benchmark",
       "",
       Target::kOperator,
       kWarning,
       Needs::kResults,
       kOn,
       {},
       "an API's output changes too much when its input is perturbed (free_benchmark.csv of msprobe)",
       "relative change of the output"},
      {kAnomaly,
       "anomaly",
       "",
       Target::kOperator,
       kError,
       Needs::kResults,
       kOn,
       {},
       "msprobe's overflow_check or compare names the operator as the first that is not finite, or that differs "
       "(anomaly_analyze_*.json, diff_analyze_*.json)",
       "null"},
      {kMonitorAlert,
       "monitor_alert",
       "",
       Target::kTensor,
       kWarning,
       Needs::kResults,
       kOn,
       {},
       "msprobe's monitor noted a jump or NaN of a statistic (anomaly.json)",
       "null"},
      {kCollectiveMismatch,
       "collective_mismatch",
       "",
       Target::kOperator,
       kError,
       Needs::kNumbers,
       kOn,
       {},
       "what a collective gave a rank is not what the ranks of its group put in (reduced, gathered, exchanged, sent) "
       "within the rounding of the dtype, or ranks of the group got different results. A note if they differ by "
       "rounding only. Not for what was dumped before it arrived",
       "largest absolute error"},
      {kReplicaMismatch,
       "replica_mismatch",
       "",
       Target::kTensor,
       kWarning,
       Needs::kNumbers,
       kOn,
       {},
       "a tensor that ranks of a group have in common, bit by bit, in their first step or in most of their parameters, "
       "differs on one of them: about the first place where that rank left the others. A note if it differs by "
       "rounding "
       "only",
       "largest absolute difference; null from statistics"},
      {kRankMissing,
       "rank_missing",
       "",
       Target::kTree,
       kWarning,
       Needs::kTree,
       kOn,
       {},
       "the rank numbers have a hole, or groups of collectives have ranks that the dump does not have; a note if "
       "half of the ranks or more are missing, or all but two, as where some ranks were to be dumped",
       "ranks"},
  };
}

}  // namespace

std::string_view name_of(Severity severity) {
  static constexpr auto kNames = enum_table<Severity, std::string_view>("note", "warning", "error");
  return kNames[severity];
}

std::string_view name_of(Target target) {
  static constexpr auto kNames =
      enum_table<Target, std::string_view>("tensor", "activation", "gradient", "weight", "operator", "tree");
  return kNames[target];
}

std::string_view name_of(Needs needs) {
  static constexpr auto kNames = enum_table<Needs, std::string_view>(
      "tensors or statistics", "tensors or counts", "tensors", "names and sizes", "results of msprobe");
  return kNames[needs];
}

std::span<const RuleInfo> all_rules() {
  static const std::vector<RuleInfo> kTable = make_rules();
  return kTable;
}

const RuleInfo& info(RuleId id) { return all_rules()[static_cast<size_t>(id)]; }

}  // namespace msdump::check
