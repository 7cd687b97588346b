#include "divergence/roots/diff_roots.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/arguments/call_arguments.h"
#include "compare/dumps/unpaired_tensors.h"
#include "divergence/model/constants.h"
#include "divergence/runs/run_view.h"
#include "dump/elements/host_tensor.h"

namespace msdump {
namespace {

// The arguments of an operator that differ.
struct ArgumentRoot {
  std::string reason;
  std::vector<TensorId> tensors;  // of these arguments, and inputs that differ
  std::vector<DivergedArgument> arguments;
  std::vector<TensorId> evidence;  // other rows of the operator that differ
  size_t rows = 0;                 // all that differ
};

using ByOperator = std::map<OperatorId, ArgumentRoot>;

ByOperator by_operator(const std::vector<ArgumentDiff>& arguments, const CompareSide& b, const Pairing& pairing,
                       const std::vector<TensorDiff>& diffs, const std::vector<TensorId>& rows) {
  ByOperator found;
  for (const ArgumentDiff& argument : arguments) {
    ArgumentRoot& root = found[argument.op];
    root.reason += (root.reason.empty() ? "" : "; ") + reason_of(argument, pairing);
    root.arguments.push_back({argument.name, argument.a, argument.b});
    if (argument.tensor != kNoId) root.tensors.push_back(argument.tensor);
  }
  for (const TensorId row : rows) {
    const TensorPair& pair = pairing.tensors[row];
    if (!pair.is_paired() || !is_difference(diffs[row].verdict)) continue;
    const auto root = found.find(pair.op);
    if (root == found.end()) continue;
    ++root->second.rows;
    const bool is_input = (*b.tensors)[pair.b].name.io == Io::kInput;
    (is_input ? root->second.tensors : root->second.evidence).push_back(row);
  }
  return found;
}

Divergence root_of(OperatorId op, ArgumentRoot&& found, const Pairing& pairing) {
  const OpPair& pair = pairing.operators[op];
  Divergence root;
  root.op = op;
  root.place.rank = pairing.b[pair.b].rank ? pairing.b[pair.b].rank : pairing.a[pair.a].rank;
  root.reason = std::move(found.reason);
  root.arguments = std::move(found.arguments);
  root.rule = RootRule::kArgument;
  root.inputs = std::move(found.tensors);
  root.outputs = std::move(found.evidence);
  root.downstream = found.rows;
  return root;
}

// Drops differences of unknown source after the first argument that differs, which explains them.
void drop_unknown_sources(const std::vector<Divergence>& added, std::vector<Divergence>& roots) {
  if (added.empty()) return;
  std::erase_if(roots, [&](const Divergence& root) {
    return root.kind == DivergenceKind::kInput && root.parameter.empty() && root.op > added.front().op;
  });
}

// Inserts each of `added`, which is in the order of operators, before the first root of a later operator.
void merge(std::vector<Divergence>&& added, std::vector<Divergence>& roots) {
  std::vector<Divergence> merged;
  merged.reserve(roots.size() + added.size());
  auto next = std::make_move_iterator(added.begin());
  const auto end = std::make_move_iterator(added.end());
  for (Divergence& root : roots) {
    for (; next != end && next.base()->op < root.op; ++next) merged.push_back(*next);
    merged.push_back(std::move(root));
  }
  merged.insert(merged.end(), next, end);
  roots = std::move(merged);
}

// Adds the reason to an operator that is a root already. Another one becomes a root, unless a root has its line or the
// same difference: other calls and gradients share the argument.
void add_argument_roots(const std::vector<ArgumentDiff>& arguments, const CompareSide& a, const CompareSide& b,
                        const Pairing& pairing, const std::vector<TensorDiff>& diffs, const std::vector<TensorId>& rows,
                        std::vector<Divergence>& roots) {
  if (arguments.empty()) return;
  std::unordered_map<OperatorId, size_t> known;  // by operator: the first root that arguments may explain
  std::set<SourceLine> lines;
  for (size_t i = 0; i < roots.size(); ++i) {
    const Divergence& root = roots[i];
    if (root.parameter.empty() && root.kind != DivergenceKind::kMissing) known.try_emplace(root.op, i);
    if (const auto line = line_of(a, b, pairing, root.op)) lines.insert(*line);
  }
  std::set<std::tuple<std::string, std::string, std::string>> differences;  // name and values
  std::vector<Divergence> added;
  for (auto& [op, found] : by_operator(arguments, b, pairing, diffs, rows)) {
    const auto is_new = [&](const DivergedArgument& one) { return differences.emplace(one.name, one.a, one.b).second; };
    // Counts all of them, so that each is entered.
    const bool any_new = std::count_if(found.arguments.begin(), found.arguments.end(), is_new) > 0;
    if (const auto same = known.find(op); same != known.end()) {
      Divergence& root = roots[same->second];
      root.arguments = std::move(found.arguments);
      root.rule = RootRule::kArgument;
      root.reason = found.reason + "; " + root.reason;
      root.inputs.insert(root.inputs.end(), found.tensors.begin(), found.tensors.end());
      continue;
    }
    if (!any_new) continue;
    if (const auto line = line_of(a, b, pairing, op); line && !lines.insert(*line).second) continue;
    added.push_back(root_of(op, std::move(found), pairing));
  }
  drop_unknown_sources(added, roots);
  merge(std::move(added), roots);
}

// True if --op, --slot, ... select the argument as they select inputs.
bool is_selected(const DiffResult& run, const ArgumentDiff& argument) {
  const OpenedGraph& side = run.b->opened;
  const OpPair& op = run.pairing.operators[argument.op];
  const auto identity_in = [&](const SequencedOp& one) {
    Identity identity{one.rank, one.graph, argument.step, {}, 0};
    identity.name.op_name = one.name;
    identity.name.op_type = one.type;
    return identity;
  };
  const Identity in_a = identity_in(run.pairing.a[op.a]), in_b = identity_in(run.pairing.b[op.b]);
  return side.tensors.matches_folder(in_b) && side.tensors.matches_tensor(Io::kInput, argument.name) &&
         (side.operators.everything() || side.operators.matches_file(in_a) || side.operators.matches_file(in_b));
}

}  // namespace

void judge_arguments(DiffResult& run, std::vector<ArgumentDiff> of_calls, const RunContext& context) {
  std::vector<ArgumentDiff> found = compare_arguments(run.a->side, run.b->side, run.pairing, run.rows, context);
  std::vector<ArgumentDiff> differing;
  for (ArgumentDiff& argument : found) {
    if (argument.tensor != kNoId) {
      TensorDiff& diff = run.diffs[argument.tensor];
      const bool as_expected = run.pairing.tensors[argument.tensor].alone == Alone::kAttribute;
      if (!as_expected && diff.verdict != Verdict::kUnmatched) continue;
      diff.reason = reason_of(argument, run.pairing);
      diff.verdict = argument.differs ? Verdict::kDiffer : Verdict::kSkipped;
      diff.by_statistics = true;  // one side has no elements
    }
    if (argument.differs) differing.push_back(std::move(argument));
  }
  std::vector<ArgumentDiff> noted;
  for (ArgumentDiff& argument : of_calls) {
    if (is_selected(run, argument)) (argument.differs ? differing : noted).push_back(std::move(argument));
  }
  std::vector<ArgumentDiff> suspects = differing;
  std::erase_if(suspects, [&](const ArgumentDiff& argument) {
    return argument.of_call &&
           run.divergence.other_calls.count(argument.op) + run.divergence.rewritten.count(argument.op) > 0;
  });
  add_argument_roots(suspects, run.a->side, run.b->side, run.pairing, run.diffs, run.rows, run.divergence.roots);
  std::erase_if(differing, [](const ArgumentDiff& argument) { return argument.tensor != kNoId; });
  std::move(noted.begin(), noted.end(), std::back_inserter(differing));
  run.arguments = std::move(differing);
  std::stable_sort(run.arguments.begin(), run.arguments.end(), [](const ArgumentDiff& x, const ArgumentDiff& y) {
    return std::pair(x.op, x.step) < std::pair(y.op, y.step);
  });
  run.accepted_arguments.assign(run.arguments.size(), false);
}

namespace {

// Names the partner of an exchange: another operand, or the value that another root blames.
std::string exchange_text(const DiffResult& run, const Divergence& root, TensorId tensor, TensorId other) {
  const TensorPair &one = run.pairing.tensors[tensor], &two = run.pairing.tensors[other];
  if (one.op == two.op) {
    return fmt::format("its inputs {} and {} are exchanged", run.record_of(one).name.slot,
                       run.record_of(two).name.slot);
  }
  std::string name = fmt::format("{}:{}", run.op_name(two.op), run.record_of(two).name.slot);
  for (const Divergence& also : run.divergence.roots) {
    const bool blames = &also != &root && std::find(also.inputs.begin(), also.inputs.end(), other) != also.inputs.end();
    if (blames && !also.parameter.empty()) name = also.parameter;
  }
  return fmt::format("it is exchanged with {}: each has the value that the other has in the reference", name);
}

}  // namespace

void note_exchanges(DiffResult& run) {
  if (run.divergence.roots.empty()) return;
  std::map<TensorId, TensorId> exchanged;
  for (const auto& [tensor, other] : exchanged_tensors(run.pairing, run.diffs)) {
    exchanged.emplace(tensor, other);
    exchanged.emplace(other, tensor);
  }
  std::vector<std::string> texts;  // by root; the names in them are those of the roots
  for (const Divergence& root : run.divergence.roots) {
    const auto found = std::find_if(root.inputs.begin(), root.inputs.end(), [&](TensorId tensor) {
      const auto pair = exchanged.find(tensor);
      return pair != exchanged.end() &&
             (enters(root) || run.pairing.tensors[tensor].op == run.pairing.tensors[pair->second].op);
    });
    texts.push_back(found == root.inputs.end() ? "" : exchange_text(run, root, *found, exchanged.at(*found)));
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    Divergence& root = run.divergence.roots[i];
    if (texts[i].empty()) continue;
    // An exchange explains what changed between a producer and its consumer.
    root.reason = enters(root) || root.score ? texts[i] + "; " + root.reason : texts[i];
  }
}

namespace {

// True by operator if the next one with a partner, which may be itself, has a difference that nothing explains.
std::vector<bool> before_unexplained(const DiffResult& run) {
  std::vector<bool> unexplained(run.pairing.operators.size());
  for (const TensorId row : run.rows) {
    if (is_difference(run.diffs[row].verdict) && run.divergence.explained[row] == Explanation::kNone)
      unexplained[run.pairing.tensors[row].op] = true;
  }
  for (size_t i = unexplained.size(); i-- > 0;) {
    if (run.pairing.operators[OperatorId(i)].is_paired()) continue;
    unexplained[i] = i + 1 < unexplained.size() && unexplained[i + 1];
  }
  return unexplained;
}

// True by operator of one side if its outputs have a coarser format than its inputs.
std::vector<bool> casts_to_coarser(const DiffResult& run) {
  struct Roundoffs {
    double in = 0, out = 0;
  };
  std::vector<Roundoffs> roundoffs(run.pairing.operators.size());
  for (const TensorPair& pair : run.pairing.tensors) {
    if (run.pairing.operators[pair.op].is_paired()) continue;
    const NameFacts& name = run.record_of(pair).name;
    double& largest = name.io == Io::kOutput ? roundoffs[pair.op].out : roundoffs[pair.op].in;
    largest = std::max(largest, unit_roundoff(name.dtype));
  }
  std::vector<bool> coarser;
  for (const auto& [in, out] : roundoffs) coarser.push_back(in > 0 && out > in);
  return coarser;
}

}  // namespace

void blame_one_sided_line(DiffResult& run) {
  if (!run.divergence.roots.empty() || run.divergence.flow == FlowKind::kIr) return;
  Divergence root;
  bool of_reference = true;
  root.reason = "no operator stands out";
  if (run.divergence.cut) {
    root.op = run.divergence.cut->at;
    root.cut = std::move(run.divergence.cut);
  } else {
    const std::vector<bool> unexplained = before_unexplained(run);
    const std::vector<OneSidedLine> lines = one_sided_lines(run.pairing, run.a->lines, run.b->lines);
    const std::vector<bool> coarser = casts_to_coarser(run);
    // True if values agree behind most of the calls, none of which rounds: the line is another way to write the same.
    const auto is_inert = [&](const OneSidedLine& line) {
      if (std::any_of(line.operators.begin(), line.operators.end(), [&](OperatorId call) { return coarser[call]; }))
        return false;
      const auto calls = std::count_if(line.operators.begin(), line.operators.end(),
                                       [&](OperatorId call) { return run.divergence.rewritten.count(call) > 0; });
      return 2 * static_cast<size_t>(calls) > line.operators.size();
    };
    // False if all that follows agrees or is explained: the line is another way to write the same, or one side ends earlier.
    const auto shows = [&](const OneSidedLine& line) {
      return std::any_of(line.operators.begin(), line.operators.end(),
                         [&](OperatorId call) { return unexplained[call]; });
    };
    const auto first = std::find_if(lines.begin(), lines.end(),
                                    [&](const OneSidedLine& line) { return !is_inert(line) && shows(line); });
    if (first == lines.end()) return;
    root.op = first->operators.front();
    of_reference = first->of_reference;
    const size_t calls = first->operators.size();
    root.reason = fmt::format("{} of this line {} only in the {}; {}", plural(calls, "call"),
                              calls == 1 ? "exists" : "exist", of_reference ? "reference" : "candidate", root.reason);
  }
  const OpPair& pair = run.pairing.operators[root.op];
  const SequencedOp& first = of_reference ? run.pairing.b[pair.b] : run.pairing.a[pair.a];
  root.place.rank = first.rank;
  root.place.step = first.step;
  root.kind = of_reference ? DivergenceKind::kMissing : DivergenceKind::kValue;
  root.rule = root.cut ? RootRule::kCut : RootRule::kLine;
  run.divergence.roots.push_back(std::move(root));
}

void note_changes(DiffResult& run, const CancelToken& cancel) {
  const CompareSide& a = run.a->side;
  for (Divergence& root : run.divergence.roots) {
    if (root.written == kNoId || root.outputs.empty()) continue;
    const TensorRecord& read = (*a.tensors)[run.pairing.tensors[root.outputs.front()].a];
    const TensorRecord& written = (*a.tensors)[run.pairing.tensors[root.written].a];
    if (!read.has_elements || !written.has_elements) continue;
    auto opened = open_pair(*a.index, read, *a.index, written);
    if (!opened) continue;
    const auto diff = diff_tensors(opened->left, opened->right, {}, cancel, {.any_shape = true});
    if (!diff || !has_metrics(diff->verdict)) continue;
    const kernels::PairMetrics metrics = diff->metrics;
    root.reason +=
        fmt::format(": {} of {} changed on the way", metrics.count - metrics.equal, plural(metrics.count, "element"));
  }
}

namespace {

// The errors of single local tensors; none if one cannot be compared.
class PartErrors {
 public:
  PartErrors(const ShardedSide& a, const ShardedSide& b, const TensorPair& pair, const Placement& layout,
             const CancelToken& cancel)
      : a_(a), b_(b), pair_(pair), layout_(layout), cancel_(cancel) {
    for (const TensorRecord* const record : a.members(pair.a).records) {
      if (record != nullptr && record->shape != nullptr) shapes_.push_back(*record->shape);
    }
  }

  [[nodiscard]] std::optional<double> of(size_t place) const {
    const TensorRecord* const piece = a_.members(pair_.a).records[place];
    const TensorRecord* const whole = b_.members(pair_.b).records.front();
    if (shapes_.size() != a_.members(pair_.a).records.size() || whole == nullptr || whole->shape == nullptr) return {};
    std::vector<PieceBox> boxes = boxes_of(layout_, static_cast<int64_t>(place), shapes_, *whole->shape);
    if (boxes.empty()) return {};
    TensorPieces own = pieces_of(piece), theirs = pieces_of(whole);
    own.factor = layout_.factor;
    own.shape = theirs.shape = *piece->shape;
    for (PieceBox& box : boxes) {
      theirs.boxes.push_back({0, box.to, box.from, box.size});
      own.boxes.push_back({0, box.from, box.from, std::move(box.size)});
    }
    return error_of(own, theirs);
  }

 private:
  static TensorPieces pieces_of(const TensorRecord* record) {
    TensorPieces pieces;
    pieces.records = {record};
    return pieces;
  }

  [[nodiscard]] std::optional<double> error_of(const TensorPieces& own, const TensorPieces& theirs) const {
    TensorRecord left = a_.tensors()[pair_.a], right = b_.tensors()[pair_.b];
    TensorView view_a, view_b;
    view_a.pieces = &own;
    view_b.pieces = &theirs;
    left.view = &view_a;
    right.view = &view_b;
    auto opened = open_pair(*a_.side().index, left, *b_.side().index, right);
    if (!opened) return {};
    const auto diff = diff_tensors(opened->left, opened->right, {}, cancel_);
    if (!diff || diff->verdict == Verdict::kShape) return {};
    if (diff->verdict == Verdict::kSame) return 0;
    return diff->verdict == Verdict::kNan ? std::numeric_limits<double>::infinity() : diff->metrics->relative_l2;
  }

  const ShardedSide &a_, &b_;
  const TensorPair& pair_;
  const Placement& layout_;
  const CancelToken& cancel_;
  std::vector<Shape> shapes_;
};

// The candidate's ranks, ascending, whose local tensor has a considerable share of the largest error. Empty if that is
// unknown: for partial sums, a sharded reference, and local tensors that cannot be read.
std::vector<int64_t> ranks_that_differ(const ShardedSide& a, const ShardedSide& b, const TensorPair& pair,
                                       const PlacementNote& note, const CancelToken& cancel) {
  if (!pair.is_paired()) return {};
  if (note.ranks.size() < 2) return note.ranks;
  const auto is_no_part = [](const PlacementDim& dim) {
    return dim.role != PlacementRole::kCopy && !dim.traits().shards();
  };
  if (std::any_of(note.a.dims.begin(), note.a.dims.end(), is_no_part)) return {};
  const bool reference_is_whole = std::all_of(note.b.dims.begin(), note.b.dims.end(),
                                              [](const PlacementDim& dim) { return dim.role == PlacementRole::kCopy; });
  const std::vector<int64_t>& ranks = a.ranks(pair.a);
  if (!reference_is_whole || note.b.factor != 1 || ranks.size() != note.ranks.size()) return {};
  const PartErrors errors(a, b, pair, note.a, cancel);
  std::vector<double> by_place;
  for (size_t place = 0; place < ranks.size(); ++place) {
    const std::optional<double> error = errors.of(place);
    if (!error) return {};
    by_place.push_back(*error);
  }
  const double worst = *std::max_element(by_place.begin(), by_place.end());
  std::vector<int64_t> found;
  for (size_t place = 0; place < ranks.size(); ++place) {
    if (by_place[place] > 0 && by_place[place] >= kShareOfFew * worst) found.push_back(ranks[place]);
  }
  return found;
}

}  // namespace

void find_ranks(DiffResult& run, const CancelToken& cancel) {
  for (Divergence& root : run.divergence.roots) {
    if (!root.ranks.empty()) continue;
    std::vector<TensorId> evidence = root.outputs;
    evidence.insert(evidence.end(), root.inputs.begin(), root.inputs.end());
    const auto tells = std::find_if(evidence.begin(), evidence.end(), [&](TensorId tensor) {
      const TensorDiff& diff = run.diffs[tensor];
      const bool near =
          diff.metrics->relative_l2.value_or(kMostError) < kMostError;  // with a wrong placement it is not
      return is_difference(diff.verdict) && (run.placement_evidence.known[tensor] || near);
    });
    if (tells == evidence.end()) continue;
    root.ranks =
        ranks_that_differ(*run.sharded_a, *run.sharded_b, run.pairing.tensors[*tells], run.placements[*tells], cancel);
  }
}

}  // namespace msdump
